//! Which queue the means of a curve are those of.

use super::{Model, Notes};
use crate::series::Metric;
use crate::sweep::{Capacity, Curve, PerSecond, Point};
use crate::units::{Ns, Percent, Short};
use openloop_capacity::{GGc, Queue};
use openloop_measurer::Outcome;

/// A pool is bounded if, beyond its limit, at least this share is turned away.
const TURNED_AWAY: f64 = 0.02;

/// How adapters count those who found the line for a connection full: the pool is on our side of the wire.
const LINE_FULL: Outcome = Outcome::Failed("pool_full");

/// Most of what was not served was turned away if it is at least this share of it.
const MOSTLY: f64 = 0.8;

/// A single worker does the work of one, give or take this.
const ONE: f64 = 0.15;

/// Below this many it is taken for one that is quicker where it is busy, if waits are those of one: what has just been at
/// work need not be woken, and its caches are warm. Where services at rest vary more than exponential ones, give or take
/// as much, their mean is that of something else as well, such as pauses.
const NEARLY_ONE: f64 = 1.5;

/// By what factor waits may be off and still be those of a model.
const OFF: f64 = 1.8;

/// Waits of less than this share of S are lost in the noise of the means.
const VISIBLE: f64 = 0.04;

/// Nor are those seen that are less than so many times the half width of the interval of S.
const NOISE: f64 = 1.5;

/// What is read from the curve.
struct Facts {
    /// S, in seconds.
    service: f64,
    /// C_v of the services, by the lowest rate.
    cv: f64,
    /// How many services' worth of work are done in the time of one, at the most.
    parallel: f64,
    /// By point: λ·S, and (W − S)/S.
    waits: Vec<(f64, f64)>,
    /// A wait over S that is not lost in the noise.
    visible: f64,
}

pub(super) fn of(curve: &Curve, notes: &mut Notes) -> Model {
    let Some(facts) = Facts::of(curve, notes) else {
        return Model::Unsure;
    };
    let Facts {
        parallel, service, ..
    } = facts;
    notes.evidence.push(format!(
        "at its highest rate it does the work of {} services in the time of one ({})",
        Short(parallel),
        Ns(service * 1e9)
    ));
    if let Some(pool) = bounded_pool(curve, &facts, notes) {
        return pool;
    }
    if parallel < 1.0 - ONE {
        notes.doubts.push(
            "it does less than the work of one worker: something else than the service of a request limits it"
                .to_owned(),
        );
        return Model::Unsure;
    }
    let is_nearly_one = parallel < NEARLY_ONE && facts.cv < 1.0 + ONE;
    if parallel < 1.0 + ONE || is_nearly_one {
        return single(&facts, notes);
    }
    if let Some(batching) = batching(&facts, notes) {
        return batching;
    }
    several(&facts, notes)
}

impl Facts {
    fn of(curve: &Curve, notes: &mut Notes) -> Option<Self> {
        let stable: Vec<&Point> = curve.stable().collect();
        if stable.len() < 3 {
            notes.doubts.push(format!(
                "the service kept up at {} of the rates, and a curve needs 3",
                stable.len()
            ));
            return None;
        }
        let service = curve.service(notes).filter(|service| *service > 0.0)?;
        let highest = match curve.max() {
            Capacity::Found { rate, .. } => rate,
            Capacity::AtLeast { rate, .. } => {
                notes.doubts.push(format!(
                    "it was never saturated, so that how many work in parallel is not known: go beyond {}",
                    PerSecond(rate)
                ));
                return None;
            }
            _ => return None,
        };
        // What S is off by, every wait is.
        let level = curve
            .floor()
            .and_then(|floor| floor.level(None, &Metric::Response));
        let noise = level
            .and_then(|level| level.mean_interval())
            .map(|(low, high)| (high - low) / 2.0 / service / 1e9);
        let lowest = stable.first()?.series(&Metric::ResponseOk);
        let lowest = &lowest.whole().exact;
        let cv = lowest.stddev_ns()? / lowest.mean_ns()?;
        let wait = |point: &&Point| {
            let mean = point.mean().filter(|mean| !mean.at_least)?;
            let offered = point.offered()?;
            Some((offered * service, mean.ns / 1e9 / service - 1.0))
        };
        Some(Facts {
            service,
            cv,
            parallel: highest * service,
            waits: stable.iter().filter_map(wait).collect(),
            visible: noise.map_or(VISIBLE, |noise| VISIBLE.max(NOISE * noise)),
        })
    }

    /// By how many times `servers` are quicker at work than at rest, where S was measured: if more was served than they
    /// could do by it.
    fn quicker(&self, servers: u32) -> f64 {
        (self.parallel / f64::from(servers)).max(1.0)
    }

    /// The wait over S that `servers` behind one queue would have at the load `erlangs`; `None` where they would not
    /// keep up.
    fn shared(&self, servers: u32, erlangs: f64) -> Option<f64> {
        let quicker = self.quicker(servers);
        let model = GGc::new(erlangs / quicker, 1.0, servers, 1.0, self.cv).ok()?;
        Some(model.mean_wait() / quicker)
    }

    /// By how many times the waits are longer than `model` says: the geometric mean over the loads up to `most` at which
    /// either is visible, and over how many.
    fn over(&self, most: f64, model: impl Fn(f64) -> Option<f64>) -> (f64, usize) {
        let (mut sum, mut n) = (0.0, 0);
        for (erlangs, wait) in self.waits.iter().filter(|(erlangs, _)| *erlangs <= most) {
            let Some(expected) = model(*erlangs) else {
                continue;
            };
            if wait.max(expected) >= self.visible {
                let least = self.visible / 4.0;
                sum += (wait.max(least) / expected.max(least)).ln();
                n += 1;
            }
        }
        ((sum / f64::from(n.max(1))).exp(), n as usize)
    }
}

/// Beyond the limit most are turned away, and those who are not wait no longer than a queue of that length takes.
fn bounded_pool(curve: &Curve, facts: &Facts, notes: &mut Notes) -> Option<Model> {
    let top = curve.valid().next_back()?;
    let counts = top.counts();
    let share = |n: u64| n as f64 / counts.scheduled.max(1) as f64;
    let not_served = counts.scheduled.saturating_sub(counts.ok);
    let found_full = top.with_outcome(LINE_FULL);
    let turned_away = counts.rejected + found_full;
    if share(turned_away) < TURNED_AWAY || turned_away < (MOSTLY * not_served as f64) as u64 {
        return None;
    }
    let accepted = top.series(&Metric::ResponseOk).whole().mean_ns()? / 1e9;
    if top.grew() {
        notes.doubts.push(
            "it turns requests away, and its backlog grows all the same: the limit comes late"
                .to_owned(),
        );
        return None;
    }
    let servers = facts.parallel.round().max(1.0);
    let places = ((accepted / facts.service - 1.0) * servers)
        .round()
        .max(0.0);
    notes.evidence.push(format!(
        "at {} {} turned {} away, and those that it took were served in {} on the average, and no slower in the end than in the beginning",
        PerSecond(top.per_second()),
        match found_full > counts.rejected {
            true => "the full line for a connection",
            false => "it",
        },
        Percent(share(turned_away)),
        Ns(accepted * 1e9)
    ));
    Some(Model::BoundedPool {
        servers: servers as u32,
        places: places as u32,
    })
}

fn single(facts: &Facts, notes: &mut Notes) -> Model {
    let quicker = facts.quicker(1);
    let (over, points) = facts.over(0.9 * quicker, |erlangs| facts.shared(1, erlangs));
    let of = match quicker > 1.0 {
        true => format!(" of {}", Ns(facts.service * 1e9 / quicker)),
        false => String::new(),
    };
    let said = format!(
        "waits are {} times those of one worker with services{of} and C_v {} (Pollaczek-Khinchine), over {points} rates",
        Short(over),
        Short(facts.cv)
    );
    if points > 0 && (1.0 / OFF..OFF).contains(&over) {
        notes.evidence.push(said);
        return Model::SingleWorker;
    }
    notes.doubts.push(said);
    Model::Unsure
}

fn batching(facts: &Facts, notes: &mut Notes) -> Option<Model> {
    let count = facts.parallel.round().max(2.0) as u32;
    // While there is less work than one could do, a pool hardly ever lets anybody wait, and a batch that has begun does.
    let early = f64::min(0.4 * facts.parallel, 1.5);
    let (batched, early_points) = facts.over(early, |erlangs| Some(of_batches(erlangs)));
    let (pooled, _) = facts.over(early, |erlangs| facts.shared(count, erlangs));
    if early_points > 0 && pooled > 2.0 && (1.0 / OFF..OFF).contains(&batched) {
        notes.evidence.push(format!(
            "while there is less work than one could do, requests wait {} times as long as behind {count} workers, and {} times as long as for a batch that has begun",
            Short(pooled),
            Short(batched)
        ));
        return Some(Model::Batching);
    }
    None
}

fn several(facts: &Facts, notes: &mut Notes) -> Model {
    let servers = facts.parallel.round().max(2.0);
    let count = servers as u32;
    let busiest = 0.9 * facts.parallel;
    let (shared, points) = facts.over(busiest, |erlangs| facts.shared(count, erlangs));
    let said = format!(
        "waits are {} times those of {count} workers behind one queue (Allen-Cunneen), over {points} rates",
        Short(shared)
    );
    let is_whole = (facts.parallel - servers).abs() < ONE * servers;
    if points == 0 && is_whole {
        notes.evidence.push(format!(
            "at none of the rates it kept up with does anybody wait to be seen, as behind {count} workers with one queue, and neither for a batch nor behind workers with a queue each"
        ));
        return Model::Workers { servers: count };
    }
    if is_whole && (1.0 / OFF..OFF).contains(&shared) {
        notes.evidence.push(said);
        return Model::Workers { servers: count };
    }
    notes.doubts.push(said);
    if shared > OFF {
        notes.doubts.push(
            "workers with a queue each would wait so, and so would batches of which each request takes its time"
                .to_owned(),
        );
    }
    Model::Unsure
}

/// The mean wait over S at the load λ·S = a of a server that takes all who wait at once, each time for S: it is busy for
/// a eᵃ/(1 + a eᵃ) of the time, since it goes on for another S with probability 1 − e⁻ᵃ, and who finds it so waits for
/// half of S.
fn of_batches(erlangs: f64) -> f64 {
    let busy = erlangs * erlangs.exp();
    0.5 * busy / (1.0 + busy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_that_has_begun_is_waited_for_half_of_its_time() {
        assert!(of_batches(0.0) < 1e-12);
        assert!((of_batches(20.0) - 0.5).abs() < 1e-6);
        // One of four finds it busy.
        assert!((of_batches(0.25) - 0.5 * 0.243).abs() < 1e-3);
    }
}
