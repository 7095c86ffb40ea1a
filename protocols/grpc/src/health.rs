//! The health of a server, by `grpc.health.v1`.

use crate::client::without_stages;
use crate::{Grpc, GrpcError, GrpcErrorKind, Request};
use prost::Message;

const CHECK: &str = "grpc.health.v1.Health/Check";

/// What a server says of itself or of one of its services.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// It serves.
    Serving,
    /// It does not.
    NotServing,
    /// It does not know.
    Unknown,
}

#[derive(Clone, PartialEq, Message)]
struct CheckRequest {
    #[prost(string, tag = "1")]
    service: String,
}

#[derive(Clone, PartialEq, Message)]
struct CheckReply {
    #[prost(int32, tag = "1")]
    status: i32,
}

pub(crate) async fn check(grpc: &Grpc, service: &str) -> Result<Health, GrpcError> {
    let question = CheckRequest {
        service: service.to_owned(),
    };
    let malformed = |why: String| without_stages(GrpcErrorKind::Malformed(why));
    let request = Request::unary(CHECK, question.encode_to_vec())
        .map_err(|error| malformed(error.to_string()))?;
    let mut said = None;
    grpc.call_with(request, |message| said = Some(message))
        .await?;
    let reply = CheckReply::decode(said.unwrap_or_default())
        .map_err(|error| malformed(error.to_string()))?;
    Ok(match reply.status {
        1 => Health::Serving,
        2 => Health::NotServing,
        _ => Health::Unknown,
    })
}
