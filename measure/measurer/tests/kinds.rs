//! Kinds of request: each arrival is counted in its own, however it ends, and the whole is their sum.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

use openloop_measurer::{
    Counts, Describe, Details, Histogram, Kind, Kinds, Layout, Outcome, Phase, Population,
    Recorder, Sample, Section, Verdict,
};
use openloop_sched::{Offset, Ticket};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;

const NAMES: [&str; 3] = ["read", "write, slow", "größer"];
const OUTCOMES: [Outcome; 8] = [
    Outcome::Ok,
    Outcome::Failed("refused"),
    Outcome::Failed("panic"),
    Outcome::TimedOut,
    Outcome::Rejected("http_503"),
    Outcome::Shed,
    Outcome::Abandoned,
    Outcome::Unsent,
];

fn layout() -> Layout {
    Layout::new(&[
        (Phase::WarmUp, Duration::from_secs(2)),
        (Phase::Steady, Duration::from_secs(20)),
    ])
    .unwrap()
}

fn recorder(names: &[&str]) -> Recorder {
    let kinds = Kinds::new(names.iter().copied()).unwrap();
    Recorder::with_kinds(Instant::now(), layout(), kinds)
}

/// An arrival of the label `kind` at some instant of the run, or past its end.
fn samples() -> impl Strategy<Value = Vec<Sample>> {
    let sample = (
        0_u64..24_000_000_000,
        0_u64..4_000_000_000,
        0_u64..8_000_000_000,
        prop::sample::select(&OUTCOMES[..]),
        prop::option::of(0_usize..4),
    );
    let sample = sample.prop_map(|(intended, wait, service, outcome, kind)| {
        let at = Offset::from_nanos;
        let ticket = Ticket {
            seq: 0,
            intended: at(intended),
        };
        let sample = match outcome {
            Outcome::Unsent => Sample::unsent(ticket, at(intended + wait)),
            outcome => {
                let dispatched = intended + wait;
                let ended = at(dispatched + service);
                Sample::new(ticket, at(intended), at(dispatched), ended, outcome)
            }
        };
        sample.of_kind(kind.map(Kind::new))
    });
    prop::collection::vec(sample, 0..300)
}

/// Everything that a histogram tells, to the last bit.
fn told(histogram: &Histogram) -> (u64, u128, Option<u64>, Option<u64>, Option<f64>, Vec<u8>) {
    (
        histogram.count(),
        histogram.sum_ns(),
        histogram.min_ns(),
        histogram.max_ns(),
        histogram.stddev_ns(),
        histogram.to_v2_bytes(),
    )
}

fn merged<'a>(parts: impl Iterator<Item = &'a Population>) -> Population {
    let mut whole = Population::new();
    parts.for_each(|part| whole.merge(part));
    whole
}

fn assert_same(one: &Population, other: &Population) {
    assert_eq!(told(&one.exact), told(&other.exact));
    assert_eq!(told(&one.at_least), told(&other.at_least));
}

fn sum(parts: impl Iterator<Item = Counts>) -> Counts {
    let mut sum = Counts::default();
    for part in parts {
        assert!(part.balances(), "{part:?}");
        sum.scheduled += part.scheduled;
        sum.ok += part.ok;
        sum.failed += part.failed;
        sum.timed_out += part.timed_out;
        sum.rejected += part.rejected;
        sum.shed += part.shed;
        sum.abandoned += part.abandoned;
        sum.unsent += part.unsent;
    }
    sum
}

type Read = fn(&Section) -> Population;

const READS: [Read; 6] = [
    Section::response,
    Section::response_ok,
    Section::response_slo,
    |section| section.population(Outcome::is_open_ended, |class| &class.service),
    |section| section.total(|class| &class.exchange).into(),
    |section| section.total(|class| &class.lag).into(),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn the_whole_is_the_sum_of_its_kinds_and_the_same_as_without_them(samples in samples()) {
        let (apart, together) = (recorder(&NAMES), recorder(&[]));
        for sample in &samples {
            apart.write(*sample);
            together.write(*sample);
        }
        let (apart, together) = (apart.snapshot(), together.snapshot());
        let kinds: Vec<Option<Kind>> = std::iter::once(None)
            .chain(apart.kinds().iter().map(|(kind, _)| Some(kind)))
            .collect();
        let of_kinds = || kinds.iter().map(|kind| apart.of_kind(*kind));

        // Index 3 is past the names.
        let labelled = |of: fn(usize) -> bool| {
            samples.iter().filter(|s| s.kind.is_some_and(|kind| of(kind.index()))).count() as u64
        };
        prop_assert_eq!(apart.unknown_kinds(), labelled(|index| index == 3));
        prop_assert_eq!(together.unknown_kinds(), labelled(|_| true));
        prop_assert_eq!(apart.of_kind(Kind::new(1)).counts().scheduled, labelled(|index| index == 1));

        prop_assert_eq!(apart.counts(), together.counts());
        prop_assert_eq!(sum(of_kinds().map(|of| of.counts())), apart.counts());
        prop_assert_eq!(together.of_kind(None).counts(), together.counts());
        for (phase, counts) in together.phases() {
            prop_assert_eq!(sum(of_kinds().map(|of| of.phase_counts(*phase))), *counts);
        }
        prop_assert_eq!(apart.phases(), together.phases());
        let mut outcomes: BTreeMap<Outcome, u64> = BTreeMap::new();
        for (outcome, n) in of_kinds().flat_map(|of| of.outcomes()) {
            *outcomes.entry(outcome).or_default() += n;
        }
        prop_assert_eq!(&outcomes, &together.outcomes().collect());
        prop_assert_eq!(&outcomes, &apart.outcomes().collect());

        prop_assert_eq!(apart.course().slices(), together.course().slices());
        prop_assert_eq!(apart.course().in_flight_means(12), together.course().in_flight_means(12));
        prop_assert_eq!(apart.mean_in_flight(), together.mean_in_flight());

        for (apart, together) in apart.windows().iter().zip(together.windows()) {
            for read in READS {
                assert_same(&read(apart), &read(together));
            }
        }
        let whole = apart.steady();
        for read in READS {
            let parts: Vec<_> = kinds.iter().map(|kind| read(whole.of_kind(*kind))).collect();
            assert_same(&read(&whole), &merged(parts.iter()));
            for (kind, part) in kinds.iter().zip(&parts) {
                assert_same(&read(&apart.of_kind(*kind).steady()), part);
            }
        }
    }
}

#[test]
fn sections_with_and_without_kinds_merge_into_one() {
    let sample = |ms: u64| {
        let ticket = Ticket {
            seq: 0,
            intended: Offset::from_nanos(3_000_000_000),
        };
        let ended = ticket.intended.saturating_add(Duration::from_millis(ms));
        Sample::new(ticket, ticket.intended, ticket.intended, ended, Outcome::Ok)
    };
    let (apart, together) = (recorder(&NAMES), recorder(&[]));
    apart.write(sample(10).of_kind(Kind::new(2)));
    together.write(sample(20));
    let (apart, together) = (apart.snapshot().steady(), together.snapshot().steady());
    for (first, second) in [(&apart, &together), (&together, &apart)] {
        let mut both = first.clone();
        both.merge(second);
        assert_eq!(both.response().count(), 2);
        let max = |kind| both.of_kind(kind).response().exact.max_ns();
        assert_eq!(max(Some(Kind::new(2))), Some(10_000_000));
        assert_eq!(max(None), Some(20_000_000));
        assert_eq!(max(Some(Kind::new(0))), None);
        assert_eq!(max(Some(Kind::new(9))), None);
    }
}

struct Reply(u64);

impl Describe for Reply {
    fn verdict(&self) -> Verdict {
        Verdict::Ok
    }

    fn details(&self, into: &mut Details<'_>) {
        into.duration("first_byte", Duration::from_millis(self.0));
        into.count("bytes", self.0);
    }
}

#[tokio::test(start_paused = true)]
async fn stages_and_counts_of_an_adapter_are_kept_by_kind() {
    let recorder = Recorder::with_kinds(
        Instant::now(),
        Layout::steady_only(Duration::from_secs(1)).unwrap(),
        Kinds::new(NAMES).unwrap(),
    );
    for (seq, kind) in [None, Some(0), Some(1), Some(1)].into_iter().enumerate() {
        let arrival = recorder.arrive_at(seq as u64, recorder.start());
        let arrival = arrival.of_kind(kind.map(Kind::new));
        assert_eq!(arrival.kind(), kind.map(Kind::new));
        let (_, sample) = arrival.measure(async { Reply(seq as u64) }).await;
        assert_eq!(sample.kind, kind.map(Kind::new));
    }
    let steady = recorder.snapshot().steady();
    let writes = steady.of_kind(Kind::new(1));
    assert_eq!(steady.counts().collect::<Vec<_>>(), [("bytes", 6)]);
    assert_eq!(writes.counts().collect::<Vec<_>>(), [("bytes", 5)]);
    let first_byte = |of: &Section| of.metric("first_byte").map(|h| (h.count(), h.sum_ns()));
    assert_eq!(first_byte(&steady), Some((4, 6_000_000)));
    assert_eq!(first_byte(writes), Some((2, 5_000_000)));
    assert_eq!(first_byte(steady.of_kind(Kind::new(2))), None);
    let names: Vec<_> = steady
        .metrics()
        .map(|(name, h)| (name, h.count()))
        .collect();
    assert_eq!(names, [("first_byte", 4)]);
}

#[test]
fn a_label_that_the_recorder_does_not_know_is_taken_off_and_counted() {
    let recorder = recorder(&NAMES);
    let unknown = Kind::new(3);
    let sample = recorder
        .arrive_at(0, recorder.start())
        .of_kind(unknown)
        .shed();
    assert_eq!((sample.kind, sample.outcome), (None, Outcome::Shed));
    let snapshot = recorder.snapshot();
    assert_eq!(snapshot.unknown_kinds(), 1);
    assert_eq!(snapshot.of_kind(None).counts().shed, 1);
    let of_unknown = snapshot.of_kind(unknown);
    assert_eq!(of_unknown.counts(), Counts::default());
    assert_eq!(of_unknown.name(), None);
    assert!(of_unknown.course().is_none());
    assert_eq!(of_unknown.steady().response().count(), 0);
    assert_eq!(of_unknown.outcomes().count(), 0);
}
