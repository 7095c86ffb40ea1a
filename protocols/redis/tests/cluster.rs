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

    // No node has the keys of several slots: that is told before a run, and by the node.
    let crossing = request("MGET a b");
    assert!(redis.check(&crossing).is_err());
    let crossing = redis.call(crossing).await.unwrap();
    assert_eq!(crossing.verdict(), Verdict::Failed("redis_crossslot"));
    // One server has all of them.
    let alone = Redis::builder(&first.url()).build().unwrap();
    assert!(alone.check(&request("MGET a b")).is_ok());
}

#[tokio::test]
async fn the_commands_of_a_pipeline_go_each_to_its_node_and_follow_their_keys() {
    let cluster = RedisCluster::start(3).unwrap();
    for connections in [Connections::pool(2), Connections::multiplexed()] {
        let redis = client(&cluster, connections);
        redis.prepare().await.unwrap();
        let keys: Vec<_> = (0..100).map(|n| format!("key:{n}")).collect();
        let all = |command: &'static str| {
            let commands = keys.iter().map(|key| {
                let value = (command == "SET").then_some(key);
                [Some(command), Some(key), value.map(String::as_str)]
                    .into_iter()
                    .flatten()
            });
            Request::pipeline(commands).unwrap()
        };
        let reply = redis.call(all("SET")).await.unwrap();
        assert_eq!(reply.value(), &Value::Array(vec![Value::Okay; 100]));
        let stages = reply.stages();
        assert_eq!((stages.moved, stages.asked), (0, 0));
        assert!(stages.reply.is_some() && stages.reused);
        // The replies are in the order of the commands.
        let reply = redis.call(all("GET")).await.unwrap();
        let texts = keys.iter().map(|key| text(key)).collect();
        assert_eq!(reply.value(), &Value::Array(texts));
        for node in cluster.nodes() {
            node.cli(&["flushall"]).unwrap();
        }

        // A key that has moved is followed, and so is one on its way; the others are not sent again.
        cluster.give_slot(0, 2).unwrap();
        let moved = [
            ["SET", KEY, "1"],
            ["INCRBY", "a", "1"],
            ["INCRBY", "b", "1"],
        ];
        let reply = redis.call(Request::pipeline(moved).unwrap()).await.unwrap();
        let one = Value::Int(1);
        let expected = vec![Value::Okay, one.clone(), one];
        assert_eq!(reply.value(), &Value::Array(expected));
        assert_eq!((reply.stages().moved, reply.stages().asked), (1, 0));
        value(&redis, &format!("DEL {KEY}")).await;
        cluster.begin_moving_slot(0, 2, 0).unwrap();
        let asked = [["INCRBY", "a", "1"], ["INCRBY", KEY, "5"]];
        let reply = redis.call(Request::pipeline(asked).unwrap()).await.unwrap();
        let expected = vec![Value::Int(2), Value::Int(5)];
        assert_eq!(reply.value(), &Value::Array(expected));
        assert_eq!((reply.stages().moved, reply.stages().asked), (0, 1));
        cluster.give_slot(0, 0).unwrap();

        // A transaction that is redirected was not carried out, and goes to the right node from then on.
        value(&redis, &format!("DEL {KEY}")).await;
        cluster.give_slot(0, 1).unwrap();
        let booked = || Request::transaction([["INCRBY", KEY, "1"]]).unwrap();
        let reply = redis.call(booked()).await.unwrap();
        assert_eq!(reply.verdict(), Verdict::Failed("redis_moved"));
        assert_eq!(reply.stages().moved, 1);
        let reply = redis.call(booked()).await.unwrap();
        assert_eq!(reply.verdict(), Verdict::Ok);
        value(&redis, &format!("DEL {KEY}")).await;
        cluster.give_slot(0, 0).unwrap();
    }
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
