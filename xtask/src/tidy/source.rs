//! Rust as text: what of it is code, and its words.

use crate::process::root;
use std::path::Path;

/// The text of a file of source, tests included; `None` of another file.
pub fn of_ours(file: &str) -> Option<String> {
    let is_ours = file.starts_with("crates/") || file.starts_with("xtask/");
    let is_source = Path::new(file).extension() == Some("rs".as_ref());
    (is_ours && is_source).then(|| std::fs::read_to_string(root().join(file)).unwrap_or_default())
}

/// The text before its module of tests.
pub fn without_tests(text: &str) -> &str {
    &text[..text.find("#[cfg(test)]\nmod ").unwrap_or(text.len())]
}

/// Lines that are neither blank nor a comment.
pub fn code_lines(text: &str) -> usize {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")).count()
}

/// The kind of a piece of source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Comment,
    /// A string literal with its quotes.
    Text,
    Word,
    /// `::`, or any other sign by itself.
    Sign,
    /// Spaces, characters, quotes of lifetimes.
    Other,
}

/// A piece of source.
#[derive(Debug, Clone, Copy)]
pub struct Piece<'a> {
    pub kind: Kind,
    pub text: &'a str,
    /// The first line, from 1.
    pub line: usize,
}

/// Divides source into pieces.
pub fn pieces(text: &str) -> Vec<Piece<'_>> {
    let (mut pieces, mut rest, mut line) = (Vec::new(), text, 1);
    while let Some(first) = rest.chars().next() {
        let (kind, length) = if rest.starts_with("//") {
            (Kind::Comment, rest.find('\n').unwrap_or(rest.len()))
        } else if rest.starts_with("/*") {
            (Kind::Comment, rest.find("*/").map_or(rest.len(), |end| end + 2))
        } else if let Some(raw) = raw_text(rest) {
            (Kind::Text, raw)
        } else if first == '"' {
            (Kind::Text, text_length(rest))
        } else if first == '\'' {
            (Kind::Other, character_length(rest))
        } else if is_word(first) {
            (Kind::Word, rest.find(|c: char| !is_word(c)).unwrap_or(rest.len()))
        } else if rest.starts_with("::") {
            (Kind::Sign, 2)
        } else if matches!(first, ' ' | '\n' | '\t') {
            (Kind::Other, 1)
        } else {
            (Kind::Sign, first.len_utf8())
        };
        let text = &rest[..length];
        pieces.push(Piece { kind, text, line });
        line += text.matches('\n').count();
        rest = &rest[length..];
    }
    pieces
}

/// Identifiers, `::`, and every other sign for itself; no comments, texts or spaces.
pub fn tokens(text: &str) -> Vec<&str> {
    let all = pieces(text).into_iter();
    all.filter(|piece| matches!(piece.kind, Kind::Word | Kind::Sign))
        .map(|piece| piece.text)
        .collect()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Bytes of a text that begins here with `r"` or `r#"`.
fn raw_text(rest: &str) -> Option<usize> {
    let start = ["r", "br", "cr"].into_iter().find_map(|prefix| {
        let after = rest.strip_prefix(prefix)?;
        after.trim_start_matches('#').starts_with('"').then_some(prefix.len())
    })?;
    let hashes = rest[start..].find('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let begin = start + hashes + 1;
    Some(begin + rest[begin..].find(&end)? + end.len())
}

fn text_length(rest: &str) -> usize {
    let mut is_escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// A character, or the quote of a lifetime.
fn character_length(rest: &str) -> usize {
    let mut chars = rest.char_indices().skip(1);
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), Some((at, _))) => {
            rest[at + 1..].find('\'').map_or(rest.len(), |end| at + end + 2)
        }
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::{code_lines, tokens};

    #[test]
    fn texts_and_comments_are_no_words() {
        let text = "use a::b; // c\nlet d = \"e \\\" f\"; r#\"g \" h\"#; '\\''; 'i'; &'j k";
        let words =
            ["use", "a", "::", "b", ";", "let", "d", "=", ";", ";", ";", ";", "&", "j", "k"];
        assert_eq!(tokens(text), words);
    }

    #[test]
    fn comments_and_blanks_are_no_code() {
        assert_eq!(code_lines("//! a\n\nfn b() {\n    // c\n}\n"), 2);
    }
}
