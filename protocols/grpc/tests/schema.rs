//! Messages from JSON, by what a server or a file says of them.
#![allow(clippy::unwrap_used)] // a test fails by panicking

mod support;

use bytes::Bytes;
use openloop_grpc::{CallKind, Grpc, Schema, SchemaError};
use openloop_testbed::GrpcServer;
use openloop_testbed::grpc::Reflection;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use support::client;

const UNARY: &str = "openloop.testbed.Echo/Unary";

fn protos() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testbed/proto")
}

fn by_proto() -> Schema {
    let file = protos().join("openloop/testbed/echo.proto");
    Schema::from_proto(file, [protos()]).unwrap()
}

/// What comes back for a message, in JSON.
async fn ask(grpc: &Grpc, schema: &Schema, method: &str, messages: &[Value]) -> Vec<Value> {
    let method = schema.method(method).unwrap();
    let texts = messages.iter().map(Value::to_string);
    let request = method.request(texts).unwrap();
    let mut replies: Vec<Bytes> = Vec::new();
    grpc.call_with(request, |message| replies.push(message))
        .await
        .unwrap();
    let replies = replies.iter().map(|reply| method.decode(reply).unwrap());
    replies.collect()
}

#[tokio::test]
async fn a_server_tells_its_methods_in_either_version_of_reflection() {
    for version in [Reflection::Both, Reflection::Alpha] {
        let server = GrpcServer::builder().reflection(version).start().unwrap();
        let grpc = client(&server).await;
        let schema = Schema::by_reflection(&grpc, "openloop.testbed.Echo")
            .await
            .unwrap();
        let message = json!({ "text": "ä", "key": "-7", "payload": "AAE=" });
        let replies = ask(&grpc, &schema, UNARY, &[message]).await;
        let expected = json!({ "text": "ä", "key": "-7", "payload": "AAE=", "received": 1 });
        assert_eq!(replies, [expected]);
        let replies = ask(
            &grpc,
            &schema,
            "openloop.testbed.Echo/ServerStream",
            &[json!({ "count": 3 })],
        )
        .await;
        assert_eq!(replies.len(), 3);
        let messages = [json!({ "key": 1 }), json!({ "key": 2 })];
        let replies = ask(
            &grpc,
            &schema,
            "openloop.testbed.Echo/ClientStream",
            &messages,
        )
        .await;
        assert_eq!(replies, [json!({ "key": "2", "received": 2 })]);
        let replies = ask(&grpc, &schema, "openloop.testbed.Echo/Both", &messages).await;
        assert_eq!(replies.len(), 2);
    }
}

#[tokio::test]
async fn files_tell_the_same_as_the_server() {
    let server = GrpcServer::builder()
        .reflection(Reflection::Absent)
        .start()
        .unwrap();
    let grpc = client(&server).await;
    let proto = by_proto();
    let files = ["openloop/testbed/echo.proto"].map(|name| protos().join(name));
    let set = protox::compile(files, [protos()]).unwrap();
    let set = prost::Message::encode_to_vec(&set);
    let set = Schema::from_descriptor_set(&set).unwrap();
    for schema in [&proto, &set] {
        assert_eq!(
            schema.services().collect::<Vec<_>>(),
            ["openloop.testbed.Echo"]
        );
        let replies = ask(&grpc, schema, UNARY, &[json!({ "key": 5 })]).await;
        assert_eq!(replies, [json!({ "key": "5", "received": 1 })]);
    }
    // Imports are looked for beside the file, where nobody says another folder.
    let alone = Schema::from_proto(protos().join("inference.proto"), [] as [&str; 0]).unwrap();
    let method = alone
        .method("inference.GRPCInferenceService/ModelInfer")
        .unwrap();
    assert_eq!(method.kind(), CallKind::Unary);
}

#[tokio::test]
async fn a_server_without_reflection_is_told_apart_from_one_without_the_service() {
    let server = GrpcServer::builder()
        .reflection(Reflection::Absent)
        .start()
        .unwrap();
    let grpc = client(&server).await;
    let error = Schema::by_reflection(&grpc, "openloop.testbed.Echo")
        .await
        .unwrap_err();
    assert!(matches!(error, SchemaError::NoReflection), "{error}");
    assert!(error.to_string().contains("give the .proto file"));

    let server = GrpcServer::builder().start().unwrap();
    let grpc = client(&server).await;
    let error = Schema::by_reflection(&grpc, "openloop.testbed.Ecko")
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("openloop.testbed.Echo"),
        "{error}"
    );

    let nobody = Grpc::builder("http://127.0.0.1:1").build().unwrap();
    let error = Schema::by_reflection(&nobody, "a.B").await.unwrap_err();
    assert!(matches!(error, SchemaError::Call(_)), "{error}");
}

#[test]
fn a_method_that_is_not_there_is_told_with_those_that_are_meant() {
    let schema = by_proto();
    let error = |name: &str| schema.method(name).unwrap_err().to_string();
    assert!(error("openloop.testbed.Echo/Unry").contains("there is Unary"));
    assert!(error("openloop.test.Echo/Unary").contains("there is openloop.testbed.Echo"));
    for name in ["Unary", "/", "openloop.testbed.Echo/", ""] {
        assert!(error(name).contains("package.Service/Method"), "{name}");
    }
}

#[test]
fn json_that_is_no_message_is_told_with_its_field() {
    let method = by_proto().method(UNARY).unwrap();
    for (text, field, said) in [
        (r#"{"key": "x"}"#, "key", "invalid digit"),
        (r#"{"count": -1}"#, "count", "out of range"),
        (
            r#"{"extras": {"items": [{}, {"price": "much"}]}}"#,
            "extras.items[1].price",
            "",
        ),
        (
            r#"{"extras": {"colour": "GREEN"}}"#,
            "extras.colour",
            "GREEN",
        ),
        (r#"{"extras": {"at": "yesterday"}}"#, "extras.at", ""),
        (r#"{"kye": 1}"#, "", "kye"),
        (r#"{"key": 1"#, "", "EOF"),
        (r#"{"key": 1} x"#, "", "trailing"),
        ("[]", "", "map"),
    ] {
        let error = method.encode(text).unwrap_err();
        println!("{error}");
        let SchemaError::Json {
            message,
            field: found,
            reason,
        } = &error
        else {
            panic!("{text}: {error:?}");
        };
        assert_eq!(message, "openloop.testbed.EchoRequest");
        assert!(
            found.contains(field),
            "{text}: {found:?} is not {field:?} ({reason})"
        );
        assert!(error.to_string().contains(said), "{text}: {error}");
    }
    let whole = r#"{"extras": {"at": "2026-11-30T13:00:00Z", "counts": {"a": "1"}, "items": [{"name": "n", "price": 1.5}],
        "colour": "COLOUR_RED"}, "delay_us": 5, "gapUs": "6"}"#;
    assert!(method.encode(whole).is_ok());
    assert!(method.request(["{}", "{}"]).is_err());
}

#[test]
fn files_that_tell_nothing_are_refused() {
    let folder = protos().join("openloop/testbed");
    let missing = Schema::from_proto(folder.join("none.proto"), [] as [&str; 0]).unwrap_err();
    assert!(missing.to_string().contains("none.proto"), "{missing}");
    // Its import is not beside it.
    let lost = Schema::from_proto(folder.join("echo.proto"), [] as [&str; 0]).unwrap_err();
    assert!(
        lost.to_string().contains("openloop/testbed/extras.proto"),
        "{lost}"
    );
    let broken = Path::new(env!("CARGO_TARGET_TMPDIR")).join("broken.proto");
    std::fs::write(
        &broken,
        "syntax = \"proto3\";\nmessage A {\n  B b = 1;\n}\n",
    )
    .unwrap();
    let broken = Schema::from_proto(&broken, [] as [&str; 0]).unwrap_err();
    assert!(
        broken.to_string().contains("'B'") && broken.to_string().contains(":3:"),
        "{broken}"
    );
    for bytes in [&b""[..], b"nonsense"] {
        let error = Schema::from_descriptor_set(bytes).unwrap_err();
        assert!(error.to_string().contains("protoc"), "{error}");
    }
}
