//! Profiles: their stacks are most of them, and compress well.

use crate::names::unreadable;
use crate::numbers::real;
use crate::parts::{Part, owned};
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use observations::{Frame, Profile, Stack};
use rusqlite::types::ToSqlOutput;
use rusqlite::{Row, ToSql};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::io::{Read, Write};

/// Bytes of stacks that are read at most: a damaged file must not fill the memory.
const STACKS_BYTES_MAX: u64 = 1 << 30;

/// What is compressed.
#[derive(Serialize, Deserialize)]
struct Packed<'a> {
    modules: Cow<'a, [String]>,
    frames: Cow<'a, [Frame]>,
    stacks: Cow<'a, [Stack]>,
    missing: Cow<'a, [String]>,
}

impl Part for Profile {
    const TABLE: &'static str = "profiles";
    const IS_ONE: bool = true;
    const COLUMNS: &'static [&'static str] = &[
        "target",
        "elapsed_s",
        "hz",
        "threads",
        "lost",
        "profiler_cpu_s",
        "stacks",
        // For people who query the table.
        "samples",
        "kernel_samples",
    ];

    fn values(&self) -> rusqlite::Result<Vec<ToSqlOutput<'_>>> {
        let in_kernel = |stack: &&Stack| self.frames_of(stack).last().is_some_and(|leaf| leaf.kernel);
        let kernel_samples: u64 = self.stacks.iter().filter(in_kernel).map(|stack| stack.samples).sum();
        let packed = pack(self).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
        Ok(vec![
            self.target.to_sql()?,
            self.elapsed_s.to_sql()?,
            self.hz.to_sql()?,
            self.threads.to_sql()?,
            self.lost.to_sql()?,
            self.profiler_cpu_s.to_sql()?,
            ToSqlOutput::from(packed),
            owned(self.samples())?,
            owned(kernel_samples)?,
        ])
    }

    fn read(row: &Row) -> rusqlite::Result<Self> {
        let packed = unpack(row.get_ref(7)?.as_blob()?).map_err(|error| unreadable(7, error))?;
        let profile = Self {
            target: row.get(1)?,
            elapsed_s: real(row, 2)?,
            hz: real(row, 3)?,
            threads: row.get(4)?,
            lost: row.get(5)?,
            profiler_cpu_s: real(row, 6)?,
            modules: packed.modules.into_owned(),
            frames: packed.frames.into_owned(),
            stacks: packed.stacks.into_owned(),
            missing: packed.missing.into_owned(),
        };
        if profile.is_consistent() {
            Ok(profile)
        } else {
            Err(unreadable(7, "stacks that point to no function"))
        }
    }
}

fn pack(profile: &Profile) -> std::io::Result<Vec<u8>> {
    let packed = Packed {
        modules: Cow::Borrowed(&profile.modules),
        frames: Cow::Borrowed(&profile.frames),
        stacks: Cow::Borrowed(&profile.stacks),
        missing: Cow::Borrowed(&profile.missing),
    };
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&serde_json::to_vec(&packed)?)?;
    encoder.finish()
}

fn unpack(bytes: &[u8]) -> std::io::Result<Packed<'static>> {
    let mut json = Vec::new();
    ZlibDecoder::new(bytes).take(STACKS_BYTES_MAX).read_to_end(&mut json)?;
    Ok(serde_json::from_slice(&json)?)
}
