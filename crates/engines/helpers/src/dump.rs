//! Formats of dumps, by their first bytes.

use engine::setup::first_bytes;
use std::path::Path;

/// The format of a dump by `pg_dump`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A script for psql.
    Plain,
    /// An archive for `pg_restore`, by one process or by several.
    Archive {
        /// Several can read it.
        parallel: bool,
    },
}

/// Why a compressed dump is not read.
const COMPRESSED: &str = "it is compressed; decompress it first";

/// The format of a dump by `pg_dump`. The first bytes tell the custom format
/// (`pg_backup_archiver.c`), a compressed file, and a tar archive (POSIX ustar), whose first file
/// is the table of contents; a folder has that as a file.
///
/// # Errors
/// With the reason why it cannot be restored.
pub fn of_pg_dump(place: &Path) -> Result<Format, &'static str> {
    let first = first_bytes(place);
    if place.is_dir() {
        let known = place.join("toc.dat").is_file();
        return if known {
            Ok(Format::Archive { parallel: true })
        } else {
            Err("not a dump: the folder has no toc.dat")
        };
    }
    match first.as_slice() {
        [b'P', b'G', b'D', b'M', b'P', ..] => Ok(Format::Archive { parallel: true }),
        [0x1f, 0x8b, ..] | [0x28, 0xb5, 0x2f, 0xfd, ..] => Err(COMPRESSED),
        _ if first.starts_with(b"toc.dat\0") => Ok(Format::Archive { parallel: false }),
        _ if first.contains(&0) => Err("not a pg_dump file"),
        _ => Ok(Format::Plain),
    }
}

/// Checks that a dump is SQL, as mariadb-dump writes it.
///
/// # Errors
/// With the reason why it is not.
pub fn of_mariadb_dump(place: &Path) -> Result<(), &'static str> {
    match first_bytes(place).as_slice() {
        _ if place.is_dir() => Err("is a folder; expected one SQL file written by mariadb-dump"),
        [0x1f, 0x8b, ..] | [0x28, 0xb5, 0x2f, 0xfd, ..] => Err(COMPRESSED),
        bytes if bytes.contains(&0) => Err("not a mariadb-dump file"),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Format, of_mariadb_dump, of_pg_dump};

    #[test]
    fn formats_are_known_by_their_first_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dump");
        for (bytes, expected) in [
            (&b"PGDMP\x01\x0e"[..], Ok(Format::Archive { parallel: true })),
            (b"toc.dat\0\0\0", Ok(Format::Archive { parallel: false })),
            (b"--\n-- PostgreSQL database dump\n", Ok(Format::Plain)),
            (b"", Ok(Format::Plain)),
        ] {
            std::fs::write(&path, bytes).unwrap();
            assert_eq!(of_pg_dump(&path), expected);
        }
        for bytes in [&b"\x1f\x8b\x08"[..], b"SQLite format 3\0"] {
            std::fs::write(&path, bytes).unwrap();
            assert!(of_pg_dump(&path).is_err() && of_mariadb_dump(&path).is_err());
        }
        assert!(of_pg_dump(folder.path()).is_err());
        std::fs::write(folder.path().join("toc.dat"), "PGDMP").unwrap();
        assert_eq!(of_pg_dump(folder.path()), Ok(Format::Archive { parallel: true }));
    }
}
