//! A mix in a file of settings, as a tool of the user's own would define it.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use openloop_workload::mix::{FieldsSource, Kind};
use openloop_workload::{Fields, Mix, Template, Values};
use serde::{Deserialize, Serialize};

/// What a tool of one protocol needs for a kind of request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Http {
    url: Template,
    #[serde(default)]
    fields: Fields,
}

const SETTINGS: &str = r#"[
    {"name": "view", "weight": 95, "url": "/item/{item}", "fields": {"item": {"keys": "zipf:1000000:0.99"}},
     "demand": "gamma:mean=2,cv=0.5"},
    {"name": "buy", "weight": 5, "url": "/cart", "demand": {"law": "fixed", "value": 40}}
]"#;

#[test]
fn a_kind_has_the_fields_of_the_payload_beside_its_own() {
    let mix: Mix<Http> = serde_json::from_str(SETTINGS).unwrap();
    let view = &mix.kinds()[0];
    assert_eq!((view.name(), view.weight()), ("view", 95.0));
    assert_eq!(
        view.demand(),
        Some(&"gamma:mean=2,cv=0.5".parse::<Values>().unwrap())
    );
    assert!(view.payload().url.has("item") && !view.payload().fields.is_empty());
    assert!((mix.demand().unwrap().mean - 3.9).abs() < 1e-12);
    // Written and read again it is the same.
    let table = serde_json::to_value(&mix).unwrap();
    assert_eq!(table[1]["url"], "/cart");
    assert_eq!(serde_json::from_value::<Mix<Http>>(table).unwrap(), mix);
    // The name of a kind may come last.
    let late = r#"{"url": "/", "weight": 1, "name": "late"}"#;
    assert_eq!(
        serde_json::from_str::<Kind<Http>>(late).unwrap().name(),
        "late"
    );
}

#[test]
fn what_nobody_knows_is_refused() {
    for (kinds, message) in [
        (
            r#"[{"name": "a", "weight": 1, "url": "/", "methd": "GET"}]"#,
            "unknown field `methd`, expected `url` or",
        ),
        (r#"[{"name": "a", "weight": 1}]"#, "missing field `url`"),
        (r#"[{"name": "a", "url": "/"}]"#, "missing field `weight`"),
        (r#"[{"weight": 1, "url": "/"}]"#, "missing field `name`"),
        (
            r#"[{"name": "a", "name": "b", "weight": 1, "url": "/"}]"#,
            "duplicate field `name`",
        ),
        (
            r#"[{"name": "a", "weight": -1, "url": "/"}]"#,
            "the kind \"a\" has the weight -1",
        ),
        (
            r#"[{"name": "a", "weight": 1, "url": "/", "demand": "fixed:-1"}]"#,
            "value is -1",
        ),
        ("[]", "a mix of no kinds"),
        (r#""a""#, "invalid type: string \"a\", expected a sequence"),
        (
            "[1]",
            "invalid type: integer `1`, expected a kind of request",
        ),
    ] {
        let error = serde_json::from_str::<Mix<Http>>(kinds)
            .unwrap_err()
            .to_string();
        assert!(error.starts_with(message), "{kinds}: {error}");
    }
}

#[test]
fn payloads_of_other_shapes_work_too() {
    let bare: Mix<()> = serde_json::from_str(r#"[{"name": "a", "weight": 1}]"#).unwrap();
    let table = serde_json::to_value(&bare).unwrap();
    assert_eq!(serde_json::from_value::<Mix<()>>(table).unwrap(), bare);
    let error =
        serde_json::from_str::<Mix<()>>(r#"[{"name": "a", "weight": 1, "x": 2}]"#).unwrap_err();
    assert!(
        error.to_string().starts_with("unknown field `x`"),
        "{error}"
    );

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Nested {
        table: String,
        #[serde(flatten)]
        http: Http,
    }
    let text = r#"[{"name": "a", "weight": 1, "table": "t", "url": "/"}]"#;
    let nested: Mix<Nested> = serde_json::from_str(text).unwrap();
    assert_eq!(nested.kinds()[0].payload().http.url.text(), "/");
    let free: Mix<std::collections::BTreeMap<String, String>> = serde_json::from_str(text).unwrap();
    assert_eq!(free.kinds()[0].payload()["table"], "t");
}

#[test]
fn fields_may_wait_for_their_files() {
    #[derive(Deserialize)]
    struct Settings {
        fields: FieldsSource,
    }
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(folder.join("lengths.csv"), "3\n3\n").unwrap();
    let text =
        r#"[{"name": "a", "weight": 1, "fields": {"x": {"count": "empirical:lengths.csv"}}}]"#;
    let mix: Mix<Settings> = serde_json::from_str(text).unwrap();
    let mix = mix
        .try_map(|_, settings| settings.fields.load(folder))
        .unwrap();
    assert_eq!(mix.pick(1, 1).payload.text("x", 1, 1).unwrap(), "3");
    let error =
        serde_json::from_str::<Fields>(r#"{"x": {"count": "empirical:lengths.csv"}}"#).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("the field \"x\": the values are in the file"),
        "{error}"
    );
}
