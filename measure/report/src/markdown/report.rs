//! A report in a few lines.

use super::experiment;
use super::{escaped, row, rule, sign};
use crate::Report;
use crate::schema::Summary;
use crate::words::latency::{FIGURES, cell, has_bounds, interval, label, naive, worst};
use crate::words::verdict::{limits, load, other_reasons, reservations, tone_of, verdict};
use crate::words::{Tone, books};
use std::io;

/// The latencies that are shown at once; the others stand in the report.
const SHOWN: [&str; 5] = [
    "response",
    "response_slo",
    "service",
    "exchange",
    "schedule_delay",
];

impl Report {
    /// Writes a summary as Markdown, as for a comment on a pull request: the verdict, the objective, the latencies, and
    /// what the reader should know.
    ///
    /// Whatever stands in names and messages is escaped.
    ///
    /// # Errors
    /// When the writer fails.
    pub fn write_markdown(&self, mut to: impl io::Write) -> io::Result<()> {
        let (word, tone, meaning) = verdict(self);
        let mut head = format!("### {} {word}", sign(tone));
        for reservation in reservations(self) {
            head.push_str(&format!(", {reservation}"));
        }
        writeln!(to, "{head}: {meaning}\n")?;
        let names = [self.title.as_deref(), self.target.as_deref()];
        let names: Vec<String> = names.into_iter().flatten().map(escaped).collect();
        if !names.is_empty() {
            writeln!(to, "**{}**  ", names.join("** · **"))?;
        }
        writeln!(to, "{}  ", load(self))?;
        if let Some(limits) = limits(self) {
            writeln!(to, "{limits}  ")?;
        }
        writeln!(to, "{}  ", books::rates(self))?;
        writeln!(to, "{}\n", books::arrivals(self).text)?;
        for classes in books::classes(self) {
            writeln!(to, "- {}", escaped(&classes))?;
        }
        for fault in self.validity.faults() {
            let (name, why) = (escaped(&fault.name), escaped(&fault.why));
            writeln!(to, "- {} **{name}**: {why}", sign(Tone::Bad))?;
        }
        self.write_objective(&mut to)?;
        experiment::write(self, &mut to)?;
        self.write_latencies(&mut to)?;
        self.write_remarks(&mut to)?;
        to.flush()
    }

    fn write_objective(&self, to: &mut impl io::Write) -> io::Result<()> {
        let Some(slo) = &self.slo else {
            return Ok(());
        };
        writeln!(to, "\n| | objective | |\n| --- | --- | --- |")?;
        for finding in &slo.findings {
            let tone = tone_of(self, &finding.verdict);
            let cells = [
                format!("{} {}", sign(tone), escaped(&finding.verdict)),
                escaped(&finding.bound),
                escaped(&finding.why),
            ];
            writeln!(to, "{}", row(&cells))?;
        }
        for why in other_reasons(self) {
            let cells = [sign(Tone::Doubtful).to_owned(), String::new(), escaped(why)];
            writeln!(to, "{}", row(&cells))?;
        }
        Ok(())
    }

    fn write_latencies(&self, to: &mut impl io::Write) -> io::Result<()> {
        let by_name = self.latency.by_name();
        let shown = by_name.into_iter().filter(|(name, _)| SHOWN.contains(name));
        let shown: Vec<(&str, &Summary)> = shown
            .filter_map(|(name, summary)| Some((label(name), summary?)))
            .collect();
        if shown.is_empty() {
            return writeln!(to, "\nNothing was measured in the steady phase.");
        }
        let mut head = vec!["latency".to_owned()];
        head.extend(FIGURES.map(|(figure, _)| figure.to_owned()));
        head.push("p99, 95 %".to_owned());
        writeln!(to, "\n{}\n{}", row(&head), rule(head.len()))?;
        let kinds = self.kinds.iter().filter(|_| self.kinds.len() > 1);
        let kinds = kinds.filter_map(|(name, kind)| {
            let name = if name.is_empty() {
                "(no kind)"
            } else {
                name.as_str()
            };
            Some((name, kind.latency.response.as_ref()?))
        });
        let metrics = self.metrics.iter();
        let metrics =
            metrics.filter_map(|(name, summary)| Some((name.as_str(), summary.as_ref()?)));
        let has_bounds = shown.iter().any(|(_, summary)| has_bounds(summary));
        for (name, summary) in shown.into_iter().chain(metrics).chain(kinds) {
            let mut cells = vec![escaped(name)];
            cells.extend(FIGURES.map(|(_, field)| cell(summary, field)));
            cells.push(interval(summary, "p99_ns"));
            writeln!(to, "{}", row(&cells))?;
        }
        match has_bounds {
            true => writeln!(to, "\n≥ x: at least x, a lower bound."),
            false => Ok(()),
        }
    }

    fn write_remarks(&self, to: &mut impl io::Write) -> io::Result<()> {
        writeln!(to)?;
        let backlog = books::backlog(self);
        if backlog.tone == Tone::Bad {
            writeln!(to, "- {} the backlog {}", sign(Tone::Bad), backlog.text)?;
        }
        if let Some(naive) = naive(self) {
            writeln!(to, "- {}", naive.text)?;
        }
        if let Some(worst) = worst(self) {
            writeln!(to, "- worst: {worst}")?;
        }
        for warning in self.validity.warnings() {
            writeln!(
                to,
                "- {} {}",
                sign(Tone::Doubtful),
                escaped(&books::warning(warning))
            )?;
        }
        Ok(())
    }
}
