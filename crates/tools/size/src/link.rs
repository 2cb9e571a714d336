//! The load of one link: what it must carry of each resource, how many pieces that takes, and how
//! long a read takes there.

use crate::Raid;
use crate::plan::{Alternative, Demand, Link, Part, Plan, Targets, YEAR_S};
use crate::queue;
use serde::Serialize;

/// A resource of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    /// Time of devices for I/Os.
    Io,
    /// Bytes a second.
    Bandwidth,
    /// Bytes held.
    Space,
    /// Processor time.
    Processor,
    /// Places for pieces of the link before.
    Places,
}

impl Resource {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Io => "I/Os",
            Self::Bandwidth => "bandwidth",
            Self::Space => "space",
            Self::Processor => "CPU time",
            Self::Places => "places",
        }
    }

    /// The utilisation that it may reach.
    pub(crate) fn target(self, targets: &Targets) -> f64 {
        match self {
            Self::Io | Self::Bandwidth | Self::Processor => targets.utilisation,
            Self::Space => targets.space,
            Self::Places => 1.0,
        }
    }
}

/// A link's use of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Use {
    /// The model.
    pub resource: Resource,
    /// Demand on all pieces: I/Os per second, bytes per second, bytes, CPUs, pieces.
    pub demand: f64,
    /// The share in use: above 1 it does not fit.
    pub utilisation: f64,
}

/// With one disk failed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rebuild {
    /// Share of the time that the disks of that group are busy.
    pub utilisation: f64,
    /// The demand during a rebuild, where the rebuild rate is given.
    pub while_rebuilt: Option<f64>,
    /// The time that a rebuild takes.
    pub rebuild_s: Option<f64>,
}

/// A link under its load.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LinkLoad {
    /// Position of its part.
    pub part: usize,
    /// Pieces.
    pub count: u64,
    /// True if the count was computed.
    pub is_computed: bool,
    /// By resource, in the order of [`Resource`].
    pub uses: Vec<Use>,
    /// Time of a small read there at this load; `None` where it is saturated, 0 where nothing is
    /// said of it.
    pub read_s: Option<f64>,
    /// With one disk failed; `None` without redundancy.
    pub degraded: Option<Rebuild>,
    /// Years until what is written has worn it out.
    pub worn_out_years: Option<f64>,
    /// Seconds until burst credits are used up; infinite where the base rate is enough. `None`
    /// without credits.
    pub burst_s: Option<f64>,
}

impl LinkLoad {
    /// The resource with the highest utilisation; places are not a load.
    pub fn narrowest(&self) -> Option<&Use> {
        let loads = self.uses.iter().filter(|used| used.resource != Resource::Places);
        loads.max_by(|a, b| a.utilisation.total_cmp(&b.utilisation))
    }
}

/// Demand at a link, all pieces together.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Traffic {
    /// Small I/Os a second.
    pub reads: f64,
    pub writes: f64,
    pub io_bytes: f64,
    /// Bytes a second.
    pub sequential_reads: f64,
    pub sequential_writes: f64,
    pub bytes: f64,
    pub processors: f64,
}

impl Traffic {
    /// By a link of a chain: the last level of RAID at or behind it makes its I/Os from those of
    /// the host.
    pub fn by(demand: &Demand, raid: Option<(Raid, u64)>) -> Self {
        let (raid, group) = raid.unwrap_or((Raid::Stripes, 1));
        let small = raid.level().small;
        Self {
            reads: demand.reads * small.reads_of_read + demand.writes * small.reads_of_write,
            writes: demand.writes * small.writes_of_write,
            io_bytes: demand.io_bytes,
            sequential_reads: demand.sequential_reads,
            sequential_writes: demand.sequential_writes * raid.large_write(group),
            bytes: demand.bytes / raid.usable(group),
            processors: demand.processors,
        }
    }

    /// The share of the time of one piece that small I/Os and streams take; `None` where nothing is
    /// said of either.
    fn device_time(&self, part: &Part) -> Option<f64> {
        let ios = sum(share(self.reads, part.read_iops), share(self.writes, part.write_iops))?;
        // A small I/O takes the longer of what its rate and its bytes need.
        let moved = sum(
            share(self.reads * self.io_bytes, part.read_bandwidth),
            share(self.writes * self.io_bytes, part.write_bandwidth),
        );
        let streams = sum(
            share(self.sequential_reads, part.read_bandwidth),
            share(self.sequential_writes, part.write_bandwidth),
        );
        Some(ios.max(moved.unwrap_or(0.0)) + streams.unwrap_or(0.0))
    }

    /// The share of one link's bandwidth; `None` where nothing is said of it.
    fn bandwidth(&self, part: &Part) -> Option<f64> {
        let reads = share(self.reads * self.io_bytes + self.sequential_reads, part.read_bandwidth);
        let writes =
            share(self.writes * self.io_bytes + self.sequential_writes, part.write_bandwidth);
        if part.half_duplex {
            sum(reads, writes)
        } else {
            reads.into_iter().chain(writes).reduce(f64::max)
        }
    }

    fn moved(&self) -> f64 {
        (self.reads + self.writes) * self.io_bytes + self.sequential_reads + self.sequential_writes
    }

    /// Returns one piece's use of each resource if it carried the whole load.
    fn uses(&self, part: &Part, before: u64) -> Vec<Use> {
        let device = part.read_iops.is_some() || part.write_iops.is_some();
        let shares = [
            (Resource::Io, self.reads + self.writes, self.device_time(part)),
            (Resource::Bandwidth, self.moved(), if device { None } else { self.bandwidth(part) }),
            (Resource::Space, self.bytes, part.capacity.map(|capacity| self.bytes / capacity)),
            (Resource::Processor, self.processors, part.cores.map(|cores| self.processors / cores)),
            (Resource::Places, before as f64, part.holds.map(|holds| before as f64 / holds as f64)),
        ];
        shares
            .into_iter()
            .filter_map(|(resource, demand, share)| {
                share.map(|utilisation| Use { resource, demand, utilisation })
            })
            .collect()
    }
}

fn share(load: f64, capacity: Option<f64>) -> Option<f64> {
    capacity.map(|capacity| load / capacity)
}

fn sum(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    a.into_iter().chain(b).reduce(|a, b| a + b)
}

/// The links of a chain under a demand.
pub(crate) fn links(plan: &Plan, alternative: &Alternative, demand: &Demand) -> Vec<LinkLoad> {
    let mut links: Vec<LinkLoad> = Vec::new();
    for (position, link) in alternative.chain.iter().enumerate() {
        let before = links.last().map_or(0, |link| link.count);
        let part = &plan.parts[link.part];
        // The levels of RAID at or behind a link: the first of them counts.
        let behind = &alternative.chain[position..];
        let raid = behind.iter().find_map(|link| Some((link.raid?, link.group)));
        links.push(load(link, part, raid, demand, &plan.targets, before));
    }
    links
}

/// The price of all pieces, with these months of the monthly prices.
pub(crate) fn price_of(plan: &Plan, links: &[LinkLoad], months: f64) -> f64 {
    let prices = links.iter().map(|link| {
        let part = &plan.parts[link.part];
        link.count as f64 * (part.price + part.price_per_month * months)
    });
    prices.sum()
}

/// The load of a link behind `before` pieces of the one before it.
fn load(
    link: &Link,
    part: &Part,
    raid: Option<(Raid, u64)>,
    demand: &Demand,
    targets: &Targets,
    before: u64,
) -> LinkLoad {
    let carried = Traffic::by(demand, raid);
    let mut uses = carried.uses(part, before);
    let count = link.count.unwrap_or_else(|| needed(&uses, targets, link.group));
    for used in &mut uses {
        used.utilisation /= count as f64;
    }
    let busy =
        |resource| uses.iter().find(|used| used.resource == resource).map(|used| used.utilisation);
    let io = busy(Resource::Io);
    let read_s = match (io, busy(Resource::Bandwidth), part.read_bandwidth) {
        (Some(busy), ..) => {
            let service = part
                .latency_s
                .or(part.read_iops.map(|iops| part.parallel as f64 / iops))
                .unwrap_or(0.0);
            queue::shared_queue(part.parallel, service, busy)
        }
        (None, Some(busy), Some(bandwidth)) => queue::link(demand.io_bytes / bandwidth, busy)
            .map(|time| time + part.latency_s.unwrap_or(0.0)),
        _ => Some(part.latency_s.unwrap_or(0.0)),
    };
    let written = carried.writes * carried.io_bytes + carried.sequential_writes;
    let worn_out_years = part
        .endurance
        .filter(|_| written > 0.0)
        .map(|bytes| bytes * count as f64 / written / YEAR_S);
    LinkLoad {
        part: link.part,
        count,
        is_computed: link.count.is_none(),
        read_s,
        degraded: link.raid.and_then(|raid| degraded(raid, link, part, demand, count)),
        worn_out_years,
        burst_s: part
            .burst
            .and_then(|(burst, credits)| burst_s(burst, credits, part, &carried, count)),
        uses,
    }
}

/// The fewest pieces with which every resource is within its target, in whole groups.
fn needed(of_one: &[Use], targets: &Targets, group: u64) -> u64 {
    let pieces = of_one.iter().map(|used| {
        // A rounding error above a whole number does not need another piece.
        (used.utilisation / used.resource.target(targets) - 1e-9).ceil().max(1.0) as u64
    });
    pieces.max().unwrap_or(1).next_multiple_of(group)
}

/// A group with a failed disk; the host's I/Os are spread evenly over the groups.
fn degraded(raid: Raid, link: &Link, part: &Part, demand: &Demand, count: u64) -> Option<Rebuild> {
    let io = raid.with_failure(link.group)?;
    let groups = (count / link.group).max(1) as f64;
    let (reads, writes) = (demand.reads / groups, demand.writes / groups);
    let of_disk = Traffic {
        reads: reads * io.reads_of_read + writes * io.reads_of_write,
        writes: writes * io.writes_of_write,
        io_bytes: demand.io_bytes,
        sequential_reads: demand.sequential_reads / (groups * (link.group - 1) as f64),
        sequential_writes: demand.sequential_writes * raid.large_write(link.group)
            / (groups * link.group as f64),
        ..Traffic::default()
    };
    let utilisation = of_disk.device_time(part)?;
    let rebuilt = link.rebuild.zip(part.read_bandwidth);
    Some(Rebuild {
        utilisation,
        while_rebuilt: rebuilt.map(|(rate, bandwidth)| utilisation + rate / bandwidth),
        rebuild_s: link.rebuild.zip(part.capacity).map(|(rate, capacity)| capacity / rate),
    })
}

/// The time that credits last: they pay for what is above the base rate.
fn burst_s(burst: f64, credits: f64, part: &Part, carried: &Traffic, count: u64) -> Option<f64> {
    let each = (carried.reads + carried.writes) / count as f64;
    let above = each.min(burst) - part.read_iops.or(part.write_iops)?;
    Some(if above > 0.0 { credits / above } else { f64::INFINITY })
}
