//! Recorded arrivals in the formats of public traces.

use crate::*;

/// The offsets of what would be sent, in nanoseconds, and what was said beside them.
fn replayed(text: &str, scale: &str) -> (Vec<u64>, String) {
    let file = Scratch::new();
    std::fs::write(file.path(), text).unwrap();
    let flags = format!(
        "--arrivals trace:{}{scale} --preview-arrivals -",
        file.path()
    );
    let output = loadgen("http://127.0.0.1:1/", &flags);
    assert_status(&output, 0);
    let offsets = stdout(&output)
        .lines()
        .skip(1)
        .map(|line| line.split(',').nth(1).unwrap().parse().unwrap())
        .collect();
    (offsets, stderr(&output))
}

const AZURE: &str = "TIMESTAMP,ContextTokens,GeneratedTokens\r\n\
    2023-11-16 18:17:03.9799600,4808,10\r\n2023-11-16 18:17:04.0319600,3180,8\r\n";
const BURST_GPT: &str = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n\
    5,ChatGPT,472,18,490,Conversation log\n45,ChatGPT,1087,0,1087,API log\n";
const MOONCAKE: &str = "{\"timestamp\": 27482, \"input_length\": 6955, \"output_length\": 52, \"hash_ids\": [46, 47]}\n\
    {\"timestamp\": 30535, \"input_length\": 6472, \"output_length\": 26, \"hash_ids\": [46]}\n";
const BAILIAN: &str = "{\"chat_id\": 1, \"parent_chat_id\": -1, \"timestamp\": 0.5, \"input_length\": 39, \"output_length\": 120, \"type\": \"text\", \"turn\": 1, \"hash_ids\": [1]}\n\
    {\"chat_id\": 2, \"parent_chat_id\": 1, \"timestamp\": 61.114, \"input_length\": 180, \"output_length\": 9, \"type\": \"text\", \"turn\": 2, \"hash_ids\": [1]}\n";
const PLAIN: &str = "# by hand\noffset,kind,size\n0.25,read,512\n0.750000001,write,4096\n";

#[test]
fn every_format_is_known_by_its_first_line() {
    for (text, name, gap) in [
        (AZURE, "azure", 52_000_000),
        (BURST_GPT, "burstgpt", 40_000_000_000),
        (MOONCAKE, "mooncake", 3_053_000_000),
        (BAILIAN, "bailian", 60_614_000_000),
        (PLAIN, "plain", 500_000_001),
    ] {
        let (offsets, said) = replayed(text, "");
        assert_eq!(offsets, [0, gap], "{name}");
        assert!(said.contains(&format!(": {name}, 2 requests")), "{said}");
        assert_eq!(replayed(text, ":0.5").0, [0, gap / 2], "{name}");
    }
}

#[test]
fn seconds_one_a_line_stay_as_they_were() {
    let (offsets, said) = replayed("seconds\n0.5\n0.75\n", ":2");
    assert_eq!(offsets, [1_000_000_000, 1_500_000_000]);
    assert_eq!(said, "");
}

#[test]
fn a_byte_order_mark_and_blank_lines_ahead_do_no_harm() {
    for text in [
        "\u{feff}0\r\n0.25\r\n",
        "\u{feff}seconds\n0\n0.25\n",
        "\u{feff}\n# a comment\n\noffset,kind\n0,a\n0.25,b\n",
    ] {
        assert_eq!(replayed(text, "").0, [0, 250_000_000], "{text:?}");
    }
}

#[test]
fn disorder_is_told_and_put_right() {
    let (offsets, said) = replayed("offset\n0\n3\n2\n2.5\n", "");
    assert_eq!(offsets, [0, 2_000_000_000, 2_500_000_000, 3_000_000_000]);
    assert!(
        said.contains("1 request lies before the one ahead, the first on line 4, by up to 1s"),
        "{said}"
    );
}

#[test]
fn a_bad_line_is_named_by_its_number() {
    for (text, named) in [
        (
            AZURE.replace("3180", "many"),
            "line 3, ContextTokens: \"many\"",
        ),
        (MOONCAKE.replace("30535", "\"x\""), "line 2"),
        ("{\"time\": 1}\n".to_owned(), "no trace format starts with"),
        ("0\n1\nx\n".to_owned(), "line 3"),
        // A column that is named in another way would be read as seconds, and what stands beside it not at all.
        ("ofset,kind\n0,a\n".to_owned(), "plain offset or offset_ns"),
        ("millis\n0\n100\n".to_owned(), "under the header seconds"),
        (
            "0,read\n1,write\n".to_owned(),
            "no trace format starts with",
        ),
        (
            "{\"timestamp\": 0, \"input_length\": 1}\n".to_owned(),
            "mooncake has JSON objects with timestamp, input_length and output_length",
        ),
        (
            format!("{MOONCAKE}{{\"timestamp\": 1, \"inp\n"),
            "line 3 is not a JSON object: EOF while parsing a string in column 21",
        ),
        (String::new(), "there is no arrival in it"),
        ("\n\n".to_owned(), "there is no arrival in it"),
        ("offset,kind\n".to_owned(), "there is no arrival in it"),
        ("seconds\n".to_owned(), "there is no arrival in it"),
        (PLAIN.replace("0.75", "-0.75"), "line 4"),
    ] {
        let file = Scratch::new();
        std::fs::write(file.path(), &text).unwrap();
        let flags = format!("--arrivals trace:{}", file.path());
        let output = loadgen("http://127.0.0.1:1/", &flags);
        assert_status(&output, 2);
        let message = stderr(&output);
        assert!(
            message.contains(named) && message.contains(file.path()),
            "{named}: {message}"
        );
    }
}
