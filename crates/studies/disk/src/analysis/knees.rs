//! Findings about knees.

use super::{Knee, KneeInterval, disk};
use analysis::{Finding, FindingKind, Summary, wording};
use observations::number;

/// Returns the point where storage saturates, as far as the blocks tell: what a search for the knee
/// asks. It is what threads and queue depth do together, which the effects of each alone do not
/// show.
pub fn find(summary: &Summary) -> Vec<Finding> {
    let disk = disk(summary);
    disk.iter().flat_map(|disk| &disk.knees).filter_map(finding).collect()
}

fn finding(knee: &Knee) -> Option<Finding> {
    let KneeInterval { from, to, .. } = knee.between?;
    let (from, to) = (&knee.points[from], &knee.points[to?]);
    let text = format!(
        "{}IOPS saturate {} I/Os in flight: {} at {} ({} x {}).",
        knee.prefix(),
        from.range(to),
        number::quantity(to.iops.mean, "I/Os/s"),
        to.outstanding,
        wording::count(to.threads as usize, "thread"),
        to.queue_depth,
    );
    let blocks = wording::count(to.iops.n, "block");
    let evidence = format!(
        "95 % interval of the fewest I/Os in flight that reach 95 % of the highest IOPS, over \
         {blocks}"
    );
    Some(Finding::new(FindingKind::Verdict, text, evidence))
}
