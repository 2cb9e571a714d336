//! Effects of factors: levels averaged over the other factors, and tables of studies.

use crate::model::{Cell, Column, Columns, NOTHING, Section, Tone};
use crate::{number, text};
use analysis::gains::GainTable;
use analysis::{Estimate, FactorEffect, Factors, Interaction, LevelEffect, Summary};

/// Each factor, what its levels gain for each level of the main one, and what depends on what; with
/// one factor the configurations say it all.
pub(crate) fn sections(summary: &Summary, factors: &Factors) -> Vec<Section> {
    // Of another design another section has the answer.
    if factors.effects.len() < 2 || !summary.is_grid() {
        return Vec::new();
    }
    let compared = factors.effects.iter().filter(|factor| !factor.other_work);
    let effects = compared.map(|factor| effect_section(summary, factor));
    let gains = factors.gains.iter().map(|table| gain_section(summary, table));
    effects.chain(gains).chain(interaction_section(summary)).collect()
}

fn name<'a>(summary: &Summary, factor: &'a FactorEffect) -> &'a str {
    text::factor(summary, &factor.factor)
}

fn level(factor: &FactorEffect, position: usize) -> &str {
    factor.levels.get(position).map_or(NOTHING, |level| level.level.as_str())
}

/// The levels of a factor against each other.
pub fn effect_section(summary: &Summary, factor: &FactorEffect) -> Section {
    let name = name(summary, factor);
    let mut section = Section::new(format!("Factor {name}: means over the other factors"));
    let mut table = Columns::for_rows(factor.levels.iter().enumerate());
    table.name(name, |(_, level)| &level.level);
    table.right("trials", |(_, level)| level.trials);
    let response = summary.response.as_ref().map_or("", |response| response.name.as_str());
    table.left(response, |(_, level)| level.response.as_ref());
    table.with(Column::left(format!("vs {}", level(factor, factor.reference))), |(i, level)| {
        match &level.comparison {
            Some(comparison) => Cell::comparison(comparison, summary.unit()),
            None if *i == factor.reference => "reference".into(),
            None => Cell::default(),
        }
    });
    table.with(Column::left("best"), move |(_, level)| {
        Cell::standing(level.standing, level.against_best.as_ref(), summary)
    });
    table
        .with(Column::left("its best configuration"), |(_, level)| best(summary, factor, level))
        .optional(1);
    section.table(table);
    match summary.factors.family {
        0 => {}
        1 => section.note("[ ]: 95 % CI of the ratio."),
        family => section.note(format!(
            "[ ]: 95 % CI of the ratio, adjusted for all {family} tests of the factors."
        )),
    }
    if factor.left_out > 0 {
        section.note(format!(
            "Means cover the blocks and levels of the other factors where every level has a \
             value; {} left out.",
            match factor.left_out {
                1 => "1 trial is".to_owned(),
                n => format!("{} are", number::plural(n, "trial")),
            }
        ));
    }
    section
}

/// `909 s with data_files=16 (1.93x)`: the factor is to the best configuration of the reference
/// level.
fn best(summary: &Summary, factor: &FactorEffect, level: &LevelEffect) -> Option<String> {
    let best = level.best.as_ref()?;
    let row = summary.configurations.get(best.configuration)?;
    let value = number::quantity(best.response.mean, &best.response.unit);
    let times =
        best.factor.map_or_else(String::new, |factor| format!(" ({}x)", number::ratio(factor)));
    Some(format!("{value} with {}{times}", text::label_without(summary, row, &factor.factor)))
}

/// Most columns of gains: more are not readable.
const GAINS_MAX: u8 = 32;

/// The gain of each level over the reference level, for each level of the main factor.
fn gain_section(summary: &Summary, table: &GainTable) -> Section {
    let (main, factor) =
        (&summary.factors.effects[table.rows], &summary.factors.effects[table.factor]);
    let (main_name, factor_name) = (name(summary, main), name(summary, factor));
    let from = level(factor, table.from);
    let mut section = Section::new(format!("Gain over {factor_name} = {from}, by {main_name}"));
    let has_averages = table.columns.iter().any(|column| column.average.is_some());
    if has_averages {
        section.note(
            "Gain: factor by which the response is better; average: arithmetic mean over all \
             other factors.",
        );
    }
    // The last row has the averages.
    let levels = main
        .levels
        .iter()
        .map(|level| level.level.as_str())
        .chain(has_averages.then_some("average"));
    let mut columns = Columns::for_rows(levels.enumerate());
    columns.name(main_name, |(_, level)| *level);
    for (gains, i) in table.columns.iter().zip(0..GAINS_MAX) {
        let heading = format!("{factor_name} = {}", level(factor, gains.to));
        columns
            .with(Column::left(heading), |(row, _): &(usize, &str)| match gains.by_row.get(*row) {
                Some(gain) => gain.as_ref().map(|gain| Cell::comparison(gain, summary.unit())),
                None => gains.average.as_ref().map(average),
            })
            .optional(i.saturating_sub(1));
    }
    section.table(columns);
    let all = table.columns.len();
    if all > usize::from(GAINS_MAX) {
        let levels = number::plural(all, "level");
        section.note(format!("The first {GAINS_MAX} of {levels}; `show --json` has all."));
    }
    section
}

/// A mean gain of 609 % as the factor that the rows above it have: 7.09x.
fn average(gain: &Estimate) -> Cell {
    // A factor is never below 0, whatever t says of the mean of a few.
    let factor = |percent: f64| (1.0 + percent / 100.0).max(0.0);
    let value = factor(gain.mean);
    let interval = gain.interval.map(|interval| interval.map(factor));
    let ends = interval.map(|interval| format!(" {}", number::ratio_ends(interval)));
    let shown = format!("{}x{}", number::ratio(value), ends.unwrap_or_default());
    Cell::from(value).within(interval).shown(shown)
}

/// The gains that depend on another factor; `None` where nothing can be tested.
pub fn interaction_section(summary: &Summary) -> Option<Section> {
    let mut section = Section::new(
        "Interactions: does the gain of a factor depend on another \
                                    factor?",
    );
    let factor = |position: usize| &summary.factors.effects[position];
    let at = |interaction: &&Interaction, position: usize| {
        let gain = interaction.gains.get(position).and_then(Option::as_ref);
        let gain = gain
            .map_or_else(|| NOTHING.to_owned(), |gain| number::comparison(gain, summary.unit()));
        format!("{gain} with {}", level(factor(interaction.by), position))
    };
    let mut table = Columns::for_rows(&summary.factors.interactions);
    table.with(Column::name("factors"), move |row| {
        format!("{} by {}", name(summary, factor(row.factor)), name(summary, factor(row.by)))
    });
    table.with(Column::left("gain of"), move |row| {
        let factor = factor(row.factor);
        format!("{} over {}", level(factor, row.to), level(factor, row.from))
    });
    table.with(Column::left("most"), move |row| at(row, row.most));
    table.with(Column::left("least"), move |row| at(row, row.least));
    table.left("p", |row| {
        let p = row.adjusted_p.unwrap_or(row.p_value);
        let tone = if row.supported() { Tone::Plain } else { Tone::Muted };
        Cell::from(p)
            .shown(number::p_value(p).trim_start_matches("p = ").trim_start_matches("p "))
            .toned(tone)
    });
    section.table(table);
    section.note(format!(
        "p: F test of equal gains at every level, over blocks, Holm-adjusted for {}.",
        number::plural(summary.factors.family, "test")
    ));
    (!summary.factors.interactions.is_empty()).then_some(section)
}
