//! How close a database came to what its storage was measured to do.

use super::devices;
use crate::model::Section;
use crate::number;
use analysis::{Ceiling, Summary};

/// A sentence for each volume and direction; `None` when no ceiling was measured.
pub(crate) fn section(summary: &Summary, ceilings: &[Ceiling]) -> Option<Section> {
    let shown = devices::shown(summary, ceilings, |ceiling| ceiling.configuration);
    let mut section = Section::new("Storage ceiling");
    for ceiling in shown {
        section.line(sentence(ceiling));
        section.detail(evidence(ceiling));
    }
    section.unless_empty()
}

fn sentence(ceiling: &Ceiling) -> String {
    let measured = &ceiling.ceiling;
    let label = if ceiling.label.is_empty() { String::new() } else { format!("{}: ", ceiling.label) };
    let decimals = usize::from(ceiling.share < 0.0995);
    let interval = ceiling.interval.map_or_else(String::new, |interval| {
        let end = |share: f64| number::fixed(100.0 * share, decimals);
        format!(" ({}-{} %)", end(interval.low), end(interval.high))
    });
    let volumes = if ceiling.volume.contains(", ") { "volumes" } else { "volume" };
    let half = measured.iops.relative_half_width();
    let half = half.map_or_else(String::new, |half| format!(" ± {}", number::percent(half, 1)));
    let over = if ceiling.share > 1.0 {
        "; more than the ceiling: its I/Os are smaller or closer together than the measured ones, or more were in \
         flight than were tried"
    } else {
        ""
    };
    format!(
        "{label}{volumes} {} ({}) did {}{interval} of the {} {} {} ceiling measured on it (run {} of {}, {} IOPS{half}){over}.",
        ceiling.volume,
        ceiling.devices.join(", "),
        number::percent(ceiling.share, decimals),
        number::bytes(measured.block_bytes),
        if measured.random { "random" } else { "sequential" },
        ceiling.way.name(),
        measured.run,
        measured.experiment,
        number::grouped(measured.iops.mean),
    )
}

fn evidence(ceiling: &Ceiling) -> String {
    let measured = &ceiling.ceiling;
    let by = if measured.label.is_empty() { String::new() } else { format!(" by {}", measured.label) };
    format!(
        "{} by the kernel's counters, {} each on average (n = {}); ceiling{by} (n = {}).",
        number::estimate(&ceiling.rate),
        number::bytes(ceiling.mean_bytes as u64),
        ceiling.rate.n,
        measured.iops.n
    )
}
