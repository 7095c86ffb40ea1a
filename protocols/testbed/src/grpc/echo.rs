//! The four kinds of call.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_core::Stream;
use futures_util::stream;
use tonic::{Request, Response, Status, Streaming};

use super::State;
use super::call::Call;
use super::generated::echo::echo_server::Echo;
use super::generated::echo::{EchoReply, EchoRequest};

pub(crate) struct Echoes(pub(crate) Arc<State>);

type Replies = Pin<Box<dyn Stream<Item = Result<EchoReply, Status>> + Send>>;

fn reply(request: &EchoRequest, number: u32, received: u32) -> EchoReply {
    EchoReply {
        payload: request.payload.clone(),
        text: request.text.clone(),
        number,
        received,
        key: request.key,
    }
}

fn delay(request: &EchoRequest) -> Duration {
    Duration::from_micros(request.delay_us)
}

/// Works, and ends the call where that fails.
async fn work(call: &mut Call, request: &EchoRequest) -> Result<(), Status> {
    let worked = call.work(delay(request)).await;
    if let Err(status) = &worked {
        call.end(status.code());
    }
    worked
}

#[tonic::async_trait]
impl Echo for Echoes {
    async fn unary(&self, request: Request<EchoRequest>) -> Result<Response<EchoReply>, Status> {
        let mut call = Call::begin(&self.0, &request);
        let request = request.into_inner();
        work(&mut call, &request).await?;
        call.end_as_asked(request.status)?;
        Ok(Response::new(reply(&request, 0, 1)))
    }

    type ServerStreamStream = Replies;

    async fn server_stream(
        &self,
        request: Request<EchoRequest>,
    ) -> Result<Response<Replies>, Status> {
        let mut call = Call::begin(&self.0, &request);
        let request = request.into_inner();
        work(&mut call, &request).await?;
        let gap = Duration::from_micros(request.gap_us);
        let replies = stream::unfold(Some((call, 0)), move |state| {
            let request = request.clone();
            async move {
                let (mut call, number) = state?;
                if number == request.count {
                    // It may not end well after all.
                    let ended = call.end_as_asked(request.status);
                    return ended.err().map(|status| (Err(status), None));
                }
                if number > 0 {
                    call.pause(gap).await;
                }
                Some((Ok(reply(&request, number, 1)), Some((call, number + 1))))
            }
        });
        Ok(Response::new(Box::pin(replies)))
    }

    async fn client_stream(
        &self,
        request: Request<Streaming<EchoRequest>>,
    ) -> Result<Response<EchoReply>, Status> {
        let mut call = Call::begin(&self.0, &request);
        let mut requests = request.into_inner();
        let mut last = EchoRequest::default();
        let mut received = 0;
        while let Some(request) = requests.message().await? {
            last = request;
            received += 1;
        }
        work(&mut call, &last).await?;
        call.end_as_asked(last.status)?;
        Ok(Response::new(reply(&last, 0, received)))
    }

    type BothStream = Replies;

    async fn both(
        &self,
        request: Request<Streaming<EchoRequest>>,
    ) -> Result<Response<Replies>, Status> {
        let call = Call::begin(&self.0, &request);
        let requests = request.into_inner();
        let replies = stream::unfold(Some((call, requests, 0)), |state| async move {
            let (mut call, mut requests, number) = state?;
            match requests.message().await {
                // The client is gone, and the call with it.
                Err(status) => Some((Err(status), None)),
                Ok(None) => {
                    call.end(tonic::Code::Ok);
                    None
                }
                Ok(Some(request)) => {
                    if let Err(status) = work(&mut call, &request).await {
                        return Some((Err(status), None));
                    }
                    if request.status != 0 {
                        let ended = call.end_as_asked(request.status);
                        return ended.err().map(|status| (Err(status), None));
                    }
                    let reply = reply(&request, number, number + 1);
                    Some((Ok(reply), Some((call, requests, number + 1))))
                }
            }
        });
        Ok(Response::new(Box::pin(replies)))
    }
}
