//! Storage ceilings, in sentences.

use crate::ceiling::{Ceiling, Limit, LimitUnit};
use analysis::Summary;
use report::{Section, baseline_and_best, number};

/// A sentence for each volume and direction; `None` when no ceiling was measured.
pub fn section(summary: &Summary, ceilings: &[Ceiling]) -> Option<Section> {
    let shown = baseline_and_best(summary, ceilings, |ceiling| ceiling.configuration);
    let mut section = Section::new("Storage ceiling");
    for ceiling in shown {
        section.line(sentence(ceiling));
        section.detail(evidence(ceiling));
    }
    section.unless_empty()
}

fn sentence(ceiling: &Ceiling) -> String {
    let label =
        if ceiling.label.is_empty() { String::new() } else { format!("{}: ", ceiling.label) };
    let decimals = usize::from(ceiling.share < 0.0995);
    let share = if ceiling.share < SHARE_MIN {
        format!("less than {}", number::percent(SHARE_MIN, 1))
    } else {
        number::percent(ceiling.share, decimals)
    };
    let interval = ceiling.interval.filter(|_| ceiling.share >= SHARE_MIN).map_or_else(
        String::new,
        |interval| {
            let end = |share: f64| number::fixed(100.0 * share, decimals);
            format!(" ({}-{} %)", end(interval.low), end(interval.high))
        },
    );
    let volumes = if ceiling.volume.are_several() { "volumes" } else { "volume" };
    let (limit, over) = limit(ceiling);
    let over = if ceiling.share > 1.0 { over } else { "" };
    format!(
        "{label}{volumes} {} ({}) did {share}{interval} of {limit}{over}.",
        ceiling.volume,
        ceiling.devices.join(", ")
    )
}

/// A share below this would be printed as 0.
const SHARE_MIN: f64 = 0.001;

/// The limit that the load is compared with, and a remark for loads above it.
fn limit(ceiling: &Ceiling) -> (String, &'static str) {
    match &ceiling.ceiling {
        Limit::Measured(measured) => {
            let interval = number::interval(&measured.iops);
            let limit = format!(
                "its measured {} {} {} ceiling (run {} of {}, {} IOPS{interval})",
                number::bytes(measured.block_bytes),
                if measured.random { "random" } else { "sequential" },
                ceiling.way.name(),
                measured.run,
                measured.experiment,
                number::grouped(measured.iops.mean),
            );
            let over = "; above the ceiling, because its I/Os are smaller or closer together, or \
                        more were in flight than in the measurement";
            (limit, over)
        }
        Limit::Throttle { throttle, unit } => {
            let (amount, unit) = match unit {
                LimitUnit::Iops => (number::grouped(*throttle), "IOPS"),
                LimitUnit::Bytes => (number::figure(throttle / 1e6), "MB/s"),
            };
            let limit = format!("its throttle of {amount} {unit} for {}s", ceiling.way.name());
            (
                limit,
                "; above the limit, because the kernel counts all users of the device and the \
                 throttle only the load",
            )
        }
    }
}

fn evidence(ceiling: &Ceiling) -> String {
    let held = match &ceiling.ceiling {
        Limit::Measured(measured) => {
            let by = if measured.label.is_empty() {
                String::new()
            } else {
                format!(" by {}", measured.label)
            };
            format!("ceiling{by} (n = {})", measured.iops.n)
        }
        Limit::Throttle { .. } => {
            "the disk probe did not measure it under this throttle".to_owned()
        }
    };
    let vague = if ceiling.interval.is_none() && ceiling.rate.n > 1 {
        " The interval of the share is too wide to print."
    } else {
        ""
    };
    format!(
        "{} from the kernel's counters of all processes, {} each on average (n = {}); \
         {held}.{vague}",
        number::estimate(&ceiling.rate),
        number::bytes(ceiling.mean_bytes as u64),
        ceiling.rate.n,
    )
}
