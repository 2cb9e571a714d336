use crate::passwords::{hide_passwords, remember_secrets};
use crate::{Command, Context, ExitCode, Failure, output, signals};
use clap::ArgMatches;
use clap::error::{ContextKind, ErrorKind};
use experiment::{Draft, Experiment, FileErrors};
use observations::order;
use serde_json::json;
use std::path::Path;
use std::sync::atomic::Ordering;

/// Complaint about a write that failed, whichever file it was for.
const FILE_SIZE_LIMIT: &str = "error: a file reached the size limit of this process (`ulimit -f`); \
                               raise the limit and run the command again";

/// Runs the command that the command line names, and reports its failure.
pub fn run(context: &Context) -> ExitCode {
    let read = context.line().try_get_matches();
    remember_secrets();
    // SAFETY: the program starts here: no other thread runs, and no code reads the arguments later.
    unsafe { hide_passwords() };
    match read {
        Ok(matches) => context.run(&matches).unwrap_or_else(|failure| output::report(&failure)),
        Err(error) if error.use_stderr() => {
            output::complain(error.render().to_string().trim_end());
            let other = error.get(ContextKind::InvalidArg).map(ToString::to_string);
            let other = other.map(|name| name.trim_start_matches('-').replace('-', "_"));
            let help = other.and_then(|name| context.registry.catalog().other_name(&name));
            if let Some(help) = help {
                output::complain(&help);
            }
            ExitCode::Usage
        }
        Err(version)
            if version.kind() == ErrorKind::DisplayVersion
                && std::env::args_os().any(|argument| argument == "--json") =>
        {
            context.print_build().unwrap_or_else(|failure| output::report(&failure))
        }
        Err(help) => {
            // A reader that has gone has seen enough.
            let _ = help.print();
            ExitCode::Ok
        }
    }
}

impl Context {
    /// The command line, for clap.
    pub fn line(&self) -> clap::Command {
        let commands: Vec<clap::Command> = self.ordered().map(|command| (command.line)()).collect();
        clap::Command::new(self.name)
            .version(env!("CARGO_PKG_VERSION"))
            .about(self.about)
            .max_term_width(100)
            .override_help(self.help(&commands))
            .subcommand_required(true)
            .arg_required_else_help(true)
            .subcommands(commands)
    }

    /// The help of the program: commands by chapter, a line each; `lines` are in their order.
    fn help(&self, lines: &[clap::Command]) -> String {
        let usage = format!("Usage: {} <COMMAND> | -h, --help | -V, --version", self.name);
        let mut help = vec![self.about.to_owned(), usage];
        let mut chapter = None;
        for (command, line) in self.ordered().zip(lines).filter(|(_, line)| !line.is_hide_set()) {
            if chapter != Some(command.chapter) {
                // The first chapter follows the usage directly: 40 lines fit a screen.
                help.extend(chapter.map(|_| String::new()));
                help.push(format!("{}:", command.chapter.heading()));
                chapter = Some(command.chapter);
            }
            let about = line.get_about().map(ToString::to_string).unwrap_or_default();
            help.push(format!("  {:<11}  {about}", line.get_name()));
        }
        help.join("\n") + "\n"
    }

    /// Commands in the order of the help: by chapter, and in a chapter as they are listed.
    fn ordered(&self) -> impl Iterator<Item = &'static Command> {
        let mut all: Vec<&Command> = self.commands.iter().copied().flatten().collect();
        order::by_key(&mut all, &|command| command.chapter);
        all.into_iter()
    }

    fn print_build(&self) -> Result<ExitCode, Failure> {
        output::print_json(json!({
            "name": self.name,
            "version": env!("CARGO_PKG_VERSION"),
            "commit": self.build.commit,
            "features": self.build.features,
            "target": self.build.target,
        }))
    }

    fn run(&self, matches: &ArgMatches) -> Result<ExitCode, Failure> {
        signals::end_instead_of_abort()?;
        work::silence_from_environment().map_err(Failure::usage)?;
        let is_limited = signals::survive_file_size_limit()?;
        let (name, arguments) =
            matches.subcommand().ok_or_else(|| Failure::usage("no command given"))?;
        let command = self.ordered().find(|command| (command.line)().get_name() == name);
        let command = command.ok_or_else(|| Failure::usage(format!("unknown command {name}")))?;
        let ended = (command.run)(arguments, self);
        if is_limited.load(Ordering::Relaxed) {
            output::complain(FILE_SIZE_LIMIT);
        }
        ended
    }

    /// Reads and validates an experiment file and the files that it names.
    ///
    /// # Errors
    /// All that is wrong with it, each with its line.
    pub fn experiment(&self, path: &Path) -> Result<Experiment, Failure> {
        self.experiment_by(path, false)
    }

    /// As [`Self::experiment`]. An untrusted file is refused before it loads or runs anything that
    /// reaches more of the machine than its trials.
    ///
    /// # Errors
    /// All that is wrong with it, each with its line, or what it reaches.
    pub fn experiment_by(&self, path: &Path, is_untrusted: bool) -> Result<Experiment, Failure> {
        let name = path.display().to_string();
        let source = experiment::read_text(path, experiment::SOURCE_BYTES_MAX)
            .map_err(|error| Failure::usage(format!("{name}: {error}")))?;
        let failed = |errors: FileErrors| Failure::usage(errors.render(&name, &source));
        let experiment = self.parsed(path, &source).map_err(failed)?;
        self.verify_reach(&experiment, is_untrusted)?;
        runner::load(self.registry, experiment).map_err(failed)
    }

    /// Makes sure that an untrusted experiment reaches only its trials.
    ///
    /// # Errors
    /// When it reaches more.
    pub fn verify_reach(&self, experiment: &Experiment, is_untrusted: bool) -> Result<(), Failure> {
        let cause = is_untrusted.then(|| runner::reach_beyond(self.registry, experiment, None));
        match cause.flatten() {
            Some(cause) => Err(Failure::usage(format!("{cause}, which --untrusted refuses"))),
            None => Ok(()),
        }
    }

    fn parsed(&self, path: &Path, source: &str) -> Result<Experiment, FileErrors> {
        let mut experiment = experiment::parse(source, &self.registry.catalog())?;
        experiment.folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        Ok(experiment)
    }

    /// Validates this text in the place of an experiment file.
    ///
    /// # Errors
    /// All that is wrong with it, each with its line.
    pub fn experiment_of(&self, path: &Path, source: &str) -> Result<Experiment, FileErrors> {
        runner::load(self.registry, self.parsed(path, source)?)
    }

    /// Validates the experiment of a quick command. Errors call its file `name`.
    ///
    /// # Errors
    /// All that is wrong with it, each with its line.
    pub fn build(&self, draft: &Draft, name: &str) -> Result<Experiment, Failure> {
        let experiment = draft.build(&self.registry.catalog());
        experiment
            .and_then(|experiment| runner::load(self.registry, experiment))
            .map_err(|errors| Failure::usage(errors.render(name, &draft.source())))
    }

    /// Validates an experiment that is made from a file in this folder.
    ///
    /// # Errors
    /// All that is wrong with it, each with its line in the draft.
    pub fn build_in(&self, draft: &Draft, folder: &Path) -> Result<Experiment, FileErrors> {
        let mut experiment = draft.build(&self.registry.catalog())?;
        experiment.folder = folder.to_path_buf();
        runner::load(self.registry, experiment)
    }
}
