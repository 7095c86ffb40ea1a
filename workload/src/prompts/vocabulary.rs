//! Which token ids may be sent.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::PromptsError;

/// A range of token ids without special ones.
///
/// Special tokens (begin, end, padding, roles) lie at the ends of most vocabularies: below 1000, and above the ordinary
/// ones. The middle of a vocabulary has none.
///
/// | vocabulary | ids | ordinary ones |
/// | --- | --- | --- |
/// | GPT-2 | 50 257 | `0..50256` |
/// | Llama 2, Mistral | 32 000 | `259..32000` |
/// | Llama 3 | 128 256 | `0..128000` |
/// | Qwen 2.5 | 151 936 | `0..151643` |
///
/// In a file: `{"first": 1000, "count": 30000}`.
///
/// ```
/// use openloop_workload::prompts::{Prompts, Vocabulary};
///
/// let prompts = Prompts::new("fixed:4096".parse()?, "fixed:128".parse()?)?;
/// let ids = prompts.prompt(7, 0).token_ids(Vocabulary::new(1000..30_000)?);
/// assert_eq!(ids.len(), 4096);
/// assert!(ids.iter().all(|id| (1000..30_000).contains(id)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Table")]
pub struct Vocabulary {
    first: u32,
    count: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    first: u32,
    count: u32,
}

impl TryFrom<Table> for Vocabulary {
    type Error = PromptsError;

    fn try_from(table: Table) -> Result<Self, Self::Error> {
        let Table { first, count } = table;
        let end = first.checked_add(count);
        Vocabulary::new(first..end.ok_or(PromptsError::Vocabulary { first, count })?)
    }
}

impl Vocabulary {
    /// These ids.
    ///
    /// # Errors
    /// When there is none.
    pub fn new(ids: Range<u32>) -> Result<Self, PromptsError> {
        let (first, count) = (ids.start, ids.end.saturating_sub(ids.start));
        match count {
            0 => Err(PromptsError::Vocabulary { first, count }),
            _ => Ok(Vocabulary { first, count }),
        }
    }

    /// The lowest id.
    #[must_use]
    pub const fn first(self) -> u32 {
        self.first
    }

    /// How many ids.
    #[must_use]
    pub const fn count(self) -> u32 {
        self.count
    }
}
