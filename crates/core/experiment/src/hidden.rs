//! The form in which an experiment is recorded without its command lines.

use crate::common::OBSERVE_COMMANDS;
use crate::document::{Content, Node};
use crate::{Catalog, Configuration, Experiment, FileErrors, parse};
use observations::order;
use std::collections::BTreeMap;
use std::ops::Range;

/// Sections in which the value of a setting is a list of its levels.
const OF_LEVELS: [&str; 2] = ["factors.", "exclude."];

impl Experiment {
    /// Returns whether command lines are kept out of the results file.
    pub fn hides_commands(&self) -> bool {
        self.configurations
            .iter()
            .any(|configuration| configuration.get(OBSERVE_COMMANDS) == Some(false))
    }

    /// The experiment in the form in which it is recorded.
    pub fn recorded(&self) -> &Self {
        self.recorded.as_deref().unwrap_or(self)
    }

    /// A configuration in the form in which it is recorded.
    pub fn recorded_form<'a>(&'a self, configuration: &'a Configuration) -> &'a Configuration {
        let index =
            self.configurations.iter().position(|candidate| std::ptr::eq(candidate, configuration));
        index.and_then(|index| self.recorded().configurations.get(index)).unwrap_or(configuration)
    }

    /// Has the experiment recorded with a number for each command line. `prepare` completes the
    /// experiment that is read from the reduced file.
    ///
    /// # Errors
    /// When the file without its command lines cannot be read.
    pub fn hide_commands(
        &mut self,
        catalog: &Catalog,
        prepare: impl FnOnce(&mut Self),
    ) -> Result<(), FileErrors> {
        let mut recorded = parse(&without_commands(&self.source, &catalog.commands()), catalog)?;
        prepare(&mut recorded);
        recorded.baseline = self.baseline;
        for (configuration, recorded) in
            self.configurations.iter_mut().zip(&mut recorded.configurations)
        {
            recorded.files.clone_from(&configuration.files);
            configuration.levels.clone_from(&recorded.levels);
        }
        for (factor, recorded) in self.factors.iter_mut().zip(&recorded.factors) {
            for (level, recorded) in factor.levels.iter_mut().zip(&recorded.levels) {
                level.label.clone_from(&recorded.label);
            }
        }
        self.recorded = Some(Box::new(recorded));
        Ok(())
    }
}

/// A file with a number in the place of each command line, and without its comments.
fn without_commands(source: &str, commands: &[&str]) -> String {
    let Ok(root) = Node::parse(source) else { return String::new() };
    let mut search = Search { commands, numbers: BTreeMap::new(), found: Vec::new() };
    search.read(source, &root, "");
    let texts = spans(&root);
    let hashes = source.char_indices().filter(|(_, c)| *c == '#').map(|(at, _)| at);
    let mut comment_end = 0;
    for at in hashes.filter(|at| !texts.iter().any(|text| text.contains(at))) {
        if at >= comment_end {
            comment_end = source[at..].find('\n').map_or(source.len(), |length| at + length);
            search.found.push(Replacement { span: at..comment_end, text: String::new() });
        }
    }
    order::by_key(&mut search.found, &|found| found.span.start);
    let mut reduced = source.to_owned();
    for Replacement { span, text } in search.found.into_iter().rev() {
        reduced.replace_range(span, &text);
    }
    reduced
}

/// The bytes of a file that its keys and values cover.
fn spans(node: &Node) -> Vec<Range<usize>> {
    match &node.content {
        Content::Table(entries) => entries
            .iter()
            .flat_map(|entry| std::iter::once(entry.key_span.clone()).chain(spans(&entry.node)))
            .collect(),
        Content::List(nodes) => nodes.iter().flat_map(spans).collect(),
        _ => vec![node.span.clone()],
    }
}

/// A part of a file, and what is recorded in its place.
struct Replacement {
    span: Range<usize>,
    text: String,
}

/// The command lines of a file.
struct Search<'a> {
    commands: &'a [&'a str],
    /// The number of each command line of a setting.
    numbers: BTreeMap<(&'a str, &'a str), usize>,
    found: Vec<Replacement>,
}

impl<'a> Search<'a> {
    fn read(&mut self, source: &'a str, node: &Node, path: &str) {
        let command = self.commands.iter().copied().find(|command| {
            path.strip_suffix(command).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        });
        match (&node.content, command) {
            (Content::List(nodes), Some(command))
                if OF_LEVELS.iter().any(|section| path.starts_with(section)) =>
            {
                for node in nodes {
                    self.hide(source, node, command);
                }
            }
            (_, Some(command)) => self.hide(source, node, command),
            (Content::Table(entries), None) => {
                for entry in entries {
                    let dot = if path.is_empty() { "" } else { "." };
                    self.read(source, &entry.node, &format!("{path}{dot}{}", entry.key));
                }
            }
            (Content::List(nodes), None) => {
                for node in nodes {
                    self.read(source, node, path);
                }
            }
            _ => {}
        }
    }

    fn hide(&mut self, source: &'a str, node: &Node, command: &'a str) {
        let of_setting = self.numbers.keys().filter(|(setting, _)| *setting == command).count();
        let line = &source[node.span.clone()];
        let number = *self.numbers.entry((command, line)).or_insert(of_setting + 1);
        let text = format!("\"command {number}\"");
        self.found.push(Replacement { span: node.span.clone(), text });
    }
}

#[cfg(test)]
mod tests {
    use super::without_commands;

    #[test]
    fn command_lines_are_numbers_and_comments_are_gone() {
        let source = r##"# mysql -pS3C
[workload] # S3C
command = ["a", 'S3C # no'] # S3C
setup = """
S3C"""
[hooks]
before_run = 'S3C'
[factors]
"workload.command" = ["S3C 1", "S3C 2", ["S3C", "3"]]
[[volume]]
name = "#1"
prepare = 'S3C'
[[level]]
name = "x"
set = { "workload.command" = "S3C 2" }
"##;
        let expected = r##"
[workload] 
command = "command 1" 
setup = "command 1"
[hooks]
before_run = "command 1"
[factors]
"workload.command" = ["command 2", "command 3", "command 4"]
[[volume]]
name = "#1"
prepare = "command 1"
[[level]]
name = "x"
set = { "workload.command" = "command 3" }
"##;
        let commands = ["workload.command", "workload.setup", "hooks.before_run", "volume.prepare"];
        let reduced = without_commands(source, &commands);
        assert_eq!(reduced, expected);
    }
}
