//! Why two configurations differ, in words. Which evidence each phrase needs: `wording.rs`.

use super::{Finding, FindingKind};
use crate::distribution::adjusted;
use crate::wording::{self, SUPPORTED};
use crate::{Decomposition, Explanation, Part, PartKind, WaitShape};

/// Parts named in one sentence, each way, and wait types whose number and length are told.
const NAMED: usize = 3;
/// A change smaller than this share of the largest one is noise to a reader, however well supported.
const SMALL: f64 = 0.05;
/// Number and length are told of waits that are at least this share of all of a side's waits.
const SHARE_OF_WAITS: f64 = 0.05;
/// Less than this share of the other side's time is none.
const GONE: f64 = 0.01;
/// Numbers of waits that differ by less than this share are "as many" where no difference is supported.
const AS_MANY: f64 = 0.05;

/// What the difference consists of, the code behind it, and waits whose number and length went opposite ways.
pub fn find(explanation: &Explanation) -> Vec<Finding> {
    let waits = parts(explanation).into_iter().chain(shapes(&explanation.decomposition));
    waits.chain(code(explanation)).collect()
}

/// A part whose change is supported, with its corrected p-value.
type Supported<'a> = (&'a Part, f64);

/// CPU and wait types that changed, as shares of the gain or loss; `None` when no change is supported.
///
/// Of elapsed time and not session time, which a level with more connections has more of for no other reason.
fn parts(explanation: &Explanation) -> Option<Finding> {
    let decomposition = &explanation.decomposition;
    let supported = supported(decomposition.by_type());
    let total = &decomposition.elapsed_total;
    let (same, opposite): (Vec<&Supported>, Vec<&Supported>) =
        supported.iter().partition(|(part, _)| (part.change_s < 0.0) == (total.change_s < 0.0));
    let (same, opposite) = (first(&same), first(&opposite));
    let named = [same, opposite].concat();
    if named.is_empty() {
        return None;
    }
    let (scale, units) = wording::work_scale(decomposition.work, &decomposition.unit);
    let (unit_s, unit) = wording::seconds_unit(scale * total.from_s.max(total.to_s));
    let time = |seconds: f64| wording::figure(scale * seconds / unit_s);
    let sides = explanation.sides();
    let text = if total.p_value.is_some_and(|p| p < SUPPORTED) {
        let falls = total.change_s < 0.0;
        let (verb, what) = if falls { ("falls", "gain") } else { ("rises", "loss") };
        let (from, to) = (time(total.from_s), time(total.to_s));
        let shares = shares(what, same, opposite);
        format!("From {sides}, elapsed {verb} from {from} to {to} {unit} per {units}. {shares}.")
    } else {
        let changes: Vec<String> = named.iter().map(|(part, _)| phrase(part)).collect();
        format!(
            "From {sides}, elapsed per {units} does not differ at 95 % confidence, but its parts do: {}.",
            wording::list(&changes)
        )
    };
    // The intervals are beside the waterfall.
    let evidence: Vec<String> =
        named.iter().map(|(part, p)| format!("{} {}", name(part), wording::p_value(*p))).collect();
    let blocks = wording::count(decomposition.blocks, "block");
    let evidence = format!("t over {blocks}, Holm: {}", evidence.join(", "));
    Some(Finding::new(FindingKind::Waits, text, evidence))
}

/// Largest change first; the family of the correction is every part.
fn supported<'a>(parts: impl Iterator<Item = &'a Part>) -> Vec<Supported<'a>> {
    let parts: Vec<&Part> = parts.collect();
    let adjusted = adjusted(&parts.iter().map(|part| part.p_value).collect::<Vec<_>>());
    let supported = parts.into_iter().zip(adjusted);
    let mut supported: Vec<Supported> =
        supported.filter_map(|(part, p)| Some((part, p.filter(|p| *p < SUPPORTED)?))).collect();
    supported.sort_by(|a, b| b.0.change_s.abs().total_cmp(&a.0.change_s.abs()));
    let largest = supported.first().map_or(0.0, |(part, _)| part.change_s.abs());
    supported.retain(|(part, _)| part.change_s.abs() >= SMALL * largest);
    supported
}

fn first<'a, 'b>(parts: &'b [&'a Supported<'a>]) -> &'b [&'a Supported<'a>] {
    &parts[..parts.len().min(NAMED)]
}

/// `Of this gain 59 % is less WRITER_LOCK wait and 6.3 % less CPU time, offset by +3.0 % WAL_SYNC wait`.
fn shares(what: &str, same: &[&Supported], opposite: &[&Supported]) -> String {
    let share = |part: &Part| wording::percent(part.share.unwrap_or_default().abs());
    let consists = same.iter().enumerate().map(|(i, (part, _))| {
        let verb = if i == 0 { " is" } else { "" };
        format!("{}{verb} {}", share(part), phrase(part))
    });
    let sign = if what == "gain" { "+" } else { "-" };
    let offset = opposite.iter().map(|(part, _)| format!("{sign}{} {}", share(part), subject(part)));
    let (consists, offset): (Vec<String>, Vec<String>) = (consists.collect(), offset.collect());
    match (consists.is_empty(), offset.is_empty()) {
        (false, true) => format!("Of this {what} {}", wording::list(&consists)),
        (false, false) => {
            format!("Of this {what} {}, offset by {}", wording::list(&consists), wording::list(&offset))
        }
        _ => format!(
            "No part of this {what} is supported by itself; it is offset by {}",
            wording::list(&offset)
        ),
    }
}

/// `less WRITER_LOCK wait`, `new WAL_SYNC wait`, `PAGELATCH_UP wait that is gone`.
fn phrase(part: &Part) -> String {
    let what = subject(part);
    let is_wait = matches!(part.kind, PartKind::WaitType(_));
    match (part.from_s, part.to_s) {
        (from, to) if is_wait && to < GONE * from => format!("{what} that is gone"),
        (from, to) if is_wait && from < GONE * to => format!("new {what}"),
        (from, to) if to < from => format!("less {what}"),
        _ => format!("more {what}"),
    }
}

/// `WRITER_LOCK wait`, `CPU time`.
fn subject(part: &Part) -> String {
    match &part.kind {
        PartKind::WaitType(name) => match wording::meaning(name) {
            Some(meaning) => format!("{name} wait ({meaning})"),
            None => format!("{name} wait"),
        },
        PartKind::Cpu => "CPU time".to_owned(),
        PartKind::Function { function, .. } => format!("{function} time"),
        _ => "unaccounted time".to_owned(),
    }
}

fn name(part: &Part) -> &str {
    match &part.kind {
        PartKind::WaitType(name) => name,
        PartKind::Cpu => "CPU",
        _ => "unaccounted",
    }
}

/// Waits of which there are fewer, each longer (or the other way round), or as many, each longer or shorter.
fn shapes(decomposition: &Decomposition) -> Option<Finding> {
    let parts = &decomposition.wait_types;
    let all = |side: fn(&Part) -> f64| parts.iter().map(side).sum::<f64>();
    let (all_from, all_to) = (all(|part| part.from_s), all(|part| part.to_s));
    let matters =
        |part: &&Part| part.from_s >= SHARE_OF_WAITS * all_from || part.to_s >= SHARE_OF_WAITS * all_to;
    let shapes: Vec<&WaitShape> =
        parts.iter().filter(matters).filter_map(|part| decomposition.shape(name(part))).collect();
    let counts = shapes.iter().map(|shape| shape.count_p);
    let adjusted = adjusted(&counts.chain(shapes.iter().map(|shape| shape.each_p)).collect::<Vec<_>>());
    let (counts, eachs) = adjusted.split_at(shapes.len());
    let told = shapes.iter().zip(counts.iter().zip(eachs));
    let told: Vec<(String, String)> =
        told.filter_map(|(shape, (count, each))| tell(shape, *count, (*each)?)).take(NAMED).collect();
    let (texts, evidence): (Vec<String>, Vec<String>) = told.into_iter().unzip();
    let blocks = wording::count(decomposition.blocks, "block");
    let evidence = format!("t of log ratios over {blocks}, Holm: {}", evidence.join("; "));
    (!texts.is_empty()).then(|| Finding::new(FindingKind::Waits, format!("{}.", texts.join("; ")), evidence))
}

fn tell(shape: &WaitShape, count_p: Option<f64>, each_p: f64) -> Option<(String, String)> {
    let close = (shape.to_count / shape.from_count - 1.0).abs() < AS_MANY;
    let count = match count_p {
        _ if each_p >= SUPPORTED => return None,
        Some(p) if p < SUPPORTED && shape.is_opposite() => {
            if shape.to_count < shape.from_count {
                "fewer waits"
            } else {
                "more waits"
            }
        }
        _ if close => "as many waits",
        _ => return None,
    };
    let each = if shape.to_each_s > shape.from_each_s { "longer" } else { "shorter" };
    let name = &shape.wait_type;
    let text = format!("{name}: {count}, each {each}: {}", wording::shape(shape));
    let count_p = count_p.map_or_else(String::new, |p| format!("number {}, ", wording::p_value(p)));
    Some((text, format!("{name} {count_p}length {}", wording::p_value(each_p))))
}

/// Functions whose processor time for the same work changed; `None` where trials were not profiled, or no change is
/// supported.
fn code(explanation: &Explanation) -> Option<Finding> {
    let code = explanation.decomposition.code.as_ref()?;
    let functions = code.parts.iter().filter(|part| matches!(part.kind, PartKind::Function { .. }));
    let supported = supported(functions);
    let named = &supported[..supported.len().min(NAMED)];
    if named.is_empty() {
        return None;
    }
    let decomposition = &explanation.decomposition;
    let (scale, units) = wording::work_scale(decomposition.work, &decomposition.unit);
    let (unit_s, unit) = wording::seconds_unit(scale * code.total.from_s.max(code.total.to_s));
    let time = |seconds: f64| wording::figure(scale * seconds / unit_s);
    let changes: Vec<String> = named
        .iter()
        .map(|(part, _)| {
            let (function, module) = function(part);
            format!("{function} ({module}) from {} to {} {unit}", time(part.from_s), time(part.to_s))
        })
        .collect();
    let text = format!(
        "From {}, processor time per {units} goes from {} to {} {unit} in the profiles; by function: {}.",
        explanation.sides(),
        time(code.total.from_s),
        time(code.total.to_s),
        wording::list(&changes)
    );
    let tests: Vec<String> =
        named.iter().map(|(part, p)| format!("{} {}", function(part).0, wording::p_value(*p))).collect();
    let [from, to] = code.samples;
    let blocks = wording::count(decomposition.blocks, "block");
    let evidence = format!(
        "{from} and {to} samples, t over {blocks}, Holm over {}: {}",
        wording::count(code.parts.len() - 1, "function"),
        tests.join(", ")
    );
    Some(Finding::new(FindingKind::Code, text, evidence))
}

fn function(part: &Part) -> (&str, &str) {
    match &part.kind {
        PartKind::Function { function, module } => (function, module),
        _ => ("", ""),
    }
}
