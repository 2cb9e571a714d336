//! The nine tables (clause 1.3), in an order in which parents precede their children.
//!
//! Taxes and discounts are percentages with two decimal places: the specified precision of four.

use work::DataType::{Char, Decimal, Int, Timestamp, Varchar};
use work::{Column, DataType, Reference, Storage, Table};

/// Positions of the tables.
pub(crate) const WAREHOUSE: usize = 0;
/// See [`WAREHOUSE`].
pub(crate) const DISTRICT: usize = 1;
/// See [`WAREHOUSE`].
pub(crate) const CUSTOMER: usize = 2;
/// See [`WAREHOUSE`].
pub const HISTORY: usize = 3;
/// See [`WAREHOUSE`].
pub const ORDERS: usize = 4;
/// See [`WAREHOUSE`].
pub(crate) const NEW_ORDER: usize = 5;
/// See [`WAREHOUSE`].
pub(crate) const ITEM: usize = 6;
/// See [`WAREHOUSE`].
pub(crate) const STOCK: usize = 7;
/// See [`WAREHOUSE`].
pub(crate) const ORDER_LINE: usize = 8;

/// Identity of the columns: another layout makes another database.
pub(crate) const LAYOUT: u32 = 1;

/// A table before it is known whether it has foreign keys.
struct Layout {
    name: &'static str,
    /// Columns by their types.
    columns: &'static [(DataType, &'static [&'static str])],
    key: &'static [&'static str],
    index: &'static [&'static str],
    parents: &'static [Reference],
    /// The column that may hold NULL.
    nullable: &'static str,
}

/// All tables; with or without foreign keys.
pub fn tables(foreign_keys: bool) -> Vec<Table> {
    let tables = TABLES.iter().map(|layout| {
        let columns = layout.columns.iter().flat_map(|(data_type, names)| {
            names.iter().map(|name| Column {
                nullable: *name == layout.nullable,
                ..Column::new(name, *data_type)
            })
        });
        let references = if foreign_keys { layout.parents } else { &[] };
        Table {
            name: layout.name,
            columns: columns.collect(),
            key: layout.key,
            storage: Storage { index: layout.index, references, ..Storage::default() },
        }
    });
    tables.collect()
}

/// Names of the columns with the district information of a stock row.
pub(crate) const STOCK_DISTRICTS: [&str; 10] = [
    "s_dist_01",
    "s_dist_02",
    "s_dist_03",
    "s_dist_04",
    "s_dist_05",
    "s_dist_06",
    "s_dist_07",
    "s_dist_08",
    "s_dist_09",
    "s_dist_10",
];

const PLAIN: Layout =
    Layout { name: "", columns: &[], key: &[], index: &[], parents: &[], nullable: "" };

const TABLES: [Layout; 9] = [
    Layout {
        name: "warehouse",
        columns: &[
            (Int, &["w_id"]),
            (Varchar(10), &["w_name"]),
            (Varchar(20), &["w_street_1", "w_street_2", "w_city"]),
            (Char(2), &["w_state"]),
            (Char(9), &["w_zip"]),
            (Decimal, &["w_tax", "w_ytd"]),
        ],
        key: &["w_id"],
        ..PLAIN
    },
    Layout {
        name: "district",
        columns: &[
            (Int, &["d_w_id", "d_id"]),
            (Varchar(10), &["d_name"]),
            (Varchar(20), &["d_street_1", "d_street_2", "d_city"]),
            (Char(2), &["d_state"]),
            (Char(9), &["d_zip"]),
            (Decimal, &["d_tax", "d_ytd"]),
            (Int, &["d_next_o_id"]),
        ],
        key: DISTRICT_KEY,
        parents: &[parent(&["d_w_id"], "warehouse", &["w_id"])],
        ..PLAIN
    },
    Layout {
        name: "customer",
        columns: &[
            (Int, &["c_w_id", "c_d_id", "c_id"]),
            (Varchar(16), &["c_first"]),
            (Char(2), &["c_middle"]),
            (Varchar(16), &["c_last"]),
            (Varchar(20), &["c_street_1", "c_street_2", "c_city"]),
            (Char(2), &["c_state"]),
            (Char(9), &["c_zip"]),
            (Char(16), &["c_phone"]),
            (Timestamp, &["c_since"]),
            (Char(2), &["c_credit"]),
            (Decimal, &["c_credit_lim", "c_discount", "c_balance", "c_ytd_payment"]),
            (Int, &["c_payment_cnt", "c_delivery_cnt"]),
            (Varchar(500), &["c_data"]),
        ],
        key: CUSTOMER_KEY,
        index: &["c_w_id", "c_d_id", "c_last", "c_first"],
        parents: &[parent(&["c_w_id", "c_d_id"], "district", DISTRICT_KEY)],
        ..PLAIN
    },
    Layout {
        name: "history",
        columns: &[
            (Int, &["h_c_id", "h_c_d_id", "h_c_w_id", "h_d_id", "h_w_id"]),
            (Timestamp, &["h_date"]),
            (Decimal, &["h_amount"]),
            (Varchar(24), &["h_data"]),
        ],
        parents: &[
            parent(&["h_c_w_id", "h_c_d_id", "h_c_id"], "customer", CUSTOMER_KEY),
            parent(&["h_w_id", "h_d_id"], "district", DISTRICT_KEY),
        ],
        ..PLAIN
    },
    Layout {
        name: "orders",
        columns: &[
            (Int, &["o_w_id", "o_d_id", "o_id", "o_c_id"]),
            (Timestamp, &["o_entry_d"]),
            (Int, &["o_carrier_id", "o_ol_cnt", "o_all_local"]),
        ],
        key: ORDER_KEY,
        index: &["o_w_id", "o_d_id", "o_c_id", "o_id"],
        parents: &[parent(&["o_w_id", "o_d_id", "o_c_id"], "customer", CUSTOMER_KEY)],
        nullable: "o_carrier_id",
    },
    Layout {
        name: "new_order",
        columns: &[(Int, NEW_ORDER_KEY)],
        key: NEW_ORDER_KEY,
        parents: &[parent(NEW_ORDER_KEY, "orders", ORDER_KEY)],
        ..PLAIN
    },
    Layout {
        name: "item",
        columns: &[
            (Int, &["i_id", "i_im_id"]),
            (Varchar(24), &["i_name"]),
            (Decimal, &["i_price"]),
            (Varchar(50), &["i_data"]),
        ],
        key: &["i_id"],
        ..PLAIN
    },
    Layout {
        name: "stock",
        columns: &[
            (Int, &["s_w_id", "s_i_id", "s_quantity"]),
            (Char(24), &STOCK_DISTRICTS),
            (Int, &["s_ytd", "s_order_cnt", "s_remote_cnt"]),
            (Varchar(50), &["s_data"]),
        ],
        key: STOCK_KEY,
        parents: &[
            parent(&["s_w_id"], "warehouse", &["w_id"]),
            parent(&["s_i_id"], "item", &["i_id"]),
        ],
        ..PLAIN
    },
    Layout {
        name: "order_line",
        columns: &[
            (Int, &["ol_w_id", "ol_d_id", "ol_o_id", "ol_number", "ol_i_id", "ol_supply_w_id"]),
            (Timestamp, &["ol_delivery_d"]),
            (Int, &["ol_quantity"]),
            (Decimal, &["ol_amount"]),
            (Char(24), &["ol_dist_info"]),
        ],
        key: &["ol_w_id", "ol_d_id", "ol_o_id", "ol_number"],
        parents: &[
            parent(&["ol_w_id", "ol_d_id", "ol_o_id"], "orders", ORDER_KEY),
            parent(&["ol_supply_w_id", "ol_i_id"], "stock", STOCK_KEY),
        ],
        nullable: "ol_delivery_d",
        ..PLAIN
    },
];

const DISTRICT_KEY: &[&str] = &["d_w_id", "d_id"];
const CUSTOMER_KEY: &[&str] = &["c_w_id", "c_d_id", "c_id"];
const ORDER_KEY: &[&str] = &["o_w_id", "o_d_id", "o_id"];
const NEW_ORDER_KEY: &[&str] = &["no_w_id", "no_d_id", "no_o_id"];
const STOCK_KEY: &[&str] = &["s_w_id", "s_i_id"];

const fn parent(
    columns: &'static [&'static str],
    table: &'static str,
    key: &'static [&'static str],
) -> Reference {
    Reference { columns, table, key }
}
