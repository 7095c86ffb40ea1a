//! Keys as a text and as a table.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use openloop_workload::keys::{
    Drift, HotSpot, Keys, KeysError, Latest, Sequential, ShareError, Uniform, Zipf,
};

/// All kinds of keys, in the text that they are written as.
const TEXTS: [&str; 13] = [
    "uniform:1",
    "sequential:18446744073709551615",
    "zipf:1000:0.99",
    "zipf:1000:0",
    "zipf:1000:1.0000000000001",
    "zipf:5:1e300",
    "zipf:1000:0.99:scrambled",
    "zipf:1000:0.99:drift=10/5000",
    "zipf:1000:0.99:drift=10/5000:scrambled=18446744073709551615",
    "hotspot:1000:0.2:0.8",
    "hotspot:1000:0.001:1:scrambled=7",
    "latest:1000:0.99:0.05",
    "latest:1000:1.5:0",
];

#[test]
fn texts_are_read_and_written_alike() {
    for text in TEXTS {
        let keys: Keys = text.parse().unwrap();
        assert_eq!(keys.to_string(), text);
        assert_eq!(keys.to_string().parse::<Keys>().unwrap(), keys);
    }
}

#[test]
fn texts_are_what_the_constructors_make() {
    let zipf = Zipf::new(1_000_000, 0.99).unwrap();
    for (text, keys) in [
        (" sequential: 10 ", Keys::new(Sequential::new(10).unwrap())),
        (
            "uniform:1e9",
            Keys::new(Uniform::new(1_000_000_000).unwrap()),
        ),
        ("zipf:1e6:.99", Keys::new(zipf)),
        ("uniform:2.50e2", Keys::new(Uniform::new(250).unwrap())),
        (
            "zipf:1000:80/20",
            Keys::new(Zipf::from_share(1_000, 0.2, 0.8).unwrap()),
        ),
        (
            "hotspot:10:0.2:0.8",
            Keys::new(HotSpot::new(10, 0.2, 0.8).unwrap()),
        ),
        (
            "latest:10:1:2.5",
            Keys::new(Latest::new(10, 1.0, 2.5).unwrap()),
        ),
        (
            "zipf:1e6:0.99:scrambled=0",
            Keys::new(zipf).scrambled(0).unwrap(),
        ),
        (
            "zipf:1e6:0.99 : drift=1e1/5e3 : scrambled",
            Keys::new(zipf)
                .drifting(Drift::new(10, 5_000).unwrap())
                .unwrap()
                .scrambled(0)
                .unwrap(),
        ),
    ] {
        assert_eq!(text.parse(), Ok(keys), "{text}");
    }
}

#[test]
fn what_names_no_keys_is_refused_with_what_was_written() {
    let message = |text: &str| text.parse::<Keys>().unwrap_err().to_string();
    for (text, part) in [
        ("", "\"\" does not name keys"),
        ("zip:5", "\"zip:5\" does not name keys"),
        ("uniform", "write uniform:N"),
        ("uniform:", "n = \"\" is not a whole number"),
        ("uniform:x", "n = \"x\""),
        ("uniform:-1", "n = \"-1\""),
        ("uniform:1.5", "n = \"1.5\""),
        ("uniform:1e20", "n = \"1e20\""),
        (
            "uniform:5:6",
            "\"uniform:5:6\" does not have the parameters",
        ),
        ("sequential", "sequential:1000"),
        ("zipf:5", "zipf:1000:0.99"),
        ("zipf:5:x", "s = \"x\" is not a number"),
        ("zipf:5:80/x", "top = \"x\""),
        ("zipf:1000:10/20", "share = 0.1"),
        ("zipf:5:nan", "s = NaN"),
        ("zipf:5:-1", "s = -1"),
        ("hotspot:5:0.2", "hotspot:1000:0.2:0.8"),
        ("hotspot:5:0.01:0.8", "hot = 0.01 of 5 keys"),
        ("hotspot:5:0.4:0.3", "share = 0.3"),
        ("latest:5:1", "latest:1000:0.99:0.05"),
        ("latest:5:1:-1", "inserts = -1"),
        ("latest:5:1:1:scrambled", "leave out scrambled"),
        ("latest:5:1:1:drift=1/1", "leave out drift"),
        ("zipf:5:1:drift", "\"drift\" does not modify keys"),
        ("zipf:5:1:drift=5", "\"drift=5\" does not modify keys"),
        ("zipf:5:1:drift=0/5", "by 0 keys every 5 requests"),
        ("zipf:5:1:drift=x/5", "step = \"x\""),
        (
            "zipf:5:1:scrambled:drift=1/1",
            "\"drift=1/1\" does not modify keys",
        ),
        (
            "zipf:5:1:scrambledly",
            "\"scrambledly\" does not modify keys",
        ),
        ("zipf:5:1:scrambled=-1", "scrambled = \"-1\""),
    ] {
        let found = message(text);
        assert!(found.contains(part), "{text}: {found}");
    }
    for text in [
        "uniform:0",
        "sequential:0",
        "zipf:0:1",
        "zipf:0:80/20",
        "hotspot:0:0.2:0.8",
        "latest:0:1:1",
    ] {
        assert_eq!(text.parse::<Keys>(), Err(KeysError::Empty), "{text}");
    }
    assert_eq!(
        "zipf:10:80/1".parse::<Keys>(),
        Err(KeysError::Share(ShareError::Top { top: 0.01, n: 10 }))
    );
}

#[test]
fn tables_come_back_as_they_went_and_so_do_texts() {
    for text in TEXTS {
        let keys: Keys = text.parse().unwrap();
        let table = serde_json::to_string(&keys).unwrap();
        assert!(table.starts_with("{\"law\":"), "{table}");
        assert_eq!(
            serde_json::from_str::<Keys>(&table).unwrap(),
            keys,
            "{table}"
        );
        assert_eq!(
            serde_json::from_str::<Keys>(&format!("\"{text}\"")).unwrap(),
            keys
        );
    }
    let keys: Keys = "zipf:1000:0.99:drift=10/5000:scrambled=3".parse().unwrap();
    assert_eq!(
        serde_json::to_string(&keys).unwrap(),
        r#"{"law":"zipf","n":1000,"s":0.99,"drift":{"step":10,"every":5000},"scrambled":3}"#
    );
}

#[test]
fn a_table_may_give_a_share_and_a_switch() {
    for (table, text) in [
        (
            r#"{"law": "zipf", "n": 1000, "top": 0.2, "share": 0.8}"#,
            "zipf:1000:80/20",
        ),
        (r#"{"law": "zipf", "n": 1000, "s": 1}"#, "zipf:1000:1"),
        (
            r#"{"law": "zipf", "n": 1000, "s": 1, "scrambled": true}"#,
            "zipf:1000:1:scrambled",
        ),
        (
            r#"{"law": "zipf", "n": 1000, "s": 1, "scrambled": false}"#,
            "zipf:1000:1",
        ),
    ] {
        let expected: Keys = text.parse().unwrap();
        assert_eq!(serde_json::from_str::<Keys>(table).unwrap(), expected);
    }
}

#[test]
fn a_table_that_holds_no_keys_is_refused() {
    for (table, part) in [
        (r#""zipf:5:-1""#, "s = -1"),
        ("5", "keys, as a text such as"),
        (r#"{"n": 5}"#, "missing field `law`"),
        (r#"{"law": "uniform"}"#, "missing field `n`"),
        (r#"{"law": "uniform", "n": 0}"#, "at least 1"),
        (r#"{"law": "uniform", "n": -5}"#, "-5"),
        (r#"{"law": "zip", "n": 5}"#, "\"zip\" does not name keys"),
        (
            r#"{"law": "uniform", "n": 5, "seed": 1}"#,
            "unknown field `seed`",
        ),
        (
            r#"{"law": "uniform", "n": 5, "s": 1}"#,
            "s is not a parameter of uniform keys",
        ),
        (
            r#"{"law": "zipf", "n": 5, "s": 1, "hot": 0.2}"#,
            "hot is not a parameter of zipf keys",
        ),
        (
            r#"{"law": "zipf", "n": 5}"#,
            "zipf keys need either s or both top and share",
        ),
        (
            r#"{"law": "zipf", "n": 5, "s": 1, "top": 0.2}"#,
            "zipf keys need either s",
        ),
        (r#"{"law": "zipf", "n": 5, "s": -1}"#, "s = -1"),
        (
            r#"{"law": "hotspot", "n": 5, "hot": 0.2}"#,
            "hotspot keys need both hot and share",
        ),
        (
            r#"{"law": "latest", "n": 5, "s": 1}"#,
            "latest keys need both s and inserts",
        ),
        (
            r#"{"law": "latest", "n": 5, "s": 1, "inserts": 1, "scrambled": true}"#,
            "leave out scrambled",
        ),
        (
            r#"{"law": "uniform", "n": 5, "drift": {"step": 0, "every": 1}}"#,
            "does not move",
        ),
        (
            r#"{"law": "uniform", "n": 5, "drift": {"step": 1}}"#,
            "missing field `every`",
        ),
        (
            r#"{"law": "uniform", "n": 5, "scrambled": "x"}"#,
            "scrambled is true, false or the number",
        ),
    ] {
        let found = serde_json::from_str::<Keys>(table).unwrap_err().to_string();
        assert!(found.contains(part), "{table}: {found}");
    }
}
