//! Copying a file beside a load.

use crate::outcome::Outcome;
use engine::{EngineError, Route};
use observe::CpuUse;
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::thread::{Builder, scope, sleep};
use std::time::{Duration, Instant};
use work::Cancel;

/// Bytes that are read and written at a time.
const CHUNK_BYTES: usize = 1 << 20;
const SOURCE: &str = "source";
/// Bytes that are sent over a link at a time, as file servers do it.
const SENT_BYTES: usize = 64 << 10;
/// The time that the other end of a link may take to be reached, and between two looks for it.
const REACHED: Duration = Duration::from_secs(30);
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// Makes the file that is copied, of bytes that do not compress.
pub(crate) fn make_source(folder: &Path, bytes: u64, cancel: &Cancel) -> Result<(), EngineError> {
    let path = folder.join(SOURCE);
    let mut file = File::create(&path).map_err(EngineError::at(&path))?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(bytes);
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut left = bytes;
    while left > 0 {
        if cancel.is_cancelled() {
            return Err(EngineError::Cancelled);
        }
        let length = left.min(CHUNK_BYTES as u64) as usize;
        random.fill_bytes(&mut chunk[..length]);
        file.write_all(&chunk[..length]).map_err(EngineError::at(&path))?;
        left -= length as u64;
    }
    file.sync_all().map_err(EngineError::at(&path))
}

/// Copies it, at no more than this many bytes a second, and syncs the copy.
pub fn run(folder: &Path, rate: Option<f64>, cancel: &Cancel) -> Result<Outcome, EngineError> {
    let (used, path) = (CpuUse::of_this_thread(), folder.join("copy"));
    let mut target = File::create(&path).map_err(EngineError::at(&path))?;
    let mut chunk = vec![0; CHUNK_BYTES];
    let bytes = pass(folder, &mut chunk, rate, cancel, &mut |bytes| {
        target.write_all(bytes).map_err(EngineError::at(&path))
    })?;
    target.sync_all().map_err(EngineError::at(&path))?;
    Ok(Outcome { cpu_s: Some(used.seconds()), bytes: Some(bytes), backup: None })
}

/// Sends it over a link, at no more than this many bytes a second, until the other end has all of
/// it.
pub fn send(
    folder: &Path,
    route: &Route,
    rate: Option<f64>,
    cancel: &Cancel,
) -> Result<Outcome, EngineError> {
    let used = CpuUse::of_this_thread();
    let failed = |error: std::io::Error| EngineError::failed("sending a file over the link", error);
    let listener = UnixListener::bind(&route.server).map_err(EngineError::at(&route.server))?;
    let mut near = UnixStream::connect(&route.relay).map_err(EngineError::at(&route.relay))?;
    let far = accept(&listener, cancel)?;
    let mut chunk = vec![0; SENT_BYTES];
    let (sent, received) = scope(|scope| {
        let thread = Builder::new().name("receiver".into()).spawn_scoped(scope, || receive(far));
        let thread = thread.map_err(|error| EngineError::no_thread(&error))?;
        let sent = pass(folder, &mut chunk, rate, cancel, &mut |bytes| {
            near.write_all(bytes).map_err(failed)
        });
        // Also after an error: the receiver waits for it.
        let ended = near.shutdown(Shutdown::Write).map_err(failed);
        let received = thread.join().unwrap_or_else(|_| Err(ErrorKind::Other.into()));
        Ok::<_, EngineError>((
            sent.and_then(|sent| ended.map(|()| sent))?,
            received.map_err(failed)?,
        ))
    })?;
    std::fs::remove_file(&route.server).map_err(EngineError::at(&route.server))?;
    if received != sent {
        let message = format!("{received} of {sent} bytes arrived");
        return Err(EngineError::failed("sending a file over the link", message));
    }
    Ok(Outcome { cpu_s: Some(used.seconds()), bytes: Some(sent), backup: None })
}

/// Waits for the connection from the link.
fn accept(listener: &UnixListener, cancel: &Cancel) -> Result<UnixStream, EngineError> {
    let failed = |error: std::io::Error| EngineError::failed("reaching the end of the link", error);
    listener.set_nonblocking(true).map_err(failed)?;
    let start = Instant::now();
    loop {
        match listener.accept() {
            Ok((stream, _)) => {
                stream.set_nonblocking(false).map_err(failed)?;
                return Ok(stream);
            }
            Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(failed(error)),
            Err(_) if cancel.is_cancelled() => return Err(EngineError::Cancelled),
            Err(error) if start.elapsed() > REACHED => return Err(failed(error)),
            Err(_) => sleep(LOOK_EVERY),
        }
    }
}

/// Counts the bytes that arrive.
fn receive(mut from: UnixStream) -> std::io::Result<u64> {
    std::io::copy(&mut from, &mut std::io::sink())
}

/// Reads the source and passes it on in chunks, at no more than this many bytes a second. Returns
/// its bytes.
fn pass(
    folder: &Path,
    chunk: &mut [u8],
    rate: Option<f64>,
    cancel: &Cancel,
    write: &mut dyn FnMut(&[u8]) -> Result<(), EngineError>,
) -> Result<u64, EngineError> {
    let (from, start) = (folder.join(SOURCE), Instant::now());
    let mut source = File::open(&from).map_err(EngineError::at(&from))?;
    let mut bytes = 0;
    loop {
        let length = source.read(chunk).map_err(EngineError::at(&from))?;
        if length == 0 {
            return Ok(bytes);
        }
        write(&chunk[..length])?;
        bytes += length as u64;
        let due = rate.map_or(Duration::ZERO, |rate| Duration::from_secs_f64(bytes as f64 / rate));
        cancel.wait_until(start + due);
        if cancel.is_cancelled() {
            return Err(EngineError::Cancelled);
        }
    }
}
