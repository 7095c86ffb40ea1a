//! Bounds of closed loops.

use super::{answer, assert_number};

#[test]
fn users_who_wait_reach_no_more_than_the_bottleneck_serves() {
    let told = answer("closed --users 20 --think 1s --demand 5ms,20ms");
    assert_number(&told, "highest_throughput", 50.0, 1e-12);
    assert_number(&told, "saturation_users", 51.25, 1e-12);
    assert_eq!(told["demand_ns"], 25_000_000);
    let ends =
        |bounds: &str, field: &str| [0, 1].map(|end| told[bounds][field][end].as_f64().unwrap());
    let [least, most] = ends("asymptotic", "throughput");
    assert!((least - 20.0 / 1.5).abs() < 1e-9 && (most - 20.0 / 1.025).abs() < 1e-9);
    assert_eq!(ends("asymptotic", "mean_response_ns"), [25e6, 500e6]);
    // Narrower, and around what mean value analysis says: 19.29/s.
    let [low, high] = ends("balanced", "throughput");
    assert!(
        least < low && low < 19.294 && 19.294 < high && high < most,
        "{told}"
    );
    let told = answer("closed --users 1000 --demand 5ms --demand 20ms");
    assert_eq!(told["asymptotic"]["throughput"][1], 50.0);
}
