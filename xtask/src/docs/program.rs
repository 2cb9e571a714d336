//! The built program, its commands and their help.

use crate::process::{cargo, output, succeed, target, write};
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

/// The built program.
pub struct Program {
    path: PathBuf,
}

/// An experiment that was run.
pub struct Shown {
    /// The screen, as wide as README.
    pub screen: String,
    /// The page, in a folder that is removed with this.
    pub page: PathBuf,
    _folder: TempDir,
}

/// README has 100 columns, of which 4 indent the output.
const COLUMNS: &str = "96";

/// A command or a command of a command, with its help.
pub struct CommandHelp {
    /// `queries`, `try`.
    pub words: Vec<String>,
    pub help: String,
}

impl Program {
    /// Builds the program with everything, as the tests do: their build need not be repeated.
    pub fn build() -> Result<Self, String> {
        succeed(&mut cargo(&["test", "--quiet", "--workspace", "--all-features", "--no-run"]))?;
        Ok(Self { path: target().join("debug/steelbench") })
    }

    /// Builds the program as users do: its measurements may be published.
    pub fn build_optimised() -> Result<Self, String> {
        succeed(&mut cargo(&["build", "--quiet", "--release", "--package", "steelbench"]))?;
        Ok(Self { path: target().join("release/steelbench") })
    }

    pub fn command(&self) -> Command {
        Command::new(&self.path)
    }

    /// Runs the experiment with this name and source, and shows it.
    pub fn show(&self, name: &str, source: &str) -> Result<Shown, String> {
        let folder = tempfile::tempdir().map_err(|error| format!("a folder: {error}"))?;
        let file = folder.path().join(format!("{name}.toml"));
        write(&file, source)?;
        let run = |arguments: [&OsStr; 2]| {
            let mut command = self.command();
            command.args(arguments).env("COLUMNS", COLUMNS).current_dir(folder.path());
            output(&mut command)
        };
        run(["run".as_ref(), file.as_ref()])?;
        let screen = run(["show".as_ref(), name.as_ref()])?;
        let page = folder.path().join(format!("results/{name}.html"));
        Ok(Shown { screen, page, _folder: folder })
    }

    /// The schema of experiment files.
    pub fn schema(&self) -> Result<serde_json::Value, String> {
        self.json(&["schema"])
    }

    /// The tables of wait types of all engines.
    pub fn wait_types(&self) -> Result<serde_json::Value, String> {
        self.json(&["schema", "--wait-types"])
    }

    /// The ready experiments with their questions, engines, sizes and prerequisites.
    pub fn experiments(&self) -> Result<serde_json::Value, String> {
        self.json(&["schema", "--experiments"])
    }

    fn json(&self, arguments: &[&str]) -> Result<serde_json::Value, String> {
        let text = output(self.command().args(arguments))?;
        serde_json::from_str(&text)
            .map_err(|error| format!("`steelbench schema` printed something else: {error}"))
    }

    /// All commands, each before its own commands.
    pub fn commands(&self) -> Result<Vec<CommandHelp>, String> {
        let mut waiting = vec![CommandHelp { words: Vec::new(), help: self.help(&[])? }];
        let mut commands = Vec::new();
        while let Some(command) = waiting.pop() {
            for name in names(&command.help).into_iter().rev() {
                let words = [&command.words[..], &[name]].concat();
                // A line of help that looks like a command has the usage of its parent.
                let usage = format!("Usage: steelbench {}", words.join(" "));
                match self.help(&words) {
                    Ok(help) if help.contains(&usage) => waiting.push(CommandHelp { words, help }),
                    _ => {}
                }
            }
            commands.push(command);
        }
        Ok(commands)
    }

    /// A command whose `-h` names a host may have no `--help`; `help` describes it.
    fn help(&self, words: &[String]) -> Result<String, String> {
        let mut option = self.command();
        let mut command = self.command();
        output(option.args(words).arg("--help").env("COLUMNS", "100"))
            .or_else(|_| output(command.arg("help").args(words).env("COLUMNS", "100")))
    }
}

impl CommandHelp {
    /// Returns whether its help names the option.
    pub fn has_option(&self, option: &str) -> bool {
        self.options().any(|known| known == option)
    }

    fn options(&self) -> impl Iterator<Item = &str> {
        let words = self.help.split(|c: char| c.is_whitespace() || matches!(c, ',' | '[' | '<'));
        words
            .map(|word| word.trim_matches(|c: char| c != '-' && !c.is_alphanumeric()))
            .filter(|word| word.starts_with('-') && word.contains(|c: char| c.is_alphabetic()))
    }
}

/// Names that begin indented lines of help, as clap lists commands.
fn names(help: &str) -> Vec<String> {
    let lines = help.lines().filter_map(|line| line.strip_prefix("  "));
    let names = lines.filter_map(|line| {
        let (name, rest) = line.split_at(line.find(' ').unwrap_or(line.len()));
        let is_name = name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.chars().all(|c| c.is_ascii_lowercase() || c == '-');
        (is_name && name != "help" && (rest.is_empty() || rest.starts_with("  "))).then_some(name)
    });
    names.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::{CommandHelp, names};

    const HELP: &str = "Usage: steelbench x\n\nCommands:\n  run       Runs\n            it\n  \
                        queries\n          Shows\n  help      Helps\n\nOptions:\n  -o, --out \
                        <FILE>  [aliases: --output]\n  steelbench run x.toml\n";

    #[test]
    fn names_begin_indented_lines() {
        assert_eq!(names(HELP), ["run", "queries"]);
    }

    #[test]
    fn options_and_aliases_are_known() {
        let command = CommandHelp { words: Vec::new(), help: HELP.into() };
        let known: Vec<bool> =
            ["-o", "--out", "--output", "--in"].map(|text| command.has_option(text)).into();
        assert_eq!(known, [true, true, true, false]);
    }
}
