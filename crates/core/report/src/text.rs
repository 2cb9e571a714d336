//! Texts that are safe to print, names of configurations and factors, times of day.

pub use analysis::wording::one_line;
use analysis::{ConfigurationRow, Summary};
use observations::{GitState, redacted};
use std::fmt::{self, Write as _};
use std::ops::Deref;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Characters of a text that are shown; a cell of a workbook holds fewer.
const CHARS_MAX: usize = 55_000;
/// Characters of a statement that a section shows.
const STATEMENT_CHARS_MAX: usize = 160;

/// Text that is safe to print: one line, without control characters.
///
/// Names come from experiment files, engines and foreign results files. A control character in
/// them could move the cursor, recolour or retitle the reader's terminal, and characters that turn
/// the writing direction could make a figure read backwards; they are spelled out (`\u{1b}`, `\n`).
/// Secrets are hidden: this is the guard of what is shown to people. An overlong name is cut to its
/// beginning: it may be in every line of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text(String);

impl Text {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Text {
    fn from(raw: &str) -> Self {
        let raw = redacted(raw);
        if is_plain(&raw) {
            return Self(raw);
        }
        let end = raw.char_indices().nth(CHARS_MAX).map_or(raw.len(), |(end, _)| end);
        let mut safe = String::with_capacity(end);
        for character in raw[..end].chars() {
            if is_harmful(character) {
                safe.extend(character.escape_default());
            } else {
                safe.push(character);
            }
        }
        if end < raw.len() {
            safe.push('…');
        }
        Self(safe)
    }
}

impl From<String> for Text {
    fn from(raw: String) -> Self {
        Self::from(raw.as_str())
    }
}

impl From<Text> for String {
    fn from(text: Text) -> Self {
        text.0
    }
}

impl From<&String> for Text {
    fn from(raw: &String) -> Self {
        Self::from(raw.as_str())
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Several lines, each as a [`Text`].
pub fn lines(raw: &str) -> String {
    joined(raw.split('\n').map(Text::from), "\n")
}

/// Lines of JSON or TOML with the characters that a [`Text`] spells out as escapes of their
/// strings: these formats ask that only of characters below the space.
pub fn escaped(lines: &str) -> String {
    let mut safe = String::with_capacity(lines.len());
    for character in lines.chars() {
        if is_harmful(character) && character != '\n' {
            // All of them are in the basic plane; writing to a string cannot fail.
            let _ = write!(safe, "\\u{:04x}", u32::from(character));
        } else {
            safe.push(character);
        }
    }
    safe
}

/// Items with a separator between them.
pub fn joined(items: impl IntoIterator<Item: ToString>, separator: &str) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(separator)
}

/// `a, b, c`; `None` of none.
pub fn listed(items: impl IntoIterator<Item: ToString>) -> Option<String> {
    let mut items = items.into_iter().peekable();
    items.peek().is_some().then(|| joined(items, ", "))
}

/// A statement on one line, of a long one the beginning.
pub fn shortened(statement: &str) -> String {
    one_line(statement, STATEMENT_CHARS_MAX)
}

/// Returns whether a text needs no escaping, as nearly all do.
fn is_plain(raw: &str) -> bool {
    raw.len() <= CHARS_MAX && raw.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

/// Returns whether a character could control a terminal or change the reading direction.
fn is_harmful(character: char) -> bool {
    character.is_control() || turns_direction(character)
}

/// Line and paragraph separators, and the marks, embeddings, overrides and isolates of Unicode's
/// bidirectional algorithm (UAX 9).
fn turns_direction(character: char) -> bool {
    matches!(character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The last part of a dotted path where it names one factor only, else the whole path.
pub fn short_name<'a>(path: &'a str, all: &[&str]) -> &'a str {
    let short = path.rsplit('.').next().unwrap_or(path);
    let namesakes = all.iter().filter(|other| other.rsplit('.').next() == Some(short)).count();
    if namesakes > 1 { path } else { short }
}

/// The short name of a factor of a run.
pub fn factor<'a>(summary: &Summary, path: &'a str) -> &'a str {
    let all: Vec<&str> =
        summary.recording.factors.iter().map(|factor| factor.name.as_str()).collect();
    short_name(path, &all)
}

/// Returns the name of a configuration; an experiment without factors has an unnamed one.
pub fn label(label: &str) -> &str {
    if label.is_empty() { "all trials" } else { label }
}

/// The label of a configuration: its levels, but for those of the factor `without`.
pub fn label_without(summary: &Summary, row: &ConfigurationRow, without: &str) -> String {
    let others = row.levels.iter().filter(|level| level.factor != without);
    let others = others.map(|level| format!("{}={}", factor(summary, &level.factor), level.level));
    joined(others, " ")
}

/// Describes a run: `"after patch", commit 0123456789ab with changes`. `None` if that was not
/// recorded.
pub fn origin(label: Option<&str>, git: Option<&GitState>) -> Option<String> {
    let commit = git.map(|git| {
        let short = git.commit.get(..12).unwrap_or(&git.commit);
        let changes = match git.changed {
            Some(true) => " with changes",
            Some(false) => "",
            None => ", uncommitted changes unknown",
        };
        format!("commit {short}{changes}")
    });
    let label = label.map(|label| format!("\"{label}\""));
    (label.is_some() || commit.is_some()).then(|| joined(label.into_iter().chain(commit), ", "))
}

/// A time of day for people, `2023-11-14 22:13 UTC`, from milliseconds since 1970 UTC.
pub fn utc(milliseconds: i64) -> String {
    let second = utc_second(milliseconds);
    format!("{} UTC", &second[..second.len() - ":00 UTC".len()])
}

/// Formats a time to the second: `2023-11-14 22:13:20 UTC`.
pub fn utc_second(milliseconds: i64) -> String {
    let seconds = milliseconds.div_euclid(1_000);
    let (day, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = civil(day);
    let (minute, second) = (second / 60, second % 60);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}:{second:02} UTC", minute / 60, minute % 60)
}

/// Milliseconds since 1970 of a time as it is printed here, `2023-11-14 22:13 UTC`, also with
/// seconds, of a day alone, and with `T` and `Z` as ISO 8601 has them. `None` of anything else.
pub fn from_utc(text: &str) -> Option<i64> {
    let text = text.trim().trim_end_matches("UTC").trim_end_matches('Z').trim_end();
    let (day, time) = text.split_once(['T', ' ']).unwrap_or((text, "0:0"));
    let numbers = |text: &str, sign: char| -> Option<Vec<i64>> {
        text.split(sign).map(|part| part.parse::<u32>().ok().map(i64::from)).collect()
    };
    let [year, month, day] = numbers(day, '-')?.try_into().ok()?;
    let (hour, minute, second) = match numbers(time, ':')?[..] {
        [hour, minute] => (hour, minute, 0),
        [hour, minute, second] => (hour, minute, second),
        _ => return None,
    };
    // Days from the first of the year on; at most a leap year's.
    let about = (year - 1970).checked_mul(365)?.checked_add((year - 1968).div_euclid(4))?;
    let days = (about - 400..about + 400).find(|days| civil(*days) == (year, month, day))?;
    let is_time = hour < 24 && minute < 60 && second < 60;
    is_time.then_some((((days * 24 + hour) * 60 + minute) * 60 + second) * 1_000)
}

/// Year, month and day of a day since 1970 in the Gregorian calendar. Years begin in March, so that
/// the leap day is the last of a year; 400 years are 146,097 days.
fn civil(day: i64) -> (i64, i64, i64) {
    // 719,468 days from 0000-03-01 to 1970-01-01.
    let day = day + 719_468;
    let (era, of_era) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    // Months from March on have 31, 30, 31, 30, 31 days, twice and a bit: 153 days each five.
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (400 * era + year + carry, month, of_month)
}

/// Cuts a text to at most `width` columns and marks the cut.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    format!("{}…", beginning(text, width.saturating_sub(1)))
}

/// Returns the beginning of a text that fits into a number of columns.
pub fn beginning(text: &str, columns: usize) -> &str {
    let mut used = 0;
    let end = text.char_indices().find(|(_, character)| {
        used += character.width().unwrap_or(0);
        used > columns
    });
    &text[..end.map_or(text.len(), |(end, _)| end)]
}

/// Fills a text with blanks up to a number of columns.
pub fn filled(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(text.width())))
}

#[cfg(test)]
mod tests {
    use super::{Text, from_utc, utc, utc_second};

    #[test]
    fn control_characters_are_spelled_out() {
        let raw = "a\u{1b}]0;title\u{7}b\nc\td\u{9b}31me\u{7f}\u{202e}fg\0";
        let safe = Text::from(raw);
        assert_eq!(
            safe.as_str(),
            "a\\u{1b}]0;title\\u{7}b\\nc\\td\\u{9b}31me\\u{7f}\\u{202e}fg\\u{0}"
        );
        assert!(!safe.as_str().contains(char::is_control));
    }

    #[test]
    fn of_an_endless_name_the_beginning_is_shown() {
        let long = "é".repeat(200_000);
        let shown = Text::from(long.as_str());
        assert_eq!((shown.chars().count(), shown.ends_with("é…")), (55_001, true));
        assert_eq!(Text::from(&long[..80_000]).as_str(), &long[..80_000]);
    }

    #[test]
    fn everything_else_stays() {
        for text in ["", "data_files=4", "Größe 大きさ — ± µ \\ \"quoted\""] {
            assert_eq!(Text::from(text).as_str(), text);
        }
    }

    /// Expected values: `date -u -d @SECONDS`.
    #[test]
    fn dates() {
        for (seconds, text) in [
            (0, "1970-01-01 00:00 UTC"),
            (951_782_400, "2000-02-29 00:00 UTC"),
            (1_700_000_000, "2023-11-14 22:13 UTC"),
            (1_709_251_199, "2024-02-29 23:59 UTC"),
            (4_107_542_400, "2100-03-01 00:00 UTC"),
            (-1, "1969-12-31 23:59 UTC"),
        ] {
            assert_eq!(utc(seconds * 1000), text);
            assert_eq!(from_utc(text), Some((seconds - seconds.rem_euclid(60)) * 1000));
        }
        for text in ["2023-11-14T22:13:20Z", "2023-11-14 22:13:20 UTC", " 2023-11-14 22:13:20"] {
            assert_eq!(from_utc(text), Some(1_700_000_000_000), "{text}");
        }
        assert_eq!(utc_second(1_700_000_000_999), "2023-11-14 22:13:20 UTC");
        assert_eq!(from_utc("2023-11-14"), Some(1_699_920_000_000));
        for text in [
            "",
            "now",
            "2023-02-29",
            "2023-11-14 24:00",
            "2023-11-14 1:2:3:4",
            "4000000000-1-1",
            "2023-11",
        ] {
            assert_eq!(from_utc(text), None, "{text}");
        }
    }
}
