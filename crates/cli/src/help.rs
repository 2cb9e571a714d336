//! Tests of the help: it fits a screen, and its examples are command lines that parse.

use crate::CONTEXT;
use clap::Command;

const LINES_MAX: usize = 50;
const PROGRAM_LINES_MAX: usize = 41;
const COLUMNS: usize = 80;

/// All commands and their own commands, each by its words.
fn commands() -> Vec<(String, Command)> {
    let mut program = CONTEXT.line().term_width(COLUMNS);
    program.build();
    let mut all = Vec::new();
    for command in program.get_subcommands().filter(|subcommand| subcommand.get_name() != "help") {
        all.push((command.get_name().to_owned(), command.clone()));
        let nested = command.get_subcommands().filter(|subcommand| subcommand.get_name() != "help");
        all.extend(nested.map(|subcommand| {
            let words = format!("{} {}", command.get_name(), subcommand.get_name());
            (words, subcommand.clone())
        }));
    }
    all
}

/// Words of a line for a shell, up to a pipe or a redirection.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_quoted = false;
    for c in line.chars() {
        match c {
            '\'' | '"' => is_quoted = !is_quoted,
            '|' | '>' if !is_quoted => break,
            ' ' if !is_quoted => words.push(String::new()),
            _ => words.last_mut().unwrap().push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[test]
fn help_fits_a_screen() {
    let program = CONTEXT.line().render_help().to_string();
    assert!(program.lines().count() <= PROGRAM_LINES_MAX, "{program}");
    for (name, mut command) in commands() {
        let help = command.render_help().to_string();
        // Where `-h` names a host, as in psql, `--help` prints all options.
        let has_short = !command.is_disable_help_flag_set();
        let lines = help.lines().count();
        assert!(!has_short || lines <= LINES_MAX, "{name}: {lines}\n{help}");
        // clap does not wrap the usage.
        let is_wide = |line: &&str| line.chars().count() > COLUMNS && !line.starts_with("Usage:");
        let wide = help.lines().find(is_wide);
        assert_eq!(wide, None, "{name}");
    }
}

#[test]
fn every_command_has_two_examples_that_parse() {
    for (name, command) in commands() {
        let help = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
        let examples: Vec<&str> = help.lines().skip(1).map(str::trim).collect();
        assert_eq!(examples.len(), 2, "{name}: {help}");
        for example in examples {
            let command_line =
                example.find("steelbench ").unwrap_or_else(|| panic!("{name}: {example}"));
            let read = CONTEXT.line().try_get_matches_from(words(&example[command_line..]));
            assert!(read.is_ok(), "{example}: {}", read.unwrap_err());
        }
    }
}
