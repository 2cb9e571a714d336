//! Preflight of a server: checks before the first trial that change nothing.

use super::database::{IS_FOREIGN, exists, is_marked};
use super::failures::failed_at;
use super::layout::{DATABASE, Layout, UNMARKED};
use super::server::{config, refuse_azure};
use super::server_settings::{known, refuse_pending};
use crate::live::client::Client;
use crate::live::views;
use crate::settings::{CACHE, URL, server_settings};
use engine::{CacheState, EngineError, Need, Preflight, Result};
use experiment::Invalid;
use std::collections::BTreeMap;
use std::time::Duration;
use work::Stop;

/// Connections of a trial in addition to those of the load: two of administration, two of the
/// collector of waits.
const OWN_CONNECTIONS: u32 = 4;

/// Returns the preflight problems of these needs.
pub fn preflight(needs: &[Need<'_>], stop: &Stop) -> Preflight {
    let mut found = Preflight::default();
    let mut by_url = BTreeMap::<String, Vec<&Need<'_>>>::new();
    for need in needs {
        by_url.entry(need.configuration.get(URL).unwrap_or_default()).or_default().push(need);
    }
    for needs in by_url.into_values() {
        let answers = ask(&needs, stop, &mut found);
        answers.unwrap_or_else(|error| found.misses(format!("{}: {error}", URL.path())));
    }
    found
}

/// Compares the sizes of files with those of the server's model, and notes sizes that are rounded.
fn check_layouts(master: &mut Client, needs: &[&Need<'_>], found: &mut Preflight) {
    let pages = master.cell(&views::MODEL_FILE.sql()).ok().flatten();
    let model_bytes = pages.and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0);
    for need in needs {
        let layout = Layout::from_configuration(need.configuration);
        found.invalid.extend(layout.too_small(model_bytes * views::PAGE_BYTES));
        for note in layout.rounded(need.configuration) {
            if !found.notes.contains(&note) {
                found.notes.push(note);
            }
        }
    }
}

fn ask(needs: &[&Need<'_>], stop: &Stop, found: &mut Preflight) -> Result<()> {
    let Some(first) = needs.first() else { return Ok(()) };
    let config = config(first.configuration)?;
    let mut master =
        Client::connect(&config, stop, Duration::ZERO).map_err(failed_at("connecting"))?;
    if let Err(error) = refuse_azure(&mut master) {
        found.misses(format!("{}: {error}", URL.path()));
        return Ok(());
    }
    let mut number = |sql: &str| -> Result<Option<u32>> {
        let cell = master.cell(sql).map_err(failed_at("querying the server"))?;
        Ok(cell.and_then(|cell| cell.parse().ok()))
    };
    let url = URL.path();
    let connections = needs.iter().map(|need| need.connections).max().unwrap_or(0);
    let most = number("SELECT CAST(@@MAX_CONNECTIONS AS int) AS most")?;
    if let Some(most) = most.filter(|most| *most > 0 && *most < connections + OWN_CONNECTIONS) {
        found.misses(format!(
            "{url}: the server allows {most} connections (user connections); the load needs \
             {connections} and Steelbench {OWN_CONNECTIONS} more"
        ));
    }
    let mut may = |class: &str, permission: &str| {
        let sql = format!("SELECT CAST(HAS_PERMS_BY_NAME({class}, N'{permission}') AS int) AS may");
        // NULL where the server does not know the permission.
        Ok::<_, EngineError>(number(&sql)? != Some(0))
    };
    let may_create = may("N'master', N'DATABASE'", "CREATE DATABASE")?
        || may("NULL, NULL", "CREATE ANY DATABASE")?;
    if !may_create {
        found.misses(format!(
            "{url}: the login cannot create the database that trials use; GRANT CREATE ANY \
             DATABASE, or add the login to the role dbcreator"
        ));
    }
    let settings: BTreeMap<String, i64> =
        needs.iter().flat_map(|need| server_settings(need.configuration)).collect();
    if !settings.is_empty() && !may("NULL, NULL", "ALTER SETTINGS")? {
        found.misses(format!(
            "{url}: the login cannot change server settings; GRANT ALTER SETTINGS"
        ));
    }
    let is_cold = needs.iter().any(|need| need.configuration.get(CACHE) == CacheState::Cold);
    if is_cold && !may("NULL, NULL", "ALTER SERVER STATE")? {
        let path = CACHE.path();
        found.misses(format!(
            "{path}: the login cannot clear the buffer pool; GRANT ALTER SERVER STATE"
        ));
    }
    check_layouts(&mut master, needs, found);
    match is_marked(&mut master)? {
        Some(false) => found.misses(format!("{url}: database {DATABASE}: {IS_FOREIGN}")),
        Some(true) => found.reclaims(url, &format!("database {DATABASE}")),
        None if exists(&mut master, UNMARKED)? => {
            found.reclaims(url, &format!("database {UNMARKED}"));
        }
        None => {}
    }
    if !settings.is_empty() {
        if let Err(error) = refuse_pending(&mut master, &[]) {
            found.misses(format!("{url}: {error}"));
        }
        let known = known(&mut master)?;
        let names: Vec<&str> = known.keys().map(String::as_str).collect();
        let unknown = settings.keys().filter(|name| !known.contains_key(*name));
        found.invalid.extend(unknown.map(|name| {
            let message = experiment::unknown_name("server setting", name, &names);
            Invalid::new(format!("target.settings.{name}"), message)
        }));
    }
    Ok(())
}
