//! What trials consist of besides their own row: each kind of part has a table, of which the columns are said once,
//! for writing and for reading.

use crate::names::{unreadable, variant, word};
use crate::numbers::{self, real};
use observations::{
    DeviceUse, Direction, Fact, Histogram, HookOutput, Latency, LoadHealth, MachineLoad, Operation, Response,
    Series, Wait, WaitClass, WaitSource, Warning, WarningKind,
};
use rusqlite::types::{Null, ToSqlOutput};
use rusqlite::{Row, ToSql, Transaction, params_from_iter};

/// Part of a trial: a row of a table that refers to the trial.
pub(crate) trait Part: Sized {
    const TABLE: &'static str;
    /// Whether a trial has one at most, so that it has no position.
    const IS_ONE: bool = false;
    /// Its columns after the trial and the position.
    const COLUMNS: &'static [&'static str];

    /// The values of the columns.
    fn values(&self) -> rusqlite::Result<Vec<ToSqlOutput<'_>>>;

    /// Reads a row whose columns from 1 on are [`Part::COLUMNS`].
    fn read(row: &Row) -> rusqlite::Result<Self>;
}

/// Writes the parts of one kind that a trial has.
pub(crate) fn insert<P: Part>(transaction: &Transaction, trial: i64, parts: &[P]) -> rusqlite::Result<()> {
    let keys: &[&str] = if P::IS_ONE { &["trial"] } else { &["trial", "position"] };
    let columns = [keys, P::COLUMNS].concat();
    let places = vec!["?"; columns.len()].join(", ");
    let sql = format!("INSERT INTO {} ({}) VALUES ({places})", P::TABLE, columns.join(", "));
    let mut insert = transaction.prepare(&sql)?;
    for (position, part) in parts.iter().enumerate() {
        let keys =
            [ToSqlOutput::from(trial), ToSqlOutput::from(position as i64)].into_iter().take(keys.len());
        insert.execute(params_from_iter(keys.chain(part.values()?)))?;
    }
    Ok(())
}

/// A field that is one column.
trait Field: Sized {
    fn write(&self) -> rusqlite::Result<ToSqlOutput<'_>>;
    fn read(row: &Row, column: usize) -> rusqlite::Result<Self>;
}

macro_rules! fields {
    ($($type:ty)*; words: $($word:ty)*) => {
        $(impl Field for $type {
            fn write(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                self.to_sql()
            }
            fn read(row: &Row, column: usize) -> rusqlite::Result<Self> {
                row.get(column)
            }
        })*
        $(impl Field for $word {
            fn write(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                word(self).map(ToSqlOutput::from)
            }
            fn read(row: &Row, column: usize) -> rusqlite::Result<Self> {
                variant(row, column)
            }
        })*
    };
}

fields! { String u32 u64 Option<i32> Option<u64> Option<f64>; words: Direction WaitClass WarningKind }

impl Field for f64 {
    fn write(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.to_sql()
    }

    fn read(row: &Row, column: usize) -> rusqlite::Result<Self> {
        real(row, column)
    }
}

macro_rules! parts {
    ($($table:literal: $type:ident $(, one: $one:literal)? { $($field:ident),* })*) => {
        $(impl Part for $type {
            const TABLE: &'static str = $table;
            $(const IS_ONE: bool = $one;)?
            const COLUMNS: &'static [&'static str] = &[$(stringify!($field)),*];

            fn values(&self) -> rusqlite::Result<Vec<ToSqlOutput<'_>>> {
                Ok(vec![$(self.$field.write()?),*])
            }

            fn read(row: &Row) -> rusqlite::Result<Self> {
                // Fields are read in the order in which they stand here, which is that of the columns.
                let mut column = 0;
                Ok(Self {
                    $($field: {
                        column += 1;
                        Field::read(row, column)?
                    }),*
                })
            }
        })*
    };
}

parts! {
    "hooks": HookOutput { hook, command, exit_code, elapsed_s, output }
    "responses": Response { name, unit, direction, value }
    "facts": Fact { name, unit, value }
    "operations": Operation { name, count, bytes, wall_s }
    "load_health": LoadHealth, one: true { client_share, run_delay_share, sends_intended, sends_missed, send_delay_us_max }
    "machine_load": MachineLoad, one: true { cpus, busy_s, own_s, steal_s, iowait_s }
    "devices": DeviceUse {
        volume, device, reads, read_bytes, read_s, writes, write_bytes, write_s, flushes, flush_s, busy_s, queue_s,
        elapsed_s
    }
    "warnings": Warning { kind, detail }
}

impl Part for Wait {
    const TABLE: &'static str = "waits";
    const COLUMNS: &'static [&'static str] =
        &["wait_type", "class", "count", "resource_s", "signal_s", "source", "sampled_hz"];

    fn values(&self) -> rusqlite::Result<Vec<ToSqlOutput<'_>>> {
        let (source, hz) = match &self.source {
            WaitSource::Counted => ("counted", Null.to_sql()?),
            WaitSource::Sampled { hz } => ("sampled", hz.write()?),
        };
        let Self { wait_type, class, count, resource_s, signal_s, .. } = self;
        let start =
            [wait_type.write()?, class.write()?, count.write()?, resource_s.write()?, signal_s.write()?];
        Ok(start.into_iter().chain([ToSqlOutput::from(source), hz]).collect())
    }

    fn read(row: &Row) -> rusqlite::Result<Self> {
        let source = match row.get_ref(6)?.as_str()? {
            "counted" => WaitSource::Counted,
            _ => WaitSource::Sampled { hz: real(row, 7)? },
        };
        let (resource_s, signal_s) = (real(row, 4)?, real(row, 5)?);
        Ok(Self {
            wait_type: row.get(1)?,
            class: variant(row, 2)?,
            count: row.get(3)?,
            resource_s,
            signal_s,
            source,
        })
    }
}

/// The figures beside the histogram are for people who query the table.
impl Part for Latency {
    const TABLE: &'static str = "latencies";
    const COLUMNS: &'static [&'static str] = &[
        "name",
        "histogram",
        "count",
        "min_ns",
        "mean_ns",
        "p50_ns",
        "p95_ns",
        "p99_ns",
        "p999_ns",
        "max_ns",
    ];

    fn values(&self) -> rusqlite::Result<Vec<ToSqlOutput<'_>>> {
        let histogram = &self.histogram;
        let (min, mean, max) = histogram.min_mean_max_ns();
        let mut values =
            vec![self.name.write()?, ToSqlOutput::from(histogram.to_bytes()), owned(histogram.len())?];
        values.extend([owned(min)?, ToSqlOutput::from(mean)]);
        for percent in [50.0, 95.0, 99.0, 99.9] {
            values.push(owned(histogram.percentile_ns(percent))?);
        }
        values.push(owned(max)?);
        Ok(values)
    }

    fn read(row: &Row) -> rusqlite::Result<Self> {
        let bytes = row.get_ref(2)?.as_blob()?;
        Ok(Self {
            name: row.get(1)?,
            histogram: Histogram::from_bytes(bytes).map_err(|error| unreadable(2, error))?,
        })
    }
}

impl Part for Series {
    const TABLE: &'static str = "series";
    const COLUMNS: &'static [&'static str] = &["name", "unit", "start_s", "interval_s", "interval_values"];

    fn values(&self) -> rusqlite::Result<Vec<ToSqlOutput<'_>>> {
        let Self { name, unit, start_s, interval_s, values } = self;
        let values = ToSqlOutput::from(numbers::to_json(values));
        Ok(vec![name.write()?, unit.write()?, start_s.write()?, interval_s.write()?, values])
    }

    fn read(row: &Row) -> rusqlite::Result<Self> {
        let values = numbers::from_json(row.get_ref(5)?.as_str()?).map_err(|error| unreadable(5, error))?;
        let (start_s, interval_s) = (real(row, 3)?, real(row, 4)?);
        Ok(Self { name: row.get(1)?, unit: row.get(2)?, start_s, interval_s, values })
    }
}

/// A count as SQLite keeps it; one above 2^63 is refused.
pub(crate) fn owned(count: u64) -> rusqlite::Result<ToSqlOutput<'static>> {
    let count =
        i64::try_from(count).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    Ok(ToSqlOutput::from(count))
}
