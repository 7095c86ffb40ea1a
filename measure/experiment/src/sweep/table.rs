//! A curve as a table.

use super::capacity::{Capacity, PerSecond};
use super::curve::{CLIFF, Curve, KNEE};
use super::point::Estimate;
use crate::units::{Ns, Percent, Short};
use openloop_measurer::Quantile;
use std::fmt;

struct Cell(Option<Estimate>);

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self.0 {
            None => "-".to_owned(),
            Some(estimate) => {
                let sign = if estimate.at_least { ">=" } else { "" };
                format!("{sign}{}", Ns(estimate.ns))
            }
        };
        f.pad(&text)
    }
}

/// A table of the points, and what follows from them below it.
impl fmt::Display for Curve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:>10} {:>10} {:>10} {:>11} {:>11} {:>11} {:>11} {:>7} {:>9} {:>8}",
            "asked",
            "offered",
            "achieved",
            "mean",
            "p50",
            "p95",
            "p99",
            "x floor",
            "in flight",
            "errors"
        )?;
        for point in &self.points {
            let asked = PerSecond(point.per_second());
            if !point.is_valid() {
                writeln!(f, "{asked:>10} may not be believed")?;
                continue;
            }
            let shown = |x: Option<f64>| x.map_or("-".to_owned(), |x| PerSecond(x).to_string());
            let short = |x: Option<f64>| x.map_or("-".to_owned(), |x| Short(x).to_string());
            let quantile = |q| Cell(point.quantile(q));
            let disagrees = point
                .stability()
                .is_some_and(|stability| stability.remedy().is_some());
            let end = match (point.is_saturated(), disagrees) {
                (true, _) => " saturated",
                (false, true) => " the runs disagree",
                (false, false) => "",
            };
            writeln!(
                f,
                "{asked:>10} {:>10} {:>10} {:>11} {:>11} {:>11} {:>11} {:>7} {:>9} {:>8}{end}",
                shown(point.offered()),
                shown(point.achieved()),
                Cell(point.mean()),
                quantile(Quantile::P50),
                quantile(Quantile::P95),
                quantile(Quantile::P99),
                short(self.ratio(point)),
                short(point.in_flight()),
                Percent(point.errors().map_or(0.0, |(share, _)| share)).to_string(),
            )?;
        }
        if let Some(slo) = &self.sought {
            writeln!(f, "{slo}: {}", self.found())?;
        }
        if let (Some(counted), Some(rate)) = (&self.counted, self.found().rate()) {
            let per_second = PerSecond(rate * counted.per_request);
            writeln!(f, "in {}: {per_second}", counted.name.replace('_', " "))?;
        }
        for (metric, knee) in self.knees() {
            writeln!(f, "knee of {metric} (p99 <= {KNEE} x its floor): {knee}")?;
        }
        if let Some(ratio) = self.ratio_in_use() {
            match &self.knee_rule {
                Some(rule) => write!(f, "knee ({rule}, {ratio} ratio)")?,
                None => write!(f, "knee (p99 <= {KNEE}, {ratio} ratio)")?,
            }
            writeln!(f, ": {}", self.knee())?;
            let cliff = self.cliff();
            let beyond = match cliff {
                Capacity::Found { .. } => "beyond ",
                _ => "",
            };
            writeln!(f, "cliff (p99 > {CLIFF}): {beyond}{cliff}")?;
        }
        writeln!(f, "maximum: {}", self.max())?;
        for warning in self.warnings() {
            writeln!(f, "warning: {warning}")?;
        }
        Ok(())
    }
}
