//! How many rows the tables have.

/// Districts of a warehouse.
pub(crate) const DISTRICTS: i64 = 10;
/// Items, and rows of the stock of each warehouse.
const ITEMS: i64 = 100_000;
/// Customers of a district, each with one order.
const CUSTOMERS: i64 = 3_000;
/// Different last names.
pub(crate) const LAST_NAMES: i64 = 1_000;

/// Size of the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Warehouses.
    pub warehouses: i64,
    /// Items and customers are divided by this; 1: the specified numbers.
    pub reduced_by: i64,
}

impl Size {
    /// Items, and rows of the stock of a warehouse.
    pub fn items(self) -> i64 {
        ITEMS / self.reduced_by
    }

    /// Customers of a district, and orders that it begins with.
    pub fn customers(self) -> i64 {
        CUSTOMERS / self.reduced_by
    }

    /// Orders of a district that are delivered at the beginning: 7 of 10.
    pub fn delivered(self) -> i64 {
        self.customers() * 7 / 10
    }

    /// Last names that customers have.
    pub fn last_names(self) -> i64 {
        self.customers().min(LAST_NAMES)
    }

    /// Rows of all tables, about: an order has 10 lines on average.
    pub fn rows(self) -> u64 {
        let district = self.customers() * 12 + self.customers() - self.delivered() + 1;
        let warehouse = DISTRICTS * district + self.items() + 1;
        (self.warehouses * warehouse + self.items()) as u64
    }

    /// Bytes of the rows of all tables, about, from the mean lengths of their texts. A stock row
    /// has 306, a customer 655, a line 54, an item 82, an order 24, a payment 46 and an
    /// outstanding order 8.
    pub fn row_bytes(self) -> u64 {
        let outstanding = self.customers() - self.delivered();
        let district = self.customers() * (655 + 24 + 46 + 540) + outstanding * 8;
        let warehouse = DISTRICTS * district + self.items() * 306;
        (self.warehouses * warehouse + self.items() * 82) as u64
    }
}
