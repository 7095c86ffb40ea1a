//! What a connection asks of TLS.

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use std::sync::Arc;

/// Why the TLS settings cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// This machine's store of root certificates is empty or cannot be read.
    #[error(
        "no root certificate found on this machine ({reason}); install ca-certificates or give a PEM file"
    )]
    NoNativeRoots {
        /// What was tried.
        reason: String,
    },
    /// The PEM text does not parse, or has no certificate in it.
    #[error("no root certificate in the given PEM text: {reason}")]
    Pem {
        /// What is wrong with it.
        reason: String,
    },
    /// The name that the certificate is verified for is not a name.
    #[error("{name:?} is not a server name: give a host name or an IP address, without a port")]
    ServerName {
        /// What was given.
        name: String,
    },
    /// The TLS library refused its configuration.
    #[error("TLS cannot be configured: {0}")]
    Config(#[from] rustls::Error),
}

/// What a connection asks of TLS: whom to trust, what to speak inside.
///
/// TLS 1.2 and 1.3 by rustls with the `ring` provider, whatever the process's default provider is. Sessions are not
/// resumed: every connection pays the whole handshake, as a client that was not here before does.
///
/// ```
/// # use openloop_net::Tls;
/// let tls = Tls::native_roots().alpn(["h2", "http/1.1"]);
/// ```
#[derive(Clone, Debug)]
pub struct Tls {
    roots: Roots,
    alpn: Vec<Vec<u8>>,
    server_name: Option<String>,
}

#[derive(Clone, Debug)]
enum Roots {
    Native,
    Pem(String),
    AcceptAny,
}

impl Tls {
    /// Trusts the root certificates of this machine.
    #[must_use]
    pub fn native_roots() -> Self {
        Tls::with(Roots::Native)
    }

    /// Trusts the certificates in `pem` and no others.
    #[must_use]
    pub fn roots_from_pem(pem: impl Into<String>) -> Self {
        Tls::with(Roots::Pem(pem.into()))
    }

    /// **Insecure:** takes any certificate for any name, so anybody on the way can read and change everything.
    /// For test servers only.
    #[must_use]
    pub fn insecure_accept_any_certificate() -> Self {
        Tls::with(Roots::AcceptAny)
    }

    fn with(roots: Roots) -> Self {
        Tls {
            roots,
            alpn: Vec::new(),
            server_name: None,
        }
    }

    /// The protocols to offer by ALPN, the preferred one first; none by default.
    #[must_use]
    pub fn alpn<P: AsRef<[u8]>>(mut self, protocols: impl IntoIterator<Item = P>) -> Self {
        self.alpn = protocols
            .into_iter()
            .map(|name| name.as_ref().to_vec())
            .collect();
        self
    }

    /// The name to ask for (SNI) and to verify the certificate for, where it is not the host that is dialled.
    #[must_use]
    pub fn server_name(mut self, name: impl Into<String>) -> Self {
        self.server_name = Some(name.into());
        self
    }

    pub(crate) fn prepare(&self, host: &str) -> Result<Prepared, TlsError> {
        let name = self.server_name.as_deref().unwrap_or(host);
        let server_name =
            ServerName::try_from(name.to_owned()).map_err(|_| TlsError::ServerName {
                name: name.to_owned(),
            })?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()?;
        let mut config = match &self.roots {
            Roots::Native => builder.with_root_certificates(native()?),
            Roots::Pem(pem) => builder.with_root_certificates(parse(pem)?),
            Roots::AcceptAny => builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(AcceptAny(provider))),
        }
        .with_no_client_auth();
        config.alpn_protocols.clone_from(&self.alpn);
        config.resumption = rustls::client::Resumption::disabled();
        Ok(Prepared {
            config: Arc::new(config),
            server_name,
            name: name.to_owned(),
        })
    }
}

/// Settings in the form that each handshake needs.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    pub(crate) config: Arc<ClientConfig>,
    pub(crate) server_name: ServerName<'static>,
    pub(crate) name: String,
}

fn native() -> Result<RootCertStore, TlsError> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    let (added, _) = roots.add_parsable_certificates(found.certs);
    if added == 0 {
        let reason = match found.errors.first() {
            Some(error) => error.to_string(),
            None => "the store is empty".to_owned(),
        };
        return Err(TlsError::NoNativeRoots { reason });
    }
    Ok(roots)
}

fn parse(pem: &str) -> Result<RootCertStore, TlsError> {
    let wrong = |reason: String| TlsError::Pem { reason };
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
        let certificate = certificate.map_err(|error| wrong(error.to_string()))?;
        roots
            .add(certificate)
            .map_err(|error| wrong(error.to_string()))?;
    }
    if roots.is_empty() {
        return Err(wrong("it holds no CERTIFICATE section".to_owned()));
    }
    Ok(roots)
}

/// Takes any certificate; the handshake's own signature is still checked, so the peer has the key it shows.
#[derive(Debug)]
struct AcceptAny(Arc<CryptoProvider>);

impl ServerCertVerifier for AcceptAny {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(
            message,
            certificate,
            signed,
            &self.0.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(
            message,
            certificate,
            signed,
            &self.0.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pem_without_a_certificate_is_refused() {
        for pem in ["", "not pem at all"] {
            let refused = Tls::roots_from_pem(pem).prepare("example.test");
            assert!(matches!(refused, Err(TlsError::Pem { .. })), "{pem:?}");
        }
    }

    #[test]
    fn a_name_with_a_port_is_refused() {
        let refused = Tls::insecure_accept_any_certificate()
            .server_name("example.test:443")
            .prepare("example.test");
        assert!(matches!(refused, Err(TlsError::ServerName { .. })));
    }

    #[test]
    fn sessions_are_not_resumed_and_alpn_keeps_its_order() {
        let prepared = Tls::insecure_accept_any_certificate()
            .alpn(["h2", "http/1.1"])
            .prepare("::1")
            .unwrap();
        assert_eq!(
            prepared.config.alpn_protocols,
            [b"h2".to_vec(), b"http/1.1".to_vec()]
        );
    }
}
