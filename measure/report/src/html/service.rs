//! What a sweep says of the service behind it: laws, how busy it is, which queue it behaves like.

use crate::schema::{Diagnosis, Fits, Sweep, Utilisation};
use crate::words::units::{Ns, percent, rate};
use maud::{Markup, html};

pub(super) fn said(sweep: &Sweep) -> Markup {
    html! {
        (diagnosis(&sweep.diagnosis))
        (laws(&sweep.fits))
        (utilisation(&sweep.utilisation))
    }
}

fn diagnosis(diagnosis: &Diagnosis) -> Markup {
    html! {
        h3 { "Which queue it behaves like" }
        p { "Like " b { (diagnosis.model_text) } "; its tail " (diagnosis.tail_text) "." }
        ul.findings {
            @for evidence in &diagnosis.evidence {
                li.plain { span.sign aria-hidden="true" { "✓" } b { "for it" } span { (evidence) } }
            }
            @for doubt in &diagnosis.doubts {
                li.doubtful { span.sign aria-hidden="true" { "!" } b { "doubt" } span { (doubt) } }
            }
        }
        @if !diagnosis.systems.is_empty() {
            p.note { "Systems of the kind:" }
            div.scroll { table.texts {
                tbody {
                    @for class in &diagnosis.systems {
                        tr { th scope="row" { (class.examples) } td { (class.model) } td { "fails first: " (class.first_failure) } td { "size by: " (class.sizing) } }
                    }
                }
            } }
        }
    }
}

/// Laws through the points, or why there is none.
fn laws(fits: &Fits) -> Markup {
    let mut rows = Vec::new();
    match (&fits.mmc, &fits.no_mmc) {
        (Some(fit), _) => rows.push((
            format!("M/M/{}", fit.servers),
            "response against rate",
            fit.goodness.as_str(),
            fit.relative_error,
            format!(
                "S = {}, highest rate c/S = {}{}",
                Ns(fit.service_ns),
                rate(fit.highest_rate),
                ends(fit.highest_rate_interval, rate)
            ),
        )),
        (None, Some(why)) => rows.push((
            "M/M/c".to_owned(),
            "response against rate",
            "no",
            None,
            why.clone(),
        )),
        (None, None) => {}
    }
    let short = |x: f64| format!("{x:.3}");
    match (&fits.usl, &fits.no_usl) {
        (Some(fit), _) => rows.push((
            "universal scalability law".to_owned(),
            "throughput against the number in flight",
            fit.goodness.as_str(),
            fit.relative_error,
            format!(
                "contention σ{}, coherence κ{}, most throughput with{} in flight",
                ends(fit.contention, short),
                ends(fit.coherence, |x| format!("{x:.2e}")),
                ends(fit.peak_in_flight, |x| format!("{x:.0}"))
            ),
        )),
        (None, Some(why)) => rows.push((
            "universal scalability law".to_owned(),
            "throughput against the number in flight",
            "no",
            None,
            why.clone(),
        )),
        (None, None) => {}
    }
    html! {
        @if !rows.is_empty() {
            h3 { "Laws through the points" }
            div.scroll { table.texts {
                tbody {
                    @for (law, of, goodness, error, text) in &rows {
                        tr {
                            th scope="row" { (law) small { (of) } }
                            td class=[(*goodness == "poor").then_some("bad")] {
                                (goodness) " fit" @if let Some(error) = error { ": points lie within " (percent(*error)) }
                                @if *goodness == "poor" { small { "the service is of another kind" } }
                            }
                            td { (text) }
                        }
                    }
                }
            } }
        }
    }
}

/// ` (95 %: 380/s to 412/s)`.
fn ends(interval: [Option<f64>; 2], shown: impl Fn(f64) -> String) -> String {
    match interval {
        [Some(low), Some(high)] => format!(" (95 %: {} to {})", shown(low), shown(high)),
        [Some(low), None] => format!(" (95 %: at least {})", shown(low)),
        _ => String::new(),
    }
}

fn utilisation(told: &[Utilisation]) -> Markup {
    html! {
        @if !told.is_empty() {
            h3 { "How busy the service was" }
            p.note { "Told in several ways: each is true if its assumption is." }
            div.scroll { table.texts {
                tbody {
                    @for told in told {
                        tr { th scope="row" { (told.formula) } td { b { (told.value.map_or("?".to_owned(), percent)) } } td { "if " (told.assumes) } }
                    }
                }
            } }
        }
    }
}
