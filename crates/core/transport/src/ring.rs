use crate::connection::Connection;
use crate::{Stream, Wire};
use io_uring::squeue::{Entry, Flags};
use io_uring::types::{BufRingEntry, Fixed, SubmitArgs, Timespec};
use io_uring::{IoUring, Submitter, cqueue, opcode};
use std::cell::UnsafeCell;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

/// Most bytes of one send operation.
const SEND_MAX: usize = 1 << 20;

/// Serves plain sockets with `io_uring(7)`: one system call sends all that is to be sent, waits,
/// and receives what has come. A transaction costs a client half to three quarters of the processor
/// time that it costs with epoll, the less the more connections there are.
///
/// It takes Linux 6.1 (`IORING_SETUP_DEFER_TASKRUN`), and the kernel's permission. All of it
/// happens within [`wait`](Self::wait) on the thread that made it.
pub struct Ring {
    /// Dropped before the pool.
    ring: IoUring,
    pool: Pool,
    states: Vec<State>,
    /// Connections that have something to send or to receive.
    due: Vec<usize>,
}

/// The ring's state for a connection.
#[derive(Debug, Clone, Copy, Default)]
struct State {
    /// A receive operation is in flight; it stays active after each completion.
    receives: bool,
    /// Bytes of the last send operation.
    sends: usize,
    /// The socket did not take them all.
    full: bool,
    awaits_room: bool,
}

/// Operations of a connection, as the lowest bits of their user data.
const RECEIVE: u64 = 0;
const SEND: u64 = 1;
/// Wait until the socket takes more.
const AWAIT_ROOM: u64 = 2;

fn user_data(operation: u64, number: usize) -> u64 {
    (number as u64) << 2 | operation
}

impl Ring {
    /// A ring for these sockets, which the calling thread alone will use.
    pub fn new(streams: &[&Stream]) -> io::Result<Self> {
        // A connection has at most one operation of each kind at once.
        let entries = (3 * streams.len().max(1)).next_power_of_two() as u32;
        let ring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_submit_all()
            .setup_cqsize((entries + u32::from(BUFFERS)).next_power_of_two())
            .build(entries)?;
        let sockets: Vec<i32> = streams.iter().map(|stream| stream.socket().as_raw_fd()).collect();
        ring.submitter().register_files(&sockets)?;
        let pool = Pool::register(&ring.submitter())?;
        Ok(Self { ring, pool, states: vec![State::default(); streams.len()], due: Vec::new() })
    }

    /// Has the next [`wait`](Self::wait) send what a connection has to send.
    pub fn schedule(&mut self, number: usize) {
        self.due.push(number);
    }

    /// Sends what is to be sent, waits for one of the connections and serves those that have
    /// events.
    pub fn wait<W: Wire>(
        &mut self,
        timeout: Duration,
        connections: &mut [Connection<W>],
        mut answer: impl FnMut(usize, W::Answer),
    ) -> io::Result<()> {
        self.submit_due(connections)?;
        let timeout = Timespec::from(timeout);
        match self.ring.submitter().submit_with_args(1, &SubmitArgs::new().timespec(&timeout)) {
            Ok(_) => {}
            Err(error) if matches!(error.raw_os_error(), Some(libc::ETIME | libc::EINTR)) => {}
            Err(error) => return Err(error),
        }
        // Send operations complete within the call, so those that failed come first.
        loop {
            let Some(completion) = self.ring.completion().next() else { return Ok(()) };
            let number = (completion.user_data() >> 2) as usize;
            let connection = &mut connections[number];
            match completion.user_data() & 3 {
                RECEIVE => {
                    if let Some(result) = self.received(&completion, number, connection) {
                        answer(number, result);
                    }
                }
                SEND => self.not_sent(completion.result(), number, connection),
                _ => {
                    let state = &mut self.states[number];
                    (state.full, state.awaits_room) = (false, false);
                    self.due.push(number);
                }
            }
        }
    }

    /// A receive operation has completed.
    fn received<W: Wire>(
        &mut self,
        completion: &cqueue::Entry,
        number: usize,
        connection: &mut Connection<W>,
    ) -> Option<W::Answer> {
        let (buffer, result) = (cqueue::buffer_select(completion.flags()), completion.result());
        self.states[number].receives = cqueue::more(completion.flags());
        match (buffer, result) {
            (Some(buffer), 1..) => {
                // SAFETY: this completion hands the buffer out, with this many bytes.
                let answer = unsafe {
                    self.pool.take(buffer, result as usize, |bytes| connection.received(bytes))
                };
                if connection.has_unsent() || !self.states[number].receives {
                    self.due.push(number);
                }
                answer
            }
            (_, 0..) => connection.closed(),
            (_, error) => match -error {
                // All buffers were full.
                libc::ENOBUFS | libc::EAGAIN | libc::EINTR => {
                    self.due.push(number);
                    None
                }
                error => connection.lost(&io::Error::from_raw_os_error(error)),
            },
        }
    }

    /// A socket took only a part, or refused with an error. The receive operation reports
    /// the errors that last.
    fn not_sent<W: Wire>(&mut self, result: i32, number: usize, connection: &mut Connection<W>) {
        let state = &mut self.states[number];
        if result >= 0 || [libc::EAGAIN, libc::EINTR].contains(&-result) {
            connection.mark_unsent(state.sends - result.max(0) as usize);
            state.full = true;
            self.due.push(number);
        }
    }

    /// Queues the operations that the due connections need.
    fn submit_due<W: Wire>(&mut self, connections: &mut [Connection<W>]) -> io::Result<()> {
        if !self.ring.submission().is_empty() {
            // Their buffers may be gone by now.
            return Err(io::Error::other("io_uring did not accept all operations"));
        }
        let mut queue = self.ring.submission();
        let mut submit = |entry: Entry| {
            // SAFETY: what is to be sent does not change until `wait` has submitted the entry, and
            // with MSG_DONTWAIT the kernel is done with it by then; entries that were left behind
            // are never submitted. Into the buffers of the pool the kernel writes within
            // io_uring_enter(2) only (IORING_SETUP_DEFER_TASKRUN), that is, within `wait`.
            unsafe { queue.push(&entry) }
                .map_err(|_| io::Error::other("the submission queue is full"))
        };
        for number in self.due.drain(..) {
            let (state, connection) = (&mut self.states[number], &mut connections[number]);
            let socket = Fixed(number as u32);
            if connection.has_unsent() && !state.awaits_room {
                if !state.full {
                    let unsent = connection.unsent();
                    state.sends = unsent.len().min(SEND_MAX);
                    let send = send(socket, &unsent[..state.sends]);
                    submit(send.user_data(user_data(SEND, number)))?;
                    connection.mark_sent(state.sends);
                }
                if connection.has_unsent() {
                    let room = opcode::PollAdd::new(socket, libc::POLLOUT as u32).build();
                    submit(room.user_data(user_data(AWAIT_ROOM, number)))?;
                    state.awaits_room = true;
                }
            }
            if !state.receives {
                let receive = opcode::RecvMulti::new(socket, Pool::GROUP).build();
                submit(receive.user_data(user_data(RECEIVE, number)))?;
                state.receives = true;
            }
        }
        Ok(())
    }
}

/// Sends without waiting. Only a send that is short or fails has a completion.
fn send(socket: Fixed, bytes: &[u8]) -> Entry {
    opcode::Send::new(socket, bytes.as_ptr(), bytes.len() as u32)
        .flags(libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT | libc::MSG_WAITALL)
        .build()
        .flags(Flags::SKIP_SUCCESS)
}

/// Number of buffers, a power of two. When all of them are full, the receive operation ends and is
/// submitted again.
const BUFFERS: u16 = 256;

/// Bytes of a buffer: more than most answers have, and half of what the server sends at most at
/// once.
const BUFFER_BYTES: usize = 4096;

/// Buffers that the kernel fills with what comes, whichever connection it is for
/// (`io_uring_register_buf_ring(3)`).
struct Pool {
    queue: Box<Queue>,
    buffers: Box<[UnsafeCell<[u8; BUFFER_BYTES]>]>,
    /// Buffers given to the kernel so far; only the lower bits count.
    provided: u16,
}

/// Shared with the kernel, which takes buffers from its head.
#[repr(C, align(4096))]
struct Queue([UnsafeCell<BufRingEntry>; BUFFERS as usize]);

impl Pool {
    /// The group under which the buffers are known.
    const GROUP: u16 = 0;

    /// Buffers for a ring, which has to be dropped before them.
    fn register(ring: &Submitter<'_>) -> io::Result<Self> {
        let buffers = (0..BUFFERS).map(|_| UnsafeCell::new([0; BUFFER_BYTES])).collect();
        // SAFETY: an entry is plain numbers, for which zeros are valid.
        let queue = Box::new(Queue(std::array::from_fn(|_| {
            UnsafeCell::new(unsafe { std::mem::zeroed() })
        })));
        // SAFETY: the queue is in a box of its own, which outlives the ring.
        unsafe {
            ring.register_buf_ring_with_flags(queue.0.as_ptr() as u64, BUFFERS, Self::GROUP, 0)?;
        };
        let mut pool = Self { queue, buffers, provided: 0 };
        (0..BUFFERS).for_each(|buffer| pool.give(buffer));
        Ok(pool)
    }

    /// Looks at the bytes of a buffer and gives it back.
    ///
    /// # Safety
    /// A completion has handed out this buffer with `bytes` bytes, and it has not been taken since.
    unsafe fn take<T>(&mut self, buffer: u16, bytes: usize, look: impl FnOnce(&[u8]) -> T) -> T {
        // SAFETY: the kernel leaves the buffer alone until it is given back.
        let content = unsafe { &*self.buffers[usize::from(buffer)].get() };
        let result = look(&content[..bytes]);
        self.give(buffer);
        result
    }

    fn give(&mut self, buffer: u16) {
        let entry = self.queue.0[usize::from(self.provided % BUFFERS)].get();
        // SAFETY: the kernel does not look at entries behind the tail, and we alone write.
        let entry = unsafe { &mut *entry };
        entry.set_addr(self.buffers[usize::from(buffer)].get() as u64);
        entry.set_len(BUFFER_BYTES as u32);
        entry.set_bid(buffer);
        self.provided = self.provided.wrapping_add(1);
        // SAFETY: the tail is within the first entry of a queue that is there as long as we are,
        // and written here only.
        let tail =
            unsafe { AtomicU16::from_ptr(BufRingEntry::tail(self.queue.0[0].get()).cast_mut()) };
        tail.store(self.provided, Ordering::Release);
    }
}
