use super::{Finding, FindingKind, Span};
use crate::{Decomposition, FactorEffect, Part, PartKind, holm, wording};

/// Changes named in one sentence, each way.
const NAMED: usize = 3;
/// A change smaller than this share of the largest one is noise to a reader, however well supported.
const SMALL: f64 = 0.05;

/// Which waits (and whether CPU) fell and rose between two levels, and how much of the change in
/// elapsed time they are; `None` when no change is supported.
///
/// Elapsed time and not session time, which a level with more connections has more of for no
/// other reason.
pub fn find(effect: &FactorEffect, span: Span, decomposition: &Decomposition) -> Option<Finding> {
    let cpu = decomposition.elapsed.iter().filter(|part| part.kind == PartKind::Cpu);
    let parts: Vec<&Part> = decomposition.wait_types.iter().chain(cpu).collect();
    let adjusted = holm::adjust(&parts.iter().map(|part| part.p_value).collect::<Vec<_>>());
    let mut supported: Vec<(&Part, f64)> = parts
        .into_iter()
        .zip(adjusted)
        .filter_map(|(part, p)| p.filter(|p| *p < 0.05).map(|p| (part, p)))
        .collect();
    supported.sort_by(|a, b| b.0.change_s.abs().total_cmp(&a.0.change_s.abs()));
    let largest = supported.first()?.0.change_s.abs();
    supported.retain(|(part, _)| part.change_s.abs() >= SMALL * largest);
    let total = &decomposition.elapsed_total;
    let total_supported = total.p_value.is_some_and(|p| p < 0.05);
    let (scale, units) = wording::work_scale(decomposition.work, &decomposition.unit);
    let say = |part: &Part| {
        let seconds = wording::figure(scale * part.change_s.abs());
        // A share explains only a total that itself changed, and only what goes the same way.
        let share = part.share.filter(|share| total_supported && *share > 0.0);
        let share = share.map(|share| format!(" ({} of the change)", wording::percent(share)));
        format!("{} by {seconds} s{}", name(part), share.unwrap_or_default())
    };
    let side = |fell: bool| -> Vec<&(&Part, f64)> {
        supported.iter().filter(|(part, _)| (part.change_s < 0.0) == fell).take(NAMED).collect()
    };
    let sentence = |verb: &str, parts: &[&(&Part, f64)]| {
        let said: Vec<String> = parts.iter().map(|(part, _)| say(part)).collect();
        (!said.is_empty()).then(|| format!("{verb}: {}", wording::list(&said)))
    };
    let (fell, rose) = (side(true), side(false));
    let sentences: Vec<String> =
        [sentence("fell", &fell), sentence("rose", &rose)].into_iter().flatten().collect();
    let factor = wording::short_name(&effect.factor);
    let levels = (&effect.levels[span.from].level, &effect.levels[span.to].level);
    let whole = if total_supported {
        let (from, to) = (wording::figure(scale * total.from_s), wording::figure(scale * total.to_s));
        format!(", elapsed goes from {from} to {to} s per {units}")
    } else {
        format!(", in elapsed seconds per {units}")
    };
    let text = format!("From {factor}={} to {}{whole}; {}.", levels.0, levels.1, sentences.join("; "));
    Some(Finding::new(FindingKind::Waits, text, evidence(decomposition, &[fell, rose].concat(), scale)))
}

fn name(part: &Part) -> &str {
    match &part.kind {
        PartKind::WaitType(name) => name,
        _ => "CPU",
    }
}

fn evidence(decomposition: &Decomposition, parts: &[&(&Part, f64)], scale: f64) -> String {
    let one = |(part, p): &(&Part, f64)| {
        let interval = part.interval.map_or_else(String::new, |interval| {
            let (low, high) = (wording::figure(scale * interval.low), wording::figure(scale * interval.high));
            format!("[{low}, {high}] s, ")
        });
        format!("{} {interval}{}", name(part), wording::p_value(*p))
    };
    let parts: Vec<String> = parts.iter().map(|part| one(part)).collect();
    format!("t over {}, Holm: {}", wording::count(decomposition.blocks, "block"), parts.join("; "))
}
