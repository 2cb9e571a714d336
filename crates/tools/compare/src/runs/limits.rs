//! Limits on what changed from one run to another.

use super::{Pair, RunsError};
use analysis::gate::{Candidate, Gate, Limit, LimitJudged, Logarithms, Spread};
use command_line::Responses;
use observations::Recording;

/// Judges the second side against the limits. A limit without its own response applies to the one
/// that `which` names, by default the primary one.
///
/// # Errors
/// As [`super::compare_sides`].
pub fn judge_sides(
    from: &[Recording],
    to: &[Recording],
    which: Responses,
    limits: &[Limit],
) -> Result<Gate, RunsError> {
    let pair = Pair::new(from, to)?;
    let which = if which == Responses::All { Responses::Primary } else { which };
    let limits = limits
        .iter()
        .map(|limit| -> Result<LimitJudged, RunsError> {
            let response = match &limit.response {
                Some(name) => pair.common(name)?,
                None => pair.choices(which)?.remove(0),
            };
            let candidates = pair.matches.iter().zip(pair.samples(&response));
            let candidates = candidates
                .map(|(matched_pair, samples)| Candidate {
                    label: pair.from.first().configurations[matched_pair.from].label.clone(),
                    values: samples.logarithms().map(|[from, to]| Logarithms {
                        is_paired: false,
                        from,
                        to,
                        timed_out: samples.timed_out(),
                    }),
                })
                .collect();
            let too_few = pair.too_few(&response);
            Ok(LimitJudged::new(limit, response, candidates, too_few)?)
        })
        .collect::<Result<Vec<_>, _>>()?;
    let spread = if pair.has_single_runs() { Spread::SingleRuns } else { Spread::Runs };
    Ok(Gate::new(spread, limits, pair.warnings()))
}
