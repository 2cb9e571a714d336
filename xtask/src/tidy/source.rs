//! Rust as text: what of it is code, and its words.

/// The text before its module of tests.
pub fn without_tests(text: &str) -> &str {
    &text[..text.find("#[cfg(test)]\nmod ").unwrap_or(text.len())]
}

/// Lines that are neither blank nor a comment.
pub fn code_lines(text: &str) -> usize {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")).count()
}

/// Identifiers, `::`, and every other sign for itself; no comments, texts or spaces.
pub fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(raw) = raw_text(rest) {
            raw
        } else if first == '"' {
            text_length(rest)
        } else if first == '\'' {
            character_length(rest)
        } else if is_word(first) {
            rest.find(|c: char| !is_word(c)).unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        let token = &rest[..length];
        if is_word(first) && !token.contains('"') || !is_word(first) && !skipped(token) {
            tokens.push(token);
        }
        rest = &rest[length..];
    }
    tokens
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn skipped(token: &str) -> bool {
    token.starts_with(['"', '\'', ' ', '\n', '\t']) || token.starts_with("//")
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
