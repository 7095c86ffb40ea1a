//! `loadgen sample keys`.

use super::ShowArgs;
use super::lru;
use super::sheet::{Drawn, Figure, Rows, Section, Sheet};
use openloop_workload::Keys;
use openloop_workload::keys::{Law, Zipf};
use std::collections::HashSet;

/// Keys of which the counts fit into memory.
const COUNTABLE: u64 = 10_000_000;

pub(super) fn sheet(keys: &Keys, caches: &[u64], show: &ShowArgs) -> Sheet {
    let drawn: Vec<u64> = (0..show.draws)
        .map(|seq| keys.key(show.seed, seq))
        .collect();
    let ranks = ranks(keys, show);
    let sizes = sizes(keys.count(), caches);
    let hottest = sizes.iter().map(|&size| {
        let share = ranks.as_ref().map(|ranks| {
            let hot = ranks.iter().filter(|&&rank| rank <= size).count();
            hot as f64 / ranks.len() as f64
        });
        Figure::share(format!("{size}"), keys.hit_rate(size), share)
    });
    let cached = sizes.iter().map(|&size| {
        Figure::share(
            format!("{size}"),
            keys.lru_hit_rate(size),
            lru::hit_rate(size, &drawn),
        )
    });
    let different = drawn.iter().collect::<HashSet<_>>().len();
    let mut all = vec![Figure::number(
        format!("different keys, of {}", keys.count()),
        None,
        different as f64,
    )];
    let mut notes = vec![
        "a cache of k entries answers at most what the k hottest keys take; \u{2013} where a figure is not known, or the draws do not fill the cache".to_owned(),
    ];
    if let (Law::Zipf(zipf), Some(ranks)) = (keys.law(), &ranks) {
        let fit = fit(&zipf, ranks);
        all.push(Figure::number(
            "exponent s",
            zipf.exponent(),
            fit.map(|(s, _)| s),
        ));
        if let Some((_, error)) = fit {
            notes.push(format!(
                "the exponent of the draws is known to \u{b1} {error:.2e} (standard error)"
            ));
        }
    }
    let rows = drawn
        .iter()
        .zip(0_u64..)
        .take(show.count().try_into().unwrap_or(usize::MAX));
    Sheet {
        sampler: keys.to_string(),
        drawn: Some(Drawn {
            seed: show.seed,
            draws: show.draws,
        }),
        sections: vec![
            Section {
                title: "all",
                figures: all,
            },
            Section {
                title: "share of the requests on the k hottest",
                figures: hottest.collect(),
            },
            Section {
                title: "answered by an LRU cache of k entries",
                figures: cached.collect(),
            },
        ],
        notes,
        sample: Rows {
            columns: vec!["seq", "key"],
            rows: rows
                .map(|(&key, seq)| vec![seq.into(), key.into()])
                .collect(),
        },
        ..Sheet::default()
    }
}

/// The rank of each draw in the order of heat, before it was moved or scattered; `None` for keys in turn, of which none
/// is hot.
fn ranks(keys: &Keys, show: &ShowArgs) -> Option<Vec<u64>> {
    let law = keys.law();
    let rank = |seq| {
        let key = law.key(show.seed, seq);
        match law {
            Law::Latest(latest) => latest.newest(seq) - key + 1,
            _ => key,
        }
    };
    let is_random = !matches!(law, Law::Sequential(_));
    is_random.then(|| (0..show.draws).map(rank).collect())
}

/// Powers of ten below the number of keys, and what was asked for.
fn sizes(count: u64, caches: &[u64]) -> Vec<u64> {
    let powers = std::iter::successors(Some(1_u64), |size| size.checked_mul(10));
    let mut sizes: Vec<_> = powers.take_while(|&size| size < count).collect();
    sizes.extend(caches);
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// The likeliest exponent of the draws with its standard error.
fn fit(zipf: &Zipf, ranks: &[u64]) -> Option<(f64, f64)> {
    let count = usize::try_from(zipf.count().min(COUNTABLE + 1)).ok()?;
    if zipf.count() > COUNTABLE {
        return None;
    }
    let mut counts = vec![0_u64; count];
    for rank in ranks {
        counts[usize::try_from(rank - 1).ok()?] += 1;
    }
    let fit = Zipf::fit(&counts).ok()?;
    Some((fit.zipf().exponent(), fit.standard_error()))
}
