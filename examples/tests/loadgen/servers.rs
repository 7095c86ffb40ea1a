//! Experiments of more than one run against real servers. Each takes 20 ms for a request, four at a time: 200 per second,
//! however fast the machine is.

use crate::*;

/// A target with what is asked of it.
struct Loaded {
    words: Vec<String>,
    /// S of one request at a time, in milliseconds: no machine makes it shorter.
    least: f64,
    /// What it serves per second at the most.
    most: f64,
}

impl Loaded {
    fn new(words: &[&str], least: f64, most: f64) -> Self {
        Loaded {
            words: words.iter().map(|&word| word.to_owned()).collect(),
            least,
            most,
        }
    }

    /// With flags that are parted by spaces.
    fn run(&self, flags: &str) -> Output {
        let mut program = Command::new(env!("CARGO_BIN_EXE_loadgen"));
        program.args(&self.words);
        let flags = format!("{flags} {BUSY} --json -");
        program.args(flags.split_whitespace()).output().unwrap()
    }

    /// The floor, the curve and its end, found by a sweep.
    fn is_swept(&self) {
        let phases = "--ramp-up 0s --warm-up 0s --steady 2s --cooldown 0s --floor";
        let output = self.run(&format!("--sweep 40,80,120,160,400,600 {phases}"));
        let report = report(&output);
        let sweep = &report["sweep"];
        let s = report["floor"]["s_ns"].as_f64().unwrap() / 1e6;
        assert!(s >= self.least, "{s}");
        let points = sweep["points"].as_array().unwrap();
        // It ends where the server is saturated, which it is at twice what it can.
        let last = points.last().unwrap();
        assert_eq!(last["saturated"], true, "{last}");
        assert!(points.len() <= 5, "{sweep}");
        let max = &sweep["max"];
        assert_eq!(max["known"], "found", "{max}");
        let rate = max["rate"].as_f64().unwrap();
        assert!(rate > 40.0 && rate < 1.02 * self.most, "{max}");
        let said = stderr(&output);
        assert!(said.contains("floor"), "{said}");
    }

    /// Three runs that are one result, judged by multiples of the floor.
    fn is_gated(&self) {
        let whole = "--replicas 3 --retest 0 --floor --slo p50<=3S,errors<=1%";
        let output = self.run(&format!("--rate 100 {SECOND} {whole}"));
        // Whether the runs agree depends on the machine: pass, or inconclusive.
        assert!(
            matches!(output.status.code(), Some(0 | 5)),
            "{}\n{}",
            stdout(&output),
            stderr(&output)
        );
        let report = report(&output);
        assert_balances(&report);
        assert_eq!(report["replicas"]["runs"].as_array().unwrap().len(), 3);
        let bound = &report["slo"]["findings"][0];
        assert!(bound["basis"].as_str().unwrap().contains("3 x"), "{bound}");

        // Shorter than an idle server takes.
        let half = self.least / 2.0;
        let output = self.run(&format!("--rate 50 {SECOND} --floor --slo p50<={half}ms"));
        assert_status(&output, 1);
        assert_eq!(crate::report(&output)["slo"]["verdict"], "infeasible");

        // Twice what it can.
        let output = self.run(&format!("--rate 400 {SECOND} --slo p99<=100ms"));
        assert_status(&output, 1);
        let report = crate::report(&output);
        assert_balances(&report);
        assert_eq!(report["slo"]["verdict"], "fail");
    }
}

#[cfg(feature = "grpc")]
mod grpc {
    use super::*;
    use openloop_testbed::{GrpcServer, Service, Workers};
    use std::time::Duration;

    fn server() -> GrpcServer {
        GrpcServer::builder()
            .service(Service::fixed(Duration::from_millis(20)))
            .workers(Workers::servers(4))
            .start()
            .unwrap()
    }

    fn of(server: &GrpcServer, method: &str) -> Loaded {
        let method = format!("openloop.testbed.Echo/{method}");
        let (url, three) = (server.url(), r#"{"count": 3}"#);
        let words = ["grpc", &url, "--method", &method, "--body", three];
        Loaded::new(&words, 20.0, 200.0)
    }

    #[test]
    fn a_grpc_server_is_swept() {
        of(&server(), "Unary").is_swept();
    }

    #[test]
    fn a_grpc_server_is_gated() {
        of(&server(), "ServerStream").is_gated();
    }
}

#[cfg(feature = "postgres")]
mod postgres {
    use super::*;
    use openloop_testbed::Postgres;

    #[test]
    fn a_database_is_swept_and_gated() {
        let server = Postgres::start().unwrap();
        let query = "SELECT pg_sleep(0.02)";
        let words = ["postgres", &server.dsn(), "--query", query];
        let mut words = words.to_vec();
        words.extend(["--connections", "4"]);
        let loaded = Loaded::new(&words, 20.0, 200.0);
        loaded.is_swept();
        loaded.is_gated();
    }

    /// 32 connections and 32 in line for one, 50 ms each: 640 a second. At 1000 a second 36 % find the line full, whatever
    /// the law of the queries.
    #[test]
    fn a_pool_that_gives_out_is_taken_for_what_it_is() {
        let server = Postgres::start().unwrap();
        for query in [
            "SELECT pg_sleep(0.05)",
            "SELECT pg_sleep(0.025 + 0.05 * random())",
        ] {
            let words = ["postgres", &server.dsn(), "--query", query];
            let mut words = words.to_vec();
            words.extend(["--connections", "32", "--line", "32"]);
            let loaded = Loaded::new(&words, 25.0, 640.0);
            let phases = "--ramp-up 0s --warm-up 1s --steady 2s --cooldown 0s --floor";
            let output = loaded.run(&format!("--sweep 100,200,300,400,500,1000 {phases}"));
            let report = report(&output);
            let sweep = &report["sweep"];
            let last = sweep["points"].as_array().unwrap().last().unwrap();
            assert_eq!(last["saturated"], true, "{last}");
            let diagnosis = &sweep["diagnosis"];
            assert_eq!(diagnosis["model"], "bounded_pool", "{query}: {diagnosis}");
            let said = diagnosis.to_string();
            assert!(said.contains("full line for a connection"), "{said}");
        }
    }
}

#[cfg(feature = "redis")]
mod redis {
    use super::*;
    use openloop_testbed::Redis;

    /// One at a time, and 5 ms for each: 200 per second as well.
    #[test]
    fn redis_is_swept_and_gated() {
        let server = Redis::start().unwrap();
        let command = "DEBUG SLEEP 0.005";
        let words = ["redis", &server.url(), "--command", command];
        let loaded = Loaded::new(&words, 5.0, 200.0);
        loaded.is_swept();
        loaded.is_gated();
    }
}
