//! A cache that evicts the least recently used, to see what it answers.

use std::collections::{BTreeMap, HashMap};

/// The share of the second half of `keys` that a cache of `capacity` entries answers; `None` where the first half does
/// not fill it, for then it answers less than it will.
pub(super) fn hit_rate(capacity: u64, keys: &[u64]) -> Option<f64> {
    let (first, second) = keys.split_at(keys.len() / 2);
    let mut cache = Lru {
        capacity: usize::try_from(capacity)
            .ok()
            .filter(|&capacity| capacity > 0)?,
        ..Lru::default()
    };
    for &key in first {
        cache.ask(key);
    }
    if cache.last_use.len() < cache.capacity || second.is_empty() {
        return None;
    }
    let hits = second.iter().filter(|&&key| cache.ask(key)).count();
    Some(hits as f64 / second.len() as f64)
}

#[derive(Default)]
struct Lru {
    capacity: usize,
    clock: u64,
    last_use: HashMap<u64, u64>,
    by_age: BTreeMap<u64, u64>,
}

impl Lru {
    /// Whether the key was there; it is, from now on.
    fn ask(&mut self, key: u64) -> bool {
        self.clock += 1;
        let before = self.last_use.insert(key, self.clock);
        if let Some(before) = before {
            self.by_age.remove(&before);
        } else if self.by_age.len() == self.capacity
            && let Some((_, oldest)) = self.by_age.pop_first()
        {
            self.last_use.remove(&oldest);
        }
        self.by_age.insert(self.clock, key);
        before.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_goes() {
        // The first half leaves 2 and 1 in a cache of 2; then 1 hits, 3 evicts 2, 2 misses, 3 hits.
        let keys = [1, 2, 2, 1, 1, 3, 2, 3];
        assert_eq!(hit_rate(2, &keys), Some(0.5));
        assert_eq!(hit_rate(3, &keys), None);
        assert_eq!(hit_rate(0, &keys), None);
        assert_eq!(hit_rate(1, &[]), None);
    }
}
