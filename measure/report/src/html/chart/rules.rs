//! Names of places on the horizontal axis, above a picture.

use super::frame::Frame;
use super::panel::Rule;
use maud::{Markup, html};

/// About as wide as a letter is, in pixels.
const LETTER: f64 = 6.6;
/// So far apart are two names in a line at least.
const APART: f64 = 10.0;

/// Where the names of a picture stand: in as few lines as they need.
#[derive(Debug)]
pub(super) struct Labels {
    pub(super) lanes: usize,
    labels: Vec<Label>,
}

#[derive(Debug)]
struct Label {
    /// Of its place.
    at: f64,
    /// Of the middle of its name.
    middle: f64,
    lane: usize,
    name: String,
}

impl Labels {
    pub(super) fn of(rules: &[Rule], frame: &Frame) -> Self {
        let mut sorted: Vec<&Rule> = rules.iter().collect();
        sorted.sort_by(|a, b| a.place.total_cmp(&b.place));
        // Where each line is free from.
        let mut free: Vec<f64> = Vec::new();
        let mut labels = Vec::new();
        for rule in sorted {
            let at = frame.x(rule.place);
            let half = rule.name.chars().count() as f64 * LETTER / 2.0;
            let middle = at.min(frame.width - half - 2.0).max(half + 2.0);
            let lane = free.iter().position(|free| *free <= middle - half);
            let lane = lane.unwrap_or_else(|| {
                free.push(0.0);
                free.len() - 1
            });
            free[lane] = middle + half + APART;
            labels.push(Label {
                at,
                middle,
                lane,
                name: rule.name.clone(),
            });
        }
        Labels {
            lanes: free.len(),
            labels,
        }
    }

    /// In a frame with room for the lines.
    pub(super) fn markup(&self, frame: &Frame) -> Markup {
        let px = |px: f64| format!("{px:.1}");
        let bottom = frame.y(0.0);
        let base = |label: &Label| Frame::LANE * (label.lane + 1) as f64 - 3.0;
        html! {
            @for label in &self.labels {
                line.rule x1=(px(label.at)) x2=(px(label.at)) y1=(px(base(label) + 3.0)) y2=(px(bottom)) {}
            }
            // After the lines, which they hide.
            @for label in &self.labels {
                text.rule x=(px(label.middle)) y=(px(base(label))) { (label.name) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lanes(rules: &[(f64, &str)]) -> Vec<usize> {
        let rules: Vec<_> = rules
            .iter()
            .map(|(place, name)| Rule {
                place: *place,
                name: (*name).to_owned(),
            })
            .collect();
        let labels = Labels::of(&rules, &Frame::NARROW);
        labels.labels.iter().map(|label| label.lane).collect()
    }

    #[test]
    fn names_that_would_overlap_stand_in_lines_of_their_own() {
        assert_eq!(lanes(&[(0.1, "knee"), (0.9, "maximum")]), [0, 0]);
        let near = [(0.5, "knee 320/s"), (0.52, "maximum 401/s")];
        assert_eq!(lanes(&near), [0, 1]);
        let at_the_edge = [(1.0, "knee 320/s"), (1.0, "maximum 401/s")];
        assert_eq!(lanes(&at_the_edge), [0, 1]);
        assert_eq!(lanes(&[]), [0_usize; 0]);
    }
}
