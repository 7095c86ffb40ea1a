//! Sweeps, by tokens and by requests.

use super::*;

/// The whole of what an inference sweep is for, in virtual time: the highest rate of tokens within bounds on TTFT and TPOT,
/// which of them ends it, and the knee of each.
#[test]
fn a_search_for_the_highest_rate_within_ttft_and_tpot_names_what_ends_it() {
    let search = |flags: &str| {
        let flags = format!(
            "inference http://127.0.0.1:1 --model m --rehearse --rates-in output-tokens --sweep find \
             --ramp-up 0s --warm-up 20s --steady 120s --cooldown 0s --resolution 0.1 {flags}"
        );
        run(&flags)
    };
    // Long prompts keep a step busy for a quarter of a second: TTFT goes first. Where prompts are short it is TPOT.
    for (lengths, bounds, first) in [
        (
            "--input-tokens lognormal:mean=500,cv=1,max=4096 --output-tokens fixed:64 --rate 320",
            "--slo ttft.p99<=300ms,tpot.p99<=100ms",
            "ttft.p99",
        ),
        (
            "--input-tokens fixed:1 --output-tokens fixed:64 --rate 1280",
            "--slo ttft.p99<=400ms,tpot.p99<=20ms",
            "tpot.p99",
        ),
    ] {
        let output = search(&format!("{lengths} {bounds} --json -"));
        let told = report(&output);
        let found = &told["sweep"]["found"];
        assert_eq!(found["known"], "found", "{found}");
        let text = found["text"].as_str().unwrap();
        assert!(text.contains(&format!("{first} <= ")), "{text}");
        let knees = told["sweep"]["knees"].as_array().unwrap();
        let named: Vec<_> = knees
            .iter()
            .map(|knee| knee["metric"].as_str().unwrap())
            .collect();
        assert_eq!(named, ["ttft", "tpot"]);
        assert_eq!(told["sweep"]["counted"]["name"], "output_tokens");
    }
}

/// In tokens per second: 100 and 200 of 5 each are 20 and 40 requests per second.
#[test]
fn a_sweep_may_be_by_tokens_and_shows_what_the_objective_bounds() {
    let server = scripted();
    let flags = format!(
        "--rates-in output-tokens --sweep 100,200 {SHORT} {SECOND} {BUSY} --floor-time 0s --json - \
         --slo ttft.mean<=10s,tpot.mean<=10s,e2e.mean<=10s"
    );
    let told = report(&load(&server, &flags));
    let sweep = &told["sweep"];
    assert_eq!(sweep["counted"]["name"], "output_tokens");
    assert_eq!(sweep["counted"]["per_request"], 5.0);
    let points = sweep["points"].as_array().unwrap();
    for (point, rate) in points.iter().zip([20.0, 40.0]) {
        assert_eq!(point["asked_rate"], rate);
        assert_eq!(point["counted_rate"], 5.0 * rate);
        assert_eq!(point["bounds"][0]["bound"], "ttft.mean <= 10 s");
        let bounds = point["bounds"].as_array().unwrap().iter();
        let means: Vec<_> = bounds
            .map(|bound| bound["value"].as_f64().unwrap())
            .collect();
        let [ttft, tpot, e2e] = means[..] else {
            panic!("{means:?}");
        };
        // No token is seen before it is sent. A client that comes late to the first sees less time between it and the last:
        // what holds of every answer, and so of their means, is that both ends are those of TPOT.
        assert!(ttft >= 5e6 && e2e >= 9e6, "{means:?}");
        let rest = e2e - ttft - 4.0 * tpot;
        assert!((-1.0..4.0).contains(&rest), "{means:?}");
    }
    assert_eq!(points.len(), 2);
    assert!(told["floor"].is_null());
    let text = stdout(&load(&server, &flags.replace("--json -", "")));
    for shown in [
        "ttft.mean",
        "tpot.mean",
        "output tokens/s",
        "200 output tokens/s",
    ] {
        assert!(text.contains(shown), "{shown}: {text}");
    }
    for (flags, named) in [
        ("--closed 1", "--rate"),
        ("--profile 10/1s", "--rate"),
        ("--rate 0.0000000001", "rate"),
    ] {
        let refused = load(&server, &format!("--rates-in output-tokens {flags}"));
        assert_status(&refused, 2);
        assert!(
            stderr(&refused).contains(named),
            "{flags}: {}",
            stderr(&refused)
        );
    }
}

/// guidellm#460: the second step of a sweep found what the first had left in the cache.
#[test]
fn steps_of_a_sweep_find_nothing_of_each_other() {
    let server = simulated(8192, 1e-3);
    let flags = format!(
        "--sweep 20,40 --prefixes 2:160:0 {SHORT} {SECOND} {BUSY} --floor-time 0s --quiet --metrics-url none"
    );
    load(&server, &flags);
    let log = server.log();
    assert_eq!(log.len(), 60);
    let cold = |streams: &[openloop_testbed::Stream]| {
        streams
            .iter()
            .filter(|stream| stream.cached_tokens == 0)
            .count()
    };
    // Each of both prefixes is new to each step, and most of the others find theirs.
    assert!(cold(&log[..20]) >= 2 && cold(&log[20..]) >= 2);
    assert!(cold(&log) < 30, "{}", cold(&log));
}
