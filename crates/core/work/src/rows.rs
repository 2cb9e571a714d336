//! Rows in batches, column by column: what tables are filled with.

use std::fmt::{self, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

/// A batch of rows, column by column.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    /// Number of rows.
    pub count: usize,
    /// A value or the values of each column.
    pub columns: Vec<Values>,
}

/// Values of a column in a batch of rows.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// A single integer for all rows.
    Same(i64),
    /// A single text for all rows.
    SameText(&'static str),
    /// An integer for each row.
    Integers(Vec<i64>),
    /// Of [`crate::DataType::Decimal`]: hundredths.
    Decimals(Vec<i64>),
    /// Of [`crate::DataType::Date`]: days since 1970-01-01.
    Dates(Vec<i32>),
    /// Of [`crate::DataType::Timestamp`]: seconds since 1970-01-01 00:00.
    Timestamps(Vec<i64>),
    /// Of [`crate::DataType::Uuid`].
    Uuids(Vec<u128>),
    /// A text for each row.
    Texts(Texts),
    /// Values of which some are NULL.
    Nullable {
        /// A value for each row, also for those that are NULL.
        values: Box<Values>,
        /// True of rows that are NULL.
        nulls: Vec<bool>,
    },
}

impl Values {
    /// Appends the value of a row as text: `-12.34`, `1998-09-02`, `2010-03-29 12:00:00`, a UUID in
    /// its five groups; nothing for NULL.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, row: usize, out: &mut impl Write) -> fmt::Result {
        match self {
            Self::Same(number) => write!(out, "{number}"),
            Self::SameText(text) => out.write_str(text),
            Self::Integers(numbers) => write!(out, "{}", numbers[row]),
            Self::Decimals(hundredths) => write_decimal(hundredths[row], out),
            Self::Dates(days) => write_date(days[row].into(), out),
            Self::Timestamps(seconds) => write_timestamp(seconds[row], out),
            Self::Uuids(uuids) => write_uuid(uuids[row], out),
            Self::Texts(texts) => out.write_str(texts.get(row)),
            Self::Nullable { nulls, .. } if nulls[row] => Ok(()),
            Self::Nullable { values, .. } => values.write(row, out),
        }
    }
}

impl Values {
    /// The value of a row, without what says which of them are NULL; `None` for NULL.
    pub fn present(&self, row: usize) -> Option<&Self> {
        match self {
            Self::Nullable { nulls, .. } if nulls[row] => None,
            Self::Nullable { values, .. } => values.present(row),
            values => Some(values),
        }
    }

    /// The values of these rows, in this order.
    #[must_use]
    pub fn gather(&self, rows: &[u32]) -> Self {
        fn pick<T: Copy>(values: &[T], rows: &[u32]) -> Vec<T> {
            rows.iter().map(|row| values[*row as usize]).collect()
        }
        match self {
            Self::Same(number) => Self::Same(*number),
            Self::SameText(text) => Self::SameText(text),
            Self::Integers(values) => Self::Integers(pick(values, rows)),
            Self::Decimals(values) => Self::Decimals(pick(values, rows)),
            Self::Dates(values) => Self::Dates(pick(values, rows)),
            Self::Timestamps(values) => Self::Timestamps(pick(values, rows)),
            Self::Uuids(values) => Self::Uuids(pick(values, rows)),
            Self::Texts(texts) => {
                Self::Texts(Texts::from_texts(rows.iter().map(|row| texts.get(*row as usize))))
            }
            Self::Nullable { values, nulls } => {
                Self::Nullable { values: values.gather(rows).into(), nulls: pick(nulls, rows) }
            }
        }
    }

    /// Adds the values of further rows of the column, which are of the same kind.
    pub fn append(&mut self, more: Self) {
        match (self, more) {
            (Self::Integers(all), Self::Integers(more))
            | (Self::Decimals(all), Self::Decimals(more))
            | (Self::Timestamps(all), Self::Timestamps(more)) => all.extend(more),
            (Self::Dates(all), Self::Dates(more)) => all.extend(more),
            (Self::Uuids(all), Self::Uuids(more)) => all.extend(more),
            (Self::Texts(all), Self::Texts(more)) => all.append(&more),
            (
                Self::Nullable { values, nulls },
                Self::Nullable { values: more, nulls: more_nulls },
            ) => {
                values.append(*more);
                nulls.extend(more_nulls);
            }
            // The same value in all rows stays what it is.
            _ => {}
        }
    }

    /// Bytes of a value, on average where they differ.
    pub fn value_bytes(&self) -> f64 {
        match self {
            Self::Same(_) | Self::Integers(_) | Self::Decimals(_) | Self::Timestamps(_) => 8.0,
            Self::Dates(_) => 4.0,
            Self::Uuids(_) => 16.0,
            Self::SameText(text) => text.len() as f64,
            Self::Texts(texts) => texts.all.len() as f64 / texts.ends.len().max(1) as f64,
            Self::Nullable { values, .. } => values.value_bytes(),
        }
    }
}

/// Days since 1970-01-01 of a date as [`Values::write`] writes it, `1995-03-15`: the inverse of
/// `write_date` (Hinnant, `days_from_civil`). `None` if it is not a date from 0001 to 9999.
pub fn day(text: &str) -> Option<i32> {
    let mut parts = text.split('-').map(|part| {
        let digits = part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse::<i64>().ok().filter(|_| digits)
    });
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    if parts.next().is_some() || !(1..=9999).contains(&year) || !(1..=12).contains(&month) {
        return None;
    }
    let year_from_march = year - i64::from(month <= 2);
    let (era, year_of_era) = (year_from_march.div_euclid(400), year_from_march.rem_euclid(400));
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let days = (era * 146_097 + day_of_era - 719_468) as i32;
    // A day that the month has not is written as another one.
    let mut written = String::new();
    Values::Dates(vec![days]).write(0, &mut written).ok()?;
    (written == format!("{year:04}-{month:02}-{day:02}")).then_some(days)
}

fn write_decimal(hundredths: i64, out: &mut impl Write) -> fmt::Result {
    let sign = if hundredths < 0 { "-" } else { "" };
    let size = hundredths.unsigned_abs();
    write!(out, "{sign}{}.{:02}", size / 100, size % 100)
}

/// The day in the Gregorian calendar, from years that begin in March and eras of 400 of them
/// (Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`).
fn write_date(days: i64, out: &mut impl Write) -> fmt::Result {
    let since_0000_03_01 = days + 719_468;
    let (era, day_of_era) =
        (since_0000_03_01.div_euclid(146_097), since_0000_03_01.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    if !(0..10_000).contains(&year) {
        return write!(out, "{year:04}-{month:02}-{day:02}");
    }
    // Millions of them are written, which formatting would take most of the time for.
    [year / 1000, year / 100, year / 10, year, -1, month / 10, month, -1, day / 10, day]
        .iter()
        .try_for_each(|digit| {
            out.write_char(if *digit < 0 { '-' } else { (b'0' + (digit % 10) as u8).into() })
        })
}

fn write_timestamp(seconds: i64, out: &mut impl Write) -> fmt::Result {
    write_date(seconds.div_euclid(86_400), out)?;
    let second = seconds.rem_euclid(86_400);
    write!(out, " {:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60)
}

fn write_uuid(uuid: u128, out: &mut impl Write) -> fmt::Result {
    let group = |shift: u32, digits: u32| (uuid >> shift) & ((1 << (digits * 4)) - 1);
    write!(
        out,
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        group(96, 8),
        group(80, 4),
        group(64, 4),
        group(48, 4),
        group(0, 12)
    )
}

/// Texts, one behind the other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Texts {
    all: String,
    /// Where each of them ends.
    ends: Vec<usize>,
}

impl Texts {
    /// The text of a row.
    pub fn get(&self, row: usize) -> &str {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.all[start..self.ends[row]]
    }

    /// Texts as they are, which takes less than to format them.
    pub fn from_texts<'t>(texts: impl ExactSizeIterator<Item = &'t str>) -> Self {
        let mut rows = Self { all: String::new(), ends: Vec::with_capacity(texts.len()) };
        texts.for_each(|text| rows.push(text));
        rows
    }

    /// Adds a text.
    pub fn push(&mut self, text: &str) {
        self.all.push_str(text);
        self.ends.push(self.all.len());
    }

    fn append(&mut self, more: &Self) {
        let before = self.all.len();
        self.all.push_str(&more.all);
        self.ends.extend(more.ends.iter().map(|end| before + end));
    }
}

impl<T: fmt::Display> FromIterator<T> for Texts {
    fn from_iter<I: IntoIterator<Item = T>>(texts: I) -> Self {
        let mut all = Self::default();
        for text in texts {
            // Writing to memory cannot fail.
            let _ = write!(all.all, "{text}");
            all.ends.push(all.all.len());
        }
        all
    }
}

/// Rows of one table, made batch by batch.
pub struct Fill {
    /// Position in [`Work::tables`].
    pub table: usize,
    /// The columns that the rows have; the others get their defaults.
    pub columns: Vec<&'static str>,
    /// The rows, in batches.
    pub batches: Box<dyn Iterator<Item = Rows> + Send>,
    /// The number of threads that load rows that they have taken while another takes more. An
    /// engine that loads in the thread that takes them leaves it at 0.
    pub busy: Arc<AtomicUsize>,
}

impl Fill {
    /// Rows for these columns of the table at a position.
    pub fn new(
        table: usize,
        columns: Vec<&'static str>,
        batches: impl Iterator<Item = Rows> + Send + 'static,
    ) -> Self {
        Self { table, columns, batches: Box::new(batches), busy: Arc::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::{Texts, Values, day};

    fn text(values: &Values) -> String {
        let mut text = String::new();
        values.write(0, &mut text).unwrap();
        text
    }

    #[test]
    fn values_as_text() {
        for (days, date) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (11_016, "2000-02-29"),
            (11_017, "2000-03-01"),
            (47_540, "2100-02-28"),
            (47_541, "2100-03-01"),
            (8035, "1992-01-01"),
        ] {
            assert_eq!(text(&Values::Dates(vec![days])), date);
            assert_eq!(day(date), Some(days));
        }
        for no_date in [
            "1995-02-29",
            "1995-13-01",
            "1995-00-10",
            "1995-1",
            "1995-01-01-01",
            "+995-01-01",
            "-1-01-01",
            "",
        ] {
            assert_eq!(day(no_date), None, "{no_date}");
        }
        assert_eq!(text(&Values::Timestamps(vec![86_399])), "1970-01-01 23:59:59");
        for (hundredths, decimal) in [(0, "0.00"), (-7, "-0.07"), (123_456, "1234.56")] {
            assert_eq!(text(&Values::Decimals(vec![hundredths])), decimal);
        }
        let uuid = 0x0123_4567_89ab_4def_8000_0000_0000_00ff;
        assert_eq!(text(&Values::Uuids(vec![uuid])), "01234567-89ab-4def-8000-0000000000ff");
    }

    #[test]
    fn texts_stand_one_behind_the_other() {
        let texts: Texts = ["one", "", "drei"].into_iter().collect();
        assert_eq!((texts.get(0), texts.get(1), texts.get(2)), ("one", "", "drei"));
        let mut all = Values::Texts(texts);
        all.append(Values::Texts(["vier"].into_iter().collect()));
        assert_eq!(
            all.gather(&[3, 0, 3]),
            Values::Texts(["vier", "one", "vier"].into_iter().collect())
        );
    }
}
