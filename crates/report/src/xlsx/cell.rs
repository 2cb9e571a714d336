use crate::table::Datum;
use crate::{Text, time};

/// Whole numbers up to here are exact in a spreadsheet, whose numbers are binary floating point.
const EXACT_MAX: u64 = 1 << 53;
/// A cell holds no longer text than this, in UTF-16 units (Excel's limit).
const TEXT_MAX: usize = 32_767;
/// Milliseconds from 1970 to the year 10000, where a spreadsheet's calendar ends.
const CALENDAR_END_MS: i64 = 253_402_300_800_000;
/// 1970-01-01 as a spreadsheet counts days.
const EPOCH_DAY: f64 = 25_569.0;

/// A cell as the file has it.
#[derive(Debug, Clone, PartialEq)]
pub enum Written {
    Empty,
    Text(String),
    Bool(bool),
    Number(f64, Shown),
}

/// How a number is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// With the digits that suit the numbers of its column.
    Number,
    Whole,
    Percent,
    Date,
}

/// Whether it is a whole number that is written as text, because a number would not be exact.
pub fn is_large(datum: &Datum) -> bool {
    match datum {
        Datum::Count(count) => *count > EXACT_MAX,
        Datum::Integer(integer) => integer.unsigned_abs() > EXACT_MAX,
        _ => false,
    }
}

/// What is not a finite number has no cell.
pub fn written(datum: &Datum) -> Written {
    let number = |number: f64, shown| {
        if number.is_finite() { Written::Number(number, shown) } else { Written::Empty }
    };
    match datum {
        Datum::Empty => Written::Empty,
        Datum::Text(text) if text.is_empty() => Written::Empty,
        Datum::Text(text) => Written::Text(fitting(text)),
        Datum::Number(value) => number(*value, Shown::Number),
        Datum::Integer(value) if is_large(datum) => Written::Text(value.to_string()),
        Datum::Integer(value) => number(*value as f64, Shown::Whole),
        Datum::Count(count) if is_large(datum) => Written::Text(count.to_string()),
        Datum::Count(count) => number(*count as f64, Shown::Whole),
        Datum::Share(share) => number(*share, Shown::Percent),
        Datum::Bool(value) => Written::Bool(*value),
        Datum::Time(ms) if (0..CALENDAR_END_MS).contains(ms) => {
            number(EPOCH_DAY + *ms as f64 / 86_400_000.0, Shown::Date)
        }
        Datum::Time(ms) => Written::Text(time::utc(*ms)),
    }
}

/// With control characters spelled out; what is too long for a cell is cut, and says so.
fn fitting(raw: &str) -> String {
    let text = Text::from(raw).to_string();
    if text.len() <= TEXT_MAX || text.encode_utf16().count() <= TEXT_MAX {
        return text;
    }
    let note = format!("... (cut: {} characters in all)", text.chars().count());
    let mut left = TEXT_MAX - note.len();
    let fits = |character: &char| {
        let enough = left >= character.len_utf16();
        left = left.saturating_sub(character.len_utf16());
        enough
    };
    text.chars().take_while(fits).chain(note.chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_exact() {
        let exact = 1_u64 << 53;
        assert_eq!(written(&Datum::Count(exact)), Written::Number(exact as f64, Shown::Whole));
        assert_eq!(written(&Datum::Count(exact + 1)), Written::Text("9007199254740993".into()));
        assert_eq!(written(&Datum::Count(u64::MAX)), Written::Text("18446744073709551615".into()));
        assert_eq!(written(&Datum::Integer(-(1 << 53) - 1)), Written::Text("-9007199254740993".into()));
        assert_eq!(written(&Datum::Number(f64::NAN)), Written::Empty);
    }

    #[test]
    fn texts_fit() {
        assert_eq!(
            written(&Datum::Text("a\u{1b}[2Jb\n".to_owned())),
            Written::Text("a\\u{1b}[2Jb\\n".into())
        );
        let fits = "ä".repeat(TEXT_MAX);
        assert_eq!(fitting(&fits), fits);
        // Each is two units.
        let long = "\u{1f980}".repeat(20_000);
        let cut = fitting(&long);
        assert!(cut.encode_utf16().count() <= TEXT_MAX && cut.encode_utf16().count() > TEXT_MAX - 2);
        assert!(cut.ends_with("\u{1f980}... (cut: 20000 characters in all)"), "{cut}");
    }

    /// Expected: `date -u -d '2024-02-29 12:00' +%s`, and 45351.5 as spreadsheets number that day.
    #[test]
    fn dates() {
        let noon = Datum::Time(1_709_208_000_000);
        assert_eq!(written(&noon), Written::Number(45_351.5, Shown::Date));
        assert_eq!(written(&Datum::Time(-1)), Written::Text("1969-12-31 23:59 UTC".into()));
    }
}
