//! The record for pages: every trial, the experiment file, complete environments, the output of
//! hooks.

use crate::model::{Block, Column, Columns, Line, Section, Table, Tone};
use crate::text::short_name;
use crate::{Text, number, recording};
use analysis::Summary;
use observations::HookOutput;

/// Characters shown of the end of a hook's output, where errors are.
const OUTPUT_CHARACTERS: usize = 2000;

/// Page sections; the last one only where hooks ran.
pub(crate) fn sections(summary: &Summary) -> Vec<Section> {
    [trials(summary), experiment(summary)].into_iter().chain(hooks(summary)).collect()
}

/// Every trial (of a very large run the first ones) in one table, which can be sorted and filtered.
fn trials(summary: &Summary) -> Section {
    let mut section = Section::page("Every trial");
    if summary.recording.trials.is_empty() {
        section.note("No trial was recorded.");
        return section;
    }
    let names: Vec<&str> =
        summary.recording.factors.iter().map(|factor| factor.name.as_str()).collect();
    let table = recording::trials(summary.recording);
    let shown: Vec<usize> =
        (0..table.columns.len()).filter(|at| table.columns[*at].on_page).collect();
    let columns: Vec<Column> = shown
        .iter()
        .map(|at| {
            let mut column = table.columns[*at].clone();
            if !column.levels.is_empty() {
                let heading = column.heading();
                column.headed(short_name(&heading, &names));
            }
            column
        })
        .collect();
    let rows = table.rows().map(|row| shown.iter().map(|at| row[*at].clone()).collect());
    section
        .table(Table::shortened(columns, rows, summary.recording.trials.len()).named(table.name));
    section
}

/// The experiment file and those that it names as they were, and everything that was recorded of
/// the environments.
fn experiment(summary: &Summary) -> Section {
    let mut section = Section::page("Experiment file and environment");
    match summary.recording.run.source.as_str() {
        "" => section.note("Not recorded."),
        source => section.blocks.push(listing(source)),
    }
    for file in &summary.recording.files {
        let heading = format!("{}: {}, SHA-256 {}", file.named_by, file.path, file.sha256);
        section.blocks.push(Block::Fold(heading.into(), vec![listing(&file.content)]));
    }
    for (i, environment) in summary.recording.environments.iter().enumerate() {
        let when = match i {
            0 => "at the start of the run".to_owned(),
            _ => format!("at resume {i}"),
        };
        let facts =
            recording::facts(environment).into_iter().filter(|(_, value)| !value.text().is_empty());
        let mut table = Columns::for_rows(facts.collect::<Vec<_>>());
        table.name("fact", |(name, _)| name.clone());
        table.left("value", |(_, value)| value.clone());
        section.blocks.push(Block::Fold(
            format!("Environment {when}").into(),
            vec![Block::Table(table.into())],
        ));
    }
    section
}

/// Hooks by command: how often they ran and failed, how long they took, and what the last one (or
/// the last one that failed) printed. `None` when no hook ran.
fn hooks(summary: &Summary) -> Option<Section> {
    let mut commands: Vec<Vec<&HookOutput>> = Vec::new();
    for output in summary.recording.trials.iter().flat_map(|trial| &trial.hooks) {
        match commands
            .iter_mut()
            .find(|all| (&all[0].hook, &all[0].command) == (&output.hook, &output.command))
        {
            Some(all) => all.push(output),
            None => commands.push(vec![output]),
        }
    }
    let mut section = Section::page("Hooks");
    for all in &commands {
        let failed: Vec<_> = all.iter().filter(|output| output.exit_code != Some(0)).collect();
        let mean_s = all.iter().map(|output| output.elapsed_s).sum::<f64>() / all.len() as f64;
        let failures =
            if failed.is_empty() { String::new() } else { format!(", {} failed", failed.len()) };
        let (times, mean) = (number::plural(all.len(), "time"), number::seconds(mean_s));
        let (hook, command) = (&all[0].hook, &all[0].command);
        // The command line of a hook may be hidden.
        let colon = if command.is_empty() { "" } else { ": " };
        let heading = format!("{hook}{colon}{command}, {times}{failures}, {mean} on average");
        let last = failed.last().copied().or(all.last());
        section
            .blocks
            .push(Block::Fold(heading.into(), last.map_or_else(Vec::new, |last| printed(last))));
    }
    section.unless_empty()
}

fn printed(output: &HookOutput) -> Vec<Block> {
    let skipped = output.output.chars().count().saturating_sub(OUTPUT_CHARACTERS);
    let tail: String = output.output.chars().skip(skipped).collect();
    let code =
        output.exit_code.map_or_else(|| "killed".to_owned(), |code| format!("exit code {code}"));
    let text = |text: String| {
        Block::Line(Line { text: text.into(), tone: Tone::Muted, ..Line::default() })
    };
    if tail.trim().is_empty() {
        return vec![text(format!("Last failure: {code}, no output."))];
    }
    let left_out = match skipped {
        0 => String::new(),
        n => format!("; the first {} characters are left out", number::count(n as u64)),
    };
    vec![text(format!("Last failure: {code}{left_out}.")), listing(&tail)]
}

/// Lines as they are; tabs become blanks.
fn listing(raw: &str) -> Block {
    Block::Listing(raw.lines().map(|line| Text::from(line.replace('\t', "    "))).collect())
}
