//! `loadgen sample trace`.

use super::sheet::{Rows, Sheet};
use crate::{arrivals, quality};
use openloop_workload::traces::TraceRequest;
use serde_json::{Map, Value, json};
use std::path::Path;

pub(super) fn sheet(file: &Path, count: usize) -> Result<Sheet, String> {
    let trace = arrivals::read(file)?.into_trace();
    let described = trace.describe();
    let mut notes: Vec<String> = described
        .to_string()
        .lines()
        .skip(1)
        .map(str::to_owned)
        .collect();
    let odd = quality::notes(&trace);
    let Some((whole, odd)) = odd.split_first() else {
        return Err("a trace without a description".to_owned());
    };
    notes.extend(odd.iter().cloned());
    let more = json!({
        "format": trace.format().to_string(),
        "description": described,
        "quality": trace.quality(),
    });
    Ok(Sheet {
        sampler: format!("{}: {whole}", file.display()),
        notes,
        more: match more {
            Value::Object(more) => more,
            _ => Map::new(),
        },
        sample: Rows {
            columns: vec![
                "offset",
                "kind",
                "input_tokens",
                "output_tokens",
                "size",
                "session",
            ],
            rows: trace.requests().iter().take(count).map(row).collect(),
        },
        ..Sheet::default()
    })
}

fn row(request: &TraceRequest) -> Vec<Value> {
    vec![
        (request.offset_ns as f64 / 1e9).into(),
        request.kind.as_deref().into(),
        request.input_tokens.into(),
        request.output_tokens.into(),
        request.size.into(),
        request.session.as_deref().into(),
    ]
}
