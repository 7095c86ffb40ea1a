//! The time of a model: real time without its stalls.

use std::time::Duration;

/// Turns instants of the clock into time of the model, which stands still in stalls, and back.
#[derive(Debug, Default)]
pub(super) struct ModelTime {
    /// When the model began.
    origin_ns: u64,
    /// Stalls, in order and apart: [from, until).
    stalls: Vec<(u64, u64)>,
    /// (from, length) since the first request, until that has come.
    planned: Vec<(u64, u64)>,
}

impl ModelTime {
    pub(super) fn new(origin_ns: u64, planned: Vec<(u64, u64)>) -> Self {
        Self {
            origin_ns,
            stalls: Vec::new(),
            planned,
        }
    }

    /// The first request is there: planned stalls count from now.
    pub(super) fn begin(&mut self, now_ns: u64) {
        for (at, length) in std::mem::take(&mut self.planned) {
            self.stall(now_ns.saturating_add(at), length);
        }
    }

    /// Lets time stand still from `from_ns` on for `length_ns`; stalls that touch become one.
    pub(super) fn stall(&mut self, from_ns: u64, length_ns: u64) {
        let (mut from, mut until) = (from_ns, from_ns.saturating_add(length_ns));
        self.stalls.retain(|(other_from, other_until)| {
            let apart = *other_until < from || *other_from > until;
            if !apart {
                (from, until) = (from.min(*other_from), until.max(*other_until));
            }
            apart
        });
        self.stalls.push((from, until));
        self.stalls.sort_unstable();
    }

    /// When the stall ends in which `now_ns` lies.
    pub(super) fn stalled_until(&self, now_ns: u64) -> Option<u64> {
        let stall = |(from, until): &&(u64, u64)| (*from..*until).contains(&now_ns);
        self.stalls.iter().find(stall).map(|(_, until)| *until)
    }

    /// The time of the model.
    pub(super) fn of(&self, now_ns: u64) -> Duration {
        let stood = self
            .stalls
            .iter()
            .map(|(from, until)| now_ns.clamp(*from, *until) - from);
        let stood: u64 = stood.sum();
        Duration::from_nanos(now_ns.saturating_sub(self.origin_ns).saturating_sub(stood))
    }

    /// When the time of the model is `at`; where it stands still then, the end of the stall.
    pub(super) fn instant(&self, at: Duration) -> u64 {
        let at = u64::try_from(at.as_nanos()).unwrap_or(u64::MAX);
        let mut instant = self.origin_ns.saturating_add(at);
        for (from, until) in &self.stalls {
            if instant >= *from {
                instant = instant.saturating_add(until - from);
            }
        }
        instant
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_stands_still_in_stalls_and_goes_on_behind_them() {
        let mut time = ModelTime::new(1000, vec![(100, 50)]);
        let of = |time: &ModelTime, at| time.of(at).as_nanos() as u64;
        assert_eq!(of(&time, 1700), 700);
        time.begin(1100);
        time.stall(1400, 100);
        // It stands from 1200 to 1250, and from 1400 to 1500.
        for (now, model) in [
            (1200, 200),
            (1220, 200),
            (1250, 200),
            (1251, 201),
            (1450, 350),
            (1600, 450),
        ] {
            assert_eq!(of(&time, now), model, "{now}");
        }
        for (model, instant) in [
            (199, 1199),
            (200, 1250),
            (349, 1399),
            (350, 1500),
            (450, 1600),
        ] {
            assert_eq!(
                time.instant(Duration::from_nanos(model)),
                instant,
                "{model}"
            );
        }
        assert_eq!(time.stalled_until(1249), Some(1250));
        assert_eq!(time.stalled_until(1250), None);
        // One that begins in another makes it longer.
        time.stall(1450, 100);
        assert_eq!(time.stalled_until(1400), Some(1550));
    }
}
