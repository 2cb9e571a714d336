use crate::model::{Document, Section, Tone};
use crate::{
    ceiling, code, configurations, devices, disk, estimates, factors, main_figure, notes, number, scaling,
    time, timeline, waits, why,
};
use analysis::{FindingKind, Summary};
use observations::Direction;

/// The report of a run: what was found, the figure that shows it, why it is so, then the tables behind it.
pub fn run(summary: &Summary) -> Document {
    document(summary, charts(summary), estimates::brief(summary))
}

/// The same without the small charts and with every response of every configuration, for a renderer that has figures
/// of its own and room.
pub(crate) fn without_charts(summary: &Summary) -> Document {
    document(summary, Vec::new(), estimates::all(summary))
}

fn charts(summary: &Summary) -> Vec<Section> {
    let charts = [main_figure::section(summary), why::section(summary), timeline::section(summary)];
    charts.into_iter().flatten().collect()
}

fn document(summary: &Summary, charts: Vec<Section>, responses: Option<Section>) -> Document {
    let mut sections = vec![introduction(summary)];
    sections.extend(findings(summary));
    sections.extend(charts);
    sections.push(configurations::section(summary));
    sections.extend(factors::sections(summary));
    sections.extend(disk::sections(summary));
    sections.extend(scaling::section(summary.scaling.as_ref()));
    sections.extend(ceiling::section(summary));
    sections.extend(waits::sections(summary));
    sections.extend(code::sections(summary));
    sections.extend(devices::section(summary));
    sections.extend(responses);
    sections.extend(notes::failures(summary));
    sections.extend(notes::warnings(summary));
    sections.extend(notes::environment(summary));
    Document { title: summary.run.name.as_str().into(), sections }
}

fn introduction(summary: &Summary) -> Section {
    let mut section = Section::default();
    if let Some(question) = &summary.run.question {
        section.line(question.as_str());
    }
    let done = format!("{} done", number::plural(summary.done, "trial"));
    let failed =
        Some(format!("{} failed", number::plural(summary.failed, "attempt"))).filter(|_| summary.failed > 0);
    let compared = summary.response.as_ref().map(|response| {
        let better = match response.direction {
            Direction::HigherIsBetter => "higher",
            Direction::LowerIsBetter => "lower",
        };
        format!("compared on {} ({}, {better} is better)", response.name, response.unit)
    });
    let parts = [
        Some(format!("Run {}, {}", summary.run.id, time::utc(summary.run.started_ms))),
        Some(done),
        failed,
        compared,
    ];
    section.toned(parts.into_iter().flatten().collect::<Vec<_>>().join("; "), Tone::Muted);
    section
}

/// Each sentence with its evidence below; `None` when nothing was found.
fn findings(summary: &Summary) -> Option<Section> {
    let mut section = Section::new("Findings");
    for finding in &summary.findings {
        let tone = if finding.kind == FindingKind::Caveat { Tone::Warning } else { Tone::Plain };
        section.toned(finding.text.as_str(), tone);
        if !finding.evidence.is_empty() {
            section.detail(finding.evidence.as_str());
        }
    }
    (!section.blocks.is_empty()).then_some(section)
}
