//! `COPY ... FROM STDIN`.

use crate::{Client, Error, rows};
use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend::{self, CopyData};

/// Bytes of one message: enough to make its header and its system call cheap.
const CHUNK_BYTES: usize = 64 << 10;

/// A copy into a table that is under way. Dropped before [`finish`](Self::finish), nothing of it is
/// kept.
#[derive(Debug)]
pub struct CopyIn<'a> {
    client: &'a mut Client,
    chunk: Vec<u8>,
    is_over: bool,
}

impl<'a> CopyIn<'a> {
    pub(crate) fn new(client: &'a mut Client) -> Self {
        Self { client, chunk: Vec::with_capacity(CHUNK_BYTES), is_over: false }
    }

    /// Adds data; rows may be split anywhere.
    ///
    /// # Errors
    /// When the server has refused what came before, or the connection is lost.
    pub fn write(&mut self, mut data: &[u8]) -> Result<(), Error> {
        while self.chunk.len() + data.len() >= CHUNK_BYTES {
            let (now, later) = data.split_at(CHUNK_BYTES - self.chunk.len());
            self.chunk.extend_from_slice(now);
            data = later;
            self.send_chunk()?;
            if self.client.messages().has_refused()? {
                self.is_over = true;
                self.client.answer(|_, _| Ok(()))?;
            }
        }
        self.chunk.extend_from_slice(data);
        Ok(())
    }

    /// Ends the copy and returns the number of rows.
    ///
    /// # Errors
    /// When the server refuses something of it, or the connection is lost.
    pub fn finish(mut self) -> Result<u64, Error> {
        self.send_chunk()?;
        self.is_over = true;
        frontend::copy_done(&mut self.client.messages().output);
        self.client.send()?;
        let mut count = 0;
        self.client.answer(|_, message| {
            if let Message::CommandComplete(body) = message {
                let tag = body.tag().map_err(|error| Error::malformed(&error))?;
                count = rows::affected(tag).unwrap_or(0);
            }
            Ok(())
        })?;
        Ok(count)
    }

    fn send_chunk(&mut self) -> Result<(), Error> {
        if !self.chunk.is_empty() {
            let message = CopyData::new(&*self.chunk).map_err(|error| Error::malformed(&error))?;
            message.write(&mut self.client.messages().output);
            self.chunk.clear();
            self.client.send().inspect_err(|_| self.is_over = true)?;
        }
        Ok(())
    }
}

impl Drop for CopyIn<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            // The answer is taken before the next request.
            let told = frontend::copy_fail("given up by the client", &mut self.client.messages().output);
            let _ = told.map(|()| self.client.send());
        }
    }
}
