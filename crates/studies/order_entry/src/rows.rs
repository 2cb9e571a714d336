//! The rows that the tables begin with (clause 4.3.3): the same for the same size and seed on every
//! engine. Each warehouse is a piece of its own, so that several are made at a time.

use crate::random::{
    Constants, generator, put_capitals, put_data, put_digits, put_last_name, put_text, shuffle,
};
use crate::size::{DISTRICTS, LAST_NAMES, Size};
use crate::tables::{
    CUSTOMER, DISTRICT, HISTORY, ITEM, NEW_ORDER, ORDER_LINE, ORDERS, STOCK, WAREHOUSE,
};
use datasets::{Ahead, BATCH_ROWS, Batches, MakeBatches};
use rand::{Rng, RngExt as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use work::{Fill, Rows, Table, Texts, Values};

/// The time at which all rows were loaded: 2020-01-01.
const LOADED_S: i64 = 1_577_836_800;
/// Hundredths of the payment that each customer has made.
const PAYMENT: i64 = 1_000;

/// Rows of all tables, which [`crate::tables::tables`] lists.
pub fn fills(tables: &[Table], size: Size, seed: u64) -> Vec<Fill> {
    let constants = Constants::from_seed(seed);
    (0..tables.len())
        .map(|table| {
            let pieces = if table == ITEM { 0..=0 } else { 1..=size.warehouses };
            let pieces = pieces.map(|warehouse| {
                let piece = Piece { table, warehouse, size, constants, seed };
                Box::new(move || piece.batches()) as MakeBatches
            });
            let columns = tables[table].columns.iter().map(|column| column.name).collect();
            Fill::new(table, columns, Ahead::new(pieces.collect()))
        })
        .collect()
}

/// The rows of a table that belong to one warehouse.
#[derive(Debug, Clone, Copy)]
struct Piece {
    table: usize,
    warehouse: i64,
    size: Size,
    constants: Constants,
    seed: u64,
}

impl Piece {
    /// The generator of a table in a district, or of all of the warehouse (0).
    fn random(self, table: usize, district: i64) -> Xoshiro256PlusPlus {
        generator(self.seed, (table as u64) << 48 | (self.warehouse as u64) << 8 | district as u64)
    }

    fn batches(self) -> Batches {
        let (size, mut random) = (self.size, self.random(self.table, 0));
        match self.table {
            WAREHOUSE => Box::new(std::iter::once(self.warehouse(&mut random))),
            DISTRICT => Box::new(std::iter::once(self.districts(&mut random))),
            ITEM => chunks(size.items(), move |first, last| items(first, last, &mut random)),
            STOCK => chunks(size.items(), move |first, last| self.stock(first, last, &mut random)),
            CUSTOMER => Box::new((1..=DISTRICTS).flat_map(move |district| {
                let mut random = self.random(CUSTOMER, district);
                chunks(size.customers(), move |first, last| {
                    self.customers(district, first, last, &mut random)
                })
            })),
            HISTORY => Box::new((1..=DISTRICTS).map(move |index| self.history(index, &mut random))),
            NEW_ORDER => Box::new((1..=DISTRICTS).map(move |index| self.outstanding(index))),
            ORDERS => Box::new((1..=DISTRICTS).map(move |index| Orders::new(self, index).rows())),
            _ => Box::new((1..=DISTRICTS).map(move |index| Orders::new(self, index).lines())),
        }
    }

    fn warehouse(self, random: &mut impl Rng) -> Rows {
        let mut place = Place::default();
        place.put(random);
        let mut columns = vec![Values::Integers(vec![self.warehouse])];
        columns.extend(place.columns());
        columns.push(Values::Decimals(vec![tax(random)]));
        columns.push(Values::Decimals(vec![self.size.customers() * DISTRICTS * PAYMENT]));
        Rows { count: 1, columns }
    }

    fn districts(self, random: &mut impl Rng) -> Rows {
        let mut place = Place::default();
        (0..DISTRICTS).for_each(|_| place.put(random));
        let mut columns =
            vec![Values::Same(self.warehouse), Values::Integers((1..=DISTRICTS).collect())];
        columns.extend(place.columns());
        columns.push(Values::Decimals((0..DISTRICTS).map(|_| tax(random)).collect()));
        let sales = self.size.customers() * PAYMENT;
        columns.push(Values::Decimals(vec![sales; DISTRICTS as usize]));
        columns.push(Values::Same(self.size.customers() + 1));
        Rows { count: DISTRICTS as usize, columns }
    }

    fn customers(self, district: i64, first: i64, last: i64, random: &mut impl Rng) -> Rows {
        let count = (last - first + 1) as usize;
        let mut texts = [(); 4].map(|()| Vec::with_capacity(count));
        let [first_names, last_names, phones, data] = &mut texts;
        let mut address = Address::default();
        let (mut credits, mut discounts) = (Vec::new(), Vec::new());
        for customer in first..=last {
            let name = if customer <= LAST_NAMES {
                customer - 1
            } else {
                self.constants.loaded_last_name(self.size.last_names(), random)
            };
            first_names.push(text(|out| put_capitals(out, [8, 16], random)));
            last_names.push(text(|out| put_last_name(out, name)));
            address.put(random);
            phones.push(text(|out| put_digits(out, 16, random)));
            credits.push(if random.random_range(0..10) == 0 { "BC" } else { "GC" });
            discounts.push(random.random_range(0..=5_000));
            data.push(text(|out| put_text(out, [300, 500], random)));
        }
        let [first_names, last_names, phones, data] = texts.map(texts_of);
        let mut columns = vec![
            Values::Same(self.warehouse),
            Values::Same(district),
            Values::Integers((first..=last).collect()),
            first_names,
            Values::SameText("OE"),
            last_names,
        ];
        columns.extend(address.columns());
        columns.extend([
            phones,
            Values::Timestamps(vec![LOADED_S; count]),
            Values::Texts(Texts::from_texts(credits.into_iter())),
            Values::Decimals(vec![5_000_000; count]),
            Values::Decimals(discounts),
            Values::Decimals(vec![-PAYMENT; count]),
            Values::Decimals(vec![PAYMENT; count]),
            Values::Same(1),
            Values::Same(0),
            data,
        ]);
        Rows { count, columns }
    }

    fn history(self, district: i64, random: &mut impl Rng) -> Rows {
        let count = self.size.customers() as usize;
        let data = (0..count).map(|_| text(|out| put_text(out, [12, 24], random))).collect();
        let columns = vec![
            Values::Integers((1..=self.size.customers()).collect()),
            Values::Same(district),
            Values::Same(self.warehouse),
            Values::Same(district),
            Values::Same(self.warehouse),
            Values::Timestamps(vec![LOADED_S; count]),
            Values::Decimals(vec![PAYMENT; count]),
            texts_of(data),
        ];
        Rows { count, columns }
    }

    fn outstanding(self, district: i64) -> Rows {
        let orders: Vec<i64> = (self.size.delivered() + 1..=self.size.customers()).collect();
        let count = orders.len();
        let columns =
            vec![Values::Same(self.warehouse), Values::Same(district), Values::Integers(orders)];
        Rows { count, columns }
    }

    fn stock(self, first: i64, last: i64, random: &mut impl Rng) -> Rows {
        let count = (last - first + 1) as usize;
        let mut columns = vec![
            Values::Same(self.warehouse),
            Values::Integers((first..=last).collect()),
            Values::Integers((first..=last).map(|_| random.random_range(10..=100)).collect()),
        ];
        for _ in 0..DISTRICTS {
            let text = (0..count).map(|_| text(|out| put_text(out, [24, 24], random))).collect();
            columns.push(texts_of(text));
        }
        columns.extend([Values::Same(0), Values::Same(0), Values::Same(0)]);
        let data = (0..count).map(|_| text(|out| put_data(out, random))).collect();
        columns.push(texts_of(data));
        Rows { count, columns }
    }
}

fn items(first: i64, last: i64, random: &mut impl Rng) -> Rows {
    let ids: Vec<i64> = (first..=last).collect();
    let count = ids.len();
    let images = ids.iter().map(|_| random.random_range(1..=10_000)).collect();
    let names = ids.iter().map(|_| text(|out| put_text(out, [14, 24], random))).collect();
    let prices = ids.iter().map(|_| random.random_range(100..=10_000)).collect();
    let data = ids.iter().map(|_| text(|out| put_data(out, random))).collect();
    let columns = vec![
        Values::Integers(ids),
        Values::Integers(images),
        texts_of(names),
        Values::Decimals(prices),
        texts_of(data),
    ];
    Rows { count, columns }
}

/// The orders of a district: each customer has one, in a random order.
struct Orders {
    piece: Piece,
    district: i64,
    customers: Vec<i64>,
    lines: Vec<i64>,
    carriers: Vec<i64>,
}

impl Orders {
    /// Equal orders for the table of orders and that of their lines.
    fn new(piece: Piece, district: i64) -> Self {
        let mut random = piece.random(ORDERS, district);
        let mut customers: Vec<i64> = (1..=piece.size.customers()).collect();
        shuffle(&mut customers, &mut random);
        let lines = customers.iter().map(|_| random.random_range(5..=15)).collect();
        let carriers = customers.iter().map(|_| random.random_range(1..=10)).collect();
        Self { piece, district, customers, lines, carriers }
    }

    /// True of the orders that are not delivered, which are the last ones.
    fn undelivered(&self) -> Vec<bool> {
        let delivered = self.piece.size.delivered() as usize;
        (0..self.customers.len()).map(|order| order >= delivered).collect()
    }

    fn rows(self) -> Rows {
        let count = self.customers.len();
        let nulls = self.undelivered();
        let columns = vec![
            Values::Same(self.piece.warehouse),
            Values::Same(self.district),
            Values::Integers((1..=count as i64).collect()),
            Values::Integers(self.customers),
            Values::Timestamps(vec![LOADED_S; count]),
            Values::Nullable { values: Box::new(Values::Integers(self.carriers)), nulls },
            Values::Integers(self.lines),
            Values::Same(1),
        ];
        Rows { count, columns }
    }

    fn lines(self) -> Rows {
        let mut random = self.piece.random(ORDER_LINE, self.district);
        let undelivered = self.undelivered();
        let (mut orders, mut numbers, mut items) = (Vec::new(), Vec::new(), Vec::new());
        let (mut nulls, mut amounts, mut districts) = (Vec::new(), Vec::new(), Vec::new());
        for ((order, lines), undelivered) in (1..).zip(&self.lines).zip(undelivered) {
            for number in 1..=*lines {
                orders.push(order);
                numbers.push(number);
                items.push(random.random_range(1..=self.piece.size.items()));
                nulls.push(undelivered);
                amounts.push(if undelivered { random.random_range(1..=999_999) } else { 0 });
                districts.push(text(|out| put_text(out, [24, 24], &mut random)));
            }
        }
        let count = orders.len();
        let times = Box::new(Values::Timestamps(vec![LOADED_S; count]));
        let columns = vec![
            Values::Same(self.piece.warehouse),
            Values::Same(self.district),
            Values::Integers(orders),
            Values::Integers(numbers),
            Values::Integers(items),
            Values::Same(self.piece.warehouse),
            Values::Nullable { values: times, nulls },
            Values::Same(5),
            Values::Decimals(amounts),
            texts_of(districts),
        ];
        Rows { count, columns }
    }
}

/// Names and addresses of warehouses and districts.
#[derive(Default)]
struct Place {
    names: Vec<String>,
    address: Address,
}

impl Place {
    fn put(&mut self, random: &mut impl Rng) {
        self.names.push(text(|out| put_text(out, [6, 10], random)));
        self.address.put(random);
    }

    fn columns(self) -> Vec<Values> {
        let mut columns = vec![texts_of(self.names)];
        columns.extend(self.address.columns());
        columns
    }
}

/// Streets, cities, states and zip codes.
#[derive(Default)]
struct Address {
    parts: [Vec<String>; 5],
}

impl Address {
    fn put(&mut self, random: &mut impl Rng) {
        let [street_1, street_2, city, state, zip] = &mut self.parts;
        for part in [street_1, street_2, city] {
            part.push(text(|out| put_text(out, [10, 20], random)));
        }
        state.push(text(|out| put_capitals(out, [2, 2], random)));
        zip.push(text(|out| {
            put_digits(out, 4, random);
            out.push_str("11111");
        }));
    }

    fn columns(self) -> impl Iterator<Item = Values> {
        self.parts.into_iter().map(texts_of)
    }
}

/// A tax from 0 to 20 %, in hundredths of a percent.
fn tax(random: &mut impl Rng) -> i64 {
    random.random_range(0..=2_000)
}

fn text(put: impl FnOnce(&mut String)) -> String {
    let mut text = String::new();
    put(&mut text);
    text
}

#[expect(clippy::needless_pass_by_value, reason = "callers have made it for this alone")]
fn texts_of(texts: Vec<String>) -> Values {
    Values::Texts(Texts::from_texts(texts.iter().map(String::as_str)))
}

/// Batches of the rows that are numbered from 1 to `count`.
fn chunks(count: i64, mut rows: impl FnMut(i64, i64) -> Rows + Send + 'static) -> Batches {
    let most = BATCH_ROWS as i64;
    Box::new(
        (1..=count)
            .step_by(BATCH_ROWS)
            .map(move |first| rows(first, (first + most - 1).min(count))),
    )
}
