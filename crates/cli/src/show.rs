//! `steelbench show`

use crate::registry::{RECORDS, STABILITY};
use analysis::Summary;
use clap::Parser;
use command_line::arguments::Recorded;
use command_line::output::{self, Extent, Form};
use command_line::select::keep_only;
use command_line::{Context, ExitCode, Failure, Place, Tool, Which, results};
use observations::Recording;
use observations::number::plural;
use report::{Document, Medium, Screen, Section, TOPICS, Text};
use store::Store;

/// Show the results of a recorded run
#[derive(Debug, Parser)]
#[command(name = "show")]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
pub struct Show {
    #[command(flatten)]
    pub recorded: Recorded,
    /// Sections to print [default: the result on one screen]
    #[arg(value_name = "SECTION", conflicts_with = "full")]
    pub sections: Vec<String>,
    /// Print every section
    #[arg(long, conflicts_with_all = ["runs", "source", "stability"])]
    pub full: bool,
    /// Explain the figures and marks of the screen
    #[arg(long, exclusive = true)]
    pub legend: bool,
    /// Only configurations with all of these levels, as in `data_files=4`
    #[arg(long = "only", value_name = "FACTOR=LEVEL")]
    pub only: Vec<String>,
    /// How steady repeats are: spread, drift, regimes, and what separates these
    #[arg(long, conflicts_with_all = ["runs", "source", "sections"])]
    pub stability: bool,
    /// List the runs of the results file
    #[arg(long)]
    pub runs: bool,
    /// Print the experiment file of the run and the files that it names, as recorded
    #[arg(long, conflicts_with_all = ["runs", "only"])]
    pub source: bool,
    #[command(flatten)]
    pub form: Form,
}

impl Tool for Show {
    const EXAMPLES: [&'static str; 2] = [
        "steelbench show random-insert",
        "steelbench show random-insert waits --only data_files=4",
    ];

    /// Of reports, and of observations.
    fn sections() -> Vec<&'static str> {
        let observed = RECORDS.iter().flat_map(|records| records.sections()).copied();
        TOPICS.into_iter().chain(observed.filter(|name| !TOPICS.contains(name))).collect()
    }

    fn run(&self, context: &Context) -> Result<ExitCode, Failure> {
        if self.legend {
            return output::print_document(&report::legend());
        }
        let store = results::open(context, self.recorded.name.as_deref())?;
        if self.runs {
            return runs(context, &store, self.form.json);
        }
        let which = Which::numbered(self.recorded.run);
        let extent = Extent { full: self.full, sections: self.sections.clone(), positional: true };
        for records in context.records {
            if let Some(code) = records.show(Place { store: &store, which }, self.form, &extent)? {
                return Ok(code);
            }
        }
        let read = if self.form.json { Store::read } else { Store::read_figures };
        let mut recording = results::read_run(&store, self.recorded.run, read)?;
        if self.source {
            return source(&recording, self.form.json);
        }
        keep_only(&mut recording, &self.only)?;
        let summary = results::summary(context, &recording, store.path());
        if self.stability {
            let Some(stability) = STABILITY.first() else {
                return Err(Failure::usage("this binary does not estimate the stability of runs"));
            };
            return output::show(
                self.form,
                || (stability.json)(&summary),
                || (stability.document)(&summary),
            );
        }
        output::show(
            self.form,
            || report::json::summary(&summary, context.sections),
            || self.document(context, &summary, &results::name(store.path())),
        )
    }
}

impl Show {
    /// The result on one screen, or the sections that are asked for. Markdown has all of them.
    fn document(&self, context: &Context, summary: &Summary, name: &str) -> Document {
        if self.full || (self.form.md && self.sections.is_empty()) {
            return report::run(summary, context.sections, Medium::Text);
        }
        if self.sections.is_empty() {
            let screen = Screen { name, page: None, width: output::width() };
            return screen.document(summary, context.sections);
        }
        let mut document = report::topics(summary, context.sections, &self.sections);
        if document.sections.is_empty() {
            let mut section = Section::default();
            section.note("The run has recorded nothing for this section.");
            document.sections.push(section);
        }
        document
    }
}

/// The experiment file, then each file that it names below a comment that says which.
fn source(recording: &Recording, json: bool) -> Result<ExitCode, Failure> {
    let (source, files) = (&recording.run.source, &recording.files);
    if json {
        return output::print_json(serde_json::json!({
            "schema": report::json::SCHEMA, "kind": "source", "source": source, "files": files
        }));
    }
    let text: String = [source.clone()]
        .into_iter()
        .chain(files.iter().map(|file| {
            format!(
                "\n# {}: {} (SHA-256 {})\n{}",
                file.named_by, file.path, file.sha256, file.content
            )
        }))
        .collect();
    let line = |line: &str| format!("{}\n", Text::from(line.replace('\t', "    ")));
    output::print(&text.lines().map(line).collect::<String>())
}

/// Lists what a results file holds.
fn runs(context: &Context, store: &Store, json: bool) -> Result<ExitCode, Failure> {
    let runs = store.runs()?;
    if json {
        let runs =
            serde_json::json!({ "schema": report::json::SCHEMA, "kind": "runs", "runs": runs });
        return output::print_json(runs);
    }
    for records in context.records {
        for line in records.list(store)? {
            output::print_wrapped(&line)?;
        }
    }
    for run in runs {
        let trials = store.recorded_trials(run.id)?.len();
        let (name, started) = (Text::from(run.name.as_str()), report::utc(run.started_ms));
        let origin = report::origin(run.label.as_deref(), run.git.as_ref());
        let origin = origin.map_or_else(String::new, |origin| format!(", {}", Text::from(origin)));
        output::print_wrapped(&format!(
            "run {}: {name}, {started}, {}{origin}\n",
            run.id,
            plural(trials, "trial")
        ))?;
    }
    Ok(ExitCode::Ok)
}
