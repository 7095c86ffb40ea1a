//! What tonic generates from the protos is what is committed. After a change of a proto, `OPENLOOP_GENERATE=1 cargo test
//! -p openloop-testbed --features grpc --test generated` writes it anew.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::fs;
use std::path::Path;

const FILES: [&str; 2] = ["inference.rs", "openloop.testbed.rs"];

#[test]
fn the_generated_code_is_that_of_the_protos() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let fresh = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let protos = crate_folder.join("proto");
    let descriptors = protox::compile(
        ["openloop/testbed/echo.proto", "inference.proto"].map(|name| protos.join(name)),
        [&protos],
    )
    .unwrap();
    tonic_prost_build::configure()
        .build_transport(false)
        .out_dir(fresh)
        .compile_fds(descriptors)
        .unwrap();
    let committed = crate_folder.join("src/grpc/generated");
    for name in FILES {
        let text = fs::read_to_string(fresh.join(name)).unwrap();
        if std::env::var_os("OPENLOOP_GENERATE").is_some() {
            fs::write(committed.join(name), &text).unwrap();
        }
        let kept = fs::read_to_string(committed.join(name)).unwrap();
        assert!(kept == text, "{name} is out of date");
    }
}
