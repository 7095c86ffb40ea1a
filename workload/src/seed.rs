//! Seeds of the parts of a workload.

use crate::draws::{GOLDEN, mix};

/// The seed of the part called `name` of a workload that has the seed `seed`.
///
/// Two samplers with the same seed draw the same numbers: a large body would then always go with a rare key. Samplers
/// that serve the same request take seeds with names of their own. One more name changes none of the others.
///
/// ```
/// use openloop_workload::named;
///
/// assert_ne!(named(1, "user"), named(1, "size"));
/// assert_ne!(named(1, "user"), named(2, "user"));
/// ```
#[must_use]
pub const fn named(seed: u64, name: &str) -> u64 {
    mix(seed ^ mix(fnv1a(name)))
}

/// The seed of the part number `index`: of the session that a user opens, of the document that many ask about.
///
/// ```
/// use openloop_workload::numbered;
///
/// assert_ne!(numbered(1, 0), numbered(1, 1));
/// ```
#[must_use]
pub const fn numbered(seed: u64, index: u64) -> u64 {
    mix(mix(seed).wrapping_add(index.wrapping_mul(GOLDEN)))
}

/// FNV-1a with its 64-bit constants: as for the streams of a schedule, which this crate does not know.
const fn fnv1a(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut i = 0;
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        i += 1;
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_never_change() {
        assert_eq!(fnv1a(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(named(1, "user"), 0xa766_5334_26c9_a48d);
        assert_eq!(numbered(1, 41), 0xb45e_7c02_4740_35f4);
    }
}
