//! Every formula against values summed in 60 digits by `data/reference.py`, to 10⁻⁹ relative.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use openloop_capacity::{Concurrency, MD1, MG1, MM1, MMc, MMcK, Queue, erlang};

/// The rows of a file: its columns by name.
struct Table {
    columns: Vec<&'static str>,
    rows: Vec<Vec<&'static str>>,
}

impl Table {
    fn read(text: &'static str) -> Table {
        let mut lines = text.lines();
        let columns: Vec<_> = lines.next().unwrap().split(',').collect();
        let rows: Vec<Vec<_>> = lines.map(|line| line.split(',').collect()).collect();
        assert!(rows.iter().all(|row| row.len() == columns.len()));
        Table { columns, rows }
    }

    fn text(&self, row: usize, column: &str) -> &'static str {
        let at = self.columns.iter().position(|name| *name == column);
        self.rows[row][at.unwrap()]
    }

    fn number(&self, row: usize, column: &str) -> f64 {
        self.text(row, column).parse().unwrap()
    }

    fn whole(&self, row: usize, column: &str) -> u32 {
        self.text(row, column).parse().unwrap()
    }
}

#[track_caller]
fn assert_close(found: f64, expected: f64, relative: f64, what: &str) {
    // Below 10⁻³⁰⁰ there are no nine digits left.
    if expected < 1e-300 {
        assert!(
            (0.0..1e-299).contains(&found),
            "{what}: {found}, not {expected}"
        );
        return;
    }
    let error = (found / expected - 1.0).abs();
    assert!(
        error <= relative,
        "{what}: {found}, not {expected}: {error:e} off"
    );
}

#[test]
fn erlang_b_and_c_and_the_quantiles_of_their_response_have_nine_digits() {
    let table = Table::read(include_str!("data/mmc.csv"));
    assert_eq!(table.rows.len(), 120);
    for row in 0..table.rows.len() {
        let (servers, rate) = (table.whole(row, "servers"), table.number(row, "rate"));
        let what = format!("{servers} servers at {rate}/s");
        let (b, c) = (table.number(row, "erlang_b"), table.number(row, "erlang_c"));
        assert_close(erlang::b(servers, rate).unwrap(), b, 1e-11, &what);
        assert_close(erlang::c(servers, rate).unwrap(), c, 1e-11, &what);
        let queue = MMc::new(rate, 1.0, servers).unwrap();
        assert_close(queue.wait_probability(), c, 1e-9, &what);
        let idle = f64::from(servers) - rate;
        assert_close(queue.mean_wait(), c / idle, 1e-9, &what);
        assert_close(queue.mean_queue(), c * rate / idle, 1e-9, &what);
        for q in ["0.5", "0.9", "0.99", "0.999", "0.999999"] {
            let expected = table.number(row, &format!("p{q}"));
            let q: f64 = q.parse().unwrap();
            let found = queue.response_quantile(q).unwrap();
            assert_close(found, expected, 1e-9, &format!("{what}, quantile {q}"));
            let tail = queue.response_tail(expected).unwrap();
            assert_close(tail, 1.0 - q, 1e-7, &format!("{what}, tail at {q}"));
            if servers == 1 {
                let single = MM1::new(rate, 1.0).unwrap();
                assert_close(single.response_quantile(q).unwrap(), expected, 1e-9, &what);
            }
        }
    }
}

#[test]
fn losses_and_waits_of_a_bounded_queue_have_nine_digits() {
    let table = Table::read(include_str!("data/mmck.csv"));
    assert_eq!(table.rows.len(), 378);
    let mut quantiles = 0;
    for row in 0..table.rows.len() {
        let (servers, places) = (table.whole(row, "servers"), table.whole(row, "places"));
        let rate = table.number(row, "rate");
        let what = format!("{servers} servers, {places} places, {rate}/s");
        let queue = MMcK::new(rate, 1.0, servers, places).unwrap();
        let blocked = table.number(row, "blocked");
        assert_close(queue.blocking_probability(), blocked, 1e-9, &what);
        assert_close(queue.mean_queue(), table.number(row, "queue"), 1e-9, &what);
        let wait = table.number(row, "wait_probability");
        assert_close(queue.wait_probability(), wait, 1e-9, &what);
        assert_close(
            queue.mean_wait(),
            table.number(row, "mean_wait"),
            1e-9,
            &what,
        );
        if rate > 0.0 {
            assert_close(queue.throughput(), rate * (1.0 - blocked), 1e-9, &what);
        }
        if !table.text(row, "p99").is_empty() {
            let found = queue.response_quantile(0.99).unwrap();
            assert_close(found, table.number(row, "p99"), 1e-9, &what);
            quantiles += 1;
        }
    }
    assert_eq!(quantiles, 180);
}

#[test]
fn waits_for_constant_services_have_nine_digits() {
    let table = Table::read(include_str!("data/md1.csv"));
    assert_eq!(table.rows.len(), 37);
    for row in 0..table.rows.len() {
        let (rate, q) = (table.number(row, "rate"), table.number(row, "quantile"));
        let expected = table.number(row, "wait");
        let queue = MD1::new(rate, 1.0).unwrap();
        let found = queue.wait_quantile(q).unwrap();
        // Where 1 − q is the load but for rounding, so is the wait 0 but for rounding.
        let error = (found - expected).abs();
        assert!(
            error <= 1e-9 * expected + 1e-12,
            "{rate}/s at {q}: {found}, not {expected}"
        );
        let response = queue.response_quantile(q).unwrap();
        assert_close(response, 1.0 + expected, 1e-9, &format!("{rate}/s at {q}"));
    }
}

#[test]
fn waits_for_services_of_any_variance_have_nine_digits() {
    let table = Table::read(include_str!("data/mg1.csv"));
    assert_eq!(table.rows.len(), 28);
    for row in 0..table.rows.len() {
        let (rate, cv) = (table.number(row, "rate"), table.number(row, "cv"));
        let expected = table.number(row, "mean_wait");
        let by_cv = MG1::new(rate, 1.0, cv).unwrap();
        assert_close(
            by_cv.mean_wait(),
            expected,
            1e-9,
            &format!("{rate}/s, C_v {cv}"),
        );
        let by_moment = MG1::from_second_moment(rate, 1.0, 1.0 + cv * cv).unwrap();
        assert_close(
            by_moment.mean_wait(),
            expected,
            1e-9,
            &format!("{rate}/s, C_v {cv}"),
        );
    }
}

#[test]
fn the_number_under_way_is_poisson_to_nine_digits() {
    let table = Table::read(include_str!("data/poisson.csv"));
    assert_eq!(table.rows.len(), 12);
    for row in 0..table.rows.len() {
        let (mean, n) = (table.number(row, "mean"), table.whole(row, "n"));
        let found = Concurrency::new(mean, 1.0).unwrap().exceeds(n.into());
        assert_close(
            found,
            table.number(row, "above"),
            1e-9,
            &format!("{mean}, {n}"),
        );
    }
}

#[test]
fn erlang_b_is_the_recursion_that_is_usual_for_it() {
    for load in [0.2, 1.0, 63.0, 64.0, 65.0, 900.0, 5000.0] {
        let mut inverse = 1.0;
        for servers in 1..=6000_u32 {
            inverse = 1.0 + f64::from(servers) / load * inverse;
            if servers % 7 == 0 {
                let found = erlang::b(servers, load).unwrap();
                assert_close(found, 1.0 / inverse, 1e-11, &format!("{servers}, {load}"));
            }
        }
    }
}
