//! Keeping one run out of the caches that another has filled.

use serde::{Deserialize, Serialize};

use crate::seed::{named, numbered};

/// What makes the contents of one run differ from those of another with the same seed.
///
/// A server that keeps the prompts of the last run answers the next one faster, although nothing was improved. With a
/// number of its own for each run, no prompt begins as one of another run does (but for a word, by a chance of 1 in
/// 512), while lengths, prefixes and their sharing *within* the run stay those of the seed: the number is mixed into
/// every content from its first word on, so it costs no tokens and moves no block boundary.
///
/// In a file: `"none"`, `{"run": 7}` or `{"unshared": 7}`.
///
/// ```
/// use openloop_workload::prompts::{Nonce, Prompts};
///
/// let prompts = Prompts::new("fixed:100".parse()?, "fixed:20".parse()?)?;
/// let (monday, tuesday) = (prompts.clone().nonce(Nonce::Run(1)), prompts.nonce(Nonce::Run(2)));
/// assert_eq!(monday.prompt(7, 0).text(), monday.prompt(7, 0).text());
/// assert_ne!(monday.prompt(7, 0).text(), tuesday.prompt(7, 0).text());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Nonce {
    /// Contents depend on the seed alone: to repeat a run word by word, against an empty cache.
    #[default]
    None,
    /// All contents are the run's own: it begins cold, whatever ran before.
    Run(u64),
    /// Shared prefixes are the same in every run, and the rest is the run's own: it begins as in production, where the
    /// system prompts are long known and the users' texts are new.
    Unshared(u64),
}

impl Nonce {
    /// The seed of the contents that requests share.
    pub(super) fn shared(self, seed: u64) -> u64 {
        match self {
            Nonce::None | Nonce::Unshared(_) => seed,
            Nonce::Run(run) => numbered(named(seed, "run"), run),
        }
    }

    /// The seed of the contents of one request or session.
    pub(super) fn unshared(self, seed: u64) -> u64 {
        match self {
            Nonce::None => seed,
            Nonce::Run(run) | Nonce::Unshared(run) => numbered(named(seed, "run"), run),
        }
    }

    /// Sixteen words to put at the very start of a text of your own, such as a real system prompt; empty for
    /// [`Nonce::None`] and [`Nonce::Unshared`]. They fill the first block of a cache with blocks of 16 tokens.
    #[must_use]
    pub fn text(self) -> String {
        let mut text = String::new();
        if let Nonce::Run(run) = self {
            super::words::words(numbered(named(0, "run"), run), 16, &mut text);
        }
        text.split_off(text.len().min(1))
    }
}
