//! Profiles: their stacks are most of them, and compress well.

use crate::names::unreadable;
use crate::numbers::real;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use observations::{Frame, Profile, Stack};
use rusqlite::{Row, Transaction, params};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::io::{Read, Write};

/// Columns that [`read`] expects, after the trial's.
pub(crate) const COLUMNS: &str = "target, elapsed_s, hz, threads, lost, profiler_cpu_s, stacks";

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

pub(crate) fn insert(transaction: &Transaction, trial: i64, profile: &Profile) -> rusqlite::Result<()> {
    let samples = |stacks: &mut dyn Iterator<Item = &Stack>| stacks.map(|stack| stack.samples).sum::<u64>();
    let in_kernel = |stack: &&Stack| profile.frames_of(stack).last().is_some_and(|leaf| leaf.kernel);
    transaction.execute(
        "INSERT INTO profiles
             (trial, target, elapsed_s, hz, threads, samples, kernel_samples, lost, profiler_cpu_s, stacks)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        params![
            trial,
            profile.target,
            profile.elapsed_s,
            profile.hz,
            profile.threads,
            profile.samples(),
            samples(&mut profile.stacks.iter().filter(in_kernel)),
            profile.lost,
            profile.profiler_cpu_s,
            pack(profile).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?,
        ],
    )?;
    Ok(())
}

pub(crate) fn read(row: &Row) -> rusqlite::Result<Profile> {
    let packed = unpack(row.get_ref(7)?.as_blob()?).map_err(|error| unreadable(7, error))?;
    let profile = Profile {
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
    if profile.is_consistent() { Ok(profile) } else { Err(unreadable(7, "stacks that point to no function")) }
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
