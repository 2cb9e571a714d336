//! `pread` and `pwrite`: a queue of one.

use crate::data::Buffers;
use crate::queue::{Ended, Queue, Request};
use std::io;
use std::os::fd::RawFd;
use std::time::Duration;

/// Makes one I/O at a time, in the wait.
#[derive(Debug)]
pub struct Blocking {
    files: Vec<RawFd>,
    request: Option<Request>,
    ended: Option<Ended>,
}

impl Queue for Blocking {
    const DEPTH_MAX: u32 = 1;
    type Mode = ();

    fn new(
        (): (),
        _depth: u32,
        files: &[RawFd],
        _buffers: &Buffers,
    ) -> Result<(Self, Option<String>), String> {
        Ok((Self { files: files.to_vec(), request: None, ended: None }, None))
    }

    fn push(&mut self, request: Request) {
        debug_assert!(self.request.is_none(), "a queue of one");
        self.request = Some(request);
    }

    fn submit(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn wait(&mut self, _least: u32, _most: Option<Duration>) -> io::Result<()> {
        if let Some(request) = self.request.take() {
            let result = perform(self.files[request.file as usize], &request);
            self.ended = Some(Ended { slot: request.slot, result });
        }
        Ok(())
    }

    fn ended(&mut self) -> Option<Ended> {
        self.ended.take()
    }
}

/// Bytes moved, or the negative error number.
fn perform(file: RawFd, request: &Request) -> i32 {
    let buffer = libc::iovec { iov_base: request.buffer.0.cast(), iov_len: request.length as usize };
    let offset = request.offset as libc::off_t;
    loop {
        // SAFETY: the buffer is this I/O's alone and as long as said; the kernel checks the rest.
        let moved = unsafe {
            match (request.write, request.durable) {
                (false, _) => libc::pread(file, buffer.iov_base, buffer.iov_len, offset),
                (true, false) => libc::pwrite(file, buffer.iov_base, buffer.iov_len, offset),
                (true, true) => libc::pwritev2(file, &raw const buffer, 1, offset, libc::RWF_DSYNC),
            }
        };
        match moved {
            0.. => return moved as i32,
            _ => match io::Error::last_os_error().raw_os_error() {
                Some(libc::EINTR) => {}
                error => return -error.unwrap_or(libc::EIO),
            },
        }
    }
}
