//! The phases of a run, as the recorder needs to know them.

use openloop_sched::Offset;
use std::fmt;
use std::time::Duration;

/// A phase of the lifecycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// The rate grows to its target: loads, and is not in the result.
    RampUp,
    /// The target rate, while caches fill and code is compiled: loads, and is not in the result.
    WarmUp,
    /// The measurement.
    Steady,
    /// The rate falls to zero: loads, and is not in the result.
    Cooldown,
}

impl Phase {
    /// Name in reports: `ramp_up`, `warm_up`, `steady`, `cooldown`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Phase::RampUp => "ramp_up",
            Phase::WarmUp => "warm_up",
            Phase::Steady => "steady",
            Phase::Cooldown => "cooldown",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One phase and its window `[from, to)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Which phase.
    pub phase: Phase,
    /// Its first instant.
    pub from: Offset,
    /// The first instant after it.
    pub to: Offset,
}

impl Span {
    /// Whether `at` lies in `[from, to)`.
    #[must_use]
    pub fn contains(&self, at: Offset) -> bool {
        self.from <= at && at < self.to
    }

    /// Its length.
    #[must_use]
    pub fn length(&self) -> Duration {
        self.to.saturating_since(self.from)
    }

    /// `at` moved into `[from, to]`.
    pub(crate) fn clamp(&self, at: Offset) -> u64 {
        at.clamp(self.from, self.to).as_nanos()
    }
}

/// The phases of a run: contiguous from zero, in the order of [`Phase`], exactly one of them [`Phase::Steady`].
///
/// An arrival belongs to the phase in which its *intended* instant lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    spans: Vec<Span>,
    steady: Span,
}

impl Layout {
    /// Phases by their lengths, in order. Phases of length zero are left out.
    ///
    /// # Errors
    /// When the order is not that of [`Phase`], a phase stands twice, or the steady phase is absent or empty.
    pub fn new(phases: &[(Phase, Duration)]) -> Result<Self, LayoutError> {
        if let Some(pair) = phases.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
            return Err(LayoutError::Order(pair[0].0, pair[1].0));
        }
        let mut spans = Vec::with_capacity(phases.len());
        let mut from = Offset::ZERO;
        for &(phase, length) in phases {
            let to = from.saturating_add(length);
            if to > from {
                spans.push(Span { phase, from, to });
            }
            from = to;
        }
        let steady = spans
            .iter()
            .find(|span| span.phase == Phase::Steady)
            .copied()
            .ok_or(LayoutError::NoSteady)?;
        Ok(Layout { spans, steady })
    }

    /// A run that is all measurement.
    ///
    /// # Errors
    /// When `length` is zero.
    pub fn steady_only(length: Duration) -> Result<Self, LayoutError> {
        Layout::new(&[(Phase::Steady, length)])
    }

    /// The phases in order.
    #[must_use]
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// The measurement.
    #[must_use]
    pub fn steady(&self) -> Span {
        self.steady
    }

    /// The end of the last phase.
    #[must_use]
    pub fn end(&self) -> Offset {
        self.spans.last().map_or(Offset::ZERO, |span| span.to)
    }

    /// The phase in which `at` lies; `None` past the end.
    #[must_use]
    pub fn phase_at(&self, at: Offset) -> Option<Phase> {
        self.spans
            .iter()
            .find(|span| span.contains(at))
            .map(|span| span.phase)
    }
}

/// Why phases are not a layout.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// There is nothing to measure.
    #[error(
        "the steady phase has no length, so nothing would be measured: make it longer than zero"
    )]
    NoSteady,
    /// Out of order, or twice.
    #[error(
        "phase {1} cannot follow {0}: the order is ramp_up, warm_up, steady, cooldown, each at most once"
    )]
    Order(Phase, Phase),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_half_open_and_empty_phases_are_left_out() {
        let s = Duration::from_secs;
        let layout = Layout::new(&[
            (Phase::RampUp, s(0)),
            (Phase::WarmUp, s(5)),
            (Phase::Steady, s(10)),
            (Phase::Cooldown, s(1)),
        ])
        .unwrap();
        assert_eq!(layout.spans().len(), 3);
        assert_eq!(layout.phase_at(Offset::ZERO), Some(Phase::WarmUp));
        assert_eq!(layout.phase_at(Offset::from(s(5))), Some(Phase::Steady));
        assert_eq!(layout.phase_at(Offset::from(s(15))), Some(Phase::Cooldown));
        assert_eq!(layout.phase_at(Offset::from(s(16))), None);
        assert_eq!(layout.end(), Offset::from(s(16)));
    }

    #[test]
    fn a_run_without_a_measurement_is_refused() {
        assert_eq!(
            Layout::steady_only(Duration::ZERO),
            Err(LayoutError::NoSteady)
        );
        assert_eq!(
            Layout::new(&[
                (Phase::Steady, Duration::from_secs(1)),
                (Phase::WarmUp, Duration::ZERO)
            ]),
            Err(LayoutError::Order(Phase::Steady, Phase::WarmUp))
        );
    }
}
