//! A Parquet file of which no page takes more memory than is permitted.

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};
use std::fs::File;
use std::io::{BufReader, Read as _};

/// Bytes of a page at most, once decompressed. Writers make pages of about 1 MiB; the format
/// permits 2 GiB, for which a few damaged bytes would ask.
pub(crate) const PAGE_BYTES_MAX: i64 = 256 << 20;

/// A file whose pages are checked before they are read.
pub struct Limited {
    /// The file.
    pub file: File,
    /// True for one that Steelbench wrote, which is not checked.
    pub is_trusted: bool,
}

impl Length for Limited {
    fn len(&self) -> u64 {
        self.file.len()
    }
}

impl ChunkReader for Limited {
    type T = BufReader<File>;

    /// Reads from a position: the header of a page, or the end of the file, which has none.
    fn get_read(&self, start: u64) -> Result<Self::T> {
        if self.is_trusted {
            return self.file.get_read(start);
        }
        let mut first = Vec::new();
        self.file.get_read(start)?.take(HEADER_BYTES).read_to_end(&mut first)?;
        match page_bytes(&first) {
            Some(bytes) if bytes > PAGE_BYTES_MAX => Err(ParquetError::General(format!(
                "a page of {} MiB exceeds the limit of {} MiB",
                bytes >> 20,
                PAGE_BYTES_MAX >> 20
            ))),
            _ => self.file.get_read(start),
        }
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        self.file.get_bytes(start, length)
    }
}

/// Bytes of the first two fields of a page's header at most.
const HEADER_BYTES: u64 = 12;

/// Bytes of a page without compression, the second field of its header. It is written in Thrift's
/// compact protocol: of each field how far its number is above the last one's and its type (5: an
/// integer), then the integer in groups of seven bits, the sign last
/// (<https://github.com/apache/parquet-format>, `PageHeader`).
fn page_bytes(header: &[u8]) -> Option<i64> {
    const NEXT_FIELD_INTEGER: u8 = 0x15;
    let mut rest = header;
    let mut field = || {
        let (first, mut after) = rest.split_first()?;
        let (mut value, mut shift) = (0_u64, 0);
        while *first == NEXT_FIELD_INTEGER && shift < 35 {
            let (byte, behind) = after.split_first()?;
            after = behind;
            value |= u64::from(byte & 0x7F) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                rest = after;
                return Some((value >> 1) as i64 ^ -((value & 1) as i64));
            }
        }
        None
    };
    field()?;
    field()
}
