//! The histograms of one window of a run.

use crate::details::Detail;
use crate::kind::slot;
use crate::store::Finished;
use crate::{Histogram, Kind, Outcome, Population};
use openloop_sched::Offset;
use std::borrow::Cow;

/// The histograms of one outcome class in one window.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ClassStats {
    /// `ended − intended`: a lower bound for outcomes that are [open-ended](Outcome::is_open_ended).
    pub response: Histogram,
    /// `ended − dispatched`, of dispatched arrivals.
    pub service: Histogram,
    /// `service − acquire`, of arrivals whose future returned. One that was cut off (by a timeout of ours, the
    /// drain or a panic) has not said how long it had waited on our side, and may never have been on the wire.
    pub exchange: Histogram,
    /// `dispatched − intended`, of dispatched arrivals.
    pub schedule_delay: Histogram,
    /// `dispatched − fired`, of dispatched arrivals.
    pub admission: Histogram,
    /// `fired − intended`.
    pub lag: Histogram,
    /// `ended − fired`: the response without the generator's lateness on the way out.
    pub since_fired: Histogram,
    /// `ended − intended`, of the answers that have a receive stamp.
    pub stamped_response: Histogram,
    /// `received − intended` of the same: their response without the generator's lateness on the way back.
    pub until_received: Histogram,
    /// `ended − received`.
    pub pickup: Histogram,
}

impl ClassStats {
    /// One histogram after the other, so that each is at hand while its values come.
    fn record(&mut self, finished: &[Finished]) {
        let between = |earlier: Offset, later: Offset| {
            let (earlier, later) = (earlier.as_nanos(), later.as_nanos());
            later.saturating_sub(earlier)
        };
        let all = || finished.iter().map(|finished| &finished.sample);
        self.response
            .record_all(all().map(|s| between(s.intended, s.ended)));
        self.since_fired
            .record_all(all().map(|s| between(s.fired, s.ended)));
        self.lag
            .record_all(all().map(|s| between(s.intended, s.fired)));

        let dispatched = || all().filter_map(|s| Some((s, s.dispatched?)));
        self.service
            .record_all(dispatched().map(|(s, at)| between(at, s.ended)));
        self.schedule_delay
            .record_all(dispatched().map(|(s, at)| between(s.intended, at)));
        self.admission
            .record_all(dispatched().map(|(s, at)| between(s.fired, at)));
        let returned = finished
            .iter()
            .filter(|finished| finished.details > 0 || finished.sample.outcome.is_returned());
        self.exchange.record_all(returned.filter_map(|finished| {
            let service = between(finished.sample.dispatched?, finished.sample.ended);
            let acquire = u64::try_from(finished.sample.acquire.as_nanos()).unwrap_or(u64::MAX);
            Some(service.saturating_sub(acquire))
        }));

        let stamped = || all().filter_map(|s| Some((s, s.received?)));
        self.stamped_response
            .record_all(stamped().map(|(s, _)| between(s.intended, s.ended)));
        self.until_received
            .record_all(stamped().map(|(s, at)| between(s.intended, at)));
        self.pickup
            .record_all(stamped().map(|(s, at)| between(at, s.ended)));
    }

    fn merge(&mut self, other: &ClassStats) {
        for (into, from) in self.beside(other) {
            into.merge(from);
        }
    }

    /// Each histogram beside its like.
    fn beside<'a>(&'a mut self, other: &'a ClassStats) -> [(&'a mut Histogram, &'a Histogram); 10] {
        [
            (&mut self.response, &other.response),
            (&mut self.service, &other.service),
            (&mut self.exchange, &other.exchange),
            (&mut self.schedule_delay, &other.schedule_delay),
            (&mut self.admission, &other.admission),
            (&mut self.lag, &other.lag),
            (&mut self.since_fired, &other.since_fired),
            (&mut self.stamped_response, &other.stamped_response),
            (&mut self.until_received, &other.until_received),
            (&mut self.pickup, &other.pickup),
        ]
    }
}

/// The histograms of one window of a run: by kind of request, by outcome class, and by metric name.
///
/// Totals are merged from kinds and classes when they are asked for, so that they cannot disagree with them. What
/// there is of one kind is a section itself: see [`of_kind`](Section::of_kind).
#[derive(Clone, Debug, Default)]
pub struct Section {
    classes: Vec<(Outcome, Box<ClassStats>)>,
    metrics: Vec<(&'static str, Box<Histogram>)>,
    /// Those of them that belong to whole answers.
    of_answers: Vec<&'static str>,
    /// Those of them that run from the intended instant, without the generator's lateness on the way out.
    since_fired: Vec<(&'static str, Box<Histogram>)>,
    counts: Vec<(&'static str, u64)>,
    /// By [`slot`], each without kinds of its own. Where there are any, the lists above are empty.
    kinds: Vec<Section>,
}

/// What there is of a kind of which there is nothing.
static EMPTY: Section = Section {
    classes: Vec::new(),
    metrics: Vec::new(),
    of_answers: Vec::new(),
    since_fired: Vec::new(),
    counts: Vec::new(),
    kinds: Vec::new(),
};

impl Section {
    /// Of a run with so many kinds.
    pub(crate) fn of_kinds(kinds: usize) -> Self {
        Section {
            kinds: match kinds {
                0 => Vec::new(),
                kinds => vec![Section::default(); kinds + 1],
            },
            ..Section::default()
        }
    }

    /// Takes in arrivals of one kind and one outcome, with the details of all of them.
    pub(crate) fn record(&mut self, alike: &[Finished], details: &[Detail]) {
        let Some(Finished { sample, .. }) = alike.first() else {
            return;
        };
        let own = match self.kinds.is_empty() {
            true => self,
            false => &mut self.kinds[slot(sample.kind)],
        };
        entry(&mut own.classes, sample.outcome).record(alike);
        for detail in details {
            own.record_detail(detail, sample.outcome);
        }
    }

    fn record_detail(&mut self, detail: &Detail, outcome: Outcome) {
        match *detail {
            Detail::Duration(name, ns) => named(&mut self.metrics, name).record(ns),
            Detail::OfAnswer(name, ns) => {
                note(&mut self.of_answers, name);
                let histogram = named(&mut self.metrics, name);
                if outcome == Outcome::Ok {
                    histogram.record(ns);
                }
            }
            Detail::SinceFired(name, ns) => {
                if outcome == Outcome::Ok {
                    named(&mut self.since_fired, name).record(ns);
                }
            }
            Detail::Count(name, by) => *named(&mut self.counts, name) += by,
        }
    }

    /// Adds everything of `other`, kind by kind: a kind is told by its place, so both are to be of the same kinds.
    pub fn merge(&mut self, other: &Section) {
        if self.kinds.len() < other.kinds.len() {
            if self.kinds.is_empty() {
                // What it has is of no kind.
                let own = std::mem::take(self);
                self.kinds.push(own);
            }
            self.kinds.resize_with(other.kinds.len(), Section::default);
        }
        if self.kinds.is_empty() {
            self.merge_own(other);
        } else {
            for (into, from) in self.kinds.iter_mut().zip(other.parts()) {
                into.merge_own(from);
            }
        }
    }

    fn merge_own(&mut self, other: &Section) {
        for (outcome, stats) in &other.classes {
            entry(&mut self.classes, *outcome).merge(stats);
        }
        for (name, histogram) in &other.metrics {
            entry(&mut self.metrics, *name).merge(histogram);
        }
        for name in &other.of_answers {
            note(&mut self.of_answers, name);
        }
        for (name, histogram) in &other.since_fired {
            named(&mut self.since_fired, name).merge(histogram);
        }
        for (name, count) in &other.counts {
            *entry(&mut self.counts, *name) += count;
        }
    }

    /// Takes the memory that one histogram, counted by `number` over those of `other`, will need if what comes is like what
    /// has come there; `false` where `other` has no more.
    pub(crate) fn provide(&mut self, other: &Section, number: usize) -> bool {
        if self.kinds.is_empty() {
            return self.provide_own(other, number).is_none();
        }
        let mut left = number;
        for (own, theirs) in self.kinds.iter_mut().zip(other.parts()) {
            match own.provide_own(theirs, left) {
                None => return true,
                Some(fewer) => left = fewer,
            }
        }
        false
    }

    /// How many are left to count, where the one was not among these.
    fn provide_own(&mut self, other: &Section, number: usize) -> Option<usize> {
        let mut left = number;
        for (outcome, stats) in &other.classes {
            let mut beside = entry(&mut self.classes, *outcome).beside(stats).into_iter();
            let all = beside.len();
            match beside.nth(left) {
                None => left -= all,
                Some((own, theirs)) => {
                    own.provide(theirs);
                    return None;
                }
            }
        }
        for (own, theirs) in [
            (&mut self.metrics, &other.metrics),
            (&mut self.since_fired, &other.since_fired),
        ] {
            match theirs.get(left) {
                None => left -= theirs.len(),
                Some((name, theirs)) => {
                    entry(own, *name).provide(theirs);
                    return None;
                }
            }
        }
        Some(left)
    }

    /// The kinds apart, or the whole where there are none.
    fn parts(&self) -> &[Section] {
        match self.kinds.is_empty() {
            true => std::slice::from_ref(self),
            false => &self.kinds,
        }
    }

    /// What there is of one kind of request, or of the arrivals without a label. Empty if there is nothing.
    #[must_use]
    pub fn of_kind(&self, kind: impl Into<Option<Kind>>) -> &Section {
        self.parts().get(slot(kind.into())).unwrap_or(&EMPTY)
    }

    /// The outcome classes that occurred, and their histograms: a class once for each kind of request in which it
    /// did.
    pub fn classes(&self) -> impl Iterator<Item = (Outcome, &ClassStats)> {
        let parts = self.parts().iter();
        parts
            .flat_map(|part| &part.classes)
            // Memory is taken before there is anything.
            .filter(|(_, stats)| stats.response.count() > 0)
            .map(|(outcome, stats)| (*outcome, &**stats))
    }

    /// Named durations: stages of an adapter, and metrics that repeat within an arrival.
    pub fn metrics(&self) -> impl Iterator<Item = (&'static str, Cow<'_, Histogram>)> {
        let mut names = Vec::new();
        for (name, _) in self.parts().iter().flat_map(|part| &part.metrics) {
            if !names.contains(name) {
                names.push(*name);
            }
        }
        names
            .into_iter()
            .filter_map(|name| Some((name, self.metric(name)?)))
    }

    /// One of the named durations; `None` where no arrival had it.
    #[must_use]
    pub fn metric(&self, name: &str) -> Option<Cow<'_, Histogram>> {
        self.total_of(name, |part| &part.metrics)
    }

    /// One of the named durations that run [from the intended instant](crate::Details::answer_since_intended), without the
    /// generator's lateness on the way out: as if it ran from when the arrival was fired. `None` for all others.
    #[must_use]
    pub fn metric_since_fired(&self, name: &str) -> Option<Cow<'_, Histogram>> {
        self.total_of(name, |part| &part.since_fired)
    }

    fn total_of(
        &self,
        name: &str,
        list: impl Fn(&Section) -> &[(&'static str, Box<Histogram>)],
    ) -> Option<Cow<'_, Histogram>> {
        let parts = self.parts().iter().flat_map(list);
        let mut of_kinds = parts
            .filter(|(existing, histogram)| *existing == name && histogram.count() > 0)
            .map(|(_, histogram)| &**histogram);
        let mut total = Cow::Borrowed(of_kinds.next()?);
        for histogram in of_kinds {
            total.to_mut().merge(histogram);
        }
        Some(total)
    }

    /// Whether a named duration is [of whole answers](crate::Details::of_answer), as far as this section has one.
    #[must_use]
    pub fn is_of_answers(&self, name: &str) -> bool {
        let mut parts = self.parts().iter();
        parts.any(|part| part.of_answers.contains(&name))
    }

    /// Named counts, summed over arrivals.
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let mut total = Vec::new();
        for (name, count) in self.parts().iter().flat_map(|part| &part.counts) {
            *entry(&mut total, *name) += count;
        }
        total.into_iter()
    }

    /// Responses of every arrival; those without an end are lower bounds.
    #[must_use]
    pub fn response(&self) -> Population {
        self.population(Outcome::is_open_ended, |class| &class.response)
    }

    /// Responses of the arrivals that were served.
    #[must_use]
    pub fn response_ok(&self) -> Population {
        let mut ok = Population::new();
        for (outcome, stats) in self.classes() {
            if outcome == Outcome::Ok {
                ok.exact.merge(&stats.response);
            }
        }
        ok
    }

    /// Responses as a service-level objective sees them: everything that was not served is a lower bound, so
    /// that no failure can make a percentile better.
    #[must_use]
    pub fn response_slo(&self) -> Population {
        self.population(|outcome| outcome != Outcome::Ok, |class| &class.response)
    }

    /// One of the histograms of [`ClassStats`] over all classes, where those of some outcomes are lower bounds.
    #[must_use]
    pub fn population(
        &self,
        is_lower_bound: impl Fn(Outcome) -> bool,
        of: impl Fn(&ClassStats) -> &Histogram,
    ) -> Population {
        let mut population = Population::new();
        for (outcome, stats) in self.classes() {
            let into = if is_lower_bound(outcome) {
                &mut population.at_least
            } else {
                &mut population.exact
            };
            into.merge(of(stats));
        }
        population
    }

    /// One of the histograms of [`ClassStats`], over all classes.
    #[must_use]
    pub fn total(&self, of: impl Fn(&ClassStats) -> &Histogram) -> Histogram {
        let mut total = Histogram::new();
        for (_, stats) in self.classes() {
            total.merge(of(stats));
        }
        total
    }
}

/// The value under `key`, made when first asked for. The lists are a handful long: no hash beats a scan.
pub(crate) fn entry<K: Copy + PartialEq, V: Default>(list: &mut Vec<(K, V)>, key: K) -> &mut V {
    let index = list
        .iter()
        .position(|(existing, _)| *existing == key)
        .unwrap_or_else(|| {
            list.push((key, V::default()));
            list.len() - 1
        });
    &mut list[index].1
}

/// [`entry`] by a name: nearly always it is the very text that made the entry, and comparing addresses will do.
fn named<'a, V: Default>(list: &'a mut Vec<(&'static str, V)>, name: &'static str) -> &'a mut V {
    let same = list
        .iter()
        .position(|(existing, _)| std::ptr::eq(*existing, name));
    match same {
        Some(index) => &mut list[index].1,
        None => entry(list, name),
    }
}

fn note(names: &mut Vec<&'static str>, name: &'static str) {
    if !names.contains(&name) {
        names.push(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sample;
    use openloop_sched::Ticket;

    fn sample(kind: Option<Kind>) -> Sample {
        let at = Offset::from_nanos;
        let ticket = Ticket {
            seq: 0,
            intended: at(0),
        };
        Sample::new(ticket, at(0), at(0), at(1_000_000), Outcome::Ok).of_kind(kind)
    }

    #[test]
    fn memory_that_is_taken_ahead_is_for_every_histogram_and_shows_nothing() {
        for kinds in [0, 2] {
            let mut now = Section::of_kinds(kinds);
            let of: Vec<_> = (0..kinds).map(|kind| Some(Kind::new(kind))).collect();
            for kind in of.iter().copied().chain([None]) {
                now.record(
                    &[Finished::new(sample(kind), 1)],
                    &[Detail::Duration("connect", 7)],
                );
            }
            let mut to_come = Section::of_kinds(kinds);
            let provided = (0..).take_while(|number| to_come.provide(&now, *number));
            // Ten of the one class and the stage, of each kind and of none.
            assert_eq!(provided.count(), 11 * (kinds + 1));
            assert_eq!(to_come.classes().count(), 0);
            assert_eq!(to_come.metrics().count(), 0);
            assert_eq!(to_come.response().count(), 0);
            let mut all = to_come.clone();
            all.merge(&now);
            assert_eq!(all.response().count(), kinds as u64 + 1);
            assert_eq!(all.metric("connect").unwrap().count(), kinds as u64 + 1);
        }
    }
}
