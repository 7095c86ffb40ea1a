//! What do hot keys do to a database? Transactions like those of TPC-B over pgbench's tables, with accounts all alike and
//! with accounts as people use them.
//!
//! `cargo run --release -p openloop-examples --example tpcb` (25 s; `-- --quick` for less). It needs PostgreSQL's
//! programs, and starts a server of its own.
#![allow(clippy::print_stdout, reason = "a program talks to people")]

use openloop_experiment::{Lifecycle, Plan, Target, drive, labelled};
use openloop_measurer::{Kind, Operation};
use openloop_postgres::{Connections, Postgres, Request, Statement, Value};
use openloop_report::{Report, TextStyle};
use openloop_sched::{Rate, Ticket};
use openloop_testbed::Postgres as Server;
use openloop_workload::{Keys, Mix};
use std::error::Error;
use std::process::Command;
use std::time::Duration;

const SCALE: u64 = 5;
const ACCOUNTS: u64 = 100_000 * SCALE;
const RATE: f64 = 200.0;

fn main() -> Result<(), Box<dyn Error>> {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let length = Duration::from_secs(if quick { 2 } else { 10 });
    // A buffer pool for a fifth of the accounts.
    let server = Server::builder()
        .setting("shared_buffers", "16MB")
        .start()?;
    let init = ["-i", "-q", "-s", &SCALE.to_string()];
    let made = Command::new(server.program("pgbench"))
        .args(init)
        .arg(server.dsn())
        .output()?;
    if !made.status.success() {
        return Err(String::from_utf8_lossy(&made.stderr).into());
    }
    println!(
        "{ACCOUNTS} accounts, {RATE} requests per second for {length:?}, 9 in 10 of them reads"
    );
    let runtime = tokio::runtime::Runtime::new()?;
    for law in ["uniform:5e5", "zipf:5e5:0.99:scrambled"] {
        let (report, hit_rate) = runtime.block_on(measure(&server, law.parse()?, length))?;
        println!("\n--- accounts {law}");
        if quick {
            println!("buffer pool hit rate {hit_rate:?}");
        } else {
            report.write_text(std::io::stdout(), &TextStyle::default())?;
        }
    }
    // Each transaction books the same amount three times, and writes it down.
    let sums = "SELECT (SELECT sum(abalance) FROM pgbench_accounts) = (SELECT sum(delta) FROM pgbench_history)
                AND (SELECT sum(tbalance) FROM pgbench_tellers) = (SELECT sum(bbalance) FROM pgbench_branches)";
    println!("\nthe books balance: {}", server.sql(sums)? == "t");
    Ok(())
}

/// The statements of both kinds of request, and what they are asked with.
struct Bank {
    read: Statement,
    book: [Statement; 4],
    accounts: Keys,
    tellers: Keys,
    amounts: Keys,
    seed: u64,
}

impl Bank {
    fn new(accounts: Keys, seed: u64) -> Result<Self, Box<dyn Error>> {
        Ok(Bank {
            read: Statement::new("SELECT abalance FROM pgbench_accounts WHERE aid = $1"),
            book: [
                "UPDATE pgbench_accounts SET abalance = abalance + $2 WHERE aid = $1",
                "UPDATE pgbench_tellers SET tbalance = tbalance + $2 WHERE tid = $1",
                "UPDATE pgbench_branches SET bbalance = bbalance + $2 WHERE bid = $1",
                "INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES ($1, $2, $3, $4, now())",
            ]
            .map(Statement::new),
            accounts,
            tellers: format!("uniform:{}", 10 * SCALE).parse()?,
            amounts: "uniform:10001".parse()?,
            seed,
        })
    }

    /// Request number `seq` of that kind: the same whoever sends it.
    fn request(&self, kind: Kind, seq: u64) -> Request {
        let account = self.accounts.key(self.seed, seq);
        if kind == Kind::new(0) {
            return self.read.with([account.into()]);
        }
        let teller = self.tellers.key(self.seed ^ 1, seq);
        let branch = 1 + (teller - 1) / 10;
        let amount = self.amounts.key(self.seed ^ 2, seq) as i64 - 5_001;
        let [accounts, tellers, branches, history] = &self.book;
        let booked = |statement: &Statement, id: u64| statement.with([id.into(), amount.into()]);
        let row: [Value; 4] = [teller.into(), branch.into(), account.into(), amount.into()];
        Request::transaction([
            booked(accounts, account),
            self.read.with([account.into()]),
            booked(tellers, teller),
            booked(branches, branch),
            history.with(row),
        ])
    }
}

/// One run, and how often the server had in memory what it was asked for.
async fn measure(
    server: &Server,
    accounts: Keys,
    length: Duration,
) -> Result<(Report, Option<f64>), Box<dyn Error>> {
    let mix = Mix::read_write(0.9, "read", "book")?;
    let plan = Plan::open(Rate::per_second(RATE)?)
        .lifecycle(Lifecycle {
            warm_up: length / 4,
            ..Lifecycle::steady_only(length)
        })
        .target(Target::SameHost)
        .kinds(mix.kinds().iter().map(|kind| kind.name()))
        .build()?;
    let bank = Bank::new(accounts, plan.seed())?;
    let mut builder = Postgres::builder(&server.dsn())
        .connections(Connections::pool(16))
        .retries(3);
    for statement in bank.book.iter().chain([&bank.read]) {
        builder = builder.prepare(statement);
    }
    let postgres = builder.build()?;
    postgres.prepare().await?;
    let mut monitor = postgres.monitor().await?;
    let seed = plan.seed();
    let kind = move |seq: u64| Kind::new(mix.pick(seed, seq).index);
    let kind_of = kind.clone();
    let work = move |ticket: Ticket| {
        let (postgres, request) = (postgres.clone(), bank.request(kind(ticket.seq), ticket.seq));
        async move { postgres.call(request).await }
    };
    let before = monitor.buffers().await?;
    let run = drive::shared(
        &plan,
        labelled(work, move |ticket: Ticket| kind_of(ticket.seq)),
    )
    .await?;
    let window = monitor.buffers().await?.since(before);
    let mut report = Report::new(&run).with_target("pgbench's tables");
    if let Some(rate) = window.hit_rate() {
        report = report.with_observation("buffer_hit_rate", rate);
    }
    Ok((report, window.hit_rate()))
}
