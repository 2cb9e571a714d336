//! The command: validation, search, confirmation, ablation.

use crate::ablation::{self, Ablation, Path as AblationPath};
use crate::confirmation::{self, Confirmation, Plan, SHARE_MAX};
use crate::document::{Page, SECTIONS};
use crate::goal::Goal;
use crate::knob::{Knob, Search};
use crate::optimiser::{Draw, Optimiser, Space};
use crate::search::{self, FIRST, History, SearchEnd, SearchRun};
use crate::sections;
use crate::space::Knobs;
use crate::stage::{Contender, Purpose, Stage};
use clap::Parser;
use command_line::output::Extent;
use command_line::session::exit_code;
use command_line::{Context, ExitCode, Failure, Tool, output, results};
use engine::{Altering, Permits, Restored, SettingsForm};
use experiment::common::ENGINE;
use experiment::file::RESPONSE;
use experiment::{Budget, Configuration, Experiment, Invalid};
use observations::RunEnd;
use observations::number::{plural, rounded_time};
use std::path::{Path, PathBuf};
use work::Stop;

/// Search settings within a budget, then confirm the gain in fresh blocks
///
/// Varies the knobs of an experiment file. Reports the confirmation only: the best points of the
/// search, the defaults and the present settings in blocks of their own.
#[derive(Debug, Parser)]
#[command(name = "tune")]
#[expect(clippy::struct_excessive_bools, reason = "options, each independent of the others")]
pub struct Tune {
    /// The experiment file, with [[knob]] and [tune]
    file: PathBuf,
    /// The results file of the confirmation; that of the search lies beside it [default:
    /// results/NAME.steelbench]
    #[arg(short = 'o', long, value_name = "FILE")]
    results: Option<PathBuf>,
    /// Validate the knobs and print the plan; run nothing
    #[arg(long)]
    check: bool,
    /// After the confirmation, measure which of the winner's settings its gain needs
    #[arg(long)]
    explain: bool,
    /// Rerun failed trials of the last round, or of the confirmation
    #[arg(long)]
    retry_failed: bool,
    /// Permit a server that `target.url` names: only settings that need no restart change, and they
    /// are restored at the end
    #[arg(long)]
    on_live: bool,
    /// Give the winner's settings to the server that `target.url` names, for all sessions; --undo
    /// restores the former ones
    #[arg(long, requires = "on_live")]
    apply: bool,
    /// Restore the settings that the server of `target.url` had before --apply or before a search
    /// that was killed; run nothing else
    #[arg(
        long,
        conflicts_with_all = ["check", "explain", "retry_failed", "on_live", "form", "json"],
    )]
    undo: bool,
    /// Form in which the winner's settings are printed; an unknown one lists those of the engine
    #[arg(long, value_name = "FORM")]
    form: Option<String>,
    #[command(flatten)]
    extent: Extent,
    /// Print events and the summary of the confirmation as JSON, one object per line
    #[arg(long)]
    json: bool,
}

impl Tool for Tune {
    const EXAMPLES: [&'static str; 2] =
        ["steelbench tune sqlite-tune.toml", "steelbench tune sqlite-tune.toml --explain"];
    const SECTIONS: &'static [&'static str] = &SECTIONS;

    fn run(&self, context: &Context) -> Result<ExitCode, Failure> {
        let base = context.experiment(&self.file)?;
        let Some(search) = sections::search(&base, &context.registry.catalog()) else {
            return Err(Failure::usage(format!(
                "{}: there is no [[knob]] to tune; docs/tune.md shows one",
                self.file.display()
            )));
        };
        let Some(present) = base.configurations.first() else {
            return Err(Failure::usage("the experiment has no configuration"));
        };
        let knobs = Knobs::new(&search, present);
        let stage = Stage {
            context,
            file: &self.file,
            base: &base,
            knobs: &knobs,
            json: self.json,
            retry_failed: self.retry_failed,
        };
        if self.undo {
            return self.restore(&stage);
        }
        let form = self.form(&stage)?;
        let space = Space { domains: &knobs.domains, rules: &knobs };
        let is_live = self.permit_server(&stage)?;
        if self.apply {
            let engine = self.altering(&stage)?;
            // Found out here, not at the end of the search.
            if !self.check {
                engine.verify(present).map_err(Failure::failed)?;
            }
        }
        if space.random(&mut Draw::new(base.repeats.seed)).is_none() {
            return Err(self.objection(&base, "tune.constraints", CONTRADICTION));
        }
        // The present settings of a server are those that it has; its defaults are not known.
        let has_defaults = !is_live && has_defaults(&stage);
        let plan = self.plan(&stage, has_defaults)?;
        let results = results::path(self.results.as_ref(), &base.name);
        self.test_bounds(&stage, &results)?;
        if self.check {
            return output::print_wrapped(&planned(&search, &plan));
        }
        let goal = Goal { response: base.get(RESPONSE), limits: &search.subject_to };
        let searching = SearchRun {
            stage: &stage,
            optimiser: Optimiser { space, seed: base.repeats.seed, first: FIRST },
            goal: &goal,
            results: &Stage::results_file(&results, search::SUFFIX),
            plan: &plan,
            is_confirmed: !stage.runs(&results)?.is_empty(),
        };
        let history = match searching.run()? {
            SearchEnd::Done(history) => history,
            SearchEnd::Stopped(end) => return Ok(self.stopped(&end)),
        };
        self.confirm(&searching, &history, &results, form)
    }
}

const CONTRADICTION: &str = "no combination of values keeps all constraints";

impl Tune {
    /// Confirms the best points, and prints the page.
    fn confirm(
        &self,
        searching: &SearchRun<'_>,
        history: &History,
        results: &Path,
        form: Option<&SettingsForm>,
    ) -> Result<ExitCode, Failure> {
        let SearchRun { stage, goal, optimiser, plan, .. } = searching;
        let best = searching.best(history, plan.candidates);
        let defaults = plan.has_defaults.then(|| stage.knobs.defaults());
        let contenders = confirmation::contenders(stage.knobs.present(), defaults, best);
        if contenders.len() < 2 {
            return Err(Failure::failed("every point of the search failed or broke a limit"));
        }
        if let Some(end) = conduct(stage, &plan.purpose(history.blocks), &contenders, results)? {
            return Ok(self.stopped(&end));
        }
        let session = stage.session(results, false);
        let recording = session.recording(stage.context)?;
        let worth = stage.knobs.search.worth;
        let confirmed = Confirmation::from_recording(&recording, contenders, goal, worth)?;
        let mut ablation: Option<Ablation> = None;
        if let Some(winner) = confirmed.winner
            && self.explain
        {
            let to = &confirmed.contenders[winner].point;
            let path = AblationPath::new(stage.knobs, optimiser, &history.tried, to);
            let file = Stage::results_file(results, ablation::SUFFIX);
            if let Some(end) = conduct(stage, &ablation::PURPOSE, &path.contenders, &file)? {
                return Ok(self.stopped(&end));
            }
            ablation = Some(path.measured(&stage.recording(&file, None)?, goal)?);
        }
        let page = Page {
            title: &stage.base.name,
            knobs: stage.knobs,
            history,
            saved_s: history.saved_s(optimiser),
            confirmation: &confirmed,
            ablation: ablation.as_ref(),
            form,
        };
        session.show_as(stage.context, &recording, None, &|summary, _| {
            self.extent.part_of(page.document(summary))
        })?;
        if let Some(winner) = confirmed.winner
            && self.apply
        {
            self.apply(stage, &confirmed.contenders[winner])?;
        }
        Ok(ExitCode::Ok)
    }

    /// Gives the winner's settings to the server.
    fn apply(&self, stage: &Stage<'_>, winner: &Contender) -> Result<(), Failure> {
        let alone = stage.experiment(&confirmation::PURPOSE, std::slice::from_ref(winner))?;
        if let Some(configuration) = alone.configurations.first() {
            let engine = self.altering(stage)?;
            let done = engine.apply(configuration).map_err(Failure::failed)?;
            output::complain(&format!(
                "{done}\nRestore the former values with `steelbench tune {} --undo`.",
                self.file.display()
            ));
        }
        Ok(())
    }

    /// Restores what --apply or a killed search has changed.
    fn restore(&self, stage: &Stage<'_>) -> Result<ExitCode, Failure> {
        let engine = self.altering(stage)?;
        let configurations: Vec<&Configuration> = stage.base.configurations.iter().collect();
        let Restored { mut changes, problems } = engine.undo(&configurations);
        if changes.is_empty() && problems.is_empty() {
            changes.push("Nothing to undo: there is no record for this server.".to_owned());
        }
        changes.iter().try_for_each(|change| output::print(&format!("{change}\n")).map(drop))?;
        if problems.is_empty() {
            return Ok(ExitCode::Ok);
        }
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        Err(Failure::failed(problems.join("\n")))
    }

    /// The engine of your server, where it takes settings while it runs.
    fn altering<'c>(&self, stage: &Stage<'c>) -> Result<&'c dyn Altering, Failure> {
        let present = stage.knobs.configuration;
        if present.value("target.url").is_none() {
            let message = "--apply and --undo concern the server of target.url, which is not set; \
                           private servers keep nothing";
            return Err(self.objection(stage.base, "target", message));
        }
        let name = present.get(ENGINE);
        let engine = stage.context.registry.engine(&name).and_then(|engine| engine.altering);
        engine.ok_or_else(|| {
            let message = format!("the settings of {name} cannot be changed while it runs");
            self.objection(stage.base, "target.engine", &message)
        })
    }

    /// Returns whether the file names a server of the user, which a flag has to permit.
    fn permit_server(&self, stage: &Stage<'_>) -> Result<bool, Failure> {
        let value = |path: &str| stage.knobs.configuration.value(path);
        let objection = |path, message| Err(self.objection(stage.base, path, message));
        if value("target.url").is_none() {
            return Ok(false);
        }
        if !self.on_live {
            let message = "tune would change settings of this server; give --on-live to permit \
                           it, or remove target.url to use a private server";
            return objection("target.url", message);
        }
        if value("target.allow_restart").is_some() {
            let message = "a search on your server changes only settings that need no restart; \
                           remove target.allow_restart";
            return objection("target.allow_restart", message);
        }
        Ok(true)
    }

    fn plan(&self, stage: &Stage<'_>, has_defaults: bool) -> Result<Plan, Failure> {
        let blocks = stage.base.repeats.blocks;
        let mut plan = Plan { blocks, has_defaults, candidates: confirmation::CANDIDATES };
        if blocks.max() < 2 {
            let message = "a confirmation needs two blocks at least; five give much narrower \
                           intervals";
            return Err(self.objection(stage.base, "tune", message));
        }
        let Budget::Trials(all) = stage.knobs.search.budget else { return Ok(plan) };
        if plan.most() as f64 > SHARE_MAX * f64::from(all) {
            plan.candidates = 1;
        }
        let (confirmation, first) = (plan.most(), FIRST + 1);
        if (all as usize) < confirmation + first {
            let message = format!(
                "{all} trials are too few: the confirmation takes {confirmation} and the first \
                 round of the search {first}"
            );
            return Err(self.objection(stage.base, "tune.budget", &message));
        }
        Ok(plan)
    }

    /// Has the engine judge the bounds of each knob, as it judges the levels of a grid.
    fn test_bounds(&self, stage: &Stage<'_>, results: &Path) -> Result<(), Failure> {
        let present = stage.knobs.present();
        let mut contenders: Vec<Contender> = Vec::new();
        for (at, knob) in stage.knobs.search.knobs.iter().enumerate() {
            for value in knob.extremes() {
                let name = format!("{}={value}", knob.name());
                if contenders.iter().all(|known| known.name != name) {
                    let mut point = present.clone();
                    point[at] = knob.number(&value);
                    contenders.push(Contender::new(name, point));
                }
            }
        }
        let purpose = Purpose { suffix: "-bounds", question: "Bounds", blocks: Some(1) };
        let experiment = stage.experiment(&purpose, &contenders)?;
        let found = runner::preflight(
            stage.context.registry,
            &experiment,
            results,
            &Permits::default(),
            &Stop::when(|| false),
        );
        if !found.invalid.is_empty() {
            let objections = stage.base.objections(&found.invalid);
            return Err(Failure::usage(self.rendered(stage.base, &objections)));
        }
        if found.missing.is_empty() {
            Ok(())
        } else {
            Err(Failure::failed(found.missing.join("\n")))
        }
    }

    /// The form in which settings are printed.
    fn form(&self, stage: &Stage<'_>) -> Result<Option<&'static SettingsForm>, Failure> {
        let name = stage.knobs.configuration.get(ENGINE);
        let forms = stage.context.registry.engine(&name).map(|engine| engine.settings_forms);
        let forms = forms.unwrap_or_default();
        let Some(named_form) = &self.form else { return Ok(forms.first()) };
        let found = forms.iter().find(|form| form.name == named_form);
        let known: Vec<&str> = forms.iter().map(|form| form.name).collect();
        found.map(Some).ok_or_else(|| {
            Failure::usage(experiment::unknown_name(&format!("form of {name}"), named_form, &known))
        })
    }

    fn objection(&self, base: &Experiment, path: &str, message: &str) -> Failure {
        let errors = base.objections(&[Invalid::new(path, message)]);
        Failure::usage(self.rendered(base, &errors))
    }

    fn rendered(&self, base: &Experiment, errors: &experiment::FileErrors) -> String {
        errors.render(&self.file.display().to_string(), &base.source)
    }

    /// Says how the session ended, and how to continue.
    fn stopped(&self, end: &RunEnd) -> ExitCode {
        let code = exit_code(end, false, None);
        output::complain(&format!("Resume with `steelbench tune {}`.", self.file.display()));
        code
    }
}

/// Returns whether the defaults differ from the present settings and are a valid configuration: a
/// parameter of a command has none.
fn has_defaults(stage: &Stage<'_>) -> bool {
    let [present, defaults] = [stage.knobs.present(), stage.knobs.defaults()];
    let is_other = present != defaults;
    let contenders = confirmation::contenders(present, Some(defaults), Vec::new());
    is_other && stage.experiment(&confirmation::PURPOSE, &contenders).is_ok()
}

/// Runs one experiment; says when the session ended before it was complete.
fn conduct(
    stage: &Stage<'_>,
    purpose: &Purpose<'_>,
    contenders: &[Contender],
    results: &Path,
) -> Result<Option<RunEnd>, Failure> {
    let experiment = stage.experiment(purpose, contenders)?;
    let end = stage.conduct(&experiment, stage.session(results, false), true)?;
    Ok((!matches!(end, RunEnd::Completed(_))).then_some(end))
}

/// The plan of a search, in words.
fn planned(search: &Search, plan: &Plan) -> String {
    let fewer = if plan.is_shortened() { " or fewer" } else { "" };
    let budget = match search.budget {
        Budget::Trials(all) => format!(
            "{}: {} for the search, {} for the confirmation{fewer}",
            plural(all as usize, "trial"),
            all as usize - plan.most(),
            plan.most()
        ),
        Budget::Time(seconds) => format!(
            "{}, of which {} of the confirmation{fewer}",
            rounded_time(seconds),
            plural(plan.most(), "trial")
        ),
    };
    let names: Vec<&str> = search.knobs.iter().map(Knob::name).collect();
    format!("Knobs:   {}\nBudget:  {budget}\n", names.join(", "))
}
