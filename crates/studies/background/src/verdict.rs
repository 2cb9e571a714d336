//! The verdict on a backup: it is restored, checked by its engine, and compared with the target.
//!
//! The measured backup shows the target as it was while the load changed it, which no later query
//! can see. It is compared itself where its restore catches up with the changes since then.
//! Otherwise its tables and the engine's own check are compared, and a second backup by the same
//! tool, made after the load, must restore to equal rows and checksums.

use crate::facts::{
    CAUGHT_UP_S, COMPARED, CONSISTENT_S, DIFFERENCES, FIRST_QUERY_S, PLACED_S, ROWS,
};
use engine::EngineError;
use engine::backups::{BackgroundWork, Backup, BackupRequest, Fingerprint, Restore};
use observations::{Observations, Warning, WarningKind};
use std::path::{Path, PathBuf};
use work::Cancel;

/// Differences that a verdict lists.
const LISTED_MAX: usize = 8;

/// The verdict on a backup.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The restore of the measured backup.
    pub restored: Restore,
    /// The tables that were compared.
    pub compared: Vec<Fingerprint>,
    /// Differences, a sentence each; empty: none.
    pub differences: Vec<String>,
}

impl Verdict {
    /// Restores a measured backup, removes it, and compares.
    ///
    /// # Errors
    /// When it cannot be restored, or no second backup can be made.
    pub fn find(
        work: &dyn BackgroundWork,
        measured: &BackupRequest,
        backup: &Backup,
        cancel: &Cancel,
    ) -> Result<Self, EngineError> {
        let restored = work.restore(measured, backup, &measured.folder, cancel)?;
        work.discard(backup)?;
        let target = work.fingerprints()?;
        let mut differences: Vec<String> =
            restored.complaints.iter().map(|text| format!("the engine's check: {text}")).collect();
        if restored.caught_up_s.is_some() {
            differences.extend(find_differences(&target, &restored.tables));
        } else {
            differences.extend(missing_tables(&target, &restored.tables));
            let again = BackupRequest { rate_limit: None, ..measured.clone() };
            let folder = second_folder(&measured.folder)?;
            let again = BackupRequest { folder: folder.clone(), ..again };
            let second = work.take(&again, cancel)?;
            let second = work.restore(&again, &second, &folder, cancel)?;
            std::fs::remove_dir_all(&folder).map_err(EngineError::at(&folder))?;
            differences.extend(find_differences(&target, &second.tables));
        }
        Ok(Self { restored, compared: target, differences })
    }

    /// Adds the times of the restore and the differences to a trial.
    pub fn add_to(&self, observations: &mut Observations) {
        let restored_copy = &self.restored;
        observations.facts.extend([
            PLACED_S.record(restored_copy.placed_s),
            FIRST_QUERY_S.record(restored_copy.first_query_s),
            CONSISTENT_S.record(restored_copy.consistent_s),
            COMPARED.record(self.compared.len() as f64),
            ROWS.record(self.compared.iter().map(|table| table.rows).sum::<u64>() as f64),
        ]);
        observations
            .facts
            .extend(restored_copy.caught_up_s.map(|caught_up_s| CAUGHT_UP_S.record(caught_up_s)));
        for difference in self.differences.iter().take(LISTED_MAX) {
            observations.facts.push(DIFFERENCES.record(difference, 1.0));
            let detail = format!("the restored backup differs: {difference}");
            observations.warnings.push(Warning { kind: WarningKind::Fallback, detail });
        }
    }
}

/// Compares tables by name; returns a sentence for each that differs.
pub(crate) fn find_differences(target: &[Fingerprint], restored: &[Fingerprint]) -> Vec<String> {
    let mut differences = missing_tables(target, restored);
    for target in target {
        let Some(other) = restored.iter().find(|other| other.table == target.table) else {
            continue;
        };
        if other.rows != target.rows {
            differences.push(format!(
                "table {} has {} rows in place of {}",
                target.table, other.rows, target.rows
            ));
        } else if other.checksum != target.checksum {
            differences.push(format!(
                "table {} has other values in its {} rows (checksum {} in place of {})",
                target.table, target.rows, other.checksum, target.checksum
            ));
        }
    }
    differences
}

fn missing_tables(target: &[Fingerprint], restored: &[Fingerprint]) -> Vec<String> {
    let lacks = |all: &[Fingerprint], fingerprint: &Fingerprint| {
        !all.iter().any(|other| other.table == fingerprint.table)
    };
    let missing = target.iter().filter(|target| lacks(restored, target));
    let missing = missing.map(|table| format!("table {} is missing", table.table));
    let surplus = restored.iter().filter(|table| lacks(target, table));
    missing
        .chain(surplus.map(|surplus| format!("table {} is not on the target", surplus.table)))
        .collect()
}

/// A folder in the marked one.
fn second_folder(folder: &Path) -> Result<PathBuf, EngineError> {
    let path = folder.join("second");
    std::fs::create_dir(&path).map_err(EngineError::at(&path))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::find_differences;
    use engine::backups::Fingerprint;

    fn table(name: &str, rows: u64, checksum: &str) -> Fingerprint {
        Fingerprint { table: name.into(), rows, checksum: checksum.into() }
    }

    #[test]
    fn equal_tables_have_no_difference_in_any_order() {
        let [table, two] = [table("a", 3, "01"), table("b", 0, "00")];
        assert!(find_differences(&[table.clone(), two.clone()], &[two, table]).is_empty());
    }

    #[test]
    fn planted_differences_are_named() {
        let target = [table("a", 3, "01"), table("b", 5, "07"), table("c", 1, "09")];
        let restored = [table("a", 3, "02"), table("b", 4, "07"), table("d", 1, "09")];
        assert_eq!(
            find_differences(&target, &restored),
            [
                "table c is missing",
                "table d is not on the target",
                "table a has other values in its 3 rows (checksum 02 in place of 01)",
                "table b has 4 rows in place of 5",
            ]
        );
    }
}
