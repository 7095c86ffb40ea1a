//! The client.

use crate::reading::Reading;
use crate::request::Template;
use crate::{Answer, Builder, Goodput, InferenceError, Request, Totals};
use bytes::Bytes;
use openloop_http::{Http, HttpError, RequestError, SocketCounts};
use openloop_measurer::Operation;
use openloop_workload::prompts::Prompt;
use std::future::Future;
use std::sync::Arc;

/// A client of one language-model server, as an [`Operation`].
///
/// Cloning is cheap; clones share the connections.
///
/// ```
/// # use openloop_inference::{Api, Inference};
/// # use openloop_measurer::Operation;
/// # use openloop_workload::prompts::Prompts;
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let model = Inference::builder("http://127.0.0.1:8000", "llama-8b")
///     .field("temperature", 0)
///     .ignore_eos(true)
///     .goodput("ttft<=200ms, tpot<=25ms".parse()?)
///     .build()?;
/// model.prepare().await?;
/// let prompts = Prompts::new("lognormal:mean=500,cv=1,max=8192".parse()?, "fixed:64".parse()?)?;
/// let answer = model.call(model.request(prompts.prompt(1, 0))?).await?;
/// if let Some(course) = answer.course() {
///     println!("TTFT from the sending {:?}, TPOT {:?}", answer.ttft_sent(), course.time_per_output_token());
/// }
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Inference(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    http: Http,
    template: Template,
    goodput: Arc<Goodput>,
    totals: Totals,
    keep_text: bool,
}

impl Inference {
    /// Starts a client for the server at `url` (`http://host:8000`, with or without `/v1`) and one of its models.
    pub fn builder(url: &str, model: &str) -> Builder {
        Builder::new(url, model)
    }

    pub(crate) fn new(
        http: Http,
        template: Template,
        goodput: Goodput,
        totals: Totals,
        keep_text: bool,
    ) -> Self {
        Inference(Arc::new(Inner {
            http,
            template,
            goodput: Arc::new(goodput),
            totals,
            keep_text,
        }))
    }

    /// The request for a prompt: its text or token ids are made here.
    ///
    /// # Errors
    /// Where HTTP cannot send it; never, as far as is known.
    pub fn request(&self, prompt: Prompt) -> Result<Request, RequestError> {
        self.request_after(prompt, &[])
    }

    /// The same for a later turn of a conversation, whose earlier answers are what the model really said, as far as they
    /// are known: the first of `answers` stands where the prompt has its first, and so on. Of
    /// [token ids](crate::Api::TokenIds), which no server sends, they are not.
    ///
    /// Such a request depends on what the server said, and so is no longer the same in every run: neither are its
    /// lengths, where a model ends its answers by itself. What is counted as asked for is the prompt's.
    ///
    /// # Errors
    /// As for [`request`](Inference::request).
    pub fn request_after(
        &self,
        prompt: Prompt,
        answers: &[Option<String>],
    ) -> Result<Request, RequestError> {
        let request = self.raw_request(self.0.template.body(&prompt, answers))?;
        Ok(Request {
            prompt: Some(Arc::new(prompt)),
            ..request
        })
    }

    /// A request with a body of your own, as JSON: nothing of the client's fields goes into it.
    ///
    /// # Errors
    /// As for [`request`](Inference::request).
    pub fn raw_request(&self, body: impl Into<Bytes>) -> Result<Request, RequestError> {
        let default = self.0.http.request();
        let mut request = http::Request::new(body.into());
        *request.method_mut() = default.method().clone();
        *request.uri_mut() = default.uri().clone();
        let headers = default.headers().iter();
        // The length of its body is this one's own.
        let headers = headers.filter(|(name, _)| *name != http::header::CONTENT_LENGTH);
        request
            .headers_mut()
            .extend(headers.map(|(name, value)| (name.clone(), value.clone())));
        Ok(Request {
            // An answer that never began changed nothing: many servers close a connection behind a stream that they
            // had promised to keep, and who meets that is no failure of theirs.
            http: self.0.http.request_from(request)?.repeatable(),
            prompt: None,
        })
    }

    /// Opens the connections before the run starts: see [`Http::prepare`].
    ///
    /// # Errors
    /// As there.
    pub async fn prepare(&self) -> Result<(), HttpError> {
        self.0.http.prepare().await
    }

    /// What was received so far, by this client and those that count with it.
    #[must_use]
    pub fn totals(&self) -> &Totals {
        &self.0.totals
    }

    /// Sockets opened, closed and used again by this client.
    #[must_use]
    pub fn sockets(&self) -> &SocketCounts {
        self.0.http.sockets()
    }
}

impl Operation for Inference {
    type Request = Request;
    type Reply = Answer;
    type Error = InferenceError;

    fn call(
        &self,
        request: Request,
    ) -> impl Future<Output = Result<Answer, InferenceError>> + Send {
        let this = self.0.clone();
        async move {
            let Request { http, prompt } = request;
            let mut reading = Reading::new(
                this.template.stream,
                this.keep_text,
                this.totals.clone(),
                this.goodput.clone(),
                prompt,
            );
            let transport = this.http.stream(http, &mut reading).await;
            reading.end(transport)
        }
    }
}
