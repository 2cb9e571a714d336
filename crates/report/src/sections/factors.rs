//! What factors do: their levels over those of the others, and the tables that studies print.

use crate::model::{Cell, Column, NOTHING, Section, Table, Tone};
use crate::{names, number};
use analysis::{FactorEffect, Factors, GainTable, Interaction, LevelEffect, Summary};

/// Each factor, what its levels gain for each level of the main one, and what depends on what; with one factor the
/// configurations say it all.
pub(crate) fn sections(summary: &Summary, factors: &Factors) -> Vec<Section> {
    if factors.effects.len() < 2 {
        return Vec::new();
    }
    let effects = factors.effects.iter().map(|factor| effect_section(summary, factor));
    let gains = factors.gains.iter().map(|table| gain_section(summary, table));
    effects.chain(gains).chain(interaction_section(summary)).collect()
}

fn name<'a>(summary: &Summary, factor: &'a FactorEffect) -> &'a str {
    names::factor(summary, &factor.factor)
}

fn level(factor: &FactorEffect, position: usize) -> &str {
    factor.levels.get(position).map_or(NOTHING, |level| level.level.as_str())
}

fn effect_section(summary: &Summary, factor: &FactorEffect) -> Section {
    let name = name(summary, factor);
    let mut section = Section::new(format!("Factor {name}: means over the other factors"));
    let row = |(i, level): (usize, &LevelEffect)| {
        let comparison = match &level.comparison {
            Some(comparison) => Cell::comparison(comparison, summary.unit()),
            None if i == factor.reference => Cell::plain("reference"),
            None => Cell::plain(NOTHING),
        };
        vec![
            Cell::plain(level.level.as_str()),
            Cell::plain(level.trials.to_string()),
            Cell::estimate(level.response.as_ref()),
            comparison,
            Cell::standing(level.standing),
            best(summary, factor, level),
        ]
    };
    section.table(Table {
        columns: vec![
            Column::name(name),
            Column::right("trials"),
            Column::left(summary.response.as_ref().map_or("", |response| response.name.as_str())),
            Column::left(format!("vs {}", level(factor, factor.reference))),
            Column::left("best"),
            Column::left("its best configuration").optional(1),
        ],
        rows: factor.levels.iter().enumerate().map(row).collect(),
        fixed: false,
    });
    section
}

/// `909 s with data_files=16 (1.93x)`: the factor is to the best configuration of the reference level.
fn best(summary: &Summary, factor: &FactorEffect, level: &LevelEffect) -> Cell {
    let Some(best) = &level.best else { return Cell::plain(NOTHING) };
    let Some(row) = summary.configurations.get(best.configuration) else { return Cell::plain(NOTHING) };
    let value = number::quantity(best.response.mean, &best.response.unit);
    let times = best.factor.map_or_else(String::new, |factor| format!(" ({}x)", number::ratio(factor)));
    Cell::plain(format!("{value} with {}{times}", names::label_without(summary, row, &factor.factor)))
}

/// How many times better each level is than the reference level, for each level of the main factor.
fn gain_section(summary: &Summary, table: &GainTable) -> Section {
    let (main, factor) = (&summary.factors.effects[table.rows], &summary.factors.effects[table.factor]);
    let (main_name, factor_name) = (name(summary, main), name(summary, factor));
    let from = level(factor, table.from);
    let mut section = Section::new(format!("Gain over {factor_name} = {from}, for each {main_name}"));
    let row = |(i, own): (usize, &LevelEffect)| -> Vec<Cell> {
        let gains = table.columns.iter().map(|column| match column.by_row.get(i) {
            Some(Some(gain)) => Cell::comparison(gain, summary.unit()),
            _ => Cell::plain(NOTHING),
        });
        [Cell::plain(own.level.as_str())].into_iter().chain(gains).collect()
    };
    let mut rows: Vec<Vec<Cell>> = main.levels.iter().enumerate().map(row).collect();
    if table.columns.iter().any(|column| column.average.is_some()) {
        let averages = table.columns.iter().map(|column| Cell::estimate(column.average.as_ref()));
        rows.push([Cell::plain("average")].into_iter().chain(averages).collect());
        section
            .toned("How many times better; average: mean gain over all that else was varied.", Tone::Muted);
    }
    let columns = table.columns.iter().zip(0_u8..).map(|(column, i)| {
        Column::left(format!("{factor_name} = {}", level(factor, column.to))).optional(i.saturating_sub(1))
    });
    let columns = [Column::name(main_name)].into_iter().chain(columns).collect();
    section.table(Table { columns, rows, fixed: false });
    section
}

/// Which gains depend on another factor; `None` where nothing can be tested.
fn interaction_section(summary: &Summary) -> Option<Section> {
    let mut section = Section::new("Interactions: does what a factor gains depend on another one?");
    let row = |interaction: &Interaction| {
        let (factor, by) =
            (&summary.factors.effects[interaction.factor], &summary.factors.effects[interaction.by]);
        let p = interaction.adjusted_p.unwrap_or(interaction.p_value);
        let gain = |level: usize| match interaction.gains.get(level) {
            Some(Some(gain)) => number::comparison(gain, summary.unit()),
            _ => NOTHING.to_owned(),
        };
        let at = |position| format!("{} with {}", gain(position), level(by, position));
        vec![
            Cell::plain(format!("{} by {}", name(summary, factor), name(summary, by))),
            Cell::plain(format!(
                "{} over {}",
                level(factor, interaction.to),
                level(factor, interaction.from)
            )),
            Cell::plain(at(interaction.most)),
            Cell::plain(at(interaction.least)),
            Cell::new(p_value(p), if interaction.supported() { Tone::Plain } else { Tone::Muted }),
        ]
    };
    section.table(Table {
        columns: vec![
            Column::name("factors"),
            Column::left("gain of"),
            Column::left("most"),
            Column::left("least"),
            Column::left("p"),
        ],
        rows: summary.factors.interactions.iter().map(row).collect(),
        fixed: false,
    });
    section.toned(
        format!(
            "p: that gains are the same with every level (F test over blocks, Holm over {}).",
            number::plural(summary.factors.family, "test")
        ),
        Tone::Muted,
    );
    (!summary.factors.interactions.is_empty()).then_some(section)
}

fn p_value(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { number::fixed(p, 3) }
}
