//! `steelbench sync`: a quick command is an experiment too.

use crate::primitives::{Padding, Pinning, Primitive, Topology};
use crate::probe::{DURATION, MEMBERS, PADDING, PINNING, PRIMITIVE, READS, THREADS, WARMUP};
use clap::Parser;
use command_line::arguments::{Quick, doubling, setting};
use command_line::session::Session;
use command_line::{Chapter, Command, Context, ExitCode, Failure, Tool};
use engine::Permits;
use experiment::common::{ENGINE, PROBE};
use experiment::{Draft, LinkedSettings};

/// The command of this study.
pub const COMMAND: Command = Command::new::<Sync>(Chapter::QuickTests);

/// Prints the experiment that is run.
const PRINTED: &str = "steelbench sync --print";

/// Measure how locks and counters scale with threads
#[derive(Debug, Parser)]
#[command(name = "sync")]
pub struct Sync {
    /// Protection of the counters: mutex-map, rwlock-map, concurrent-map, mutex-array, spin-tas,
    /// spin-ttas, spin-ticket, spin-mcs, racy, atomic-shared, atomic, cas, per-core, per-thread
    /// [default: all]
    #[arg(long, value_name = "LIST", value_parser = setting(PRIMITIVE), value_delimiter = ',')]
    pub primitive: Vec<Primitive>,
    /// Number of threads [default: 1, 2, 4, ... up to the number of CPUs]
    #[arg(long, value_name = "LIST", value_parser = setting(THREADS), value_delimiter = ',')]
    pub threads: Vec<u32>,
    /// Number of counters [default: 8]
    #[arg(long, value_name = "LIST", value_parser = setting(MEMBERS), value_delimiter = ',')]
    pub members: Vec<u32>,
    /// Distance between counters, for primitives that support it: none, line, two-lines [default:
    /// none]
    #[arg(long, value_name = "LIST", value_parser = setting(PADDING), value_delimiter = ',')]
    pub padding: Vec<Padding>,
    /// Placement of threads: none, same-core, smt-sibling, other-core, other-socket [default: none]
    #[arg(long, value_name = "LIST", value_parser = setting(PINNING), value_delimiter = ',')]
    pub pinning: Vec<Pinning>,
    /// Share of operations that read, as in 90% [default: 0%]
    #[arg(long, value_name = "LIST", value_parser = setting(READS), value_delimiter = ',')]
    pub reads: Vec<f64>,
    /// Length of the measurement of each trial [default: 1 s]
    #[arg(long, value_name = "TIME", value_parser = setting(DURATION))]
    pub duration: Option<f64>,
    /// The load runs for this long before the measurement [default: 200 ms]
    #[arg(long, value_name = "TIME", value_parser = setting(WARMUP))]
    pub warmup: Option<f64>,
    #[command(flatten)]
    pub quick: Quick,
}

impl Tool for Sync {
    const EXAMPLES: [&'static str; 2] =
        ["steelbench sync", "steelbench sync --threads 1,2,4,8 --primitive atomic,mutex-array"];

    fn run(&self, context: &Context) -> Result<ExitCode, Failure> {
        let draft = draft(self, Topology::of_this_machine().whole().processors);
        let session = Session::quick(&self.quick, self.quick.name("sync"), Permits::default());
        session.run(context, &draft, PRINTED, self.quick.print)
    }
}

/// The experiment that a command line stands for.
fn draft(arguments: &Sync, processors: u32) -> Draft {
    let question = "How do synchronization primitives scale with threads on this machine?";
    let mut draft = Draft::new(arguments.quick.name("sync"), question);
    draft.comment(&format!("Written by `{PRINTED}`."));
    draft.set(ENGINE, "none");
    draft.set(PROBE, "sync");
    let primitives = if arguments.primitive.is_empty() {
        Primitive::ALL
    } else {
        arguments.primitive.as_slice()
    };
    let threads =
        if arguments.threads.is_empty() { &doubling(processors) } else { &arguments.threads };
    if arguments.padding.len() > 1 {
        vary_with_padding(&mut draft, primitives, &arguments.padding);
    } else {
        draft.vary(PRIMITIVE, primitives);
        draft.vary(PADDING, &arguments.padding);
    }
    draft.vary(MEMBERS, &arguments.members);
    draft.vary(PINNING, &arguments.pinning);
    draft.vary(READS, &arguments.reads);
    draft.vary(THREADS, threads);
    draft.set(DURATION, arguments.duration.unwrap_or(1.0));
    draft.set(WARMUP, arguments.warmup.unwrap_or(0.2));
    draft.repeats(arguments.quick.blocks.unwrap_or(3), arguments.quick.seed.unwrap_or(1));
    draft
}

/// A factor: each primitive with each padding; once where there is nothing to pad.
fn vary_with_padding(draft: &mut Draft, primitives: &[Primitive], paddings: &[Padding]) {
    for primitive in primitives.iter().copied() {
        let paddings = if primitive.pads() { paddings } else { &[Padding::None] };
        for padding in paddings.iter().copied() {
            let settings =
                LinkedSettings::default().with(PRIMITIVE, primitive).with(PADDING, padding);
            let name = match padding {
                Padding::None => primitive.name().to_owned(),
                _ => format!("{}/{}", primitive.name(), padding.name()),
            };
            draft.level("primitive", &name, settings);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Sync, doubling, draft};
    use crate::SyncProbe;
    use clap::Parser;
    use experiment::Catalog;
    use null::NONE;
    use probe::Probe as _;

    fn labels(arguments: &[&str], processors: u32) -> Vec<String> {
        let arguments = Sync::try_parse_from(["sync"].iter().chain(arguments)).unwrap();
        let draft = draft(&arguments, processors);
        let catalog = Catalog {
            engines: vec![(NONE.name, NONE.settings)],
            probes: vec![(SyncProbe.declarations().name, SyncProbe.declarations().settings)],
            ..Catalog::default()
        };
        let experiment = draft.build(&catalog);
        let experiment = experiment.unwrap_or_else(|error| panic!("{error}\n{}", draft.source()));
        experiment.configurations.iter().map(experiment::Configuration::label).collect()
    }

    #[test]
    fn lists_are_a_grid() {
        let labels =
            labels(&["--primitive", "atomic,cas", "--threads", "1,2", "--members", "4"], 8);
        let expected = [
            "primitive=atomic threads=1",
            "primitive=atomic threads=2",
            "primitive=cas threads=1",
            "primitive=cas threads=2",
        ];
        assert_eq!(labels, expected);
    }

    #[test]
    fn padding_is_varied_only_where_there_is_something_to_pad() {
        let labels = labels(
            &["--primitive", "mutex-map,atomic", "--padding", "none,line", "--threads", "3"],
            8,
        );
        assert_eq!(labels, ["primitive=mutex-map", "primitive=atomic", "primitive=atomic/line"]);
    }

    #[test]
    fn without_options_everything_is_measured_up_to_all_processors() {
        assert_eq!(labels(&[], 6).len(), 14 * 4);
        assert_eq!(doubling(6), [1, 2, 4, 6]);
        assert_eq!(doubling(8), [1, 2, 4, 8]);
        assert_eq!((doubling(1), doubling(0)), (vec![1], vec![1]));
    }
}
