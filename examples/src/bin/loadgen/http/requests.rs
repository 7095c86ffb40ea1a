//! What each request asks for.

use super::HttpArgs;
use super::mix::{HttpKind, HttpMix};
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Uri};
use openloop_http::{Http, HttpError, Request, RequestError};
use openloop_measurer::{Describe, Details, Verdict};
use openloop_workload::mix::Kind;
use openloop_workload::{Keys, Template};
use std::sync::Arc;

/// Request number `seq`, the same whoever sends it.
#[derive(Debug)]
pub(crate) enum Requests {
    /// All the same: made once.
    Same(Request),
    /// Each with its key.
    PerKey(Box<PerKey>),
    /// Of several kinds.
    Mixed(Box<Mixed>),
}

/// Requests of several kinds.
#[derive(Debug)]
pub(crate) struct Mixed {
    mix: Arc<HttpMix>,
    seed: u64,
    /// Of each kind, in order, the request if all are the same.
    made: Vec<Option<Request>>,
}

/// A request with places for a key.
#[derive(Debug)]
pub(crate) struct PerKey {
    keys: Keys,
    seed: u64,
    method: Method,
    url: Template,
    headers: Vec<(HeaderName, Template)>,
    body: Template,
}

/// The text with the key of request number `seq` in its places; as it is, where there are no keys.
pub(crate) fn render(text: &str, arguments: &HttpArgs, seq: u64) -> String {
    match &arguments.keys {
        Some(keys) => Template::new(text).render(keys.key(arguments.load.schedule.seed, seq)),
        None => text.to_owned(),
    }
}

impl Requests {
    /// `client` was built from the same arguments, and so knows that method and names are good.
    pub(crate) fn new(arguments: &HttpArgs, client: &Http) -> Self {
        let Some(keys) = arguments.keys else {
            return Requests::Same(client.request());
        };
        let name = |name: &String| HeaderName::try_from(name).ok();
        let headers = arguments.header.iter();
        Requests::PerKey(Box::new(PerKey {
            keys,
            seed: arguments.load.schedule.seed,
            method: client.request().method().clone(),
            url: Template::new(&arguments.url),
            headers: headers
                .filter_map(|(key, value)| Some((name(key)?, Template::new(value))))
                .collect(),
            body: Template::new(arguments.body.as_deref().unwrap_or_default()),
        }))
    }

    /// Of several kinds; `client` is one of those for which the mix was checked.
    ///
    /// # Errors
    /// When a request that is made once is none.
    pub(crate) fn mixed(mix: Arc<HttpMix>, seed: u64, client: &Http) -> Result<Self, CallError> {
        let made = |kind: &Kind<HttpKind>| match kind.payload().is_constant() {
            true => Ok(Some(client.request_from(kind.payload().request(seed, 0)?)?)),
            false => Ok(None),
        };
        let made: Result<_, CallError> = mix.mix().kinds().iter().map(made).collect();
        let made = made?;
        Ok(Requests::Mixed(Box::new(Mixed { mix, seed, made })))
    }

    /// # Errors
    /// When the key makes another server of the URL.
    pub(crate) fn of(&self, client: &Http, seq: u64) -> Result<Request, CallError> {
        match self {
            Requests::Same(request) => Ok(request.clone()),
            Requests::PerKey(per_key) => {
                let request = per_key.request(seq)?;
                client.request_from(request).map_err(CallError::Request)
            }
            Requests::Mixed(mixed) => mixed.request(client, seq),
        }
    }
}

impl Mixed {
    fn request(&self, client: &Http, seq: u64) -> Result<Request, CallError> {
        let (index, kind) = self.mix.pick(self.seed, seq);
        if let Some(Some(request)) = self.made.get(index) {
            return Ok(request.clone());
        }
        Ok(client.request_from(kind.payload().request(self.seed, seq)?)?)
    }
}

impl PerKey {
    fn request(&self, seq: u64) -> Result<http::Request<Bytes>, CallError> {
        let key = self.keys.key(self.seed, seq);
        let url: Uri = self.url.render(key).parse().map_err(http::Error::from)?;
        let mut request = http::Request::builder()
            .method(self.method.clone())
            .uri(url);
        for (name, value) in &self.headers {
            let value = HeaderValue::try_from(value.render(key)).map_err(http::Error::from)?;
            request = request.header(name, value);
        }
        Ok(request.body(Bytes::from(self.body.render(key)))?)
    }
}

/// Why no answer came back.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    /// The call failed.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// The request is none.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// The same, seen earlier.
    #[error(transparent)]
    Form(#[from] http::Error),
}

impl Describe for CallError {
    fn verdict(&self) -> Verdict {
        match self {
            CallError::Http(error) => error.verdict(),
            CallError::Request(_) | CallError::Form(_) => Verdict::Failed("request"),
        }
    }

    fn details(&self, into: &mut Details<'_>) {
        if let CallError::Http(error) = self {
            error.details(into);
        }
    }
}
