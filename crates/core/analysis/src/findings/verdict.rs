use super::{Finding, FindingKind};
use crate::power::RELATIVE_MAX;
use crate::{
    Comparison, Detectable, Estimate, FactorEffect, Interaction, LevelEffect, Method, Standing,
    Summary, wording,
};
use observations::{Role, number};

/// The difference for which blocks are counted where the experiment states no margin.
const DIFFERENCE_WANTED: f64 = 0.05;
/// The limit of what is found within one set-up.
const IN_ONE_SETUP: &str = " This holds for the set-up that was measured; to generalize, repeat \
                            the set-up (repeats.setups = 3).";

/// The blocks of a level that failed, and are in no comparison; empty without any.
fn failed_blocks(summary: &Summary, effect: &FactorEffect, level: usize) -> String {
    let label = &effect.levels[level].level;
    let rows = summary.configurations.iter().filter(|row| {
        row.levels.iter().any(|level| level.factor == effect.factor && level.level == *label)
    });
    let (lost, done) =
        rows.fold((0, 0), |(lost, done), row| (lost + row.lost_blocks, done + row.done));
    if lost == 0 {
        return String::new();
    }
    let all = wording::count(lost + done, "trial");
    format!(" {lost} of the {all} of {label} failed; the others are compared block by block.")
}

/// States the effect of a factor at `level`; `None` without a significant effect.
pub fn factor(summary: &Summary, effect: &FactorEffect, level: usize) -> Option<Finding> {
    let comparison = effect.levels[level].supported()?;
    let (text, short) = if effect.winner().is_some() {
        let short = winner(summary, effect, level, comparison);
        (sweet_spot(summary, effect, level, comparison), short)
    } else {
        let text = nothing_beats(summary, effect, &effect.levels[level], comparison);
        (text.clone(), text)
    };
    let limit = if effect.in_one_setup { IN_ONE_SETUP } else { "" };
    let limit = format!("{limit}{}", failed_blocks(summary, effect, level));
    let finding = Finding::new(
        FindingKind::Verdict,
        text + &limit + &summary.durability_of_levels(effect),
        statistics(comparison, &family(summary), effect.unit.noun()),
    );
    Some(finding.in_short(short))
}

/// `data_files=16 is 5.82x [4.56, 7.38] faster than 1.`
fn winner(
    summary: &Summary,
    effect: &FactorEffect,
    level: usize,
    comparison: &Comparison,
) -> String {
    let name = wording::short_name(&effect.factor);
    let [winner, reference] = [level, effect.reference].map(|at| &effect.levels[at].level);
    let change = sized(comparison, summary, effect.unit.noun(), reference);
    let beyond = edge(effect, level).map_or_else(String::new, |edge| {
        format!(" It is the {edge} level tested: the optimum may lie beyond it.")
    });
    format!("{name}={winner} is {change}.{beyond}")
}

/// `5.82x [4.56, 7.38] faster than 1`; only the direction of a size that is known to no more than a
/// factor of ten.
fn sized(comparison: &Comparison, summary: &Summary, unit: &str, reference: &str) -> String {
    let response = summary.response.as_ref();
    if comparison.is_bounded() {
        let change = wording::change(comparison, response);
        return format!("{change} {} {reference}", wording::preposition(&change));
    }
    let (direction, blocks) =
        (wording::direction(comparison, response), wording::count(comparison.blocks, unit));
    format!("{direction} than {reference} ({blocks} do not show by how much)")
}

/// Findings of the design, and of one that it continues as.
pub(crate) fn of_design(summary: &Summary) -> Vec<Finding> {
    let response = summary.response.as_ref().map_or("response", |response| response.name.as_str());
    let sentences =
        summary.designs.iter().filter_map(|design| (design.sentences)(summary, response));
    let findings = sentences.flatten().map(|sentence| {
        let kind = if sentence.claims { FindingKind::Verdict } else { FindingKind::NoDifference };
        Finding::new(kind, sentence.text, sentence.evidence)
    });
    findings.collect()
}

/// Findings on each factor without a significant effect: that it could not be tested, or the
/// smallest difference that could have been detected. Each with the position of the factor.
pub(crate) fn no_difference(summary: &Summary) -> Vec<(usize, Finding)> {
    let effects = summary.factors.effects.iter().enumerate();
    let is_asked = summary.done() > 0 && summary.is_grid();
    let without = effects.filter(|(_, effect)| is_asked && effect.span().is_none());
    without.map(|(factor, effect)| (factor, nothing(summary, factor, effect))).collect()
}

fn nothing(summary: &Summary, factor: usize, effect: &FactorEffect) -> Finding {
    let finding = |text: String, evidence| Finding::new(FindingKind::NoDifference, text, evidence);
    let name = wording::short_name(&effect.factor);
    let measured: Vec<&LevelEffect> =
        effect.levels.iter().filter(|level| level.trials > 0 || level.response.is_some()).collect();
    let timed_out = labels(effect.levels.iter().filter(|level| timed_out(level)));
    let rows = &summary.configurations;
    let without = rows.iter().filter(|row| row.done > 0 && row.response.is_none()).count();
    let text = match measured[..] {
        [] => format!("No level of {name} has a value to compare."),
        [only] => {
            format!("Only {name}={} has values: nothing to compare.", only.level)
        }
        _ if effect.other_work => {
            format!("The levels of {name} do different work and are not compared.")
        }
        _ if effect.set_up_once => {
            format!(
                "Each level of {name} was set up only once, so set-up effects cannot be \
                 excluded; repeat the set-up (repeats.setups = 3)."
            )
        }
        _ if effect
            .levels
            .iter()
            .any(|level| exact(level).is_some_and(|comparison| comparison.p_value.is_some())) =>
        {
            let text = nothing_differs(summary, factor, effect);
            let text = text + &summary.durability_of_levels(effect);
            let short = nothing_found(summary, effect);
            return finding(text, spread(effect, effect.unit.noun())).in_short(short);
        }
        _ if !timed_out.is_empty() => {
            let timed_out = wording::list(&timed_out);
            let ended = ended(summary);
            format!("The levels of {name} cannot be compared: trials of {timed_out} {ended}.")
        }
        _ if without > 0 => {
            let all = rows.len();
            format!(
                "The levels of {name} cannot be compared: {without} of the {all} configurations \
                 have no values."
            )
        }
        _ => {
            format!(
                "One block cannot compare the levels of {name}: run at least two blocks, better \
                 five."
            )
        }
    };
    finding(text, String::new())
}

/// `No level of jit differs significantly from on (3 blocks; 12 more would show 5 %).`
fn nothing_found(summary: &Summary, effect: &FactorEffect) -> String {
    let margin = difference_to_find(summary);
    let repeats = effect.detectable.map_or_else(String::new, |detectable| {
        let blocks = wording::count(detectable.blocks, effect.unit.noun());
        let size = wording::plain_percent(margin);
        match detectable.blocks_for(margin) {
            _ if detectable.relative <= margin => {
                format!(" ({blocks} would show {})", wording::percent(detectable.relative))
            }
            Some(needed) => {
                format!(" ({blocks}; {} more would show {size})", missing(&detectable, needed))
            }
            None => format!(" ({blocks}; {size} cannot be shown)"),
        }
    });
    format!(
        "No level of {} differs significantly from {}{repeats}.",
        wording::short_name(&effect.factor),
        effect.levels[effect.reference].level
    )
}

/// The blocks that a run lacks. Where the spread is hardly known, their number is not.
fn missing(detectable: &Detectable, needed: usize) -> String {
    if detectable.blocks <= 2 || detectable.relative > RELATIVE_MAX {
        return "many".to_owned();
    }
    number::count(needed.saturating_sub(detectable.blocks) as u64)
}

/// The difference that a run has to find.
fn difference_to_find(summary: &Summary) -> f64 {
    if summary.margin() > 0.0 { summary.margin() } else { DIFFERENCE_WANTED }
}

fn sweet_spot(
    summary: &Summary,
    effect: &FactorEffect,
    best: usize,
    comparison: &Comparison,
) -> String {
    let name = wording::short_name(&effect.factor);
    // The best mean may not differ significantly from the reference: `best` is the best level that
    // does.
    let what = match effect.best {
        Some(level) if level != best => {
            format!("The best significantly different level of {name} is")
        }
        _ if effect.ordered => format!("The sweet spot of {name} is"),
        _ => format!("The best level of {name} is"),
    };
    let reference = reference(summary, effect);
    let figure = wording::change(comparison, summary.response.as_ref());
    let means = means(&effect.levels[best], &effect.levels[effect.reference]);
    // The reference is worse than the named level, however much the best mean varies.
    let others =
        effect.sweet_spot().into_iter().filter(|level| ![best, effect.reference].contains(level));
    let others = others.filter_map(|level| {
        // A level is compared with the best mean, which in turn is another one than the winner only
        // by chance.
        let against = if Some(level) == effect.best { best } else { level };
        Some((&effect.levels[level], effect.levels[against].against_best.as_ref()?))
    });
    let others = not_worse(&others.collect::<Vec<_>>(), summary, effect.unit.noun());
    let others = others.map_or_else(String::new, |others| format!(" {others}."));
    let beyond = edge(effect, best).filter(|_| others.is_empty());
    let beyond = beyond.map_or_else(String::new, |edge| {
        format!(" It is the {edge} level tested; the optimum may lie beyond it.")
    });
    let processors = by_processors(summary, effect, best).unwrap_or_default();
    format!(
        "{what} {}: {figure} {} {reference}{means}.{others}{processors}{beyond}",
        effect.levels[best].level,
        wording::preposition(&figure)
    )
}

/// Compares a number of files, sessions or threads with the processors: the best one, and with it
/// the levels that are equivalent to it.
fn by_processors(summary: &Summary, effect: &FactorEffect, best: usize) -> Option<String> {
    let recording = summary.recording;
    let is_number = recording.roles.has(&effect.factor, &[Role::Concurrency, Role::Layout]);
    let mut machines = recording.environments.iter().map(|machine| machine.cpus);
    let cpus = machines.next().filter(|cpus| *cpus > 0 && machines.all(|other| other == *cpus))?;
    let is_synthetic = recording.done().any(|(_, observations)| observations.synthetic);
    if !effect.ordered || !is_number || is_synthetic {
        return None;
    }
    let times = |level: usize| Some(effect.levels[level].numeric? / f64::from(cpus));
    let equivalent = effect
        .sweet_spot()
        .into_iter()
        .filter(|level| effect.levels[*level].standing == Standing::Equivalent)
        .filter_map(times);
    let times = times(best)?;
    let (low, high) =
        equivalent.fold((times, times), |(low, high), next| (low.min(next), high.max(next)));
    let machine = format!("the {} of the load generator", wording::count(cpus as usize, "CPU"));
    let ratio = |times| format!("{}x", wording::ratio(times));
    Some(if low < high {
        format!(" With the equivalent levels this is {} to {} {machine}.", ratio(low), ratio(high))
    } else {
        format!(" That is {} {machine}.", ratio(times))
    })
}

/// Returns the end of an ordered factor at which the level lies: a sweet spot at the edge of the
/// tested range may not be the optimum.
fn edge(effect: &FactorEffect, level: usize) -> Option<&'static str> {
    let value = effect.levels[level].numeric?;
    let values = || effect.levels.iter().filter_map(|level| level.numeric);
    if values().all(|other| other <= value) {
        return Some("largest");
    }
    values().all(|other| other >= value).then_some("smallest")
}

fn nothing_beats(
    summary: &Summary,
    effect: &FactorEffect,
    lowest: &LevelEffect,
    comparison: &Comparison,
) -> String {
    let name = wording::short_name(&effect.factor);
    let compared =
        effect.levels.iter().filter_map(|level| Some((level, level.comparison.as_ref()?)));
    let (worse, equal): (Vec<_>, Vec<_>) =
        compared.partition(|(level, _)| level.supported().is_some());
    let worse = labels(worse.into_iter().map(|(level, _)| level));
    let equal = not_worse(&equal, summary, effect.unit.noun())
        .map_or_else(String::new, |equal| format!(" ({equal})"));
    let figure = wording::change(comparison, summary.response.as_ref());
    let (verb, figure) = if worse.len() == 1 {
        ("is", figure)
    } else {
        ("are", format!("{}: {figure}", lowest.level))
    };
    let reference = reference(summary, effect);
    format!(
        "No level of {name} beats {reference}{equal}; {} {verb} worse ({figure}).",
        wording::list(&worse)
    )
}

fn nothing_differs(summary: &Summary, factor: usize, effect: &FactorEffect) -> String {
    let name = wording::short_name(&effect.factor);
    let power = effect
        .detectable
        .map(|detectable| power(&detectable, difference_to_find(summary), effect.unit.noun()));
    let power = power.unwrap_or_default();
    let reference = reference(summary, effect);
    let timed_out = labels(effect.levels.iter().filter(|level| timed_out(level)));
    let unknown = if timed_out.is_empty() {
        String::new()
    } else {
        let ended = ended(summary);
        format!(" Not compared, because trials {ended}: {}.", wording::list(&timed_out))
    };
    let differs =
        format!("o level of {name} differs significantly from {reference}{power}.{unknown}");
    // Opposite effects at the levels of another factor can be none on average.
    let other = |interaction: &&Interaction| {
        interaction.supported() && [interaction.factor, interaction.by].contains(&factor)
    };
    let depends = summary
        .factors
        .interactions
        .iter()
        .find(other)
        .map(|interaction| interaction.factor + interaction.by - factor);
    match depends.map(|other| wording::short_name(&summary.factors.effects[other].factor)) {
        Some(other) => {
            format!("On average over {other}, n{differs} The effect of {name} depends on {other}.")
        }
        None => format!("N{differs}"),
    }
}

/// `; 5 blocks detect a difference of 12 % with 80 % power, 14 more would detect 5 % (estimate)`
fn power(detectable: &Detectable, margin: f64, unit: &str) -> String {
    let blocks = wording::count(detectable.blocks, unit);
    let more = match detectable.blocks_for(margin) {
        _ if detectable.relative <= margin => String::new(),
        Some(needed) => format!(
            ", {} more would detect {}",
            missing(detectable, needed),
            wording::plain_percent(margin)
        ),
        None => format!(", and {} cannot be detected", wording::plain_percent(margin)),
    };
    if detectable.relative > RELATIVE_MAX {
        return format!("; {blocks} can detect only a very large difference{more} (estimate)");
    }
    // No difference is printed finer than this.
    let size = wording::percent(detectable.relative.max(0.001));
    format!("; {blocks} detect a difference of {size} with 80 % power{more} (estimate)")
}

/// How trials that were not measured to the end came to it.
fn ended(summary: &Summary) -> &'static str {
    if summary.futile().next().is_some() { "were ended early by the search" } else { "timed out" }
}

/// Returns whether trials of the level timed out.
fn timed_out(level: &LevelEffect) -> bool {
    level.response.as_ref().is_some_and(|response| response.timeouts > 0)
}

/// The comparison with the reference, where no trial timed out.
fn exact(level: &LevelEffect) -> Option<&Comparison> {
    level.comparison.as_ref().filter(|comparison| comparison.bound.is_none())
}

/// A run without factors has one figure to tell.
pub fn single(summary: &Summary) -> Option<Finding> {
    if !summary.factors.effects.is_empty() {
        return None;
    }
    let row = summary.configurations.iter().find(|row| row.response.is_some())?;
    let (response, estimate) = (summary.response.as_ref()?, row.response.as_ref()?);
    let bound = estimate.bound.map_or_else(String::new, |bound| format!("{} ", bound.words()));
    let text = format!(
        "{}: {bound}{} over {}.",
        response.name,
        wording::within(estimate.mean, estimate.interval, &estimate.unit),
        wording::count(estimate.n, "block")
    );
    Some(Finding::new(FindingKind::Verdict, text, String::new()))
}

/// With several factors: the best of all configurations against the baseline. Use it only where a
/// factor or an interaction has a significant effect: tested on its own it would be one more chance
/// of a false finding.
pub(crate) fn best_configuration(summary: &Summary) -> Option<Finding> {
    if summary.factors.effects.len() < 2 {
        return None;
    }
    let best = summary.configurations.iter().find(|row| row.standing == Standing::Best)?;
    let baseline = summary.configurations.iter().find(|row| row.baseline)?;
    let comparisons = summary.configurations.len() - 1;
    let comparison = best.factor.as_ref().filter(|factor| factor.supported())?;
    let figure = wording::change(comparison, summary.response.as_ref());
    let others =
        |standing| summary.configurations.iter().filter(|row| row.standing == standing).count();
    let (equivalent, unclear) = (others(Standing::Equivalent), others(Standing::NotDistinguished));
    let text = [
        (equivalent, format!("within {}", wording::plain_percent(summary.margin()))),
        (unclear, "not significantly different".to_owned()),
    ];
    let text: Vec<String> = text
        .into_iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, what)| format!("{} {what}", wording::count(n, "other")))
        .collect();
    let others = if text.is_empty() { String::new() } else { format!(" ({})", text.join(", ")) };
    let than = wording::preposition(&figure);
    let text =
        format!("The best configuration is {}: {figure} {than} the baseline{others}.", best.label)
            + &summary.durability_against(baseline.index, best.index);
    let comparisons = wording::count(comparisons, "comparison");
    let evidence = statistics(
        comparison,
        &comparisons,
        summary.grid.unit_between(baseline.index, best.index).noun(),
    );
    let change = sized(comparison, summary, "block", &baseline.label);
    let short = format!("{} is {change}.", best.label);
    Some(Finding::new(FindingKind::Verdict, text, evidence).in_short(short))
}

/// For a list: between quotes where one holds a comma.
fn labels<'a>(levels: impl Iterator<Item = &'a LevelEffect>) -> Vec<String> {
    levels
        .map(|level| {
            if level.level.contains(',') {
                format!("\"{}\"", level.level)
            } else {
                level.level.clone()
            }
        })
        .collect()
}

/// Levels that are not worse: `4 is equivalent within 5 %`; `8 is not significantly different; the
/// true difference could be up to 12 %`.
fn not_worse(
    levels: &[(&LevelEffect, &Comparison)],
    summary: &Summary,
    unit: &str,
) -> Option<String> {
    let (equivalent, unclear): (Vec<_>, Vec<_>) = levels
        .iter()
        .filter(|(_, comparison)| comparison.bound.is_none())
        .partition(|(_, comparison)| comparison.is_equivalent());
    let names = |of: &[&(&LevelEffect, &Comparison)]| {
        let verb = if of.len() == 1 { "is" } else { "are" };
        format!("{} {verb}", wording::list(&labels(of.iter().map(|(level, _)| *level))))
    };
    let mut sentences = Vec::new();
    if !equivalent.is_empty() {
        sentences.push(format!(
            "{} equivalent within {}",
            names(&equivalent),
            wording::plain_percent(summary.margin())
        ));
    }
    if !unclear.is_empty() {
        let possible =
            |comparison: &Comparison| comparison.possible_difference().unwrap_or(f64::INFINITY);
        let largest = unclear
            .iter()
            .map(|(_, comparison)| *comparison)
            .max_by(|a, b| possible(a).total_cmp(&possible(b)));
        let possible = largest.map_or_else(String::new, |comparison| {
            match comparison.possible(summary.unit()) {
                Some(size) => format!("; the true difference could be up to {size}"),
                None if comparison.blocks > 1 => {
                    format!(
                        "; {} do not bound the difference",
                        wording::count(comparison.blocks, unit)
                    )
                }
                None => String::new(),
            }
        });
        sentences.push(format!("{} not significantly different{possible}", names(&unclear)));
    }
    (!sentences.is_empty()).then(|| sentences.join("; "))
}

fn reference(summary: &Summary, effect: &FactorEffect) -> String {
    let name = wording::short_name(&effect.factor);
    let what =
        if summary.recording.run.baseline.is_some() { "the baseline" } else { "the first level" };
    format!("{what} {name}={}", effect.levels[effect.reference].level)
}

/// ` (elapsed ...)`: both means, so that the factor can be checked by eye.
fn means(best: &LevelEffect, reference: &LevelEffect) -> String {
    let (Some(best), Some(reference)) = (&best.response, &reference.response) else {
        return String::new();
    };
    let figure = |estimate: &Estimate| match estimate.bound {
        Some(bound) => format!("{} {}", bound.words(), wording::grouped(estimate.mean)),
        None => wording::grouped(estimate.mean),
    };
    format!(" ({} against {} {})", figure(best), figure(reference), best.unit)
}

/// The family of tests to which the levels of factors belong, interactions included.
fn family(summary: &Summary) -> String {
    let what = if summary.factors.interactions.is_empty() { "comparison" } else { "test" };
    wording::count(summary.factors.family, what)
}

fn statistics(comparison: &Comparison, family: &str, unit: &str) -> String {
    let method = match comparison.method {
        Method::PairedT => "paired t",
        Method::Welch => "Welch's t",
        Method::Point => "a single value",
    };
    let p = comparison.adjusted_p.or(comparison.p_value).map(wording::p_value);
    let p = p.map_or_else(String::new, |p| format!(", {p} (Holm-adjusted for {family})"));
    let chosen =
        if comparison.interval.is_some() { ", interval adjusted for selection" } else { "" };
    format!("{method}, {}{p}{chosen}", wording::count(comparison.blocks, unit))
}

fn spread(effect: &FactorEffect, unit: &str) -> String {
    effect.detectable.map_or_else(String::new, |detectable| {
        let sd = wording::percent(detectable.sd_log_ratio);
        format!(
            "standard deviation of the ratio between {unit}s: {sd}, {}",
            wording::count(detectable.blocks, unit)
        )
    })
}
