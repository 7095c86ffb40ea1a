//! Experiments of more than one run against real servers. Each takes a millisecond for a request, one at a time: 1000 per
//! second at the most, however fast the machine is.

use crate::*;

/// S of one request at a time, in milliseconds: no machine makes it shorter.
const LEAST: f64 = 1.0;

/// A target with what is asked of it.
struct Loaded(Vec<String>);

impl Loaded {
    fn new(words: &[&str]) -> Self {
        Loaded(words.iter().map(|&word| word.to_owned()).collect())
    }

    /// With flags that are parted by spaces, and a problem that says how the floor is known.
    fn run(&self, floor: &str, flags: &str) -> Output {
        let problem = Scratch::new();
        let text = format!("objective.purpose = \"capacity\"\n{floor}\n");
        std::fs::write(problem.path(), text).unwrap();
        let mut program = Command::new(env!("CARGO_BIN_EXE_loadgen"));
        program.args(&self.0).args(["--problem", problem.path()]);
        let flags = format!("{flags} {BUSY} --json -");
        program.args(flags.split_whitespace()).output().unwrap()
    }

    /// The floor, the curve and its end, and an objective in multiples of the floor that is kept before it.
    fn is_swept(&self) {
        let phases = "--ramp-up 0s --warm-up 0s --steady 2s --cooldown 0s";
        let flags = format!("--sweep 50,100,200,400,2000 --slo p50<=4S,errors<=1% {phases}");
        let output = self.run("floor = { trials = 3, requests = 20 }", &flags);
        let report = report(&output);
        let sweep = &report["sweep"];
        let s = report["floor"]["s_ns"].as_f64().unwrap() / 1e6;
        assert!(s >= LEAST, "{s}");
        let points = sweep["points"].as_array().unwrap();
        // At twice of what it can it is saturated, if not before.
        let last = points.last().unwrap();
        assert_eq!(last["saturated"], true, "{sweep}");
        let max = &sweep["max"];
        assert_eq!(max["known"], "found", "{max}");
        let rate = max["rate"].as_f64().unwrap();
        assert!(rate > 50.0 && rate < 1.02e3 / LEAST, "{max}");
        // What is judged was measured at a rate before the end.
        let bound = &report["slo"]["findings"][0];
        assert!(bound["basis"].as_str().unwrap().contains("4 x"), "{bound}");
        assert!(report["asked_rate"].as_f64() < Some(2000.0), "{report}");
        assert!(stderr(&output).contains("floor"), "{}", stderr(&output));
    }

    /// Three runs that are one result, and gates that are kept, broken by the load and broken by the idle server.
    fn is_gated(&self) {
        let stated = format!("floor = {{ trials = 0, expected = \"{LEAST}ms\" }}");
        let flags = "--replicas 3 --retest 0 --slo p50<=1s,errors<=1%";
        let output = self.run(&stated, &format!("--rate 100 {SECOND} {flags}"));
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

        let output = self.run(&stated, &format!("--rate 2000 {SECOND} --slo p99<=100ms"));
        assert_status(&output, 1);
        let report = crate::report(&output);
        assert_balances(&report);
        assert_eq!(report["slo"]["verdict"], "fail");

        let half = LEAST / 2.0;
        let flags = format!("--rate 50 {SECOND} --slo p50<={half}ms");
        let output = self.run(&stated, &flags);
        assert_status(&output, 1);
        assert_eq!(crate::report(&output)["slo"]["verdict"], "infeasible");
    }
}

#[cfg(feature = "grpc")]
mod grpc {
    use super::*;
    use openloop_testbed::{GrpcServer, Service, Workers};
    use std::time::Duration;

    fn server() -> GrpcServer {
        GrpcServer::builder()
            .service(Service::fixed(Duration::from_millis(1)))
            .workers(Workers::servers(1))
            .start()
            .unwrap()
    }

    fn of(server: &GrpcServer, method: &str) -> Loaded {
        let method = format!("openloop.testbed.Echo/{method}");
        let (url, three) = (server.url(), r#"{"count": 3}"#);
        let words = ["grpc", &url, "--method", &method, "--body", three];
        Loaded::new(&words)
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
        let query = "SELECT pg_sleep(0.001)";
        let words = ["postgres", &server.dsn(), "--query", query];
        let mut words = words.to_vec();
        words.extend(["--connections", "1"]);
        let loaded = Loaded::new(&words);
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
            let loaded = Loaded::new(&words);
            let phases = "--ramp-up 0s --warm-up 1s --steady 2s --cooldown 0s";
            // It would take minutes to measure.
            let floor = "floor.trials = 0\nfloor.expected = \"50ms\"";
            let flags = format!("--sweep 100,200,300,400,500,1000 {phases}");
            let output = loaded.run(floor, &flags);
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

    #[test]
    fn redis_is_swept_and_gated() {
        let server = Redis::start().unwrap();
        let command = "DEBUG SLEEP 0.001";
        let words = ["redis", &server.url(), "--command", command];
        let loaded = Loaded::new(&words);
        loaded.is_swept();
        loaded.is_gated();
    }
}
