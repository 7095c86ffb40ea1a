//! What holds for every trace: order, windows, scales, and that no file ever makes a loader panic.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::time::Duration;

use openloop_workload::traces::{Format, OffsetsError, Trace, TraceRequest};
use proptest::prelude::*;

fn trace(offsets: &[u64]) -> Trace {
    Trace::new(
        offsets
            .iter()
            .map(|&offset| TraceRequest::at(offset))
            .collect(),
    )
}

fn arrivals(trace: &Trace, scale: f64) -> Vec<u128> {
    trace
        .offsets(scale)
        .unwrap()
        .map(|offset| offset.as_nanos())
        .collect()
}

#[test]
fn disorder_is_told_and_not_repaired() {
    let read = Trace::read(&b"offset\n5\n7\n6\n9\n3\n"[..]).unwrap();
    let quality = read.quality();
    assert_eq!(
        (quality.disorder, quality.first_disorder_line),
        (2, Some(4))
    );
    assert_eq!(quality.longest_step_back_ns, 6_000_000_000);
    assert_eq!(read.start_ns(), 3_000_000_000);
    let Err(error) = read.offsets(1.0) else {
        unreachable!()
    };
    assert_eq!(error, OffsetsError::Disorder { index: 2, line: 4 });
    let sorted = read.sorted();
    assert_eq!(sorted.quality().disorder, 0);
    let seconds: Vec<_> = arrivals(&sorted, 1.0)
        .iter()
        .map(|nanos| nanos / 1_000_000_000)
        .collect();
    assert_eq!(seconds, [0, 2, 3, 4, 6]);
    assert_eq!(sorted.requests()[0].line, 6);
}

#[test]
fn gaps_are_told_with_where_they_are() {
    // 100 requests a millisecond apart, a second without any, and 100 more: the mean gap is 6 ms.
    let mut offsets: Vec<_> = (0..100).map(|k| k * 1_000_000).collect();
    offsets.extend((0..100).map(|k| 1_099_000_000 + k * 1_000_000));
    let gaps = trace(&offsets).quality().gaps;
    let [gap] = gaps[..] else { unreachable!() };
    assert_eq!((gap.from_ns, gap.length_ns), (99_000_000, 1_000_000_000));
    assert_eq!(trace(&offsets).gaps(0.1).len(), 199);
    assert_eq!(trace(&offsets).gaps(200.0).len(), 0);
    assert_eq!(trace(&offsets).gaps(f64::NAN).len(), 0);
    assert_eq!(trace(&[]).gaps(1.0).len(), 0);
}

#[test]
fn windows_are_half_open_and_begin_at_their_first_request() {
    let all = trace(&[0, 10, 20, 30, 40]);
    let window = all
        .clone()
        .window(Duration::from_nanos(10), Duration::from_nanos(40));
    assert_eq!(arrivals(&window, 1.0), [0, 10, 20]);
    assert_eq!(
        (window.start_ns(), window.left_out().outside_window),
        (10, 2)
    );
    let first = window.limit(2);
    assert_eq!(arrivals(&first, 1.0), [0, 10]);
    let left_out = first.quality().left_out;
    assert_eq!((left_out.outside_window, left_out.over_limit), (2, 1));
    let none = all.window(Duration::from_nanos(41), Duration::MAX);
    assert!(none.is_empty());
    assert_eq!(none.left_out().outside_window, 5);
    assert_eq!(none.duration(), Duration::ZERO);
}

#[test]
fn a_scale_stretches_time_and_a_bad_one_is_refused() {
    let trace = trace(&[0, 3, 1 << 53, (1 << 53) + 1]);
    assert_eq!(arrivals(&trace, 1.0)[3], (1 << 53) + 1);
    assert_eq!(arrivals(&trace, 0.5)[..3], [0, 1, 1 << 52]);
    assert_eq!(arrivals(&trace, 2.0)[..3], [0, 6, 1 << 54]);
    assert_eq!(trace.offsets(1.0).unwrap().len(), 4);
    for scale in [0.0, -1.0, f64::INFINITY] {
        assert_eq!(
            trace.offsets(scale).map(|_| ()),
            Err(OffsetsError::Scale(scale))
        );
    }
    assert!(trace.offsets(f64::NAN).is_err());
    assert_eq!(
        trace.offsets(1e9).map(|_| ()),
        Err(OffsetsError::TooLate(1e9))
    );
}

#[test]
fn descriptions_are_exact_on_numbers_known_by_hand() {
    let text = "offset,kind,size,input_tokens\n0,a,1,\n1,b,2,10\n3,a,3,\n4,a,4,30\n";
    let told = Trace::read(text.as_bytes()).unwrap().describe();
    assert_eq!((told.requests, told.duration_ns), (4, 4_000_000_000));
    // Gaps 1, 2, 1: mean 4/3, variance 2/9, so that C_v² = 1/8.
    assert_eq!(told.rate_per_second, Some(0.75));
    assert!((told.gap_cv.unwrap() - f64::sqrt(0.125)).abs() < 1e-15);
    let size = told.all.size.unwrap();
    assert_eq!(
        (
            size.count, size.total, size.min, size.p50, size.p99, size.max
        ),
        (4, 10, 1, 2, 4, 4)
    );
    assert!((size.cv - f64::sqrt(1.25) / 2.5).abs() < 1e-15);
    assert_eq!(told.all.input_tokens.unwrap().count, 2);
    assert_eq!(told.all.output_tokens, None);
    assert_eq!(told.repeated_input, None);
    assert_eq!(told.kinds["a"].size.unwrap().total, 8);
    assert!(
        told.to_string()
            .starts_with("4 requests in 4.000 s, 0.7500/s, C_v of the gaps 0.354\n  input tokens")
    );
    let json = serde_json::to_string(&told).unwrap();
    assert_eq!(
        serde_json::from_str::<openloop_workload::traces::Description>(&json).unwrap(),
        told
    );
}

#[test]
fn what_cannot_be_told_of_few_requests_is_not_told() {
    for offsets in [&[][..], &[0], &[7, 7, 7]] {
        let told = trace(offsets).describe();
        assert_eq!((told.rate_per_second, told.gap_cv), (None, None));
        assert_eq!(told.duration_ns, 0);
        assert_eq!(told.all.size, None);
    }
    assert_eq!(trace(&[7, 7, 7]).quality().ties, 2);
}

#[test]
fn turns_that_go_round_in_circles_are_one_session() {
    let turn = |id, parent| {
        let mut request = TraceRequest::at(0);
        (request.id, request.parent) = (id, parent);
        request
    };
    let trace = Trace::new(vec![
        turn(Some(1), Some(2)),
        turn(Some(2), Some(1)),
        turn(Some(3), Some(3)),
        turn(None, None),
    ]);
    assert_eq!(trace.sessions(), [vec![0, 1], vec![2], vec![3]]);
}

fn arbitrary_file() -> impl Strategy<Value = Vec<u8>> {
    let headers = [
        "TIMESTAMP,ContextTokens,GeneratedTokens\n",
        "Timestamp,Model,Request tokens,Response tokens\n",
        "offset,kind,size\n",
        "{\"timestamp\":0,\"input_length\":1,\"output_length\":1}\n",
        "",
    ];
    let pieces = [
        "2023-11-16 18:17:03.9",
        "1e9",
        ",",
        "\"",
        "\n",
        "\r\n",
        "{\"timestamp\":",
        "}",
        "[1,2]",
        "\"input_length\":3",
        "-1",
        "0",
        "9",
        ".",
        "e",
        "\u{feff}",
        "é",
        "null",
        "#",
    ];
    let piece = prop_oneof![
        4 => prop::sample::select(pieces.to_vec()).prop_map(|piece| piece.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..8),
    ];
    (
        prop::sample::select(headers.to_vec()),
        prop::collection::vec(piece, 0..40),
    )
        .prop_map(|(header, pieces)| [header.as_bytes(), &pieces.concat()].concat())
}

proptest! {
    #[test]
    fn any_bytes_are_a_trace_or_an_error(file in arbitrary_file()) {
        for format in Format::ALL {
            let _ = Trace::read_as(format, &file[..]);
        }
        if let Ok(trace) = Trace::read(&file[..]) {
            let _ = (trace.describe().to_string(), trace.quality(), trace.sessions());
            prop_assert!(trace.is_empty() || trace.requests().iter().any(|request| request.offset_ns == 0));
        }
    }

    #[test]
    fn a_row_is_read_as_it_was_written(
        rows in prop::collection::vec((0..1_000_000_000_000_000_u64, any::<u32>(), "[ -~]{0,12}"), 1..50)
    ) {
        let mut file = "offset,kind,size\n".to_owned();
        for (nanos, size, kind) in &rows {
            let kind = kind.replace('"', "\"\"");
            file += &format!("{}.{:09},\"{kind}\",{size}\n", nanos / 1_000_000_000, nanos % 1_000_000_000);
        }
        let trace = Trace::read(file.as_bytes()).unwrap();
        let start = rows.iter().map(|(nanos, ..)| *nanos).min().unwrap();
        prop_assert_eq!(trace.start_ns(), start as i64);
        for (request, (nanos, size, kind)) in trace.requests().iter().zip(&rows) {
            prop_assert_eq!(request.offset_ns, nanos - start);
            prop_assert_eq!(request.size, Some(u64::from(*size)));
            prop_assert_eq!(request.kind.as_deref().unwrap_or_default(), kind.trim());
        }
        let sorted = trace.sorted();
        prop_assert_eq!(sorted.offsets(1.0).unwrap().len(), rows.len());
    }

    #[test]
    fn sessions_hold_every_request_once(
        rows in prop::collection::vec((0..100_u64, 0..8_u64, 0..8_u64, 0..4_u64), 0..40)
    ) {
        let requests = rows.iter().map(|&(offset, id, parent, session)| {
            let mut request = TraceRequest::at(offset);
            request.id = (id < 6).then_some(id);
            request.parent = (parent < 4).then_some(parent);
            request.session = (session < 2).then(|| session.to_string().into());
            request
        });
        let trace = Trace::new(requests.collect());
        let mut all: Vec<_> = trace.sessions().concat();
        all.sort_unstable();
        prop_assert_eq!(all, (0..rows.len()).collect::<Vec<_>>());
    }
}
