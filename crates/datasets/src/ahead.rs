//! Rows that are made while those before them are loaded.

use crate::{Batches, MakeBatches};
use engines::Rows;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

/// Batches that wait to be taken, at most.
const AHEAD: usize = 8;

/// Batches in the order in which they are made. A thread makes them, which begins when the first is asked for and ends
/// with this; where the system gives none, they are made when they are asked for.
pub struct Ahead {
    make: Arc<Mutex<Option<MakeBatches>>>,
    state: State,
}

enum State {
    NotBegun,
    Here(Batches),
    InThread(Receiver<Rows>, JoinHandle<()>),
    Over,
}

impl Ahead {
    pub fn new(make: MakeBatches) -> Self {
        Self { make: Arc::new(Mutex::new(Some(make))), state: State::NotBegun }
    }

    fn begin(&self) -> State {
        let (made, taken) = sync_channel(AHEAD);
        let make = self.make.clone();
        let run = move || {
            // Whoever takes them may not want them all.
            batches(&make).into_iter().flatten().try_for_each(|rows| made.send(rows)).unwrap_or_default();
        };
        match Builder::new().name("rows".into()).spawn(run) {
            Ok(thread) => State::InThread(taken, thread),
            Err(_) => batches(&self.make).map_or(State::Over, State::Here),
        }
    }
}

/// The batches, once.
fn batches(make: &Mutex<Option<MakeBatches>>) -> Option<Batches> {
    let make = make.lock().unwrap_or_else(PoisonError::into_inner).take();
    make.map(|make| make())
}

impl Iterator for Ahead {
    type Item = Rows;

    fn next(&mut self) -> Option<Rows> {
        if matches!(self.state, State::NotBegun) {
            self.state = self.begin();
        }
        let next = match &mut self.state {
            State::Here(batches) => batches.next(),
            State::InThread(taken, _) => taken.recv().ok(),
            State::NotBegun | State::Over => None,
        };
        if next.is_none()
            && let State::InThread(_, thread) = std::mem::replace(&mut self.state, State::Over)
            && let Err(panic) = thread.join()
        {
            // Fewer rows than there are would look like all of them.
            resume_unwind(panic);
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::{AHEAD, Ahead};
    use crate::{Batches, MakeBatches};
    use engines::{Rows, Values};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn numbered(count: usize, made: &Arc<AtomicUsize>) -> MakeBatches {
        let made = made.clone();
        Box::new(move || {
            let batch = move |number: usize| {
                made.fetch_add(1, Ordering::SeqCst);
                assert!(number < 1000, "broken");
                Rows { count: 1, columns: vec![Values::Same(number as i64)] }
            };
            Box::new((0..count).map(batch)) as Batches
        })
    }

    #[test]
    fn batches_come_in_order_and_none_is_made_before_the_first_is_asked_for() {
        let made = Arc::new(AtomicUsize::new(0));
        drop(Ahead::new(numbered(5, &made)));
        assert_eq!(made.load(Ordering::SeqCst), 0);
        let all: Vec<Rows> = Ahead::new(numbered(500, &made)).collect();
        let number = |rows: &Rows| rows.columns[0].clone();
        assert!(all.iter().map(number).eq((0..500).map(Values::Same)) && all.len() == 500);
    }

    #[test]
    fn who_makes_them_ends_with_who_takes_them_and_does_not_run_away() {
        let made = Arc::new(AtomicUsize::new(0));
        let mut some = Ahead::new(numbered(999, &made));
        some.by_ref().take(3).for_each(drop);
        drop(some);
        // Those taken, those that waited, one on its way.
        assert!(made.load(Ordering::SeqCst) <= 3 + AHEAD + 1);
    }

    #[test]
    #[should_panic(expected = "broken")]
    fn a_panic_is_not_the_end_of_the_rows() {
        let made = Arc::new(AtomicUsize::new(0));
        Ahead::new(numbered(1001, &made)).for_each(drop);
    }
}
