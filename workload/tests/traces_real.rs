//! The published files, against totals that other programs counted.
//!
//! They are not part of the project: `OPENLOOP_TEST_DATA` names the folder that has them, as tests/data/README.md
//! says. Without it there is nothing to compare, and a line says so.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]
#![allow(clippy::print_stdout, reason = "what was not run is told")]

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;

use openloop_workload::traces::{Format, Trace};

fn real(name: &str) -> Option<Trace> {
    let folder = std::env::var_os("OPENLOOP_TEST_DATA").map(PathBuf::from);
    let Some(path) = folder.map(|folder| folder.join("traces").join(name)) else {
        println!("not run: OPENLOOP_TEST_DATA does not say where {name} is");
        return None;
    };
    let file = File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Some(Trace::read(BufReader::new(file)).unwrap())
}

/// Counted by awk: `NR>1{n++; i+=$2; o+=$3}`; gaps and quantiles by Python with exact decimals.
#[test]
fn the_azure_code_trace_of_2023_is_what_awk_counts() {
    let Some(trace) = real("azure_llm_2023_code.csv") else {
        return;
    };
    assert_eq!(trace.format(), Format::Azure);
    let told = trace.describe();
    assert_eq!(told.requests, 8819);
    let (input, output) = (
        told.all.input_tokens.unwrap(),
        told.all.output_tokens.unwrap(),
    );
    assert_eq!((input.total, output.total), (18_059_974, 245_896));
    assert_eq!((input.p50, input.p99, input.max), (1469, 7436, 7437));
    assert_eq!((output.p50, output.p99, output.max), (13, 252, 1899));
    assert_eq!(told.duration_ns, 3_435_948_056_000);
    assert!((told.gap_cv.unwrap() - 13.151_290_974_387).abs() < 1e-9);
    assert!((input.cv - 0.963_824_022_453_9).abs() < 1e-9);
    let quality = trace.quality();
    assert_eq!((quality.disorder, quality.rounded), (0, 0));
    assert_eq!((quality.ties, quality.gaps.len()), (0, 50));
}

/// Counted by Python.
#[test]
fn the_mooncake_conversation_trace_is_what_python_counts() {
    let Some(trace) = real("mooncake_conversation_1500.jsonl") else {
        return;
    };
    assert_eq!(trace.format(), Format::Mooncake);
    let told = trace.describe();
    assert_eq!((told.requests, told.duration_ns), (1500, 509_999_000_000));
    let (input, output) = (
        told.all.input_tokens.unwrap(),
        told.all.output_tokens.unwrap(),
    );
    assert_eq!((input.total, output.total), (20_981_721, 528_172));
    let quality = trace.quality();
    // Arrivals are told in batches of 3 s.
    assert_eq!(
        (quality.disorder, quality.ties, quality.gaps.len()),
        (0, 1329, 0)
    );
    assert!((told.repeated_input.unwrap() - 5_659_648.0 / 20_981_721.0).abs() < 1e-12);
}
