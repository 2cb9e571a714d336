//! `steelbench completions`: what a shell offers for the next word.

use crate::show::Show;
use clap::Parser;
use clap::builder::PossibleValuesParser;
use clap_complete::Shell;
use command_line::{Context, ExitCode, Failure, Tool, output, results};
use std::collections::BTreeSet;
use std::path::Path;
use store::Store;

/// Print completions for a shell
///
/// Engines, probes and ready experiments are completed; in bash, zsh and fish also the names of
/// experiments with results in results/ and the levels of their latest runs.
#[derive(Debug, Parser)]
#[command(name = "completions")]
pub struct Completions {
    /// The shell
    #[arg(required_unless_present = "words")]
    shell: Option<Shell>,
    /// Print the names of experiments, or the levels of one of them, for a script of a shell
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "", hide = true)]
    words: Option<String>,
}

impl Tool for Completions {
    const EXAMPLES: [&'static str; 2] =
        ["steelbench completions bash", "steelbench completions zsh > _steelbench"];

    fn run(&self, context: &Context) -> Result<ExitCode, Failure> {
        let Some(shell) = self.shell else {
            let words = match self.words.as_deref().unwrap_or_default() {
                "" => experiments(),
                name => levels(context, name).unwrap_or_default(),
            };
            let mut lines = String::new();
            for word in words {
                lines.extend([word.as_str(), "\n"]);
            }
            return output::print_as_it_is(&lines);
        };
        let (mut line, mut text) = (with_names(context), Vec::new());
        clap_complete::generate(shell, &mut line, context.name, &mut text);
        let text = String::from_utf8_lossy(&text).into_owned();
        output::print_as_it_is(&match shell {
            Shell::Bash => text + &bash(context),
            Shell::Zsh => zsh(context, &text),
            Shell::Fish => text + &fish(context),
            _ => text,
        })
    }
}

/// The command line with the names of engines, probes and ready experiments as the values of their
/// options.
fn with_names(context: &Context) -> clap::Command {
    let catalog = context.registry.catalog();
    let engines: Vec<&'static str> = catalog.engines.iter().map(|(name, _)| *name).collect();
    let probes: Vec<&'static str> = catalog.probes.iter().map(|(name, _)| *name).collect();
    let experiments: Vec<&'static str> = context.ready.iter().map(|ready| ready.name).collect();
    context.line().mut_subcommands(|command| {
        command.mut_args(|argument| {
            let names = match argument.get_id().as_str() {
                "engine" => &engines,
                "probe" => &probes,
                "like" => &experiments,
                _ => return argument,
            };
            argument.value_parser(PossibleValuesParser::new(names.iter().copied()))
        })
    })
}

/// The names of experiments that have results.
fn experiments() -> BTreeSet<String> {
    let entries = std::fs::read_dir(results::FOLDER).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        name.strip_suffix(".steelbench").map(str::to_owned)
    });
    names.collect()
}

/// The levels of the latest run of an experiment, as `compare` takes them.
fn levels(context: &Context, name: &str) -> Option<BTreeSet<String>> {
    let path = results::path(None, name);
    let path = if path.exists() { path.as_path() } else { Path::new(name) };
    let store = results::open_file(context, path).ok()?;
    let recording = results::read_run(&store, None, Store::read_figures).ok()?;
    let levels = recording.configurations.iter().flat_map(|configuration| &configuration.levels);
    let levels = levels.map(|level| {
        let short = level.factor.rsplit('.').next().unwrap_or_default();
        format!("{short}={}", level.level)
    });
    Some(levels.collect())
}

/// The commands that take the names of experiments, or their results files.
fn commands_with_names(context: &Context) -> Vec<String> {
    let line = context.line();
    let with_names = line.get_subcommands().filter(|command| {
        command.get_positionals().any(|positional| {
            let names = positional.get_value_names().unwrap_or_default();
            positional.get_possible_values().is_empty()
                && names.iter().any(|name| ["NAME", "NAMES", "A B"].contains(&name.as_str()))
        })
    });
    with_names.map(|name| name.get_name().to_owned()).collect()
}

/// Extends bash's completion: words that depend on the results. A word ends at `=` there.
fn bash(context: &Context) -> String {
    let name = context.name;
    format!(
        r#"
_{name}_with_words() {{
    _{name} "$@"
    local word="${{COMP_LINE:0:COMP_POINT}}"
    word="${{word##* }}"
    case "${{COMP_WORDS[1]}}" in
        show) [ "$COMP_CWORD" -eq 2 ] || return ;;
        {commands}) ;;
        *) return ;;
    esac
    case "$word" in
        -*) return ;;
    esac
    local words before="${{word%"${{word##*=}}"}}"
    words="$({name} completions --words 2>/dev/null)"
    if [ "${{COMP_WORDS[1]}}" = compare ] && [ -n "${{COMP_WORDS[2]}}" ]; then
        words="$words $({name} completions --words "${{COMP_WORDS[2]}}" 2>/dev/null)"
    fi
    COMPREPLY=($(compgen -W "$words" -- "$word"))
    COMPREPLY=("${{COMPREPLY[@]#"$before"}}")
}}
complete -F _{name}_with_words -o bashdefault -o default {name}
"#,
        commands = commands_with_names(context).join("|")
    )
}

/// Extends zsh's completion: its function becomes the one that a new function calls.
fn zsh(context: &Context, generated: &str) -> String {
    let name = context.name;
    let (begin, end) = (format!("#compdef {name}\n"), "\nif [ \"$funcstack[1]\"");
    let rest = generated.strip_prefix(&begin).unwrap_or(generated);
    let function = rest.rfind(end).map_or(rest, |at| &rest[..at]);
    let body = function.replacen(&format!("\n_{name}() {{"), &format!("\n_{name}_words() {{"), 1);
    format!(
        r#"#compdef {name}
{body}
_{name}() {{
    if [[ "${{words[2]}}" == ({commands}) && CURRENT -gt 2 && "${{words[CURRENT]}}" != -* ]] &&
        [[ "${{words[2]}}" != show || CURRENT -eq 3 ]]; then
        local -a offered
        offered=(${{(f)"$({name} completions --words 2>/dev/null)"}})
        if [[ "${{words[2]}}" == compare && CURRENT -gt 3 ]]; then
            offered+=(${{(f)"$({name} completions --words "${{words[3]}}" 2>/dev/null)"}})
        fi
        compadd -a offered && return
        _files
        return
    fi
    _{name}_words "$@"
}}

if [ "$funcstack[1]" = "_{name}" ]; then
    _{name} "$@"
else
    compdef _{name} {name}
fi
"#,
        commands = commands_with_names(context).join("|")
    )
}

/// Extends fish's completion: results files keep being offered. Its generator offers no values of
/// arguments without a name.
fn fish(context: &Context) -> String {
    let name = context.name;
    format!(
        r#"
complete -c {name} -n "__fish_seen_subcommand_from {commands}" \
    -a "({name} completions --words 2>/dev/null)"
complete -c {name} -n "__fish_seen_subcommand_from compare" \
    -a "({name} completions --words (commandline -opc)[3] 2>/dev/null)"
complete -c {name} -a "{sections}" \
    -n "__fish_seen_subcommand_from show; and test (count (commandline -opc)) -gt 2"
"#,
        commands = commands_with_names(context).join(" "),
        sections = Show::sections().join(" ")
    )
}
