//! Named places and what fills them.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use openloop_workload::mix::{Alphabet, Choice, Field, FieldsError, RandomText};
use openloop_workload::{Fields, Keys, Template, Values, named};

fn fields() -> Fields {
    serde_json::from_str(
        r#"{
            "user": {"keys": "uniform:1000"},
            "size": {"count": "lognormal:mean=200,cv=1.5,min=1"},
            "verb": {"choice": ["get", "put", "del"], "weights": [8, 1, 1]},
            "token": {"text": "url_safe", "length": {"law": "uniform", "lo": 0, "hi": 40}},
            "nonce": {"text": "hex", "length": "fixed:33"}
        }"#,
    )
    .unwrap()
}

#[test]
fn places_are_filled_and_other_braces_stay() {
    let template =
        Template::new(r#"{"user":{user},"nested":{"a":{}},"{verb}":"{nonce}","{other}":{ user }}"#);
    for seq in 0..100 {
        let [user, verb, nonce] =
            ["user", "verb", "nonce"].map(|name| fields().text(name, 9, seq).unwrap());
        let wanted = format!(
            r#"{{"user":{user},"nested":{{"a":{{}}}},"{verb}":"{nonce}","{{other}}":{{ user }}}}"#
        );
        assert_eq!(fields().render(&template, 9, seq), wanted);
    }
    assert_eq!(fields().text("other", 9, 0), None);
    assert_eq!(Fields::default().render(&template, 1, 1), template.text());
    let mut out = String::from("> ");
    fields().render_into(&Template::new("{user}{user}"), 9, 3, &mut out);
    let user = fields().text("user", 9, 3).unwrap();
    assert_eq!(out, format!("> {user}{user}"));
}

#[test]
fn each_field_has_a_seed_of_its_own() {
    let keys: Keys = "uniform:1000".parse().unwrap();
    let sizes: Values = "lognormal:mean=200,cv=1.5,min=1".parse().unwrap();
    for seq in 0..100 {
        assert_eq!(
            fields().text("user", 9, seq).unwrap(),
            keys.key(named(9, "user"), seq).to_string()
        );
        assert_eq!(
            fields().text("size", 9, seq).unwrap(),
            sizes.count(named(9, "size"), seq).to_string()
        );
    }
    // Two fields of the same law are not the same numbers.
    let twins = Fields::new([("a", Field::Keys(keys)), ("b", Field::Keys(keys))]).unwrap();
    let equal = (0..1000)
        .filter(|&seq| twins.text("a", 1, seq) == twins.text("b", 1, seq))
        .count();
    assert!(equal < 10, "{equal}");
}

#[test]
fn rendering_allocates_once() {
    let template =
        Template::new(r#"{"u":{user},"s":{size},"v":"{verb}","t":"{token}","n":"{nonce}"}"#);
    for seq in 0..1000 {
        let rendered = fields().render(&template, 9, seq);
        // What was reserved at first has never had to grow: doubling would leave more than the digits of two numbers.
        let slack = 2 * 20 + "{user}{size}{verb}{token}{nonce}".len();
        assert!(
            rendered.capacity() - rendered.len() <= slack,
            "{} of {}",
            rendered.len(),
            rendered.capacity()
        );
    }
}

#[test]
fn a_field_without_a_place_is_found() {
    let templates = ["/{user}", "{verb} {verb}", "{Size}"].map(Template::new);
    assert_eq!(fields().unused(&templates), ["nonce", "size", "token"]);
    assert!(
        fields()
            .unused(&[Template::new("{user}{verb}{nonce}{size}{token}")])
            .is_empty()
    );
}

#[test]
fn random_text_has_its_characters_and_its_length() {
    let text = RandomText::new(Alphabet::UrlSafe, "uniform:0:40".parse().unwrap()).unwrap();
    let mut counts = [0_u32; 128];
    let mut total = 0;
    for seq in 0..20_000 {
        let drawn = text.text(4, seq);
        assert_eq!(drawn.len() as u64, text.length().count(4, seq));
        drawn
            .bytes()
            .for_each(|byte| counts[usize::from(byte)] += 1);
        total += drawn.len();
    }
    let used: Vec<_> = counts.into_iter().filter(|&count| count > 0).collect();
    assert_eq!(used.len(), 64);
    let expected = total as f64 / 64.0;
    let chi_square: f64 = used
        .iter()
        .map(|&count| (f64::from(count) - expected).powi(2) / expected)
        .sum();
    // The 99.9 % quantile of χ² with 63 degrees of freedom.
    assert!(chi_square < 103.4, "χ² {chi_square:.1}");
    let hex = RandomText::new(Alphabet::Hex, "fixed:1000".parse().unwrap())
        .unwrap()
        .text(1, 1);
    assert!(
        hex.len() == 1000
            && hex
                .bytes()
                .all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase())
    );
}

#[test]
fn what_is_no_field_is_refused() {
    for (table, message) in [
        (
            r#"{"a b": {"keys": "uniform:1"}}"#,
            "\"a b\" is no name of a field",
        ),
        (
            r#"{"": {"keys": "uniform:1"}}"#,
            "\"\" is no name of a field",
        ),
        (
            r#"{"a": {}}"#,
            "the field \"a\": the field has to have one of keys, count, choice",
        ),
        (
            r#"{"a": {"keys": "uniform:1", "count": "fixed:1"}}"#,
            "the field \"a\": the field has to have one of",
        ),
        (
            r#"{"a": {"keys": "uniform:1", "weights": [1]}}"#,
            "the field \"a\": the field has to have one of",
        ),
        (
            r#"{"a": {"text": "hex"}}"#,
            "the field \"a\": the field has to have one of",
        ),
        (
            r#"{"a": {"choice": []}}"#,
            "the field \"a\": of no texts none can be chosen",
        ),
        (
            r#"{"a": {"choice": ["x"], "weights": [1, 2]}}"#,
            "the field \"a\": 1 texts have 2 weights",
        ),
        (
            r#"{"a": {"choice": ["x"], "weights": [-1]}}"#,
            "the field \"a\": the text \"x\" has the weight -1",
        ),
        (
            r#"{"a": {"choice": ["x"], "weights": [0]}}"#,
            "the field \"a\": every text has the weight 0",
        ),
        (
            r#"{"a": {"text": "hex", "length": "exponential:5"}}"#,
            "the field \"a\": random text of up to inf",
        ),
        (r#"{"a": {"keyz": "uniform:1"}}"#, "unknown field `keyz`"),
        (
            r#"{"a": {"keys": "uniform:0"}}"#,
            "of 0 keys none can be drawn",
        ),
    ] {
        let error = serde_json::from_str::<Fields>(table)
            .unwrap_err()
            .to_string();
        assert!(error.starts_with(message), "{table}: {error}");
    }
    let twice = ["a", "a"].map(|name| (name, Field::Choice(Choice::new(["x"]).unwrap())));
    assert!(matches!(Fields::new(twice), Err(FieldsError::Duplicate(name)) if name == "a"));
}

#[test]
fn fields_are_written_as_they_are_read() {
    let table = serde_json::to_value(fields()).unwrap();
    assert_eq!(
        serde_json::from_value::<Fields>(table.clone()).unwrap(),
        fields()
    );
    assert_eq!(
        table["nonce"],
        serde_json::json!({"text": "hex", "length": {"law": "fixed", "value": 33.0}})
    );
    assert_eq!(
        fields().iter().map(|(name, _)| name).collect::<Vec<_>>(),
        ["nonce", "size", "token", "user", "verb"]
    );
}

#[test]
fn what_a_seed_gives_never_changes() {
    let template = Template::new("{user} {size} {verb} {token} {nonce}");
    let rendered: Vec<_> = (0..3)
        .map(|seq| fields().render(&template, 1, seq))
        .collect();
    assert_eq!(rendered, GOLDEN);
}

const GOLDEN: [&str; 3] = [
    "677 14 get g_2YYmEEsB0eWdHcCPev8JB 2c1561e4cf96953841288789e164ff438",
    "205 44 get lsgrpxdAlmi9 ad490c83b5e413dfb4e969df747541578",
    "828 211 get QlhCHlbQe0oSFMox cda0a2741d52016e9fdbdb703ebec05de",
];
