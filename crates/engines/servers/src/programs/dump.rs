//! Formats of dumps and the versions that they name, by their first bytes.

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

/// The first bytes of an archive.
const MAGIC: &[u8] = b"PGDMP";
/// The file of a folder that describes the others.
const TABLE_OF_CONTENTS: &str = "toc.dat";
/// Bytes before the content of the first file of a tar archive.
const TAR_BLOCK_BYTES: usize = 512;

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
        let known = place.join(TABLE_OF_CONTENTS).is_file();
        return if known {
            Ok(Format::Archive { parallel: true })
        } else {
            Err("not a dump: the folder has no toc.dat")
        };
    }
    match first.as_slice() {
        bytes if bytes.starts_with(MAGIC) => Ok(Format::Archive { parallel: true }),
        [0x1f, 0x8b, ..] | [0x28, 0xb5, 0x2f, 0xfd, ..] => Err(COMPRESSED),
        _ if first.starts_with(b"toc.dat\0") => Ok(Format::Archive { parallel: false }),
        _ if first.contains(&0) => Err("not a pg_dump file"),
        _ => Ok(Format::Plain),
    }
}

/// Versions that a dump names, as it writes them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origin {
    /// The version of the server that was dumped.
    pub server: Option<String>,
    /// The version of the program that wrote the dump.
    pub program: Option<String>,
}

/// Reads the versions in a dump by `pg_dump`: comments of a script, or the head of an archive.
pub fn origin_of_pg_dump(place: &Path) -> Origin {
    let toc = place.join(TABLE_OF_CONTENTS);
    let first = first_bytes(if place.is_dir() { &toc } else { place });
    let is_tar = first.starts_with(b"toc.dat\0");
    let head = if is_tar { first.get(TAR_BLOCK_BYTES..).unwrap_or_default() } else { &first };
    if head.starts_with(MAGIC) {
        return ArchiveHead { rest: head }.origin().unwrap_or_default();
    }
    let text = String::from_utf8_lossy(&first);
    Origin {
        server: after(&text, "-- Dumped from database version "),
        program: after(&text, "-- Dumped by pg_dump version "),
    }
}

/// Reads the version of the server in a dump by mariadb-dump or mysqldump.
pub fn origin_of_mariadb_dump(place: &Path) -> Origin {
    let text = first_bytes(place);
    let text = String::from_utf8_lossy(&text);
    Origin { server: after(&text, "-- Server version"), program: None }
}

/// The rest of the first line that begins so.
fn after(text: &str, begin: &str) -> Option<String> {
    text.lines().find_map(|line| line.strip_prefix(begin)).map(|rest| rest.trim().to_owned())
}

/// The head of an archive, as `ReadHead` in `pg_backup_archiver.c` reads it.
struct ArchiveHead<'a> {
    rest: &'a [u8],
}

impl ArchiveHead<'_> {
    fn origin(mut self) -> Option<Origin> {
        self.bytes(MAGIC.len())?;
        let version = [self.byte()?, self.byte()?];
        self.byte()?;
        let int_bytes = usize::from(self.byte()?);
        // Size of file offsets, and the format.
        self.bytes(2)?;
        // A method since 1.15, before it a level; then seven numbers of the time.
        if version >= [1, 15] {
            self.bytes(1)?
        } else {
            self.bytes(1 + int_bytes)?
        };
        self.bytes(7 * (1 + int_bytes))?;
        self.text(int_bytes)?;
        let server = self.text(int_bytes)?;
        Some(Origin { server: Some(server), program: Some(self.text(int_bytes)?) })
    }

    /// A text behind its length; numbers begin with their sign and end with the greatest byte.
    fn text(&mut self, int_bytes: usize) -> Option<String> {
        let is_negative = self.byte()? != 0;
        let length = self.bytes(int_bytes)?.iter().rev().fold(0_usize, |length, byte| {
            length.saturating_mul(256).saturating_add(usize::from(*byte))
        });
        if is_negative {
            return Some(String::new());
        }
        Some(String::from_utf8_lossy(self.bytes(length)?).into_owned())
    }

    fn byte(&mut self) -> Option<u8> {
        self.bytes(1)?.first().copied()
    }

    fn bytes(&mut self, count: usize) -> Option<&[u8]> {
        let (bytes, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(bytes)
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
    use super::{
        Format, Origin, of_mariadb_dump, of_pg_dump, origin_of_mariadb_dump, origin_of_pg_dump,
    };

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

    /// The head of an archive of this version of the format.
    fn head(minor: u8, server: &str, program: &str) -> Vec<u8> {
        let number = |value: u32| [&[0][..], &value.to_le_bytes()].concat();
        let text = |text: &str| [number(text.len() as u32), text.as_bytes().to_vec()].concat();
        let method = if minor >= 15 { vec![1] } else { number(6) };
        let time: Vec<u8> = (0..7).flat_map(number).collect();
        let texts = [text("shop"), text(server), text(program)].concat();
        [b"PGDMP\x01", &[minor, 0, 4, 8, 1][..], &method, &time, &texts].concat()
    }

    #[test]
    fn dumps_name_the_versions_of_their_server_and_their_program() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dump");
        let debian = "15.20 (Debian 15.20-0+deb12u1)";
        let expected = Origin { server: Some(debian.into()), program: Some("18.6".into()) };
        let script = format!(
            "--\n-- PostgreSQL database dump\n--\n\n\\restrict x\n\n-- Dumped from database \
             version {debian}\n-- Dumped by pg_dump version 18.6\n\nSET statement_timeout = 0;\n"
        );
        let tar = [&b"toc.dat\0"[..], &[0; 504], &head(16, debian, "18.6")].concat();
        for bytes in [head(14, debian, "18.6"), head(16, debian, "18.6"), tar, script.into()] {
            std::fs::write(&path, bytes).unwrap();
            assert_eq!(origin_of_pg_dump(&path), expected);
        }
        std::fs::write(folder.path().join("toc.dat"), head(15, debian, "18.6")).unwrap();
        assert_eq!(origin_of_pg_dump(folder.path()), expected);
        for bytes in [&b"PGDMP"[..], b"PGDMP\x01\x10\0\xff\x08\x01", b"CREATE TABLE t ();", b""] {
            std::fs::write(&path, bytes).unwrap();
            assert_eq!(origin_of_pg_dump(&path), Origin::default());
        }
        std::fs::write(&path, "-- MariaDB dump 10.19\n-- Server version\t10.11.6-MariaDB\n")
            .unwrap();
        let server = Some("10.11.6-MariaDB".to_owned());
        assert_eq!(origin_of_mariadb_dump(&path), Origin { server, program: None });
    }
}
