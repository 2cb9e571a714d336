//! The code behind a difference in processor time, in words.

use super::why::{NAMED, supported};
use super::{Finding, FindingKind};
use crate::{Explanation, Part, PartKind, wording};

/// Functions whose processor time for the same work changed; `None` where trials were not profiled, or no change is
/// supported.
pub fn find(explanation: &Explanation) -> Option<Finding> {
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
            let (function, module) = name(part);
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
        named.iter().map(|(part, p)| format!("{} {}", name(part).0, wording::p_value(*p))).collect();
    let [from, to] = code.samples;
    let blocks = wording::count(decomposition.blocks, "block");
    let evidence = format!(
        "{from} and {to} samples, t over {blocks}, Holm over {}: {}",
        wording::count(code.parts.len() - 1, "function"),
        tests.join(", ")
    );
    Some(Finding::new(FindingKind::Code, text, evidence))
}

fn name(part: &Part) -> (&str, &str) {
    match &part.kind {
        PartKind::Function { function, module } => (function, module),
        _ => ("", ""),
    }
}
