//! What waiting sessions met at.

use crate::model::Section;
use crate::number;
use crate::text::listed;
use analysis::ActivitySummary;
use analysis::activity::HotResources;

/// Things of a kind that are named.
const NAMED: usize = 5;

/// A sentence for each kind of things, with what it rests on; `None` where sessions met at nothing.
pub(super) fn section(summary: &ActivitySummary) -> Option<Section> {
    let mut section = Section::new("Where sessions met");
    for hot in &summary.hot {
        section.warn(finding(hot));
        section.detail(evidence(hot));
    }
    section.unless_empty()
}

/// `PAGELATCH_UP on PFS page 5:1:1520544 held 63 % of the latch time: more data files would spread it`.
fn finding(hot: &HotResources) -> String {
    let what = match &hot.resources[..] {
        [(only, _)] => format!("{} {only}", hot.kind),
        all => format!("{} {}s", number::whole(all.len() as f64), hot.kind),
    };
    let share = number::percent(hot.samples as f64 / hot.of as f64, 0);
    let remedy = hot.remedy.as_ref().map_or_else(String::new, |remedy| format!(": {remedy} would spread it"));
    format!("{} on {what} held {share} of the {} time{remedy}.", hot.wait_type, hot.class)
}

fn evidence(hot: &HotResources) -> String {
    let (low, high) = (number::percent(hot.interval.low, 0), number::percent(hot.interval.high, 0));
    let named = hot.resources.iter().take(NAMED).map(|(name, samples)| format!("{name} {samples}"));
    let rest = hot.resources.len().saturating_sub(NAMED);
    let rest = (rest > 0).then(|| format!("{rest} more"));
    let named = listed(named.chain(rest)).unwrap_or_default();
    format!(
        "{} of {} samples of waits of class {} ({low} to {high} with 95 % confidence); at most {} at a time. Samples: {named}.",
        number::count(hot.samples),
        number::count(hot.of),
        hot.class,
        number::plural(hot.sessions_max as usize, "session"),
    )
}
