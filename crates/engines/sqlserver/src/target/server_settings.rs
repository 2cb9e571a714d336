//! Settings of the whole server, where the user permits them to be changed.
//!
//! Original values are recorded in our database before, and restored from there before the database
//! is dropped: by this run or, after a kill, by the next one on that server.

use super::failures::failed_at;
use super::marks::note;
use crate::dialect::quote_literal;
use crate::live::client::Client;
use crate::live::views;
use engine::{EngineError, Result, Row, Rows};
use observations::order;
use std::collections::BTreeMap;

/// How names of the extended properties begin that hold what a setting was.
const WAS: &str = "steelbench found ";

/// Without it, `sp_configure` does not know most settings.
const ADVANCED: &str = "show advanced options";

/// The value in use is never below this, MiB; 0 is its default.
const MIN_MEMORY: &str = "min server memory (MB)";
const MIN_MEMORY_MIB: i64 = 16;

/// A name of `sys.configurations` as an experiment file has it: `max server memory (MB)` is
/// `max_server_memory_mb`.
pub fn name_in_file(name: &str) -> String {
    let words =
        name.split(|sign: char| !sign.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("_")
}

/// The settings that the server has: their names in files, their own names and values.
pub fn known(master: &mut Client) -> Result<BTreeMap<String, (String, i64)>> {
    let rows = master
        .query(&views::CONFIGURATIONS.sql())
        .map_err(failed_at(views::CONFIGURATIONS.name))?;
    let settings = rows.iter().filter_map(|row| {
        let name = row.text("name");
        Some((name_in_file(&name), (name, row.parse("in_use")?)))
    });
    Ok(settings.collect())
}

/// Refuses to change settings while others have changed some that are not in use yet: each
/// RECONFIGURE would put these in use, too. `changed`: settings that Steelbench has changed.
///
/// # Errors
/// With their names.
pub fn refuse_pending(master: &mut Client, changed: &[(String, i64)]) -> Result<()> {
    let rows = master
        .query(&views::CONFIGURATIONS.sql())
        .map_err(failed_at(views::CONFIGURATIONS.name))?;
    let pending = pending(&rows, changed);
    if pending.is_empty() {
        return Ok(());
    }
    let message = format!(
        "RECONFIGURE would also apply pending changes by other logins: {}; apply them \
         (RECONFIGURE) or take them back first",
        pending.join(", ")
    );
    Err(EngineError::failed("changing the server's settings", message))
}

/// Settings whose values RECONFIGURE would change. Those that need a restart stay as they are.
fn pending(rows: &Rows, changed: &[(String, i64)]) -> Vec<String> {
    let pending = rows.iter().filter(|row| {
        if changed.iter().any(|(name, _)| row.get("name") == Some(name)) {
            return false;
        }
        let [configured, in_use] = ["configured", "in_use"].map(|column| row.parse::<i64>(column));
        // The server's own minimum stands for 0 there.
        let is_minimum = row.get("name") == Some(MIN_MEMORY)
            && configured == Some(0)
            && in_use.is_some_and(|mib| mib <= MIN_MEMORY_MIB);
        configured != in_use && row.get("is_dynamic") != Some("0") && !is_minimum
    });
    let text = |row: Row<'_>| {
        format!(
            "{} = {} (in use: {})",
            row.text("name"),
            row.text("configured"),
            row.text("in_use")
        )
    };
    pending.map(text).collect()
}

/// Changes settings, each recorded before, and reads them back.
pub fn apply(master: &mut Client, settings: &BTreeMap<String, i64>) -> Result<()> {
    if settings.is_empty() {
        return Ok(());
    }
    refuse_pending(master, &[])?;
    let known = self::known(master)?;
    let path = |name: &str| format!("target.settings.{name}");
    let mut changes = Vec::new();
    for (name, value) in settings {
        let names: Vec<&str> = known.keys().map(String::as_str).collect();
        let (known_value, now) = known.get(name).ok_or_else(|| {
            EngineError::failed(path(name), experiment::unknown_name("setting", name, &names))
        })?;
        changes.push((known_value.clone(), *now, *value));
    }
    let advanced = known.get(&name_in_file(ADVANCED)).map_or(1, |(_, now)| *now);
    changes.insert(0, (ADVANCED.to_owned(), advanced, 1));
    changes.retain(|(_, now, value)| now != value);
    for (name, now, _) in &changes {
        note(master, &format!("{WAS}{name}"), &now.to_string())
            .map_err(failed_at("saving the server's settings"))?;
    }
    for (name, _, value) in &changes {
        configure(master, name, *value)?;
    }
    let now = self::known(master)?;
    for (name, value) in settings {
        let got = now.get(name).map(|(_, value)| *value);
        if got != Some(*value) {
            let got = got.map_or_else(|| "nothing".into(), |got| got.to_string());
            return Err(EngineError::SettingIgnored {
                setting: path(name),
                expected: value.to_string(),
                got,
            });
        }
    }
    Ok(())
}

/// Puts back what the records in our database say.
pub fn put_back(master: &mut Client) -> Result<()> {
    let doing = "restoring the server's settings";
    let marks = master.query(&views::MARKS.sql()).map_err(failed_at(doing))?;
    let records = marks.iter().filter_map(|row| {
        Some((row.get("name")?.strip_prefix(WAS)?.to_owned(), row.parse::<i64>("value")?))
    });
    let mut records: Vec<(String, i64)> = records.collect();
    if !records.is_empty() {
        refuse_pending(master, &records)?;
    }
    // Others are not known without it.
    order::by_key(&mut records, &|(name, _)| name == ADVANCED);
    records.iter().try_for_each(|(name, value)| configure(master, name, *value))
}

fn configure(master: &mut Client, name: &str, value: i64) -> Result<()> {
    let doing = format!("setting {name} = {value} on the server");
    master.run(&configuring(name, value)).map_err(failed_at(&doing))
}

/// The statement that changes a setting.
pub fn configuring(name: &str, value: i64) -> String {
    format!("EXEC sys.sp_configure {}, {value}; RECONFIGURE", quote_literal(name))
}

#[cfg(test)]
mod tests {
    use super::{name_in_file, pending};
    use testing::rows::rows;

    #[test]
    fn settings_that_reconfigure_would_change_are_named() {
        let rows = rows(
            "name | configured | in_use | is_dynamic
             max degree of parallelism | 4 | 8 | 1
             max worker threads | 512 | 0 | 0
             min server memory (MB) | 0 | 16 | 1
             cost threshold for parallelism | 5 | 5 | 1
             backup compression default | 1 | 0 | 1",
        );
        let parallelism = "max degree of parallelism = 4 (in use: 8)";
        assert_eq!(
            pending(&rows, &[]),
            [parallelism, "backup compression default = 1 (in use: 0)"]
        );
        let changed = [("backup compression default".to_owned(), 0)];
        assert_eq!(pending(&rows, &changed), [parallelism]);
    }

    #[test]
    fn names_are_written_with_underscores() {
        for (name, in_file) in [
            ("max server memory (MB)", "max_server_memory_mb"),
            ("max degree of parallelism", "max_degree_of_parallelism"),
            ("ADR cleaner retry timeout (min)", "adr_cleaner_retry_timeout_min"),
        ] {
            assert_eq!(name_in_file(name), in_file);
        }
    }
}
