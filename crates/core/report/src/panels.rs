//! Where a configuration is drawn: along the axis by the main factor, as a series by the next one,
//! in a panel by the others.

use crate::figure::{string, strings};
use crate::text::joined;
use crate::text::short_name;
use analysis::{ConfigurationRow, FactorEffect, Summary};
use observations::Role;
use serde_json::{Value, json};
use std::collections::HashMap;

/// How configurations are laid out over a figure.
pub(crate) struct Panels<'a> {
    /// Short name of the main factor.
    pub factor: String,
    /// The levels in the order of the file.
    pub levels: Vec<&'a str>,
    /// The levels as numbers, when every one is a quantity: versions and names are not.
    numeric: Option<Vec<f64>>,
    /// Short name of the factor that has a series for each level; empty when there is none.
    pub series_factor: String,
    /// Labels of the series; one that is empty when there is no second factor.
    pub series: Vec<String>,
    /// Titles of the panels; one that is empty when no factor is left for them.
    pub titles: Vec<String>,
    /// Where each configuration is drawn.
    positions: Vec<Option<Position>>,
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
        let names: Vec<&str> =
            summary.factors.effects.iter().map(|factor| factor.factor.as_str()).collect();
        let second =
            summary.factors.effects.iter().find(|f| with_series && f.factor != main.factor);
        let series_names = second
            .map_or_else(Vec::new, |f| f.levels.iter().map(|level| level.level.as_str()).collect());
        let levels: Vec<&str> = main.levels.iter().map(|level| level.level.as_str()).collect();
        let (level_at, series_at) = (places(&levels), places(&series_names));
        let short: HashMap<&str, &str> =
            names.iter().map(|name| (*name, short_name(name, &names))).collect();
        let title = |row: &ConfigurationRow| {
            let others = row.levels.iter().filter(|level| {
                level.factor != main.factor
                    && second.is_none_or(|other| other.factor != level.factor)
            });
            // Further runs of the same levels share a panel: their number is not a factor.
            let named = others.filter_map(|level| {
                Some(format!("{} = {}", short.get(level.factor.as_str())?, level.level))
            });
            joined(named, ", ")
        };
        // A panel without a trial would be an empty frame.
        let mut titles: Vec<String> = Vec::new();
        let mut title_at: HashMap<String, usize> = HashMap::new();
        for title in summary.configurations.iter().filter(|row| row.done > 0).map(title) {
            title_at.entry(title).or_insert_with_key(|title| {
                titles.push(title.clone());
                titles.len() - 1
            });
        }
        let is_engine = summary.recording.roles.has(&main.factor, &[Role::Engine]);
        let is_quantity =
            |label: &str| !is_engine && label.starts_with(|c: char| c == '-' || c.is_ascii_digit());
        let positions = summary.configurations.iter().map(|row| {
            let series = |factor: &FactorEffect| {
                series_at.get(row.level(&factor.factor).unwrap_or_default()).copied()
            };
            Some(Position {
                level: *level_at.get(row.level(&main.factor)?)?,
                series: second.map_or(Some(0), series)?,
                panel: *title_at.get(&title(row))?,
            })
        });
        Some(Self {
            factor: short_name(&main.factor, &names).to_owned(),
            numeric: main
                .levels
                .iter()
                .map(|level| level.numeric.filter(|_| is_quantity(&level.level)))
                .collect(),
            series_factor: second.map_or("", |f| short_name(&f.factor, &names)).to_owned(),
            series: match second {
                Some(_) => series_names.into_iter().map(str::to_owned).collect(),
                None => vec![String::new()],
            },
            positions: positions.collect(),
            levels,
            titles,
        })
    }

    /// Where a configuration is drawn; `None` when it has no level of the main factor.
    pub fn position(&self, row: &ConfigurationRow) -> Option<Position> {
        *self.positions.get(row.index)?
    }

    /// Returns whether the main factor's levels are numbers, which have an order.
    pub fn is_ordered(&self) -> bool {
        self.numeric.is_some()
    }

    /// The axis: linear for numbers, logarithmic where they span three doublings or more, else one
    /// place a level.
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
        json!({ "label": string(&self.factor), "scale": scale, "levels": levels,
            "numbers": numbers })
    }
}

/// Where each label is; of several that are the same the first.
pub(crate) fn places<'a>(labels: &[&'a str]) -> HashMap<&'a str, usize> {
    labels.iter().enumerate().rev().map(|(at, label)| (*label, at)).collect()
}
