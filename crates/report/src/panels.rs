//! Where a configuration is drawn: along the axis by the main factor, as a series by the next one,
//! in a panel by the others.

use crate::figure::{string, strings};
use crate::text::joined;
use crate::text::short_name;
use analysis::{ConfigurationRow, Summary};
use serde_json::{Value, json};

/// How configurations are laid out over a figure.
pub struct Panels<'a> {
    /// Short name of the main factor.
    pub factor: String,
    /// Its levels in the order of the file.
    pub levels: Vec<&'a str>,
    /// The levels as numbers, when every one is a number.
    numeric: Option<Vec<f64>>,
    /// Short name of the factor that has a series for each level; empty when there is none.
    pub series_factor: String,
    /// Labels of the series; one that is empty when there is no second factor.
    pub series: Vec<String>,
    /// Titles of the panels; one that is empty when no factor is left for them.
    pub titles: Vec<String>,
    /// Full name of the main factor and of the one of the series.
    names: (&'a str, Option<&'a str>),
    short: Vec<(&'a str, &'a str)>,
}

/// Positions of a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Level of the main factor.
    pub level: usize,
    /// Series.
    pub series: usize,
    /// Panel.
    pub panel: usize,
}

impl<'a> Panels<'a> {
    /// Series by the second factor, panels by the rest.
    pub fn with_series(summary: &'a Summary<'_>) -> Option<Self> {
        Self::new(summary, true)
    }

    /// Panels by all factors but the main one.
    pub fn without_series(summary: &'a Summary<'_>) -> Option<Self> {
        Self::new(summary, false)
    }

    fn new(summary: &'a Summary<'_>, with_series: bool) -> Option<Self> {
        let main = summary.main_effect()?;
        let names: Vec<&str> = summary.factors.effects.iter().map(|factor| factor.factor.as_str()).collect();
        let second = summary.factors.effects.iter().find(|f| with_series && f.factor != main.factor);
        let mut panels = Self {
            factor: short_name(&main.factor, &names).to_owned(),
            levels: main.levels.iter().map(|level| level.level.as_str()).collect(),
            numeric: main.levels.iter().map(|level| level.numeric).collect(),
            series_factor: second.map_or("", |f| short_name(&f.factor, &names)).to_owned(),
            series: second.map_or_else(
                || vec![String::new()],
                |f| f.levels.iter().map(|level| level.level.clone()).collect(),
            ),
            titles: Vec::new(),
            names: (&main.factor, second.map(|f| f.factor.as_str())),
            short: names.iter().map(|name| (*name, short_name(name, &names))).collect(),
        };
        // A panel without a trial would be an empty frame.
        for row in summary.configurations.iter().filter(|row| row.done > 0) {
            let title = panels.title(row);
            if !panels.titles.contains(&title) {
                panels.titles.push(title);
            }
        }
        Some(panels)
    }

    /// Where a configuration is drawn; `None` when it has no level of the main factor.
    pub fn position(&self, row: &ConfigurationRow) -> Option<Position> {
        let own = |factor: &str| row.levels.iter().find(|level| level.factor == factor);
        let level = own(self.names.0)?;
        let series = match self.names.1 {
            Some(factor) => {
                self.series.iter().position(|label| *label == own(factor).map_or("", |l| &l.level))?
            }
            None => 0,
        };
        Some(Position {
            level: self.levels.iter().position(|label| *label == level.level)?,
            series,
            panel: self.titles.iter().position(|title| *title == self.title(row))?,
        })
    }

    /// The axis: linear for numbers, logarithmic where they span three doublings or more, else one place a level.
    pub fn axis(&self) -> Value {
        let numbers = self.numeric.as_ref();
        let range = numbers.map(|numbers| {
            numbers.iter().fold((f64::MAX, f64::MIN), |(low, high), n| (low.min(*n), high.max(*n)))
        });
        let scale = match range {
            Some((low, high)) if low > 0.0 && high >= 8.0 * low => "log",
            Some((low, high)) if high > low => "linear",
            _ => "point",
        };
        let levels = strings(self.levels.iter().copied());
        json!({ "label": string(&self.factor), "scale": scale, "levels": levels, "numbers": numbers })
    }

    fn title(&self, row: &ConfigurationRow) -> String {
        let others = row.levels.iter().filter(|level| {
            level.factor != self.names.0 && self.names.1.is_none_or(|series| level.factor != series)
        });
        let short =
            |name: &str| self.short.iter().find(|(full, _)| *full == name).map_or("", |(_, s)| s).to_owned();
        joined(others.map(|level| format!("{} = {}", short(&level.factor), level.level)), ", ")
    }
}
