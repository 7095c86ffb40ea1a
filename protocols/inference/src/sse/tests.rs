use super::*;
use proptest::prelude::*;

type Told = Vec<(String, String)>;

fn events<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Told {
    let (mut parser, mut told) = (EventParser::new(), Vec::new());
    for piece in pieces {
        let tell = |event: Event<'_>| {
            told.push((event.name().into_owned(), event.text().into_owned()));
        };
        parser.feed(piece, tell).unwrap();
    }
    told
}

fn data(stream: &[u8]) -> Vec<String> {
    let told = events([stream]);
    told.into_iter().map(|(_, data)| data).collect()
}

/// The text of the standard, line by line, on the whole stream: slow and plain.
fn by_the_book(stream: &[u8]) -> Told {
    let text = String::from_utf8_lossy(stream);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let (mut told, mut name, mut data) = (Vec::new(), String::new(), String::new());
    let Some((lines, _unfinished)) = text.rsplit_once('\n') else {
        return told;
    };
    for line in lines.split('\n') {
        if line.is_empty() {
            if let Some(data) = data.strip_suffix('\n') {
                let name = if name.is_empty() { "message" } else { &name };
                told.push((name.to_owned(), data.to_owned()));
            }
            (name, data) = (String::new(), String::new());
            continue;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => data = data + value + "\n",
            "event" => name = value.to_owned(),
            _ => {}
        }
    }
    told
}

#[test]
fn the_examples_of_the_standard_are_read_as_it_says() {
    assert_eq!(
        data(b"data: YHOO\ndata: +2\ndata: 10\n\n"),
        ["YHOO\n+2\n10"]
    );
    let stream = b": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n";
    assert_eq!(
        data(stream),
        ["first event", "second event", " third event"]
    );
    assert_eq!(data(b"data\n\ndata\ndata\n\ndata:"), ["", "\n"]);
    assert_eq!(data(b"data:test\n\ndata: test\n\n"), ["test", "test"]);
}

#[test]
fn every_line_ending_ends_a_line_and_an_event_comes_with_its_last_byte() {
    for end in ["\n", "\r", "\r\n"] {
        let stream = format!("event: e{end}data: a{end}{end}data: b{end}{end}");
        let told = events([stream.as_bytes()]);
        assert_eq!(
            told,
            [("e", "a"), ("message", "b")].map(|(name, data)| (name.to_owned(), data.to_owned())),
            "{end:?}"
        );
    }
    // CR ends the line: whoever waited for the LF would be late by a whole event.
    assert_eq!(data(b"data: a\r\r"), ["a"]);
    assert_eq!(data(b"data: a\r\n\r"), ["a"]);
    assert_eq!(data(b"data: a\r\n"), [""; 0]);
}

#[test]
fn a_mark_at_the_start_is_left_out_and_one_elsewhere_is_not() {
    assert_eq!(data("\u{feff}data: a\n\n".as_bytes()), ["a"]);
    assert_eq!(data("\u{feff}\u{feff}data: a\n\n".as_bytes()), [""; 0]);
    assert_eq!(data("data: \u{feff}a\n\n".as_bytes()), ["\u{feff}a"]);
}

#[test]
fn what_looks_like_data_and_is_not_is_no_data() {
    for stream in [
        &b"data : a\n\n"[..],
        b" data: a\n\n",
        b"DATA: a\n\n",
        b":data: a\n\n",
        b"event: x\n\n",
        b"retry: 10\nid: 7\n\n",
        b"\n\n\n",
        b"data: a\n",
    ] {
        assert_eq!(
            data(stream),
            [""; 0],
            "{:?}",
            String::from_utf8_lossy(stream)
        );
    }
    // A name without data is forgotten with its event.
    assert_eq!(events([&b"event: x\n\ndata: a\n\n"[..]])[0].0, "message");
    // Only one space is taken off.
    assert_eq!(data(b"data:  a b \n\n"), [" a b "]);
}

#[test]
fn bytes_that_are_no_text_are_replaced_once_the_event_is_whole() {
    assert_eq!(data(b"data: a\xffb\n\n"), ["a\u{fffd}b"]);
    let pieces = [&b"data: \xf0\x9f"[..], b"\x98", b"\x80\n\n"];
    assert_eq!(events(pieces)[0].1, "\u{1f600}");
}

#[test]
fn what_never_ends_is_refused_and_not_kept() {
    let mut parser = EventParser::new();
    let piece = vec![b'a'; 1024 * 1024];
    let fed = (0..17)
        .map(|_| parser.feed(&piece, |_| {}))
        .collect::<Vec<_>>();
    assert_eq!(fed[..16], [Ok(()); 16]);
    assert_eq!(fed[16], Err(TooLong));
    let mut parser = EventParser::new();
    let line = [b"data: ".as_slice(), &piece, b"\n"].concat();
    let refused = (0..17).position(|_| parser.feed(&line, |_| {}).is_err());
    assert_eq!(refused, Some(15));
}

/// Every stream of a real server, cut at every byte, byte by byte, and cut off at every byte.
#[test]
fn recorded_streams_are_the_same_wherever_they_are_cut() {
    let mut streams = 0;
    for recorded in crate::recorded::all() {
        let body = &recorded.body[..];
        if recorded.is_json || !body.starts_with(b"data:") {
            continue;
        }
        streams += 1;
        let whole = events([body]);
        assert_eq!(whole, by_the_book(body), "{}", recorded.name);
        assert_eq!(whole.last().unwrap().1, "[DONE]", "{}", recorded.name);
        assert_eq!(events(body.chunks(1)), whole, "{}", recorded.name);
        for cut in 0..=body.len() {
            let (one, two) = body.split_at(cut);
            assert_eq!(events([one, two]), whole, "{} at {cut}", recorded.name);
            let before = events([one]);
            assert_eq!(before, whole[..before.len()], "{} at {cut}", recorded.name);
        }
    }
    assert_eq!(streams, 11);
}

/// Streams of the letters that mean something, so that most of them hold events.
fn streams() -> impl Strategy<Value = Vec<u8>> {
    let words: Vec<&'static [u8]> = vec![
        b"data",
        b"data:",
        b"data: ",
        b"event: x",
        b":",
        b" ",
        b"\n",
        b"\n\n",
        b"\r",
        b"\r\n",
        b"\r\n\r\n",
        b"a",
        b"\xef\xbb\xbf",
        "\u{1f600}".as_bytes(),
        b"\xf0\x9f",
        b"id: 1",
        b"{\"a\":1}",
    ];
    proptest::collection::vec(proptest::sample::select(words), 0..40)
        .prop_map(|words| words.concat())
}

proptest! {
    #[test]
    fn any_stream_in_any_pieces_is_what_the_standard_makes_of_it(
        stream in streams(),
        cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
        cuts.extend([0, stream.len()]);
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|cut| &stream[cut[0]..cut[1]]);
        prop_assert_eq!(events(pieces), by_the_book(&stream));
    }

    #[test]
    fn any_bytes_are_read_without_harm(stream in proptest::collection::vec(any::<u8>(), 0..400)) {
        prop_assert_eq!(events(stream.chunks(3)), by_the_book(&stream));
        prop_assert_eq!(events(stream.chunks(1)), by_the_book(&stream));
    }
}
