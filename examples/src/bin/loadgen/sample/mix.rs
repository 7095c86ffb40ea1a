//! `loadgen sample mix`.

use super::ShowArgs;
use super::sheet::{Drawn, Figure, Rows, Section, Sheet};
use crate::arrivals;
use crate::http::HttpKind;
#[cfg(any(feature = "grpc", feature = "redis"))]
use crate::kinds;
use crate::kinds::Kinds;
use openloop_workload::named;
use openloop_workload::traces::Trace;
use serde_json::Value;
use std::path::Path;

pub(super) fn sheet(file: &Path, trace: Option<&Path>, show: &ShowArgs) -> Result<Sheet, String> {
    let trace = trace.map(rows).transpose()?;
    let trace = trace.as_ref();
    #[cfg(feature = "redis")]
    if kinds::have(file, "command") {
        let kinds = crate::redis::read_mix(file, trace)?;
        return of(&kinds, trace, show, vec!["command"], |kind, seq| {
            Ok(vec![kind.words(show.seed, seq).into()])
        });
    }
    #[cfg(feature = "grpc")]
    if kinds::have(file, "method") && !kinds::have(file, "url") {
        let kinds = crate::grpc::read_mix(file, trace)?;
        return of(&kinds, trace, show, vec!["method", "data"], |kind, seq| {
            Ok(vec![kind.method().into(), kind.data(show.seed, seq).into()])
        });
    }
    let kinds = crate::http::read_mix(file, &[], trace)?;
    kinds.check(show.seed, |_| Ok::<(), String>(()))?;
    let columns = vec!["method", "url", "headers", "body"];
    of(&kinds, trace, show, columns, |kind, seq| {
        http_row(kind, show.seed, seq)
    })
}

/// What `kinds` are, and requests as they would be sent: `row` has the `columns` of request number `seq`, of that kind.
fn of<T>(
    kinds: &Kinds<T>,
    trace: Option<&Trace>,
    show: &ShowArgs,
    columns: Vec<&'static str>,
    row: impl Fn(&T, u64) -> Result<Vec<Value>, String>,
) -> Result<Sheet, String> {
    // Of a trace each row is drawn once.
    let rows = trace.map_or(u64::MAX, |trace| trace.len() as u64);
    let (all, shown) = (show.draws.min(rows), show.count().min(rows));
    let mix = kinds.mix();
    let mut counts = vec![0_u64; mix.kinds().len()];
    let mut works = vec![0.0; mix.kinds().len()];
    let mut drawn_work = Vec::new();
    for seq in 0..all {
        let (place, kind) = kinds.pick(show.seed, seq);
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
    let mut notes = vec![format!("kinds are chosen {}", kinds.chosen())];
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
    let rows = (0..shown).map(|seq| {
        let (_, kind) = kinds.pick(show.seed, seq);
        let cells = row(kind.payload(), seq)
            .map_err(|why| format!("{}: request {seq}: {why}", kind.name()))?;
        Ok([vec![seq.into(), kind.name().into()], cells].concat())
    });
    Ok(Sheet {
        sampler: kinds.file().display().to_string(),
        drawn: Some(Drawn {
            seed: show.seed,
            draws: all,
        }),
        sections,
        notes,
        sample: Rows {
            columns: [vec!["seq", "kind"], columns].concat(),
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

fn http_row(kind: &HttpKind, seed: u64, seq: u64) -> Result<Vec<Value>, String> {
    let request = kind.request(seed, seq).map_err(|error| error.to_string())?;
    let headers = request
        .headers()
        .iter()
        .map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value.as_bytes())));
    Ok(vec![
        request.method().as_str().into(),
        request.uri().to_string().into(),
        headers.collect::<Vec<_>>().join("; ").into(),
        String::from_utf8_lossy(request.body()).into_owned().into(),
    ])
}
