//! The values that a terminal keys in for a transaction (clauses 2.4.1, 2.5.1, 2.6.1, 2.7.1 and
//! 2.8.1).

use crate::kind::Kind;
use crate::random::{Constants, put_last_name};
use crate::size::{DISTRICTS, Size};
use rand::{Rng, RngExt as _};

/// A terminal: its warehouse and district never change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terminal {
    /// From 1.
    pub warehouse: i64,
    /// From 1.
    pub district: i64,
}

impl Terminal {
    /// Terminals go round the warehouses, so that the first ones use all of them.
    pub fn new(number: u32, size: Size) -> Self {
        let number = i64::from(number);
        Self {
            warehouse: number % size.warehouses + 1,
            district: number / size.warehouses % DISTRICTS + 1,
        }
    }
}

/// An ordered item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    /// Item; one that does not exist when the order is to be rolled back.
    pub item: i64,
    /// Warehouse that supplies it.
    pub supplier: i64,
    /// Pieces.
    pub quantity: i64,
}

/// How a customer is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Customer {
    /// By number.
    Number(i64),
    /// By last name: the middle one of those with this name.
    LastName(String),
}

/// Values of a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// The kind.
    pub kind: Kind,
    /// Warehouse of the terminal.
    pub warehouse: i64,
    /// District: of a stock level the terminal's, else a random one.
    pub district: i64,
    /// Warehouse and district of the customer.
    pub customer_of: [i64; 2],
    /// The customer.
    pub customer: Customer,
    /// Lines of a new order.
    pub lines: Vec<Line>,
    /// Hundredths of a payment.
    pub amount: i64,
    /// Carrier of a delivery, or threshold of a stock level.
    pub number: i64,
}

/// Draws inputs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Inputs {
    /// Size of the database.
    pub size: Size,
    /// Constants of the distributions.
    pub constants: Constants,
}

impl Inputs {
    /// Draws the values of a transaction.
    pub fn draw(&self, kind: Kind, terminal: Terminal, random: &mut impl Rng) -> Input {
        let Terminal { warehouse, district } = terminal;
        let mut input = Input {
            kind,
            warehouse,
            district: random.random_range(1..=DISTRICTS),
            customer_of: [warehouse, 0],
            customer: Customer::Number(0),
            lines: Vec::new(),
            amount: 0,
            number: 0,
        };
        input.customer_of[1] = input.district;
        match kind {
            Kind::NewOrder => {
                input.customer = self.by_number(random);
                self.put_lines(&mut input, random);
            }
            Kind::Payment => {
                if let Some(other) = self.other(warehouse, 15, random) {
                    input.customer_of = [other, random.random_range(1..=DISTRICTS)];
                }
                input.customer = self.by_name_or_number(random);
                input.amount = random.random_range(100..=500_000);
            }
            Kind::OrderStatus => input.customer = self.by_name_or_number(random),
            Kind::Delivery => input.number = random.random_range(1..=10),
            Kind::StockLevel => {
                input.district = district;
                input.number = random.random_range(10..=20);
            }
        }
        input
    }

    fn put_lines(&self, input: &mut Input, random: &mut impl Rng) {
        let (count, rolls_back) = (random.random_range(5..=15), random.random_range(1..=100) == 1);
        input.lines.extend((0..count).map(|_| Line {
            item: self.constants.item(self.size.items(), random),
            supplier: self.other(input.warehouse, 1, random).unwrap_or(input.warehouse),
            quantity: random.random_range(1..=10),
        }));
        if let Some(last) = input.lines.last_mut()
            && rolls_back
        {
            last.item = self.size.items() + 1;
        }
    }

    /// With this chance in percent another warehouse, where there is one.
    fn other(&self, home: i64, percent: i64, random: &mut impl Rng) -> Option<i64> {
        let remote = random.random_range(1..=100) <= percent && self.size.warehouses > 1;
        remote.then(|| {
            let other = random.random_range(1..self.size.warehouses);
            if other < home { other } else { other + 1 }
        })
    }

    fn by_number(&self, random: &mut impl Rng) -> Customer {
        Customer::Number(self.constants.customer(self.size.customers(), random))
    }

    fn by_name_or_number(&self, random: &mut impl Rng) -> Customer {
        if random.random_range(1..=100) > 60 {
            return self.by_number(random);
        }
        let mut name = String::new();
        put_last_name(&mut name, self.constants.last_name(self.size.last_names(), random));
        Customer::LastName(name)
    }
}

impl Input {
    /// Returns whether a new order has an item that does not exist.
    pub fn rolls_back(&self, size: Size) -> bool {
        self.lines.last().is_some_and(|line| line.item > size.items())
    }

    /// Lines that another warehouse supplies.
    pub fn remote_lines(&self) -> usize {
        self.lines.iter().filter(|line| line.supplier != self.warehouse).count()
    }
}

#[cfg(test)]
mod tests {
    use super::{Customer, Inputs, Terminal};
    use crate::kind::Kind;
    use crate::random::{Constants, generator};
    use crate::size::Size;

    const SIZE: Size = Size { warehouses: 5, reduced_by: 1 };

    /// Returns whether a count is within five deviations of a share.
    fn is_share(count: usize, of: usize, percent: f64) -> bool {
        let share = percent / 100.0;
        let deviation = (of as f64 * share * (1.0 - share)).sqrt();
        (count as f64 - of as f64 * share).abs() < 5.0 * deviation
    }

    #[test]
    fn inputs_have_the_shares_of_the_specification() {
        let inputs = Inputs { size: SIZE, constants: Constants::from_seed(1) };
        let (mut random, drawn) = (generator(9, 0), 100_000);
        let terminal = Terminal { warehouse: 2, district: 7 };
        let (mut lines, mut remote, mut rolled_back) = (0, 0, 0);
        for _ in 0..drawn {
            let drawn = inputs.draw(Kind::NewOrder, terminal, &mut random);
            assert!((5..=15).contains(&drawn.lines.len()));
            lines += drawn.lines.len();
            remote += drawn.remote_lines();
            rolled_back += usize::from(drawn.rolls_back(SIZE));
            assert!(drawn.lines.iter().all(|line| (1..=5).contains(&line.supplier)));
        }
        assert!(is_share(remote, lines, 1.0), "{remote} of {lines}");
        assert!(is_share(rolled_back, drawn, 1.0), "{rolled_back}");
        // The mean of 5 to 15, deviation of the mean 3.2 / sqrt(n).
        assert!((lines as f64 / drawn as f64 - 10.0).abs() < 0.05);
        let (mut remote, mut by_name) = (0, 0);
        for _ in 0..drawn {
            let drawn = inputs.draw(Kind::Payment, terminal, &mut random);
            remote += usize::from(drawn.customer_of[0] != 2);
            by_name += usize::from(matches!(drawn.customer, Customer::LastName(_)));
            assert!((100..=500_000).contains(&drawn.amount));
            assert!((1..=5).contains(&drawn.customer_of[0]));
        }
        assert!(is_share(remote, drawn, 15.0), "{remote}");
        assert!(is_share(by_name, drawn, 60.0), "{by_name}");
        let drawn = inputs.draw(Kind::StockLevel, terminal, &mut random);
        assert_eq!((drawn.warehouse, drawn.district), (2, 7));
        assert!((10..=20).contains(&drawn.number));
    }

    #[test]
    fn one_warehouse_has_nothing_remote() {
        let size = Size { warehouses: 1, reduced_by: 100 };
        let inputs = Inputs { size, constants: Constants::from_seed(1) };
        let mut random = generator(9, 0);
        for _ in 0..2_000 {
            let order = inputs.draw(Kind::NewOrder, Terminal::new(3, size), &mut random);
            let payment = inputs.draw(Kind::Payment, Terminal::new(3, size), &mut random);
            assert_eq!((order.remote_lines(), payment.customer_of[0]), (0, 1));
        }
    }

    #[test]
    fn ten_terminals_of_a_warehouse_have_different_districts() {
        let all: std::collections::HashSet<[i64; 2]> = (0..50)
            .map(|number| Terminal::new(number, SIZE))
            .map(|terminal| [terminal.warehouse, terminal.district])
            .collect();
        assert_eq!(all.len(), 50);
    }
}
