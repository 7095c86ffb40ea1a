//! Settings of a client, checked before anything is sent.

use crate::request::Template;
use crate::{Api, Goodput, Inference, ParameterError, Totals};
use openloop_http::{Connections, Http, Tls};
use serde_json::{Map, Value};
use std::net::SocketAddr;
use std::time::Duration;

/// Why a client cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The model has no name.
    #[error("the model has no name: give the one that the server lists under /v1/models")]
    NoModel,
    /// A field of the requests.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// The URL, a header or the connections.
    #[error(transparent)]
    Http(#[from] openloop_http::BuildError),
}

/// Builds an [`Inference`]; see there for an example.
#[derive(Debug)]
#[must_use = "a client is there once it is built"]
pub struct Builder {
    url: String,
    template: Template,
    connections: Connections,
    headers: Vec<(String, String)>,
    tls: Option<Tls>,
    connect_timeout: Option<Duration>,
    address: Option<SocketAddr>,
    goodput: Goodput,
    totals: Totals,
    keep_text: bool,
}

impl Builder {
    pub(crate) fn new(url: &str, model: &str) -> Self {
        Builder {
            url: url.to_owned(),
            template: Template {
                model: model.to_owned(),
                api: Api::default(),
                stream: true,
                usage: true,
                limit: "max_tokens",
                fields: Map::new(),
            },
            connections: Connections::PerInFlight,
            headers: Vec::new(),
            tls: None,
            connect_timeout: None,
            address: None,
            goodput: Goodput::default(),
            totals: Totals::default(),
            keep_text: false,
        }
    }

    /// Which interface is used; [`Api::Chat`] by default.
    pub fn api(mut self, api: Api) -> Self {
        self.template.api = api;
        self
    }

    /// Whether answers are streamed; they are by default. Where they are not there is no first token to be seen.
    pub fn stream(mut self, stream: bool) -> Self {
        self.template.stream = stream;
        self
    }

    /// Whether streams are asked to end with `usage` (`stream_options.include_usage`); they are by default. For a server
    /// that refuses the field: tokens are then counted by chunks, and the report says so.
    pub fn usage(mut self, usage: bool) -> Self {
        self.template.usage = usage;
        self
    }

    /// Asks the server not to stop before an answer has the length asked for: a field of vLLM, SGLang and llama.cpp.
    /// Without it lengths are the model's choice, and `finish_stop` counts how often.
    pub fn ignore_eos(self, ignore: bool) -> Self {
        self.field("ignore_eos", ignore)
    }

    /// The name of the field that limits an answer's length: `max_completion_tokens` instead of `max_tokens`, as OpenAI's
    /// newer models ask for.
    pub fn max_completion_tokens(mut self) -> Self {
        self.template.limit = "max_completion_tokens";
        self
    }

    /// A field of every request: `temperature`, `top_p`, `seed`, or any other that the server knows.
    pub fn field(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.template.fields.insert(name.into(), value.into());
        self
    }

    /// `Authorization: Bearer KEY`.
    pub fn api_key(self, key: &str) -> Self {
        self.header("authorization", format!("Bearer {key}"))
    }

    /// A header of every request.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// How connections come about; [`Connections::PerInFlight`] by default, so that no stream waits for another's end
    /// on our side.
    pub fn connections(mut self, connections: Connections) -> Self {
        self.connections = connections;
        self
    }

    /// What TLS trusts and asks for; this machine's root certificates by default.
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

    /// What an answer must keep to be good: counted under `good`.
    pub fn goodput(mut self, goodput: Goodput) -> Self {
        self.goodput = goodput;
        self
    }

    /// Counts what comes together with other clients.
    pub fn totals(mut self, totals: Totals) -> Self {
        self.totals = totals;
        self
    }

    /// Keeps the text of answers: see [`Answer::text`](crate::Answer::text). It is not kept by default.
    pub fn keep_text(mut self, keep: bool) -> Self {
        self.keep_text = keep;
        self
    }

    /// Checks everything; nothing is sent and no connection opened.
    ///
    /// # Errors
    /// [`BuildError`], with what is wrong and what to write instead.
    pub fn build(self) -> Result<Inference, BuildError> {
        if self.template.model.trim().is_empty() {
            return Err(BuildError::NoModel);
        }
        self.template.check()?;
        let base = self.url.trim_end_matches('/');
        let base = base.strip_suffix("/v1").unwrap_or(base);
        let path = self.template.api.path();
        let mut http = Http::builder(&format!("{base}{path}"))
            .method("POST")
            .header("content-type", "application/json")
            .connections(self.connections);
        if self.template.stream {
            http = http.header("accept", "text/event-stream");
        }
        for (name, value) in self.headers {
            http = http.header(name, value);
        }
        if let Some(tls) = self.tls {
            http = http.tls(tls);
        }
        if let Some(limit) = self.connect_timeout {
            http = http.connect_timeout(limit);
        }
        if let Some(address) = self.address {
            http = http.address(address);
        }
        Ok(Inference::new(
            http.build()?,
            self.template,
            self.goodput,
            self.totals,
            self.keep_text,
        ))
    }
}
