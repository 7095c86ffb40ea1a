//! The published JSON schema, `schema/report-1.json`: made from the types, so that it says what they say.

use crate::Report;
use serde_json::{Value, json};
use std::path::PathBuf;

/// The schema of the major version 1.
fn schema() -> Value {
    let mut schema = schemars::schema_for!(Report).to_value();
    schema["title"] = json!("openloop.report, version 1");
    schema["description"] = json!(
        "The report of a run. Durations are integers of nanoseconds with the suffix _ns; what does not exist is null. \
         A newer minor version may have more fields than these."
    );
    schema["properties"]["schema"]["pattern"] = json!(r"^openloop\.report/1\.[0-9]+$");
    schema
}

#[test]
fn the_published_schema_is_that_of_the_types() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("schema/report-1.json");
    let made = format!("{:#}\n", schema());
    if std::env::var_os("UPDATE_GOLDEN").is_some_and(|value| value == "1") {
        std::fs::write(&path, made).unwrap();
        return;
    }
    let published = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        published == made,
        "{} does not say what the types say: UPDATE_GOLDEN=1 writes it anew",
        path.display()
    );
}
