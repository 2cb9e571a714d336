use super::claims::Claim;
use super::{Finding, FindingKind};
use crate::estimate::mean;
use crate::{ConfigurationRow, Failure, Summary, TooFew, health, wording};
use observations::{Observations, RATE_AT_MOST, number};
use std::collections::HashSet;

/// Finds what limits the conclusions.
pub fn find(summary: &Summary, largest: Option<&Claim>) -> Vec<Finding> {
    let caveats = [
        synthetic(summary),
        missing_response(summary),
        few_values(summary),
        nothing_measured(summary),
        summary.durability_caveat().map(|text| caveat(text, "")),
        failed(summary),
        timed_out(summary),
        futile(summary),
        rests_on_few(summary),
        overloaded(summary),
        warned(summary, largest),
        drift(summary),
        adaptive(summary),
        environments(summary),
    ];
    caveats.into_iter().flatten().collect()
}

/// `None` where there is nothing to be careful with.
type Caveat = Option<Finding>;

fn caveat(text: impl Into<String>, evidence: impl Into<String>) -> Finding {
    Finding::new(FindingKind::Caveat, text.into(), evidence.into())
}

fn synthetic(summary: &Summary) -> Caveat {
    let text = "These figures are synthetic: a scripted engine produced them, and they measure \
                nothing.";
    summary.overview().synthetic.then(|| caveat(text, ""))
}

fn missing_response(summary: &Summary) -> Caveat {
    let response = summary.response.as_ref()?;
    let missing = response.missing.as_ref()?;
    if TooFew::find(missing, &summary.grid.observations()).is_some() {
        return None;
    }
    let text = format!(
        "No trial recorded the response {missing:?}; configurations are compared on {}.",
        response.name
    );
    Some(caveat(text, ""))
}

/// The response asked for, or the primary one, is a percentile of too few values.
fn few_values(summary: &Summary) -> Caveat {
    let (compared, trials) = (summary.response.as_ref()?, summary.grid.observations());
    let response = summary.recording.run.response.as_deref();
    let response = response.or_else(|| Some(trials.first()?.responses.first()?.name.as_str()))?;
    let few = TooFew::find(response, &trials)?;
    let consequence = if compared.name == response {
        "configurations with fewer have no interval and are not compared".to_owned()
    } else {
        format!("configurations are compared on {}", compared.name)
    };
    Some(caveat(format!("{few}; {consequence}."), ""))
}

fn nothing_measured(summary: &Summary) -> Caveat {
    let text = if summary.failed() > 0 {
        "Every trial failed: there is nothing to compare."
    } else {
        "No trial has been run yet."
    };
    (summary.done() == 0).then(|| caveat(text, ""))
}

fn failed(summary: &Summary) -> Caveat {
    let failures = summary.failures();
    let failures: Vec<&Failure> = failures.iter().filter(|failure| !failure.timed_out).collect();
    let first = failures.first()?;
    let attempts = wording::count(summary.failed() - summary.timeouts(), "attempt");
    let lost: usize = summary.configurations.iter().map(|row| row.lost_blocks).sum();
    let lost = match lost {
        0 => "; each succeeded on retry".to_owned(),
        n => format!(
            "; {} missing from the figures",
            are(n, "block of a configuration", "blocks of configurations")
        ),
    };
    let most = if failures.len() == 1 { "cause" } else { "most frequent cause" };
    let configurations = first.configurations.join(", ");
    // An only configuration has no name.
    let of =
        if configurations.is_empty() { configurations } else { format!(" ({configurations})") };
    let evidence = format!("{most}: {}{of}", first.reason());
    let short = format!("{attempts} failed: {}{of}.", first.reason());
    Some(caveat(format!("{attempts} failed{lost}."), evidence).in_short(short))
}

/// Trials that took longer than they may are observations, and their configurations are not called
/// better.
fn timed_out(summary: &Summary) -> Caveat {
    let rows: Vec<&ConfigurationRow> =
        summary.configurations.iter().filter(|row| row.at_limit() > 0).collect();
    let named: Vec<String> = rows
        .iter()
        .map(|row| {
            let all = wording::count(row.done + row.timeouts, "trial");
            let label =
                if row.label.is_empty() { String::new() } else { format!(" of {}", row.label) };
            format!("{} of {all}{label}", row.at_limit())
        })
        .collect();
    let bound = rows
        .iter()
        .filter_map(|row| row.response.as_ref())
        .any(|response| response.bound.is_some());
    let figures = if bound {
        "each counts as the time until then, so figures marked \"at least\" are lower bounds"
    } else {
        "they have no value of this response, so figures are those of the other trials"
    };
    let text = format!(
        "limits.trial_time stopped {}: {figures}. A configuration with stopped trials is never \
         called better than one without.",
        wording::list(&named)
    );
    let stopped: usize = rows.iter().map(|row| row.at_limit()).sum();
    let short = format!("limits.trial_time stopped {}.", wording::count(stopped, "trial"));
    (!rows.is_empty()).then(|| caveat(text, "").in_short(short))
}

/// Trials that a search ended early are neither failures nor figures.
fn futile(summary: &Summary) -> Caveat {
    let named: Vec<String> = summary
        .futile()
        .filter_map(|trial| {
            let observations = trial.observations.as_ref()?;
            let label = &summary.recording.configurations.get(trial.configuration)?.label;
            let after = number::seconds(observations.elapsed_s);
            let rate = observations.facts.iter().find(|fact| fact.name == RATE_AT_MOST);
            let rate =
                rate.map(|rate| format!(", at most {}", number::quantity(rate.value, &rate.unit)));
            Some(format!("{label} (after {after}{})", rate.unwrap_or_default()))
        })
        .collect();
    let text = format!(
        "The search ended {} early, because they could not beat its best trial any more: {}. They \
         were not measured to the end.",
        wording::count(named.len(), "trial"),
        wording::list(&named)
    );
    let short = format!("The search ended {} early.", wording::count(named.len(), "trial"));
    (!named.is_empty()).then(|| caveat(text, "").in_short(short))
}

fn are(n: usize, singular: &str, plural: &str) -> String {
    if n == 1 { format!("1 {singular} is") } else { format!("{n} {plural} are") }
}

/// Warnings of the trials behind the verdict: of the two levels compared, else of all.
fn warned(summary: &Summary, largest: Option<&Claim>) -> Caveat {
    let rows = summary.configurations.iter().filter(|row| match largest {
        Some(Claim::Factor { effect, from, to, .. }) => {
            let labels = [&effect.levels[*from].level, &effect.levels[*to].level];
            row.levels
                .iter()
                .any(|level| level.factor == effect.factor && labels.contains(&&level.level))
        }
        _ => true,
    });
    let trials: Vec<&Observations> = rows.flat_map(|row| summary.grid.trials(row.index)).collect();
    let carry = trials.iter().filter(|trial| !trial.warnings.is_empty()).count();
    let counts = health::count(&trials);
    let example = format!("for example: {}", counts.first()?.detail);
    let kinds: Vec<String> = counts
        .iter()
        .map(|count| {
            let most = count.share_max.map(|share| format!("up to {}", number::percent(share, 1)));
            let trials = (counts.len() > 1).then(|| wording::count(count.trials, "trial"));
            let detail: Vec<String> = trials.into_iter().chain(most).collect();
            let detail =
                if detail.is_empty() { String::new() } else { format!(" ({})", detail.join(", ")) };
            format!("{}{detail}", wording::warning(count.kind))
        })
        .collect();
    let kinds = wording::list(&kinds);
    let (verb, all) =
        (if carry == 1 { "carries" } else { "carry" }, wording::count(trials.len(), "trial"));
    let text = if carry == trials.len() && carry > 1 && counts.len() == 1 {
        format!("Every trial compared carries a warning: {kinds}.")
    } else {
        format!("{carry} of the {all} compared {verb} a warning: {kinds}.")
    };
    Some(caveat(text, example))
}

/// An open loop that asked for more than was done, with the configurations.
fn overloaded(summary: &Summary) -> Caveat {
    let loops = summary.open_loop();
    let hit: Vec<_> = loops.iter().filter(|iteration| iteration.overloaded > 0).collect();
    let first = hit.first()?;
    let (trials, of) =
        hit.iter().fold((0, 0), |sum, row| (sum.0 + row.overloaded, sum.1 + row.trials));
    let labels: Vec<String> =
        hit.iter().map(|row| row.label.clone()).filter(|label| !label.is_empty()).collect();
    let of_them =
        if labels.is_empty() { String::new() } else { format!(" of {}", wording::list(&labels)) };
    let text = format!(
        "In {trials} of {} {of_them} the load could not keep the requested rate. Latency from \
         the intended start then only grows with the length of the trial, so these latencies are \
         left out.",
        wording::count(of, "trial")
    );
    let rate = |rate: f64| number::grouped(rate);
    let evidence = format!(
        "{}requested {} transactions/s, achieved {}/s",
        if first.label.is_empty() { String::new() } else { format!("{}: ", first.label) },
        rate(first.scheduled),
        rate(first.done)
    );
    let rest = "Latency from the intended start is left out where the rate was not kept.";
    let short = format!(
        "In {trials} of {} the load could not keep its rate. {rest}",
        wording::count(of, "trial")
    );
    Some(caveat(text.replace("  ", " "), evidence).in_short(short))
}

/// A smaller range of blocks, as a share of the mean, limits nothing, however sure it is: intervals
/// of means have whole percent.
const DRIFT_MIN: f64 = 0.01;

fn drift(summary: &Summary) -> Caveat {
    let drift = summary.drift().filter(|drift| drift.supported)?;
    let values = || drift.relative.iter().map(|(_, relative)| *relative);
    let (low, high) =
        (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    if high - low < DRIFT_MIN {
        return None;
    }
    let (low, high) = (wording::percent(low), wording::percent(high));
    let text = format!(
        "Blocks differ in {} ({low} to {high} of the mean): the machine, or the data regenerated \
         in each block, changed during the run. Comparisons are within blocks and stay valid; \
         means vary more.",
        drift.response
    );
    let (f, p) = (wording::f_statistic(drift.f), wording::p_value(drift.p_value));
    let evidence = format!("F {f}, {p} over {}", wording::count(drift.blocks, "block"));
    let short = format!(
        "Blocks differ in {} ({low} to {high} of the mean); comparisons are within blocks.",
        drift.response
    );
    Some(caveat(text, evidence).in_short(short))
}

/// Means that are named when a few outliers dominate; of more only the number is said.
const NAMED_MEANS_MAX: usize = 2;

/// Means that depend on a few outliers by more than the margin. One or two such trials do not show
/// how often they occur, so the intervals do not account for them.
fn rests_on_few(summary: &Summary) -> Caveat {
    let figures = summary.figures.as_ref()?;
    let outliers = summary.outliers();
    let far: HashSet<(usize, u32)> =
        outliers.iter().map(|outlier| (outlier.configuration, outlier.block)).collect();
    let mut rows: Vec<String> = summary
        .configurations
        .iter()
        .filter_map(|row| {
            let values: Vec<(u32, f64)> = figures.values(row.index).collect();
            let rest = || values.iter().filter(|(block, _)| !far.contains(&(row.index, *block)));
            let (few, all) = (values.len() - rest().count(), values.len());
            let (with, without) =
                (mean(values.iter().map(|(_, value)| value)), mean(rest().map(|(_, value)| value)));
            ((with / without - 1.0).abs() > summary.margin() && few > 0).then(|| {
                let label =
                    if row.label.is_empty() { String::new() } else { format!(" of {}", row.label) };
                let [with, without] =
                    [with, without].map(|mean| number::quantity(mean, summary.unit()));
                format!(
                    "the mean{label} depends on {few} of {} ({with}; without: {without})",
                    wording::count(all, "trial")
                )
            })
        })
        .collect();
    let unnamed = rows.len().saturating_sub(NAMED_MEANS_MAX);
    if unnamed > 1 {
        rows.truncate(NAMED_MEANS_MAX);
        rows.push(format!("{unnamed} more means likewise"));
    }
    let text = format!(
        "A few outliers dominate: {}. The intervals do not account for them; compare medians.",
        wording::list(&rows)
    );
    let short = "A few outliers dominate means; their intervals do not account for them.";
    (!rows.is_empty()).then(|| caveat(text, "").in_short(short.to_owned()))
}

/// How the number of blocks came about.
fn adaptive(summary: &Summary) -> Caveat {
    let adaptive = summary.recording.run.adaptive.filter(|_| summary.done() > 0)?;
    let text = format!(
        "Repeats were adaptive: the spread within the first {} set their number (at most {}), so \
         that each 95 % interval is within {} of its mean.",
        wording::count(adaptive.min as usize, "block"),
        adaptive.max,
        wording::percent(adaptive.until)
    );
    let evidence = "Stein's two-stage procedure: intervals and tests use the spread of the first \
                    stage";
    let short = format!(
        "Repeats were adaptive, until each interval is within {}.",
        wording::percent(adaptive.until)
    );
    Some(caveat(text, evidence).in_short(short))
}

fn environments(summary: &Summary) -> Caveat {
    let text = "The run was resumed in a different environment: trials before and after may not \
                be comparable.";
    (summary.recording.environments.len() > 1).then(|| caveat(text, ""))
}
