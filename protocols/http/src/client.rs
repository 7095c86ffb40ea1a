//! The client.

use crate::body::OnData;
use crate::engine::Engine;
use crate::request::Target;
use crate::{BodyReader, Builder, HttpError, Reply, Request, RequestError};
use bytes::Bytes;
use openloop_measurer::Operation;
use openloop_net::SocketCounts;
use std::future::Future;
use std::sync::Arc;

/// An HTTP client for one server, as an [`Operation`]: it shows every wait on our side of the wire.
///
/// Cloning is cheap; clones share the connections.
///
/// ```
/// # use openloop_http::{Connections, Http};
/// # use openloop_measurer::Operation;
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let http = Http::builder("http://127.0.0.1:8080/search?q=1")
///     .connections(Connections::pool(50))
///     .header("accept", "application/json")
///     .build()?;
/// http.prepare().await?; // opens the connections: what cannot be reached is known before any load
/// let reply = http.call(http.request()).await?;
/// println!("{} after {:?}", reply.status(), reply.stages().first_byte);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Http(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    engine: Engine,
    target: Target,
    request: Request,
}

impl Http {
    /// Starts a client for the server of `url`; its path and query are those of the default request.
    pub fn builder(url: &str) -> Builder {
        Builder::new(url)
    }

    pub(crate) fn new(engine: Engine, target: Target, request: Request) -> Self {
        Http(Arc::new(Inner {
            engine,
            target,
            request,
        }))
    }

    /// The default request: the URL, method, headers and body of the builder.
    #[must_use]
    pub fn request(&self) -> Request {
        self.0.request.clone()
    }

    /// Checks another request to the same server, for requests that differ from call to call.
    ///
    /// Its URI may be a path alone; nothing of the default request goes into it.
    ///
    /// # Errors
    ///
    /// [`RequestError`] where it is for another server, or carries what the client sets itself.
    pub fn request_from(&self, request: http::Request<Bytes>) -> Result<Request, RequestError> {
        self.0.target.prepare(request)
    }

    /// Opens the connections before the run starts, so that opening them is no part of it: all of a pool, and
    /// otherwise one, to see that it can be done.
    ///
    /// # Errors
    ///
    /// The first failure: an unreachable host or a certificate that does not verify is known before any load.
    pub async fn prepare(&self) -> Result<(), HttpError> {
        self.0.engine.prepare().await
    }

    /// Sockets opened, closed and used again by this client, [`prepare`](Self::prepare) included.
    #[must_use]
    pub fn sockets(&self) -> &SocketCounts {
        self.0.engine.dialer.counts()
    }

    /// Like [`call`](Operation::call), and shows each piece of the body to `on_data` as it arrives.
    ///
    /// What `on_data` takes is part of the call, in its stage `body`.
    ///
    /// # Errors
    ///
    /// As for [`call`](Operation::call).
    pub async fn call_with(
        &self,
        request: Request,
        on_data: impl FnMut(&Bytes) + Send,
    ) -> Result<Reply, HttpError> {
        self.0.engine.call(&request, &mut OnData(on_data)).await
    }

    /// Like [`call`](Operation::call), and shows the answer to `reader` as it comes: its head, and each piece of its body
    /// with the instant at which the kernel had it. For streams, whose body is a course of events.
    ///
    /// What `reader` takes is part of the call. What it was shown it keeps, also where the call fails or is dropped.
    ///
    /// # Errors
    ///
    /// As for [`call`](Operation::call).
    pub async fn stream(
        &self,
        request: Request,
        reader: &mut impl BodyReader,
    ) -> Result<Reply, HttpError> {
        self.0.engine.call(&request, reader).await
    }
}

impl Operation for Http {
    type Request = Request;
    type Reply = Reply;
    type Error = HttpError;

    fn call(&self, request: Request) -> impl Future<Output = Result<Reply, HttpError>> + Send {
        self.call_with(request, |_| {})
    }
}
