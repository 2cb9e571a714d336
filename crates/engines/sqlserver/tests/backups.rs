//! Backups beside a load and their restore, on the stand-in, which takes documented statements
//! only. It has no checksums of rows: row counts are compared.

use crate::sqlserver::{ask, prepare, text};
use engine::Instance;
use engine::backups::{Backup, BackupRequest, OnServer};
use experiment::Value;
use testing::installed::sql_server_stand_in;
use work::{Cancel, DataType};

/// A request for a backup into a folder of the server.
fn request(workers: u32, folder: Option<&str>) -> BackupRequest {
    BackupRequest {
        tool: "backup-database",
        compression: "native",
        workers,
        rate_limit: None,
        folder: std::env::temp_dir(),
        on_server: OnServer {
            folder: folder.map(str::to_owned),
            transfer_bytes: Some(1 << 20),
            buffers: Some(20),
        },
    }
}

fn take(instance: &dyn Instance, request: &BackupRequest) -> Backup {
    instance.parts().background_work.unwrap().take(request, &Cancel::new()).unwrap()
}

/// The number of databases with the name of a restore.
fn restored(instance: &dyn Instance) -> bool {
    let mut set = instance.connect(1).unwrap();
    let sql = "SELECT CAST(DB_ID(N'steelbench_restored') AS int) AS id";
    ask(set.as_mut(), 0, &text(sql)).unwrap().remove(0).last[0].is_some()
}

fn run(instance: &dyn Instance, sql: &str) {
    let mut set = instance.connect(1).unwrap();
    ask(set.as_mut(), 0, &text(sql)).unwrap();
}

#[test]
fn a_backup_is_striped_compressed_restored_and_equal() {
    let Some(url) = sql_server_stand_in(&[]) else { return };
    for settings in [
        &[][..],
        &[
            ("target.data_files", Value::Integer(3)),
            ("target.data_size", Value::Integer(512 << 20)),
        ],
    ] {
        let instance = prepare(&url, settings, DataType::BigInt).unwrap();
        let live = instance.as_ref();
        run(live, "INSERT INTO orders (id, amount) VALUES (1, 7), (2, 8), (3, 9)");
        let work = live.parts().background_work.unwrap();
        let request = request(2, Some("/var/backups/"));
        let backup = take(live, &request);
        // The stand-in compresses to a quarter.
        assert_eq!(backup.server_bytes, Some(backup.data_bytes / 4));
        let found = work.restore(&request, &backup, &request.folder, &Cancel::new()).unwrap();
        let tables = work.fingerprints().unwrap();
        assert_eq!(found.tables, tables);
        let [orders] = tables.as_slice() else { panic!("{tables:?}") };
        assert_eq!((orders.table.as_str(), orders.rows), ("dbo.orders", 3));
        assert!(found.complaints.is_empty() && found.caught_up_s.is_none());
        let times = [found.placed_s, found.first_query_s, found.consistent_s];
        assert!(times.is_sorted(), "{times:?}");
        // What was restored is gone, and the next backup replaces the files.
        assert!(!restored(live));
        work.discard(&backup).unwrap();
        take(live, &request);
        work.restore(&request, &backup, &request.folder, &Cancel::new()).unwrap();
        instance.remove().unwrap();
    }
}

#[test]
fn another_ones_files_and_database_are_not_touched() {
    let Some(url) = sql_server_stand_in(&[]) else { return };
    let prepare = prepare(&url, &[], DataType::BigInt).unwrap();
    let work = prepare.parts().background_work.unwrap();
    let request = request(1, None);
    let file = "steelbench_background_1.bak";
    run(
        prepare.as_ref(),
        &format!("BACKUP DATABASE [steelbench] TO DISK = N'{file}' WITH MEDIANAME = N'payroll'"),
    );
    let error = work.take(&request, &Cancel::new()).unwrap_err().to_string();
    assert!(error.contains(file) && error.contains("did not create it"), "{error}");
    // In another folder it is a new file.
    let elsewhere = BackupRequest {
        on_server: OnServer { folder: Some(r"E:\backups".into()), ..OnServer::default() },
        ..request
    };
    let backup = take(prepare.as_ref(), &elsewhere);
    run(prepare.as_ref(), "CREATE DATABASE [steelbench_restored]");
    let error = work.restore(&elsewhere, &backup, &elsewhere.folder, &Cancel::new());
    let error = error.unwrap_err().to_string();
    assert!(error.contains("did not create it"), "{error}");
    assert!(restored(prepare.as_ref()));
    prepare.remove().unwrap();
}

/// The database of a restore that was killed is dropped with ours, which says that it is ours.
#[test]
fn a_restored_database_that_was_left_is_dropped_with_ours() {
    let Some(url) = sql_server_stand_in(&[]) else { return };
    let prepared = prepare(&url, &[], DataType::BigInt).unwrap();
    let note = "EXEC [steelbench].sys.sp_addextendedproperty @name = N'steelbench restores to', \
                @value = N'steelbench_restored'";
    run(prepared.as_ref(), note);
    run(prepared.as_ref(), "CREATE DATABASE [steelbench_restored]");
    assert!(restored(prepared.as_ref()));
    prepared.remove().unwrap();
    let prepare = prepare(&url, &[], DataType::BigInt).unwrap();
    assert!(!restored(prepare.as_ref()));
    prepare.remove().unwrap();
}
