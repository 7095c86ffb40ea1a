//! `loadgen sample mix`.

use super::ShowArgs;
use super::sheet::{Drawn, Figure, Rows, Section, Sheet};
use crate::http::{HttpKind, HttpMix};
#[cfg(feature = "redis")]
use crate::kinds;
#[cfg(feature = "redis")]
use crate::redis::RedisMix;
use openloop_workload::Mix;
use serde_json::Value;
use std::path::Path;

pub(super) fn sheet(file: &Path, show: &ShowArgs) -> Result<Sheet, String> {
    #[cfg(feature = "redis")]
    if kinds::have(file, "command") {
        let redis = RedisMix::read(file)?;
        let columns = vec!["seq", "kind", "command"];
        return of(file, show, &redis.mix, columns, |kind, seq| {
            Ok(vec![kind.words(show.seed, seq).into()])
        });
    }
    let http = HttpMix::read(file, &[])?;
    http.check(show.seed, |_| Ok::<(), String>(()))?;
    let columns = vec!["seq", "kind", "method", "url", "headers", "body"];
    of(file, show, http.mix(), columns, |kind, seq| {
        row(kind, show.seed, seq)
    })
}

/// The kinds of `mix`, and requests as they would be sent: `row` shows number `seq`, of that kind.
fn of<T>(
    file: &Path,
    show: &ShowArgs,
    mix: &Mix<T>,
    columns: Vec<&'static str>,
    row: impl Fn(&T, u64) -> Result<Vec<Value>, String>,
) -> Result<Sheet, String> {
    let mut counts = vec![0_u64; mix.kinds().len()];
    let mut works = vec![0.0; mix.kinds().len()];
    let mut drawn_work = Vec::new();
    for seq in 0..show.draws {
        let kind = mix.pick(show.seed, seq).index;
        counts[kind] += 1;
        if let Some(work) = mix.work(show.seed, seq) {
            works[kind] += work;
            drawn_work.push(work);
        }
    }
    let total: f64 = works.iter().sum();
    let shares = mix.shares();
    let requests = shares.iter().zip(&counts).map(|(share, &count)| {
        Figure::share(
            share.name,
            share.of_requests,
            count as f64 / show.draws as f64,
        )
    });
    let mut sections = vec![Section {
        title: "share of the requests",
        figures: requests.collect(),
    }];
    let mut notes = Vec::new();
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
    let rows = (0..show.count()).map(|seq| {
        let picked = mix.pick(show.seed, seq);
        let mut cells = vec![seq.into(), picked.name.into()];
        cells.extend(
            row(picked.payload, seq)
                .map_err(|why| format!("{}: request {seq}: {why}", picked.name))?,
        );
        Ok(cells)
    });
    Ok(Sheet {
        sampler: file.display().to_string(),
        drawn: Some(Drawn {
            seed: show.seed,
            draws: show.draws,
        }),
        sections,
        notes,
        sample: Rows {
            columns,
            rows: rows.collect::<Result<_, String>>()?,
        },
        ..Sheet::default()
    })
}

fn row(kind: &HttpKind, seed: u64, seq: u64) -> Result<Vec<Value>, String> {
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
