//! The metrics of one answer, against courses that are known.

use super::*;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Chunks at these instants after the sending, each with what it tells.
fn course(chunks: &[(u64, Option<u32>)], counted: Option<u64>, stopped: bool) -> Course {
    let sent = Instant::now();
    let mut course = Course::new(sent);
    for (at, tokens) in chunks {
        course.tokens(sent + ms(*at), Content::Visible, *tokens);
    }
    course.finish(counted, stopped);
    course
}

fn itl(course: &Course) -> Option<Vec<(Duration, u32)>> {
    course.token_gaps().map(Iterator::collect)
}

const PLAIN: [(u64, Option<u32>); 3] = [(50, None), (60, None), (80, None)];

#[test]
fn chunks_are_tokens_as_long_as_that_agrees_with_what_was_counted() {
    for (counted, stopped) in [
        (None, false),
        (Some(3), false),
        (Some(3), true),
        (Some(4), true),
    ] {
        let course = course(&PLAIN, counted, stopped);
        assert_eq!(course.time_per_output_token(), Some(ms(15)), "{counted:?}");
        assert_eq!(itl(&course).unwrap(), [(ms(10), 1), (ms(20), 1)]);
    }
    // Seven tokens in three chunks, and nobody says which had how many.
    for (counted, stopped) in [(7, false), (4, false), (2, true)] {
        let course = course(&PLAIN, Some(counted), stopped);
        assert_eq!(itl(&course), None, "{counted}");
        assert_eq!(course.gaps().len(), 2);
    }
    assert_eq!(
        course(&PLAIN, Some(7), false).time_per_output_token(),
        Some(ms(5))
    );
}

#[test]
fn gaps_are_shared_out_over_the_tokens_that_came_at_their_end() {
    let course = course(
        &[(50, Some(2)), (62, Some(4)), (65, Some(0)), (70, Some(1))],
        None,
        false,
    );
    assert_eq!(course.output_tokens(), Some((7, TokenSource::Chunks)));
    // The first chunk's two tokens came at one instant: the other five took 20 ms.
    assert_eq!(course.time_per_output_token(), Some(ms(4)));
    assert_eq!(itl(&course).unwrap(), [(ms(3), 4), (ms(8), 1)]);
}

#[test]
fn one_token_has_no_time_between_tokens_and_none_has_no_time_at_all() {
    let one = course(&[(50, None)], Some(1), false);
    assert_eq!(one.time_per_output_token(), None);
    assert_eq!(itl(&one).unwrap(), []);
    let none = course(&[], Some(0), true);
    assert_eq!((none.first_token(), none.last_token()), (None, None));
    assert_eq!(none.time_per_output_token(), None);
    assert_eq!(course(&[], None, false).output_tokens(), None);
}

#[test]
fn an_answer_that_broke_off_keeps_its_tokens_and_has_no_mean() {
    let sent = Instant::now();
    let mut course = Course::new(sent);
    course.tokens(sent + ms(5), Content::Reasoning, None);
    course.tokens(sent + ms(9), Content::Visible, None);
    assert_eq!(course.output_tokens(), Some((2, TokenSource::Assumed)));
    assert_eq!(course.time_per_output_token(), None);
    assert_eq!(course.first_token(), Some(sent + ms(5)));
    assert_eq!(course.first_visible(), Some(sent + ms(9)));
}

/// genai-bench#44: the chunk with usage moved it.
#[test]
fn the_first_token_is_never_moved() {
    let sent = Instant::now();
    let mut course = Course::new(sent);
    course.event(sent + ms(1));
    course.tokens(sent + ms(5), Content::Visible, None);
    course.tokens(sent + ms(9), Content::Visible, None);
    course.event(sent + ms(12));
    course.tokens(sent + ms(13), Content::Nothing, Some(2));
    course.finish(Some(2), false);
    assert_eq!(course.first_token(), Some(sent + ms(5)));
    assert_eq!(course.last_token(), Some(sent + ms(9)));
}

#[test]
fn chunks_of_one_read_are_told_and_none_comes_before_another() {
    let course = course(&[(50, None), (50, None), (40, None)], None, false);
    assert_eq!((course.coalesced(), course.chunks()), (2, 3));
    assert!(course.gaps().iter().all(|gap| gap.length.is_zero()));
}
