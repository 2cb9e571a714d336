//! The five kinds of transactions, their numbers, and decks of cards that make the mix exact.

use crate::random::shuffle;
use rand::Rng;

/// A kind of transactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A customer orders items.
    NewOrder,
    /// A customer pays.
    Payment,
    /// A customer asks for the last order.
    OrderStatus,
    /// The oldest order of each district is delivered.
    Delivery,
    /// Items of recent orders that are low in stock are counted.
    StockLevel,
}

/// The specification of a kind (clauses 5.2.5.3, 5.2.5.4 and 5.2.5.7).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Profile {
    /// Name in reports and recordings.
    pub name: &'static str,
    /// Cards in a deck.
    pub cards: usize,
    /// Seconds to key in its values.
    pub keying_s: f64,
    /// Mean seconds to think about its answer.
    pub thinking_s: f64,
    /// Seconds that 90 of 100 transactions may take at most. A delivery is queued: its terminal
    /// does not wait, and it is done within 80 s.
    pub limit_s: f64,
}

impl Kind {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 5] =
        [Self::NewOrder, Self::Payment, Self::OrderStatus, Self::Delivery, Self::StockLevel];

    /// The specification.
    pub const fn profile(self) -> Profile {
        let (name, cards, [keying_s, thinking_s, limit_s]) = match self {
            Self::NewOrder => ("new-order", 10, [18.0, 12.0, 5.0]),
            Self::Payment => ("payment", 10, [3.0, 12.0, 5.0]),
            Self::OrderStatus => ("order-status", 1, [2.0, 10.0, 5.0]),
            Self::Delivery => ("delivery", 1, [2.0, 5.0, 80.0]),
            Self::StockLevel => ("stock-level", 1, [2.0, 5.0, 20.0]),
        };
        Profile { name, cards, keying_s, thinking_s, limit_s }
    }

    /// Name of the response with the 90th percentile of its latency.
    pub fn percentile_name(self) -> String {
        format!("{}_p90", self.profile().name.replace('-', "_"))
    }
}

/// Cards of a deck.
pub(crate) const CARDS: usize = 23;

/// New orders a minute that the ten terminals of a warehouse can make at most (clause 4.1.3): the
/// system answers immediately, and the other kinds have their least shares.
pub const NEW_ORDERS_MAX: f64 = 12.86;

/// A deck of cards, drawn without replacement and then shuffled again.
#[derive(Debug, Clone)]
pub(crate) struct Deck {
    cards: [Kind; CARDS],
    next: usize,
}

impl Default for Deck {
    fn default() -> Self {
        let mut cards = [Kind::NewOrder; CARDS];
        let all = Kind::ALL.iter().flat_map(|kind| (0..kind.profile().cards).map(|_| *kind));
        cards.iter_mut().zip(all).for_each(|(card, kind)| *card = kind);
        Self { cards, next: CARDS }
    }
}

impl Deck {
    /// Draws the next card.
    pub fn draw(&mut self, random: &mut impl Rng) -> Kind {
        if self.next == CARDS {
            shuffle(&mut self.cards, random);
            self.next = 0;
        }
        self.next += 1;
        self.cards[self.next - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::{CARDS, Deck, Kind, NEW_ORDERS_MAX};
    use crate::random::generator;

    #[test]
    fn every_deck_has_the_exact_mix_and_another_order() {
        let (mut deck, mut random) = (Deck::default(), generator(1, 0));
        let mut orders = std::collections::HashSet::new();
        for _ in 0..1_000 {
            let drawn: Vec<Kind> = (0..CARDS).map(|_| deck.draw(&mut random)).collect();
            let counts = Kind::ALL.map(|kind| drawn.iter().filter(|card| **card == kind).count());
            assert_eq!(counts, [10, 10, 1, 1, 1]);
            orders.insert(drawn);
        }
        assert!(orders.len() > 990, "{}", orders.len());
        assert_eq!(CARDS, 23);
    }

    /// New orders a minute of ten terminals whose system answers immediately, for these shares.
    fn bound(shares: [f64; 5]) -> f64 {
        let times = Kind::ALL.map(|kind| kind.profile().keying_s + kind.profile().thinking_s);
        let cycle_s: f64 = shares.iter().zip(times).map(|(share, time_s)| share * time_s).sum();
        10.0 * 60.0 * shares[0] / cycle_s
    }

    /// Clause 5.2.3 has the least shares of the other kinds: 43, 4, 4 and 4 percent. A deck has a
    /// little more of them.
    #[test]
    fn the_bound_is_that_of_ten_terminals_that_never_wait() {
        assert!((bound([0.45, 0.43, 0.04, 0.04, 0.04]) - NEW_ORDERS_MAX).abs() < 0.005);
        let deck = bound(Kind::ALL.map(|kind| kind.profile().cards as f64 / CARDS as f64));
        assert!((deck - 12.605).abs() < 0.001, "{deck}");
    }
}
