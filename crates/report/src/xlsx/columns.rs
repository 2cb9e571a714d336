use super::cell::{Shown, Value, Written};
use crate::Text;
use observations::{FactorRecord, Observations, Recording, TrialRecord, TrialStatus};
use std::collections::HashSet;

/// A heading holds no longer text than this (Excel's limit for columns of tables is 255 units).
const HEADING_MAX: usize = 100;

/// A column: its heading, and how its cell is found in a row's item.
pub struct Column<'a, T> {
    heading: String,
    cell: Box<dyn Fn(&T) -> Value<'a> + 'a>,
    /// Whether long text runs over several lines.
    pub wrapped: bool,
}

/// The columns of a table.
pub struct Columns<'a, T>(pub Vec<Column<'a, T>>);

impl<'a, T> Columns<'a, T> {
    pub fn new() -> Self {
        Self(Vec::new())
    }

    pub fn add(&mut self, heading: impl Into<String>, cell: impl Fn(&T) -> Value<'a> + 'a) {
        self.0.push(Column { heading: heading.into(), cell: Box::new(cell), wrapped: false });
    }

    pub fn wrapped(&mut self, heading: &str, cell: impl Fn(&T) -> Value<'a> + 'a) {
        self.0.push(Column { heading: heading.to_owned(), cell: Box::new(cell), wrapped: true });
    }
}

impl<'a, T> Column<'a, T> {
    pub fn value(&self, item: &T) -> Value<'a> {
        (self.cell)(item)
    }
}

/// What has to be known of all rows before the first is written.
#[derive(Debug, Default)]
pub struct Survey {
    pub rows: u64,
    pub columns: Vec<ColumnSurvey>,
}

/// What the cells of a column are like.
#[derive(Debug, Clone, Default)]
pub struct ColumnSurvey {
    /// Whether a count is too large for a number.
    pub large: bool,
    /// The number farthest from zero.
    pub most: f64,
    /// Characters of the longest text.
    pub longest: usize,
}

impl Survey {
    pub fn of<T>(columns: &Columns<T>, items: impl Iterator<Item = T>) -> Self {
        let mut survey = Self { rows: 0, columns: vec![ColumnSurvey::default(); columns.0.len()] };
        for item in items {
            survey.rows += 1;
            for (found, column) in survey.columns.iter_mut().zip(&columns.0) {
                found.see(&column.value(&item));
            }
        }
        survey
    }

    /// Headings for a table, in which each has to be another one whatever its case.
    pub fn headings<T>(&self, columns: &Columns<T>) -> Vec<String> {
        let mut taken = HashSet::new();
        let one = |(column, found): (&Column<T>, &ColumnSurvey)| {
            let safe = Text::from(column.heading.as_str());
            let mut heading: String = safe.as_str().chars().take(HEADING_MAX).collect();
            if found.large {
                heading.push_str(" (above 2^53 as text)");
            }
            let plain = heading.clone();
            let mut copy = 1;
            while heading.is_empty() || !taken.insert(heading.to_lowercase()) {
                copy += 1;
                heading = format!("{plain} ({copy})");
            }
            heading
        };
        columns.0.iter().zip(&self.columns).map(one).collect()
    }
}

impl ColumnSurvey {
    fn see(&mut self, value: &Value) {
        self.large |= value.is_large();
        match value {
            // The length as it will be written matters only for the width.
            Value::Text(text) => self.longest = self.longest.max(text.chars().take(100).count()),
            other => {
                if let Written::Number(number, Shown::Number) = other.written() {
                    self.most = self.most.max(number.abs());
                }
            }
        }
    }
}

/// One part of what a trial saw (a wait, a latency, ...), with its trial.
pub struct Row<'a, P> {
    /// Number of the trial in the recording, from 1: it joins the tables.
    pub number: u64,
    pub trial: &'a TrialRecord,
    pub part: P,
}

/// All trials.
pub fn all(recording: &Recording) -> impl Iterator<Item = Row<'_, ()>> + Clone {
    (1..).zip(&recording.trials).map(|(number, trial)| Row { number, trial, part: () })
}

/// Trials with what they saw, also those that failed midway.
pub fn seen(recording: &Recording) -> impl Iterator<Item = Row<'_, &Observations>> + Clone {
    all(recording).filter_map(|Row { number, trial, .. }| {
        trial.observations.as_ref().map(|part| Row { number, trial, part })
    })
}

/// What every table of trials begins with: which trial, of which configuration, at which levels.
pub fn of_trials<P>(recording: &Recording) -> Columns<'_, Row<'_, P>> {
    let mut columns: Columns<'_, Row<'_, P>> = Columns::new();
    columns.add("trial", |row| Value::Count(row.number));
    columns.add("configuration", |row| label(recording, row.trial.configuration));
    for factor in &recording.factors {
        columns.add(&factor.name, |row| level(recording, factor, row.trial.configuration));
    }
    columns.add("block", |row| Value::Count(row.trial.block.into()));
    columns.add("status", |row| {
        Value::text(match row.trial.status {
            TrialStatus::Done => "done",
            TrialStatus::Failed { .. } => "failed",
        })
    });
    columns
}

/// Label of a configuration.
pub fn label(recording: &Recording, configuration: usize) -> Value<'_> {
    recording.configurations.get(configuration).map_or(Value::Empty, |found| Value::text(&found.label))
}

/// Level of a factor: a number when all its levels are.
pub fn level<'a>(recording: &'a Recording, factor: &'a FactorRecord, configuration: usize) -> Value<'a> {
    let levels = recording.configurations.get(configuration).map(|found| &found.levels);
    let Some(own) = levels.and_then(|levels| levels.iter().find(|level| level.factor == factor.name)) else {
        return Value::Empty;
    };
    named_level(factor, &own.level)
}

/// A level by its label: a number when all levels of the factor are.
pub fn named_level<'a>(factor: &'a FactorRecord, label: &'a str) -> Value<'a> {
    let position = factor.levels.iter().position(|level| level == label);
    let number = position.and_then(|position| factor.numeric.as_ref()?.get(position));
    match number {
        Some(number) if number.fract() == 0.0 && (0.0..9e15).contains(number) => Value::Count(*number as u64),
        Some(number) => Value::Number(*number),
        None => Value::text(label),
    }
}
