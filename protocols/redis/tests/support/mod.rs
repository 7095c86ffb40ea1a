//! What the tests share.

// Each test uses a part of it.
#![allow(dead_code)]
#![allow(clippy::unwrap_used)] // a test fails by panicking

use openloop_measurer::{
    Classify, Describe, Details, Layout, Operation, Outcome, Recorder, Snapshot, Verdict,
};
use openloop_redis::{Connections, Redis, RedisError, Reply, Request, Value};
use openloop_testbed::Redis as Server;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::Instant;

pub(crate) fn client(server: &Server, connections: Connections) -> Redis {
    Redis::builder(&server.url())
        .connections(connections)
        .build()
        .unwrap()
}

/// A request of words that are parted by spaces.
pub(crate) fn request(words: &str) -> Request {
    Request::command(words.split(' ')).unwrap()
}

pub(crate) async fn ask(redis: &Redis, words: &str) -> Result<Reply, RedisError> {
    redis.call(request(words)).await
}

pub(crate) async fn value(redis: &Redis, words: &str) -> Value {
    ask(redis, words).await.unwrap().into_value()
}

pub(crate) fn text(text: &str) -> Value {
    Value::BulkString(text.into())
}

/// Looks again and again until something is so.
pub(crate) async fn until(mut condition: impl AsyncFnMut() -> bool) {
    while !condition().await {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// A run in small: arrivals at their instants, whatever becomes of those before, each with a limit on its time.
pub(crate) struct Load {
    pub(crate) redis: Redis,
    pub(crate) recorder: Recorder,
    running: JoinSet<()>,
}

impl Load {
    pub(crate) fn new(redis: Redis) -> Self {
        let layout = Layout::steady_only(Duration::from_secs(3600)).unwrap();
        Load {
            redis,
            recorder: Recorder::new(Instant::now(), layout),
            running: JoinSet::new(),
        }
    }

    /// `count` arrivals with `gap` between them. Request number n is `ECHO n`, and a reply with another number in it
    /// fails the test.
    pub(crate) async fn echo(&mut self, count: u64, gap: Duration, timeout: Duration) {
        let begun = Instant::now();
        let first = self.recorder.counts().scheduled;
        for number in 0..count {
            let intended = begun + gap * u32::try_from(number).unwrap();
            tokio::time::sleep_until(intended).await;
            let seq = first + number;
            let arrival = self.recorder.arrive_at(seq, intended);
            let redis = self.redis.clone();
            self.running.spawn(async move {
                let asked = seq.to_string();
                let call = redis.call(Request::command(["ECHO", &asked]).unwrap());
                let call = async { tokio::time::timeout(timeout, call).await.ok() };
                let (answer, _) = arrival.measure_by(call, AnswerClass).await;
                if let Some(Ok(reply)) = answer
                    && reply.error().is_none()
                {
                    assert_eq!(reply.value(), &text(&asked), "another request's reply");
                }
            });
        }
    }

    /// Waits for everything that runs.
    pub(crate) async fn settle(&mut self) {
        while let Some(done) = self.running.join_next().await {
            done.unwrap();
        }
    }

    /// Waits for everything that runs, and returns how many arrivals there were of each outcome: they add up.
    pub(crate) async fn finish(mut self) -> (Snapshot, Vec<(Outcome, u64)>, Redis) {
        self.settle().await;
        let snapshot = self.recorder.finish();
        let counts = snapshot.counts();
        let outcomes: Vec<_> = snapshot.outcomes().collect();
        let ended: u64 = outcomes.iter().map(|(_, count)| count).sum();
        assert_eq!(counts.scheduled, ended, "{outcomes:?}");
        assert_eq!((counts.waiting, counts.in_flight), (0, 0));
        (snapshot, outcomes, self.redis)
    }
}

/// What came of a call; `None` where its time was up.
type Answer = Option<Result<Reply, RedisError>>;

struct AnswerClass;

impl Classify<Answer> for AnswerClass {
    fn verdict(&self, answer: &Answer) -> Verdict {
        answer.as_ref().map_or(Verdict::TimedOut, Describe::verdict)
    }

    fn details(&self, answer: &Answer, into: &mut Details<'_>) {
        if let Some(answered) = answer {
            answered.details(into);
        }
    }
}
