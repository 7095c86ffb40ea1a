//! `loadgen sample mix`.

use super::ShowArgs;
use super::sheet::{Drawn, Figure, Rows, Section, Sheet};
use crate::arrivals;
use crate::http::HttpMix;
use openloop_workload::named;
use openloop_workload::traces::Trace;
use serde_json::Value;
use std::path::Path;

pub(super) fn sheet(file: &Path, trace: Option<&Path>, show: &ShowArgs) -> Result<Sheet, String> {
    let trace = trace.map(rows).transpose()?;
    let http = HttpMix::read(file, &[], trace.as_ref())?;
    // Of a trace each row is drawn once.
    let rows = trace.as_ref().map_or(u64::MAX, |trace| trace.len() as u64);
    let (all, shown) = (show.draws.min(rows), show.count().min(rows));
    http.check(show.seed, |_| Ok::<(), String>(()))?;
    let mix = http.mix();
    let mut counts = vec![0_u64; mix.kinds().len()];
    let mut works = vec![0.0; mix.kinds().len()];
    let mut drawn_work = Vec::new();
    for seq in 0..all {
        let (place, kind) = http.pick(show.seed, seq);
        counts[place] += 1;
        if let Some(demand) = kind.demand() {
            let work = demand.value(named(show.seed, "demand"), seq);
            works[place] += work;
            drawn_work.push(work);
        }
    }
    let total: f64 = works.iter().sum();
    let shares = mix.shares();
    let requests = shares.iter().zip(&counts).map(|(share, &count)| {
        Figure::share(share.name, share.of_requests, count as f64 / all as f64)
    });
    let mut sections = vec![Section {
        title: "share of the requests",
        figures: requests.collect(),
    }];
    let mut notes = vec![format!("kinds are chosen {}", http.chosen())];
    match mix.demand() {
        Some(demand) => {
            let of_work = shares.iter().zip(&works).map(|(share, work)| {
                Figure::share(
                    share.name,
                    share.of_work,
                    Some(work / total).filter(|share| share.is_finite()),
                )
            });
            sections.push(Section {
                title: "share of the work",
                figures: of_work.collect(),
            });
            let n = drawn_work.len() as f64;
            let mean = total / n;
            let variance = drawn_work
                .iter()
                .map(|work| (work - mean).powi(2))
                .sum::<f64>()
                / n;
            let cv = if mean == 0.0 {
                0.0
            } else {
                variance.sqrt() / mean
            };
            sections.push(Section {
                title: "work of a request",
                figures: vec![
                    Figure::number("mean", demand.mean, mean),
                    Figure::number("C_v", demand.cv, cv),
                    Figure::number(
                        "(1 + C_v\u{b2})/2",
                        demand.pollaczek_khinchine(),
                        (1.0 + cv * cv) / 2.0,
                    ),
                ],
            });
        }
        None => notes.push(
            "the work is unknown: give each kind a demand to see its shares and C_v".to_owned(),
        ),
    }
    let rows = (0..shown).map(|seq| row(&http, show.seed, seq));
    Ok(Sheet {
        sampler: file.display().to_string(),
        drawn: Some(Drawn {
            seed: show.seed,
            draws: all,
        }),
        sections,
        notes,
        sample: Rows {
            columns: vec!["seq", "kind", "method", "url", "headers", "body"],
            rows: rows.collect::<Result<_, String>>()?,
        },
        ..Sheet::default()
    })
}

/// The rows of a trace in order of time.
fn rows(file: &Path) -> Result<Trace, String> {
    let trace = arrivals::read(file)?.into_trace().sorted();
    if trace.is_empty() {
        return Err(format!("{}: the trace has no row", file.display()));
    }
    Ok(trace)
}

/// One request as it would be sent.
fn row(http: &HttpMix, seed: u64, seq: u64) -> Result<Vec<Value>, String> {
    let (_, kind) = http.pick(seed, seq);
    let request = kind.payload().request(seed, seq);
    let request = request.map_err(|error| format!("{}: request {seq}: {error}", kind.name()))?;
    let headers = request
        .headers()
        .iter()
        .map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value.as_bytes())));
    Ok(vec![
        seq.into(),
        kind.name().into(),
        request.method().as_str().into(),
        request.uri().to_string().into(),
        headers.collect::<Vec<_>>().join("; ").into(),
        String::from_utf8_lossy(request.body()).into_owned().into(),
    ])
}
