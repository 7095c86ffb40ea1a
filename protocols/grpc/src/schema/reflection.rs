//! Descriptors from the server itself.

use super::{SchemaError, near};
use crate::{Grpc, GrpcErrorKind, Request, RequestError};
use prost::{Message, Oneof};
use prost_reflect::DescriptorPool;
use prost_reflect::prost_types::FileDescriptorProto;
use protox::file::FileResolver;
use std::collections::BTreeMap;
use tonic::Code;

/// The method in its versions, which differ in their name alone; the newest first.
const METHODS: [&str; 2] = [
    "grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
];

#[derive(Clone, PartialEq, Message)]
struct Question {
    #[prost(string, tag = "1")]
    host: String,
    #[prost(oneof = "Asked", tags = "3, 4, 7")]
    asked: Option<Asked>,
}

#[derive(Clone, PartialEq, Oneof)]
enum Asked {
    #[prost(string, tag = "3")]
    File(String),
    #[prost(string, tag = "4")]
    FileOf(String),
    #[prost(string, tag = "7")]
    Services(String),
}

#[derive(Clone, PartialEq, Message)]
struct Reply {
    #[prost(oneof = "Said", tags = "4, 6, 7")]
    said: Option<Said>,
}

#[derive(Clone, PartialEq, Oneof)]
enum Said {
    #[prost(message, tag = "4")]
    Files(Files),
    #[prost(message, tag = "6")]
    Services(Services),
    #[prost(message, tag = "7")]
    Error(Refusal),
}

#[derive(Clone, PartialEq, Message)]
struct Files {
    #[prost(bytes = "vec", repeated, tag = "1")]
    files: Vec<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
struct Services {
    #[prost(message, repeated, tag = "1")]
    services: Vec<Service>,
}

#[derive(Clone, PartialEq, Message)]
struct Service {
    #[prost(string, tag = "1")]
    name: String,
}

#[derive(Clone, PartialEq, Message)]
struct Refusal {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
}

/// A server that is asked.
struct Reflection<'a> {
    grpc: &'a Grpc,
    /// In the version that it has.
    method: &'static str,
}

/// The files that a service needs, and the names of all services.
pub(super) async fn pool(
    grpc: &Grpc,
    service: &str,
) -> Result<(DescriptorPool, Vec<String>), SchemaError> {
    let (reflection, listed) = Reflection::find(grpc).await?;
    let asked = Asked::FileOf(service.to_owned());
    let mut files = BTreeMap::new();
    let unknown = |listed| SchemaError::Service {
        service: service.to_owned(),
        near: near(service, listed),
    };
    match reflection.ask(asked).await {
        Ok(Said::Files(found)) => take(&mut files, &found)?,
        Ok(Said::Error(refusal)) if Code::from_i32(refusal.code) == Code::NotFound => {
            return Err(unknown(listed));
        }
        // Some servers end the call instead.
        Err(SchemaError::Call(error)) if has_status(&error.kind, Code::NotFound) => {
            return Err(unknown(listed));
        }
        Err(error) => return Err(error),
        Ok(other) => return Err(unexpected(other)),
    }
    while let Some(missing) = missing(&files) {
        match reflection.ask(Asked::File(missing.clone())).await? {
            Said::Files(found) => take(&mut files, &found)?,
            // Some servers leave the well-known ones out.
            said => match protox::file::GoogleFileResolver::new().open_file(&missing) {
                Ok(file) => {
                    files.insert(missing.clone(), file.file_descriptor_proto().clone());
                }
                Err(_) => return Err(unexpected(said)),
            },
        }
        if !files.contains_key(&missing) {
            return Err(SchemaError::Reflection {
                reason: format!("asked for the file {missing:?}, it sent another one"),
            });
        }
    }
    let mut pool = DescriptorPool::new();
    pool.add_file_descriptor_protos(files.into_values())
        .map_err(|error| SchemaError::Reflection {
            reason: error.to_string(),
        })?;
    Ok((pool, listed))
}

impl<'a> Reflection<'a> {
    /// The version that the server has, and the services that it lists.
    async fn find(grpc: &'a Grpc) -> Result<(Self, Vec<String>), SchemaError> {
        for method in METHODS {
            let reflection = Reflection { grpc, method };
            match reflection.ask(Asked::Services(String::new())).await {
                Ok(Said::Services(found)) => {
                    let names = found.services.into_iter().map(|service| service.name);
                    return Ok((reflection, names.collect()));
                }
                Ok(other) => return Err(unexpected(other)),
                Err(SchemaError::Call(error)) if has_status(&error.kind, Code::Unimplemented) => {}
                Err(error) => return Err(error),
            }
        }
        Err(SchemaError::NoReflection)
    }

    async fn ask(&self, asked: Asked) -> Result<Said, SchemaError> {
        let question = Question {
            host: String::new(),
            asked: Some(asked),
        };
        let request = Request::bidirectional(self.method, [question.encode_to_vec()])
            .map_err(|error: RequestError| SchemaError::Request(error))?;
        let mut said = None;
        self.grpc
            .call_with(request, |message| said = Some(message))
            .await?;
        let reply = Reply::decode(said.unwrap_or_default()).map_err(broken)?;
        reply.said.ok_or_else(|| SchemaError::Reflection {
            reason: "its answer is empty".to_owned(),
        })
    }
}

fn has_status(kind: &GrpcErrorKind, code: Code) -> bool {
    kind.status().is_some_and(|status| status.code() == code)
}

fn take(
    files: &mut BTreeMap<String, FileDescriptorProto>,
    found: &Files,
) -> Result<(), SchemaError> {
    for file in &found.files {
        let file = FileDescriptorProto::decode(file.as_slice()).map_err(broken)?;
        files.insert(file.name().to_owned(), file);
    }
    Ok(())
}

/// A file that another one needs and that is not there.
fn missing(files: &BTreeMap<String, FileDescriptorProto>) -> Option<String> {
    let mut needed = files.values().flat_map(|file| &file.dependency);
    needed.find(|name| !files.contains_key(*name)).cloned()
}

fn broken(error: prost::DecodeError) -> SchemaError {
    SchemaError::Reflection {
        reason: error.to_string(),
    }
}

fn unexpected(said: Said) -> SchemaError {
    let reason = match said {
        Said::Error(refusal) => {
            let code = Code::from_i32(refusal.code);
            format!("{code:?}: {}", refusal.message)
        }
        _ => "it answered another question".to_owned(),
    };
    SchemaError::Reflection { reason }
}
