//! Command lines in pages: their commands and options exist.

use super::program::CommandHelp;
use crate::markdown::{Kind, Page, code_spans};

/// Every command line of the page that the program would refuse for its command or an option.
pub fn check(page: &Page, commands: &[CommandHelp]) -> Vec<String> {
    let mut wrong = Vec::new();
    // A backslash continues a line.
    let mut begun = String::new();
    for line in page.lines() {
        let code = format!("{begun}{}", line.text);
        begun.clear();
        let texts: Vec<&str> = match line.kind {
            Kind::Code => match code.strip_suffix('\\') {
                Some(part) => {
                    part.clone_into(&mut begun);
                    continue;
                }
                None => vec![&code],
            },
            // Running text may quote something else that begins with the name.
            _ => code_spans(line.text).filter(|text| is_command(text, commands)).collect(),
        };
        for words in texts.into_iter().flat_map(invocations) {
            if let Some(cause) = fault(&words, commands) {
                wrong.push(format!("{}:{}: {cause}", page.name, line.number));
            }
        }
    }
    wrong
}

fn is_command(text: &str, commands: &[CommandHelp]) -> bool {
    let name = text.strip_prefix("steelbench ").and_then(|rest| rest.split(' ').next());
    name.is_some_and(|name| commands.iter().any(|command| command.words == [name]))
}

/// The arguments of each call of the program in a line of a shell.
fn invocations(line: &str) -> Vec<Vec<String>> {
    let mut calls = Vec::new();
    for words in shell_commands(line) {
        let is_run = words.iter().any(|word| word == "cargo") && words.iter().any(|w| w == "run");
        let begin = if is_run { "--" } else { "steelbench" };
        if let Some(at) = words.iter().position(|word| word == begin) {
            calls.push(words[at + 1..].to_vec());
        }
    }
    calls
}

/// Words of the commands of a line, without quotes, redirections and comments.
fn shell_commands(line: &str) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '#') if word.is_none() => break,
            (None, ' ' | '\t' | '|' | '&' | ';' | '>' | '<' | '(' | ')') => {
                if let Some(command) = commands.last_mut() {
                    command.extend(word.take());
                }
                if !c.is_whitespace() {
                    commands.push(Vec::new());
                }
            }
            _ => word.get_or_insert_default().push(c),
        }
    }
    if let Some(command) = commands.last_mut() {
        command.extend(word);
    }
    commands
}

/// The unknown command or option.
fn fault(words: &[String], commands: &[CommandHelp]) -> Option<String> {
    let mut command = commands.iter().find(|command| command.words.is_empty())?;
    let mut depth = 0;
    while let Some(next) = commands.iter().find(|command| {
        command.words.len() == depth + 1 && words.get(..=depth).is_some_and(|w| w == command.words)
    }) {
        command = next;
        depth += 1;
    }
    let rest = &words[depth..];
    if depth == 0 && rest.first().is_some_and(|word| !word.starts_with('-')) {
        return Some(format!("steelbench has no command {}", rest[0]));
    }
    let options = rest.iter().map(|word| word.trim_matches(['[', ']']));
    let unknown = options.take_while(|word| *word != "--").find(|word| !is_known(word, command))?;
    Some(format!("steelbench {} has no option {unknown}", command.words.join(" ")))
}

/// Returns whether a word is a value, or an option of the command, with its value or not: `--to=x`,
/// `-c16`.
fn is_known(word: &str, command: &CommandHelp) -> bool {
    let is_option = word
        .strip_prefix('-')
        .is_some_and(|rest| rest.starts_with(|c: char| c == '-' || c.is_ascii_alphabetic()));
    if !is_option {
        return true;
    }
    let name = word.split('=').next().unwrap_or(word);
    command.has_option(name)
        || !name.starts_with("--") && name.get(..2).is_some_and(|short| command.has_option(short))
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::docs::program::CommandHelp;
    use crate::markdown::Page;

    fn wrong(text: &str) -> Vec<String> {
        let help = |words: &[&str], help: &str| CommandHelp {
            words: words.iter().map(|&word| word.to_owned()).collect(),
            help: help.into(),
        };
        let commands = [
            help(&[], "  -V, --version"),
            help(&["run"], "      --fresh  Start over"),
            help(&["queries"], "  -o, --output <FILE>"),
            help(&["queries", "try"], "  -f <FILE>"),
        ];
        check(&Page { name: "page.md".into(), text: text.into() }, &commands)
    }

    #[test]
    fn known_command_lines_pass() {
        let text = "    steelbench --version && sudo steelbench run x.toml --fresh   # --none\n    \
                    steelbench queries try -f x.sql -f 'a --b' | other --none\n    \
                    cargo run --release -- run x\n\n`steelbench observer`";
        assert_eq!(wrong(text), Vec::<String>::new());
    }

    #[test]
    fn unknown_commands_and_options_are_found() {
        let text = "    steelbench jog x\n    steelbench queries \\\n        -f x\n\n\
                    `steelbench run --old`";
        let expected = [
            "page.md:1: steelbench has no command jog",
            "page.md:3: steelbench queries has no option -f",
            "page.md:5: steelbench run has no option --old",
        ];
        assert_eq!(wrong(text), expected);
    }
}
