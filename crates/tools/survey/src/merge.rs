use observations::{ServerSetting, Survey, SurveyedServer, order};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A value that no more than this share of the machines has, or one machine alone, is odd where
/// more than half share another. Our choice: of 40 machines, up to 4.
const ODD_SHARE_MAX: f64 = 0.10;

/// Settings that the kernel sizes by the machine, and counters: they differ everywhere.
const OF_EACH_MACHINE: [&str; 10] = [
    "cpufreq.max_khz",
    "fs.aio-nr",
    "fs.file-max",
    "kernel.pid_max",
    "kernel.threads-max",
    "vm.min_free_kbytes",
    "server_id",
    "server_version_num",
    "shared_memory_size",
    "wal_buffers",
];

/// Several inventories, side by side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Merged {
    /// The machines in the order of their names.
    pub machines: Vec<MachineRow>,
    /// Parallelism against cores and NUMA nodes.
    pub parallelism: Parallelism,
    /// Machines that differ from most others, the rarest first.
    pub odd: Vec<OddOne>,
    /// All that is not the same everywhere.
    pub differences: Vec<Difference>,
}

/// A machine. What its inventory does not tell is `None`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MachineRow {
    /// Host name, with a number where several inventories have the same.
    pub name: String,
    /// When the inventory was taken, in milliseconds since 1970 UTC.
    pub taken_ms: i64,
    /// Logical processors.
    pub logical: Option<u32>,
    /// Physical cores.
    pub cores: Option<u32>,
    /// Sockets.
    pub sockets: Option<u32>,
    /// NUMA nodes; 0: the kernel knows none.
    pub numa_nodes: usize,
    /// Memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Kernel.
    pub kernel: Option<String>,
    /// The servers.
    pub servers: Vec<ServerRow>,
}

/// A server of a machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ServerRow {
    /// The version.
    pub version: String,
    /// True if it runs on the machine itself.
    pub is_local: bool,
    /// Processes that one part of a query may have beside its own.
    pub parallel_workers_per_gather: Option<i64>,
    /// Parallel workers in all.
    pub parallel_workers: Option<i64>,
    /// Most connections.
    pub connections: Option<i64>,
    /// Shared buffers in bytes; of MariaDB and MySQL `InnoDB`'s buffer pool.
    pub shared_buffers_bytes: Option<u64>,
}

/// A value and who has it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Holder {
    /// The value.
    pub value: String,
    /// Names of the machines or servers.
    pub holders: Vec<String>,
}

/// Something that is not the same everywhere.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// Name of the property: `vm.swappiness`, `postgres work_mem`, `cores`.
    pub what: String,
    /// The number that report it.
    pub of: usize,
    /// The values, the most frequent first.
    pub values: Vec<Holder>,
}

/// A rare value of something of which most have the same.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OddOne {
    /// Name of the property.
    pub what: String,
    /// The rare value and who has it.
    pub held: Holder,
    /// The number that report it.
    pub of: usize,
    /// The value that more than half have.
    pub usual: String,
    /// The number that have that.
    pub usual_count: usize,
}

/// Lays inventories side by side.
pub fn merge(surveys: &[Survey]) -> Merged {
    let mut sorted: Vec<(String, &Survey)> = with_names(surveys);
    sorted.sort_by_cached_key(|(name, _)| natural(name));
    let mut values: BTreeMap<String, BTreeMap<String, Vec<String>>> = BTreeMap::new();
    for (name, survey) in &sorted {
        for (what, value, holder) in comparable(name, survey) {
            values.entry(what).or_default().entry(value).or_default().push(holder);
        }
    }
    for (what, holder) in unreported(&sorted) {
        values.entry(what).or_default().entry(DEFAULT.into()).or_default().push(holder);
    }
    let differing = values.into_iter().filter(|(_, values)| values.len() > 1);
    let differences: Vec<Difference> =
        differing.map(|(what, values)| difference(what, values)).collect();
    let mut odd: Vec<OddOne> = differences.iter().flat_map(odd).collect();
    order::by_key(&mut odd, &|entry| entry.held.holders.len());
    Merged {
        machines: sorted.iter().map(|(name, survey)| row(name, survey)).collect(),
        parallelism: parallelism(surveys),
        odd,
        differences,
    }
}

/// Value of servers without an entry for a setting that other servers of their version list: an
/// inventory lists all changed settings.
const DEFAULT: &str = "default";

/// Settings that some servers of a version do not report, with these servers.
fn unreported(surveys: &[(String, &Survey)]) -> Vec<(String, String)> {
    let mut changed: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    let servers = || surveys.iter().flat_map(|(name, survey)| holders(name, survey));
    for (_, server) in servers() {
        let names = changed.entry((server.engine.as_str(), server.version.as_str())).or_default();
        let reported =
            server.settings.iter().filter(|setting| setting.is_changed && setting.value.is_some());
        names.extend(reported.map(|setting| setting.name.as_str()).filter(|name| is_common(name)));
    }
    servers()
        .flat_map(|(holder, server)| {
            let names = &changed[&(server.engine.as_str(), server.version.as_str())];
            // The settings of a server without any could not be read.
            let names = names.iter().filter(|_| !server.settings.is_empty());
            let unreported = names.filter(|name| server.setting(name).is_none());
            unreported
                .map(|name| (format!("{} {name}", server.engine), holder.clone()))
                .collect::<Vec<_>>()
        })
        .collect()
}

/// The servers of an inventory with their names.
fn holders<'a>(name: &str, survey: &'a Survey) -> Vec<(String, &'a SurveyedServer)> {
    survey
        .servers
        .iter()
        .enumerate()
        .map(|(index, server)| {
            let number =
                if survey.servers.len() > 1 { format!(" #{}", index + 1) } else { String::new() };
            (format!("{name}{number}"), server)
        })
        .collect()
}

/// Each inventory with a name of its own.
fn with_names(surveys: &[Survey]) -> Vec<(String, &Survey)> {
    let mut taken = BTreeSet::new();
    let name = |survey: &Survey| {
        // A capture has a server alone.
        let host = survey
            .machine
            .host
            .as_deref()
            .or_else(|| {
                survey
                    .servers
                    .first()
                    .map(|server| server.address.as_str())
                    .filter(|name| !name.is_empty())
            })
            .unwrap_or("unnamed");
        let numbered = (2..).map(|number| format!("{host} ({number})"));
        let mut names = std::iter::once(host.to_owned()).chain(numbered);
        names.find(|name| taken.insert(name.clone())).unwrap_or_default()
    };
    surveys.iter().map(name).zip(surveys).collect()
}

/// Sorts `db2` before `db10`: a name as texts, each with the number that follows it.
fn natural(name: &str) -> Vec<(String, u128)> {
    let mut parts = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let digits = rest.find(|sign: char| sign.is_ascii_digit()).unwrap_or(rest.len());
        let (text, after) = rest.split_at(digits);
        let end = after.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(after.len());
        let (number, after) = after.split_at(end);
        let none = if number.is_empty() { 0 } else { u128::MAX };
        parts.push((text.to_owned(), number.parse().unwrap_or(none)));
        rest = after;
    }
    parts
}

fn row(name: &str, survey: &Survey) -> MachineRow {
    let (machine, cpus) = (&survey.machine, &survey.machine.processors);
    MachineRow {
        name: name.into(),
        taken_ms: survey.taken_ms,
        logical: cpus.logical,
        cores: cpus.cores,
        sockets: cpus.sockets,
        numa_nodes: machine.nodes.len(),
        memory_bytes: machine.memory.total_bytes,
        kernel: machine.kernel.clone(),
        servers: survey.servers.iter().map(server).collect(),
    }
}

fn server(server: &SurveyedServer) -> ServerRow {
    ServerRow {
        version: server.version.clone(),
        is_local: server.is_local,
        parallel_workers_per_gather: server.number("max_parallel_workers_per_gather"),
        parallel_workers: server.number("max_parallel_workers"),
        connections: server.number("max_connections"),
        shared_buffers_bytes: server
            .bytes("shared_buffers")
            .or_else(|| server.bytes("innodb_buffer_pool_size")),
    }
}

/// Everything that can be compared of an inventory: what, its value, and who has it.
fn comparable(name: &str, survey: &Survey) -> Vec<(String, String, String)> {
    let (machine, cpus) = (&survey.machine, &survey.machine.processors);
    let number = |value: Option<u32>| value.map(|value| value.to_string());
    let yes_or_no = |is_so: bool| if is_so { "yes" } else { "no" }.to_owned();
    // The kernel keeps some for itself: to the whole GiB, equal machines are equal.
    let memory = machine.memory.total_bytes;
    let memory = memory.map(|bytes| format!("{:.0} GiB", bytes as f64 / f64::from(1 << 30)));
    let facts = [
        ("cores", number(cpus.cores)),
        ("sockets", number(cpus.sockets)),
        ("NUMA nodes", Some(machine.nodes.len().to_string())),
        ("SMT", cpus.smt.clone()),
        ("CPU model", cpus.model.clone()),
        ("memory", memory),
        ("swap", machine.memory.swap_bytes.map(|bytes| yes_or_no(bytes > 0))),
        ("kernel", machine.kernel.clone()),
        ("distribution", machine.distribution.clone()),
        ("virtualization", machine.virtualization.clone()),
        ("clock synchronized", machine.clock_synchronized.map(yes_or_no)),
    ];
    let settings =
        survey.settings.iter().map(|setting| (setting.name.as_str(), setting.value.clone()));
    let of_machine = facts.into_iter().chain(settings).filter(|(what, _)| is_common(what));
    let of_machine = of_machine.map(|(what, value)| (what.to_owned(), value, name.to_owned()));
    let of_servers = holders(name, survey).into_iter().flat_map(|(holder, server)| {
        let settings =
            server.settings.iter().map(|setting| (setting.name.as_str(), shown(setting)));
        let version = [("version", Some(server.version.clone()))];
        let values = version.into_iter().chain(settings).filter(|(what, _)| is_common(what));
        values
            .map(move |(what, value)| (format!("{} {what}", server.engine), value, holder.clone()))
    });
    let all = of_machine.chain(of_servers);
    all.filter_map(|(what, value, holder)| Some((what, value?, holder))).collect()
}

fn is_common(name: &str) -> bool {
    !OF_EACH_MACHINE.contains(&name)
}

fn shown(setting: &ServerSetting) -> Option<String> {
    let value = setting.value.as_ref()?;
    Some(match &setting.unit {
        Some(unit) if unit.starts_with(|sign: char| sign.is_ascii_digit()) => {
            format!("{value} x {unit}")
        }
        Some(unit) => format!("{value} {unit}"),
        None => value.clone(),
    })
}

fn difference(what: String, values: BTreeMap<String, Vec<String>>) -> Difference {
    let mut values: Vec<Holder> =
        values.into_iter().map(|(value, holders)| Holder { value, holders }).collect();
    order::by_key(&mut values, &|held| std::cmp::Reverse(held.holders.len()));
    Difference { what, of: values.iter().map(|held| held.holders.len()).sum(), values }
}

fn odd(difference: &Difference) -> Vec<OddOne> {
    let Some((usual, others)) = difference.values.split_first() else { return Vec::new() };
    if 2 * usual.holders.len() <= difference.of {
        return Vec::new();
    }
    let most = ((ODD_SHARE_MAX * difference.of as f64) as usize).max(1);
    let rare = others.iter().filter(|held| held.holders.len() <= most);
    // Of two machines that differ, neither is the odd one.
    rare.filter(|_| difference.of > 2)
        .map(|held: &Holder| OddOne {
            what: difference.what.clone(),
            held: held.clone(),
            of: difference.of,
            usual: usual.value.clone(),
            usual_count: usual.holders.len(),
        })
        .collect()
}

/// The numbers of servers with each setting of parallelism, against the machines that they run on:
/// what P. Randal's survey of max degree of parallelism against cores and NUMA nodes asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Parallelism {
    /// The setting: processes that one part of one query may have beside its own.
    pub setting: &'static str,
    /// By the machines' cores and NUMA nodes, the smallest machines first.
    pub groups: Vec<ParallelismGroup>,
    /// Servers in the groups.
    pub servers: usize,
    /// Servers in the groups with the default value.
    pub at_default: usize,
    /// Servers that are on no surveyed machine, or on one whose cores are not known: these are in
    /// no group.
    pub unplaced: usize,
}

/// Servers on machines of one kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ParallelismGroup {
    /// Physical cores.
    pub cores: u32,
    /// NUMA nodes.
    pub numa_nodes: u32,
    /// Value of the setting, and how many servers have it.
    pub values: Vec<(i64, usize)>,
}

const SETTING: &str = "max_parallel_workers_per_gather";

fn parallelism(surveys: &[Survey]) -> Parallelism {
    let mut groups: BTreeMap<(u32, u32), BTreeMap<i64, usize>> = BTreeMap::new();
    let mut found = Parallelism { setting: SETTING, ..Parallelism::default() };
    for survey in surveys {
        for server in &survey.servers {
            let Some(value) = server.number(SETTING) else { continue };
            let Some(cores) = survey.machine.processors.cores.filter(|_| server.is_local) else {
                found.unplaced += 1;
                continue;
            };
            // A kernel without NUMA has all memory in one place.
            let nodes = survey.machine.nodes.len().max(1) as u32;
            *groups.entry((cores, nodes)).or_default().entry(value).or_default() += 1;
            found.servers += 1;
            found.at_default +=
                usize::from(server.setting(SETTING).is_some_and(|setting| !setting.is_changed));
        }
    }
    found.groups = groups
        .into_iter()
        .map(|((cores, numa_nodes), values)| ParallelismGroup {
            cores,
            numa_nodes,
            values: values.into_iter().collect(),
        })
        .collect();
    found
}

/// Takes out what names machines, servers, databases and places: each gets a number in the order of
/// the inventories.
pub fn anonymous(surveys: &mut [Survey]) {
    let mut servers = 0;
    for (index, survey) in surveys.iter_mut().enumerate() {
        survey.machine.host = Some(format!("machine {}", index + 1));
        // Volumes and messages tell of paths; nothing of them is compared between machines.
        survey.volumes.clear();
        survey.unread.clear();
        for server in &mut survey.servers {
            servers += 1;
            server.address = format!("server {servers}");
            server
                .databases
                .iter_mut()
                .zip(1..)
                .for_each(|(database, number)| database.name = format!("database {number}"));
            server.settings.iter_mut().for_each(|setting| setting.file = None);
        }
    }
}
