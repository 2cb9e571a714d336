//! `steelbench queries try`: an index, a drop of one or a setting as an experiment with two levels.

use crate::examine::statement_rules;
use crate::logged::{read_logs, with_values};
use clap::{ArgAction, ArgGroup, Args};
use command_line::arguments::{Quick, pair, setting};
use command_line::files::new_file;
use command_line::servers::{self, Deadline};
use command_line::session::{Session, exit_code};
use command_line::{Context, ExitCode, Failure, output, signals};
use engine::server::engine_by_url;
use engine::{
    CopySource, CopyVersion, Dump, Engine, EngineError, Permits, SETUP_DUMP, SETUP_SQL,
    ServerError, Servers,
};
use experiment::common::{ENGINE, PROBE};
use experiment::{Draft, Kind, LinkedSettings, settings};
use inspection::plans;
use inspection::statements::fingerprint;
use probe::load::{CONNECTIONS, DURATION, WARMUP};
use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use work::Stop;
use work::sql::statement::{VERBS, first_word};

/// The first line of what is written here, by which it may be written again.
const MADE: &str = "Written by `steelbench queries try`";
/// The names of the factor and its levels.
const FACTOR: &str = "change";
/// The levels: without and with the change, or with and without the index that is dropped.
const LEVELS: [&str; 2] = ["without", "with"];
const LEVELS_OF_DROP: [&str; 2] = ["with index", "without index"];

/// Ends of the names of files: the SQL of the change, which the experiment names, the dump of a
/// URL, and statements of a log.
const CHANGE: &str = "sql";
const DUMP: &str = "dump";
const STATEMENTS: &str = "statements.sql";

settings! {
    /// The scripts of the probe `script`, which declares and judges them.
    SCRIPT: Vec<String> = "workload.script", Kind::TextList;
}

/// An error in the arguments of `queries try`.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TryError {
    /// The statement of an index makes something else.
    #[error("--index needs a statement that begins with CREATE, not `{statement}`")]
    NoCreate {
        /// The statement.
        statement: String,
    },
    /// The engine makes no dumps from a URL.
    #[error("databases of {engine} are not dumped from a URL; give --dump FILE")]
    NoDump {
        /// The engine's name.
        engine: String,
    },
    /// The URL is not that of a known engine.
    #[error(transparent)]
    Url(ServerError),
    /// Logs have nothing to run.
    #[error("the logs have no statement with known values")]
    NoStatement,
}

#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("change").args(["index", "drop", "set"]).multiple(true).required(true),
)]
#[command(
    group = ArgGroup::new("data").args(["source", "dump", "sql"]).multiple(true).required(true),
)]
pub(crate) struct Try {
    /// PostgreSQL database to copy and measure: `pg_dump` reads it once and changes nothing. The
    /// dump is kept as NAME.dump
    #[arg(value_name = "URL", conflicts_with = "dump")]
    pub(crate) source: Option<String>,
    /// Dump to start from, instead of a URL: from `pg_dump` or mariadb-dump, or an SQLite database
    #[arg(long, value_name = "FILE")]
    pub(crate) dump: Option<String>,
    /// SQL to run next, in both levels; repeatable
    #[arg(long, value_name = "FILE")]
    pub(crate) sql: Vec<String>,
    /// Index to try: "CREATE INDEX ON orders (customer)"; repeatable
    #[arg(long, value_name = "SQL")]
    pub(crate) index: Vec<String>,
    /// Index to drop, by its name or a DROP INDEX; for MariaDB "NAME ON TABLE"; repeatable
    #[arg(long, value_name = "NAME")]
    pub(crate) drop: Vec<String>,
    /// Setting to try: `enable_seqscan=off`, `work_mem=64MB`; repeatable
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    pub(crate) set: Vec<(String, String)>,
    /// The statements as a script in pgbench's language, writes included; a weight can follow;
    /// repeatable
    #[arg(
        short,
        long,
        visible_alias = "script",
        value_name = "FILE[@WEIGHT]",
        required_unless_present = "auto_explain"
    )]
    pub(crate) file: Vec<String>,
    /// Statements that `auto_explain` wrote to this PostgreSQL log, each once with the values of
    /// its first run. They become a script, NAME.statements.sql, with these values; repeatable
    #[arg(long, value_name = "FILE")]
    pub(crate) auto_explain: Vec<PathBuf>,
    /// Engine [default: postgres, mariadb for mysql:// and mariadb://]
    #[arg(long, value_name = "NAME")]
    pub(crate) engine: Option<String>,
    /// Test server to use instead of a private server; databases created for the test are dropped
    /// at the end
    #[arg(long, value_name = "URL")]
    pub(crate) test_server: Option<String>,
    /// Number of connections [default: 1]
    #[arg(short, long, value_name = "N", value_parser = setting(CONNECTIONS))]
    pub(crate) client: Option<u32>,
    /// Length of the measurement of each trial, in seconds [default: 10]
    #[arg(short = 'T', long, value_name = "SECONDS", value_parser = setting(DURATION))]
    pub(crate) time: Option<f64>,
    /// The load runs for this long before the measurement [default: 1 s]
    #[arg(long, value_name = "TIME", value_parser = setting(WARMUP))]
    pub(crate) warmup: Option<f64>,
    /// How statements are sent: simple, prepared [default: prepared]
    #[arg(short = 'M', long, value_name = "NAME")]
    pub(crate) protocol: Option<String>,
    /// Give up reading the database of the URL after this time, in seconds
    #[arg(
        long, value_name = "N", default_value_t = 86_400,
        value_parser = clap::value_parser!(u32).range(1..=604_800),
    )]
    pub(crate) time_limit: u32,
    #[command(flatten)]
    pub(crate) quick: Quick,
    /// Print this help
    #[arg(long, action = ArgAction::Help)]
    pub(crate) help: Option<bool>,
}

/// The engine to work on.
struct Target<'a> {
    engine: &'a str,
    servers: Option<&'static dyn Servers>,
    dump: Option<Dump>,
}

impl Try {
    /// Name of the experiment.
    pub fn name(&self) -> &str {
        self.quick.name("try")
    }

    /// A file that it writes, in the current folder.
    fn file(&self, extension: &str) -> String {
        format!("{}.{extension}", self.name())
    }
}

/// Writes the experiment and runs it, or prints it.
pub fn try_change(arguments: &Try, context: &Context) -> Result<ExitCode, Failure> {
    let target = target(arguments, context.registry.engines).map_err(Failure::usage)?;
    let mut draft = draft(arguments, target.engine).map_err(Failure::usage)?;
    if arguments.quick.print {
        return output::print_source(&draft.source());
    }
    // One flag: a signal between the two steps stops the second.
    let interrupt = signals::stop_flag()?;
    let deadline = arguments
        .source
        .as_ref()
        .map(|_| Deadline::begin(arguments.time_limit, 0.0, &"the database", &interrupt));
    let stop = deadline.as_ref().map_or_else(|| servers::stop_by(&interrupt), Deadline::stop);
    let failure = |error| dump_failure(deadline.as_ref(), error);
    let copy = copy_version(arguments, &target, &stop).map_err(failure)?;
    if let Some(version) = &copy.setting {
        draft.set_text("target.version", version);
    }
    if let Some(text) = &copy.substitution {
        output::complain(text);
        draft.set_text("experiment.question", &format!("{} {text}", question(arguments)));
    }
    if let Some(sql) = change(arguments) {
        write(&arguments.file(CHANGE), &format!("-- {MADE}.\n{sql}"))?;
    }
    if !arguments.auto_explain.is_empty() {
        let logged = read_logs(context, &arguments.auto_explain)?;
        let script = logged_script(context, &logged)?;
        write(&arguments.file(STATEMENTS), &script)?;
    }
    if let (Some(url), Some(dump_by_url)) = (&arguments.source, target.dump) {
        let file = arguments.file(DUMP);
        verify_new(&file)?;
        output::complain(&format!("Dumping the database to {file}."));
        new_file(file.as_ref(), |partial| dump_by_url(url, partial, &stop).map_err(failure))?;
    }
    // What is wrong is found before the file is there to be run.
    let path = arguments.file("toml");
    let experiment = context.build(&draft, &path)?;
    write(&path, &draft.source())?;
    output::complain(&format!(
        "Experiment: {path}; edit it and rerun it with `steelbench run {path}`."
    ));
    let session = Session::quick(&arguments.quick, arguments.name(), Permits::default());
    let end = session.conduct(context, &experiment)?;
    let failed = session.show(context, &session.recording(context)?)?;
    Ok(exit_code(&end, failed, Some(&path)))
}

/// Chooses the version on which a copy of the source is measured.
fn copy_version(
    arguments: &Try,
    target: &Target<'_>,
    stop: &Stop,
) -> Result<CopyVersion, EngineError> {
    let source = match (&arguments.source, &arguments.dump) {
        (Some(url), _) => CopySource::Url(url),
        (None, Some(file)) => CopySource::Dump(file.as_ref()),
        (None, None) => return Ok(CopyVersion::default()),
    };
    let Some(servers) = target.servers else { return Ok(CopyVersion::default()) };
    servers.copy_version(&source, arguments.test_server.as_deref(), stop)
}

/// The statements of logs, each once with the values of its first run.
fn logged_script(context: &Context, logged: &[plans::Statement]) -> Result<String, Failure> {
    let mut known = HashSet::new();
    let (mut script, mut left_out) =
        (format!("-- {MADE} from a log; constants come from single runs.\n"), 0);
    for statement in logged {
        let verb = first_word(&statement.text).to_ascii_uppercase();
        let rules = statement_rules(context, &statement.engine)?;
        let is_new = known.insert(fingerprint(&statement.text, rules));
        if !is_new || !VERBS.contains(&verb.as_str()) {
            continue;
        }
        match with_values(statement, rules.syntax).filter(|text| is_plain(text)) {
            Some(text) => script.extend([text.trim().trim_end_matches(';'), ";\n"]),
            None => left_out += 1,
        }
    }
    if left_out > 0 {
        let what = observations::number::plural(left_out, "statement");
        output::complain(&format!(
            "note: skipped {what} of the log: values unknown, or they would be read as script \
             variables"
        ));
    }
    if script.lines().count() > 1 { Ok(script) } else { Err(Failure::usage(TryError::NoStatement)) }
}

/// Returns true for a text that a script reads as it is: no variable, no line that begins as a
/// command.
fn is_plain(text: &str) -> bool {
    !text.match_indices(':').any(|(at, _)| {
        let after = text[at + 1..].chars().next();
        after.is_some_and(|c| c.is_alphanumeric() || c == '_') && !text[..at].ends_with(':')
    }) && !text.lines().any(|line| line.trim_start().starts_with('\\'))
}

/// The statements of the change, one a line; `None` where it is one of settings alone.
fn change(arguments: &Try) -> Option<String> {
    let sql: Vec<String> = statements(arguments).collect();
    (!sql.is_empty()).then(|| format!("{};\n", sql.join(";\n")))
}

/// The changes as statements; of an index that is dropped its name is enough.
fn statements(arguments: &Try) -> impl Iterator<Item = String> {
    let all = arguments.index.iter().cloned().chain(arguments.drop.iter().map(|drop| {
        let is_statement = first_word(drop).eq_ignore_ascii_case("drop");
        if is_statement { drop.clone() } else { format!("DROP INDEX {drop}") }
    }));
    all.map(|sql| sql.trim().trim_end_matches(';').to_owned())
}

/// The changes, statements and settings.
fn changes(arguments: &Try) -> String {
    let settings = arguments.set.iter().map(|(name, value)| format!("{name} = {value}"));
    statements(arguments).chain(settings).collect::<Vec<String>>().join("; ")
}

fn question(arguments: &Try) -> String {
    format!("How does {} change the time of each statement?", changes(arguments))
}

fn draft(arguments: &Try, engine: &str) -> Result<Draft, TryError> {
    if let Some(other) =
        arguments.index.iter().find(|sql| !first_word(sql).eq_ignore_ascii_case("create"))
    {
        return Err(TryError::NoCreate { statement: other.clone() });
    }
    let server = arguments.test_server.as_deref();
    let mut draft = Draft::new(arguments.name(), &question(arguments));
    let is_drop = arguments.index.is_empty() && arguments.set.is_empty();
    let names = if is_drop { LEVELS_OF_DROP } else { LEVELS };
    draft.comment(&format!("{MADE}. Level `{}`: {}.", names[1], changes(arguments)));
    draft.set(ENGINE, engine.to_owned());
    if let Some(server) = server {
        draft.set_text("target.url", server);
    }
    let dump = arguments.source.as_ref().map(|_| arguments.file(DUMP));
    draft.set_some(SETUP_DUMP, dump.or_else(|| arguments.dump.clone()));
    draft.set(PROBE, "script");
    let logged = (!arguments.auto_explain.is_empty()).then(|| arguments.file(STATEMENTS));
    draft.set(SCRIPT, arguments.file.iter().cloned().chain(logged).collect::<Vec<_>>());
    draft.set_text("workload.protocol", arguments.protocol.as_deref().unwrap_or("prepared"));
    draft.set(CONNECTIONS, arguments.client.unwrap_or(1));
    draft.set(DURATION, arguments.time.unwrap_or(10.0));
    draft.set(WARMUP, arguments.warmup.unwrap_or(1.0));
    let (mut without, mut with) = (LinkedSettings::default(), LinkedSettings::default());
    let before = Some(arguments.sql.clone()).filter(|files| !files.is_empty());
    if change(arguments).is_none() {
        draft.set_some(SETUP_SQL, before);
    } else {
        let after = [arguments.sql.as_slice(), &[arguments.file(CHANGE)]].concat();
        with = with.with(SETUP_SQL, after);
        if let Some(files) = before {
            without = without.with(SETUP_SQL, files);
        }
    }
    for (name, value) in &arguments.set {
        with = with.with_text(&format!("target.settings.{name}"), value);
    }
    draft.level(FACTOR, names[0], without);
    draft.level(FACTOR, names[1], with);
    draft.repeats(arguments.quick.blocks.unwrap_or(5), arguments.quick.seed.unwrap_or(1));
    Ok(draft)
}

/// Finds the engine that is named, else the one of the URLs.
fn target<'a>(
    arguments: &'a Try,
    engines: &'static [&'static Engine],
) -> Result<Target<'a>, TryError> {
    let url = arguments.test_server.as_deref().or(arguments.source.as_deref());
    let of_url = engine_by_url(engines, url.unwrap_or_default());
    let engine = match (&arguments.engine, &of_url) {
        (Some(engine), _) => engine,
        (None, Ok(engine)) => engine.name,
        (None, Err(error)) => return Err(TryError::Url(error.clone())),
    };
    let named = engines.iter().find(|known| known.name == engine);
    let servers = named.and_then(|engine| engine.servers);
    let of_url = of_url.ok().filter(|url| url.name == engine);
    let dump = of_url.and_then(|url| url.servers?.dump());
    if arguments.source.is_some() && dump.is_none() {
        return Err(TryError::NoDump { engine: engine.to_owned() });
    }
    Ok(Target { engine, servers, dump })
}

/// Writes a file that is new, or that an earlier `try` has written.
fn write(shown: &str, text: &str) -> Result<(), Failure> {
    let path = Path::new(shown);
    match std::fs::read_to_string(path) {
        Ok(before) if before.lines().next().is_some_and(|line| line.contains(MADE)) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Ok(_) => {
            let message =
                format!("{shown} exists and was not written by Steelbench; choose another --name");
            return Err(Failure::usage(message));
        }
        Err(error) => return Err(Failure::usage(format!("{shown}: {error}"))),
    }
    std::fs::write(path, text)
        .map_err(|error| Failure::failed(format!("cannot write {shown}: {error}")))
}

/// Refuses an existing dump: trials may have been recorded on it.
fn verify_new(file: &str) -> Result<(), Failure> {
    if Path::new(file).exists() {
        let message = format!(
            "{file} already exists: use it with --dump {file}, remove it, or choose another --name"
        );
        return Err(Failure::usage(message));
    }
    Ok(())
}

fn dump_failure(deadline: Option<&Deadline>, error: EngineError) -> Failure {
    let (text, failure) = match error {
        EngineError::Cancelled => {
            let text = "stopped; nothing is left of the dump";
            (text.to_owned(), Failure::interrupted(text))
        }
        error => (error.to_string(), Failure::failed(error)),
    };
    deadline.and_then(|deadline| deadline.reached(&text)).unwrap_or(failure)
}

#[cfg(test)]
mod tests {
    use super::{Draft, Try, TryError, change, draft, target};
    use crate::QueriesTool;
    use crate::arguments::QueriesCommand;
    use clap::Parser;
    use engine::Engine;

    const ENGINES: &[&Engine] = &[&postgres::POSTGRES, &mariadb::MARIADB];

    fn parsed(arguments: &[&str]) -> Try {
        let line = ["queries", "try"].iter().chain(arguments);
        let queries = QueriesTool::try_parse_from(line).unwrap();
        let Some(QueriesCommand::Try(attempt)) = queries.command else { unreachable!() };
        *attempt
    }

    fn built(arguments: &Try) -> Result<Draft, TryError> {
        draft(arguments, target(arguments, ENGINES)?.engine)
    }

    fn lines(arguments: &[&str]) -> Vec<String> {
        built(&parsed(arguments)).unwrap().source().lines().map(str::to_owned).collect()
    }

    #[test]
    fn levels_are_the_data_without_and_with_the_change() {
        let line = [
            "--dump",
            "d",
            "-f",
            "r.sql@9",
            "-f",
            "w.sql",
            "--index",
            "CREATE INDEX i ON t (a);",
            "--drop",
            "j",
        ];
        assert_eq!(change(&parsed(&line)).unwrap(), "CREATE INDEX i ON t (a);\nDROP INDEX j;\n");
        let advice = ["--dump", "d", "-f", "r.sql", "--drop", "DROP INDEX CONCURRENTLY public.j;"];
        assert_eq!(change(&parsed(&advice)).unwrap(), "DROP INDEX CONCURRENTLY public.j;\n");
        let source = lines(&line);
        for expected in [
            "setup = { dump = \"d\" }",
            "script = [\"r.sql@9\", \"w.sql\"]",
            "engine = \"postgres\"",
            "set = {}",
            "set = { \"target.setup.sql\" = \"try.sql\" }",
        ] {
            assert!(
                source.iter().any(|line| line == expected),
                "{expected}\n{}",
                source.join("\n")
            );
        }
        let with_sql = lines(&[
            "--sql",
            "s.sql",
            "-f",
            "r.sql",
            "--index",
            "create index on t (a)",
            "--name",
            "n",
        ]);
        assert!(
            with_sql
                .contains(&"set = { \"target.setup.sql\" = [\"s.sql\", \"n.sql\"] }".to_owned()),
            "{with_sql:?}"
        );
        let dropped = lines(&["--dump", "d", "-f", "r.sql", "--drop", "j"]);
        for name in ["name = \"with index\"", "name = \"without index\""] {
            assert!(dropped.iter().any(|line| line == name), "{name}: {dropped:?}");
        }
        let settings = ["--sql", "s.sql", "-f", "r.sql", "--set", "enable_seqscan=off"];
        assert_eq!(change(&parsed(&settings)), None);
        assert!(
            lines(&settings)
                .contains(&"set = { \"target.settings.enable_seqscan\" = \"off\" }".to_owned())
        );
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let refused = |line: &[&str]| {
            QueriesTool::try_parse_from(["queries", "try"].iter().chain(line)).is_err()
        };
        assert!(refused(&["--dump", "d", "-f", "r.sql"]), "no change");
        assert!(refused(&["-f", "r.sql", "--drop", "i"]), "no data");
        assert!(refused(&["--dump", "d", "--drop", "i"]), "no statements");
        assert!(
            refused(&["postgres://h/d", "--dump", "d", "-f", "r.sql", "--drop", "i"]),
            "two sources"
        );
        let objection = |line: &[&str]| built(&parsed(line)).unwrap_err().to_string();
        assert!(
            objection(&["--dump", "d", "-f", "r", "--index", "DROP TABLE t"]).contains("CREATE")
        );
        assert!(objection(&["mysql://h/d", "-f", "r", "--drop", "i"]).contains("--dump"));
    }
}
