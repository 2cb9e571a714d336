//! Rows that are made while those before them are loaded.

use crate::{Batches, MakeBatches};
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle, available_parallelism};
use std::vec::IntoIter;
use work::Rows;

/// Batches of a piece that wait to be taken, at most.
const AHEAD: usize = 8;

/// Batches in the order of their pieces, and within a piece in the order of its generator. Threads
/// make as many pieces at a time as there are processors. They start with the first request for a
/// batch and end with this. If the system gives no thread, batches are made on request.
pub struct Ahead {
    pieces: Pieces,
    state: State,
}

type Pieces = Arc<Mutex<IntoIter<MakeBatches>>>;

/// The batches of a piece; `None` is its end.
type Piece = Receiver<Option<Rows>>;

enum State {
    NotBegun,
    Here(Batches),
    InThreads(Threads),
    Over,
}

struct Threads {
    /// In their order.
    pieces: Receiver<Piece>,
    now: Option<Piece>,
    all: Vec<JoinHandle<()>>,
}

impl Ahead {
    /// Makes these pieces ahead.
    pub fn new(pieces: Vec<MakeBatches>) -> Self {
        Self { pieces: Arc::new(Mutex::new(pieces.into_iter())), state: State::NotBegun }
    }

    fn begin(&self) -> State {
        let pieces = self.pieces.lock().unwrap_or_else(PoisonError::into_inner).len();
        let number = available_parallelism().map_or(1, usize::from).min(pieces);
        // A thread that is ahead waits for those with earlier pieces.
        let (begin, begun) = sync_channel(number);
        let all: Vec<JoinHandle<()>> = (0..number)
            .map_while(|_| {
                let (pieces, begin) = (self.pieces.clone(), begin.clone());
                Builder::new().name("rows".into()).spawn(move || make(&pieces, &begin)).ok()
            })
            .collect();
        if all.is_empty() {
            let pieces = self.pieces.clone();
            return State::Here(Box::new(
                std::iter::from_fn(move || {
                    pieces.lock().unwrap_or_else(PoisonError::into_inner).next()
                })
                .flat_map(|make| make()),
            ));
        }
        State::InThreads(Threads { pieces: begun, now: None, all })
    }
}

/// Makes one piece after the other, until there are none left or the receiver is gone.
fn make(pieces: &Pieces, begin: &SyncSender<Piece>) {
    loop {
        let (made, taken) = sync_channel(AHEAD);
        let piece = {
            let mut pieces = pieces.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(piece) = pieces.next() else { return };
            // Under the lock, so that pieces begin in order.
            if begin.send(taken).is_err() {
                return;
            }
            piece
        };
        let mut batches = piece().map(Some).chain([None]);
        if batches.try_for_each(|rows| made.send(rows)).is_err() {
            return;
        }
    }
}

impl Threads {
    /// The next batch; `None`: there is none, or a thread has panicked.
    fn next(&mut self) -> Option<Rows> {
        loop {
            let piece = match &self.now {
                Some(piece) => piece,
                None => self.now.insert(self.pieces.recv().ok()?),
            };
            match piece.recv().ok()? {
                Some(rows) => return Some(rows),
                None => self.now = None,
            }
        }
    }

    /// Waits for the threads; dropping their channels first lets them end.
    fn end(self) {
        let Self { pieces, now, all } = self;
        drop((pieces, now));
        let ended: Vec<_> = all.into_iter().map(JoinHandle::join).collect();
        // Fewer rows than there are would look like all of them.
        for ended in ended {
            ended.unwrap_or_else(|panic| resume_unwind(panic));
        }
    }
}

impl Iterator for Ahead {
    type Item = Rows;

    fn next(&mut self) -> Option<Rows> {
        if matches!(self.state, State::NotBegun) {
            self.state = self.begin();
        }
        let next = match &mut self.state {
            State::Here(batches) => batches.next(),
            State::InThreads(threads) => threads.next(),
            State::NotBegun | State::Over => None,
        };
        if next.is_none()
            && let State::InThreads(threads) = std::mem::replace(&mut self.state, State::Over)
        {
            threads.end();
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::{AHEAD, Ahead};
    use crate::{Batches, MakeBatches};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use work::{Rows, Values};

    /// `count` batches, in pieces of `piece` batches.
    fn numbered(count: usize, piece: usize, made: &Arc<AtomicUsize>) -> Vec<MakeBatches> {
        (0..count)
            .step_by(piece)
            .map(|first| -> MakeBatches {
                let made = made.clone();
                Box::new(move || {
                    Box::new((first..count.min(first + piece)).map(move |number| {
                        made.fetch_add(1, Ordering::SeqCst);
                        assert!(number < 1000, "broken");
                        Rows { count: 1, columns: vec![Values::Same(number as i64)] }
                    })) as Batches
                })
            })
            .collect()
    }

    #[test]
    fn batches_come_in_order_and_none_is_made_before_the_first_is_asked_for() {
        let made = Arc::new(AtomicUsize::new(0));
        drop(Ahead::new(numbered(5, 2, &made)));
        assert_eq!(made.load(Ordering::SeqCst), 0);
        for piece in [1, 3, 100, 500] {
            let all: Vec<Rows> = Ahead::new(numbered(500, piece, &made)).collect();
            assert!(
                all.iter().map(|rows| rows.columns[0].clone()).eq((0..500).map(Values::Same))
                    && all.len() == 500
            );
        }
    }

    #[test]
    fn who_makes_them_ends_with_who_takes_them_and_does_not_run_away() {
        let made = Arc::new(AtomicUsize::new(0));
        let mut some = Ahead::new(numbered(999, 999, &made));
        some.by_ref().take(3).for_each(drop);
        drop(some);
        // Those taken, those that waited, one on its way.
        assert!(made.load(Ordering::SeqCst) <= 3 + AHEAD + 1);
        made.store(0, Ordering::SeqCst);
        let mut some = Ahead::new(numbered(999, 2, &made));
        some.by_ref().take(3).for_each(drop);
        drop(some);
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        // Two pieces taken, as many begun as there are threads, one of each thread on its way.
        assert!(made.load(Ordering::SeqCst) <= 2 * (2 + 2 * threads));
    }

    #[test]
    #[should_panic(expected = "broken")]
    fn a_panic_is_not_the_end_of_the_rows() {
        let made = Arc::new(AtomicUsize::new(0));
        Ahead::new(numbered(1001, 10, &made)).for_each(drop);
    }
}
