//! Every n-th arrival of a schedule, for processes and machines that share one.

use std::fmt;
use std::str::FromStr;

/// The part of a schedule that one of several processes sends: arrivals with seq ≡ `index` (mod `count`).
///
/// Processes on any number of machines load a service together when each takes a shard of the same schedule, with the
/// same seed and the same start. Nothing passes between them; a launcher that exists starts them and tells each which
/// one it is ([`from_env`](Shard::from_env)).
///
/// ```
/// use openloop_sched::Shard;
///
/// let second: Shard = "1/4".parse()?;
/// assert_eq!((second.index(), second.count()), (1, 4));
/// assert!("4/4".parse::<Shard>().is_err()); // counted from 0
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: u64,
    count: u64,
}

/// Variables that launchers set, the index and the count, the surest first.
///
/// mpirun within a Slurm job inherits Slurm's variables, which then number its daemons and not its processes: so those
/// of MPI come before. Kubernetes numbers the pods of an indexed Job, but does not say how many there are.
const LAUNCHERS: [(&str, &str); 5] = [
    ("OPENLOOP_SHARD", "OPENLOOP_SHARDS"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("SLURM_PROCID", "SLURM_NTASKS"),
    ("JOB_COMPLETION_INDEX", "OPENLOOP_SHARDS"),
];

impl Shard {
    /// All of a schedule.
    pub const WHOLE: Shard = Shard { index: 0, count: 1 };

    /// Shard `index`, from 0, of `count`.
    ///
    /// # Errors
    /// When `count` is zero or `index` is not below it.
    pub fn new(index: u64, count: u64) -> Result<Self, ShardError> {
        Shard::WHOLE.split(index, count)
    }

    /// The shard that the launcher of this process says it is.
    ///
    /// It reads, in this order, and takes the first that is there: `OPENLOOP_SHARD` and `OPENLOOP_SHARDS` (set by
    /// hand, from 0), `OMPI_COMM_WORLD_RANK` and `_SIZE` (Open MPI), `PMI_RANK` and `PMI_SIZE` (MPICH, Intel MPI),
    /// `SLURM_PROCID` and `SLURM_NTASKS` (srun), and `JOB_COMPLETION_INDEX` of an indexed Job of Kubernetes, which
    /// needs `OPENLOOP_SHARDS` beside it: Kubernetes does not tell the number of completions.
    ///
    /// # Errors
    /// When none is there, a count is missing, or they are no numbers that go together; the message names the variable.
    pub fn from_env() -> Result<Self, ShardError> {
        // A variable that is not text is as good as none.
        Shard::from_variables(|name| std::env::var(name).ok())
    }

    fn from_variables(of: impl Fn(&str) -> Option<String>) -> Result<Self, ShardError> {
        let number = |name: &'static str, value: String| {
            let number = value.trim().parse();
            number.map_err(|_| ShardError::Variable { name, value })
        };
        for (index_name, count_name) in LAUNCHERS {
            let Some(index) = of(index_name) else {
                continue;
            };
            let Some(count) = of(count_name) else {
                return Err(ShardError::NoCount {
                    index: index_name,
                    count: count_name,
                });
            };
            return Shard::new(number(index_name, index)?, number(count_name, count)?);
        }
        Err(ShardError::NoLauncher)
    }

    /// Which one, from 0.
    #[must_use]
    pub fn index(self) -> u64 {
        self.index
    }

    /// How many there are.
    #[must_use]
    pub fn count(self) -> u64 {
        self.count
    }

    /// Part `index` of `count` of this shard: of what is left, not of the whole.
    pub(crate) fn split(self, index: u64, count: u64) -> Result<Shard, ShardError> {
        if count == 0 {
            return Err(ShardError::NoShards);
        }
        if index >= count {
            return Err(ShardError::Index { index, count });
        }
        let overflow = ShardError::TooMany {
            outer: self.count,
            inner: count,
        };
        let whole = self.count.checked_mul(count).ok_or(overflow)?;
        // Below `whole`, so it fits.
        Ok(Shard {
            index: self.index + self.count * index,
            count: whole,
        })
    }

    /// The first number at or after `seq` in this shard, `None` past the last number.
    #[inline]
    pub(crate) fn at_or_after(self, seq: u64) -> Option<u64> {
        if self.count == 1 {
            return Some(seq);
        }
        let place = seq % self.count;
        let ahead = if place <= self.index {
            self.index - place
        } else {
            self.count - place + self.index
        };
        seq.checked_add(ahead)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        let numbers = text.split_once('/');
        let numbers = numbers.and_then(|(index, count)| {
            Some((index.trim().parse().ok()?, count.trim().parse().ok()?))
        });
        let (index, count) = numbers.ok_or_else(|| ShardError::Text(text.to_owned()))?;
        Shard::new(index, count)
    }
}

/// Why a schedule has no such shard.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShardError {
    /// Split into none.
    #[error("a schedule cannot be split into 0 shards: 1 is the whole")]
    NoShards,
    /// Past the last shard.
    #[error("there is no shard {index} of {count}: they are numbered from 0")]
    Index {
        /// The shard asked for.
        index: u64,
        /// How many there are.
        count: u64,
    },
    /// Shards of shards of shards.
    #[error("{outer} shards of {inner} each are more than 64 bits can number")]
    TooMany {
        /// Shards so far.
        outer: u64,
        /// Shards of each.
        inner: u64,
    },
    /// No text of a shard.
    #[error("{0:?} is no shard: write the index, from 0, and the count, such as 1/4")]
    Text(String),
    /// No launcher says which one this is.
    #[error(
        "nothing says which shard this process is: start it by srun, mpirun or as an indexed Job, or set OPENLOOP_SHARD (from 0) and OPENLOOP_SHARDS"
    )]
    NoLauncher,
    /// A launcher says which one, but not of how many.
    #[error("{index} is set and {count} is not: set {count} to the number of shards")]
    NoCount {
        /// What says which one.
        index: &'static str,
        /// What should say of how many.
        count: &'static str,
    },
    /// A launcher's variable is no number.
    #[error("{name} is {value:?}, which is no number from 0 on")]
    Variable {
        /// Which variable.
        name: &'static str,
        /// What it is.
        value: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(variables: &[(&str, &str)]) -> Result<Shard, ShardError> {
        Shard::from_variables(|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn each_launcher_says_which_one_it_is() {
        for (index, count) in LAUNCHERS {
            let shard = from(&[(index, "2"), (count, "5")]);
            assert_eq!(shard, Shard::new(2, 5), "{index}");
        }
    }

    #[test]
    fn what_is_said_by_hand_comes_first_and_mpirun_before_the_job_that_it_runs_in() {
        let both = [
            ("SLURM_PROCID", "0"),
            ("SLURM_NTASKS", "2"),
            ("OMPI_COMM_WORLD_RANK", "3"),
            ("OMPI_COMM_WORLD_SIZE", "4"),
        ];
        assert_eq!(from(&both), Shard::new(3, 4));
        let by_hand = [("OPENLOOP_SHARD", "1"), ("OPENLOOP_SHARDS", "9")];
        assert_eq!(from(&[&both[..], &by_hand[..]].concat()), Shard::new(1, 9));
    }

    #[test]
    fn what_is_missing_or_wrong_is_named() {
        let message = |variables: &[_]| from(variables).unwrap_err().to_string();
        assert!(message(&[]).contains("OPENLOOP_SHARD"));
        let job = message(&[("JOB_COMPLETION_INDEX", "1")]);
        assert!(
            job.contains("OPENLOOP_SHARDS to the number of shards"),
            "{job}"
        );
        let no_number = message(&[("PMI_RANK", "-1"), ("PMI_SIZE", "4")]);
        assert!(
            no_number.contains("PMI_RANK") && no_number.contains("-1"),
            "{no_number}"
        );
        let past = message(&[("SLURM_PROCID", "4"), ("SLURM_NTASKS", "4")]);
        assert!(past.contains("no shard 4 of 4"), "{past}");
        // The explicit index without a count is a mistake, though another launcher is complete.
        let half = [
            ("OPENLOOP_SHARD", "1"),
            ("PMI_RANK", "1"),
            ("PMI_SIZE", "4"),
        ];
        assert!(message(&half).contains("OPENLOOP_SHARDS"));
    }

    #[test]
    fn a_text_is_the_index_and_the_count() {
        assert_eq!("3/4".parse(), Shard::new(3, 4));
        assert_eq!(Shard::new(3, 4).unwrap().to_string(), "3/4");
        for bad in ["", "3", "3/", "/4", "a/4", "-1/4", "3/4/5", "4/4", "0/0"] {
            assert!(bad.parse::<Shard>().is_err(), "{bad}");
        }
    }
}
