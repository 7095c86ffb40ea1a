//! Inference by KServe v2, against a server generated from the protocol's own definition.
#![allow(clippy::unwrap_used)] // a test fails by panicking

mod support;

use openloop_grpc::kserve::{DataType, InferRequest, ModelInfer, Tensor};
use openloop_measurer::{Describe, Layout, Operation, Recorder, Verdict};
use openloop_testbed::{GrpcServer, Service};
use std::time::Duration;
use support::{MS, client};
use tokio::time::Instant;

#[tokio::test]
async fn tensors_go_there_and_back() {
    let server = GrpcServer::builder()
        .service(Service::fixed(5 * MS))
        .start()
        .unwrap();
    let model = ModelInfer::new(client(&server).await);
    assert!(model.is_live().await.unwrap());
    assert!(model.is_ready("echo", "").await.unwrap());
    assert!(!model.is_ready("loading", "1").await.unwrap());
    let inputs = [
        Tensor::fp32("image", &[1, 2, 2], &[0.0, 1.5, -2.0, 1e9]).unwrap(),
        Tensor::int64("ids", &[3], &[1, -1, i64::MAX]).unwrap(),
        Tensor::bytes("names", ["a", "", "ccc"]).unwrap(),
        Tensor::new("mask", DataType::Bool, &[2], vec![1, 0]).unwrap(),
    ];
    let mut request = InferRequest::new("echo").id("41").output("image");
    for input in &inputs {
        request = request.input(input.clone());
    }
    let request = request.build().unwrap();
    let reply = model.call(request.clone()).await.unwrap();
    assert_eq!(reply.outputs().unwrap(), inputs);
    assert!(reply.stages().first_message.unwrap() >= 5 * MS);

    let layout = Layout::steady_only(Duration::from_secs(3600)).unwrap();
    let recorder = Recorder::new(Instant::now(), layout);
    let arrival = recorder.arrive_at(0, Instant::now());
    let (reply, _) = arrival.measure(model.call(request)).await;
    assert_eq!(reply.verdict(), Verdict::Ok);
    let snapshot = recorder.snapshot();
    let steady = snapshot.steady();
    assert!(steady.metrics().any(|(name, _)| name == "first_message"));
}

#[tokio::test]
async fn a_model_that_is_not_there_or_not_loaded_is_told_by_its_status() {
    let server = GrpcServer::builder().start().unwrap();
    let model = ModelInfer::new(client(&server).await);
    let error = model.is_ready("none", "").await.unwrap_err();
    assert_eq!(error.class(), "grpc_not_found");
    let ask = async |name: &str| {
        let request = InferRequest::new(name).build().unwrap();
        let request = request
            .with(|call| call.deadline(Duration::from_secs(9)))
            .unwrap();
        model.call(request).await.unwrap_err().verdict()
    };
    assert_eq!(ask("none").await, Verdict::Failed("grpc_not_found"));
    assert_eq!(ask("loading").await, Verdict::Failed("grpc_unavailable"));
    assert!(server.last_told().unwrap().timeout.is_some());
}
