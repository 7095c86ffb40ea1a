//! `loadgen capacity usl`.

use crate::exit::Failure;
use clap::Args;
use openloop_capacity::usl::{self, UslPoint};
use openloop_capacity::{Goodness, Interval};
use serde::Serialize;

#[derive(Debug, Args)]
pub(super) struct UslArgs {
    /// A measured point, users, threads or nodes and the throughput per second: 8:6500; repeatable, or parted by commas
    #[arg(long = "point", visible_alias = "points", value_name = "LOAD:RATE", value_parser = point, value_delimiter = ',', required = true)]
    points: Vec<UslPoint>,
}

fn point(text: &str) -> Result<UslPoint, String> {
    let numbers = text.split_once(':').and_then(|(load, throughput)| {
        Some((load.trim().parse().ok()?, throughput.trim().parse().ok()?))
    });
    let Some((load, throughput)) = numbers else {
        return Err("write the load and the throughput there, such as 8:6500".to_owned());
    };
    UslPoint::new(load, throughput).map_err(|error| error.to_string())
}

#[derive(Debug, Serialize)]
pub(super) struct UslAnswer {
    /// Throughput at a load of 1.
    single: Fitted,
    contention: Fitted,
    coherence: Fitted,
    /// The load of the highest throughput; null where none was seen.
    peak_load: Fitted,
    highest_throughput: Option<f64>,
    relative_error: f64,
    goodness: Goodness,
}

#[derive(Debug, Serialize)]
struct Fitted {
    value: Option<f64>,
    /// 95 %; an end that the points do not bound is null.
    interval: [Option<f64>; 2],
}

fn fitted(value: Option<f64>, interval: Interval) -> Fitted {
    let finite = |end: f64| Some(end).filter(|end| end.is_finite());
    Fitted {
        value,
        interval: [finite(interval.lower), finite(interval.upper)],
    }
}

impl UslArgs {
    pub(super) fn answer(&self) -> Result<UslAnswer, Failure> {
        let fit = usl::fit(&self.points).map_err(Failure::usage)?;
        let curve = fit.curve;
        Ok(UslAnswer {
            single: fitted(Some(curve.single()), fit.single),
            contention: fitted(Some(curve.contention()), fit.contention),
            coherence: fitted(Some(curve.coherence()), fit.coherence),
            peak_load: fitted(curve.peak_load(), fit.peak_load),
            highest_throughput: curve.highest_throughput(),
            relative_error: fit.relative_error,
            goodness: fit.goodness,
        })
    }
}
