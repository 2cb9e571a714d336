//! Reference pages with the program's own texts.

use super::program::Program;
use super::rooms;
use crate::markdown::{GENERATED, Page};
use serde_json::Value;
use std::fmt::Write as _;

const WIDTH_MAX: usize = 100;

/// The generated pages.
pub fn pages(program: &Program) -> Result<[Page; 5], String> {
    let page = |name, text| Page { name: format!("{GENERATED}{name}"), text };
    Ok([
        page("commands.md", commands(program)?),
        page("experiment-file.md", settings(program)?),
        page("experiments.md", experiments(&program.experiments()?)),
        page("wait-types.md", wait_types(&program.wait_types()?)),
        rooms::page()?,
    ])
}

fn commands(program: &Program) -> Result<String, String> {
    let mut text = String::from(
        "# Help of all commands\n\nThe output of `--help` of each command, written by `cargo xtask \
         docs`.\n",
    );
    for command in program.commands()? {
        let name = [vec!["steelbench".to_owned()], command.words].concat().join(" ");
        let _ = write!(text, "\n## {name}\n\n```text\n{}\n```\n", command.help.trim_end());
    }
    Ok(text)
}

fn settings(program: &Program) -> Result<String, String> {
    let mut text = String::from(
        "# All settings\n\nEvery setting of an experiment file, from `steelbench schema`; written \
         by `cargo xtask docs`.\n`of` names the engines or probes that have a setting; some have \
         different meanings or\ndefaults.\n`steelbench init --engine NAME --probe NAME` writes \
         a file with those of one engine and one probe.\n",
    );
    let schema = program.schema()?;
    for (name, section) in objects(&schema["properties"]) {
        // Its keys are the paths of the other settings.
        let properties = if name == "factors" { &Value::Null } else { properties(section) };
        let is_list = section["type"] == "array";
        let heading = if is_list { format!("[[{name}]]") } else { format!("[{name}]") };
        let _ = write!(text, "\n## `{heading}`\n\n{}\n", wrapped("", &description(section)));
        if objects(properties).next().is_some() {
            text.push('\n');
        }
        list(&mut text, if is_list { "" } else { name }, properties);
    }
    Ok(text)
}

/// A table for each folder; the program lists the experiments by folder.
fn experiments(experiments: &Value) -> String {
    let mut text = String::from(
        "# Ready experiments\n\nThe files of `experiments/` by study, from `steelbench schema \
         --experiments`; written by `cargo xtask\ndocs`. `steelbench init --like NAME` copies one \
         with its scripts into the current folder.\n\n- trials: with adaptive repeats, a race or \
         a search, at most that many.\n- measured: the time of all measurements and warm-ups, \
         where the file fixes it. Preparation comes on\n  top; `steelbench check` knows more \
         after a first run.\n- needs: rights and other processes, as `steelbench check` derives \
         them from the file.\n",
    );
    let mut last_folder = None;
    for experiment in experiments.as_array().into_iter().flatten() {
        let [folder, name, question] =
            ["folder", "name", "question"].map(|key| string(&experiment[key]));
        if last_folder.replace(folder) != Some(folder) {
            let _ = write!(
                text,
                "\n## {}\n\n| file | question | engine | trials | measured | needs |\n\
                 |---|---|---|---|---|---|\n",
                if folder.is_empty() { "The main job" } else { folder }
            );
        }
        let [engines, needs] = ["engines", "needs"].map(|key| {
            let items = experiment[key].as_array().into_iter().flatten().map(string);
            items.collect::<Vec<_>>().join(", ")
        });
        let trials = experiment["trials_max"].as_u64().map_or_else(String::new, |n| n.to_string());
        let measured = experiment["measured_s_min"].as_f64();
        let measured = measured.map_or_else(String::new, |seconds| format!("{seconds:.0} s"));
        let cells = [&format!("`{name}`"), question, &engines, &trials, &measured, &needs];
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

fn wait_types(tables: &Value) -> String {
    let mut text = String::from(
        "# Wait types of the engines\n\nThe tables by which Steelbench classifies waits, from\n\
         `steelbench schema --wait-types`; written by `cargo xtask docs`.\n[Wait types]\
         (../wait-types.md) explains the columns.\n",
    );
    for table in tables.as_array().into_iter().flatten() {
        let entries: Vec<&Value> = table["wait_types"].as_array().into_iter().flatten().collect();
        let has_groups = entries.iter().any(|entry| entry["benign_group"].is_object());
        let (group, rule) = if has_groups { (" benign group |", "---|") } else { ("", "") };
        let _ = write!(
            text,
            "\n## {}\n\n| wait type | class | the session was ... |{group}\n|---|---|---|{rule}\n",
            string(&table["engine"])
        );
        for entry in entries {
            let [name, class, meaning] =
                ["name", "class", "meaning"].map(|key| string(&entry[key]));
            let _ = write!(text, "| `{name}` | {class} | {meaning} |");
            let group = &entry["benign_group"];
            if let Some(name) = group["name"].as_str() {
                let is_filtered = group["filtered"] == true;
                let name = if is_filtered { name.to_owned() } else { format!("({name})") };
                let _ = write!(text, " {name} |");
            } else if has_groups {
                text.push_str(" |");
            }
            text.push('\n');
        }
    }
    text
}

fn string(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Lists settings with their dotted paths, those of nested tables too.
fn list(text: &mut String, prefix: &str, settings: &Value) {
    for (name, setting) in objects(settings) {
        let path = if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") };
        let nested = properties(setting);
        if objects(nested).next().is_some() {
            list(text, &path, nested);
            continue;
        }
        let below = &setting["additionalProperties"];
        if objects(&below["properties"]).next().is_some() {
            list(text, &format!("{path}.NAME"), &below["properties"]);
            continue;
        }
        let (path, setting) =
            if below.is_object() { (format!("{path}.NAME"), below) } else { (path, setting) };
        for form in setting["anyOf"].as_array().map_or(vec![setting], |all| all.iter().collect()) {
            // One form of a setting may be a table.
            let nested = properties(form);
            if objects(nested).next().is_some() {
                list(text, &path, nested);
                continue;
            }
            let entry =
                format!("- `{path}`{}{}: {}", owners(form), values(form), description(form));
            text.push_str(&wrapped("  ", &entry));
            text.push('\n');
        }
    }
}

/// The engines or probes that have the setting.
fn owners(setting: &Value) -> String {
    let names = setting["x-used-by"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    if names.is_empty() { String::new() } else { format!(" of {}", names.join(", ")) }
}

/// Permitted values and the default, in parentheses.
fn values(setting: &Value) -> String {
    let quoted = |value: &Value| match value {
        Value::String(text) => format!("`{text}`"),
        other => format!("`{other}`"),
    };
    let permitted = setting["enum"].as_array().into_iter().flatten().map(quoted);
    let mut parts: Vec<String> = permitted.collect();
    if let Some(default) = setting.get("default") {
        parts.push(format!("default {}", quoted(default)));
    }
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}

fn description(setting: &Value) -> String {
    let text = setting["description"].as_str().unwrap_or_default();
    // In running text these would be markup.
    text.replace('*', "\\*").replace('<', "\\<")
}

/// The keys of a table, or of the tables of a list.
fn properties(setting: &Value) -> &Value {
    let items = &setting["items"]["properties"];
    if items.is_object() { items } else { &setting["properties"] }
}

fn objects(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    value.as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), value))
}

/// The text in lines of at most 100 columns, the second and later ones indented.
pub fn wrapped(indent: &str, text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let width = lines.last().map_or(0, |line| line.chars().count());
        if width > indent.len() && width + 1 + word.chars().count() > WIDTH_MAX {
            lines.push(indent.to_owned());
        }
        if let Some(line) = lines.last_mut() {
            if !line.trim().is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::{experiments, list, wait_types, wrapped};
    use serde_json::json;

    #[test]
    fn settings_have_paths_values_and_defaults() {
        let settings = json!({
            "engine": {"description": "The engine.", "enum": ["a", "b"], "default": "a"},
            "files": {"description": "Files.", "x-used-by": ["a", "b"], "default": "1"},
            "setup": {"properties": {"sql": {"description": "SQL *file*."}}},
            "cache": {"anyOf": [
                {"description": "One."},
                {"properties": {"size": {"description": "Two."}}},
            ]},
            "settings": {"additionalProperties": {"description": "Any."}},
        });
        let mut text = String::new();
        list(&mut text, "target", &settings);
        let expected = [
            "- `target.cache`: One.",
            "- `target.cache.size`: Two.",
            "- `target.engine` (`a`, `b`, default `a`): The engine.",
            "- `target.files` of `a`, `b` (default `1`): Files.",
            "- `target.settings.NAME`: Any.",
            "- `target.setup.sql`: SQL \\*file\\*.",
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn experiments_have_a_table_for_each_folder() {
        let listed = ["disk", "sync"].map(|folder| {
            json!({"folder": folder, "name": "a", "question": "Why?", "engines": ["x", "y"],
                   "trials_max": 6, "measured_s_min": 90.0, "needs": ["root"]})
        });
        let text = experiments(&json!(listed));
        let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).skip(7).collect();
        let row = "| `a` | Why? | x, y | 6 | 90 s | root |";
        assert_eq!((lines[0], lines[3], lines[4], lines[7]), ("## disk", row, "## sync", row));
    }

    #[test]
    fn wait_types_have_a_table_for_each_engine() {
        let entry = |name: &str| json!({"name": name, "class": "log", "meaning": "syncing"});
        let mut groups = [entry("B"), entry("C"), entry("D")];
        groups[0]["benign_group"] = json!({"name": "background", "filtered": true});
        groups[1]["benign_group"] = json!({"name": "availability", "filtered": false});
        let tables = json!([
            {"engine": "one", "wait_types": [entry("A")]},
            {"engine": "other", "wait_types": groups},
        ]);
        let text = wait_types(&tables);
        let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).skip(3).collect();
        let expected = [
            "## one",
            "| wait type | class | the session was ... |",
            "|---|---|---|",
            "| `A` | log | syncing |",
            "## other",
            "| wait type | class | the session was ... | benign group |",
            "|---|---|---|---|",
            "| `B` | log | syncing | background |",
            "| `C` | log | syncing | (availability) |",
            "| `D` | log | syncing | |",
        ];
        assert_eq!(lines[1..], expected);
    }

    #[test]
    fn lines_are_wrapped_with_an_indent() {
        let text = wrapped("  ", &vec!["word"; 21].join(" "));
        let second = text.lines().nth(1);
        assert_eq!(second, Some("  word"));
    }
}
