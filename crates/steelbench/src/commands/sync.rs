//! `steelbench sync`: a quick command is an experiment too.

use crate::args::Sync;
use crate::commands::file_text::{FileText, list, quoted};
use crate::commands::parse_experiment;
use crate::commands::run::{Sitting, exit_code};
use crate::exit_code::{ExitCode, Failure};
use crate::{output, results};
use probes::sync::Primitive;

/// What errors call the file that was composed.
const COMPOSED: &str = "steelbench sync --print";

/// Measures how primitives scale, or prints the experiment that would.
pub fn sync(arguments: &Sync) -> Result<ExitCode, Failure> {
    let processors = observe::Topology::of_this_machine().whole().processors;
    let text = compose(arguments, processors);
    let experiment = parse_experiment(&text, COMPOSED)?;
    if arguments.print {
        output::print(&text)?;
        return Ok(ExitCode::Ok);
    }
    let sitting = Sitting {
        results: arguments.results.clone().unwrap_or_else(|| results::default_path(&arguments.name)),
        fresh: true,
        manual_done: false,
        overwrite: Vec::new(),
        destroy: Vec::new(),
        json: arguments.json,
    };
    let end = sitting.conduct(&experiment)?;
    let failed = sitting.show()?;
    Ok(exit_code(&end, failed, None))
}

/// The experiment file that a command line stands for.
fn compose(arguments: &Sync, processors: u32) -> String {
    let mut text = FileText::new(&["Written by `steelbench sync --print`."]);
    text.section("[experiment]");
    text.text("name", &arguments.name);
    text.text("question", "How do primitives of synchronisation scale with threads on this machine?");
    text.section("[target]");
    text.text("engine", "none");
    let threads = if arguments.threads.is_empty() { doubling(processors) } else { arguments.threads.clone() };
    let all: Vec<String> = Primitive::NAMES.iter().map(|name| (*name).to_owned()).collect();
    let primitives = if arguments.primitive.is_empty() { &all } else { &arguments.primitive };
    let mut factors: Vec<(&str, String)> = Vec::new();
    text.section("[workload]");
    text.text("probe", "sync");
    // Which primitives there are with which padding is one factor where the padding is varied.
    let linked = arguments.padding.len() > 1;
    let padding = arguments.padding.first().filter(|_| !linked);
    match primitives.as_slice() {
        _ if linked => {}
        [one] => text.text("primitive", one),
        _ => factors.push(("workload.primitive", texts(primitives))),
    }
    text.maybe("padding", padding.map(String::as_str));
    for (key, path, values) in [
        ("members", "workload.members", numbers(&arguments.members)),
        ("pinning", "workload.pinning", quoted_all(&arguments.pinning)),
        ("reads", "workload.reads", quoted_all(&arguments.reads)),
        ("threads", "workload.threads", numbers(&threads)),
    ] {
        match values.as_slice() {
            [] => {}
            [one] => text.set(key, one),
            _ => factors.push((path, list(values.iter()))),
        }
    }
    text.text("duration", arguments.duration.as_deref().unwrap_or("1 s"));
    text.text("warmup", arguments.warmup.as_deref().unwrap_or("200 ms"));
    if !factors.is_empty() {
        text.section("[factors]");
        for (path, levels) in factors {
            text.set(&quoted(path), levels);
        }
    }
    if linked {
        levels(&mut text, primitives, &arguments.padding);
    }
    text.section("[repeats]");
    text.set("blocks", arguments.blocks);
    text.set("seed", arguments.seed);
    text.finish()
}

/// Each primitive with each padding; once where there is nothing to pad.
fn levels(text: &mut FileText, primitives: &[String], paddings: &[String]) {
    for primitive in primitives {
        let pads = Primitive::from_name(primitive).is_some_and(Primitive::pads);
        for padding in paddings.iter().filter(|_| pads).map(String::as_str).chain((!pads).then_some("none")) {
            text.section("[[level]]");
            text.text("factor", "primitive");
            let name = if padding == "none" { primitive.clone() } else { format!("{primitive}/{padding}") };
            text.text("name", &name);
            let set = format!(
                "{{ \"workload.primitive\" = {}, \"workload.padding\" = {} }}",
                quoted(primitive),
                quoted(padding)
            );
            text.set("set", set);
        }
    }
}

/// 1, 2, 4, ... and at last the number itself.
fn doubling(most: u32) -> Vec<u32> {
    let mut numbers: Vec<u32> =
        std::iter::successors(Some(1_u32), |n| n.checked_mul(2)).take_while(|n| *n < most).collect();
    numbers.push(most.max(1));
    numbers
}

fn numbers(values: &[u32]) -> Vec<String> {
    values.iter().map(u32::to_string).collect()
}

fn quoted_all(values: &[String]) -> Vec<String> {
    values.iter().map(|value| quoted(value)).collect()
}

fn texts(values: &[String]) -> String {
    list(quoted_all(values).into_iter())
}

#[cfg(test)]
mod tests {
    use super::{COMPOSED, compose, doubling};
    use crate::args::{Arguments, Command};
    use crate::commands::parse_experiment;
    use clap::Parser;

    fn labels(arguments: &[&str], processors: u32) -> Vec<String> {
        let line = ["steelbench", "sync"].iter().chain(arguments);
        let Command::Sync(arguments) = Arguments::try_parse_from(line).unwrap().command else {
            unreachable!()
        };
        let text = compose(&arguments, processors);
        let experiment =
            parse_experiment(&text, COMPOSED).unwrap_or_else(|failure| panic!("{failure:?}\n{text}"));
        experiment.configurations.iter().map(experiment::Configuration::label).collect()
    }

    #[test]
    fn lists_are_a_grid() {
        let labels = labels(&["--primitive", "atomic,cas", "--threads", "1,2", "--members", "4"], 8);
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
        let labels =
            labels(&["--primitive", "mutex-map,atomic", "--padding", "none,line", "--threads", "3"], 8);
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
