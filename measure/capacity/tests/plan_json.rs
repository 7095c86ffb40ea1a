//! A plan can be written into a report and read again.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use openloop_capacity::Plan;
use openloop_capacity::plan::Figures;

#[test]
fn a_plan_survives_its_json() {
    let figures = Figures {
        knee: Some(1400.0),
        service_p90: Some(0.020),
        ..Figures::at_peak(10_000.0)
    };
    let plan = Plan::new(&figures).unwrap();
    let text = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
    let read: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(read["items"][0]["quantity"], "nodes_by_knee");
    assert_eq!(read["items"][0]["formula"], "⌈λ_peak / λ_knee⌉");
    assert_eq!(read["items"][0]["inputs"][1]["value"], 1400.0);
    assert_eq!(read["items"][0]["inputs"][1]["unit"], "per_second");
    assert_eq!(read["missing"][0]["quantity"], "nodes_by_highest_rate");
    let figures: Figures = serde_json::from_str(&serde_json::to_string(&figures).unwrap()).unwrap();
    assert_eq!(Plan::new(&figures).unwrap(), plan);
    // What a file does not say is not known.
    let figures: Figures = serde_json::from_str(r#"{"peak": 5.0}"#).unwrap();
    assert_eq!(figures, Figures::at_peak(5.0));
}
