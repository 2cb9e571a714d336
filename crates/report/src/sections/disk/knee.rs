use crate::model::{Section, Tone};
use crate::number;
use analysis::{Estimate, Knee, KneePoint};

/// A sentence or two for each group; `None` when no knee was looked for.
pub fn section(knees: &[Knee]) -> Option<Section> {
    let mut section = Section::new("Knee");
    for knee in knees {
        let group = if knee.group.is_empty() { String::new() } else { format!("{}: ", knee.group) };
        let (text, tone) = match knee.knee {
            Some(at) => (saturates(knee, &knee.points[at]), Tone::Plain),
            None => (rises(knee), Tone::Warning),
        };
        section.toned(format!("{group}{text}"), tone);
        section.detail(detail(knee));
    }
    section.unless_empty()
}

fn saturates(knee: &Knee, at: &KneePoint) -> String {
    format!("saturates at {}: {} IOPS{}.", outstanding(at), estimate(&at.iops), beyond(knee, at))
}

/// What more I/Os in flight bring and cost.
fn beyond(knee: &Knee, at: &KneePoint) -> String {
    let (top, last) = (&knee.points[knee.maximum], knee.points.last().unwrap_or(at));
    let ends = |of: fn(&KneePoint) -> Option<&Estimate>| {
        let seconds = |point| of(point).and_then(Estimate::mean_s);
        seconds(at).zip(seconds(last)).filter(|(from, to)| from < to)
    };
    let p99 = ends(|point| point.latency_p99.as_ref()).map(|ends| ("p99", ends));
    let latency = p99.or_else(|| Some(("mean latency", ends(|point| point.latency_mean.as_ref())?)));
    let gain = top.iops.mean / at.iops.mean - 1.0;
    // Less than what one decimal shows is no gain.
    let gain = Some(gain).filter(|gain| *gain >= 0.0005).map(|gain| number::percent(gain, 1));
    let grown = latency.map(|(name, (from, to))| {
        let (from, to) = (number::seconds(from), number::seconds(to));
        format!("{name} {from} -> {to} at {}", last.outstanding)
    });
    match (gain, grown) {
        (None, Some(grown)) => format!("; beyond, only latency grows: {grown}"),
        (Some(gain), Some(grown)) => {
            format!("; beyond, IOPS gain at most {gain} while latency grows: {grown}")
        }
        (Some(gain), None) => format!("; beyond, IOPS gain at most {gain}"),
        (None, None) => String::new(),
    }
}

fn rises(knee: &Knee) -> String {
    let top = &knee.points[knee.maximum];
    format!(
        "the knee was not reached: IOPS still rise at the most that was tried, {} at {}.",
        estimate(&top.iops),
        outstanding(top)
    )
}

/// The maximum, the asymptotic knee, and Little's law at both points.
fn detail(knee: &Knee) -> String {
    let top = &knee.points[knee.maximum];
    let mut parts = vec![format!("maximum {} IOPS at {}", estimate(&top.iops), outstanding(top))];
    parts.extend(top.latency_mean.as_ref().and_then(Estimate::mean_s).map(|mean| {
        let p99 = top.latency_p99.as_ref().and_then(Estimate::mean_s);
        let p99 = p99.map_or_else(String::new, |p99| format!(" (p99 {})", number::seconds(p99)));
        format!("mean latency there {}{p99}", number::seconds(mean))
    }));
    parts.extend(knee.asymptotic.map(|n| {
        format!("asymptotic knee N* = maximum IOPS x lowest latency = {} outstanding", number::figure(n))
    }));
    let points = knee.knee.map(|at| &knee.points[at]).into_iter().chain([top]);
    let worst = points.filter_map(|p| p.little).map(|little| little.difference.abs()).reduce(f64::max);
    parts.extend(worst.map(|worst| format!("Little's law within {}", number::percent(worst, 1))));
    format!("{}.", parts.join("; "))
}

/// `32 outstanding (2 threads x 16)`
fn outstanding(point: &KneePoint) -> String {
    let threads = number::plural(point.threads as usize, "thread");
    format!("{} outstanding ({threads} x {})", point.outstanding, point.queue_depth)
}

/// `61,200 ± 1.2 % (n = 3)`
fn estimate(estimate: &Estimate) -> String {
    let half = estimate.relative_half_width();
    let half = half.map_or_else(String::new, |half| format!(" ± {}", number::percent(half, 1)));
    format!("{}{half} (n = {})", number::grouped(estimate.mean), estimate.n)
}
