//! A plan: what is demanded, what parts can do, and which chains of parts are compared.

use crate::Raid;
use crate::sections::{Field, Fields, Sections};
use command_line::Failure;
use experiment::{FileErrors, Kind};
use serde::Serialize;

/// Seconds of a year.
pub(crate) const YEAR_S: f64 = 365.25 * 86_400.0;

/// Demands of the work.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Demand {
    /// Transactions a second.
    pub transactions: Option<f64>,
    /// Time that a transaction may take; with the rate it says how many are in flight (Little's
    /// Law).
    pub response_time_s: Option<f64>,
    /// Small random reads a second.
    pub reads: f64,
    /// Small random writes a second.
    pub writes: f64,
    /// Bytes of one of those.
    pub io_bytes: f64,
    /// Bytes a second of scans and backups.
    pub sequential_reads: f64,
    /// Bytes a second of log, loads and checkpoints.
    pub sequential_writes: f64,
    /// Bytes to hold, with the growth of all years.
    pub bytes: f64,
    /// Bytes to hold now.
    pub bytes_now: f64,
    /// Yearly growth of the bytes, as a share.
    pub growth: f64,
    /// Years of growth.
    pub years: f64,
    /// Processor seconds a second.
    pub processors: f64,
    /// Processor seconds of a transaction.
    pub processor_s: f64,
    /// Reads of a transaction that wait for one another.
    pub serial_reads: f64,
}

/// The utilisation that links may reach.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Targets {
    /// Highest share of the time that a link is busy.
    pub utilisation: f64,
    /// Highest share of the space in use.
    pub space: f64,
    /// Months for which monthly prices are counted.
    pub months: f64,
    /// Months over which a purchase loses its value, by equal parts; `None`: no depreciation.
    pub depreciation: Option<f64>,
}

/// Capacity of one piece. Unset figures are unlimited.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Part {
    /// The name in the file.
    pub name: String,
    /// Small random reads a second.
    pub read_iops: Option<f64>,
    /// Small random writes a second.
    pub write_iops: Option<f64>,
    /// Bytes a second in; with both directions given, a link carries both at once, a device shares
    /// its time between them.
    pub read_bandwidth: Option<f64>,
    /// Bytes a second out.
    pub write_bandwidth: Option<f64>,
    /// True if both directions share one bandwidth.
    pub half_duplex: bool,
    /// Time of one small read without queueing.
    pub latency_s: Option<f64>,
    /// Requests that it serves at a time.
    pub parallel: u64,
    /// Bytes that it holds, less over-provisioning.
    pub capacity: Option<f64>,
    /// Bytes that can be written to it before it is worn out.
    pub endurance: Option<f64>,
    /// I/Os a second while credits last, and how many I/Os above the base rate they pay for.
    pub burst: Option<(f64, f64)>,
    /// Processor seconds a second.
    pub cores: Option<f64>,
    /// Pieces of the link before that one piece takes.
    pub holds: Option<u64>,
    /// Price of a piece.
    pub price: f64,
    /// Price of a piece for a month.
    pub price_per_month: f64,
    /// The part by which its price falls in a year.
    pub price_decline: f64,
}

/// A link of a chain.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Link {
    /// Position of its part.
    pub part: usize,
    /// Pieces; `None`: as many as are needed.
    pub count: Option<u64>,
    /// Amplification of the host's I/Os by it and the links before it.
    pub raid: Option<Raid>,
    /// Disks of a group that is protected together.
    pub group: u64,
    /// Bytes a second that each disk of a group gives to a rebuild.
    pub rebuild: Option<f64>,
}

/// A chain of links, from the disks to the processors.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Alternative {
    /// The name.
    pub name: String,
    /// From the disks on.
    pub chain: Vec<Link>,
}

/// A plan to size.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plan {
    /// Demands of the work.
    pub demand: Demand,
    /// The utilisation that links may reach.
    pub targets: Targets,
    /// Currency of prices.
    pub currency: String,
    /// Parts of the chains.
    pub parts: Vec<Part>,
    /// The chains.
    pub alternatives: Vec<Alternative>,
}

const ANY: Kind = Kind::Number { min: 0.0, max: 1e15 };
const COUNT: Kind = Kind::Count { min: 1, max: 1_000_000_000 };
const SIZE: Kind = Kind::Size { min: 1, max: i64::MAX };

const DEMAND: &[Field] = &[
    ("from", Kind::Text),
    ("transactions", Kind::Rate),
    ("response_time", Kind::PositiveDuration),
    ("reads", Kind::Rate),
    ("writes", Kind::Rate),
    ("reads_per_transaction", ANY),
    ("writes_per_transaction", ANY),
    ("io_size", SIZE),
    ("sequential_reads", Kind::Bandwidth),
    ("sequential_writes", Kind::Bandwidth),
    ("size", SIZE),
    ("growth", Kind::Number { min: 0.0, max: 100.0 }),
    ("years", Kind::Number { min: 0.0, max: 100.0 }),
    ("cpu_per_transaction", Kind::PositiveDuration),
    ("serial_reads", ANY),
];

const TARGETS: &[Field] = &[
    ("utilisation", Kind::Share),
    ("space", Kind::Share),
    ("months", Kind::Number { min: 0.0, max: 1200.0 }),
    ("depreciation", Kind::Number { min: 1.0, max: 1200.0 }),
    ("currency", Kind::Text),
];

const PART: &[Field] = &[
    ("iops", Kind::Rate),
    ("read_iops", Kind::Rate),
    ("write_iops", Kind::Rate),
    ("bandwidth", Kind::Bandwidth),
    ("read_bandwidth", Kind::Bandwidth),
    ("write_bandwidth", Kind::Bandwidth),
    ("latency", Kind::PositiveDuration),
    ("parallel", COUNT),
    ("capacity", SIZE),
    ("over_provisioning", Kind::Share),
    ("endurance", SIZE),
    ("burst_iops", Kind::Rate),
    ("burst_credits", COUNT),
    ("cores", COUNT),
    ("holds", COUNT),
    ("price", ANY),
    ("price_per_month", ANY),
    ("price_decline", Kind::Share),
];

const LINK: &[Field] = &[
    ("part", Kind::Text),
    ("count", COUNT),
    ("raid", Kind::Choice(&Raid::NAMES)),
    ("group", COUNT),
    ("rebuild", Kind::Bandwidth),
];

/// Returns the demands of the recorded configuration that `demand.from` names.
pub type Recorded<'a> = &'a dyn Fn(&str) -> Result<Vec<(&'static str, f64)>, Failure>;

impl Demand {
    /// The demand after some years of growth.
    #[must_use]
    pub fn after(&self, years: f64) -> Self {
        let bytes = self.bytes_now * (1.0 + self.growth).powf(years);
        Self { bytes, ..self.clone() }
    }

    /// Years until the bytes are this many times those of now; `None` where they do not grow.
    pub fn years_until(&self, times: f64) -> Option<f64> {
        (self.growth > 0.0).then(|| (times.ln() / self.growth.ln_1p()).max(0.0))
    }
}

impl Plan {
    /// Reads a plan with `demand.from`: `recorded` returns a configuration's demands (keys of
    /// `[demand]` with their values), or an error. Values of the plan override recorded ones.
    ///
    /// # Errors
    /// Everything that is wrong in it, each with its position.
    pub fn read(source: &str, recorded: Recorded) -> Result<Self, FileErrors> {
        let mut file = Sections::parse(source, &["demand", "target", "parts", "alternative"])?;
        let demand = demand(&mut file, recorded);
        let target = file.section("target", TARGETS);
        let parts = file.named("parts", PART);
        let parts: Vec<Part> = parts.iter().map(|fields| part(&mut file, fields)).collect();
        let alternatives = file.list("alternative", &[("name", Kind::Text)], "chain", LINK);
        if alternatives.is_empty() {
            file.wrong(
                &Fields::default(),
                "",
                "no alternative: write [[alternative]] with a name and a chain of parts",
            );
        }
        let alternatives = alternatives
            .iter()
            .map(|(fields, links)| alternative(&mut file, fields, links, &parts))
            .collect();
        file.end()?;
        let targets = Targets {
            utilisation: target.number("utilisation").unwrap_or(0.7),
            space: target.number("space").unwrap_or(0.8),
            months: target.number("months").unwrap_or(36.0),
            depreciation: target.number("depreciation"),
        };
        let currency = target.text("currency").unwrap_or("USD").to_owned();
        Ok(Self { demand, targets, currency, parts, alternatives })
    }
}

fn demand(file: &mut Sections, recorded: Recorded) -> Demand {
    let fields = file.section("demand", DEMAND);
    let known = fields.text("from").map_or_else(|| Ok(Vec::new()), recorded);
    let known = known.unwrap_or_else(|error| {
        file.wrong(&fields, "from", error.message());
        Vec::new()
    });
    let number = |key: &str| {
        fields
            .number(key)
            .or_else(|| known.iter().find(|(name, _)| *name == key).map(|(_, value)| *value))
    };
    let transactions = number("transactions");
    let mut rate = |each: &str, of_transaction: &str| {
        match (fields.number(each), fields.number(of_transaction), transactions) {
            (Some(_), Some(_), _) => {
                file.wrong(
                    &fields,
                    of_transaction,
                    format!("conflicts with {each}; give one of them"),
                );
            }
            (None, Some(_), None) => {
                file.wrong(&fields, of_transaction, "needs the transaction rate: transactions");
            }
            (Some(rate), None, _) => return rate,
            (None, _, transactions) => {
                return number(of_transaction).unwrap_or(0.0) * transactions.unwrap_or(0.0);
            }
        }
        0.0
    };
    let reads = rate("reads", "reads_per_transaction");
    let writes = rate("writes", "writes_per_transaction");
    for key in ["cpu_per_transaction", "response_time", "serial_reads"] {
        if fields.number(key).is_some() && transactions.is_none() {
            file.wrong(&fields, key, "needs the transaction rate: transactions");
        }
    }
    let growth = fields.number("growth").unwrap_or(0.0);
    let years = fields.number("years").unwrap_or(0.0);
    let bytes_now = fields.number("size").unwrap_or(0.0);
    let processor_s = number("cpu_per_transaction").unwrap_or(0.0);
    let demand = Demand {
        transactions,
        response_time_s: number("response_time"),
        reads,
        writes,
        io_bytes: number("io_size").unwrap_or(8192.0),
        sequential_reads: fields.number("sequential_reads").unwrap_or(0.0),
        sequential_writes: fields.number("sequential_writes").unwrap_or(0.0),
        bytes: bytes_now * (1.0 + growth).powf(years),
        bytes_now,
        growth,
        years,
        processors: processor_s * transactions.unwrap_or(0.0),
        processor_s,
        serial_reads: fields.number("serial_reads").unwrap_or(0.0),
    };
    if demand.is_empty() {
        file.wrong(
            &fields,
            "",
            "[demand] is empty; give at least one of reads, writes, sequential_reads, size, \
             cpu_per_transaction ...",
        );
    }
    demand
}

impl Demand {
    fn is_empty(&self) -> bool {
        let Self { reads, writes, sequential_reads, sequential_writes, bytes, processors, .. } =
            self;
        [reads, writes, sequential_reads, sequential_writes, bytes, processors]
            .into_iter()
            .all(|load| *load == 0.0)
    }
}

fn part(file: &mut Sections, fields: &Fields) -> Part {
    let number = |key| fields.number(key);
    for (both, text) in [
        ("iops", "read_iops"),
        ("iops", "write_iops"),
        ("bandwidth", "read_bandwidth"),
        ("bandwidth", "write_bandwidth"),
    ] {
        if number(both).is_some() && number(text).is_some() {
            file.wrong(
                fields,
                text,
                format!("conflicts with {both}, which covers reads and writes"),
            );
        }
    }
    let burst = number("burst_iops").zip(number("burst_credits"));
    if number("burst_iops").is_some() != number("burst_credits").is_some() {
        file.wrong(
            fields,
            "",
            "burst_iops and burst_credits require each other: the burst rate, and the number of \
             I/Os it lasts",
        );
    }
    let (read_iops, write_iops) =
        (number("read_iops").or(number("iops")), number("write_iops").or(number("iops")));
    if burst.is_some_and(|(burst, _)| read_iops.is_some_and(|base| burst <= base)) {
        file.wrong(fields, "burst_iops", "must be above the base rate");
    }
    let usable = 1.0 - number("over_provisioning").unwrap_or(0.0);
    let part = Part {
        name: fields.path.clone(),
        read_iops,
        write_iops,
        read_bandwidth: number("read_bandwidth").or(number("bandwidth")),
        write_bandwidth: number("write_bandwidth").or(number("bandwidth")),
        half_duplex: number("bandwidth").is_some(),
        latency_s: number("latency"),
        parallel: number("parallel").map_or(1, |parallel| parallel as u64),
        capacity: number("capacity").map(|bytes| bytes * usable),
        endurance: number("endurance"),
        burst,
        cores: number("cores"),
        holds: number("holds").map(|pieces| pieces as u64),
        price: number("price").unwrap_or(0.0),
        price_per_month: number("price_per_month").unwrap_or(0.0),
        price_decline: number("price_decline").unwrap_or(0.0),
    };
    let limits = [
        part.read_iops,
        part.write_iops,
        part.read_bandwidth,
        part.write_bandwidth,
        part.capacity,
        part.cores,
    ];
    if limits.iter().all(Option::is_none) && part.holds.is_none() {
        file.wrong(fields, "", "no capability given: iops, bandwidth, capacity, cores or holds");
    }
    part
}

fn alternative(
    file: &mut Sections,
    fields: &Fields,
    links: &[Fields],
    parts: &[Part],
) -> Alternative {
    let name = fields.text("name").unwrap_or_default();
    if name.is_empty() {
        file.wrong(fields, "name", "an alternative needs a name");
    }
    if links.is_empty() {
        file.wrong(
            fields,
            "chain",
            "a chain needs links: chain = [{ part = \"disk\" }, ...], from the disks to the CPUs",
        );
    }
    let mut chain: Vec<Link> = Vec::new();
    for entry in links {
        let Some(link) = link(file, entry, parts) else { continue };
        let needs_count =
            parts[link.part].holds.is_some() && chain.is_empty() && link.count.is_none();
        if needs_count {
            file.wrong(entry, "count", "is the first link and has nothing to hold: give its count");
        }
        chain.push(link);
    }
    Alternative { name: name.to_owned(), chain }
}

fn link(file: &mut Sections, fields: &Fields, parts: &[Part]) -> Option<Link> {
    let Some(name) = fields.text("part") else {
        file.wrong(fields, "part", "a link needs a part: { part = \"NAME\" } of [parts.NAME]");
        return None;
    };
    let Some(part) = parts.iter().position(|part| part.name == name) else {
        let known: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
        file.unknown(fields, "part", name, &known);
        return None;
    };
    let raid = fields.text("raid").and_then(Raid::parse);
    let count = fields.number("count").map(|count| count as u64);
    let group = fields.number("group").map(|group| group as u64);
    let raid_level = raid.unwrap_or(Raid::Stripes);
    let level = raid_level.level();
    let group = match group {
        Some(_) if matches!(raid_level, Raid::Stripes | Raid::Mirrors) => {
            file.wrong(fields, "group", "applies to RAID 5 and 6 only: RAID 10 consists of pairs");
            level.usual_group
        }
        Some(group) if group < level.smallest_group => {
            file.wrong(
                fields,
                "group",
                format!("this level needs at least {} disks", level.smallest_group),
            );
            level.usual_group
        }
        // Fewer disks than are usual in a group are one group.
        group => group.unwrap_or_else(|| {
            level.usual_group.min(count.unwrap_or(u64::MAX)).max(level.smallest_group)
        }),
    };
    if let Some(count) = count
        && !count.is_multiple_of(group)
    {
        file.wrong(fields, "count", format!("must be a multiple of the {group} disks in a group"));
    }
    let rebuild = fields.number("rebuild");
    if rebuild.is_some() && raid.is_none_or(|raid| raid == Raid::Stripes) {
        file.wrong(fields, "rebuild", "needs redundancy: raid = \"10\", \"5\" or \"6\"");
    }
    Some(Link { part, count, raid, group, rebuild })
}
