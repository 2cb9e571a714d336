//! The main figure: the response against the levels of the main factor.

use crate::configurations::short_name;
use crate::model::{Bar, BarGroup, Chart, ChartKind, Section, Tone};
use crate::number;
use analysis::{ConfigurationRow, Estimate, FactorEffect, Standing, Summary};
use observations::Direction;

/// More bars than this are no figure: the means over the other factors are shown instead.
const BARS_MAX: usize = 24;

/// One bar a level, one group for each combination of the other factors' levels; `None` where there is nothing to
/// compare, and for the disk probe, which has figures of its own.
pub(crate) fn section(summary: &Summary) -> Option<Section> {
    let factor = summary.factors.get(summary.main_factor?)?;
    let response = summary.response.as_ref()?;
    let measured = summary.configurations.iter().filter(|row| row.response.is_some()).count();
    if measured < 2 || summary.disk.is_some() {
        return None;
    }
    let names: Vec<&str> = summary.factors.iter().map(|factor| factor.factor.as_str()).collect();
    let name = short_name(&factor.factor, &names);
    let every = measured <= BARS_MAX;
    let mut groups = if every { series(summary, factor, &names) } else { vec![means(factor)] };
    let bars = || groups.iter().flat_map(|group| &group.bars);
    let largest = bars().map(|bar| bar.value.abs()).fold(0.0, f64::max);
    let (scale, unit) = number::common_unit(largest, &response.unit);
    for bar in groups.iter_mut().flat_map(|group| &mut group.bars) {
        bar.value *= scale;
        bar.interval = bar.interval.map(|(low, high)| (low * scale, high * scale));
    }
    let better = match response.direction {
        Direction::HigherIsBetter => "more is better",
        Direction::LowerIsBetter => "less is better",
    };
    let over = if every { "" } else { " over the other factors" };
    let mut section = Section::new(format!("{} against {name}", response.name));
    let title = format!("Means{over} ± 95 % intervals, {better}").into();
    section.chart(Chart { title, unit: unit.into(), kind: ChartKind::Bars, groups });
    Some(section)
}

/// The levels of the main factor for each combination of the others' levels.
fn series(summary: &Summary, factor: &FactorEffect, names: &[&str]) -> Vec<BarGroup> {
    let mut groups: Vec<BarGroup> = Vec::new();
    for row in &summary.configurations {
        let Some(own) = row.levels.iter().find(|level| level.factor == factor.factor) else { continue };
        let others = row.levels.iter().filter(|level| level.factor != factor.factor);
        let others: Vec<String> =
            others.map(|level| format!("{}={}", short_name(&level.factor, names), level.level)).collect();
        let label = others.join(" ").into();
        let Some(estimate) = &row.response else { continue };
        let mut bar = bar(&own.level, estimate, row.standing, is_worse(row));
        if row.baseline {
            bar.note = if bar.note.is_empty() {
                "baseline".into()
            } else {
                format!("baseline, {}", bar.note).into()
            };
        }
        match groups.iter_mut().find(|group| group.label == label) {
            Some(group) => group.bars.push(bar),
            None => groups.push(BarGroup { label, bars: vec![bar] }),
        }
    }
    groups
}

fn is_worse(row: &ConfigurationRow) -> bool {
    row.factor.as_ref().is_some_and(|factor| factor.supported() && !factor.is_better())
}

fn means(factor: &FactorEffect) -> BarGroup {
    let bars = factor.levels.iter().filter_map(|level| {
        let worse = level.comparison.as_ref().is_some_and(|c| c.supported() && !c.is_better());
        Some(bar(&level.level, level.response.as_ref()?, level.standing, worse))
    });
    BarGroup { bars: bars.collect(), ..BarGroup::default() }
}

fn bar(level: &str, estimate: &Estimate, standing: Standing, worse: bool) -> Bar {
    let (note, tone) = match standing {
        Standing::Best => ("best", Tone::Good),
        Standing::AsGoodAsBest => ("= as good", Tone::Good),
        _ if worse => ("worse than the baseline", Tone::Bad),
        _ => ("", Tone::Plain),
    };
    Bar {
        label: level.into(),
        value: estimate.mean,
        interval: estimate.interval.map(|interval| (interval.low, interval.high)),
        note: note.into(),
        tone,
    }
}
