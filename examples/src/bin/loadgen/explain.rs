//! Why the status is not 0, for those who do not read the report.

use crate::course::Outcome;
use crate::exit::{Status, gone};
use crate::output::complain;
use openloop_experiment::{Run, Verdict};

/// Says it on standard error.
pub(crate) fn explain(status: Status, outcome: &Outcome) {
    match status {
        Status::Interrupted => {
            complain(format_args!(
                "interrupted: the report covers what was sent until then"
            ));
        }
        Status::Invalid => faults(outcome),
        Status::Unreachable => {
            if let Some(why) = outcome.runs.all().iter().find_map(gone) {
                complain(format_args!(
                    "the target could not be reached any more after the run: {why}"
                ));
            }
        }
        Status::Missed | Status::Inconclusive => {
            let judgement = outcome.judgement.iter();
            for finding in judgement.clone().flat_map(|judgement| &judgement.findings) {
                if finding.verdict != Verdict::Pass {
                    complain(format_args!(
                        "{}: {}, {}",
                        finding.bound, finding.verdict, finding.why
                    ));
                }
            }
            for why in judgement.flat_map(|judgement| &judgement.why) {
                complain(format_args!("{why}"));
            }
            for claim in outcome
                .resilience
                .iter()
                .flat_map(|overload| overload.claims())
            {
                if claim.verdict != Verdict::Pass {
                    let (claim, verdict, found) = (&claim.claim, claim.verdict, &claim.found);
                    complain(format_args!("{claim}: {verdict}, {found}"));
                }
            }
            if let (None, Some(stability)) = (&outcome.judgement, outcome.runs.stability()) {
                complain(format_args!("the runs disagree: {stability}"));
            }
        }
        _ => {}
    }
}

fn faults(outcome: &Outcome) {
    let runs = outcome.runs.all().iter().map(Run::validity);
    let judged = outcome
        .judgement
        .iter()
        .map(|judgement| &judgement.validity);
    let validity = judged.chain(runs).find(|validity| !validity.is_valid());
    for fault in validity.iter().flat_map(|validity| validity.faults()) {
        complain(format_args!(
            "the run may not be believed, {}: {}",
            fault.name, fault.why
        ));
    }
}
