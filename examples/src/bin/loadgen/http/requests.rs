//! What each request asks for.

use super::HttpArgs;
use super::mix::{HttpKind, HttpMix};
use crate::problem;
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

/// What makes the requests of one run other ones than those of every other, so that no cache knows them: `{nonce}` in the
/// URL, a header or the body or, where it stands nowhere and the problem says that caches are busted, a parameter of the
/// query.
#[derive(Clone, Debug)]
pub(crate) struct Nonce {
    hex: String,
    in_query: bool,
}

impl Nonce {
    const PLACE: &str = "{nonce}";

    pub(crate) fn new(arguments: &HttpArgs, nonce: u64) -> Self {
        let is_placed = arguments.texts().any(|text| text.contains(Nonce::PLACE));
        Nonce {
            hex: format!("{nonce:016x}"),
            in_query: problem::busts_caches(&arguments.load) && !is_placed,
        }
    }

    pub(crate) fn text(&self, text: &str) -> String {
        text.replace(Nonce::PLACE, &self.hex)
    }

    /// Behind the path or the query that there is, before a fragment.
    pub(crate) fn url(&self, url: &str) -> String {
        let url = self.text(url);
        if !self.in_query {
            return url;
        }
        let (whole, fragment) = url.split_at(url.find('#').unwrap_or(url.len()));
        let sign = if whole.contains('?') { '&' } else { '?' };
        format!("{whole}{sign}nonce={}{fragment}", self.hex)
    }

    /// The same of a request that was made without it.
    fn put(&self, request: &mut http::Request<Bytes>) -> Result<(), http::Error> {
        if self.in_query {
            *request.uri_mut() = self.url(&request.uri().to_string()).parse()?;
        }
        Ok(())
    }
}

/// Requests of several kinds.
#[derive(Debug)]
pub(crate) struct Mixed {
    mix: Arc<HttpMix>,
    nonce: Nonce,
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
    pub(crate) fn new(arguments: &HttpArgs, client: &Http, nonce: Nonce) -> Self {
        let Some(keys) = arguments.keys else {
            return Requests::Same(client.request());
        };
        let name = |name: &String| HeaderName::try_from(name).ok();
        let headers = arguments.header.iter();
        Requests::PerKey(Box::new(PerKey {
            keys,
            seed: arguments.load.schedule.seed,
            method: client.request().method().clone(),
            url: Template::new(nonce.url(&arguments.url)),
            headers: headers
                .filter_map(|(key, value)| Some((name(key)?, Template::new(nonce.text(value)))))
                .collect(),
            body: Template::new(nonce.text(arguments.body.as_deref().unwrap_or_default())),
        }))
    }

    /// Of several kinds; `client` is one of those for which the mix was checked.
    ///
    /// # Errors
    /// When a request that is made once is none.
    pub(crate) fn mixed(
        mix: Arc<HttpMix>,
        seed: u64,
        client: &Http,
        nonce: Nonce,
    ) -> Result<Self, CallError> {
        let made = |kind: &Kind<HttpKind>| match kind.payload().is_constant() {
            true => {
                let mut request = kind.payload().request(seed, 0)?;
                nonce.put(&mut request)?;
                Ok(Some(client.request_from(request)?))
            }
            false => Ok(None),
        };
        let made: Result<_, CallError> = mix.mix().kinds().iter().map(made).collect();
        let made = made?;
        Ok(Requests::Mixed(Box::new(Mixed {
            mix,
            nonce,
            seed,
            made,
        })))
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
        let mut request = kind.payload().request(self.seed, seq)?;
        self.nonce.put(&mut request)?;
        Ok(client.request_from(request)?)
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
