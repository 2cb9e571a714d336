//! Records of the kernel's ring buffer that we use.

use super::spaces::MappedFile;
use perf_event::data::parse::{ParseResult, Parser};
use perf_event::data::{
    Comm, Exit, Fork, Lost, LostSamples, Mmap2, RecordMetadata, Sample, Visitor,
};
use perf_event::{Record, Sampler};

/// `PERF_RECORD_MISC_COMM_EXEC`: the name changed because the process executes a program.
const COMM_EXEC: u16 = 1 << 13;

/// A record with its time, in nanoseconds of a clock of the kernel's.
#[derive(Debug)]
pub(crate) struct Timed {
    pub time: u64,
    pub what: What,
}

/// An event in the ring buffer.
#[derive(Debug)]
pub(crate) enum What {
    /// A thread was found running.
    Sample { pid: i32, tid: i32, event: u64, chain: Vec<u64> },
    /// A file came to be at an address.
    Map { pid: i32, file: MappedFile },
    /// A process began as a copy of another one.
    Fork { pid: i32, parent: i32 },
    /// A process executes another program.
    Exec { pid: i32 },
    /// A thread has ended.
    Exit { tid: i32 },
    /// So many records found no room.
    Lost(u64),
}

/// Takes everything out of a ring.
pub(crate) fn drain(ring: &mut Sampler, into: &mut Vec<Timed>) {
    let config = ring.as_counter().config().clone();
    while let Some(record) = ring.next_record() {
        let bytes = with_header(&record);
        let parsed: ParseResult<Option<Timed>> =
            Parser::new(&bytes[..], config.clone()).parse_record(Reader);
        into.extend(parsed.ok().flatten());
    }
}

/// The bytes as the kernel wrote them.
fn with_header(record: &Record) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(8 + record.len());
    bytes.extend(record.ty().to_ne_bytes());
    bytes.extend(record.misc().to_ne_bytes());
    bytes.extend(((8 + record.len()) as u16).to_ne_bytes());
    record.data().iter().for_each(|part| bytes.extend(*part));
    bytes
}

struct Reader;

fn timed(metadata: &RecordMetadata, what: What) -> Option<Timed> {
    Some(Timed { time: metadata.sample_id().time()?, what })
}

impl Visitor<'_> for Reader {
    type Output = Option<Timed>;

    fn visit_unimplemented(self, _: RecordMetadata) -> Self::Output {
        None
    }

    fn visit_sample(self, sample: Sample, _: RecordMetadata) -> Self::Output {
        Some(Timed {
            time: sample.time()?,
            what: What::Sample {
                pid: sample.pid()? as i32,
                tid: sample.tid()? as i32,
                event: sample.id()?,
                chain: sample.callchain()?.to_vec(),
            },
        })
    }

    fn visit_mmap2(self, map: Mmap2, metadata: RecordMetadata) -> Self::Output {
        let file = MappedFile {
            start: map.addr,
            length: map.len,
            offset: map.pgoff,
            inode: map.ino().unwrap_or(0),
            name: String::from_utf8_lossy(&map.filename).into_owned(),
        };
        timed(&metadata, What::Map { pid: map.pid as i32, file })
    }

    fn visit_fork(self, fork: Fork, metadata: RecordMetadata) -> Self::Output {
        // A thread shares the addresses of its process.
        if fork.pid == fork.ppid {
            return None;
        }
        timed(&metadata, What::Fork { pid: fork.pid as i32, parent: fork.ppid as i32 })
    }

    fn visit_comm(self, comm: Comm, metadata: RecordMetadata) -> Self::Output {
        if metadata.misc() & COMM_EXEC == 0 {
            return None;
        }
        timed(&metadata, What::Exec { pid: comm.pid as i32 })
    }

    fn visit_exit(self, exit: Exit, metadata: RecordMetadata) -> Self::Output {
        timed(&metadata, What::Exit { tid: exit.tid as i32 })
    }

    fn visit_lost(self, lost: Lost, metadata: RecordMetadata) -> Self::Output {
        timed(&metadata, What::Lost(lost.lost))
    }

    fn visit_lost_samples(self, lost: LostSamples, metadata: RecordMetadata) -> Self::Output {
        timed(&metadata, What::Lost(lost.lost))
    }
}
