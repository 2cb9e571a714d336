//! Statements of backups and their restore
//! (<https://learn.microsoft.com/sql/t-sql/statements/backup-transact-sql>,
//! <https://learn.microsoft.com/sql/t-sql/statements/restore-statements-transact-sql>).

use super::database::RESTORED;
use super::layout::DATABASE;
use crate::dialect::{quote_literal, quote_name};
use engine::backups::BackupRequest;

/// The name of the media that marks the files of a backup as ours.
pub const MEDIA: &str = "made_by_steelbench";

/// The files of a backup: in a folder of the server, or in its default one, which a bare name
/// means. The names are fixed, so that a backup replaces the one before.
pub fn files(request: &BackupRequest) -> Vec<String> {
    let name = |number: u32| format!("steelbench_background_{number}.bak");
    let names = (1..=request.workers.max(1)).map(name);
    let Some(folder) = &request.on_server.folder else { return names.collect() };
    let folder = folder.trim_end_matches(['/', '\\']);
    let separator = if folder.contains('\\') || folder.ends_with(':') { '\\' } else { '/' };
    names.map(|name| format!("{folder}{separator}{name}")).collect()
}

/// The list of files of a statement.
fn disks(files: &[String]) -> String {
    let disks = files.iter().map(|file| format!("DISK = {}", quote_literal(file)));
    disks.collect::<Vec<_>>().join(", ")
}

/// Backs up our database to these files, which it replaces. It is a copy only: other backups of the
/// database do not depend on it.
pub fn backup(files: &[String], request: &BackupRequest) -> String {
    let compression = match request.compression {
        "native" => "COMPRESSION".to_owned(),
        "none" => "NO_COMPRESSION".to_owned(),
        // From SQL Server 2025 on.
        method => format!("COMPRESSION (ALGORITHM = {})", method.to_uppercase()),
    };
    let server_backup = &request.on_server;
    let transfer = server_backup.transfer_bytes.map(|bytes| format!(", MAXTRANSFERSIZE = {bytes}"));
    let buffers = server_backup.buffers.map(|count| format!(", BUFFERCOUNT = {count}"));
    format!(
        "BACKUP DATABASE {} TO {} WITH COPY_ONLY, FORMAT, CHECKSUM, {compression}, MEDIANAME = \
         {}{}{}",
        quote_name(DATABASE),
        disks(files),
        quote_literal(MEDIA),
        transfer.unwrap_or_default(),
        buffers.unwrap_or_default()
    )
}

/// Reads the label of a backup's file.
pub fn label(file: &str) -> String {
    format!("RESTORE LABELONLY FROM DISK = {}", quote_literal(file))
}

/// Reads the files of the database in a backup.
pub fn file_list(files: &[String]) -> String {
    format!("RESTORE FILELISTONLY FROM {}", disks(files))
}

/// A file of a database in a backup, and the path to which it is restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Move {
    /// The logical name.
    pub name: String,
    /// The new path.
    pub path: String,
}

impl Move {
    /// Moves a file beside its path: the same folder and suffix, another name.
    pub fn sibling(number: usize, name: &str, path: &str) -> Self {
        let (folder, file) = path.rsplit_once(['/', '\\']).unwrap_or(("", path));
        let separator = path.get(folder.len()..=folder.len()).filter(|_| !folder.is_empty());
        let suffix = file.rsplit_once('.').map(|(_, suffix)| format!(".{suffix}"));
        let path = format!(
            "{folder}{}{RESTORED}_{number}{}",
            separator.unwrap_or_default(),
            suffix.unwrap_or_default()
        );
        Self { name: name.to_owned(), path }
    }
}

/// Restores a backup into a database beside ours. An existing one or existing files are refused.
pub fn restore(files: &[String], moves: &[Move]) -> String {
    let moves = moves.iter().map(|file| {
        format!("MOVE {} TO {}, ", quote_literal(&file.name), quote_literal(&file.path))
    });
    format!(
        "RESTORE DATABASE {} FROM {} WITH {}CHECKSUM, RECOVERY",
        quote_name(RESTORED),
        disks(files),
        moves.collect::<String>()
    )
}

/// Checks a restored database.
pub fn check() -> String {
    format!("DBCC CHECKDB ({}) WITH NO_INFOMSGS", quote_literal(RESTORED))
}

/// Reads the bytes of the data and of the files of our last backup.
pub fn sizes() -> String {
    format!(
        "SELECT TOP (1) CAST(backup_size AS bigint) AS data_bytes, CAST(compressed_backup_size AS \
         bigint) AS backup_bytes FROM msdb.dbo.backupset WHERE database_name = {} ORDER BY \
         backup_set_id DESC",
        quote_literal(DATABASE)
    )
}

/// Reads the tables of the session's database.
pub const TABLES: &str = "SELECT TABLE_SCHEMA AS table_schema, TABLE_NAME AS table_name FROM \
                          INFORMATION_SCHEMA.TABLES WHERE TABLE_TYPE = 'BASE TABLE' ORDER BY \
                          TABLE_SCHEMA, TABLE_NAME";

/// Counts the rows of a table, and sums a checksum of each in two ways that do not depend on their
/// order: one alone is blind to two equal changes.
pub fn fingerprint(schema: &str, table: &str) -> String {
    format!(
        "SELECT count_big(*) AS row_count, CONCAT(CHECKSUM_AGG(BINARY_CHECKSUM(*)), ' ', \
         SUM(CAST(BINARY_CHECKSUM(*) AS bigint))) AS checksum FROM {}.{}",
        quote_name(schema),
        quote_name(table)
    )
}

#[cfg(test)]
pub mod tests {
    use super::{MEDIA, Move, backup, check, file_list, files, fingerprint, label, restore, sizes};
    use crate::limits::exceeded;
    use engine::backups::{BackupRequest, OnServer};

    fn request(workers: u32, compression: &'static str, on_server: OnServer) -> BackupRequest {
        BackupRequest {
            tool: "backup-database",
            compression,
            workers,
            rate_limit: None,
            folder: "/tmp".into(),
            on_server,
        }
    }

    fn in_folder(folder: &str) -> OnServer {
        OnServer { folder: Some(folder.into()), ..OnServer::default() }
    }

    #[test]
    fn backups_are_written_as_documented() {
        let plain = request(1, "none", OnServer::default());
        let plain_files = files(&plain);
        assert_eq!(
            backup(&plain_files, &plain),
            "BACKUP DATABASE [steelbench] TO DISK = N'steelbench_background_1.bak' WITH COPY_ONLY, \
             FORMAT, CHECKSUM, NO_COMPRESSION, MEDIANAME = N'made_by_steelbench'"
        );
        let on_server =
            OnServer { transfer_bytes: Some(4 << 20), buffers: Some(50), ..in_folder(r"E:\it's\") };
        let all = request(2, "zstd", on_server);
        assert_eq!(
            backup(&files(&all), &all),
            "BACKUP DATABASE [steelbench] TO DISK = N'E:\\it''s\\steelbench_background_1.bak', \
             DISK = N'E:\\it''s\\steelbench_background_2.bak' WITH COPY_ONLY, FORMAT, CHECKSUM, \
             COMPRESSION (ALGORITHM = ZSTD), MEDIANAME = N'made_by_steelbench', MAXTRANSFERSIZE = \
             4194304, BUFFERCOUNT = 50"
        );
        let native = request(1, "native", in_folder("/var/backups/"));
        assert!(backup(&files(&native), &native).contains(", COMPRESSION, MEDIANAME"));
        assert_eq!(files(&native), ["/var/backups/steelbench_background_1.bak"]);
        for backup_request in [&plain, &all, &native] {
            assert_eq!(exceeded(&backup(&files(backup_request), backup_request)), None);
        }
        assert!(MEDIA.len() <= 128);
    }

    #[test]
    fn a_restore_moves_every_file_beside_its_place() {
        let moves = [
            Move::sibling(1, "steelbench", "/data/a/steelbench.mdf"),
            Move::sibling(2, "it's", r"E:\log\x.y.ldf"),
            Move::sibling(3, "bare", "bare"),
        ];
        let paths: Vec<&str> = moves.iter().map(|file| file.path.as_str()).collect();
        let expected = [
            "/data/a/steelbench_restored_1.mdf",
            r"E:\log\steelbench_restored_2.ldf",
            "steelbench_restored_3",
        ];
        assert_eq!(paths, expected);
        let media = vec!["a.bak".to_owned(), "b.bak".to_owned()];
        assert_eq!(
            restore(&media, &moves[1..2]),
            "RESTORE DATABASE [steelbench_restored] FROM DISK = N'a.bak', DISK = N'b.bak' WITH \
             MOVE N'it''s' TO N'E:\\log\\steelbench_restored_2.ldf', CHECKSUM, RECOVERY"
        );
        assert_eq!(file_list(&media), "RESTORE FILELISTONLY FROM DISK = N'a.bak', DISK = N'b.bak'");
        assert_eq!(label("a.bak"), "RESTORE LABELONLY FROM DISK = N'a.bak'");
    }

    /// Statements that an independent grammar knows.
    pub fn questions() -> Vec<String> {
        vec![check(), sizes(), fingerprint("dbo", "t"), super::TABLES.to_owned()]
    }
}
