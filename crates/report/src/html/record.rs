//! What else was recorded: the environment in full, hooks, the experiment file.

use super::markup::{lines, text};
use super::trials::cell;
use crate::{data, number};
use observations::{HookOutput, Recording};
use std::fmt::Write;

/// Of a hook's output the last so many characters are shown: what went wrong is at the end.
const OUTPUT_CHARACTERS: usize = 2000;

/// Everything that was recorded of the environment, in a table to unfold; nothing when nothing was.
pub fn environment(recording: &Recording) -> String {
    let mut out = String::new();
    for (i, environment) in recording.environments.iter().enumerate() {
        let when = if i == 0 {
            "when the run started".to_owned()
        } else {
            format!("found when the run was resumed, number {i}")
        };
        // Writing to a string cannot fail.
        let _ = writeln!(out, "<details><summary>Environment {when}</summary>\n<table><tbody>");
        for (name, value) in data::facts(environment) {
            let (value, _) = cell(&value);
            if !value.is_empty() {
                let _ =
                    writeln!(out, "<tr><th scope=\"row\">{}</th><td>{}</td></tr>", text(&name), text(&value));
            }
        }
        out.push_str("</tbody></table></details>\n");
    }
    out
}

/// Hooks by command: how often they ran and failed, how long they took, and what the last one (or
/// the last one that failed) printed. `None` when no hook ran.
pub fn hooks(recording: &Recording) -> Option<String> {
    let mut commands: Vec<(&HookOutput, Vec<&HookOutput>)> = Vec::new();
    for output in recording.trials.iter().flat_map(|trial| &trial.hooks) {
        match commands
            .iter_mut()
            .find(|(first, _)| first.hook == output.hook && first.command == output.command)
        {
            Some((_, all)) => all.push(output),
            None => commands.push((output, vec![output])),
        }
    }
    let mut out = String::new();
    for (first, all) in &commands {
        let failed: Vec<_> = all.iter().filter(|output| output.exit_code != Some(0)).collect();
        let mean_s = all.iter().map(|output| output.elapsed_s).sum::<f64>() / all.len() as f64;
        let failures = if failed.is_empty() { String::new() } else { format!(", {} failed", failed.len()) };
        let (times, mean) = (number::plural(all.len(), "time"), number::seconds(mean_s));
        let _ = writeln!(
            out,
            "<details><summary>{}: <code>{}</code>, {times}{failures}, {mean} on average</summary>",
            text(&first.hook),
            text(&first.command)
        );
        let shown = failed.last().copied().or(all.last());
        out.push_str(&shown.map_or_else(String::new, |output| printed(output)));
        out.push_str("</details>\n");
    }
    (!commands.is_empty()).then_some(out)
}

fn printed(output: &HookOutput) -> String {
    let characters = output.output.chars().count();
    let skipped = characters.saturating_sub(OUTPUT_CHARACTERS);
    let tail: String = output.output.chars().skip(skipped).collect();
    let code = output.exit_code.map_or_else(|| "killed".to_owned(), |code| format!("exit code {code}"));
    let left_out = match skipped {
        0 => String::new(),
        n => format!("; the first {} characters are left out", number::count(n as u64)),
    };
    if tail.trim().is_empty() {
        return format!("<p class=\"muted\">The last one: {code}; it printed nothing.</p>\n");
    }
    format!("<p class=\"muted\">The last one: {code}{left_out}.</p>\n<pre>{}</pre>\n", lines(&tail))
}

/// The experiment file as it was.
pub fn experiment(recording: &Recording) -> String {
    if recording.run.source.is_empty() {
        return "<p class=\"muted\">It was not recorded.</p>\n".to_owned();
    }
    format!("<pre tabindex=\"0\">{}</pre>\n", lines(&recording.run.source))
}
