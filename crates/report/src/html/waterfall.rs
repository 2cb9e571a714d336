//! Why what the verdict names differs: the change, part by part.

use super::figure::{Drawing, Figure, coordinate};
use crate::chart;
use crate::model::{Bar, Chart, Tone};
use crate::why::waterfall;
use analysis::{Explanation, Summary};
use serde_json::{Value, json};

/// A figure for each difference that is explained; one that says so when there is none.
pub fn figures(summary: &Summary) -> Vec<(String, Figure)> {
    if summary.explanations.is_empty() {
        let why = "No difference is supported at 95 %: there is nothing to explain.".to_owned();
        return vec![("Why".to_owned(), Figure::Nothing(why))];
    }
    let figure = |explanation: &Explanation| {
        let Explanation { from, to, decomposition, .. } = explanation;
        let drawn = drawing(&waterfall(decomposition, from, to));
        let evidence = format!(" (t over {}).", crate::number::plural(decomposition.blocks, "block"));
        let caption = drawn.caption.trim_end_matches('.').to_owned() + &evidence;
        (format!("Why: from {}", explanation.sides()), Figure::Drawn(Drawing { caption, ..drawn }))
    };
    summary.explanations.iter().map(figure).collect()
}

/// A chart whose first and last bar are totals.
pub fn drawing(chart: &Chart) -> Drawing {
    let bars: Vec<&Bar> = chart.groups.iter().flat_map(|group| &group.bars).collect();
    let last = bars.len().saturating_sub(1);
    let mut at = 0.0;
    let mut steps: Vec<Value> = Vec::new();
    for (i, bar) in bars.iter().enumerate() {
        let total = i == 0 || i == last;
        let from = if total { 0.0 } else { at };
        at = from + bar.value;
        let doubt = if bar.tone == Tone::Muted { "not supported at 95 %" } else { "" };
        steps.push(json!({
            "kind": if total { "total" } else { "change" },
            "label": bar.label.as_str(), "from": coordinate(from), "to": coordinate(at), "doubt": doubt,
            "figure": format!("{} {}", chart.value(bar), chart.unit), "interval": chart.interval(bar),
            "share": bar.note.as_str(),
        }));
    }
    let heading = chart.heading();
    let said: Vec<String> = bars.iter().map(|bar| format!("{}: {}", bar.label, chart.value(bar))).collect();
    Drawing {
        spec: json!({ "kind": "waterfall", "label": heading.as_str(), "steps": steps }),
        caption: format!(
            "{heading}: the sessions' time by wait type, divided by the connections; the changes add up to the \
             difference. Pale bars: not supported at 95 %."
        ),
        alternative: format!("Waterfall: {heading}. {}.", said.join("; ")),
        data: chart::table(chart),
        data_heading: "Changes with 95 % intervals, and their share of the whole change".to_owned(),
    }
}
