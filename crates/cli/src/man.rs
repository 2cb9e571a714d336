//! `steelbench man`: the manual pages, from the declarations of commands and settings.

use clap::Parser;
use clap_mangen::Man as CommandPage;
use clap_mangen::roff::{Roff, bold, italic, roman};
use command_line::{Context, ExitCode, Failure, Tool};
use serde_json::Value;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The page of the experiment file.
const EXPERIMENT_PAGE: &str = "steelbench-experiment.5";

/// Bytes of a line of source at most.
const LINE_BYTES_MAX: usize = 80;

/// Write the manual pages of all commands and of the experiment file
///
/// The pages are steelbench.1, steelbench-COMMAND.1 and steelbench-experiment.5. Their date is
/// today, or that of the environment variable `SOURCE_DATE_EPOCH`.
#[derive(Debug, Parser)]
// The help has room for 40 lines; those who package the program find it in the docs.
#[command(name = "man", hide = true)]
pub struct Man {
    /// Folder for the pages; created if it does not exist
    folder: PathBuf,
}

impl Tool for Man {
    const EXAMPLES: [&'static str; 2] =
        ["steelbench man ~/.local/share/man/man1", "steelbench man pages"];

    fn run(&self, context: &Context) -> Result<ExitCode, Failure> {
        let origin = Origin::from_context(context);
        self.write(context, &origin).map_err(|error| {
            Failure::failed(format!("cannot write pages to {}: {error}", self.folder.display()))
        })?;
        Ok(ExitCode::Ok)
    }
}

impl Man {
    fn write(&self, context: &Context, origin: &Origin) -> io::Result<()> {
        std::fs::create_dir_all(&self.folder)?;
        let mut line = context.line().disable_help_subcommand(true);
        line.build();
        write_commands(&line, &self.folder, origin)?;
        let schema = experiment::schema(&context.registry.catalog());
        std::fs::write(self.folder.join(EXPERIMENT_PAGE), experiment_page(&schema, origin))
    }
}

/// The date and the version in the pages' footers.
struct Origin {
    date: String,
    source: String,
}

impl Origin {
    fn from_context(context: &Context) -> Self {
        let epoch = std::env::var("SOURCE_DATE_EPOCH").ok();
        let epoch = epoch.and_then(|text| text.parse::<u32>().ok()).map(u64::from);
        let now =
            || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_secs());
        let time = report::utc(epoch.unwrap_or_else(now) as i64 * 1000);
        Self {
            date: time.split_whitespace().next().unwrap_or_default().to_owned(),
            source: format!("{} {}", context.name, env!("CARGO_PKG_VERSION")),
        }
    }
}

/// Writes the page of a command and those of its commands.
fn write_commands(command: &clap::Command, folder: &Path, origin: &Origin) -> io::Result<()> {
    let subcommands = command
        .get_subcommands()
        .filter(|subcommand| !subcommand.is_hide_set() && subcommand.get_name() != "help");
    for below in subcommands {
        write_commands(below, folder, origin)?;
    }
    let page = CommandPage::new(command.clone());
    let name = page.get_filename();
    let title = name.trim_end_matches(".1").to_uppercase();
    let page =
        page.title(title).date(&origin.date).source(&origin.source).manual("Steelbench Manual");
    let mut text = Vec::new();
    page.render(&mut text)?;
    let text = plain_source(&String::from_utf8_lossy(&text));
    std::fs::write(folder.join(name), text)
}

/// Rewrites source so that mandoc accepts its style: short lines, no blank ones, no break at a
/// vertical space.
fn plain_source(source: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in source.lines().map(str::trim_end) {
        let last = lines.last().map_or("", String::as_str);
        match line {
            "" | ".sp" if last == ".sp" => {}
            ".br" if [".sp", ".br"].contains(&last) => {}
            "" | ".sp" => {
                lines.pop_if(|last| last == ".br");
                lines.push(".sp".into());
            }
            request if request.starts_with(['.', '\'']) => lines.push(request.into()),
            text => lines.extend(filled(text)),
        }
    }
    lines.join("\n") + "\n"
}

/// Breaks a line of text at spaces. A word that would begin a line as a request stays where it is.
fn filled(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let Some(line) = lines.last_mut() else { continue };
        let is_request = word.is_empty() || word.starts_with(['.', '\'']);
        if line.trim().is_empty() || is_request || line.len() + word.len() < LINE_BYTES_MAX {
            let space = if line.is_empty() && !word.is_empty() { "" } else { " " };
            line.extend([space, word]);
        } else {
            lines.push(word.into());
        }
    }
    lines
}

/// The page of the experiment file, from its schema.
fn experiment_page(schema: &Value, origin: &Origin) -> String {
    let mut page = Roff::new();
    let (date, source) = (origin.date.as_str(), origin.source.as_str());
    page.control("TH", ["STEELBENCH-EXPERIMENT", "5", date, source, "Steelbench Manual"]);
    page.control("SH", ["NAME"]);
    page.text([roman("steelbench-experiment - file of a Steelbench experiment")]);
    page.control("SH", ["DESCRIPTION"]);
    page.text([
        roman("An experiment is a TOML file. "),
        bold("steelbench init"),
        roman(" writes a commented one, "),
        bold("steelbench check"),
        roman(" validates it and "),
        bold("steelbench run"),
        roman(" runs it. Any setting of target, workload or observe can be a factor."),
    ]);
    for (name, section) in objects(&schema["properties"]) {
        let is_list = section["type"] == "array";
        let heading = if is_list { format!("[[{name}]]") } else { format!("[{name}]") };
        page.control("SH", [heading.as_str()]);
        page.text([roman(description(section))]);
        // The keys of factors are the paths of the other settings.
        if name != "factors" {
            settings(&mut page, if is_list { "" } else { name }, properties(section));
        }
    }
    page.control("SH", ["SEE ALSO"]);
    page.text([bold("steelbench"), roman("(1), "), bold("steelbench-check"), roman("(1)")]);
    plain_source(&page.to_roff())
}

/// Lists settings by their dotted paths, those of nested tables too.
fn settings(page: &mut Roff, prefix: &str, table: &Value) {
    for (name, setting) in objects(table) {
        let path = if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") };
        forms(page, &path, setting);
    }
}

/// Lists a setting, or each of its forms.
fn forms(page: &mut Roff, path: &str, setting: &Value) {
    let below = &setting["additionalProperties"];
    if let Some(forms_of_it) = setting["anyOf"].as_array() {
        for form in forms_of_it {
            forms(page, path, form);
        }
    } else if objects(properties(setting)).next().is_some() {
        settings(page, path, properties(setting));
    } else if below.is_object() {
        forms(page, &format!("{path}.NAME"), below);
    } else {
        entry(page, path, setting);
    }
}

fn entry(page: &mut Roff, path: &str, setting: &Value) {
    let word = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let list = |key: &str| {
        let words: Vec<String> = setting[key].as_array().into_iter().flatten().map(word).collect();
        Some(words.join(", ")).filter(|text| !text.is_empty())
    };
    let mut remarks: Vec<String> = Vec::new();
    remarks.extend(list("x-used-by").map(|names| format!("Used by: {names}.")));
    remarks.extend(list("enum").map(|words| format!("Values: {words}.")));
    remarks.extend(setting.get("default").map(|value| format!("Default: {}.", word(value))));
    page.control("TP", []);
    page.text([bold(path)]);
    page.text([
        roman(format!("{} ", description(setting)).trim_start()),
        italic(remarks.join(" ")),
    ]);
}

/// The keys of a table, or of the tables of a list.
fn properties(setting: &Value) -> &Value {
    let items = &setting["items"]["properties"];
    if items.is_object() { items } else { &setting["properties"] }
}

fn objects(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    value.as_object().into_iter().flatten().map(|(name, member)| (name.as_str(), member))
}

fn description(setting: &Value) -> &str {
    setting["description"].as_str().unwrap_or_default()
}
