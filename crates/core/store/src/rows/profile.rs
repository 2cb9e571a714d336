//! Profiles as rows: figures, and their stacks compressed.

use super::{Columns, Field, Record, Values, count, unrecordable};
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use observations::{Frame, Profile, Stack};
use rusqlite::{Result, ToSql};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::io::{Read, Write};

/// The compressed part of a profile: mostly its stacks.
#[derive(Serialize, Deserialize)]
struct Packed<'a> {
    modules: Cow<'a, [String]>,
    frames: Cow<'a, [Frame]>,
    stacks: Cow<'a, [Stack]>,
    missing: Cow<'a, [String]>,
}

/// Bytes of stacks that are read at most: a damaged file must not fill the memory.
const STACKS_BYTES_MAX: u64 = 256 << 20;

impl Packed<'_> {
    fn pack(&self) -> std::io::Result<Vec<u8>> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(&serde_json::to_vec(self)?)?;
        encoder.finish()
    }

    fn unpack(bytes: &[u8]) -> std::io::Result<Self> {
        let mut json = Vec::new();
        ZlibDecoder::new(bytes).take(STACKS_BYTES_MAX).read_to_end(&mut json)?;
        Ok(serde_json::from_slice(&json)?)
    }
}

impl Record for Profile {
    const TABLE: &'static str = "profiles";
    const IS_SINGLE: bool = true;
    /// The last two are for people who query the table.
    const COLUMNS: &'static [&'static str] =
        &["target, elapsed_s, hz, threads, lost, profiler_cpu_s, stacks, samples, kernel_samples"];
}

impl Field for Profile {
    fn write<'a>(&'a self, values: &mut Values<'a>) -> Result<()> {
        let Self {
            target,
            elapsed_s,
            hz,
            threads,
            lost,
            profiler_cpu_s,
            modules,
            frames,
            stacks,
            missing,
        } = self;
        let in_kernel = stacks
            .iter()
            .filter(|stack| self.frames_of(stack).last().is_some_and(|leaf| leaf.kernel));
        let kernel_samples: u64 = in_kernel.map(|stack| stack.samples).sum();
        let packed = Packed {
            modules: modules.into(),
            frames: frames.into(),
            stacks: stacks.into(),
            missing: missing.into(),
        };
        let packed = packed.pack().map_err(unrecordable)?;
        values.extend([
            target.to_sql()?,
            (*elapsed_s).into(),
            (*hz).into(),
            count(*threads)?,
            count(*lost)?,
        ]);
        values.extend([(*profiler_cpu_s).into(), packed.into()]);
        values.extend([count(self.samples())?, count(kernel_samples)?]);
        Ok(())
    }

    fn read(columns: &mut Columns) -> Result<Self> {
        let mut profile = Self {
            target: Field::read(columns)?,
            elapsed_s: Field::read(columns)?,
            hz: Field::read(columns)?,
            threads: Field::read(columns)?,
            lost: Field::read(columns)?,
            profiler_cpu_s: Field::read(columns)?,
            ..Self::default()
        };
        let packed = Packed::unpack(columns.bytes()?).map_err(|error| columns.unreadable(error))?;
        (profile.modules, profile.frames) =
            (packed.modules.into_owned(), packed.frames.into_owned());
        (profile.stacks, profile.missing) =
            (packed.stacks.into_owned(), packed.missing.into_owned());
        if profile.is_consistent() {
            Ok(profile)
        } else {
            Err(columns.unreadable("stacks that refer to missing functions"))
        }
    }
}
