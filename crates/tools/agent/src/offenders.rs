//! Peers that send messages over the limit of their kind.

use std::collections::VecDeque;

/// The excess at which a peer is dropped. The first one may be an accident.
const EXCESSES_MAX: u32 = 2;
/// Most peers that are remembered; the oldest are forgotten.
const PEERS_MAX: usize = 64;

/// Excesses by peer.
#[derive(Debug, Default)]
pub(crate) struct Offenders(VecDeque<(String, u32)>);

impl Offenders {
    /// Returns whether the messages of a peer are ignored.
    pub fn is_dropped(&self, peer: &str) -> bool {
        self.0.iter().any(|(name, excesses)| name == peer && *excesses >= EXCESSES_MAX)
    }

    /// Counts an excess. Returns whether the peer is dropped by it.
    pub fn count(&mut self, peer: &str) -> bool {
        if let Some((_, excesses)) = self.0.iter_mut().find(|(name, _)| name == peer) {
            *excesses += 1;
            return *excesses == EXCESSES_MAX;
        }
        if self.0.len() == PEERS_MAX {
            self.0.pop_front();
        }
        self.0.push_back((peer.to_owned(), 1));
        false
    }
}

#[cfg(test)]
mod tests {
    use super::{Offenders, PEERS_MAX};

    #[test]
    fn the_second_excess_drops_a_peer() {
        let mut offenders = Offenders::default();
        let dropped = ["a", "b", "a", "a"].map(|peer| offenders.count(peer));
        assert_eq!(dropped, [false, false, true, false]);
        assert_eq!(["a", "b", "c"].map(|peer| offenders.is_dropped(peer)), [true, false, false]);
        assert!((0..10 * PEERS_MAX).all(|number| !offenders.count(&number.to_string())));
        assert_eq!(offenders.0.len(), PEERS_MAX);
    }
}
