//! The first output of a command: the question, one table that is also the chart, the answer, its
//! cause, the next step, and where the rest is. It fits forty lines of eighty columns.

use crate::chart::bars;
use crate::model::{Block, Cell, Column, Columns, Document, Medium, Section, Table, Tone};
use crate::sections::{StudySections, all};
use crate::terminal::GAP;
use crate::text::joined;
use crate::{number, text};
use analysis::{ConfigurationRow, Estimate, Finding, Standing, Summary};
use observations::{Direction, order};
use unicode_width::UnicodeWidthStr;

/// Configurations that all have a row; of more the best, the baseline and the worst have one.
const ROWS_MAX: usize = 8;
/// The best ones of many.
const BEST: usize = 5;
/// Responses of an only configuration.
const RESPONSES: usize = 10;
/// Rows of the table of a study.
const STUDY_ROWS: usize = 12;
/// Columns of a bar at most, and at least.
const BAR: [usize; 2] = [6, 36];
/// Notes that have a line.
const NOTES: usize = 4;

/// Where the rest of a report is.
pub struct Screen<'a> {
    /// The name of the run for `show`.
    pub name: &'a str,
    /// The page, if one was written.
    pub page: Option<String>,
    /// Columns of the terminal.
    pub width: usize,
}

impl Screen<'_> {
    /// A run on one screen.
    pub fn document(&self, summary: &Summary, studies: StudySections<'_>) -> Document {
        let run = &summary.recording.run;
        let brief = summary.brief();
        let mut section = Section::default();
        if let Some(question) = &run.question {
            section.line(question.as_str());
        }
        section.line("");
        let of_study = self.of_study(summary, studies);
        let study = if of_study.is_some() { "study | " } else { "" };
        if let Some(of_study) = of_study {
            section.blocks.extend(of_study.blocks);
        } else if let [only] = &summary.configurations[..] {
            if summary.done() > 0 {
                section.table(responses(only));
            }
        } else if !summary.configurations.is_empty() {
            self.response(summary, &mut section);
        }
        section.line("");
        // Without factors the table is the answer.
        if summary.done() == 0 || !summary.factors.effects.is_empty() {
            section.line(brief.answer.as_ref().map_or_else(String::new, Finding::brief));
        }
        for (label, finding) in [("Why", &brief.why), ("Next", &brief.next)] {
            if let Some(finding) = finding {
                section.labelled(label, finding.brief(), Tone::Plain);
            }
        }
        for (row, note) in brief.notes.iter().take(NOTES).enumerate() {
            section.labelled(if row == 0 { "Note" } else { "" }, note.brief(), Tone::Warning);
        }
        if let Some(more @ 1..) = brief.notes.len().checked_sub(NOTES) {
            let more = number::plural(more, "more note");
            let more = format!("{more}: steelbench show {} why", self.name);
            section.labelled("", more, Tone::Warning);
        }
        section.line("");
        let sections = "why | waits | responses | devices | latency";
        let more = format!("steelbench show {} --full | {study}{sections}", self.name);
        section.labelled("More", more, Tone::Muted);
        if let Some(page) = &self.page {
            section.labelled("", page.as_str(), Tone::Muted);
        }
        let title = format!("{}     {}", run.name, extent(summary));
        Document { title: title.into(), sections: vec![section] }
    }

    /// The response of each configuration as a bar and as a figure, and its distance from the
    /// baseline.
    fn response(&self, summary: &Summary, section: &mut Section) {
        let (rows, left_out) = rows(summary);
        let figures = Figures::new(summary, &rows);
        let levels = &summary.configurations[0].levels;
        let mut table: Vec<(Column, Vec<Cell>)> = levels
            .iter()
            .enumerate()
            .map(|(position, level)| {
                let cells = rows.iter().map(|row| row.levels[position].level.as_str().into());
                (Column::name(text::factor(summary, &level.factor)), cells.collect())
            })
            .collect();
        table.push((Column::left(figures.heading), figures.cells));
        if summary.compares_configurations() && rows.iter().any(|row| row.factor.is_some()) {
            let against = match rows.iter().find(|row| row.baseline).map(|row| &row.levels[..]) {
                Some([only]) => format!("vs {}", only.level),
                _ => "vs baseline".to_owned(),
            };
            table.push((
                Column::left(against),
                rows.iter().map(|row| ratio(summary, row)).collect(),
            ));
        }
        let standings: Vec<Cell> = rows.iter().map(|row| standing(summary, row)).collect();
        if standings.iter().any(|cell| !cell.text().is_empty()) {
            table.push((Column::left(""), standings));
        }
        let others_width: usize =
            table.iter().map(|(column, cells)| width(column, cells) + GAP).sum();
        let room = self.width.saturating_sub(others_width).min(BAR[1]);
        if room >= BAR[0] && rows.len() > 1 {
            let cells = rows.iter().zip(bars(&figures.values, room)).map(|(row, bar)| {
                let tone = if row.standing == Standing::Best { Tone::Good } else { Tone::Plain };
                Cell::new(bar, tone)
            });
            table.insert(levels.len(), (Column::left(""), cells.collect()));
        }
        let (columns, cells): (Vec<Column>, Vec<Vec<Cell>>) = table.into_iter().unzip();
        let cells = (0..rows.len())
            .map(|row| cells.iter().map(|column| column[row].clone()).collect())
            .collect();
        section.table(Table::new(columns, cells));
        if left_out > 0 {
            let more = number::plural(left_out, "more configuration");
            section.note(format!("{more}: steelbench show {} configurations", self.name));
        }
    }

    /// The table or the chart that a study has in place of the response, below its heading.
    fn of_study(&self, summary: &Summary, studies: StudySections<'_>) -> Option<Section> {
        let sections = all(studies).into_iter().filter(|entry| entry.on_screen);
        let mut sections = sections.filter_map(|entry| entry.show).flat_map(|show| show(summary));
        sections.find_map(|full| {
            let blocks = if full.medium == Medium::Page { Vec::new() } else { full.blocks };
            let drawn = blocks.into_iter().find_map(|block| match block {
                Block::Table(_) | Block::Chart(_) => Some(block),
                Block::Figure(figure) => figure.chart.map(Block::Chart),
                _ => None,
            })?;
            let mut section = Section::default();
            section.line(full.heading);
            match drawn {
                Block::Table(table) => {
                    let others = format!("steelbench show {} study", self.name);
                    section.beginning(&table, STUDY_ROWS, &others);
                }
                chart => section.blocks.push(chart),
            }
            Some(section)
        })
    }
}

/// The width of a column.
fn width(column: &Column, cells: &[Cell]) -> usize {
    let cells = cells.iter().map(|cell| cell.text().width());
    cells.chain([column.heading().width()]).max().unwrap_or(0)
}

/// The figures of the response, all in one unit.
struct Figures {
    heading: String,
    /// 0 where there is none.
    values: Vec<f64>,
    cells: Vec<Cell>,
}

impl Figures {
    fn new(summary: &Summary, rows: &[&ConfigurationRow]) -> Self {
        let heading = summary.response.as_ref().map_or("", |response| response.name.as_str());
        let estimates: Vec<Option<&Estimate>> =
            rows.iter().map(|row| row.response.as_ref()).collect();
        let means = estimates.iter().flatten().map(|estimate| estimate.mean.abs());
        let (scale, unit) = number::common_unit(means.fold(0.0, f64::max), summary.unit());
        let figure = |estimate: &Estimate| {
            if estimate.bound.is_some() || estimate.timeouts > 0 {
                return number::estimate(estimate);
            }
            let ends = estimate.interval.map(|interval| {
                format!(" {}", number::around(estimate.mean * scale, interval.times(scale)))
            });
            format!("{} {unit}{}", number::grouped(estimate.mean * scale), ends.unwrap_or_default())
        };
        let cells = rows.iter().zip(&estimates).map(|(row, estimate)| match estimate {
            Some(estimate) => Cell::from(figure(estimate)),
            None if row.failed > 0 => Cell::new("failed", Tone::Bad),
            None => Cell::default(),
        });
        Self {
            heading: heading.to_owned(),
            cells: cells.collect(),
            values: estimates.iter().map(|estimate| estimate.map_or(0.0, |e| e.mean)).collect(),
        }
    }
}

/// The first responses of an only configuration.
fn responses(row: &ConfigurationRow) -> Columns<'_, &(String, Estimate)> {
    let mut table = Columns::for_rows(row.responses.iter().take(RESPONSES));
    table.left("response", |(name, _)| name.as_str());
    table.left("mean", |(_, estimate)| Some(estimate));
    table.right("n", |(_, estimate)| estimate.n);
    table
}

/// The rows of the table in the order of the file, and how many are left out.
fn rows<'s>(summary: &'s Summary) -> (Vec<&'s ConfigurationRow>, usize) {
    let all: Vec<&ConfigurationRow> = summary.configurations.iter().collect();
    if all.len() <= ROWS_MAX {
        return (all, 0);
    }
    let sign = match summary.response.as_ref().map(|response| response.direction) {
        Some(Direction::HigherIsBetter) => -1.0,
        _ => 1.0,
    };
    let mut ranked: Vec<(&ConfigurationRow, f64)> =
        all.iter().filter_map(|row| Some((*row, sign * row.response.as_ref()?.mean))).collect();
    order::smallest_first(&mut ranked, &|(_, value)| *value);
    let chosen = |row: &ConfigurationRow| {
        let is_ranked = |(other, _): &(&ConfigurationRow, f64)| other.index == row.index;
        row.baseline
            || ranked.iter().take(BEST).any(is_ranked)
            || ranked.last().is_some_and(is_ranked)
    };
    let shown: Vec<&ConfigurationRow> = all.iter().copied().filter(|row| chosen(row)).collect();
    let left_out = all.len() - shown.len();
    (shown, left_out)
}

/// The ratio to the baseline; one that the repeats leave open is not printed.
fn ratio(summary: &Summary, row: &ConfigurationRow) -> Cell {
    match &row.factor {
        _ if row.baseline => "baseline".into(),
        Some(comparison) if comparison.is_bounded() => Cell::comparison(comparison, summary.unit()),
        Some(comparison) if comparison.supported() => {
            let better = comparison.is_better();
            let direction = analysis::wording::direction(comparison, summary.response.as_ref());
            Cell::new(direction, if better { Tone::Good } else { Tone::Bad })
        }
        Some(_) => Cell::new("unclear", Tone::Muted),
        None => Cell::default(),
    }
}

/// The best one is called so where another one is worse than it.
fn standing(summary: &Summary, row: &ConfigurationRow) -> Cell {
    let is_beaten = |row: &ConfigurationRow| row.standing == Standing::Worse;
    match row.standing {
        Standing::Best if summary.configurations.iter().any(is_beaten) => {
            Cell::new("best", Tone::Good)
        }
        Standing::Equivalent => Cell::standing(row.standing, None, summary),
        _ if row.at_limit() > 0 => Cell::new("timed out", Tone::Bad),
        _ if row.lost_blocks > 0 && row.response.is_some() => {
            Cell::new(number::plural(row.lost_blocks, "block") + " failed", Tone::Bad)
        }
        _ => Cell::from(""),
    }
}

/// `25 trials in 5 blocks, 2 min 51 s, run 1`.
fn extent(summary: &Summary) -> String {
    let trials = &summary.recording.trials;
    let blocks = summary.configurations.iter().map(|row| row.done).max().unwrap_or(0);
    let futile = summary.futile().count();
    let failed = summary.failed().saturating_sub(futile);
    let wall_s: f64 = trials.iter().map(|trial| trial.wall_s).sum();
    let run = &summary.recording.run;
    let parts = [
        Some(format!(
            "{} in {}",
            number::plural(summary.done(), "trial"),
            number::plural(blocks, "block")
        )),
        (failed > 0).then(|| format!("{failed} failed")),
        (futile > 0).then(|| format!("{futile} ended early")),
        (wall_s > 0.0).then(|| number::rounded_time(wall_s)),
        Some(format!("run {}", run.id)),
        text::origin(run.label.as_deref(), None),
    ];
    joined(parts.into_iter().flatten(), ", ")
}

/// The meaning of figures and marks of a screen.
pub fn legend() -> Document {
    let mut section = Section::default();
    for (sign, meaning) in [
        ("± 4 %", "95 % confidence interval of the mean over blocks, as a share of it"),
        ("[0, 33.3]", "the ends of that interval, where it is as wide as the mean"),
        ("1.24x", "how many times better than the baseline; below 1 it is worse"),
        ("[1.1, 1.4]", "95 % interval of that ratio, adjusted for all comparisons of its column"),
        ("unclear", "not significantly different, and the interval is wider than a factor of ten"),
        ("best", "best ratio over paired blocks"),
        ("within 5 %", "equivalent to the best: a larger difference is excluded"),
        ("estimate", "computed from a model, not measured"),
    ] {
        section.line(format!("{sign:<12}{meaning}"));
    }
    section.note("All terms: docs/reading-a-report.md");
    Document { title: "What figures and marks mean".into(), sections: vec![section] }
}
