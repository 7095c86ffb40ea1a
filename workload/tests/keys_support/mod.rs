//! Pearson's χ² of counts against a law.
#![allow(dead_code, reason = "each test file takes what it needs of it")]

/// χ² and its degrees of freedom, over bins joined with their neighbours until at least 10 are expected in each.
pub(crate) fn chi_square(observed: &[u64], probabilities: &[f64]) -> (f64, f64) {
    assert_eq!(observed.len(), probabilities.len());
    let total = observed.iter().sum::<u64>() as f64;
    let mass: f64 = probabilities.iter().sum();
    assert!((mass - 1.0).abs() < 1e-9, "the bins hold {mass} of the law");
    let mut joined: Vec<(f64, f64)> = Vec::new();
    let (mut seen, mut expected) = (0.0, 0.0);
    for (&count, &probability) in observed.iter().zip(probabilities) {
        seen += count as f64;
        expected += probability * total;
        if expected >= 10.0 {
            joined.push((seen, expected));
            (seen, expected) = (0.0, 0.0);
        }
    }
    // What is left over goes into the last bin.
    if let Some(last) = joined.last_mut() {
        last.0 += seen;
        last.1 += expected;
    }
    let sum = joined
        .iter()
        .map(|(seen, expected)| (seen - expected).powi(2) / expected)
        .sum();
    (sum, joined.len().saturating_sub(1) as f64)
}

/// The 99.9 % quantile of χ² with `freedom` degrees of freedom (Wilson and Hilferty, 1931).
pub(crate) fn critical(freedom: f64) -> f64 {
    let part = 2.0 / (9.0 * freedom);
    freedom * (1.0 - part + 3.0902 * part.sqrt()).powi(3)
}

/// Fails where the counts are farther from the law than in one of a thousand samples.
pub(crate) fn assert_follows(what: &str, observed: &[u64], probabilities: &[f64]) {
    let (found, freedom) = chi_square(observed, probabilities);
    if freedom > 0.0 {
        let limit = critical(freedom);
        assert!(
            found < limit,
            "{what}: χ² {found:.1} above {limit:.1}, {freedom} degrees of freedom"
        );
    }
}

/// Fails where counts that should be equal are not.
pub(crate) fn assert_equal(what: &str, observed: &[u64]) {
    assert_follows(
        what,
        observed,
        &vec![1.0 / observed.len() as f64; observed.len()],
    );
}

/// The last keys of bins: up to 60 one by one, then each a quarter longer than what lies before it.
pub(crate) fn bins(n: u64) -> Vec<u64> {
    let mut ends = vec![1];
    while ends[ends.len() - 1] < n {
        let last = ends[ends.len() - 1];
        let next = if last < 60 {
            last + 1
        } else {
            last.saturating_add(last / 4)
        };
        ends.push(next.min(n));
    }
    ends
}
