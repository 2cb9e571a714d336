//! The tables of SmallBank (Alomari et al., The Cost of Serializability on Platforms That Use
//! Snapshot Isolation, 2008): customers with a savings and a checking account each.
//!
//! A balance is a whole number of cents, so that sums are exact on every engine. Both begin at a
//! random amount from 10,000 to 50,000.

use crate::{Part, Size, numbered};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use work::{Column, DataType, Reference, Storage, Table, Texts, Values};

/// Letters of a name: the number of the customer with zeros before it.
const NAME: usize = 64;

/// The least and the largest balance at the beginning, in cents.
const BALANCES: [i64; 2] = [1_000_000, 5_000_000];

pub(crate) fn parts(size: Size) -> Vec<Part> {
    const OF_ACCOUNTS: &[Reference] =
        &[Reference { columns: &["custid"], table: "accounts", key: &["custid"] }];
    let last = size.rows as i64;
    let names = vec![
        Column::new("custid", DataType::BigInt),
        Column::new("name", DataType::Varchar(NAME as u16)),
    ];
    let indexed = Storage { index: &["name"], ..Storage::default() };
    let accounts = Table { name: "accounts", columns: names, key: &["custid"], storage: indexed };
    let balances = |name: &'static str, seed: u64| {
        let columns =
            vec![Column::new("custid", DataType::BigInt), Column::new("bal", DataType::BigInt)];
        let storage = Storage { references: OF_ACCOUNTS, ..Storage::default() };
        let table = Table { name, columns, key: &["custid"], storage };
        Part::new(table, 2, move || {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            numbered(1, last, move |ids| {
                let [least, most] = BALANCES;
                let amounts = ids.iter().map(|_| random.random_range(least..=most)).collect();
                vec![Values::Integers(ids), Values::Integers(amounts)]
            })
        })
    };
    let accounts = Part::new(accounts, 2, move || {
        numbered(1, last, |ids| {
            let names: Texts = ids.iter().map(|id| format!("{id:0NAME$}")).collect();
            vec![Values::Integers(ids), Values::Texts(names)]
        })
    });
    vec![accounts, balances("savings", size.seed), balances("checking", !size.seed)]
}
