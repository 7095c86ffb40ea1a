//! What is odd about a trace, in sentences.

use openloop_workload::traces::Trace;
use std::time::Duration;

/// One sentence for the whole trace, and one for each thing that a reader of the result should know.
pub(crate) fn notes(trace: &Trace) -> Vec<String> {
    let quality = trace.quality();
    let told = trace.describe().to_string();
    let mut notes = vec![format!(
        "{}, {}",
        trace.format(),
        told.lines().next().unwrap_or_default()
    )];
    if let Some(line) = quality.first_disorder_line {
        notes.push(format!(
            "{}, the first on line {line}, by up to {:?}: they are put in order of time",
            count(
                quality.disorder,
                "request lies before the one ahead",
                "requests lie before the one ahead of them"
            ),
            Duration::from_nanos(quality.longest_step_back_ns)
        ));
    }
    if let Some(longest) = quality.gaps.iter().max_by_key(|gap| gap.length_ns) {
        notes.push(format!(
            "{} without requests, each over 20 mean gaps long, the longest {:?} before line {}: they are kept",
            count(quality.gaps.len() as u64, "time", "times"),
            Duration::from_nanos(longest.length_ns),
            longest.line
        ));
    }
    // Some ties are chance; most are a coarse clock.
    if quality.ties * 10 > trace.len() as u64 {
        notes.push(format!(
            "{} of {} requests come at the very instant of another, as where the recorder's clock is coarse: they are sent at once",
            quality.ties,
            trace.len()
        ));
    }
    let left_out = quality.left_out;
    let left_out = left_out.outside_window
        + left_out.over_limit
        + left_out.other_kinds
        + left_out.empty_output;
    if left_out > 0 {
        notes.push(format!(
            "{} left out",
            count(left_out, "row was", "rows were")
        ));
    }
    if quality.rounded > 0 {
        notes.push(format!(
            "{} rounded to the nanosecond",
            count(quality.rounded, "instant was", "instants were")
        ));
    }
    notes
}

fn count(count: u64, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes_of(text: &str) -> Vec<String> {
        notes(&Trace::read(text.as_bytes()).unwrap())
    }

    #[test]
    fn a_trace_in_order_is_told_in_one_sentence() {
        let notes = notes_of("offset,kind\n0,a\n1,b\n2,a\n");
        assert_eq!(
            notes,
            ["plain, 3 requests in 2.000 s, 1.0000/s, C_v of the gaps 0.000"]
        );
    }

    #[test]
    fn disorder_gaps_and_ties_are_told_with_their_lines() {
        let mut text = "offset\n".to_owned();
        for at in 0..40 {
            text += &format!("{at}\n{at}\n");
        }
        text += "1000\n999.5\n";
        let notes = notes_of(&text);
        for (note, parts) in notes[1..].iter().zip([
            ["1 request lies before", "line 83", "500ms"],
            ["1 time without requests", "line 83", "960.5s"],
            ["40 of 82 requests", "very instant", "at once"],
        ]) {
            assert!(parts.iter().all(|part| note.contains(part)), "{note}");
        }
        assert_eq!(notes.len(), 4, "{notes:?}");
    }
}
