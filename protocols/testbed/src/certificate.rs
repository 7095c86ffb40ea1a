//! Certificates made at start: an authority, and a server's that verifies or does not.

use std::io;
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose,
    date_time_ymd,
};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

/// Which certificate a server presents under TLS.
///
/// A client that trusts [`ca_pem`](crate::HttpServer::ca_pem) accepts the first alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Certificate {
    /// For `localhost` and 127.0.0.1, signed by the authority.
    Trusted,
    /// Signed by the authority, for another host.
    WrongHost,
    /// Signed by the authority; it ran out in 2021.
    Expired,
    /// Signed by an authority that nobody knows.
    UnknownAuthority,
}

/// What a server of another's making reads its certificate from, as PEM.
#[cfg(unix)]
pub(crate) struct PemFiles {
    pub(crate) authority: String,
    pub(crate) certificate: String,
    pub(crate) key: String,
}

#[cfg(unix)]
pub(crate) fn pem_files(certificate: Certificate) -> Result<PemFiles, rcgen::Error> {
    let (signed, key, authority) = make(certificate)?;
    Ok(PemFiles {
        authority,
        certificate: signed.pem(),
        key: key.serialize_pem(),
    })
}

/// The authority's certificate as PEM, and the server's side of TLS that offers `protocols` by ALPN.
pub(crate) fn server_config(
    certificate: Certificate,
    protocols: &[&str],
) -> io::Result<(String, Arc<rustls::ServerConfig>)> {
    let (signed, key, pem) = make(certificate).map_err(io::Error::other)?;
    let key: PrivateKeyDer<'_> = PrivatePkcs8KeyDer::from(key.serialize_der()).into();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_no_client_auth()
        .with_single_cert(vec![signed.der().clone()], key)
        .map_err(io::Error::other)?;
    config.alpn_protocols = protocols
        .iter()
        .map(|name| name.as_bytes().to_vec())
        .collect();
    Ok((pem, Arc::new(config)))
}

/// A server's certificate, its key, and the authority's certificate as PEM.
fn make(certificate: Certificate) -> Result<(rcgen::Certificate, KeyPair, String), rcgen::Error> {
    let (authority, pem) = authority("openloop testbed")?;
    let unknown;
    let issuer = if certificate == Certificate::UnknownAuthority {
        unknown = self::authority("nobody knows")?.0;
        &unknown
    } else {
        &authority
    };
    let (signed, key) = leaf(certificate, issuer)?;
    Ok((signed, key, pem))
}

fn authority(name: &str) -> Result<(Issuer<'static, KeyPair>, String), rcgen::Error> {
    let mut params = CertificateParams::new(Vec::new())?;
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let key = KeyPair::generate()?;
    let pem = params.self_signed(&key)?.pem();
    Ok((Issuer::new(params, key), pem))
}

fn leaf(
    certificate: Certificate,
    issuer: &Issuer<'_, KeyPair>,
) -> Result<(rcgen::Certificate, KeyPair), rcgen::Error> {
    let names = match certificate {
        Certificate::WrongHost => vec!["elsewhere.invalid".to_owned()],
        _ => vec!["localhost".to_owned(), "127.0.0.1".to_owned()],
    };
    let mut params = CertificateParams::new(names)?;
    if certificate == Certificate::Expired {
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(2021, 1, 1);
    }
    let key = KeyPair::generate()?;
    Ok((params.signed_by(&key, issuer)?, key))
}
