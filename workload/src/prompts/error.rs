//! Why prompts cannot be made.

use crate::keys::KeysError;

/// Why prompts cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PromptsError {
    /// Lengths without an end in sight.
    #[error(
        "{part} could have {tokens:e} tokens, more than 16777216: bound the law, as in \
         lognormal:mean=200,cv=1.5,max=8192"
    )]
    TooLong {
        /// Which part of the prompt.
        part: &'static str,
        /// How many tokens the longest has.
        tokens: f64,
    },
    /// A tree without levels.
    #[error("a prefix tree has from 1 to 8 levels, not {0}")]
    Levels(usize),
    /// A level without nodes or tokens.
    #[error(
        "level {level} of the prefix tree has {nodes} nodes of {tokens} tokens: give at least 1 of each"
    )]
    Level {
        /// Which level, from 0 at the root.
        level: usize,
        /// How many nodes below each of the level above.
        nodes: u64,
        /// How many tokens each.
        tokens: u32,
    },
    /// More prefixes than can be numbered.
    #[error("the levels of the prefix tree multiply to more than 2⁶⁴ prefixes")]
    TooManyPrefixes,
    /// A skew that is no exponent of Zipf's law.
    #[error("the skew of the prefixes: {0}")]
    Skew(KeysError),
    /// A share that is no share, or one that no cache reaches.
    #[error(
        "a hit share of {wanted} is not in [0, {most}): {most} is what a cache of that many prefixes can hit; keep more \
         prefixes, offer fewer, or ask for more skew"
    )]
    HitShare {
        /// What was asked for.
        wanted: f64,
        /// What the longest prefixes would give.
        most: f64,
    },
    /// No ids.
    #[error(
        "a vocabulary of {count} ids from {first} on cannot be drawn from: give a range such as 1000..30000"
    )]
    Vocabulary {
        /// The lowest id.
        first: u32,
        /// How many.
        count: u32,
    },
    /// A row of a trace that is no prompt.
    #[error(
        "request {index} of the trace (from 0, line {line}) has {problem}: leave it out, or read the trace in its format"
    )]
    Request {
        /// Which request, from 0.
        index: usize,
        /// Its line in the file; 0 for none.
        line: u64,
        /// What is wrong with it.
        problem: &'static str,
    },
}
