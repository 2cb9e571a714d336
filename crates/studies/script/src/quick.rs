//! `steelbench pg`: pgbench's options as an experiment.

use crate::arguments::{Pg, Scripts, Variation};
use crate::probe::{
    BUILTIN, INITIALIZE, MAX_TRIES, PROTOCOL, RAND_TYPE, SCALE, SCRIPT, TABLE_SIZE, TABLES,
    TRANSACTIONS,
};
use crate::{Protocol, Source, Sysbench, parse_file_argument};
use command_line::arguments::{ArgumentError, ServerNameError, setting};
use command_line::session::Session;
use command_line::{Chapter, Command, Context, ExitCode, Failure, Tool};
use engine::Permits;
use experiment::common::{ENGINE, OBSERVE_INTERVAL, PROBE};
use experiment::{Catalog, Draft, LinkedSettings, SOURCE_BYTES_MAX, read_text};
use probe::load::{CONNECTIONS, DURATION, LATENCY_LIMIT, RATE, THREADS, WARMUP};

/// The command of this study.
pub const COMMAND: Command = Command::new::<Pg>(Chapter::QuickTests);

/// Prints the experiment that is run.
const PRINTED: &str = "steelbench pg --print";
const SCRIPT_PROBE: &str = "script";
const POSTGRES: &str = "postgres";
/// Variables that name a server to libpq.
const VARIABLES: [&str; 5] = ["PGHOST", "PGHOSTADDR", "PGPORT", "PGDATABASE", "PGSERVICE"];

/// A command line that is not an experiment.
#[derive(Debug, thiserror::Error)]
enum PgError {
    #[error(transparent)]
    Server(#[from] ServerNameError),
    #[error(transparent)]
    Level(#[from] ArgumentError),
    #[error("a server is given, but --engine is {0}")]
    NotPostgres(String),
}

impl Tool for Pg {
    const EXAMPLES: [&'static str; 2] = [
        "steelbench pg -i -s 10 -c 8 -T 30 postgres",
        "steelbench pg -f mine.sql -T 30 --vary connections=1,8,32 postgres",
    ];

    fn run(&self, context: &Context) -> Result<ExitCode, Failure> {
        let variables = VARIABLES
            .iter()
            .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
        let catalog = context.registry.catalog();
        let url = self.url(false).ok().flatten().filter(|url| url.contains("://"));
        let of_url = url
            .and_then(|url| engine::server::engine_by_url(context.registry.engines, &url).ok())
            .map(|engine| engine.name);
        let draft = draft(&catalog, self, of_url, variables).map_err(Failure::usage)?;
        let session = Session::quick(&self.quick, self.quick.name("pg"), Permits::default());
        session.run(context, &draft, PRINTED, self.quick.print)
    }
}

/// The experiment that a command line stands for; `of_url` is the engine whose URL is given,
/// `variables` is whether the PG* variables name a server.
fn draft(
    catalog: &Catalog,
    arguments: &Pg,
    of_url: Option<&str>,
    variables: bool,
) -> Result<Draft, PgError> {
    let (scripts, load) = (&arguments.scripts, &arguments.load);
    let mut draft = Draft::new(arguments.quick.name("pg"), "How fast are these transactions?");
    draft.comment(&format!("Written by `{PRINTED}`."));
    let engine = of_url.unwrap_or(&arguments.engine);
    draft.set(ENGINE, engine.to_owned());
    let on_postgres = engine == POSTGRES;
    let url = arguments.url(variables && on_postgres)?;
    let is_other = arguments.engine != POSTGRES && arguments.engine != engine;
    if url.is_some() && (is_other || (!on_postgres && of_url.is_none())) {
        return Err(PgError::NotPostgres(arguments.engine.clone()));
    }
    if let Some(url) = &url {
        draft.set_text(&path(catalog, "url", engine), url);
    }
    draft.set(PROBE, SCRIPT_PROBE);
    add_scripts(&mut draft, scripts, url.is_some());
    draft.set_some(SCALE, scripts.scale);
    for (name, value) in &scripts.define {
        draft.set_text(&format!("workload.variables.{name}"), value);
    }
    let default = if scripts.builtin.iter().any(|argument| {
        Source::builtin(argument, Sysbench::default()).is_ok_and(|source| source.is_of_sysbench())
    }) {
        Protocol::Prepared
    } else {
        Protocol::Simple
    };
    draft.set(PROTOCOL, load.protocol.unwrap_or(default));
    draft.set_some(TABLES, scripts.tables);
    draft.set_some(TABLE_SIZE, scripts.table_size);
    draft.set_some(RAND_TYPE, scripts.rand_type);
    draft.set(CONNECTIONS, load.client.unwrap_or(1));
    draft.set_some(THREADS, load.jobs);
    draft.set_some(RATE, load.rate);
    draft.set_some(LATENCY_LIMIT, load.latency_limit.map(|milliseconds| milliseconds / 1e3));
    draft.set_some(MAX_TRIES, load.max_tries);
    draft.set_some(WARMUP, load.warmup);
    match load.transactions {
        Some(each) => {
            draft.set(TRANSACTIONS, each.saturating_mul(u64::from(load.client.unwrap_or(1))));
        }
        None => draft.set(DURATION, load.time.unwrap_or(10.0)),
    }
    draft.set_some(OBSERVE_INTERVAL, load.progress);
    for variation in &arguments.vary {
        vary(catalog, &mut draft, variation, engine, load.transactions)?;
    }
    draft.repeats(arguments.quick.blocks.unwrap_or(3), arguments.quick.seed.unwrap_or(1));
    Ok(draft)
}

fn add_scripts(draft: &mut Draft, scripts: &Scripts, on_server: bool) {
    let mut builtin = scripts.builtin.clone();
    builtin.extend(scripts.select_only.then(|| "select-only".to_owned()));
    builtin.extend(scripts.skip_some_updates.then(|| "simple-update".to_owned()));
    if builtin.is_empty() && scripts.file.is_empty() {
        builtin.push("tpcb-like".to_owned());
    }
    // A server that is named has the tables that its scripts need, a private one has nothing.
    let initialize = scripts.initialize
        || (!on_server
            && scripts.file.iter().any(|argument| {
                let path =
                    parse_file_argument(argument).map_or(argument.as_str(), |(path, _)| path);
                read_text(path.as_ref(), SOURCE_BYTES_MAX)
                    .is_ok_and(|text| text.contains("pgbench_"))
            }));
    if !builtin.is_empty() {
        draft.set(BUILTIN, builtin);
    }
    if !scripts.file.is_empty() {
        draft.set(SCRIPT, scripts.file.clone());
    }
    draft.set_some(
        INITIALIZE,
        if scripts.existing_tables { Some(false) } else { initialize.then_some(true) },
    );
}

/// Makes a setting a factor. Where each connection does a number of transactions, there are as many
/// more of them as there are connections.
fn vary(
    catalog: &Catalog,
    draft: &mut Draft,
    Variation { setting: name, levels }: &Variation,
    engine: &str,
    transactions: Option<u64>,
) -> Result<(), ArgumentError> {
    let path = path(catalog, name, engine);
    let levels: Vec<&str> = levels.iter().map(String::as_str).collect();
    let Some(each) = transactions.filter(|_| path == CONNECTIONS.path()) else {
        draft.vary_text(&path, &levels);
        return Ok(());
    };
    let several = levels.len() > 1;
    for level in levels {
        let connections: u32 = setting(CONNECTIONS)(level)?;
        let transactions = each.saturating_mul(u64::from(connections));
        if several {
            let settings = LinkedSettings::default().with(CONNECTIONS, connections);
            draft.level("connections", level, settings.with(TRANSACTIONS, transactions));
        } else {
            draft.set(CONNECTIONS, connections);
            draft.set(TRANSACTIONS, transactions);
        }
    }
    Ok(())
}

/// The path of a setting by its short name: one of the workload or the target that ends so, else
/// one of the server.
fn path(catalog: &Catalog, name: &str, engine: &str) -> String {
    let of = |all: &[(&str, &'static [experiment::Declaration])], text: &str| {
        all.iter().find(|(name, _)| *name == text).map_or(&[][..], |(_, settings)| *settings)
    };
    let name = match name {
        "clients" | "client" => "connections",
        "jobs" => "threads",
        name => name,
    };
    let settings = [of(&catalog.probes, SCRIPT_PROBE), of(&catalog.engines, engine)].concat();
    let known = settings
        .iter()
        .map(|setting| setting.path)
        .find(|path| path.split_once('.').is_some_and(|(_, last)| last == name));
    match known {
        Some(path) => path.to_owned(),
        None if name
            .split_once('.')
            .is_some_and(|(section, _)| ["target", "workload", "observe"].contains(&section)) =>
        {
            name.to_owned()
        }
        None => format!("target.settings.{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{SCRIPT_PROBE, draft};
    use crate::ScriptProbe;
    use crate::arguments::Pg;
    use ::probe::Probe as _;
    use clap::Parser;
    use engine::Engine;
    use experiment::Catalog;
    use postgres::{POSTGRES, URL};
    use sqlite::SQLITE;

    fn catalog() -> Catalog {
        let engines: [&Engine; 2] = [&SQLITE, &POSTGRES];
        Catalog {
            engines: engines.map(|engine| (engine.name, engine.settings)).to_vec(),
            probes: vec![(SCRIPT_PROBE, ScriptProbe.declarations().settings)],
            ..Catalog::default()
        }
    }

    fn drafted(arguments: &[&str], variables: bool) -> Result<experiment::Draft, super::PgError> {
        let arguments = Pg::try_parse_from(["pg"].iter().chain(arguments)).unwrap();
        draft(&catalog(), &arguments, None, variables)
    }

    fn configurations(arguments: &[&str]) -> Vec<experiment::Configuration> {
        let draft = drafted(arguments, false).unwrap();
        let experiment = draft.build(&catalog());
        experiment.unwrap_or_else(|error| panic!("{error}\n{}", draft.source())).configurations
    }

    #[test]
    fn options_mean_what_they_mean_to_pgbench() {
        use super::*;
        let line = "-c 16 -j 2 -t 5 -s 3 -S -N -b tpcb@4 -M prepared -R 1000 -L 2.5 -D a=1 -D b=x \
                    -P 2 -n -r --max-tries 7";
        let all = configurations(&line.split(' ').collect::<Vec<_>>());
        let first = &all[0];
        assert_eq!(all.len(), 1);
        assert_eq!((first.get(CONNECTIONS), first.get(THREADS), first.get(SCALE)), (16, 2, 3));
        // Of each connection there, of all together here.
        assert_eq!((first.get(TRANSACTIONS), first.get(DURATION)), (Some(80), None));
        assert_eq!(first.get(BUILTIN), ["tpcb@4", "select-only", "simple-update"]);
        assert_eq!((first.get(PROTOCOL), first.get(RATE)), (Protocol::Prepared, Some(1000.0)));
        assert_eq!((first.get(LATENCY_LIMIT), first.get(MAX_TRIES)), (Some(0.0025), 7));
        let variables: Vec<String> = first
            .below("workload.variables.")
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        assert_eq!(variables, ["a=1", "b=x"]);
        assert!((first.get(OBSERVE_INTERVAL) - 2.0).abs() < 1e-9);
        let plain = &configurations(&["-T", "30"])[0];
        assert_eq!((plain.get(DURATION), plain.get(PROTOCOL)), (Some(30.0), Protocol::Simple));
        assert_eq!((plain.get(CONNECTIONS), plain.get(BUILTIN)), (1, vec!["tpcb-like".to_owned()]));
    }

    #[test]
    fn settings_are_varied_by_short_names() {
        let labels = |line: &str| -> Vec<String> {
            let all = configurations(&line.split(' ').collect::<Vec<_>>());
            all.iter().map(experiment::Configuration::label).collect()
        };
        assert_eq!(labels("-T 1 --vary clients=1,4"), ["connections=1", "connections=4"]);
        let grid = labels("-T 1 --vary protocol=simple,prepared --vary work_mem=4MB,1GB");
        assert_eq!(grid[1], "protocol=simple work_mem=1GB");
        assert_eq!(labels("-T 1 --vary target.settings.fsync=on,off"), ["fsync=on", "fsync=off"]);
        assert_eq!(labels("--engine sqlite -T 1 --vary synchronous=off,full").len(), 2);
        let each = configurations(&["-t", "10", "--vary", "connections=1,4"]);
        let transactions: Vec<_> =
            each.iter().map(|configuration| configuration.get(super::TRANSACTIONS)).collect();
        assert_eq!(transactions, [Some(10), Some(40)]);
    }

    #[test]
    fn a_server_is_named_as_psql_names_it() {
        let url = |line: &str, variables| {
            let source = drafted(&line.split_whitespace().collect::<Vec<_>>(), variables)
                .map(|draft| draft.source())
                .map_err(|error| error.to_string())?;
            Ok::<_, String>(
                source.lines().find_map(|line| line.strip_prefix("url = ").map(str::to_owned)),
            )
        };
        assert_eq!(url("-T 1", false), Ok(None));
        assert_eq!(url("-T 1", true), Ok(Some("\"\"".into())));
        assert_eq!(url("--private", true), Ok(None));
        assert_eq!(
            url("-h /run/pg -p 5433 -U me mine", false),
            Ok(Some("\"host='/run/pg' port='5433' user='me' dbname='mine'\"".into()))
        );
        assert_eq!(url("-d postgres://h/d", false), Ok(Some("\"postgres://h/d\"".into())));
        assert_eq!(configurations(&["-U", "it's"])[0].get(URL), Some(r"user='it\'s'".to_owned()));
        url("-h x -d postgres://h/d", false).unwrap_err();
        url("-h x --engine sqlite", false).unwrap_err();
        assert_eq!(url("--engine sqlite", true), Ok(None));
    }
}
