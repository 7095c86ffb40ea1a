//! How far apart shards of one run may have begun.

use crate::Report;
use crate::schema::{Check, Shard, ShardClock};
use crate::words::units::Ns;

/// A tenth of an interval of the timeline: beyond it, the load was not the schedule's from one second to the next.
const LIMIT_NS: f64 = 1e8;

/// That the shards have begun together, as far as the clock that they asked can tell.
pub(super) fn shard_clocks(all: &[&Report]) -> Check {
    let clocks: Option<Vec<&ShardClock>> = all
        .iter()
        .map(|report| {
            report
                .shard
                .as_ref()
                .and_then(|shard: &Shard| shard.clock.as_ref())
        })
        .collect();
    let same = clocks.filter(|clocks| {
        let mut references = clocks.iter().map(|clock| &clock.reference);
        references.all(|reference| Some(reference) == clocks.first().map(|clock| &clock.reference))
    });
    let check = Check {
        name: "shard_clocks".to_owned(),
        pass: false,
        value: None,
        limit: None,
        why: "how far apart the shards began is unknown, since they did not ask one clock: their machines have to be kept by NTP or PTP, or give each --clock-reference".to_owned(),
        unit: None,
        severity: Some("warning".to_owned()),
        waived: false,
    };
    let Some(clocks) = same else {
        return check;
    };
    // The two that may be off the most may be off in opposite ways.
    let mut within: Vec<u64> = clocks.iter().map(|clock| clock.within_ns).collect();
    within.sort_unstable_by(|a, b| b.cmp(a));
    let apart = within.iter().take(2).map(|ns| *ns as f64).sum();
    let reference = clocks.first().map_or("", |clock| &clock.reference);
    Check {
        pass: apart <= LIMIT_NS,
        value: Some(apart),
        limit: Some(LIMIT_NS),
        unit: Some("ns".to_owned()),
        why: format!(
            "the shards began within {} of each other, by the clock of {reference}: above {}, ask one that is nearer",
            Ns(apart),
            Ns(LIMIT_NS)
        ),
        severity: Some("fault".to_owned()),
        ..check
    }
}
