//! Takes plans out of what clients print around them: psql's frames of any border and line style,
//! also expanded, the grid of `DBeaver`, pgAdmin's quotes, the signs of comments and quoted mail.

use std::borrow::Cow;

/// A row of a text, without its frame.
#[derive(Debug, PartialEq, Eq)]
pub struct Row<'a> {
    /// The number in the text, from 1.
    pub number: usize,
    /// The kind and text.
    pub content: Content<'a>,
}

/// Kind and text of a row.
#[derive(Debug, PartialEq, Eq)]
pub enum Content<'a> {
    /// The heading of a result: a plan begins behind it.
    Header,
    /// A result ends: the number of its rows.
    End,
    /// A row of the result, or a text around it.
    Text(Cow<'a, str>),
}

impl Row<'_> {
    /// The text; empty where it is another kind of row.
    pub fn text(&self) -> &str {
        match &self.content {
            Content::Text(text) => text,
            Content::Header | Content::End => "",
        }
    }
}

/// The name of EXPLAIN's column.
const HEADER: &str = "QUERY PLAN";
/// Characters between columns and at the sides.
const SIDES: [char; 3] = ['|', '│', '║'];
/// Marks of a value that continues in the next line.
const CONTINUED: [char; 2] = ['+', '↵'];
/// Signs of comments and of quoted mail.
const SIGNS: [&str; 4] = ["--", ">", "#", "//"];

/// The rows of a text without frames. Lines of a frame alone are left out.
pub fn rows(text: &str) -> Vec<Row<'_>> {
    let sign = sign(text);
    let quote = quote(text, sign);
    let mut frame = Frame { is_continued: is_continued(text), ..Frame::default() };
    let lines = (1..).zip(text.lines());
    lines
        .filter_map(|(number, line)| {
            let line = without_sign(line.trim_end(), sign);
            let content = match quote {
                Some(quote) => unquoted(line, quote).map_or_else(
                    || frame.content(line.into()),
                    |text| Some(Content::Text(text.into())),
                ),
                None => frame.content(line.replace('\u{a0}', " ").into()),
            };
            Some(Row { number, content: content? })
        })
        .collect()
}

/// Beginnings of documents.
const DOCUMENTS: [&str; 5] = ["[", "{", "- Plan:", "<explain", "<?xml"];

/// A text with the documents in its CSV fields outside of their quotes.
pub(crate) fn without_fields(text: &str) -> Cow<'_, str> {
    let is_field = |line: &str| {
        line.strip_prefix('"')
            .is_some_and(|rest| DOCUMENTS.iter().any(|document| rest.starts_with(document)))
    };
    if !text.lines().any(is_field) {
        return text.into();
    }
    let (mut all, mut rest) = (String::with_capacity(text.len()), text);
    while !rest.is_empty() {
        let line = rest.split_inclusive('\n').next().unwrap_or(rest);
        if !is_field(line) {
            all.push_str(line);
            rest = &rest[line.len()..];
            continue;
        }
        rest = &rest[1..];
        while let Some(at) = rest.find('"') {
            all.push_str(&rest[..at]);
            let is_doubled = rest[at + 1..].starts_with('"');
            rest = &rest[at + 1 + usize::from(is_doubled)..];
            if !is_doubled {
                break;
            }
            all.push('"');
        }
    }
    all.into()
}

/// Expands the tabs that a line begins with, and returns its first column and the rest.
pub fn column(line: &str) -> (usize, &str) {
    let mut column = 0;
    for (at, c) in line.char_indices() {
        match c {
            '\t' => column = column / 8 * 8 + 8,
            ' ' => column += 1,
            _ => return (column, &line[at..]),
        }
    }
    (column, "")
}

/// The first line that can only be of a plan.
fn first_of_plan(text: &str) -> Option<&str> {
    text.lines().find(|line| {
        ["(cost=", "(actual ", "->  "].iter().any(|part| line.contains(part))
            || line.contains(HEADER) && line.trim() != HEADER
    })
}

/// The sign before each line of a commented or quoted plan.
fn sign(text: &str) -> Option<&'static str> {
    let line = first_of_plan(text)?.trim_start();
    SIGNS.into_iter().find(|sign| line.starts_with(sign))
}

fn without_sign<'a>(line: &'a str, sign: Option<&str>) -> &'a str {
    let Some(sign) = sign else { return line };
    let mut rest = line;
    while let Some(shorter) = rest.trim_start().strip_prefix(sign) {
        // A rule of dashes stays one.
        if shorter.starts_with('-') && sign == "--" {
            break;
        }
        rest = shorter;
    }
    rest
}

/// The quotes that pgAdmin and lists of strings have around each line.
fn quote(text: &str, sign: Option<&str>) -> Option<char> {
    let line = first_of_plan(text).map(|line| without_sign(line, sign).trim_start())?;
    ['"', '\''].into_iter().find(|quote| line.starts_with(*quote))
}

fn unquoted(line: &str, quote: char) -> Option<String> {
    let inner = line.trim_start().trim_end_matches([',', ';', ' ']);
    let inner = inner.strip_prefix(quote)?.strip_suffix(quote)?;
    let doubled = format!("{quote}{quote}");
    Some(inner.replace(&doubled, &quote.to_string()))
}

/// Returns true when a value without heading continues over its lines, as `psql -t` prints JSON.
fn is_continued(text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty()).map_or("", str::trim);
    let Some(value) = first.strip_suffix(CONTINUED) else { return false };
    let value = value.trim_matches(|c: char| c.is_whitespace() || SIDES.contains(&c));
    matches!(value, "[" | "{" | "- Plan:") || value.starts_with("<explain")
}

/// The frame of the lines so far.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is seen independently of the others")]
struct Frame {
    /// A value without heading continues over its lines.
    is_continued: bool,
    /// Inside a result with a heading.
    is_inside: bool,
    /// With a side after the last column alone, as `DBeaver` draws it.
    has_right_side: bool,
    /// A line for each column: `QUERY PLAN | ...`.
    is_expanded: bool,
}

impl Frame {
    fn content<'a>(&mut self, line: Cow<'a, str>) -> Option<Content<'a>> {
        let trimmed = line.trim();
        if is_record(trimmed) {
            self.is_expanded = true;
            self.is_inside = true;
            // With each record one more row of the same plan comes, or the first of the next one.
            let is_first = trimmed.chars().filter(char::is_ascii_digit).eq("1".chars());
            return is_first.then_some(Content::Header);
        }
        if is_rule(trimmed) {
            return None;
        }
        if is_count(trimmed) {
            let was_inside = std::mem::take(&mut self.is_inside) || self.is_continued;
            self.is_expanded = false;
            self.has_right_side = false;
            return Some(if was_inside { Content::End } else { Content::Text("".into()) });
        }
        let inner = trimmed.trim_start_matches(SIDES).trim_start();
        if let Some(behind) = inner.strip_prefix(HEADER) {
            let value = behind.trim_start().trim_start_matches(SIDES);
            let has_side = value.len() < behind.trim_start().len();
            if value.trim_matches(|c: char| c.is_whitespace() || SIDES.contains(&c)).is_empty() {
                self.is_inside = true;
                self.has_right_side = has_side && !trimmed.starts_with(SIDES);
                return Some(Content::Header);
            }
            if has_side || self.is_expanded {
                self.is_expanded = true;
                self.is_inside = true;
                let value = if has_side { value } else { behind };
                let value = value.strip_prefix(' ').unwrap_or(value);
                return Some(Content::Text(self.without_right(value, &line).into()));
            }
        }
        if !self.is_inside && !self.is_continued && !trimmed.starts_with(SIDES) {
            return Some(Content::Text(line));
        }
        let value = match line.find(SIDES).filter(|at| line[..*at].trim().is_empty()) {
            Some(at) => {
                let side = line[at..].chars().next().map_or(0, char::len_utf8);
                let value = &line[at + side..];
                // Expanded with a border, the column of names is empty where a value continues.
                let second = value
                    .find(SIDES)
                    .filter(|second| self.is_expanded && value[..*second].trim().is_empty());
                let value =
                    second.map_or(value, |second| value[second..].trim_start_matches(SIDES));
                value.strip_prefix(' ').unwrap_or(value)
            }
            None => &line,
        };
        Some(Content::Text(self.without_right(value, &line).into()))
    }

    /// A value without the right side and the mark of one that continues.
    fn without_right(&self, value: &str, line: &str) -> String {
        let value = value.trim_end();
        let has_side = self.has_right_side || line.trim_start().starts_with(SIDES);
        let value = if has_side { value.strip_suffix(SIDES).unwrap_or(value) } else { value };
        let value = value.trim_end();
        value.strip_suffix(CONTINUED).map_or(value, str::trim_end).to_owned()
    }
}

/// `-[ RECORD 2 ]----`, `* Record 2`.
fn is_record(line: &str) -> bool {
    let upper = line.to_ascii_uppercase();
    let has_number = |text: &str| text.trim_start().starts_with(|c: char| c.is_ascii_digit());
    upper.strip_prefix("* RECORD ").is_some_and(has_number)
        || upper
            .split_once("[ RECORD ")
            .is_some_and(|(before, after)| before.chars().all(is_line) && has_number(after))
}

/// A line that is drawn.
fn is_rule(line: &str) -> bool {
    line.chars().count() >= 3 && line.chars().all(|c| is_line(c) || SIDES.contains(&c))
}

fn is_line(c: char) -> bool {
    matches!(c, '-' | '+' | '\u{2500}'..='\u{257f}') && !SIDES.contains(&c)
}

/// `(12 rows)`, in any language.
fn is_count(line: &str) -> bool {
    let Some(inner) = line.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) else {
        return false;
    };
    inner.split_once(' ').is_some_and(|(count, rows)| {
        !count.is_empty()
            && count.bytes().all(|byte| byte.is_ascii_digit())
            && !rows.is_empty()
            && rows.chars().all(char::is_alphabetic)
    })
}

#[cfg(test)]
mod tests {
    use super::rows;

    fn texts(text: &str) -> Vec<String> {
        rows(text).iter().map(|row| row.text().to_owned()).filter(|text| !text.is_empty()).collect()
    }

    #[test]
    fn every_frame_holds_the_same_rows() {
        let expected =
            ["Seq Scan on t  (cost=0.00..1.00 rows=1 width=4)", "  Filter: (a = '+'::text)"];
        let first = expected[0];
        let two = expected[1];
        for framed in [
            format!("{first}\n{two}\n"),
            format!("    QUERY PLAN\n--------------\n{first}\n{two}\n(2 rows)\n"),
            format!(
                "+-----+\n| QUERY PLAN |\n+-----+\n| {first} |\n| {two}     |\n+-----+\n(2 rows)"
            ),
            format!("┌────┐\n│ QUERY PLAN │\n├────┤\n│ {first} │\n│ {two}   │\n└────┘\n(2 Zeilen)"),
            format!("QUERY PLAN     |\n-----------+\n{first}|\n{two}       |"),
            format!(
                "-[ RECORD 1 ]------\nQUERY PLAN | {first}\n-[ RECORD 2 ]---\nQUERY PLAN | {two}"
            ),
            format!(
                "┌─[ RECORD 1 ]────┐\n│ QUERY PLAN │ {first} │\n├─[ RECORD 2 ]────┤\n│ \
                 QUERY PLAN │ {two} │\n└─────┴────┘"
            ),
            format!("\"{first}\"\n\"{two}\""),
            format!("> {first}\n> {two}").replace("> ", ">"),
            format!("--{first}\n--{two}"),
        ] {
            assert_eq!(texts(&framed), expected, "{framed}");
        }
    }

    #[test]
    fn a_document_in_a_field_loses_its_quotes() {
        let text = "QUERY PLAN\n\"[\n {\"\"a\"\": 1}\n]\"\nQUERY PLAN\n\"- Plan:\"\nend";
        let expected = "QUERY PLAN\n[\n {\"a\": 1}\n]\nQUERY PLAN\n- Plan:\nend";
        assert_eq!(super::without_fields(text), expected);
    }

    #[test]
    fn a_value_over_several_lines_loses_its_marks() {
        for framed in [
            " [          +\n   1        +\n ]\n",
            "QUERY PLAN \n------------\n [      +\n   1    +\n ]\n(1 row)",
            "-[ RECORD 1 ]---\nQUERY PLAN | [    +\n           |   1  +\n           | ]",
            "+-[ RECORD 1 ]----+\n| QUERY PLAN | [   +|\n|            |   1 +|\n|            \
             | ]   |\n+---+---+",
            "│ [     ↵│\n│   1   ↵│\n│ ]      │",
        ] {
            let texts: Vec<String> =
                texts(framed).iter().map(|text| text.trim().to_owned()).collect();
            assert_eq!(texts, ["[", "1", "]"], "{framed}");
        }
    }
}
