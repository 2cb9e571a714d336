//! The effects of a screening design: a table with alias chains, a Pareto chart and a half-normal
//! plot.

use super::analysis::{
    CentreTest, EffectTest, FoldOver, ScreenedEffect, Screening, ScreeningConfirmation, Verdict,
};
use crate::mathematics::Curvature;
use ::analysis::{Interval, Summary};
use report::{
    Bar, BarGroup, Cell, Chart, ChartKind, Column, Columns, Figure, Section, Tone, coordinate,
    number, string, text,
};
use serde_json::{Value, json};

const SIZES: &str = "size: mean with the second level less mean with the first; of a chain, the \
                     sum of its members' effects.";
/// Bars of the Pareto chart.
const BARS_MAX: usize = 20;

pub(crate) fn sections(summary: &Summary, screening: Option<&Screening>) -> Vec<Section> {
    let Some(screening) = screening else { return Vec::new() };
    let mut sections = vec![effects(summary, screening)];
    if !screening.effects.is_empty() {
        sections.push(pareto(screening));
        sections.push(half_normal(screening));
    }
    sections.extend(models(screening));
    sections.extend(
        screening.confirmations.iter().map(|entry| confirmation_section(summary, screening, entry)),
    );
    sections.extend(next_steps(summary, screening));
    sections
}

fn confirmation_section(
    summary: &Summary,
    screening: &Screening,
    confirmation: &ScreeningConfirmation,
) -> Section {
    let mut section = Section::new(format!(
        "Confirmation of {} in {}",
        confirmation.effects.join(", "),
        number::plural(confirmation.blocks, "block")
    ));
    if confirmation.differences.is_empty() {
        section.warn("Nothing can be compared until two blocks are complete.");
        return section;
    }
    let unit = &screening.unit;
    let mut table = Columns::for_rows(&confirmation.differences);
    table.left("best run against", |row| {
        if row.baseline { "the baseline" } else { "the predicted worst" }
    });
    table.with(Column::right("predicted"), |row| signed(row.predicted, unit));
    table.with(Column::left("expected in fresh blocks"), |row| ends(row.answer.expected, unit));
    table.with(Column::right("measured"), |row| signed(row.answer.measured, unit));
    table.with(Column::left("95 % CI"), |row| ends(row.answer.interval, unit)).optional(1);
    table.left("verdict", |row| {
        let text = match row.answer.verdict {
            Verdict::Confirmed => "confirmed",
            Verdict::OtherSize => "confirmed in direction only",
            Verdict::Undecided => "undecided: too few repeats",
            Verdict::NotConfirmed => "not confirmed",
            Verdict::Reversed => "not confirmed: reversed",
        };
        format!("{text}, {}", number::p_value(row.answer.p_value))
    });
    section.table(table);
    let label = |run: usize| {
        summary.configurations.get(run).map_or("", |configuration| configuration.label.as_str())
    };
    section.note(format!("Predicted best: {}.", label(confirmation.differences[0].best)));
    if let Some(worst) = confirmation.differences.iter().find(|difference| !difference.baseline) {
        section.note(format!("Predicted worst: {}.", label(worst.other)));
    }
    section.note(
        "Differences of the same block, so that blocks cancel. 95 % CI: t over blocks, Bonferroni \
         for the differences; the expected interval adds the error of the effects, adjusted for \
         their selection. Confirmed: the CI excludes 0 and the measured mean is as expected.",
    );
    section
}

/// The commands that continue the screening.
fn next_steps(summary: &Summary, screening: &Screening) -> Option<Section> {
    let mut section = Section::new("Next steps");
    let name = &summary.recording.run.name;
    let mut table = Columns::for_rows(&screening.next);
    // Not a name: a command is not cut.
    table.with(Column::left("command"), |step| {
        format!("steelbench run {name}.toml {}", step.option)
    });
    table.left("why", |step| step.why.as_str());
    section.table(table);
    section.note(
        "They add runs to this recording. Give the experiment file with its path, and `-o` if the \
         results file has another name.",
    );
    (!screening.next.is_empty()).then_some(section)
}

fn effects(summary: &Summary, screening: &Screening) -> Section {
    let factors = number::plural(screening.factors.len(), "factor");
    let runs = number::plural(screening.runs, "run");
    let mut section = Section::new(format!("Screening: effects of {factors} in {runs}"));
    if !screening.missing.is_empty() {
        section.warn(format!(
            "No effect can be estimated: {} without a value. Every run of the design is needed; \
             fix the cause and resume.",
            number::plural(screening.missing.len(), "run")
        ));
    } else if screening.effects.is_empty() {
        section.warn("No effect can be estimated until one block is complete.");
    }
    let mut table = Columns::for_rows(&screening.effects);
    table.name("effect", |row| chain(row));
    table.with(Column::right("size"), |row| signed(row.value, &screening.unit));
    table.with(Column::right("of the mean"), |row| {
        let share = screening.share(row.value);
        share.map(|share| format!("{} %", number::signed(100.0 * share, 1)))
    });
    table
        .with(Column::left("95 % CI"), |row| {
            row.interval.map(|interval| ends(interval, &screening.unit))
        })
        .optional(1);
    table.with(Column::left("verdict"), |row| verdict(screening, row));
    if !screening.effects.is_empty() {
        section.table(table);
    }
    for note in notes(screening) {
        section.note(note);
    }
    let mut legend = Columns::for_rows(&screening.factors);
    legend.name("letter", |row| row.letter.as_str());
    legend.with(Column::left("factor"), |row| text::factor(summary, &row.name).to_owned());
    legend.left("first level (-)", |row| row.low.as_str());
    legend.left("second level (+)", |row| row.high.as_str());
    section.table(legend);
    section
}

/// `AB + CE - DF`: the sum that the contrast estimates.
fn chain(effect: &ScreenedEffect) -> String {
    let mut sum = String::new();
    for term in &effect.chain {
        match (sum.is_empty(), term.strip_prefix('-')) {
            (true, _) => sum.push_str(term),
            (false, Some(term)) => sum.extend([" - ", term]),
            (false, None) => sum.extend([" + ", term]),
        }
    }
    if sum.is_empty() { "no factor".into() } else { sum }
}

fn signed(value: f64, unit: &str) -> String {
    let sign = if value > 0.0 { "+" } else { "" };
    format!("{sign}{}", number::quantity(value, unit))
}

/// `[-1.2 s, +3.4 s]`
fn ends(interval: Interval, unit: &str) -> String {
    format!("[{}, {}]", signed(interval.low, unit), signed(interval.high, unit))
}

fn verdict(screening: &Screening, effect: &ScreenedEffect) -> Cell {
    let p = effect.adjusted_p.map(number::p_value);
    let (text, tone) = match (effect.significant, screening.test) {
        (Some(true), _) => ("significant", Tone::Plain),
        (Some(false), Some(EffectTest::Lenth { margin, .. })) if effect.value.abs() > margin => {
            ("not significant (above ME)", Tone::Muted)
        }
        (Some(false), _) => ("not significant", Tone::Muted),
        (None, _) if effect.between_setups => ("not tested: set up once", Tone::Muted),
        (None, _) => ("not tested", Tone::Muted),
    };
    Cell::new(p.map_or_else(|| text.to_owned(), |p| format!("{text}, {p}")), tone)
}

fn notes(screening: &Screening) -> Vec<String> {
    let aliases = match (screening.partial_aliases, screening.resolution) {
        (true, _) => {
            "Main effects are partly aliased with the interactions of all other factors: a size \
             may come from interactions."
        }
        (false, 3) => {
            "Resolution III: main effects are aliased with interactions of two factors; members \
             of a chain cannot be distinguished."
        }
        (false, 4) => {
            "Resolution IV: main effects are aliased with interactions of three or more factors \
             only; members of a chain of interactions cannot be distinguished."
        }
        _ => "Effects of one and two factors are not aliased with each other.",
    };
    let mut notes = vec![SIZES.to_owned(), aliases.to_owned()];
    notes.extend(screening.fold.as_ref().map(|fold| fold_note(screening, fold)));
    notes.extend(screening.curvature.map(|curvature| curvature_note(screening, &curvature)));
    match screening.test {
        Some(EffectTest::Repeats { repeats, setups, df, family }) => notes.push(format!(
            "95 % CI: t over {} with {df:.0} degrees of freedom, of each effect alone; p: \
             Holm-adjusted for {}.",
            number::plural(repeats, if setups { "set-up" } else { "block" }),
            number::plural(family, "effect"),
        )),
        Some(EffectTest::Lenth { pse, margin, simultaneous, .. }) => {
            let [pse, margin, simultaneous] =
                [pse, margin, simultaneous].map(|pse| number::quantity(pse, &screening.unit));
            notes.push(format!(
                "One block: significance by Lenth's method with simulated critical values. PSE \
                 {pse}, ME {margin} (one effect), SME {simultaneous} (all effects; decides)."
            ));
        }
        None => {}
    }
    notes
}

fn fold_note(screening: &Screening, fold: &FoldOver) -> String {
    let of = match fold.factor {
        Some(factor) => format!("on {}", screening.factors[factor].letter),
        None => "of all factors".to_owned(),
    };
    let runs = number::plural(fold.runs, "run");
    if fold.complete {
        format!(
            "Folded {of}: {runs} more in further blocks, analysed with those of the design. The \
             shift between both halves is taken out."
        )
    } else {
        format!("The fold-over {of} ({runs}) does not count until a block of it is complete.")
    }
}

fn curvature_note(screening: &Screening, test: &CentreTest) -> String {
    let Curvature { value, interval, p_value, df } = test.curvature;
    format!(
        "Curvature: the mean of {} in each block less that of the runs is {} {}, {} ({}; tested \
         alone, {df:.0} degrees of freedom).",
        number::plural(test.centre_points, "centre point"),
        signed(value, &screening.unit),
        ends(interval, &screening.unit),
        number::p_value(p_value),
        if p_value < 0.05 { "significant" } else { "not significant" },
    )
}

fn pareto(screening: &Screening) -> Section {
    let shown = screening.effects.iter().take(BARS_MAX);
    let largest = shown.clone().map(|effect| effect.value.abs()).fold(0.0, f64::max);
    let (scale, unit) = number::common_unit(largest, &screening.unit);
    let bars = shown.map(|effect| Bar {
        label: chain(effect).into(),
        value: effect.value.abs() * scale,
        note: match effect.significant {
            Some(true) if effect.value > 0.0 => "significant, +".into(),
            Some(true) => "significant, -".into(),
            _ => String::new().into(),
        },
        tone: if effect.significant == Some(true) { Tone::Good } else { Tone::Plain },
        ..Bar::default()
    });
    let group = BarGroup { bars: bars.collect(), ..BarGroup::default() };
    let mut section = Section::new("Pareto chart of the effects");
    section.chart(Chart {
        title: "Sizes without signs".into(),
        unit: unit.into(),
        kind: ChartKind::Bars,
        groups: vec![group],
    });
    section
}

/// The sizes against the quantiles of as many half-normal numbers: noise lies on a line through the
/// origin.
fn half_normal(screening: &Screening) -> Section {
    let points = &screening.effects;
    let marks = points.iter().map(|point| {
        let stands_out = point.significant == Some(true);
        json!([
            coordinate(point.quantile),
            coordinate(point.value.abs()),
            string(&chain(point)),
            stands_out
        ])
    });
    let slope = match screening.test {
        Some(EffectTest::Lenth { pse, .. }) => coordinate(pse),
        _ => Value::Null,
    };
    let mut data = Columns::for_rows(points);
    data.name("effect", |data| chain(data));
    data.right("half-normal quantile", |data| number::fixed(data.quantile, 2));
    data.with(Column::right("size"), |data| number::quantity(data.value.abs(), &screening.unit));
    let mut section = Section::page("Half-normal plot of the effects");
    section.figure(Figure {
        spec: json!({
            "kind": "halfNormal", "x": "half-normal quantile",
            "y": string(&format!("size ({})", screening.unit)),
            "points": marks.collect::<Vec<Value>>(), "slope": slope,
        }),
        caption: "Effects that are only noise lie on a line through the origin; effects above it \
                  stand out. The line, if drawn, has Lenth's PSE as its slope."
            .into(),
        alternative: "Half-normal plot of the effects; the table below lists its points.".into(),
        data: data.into(),
        data_heading: "Points".into(),
        chart: None,
    });
    section
}

/// Models of a Plackett-Burman design.
fn models(screening: &Screening) -> Option<Section> {
    let mut section = Section::new("Models with interactions");
    let mut table = Columns::for_rows(&screening.models);
    table.right("terms", |model| model.terms.len());
    table.with(Column::left("model"), |model| {
        let terms = model.terms.iter();
        terms
            .map(|term| format!("{} {}", term.term, signed(term.effect, &screening.unit)))
            .collect::<Vec<_>>()
            .join(", ")
    });
    table.right("R2", |model| number::fixed(model.r_squared, 3));
    section.table(table);
    section.note(
        "The best models of each size in which an interaction comes with at least one of its \
         factors. Exploratory: chosen by their fit among many, so confirm before use.",
    );
    (!screening.models.is_empty()).then_some(section)
}
