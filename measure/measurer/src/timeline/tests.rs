use super::*;

fn sample(intended_ms: u64, ended_ms: u64, outcome: Outcome) -> Sample {
    let at = |ms: u64| Offset::from_nanos(ms * 1_000_000);
    Sample {
        seq: 0,
        intended: at(intended_ms),
        fired: at(intended_ms + 1),
        dispatched: outcome
            .is_open_ended()
            .then_some(())
            .map_or(Some(at(intended_ms + 2)), |()| None),
        ended: at(ended_ms),
        received: None,
        acquire: Duration::ZERO,
        kind: None,
        outcome,
    }
}

/// Seconds, of a run of so many.
fn of_seconds(seconds: u64) -> Timeline {
    let layout = Layout::steady_only(Duration::from_secs(seconds)).unwrap();
    Timeline::new(Duration::from_secs(1), &layout)
}

#[test]
fn counts_stand_at_their_own_instants_and_latencies_at_the_intended_one() {
    let mut timeline = of_seconds(3);
    timeline.record(&sample(100, 2500, Outcome::Ok));
    timeline.record(&sample(1999, 2002, Outcome::Shed));
    let intervals = timeline.intervals();
    assert_eq!(intervals.len(), 3);
    assert_eq!(intervals[0].max, Some(Value::Exact(2_400_000_000)));
    assert_eq!(
        (
            intervals[0].fired,
            intervals[0].ended.ok,
            intervals[2].ended.ok
        ),
        (1, 0, 1)
    );
    assert_eq!(
        [
            intervals[0].in_flight,
            intervals[1].in_flight,
            intervals[2].in_flight
        ],
        [1, 1, 0]
    );
    assert_eq!(intervals[1].max, Some(Value::AtLeast(3_000_000)));
    assert_eq!(
        (
            intervals[1].arrivals,
            intervals[1].fired,
            intervals[2].fired
        ),
        (1, 0, 1)
    );
    assert_eq!(intervals[2].p50, None);
}

#[test]
fn a_late_end_reopens_a_packed_interval_without_losing_anything() {
    let mut timeline = of_seconds(200);
    for second in 0..200 {
        timeline.record(&sample(second * 1000, second * 1000 + 5, Outcome::Ok));
    }
    timeline.record(&sample(10, 199_000, Outcome::Ok));
    let first = &timeline.intervals()[0];
    assert_eq!(first.arrivals, 2);
    assert_eq!(
        (first.p50, first.max),
        (
            Some(Value::Exact(5_001_215)),
            Some(Value::Exact(198_990_000_000))
        )
    );
}

#[test]
fn the_worst_stretch_is_found_within_the_phase() {
    let mut timeline = of_seconds(60);
    for i in 0..6000 {
        let at = i * 10;
        // Slow before the phase, and from 31 to 35 s; one much slower arrival at 50 s is less than a hundredth.
        let slow = at < 3000 || (31_000..35_000).contains(&at);
        let took = match (slow, at == 50_000) {
            (_, true) => 5000,
            (true, _) => 100 + i % 7,
            (false, _) => 1,
        };
        timeline.record(&sample(at, at + took, Outcome::Ok));
    }
    let span = Span {
        phase: crate::Phase::Steady,
        from: Offset::from_nanos(4_500_000_000),
        to: Offset::from_nanos(60_000_000_000),
    };
    let worst = timeline.worst(span, Duration::from_secs(4), Quantile::P50);
    let worst = worst.unwrap();
    assert_eq!(worst.from.as_nanos(), 31_000_000_000);
    assert_eq!(worst.to.as_nanos(), 35_000_000_000);
    assert_eq!(worst.response.count(), 400);
    // The same by looking at every stretch.
    for q in [Quantile::P50, Quantile::P99, Quantile::P99_9] {
        let mut most = 0;
        for from in 5..=50 {
            let mut whole = Population::new();
            for index in from..from + 10 {
                whole.merge(&timeline.cells[index].population());
            }
            most = most.max(whole.quantile(q).unwrap().ns());
        }
        let found = timeline.worst(span, Duration::from_secs(10), q).unwrap();
        assert_eq!(found.response.quantile(q).unwrap().ns(), most, "{q}");
    }
    assert!(
        timeline
            .worst(span, Duration::from_secs(56), Quantile::P50)
            .is_none()
    );
}

#[test]
fn a_long_run_is_kept_in_fewer_and_longer_intervals() {
    let mut timeline = of_seconds(36_000);
    for minute in 0..600 {
        timeline.record(&sample(
            minute * 60_000,
            minute * 60_000 + minute,
            Outcome::Ok,
        ));
    }
    let intervals = timeline.intervals();
    assert!(intervals.len() <= MAX_INTERVALS);
    assert_eq!(intervals[0].to.as_duration(), Duration::from_secs(8));
    assert_eq!(intervals.iter().map(|i| i.arrivals).sum::<u64>(), 600);
    assert_eq!(intervals.iter().map(|i| i.ended.ok).sum::<u64>(), 600);
    assert_eq!(intervals.last().unwrap().in_flight, 0);
    assert_eq!(
        intervals.iter().filter_map(|i| i.max).map(Value::ns).max(),
        Some(599_000_000)
    );
}

#[test]
fn no_run_within_its_plan_is_kept_from_sending_by_a_merge_of_intervals() {
    for (seconds, interval_ns) in [(7200, 1), (7201, 2), (86_400, 16)] {
        let timeline = of_seconds(seconds);
        assert_eq!(timeline.grid.interval_ns(), interval_ns * 1_000_000_000);
        assert!(timeline.planned <= MAX_PLANNED);
    }
    // Longer than any clock tells.
    let timeline = of_seconds(u64::MAX / 1_000_000_000);
    assert!(timeline.planned <= MAX_PLANNED);
}

#[test]
fn what_ends_long_after_the_plan_makes_intervals_longer_and_loses_nothing() {
    let mut timeline = of_seconds(10);
    for second in 0..20_000 {
        timeline.record(&sample(second * 1000, second * 1000 + 3, Outcome::Ok));
    }
    let intervals = timeline.intervals();
    assert!(intervals.len() <= MAX_INTERVALS);
    assert_eq!(intervals[0].to.as_duration(), Duration::from_secs(4));
    assert_eq!(intervals.iter().map(|i| i.arrivals).sum::<u64>(), 20_000);
}

#[test]
fn memory_for_what_is_planned_is_taken_once_it_is_known_how_much_that_is() {
    let secs = Duration::from_secs;
    let phases = [
        (crate::Phase::RampUp, secs(20)),
        (crate::Phase::Steady, secs(580)),
    ];
    let layout = Layout::new(&phases).unwrap();
    for per_second in [10, 1000] {
        let mut timeline = Timeline::new(secs(1), &layout);
        for i in 0..80 * per_second {
            // Between 1 and 2 ms.
            let intended = Offset::from_nanos(i * 1_000_000_000 / per_second);
            let took = 1_000_000 + i * 7919 % 1_000_000;
            timeline.record(&Sample {
                intended,
                fired: intended,
                dispatched: Some(intended),
                ended: Offset::from_nanos(intended.as_nanos() + took),
                ..sample(0, 0, Outcome::Ok)
            });
            if i < 28 * per_second {
                assert_eq!(timeline.cells.len(), timeline.reached);
            }
        }
        assert_eq!(timeline.cells.len(), 600, "{per_second}/s");
        let room = |cell: &Cell| match &cell.exact {
            Latencies::Empty(room) | Latencies::Open(_, room) => room.capacity(),
            Latencies::Packed(packed) => packed.len(),
        };
        let to_come = timeline.cells[timeline.reached..].iter();
        let least = to_come.map(room).min().unwrap();
        assert!(least >= room(&timeline.cells[20]) + 2 * per_second as usize);
        // What is to come is no part of what there is: the last may have ended in the second after its own.
        assert!(timeline.intervals().len() <= 81);
    }
}

#[test]
fn longer_intervals_keep_what_the_phases_had() {
    let secs = Duration::from_secs;
    let layout = Layout::new(&[
        (crate::Phase::WarmUp, secs(3)),
        (crate::Phase::Steady, secs(10_000)),
    ]);
    let mut timeline = Timeline::new(secs(1), &layout.unwrap());
    for second in 0..10_003 {
        timeline.record(&sample(second * 1000, second * 1000, Outcome::Ok));
    }
    let intervals = timeline.intervals();
    assert!(intervals.len() <= MAX_INTERVALS);
    let before: u64 = intervals[..2].iter().map(|i| i.arrivals).sum();
    assert_eq!((before, intervals[2].from.as_duration()), (3, secs(3)));
    assert_eq!(intervals.last().unwrap().to.as_duration(), secs(10_003));
    let responses = timeline
        .responses()
        .map(|(_, _, response)| response.count());
    assert_eq!(responses.sum::<u64>(), 10_003);
}
