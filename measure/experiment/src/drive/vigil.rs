//! Whether an answer is so near that the generator should not fall asleep.

use openloop_sched::Offset;
use std::time::Duration;

/// How long after a release the generator stays awake for an answer. On an idle core it would come 50 µs late, and
/// that is more than the 2 % that a run's validity allows where the response is shorter than this.
const AWAKE: Duration = Duration::from_micros(2_500);

/// Until when to stay awake: for a while after each release, as long as answers come.
///
/// While the service stalls none come, and to wait for them awake would take the core from whoever could use it: on
/// the service's own host, from the service.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Vigil {
    until: Offset,
    released: u64,
    ended: u64,
}

impl Vigil {
    /// An arrival is released at `fired`, when `alive` others are in flight.
    pub(crate) fn released(&mut self, fired: Offset, alive: u64) {
        let ended = self.released.saturating_sub(alive);
        if alive == 0 || ended > self.ended {
            self.until = fired.saturating_add(AWAKE);
        }
        self.ended = ended;
        self.released += 1;
    }

    /// Until when to stay awake, with `alive` in flight.
    pub(crate) fn until(&self, alive: u64) -> Offset {
        if alive > 0 { self.until } else { Offset::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn micros(us: u64) -> Offset {
        Offset::from(Duration::from_micros(us))
    }

    #[test]
    fn it_lasts_as_long_as_answers_come() {
        let mut vigil = Vigil::default();
        assert_eq!(vigil.until(0), Offset::ZERO);
        vigil.released(micros(1_000), 0);
        assert_eq!(vigil.until(1), micros(3_500));
        // It has been answered: nobody is waited for.
        assert_eq!(vigil.until(0), Offset::ZERO);
        vigil.released(micros(2_000), 0);
        // One more in flight, and no answer: the vigil goes on from the last release that was worth it.
        vigil.released(micros(3_000), 1);
        vigil.released(micros(4_000), 2);
        assert_eq!(vigil.until(3), micros(4_500));
        // Of these three one is answered before the next.
        vigil.released(micros(9_000), 2);
        assert_eq!(vigil.until(3), micros(11_500));
    }
}
