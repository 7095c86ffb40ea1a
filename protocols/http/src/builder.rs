//! Settings of a client, checked before anything is sent.

use crate::engine::Engine;
use crate::request::{RequestError, Target, default_port};
use crate::{Http, Request};
use bytes::Bytes;
use http::header::{HeaderName, HeaderValue};
use http::uri::Scheme;
use http::{HeaderMap, Method, Uri};
use openloop_net::{Dialer, DialerError, Tls};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

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
    /// The URL has no host.
    #[error("{url:?} has no host; write it as http://host:port/path")]
    NoHost {
        /// What was given.
        url: String,
    },
    /// The scheme is neither `http` nor `https`.
    #[error("{url:?} has the scheme {scheme:?}; only http and https are spoken here")]
    Scheme {
        /// What was given.
        url: String,
        /// Its scheme.
        scheme: String,
    },
    /// The URL carries a user name or password.
    #[error(
        "the URL carries a user name or password; leave it out and set an Authorization header instead"
    )]
    UserInfo,
    /// A pool without a connection serves nothing.
    #[error("a pool of 0 connections serves nothing; give at least 1")]
    NoConnections,
    /// HTTP/2 shares its connections.
    #[error(
        "HTTP/2 carries many requests on one connection; use a pool, or one connection per request"
    )]
    PerInFlightHttp2,
    /// TLS settings for a URL that has none.
    #[error("TLS settings are given and {url:?} is not https")]
    TlsWithoutHttps {
        /// What was given.
        url: String,
    },
    /// A header's name does not parse.
    #[error("{name:?} is not a header name")]
    HeaderName {
        /// What was given.
        name: String,
    },
    /// A header's value does not parse.
    #[error("the value of the header {name:?} holds a character that none may hold")]
    HeaderValue {
        /// The header.
        name: String,
    },
    /// The method does not parse.
    #[error("{method:?} is not a method")]
    Method {
        /// What was given.
        method: String,
    },
    /// The request cannot be sent.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// The server cannot be dialled as asked.
    #[error(transparent)]
    Dialer(#[from] DialerError),
}

/// How requests are spread over connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Connections {
    /// `size` connections at most. A request that finds none free waits in line, first come, first served, and the
    /// wait is the stage `acquire`; where `waiting` are in line already it fails with the class `pool_full`
    /// (`usize::MAX`: never). Over HTTP/2 `size` connections are shared, and what is waited for is a stream.
    Pool {
        /// Connections at most.
        size: usize,
        /// Requests in line at most.
        waiting: usize,
    },
    /// A new connection for every request, closed after it: this exercises the server's accept queue.
    PerRequest,
    /// As many connections as there are requests in flight; free ones are used again. Always HTTP/1.1.
    PerInFlight,
}

impl Connections {
    /// A pool of `size` connections with an unlimited line.
    #[must_use]
    pub const fn pool(size: usize) -> Self {
        Connections::Pool {
            size,
            waiting: usize::MAX,
        }
    }
}

impl Default for Connections {
    /// A pool of 50.
    fn default() -> Self {
        Connections::pool(50)
    }
}

/// The version of HTTP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Version {
    /// HTTP/1.1.
    Http1,
    /// HTTP/2: by prior knowledge over TCP, by ALPN over TLS.
    Http2,
    /// Over TLS what the server prefers of both, by ALPN; HTTP/1.1 over TCP.
    #[default]
    Auto,
}

/// Settings of a client; [`Http::builder`] starts one.
#[derive(Debug)]
#[must_use = "a builder does nothing until it is built"]
pub struct Builder {
    url: String,
    connections: Connections,
    version: Version,
    method: Result<Method, BuildError>,
    headers: Vec<(String, String)>,
    body: Bytes,
    tls: Option<Tls>,
    connect_timeout: Option<Duration>,
    address: Option<SocketAddr>,
    local_address: Option<IpAddr>,
}

impl Builder {
    pub(crate) fn new(url: &str) -> Self {
        Builder {
            url: url.to_owned(),
            connections: Connections::default(),
            version: Version::default(),
            method: Ok(Method::GET),
            headers: Vec::new(),
            body: Bytes::new(),
            tls: None,
            connect_timeout: None,
            address: None,
            local_address: None,
        }
    }

    /// How requests are spread over connections; a pool of 50 by default.
    pub fn connections(mut self, connections: Connections) -> Self {
        self.connections = connections;
        self
    }

    /// The version of HTTP; [`Version::Auto`] by default.
    pub fn version(mut self, version: Version) -> Self {
        self.version = version;
        self
    }

    /// Speaks HTTP/2; short for `version(Version::Http2)`.
    pub fn http2(self) -> Self {
        self.version(Version::Http2)
    }

    /// The method of the default request; `GET` by default.
    pub fn method(mut self, method: &str) -> Self {
        self.method = Method::from_bytes(method.as_bytes()).map_err(|_| BuildError::Method {
            method: method.to_owned(),
        });
        self
    }

    /// Adds a header to the default request. A `Host` given here stands instead of the URL's.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// The body of the default request.
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// What TLS trusts and asks for; this machine's root certificates by default. ALPN follows the version.
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
    pub fn build(self) -> Result<Http, BuildError> {
        let (uri, scheme) = parse(&self.url)?;
        self.check_connections()?;
        let dialer = self.dialer(&uri, &scheme)?;
        let authority = uri.authority().cloned().ok_or_else(|| BuildError::NoHost {
            url: self.url.clone(),
        })?;
        let is_tls = scheme == Scheme::HTTPS;
        let target = Target {
            scheme,
            authority,
            close: self.connections == Connections::PerRequest,
        };
        let (version, connections) = (self.version, self.connections);
        let request = self.request(&target, uri)?;
        let engine = Engine::new(dialer, connections, version, is_tls);
        Ok(Http::new(engine, target, request))
    }

    fn check_connections(&self) -> Result<(), BuildError> {
        match self.connections {
            Connections::Pool { size: 0, .. } => Err(BuildError::NoConnections),
            Connections::PerInFlight if self.version == Version::Http2 => {
                Err(BuildError::PerInFlightHttp2)
            }
            _ => Ok(()),
        }
    }

    fn dialer(&self, uri: &Uri, scheme: &Scheme) -> Result<Dialer, BuildError> {
        let no_host = || BuildError::NoHost {
            url: self.url.clone(),
        };
        let host = uri.host().ok_or_else(no_host)?;
        let port = uri
            .port_u16()
            .or_else(|| default_port(scheme))
            .ok_or_else(no_host)?;
        let mut dialer = Dialer::builder(host, port);
        if *scheme == Scheme::HTTPS {
            let tls = self.tls.clone().unwrap_or_else(Tls::native_roots);
            let alpn: &[&str] = match (self.version, self.connections) {
                (Version::Http1, _) | (Version::Auto, Connections::PerInFlight) => &["http/1.1"],
                (Version::Http2, _) => &["h2"],
                (Version::Auto, _) => &["h2", "http/1.1"],
            };
            dialer = dialer.tls(tls.alpn(alpn));
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
        Ok(dialer.build()?)
    }

    fn request(self, target: &Target, uri: Uri) -> Result<Request, BuildError> {
        let mut request = http::Request::new(self.body);
        *request.method_mut() = self.method?;
        *request.uri_mut() = uri;
        *request.headers_mut() = headers(&self.headers)?;
        Ok(target.prepare(request)?)
    }
}

fn parse(url: &str) -> Result<(Uri, Scheme), BuildError> {
    // An authority with user information is caught first, so that no message repeats a password.
    let after_scheme = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = after_scheme.split(['/', '?', '#']).next().unwrap_or("");
    if authority.contains('@') {
        return Err(BuildError::UserInfo);
    }
    let uri: Uri =
        url.parse().map_err(
            |error| match after_scheme.is_empty() || authority.is_empty() {
                true => BuildError::NoHost {
                    url: url.to_owned(),
                },
                false => BuildError::Url {
                    url: url.to_owned(),
                    reason: http::uri::InvalidUri::to_string(&error),
                },
            },
        )?;
    let Some(scheme) = uri.scheme().cloned() else {
        return Err(BuildError::NoHost {
            url: url.to_owned(),
        });
    };
    if scheme != Scheme::HTTP && scheme != Scheme::HTTPS {
        return Err(BuildError::Scheme {
            url: url.to_owned(),
            scheme: scheme.to_string(),
        });
    }
    if uri.host().is_none_or(str::is_empty) {
        return Err(BuildError::NoHost {
            url: url.to_owned(),
        });
    }
    check_port(url, authority)?;
    Ok((uri, scheme))
}

/// A port that is not one parses as none, and would silently become the scheme's own.
fn check_port(url: &str, authority: &str) -> Result<(), BuildError> {
    let after_host = authority
        .rsplit_once(']')
        .map_or(authority, |(_, rest)| rest);
    match after_host.split_once(':') {
        Some((_, port)) if port.parse::<u16>().is_err() => Err(BuildError::Url {
            url: url.to_owned(),
            reason: format!("{port:?} is not a port"),
        }),
        _ => Ok(()),
    }
}

fn headers(given: &[(String, String)]) -> Result<HeaderMap, BuildError> {
    let mut headers = HeaderMap::with_capacity(given.len() + 2);
    for (name, value) in given {
        let parsed = HeaderName::try_from(name)
            .map_err(|_| BuildError::HeaderName { name: name.clone() })?;
        let value = HeaderValue::try_from(value)
            .map_err(|_| BuildError::HeaderValue { name: name.clone() })?;
        headers.append(parsed, value);
    }
    Ok(headers)
}
