//! Runs on the paused clock, which give the same report wherever they run.
//!
//! The clock ticks in milliseconds, so a service of 100 ms stands for one of 100 µs: the millisecond is then within
//! the generator's allowance of 2 %.

use openloop_experiment::{Lifecycle, Plan, PlanBuilder, Run, Step, drive, in_sessions, labelled};
use openloop_measurer::{Describe, Details, Kind, Population, Verdict};
use openloop_report::Report;
use openloop_sched::{Arrivals, Rate};
use openloop_workload::Values;
use openloop_workload::sessions::Sessions;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::sleep;

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

pub(crate) const LIFECYCLE: Lifecycle = Lifecycle {
    ramp_up: Duration::from_secs(2),
    warm_up: Duration::from_secs(2),
    steady: Duration::from_secs(20),
    cooldown: Duration::from_secs(2),
};

/// What the service says to request number `seq`.
struct Reply {
    seq: u64,
    connect: Duration,
}

impl Describe for Reply {
    fn verdict(&self) -> Verdict {
        match self.seq {
            seq if seq % 100 == 33 => Verdict::Failed("connect_refused"),
            seq if seq % 150 == 77 => Verdict::Rejected("http_503"),
            _ => Verdict::Ok,
        }
    }

    fn details(&self, into: &mut Details<'_>) {
        into.acquire(ms(10));
        if self.seq.is_multiple_of(10) {
            into.duration("connect", self.connect);
            into.count("connections_opened", 1);
        }
        into.count("bytes", 1000);
    }
}

pub(crate) fn open(per_second: f64) -> PlanBuilder {
    Plan::open(Rate::per_second(per_second).unwrap())
        .lifecycle(LIFECYCLE)
        .arrivals(Arrivals::Constant)
        .seed(7)
}

/// An open loop at 20/s in which requests fail, are refused, or never end.
pub(crate) async fn mixed() -> Run {
    let work = |ticket: openloop_sched::Ticket| async move {
        if ticket.seq == 300 {
            std::future::pending::<()>().await;
        }
        sleep(ms(100 + 10 * (ticket.seq % 7) + 2 * (ticket.seq % 41))).await;
        Reply {
            seq: ticket.seq,
            connect: ms(20 + ticket.seq % 5),
        }
    };
    drive::shared(&open(20.0).build().unwrap(), work)
        .await
        .unwrap()
}

/// The same service, whose requests are of four kinds, of which one never comes; some requests are of none.
pub(crate) async fn polymorphic() -> Run {
    let plan = open(20.0).kinds([
        "read",
        "write, \"slow\"",
        "GET /orders/{id}/items?expand=all",
        "never",
    ]);
    let kind = |ticket: openloop_sched::Ticket| match ticket.seq % 16 {
        0..=10 => Some(Kind::new(0)),
        11..=13 => Some(Kind::new(1)),
        14 => Some(Kind::new(2)),
        _ => None,
    };
    let work = move |ticket: openloop_sched::Ticket| async move {
        if ticket.seq == 300 {
            std::future::pending::<()>().await;
        }
        let slower = kind(ticket).map_or(1, |kind| 1 + kind.index() as u64);
        sleep(ms(100 * slower + 2 * (ticket.seq % 41))).await;
        Reply {
            seq: ticket.seq,
            connect: ms(20 + ticket.seq % 5),
        }
    };
    drive::shared(&plan.build().unwrap(), labelled(work, kind))
        .await
        .unwrap()
}

/// An open loop at 12/s on a service of one worker that takes 100 ms: more comes than is served.
pub(crate) async fn overloaded() -> Run {
    let worker = Arc::new(Mutex::new(()));
    let work = move |_: openloop_sched::Ticket| {
        let worker = worker.clone();
        async move {
            let _turn = worker.lock().await;
            sleep(ms(100)).await;
        }
    };
    drive::shared(&open(12.0).build().unwrap(), work)
        .await
        .unwrap()
}

/// An open loop at 20/s on a service that always takes 100 ms.
pub(crate) async fn calm() -> Run {
    let work = |_: openloop_sched::Ticket| sleep(ms(100));
    drive::shared(&open(20.0).build().unwrap(), work)
        .await
        .unwrap()
}

/// Sessions of three requests at 5/s, of which every tenth fails its second.
pub(crate) async fn partly_open() -> Run {
    let sessions = Sessions::new("fixed:3".parse().unwrap(), "fixed:0.5".parse().unwrap());
    let plan = open(5.0).sessions(sessions.unwrap()).build().unwrap();
    let work = in_sessions(|step: Step| async move {
        sleep(ms(100)).await;
        match step.index() == 1 && step.session().is_multiple_of(10) {
            true => Err(Refused),
            false => Ok(()),
        }
    });
    drive::shared(&plan, work).await.unwrap()
}

/// What a service says to a user whom it does not want.
struct Refused;

impl Describe for Refused {
    fn verdict(&self) -> Verdict {
        Verdict::Failed("refused")
    }
}

/// A closed loop of three users that is stopped in the middle of its steady phase.
pub(crate) async fn stopped() -> Run {
    let plan = Plan::closed(3)
        .lifecycle(LIFECYCLE)
        .think(ms(50))
        .build()
        .unwrap();
    let drive = drive::shared(&plan, |_: openloop_sched::Ticket| sleep(ms(150)));
    let stop = drive.stop_handle();
    tokio::spawn(async move {
        sleep(ms(14_005)).await;
        stop.stop();
    });
    drive.await.unwrap()
}

/// An open loop that is stopped before its steady phase.
pub(crate) async fn stopped_early() -> Run {
    let drive = drive::shared(&open(20.0).build().unwrap(), |_: openloop_sched::Ticket| {
        sleep(ms(100))
    });
    let stop = drive.stop_handle();
    tokio::spawn(async move {
        sleep(ms(3000)).await;
        stop.stop();
    });
    drive.await.unwrap()
}

/// What the machine of the test decides, set to what another one would say.
pub(crate) fn on_any_machine(mut report: Report) -> Report {
    report.tool = Some("openloop 0.1.0".to_owned());
    if let Some(environment) = &mut report.environment {
        environment.os = "linux".to_owned();
        environment.kernel = Some("6.1.0".to_owned());
        environment.cores = 4;
        environment.clock_source = Some("tsc".to_owned());
        environment.governor = None;
        environment.steal = Some(0.0);
        environment.throttled = None;
        environment.descriptors_before = Some(9);
        environment.descriptors_after = Some(9);
        environment.descriptor_limit = Some(1024);
        environment.load_average = Some(0.25);
        environment.wall_clock_moved_ns = Some(0);
    }
    if let Some(generator) = &mut report.generator {
        generator.cores = 4;
        generator.cpu_seconds = Some(1.5);
        generator.spun_seconds = 0.5;
        generator.busy = Some(0.01);
    }
    if let Some(health) = &mut report.health {
        health.descriptors_left = Some(0);
        health.healthy = health.abandoned == 0 && health.check != Some(false);
    }
    report
}

/// An open loop at 20/s on a service that takes 100 ms, but 300 ms between two seconds of the run, and a millisecond more
/// for each request that came since.
pub(crate) async fn slow_between(from: u64, to: u64) -> Run {
    let work = move |ticket: openloop_sched::Ticket| {
        let since = ticket.intended.as_nanos().checked_sub(from * 1_000_000_000);
        let until = ticket.intended.as_nanos() < to * 1_000_000_000;
        // 50 ms lie between two.
        let slow = since
            .filter(|_| until)
            .map(|since| 300 + since / 50_000_000);
        sleep(ms(slow.unwrap_or(100)))
    };
    drive::shared(&open(20.0).build().unwrap(), work)
        .await
        .unwrap()
}

/// Ten windows of 2000 exponential responses each, of a mean that drifts a little from window to window.
pub(crate) fn in_windows(factor: f64, seed: u64) -> Vec<Population> {
    let (law, drift): (Values, Values) = (
        "exponential:10e6".parse().unwrap(),
        "lognormal:mean=1,cv=0.05".parse().unwrap(),
    );
    let window = |index: u64| {
        let mut population = Population::new();
        let level = factor * drift.value(seed + 77, index);
        for k in 0..2000 {
            population
                .exact
                .record((law.value(seed, index * 2000 + k) * level) as u64);
        }
        population
    };
    (0..10).map(window).collect()
}
