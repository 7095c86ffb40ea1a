//! Accepting connections, and speaking on each of them.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::service::TowerToHyperService;
use prost_types::FileDescriptorSet;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;
use tonic::service::Routes;
use tonic_health::ServingStatus;

use super::call::Connection;
use super::echo::Echoes;
use super::generated::echo::echo_server::EchoServer;
use super::generated::inference::grpc_inference_service_server::GrpcInferenceServiceServer;
use super::inference::Models;
use super::{Reflection, State};
use crate::shared::Held;
use crate::timer::Timer;

/// What a server is like.
pub(crate) struct Settings {
    pub(crate) tls: Option<TlsAcceptor>,
    pub(crate) max_concurrent_streams: Option<u32>,
    pub(crate) reflection: Reflection,
    /// Whether it serves, where it has a health service.
    pub(crate) health: Option<watch::Receiver<bool>>,
    pub(crate) descriptors: FileDescriptorSet,
}

/// Accepts until the server stops.
pub(crate) async fn accept(
    listener: TcpListener,
    state: Arc<State>,
    settings: Settings,
    timer: Timer,
) {
    let mut driver = tokio::spawn({
        let state = Arc::clone(&state);
        async move { state.driver.run(timer).await }
    });
    let routes = routes(&state, &settings);
    let settings = Arc::new(settings);
    while !state.stopping.load(Ordering::Acquire) {
        tokio::select! {
            () = state.control.notified() => {}
            // Without its timer the server can keep no promise: clients see it close.
            _ = &mut driver => return,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    let number = state.counters.accepted.fetch_add(1, Ordering::Relaxed);
                    // Of a socket that is closed already this fails, and reading will say so.
                    let _ = stream.set_nodelay(true);
                    let (state, settings) = (Arc::clone(&state), Arc::clone(&settings));
                    tokio::spawn(greet(stream, number, state, settings, routes.clone()));
                }
                // Out of descriptors, or a client that is gone again.
                Err(_) => tokio::time::sleep(Duration::from_millis(1)).await,
            },
        }
    }
}

fn routes(state: &Arc<State>, settings: &Settings) -> Routes {
    let mut routes = Routes::new(EchoServer::new(Echoes(Arc::clone(state))))
        .add_service(GrpcInferenceServiceServer::new(Models(Arc::clone(state))));
    if let Some(mut serving) = settings.health.clone() {
        let (reporter, health) = tonic_health::server::health_reporter();
        tokio::spawn(async move {
            loop {
                let status = match *serving.borrow_and_update() {
                    true => ServingStatus::Serving,
                    false => ServingStatus::NotServing,
                };
                reporter.set_service_status("", status).await;
                if serving.changed().await.is_err() {
                    return;
                }
            }
        });
        routes = routes.add_service(health);
    }
    let reflection = || {
        let builder = tonic_reflection::server::Builder::configure();
        builder.register_file_descriptor_set(settings.descriptors.clone())
    };
    // The descriptors were compiled, so they are consistent.
    if settings.reflection == Reflection::Both
        && let Ok(service) = reflection().build_v1()
    {
        routes = routes.add_service(service);
    }
    if settings.reflection != Reflection::Absent
        && let Ok(service) = reflection().build_v1alpha()
    {
        routes = routes.add_service(service);
    }
    routes.prepare()
}

async fn greet(
    stream: TcpStream,
    number: u64,
    state: Arc<State>,
    settings: Arc<Settings>,
    routes: Routes,
) {
    let _open = Held::new(&state.counters.open);
    match &settings.tls {
        None => speak(stream, number, &state, &settings, routes).await,
        Some(acceptor) => match acceptor.accept(stream).await {
            Ok(stream) => speak(stream, number, &state, &settings, routes).await,
            Err(_) => {
                let failed = &state.counters.failed_handshakes;
                failed.fetch_add(1, Ordering::Relaxed);
            }
        },
    }
}

/// Errors of the socket are the client's business.
async fn speak<S>(stream: S, number: u64, state: &State, settings: &Settings, routes: Routes)
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let routes = TowerToHyperService::new(Numbered { routes, number });
    let connection = hyper::server::conn::http2::Builder::new(TokioExecutor::new())
        .max_concurrent_streams(settings.max_concurrent_streams)
        .serve_connection(TokioIo::new(stream), routes);
    let mut connection = pin!(connection);
    let mut goaway = pin!(state.goaway.notified());
    let mut cut = pin!(state.cut.notified());
    let mut leaves = false;
    loop {
        tokio::select! {
            _ = &mut connection => return,
            () = &mut cut => return,
            () = &mut goaway, if !leaves => {
                leaves = true;
                connection.as_mut().graceful_shutdown();
            }
        }
    }
}

/// Tells each call which connection it came on.
#[derive(Clone, Debug)]
struct Numbered {
    routes: Routes,
    number: u64,
}

impl<B> tower_service::Service<http::Request<B>> for Numbered
where
    Routes: tower_service::Service<http::Request<B>>,
{
    type Response = <Routes as tower_service::Service<http::Request<B>>>::Response;
    type Error = <Routes as tower_service::Service<http::Request<B>>>::Error;
    type Future = <Routes as tower_service::Service<http::Request<B>>>::Future;

    fn poll_ready(
        &mut self,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Result<(), Self::Error>> {
        self.routes.poll_ready(cx)
    }

    fn call(&mut self, mut request: http::Request<B>) -> Self::Future {
        request.extensions_mut().insert(Connection(self.number));
        self.routes.call(request)
    }
}
