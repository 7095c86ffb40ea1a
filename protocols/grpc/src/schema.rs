//! What a server can be asked, read from descriptors at run time.

mod json;
mod reflection;

use crate::request::CallKind;
use crate::{Grpc, GrpcError, Request, RequestError};
use prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage, MethodDescriptor, ServiceDescriptor};
use std::path::{Path, PathBuf};

/// How unlike a name may be and still be shown as one that could have been meant: see [`strsim::jaro_winkler`].
const LIKENESS: f64 = 0.75;
/// How many such names are shown.
const SHOWN: usize = 5;

/// Why it is not known how to call a method, or what its messages are.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// The `.proto` files cannot be read or compiled.
    #[error("{}: {reason}", .file.display())]
    Proto {
        /// The file that was asked for.
        file: PathBuf,
        /// What is wrong, with the file and the line where there is one.
        reason: String,
    },
    /// The descriptor set cannot be read.
    #[error(
        "no descriptor set, as `protoc --include_imports --descriptor_set_out` writes it: {reason}"
    )]
    DescriptorSet {
        /// What is wrong with it.
        reason: String,
    },
    /// The method's name does not parse.
    #[error("{method:?} names no method; write it as package.Service/Method")]
    Name {
        /// What was given.
        method: String,
    },
    /// There is no such service.
    #[error("there is no service {service:?}{}", hint(.near))]
    Service {
        /// What was asked for.
        service: String,
        /// Those that are meant perhaps, or all where there are few.
        near: Vec<String>,
    },
    /// The service has no such method.
    #[error("the service {service} has no method {method:?}{}", hint(.near))]
    Method {
        /// The service.
        service: String,
        /// What was asked for.
        method: String,
        /// Those that are meant perhaps, or all where there are few.
        near: Vec<String>,
    },
    /// The server has no reflection.
    #[error(
        "the server has no reflection (neither grpc.reflection.v1 nor v1alpha), so it does not tell what its messages \
         are: give the .proto file or a descriptor set"
    )]
    NoReflection,
    /// The server's reflection answered with an error, or made no sense.
    #[error("the server's reflection failed: {reason}")]
    Reflection {
        /// What it said.
        reason: String,
    },
    /// The server could not be asked.
    #[error("the server could not be asked for its descriptors: {0}")]
    Call(#[from] GrpcError),
    /// The text is no message of the method.
    #[error("the JSON is no {message}{}: {reason}", at(.field))]
    Json {
        /// The type of the message.
        message: String,
        /// The field, as a path such as `items[2].price`; empty for the message itself.
        field: String,
        /// What is wrong.
        reason: String,
    },
    /// The bytes are no message of the method.
    #[error("the bytes are no {message}: {reason}")]
    Bytes {
        /// The type of the message.
        message: String,
        /// What is wrong.
        reason: String,
    },
    /// The request cannot be sent.
    #[error(transparent)]
    Request(#[from] RequestError),
}

fn hint(near: &[String]) -> String {
    match near {
        [] => String::new(),
        near => format!("; there is {}", near.join(", ")),
    }
}

fn at(field: &str) -> String {
    match field {
        "" => String::new(),
        field => format!(", field {field}"),
    }
}

/// Services, methods and messages, as descriptors tell them.
///
/// ```
/// # use openloop_grpc::{Grpc, Schema};
/// # use openloop_measurer::Operation;
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let grpc = Grpc::builder("http://127.0.0.1:50051").build()?;
/// let method = Schema::by_reflection(&grpc, "shop.Cart").await?.method("shop.Cart/Get")?;
/// let reply = grpc.call(method.request([r#"{"id": 42}"#])?).await?;
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Schema {
    pool: DescriptorPool,
    /// Services that the server has, of which not all need be in the pool.
    listed: Vec<String>,
}

/// A method that can be called with messages in JSON.
#[derive(Clone, Debug)]
pub struct Method {
    descriptor: MethodDescriptor,
    name: String,
}

impl Schema {
    /// Compiles a `.proto` file, whose imports are looked for in the folders of `imports`; where there are none, in the
    /// file's own folder. No `protoc` is needed.
    ///
    /// # Errors
    ///
    /// [`SchemaError::Proto`] with the file and the line.
    pub fn from_proto(
        file: impl AsRef<Path>,
        imports: impl IntoIterator<Item = impl AsRef<Path>>,
    ) -> Result<Self, SchemaError> {
        let file = file.as_ref();
        let mut folders: Vec<PathBuf> = imports
            .into_iter()
            .map(|folder| folder.as_ref().to_owned())
            .collect();
        if folders.is_empty() {
            let folder = file.parent().filter(|folder| *folder != Path::new(""));
            folders.push(folder.unwrap_or(Path::new(".")).to_owned());
        }
        let failed = |error: protox::Error| SchemaError::Proto {
            file: file.to_owned(),
            // The place is in the long form alone.
            reason: format!("{error:?}"),
        };
        let mut compiler = protox::Compiler::new(folders).map_err(failed)?;
        compiler.include_imports(true);
        compiler.open_file(file).map_err(failed)?;
        Ok(Schema {
            pool: compiler.descriptor_pool(),
            listed: Vec::new(),
        })
    }

    /// Reads a descriptor set, as `protoc --include_imports --descriptor_set_out=FILE` writes it.
    ///
    /// # Errors
    ///
    /// [`SchemaError::DescriptorSet`], also where an import is missing from it.
    pub fn from_descriptor_set(bytes: &[u8]) -> Result<Self, SchemaError> {
        let pool = DescriptorPool::decode(bytes).map_err(|error| SchemaError::DescriptorSet {
            reason: error.to_string(),
        })?;
        if pool.files().len() == 0 {
            return Err(SchemaError::DescriptorSet {
                reason: "it is empty".to_owned(),
            });
        }
        Ok(Schema {
            pool,
            listed: Vec::new(),
        })
    }

    /// Asks a server for the descriptors of one of its services, by `grpc.reflection.v1` or, where it has none, by
    /// `v1alpha`.
    ///
    /// # Errors
    ///
    /// [`SchemaError::NoReflection`], [`SchemaError::Service`] with those that it has, [`SchemaError::Call`] where it
    /// cannot be reached.
    pub async fn by_reflection(grpc: &Grpc, service: &str) -> Result<Self, SchemaError> {
        let (pool, listed) = reflection::pool(grpc, service).await?;
        Ok(Schema { pool, listed })
    }

    /// The services, by their full names.
    pub fn services(&self) -> impl Iterator<Item = String> + '_ {
        let services = self.pool.services();
        services.map(|service| service.full_name().to_owned())
    }

    /// The method of this name, such as `package.Service/Method`.
    ///
    /// # Errors
    ///
    /// [`SchemaError::Service`] or [`SchemaError::Method`] with what is there.
    pub fn method(&self, name: &str) -> Result<Method, SchemaError> {
        let (service, method) = split(name)?;
        let Some(found) = self.pool.get_service_by_name(service) else {
            let known = match self.listed.is_empty() {
                true => self.services().collect(),
                false => self.listed.clone(),
            };
            return Err(SchemaError::Service {
                service: service.to_owned(),
                near: near(service, known),
            });
        };
        let descriptor = method_of(&found, method)?;
        Ok(Method {
            name: format!("{service}/{method}"),
            descriptor,
        })
    }
}

/// Service and method of a name.
fn split(name: &str) -> Result<(&str, &str), SchemaError> {
    let bare = name.strip_prefix('/').unwrap_or(name);
    match bare.split_once('/') {
        Some((service, method)) if !service.is_empty() && !method.is_empty() => {
            Ok((service, method))
        }
        _ => Err(SchemaError::Name {
            method: name.to_owned(),
        }),
    }
}

fn method_of(service: &ServiceDescriptor, name: &str) -> Result<MethodDescriptor, SchemaError> {
    let found = service.methods().find(|method| method.name() == name);
    found.ok_or_else(|| SchemaError::Method {
        service: service.full_name().to_owned(),
        method: name.to_owned(),
        near: near(
            name,
            service
                .methods()
                .map(|method| method.name().to_owned())
                .collect(),
        ),
    })
}

/// Those of `known` that `name` resembles, the most alike first; all of a few.
fn near(name: &str, known: Vec<String>) -> Vec<String> {
    let is_few = known.len() <= SHOWN;
    let mut ranked: Vec<_> = known
        .into_iter()
        .map(|known| (strsim::jaro_winkler(name, &known), known))
        .filter(|(likeness, _)| is_few || *likeness >= LIKENESS)
        .collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    ranked.truncate(SHOWN);
    ranked.into_iter().map(|(_, known)| known).collect()
}

impl Method {
    /// Its name, as `package.Service/Method`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Which of its sides are streams.
    #[must_use]
    pub fn kind(&self) -> CallKind {
        CallKind::of(
            self.descriptor.is_client_streaming(),
            self.descriptor.is_server_streaming(),
        )
    }

    /// A call with these messages, each in the JSON form of its type.
    ///
    /// # Errors
    ///
    /// [`SchemaError::Json`] with the field, [`SchemaError::Request`] where the number of messages is not that of the
    /// kind of call.
    pub fn request<T: AsRef<str>>(
        &self,
        messages: impl IntoIterator<Item = T>,
    ) -> Result<Request, SchemaError> {
        let encoded: Result<Vec<_>, _> = messages
            .into_iter()
            .map(|text| self.encode(text.as_ref()))
            .collect();
        Ok(Request::new(self.kind(), &self.name, encoded?)?)
    }

    /// A message of the request, encoded.
    ///
    /// # Errors
    ///
    /// [`SchemaError::Json`] with the field.
    pub fn encode(&self, text: &str) -> Result<Vec<u8>, SchemaError> {
        let message = json::read(self.descriptor.input(), text)?;
        Ok(message.encode_to_vec())
    }

    /// A message of the answer in its JSON form.
    ///
    /// # Errors
    ///
    /// [`SchemaError::Bytes`] where it is none.
    pub fn decode(&self, message: &[u8]) -> Result<serde_json::Value, SchemaError> {
        let output = self.descriptor.output();
        let wrong = |reason: String| SchemaError::Bytes {
            message: output.full_name().to_owned(),
            reason,
        };
        let message = DynamicMessage::decode(output.clone(), message)
            .map_err(|error| wrong(error.to_string()))?;
        serde_json::to_value(&message).map_err(|error| wrong(error.to_string()))
    }
}
