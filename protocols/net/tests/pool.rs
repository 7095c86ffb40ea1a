//! First come, first served: on the paused clock.
#![allow(clippy::unwrap_used)] // a test fails by panicking

use openloop_net::{Lease, Pool, PoolError};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

async fn settle() {
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
}

fn hold(pool: &Pool<u32>, held: Duration) -> JoinHandle<Duration> {
    let pool = pool.clone();
    tokio::spawn(async move {
        let lease = pool.lease().await.unwrap();
        sleep(held).await;
        lease.waited()
    })
}

#[tokio::test(start_paused = true)]
async fn callers_are_served_in_the_order_in_which_they_came() {
    let pool = Pool::<u32>::new(1, usize::MAX);
    let first = pool.lease().await.unwrap();
    let order = Arc::new(Mutex::new(Vec::new()));
    let mut callers = Vec::new();
    for number in 0..20 {
        let (own, order) = (pool.clone(), Arc::clone(&order));
        callers.push(tokio::spawn(async move {
            let _lease = own.lease().await.unwrap();
            order.lock().unwrap().push(number);
            sleep(Duration::from_millis(10)).await;
        }));
        settle().await;
        assert_eq!(pool.waiting(), number + 1);
    }
    drop(first);
    for caller in callers {
        caller.await.unwrap();
    }
    assert_eq!(*order.lock().unwrap(), (0..20).collect::<Vec<_>>());
    assert_eq!((pool.in_use(), pool.waiting()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn the_wait_is_in_the_lease() {
    let pool = Pool::new(2, usize::MAX);
    let held = Duration::from_secs(1);
    let callers = [0, 1, 2, 3, 4].map(|_| hold(&pool, held));
    let mut waits = Vec::new();
    for caller in callers {
        waits.push(caller.await.unwrap().as_secs());
    }
    assert_eq!(waits, [0, 0, 1, 1, 2]);
}

#[tokio::test(start_paused = true)]
async fn a_full_line_is_refused_with_its_numbers() {
    let pool = Pool::new(1, 2);
    let callers = [0, 1, 2].map(|_| hold(&pool, Duration::from_secs(1)));
    settle().await;
    assert_eq!((pool.in_use(), pool.waiting()), (1, 2));
    let refused = pool.lease().await.map(|_| ());
    assert_eq!(
        refused,
        Err(PoolError::Full {
            size: 1,
            waiting: 2
        })
    );
    for caller in callers {
        caller.await.unwrap();
    }
    assert!(pool.lease().await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn without_a_line_a_caller_is_served_at_once_or_not_at_all() {
    let pool = Pool::<u32>::new(1, 0);
    let lease = pool.lease().await.unwrap();
    assert!(pool.lease().await.is_err());
    assert!(pool.try_lease().is_none());
    drop(lease);
    assert!(pool.lease().await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn whoever_has_been_given_a_place_is_not_in_line_any_more_though_its_task_has_not_run() {
    let pool = Pool::<u32>::new(1, 1);
    let first = pool.lease().await.unwrap();
    let second = hold(&pool, Duration::from_millis(10));
    settle().await;
    assert_eq!(pool.waiting(), 1);
    drop(first);
    assert_eq!((pool.in_use(), pool.waiting()), (1, 0));
    // So there is room for a third, before the second runs.
    assert!(pool.lease().await.is_ok());
    second.await.unwrap();
    assert_eq!((pool.in_use(), pool.waiting()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_gives_up_leaves_the_line() {
    let pool = Pool::new(1, 2);
    let first = pool.lease().await.unwrap();
    let gives_up = hold(&pool, Duration::ZERO);
    settle().await;
    let stays = hold(&pool, Duration::ZERO);
    settle().await;
    assert_eq!(pool.waiting(), 2);
    gives_up.abort();
    settle().await;
    assert_eq!(pool.waiting(), 1);
    drop(first);
    stays.await.unwrap();
    assert_eq!((pool.in_use(), pool.waiting()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_lease_on_its_way_to_a_caller_that_gives_up_goes_to_the_next() {
    let pool = Pool::new(1, usize::MAX);
    let mut first = pool.lease().await.unwrap();
    first.put(7_u32);
    let gives_up = hold(&pool, Duration::ZERO);
    settle().await;
    let own = pool.clone();
    let next = tokio::spawn(async move { own.lease().await.unwrap().take() });
    settle().await;
    drop(first); // on its way, not picked up yet
    gives_up.abort();
    assert_eq!(next.await.unwrap(), Some(7));
    assert_eq!((pool.in_use(), pool.waiting()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_callers_that_give_up_leave_nothing_behind() {
    let pool = Pool::<u32>::new(1, usize::MAX);
    let lease = pool.lease().await.unwrap();
    for _ in 0..10_000 {
        let wait = tokio::time::timeout(Duration::from_millis(1), pool.lease());
        assert!(wait.await.is_err());
    }
    assert_eq!(pool.waiting(), 0);
    drop(lease);
    assert_eq!(pool.in_use(), 0);
    assert!(pool.try_lease().is_some());
}

#[tokio::test]
async fn items_rest_in_the_order_in_which_they_came_back() {
    let pool = Pool::new(3, 0);
    let mut leases: Vec<Lease<u32>> = Vec::new();
    for number in 0..3 {
        let mut lease = pool.lease().await.unwrap();
        assert_eq!(lease.take(), None);
        lease.put(number);
        leases.push(lease);
    }
    leases.swap(0, 2);
    leases.clear();
    let mut found = Vec::new();
    for _ in 0..6 {
        let mut lease = pool.lease().await.unwrap();
        let item = lease.take().unwrap();
        found.push(item);
        lease.put(item);
    }
    assert_eq!(found, [2, 1, 0, 2, 1, 0]);
}

#[tokio::test]
async fn a_discarded_item_leaves_an_empty_place() {
    let pool = Pool::new(1, 0);
    let mut lease = pool.lease().await.unwrap();
    lease.put(1_u32);
    drop(lease);
    let taken = pool.lease().await.unwrap().take();
    assert_eq!((taken, pool.idle(), pool.in_use()), (Some(1), 0, 0));
    assert_eq!(pool.lease().await.unwrap().take(), None);
}

#[tokio::test(start_paused = true)]
async fn places_that_are_new_serve_the_line_and_lost_ones_go_as_they_come_free() {
    let pool = Pool::<u32>::new(1, usize::MAX);
    let started = Instant::now();
    let callers = [0, 1, 2, 3].map(|_| hold(&pool, Duration::from_secs(1)));
    settle().await;
    pool.resize(3);
    settle().await;
    assert_eq!((pool.in_use(), pool.waiting()), (3, 1));
    pool.resize(1);
    for caller in callers {
        caller.await.unwrap();
    }
    assert_eq!(started.elapsed().as_secs(), 2);
    assert_eq!((pool.in_use(), pool.size()), (0, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn threads_never_hold_more_than_its_size_and_lose_nothing() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    let pool = Pool::<usize>::new(3, usize::MAX);
    let (held, served) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let mut callers = Vec::new();
    for number in 0..64 {
        let (pool, held, served) = (pool.clone(), Arc::clone(&held), Arc::clone(&served));
        callers.push(tokio::spawn(async move {
            for turn in 0..200 {
                let lease = pool.lease();
                if (number + turn) % 7 == 0 {
                    // Gives up after one poll.
                    let _ = tokio::time::timeout(Duration::ZERO, lease).await;
                    continue;
                }
                let mut lease = lease.await.unwrap();
                assert!(held.fetch_add(1, Ordering::SeqCst) < 3);
                let item = lease.take().unwrap_or(number);
                tokio::task::yield_now().await;
                lease.put(item);
                served.fetch_add(1, Ordering::SeqCst);
                held.fetch_sub(1, Ordering::SeqCst);
            }
        }));
    }
    for caller in callers {
        caller.await.unwrap();
    }
    assert_eq!((pool.in_use(), pool.waiting()), (0, 0));
    assert!(pool.idle() <= 3);
    let asked = (0..64).flat_map(|n| (0..200).map(move |turn| (n + turn) % 7));
    let kept = asked.filter(|remainder| *remainder != 0).count();
    assert_eq!(served.load(Ordering::SeqCst), kept);
}
