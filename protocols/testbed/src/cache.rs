//! A cache in front of the work: what it holds is answered soon.

use std::collections::HashMap;
use std::time::Duration;

use crate::Service;

/// A cache of a known size before the work, which evicts the least recently used: a hit takes one service time, a miss
/// another.
///
/// Where the load decides what hits, it decides how long the service takes: with one key everything hits, with keys all
/// alike nearly nothing. The server counts what truly hit and missed
/// ([`HttpServer::cache_hits`](crate::HttpServer::cache_hits)).
///
/// A request is looked up when it has been read, in the order of arrival, and its key is in the cache from then on: a
/// second request for a key that is still being fetched is a hit. One that finds the waiting room full has been looked
/// up as well.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use openloop_testbed::{Cache, HttpServer, Workers};
///
/// // Memory for 1000 pages: a page from memory takes 0.2 ms, one from the disk 2 ms.
/// let pages = Cache::lru(1000, Duration::from_micros(200), Duration::from_millis(2));
/// let server = HttpServer::builder()
///     .cache(pages)
///     .workers(Workers::one())
///     .start()?;
/// assert_eq!((server.cache_hits(), server.cache_misses()), (0, 0));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "a cache is given to a server"]
pub struct Cache {
    capacity: usize,
    hit: Service,
    miss: Service,
    parameter: Option<String>,
}

impl Cache {
    /// A cache of `capacity` entries, of which 0 means none, and the time that a request takes in a worker when it
    /// hits and when it misses. The key is the path with its query, as it is written.
    pub const fn lru(capacity: usize, hit: Duration, miss: Duration) -> Self {
        Self {
            capacity,
            hit: Service::fixed(hit),
            miss: Service::fixed(miss),
            parameter: None,
        }
    }

    /// The same with service times that are not always the same.
    pub fn services(self, hit: Service, miss: Service) -> Self {
        Self { hit, miss, ..self }
    }

    /// The key is the value of this parameter of the query, as it is written; empty where there is none.
    pub fn keyed_by(self, parameter: impl Into<String>) -> Self {
        Self {
            parameter: Some(parameter.into()),
            ..self
        }
    }

    /// The key of a request for this path.
    fn key<'a>(&self, path: &'a str) -> &'a str {
        let Some(wanted) = &self.parameter else {
            return path;
        };
        let (_, query) = path.split_once('?').unwrap_or_default();
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let found = pairs.find(|(name, _)| name == wanted);
        found.map_or("", |(_, value)| value)
    }
}

/// A cache with what it holds.
#[derive(Debug)]
pub(crate) struct Looked {
    cache: Cache,
    held: Lru,
    pub(crate) hits: u64,
    pub(crate) misses: u64,
}

impl Looked {
    pub(crate) fn new(cache: Cache) -> Self {
        Self {
            held: Lru::new(cache.capacity),
            cache,
            hits: 0,
            misses: 0,
        }
    }

    /// Looks a request up and says how long it takes.
    pub(crate) fn time(&mut self, path: &str, seq: u64) -> Duration {
        if self.held.ask(self.cache.key(path)) {
            self.hits += 1;
            self.cache.hit.time(seq)
        } else {
            self.misses += 1;
            self.cache.miss.time(seq)
        }
    }
}

/// The place of no entry.
const NOWHERE: usize = usize::MAX;

/// Entries in a ring by their last use, in constant time.
#[derive(Debug)]
struct Lru {
    capacity: usize,
    places: HashMap<String, usize>,
    entries: Vec<Entry>,
    newest: usize,
    oldest: usize,
}

#[derive(Debug)]
struct Entry {
    key: String,
    /// The entry that was used just after this one.
    newer: usize,
    /// The entry that was used just before it.
    older: usize,
}

impl Lru {
    fn new(capacity: usize) -> Self {
        Self {
            capacity,
            places: HashMap::new(),
            entries: Vec::new(),
            newest: NOWHERE,
            oldest: NOWHERE,
        }
    }

    /// Whether the key was there. It is, from now on, and the most recently used.
    fn ask(&mut self, key: &str) -> bool {
        if let Some(&place) = self.places.get(key) {
            self.take_out(place);
            self.put_first(place);
            return true;
        }
        if self.capacity == 0 {
            return false;
        }
        let entry = Entry {
            key: key.to_owned(),
            newer: NOWHERE,
            older: NOWHERE,
        };
        let place = if self.entries.len() < self.capacity {
            self.entries.push(entry);
            self.entries.len() - 1
        } else {
            let oldest = self.oldest;
            self.take_out(oldest);
            self.places.remove(&self.entries[oldest].key);
            self.entries[oldest] = entry;
            oldest
        };
        self.places.insert(key.to_owned(), place);
        self.put_first(place);
        false
    }

    fn take_out(&mut self, place: usize) {
        let Entry { newer, older, .. } = self.entries[place];
        match newer {
            NOWHERE => self.newest = older,
            newer => self.entries[newer].older = older,
        }
        match older {
            NOWHERE => self.oldest = newer,
            older => self.entries[older].newer = newer,
        }
    }

    fn put_first(&mut self, place: usize) {
        let before = std::mem::replace(&mut self.newest, place);
        self.entries[place].newer = NOWHERE;
        self.entries[place].older = before;
        match before {
            NOWHERE => self.oldest = place,
            before => self.entries[before].newer = place,
        }
    }
}

#[cfg(test)]
mod tests {
    use openloop_workload::Keys;

    use super::*;

    const HIT: Duration = Duration::from_micros(200);
    const MISS: Duration = Duration::from_millis(2);

    /// The share of hits among the requests after the first `warm`, as the server would count them.
    fn hit_rate(law: &str, capacity: usize, warm: u64, requests: u64) -> f64 {
        let keys: Keys = law.parse().unwrap();
        let mut looked = Looked::new(Cache::lru(capacity, HIT, MISS));
        let mut ask = |seq| looked.time(&format!("/page/{}", keys.key(3, seq)), seq);
        (0..warm).for_each(|seq| {
            ask(seq);
        });
        let times = (warm..warm + requests).map(ask);
        let hits = times.filter(|time| *time == HIT).count();
        hits as f64 / requests as f64
    }

    #[test]
    fn the_least_recently_used_makes_room() {
        let mut lru = Lru::new(2);
        let asked = ["a", "b", "a", "c", "a", "b", "c", "c"];
        let hits = [false, false, true, false, true, false, false, true];
        assert_eq!(asked.map(|key| lru.ask(key)), hits);
        assert_eq!((lru.entries.len(), lru.places.len()), (2, 2));
    }

    #[test]
    fn it_agrees_with_a_list_that_is_searched() {
        let keys: Keys = "zipf:50:0.8".parse().unwrap();
        for capacity in [0, 1, 2, 7, 49, 50, 51] {
            let (mut lru, mut list) = (Lru::new(capacity), Vec::new());
            for seq in 0..5_000 {
                let key = keys.key(1, seq);
                let held = list.iter().position(|held| *held == key);
                assert_eq!(
                    lru.ask(&key.to_string()),
                    held.is_some(),
                    "{capacity} {seq}"
                );
                if let Some(place) = held {
                    list.remove(place);
                }
                list.push(key);
                if list.len() > capacity {
                    list.remove(0);
                }
            }
        }
    }

    #[test]
    fn zipf_keys_hit_as_che_says() {
        for (law, capacity) in [
            ("zipf:10000:0.99", 100),
            ("zipf:10000:0.99", 1_000),
            ("zipf:10000:0.6", 1_000),
            ("zipf:1000:1.2", 50),
        ] {
            let keys: Keys = law.parse().unwrap();
            let expected = keys.lru_hit_rate(capacity as u64).unwrap();
            let found = hit_rate(law, capacity, 20_000, 200_000);
            // The approximation is good to 0.01; six standard deviations of the share are 0.007 at most.
            assert!(
                (found - expected).abs() < 0.017,
                "{law} {capacity}: {found} for {expected}"
            );
        }
    }

    #[test]
    fn uniform_keys_hit_as_often_as_the_cache_is_large() {
        let found = hit_rate("uniform:1000", 250, 5_000, 200_000);
        // Exact for uniform keys; six standard deviations of the share are 0.0058, and hits resemble each other hardly.
        assert!((found - 0.25).abs() < 0.0058, "{found}");
    }

    #[test]
    fn a_scan_larger_than_the_cache_never_hits_and_a_smaller_one_always() {
        assert_eq!(hit_rate("sequential:1000", 999, 1_000, 10_000), 0.0);
        assert_eq!(hit_rate("sequential:1000", 1_000, 1_000, 10_000), 1.0);
        assert_eq!(hit_rate("uniform:1", 1, 1, 100), 1.0);
        assert_eq!(hit_rate("uniform:1", 0, 1, 100), 0.0);
    }

    #[test]
    fn the_key_is_the_path_or_a_parameter_of_its_query() {
        let whole = Cache::lru(1, HIT, MISS);
        assert_eq!(whole.key("/a/7?b=1"), "/a/7?b=1");
        let by_id = whole.keyed_by("id");
        for (path, key) in [
            ("/a?id=7", "7"),
            ("/b?x=1&id=7&id=8", "7"),
            ("/a?sid=7", ""),
            ("/a", ""),
            ("/a?id", ""),
        ] {
            assert_eq!(by_id.key(path), key, "{path}");
        }
    }

    #[test]
    fn hits_and_misses_are_counted_and_may_vary_in_time() {
        let varied = Service::from_fn(Duration::from_secs);
        let mut looked = Looked::new(Cache::lru(1, HIT, MISS).services(varied, Service::instant()));
        assert_eq!(looked.time("/a", 5), Duration::ZERO);
        assert_eq!(looked.time("/a", 6), Duration::from_secs(6));
        assert_eq!((looked.hits, looked.misses), (1, 1));
    }
}
