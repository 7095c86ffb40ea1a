//! What a schedule will send, counted before anything is sent.

use crate::{Offset, Schedule};

/// The arrivals of a schedule, in all and by phase.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Preview {
    /// All arrivals that the schedule still holds.
    pub total: u64,
    /// Arrivals in each phase, in the order asked.
    pub phases: Vec<(&'static str, u64)>,
}

impl Schedule {
    /// Counts the arrivals that are still to come, in all and in each phase [from, to).
    ///
    /// Exact: it iterates a clone, at the cost of the schedule itself. Phases may overlap or leave gaps; an
    /// arrival counts in each phase that holds its intended instant.
    ///
    /// ```
    /// # use openloop_sched::{Arrivals, Offset, Profile, Schedule};
    /// # use std::time::Duration;
    /// let profile: Profile = "0->100/10s,100/20s".parse()?;
    /// let schedule = Schedule::new(profile, Arrivals::Constant, 1);
    /// let ten = Offset::from(Duration::from_secs(10));
    /// let preview = schedule.preview(&[("ramp_up", Offset::ZERO, ten), ("steady", ten, schedule.end())]);
    /// assert_eq!(preview.total, 2500);
    /// assert_eq!(preview.phases, [("ramp_up", 500), ("steady", 2000)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn preview(&self, phases: &[(&'static str, Offset, Offset)]) -> Preview {
        let mut preview = Preview {
            total: 0,
            phases: phases.iter().map(|&(name, ..)| (name, 0)).collect(),
        };
        for ticket in self.clone() {
            preview.total += 1;
            for (&(_, from, to), (_, arrivals)) in phases.iter().zip(&mut preview.phases) {
                *arrivals += u64::from(from <= ticket.intended && ticket.intended < to);
            }
        }
        preview
    }

    /// Arrivals still to come with an intended instant in [`from`, `to`): the offered load of a window is
    /// this over its length.
    #[must_use]
    pub fn count_within(&self, from: Offset, to: Offset) -> u64 {
        let within = self
            .clone()
            .skip_while(|ticket| ticket.intended < from)
            .take_while(|ticket| ticket.intended < to);
        within.fold(0, |count, _| count + 1)
    }

    /// All arrivals still to come.
    #[must_use]
    pub fn offered(&self) -> u64 {
        self.clone().fold(0, |count, _| count + 1)
    }
}
