//! Who gets a request.

use super::config::Routing;
use std::cmp::Reverse;

/// What a router knows of an engine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    /// Requests under way there.
    pub(super) under_way: u32,
    /// Leading blocks of the prompt in its cache.
    pub(super) cached: usize,
}

#[derive(Debug)]
pub(super) struct Router {
    routing: Routing,
    /// Whose turn it is among equals.
    next: usize,
}

impl Router {
    pub(super) fn new(routing: Routing) -> Self {
        Router { routing, next: 0 }
    }

    /// One of the candidates, of which there has to be at least one.
    pub(super) fn choose(&mut self, candidates: &[Candidate]) -> usize {
        let fewest = candidates
            .iter()
            .map(|one| one.under_way)
            .min()
            .unwrap_or(0);
        let (count, next) = (candidates.len(), self.next);
        let in_turn = (0..count).map(|i| (next + i) % count);
        let chosen = match self.routing {
            Routing::RoundRobin => next % count,
            Routing::LeastLoaded => in_turn
                .min_by_key(|&at| candidates[at].under_way)
                .unwrap_or(0),
            Routing::PrefixAware { most_ahead } => in_turn
                .filter(|&at| {
                    most_ahead.is_none_or(|most| candidates[at].under_way - fewest <= most)
                })
                .min_by_key(|&at| (Reverse(candidates[at].cached), candidates[at].under_way))
                .unwrap_or(0),
        };
        self.next = (chosen + 1) % count;
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates<const N: usize>(of: [(u32, usize); N]) -> [Candidate; N] {
        of.map(|(under_way, cached)| Candidate { under_way, cached })
    }

    #[test]
    fn equals_take_turns() {
        let idle = candidates([(0, 0); 3]);
        for routing in [
            Routing::RoundRobin,
            Routing::LeastLoaded,
            Routing::PrefixAware { most_ahead: None },
        ] {
            let mut router = Router::new(routing);
            let chosen: Vec<_> = (0..6).map(|_| router.choose(&idle)).collect();
            assert_eq!(chosen, [0, 1, 2, 0, 1, 2], "{routing:?}");
        }
    }

    #[test]
    fn each_looks_at_what_it_should() {
        let engines = candidates([(5, 9), (1, 0), (2, 9), (9, 10)]);
        let choose = |routing| Router::new(routing).choose(&engines);
        assert_eq!(choose(Routing::RoundRobin), 0);
        assert_eq!(choose(Routing::LeastLoaded), 1);
        assert_eq!(choose(Routing::PrefixAware { most_ahead: None }), 3);
        // Among equals of the cache the one with less to do, and nobody too far ahead.
        assert_eq!(
            choose(Routing::PrefixAware {
                most_ahead: Some(7)
            }),
            2
        );
        assert_eq!(
            choose(Routing::PrefixAware {
                most_ahead: Some(0)
            }),
            1
        );
    }
}
