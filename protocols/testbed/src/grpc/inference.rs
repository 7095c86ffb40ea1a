//! A small server of models by KServe v2: `echo` sends its inputs back, `loading` is never ready.

use std::sync::Arc;
use std::time::Duration;

use tonic::{Code, Request, Response, Status};

use super::State;
use super::call::Call;
use super::generated::inference as wire;
use super::generated::inference::grpc_inference_service_server::GrpcInferenceService;
use super::generated::inference::model_infer_response::InferOutputTensor;

pub(crate) struct Models(pub(crate) Arc<State>);

fn unknown(model: &str) -> Status {
    Status::not_found(format!("there is no model {model:?}"))
}

#[tonic::async_trait]
impl GrpcInferenceService for Models {
    async fn server_live(
        &self,
        _: Request<wire::ServerLiveRequest>,
    ) -> Result<Response<wire::ServerLiveResponse>, Status> {
        Ok(Response::new(wire::ServerLiveResponse { live: true }))
    }

    async fn server_ready(
        &self,
        _: Request<wire::ServerReadyRequest>,
    ) -> Result<Response<wire::ServerReadyResponse>, Status> {
        Ok(Response::new(wire::ServerReadyResponse { ready: true }))
    }

    async fn model_ready(
        &self,
        request: Request<wire::ModelReadyRequest>,
    ) -> Result<Response<wire::ModelReadyResponse>, Status> {
        let ready = match request.get_ref().name.as_str() {
            "echo" => true,
            "loading" => false,
            other => return Err(unknown(other)),
        };
        Ok(Response::new(wire::ModelReadyResponse { ready }))
    }

    async fn model_infer(
        &self,
        request: Request<wire::ModelInferRequest>,
    ) -> Result<Response<wire::ModelInferResponse>, Status> {
        let mut call = Call::begin(&self.0, &request);
        let request = request.into_inner();
        let asked = match request.model_name.as_str() {
            "echo" => call.work(Duration::ZERO).await,
            "loading" => Err(Status::unavailable("the model is not loaded")),
            other => Err(unknown(other)),
        };
        call.end(asked.as_ref().err().map_or(Code::Ok, Status::code));
        asked?;
        let outputs = request.inputs.into_iter().map(|input| InferOutputTensor {
            name: input.name,
            datatype: input.datatype,
            shape: input.shape,
            parameters: input.parameters,
            contents: input.contents,
        });
        Ok(Response::new(wire::ModelInferResponse {
            model_name: request.model_name,
            model_version: "1".to_owned(),
            id: request.id,
            parameters: request.parameters,
            outputs: outputs.collect(),
            raw_output_contents: request.raw_input_contents,
        }))
    }
}
