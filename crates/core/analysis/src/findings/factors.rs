use super::claims::Claim;
use super::{Finding, FindingKind, verdict};
use crate::{
    Comparison, FactorEffect, Interaction, ResponseChoice, Segment, Summary, Trend, effects,
    wording,
};
use observations::Direction;

/// States an effect and, for an ordered factor, the course of the response along its levels.
///
/// Only of a supported effect: without it a step that stands out by chance would be a finding.
pub fn find(summary: &Summary, claim: &Claim) -> Vec<Finding> {
    match *claim {
        Claim::Factor { effect, to, .. } => {
            let shape = Some(effect).filter(|effect| effect.steps.len() > 1);
            let shape = shape.and_then(|effect| shape_of(summary, effect));
            verdict::factor(summary, effect, to).into_iter().chain(shape).collect()
        }
        Claim::Interaction(interaction) => together(summary, interaction).into_iter().collect(),
    }
}

fn shape_of(summary: &Summary, effect: &FactorEffect) -> Option<Finding> {
    let response = summary.response.as_ref()?;
    let name = wording::short_name(&effect.factor);
    let segments = effects::segments(&effect.steps);
    let text = if segments.iter().all(|segment| segment.trend == Trend::Flat) {
        format!(
            "Neighbouring levels of {name} do not differ significantly; only levels further \
             apart do."
        )
    } else {
        let parts: Vec<String> = segments
            .iter()
            .enumerate()
            .map(|(i, s)| part(effect, *s, response.direction, i == 0))
            .collect();
        format!("{} {}.", response.name, wording::list(&parts))
    };
    let steps = effect.steps.iter().filter_map(|step| {
        let (from, to) = (&effect.levels[step.from].level, &effect.levels[step.to].level);
        Some(format!(
            "{from} to {to}: {}",
            wording::change(step.comparison.as_ref()?, Some(response))
        ))
    });
    let steps: Vec<String> = steps.collect();
    let family = wording::count(effect.steps.len(), "step");
    let evidence = format!("Holm-adjusted for {family}; {}", steps.join(", "));
    Some(Finding::new(FindingKind::Factors, text, evidence))
}

/// `falls from data_files=1 to 4`, `shows no supported change from 4 to 16`.
fn part(effect: &FactorEffect, segment: Segment, direction: Direction, first: bool) -> String {
    let verb =
        match (segment.trend, direction) {
            (Trend::Flat, _) => "does not change significantly",
            (Trend::Better, Direction::HigherIsBetter)
            | (Trend::Worse, Direction::LowerIsBetter) => "rises",
            (Trend::Better, Direction::LowerIsBetter)
            | (Trend::Worse, Direction::HigherIsBetter) => "falls",
        };
    let name =
        if first { format!("{}=", wording::short_name(&effect.factor)) } else { String::new() };
    let (from, to) = (&effect.levels[segment.from].level, &effect.levels[segment.to].level);
    format!("{verb} from {name}{from} to {to}")
}

/// States the interaction of two factors.
pub(super) fn together(summary: &Summary, interaction: &Interaction) -> Option<Finding> {
    let (factor, by) =
        (&summary.factors.effects[interaction.factor], &summary.factors.effects[interaction.by]);
    let unit = summary.unit();
    let text = sentence(interaction, factor, by, summary.response.as_ref())?;
    let family = wording::count(summary.factors.family, "test");
    let size = wording::comparison(&interaction.size, unit);
    let evidence = format!(
        "F({}, {}) {} over {}, {} (Holm-adjusted for {family}); largest difference between \
         gains: {size}; intervals of the gains are adjusted for selection",
        degrees(interaction.df.0),
        degrees(interaction.df.1),
        wording::f_statistic(interaction.f),
        wording::count(interaction.blocks, "block"),
        wording::p_value(interaction.adjusted_p.unwrap_or(interaction.p_value)),
    );
    Some(Finding::new(FindingKind::Factors, text, evidence))
}

/// `4`, or `3.2` where they were reduced.
fn degrees(df: f64) -> String {
    format!("{}", (df * 10.0).round() / 10.0)
}

/// States the largest and the smallest gain of the level.
fn sentence(
    interaction: &Interaction,
    factor: &FactorEffect,
    by: &FactorEffect,
    response: Option<&ResponseChoice>,
) -> Option<String> {
    let gain = |level: usize| interaction.gains.get(level)?.as_ref();
    let (most, least) = (gain(interaction.most)?, gain(interaction.least)?);
    let name = wording::short_name(&factor.factor);
    let (from, to) = (&factor.levels[interaction.from].level, &factor.levels[interaction.to].level);
    let by_name = wording::short_name(&by.factor);
    let (best, worst) = (&by.levels[interaction.most].level, &by.levels[interaction.least].level);
    let (most_said, least_said) =
        (wording::change(most, response), wording::change(least, response));
    let wins = |gain: &Comparison| gain.supported() && gain.is_better();
    let winners = interaction.gains.iter().flatten().filter(|gain| wins(gain)).count();
    Some(if wins(most) && (least.supported() && !least.is_better()) {
        format!(
            "{name}={to} is better than {from} with {by_name}={best} ({most_said}), but worse \
             with {worst} ({least_said})."
        )
    } else if wins(most) && winners == 1 && !least.supported() {
        format!(
            "{name}={to} is better than {from} only with {by_name}={best} ({most_said}); with \
             {worst} there is no significant difference ({least_said})."
        )
    } else {
        format!(
            "The effect of {name}={to} against {from} depends on {by_name}: {most_said} with \
             {best}, {least_said} with {worst}."
        )
    })
}
