//! Values as text, as tables and in files.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use openloop_workload::traces::Trace;
use openloop_workload::values::{LoadError, Source};
use openloop_workload::{Values, ValuesError};
use std::path::Path;

fn same(texts: &[&str]) {
    let first: Values = texts[0].parse().unwrap();
    for text in texts {
        let values: Values = text.parse().unwrap();
        assert_eq!(values, first, "{text}");
        assert_eq!(values.to_string(), texts[0], "{text}");
    }
}

#[test]
fn a_law_is_written_in_one_way_and_read_in_several() {
    same(&["fixed:200", "fixed:value=200", " fixed : 2e2 "]);
    same(&[
        "uniform:lo=100,hi=300",
        "uniform:100:300",
        "uniform:100,300",
        "uniform:hi=300,lo=100",
    ]);
    same(&["exponential:200", "exponential:mean=200"]);
    same(&[
        "lognormal:mean=200,cv=1.5",
        "lognormal:200:1.5",
        "lognormal:200,cv=1.5",
    ]);
    same(&["lognormal:p50=180,p99.9=900", "lognormal:p99.9=900,p50=180"]);
    same(&["gamma:mean=200,cv=0.5", "gamma:200:0.5"]);
    same(&["pareto:shape=1.1,lo=100,hi=1000000", "pareto:1.1:100:1e6"]);
    same(&["hyperexponential:mean=200,cv=4", "hyperexponential:200:4"]);
    same(&[
        "empirical:100x3,250x1",
        "empirical:250,100x2,100",
        "empirical: 100 x 3, 250",
    ]);
    same(&[
        "exponential:200,min=1,max=8192",
        "exponential:200,max=8192,min=1",
    ]);
    same(&[
        "lognormal:mean=200,cv=1.5,max=8192",
        "lognormal:max=8192,mean=200,cv=1.5",
        "lognormal:200:1.5:max=8192",
    ]);
    same(&["sequence:100,250,100", " sequence : 100, 250 ,1e2"]);
    same(&["sequence:100,250,max=200", "sequence:100,250,min=0,max=200"]);
    same(&["fixed:1,min=0", "fixed:1,min=-0"]);
    same(&["empirical:1x1,9x2,max=5", "empirical:1,9x2,min=0,max=5"]);
}

#[test]
fn what_is_missing_or_too_much_is_named() {
    for (text, message) in [
        (
            "gamma:mean=200",
            "gamma needs cv: write gamma:mean=200,cv=0.5",
        ),
        ("uniform:", "uniform needs lo: write uniform:lo=100,hi=300"),
        (
            "lognormal:p50=180",
            "lognormal needs a second quantile: write lognormal:mean=200,cv=1.5 or lognormal:p50=180,p99=900",
        ),
        (
            "lognormal:p50=180,p90=300,p99=900",
            "lognormal has no use for p99=900: write lognormal:mean=200,cv=1.5 or lognormal:p50=180,p99=900",
        ),
        (
            "gamma:1:2:3",
            "gamma has no use for 3: write gamma:mean=200,cv=0.5",
        ),
        (
            "gamma:mean=1,mean=2,cv=3",
            "gamma has no use for mean=2: write gamma:mean=200,cv=0.5",
        ),
        (
            "exponential:200,cv=1",
            "exponential has no use for cv=1: write exponential:200",
        ),
        (
            "exponential:x",
            "a parameter is \"x\": give a number, such as 200 or 1.5",
        ),
        (
            "exponential:mean=",
            "mean is \"\": give a number, such as 200 or 1.5",
        ),
        (
            "sequence:100,x",
            "a value is \"x\": give a number, such as 200 or 1.5",
        ),
        (
            "sequence:",
            "of no values none can be drawn: give at least one with a count of at least 1",
        ),
        (
            "trace:size",
            "trace:size is a column of a trace, and there is no trace of which each request has a row: replay one, \
             without sessions, or write the values themselves, such as sequence:100,250,100",
        ),
    ] {
        assert_eq!(
            text.parse::<Values>().unwrap_err().to_string(),
            message,
            "{text}"
        );
    }
    for text in ["", "200", "normal:1:2", "exponential"] {
        assert_eq!(
            text.parse::<Values>(),
            Err(ValuesError::Unknown(text.to_owned()))
        );
    }
}

#[test]
fn a_table_has_the_names_of_the_text() {
    for (text, table) in [
        ("fixed:200", r#"{"law":"fixed","value":200.0}"#),
        (
            "lognormal:mean=200,cv=1.5",
            r#"{"law":"lognormal","mean":200.0,"cv":1.5}"#,
        ),
        (
            "lognormal:p50=180,p99.9=900",
            r#"{"law":"lognormal","p50":180.0,"p99.9":900.0}"#,
        ),
        (
            "pareto:shape=1.1,lo=100,hi=1e6",
            r#"{"law":"pareto","shape":1.1,"lo":100.0,"hi":1000000.0}"#,
        ),
        (
            "exponential:200,min=1",
            r#"{"law":"exponential","mean":200.0,"min":1.0}"#,
        ),
        (
            "empirical:100x3,250,max=200",
            r#"{"law":"empirical","values":[100.0,250.0],"counts":[3,1],"max":200.0}"#,
        ),
        (
            "sequence:250,100,250,max=200",
            r#"{"law":"sequence","values":[250.0,100.0,250.0],"max":200.0}"#,
        ),
    ] {
        let values: Values = text.parse().unwrap();
        assert_eq!(serde_json::to_string(&values).unwrap(), table);
        assert_eq!(serde_json::from_str::<Values>(table).unwrap(), values);
        let quoted = serde_json::to_string(text).unwrap();
        assert_eq!(serde_json::from_str::<Values>(&quoted).unwrap(), values);
    }
    // Whole numbers, as a person writes them.
    let table = r#"{"counts": [3, 1], "law": "empirical", "values": [100, 250]}"#;
    assert_eq!(
        serde_json::from_str::<Values>(table).unwrap(),
        "empirical:100x3,250".parse().unwrap()
    );
}

#[test]
fn a_table_cannot_hold_what_the_constructors_refuse() {
    for (table, message) in [
        (r#"{"law": "lognormal", "mean": 200, "cv": -1}"#, "cv is -1"),
        (
            r#"{"law": "lognormal", "mean": 200, "cv": 1, "shape": 3}"#,
            "lognormal has no use for shape=3",
        ),
        (
            r#"{"law": "lognormal", "mean": 200, "mean": 100, "cv": 1}"#,
            "lognormal has no use for mean=100",
        ),
        (
            r#"{"law": "gaussian", "mean": 200}"#,
            "\"gaussian\" does not name values",
        ),
        (r#"{"mean": 200}"#, "missing field `law`"),
        (
            r#"{"law": "fixed", "law": "fixed", "value": 1}"#,
            "duplicate field `law`",
        ),
        (
            r#"{"law": "fixed", "value": "1"}"#,
            "invalid type: string \"1\", expected f64",
        ),
        (
            r#"{"law": "fixed", "value": 1, "values": [1]}"#,
            "fixed has no use for values",
        ),
        (
            r#"{"law": "empirical", "values": [1], "counts": [1, 2]}"#,
            "1 values have 2 counts",
        ),
        (
            r#"{"law": "empirical", "counts": [1]}"#,
            "empirical has no use for counts without values",
        ),
        (
            r#"{"law": "empirical", "values": [1], "file": "x"}"#,
            "empirical has no use for both values and file",
        ),
        (r#"{"law": "empirical"}"#, "empirical needs values"),
        (
            r#"{"law": "empirical", "values": []}"#,
            "of no values none can be drawn",
        ),
        (
            r#"{"law": "empirical", "file": "sizes.csv"}"#,
            "the values are in the file sizes.csv",
        ),
        (r#"{"law": "sequence"}"#, "sequence needs values"),
        (
            r#"{"law": "sequence", "values": [1], "counts": [1]}"#,
            "sequence has no use for counts",
        ),
        (
            r#"{"law": "sequence", "values": [1], "mean": 2}"#,
            "sequence has no use for mean=2",
        ),
        (r#"{"law": "trace"}"#, "trace needs column"),
        (
            r#"{"law": "trace", "column": "size"}"#,
            "trace:size is a column of a trace",
        ),
        (
            r#"{"law": "fixed", "value": 1, "column": "size"}"#,
            "fixed has no use for column: write law = \"trace\" with it",
        ),
        (
            "200",
            "invalid type: integer `200`, expected values, such as",
        ),
    ] {
        let error = serde_json::from_str::<Values>(table)
            .unwrap_err()
            .to_string();
        assert!(error.starts_with(message), "{table}: {error}");
    }
}

#[test]
fn a_file_is_read_where_reading_is_asked_for() {
    assert_eq!(
        "empirical:sizes.csv".parse::<Values>(),
        Err(ValuesError::InFile("sizes.csv".into()))
    );
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(folder.join("sizes.csv"), "value,count\n100,3\n250,1\n").unwrap();
    std::fs::write(folder.join("broken.csv"), "100\nmany\n").unwrap();
    let loaded = Values::load("empirical:sizes.csv,max=200", folder).unwrap();
    assert_eq!(loaded, "empirical:100x3,250,max=200".parse().unwrap());
    assert_eq!(
        Values::load("fixed:1", folder).unwrap(),
        "fixed:1".parse().unwrap()
    );
    let absolute = format!("empirical:{}", folder.join("sizes.csv").display());
    assert_eq!(
        Values::load(&absolute, Path::new("/nowhere"))
            .unwrap()
            .mean(),
        137.5
    );

    let error = Values::load("empirical:broken.csv", folder).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("broken.csv: line 2 is \"many\": give"),
        "{error}"
    );
    assert!(matches!(error, LoadError::Csv(..)));
    let error = Values::load("empirical:none.csv", folder).unwrap_err();
    assert!(error.to_string().starts_with("cannot open "), "{error}");
    assert!(matches!(
        Values::load("x", folder),
        Err(LoadError::Values(_))
    ));

    // As a setting, the file is kept by its name.
    for (text, table) in [
        (
            "empirical:sizes.csv,max=200",
            r#"{"law":"empirical","file":"sizes.csv","max":200.0}"#,
        ),
        (
            "trace:size,max=200",
            r#"{"law":"trace","column":"size","max":200.0}"#,
        ),
        ("fixed:3", r#"{"law":"fixed","value":3.0}"#),
    ] {
        let source: Source = text.parse().unwrap();
        assert_eq!(source.to_string(), text);
        assert_eq!(serde_json::to_string(&source).unwrap(), table);
        assert_eq!(serde_json::from_str::<Source>(table).unwrap(), source);
    }
    // Bounds that hold nothing are refused before any file is read.
    assert!("empirical:sizes.csv,min=3,max=2".parse::<Source>().is_err());
}

#[test]
fn a_column_of_a_trace_is_its_numbers_row_by_row() {
    let trace = "offset,size,price,note\n0,512,0.5,a\n1,80,2,b\n2,9000,0,\n";
    let trace = Trace::read(trace.as_bytes()).unwrap();
    let load = |text: &str| {
        let source: Source = text.parse().unwrap();
        source.load_with(Path::new(""), Some(&trace))
    };
    let sizes = load("trace:size,max=4096").unwrap();
    let drawn: Vec<_> = (0..4).map(|seq| sizes.count(9, seq)).collect();
    assert_eq!(drawn, [512, 80, 4096, 512]);
    assert_eq!(sizes, "sequence:512,80,9000,max=4096".parse().unwrap());
    let prices = load("trace:price").unwrap();
    assert_eq!([0, 1, 2].map(|seq| prices.value(9, seq)), [0.5, 2.0, 0.0]);
    for (text, message) in [
        (
            "trace:note",
            "line 2 of the trace has \"a\" for note: give each row a number of at least 0 there, or take another column",
        ),
        (
            "trace:output_tokens",
            "line 2 of the trace has nothing for output_tokens: give each row a number of at least 0 there, or take another column",
        ),
    ] {
        assert_eq!(load(text).unwrap_err().to_string(), message);
    }
    let without: Source = "trace:size".parse().unwrap();
    assert!(matches!(
        without.load(Path::new("")),
        Err(LoadError::Values(ValuesError::InTrace(_)))
    ));
    assert!("trace:size,min=3,max=2".parse::<Source>().is_err());
}
