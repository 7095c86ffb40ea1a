//! Several kinds of request from a file.

use crate::*;
use openloop_testbed::RecordedRequest;
use std::collections::BTreeMap;
use std::path::Path;

fn example(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("mixes");
    folder.join(name).to_str().unwrap().to_owned()
}

/// One second of the examples' kinds, and what the server got.
fn requests_of(file: &str, flags: &str) -> Vec<RecordedRequest> {
    let server = server().record_requests().start().unwrap();
    let flags = format!("--rate 500 --arrivals constant {SECOND} {BUSY} --mix {file} {flags}");
    assert_status(&loadgen(&server.url("/"), &flags), 0);
    server.requests()
}

/// What is refused for a file of this text.
fn refused(text: &str) -> String {
    let file = Scratch::new();
    std::fs::write(file.path(), text).unwrap();
    let flags = format!("--rate 10 --mix {}", file.path());
    let output = loadgen("http://127.0.0.1:1/", &flags);
    assert_status(&output, 2);
    let message = stderr(&output);
    assert!(message.contains(file.path()), "{message}");
    message
}

#[test]
fn the_shop_is_asked_for_what_its_file_says() {
    let requests = requests_of(&example("web_shop.toml"), "--quiet");
    assert_eq!(requests.len(), 500);
    let mut kinds: BTreeMap<_, usize> = BTreeMap::new();
    for request in &requests {
        let first = request.path.split(['/', '?']).nth(1).unwrap();
        *kinds.entry((request.method.as_str(), first)).or_default() += 1;
        // Every place is filled, and JSON is JSON.
        let body = std::str::from_utf8(&request.body).unwrap();
        assert!(!request.path.contains('{'), "{}", request.path);
        if !body.is_empty() {
            assert_eq!(request.header("content-type"), Some("application/json"));
            serde_json::from_str::<Value>(body).unwrap();
        }
        let nonce = request.header("idempotency-key");
        assert_eq!(nonce.map(str::len), (first == "orders").then_some(32));
    }
    // Weights of 80, 14, 5 and 1 %, within five standard deviations of a binomial count of 500.
    for (kind, share) in [
        (("GET", "products"), 0.8),
        (("GET", "search"), 0.14),
        (("POST", "carts"), 0.05),
        (("POST", "orders"), 0.01),
    ] {
        let expected = 500.0 * share;
        let count = kinds.remove(&kind).unwrap_or_default() as f64;
        assert!(
            (count - expected).abs() < 5.0 * f64::sqrt(expected * (1.0 - share)),
            "{kind:?}: {count}"
        );
    }
    assert!(kinds.is_empty(), "{kinds:?}");
}

#[test]
fn the_key_value_store_gets_bodies_of_the_sizes_in_the_file_beside_it() {
    let requests = requests_of(&example("key_value.toml"), "--quiet --seed 3");
    let puts = requests.iter().filter(|request| request.method == "PUT");
    let sizes: Vec<_> = puts.map(|put| put.body.len()).collect();
    assert!(!sizes.is_empty());
    for size in sizes {
        assert!(
            [64, 128, 256, 512, 1024, 4096, 16384, 65536].contains(&size),
            "{size}"
        );
    }
}

#[test]
fn the_same_seed_sends_the_same_whatever_the_number_of_threads() {
    let sent = |flags: &str| {
        let mut sent: Vec<_> = requests_of(&example("web_shop.toml"), flags)
            .into_iter()
            .map(|request| (request.method, request.path, request.body))
            .collect();
        sent.sort();
        sent
    };
    let one = sent("--seed 5 --quiet");
    assert_eq!(one, sent("--seed 5 --threads 2 --quiet"));
    assert_ne!(one, sent("--seed 6 --quiet"));
}

#[test]
fn a_header_of_the_command_line_goes_with_every_kind_that_has_none_of_that_name() {
    let file = Scratch::new();
    let text = "[[kind]]\nname = 'a'\nweight = 1\nurl = '/a'\n\
        [[kind]]\nname = 'b'\nweight = 1\nurl = '/b'\nheaders = { X-Who = 'b' }\n";
    std::fs::write(file.path(), text).unwrap();
    let requests = requests_of(file.path(), "--quiet --header x-who:me");
    for request in &requests {
        let who = if request.path == "/a" { "me" } else { "b" };
        assert_eq!(request.header("x-who"), Some(who));
    }
    assert!(requests.iter().any(|request| request.path == "/b"));
}

#[test]
fn shares_are_told_before_the_run_and_counts_in_a_preview() {
    let server = server().start().unwrap();
    let flags = format!(
        "--rate 50 {SECOND} {BUSY} --mix {}",
        example("web_shop.toml")
    );
    let output = loadgen(&server.url("/"), &flags);
    assert_status(&output, 0);
    let said = stderr(&output);
    for line in [
        "  view       80.00 %   29.63 %  lognormal:mean=3,cv=0.8",
        "C_v 5.3166; Pollaczek\u{2013}Khinchine factor (1 + C_v\u{b2})/2 = 14.6333",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
    let preview = report(&loadgen(
        "http://127.0.0.1:1/",
        &format!("{flags} --preview"),
    ));
    let kinds = preview["kinds"].as_array().unwrap();
    let counts = kinds.iter().map(|kind| kind["arrivals"].as_u64().unwrap());
    assert_eq!(counts.sum::<u64>(), preview["total"].as_u64().unwrap());
    assert_eq!(kinds[0]["name"], "view");
}

/// Two kinds by weight, and a trace of these kinds.
fn traced(trace: &str) -> (Scratch, Scratch) {
    let (mix, file) = (Scratch::new(), Scratch::new());
    let text = "[[kind]]\nname = 'read'\nweight = 1\nurl = '/r'\ndemand = 'fixed:1'\n\
        [[kind]]\nname = 'write'\nweight = 1\nurl = '/w'\ndemand = 'fixed:9'\n\
        [[kind]]\nname = 'never'\nweight = 98\nurl = '/n'\ndemand = 'fixed:99'\n";
    std::fs::write(mix.path(), text).unwrap();
    std::fs::write(file.path(), trace).unwrap();
    (mix, file)
}

#[test]
fn the_rows_of_a_trace_choose_the_kinds_where_it_has_kinds_of_these_names() {
    // Out of order: the kinds are put in order of time with their instants.
    let (mix, trace) = traced("offset,kind\n0,read\n0.3,write\n0.1,write\n0.2,read\n0.4,read\n");
    let server = server().record_requests().start().unwrap();
    let flags = format!(
        "--arrivals trace:{} --mix {} --connections 1",
        trace.path(),
        mix.path()
    );
    let output = loadgen(&server.url("/"), &format!("{flags} {BUSY}"));
    let paths: Vec<_> = server.requests().into_iter().map(|one| one.path).collect();
    assert_eq!(paths, ["/r", "/w", "/r", "/w", "/r"], "{}", stderr(&output));
    let said = stderr(&output);
    for part in [
        "as the trace names them",
        "  read    60.00 %   14.29 %  fixed:1",
        "  never    0.00 %    0.00 %  fixed:99",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let preview = report(&loadgen(
        "http://127.0.0.1:1/",
        &format!("{flags} --preview"),
    ));
    assert_eq!(
        preview["kinds"],
        serde_json::json!([
            { "name": "read", "arrivals": 3 },
            { "name": "write", "arrivals": 2 },
            { "name": "never", "arrivals": 0 },
        ])
    );
}

#[test]
fn a_request_has_the_size_of_the_row_that_it_replays() {
    let (mix, trace) = (Scratch::new(), Scratch::new());
    let text = "[[kind]]\nname = 'put'\nweight = 1\nmethod = 'PUT'\nurl = '/{size}'\nbody = '{body}'\n\
        fields = { size = { count = 'trace:size' }, body = { text = 'hex', length = 'trace:size,max=300' } }\n";
    std::fs::write(mix.path(), text).unwrap();
    std::fs::write(trace.path(), "offset,size\n0,512\n0.2,0\n0.1,80\n").unwrap();
    let (mix, trace) = (mix.path(), trace.path());
    let server = server().record_requests().start().unwrap();
    let flags = format!("--arrivals trace:{trace} --mix {mix} --connections 1 --quiet {BUSY}");
    loadgen(&server.url("/"), &flags);
    let sent: Vec<_> = (server.requests().into_iter())
        .map(|one| (one.path, one.body.len()))
        .collect();
    let expected = [("/512", 300), ("/80", 80), ("/0", 0)];
    assert_eq!(sent, expected.map(|(path, size)| (path.to_owned(), size)));
    // The same rows in a sample, and no size without rows.
    let sample = stdout(&run(&format!("sample mix {mix} --trace {trace} --csv")));
    let paths: Vec<_> = sample
        .lines()
        .skip(1)
        .map(|line| line.split(',').nth(3))
        .collect();
    assert_eq!(paths, [Some("/512"), Some("/80"), Some("/0")], "{sample}");
    let output = run(&format!("sample mix {mix}"));
    assert_status(&output, 2);
    assert!(
        stderr(&output).contains("trace:size is a column of a trace"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_trace_of_other_kinds_leaves_the_choice_to_the_weights_and_one_of_some_is_refused() {
    let preview = |trace: &str, flags: &str| {
        let (mix, trace) = traced(trace);
        let (mix, trace) = (mix.path(), trace.path());
        let flags = format!("--arrivals trace:{trace} --mix {mix} --preview {flags}");
        loadgen("http://127.0.0.1:1/", &flags)
    };
    let many = |kind: &str| format!("offset,kind\n{}", format!("0.5,{kind}\n").repeat(100));
    for (trace, flags) in [
        (many("GPT-4"), ""),
        (many(""), ""),
        // A session has later requests, of which a trace has no rows.
        (many("read"), "--sessions fixed:2"),
    ] {
        let counts = report(&preview(&trace, flags));
        assert!(
            counts["kinds"][2]["arrivals"].as_u64() > Some(80),
            "{counts}"
        );
    }
    for (row, named) in [
        ("1,delete", "line 3 of the trace asks for \"delete\""),
        ("1,", "line 3 of the trace has no kind"),
    ] {
        let output = preview(&format!("offset,kind\n0,read\n{row}\n"), "");
        assert_status(&output, 2);
        let message = stderr(&output);
        let parts = [named, "give every row one of read, write, never"];
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    }
}

#[test]
fn what_is_wrong_with_a_kind_is_told_by_file_kind_and_field() {
    let kind = |rest: &str| format!("[[kind]]\nname = \"look\"\nweight = 1\n{rest}\n");
    for (rest, named) in [
        ("", "missing field `url`"),
        (
            "url = '/'\nmethd = 'PUT'",
            "unknown field `methd`, expected one of `method`, `url`, `headers`, `body`, `fields`, or `name`, `weight`, `demand`",
        ),
        ("url = 'items'", "neither a path"),
        (
            "url = '/{itm}'\nfields = { item = { keys = 'uniform:5' } }",
            "url has the place {itm} and no field is called so (there are item)",
        ),
        (
            "url = '/'\nbody = '{query}'",
            "body has the place {query} and no field is called so (there are none)",
        ),
        (
            "url = '/'\nfields = { item = { keys = 'uniform:5' } }",
            "the field \"item\" stands nowhere",
        ),
        (
            "url = '/{q}'\nfields = { q = { choice = ['a', 'b c'] } }",
            "the field \"q\" puts \"b c\" into url",
        ),
        (
            "url = '/{q}'\nfields = { q = { choice = ['a#b'] } }",
            "the field \"q\" puts \"a#b\" into url",
        ),
        (
            "url = '/'\nheaders = { x = '{q}' }\nfields = { q = { choice = [\"a\\nb\"] } }",
            "into headers.x",
        ),
        (
            "url = '/{q}'\nfields = { q = { keys = 'zipf:5' } }",
            "zipf:N:S",
        ),
        (
            "url = '/{q}'\nfields = { q = { count = 'empirical:none.csv' } }",
            "the field \"q\": cannot open",
        ),
        (
            "url = '/{q}'\nfields = { q = { text = 'hex', length = 'exponential:9' } }",
            "the field \"q\": random text",
        ),
        (
            "url = 'http://other.test/'",
            "the request is for http://other.test",
        ),
        (
            "url = 'http://{host}.test/'\nfields = { host = { keys = 'uniform:5' } }",
            "write {host} behind the host",
        ),
        ("url = '/a b'", "url = \"/a b\""),
        ("url = '/'\nmethod = 'G T'", "\"G T\" is no method"),
        (
            "url = '/'\nheaders = { 'b d' = 'x' }",
            "\"b d\" is no name of a header",
        ),
        (
            "url = '/'\nheaders = { content-length = '5' }",
            "content-length",
        ),
        ("url = '/'\ndemand = 'fixed:-1'", "value is -1"),
    ] {
        let message = refused(&kind(rest));
        assert!(message.contains(named), "{rest}: {message}");
        // What TOML itself refuses is shown with its line instead.
        assert!(
            message.contains("the kind \"look\"") || message.contains("TOML parse error at line"),
            "{message}"
        );
    }
    let twice = format!("{}{}", kind("url = '/'"), kind("url = '/'"));
    assert!(refused(&twice).contains("two kinds are called \"look\""));
    assert!(refused("").contains("missing field `kind`"));
    assert!(refused("[[kinds]]").contains("unknown field `kinds`"));
}

#[test]
fn keys_in_the_order_of_requests_are_refused_for_sessions_which_have_none() {
    let file = Scratch::new();
    let text = "[[kind]]\nname = 'a'\nweight = 1\nurl = '/{k}'\nfields = { k = { keys = 'sequential:5' } }\n";
    std::fs::write(file.path(), text).unwrap();
    let mix = format!("--mix {}", file.path());
    for (url, flags, keys) in [
        ("http://127.0.0.1:1/", mix.as_str(), "sequential:5"),
        (
            "http://127.0.0.1:1/{key}",
            "--keys latest:10:1:0.5",
            "latest:10:1:0.5",
        ),
        (
            "http://127.0.0.1:1/{key}",
            "--keys zipf:10:1:drift=1/2",
            "zipf:10:1:drift=1/2",
        ),
    ] {
        let flags = format!("--rate 10 --preview {flags}");
        assert_status(&loadgen(url, &flags), 0);
        let output = loadgen(url, &format!("{flags} --sessions fixed:2"));
        assert_status(&output, 2);
        let message = stderr(&output);
        assert!(
            message.contains(&format!("the keys {keys} follow")),
            "{message}"
        );
    }
}

#[test]
fn flags_that_a_mix_leaves_without_effect_are_refused() {
    let mix = example("web_shop.toml");
    for (url, flags, named) in [
        ("http://127.0.0.1:1/", "--keys uniform:5", "--keys"),
        ("http://127.0.0.1:1/", "--method PUT", "--method"),
        ("http://127.0.0.1:1/", "--body x", "--body"),
        ("http://127.0.0.1:1/shop", "", "without /shop"),
        ("http://127.0.0.1:1?a", "", "without ?a"),
        (
            "http://127.0.0.1:1/",
            "--header x:{nobody}",
            "headers.x has the place {nobody}",
        ),
    ] {
        let output = loadgen(url, &format!("--rate 10 --mix {mix} {flags}"));
        assert_status(&output, 2);
        assert!(
            stderr(&output).contains(named),
            "{flags}: {}",
            stderr(&output)
        );
    }
}
