//! Slots that move under the load, in a real cluster.
#![allow(clippy::unwrap_used)] // a test fails by panicking

mod support;

use openloop_measurer::{Describe, Operation, Verdict};
use openloop_redis::{Connections, Redis, Request, Script, Value};
use openloop_testbed::RedisCluster;
use support::{ask, request, text, value};

/// Of slot 0, which the first of three nodes has.
const KEY: &str = "06S";

fn client(cluster: &RedisCluster, connections: Connections) -> Redis {
    Redis::builder(&cluster.url())
        .cluster()
        .connections(connections)
        .build()
        .unwrap()
}

#[tokio::test]
async fn requests_go_to_the_node_that_has_their_key_and_follow_it_when_it_moves() {
    let cluster = RedisCluster::start(3).unwrap();
    let [first, _, last] = cluster.nodes() else {
        panic!()
    };
    let redis = client(&cluster, Connections::pool(2));
    redis.prepare().await.unwrap();
    // Two for each node, and none for the seed apart.
    assert_eq!(redis.sockets().open(), 6);

    for n in 0..1000 {
        let key = format!("key:{n}");
        let reply = redis
            .call(Request::command(["SET", &key, &key]).unwrap())
            .await
            .unwrap();
        assert_eq!(
            (reply.value(), reply.stages().moved),
            (&Value::Okay, 0),
            "{key}"
        );
    }
    let spread = cluster
        .nodes()
        .iter()
        .map(|node| node.cli(&["dbsize"]).unwrap());
    let spread: Vec<usize> = spread.map(|size| size.parse().unwrap()).collect();
    assert_eq!(spread.iter().sum::<usize>(), 1000);
    assert!(
        spread.iter().all(|size| (250..420).contains(size)),
        "{spread:?}"
    );

    // For good: told once, known from then on.
    cluster.give_slot(0, 2).unwrap();
    let reply = ask(&redis, &format!("SET {KEY} a")).await.unwrap();
    assert_eq!((reply.value(), reply.stages().moved), (&Value::Okay, 1));
    let reply = ask(&redis, &format!("GET {KEY}")).await.unwrap();
    assert_eq!((reply.value(), reply.stages().moved), (&text("a"), 0));
    assert_eq!(last.cli(&["get", KEY]).unwrap(), "a");

    // On its way back: what is not there any more is asked for at the other, each time.
    value(&redis, &format!("DEL {KEY}")).await;
    cluster.begin_moving_slot(0, 2, 0).unwrap();
    for _ in 0..2 {
        let reply = ask(&redis, &format!("SET {KEY} b")).await.unwrap();
        assert_eq!(reply.value(), &Value::Okay, "{reply:?}");
        assert_eq!((reply.stages().moved, reply.stages().asked), (0, 1));
    }
    // A script with a key goes the same way, and is sent to both.
    let script = Script::new("return redis.call('get', KEYS[1])");
    let none: [&str; 0] = [];
    let reply = redis
        .call(Request::script(&script, [KEY], none))
        .await
        .unwrap();
    assert_eq!(reply.value(), &text("b"), "{reply:?}");
    cluster.give_slot(0, 0).unwrap();
    let reply = ask(&redis, &format!("GET {KEY}")).await.unwrap();
    assert_eq!((reply.value(), reply.stages().moved), (&text("b"), 1));
    assert_eq!(first.cli(&["get", KEY]).unwrap(), "b");

    // Keys of several slots, and a pipeline whose key has moved, are the caller's business.
    let crossing = ask(&redis, "MGET a b").await.unwrap();
    assert_eq!(crossing.verdict(), Verdict::Failed("redis_crossslot"));
    cluster.give_slot(1, 2).unwrap();
}

#[tokio::test]
async fn a_node_that_is_gone_makes_the_map_doubtful_and_it_is_asked_for_anew() {
    let mut cluster = RedisCluster::start(3).unwrap();
    for connections in [Connections::pool(2), Connections::multiplexed()] {
        cluster.give_slot(0, 1).unwrap();
        let redis = client(&cluster, connections);
        redis.prepare().await.unwrap();
        assert_eq!(value(&redis, &format!("SET {KEY} a")).await, Value::Okay);
        value(&redis, &format!("DEL {KEY}")).await;
        cluster.give_slot(0, 2).unwrap();
        // The client still believes in the second node, which is closing its door.
        let second = cluster.node_mut(1);
        second.kill().unwrap();
        let failed = redis
            .call(request(&format!("SET {KEY} b")))
            .await
            .unwrap_err();
        assert!(
            ["closed", "reset", "connect_refused"].contains(&failed.class()),
            "{failed}"
        );
        let reply = ask(&redis, &format!("SET {KEY} b")).await.unwrap();
        assert_eq!(
            (reply.value(), reply.stages().moved),
            (&Value::Okay, 0),
            "{reply:?}"
        );
        value(&redis, &format!("DEL {KEY}")).await;
        cluster.node_mut(1).restart().unwrap();
        cluster.until_agreed().unwrap();
    }
}
