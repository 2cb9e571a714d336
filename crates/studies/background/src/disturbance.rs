//! The action of a trial: it waits for its moment, acts, and adds its figures to those of the load.

use crate::facts::{
    ACTION_S, AFTER, BACKUP_MB, BEFORE, COUNTED, COUNTED_KIND, CPU_S, DATA_MB, DURING, OUTLASTED,
    PHASE_FIGURES, RESTARTS,
};
use crate::outcome::Outcome;
use crate::phases::{Phase, Windows, phase, rate_per_minute};
use crate::server::{ServerWork, ToolUse};
use crate::settings::{ActionKind, Job, SECTION};
use crate::tools::Background;
use crate::verdict::Verdict;
use crate::{adapters, bulk_load, command, copy, waits};
use engine::backups::{BackgroundWork, BackupRequest};
use engine::{Engine, EngineError, Instance};
use experiment::common::ENGINE;
use experiment::{CommonSection, Configuration, Invalid};
use observations::{FactFamily, Observations, Response, Warning, WarningKind};
use probe::load::DURATION;
use probe::{Action, Disturbance, Disturbed, LoadClock, LoadSeen, ProbeError, TrialContext};
use std::fs::DirBuilder;
use std::ops::Range;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

/// `[background]`.
#[derive(Debug, Clone, Copy)]
pub struct BackgroundDisturbance;

impl Disturbance for BackgroundDisturbance {
    fn section(&self) -> CommonSection {
        SECTION
    }

    fn plan(&self, configuration: &Configuration, owners: Disturbed) -> Vec<Invalid> {
        let name = configuration.below("background.").next().map(|(name, _)| name.to_owned());
        match (Job::from_configuration(configuration), name) {
            (Some(job), _) => job.objections(configuration, owners),
            (None, Some(name)) => vec![Invalid::new(
                format!("background.{name}"),
                "needs background.action: none, backup, analyze, vacuum, index-build, bulk-load, \
                 copy or command",
            )],
            (None, None) => Vec::new(),
        }
    }

    fn note(&self, configuration: &Configuration, engine: &'static Engine) -> Option<String> {
        let job = Job::from_configuration(configuration)?;
        if job.action != ActionKind::Backup {
            return None;
        }
        let background = adapters::for_engine(engine.name)?;
        let tool = background.tool(job.tool.as_deref())?.name;
        let compression = job.compression.name();
        (background.server?.note)(&ToolUse { tool, compression, configuration, engine })
    }

    fn prepare<'a>(
        &self,
        context: &'a TrialContext<'_>,
    ) -> Result<Option<Box<dyn Action + 'a>>, ProbeError> {
        let Some(job) = Job::from_configuration(context.configuration) else { return Ok(None) };
        let folder = Folder::create(context, job.volume.as_deref())?;
        if job.action == ActionKind::Copy {
            copy::make_source(&folder.path, job.bytes, context.cancel)?;
        }
        let background = adapters::for_engine(&context.configuration.get(ENGINE));
        let background_action = BackgroundAction {
            background,
            server: background.and_then(|background| server_work(background, context)),
            instance: context.instance,
            context,
            job,
            folder,
            begun_ns: 0,
            ended_ns: None,
            outcome: Outcome::default(),
        };
        Ok(Some(Box::new(background_action)))
    }
}

/// A folder for the files of an action, in one that is marked as ours; removed at the end.
struct Folder {
    path: PathBuf,
}

impl Folder {
    fn create(context: &TrialContext<'_>, volume: Option<&str>) -> Result<Self, EngineError> {
        let name = volume.unwrap_or("default");
        let marked =
            context.storage.iter().find(|(volume, _)| volume == name).map(|(_, path)| path);
        let marked = marked.ok_or_else(|| {
            EngineError::failed("background.volume", format!("no [[volume]] has the name {name}"))
        })?;
        let path = marked.join("background");
        // What an earlier trial left there is ours: the folder around it is marked.
        match std::fs::remove_dir_all(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(EngineError::at(&path)(error));
            }
            _ => {}
        }
        // The account of a restored server passes through; others cannot list it.
        let made = DirBuilder::new().mode(0o711).create(&path);
        made.map_err(EngineError::at(&path))?;
        Ok(Self { path })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What remains goes with the marked folder around it.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// The work on the private server of a trial, where client programs do it.
fn server_work<'a>(
    background: &'static Background,
    context: &'a TrialContext<'_>,
) -> Option<ServerWork<'a>> {
    let (product, server) = (background.server?, context.instance.parts().private_server?);
    Some(ServerWork { server, product, cancel: context.cancel })
}

/// The action of one trial.
struct BackgroundAction<'a> {
    background: Option<&'static Background>,
    /// The work on a private server, if client programs do it.
    server: Option<ServerWork<'a>>,
    instance: &'a dyn Instance,
    context: &'a TrialContext<'a>,
    job: Job,
    folder: Folder,
    begun_ns: u64,
    /// When it ended; `None`: it has not begun.
    ended_ns: Option<u64>,
    outcome: Outcome,
}

impl BackgroundAction<'_> {
    fn work(&self) -> Result<&dyn BackgroundWork, EngineError> {
        let by_programs = self.server.as_ref().map(|server| server as &dyn BackgroundWork);
        let work = by_programs.or(self.instance.parts().background_work);
        work.ok_or(EngineError::Unsupported {
            engine: "this target",
            what: "background actions of its engine",
        })
    }

    fn request(&self, rate_limit: Option<f64>) -> Result<BackupRequest, EngineError> {
        let tool = self.background.and_then(|background| background.tool(self.job.tool.as_deref()));
        let tool = tool.ok_or(EngineError::Unsupported {
            engine: "this target",
            what: "backups by this tool",
        })?;
        Ok(BackupRequest {
            tool: tool.name,
            compression: self.job.compression.name(),
            workers: self.job.workers,
            rate_limit,
            folder: self.folder.path.clone(),
            on_server: self.job.on_server.clone(),
        })
    }

    fn act(&self) -> Result<Outcome, ProbeError> {
        let (job, cancel) = (&self.job, self.context.cancel);
        Ok(match job.action {
            ActionKind::None => Outcome::default(),
            ActionKind::Backup => {
                let backup = self.work()?.take(&self.request(job.rate_limit)?, cancel)?;
                Outcome { cpu_s: backup.cpu_s, backup: Some(backup), bytes: None }
            }
            ActionKind::Copy if job.over_link => {
                let server = self.instance.parts().private_server;
                let route = server.and_then(engine::Node::route_beside);
                let route = route.ok_or(EngineError::Unsupported {
                    engine: "this target",
                    what: "copies over its link",
                })?;
                copy::send(&self.folder.path, &route, job.rate_limit, cancel)?
            }
            ActionKind::Copy => copy::run(&self.folder.path, job.rate_limit, cancel)?,
            ActionKind::BulkLoad => bulk_load::run(self.context, job.bytes, job.rate_limit)?,
            ActionKind::Command => {
                let line = job.command.as_deref().unwrap_or_default();
                command::run(line, &self.folder.path, self.context)?
            }
            action => {
                let action =
                    self.background.and_then(|background| background.action(action.name()));
                let action = action.ok_or(EngineError::Unsupported {
                    engine: "this target",
                    what: "this action",
                })?;
                let cpu_s = self.work()?.perform(action.statements, job.workers, cancel)?;
                Outcome { cpu_s: Some(cpu_s), ..Outcome::default() }
            }
        })
    }

    /// When the action worked: of `none` until the end.
    fn worked(&self) -> Range<u64> {
        match (self.job.action, self.ended_ns) {
            (ActionKind::None, _) | (_, None) => self.job.start_ns..u64::MAX,
            (_, Some(ended_ns)) => self.begun_ns..ended_ns,
        }
    }

    /// Adds the load's figures by phase.
    fn add_phases(&self, load: &LoadSeen, observations: &mut Observations) {
        let LoadSeen { transactions, counted, .. } = load;
        let last_due_ns = transactions.last().map_or(0, |transaction| transaction.due_ns + 1);
        let given_ns = self
            .context
            .configuration
            .get(DURATION)
            .map(|configuration| (configuration * 1e9) as u64);
        let end_ns = given_ns.unwrap_or(last_due_ns).max(last_due_ns);
        let windows = Windows::around(self.worked(), end_ns);
        let during = phase(transactions, &windows.during, self.job.limit_ns);
        let all = [(BEFORE, Some(&windows.before)), (DURING, Some(&windows.during))];
        for (family, window) in all.into_iter().chain([(AFTER, windows.after.as_ref())]) {
            let Some(window) = window else { continue };
            add_phase(family, &phase(transactions, window, self.job.limit_ns), observations);
            let rate = counted.and_then(|count| rate_per_minute(transactions, window, count.kind));
            observations.facts.extend(rate.map(|rate| family.record(COUNTED, rate)));
        }
        if let Some(counted_kind) = counted {
            observations.facts.push(COUNTED_KIND.record(counted_kind.name, 1.0));
            let rate = rate_per_minute(transactions, &windows.during, counted_kind.kind);
            let unit = format!("{}/min", counted_kind.name);
            observations
                .responses
                .extend(rate.map(|rate| Response::higher("during_counted", &unit, rate)));
        }
        let p99_ms = during.p99_ms.filter(|p99_ms| p99_ms.is_finite());
        observations
            .responses
            .extend(p99_ms.map(|p99_ms| Response::lower("during_p99", "ms", p99_ms)));
        observations.responses.push(Response::lower("during_lost", "%", 100.0 * during.lost));
        if self.job.action != ActionKind::None && windows.after.is_none() {
            observations.facts.push(OUTLASTED.record(1.0));
            let detail = format!(
                "the {} was still working when the load ended: its phase is cut short; raise \
                 workload.duration",
                self.job.action.name()
            );
            observations.warnings.push(Warning { kind: WarningKind::Short, detail });
        }
    }

    /// Adds the figures of the action itself.
    fn add_action(&self, observations: &mut Observations) -> Result<(), EngineError> {
        let worked = self.worked();
        let took_s = worked.end.saturating_sub(worked.start) as f64 / 1e9;
        observations.facts.push(ACTION_S.record(took_s));
        observations.facts.extend(self.outcome.cpu_s.map(|cpu_s| CPU_S.record(cpu_s)));
        observations.responses.push(Response::lower("action_time", "s", took_s));
        let backup = self.outcome.backup.as_ref();
        let bytes = self.outcome.bytes.or(backup.map(|backup| backup.data_bytes));
        if let Some(bytes) = bytes {
            let mb = bytes as f64 / 1e6;
            observations.facts.push(DATA_MB.record(mb));
            if took_s > 0.0 {
                observations.responses.push(Response::higher("action_rate", "MB/s", mb / took_s));
            }
        }
        if let Some(backup) = backup {
            let bytes = backup.server_bytes.map_or_else(|| bytes_below(&backup.path), Ok)?;
            observations.facts.push(BACKUP_MB.record(bytes as f64 / 1e6));
            observations.facts.push(RESTARTS.record(backup.restarts as f64));
        }
        Ok(())
    }
}

impl Action for BackgroundAction<'_> {
    fn run(&mut self, load: &LoadClock<'_>) -> Result<(), ProbeError> {
        if !load.wait_until_ns(self.job.start_ns)? {
            return Ok(());
        }
        load.divide();
        if self.job.action == ActionKind::None {
            return Ok(());
        }
        self.begun_ns = load.now_ns();
        self.outcome = self.act()?;
        self.ended_ns = Some(load.now_ns());
        load.divide();
        Ok(())
    }

    fn finish(
        self: Box<Self>,
        load: &LoadSeen,
        observations: &mut Observations,
    ) -> Result<(), ProbeError> {
        self.add_phases(load, observations);
        let facts = waits::facts(&load.parts, observations);
        observations.facts.extend(facts);
        if self.ended_ns.is_none() {
            if self.job.action == ActionKind::None {
                return Ok(());
            }
            return Err(EngineError::failed(
                format!("action {}", self.job.action.name()),
                "the load ended before background.start",
            )
            .into());
        }
        self.add_action(observations)?;
        if let Some(backup) = self.outcome.backup.as_ref()
            && self.job.restore
        {
            let measured = self.request(self.job.rate_limit)?;
            let verdict = Verdict::find(self.work()?, &measured, backup, self.context.cancel)?;
            verdict.add_to(observations);
        }
        if let Some(action) =
            self.background.and_then(|background| background.action(self.job.action.name()))
        {
            self.work()?.perform(action.undo, 1, self.context.cancel)?;
        }
        Ok(())
    }
}

fn add_phase(family: FactFamily, phase: &Phase, observations: &mut Observations) {
    let values = [
        Some(phase.duration_s),
        Some(phase.due as f64),
        Some(phase.throughput),
        Some(phase.lost),
        phase.p99_ms.filter(|p99_ms| p99_ms.is_finite()),
        Some(phase.over_limit_s),
        Some(phase.gap_s),
    ];
    let figures = PHASE_FIGURES.into_iter().zip(values);
    observations
        .facts
        .extend(figures.filter_map(|(name, value)| Some(family.record(name, value?))));
}

/// Bytes of the files in a folder, or of a file.
fn bytes_below(path: &Path) -> Result<u64, EngineError> {
    let metadata = std::fs::symlink_metadata(path).map_err(EngineError::at(path))?;
    if !metadata.is_dir() {
        return Ok(metadata.len());
    }
    let mut bytes = 0;
    for entry in std::fs::read_dir(path).map_err(EngineError::at(path))? {
        bytes += bytes_below(&entry.map_err(EngineError::at(path))?.path())?;
    }
    Ok(bytes)
}
