//! What samplers are said to draw.

use crate::*;
use openloop_workload::{Keys, Values};

#[test]
fn a_law_alone_gives_its_draws_one_a_line() {
    let drawn = |flags: &str| {
        let output = run(&format!("sample {flags}"));
        assert_status(&output, 0);
        stdout(&output)
    };
    let keys: Keys = "zipf:1000000:0.99".parse().unwrap();
    let expected: String = (0..5)
        .map(|seq| format!("{}\n", keys.key(7, seq)))
        .collect();
    assert_eq!(drawn("zipf:1e6:0.99 --count 5 --seed 7"), expected);
    let scattered = keys.scrambled(0).unwrap();
    let expected: String = (0..5)
        .map(|seq| format!("{}\n", scattered.key(1, seq)))
        .collect();
    assert_eq!(drawn("zipf:1e6:0.99 --count 5 --scramble"), expected);
    let values: Values = "lognormal:200:1.5".parse().unwrap();
    assert_eq!(
        drawn("lognormal:200:1.5 --count 1"),
        format!("{}\n", values.value(1, 0))
    );
    // Both have a law of this name.
    assert!(drawn("uniform:1:2 --count 1").starts_with("1."));
    assert_eq!(drawn("uniform:1 --count 2"), "1\n1\n");
}

#[test]
fn keys_are_shown_beside_their_law() {
    let output = run("sample keys zipf:1000:0.99 --cache 50 --count 2 --json");
    assert_status(&output, 0);
    let told = report(&output);
    assert_eq!(told["sampler"], "zipf:1000:0.99");
    assert_eq!(
        told["drawn"],
        serde_json::json!({"seed": 1, "draws": 100_000})
    );
    let keys: Keys = "zipf:1000:0.99".parse().unwrap();
    assert_eq!(told["sample"][1]["key"], keys.key(1, 1));
    let sections = told["sections"].as_array().unwrap();
    for (section, law) in [(1, keys.hit_rate(50)), (2, keys.lru_hit_rate(50).unwrap())] {
        let figures = sections[section]["figures"].as_array().unwrap();
        let cache = figures
            .iter()
            .find(|figure| figure["name"] == "50")
            .unwrap();
        assert_eq!(cache["law"], law);
        // Six standard deviations of a share of half as many draws are 0.0134; Che's approximation is good to 0.01.
        let drawn = cache["drawn"].as_f64().unwrap();
        assert!((drawn - law).abs() < 0.0234, "{drawn} for {law}");
    }
    let fitted = sections[0]["figures"][1]["drawn"].as_f64().unwrap();
    // The standard error is below 0.003 with so many draws.
    assert!((fitted - 0.99).abs() < 0.015, "{fitted}");
}

#[test]
fn what_does_not_fill_a_cache_says_nothing_of_it() {
    let told = report(&run("sample keys uniform:1e6 --draws 1000 --json"));
    let figures = told["sections"][2]["figures"].as_array().unwrap().clone();
    let drawn = |name: &str| {
        let figure = figures.iter().find(|figure| figure["name"] == name);
        figure.unwrap()["drawn"].clone()
    };
    assert!(drawn("100").is_number());
    assert!(drawn("1000").is_null() && drawn("100000").is_null());
}

#[test]
fn values_are_shown_beside_their_law() {
    let told = report(&run("sample values exponential:200,max=1000 --json"));
    let values: Values = "exponential:200,max=1000".parse().unwrap();
    let figures = |section: usize| {
        told["sections"][section]["figures"]
            .as_array()
            .unwrap()
            .clone()
    };
    assert_eq!(figures(0)[0]["law"], values.mean());
    // Five standard errors of a mean of 100 000.
    let drawn = figures(0)[0]["drawn"].as_f64().unwrap();
    assert!(
        (drawn - values.mean()).abs() < 5.0 * 200.0 / 316.0,
        "{drawn}"
    );
    let largest = figures(1).last().unwrap().clone();
    assert_eq!(
        (&largest["law"], &largest["drawn"]),
        (&1000.0.into(), &1000.0.into())
    );
    // e⁻⁵ of the values lie above the bound.
    assert!(
        told["notes"][1].as_str().unwrap().contains("0.67 %"),
        "{told}"
    );
}

#[test]
fn draws_are_csv_where_that_is_asked() {
    let output = run("sample values fixed:2.5 --csv --count 2");
    assert_eq!(stdout(&output), "seq,value\n0,2.5\n1,2.5\n");
    let trace = Scratch::new();
    std::fs::write(trace.path(), "offset,kind,size\n1,read,5\n3,,\n").unwrap();
    let output = run(&format!("sample trace {} --csv", trace.path()));
    assert_eq!(
        stdout(&output),
        "offset,kind,input_tokens,output_tokens,size,session\n0.0,read,,,5,\n2.0,,,,,\n"
    );
}

#[test]
fn a_trace_is_told_with_what_is_odd_about_it() {
    let trace = Scratch::new();
    std::fs::write(trace.path(), "0\n1\n2\n2\n").unwrap();
    let told = report(&run(&format!("sample trace {} --json", trace.path())));
    assert_eq!(told["quality"]["ties"], 1);
    assert_eq!(told["description"]["requests"], 4);
    assert!(told.get("drawn").is_none());
    let text = stdout(&run(&format!("sample trace {}", trace.path())));
    assert!(
        text.contains("plain, 4 requests in 2.000 s") && text.contains("sent at once"),
        "{text}"
    );
}

#[test]
fn what_is_no_law_is_refused_with_what_to_write() {
    for (flags, named) in [
        ("", "zipf:1e6:0.99"),
        ("nothing:1", "lognormal:mean=200,cv=1.5"),
        ("zipf:5", "zipf:N:S"),
        ("lognormal:5", "cv"),
        ("fixed:5 --scramble", "--scramble"),
        ("keys lognormal:1:1", "zipf"),
        ("values zipf:5:1", "lognormal"),
        ("values empirical:/no/such.csv", "/no/such.csv"),
        ("values fixed:1 --draws 0", "--draws"),
        ("keys uniform:5 --csv --json", "--json"),
        ("mix /no/such.toml", "/no/such.toml"),
        ("trace /no/such.csv", "/no/such.csv"),
    ] {
        let output = run(&format!("sample {flags}"));
        assert_status(&output, 2);
        assert!(
            stderr(&output).contains(named),
            "{flags}: {}",
            stderr(&output)
        );
        assert_eq!(stdout(&output), "");
    }
}
