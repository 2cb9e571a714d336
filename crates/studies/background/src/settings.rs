//! Settings of `[background]`, and objections to them.

use crate::adapters;
use crate::server::ToolUse;
use crate::tools::{Background, BackupTool};
use engine::backups::OnServer;
use engine::{Ability, Engine};
use experiment::common::{NETWORK_BANDWIDTH, PROBE};
use experiment::{CommonSection, Configuration, Invalid, Kind, choice, settings};
use observations::Role;
use probe::Disturbed;
use probe::load::{DURATION, GENERATORS};

choice! {
    /// An action beside the load.
    pub enum ActionKind {
        /// None: the configuration that others are compared with.
        None = "none",
        /// A backup, which is restored after the load.
        Backup = "backup",
        /// Gathering statistics.
        Analyze = "analyze",
        /// Removing dead rows.
        Vacuum = "vacuum",
        /// Building an index.
        IndexBuild = "index-build",
        /// Loading rows into a table of its own.
        BulkLoad = "bulk-load",
        /// Copying a file.
        Copy = "copy",
        /// A command of the user.
        Command = "command",
    }
}

choice! {
    /// Compression of a backup.
    pub enum Compression {
        /// None.
        None = "none",
        /// gzip.
        Gzip = "gzip",
        /// LZ4.
        Lz4 = "lz4",
        /// Zstandard.
        Zstd = "zstd",
        /// The server's own default method.
        Native = "native",
    }
}

settings! {
    const SETTINGS = [];
    /// The action beside the load: none (to compare with), backup, analyze, vacuum, index-build,
    /// bulk-load (rows of background.bytes into a table of its own), copy (a file of
    /// background.bytes to background.volume) or command.
    pub ACTION: Option<ActionKind> = "background.action", ActionKind::KIND;
    /// The backup tool: backup-api or vacuum-into (SQLite); pg_basebackup, pg_dump or pgbackrest
    /// (PostgreSQL); mariadb-dump or mariadb-backup (MariaDB); export (DuckDB); backup-database
    /// (SQL Server). Default: the first of the engine.
    pub TOOL: Option<String> = "background.tool", Kind::Text => @Trial;
    /// The action begins this long after the measurement begins. Default: 5 s.
    pub START: Option<f64> = "background.start", Kind::PositiveDuration;
    /// Compression of the backup by its tool: none (default), gzip, lz4, zstd, or native (the
    /// server's own default method).
    pub COMPRESSION: Option<Compression> = "background.compression", Compression::KIND;
    /// Workers of the action, where it can have several; of SQL Server's backups the files over
    /// which they are striped. Default: 1.
    pub WORKERS: Option<u32> = "background.workers", Kind::Count { min: 1, max: 256 };
    /// Bytes a second that a backup, copy or bulk load reads at most. Default: no limit.
    pub RATE_LIMIT: Option<f64> = "background.rate_limit", Kind::Bandwidth;
    /// Folder of the server in which SQL Server writes its backups; default: the server's folder
    /// for backups. The files stay there, and the next backup replaces them.
    pub SERVER_FOLDER: Option<String> = "background.server_folder", Kind::Text => @Trial;
    /// Bytes of one transfer of SQL Server's backups (MAXTRANSFERSIZE): a multiple of 64 KiB up to
    /// 4 MiB. Default: the server decides.
    pub TRANSFER_SIZE: Option<u64> =
        "background.transfer_size", Kind::Size { min: 64 << 10, max: 4 << 20 };
    /// Buffers of SQL Server's backups (BUFFERCOUNT). Default: the server decides.
    pub BUFFERS: Option<u32> = "background.buffers", Kind::Count { min: 1, max: 65_536 };
    /// Volume for the backup or copy; default: the folder of the results.
    pub VOLUME: Option<String> = "background.volume", Kind::Text => @Trial;
    /// Bytes of the file that action copy copies, or of the rows of a bulk load. Default: 256 MiB.
    pub BYTES: Option<u64> = "background.bytes", Kind::Size { min: 1 << 20, max: 1 << 44 };
    /// Send the file that action copy copies over the link of network.bandwidth, to a receiver that
    /// discards it (default: false).
    pub OVER_LINK: Option<bool> = "background.over_link", Kind::Bool;
    /// Shell command of action command. In its environment are the variables by which clients find
    /// the server, and FOLDER: a folder for its files, which is removed after the trial.
    pub COMMAND: Option<String> = "background.command", Kind::Text => @Command;
    /// Latency limit: the report counts the seconds in which more than 1 % of the transactions took
    /// longer. No transaction is skipped for it. Default: 50 ms.
    pub LIMIT: Option<f64> = "background.latency_limit", Kind::PositiveDuration;
    /// Restore each backup after the load and compare its tables with the target's (default: true).
    /// A backup that was not restored gets no verdict.
    pub RESTORE: Option<bool> = "background.restore", Kind::Bool;
}

/// The section of the file.
pub const SECTION: CommonSection = CommonSection {
    name: "background",
    doc: "An action beside the load, which begins at a moment of the measurement: a backup, \
          maintenance, a copy or a command.",
    settings: SETTINGS,
};

/// Bytes that action copy copies where the file does not say.
const BYTES_DEFAULT: u64 = 256 << 20;

/// The background action of a configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// The action.
    pub action: ActionKind,
    /// Name of the backup tool; `None`: the engine's default.
    pub tool: Option<String>,
    /// Nanoseconds after the beginning of the measurement.
    pub start_ns: u64,
    /// Compression of the backup.
    pub compression: Compression,
    /// Workers.
    pub workers: u32,
    /// Bytes a second.
    pub rate_limit: Option<f64>,
    /// Name of the volume.
    pub volume: Option<String>,
    /// Bytes of the file to copy, or of the rows to load.
    pub bytes: u64,
    /// The copy goes over the link.
    pub over_link: bool,
    /// The command.
    pub command: Option<String>,
    /// Latency limit.
    pub limit_ns: u64,
    /// Restore the backup.
    pub restore: bool,
    /// Further settings of a backup by the server.
    pub on_server: OnServer,
}

impl Job {
    /// Reads the settings; `None` where there is no action, not even `none`.
    pub fn from_configuration(configuration: &Configuration) -> Option<Self> {
        Some(Self {
            action: configuration.get(ACTION)?,
            tool: configuration.get(TOOL),
            start_ns: (configuration.get(START).unwrap_or(5.0) * 1e9) as u64,
            compression: configuration.get(COMPRESSION).unwrap_or_default(),
            workers: configuration.get(WORKERS).unwrap_or(1),
            rate_limit: configuration.get(RATE_LIMIT),
            volume: configuration.get(VOLUME),
            bytes: configuration.get(BYTES).unwrap_or(BYTES_DEFAULT),
            over_link: configuration.get(OVER_LINK) == Some(true),
            command: configuration.get(COMMAND),
            limit_ns: (configuration.get(LIMIT).unwrap_or(0.05) * 1e9) as u64,
            restore: configuration.get(RESTORE).unwrap_or(true),
            on_server: OnServer {
                folder: configuration.get(SERVER_FOLDER),
                transfer_bytes: configuration.get(TRANSFER_SIZE),
                buffers: configuration.get(BUFFERS),
            },
        })
    }

    /// Objections to the action on this engine.
    pub fn objections(&self, configuration: &Configuration, disturbed: Disturbed) -> Vec<Invalid> {
        let open_loop = needs_open_loop(disturbed, configuration);
        let short =
            configuration.get(DURATION).filter(|length_s| *length_s * 1e9 <= self.start_ns as f64);
        let short = short.map(|_| {
            Invalid::new(START.path(), "begins after the measurement; raise workload.duration")
        });
        let name = disturbed.engine.name;
        let of_engine = adapters::for_engine(name);
        let of_action = match self.action {
            ActionKind::None => None,
            ActionKind::Copy
                if self.over_link && configuration.get(NETWORK_BANDWIDTH).is_none() =>
            {
                Some(Invalid::new(OVER_LINK.path(), "needs the link of network.bandwidth; set it"))
            }
            ActionKind::Copy => self.one_worker("a copy"),
            ActionKind::BulkLoad if of_engine.is_none_or(|engine| !engine.loads_beside) => {
                let message = format!("{name} cannot fill a table while a load works");
                Some(Invalid::new(ACTION.path(), message))
            }
            ActionKind::BulkLoad => self.one_worker("a bulk load"),
            ActionKind::Command if self.command.is_none() => {
                Some(Invalid::new(COMMAND.path(), "missing: the shell command to run"))
            }
            ActionKind::Command => self.one_worker("a command"),
            ActionKind::Backup => self.backup_objection(disturbed.engine, of_engine, configuration),
            action => self.statement_objection(name, of_engine, action),
        };
        open_loop.into_iter().chain(short).chain(of_action).collect()
    }

    fn one_worker(&self, what: &str) -> Option<Invalid> {
        let message = format!("{what} works in one process here; set it to 1");
        (self.workers > 1).then(|| Invalid::new(WORKERS.path(), message))
    }

    fn statement_objection(
        &self,
        engine: &str,
        background: Option<&'static Background>,
        action: ActionKind,
    ) -> Option<Invalid> {
        let known = background.map_or(&[][..], |background| background.actions);
        let Some(known_action) =
            known.iter().find(|known_action| known_action.name == action.name())
        else {
            let names: Vec<&str> = known.iter().map(|known_action| known_action.name).collect();
            let message = format!(
                "{engine} has no action {}; it has: {}",
                action.name(),
                ["none", "backup", "copy", "command"]
                    .into_iter()
                    .chain(names)
                    .collect::<Vec<_>>()
                    .join(", ")
            );
            return Some(Invalid::new(ACTION.path(), message));
        };
        if known_action.has_workers { None } else { self.one_worker(action.name()) }
    }

    fn backup_objection(
        &self,
        engine: &'static Engine,
        background: Option<&'static Background>,
        configuration: &Configuration,
    ) -> Option<Invalid> {
        let tools = background.map_or(&[][..], |background| background.tools);
        if tools.is_empty() {
            return Some(Invalid::new(
                ACTION.path(),
                format!("{} has no backup tool here; use action = \"command\"", engine.name),
            ));
        }
        let Some(tool) = background.and_then(|background| background.tool(self.tool.as_deref()))
        else {
            let names: Vec<&str> = tools.iter().map(|tool| tool.name).collect();
            let (name, names) = (engine.name, names.join(", "));
            let message = format!("not a backup tool of {name}; it has: {names}");
            return Some(Invalid::new(TOOL.path(), message));
        };
        self.tool_objection(tool, tools).or_else(|| {
            let product = background?.server?;
            let compression = self.compression.name();
            let used = ToolUse { tool: tool.name, compression, configuration, engine };
            (product.missing)(&used).map(|message| Invalid::new(TOOL.path(), message))
        })
    }

    fn tool_objection(&self, tool: &BackupTool, all: &[BackupTool]) -> Option<Invalid> {
        let name = tool.name;
        let compression = self.compression.name();
        if self.compression != Compression::None && !tool.compressions.contains(&compression) {
            let known: Vec<&str> = ["none"].iter().chain(tool.compressions).copied().collect();
            let message =
                format!("{name} does not compress by {compression}; it has: {}", known.join(", "));
            return Some(Invalid::new(COMPRESSION.path(), message));
        }
        if self.workers > 1 && !tool.has_workers {
            return self.one_worker(name);
        }
        if let Some(invalid) = self.on_server_objection(tool) {
            return Some(invalid);
        }
        if self.rate_limit.is_some() && !tool.has_rate_limit {
            let limited = all.iter().filter(|tool| tool.has_rate_limit).map(|tool| tool.name);
            let limited: Vec<&str> = limited.collect();
            let others = match limited.as_slice() {
                [] => "no backup tool of this engine has one".to_owned(),
                some => format!("these tools have one: {}", some.join(", ")),
            };
            let message = format!("{name} has no rate limit; remove it ({others})");
            return Some(Invalid::new(RATE_LIMIT.path(), message));
        }
        None
    }
}

/// Transfers of SQL Server's backups are multiples of it.
const TRANSFER_UNIT: u64 = 64 << 10;
/// Most files over which it stripes a backup.
const STRIPES_MAX: u32 = 64;

impl Job {
    /// The objection to settings of files that the server writes.
    fn on_server_objection(&self, tool: &BackupTool) -> Option<Invalid> {
        let OnServer { folder, transfer_bytes, buffers } = &self.on_server;
        let paths = [
            folder.as_ref().map(|_| SERVER_FOLDER.path()),
            transfer_bytes.map(|_| TRANSFER_SIZE.path()),
            buffers.map(|_| BUFFERS.path()),
        ];
        if let Some(path) = paths.into_iter().flatten().next()
            && !tool.is_of_server
        {
            let message = format!("{} writes its files itself; remove it", tool.name);
            return Some(Invalid::new(path, message));
        }
        if tool.is_of_server && self.volume.is_some() {
            let message = "the server writes the files; use background.server_folder";
            return Some(Invalid::new(VOLUME.path(), message));
        }
        if tool.is_of_server && self.workers > STRIPES_MAX {
            let message = format!("{} has at most {STRIPES_MAX} files", tool.name);
            return Some(Invalid::new(WORKERS.path(), message));
        }
        let odd = transfer_bytes.filter(|bytes| bytes % TRANSFER_UNIT != 0);
        odd.map(|_| Invalid::new(TRANSFER_SIZE.path(), "not a multiple of 64 KiB"))
    }
}

/// The objection to a load without a fixed rate.
fn needs_open_loop(disturbed: Disturbed, configuration: &Configuration) -> Option<Invalid> {
    if disturbed.engine.abilities.contains(&Ability::Synthetic) {
        return Some(Invalid::new("target.engine", "this engine has no time of its own"));
    }
    if configuration.get(GENERATORS).is_some() {
        let message = "a disturbance is measured by one generator; remove this setting";
        return Some(Invalid::new(GENERATORS.path(), message));
    }
    let probe = disturbed.probe.declarations();
    if let Some(schedule) = probe.schedule {
        return schedule(configuration);
    }
    let mut settings = probe.settings.iter();
    let Some(rate) = settings.find(|setting| setting.role == Some(Role::ArrivalRate)) else {
        let message = "this probe has no fixed rate; disturbances are measured with probes that \
                       have one, in workload.rate or workload.pace";
        return Some(Invalid::new(PROBE.path(), message));
    };
    let message = "missing: a disturbance needs an open loop. In a closed loop each connection \
                   waits for its answer, so that a stall also stops the transactions that would \
                   have shown it; give a fixed rate (rate = \"200/s\")";
    configuration.value(rate.path).is_none().then(|| Invalid::new(rate.path, message))
}
