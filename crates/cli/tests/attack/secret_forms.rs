//! A secret in all forms of connection strings, in every place that takes one: no output and no
//! file has it.

use crate::attack::arena::{Arena, Limits, Tries, USUAL, campaign};
use crate::secrets::CONNECTION_STRINGS;
use std::path::Path;
use std::time::Duration;
use testing::relay::contains;

/// Commands; `FORM` is the connection string.
const COMMANDS: [&[&str]; 24] = [
    &["waits", "FORM", "--seconds", "0.1", "--full"],
    &["waits", "FORM", "--seconds", "0.1", "--tasks", "--statements", "--json"],
    &["queries", "FORM", "--full"],
    &["queries", "FORM", "--seconds", "0.1", "--json"],
    &["queries", "try", "FORM", "-f", "s.sql", "--set", "work_mem=1MB"],
    &["queries", "try", "--test-server", "FORM", "--sql", "s.sql", "-f", "s.sql", "--set", "a=b"],
    &["survey", "--full", "--server", "FORM", "--output", "survey.json"],
    &["capture", "FORM", "--seconds", "0.1", "--output", "c.json"],
    &["plan", "FORM", "--full"],
    &["pg", "FORM", "-t", "1"],
    &["run", "e.toml"],
    &["check", "e.toml"],
    &["run", "c.toml"],
    &["show", "c", "--full"],
    &["show", "c", "--source"],
    &["export", "c", "--format", "json"],
    &["report", "c"],
    &["time", "-r", "1", "echo 'FORM'"],
    &["time", "-r", "1", "psql 'FORM' -c 'SELECT 1'"],
    &["profile", "compare", "FORM", "FORM"],
    &["run", "c.toml", "--label", "FORM"],
    &["show", "FORM"],
    &["init", "--engine", "FORM"],
    &["size", "FORM"],
];

/// Files that the try writes with the secret itself.
const INPUTS: [&str; 3] = ["e.toml", "c.toml", "s.sql"];

/// Files below a folder, except the inputs, that have these bytes.
fn holders(folder: &Path, secret: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if path.is_dir() {
            found.extend(holders(&path, secret));
        } else if !INPUTS.contains(&name.as_str())
            && std::fs::read(&path).is_ok_and(|bytes| contains(&bytes, secret))
        {
            found.push(path.display().to_string());
        }
    }
    found
}

#[test]
fn secret_forms() {
    let limits = Limits { time: Duration::from_secs(90), ..USUAL };
    campaign("secret_forms", Tries { short: 15, full: 2000 }, |random| {
        let arena = Arena::new();
        let secret = format!("Sesam{:06}", random.below(1_000_000));
        let form = random.in_turn(CONNECTION_STRINGS).replace("PW", &secret);
        // Blanks around it, and quotes of a shell.
        let form = match random.below(6) {
            0 => format!(" {form} "),
            1 => format!("\"{form}\""),
            2 => form.to_uppercase().replace(&secret.to_uppercase(), &secret),
            _ => form,
        };
        let text = form.replace('\\', "\\\\").replace('"', "\\\"").replace('\t', "\\t");
        let head = "[experiment]\nname = \"c\"\n";
        let rest = "[workload]\nprobe = \"insert\"\nconnections = 1\nrows = \
                    10\nrows_per_transaction = 1\n[repeats]\nblocks = 1\n";
        let url = format!("{head}[target]\nengine = \"postgres\"\nurl = \"{text}\"\n{rest}");
        let hook = format!(
            "# {form}\n{head}question = \"{text}?\"\n[target]\nengine = \
             \"null\"\n{rest}[hooks]\nbefore_trial = \"true '{}'\"\n",
            text.replace('\'', "")
        );
        arena.write("e.toml", url.as_bytes());
        arena.write("c.toml", hook.as_bytes());
        arena.write("s.sql", b"SELECT 1;\n");
        let mut commands = vec![random.pick(&COMMANDS), random.pick(&COMMANDS)];
        if random.below(3) == 0 {
            commands.insert(0, &COMMANDS[12]);
        }
        for command in commands {
            let arguments: Vec<String> =
                command.iter().map(|argument| argument.replace("FORM", &form)).collect();
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let mut command = arena.lab.command(&arguments);
            command.env("PGCONNECT_TIMEOUT", "1");
            let outcome = arena.run_command(command, limits)?;
            if contains(outcome.text().as_bytes(), secret.as_bytes()) {
                return Err(format!("{arguments:?} prints it: {}", outcome.text()));
            }
            let holders = holders(&arena.path(""), secret.as_bytes());
            if !holders.is_empty() {
                return Err(format!("{arguments:?} writes it into {holders:?}"));
            }
        }
        arena.is_clean()
    });
}
