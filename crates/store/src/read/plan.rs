use crate::names::unreadable;
use crate::numbers::real;
use observations::{ConfigurationRecord, Environment, FactorRecord, LevelRecord, Recording, RunRecord};
use rusqlite::{Connection, Row, params};

pub(super) fn runs(connection: &Connection) -> rusqlite::Result<Vec<RunRecord>> {
    let sql = "SELECT id, name, question, source, seed, response, baseline, started_ms, steelbench
               FROM runs ORDER BY id";
    connection.prepare(sql)?.query_map([], run)?.collect()
}

pub(super) fn read(connection: &Connection, run: RunRecord) -> rusqlite::Result<Recording> {
    Ok(Recording {
        environments: environments(connection, run.id)?,
        factors: factors(connection, run.id)?,
        configurations: configurations(connection, run.id)?,
        trials: Vec::new(),
        run,
    })
}

fn run(row: &Row) -> rusqlite::Result<RunRecord> {
    let seed: String = row.get(4)?;
    Ok(RunRecord {
        id: row.get(0)?,
        name: row.get(1)?,
        question: row.get(2)?,
        source: row.get(3)?,
        seed: seed.parse().map_err(|error: std::num::ParseIntError| unreadable(4, error))?,
        response: row.get(5)?,
        baseline: row.get(6)?,
        started_ms: row.get(7)?,
        steelbench: row.get(8)?,
    })
}

fn environments(connection: &Connection, run: i64) -> rusqlite::Result<Vec<Environment>> {
    let mut query = connection.prepare("SELECT json FROM environments WHERE run = ?1 ORDER BY position")?;
    let environments = query.query_map(params![run], |row| {
        serde_json::from_str(row.get_ref(0)?.as_str()?).map_err(|error| unreadable(0, error))
    })?;
    environments.collect()
}

fn factors(connection: &Connection, run: i64) -> rusqlite::Result<Vec<FactorRecord>> {
    let mut levels =
        connection.prepare("SELECT label, number FROM levels WHERE factor = ?1 ORDER BY position")?;
    let mut query = connection.prepare(
        "SELECT id, name, is_numeric, hard_to_change FROM factors WHERE run = ?1 ORDER BY position",
    )?;
    let factors = query.query_map(params![run], |row| {
        let levels =
            levels.query_map(params![row.get::<_, i64>(0)?], |row| Ok((row.get(0)?, real(row, 1)?)))?;
        let (levels, numbers): (Vec<String>, Vec<f64>) = levels.collect::<rusqlite::Result<_>>()?;
        Ok(FactorRecord {
            name: row.get(1)?,
            levels,
            numeric: row.get::<_, bool>(2)?.then_some(numbers),
            hard_to_change: row.get(3)?,
        })
    })?;
    factors.collect()
}

fn configurations(connection: &Connection, run: i64) -> rusqlite::Result<Vec<ConfigurationRecord>> {
    let mut levels = connection.prepare(
        "SELECT factor, level FROM configuration_levels WHERE configuration = ?1 ORDER BY position",
    )?;
    let mut settings =
        connection.prepare("SELECT path, value FROM settings WHERE configuration = ?1 ORDER BY position")?;
    let mut query =
        connection.prepare("SELECT id, key, label FROM configurations WHERE run = ?1 ORDER BY position")?;
    let configurations = query.query_map(params![run], |row| {
        let id: i64 = row.get(0)?;
        let level = |row: &Row| Ok(LevelRecord { factor: row.get(0)?, level: row.get(1)? });
        let setting = |row: &Row| {
            let value = observations::Value::from_json(row.get_ref(1)?.as_str()?);
            Ok((row.get(0)?, value.map_err(|error| unreadable(1, error))?))
        };
        Ok(ConfigurationRecord {
            key: row.get(1)?,
            label: row.get(2)?,
            levels: levels.query_map(params![id], level)?.collect::<rusqlite::Result<_>>()?,
            settings: settings.query_map(params![id], setting)?.collect::<rusqlite::Result<_>>()?,
        })
    })?;
    configurations.collect()
}
