//! Settings of a client, checked before anything is sent.

use crate::channels::Channels;
use crate::head::Heads;
use crate::metadata::append;
use crate::{Grpc, MetadataError};
use http::uri::{Authority, Scheme};
use http::{HeaderMap, Uri};
use openloop_net::{Dialer, DialerError, Tls};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// More connections than one address has ports for.
const MOST_CHANNELS: usize = 1 << 16;

/// Why a client cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The URL does not parse.
    #[error("{url:?} is not a URL: {reason}")]
    Url {
        /// What was given.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The URL has no host, or no scheme before it.
    #[error("{url:?} has no scheme and host; write it as http://host:port, or https:// for TLS")]
    NoHost {
        /// What was given.
        url: String,
    },
    /// The scheme is neither `http` nor `https`.
    #[error("{url:?} has the scheme {scheme:?}; write http:// for plain TCP and https:// for TLS")]
    Scheme {
        /// What was given.
        url: String,
        /// Its scheme.
        scheme: String,
    },
    /// The URL has a path, and the method is what makes the path of a call.
    #[error("{url:?} has a path; leave {path:?} out, the method is named with each request")]
    Path {
        /// What was given.
        url: String,
        /// Its path.
        path: String,
    },
    /// The URL carries a user name or password.
    #[error(
        "the URL carries a user name or password; leave it out and set the metadata authorization instead"
    )]
    UserInfo,
    /// Without a channel nothing is served.
    #[error("0 channels serve nothing; give at least 1")]
    NoChannels,
    /// More connections than there can be.
    #[error(
        "{count} channels are more than can be opened to one server; give at most {MOST_CHANNELS}"
    )]
    TooManyChannels {
        /// What was given.
        count: usize,
    },
    /// TLS settings for a URL that has none.
    #[error("TLS settings are given and {url:?} is not https")]
    TlsWithoutHttps {
        /// What was given.
        url: String,
    },
    /// The authority does not parse.
    #[error("{authority:?} is not an authority; write it as host or host:port")]
    Authority {
        /// What was given.
        authority: String,
    },
    /// A deadline that no call can meet.
    #[error("a deadline of zero fails every call; leave it out for none")]
    ZeroDeadline,
    /// The metadata cannot be sent.
    #[error(transparent)]
    Metadata(#[from] MetadataError),
    /// The server cannot be dialled as asked.
    #[error(transparent)]
    Dialer(#[from] DialerError),
}

/// Settings of a client; [`Grpc::builder`] starts one.
#[derive(Debug)]
#[must_use = "a builder does nothing until it is built"]
pub struct Builder {
    url: String,
    channels: usize,
    waiting: usize,
    metadata: Vec<(String, String)>,
    deadline: Option<Duration>,
    authority: Option<String>,
    tls: Option<Tls>,
    connect_timeout: Option<Duration>,
    address: Option<SocketAddr>,
    local_address: Option<IpAddr>,
}

impl Builder {
    pub(crate) fn new(url: &str) -> Self {
        Builder {
            url: url.to_owned(),
            channels: 1,
            waiting: usize::MAX,
            metadata: Vec::new(),
            deadline: None,
            authority: None,
            tls: None,
            connect_timeout: None,
            address: None,
            local_address: None,
        }
    }

    /// Connections, shared by the calls: each goes to the one with the fewest calls on it. 1 by default, as in most
    /// clients of gRPC; one carries no more calls at once than the server's limit on streams, and one core of the
    /// generator at most.
    pub fn channels(mut self, count: usize) -> Self {
        self.channels = count;
        self
    }

    /// Calls that may wait for a stream; one beyond fails with the class `pool_full`. Unlimited by default.
    pub fn waiting(mut self, most: usize) -> Self {
        self.waiting = most;
        self
    }

    /// Adds metadata to every call. The value of a name that ends in `-bin` is written in base64.
    pub fn metadata(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.metadata.push((name.into(), value.into()));
        self
    }

    /// The time that each call may take from the moment at which it is made, the wait for a stream included; none by
    /// default. The server is told what is left of it when the call goes out, and a call that meets it is reset and
    /// counts as timed out.
    pub fn deadline(mut self, limit: Duration) -> Self {
        self.deadline = Some(limit);
        self
    }

    /// The authority that calls name, where it is not that of the URL.
    pub fn authority(mut self, authority: impl Into<String>) -> Self {
        self.authority = Some(authority.into());
        self
    }

    /// What TLS trusts; this machine's root certificates by default.
    pub fn tls(mut self, tls: Tls) -> Self {
        self.tls = Some(tls);
        self
    }

    /// The limit for opening TCP, and again for TLS; none by default.
    pub fn connect_timeout(mut self, limit: Duration) -> Self {
        self.connect_timeout = Some(limit);
        self
    }

    /// Connects to this address instead of resolving the URL's host.
    pub fn address(mut self, address: SocketAddr) -> Self {
        self.address = Some(address);
        self
    }

    /// The local address to connect from.
    pub fn local_address(mut self, address: IpAddr) -> Self {
        self.local_address = Some(address);
        self
    }

    /// Checks everything; nothing is sent and no connection opened.
    ///
    /// # Errors
    ///
    /// [`BuildError`], with what is wrong and what to write instead.
    pub fn build(self) -> Result<Grpc, BuildError> {
        if self.channels == 0 {
            return Err(BuildError::NoChannels);
        }
        if self.channels > MOST_CHANNELS {
            let count = self.channels;
            return Err(BuildError::TooManyChannels { count });
        }
        if self.deadline.is_some_and(|limit| limit.is_zero()) {
            return Err(BuildError::ZeroDeadline);
        }
        let (scheme, of_url) = parse(&self.url)?;
        let (dialer, endpoint) = self.dialer(&scheme, &of_url)?;
        let authority = match &self.authority {
            None => of_url,
            Some(given) => {
                Authority::try_from(given.as_str()).map_err(|_| BuildError::Authority {
                    authority: given.clone(),
                })?
            }
        };
        let mut metadata = HeaderMap::new();
        for (name, value) in &self.metadata {
            append(&mut metadata, name, value)?;
        }
        let heads = Heads::new(scheme, authority, metadata);
        let channels = Channels::new(dialer, self.channels, self.waiting);
        Ok(Grpc::new(channels, heads, self.deadline, endpoint))
    }

    fn dialer(
        &self,
        scheme: &Scheme,
        authority: &Authority,
    ) -> Result<(Dialer, (String, u16)), BuildError> {
        let is_tls = *scheme == Scheme::HTTPS;
        let port = authority
            .port_u16()
            .unwrap_or(if is_tls { 443 } else { 80 });
        let mut dialer = Dialer::builder(authority.host(), port);
        if is_tls {
            let tls = self.tls.clone().unwrap_or_else(Tls::native_roots);
            dialer = dialer.tls(tls.alpn(["h2"]));
        } else if self.tls.is_some() {
            return Err(BuildError::TlsWithoutHttps {
                url: self.url.clone(),
            });
        }
        if let Some(limit) = self.connect_timeout {
            dialer = dialer.connect_timeout(limit);
        }
        if let Some(address) = self.address {
            dialer = dialer.address(address);
        }
        if let Some(address) = self.local_address {
            dialer = dialer.local_address(address);
        }
        let host = authority.host().trim_matches(['[', ']']).to_owned();
        Ok((dialer.build()?, (host, port)))
    }
}

fn parse(url: &str) -> Result<(Scheme, Authority), BuildError> {
    let no_host = || BuildError::NoHost {
        url: url.to_owned(),
    };
    // An authority with user information is caught first, so that no message repeats a password.
    let after_scheme = url.split_once("://").map_or(url, |(_, rest)| rest);
    let text = after_scheme.split(['/', '?', '#']).next().unwrap_or("");
    if text.contains('@') {
        return Err(BuildError::UserInfo);
    }
    if !url.contains("://") || text.is_empty() {
        return Err(no_host());
    }
    let wrong = |reason: String| BuildError::Url {
        url: url.to_owned(),
        reason,
    };
    let uri: Uri = url
        .parse()
        .map_err(|error: http::uri::InvalidUri| wrong(error.to_string()))?;
    let scheme = uri.scheme().cloned().ok_or_else(no_host)?;
    if scheme != Scheme::HTTP && scheme != Scheme::HTTPS {
        return Err(BuildError::Scheme {
            url: url.to_owned(),
            scheme: scheme.to_string(),
        });
    }
    let authority = uri.authority().cloned().ok_or_else(no_host)?;
    if authority.host().is_empty() {
        return Err(no_host());
    }
    // A port that is not one parses as none, and would silently become the scheme's own.
    let after_host = text.rsplit_once(']').map_or(text, |(_, rest)| rest);
    if let Some((_, port)) = after_host.split_once(':')
        && port.parse::<u16>().is_err()
    {
        return Err(wrong(format!("{port:?} is not a port")));
    }
    let path = uri.path_and_query().map_or("", |path| path.as_str());
    if !["", "/"].contains(&path) {
        return Err(BuildError::Path {
            url: url.to_owned(),
            path: path.to_owned(),
        });
    }
    Ok((scheme, authority))
}
