//! Inference by the protocol of KServe v2, which Triton and others speak: `inference.GRPCInferenceService`.
//!
//! ```
//! # use openloop_grpc::{Grpc, kserve::{InferRequest, ModelInfer, Tensor}};
//! # use openloop_measurer::Operation;
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let grpc = Grpc::builder("http://127.0.0.1:8001").channels(4).build()?;
//! let model = ModelInfer::new(grpc);
//! assert!(model.is_ready("resnet", "").await?); // before the run
//! let input = Tensor::fp32("input", &[1, 4], &[0.1, 0.2, 0.3, 0.4])?;
//! let request = InferRequest::new("resnet").input(input).build()?; // checked and encoded once
//! let reply = model.call(request).await?;
//! let outputs = reply.outputs()?;
//! # Ok(()) }
//! ```
//!
//! The protocol is specified in the [Open Inference Protocol](https://github.com/kserve/open-inference-protocol).

mod messages;
mod tensor;

pub use tensor::{DataType, Tensor, TensorError};

use crate::client::without_stages;
use crate::{Grpc, GrpcError, GrpcErrorKind, Reply, Request, RequestError, Stages};
use bytes::Bytes;
use messages as wire;
use openloop_measurer::{Describe, Details, Operation, Verdict};
use prost::Message;

/// Inference by one server, as an [`Operation`].
#[derive(Clone, Debug)]
pub struct ModelInfer {
    grpc: Grpc,
}

/// An inference that is checked and encoded, ready to be asked any number of times; cloning it is cheap.
#[derive(Clone, Debug)]
pub struct Inference(Request);

/// What is asked of a model.
#[derive(Clone, Debug)]
#[must_use = "it is a request once it is built"]
pub struct InferRequest {
    message: wire::ModelInferRequest,
    inputs: Vec<Tensor>,
}

/// The answer to an inference.
#[derive(Clone, Debug)]
pub struct InferReply {
    reply: Reply,
    message: Bytes,
}

impl InferRequest {
    /// Asks the model of this name, in the version that the server takes by itself.
    pub fn new(model: impl Into<String>) -> Self {
        InferRequest {
            message: wire::ModelInferRequest {
                model_name: model.into(),
                ..Default::default()
            },
            inputs: Vec::new(),
        }
    }

    /// Asks for this version of the model.
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.message.model_version = version.into();
        self
    }

    /// An identifier that the server sends back.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.message.id = id.into();
        self
    }

    /// Adds an input.
    pub fn input(mut self, tensor: Tensor) -> Self {
        self.inputs.push(tensor);
        self
    }

    /// Asks for this output; where none is named, the server sends all.
    pub fn output(mut self, name: impl Into<String>) -> Self {
        self.message
            .outputs
            .push(wire::RequestedOutput { name: name.into() });
        self
    }

    /// Checks and encodes it.
    ///
    /// # Errors
    ///
    /// [`RequestError::TooLong`] beyond 4 GiB.
    pub fn build(mut self) -> Result<Inference, RequestError> {
        for tensor in self.inputs {
            self.message.raw_input_contents.push(tensor.data.to_vec());
            self.message.inputs.push(wire::Tensor {
                name: tensor.name,
                datatype: tensor.datatype.name().to_owned(),
                shape: tensor.shape,
                ..Default::default()
            });
        }
        let message = self.message.encode_to_vec();
        Request::unary("inference.GRPCInferenceService/ModelInfer", message).map(Inference)
    }
}

impl Inference {
    /// The call, to set its deadline or its metadata.
    ///
    /// # Errors
    ///
    /// What `set` says.
    pub fn with(
        self,
        set: impl FnOnce(Request) -> Result<Request, RequestError>,
    ) -> Result<Self, RequestError> {
        set(self.0).map(Inference)
    }
}

impl ModelInfer {
    /// Inference over these channels.
    #[must_use]
    pub fn new(grpc: Grpc) -> Self {
        ModelInfer { grpc }
    }

    /// The client under it, to open its connections before a run.
    #[must_use]
    pub fn grpc(&self) -> &Grpc {
        &self.grpc
    }

    /// Whether the server is alive.
    ///
    /// # Errors
    ///
    /// Where it cannot be asked.
    pub async fn is_live(&self) -> Result<bool, GrpcError> {
        let reply: wire::Flag = self.ask("ServerLive", &wire::Empty {}).await?;
        Ok(reply.is_so)
    }

    /// Whether a model is loaded and ready; the empty version is the server's own choice.
    ///
    /// # Errors
    ///
    /// Where the server cannot be asked, or does not know the model.
    pub async fn is_ready(&self, model: &str, version: &str) -> Result<bool, GrpcError> {
        let question = wire::NameAndVersion {
            name: model.to_owned(),
            version: version.to_owned(),
        };
        let reply: wire::Flag = self.ask("ModelReady", &question).await?;
        Ok(reply.is_so)
    }

    async fn ask<R: Message + Default>(
        &self,
        method: &str,
        question: &impl Message,
    ) -> Result<R, GrpcError> {
        let malformed = |why: String| without_stages(GrpcErrorKind::Malformed(why));
        let method = format!("inference.GRPCInferenceService/{method}");
        let request = Request::unary(&method, question.encode_to_vec())
            .map_err(|error| malformed(error.to_string()))?;
        let mut said = None;
        self.grpc
            .call_with(request, |message| said = Some(message))
            .await?;
        R::decode(said.unwrap_or_default()).map_err(|error| malformed(error.to_string()))
    }
}

impl Operation for ModelInfer {
    type Request = Inference;
    type Reply = InferReply;
    type Error = GrpcError;

    async fn call(&self, request: Inference) -> Result<InferReply, GrpcError> {
        let mut said = Bytes::new();
        let reply = self
            .grpc
            .call_with(request.0, |message| said = message)
            .await?;
        Ok(InferReply {
            reply,
            message: said,
        })
    }
}

impl InferReply {
    /// The outputs, read from the answer now: not while the call was timed.
    ///
    /// # Errors
    ///
    /// [`TensorError`] where the answer is none, or an output has a type that is not known here.
    pub fn outputs(&self) -> Result<Vec<Tensor>, TensorError> {
        let reply = wire::ModelInferResponse::decode(self.message.clone()).map_err(|error| {
            TensorError::Reply {
                reason: error.to_string(),
            }
        })?;
        tensor::outputs(reply)
    }

    /// Where the time of the call went.
    #[must_use]
    pub fn stages(&self) -> &Stages {
        self.reply.stages()
    }
}

impl Describe for InferReply {
    fn verdict(&self) -> Verdict {
        self.reply.verdict()
    }

    fn details(&self, into: &mut Details<'_>) {
        self.reply.details(into);
    }
}
