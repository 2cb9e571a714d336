//! The parts of a Markdown page that checks distinguish.

use crate::process::{output, root};
use std::process::Command;

/// Third-party libraries, with a page that describes them.
const VENDORED: &str = "crates/core/report/assets/vendor/";
/// Pages that `cargo xtask docs` writes from the program's own texts.
pub const GENERATED: &str = "docs/reference/";

/// A page of the repository.
pub struct Page {
    /// Path from the root.
    pub name: String,
    pub text: String,
}

/// A line with its number, from 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line<'a> {
    pub number: usize,
    pub kind: Kind,
    pub text: &'a str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Blank,
    Code,
    Heading,
    /// The first line of a list item.
    Item,
    Prose,
    TableRow,
}

/// Running text: a paragraph, a list item, a heading or a table cell.
#[derive(Debug, PartialEq, Eq)]
pub struct Passage {
    /// Line on which it begins.
    pub number: usize,
    /// Without line breaks.
    pub text: String,
}

/// All pages that are written here, the generated ones included.
pub fn pages() -> Result<Vec<Page>, String> {
    let mut list = Command::new("git");
    list.args(["ls-files", "--cached", "--others", "--exclude-standard", "*.md"]);
    let names = output(list.current_dir(root()))?;
    let mut pages = Vec::new();
    for name in names.lines().filter(|name| !name.starts_with(VENDORED)) {
        if let Ok(text) = std::fs::read_to_string(root().join(name)) {
            pages.push(Page { name: name.to_owned(), text });
        }
    }
    Ok(pages)
}

impl Page {
    pub fn is_generated(&self) -> bool {
        self.name.starts_with(GENERATED)
    }

    /// Lines with their kinds. Code is fenced, or indented by four spaces after a blank line.
    pub fn lines(&self) -> Vec<Line<'_>> {
        let mut lines: Vec<Line<'_>> = Vec::new();
        let mut is_fenced = false;
        for (index, text) in self.text.lines().enumerate() {
            let trimmed = text.trim_start();
            let before = lines.last().map_or(Kind::Blank, |line| line.kind);
            let is_fence = trimmed.starts_with("```");
            let kind = if is_fenced || is_fence {
                Kind::Code
            } else if trimmed.is_empty() {
                Kind::Blank
            } else if text.starts_with("    ") && matches!(before, Kind::Blank | Kind::Code) {
                Kind::Code
            } else {
                kind_of_text(trimmed)
            };
            is_fenced ^= is_fence;
            lines.push(Line { number: index + 1, kind, text });
        }
        lines
    }

    /// Running text in order.
    pub fn passages(&self) -> Vec<Passage> {
        let mut passages: Vec<Passage> = Vec::new();
        let mut is_open = false;
        for Line { number, kind, text } in self.lines() {
            let text = text.trim();
            match kind {
                Kind::Prose if is_open => {
                    if let Some(last) = passages.last_mut() {
                        last.text.push(' ');
                        last.text.push_str(text);
                    }
                }
                Kind::Prose | Kind::Item => passages.push(Passage { number, text: text.into() }),
                Kind::Heading => {
                    let text = text.trim_start_matches('#').trim().to_owned();
                    passages.push(Passage { number, text });
                }
                Kind::TableRow => passages.extend(
                    text.split('|').map(|cell| Passage { number, text: cell.trim().to_owned() }),
                ),
                Kind::Blank | Kind::Code => {}
            }
            is_open = matches!(kind, Kind::Prose | Kind::Item);
        }
        passages
    }
}

fn kind_of_text(trimmed: &str) -> Kind {
    let numbered = trimmed.trim_start_matches(|c: char| c.is_ascii_digit());
    if trimmed.starts_with('#') {
        Kind::Heading
    } else if trimmed.starts_with('|') {
        Kind::TableRow
    } else if trimmed.starts_with("- ")
        || trimmed.starts_with("* ")
        || numbered.len() < trimmed.len() && numbered.starts_with(". ")
    {
        Kind::Item
    } else {
        Kind::Prose
    }
}

/// Code spans with their contents, and the text between them.
pub fn code_spans(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The text with a word in place of each code span, and links without their targets.
pub fn without_code_and_targets(text: &str) -> String {
    let prose: Vec<&str> = text.split('`').step_by(2).collect();
    let mut rest = prose.join("X");
    while let Some(start) = rest.find("](") {
        let end = rest[start..].find(')').map_or(rest.len(), |end| start + end + 1);
        rest.replace_range(start..end, "");
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::Kind::{Blank, Code, Heading, Item, Prose, TableRow};
    use super::{Kind, Page, without_code_and_targets};

    fn page(text: &str) -> Page {
        Page { name: "page.md".into(), text: text.into() }
    }

    #[test]
    fn code_is_fenced_or_indented_after_a_blank_line() {
        let page = page("# A\n\n    code\n\ntext\n    text\n```sh\ncode\n```\n| a | b |\n1. item");
        let kinds: Vec<Kind> = page.lines().iter().map(|line| line.kind).collect();
        let expected =
            [Heading, Blank, Code, Blank, Prose, Prose, Code, Code, Code, TableRow, Item];
        assert_eq!(kinds, expected);
    }

    #[test]
    fn a_passage_joins_the_lines_of_a_paragraph() {
        let page = page("one\ntwo\n\n- three\n  four\n- five");
        let texts: Vec<String> = page.passages().into_iter().map(|passage| passage.text).collect();
        assert_eq!(texts, ["one two", "- three four", "- five"]);
    }

    #[test]
    fn code_and_targets_are_not_prose() {
        assert_eq!(without_code_and_targets("a `b c` [d](e.md#f)."), "a X [d.");
    }
}
