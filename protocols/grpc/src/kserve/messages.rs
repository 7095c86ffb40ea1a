//! The messages of the protocol, as far as they are needed; fields that are left out are skipped by the decoder.

use prost::Message;

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Empty {}

/// `ServerLiveResponse`, `ServerReadyResponse` and `ModelReadyResponse`, which are alike.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Flag {
    #[prost(bool, tag = "1")]
    pub(crate) is_so: bool,
}

/// `ModelReadyRequest`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct NameAndVersion {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(string, tag = "2")]
    pub(crate) version: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ModelInferRequest {
    #[prost(string, tag = "1")]
    pub(crate) model_name: String,
    #[prost(string, tag = "2")]
    pub(crate) model_version: String,
    #[prost(string, tag = "3")]
    pub(crate) id: String,
    #[prost(message, repeated, tag = "5")]
    pub(crate) inputs: Vec<Tensor>,
    #[prost(message, repeated, tag = "6")]
    pub(crate) outputs: Vec<RequestedOutput>,
    #[prost(bytes = "vec", repeated, tag = "7")]
    pub(crate) raw_input_contents: Vec<Vec<u8>>,
}

/// `InferInputTensor` and `InferOutputTensor`, which are alike.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Tensor {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(string, tag = "2")]
    pub(crate) datatype: String,
    #[prost(int64, repeated, tag = "3")]
    pub(crate) shape: Vec<i64>,
    #[prost(message, optional, tag = "5")]
    pub(crate) contents: Option<Contents>,
}

/// `InferRequestedOutputTensor`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct RequestedOutput {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
}

/// `InferTensorContents`: the values of a tensor, where they do not lie beside it as raw bytes.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Contents {
    #[prost(bool, repeated, tag = "1")]
    pub(crate) bools: Vec<bool>,
    #[prost(int32, repeated, tag = "2")]
    pub(crate) ints: Vec<i32>,
    #[prost(int64, repeated, tag = "3")]
    pub(crate) int64s: Vec<i64>,
    #[prost(uint32, repeated, tag = "4")]
    pub(crate) uints: Vec<u32>,
    #[prost(uint64, repeated, tag = "5")]
    pub(crate) uint64s: Vec<u64>,
    #[prost(float, repeated, tag = "6")]
    pub(crate) fp32s: Vec<f32>,
    #[prost(double, repeated, tag = "7")]
    pub(crate) fp64s: Vec<f64>,
    #[prost(bytes = "vec", repeated, tag = "8")]
    pub(crate) bytes: Vec<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ModelInferResponse {
    #[prost(message, repeated, tag = "5")]
    pub(crate) outputs: Vec<Tensor>,
    #[prost(bytes = "vec", repeated, tag = "6")]
    pub(crate) raw_output_contents: Vec<Vec<u8>>,
}
