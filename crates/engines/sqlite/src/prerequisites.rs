//! Prerequisites of trials: room for the data, and PRAGMAs that this build of SQLite takes.

use super::connection;
use super::pragma::{Pragma, apply, from_settings};
use super::settings::VOLUME;
use crate::engine::Sqlite;
use engine::{EngineError, Folders, Need, Preflight, Prerequisites};
use experiment::{Configuration, Invalid};
use std::collections::HashSet;
use work::Stop;

impl Prerequisites for Sqlite {
    fn missing(&self, _: &Configuration) -> Option<String> {
        None
    }

    fn preflight(&self, needs: &[Need<'_>], folders: &Folders, _: &Stop) -> Preflight {
        let (mut found, mut tried) = (Preflight::default(), HashSet::new());
        for need in needs {
            found.needs(need.of_rows(&need.configuration.get(VOLUME), folders));
            let pragmas = from_settings(need.configuration);
            if tried.insert(format!("{pragmas:?}")) {
                found.invalid.extend(refused(&pragmas));
            }
        }
        found
    }
}

/// The setting that this build of SQLite does not take, tried on a file of its own, which is
/// removed.
fn refused(pragmas: &[Pragma]) -> Option<Invalid> {
    // Without a place to try it the first trial reports it.
    let folder = tempfile::tempdir().ok()?;
    let connection = connection::open(&folder.path().join("try.db"), false).ok()?;
    match apply(pragmas, &connection, "main", true) {
        Err(EngineError::SettingIgnored { setting, expected, got }) => Some(Invalid::new(
            setting,
            format!("SQLite does not accept {expected}: it reports {got}"),
        )),
        _ => None,
    }
}
