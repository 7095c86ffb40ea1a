//! What a mix asks of a server, as lines of text.

use openloop_workload::Mix;

/// A table of the kinds with their shares of requests and of work, and below it how uneven the work is; what is
/// unknown because kinds have no demand is left out.
pub(crate) fn table<T>(mix: &Mix<T>) -> Vec<String> {
    let width = mix.kinds().iter().map(|kind| kind.name().chars().count());
    let width = width.max().unwrap_or_default().max("kind".len());
    let mut lines = vec![format!("  {:<width$}  requests     work  demand", "kind")];
    for (kind, share) in mix.kinds().iter().zip(mix.shares()) {
        let demand = kind.demand().map(ToString::to_string).unwrap_or_default();
        let line = format!(
            "  {:<width$}  {}  {}  {demand}",
            kind.name(),
            percent(Some(share.of_requests)),
            percent(share.of_work)
        );
        lines.push(line.trim_end().to_owned());
    }
    lines.push(match mix.demand() {
        Some(demand) => format!(
            "  work of a request: mean {:.4}, C_v {:.4}; Pollaczek\u{2013}Khinchine factor (1 + C_v\u{b2})/2 = {:.4}",
            demand.mean,
            demand.cv,
            demand.pollaczek_khinchine()
        ),
        None => "  the work is unknown: give each kind a demand to see its shares and C_v".to_owned(),
    });
    lines
}

/// A share in eight columns.
pub(crate) fn percent(share: Option<f64>) -> String {
    share.map_or_else(
        || format!("{:>8}", "\u{2013}"),
        |share| format!("{:>6.2} %", 100.0 * share),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use openloop_workload::mix::Kind;

    #[test]
    fn shares_of_requests_and_of_work_stand_side_by_side() {
        // Nine in ten take 1, one in ten takes 20: m = 2.9, and the variance is 5.7².
        let mix = Mix::new([
            Kind::new("get", 9.0, ()).with_demand("fixed:1".parse().unwrap()),
            Kind::new("report", 1.0, ()).with_demand("fixed:20".parse().unwrap()),
        ]);
        assert_eq!(
            table(&mix.unwrap()),
            [
                "  kind    requests     work  demand",
                "  get      90.00 %   31.03 %  fixed:1",
                "  report   10.00 %   68.97 %  fixed:20",
                "  work of a request: mean 2.9000, C_v 1.9655; Pollaczek\u{2013}Khinchine factor (1 + C_v\u{b2})/2 = 2.4316",
            ]
        );
    }

    #[test]
    fn without_demands_the_work_is_said_to_be_unknown() {
        let mix = Mix::new([Kind::new("a", 1.0, ()), Kind::new("b", 3.0, ())]).unwrap();
        let lines = table(&mix);
        assert_eq!(lines[1], "  a      25.00 %         \u{2013}");
        assert!(lines[3].contains("unknown"), "{lines:?}");
    }
}
