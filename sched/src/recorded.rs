//! The arrivals of a trace.

use std::fmt;
use std::io::BufRead;
use std::sync::Arc;

use crate::Offset;

/// Recorded arrival instants, scaled in time: a schedule without a rate or a process.
///
/// Instants are kept as they are: the first is not moved to zero, and several may be equal.
#[derive(Clone, PartialEq, Eq)]
pub struct Recorded {
    offsets: Arc<[Offset]>,
}

impl Recorded {
    /// Arrivals at `offsets`, each times `scale`: 0.5 replays a trace in half the time, at twice the rate.
    /// Scaled instants are cut to whole nanoseconds; a scale of 1 changes nothing.
    ///
    /// ```
    /// use openloop_sched::{Offset, Recorded, Schedule};
    ///
    /// let trace = vec![Offset::from_nanos(1_000), Offset::from_nanos(5_000)];
    /// let mut schedule = Schedule::recorded(Recorded::new(trace, 0.5)?);
    /// assert_eq!(schedule.next().map(|t| t.intended.as_nanos()), Some(500));
    /// # Ok::<(), openloop_sched::RecordedError>(())
    /// ```
    ///
    /// # Errors
    /// When an instant lies before the one ahead of it, the scale is not a finite number above zero, or a
    /// scaled instant is past 584 years.
    pub fn new(offsets: Vec<Offset>, scale: f64) -> Result<Self, RecordedError> {
        if !scale.is_finite() || scale <= 0.0 {
            return Err(RecordedError::Scale(scale));
        }
        if let Some(before) = offsets.windows(2).position(|pair| pair[1] < pair[0]) {
            return Err(RecordedError::Disorder { index: before + 1 });
        }
        let mut offsets = offsets;
        if scale != 1.0 {
            for (index, offset) in offsets.iter_mut().enumerate() {
                let nanos = offset.as_nanos() as f64 * scale;
                if nanos >= u64::MAX as f64 {
                    return Err(RecordedError::TooLate { index });
                }
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                let nanos = nanos as u64;
                *offset = Offset::from_nanos(nanos);
            }
        }
        Ok(Recorded {
            offsets: offsets.into(),
        })
    }

    /// Reads a trace: the first comma-separated field of each line is an instant in **seconds** since the
    /// start, a decimal such as `12.000000345`, read exactly to the nanosecond. Empty lines and lines that
    /// start with `#` are left out, and so is the first of the others if it starts with a letter or a
    /// quotation mark (a header).
    ///
    /// # Errors
    /// When the reader fails, a line does not start with such an instant, or as for [`Recorded::new`].
    pub fn read(reader: impl BufRead, scale: f64) -> Result<Self, RecordedError> {
        let (mut offsets, mut may_be_header) = (Vec::new(), true);
        for (index, line) in reader.lines().enumerate() {
            let number = index + 1;
            let line = line.map_err(|error| RecordedError::Read {
                line: number,
                reason: error.to_string(),
            })?;
            let field = line.split(',').next().unwrap_or_default().trim();
            if line.trim().is_empty() || field.starts_with('#') {
                continue;
            }
            let is_header = field.starts_with(|c: char| c.is_alphabetic() || c == '"');
            if std::mem::take(&mut may_be_header) && is_header {
                continue;
            }
            let nanos = nanos(field).ok_or_else(|| RecordedError::Line {
                line: number,
                text: line.clone(),
            })?;
            let offset = Offset::from_nanos(nanos);
            if offsets.last().is_some_and(|last| offset < *last) {
                return Err(RecordedError::LineDisorder { line: number });
            }
            offsets.push(offset);
        }
        Recorded::new(offsets, scale)
    }

    /// The arrivals, in order.
    #[must_use]
    pub fn offsets(&self) -> &[Offset] {
        &self.offsets
    }

    /// The first instant after the last arrival: zero for an empty trace.
    #[must_use]
    pub fn end(&self) -> Offset {
        self.offsets.last().map_or(Offset::ZERO, |last| {
            Offset::from_nanos(last.as_nanos().saturating_add(1))
        })
    }
}

// A summary: traces are long.
impl fmt::Debug for Recorded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorded")
            .field("arrivals", &self.offsets.len())
            .field("end", &self.end())
            .finish()
    }
}

/// Decimal seconds to nanoseconds; digits past the ninth place are cut.
fn nanos(seconds: &str) -> Option<u64> {
    let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, ""));
    let all_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if whole.len() + fraction.len() == 0 || !all_digits(whole) || !all_digits(fraction) {
        return None;
    }
    let whole: u64 = if whole.is_empty() {
        0
    } else {
        whole.parse().ok()?
    };
    let mut nanos = 0u64;
    for place in 0..9 {
        let digit = fraction.as_bytes().get(place).map_or(0, |b| b - b'0');
        nanos = nanos * 10 + u64::from(digit);
    }
    whole.checked_mul(1_000_000_000)?.checked_add(nanos)
}

/// Why a trace is not a schedule.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordedError {
    /// A scale that is no factor of time.
    #[error(
        "a time scale of {0} is not a finite number above 0: 1 replays as recorded, 0.5 twice as fast"
    )]
    Scale(f64),
    /// An instant before the one ahead of it.
    #[error("recorded arrival {index} (from 0) lies before the one ahead of it: sort the trace")]
    Disorder {
        /// Which one, from 0.
        index: usize,
    },
    /// The same, in a file.
    #[error("line {line} lies before the one ahead of it: sort the trace")]
    LineDisorder {
        /// Which line, from 1.
        line: usize,
    },
    /// Past the last instant.
    #[error("recorded arrival {index} (from 0) lies past 584 years when scaled: lower the scale")]
    TooLate {
        /// Which one, from 0.
        index: usize,
    },
    /// A line without an instant.
    #[error("line {line} does not start with an instant in seconds, such as 12.5: \"{text}\"")]
    Line {
        /// Which line, from 1.
        line: usize,
        /// What it says.
        text: String,
    },
    /// The reader failed.
    #[error("line {line} cannot be read: {reason}")]
    Read {
        /// Which line, from 1.
        line: usize,
        /// What the reader said.
        reason: String,
    },
}
