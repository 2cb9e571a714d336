//! Records as rows of tables: the columns of each kind are listed once, for writing and reading.

mod guard;
mod profile;
mod text;

pub(crate) use guard::Values;

use observations::{
    ActivityRecord, AdaptiveRepeats, ConfigurationRecord, CountedStatement, DeviceUse, Direction,
    Environment, Fact, FactorRecord, FailureKind, FileRecord, GitState, Histogram, HookOutput,
    Latency, LevelRecord, LoadHealth, MachineLoad, Observations, Operation, Percentile,
    QueryInterval, QueryPlan, Response, Role, RunRecord, ScriptStatement, Series, ServerActivity,
    TimeUse, TrialRecord, TrialStatus, Value, VolumeNames, Wait, WaitClass, WaitSource,
    WaitedResource, Warning, WarningKind, Work, range,
};
use rusqlite::types::{Null, ToSqlOutput, Type, ValueRef};
use rusqlite::{Connection, Params, Result, Row, ToSql, Transaction};
use serde::Deserialize;
use serde::de::value::StrDeserializer;
use std::collections::BTreeMap;
use std::error::Error;

/// A record that is a row of a table.
pub(crate) trait Record: Field {
    const TABLE: &'static str;
    /// True if its owner has at most one, so that it has no position.
    const IS_SINGLE: bool = false;
    /// The columns, without those of its owner and position.
    const COLUMNS: &'static [&'static str];
}

/// Part of a record: one column of its table, or several.
pub(crate) trait Field: Sized {
    /// Adds the values of its columns.
    fn write<'a>(&'a self, values: &mut Values<'a>) -> Result<()>;
    fn read(columns: &mut Columns) -> Result<Self>;
}

/// A row of which the columns before `next` have been read.
pub(crate) struct Columns<'a> {
    row: &'a Row<'a>,
    next: usize,
}

impl<'a> Columns<'a> {
    /// The columns after the first `keys`.
    pub fn after(keys: usize, row: &'a Row<'a>) -> Self {
        Self { row, next: keys }
    }

    fn next(&mut self) -> usize {
        self.next += 1;
        self.next - 1
    }

    fn text(&mut self) -> Result<&'a str> {
        let column = self.next();
        Ok(self.row.get_ref(column)?.as_str()?)
    }

    /// Skips the next column if it is NULL, and returns whether it is.
    fn is_null(&mut self) -> Result<bool> {
        let is_null = self.row.get_ref(self.next)? == ValueRef::Null;
        self.next += usize::from(is_null);
        Ok(is_null)
    }

    fn bytes(&mut self) -> Result<&'a [u8]> {
        let column = self.next();
        Ok(self.row.get_ref(column)?.as_blob()?)
    }

    /// The content of the last column is not what this program wrote there.
    fn unreadable(&self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> rusqlite::Error {
        unreadable(self.next - 1, cause)
    }
}

/// A column whose content is not what this program wrote there.
pub(crate) fn unreadable(
    column: usize,
    cause: impl Into<Box<dyn Error + Send + Sync>>,
) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, cause.into())
}

/// A record that cannot be written.
pub(crate) fn unrecordable(cause: impl Into<Box<dyn Error + Send + Sync>>) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(cause.into())
}

/// Writes a record with the columns that say where it belongs; returns its number in the table.
pub(crate) fn insert<R: Record>(
    transaction: &Transaction,
    keys: &[(&str, &dyn ToSql)],
    record: &R,
) -> Result<i64> {
    let names: Vec<&str> = keys.iter().map(|key| key.0).chain(R::COLUMNS.iter().copied()).collect();
    let columns = names.join(", ");
    let count = columns.split(',').count();
    let mut values = Values::default();
    values.extend(keys.iter().map(|key| key.1.to_sql()).collect::<Result<Vec<_>>>()?);
    record.write(&mut values)?;
    values.fill(count);
    let sql =
        format!("INSERT INTO {} ({columns}) VALUES ({})", R::TABLE, vec!["?"; count].join(", "));
    let mut statement = transaction.prepare_cached(&sql)?;
    values.execute(&mut statement)?;
    Ok(transaction.last_insert_rowid())
}

/// The row that records belong to: a column that refers to it, and its number.
#[derive(Clone, Copy)]
pub(crate) struct Owner {
    pub column: &'static str,
    pub id: i64,
}

/// Writes the records of one kind that belong to `owner`.
pub(crate) fn insert_all<R: Record>(
    transaction: &Transaction,
    owner: Owner,
    records: &[R],
) -> Result<()> {
    for (position, record) in records.iter().enumerate() {
        let keys: [(&str, &dyn ToSql); 2] = [(owner.column, &owner.id), ("position", &position)];
        insert(transaction, if R::IS_SINGLE { &keys[..1] } else { &keys }, record)?;
    }
    Ok(())
}

/// Reads records after the columns in `keys`; the `rest` of the query follows the table.
pub(crate) fn select<R: Record, T>(
    connection: &Connection,
    keys: &[&str],
    rest: &str,
    parameters: impl Params,
    with_keys: impl Fn(&Row, R) -> Result<T>,
) -> Result<Vec<T>> {
    let sql = format!("SELECT {} FROM {} {rest}", [keys, R::COLUMNS].concat().join(", "), R::TABLE);
    let mut query = connection.prepare_cached(&sql)?;
    let read = |row: &Row| with_keys(row, R::read(&mut Columns::after(keys.len(), row))?);
    query.query_map(parameters, read)?.collect()
}

/// Fields by how they are kept: as SQLite does it, as the word that serde gives a variant, as JSON.
macro_rules! fields {
    (plain: $($plain:ty)*; words: $($word:ty)*; json: $($json:ty)*) => {
        $(impl Field for $plain {
            fn write<'a>(&'a self, values: &mut Values<'a>) -> Result<()> {
                values.push(self.to_sql()?);
                Ok(())
            }
            fn read(columns: &mut Columns) -> Result<Self> {
                columns.row.get(columns.next())
            }
        })*
        $(impl Field for $word {
            fn write<'a>(&'a self, values: &mut Values<'a>) -> Result<()> {
                let json = serde_json::to_value(self).map_err(unrecordable)?;
                let word = json.as_str().ok_or_else(|| unrecordable(format!("{json} is not a \
                                                                             word")))?;
                values.push(word.to_owned().into());
                Ok(())
            }
            fn read(columns: &mut Columns) -> Result<Self> {
                let word = StrDeserializer::<serde::de::value::Error>::new(columns.text()?);
                Self::deserialize(word).map_err(|error| columns.unreadable(error))
            }
        })*
        $(impl Field for $json {
            fn write<'a>(&'a self, values: &mut Values<'a>) -> Result<()> {
                values.json(self)
            }
            fn read(columns: &mut Columns) -> Result<Self> {
                columns.json()
            }
        })*
    };
}

fields! {
    plain: bool i64 u32 u64
        Option<bool> Option<i32> Option<u32> Option<u64> Option<usize> Option<f64>;
    words: Direction Role WaitClass WarningKind;
    json: Environment Vec<String> BTreeMap<String, u64>
}

/// Records, or parts of them, as their fields in the order of the columns; after `;` what other
/// tables have.
macro_rules! structs {
    ($($type:ident { $($field:ident),* $(; $($rest:tt)*)? })*) => {
        $(impl Field for $type {
            fn write<'a>(&'a self, values: &mut Values<'a>) -> Result<()> {
                $(self.$field.write(values)?;)*
                Ok(())
            }
            fn read(columns: &mut Columns) -> Result<Self> {
                Ok(Self { $($field: Field::read(columns)?,)* $($($rest)*)? })
            }
        })*
    };
}

macro_rules! column {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $columns:literal) => {
        $columns
    };
}

/// Tables: the columns of each field, where they are not called as it is.
macro_rules! tables {
    ($($table:literal $(, single: $single:literal)?: $type:ident {
        $($field:ident $(as $columns:literal)?),* $(; $($rest:tt)*)?
    })*) => {
        structs! { $($type { $($field),* $(; $($rest)*)? })* }
        $(impl Record for $type {
            const TABLE: &'static str = $table;
            $(const IS_SINGLE: bool = $single;)?
            const COLUMNS: &'static [&'static str] = &[$(column!($field $($columns)?)),*];
        })*
    };
}

tables! {
    "runs": RunRecord {
        name, question, source, response, baseline, equivalence_margin,
        adaptive as "blocks_min, blocks_max, blocks_until", started_ms, steelbench, label,
        git as "git_commit, git_changed";
        id: 0, seed: 0
    }
    "factors": FactorRecord { name, numeric as "is_numeric", hard_to_change; levels: Vec::new() }
    "levels": Level { label, number }
    "configurations": ConfigurationRecord { key, label; levels: Vec::new(), settings: [].into() }
    "configuration_levels": LevelRecord { factor, level }
    "settings": Setting { path, value }
    "roles": RoleOfSetting { path, role }
    "files": FileRecord { named_by, path, sha256, content }
    "trials": TrialRecord {
        block, setup, sequence, attempt, machine, started_ms, wall_s,
        status as "status, cause, failure",
        observations as "observed, elapsed_s, connections, work_unit, work_amount, transactions, \
                         errors, retries, session_s, cpu_s, cpu_user_s, sampled_running_s, \
                         synthetic, timeout_s";
        configuration: 0, hooks: Vec::new()
    }
    "hooks": HookOutput { hook, command, exit_code, elapsed_s, output }
    "responses": Response {
        name, unit, direction, value, resolution, percentile as "percent, percent_of"
    }
    "facts": Fact { name, unit, value }
    "plans": QueryPlan { statement, hash, text, analysis, estimated_rows, estimated_cost, reason }
    "waits": Wait { wait_type, class, count, resource_s, signal_s, source as "source, sampled_hz, \
                                                                              samples, error_s, \
                                                                              counter" }
    "resources": WaitedResource { wait_type, class, resource, kind, remedy, samples, sessions_max }
    // The figures beside the histogram are for people who query the table.
    "latencies": Latency {
        name, histogram as "histogram, count, min_ns, mean_ns, max_ns, p50_ns, p95_ns, p99_ns, \
                            p999_ns"
    }
    "statements": ScriptStatement { script, text, count, wall_s, wall_s_max, failures, retries }
    "operations": Operation { name, count, bytes, wall_s }
    "series": Series { name, unit, start_s, interval_s, values as "interval_values" }
    "load_health", single: true: LoadHealth {
        client_share, run_delay_share, sends_intended, sends_missed, send_delay_us_max, sends_late,
        schedule_s,
        free_until_s
    }
    "machine_load", single: true: MachineLoad { cpus, busy_s, own_s, steal_s, iowait_s }
    "devices": DeviceUse {
        volume, device, reads, read_bytes, read_s, writes, write_bytes, write_s, flushes, flush_s,
        busy_s, queue_s,
        elapsed_s
    }
    "warnings": Warning { kind, detail }
    "server_activities": ActivityRecord { started_ms, steelbench, address, activity; id: 0 }
    "query_intervals": QueryInterval {
        steelbench, address, engine, server, from_ms, to_ms, block_bytes, evictions, notes; id: 0,
        statements: Vec::new()
    }
    "query_counts": CountedStatement {
        digest, database as "database_name", user as "user_name", is_top, text, is_partial,
        counters, plan_hash, plan
    }
}

structs! {
    Observations { elapsed_s, connections, work, time, synthetic, timeout_s; ..Self::default() }
    Work { unit, amount, transactions, errors, retries }
    TimeUse { session_s, cpu_s, cpu_user_s, sampled_running_s }
    AdaptiveRepeats { min, max, until }
    Percentile { percent, values }
    GitState { commit, changed }
}

/// A level of a factor; without a number where the factor has none.
pub(crate) struct Level {
    pub label: String,
    pub number: f64,
}

/// A setting of a configuration.
pub(crate) struct Setting {
    pub path: String,
    pub value: Value,
}

/// The part that a setting plays in a run.
pub(crate) struct RoleOfSetting {
    pub path: String,
    pub role: Role,
}

impl Record for Environment {
    const TABLE: &'static str = "environments";
    const COLUMNS: &'static [&'static str] = &["json"];
}

/// A part of a record that may be absent: then all of its columns are NULL.
trait Optional: Field {
    /// The number of its columns.
    const COLUMNS: usize;
}

impl Optional for AdaptiveRepeats {
    const COLUMNS: usize = 3;
}

impl Optional for Percentile {
    const COLUMNS: usize = 2;
}

impl Optional for GitState {
    const COLUMNS: usize = 2;
}

impl<T: Optional> Field for Option<T> {
    fn write<'a>(&'a self, values: &mut Values<'a>) -> Result<()> {
        match self {
            Some(part) => part.write(values)?,
            None => values.extend(vec![Null.into(); T::COLUMNS]),
        }
        Ok(())
    }

    fn read(columns: &mut Columns) -> Result<Self> {
        if columns.is_null()? {
            columns.next += T::COLUMNS - 1;
            return Ok(None);
        }
        T::read(columns).map(Some)
    }
}

/// A REAL column; SQLite keeps what is not a number as NULL.
impl Field for f64 {
    fn write<'a>(&'a self, values: &mut Values<'a>) -> Result<()> {
        values.push(self.to_sql()?);
        Ok(())
    }

    fn read(columns: &mut Columns) -> Result<Self> {
        Ok(Option::read(columns)?.unwrap_or(Self::NAN))
    }
}

/// The numbers of a factor's levels, if it has any.
impl Field for Option<Vec<f64>> {
    fn write<'a>(&'a self, values: &mut Values<'a>) -> Result<()> {
        values.push(self.is_some().into());
        Ok(())
    }

    fn read(columns: &mut Columns) -> Result<Self> {
        Ok(bool::read(columns)?.then(Vec::new))
    }
}

impl Field for VolumeNames {
    fn write<'a>(&'a self, values: &mut Values<'a>) -> Result<()> {
        values.push(self.to_string().into());
        Ok(())
    }

    fn read(columns: &mut Columns) -> Result<Self> {
        Ok(String::read(columns)?.into())
    }
}

impl Field for TrialStatus {
    fn write<'a>(&'a self, values: &mut Values<'a>) -> Result<()> {
        values.extend(match self {
            Self::Done => ["done".into(), Null.into(), Null.into()],
            Self::Failed { cause, kind } => {
                let kind = match kind {
                    FailureKind::Error => "error",
                    FailureKind::Futile => "futile",
                    FailureKind::Machine => "machine",
                };
                ["failed".into(), cause.to_sql()?, kind.into()]
            }
        });
        Ok(())
    }

    fn read(columns: &mut Columns) -> Result<Self> {
        let (status, cause) = (columns.text()?, Option::<String>::read(columns)?);
        let failure = Option::<String>::read(columns)?;
        if status == "done" {
            return Ok(Self::Done);
        }
        let kind = match failure.as_deref() {
            Some("futile") => FailureKind::Futile,
            Some("machine") => FailureKind::Machine,
            _ => FailureKind::Error,
        };
        Ok(Self::Failed { cause: cause.unwrap_or_default(), kind })
    }
}

impl Field for WaitSource {
    fn write<'a>(&'a self, values: &mut Values<'a>) -> Result<()> {
        let (source, hz, counter) = match self {
            Self::Counted => ("counted", None, None),
            Self::Sampled { hz, .. } => ("sampled", Some(*hz), None),
            Self::Server { counter, .. } => ("counted", None, Some(counter)),
        };
        let samples = self.samples().map(|samples| samples as i64);
        values.extend([
            source.into(),
            ToSqlOutput::Owned(hz.into()),
            ToSqlOutput::Owned(samples.into()),
            ToSqlOutput::Owned(self.error_s().into()),
            counter.map_or(Null.into(), |name| name.as_str().into()),
        ]);
        Ok(())
    }

    fn read(columns: &mut Columns) -> Result<Self> {
        let (source, hz) = (columns.text()?, Field::read(columns)?);
        let (samples, error_s) = (Field::read(columns)?, Field::read(columns)?);
        let counter: Option<String> = Field::read(columns)?;
        Ok(match counter {
            _ if source != "counted" => Self::Sampled { hz, samples, error_s },
            Some(counter) => Self::Server { counter, error_s },
            None => Self::Counted,
        })
    }
}

/// A trial's observations, if any.
impl Field for Option<Observations> {
    fn write<'a>(&'a self, values: &mut Values<'a>) -> Result<()> {
        values.push(self.is_some().into());
        self.iter().try_for_each(|option| option.write(values))
    }

    fn read(columns: &mut Columns) -> Result<Self> {
        bool::read(columns)?.then(|| Field::read(columns)).transpose()
    }
}

impl Field for Histogram {
    fn write<'a>(&'a self, values: &mut Values<'a>) -> Result<()> {
        let (min, mean, max) = self.min_mean_max_ns();
        values.extend([
            self.to_bytes().into(),
            count(self.len())?,
            count(min)?,
            mean.into(),
            count(max)?,
        ]);
        for percent in [50.0, 95.0, 99.0, 99.9] {
            values.push(count(self.percentile_ns(percent))?);
        }
        Ok(())
    }

    /// NULL in place of the histogram means that it was not requested: see [`HISTOGRAM`].
    fn read(columns: &mut Columns) -> Result<Self> {
        if columns.is_null()? {
            return Ok(Self::of_figures(
                Field::read(columns)?,
                Field::read(columns)?,
                Field::read(columns)?,
                Field::read(columns)?,
            ));
        }
        Self::from_bytes(columns.bytes()?).map_err(|error| columns.unreadable(error))
    }
}

/// The column of a latency that takes time to read. The figures follow it.
pub(crate) const HISTOGRAM: &str = "histogram";

impl Field for ServerActivity {
    fn write<'a>(&'a self, values: &mut Values<'a>) -> Result<()> {
        values.json(self)
    }

    fn read(columns: &mut Columns) -> Result<Self> {
        let mut json = columns.json()?;
        range::limit_json(&mut json);
        serde_json::from_value(json).map_err(|error| columns.unreadable(error))
    }
}

/// A count as SQLite keeps it; one above 2^63 is refused.
fn count(count: u64) -> Result<ToSqlOutput<'static>> {
    Ok(i64::try_from(count).map_err(unrecordable)?.into())
}

#[cfg(test)]
mod tests {
    use super::{Columns, Field, Values};
    use rusqlite::Connection;

    /// Reads what [`write`] wrote.
    fn read(connection: &Connection, json: &str) -> rusqlite::Result<Vec<f64>> {
        connection.query_row("SELECT ?1", [json], |row| Field::read(&mut Columns::after(0, row)))
    }

    fn json(values: &[f64]) -> String {
        let (values, mut written) = (values.to_vec(), Values::default());
        values.write(&mut written).unwrap();
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE t (json)").unwrap();
        written.execute(&mut connection.prepare("INSERT INTO t VALUES (?)").unwrap()).unwrap();
        connection.query_row("SELECT json FROM t", [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn json_keeps_every_bit() {
        let values = [
            0.1 + 0.2,
            -0.0,
            1.0,
            1e300,
            5e-324,
            f64::MAX,
            f64::MIN_POSITIVE,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
        ];
        let (json, connection) = (json(&values), Connection::open_in_memory().unwrap());
        let back = read(&connection, &json).unwrap();
        assert_eq!(back.len(), values.len());
        for (back, value) in back.iter().zip(values) {
            assert!(
                back.to_bits() == value.to_bits() || back.is_nan() && value.is_nan(),
                "{value} in {json}"
            );
        }
        assert_eq!(read(&connection, &self::json(&[])).unwrap(), Vec::<f64>::new());
    }

    #[test]
    fn sqlite_reads_it_as_json() {
        let connection = Connection::open_in_memory().unwrap();
        let json = json(&[1.5, f64::NAN, 1e300, f64::INFINITY]);
        let sum: f64 = connection
            .query_row("SELECT sum(value) FROM json_each(?1) WHERE value < 9e999", [json], |row| {
                row.get(0)
            })
            .unwrap();
        assert_eq!(sum.to_bits(), (1.5_f64 + 1e300).to_bits());
    }

    #[test]
    fn junk_is_refused() {
        let connection = Connection::open_in_memory().unwrap();
        for junk in ["", "[", "1,2", "[1;2]", "[1,]", "[a]"] {
            read(&connection, junk).unwrap_err();
        }
    }
}
