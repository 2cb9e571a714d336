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

/// All tables; with or without foreign keys.
pub fn tables(foreign_keys: bool) -> Vec<Table> {
    let mut tables = vec![
        warehouse(),
        district(),
        customer(),
        history(),
        orders(),
        new_order(),
        item(),
        stock(),
        order_line(),
    ];
    if !foreign_keys {
        for table in &mut tables {
            table.storage.references = &[];
        }
    }
    tables
}

/// Columns by their types.
type Columns<'a> = &'a [(DataType, &'a [&'static str])];

fn table(
    name: &'static str,
    columns: Columns<'_>,
    key: &'static [&'static str],
    storage: Storage,
) -> Table {
    let columns = columns
        .iter()
        .flat_map(|(data_type, names)| names.iter().map(|name| Column::new(name, *data_type)))
        .collect();
    Table { name, columns, key, storage }
}

const fn parent(
    columns: &'static [&'static str],
    table: &'static str,
    key: &'static [&'static str],
) -> Reference {
    Reference { columns, table, key }
}

fn children(references: &'static [Reference]) -> Storage {
    Storage { references, ..Storage::default() }
}

fn nullable(mut table: Table, name: &str) -> Table {
    let columns = table.columns.iter_mut().filter(|column| column.name == name);
    columns.for_each(|column| column.nullable = true);
    table
}

fn warehouse() -> Table {
    let columns: Columns = &[
        (Int, &["w_id"]),
        (Varchar(10), &["w_name"]),
        (Varchar(20), &["w_street_1", "w_street_2", "w_city"]),
        (Char(2), &["w_state"]),
        (Char(9), &["w_zip"]),
        (Decimal, &["w_tax", "w_ytd"]),
    ];
    table("warehouse", columns, &["w_id"], Storage::default())
}

fn district() -> Table {
    const PARENTS: &[Reference] = &[parent(&["d_w_id"], "warehouse", &["w_id"])];
    let columns: Columns = &[
        (Int, &["d_w_id", "d_id"]),
        (Varchar(10), &["d_name"]),
        (Varchar(20), &["d_street_1", "d_street_2", "d_city"]),
        (Char(2), &["d_state"]),
        (Char(9), &["d_zip"]),
        (Decimal, &["d_tax", "d_ytd"]),
        (Int, &["d_next_o_id"]),
    ];
    table("district", columns, &["d_w_id", "d_id"], children(PARENTS))
}

fn customer() -> Table {
    const PARENTS: &[Reference] = &[parent(&["c_w_id", "c_d_id"], "district", &["d_w_id", "d_id"])];
    let columns: Columns = &[
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
    ];
    let index = &["c_w_id", "c_d_id", "c_last", "c_first"];
    let storage = Storage { index, ..children(PARENTS) };
    table("customer", columns, &["c_w_id", "c_d_id", "c_id"], storage)
}

fn history() -> Table {
    const PARENTS: &[Reference] = &[
        parent(&["h_c_w_id", "h_c_d_id", "h_c_id"], "customer", &["c_w_id", "c_d_id", "c_id"]),
        parent(&["h_w_id", "h_d_id"], "district", &["d_w_id", "d_id"]),
    ];
    let columns: Columns = &[
        (Int, &["h_c_id", "h_c_d_id", "h_c_w_id", "h_d_id", "h_w_id"]),
        (Timestamp, &["h_date"]),
        (Decimal, &["h_amount"]),
        (Varchar(24), &["h_data"]),
    ];
    table("history", columns, &[], children(PARENTS))
}

fn orders() -> Table {
    const PARENTS: &[Reference] =
        &[parent(&["o_w_id", "o_d_id", "o_c_id"], "customer", &["c_w_id", "c_d_id", "c_id"])];
    let columns: Columns = &[
        (Int, &["o_w_id", "o_d_id", "o_id", "o_c_id"]),
        (Timestamp, &["o_entry_d"]),
        (Int, &["o_carrier_id", "o_ol_cnt", "o_all_local"]),
    ];
    let index = &["o_w_id", "o_d_id", "o_c_id", "o_id"];
    let storage = Storage { index, ..children(PARENTS) };
    nullable(table("orders", columns, &["o_w_id", "o_d_id", "o_id"], storage), "o_carrier_id")
}

fn new_order() -> Table {
    const PARENTS: &[Reference] =
        &[parent(&["no_w_id", "no_d_id", "no_o_id"], "orders", &["o_w_id", "o_d_id", "o_id"])];
    let columns: Columns = &[(Int, &["no_w_id", "no_d_id", "no_o_id"])];
    table("new_order", columns, &["no_w_id", "no_d_id", "no_o_id"], children(PARENTS))
}

fn item() -> Table {
    let columns: Columns = &[
        (Int, &["i_id", "i_im_id"]),
        (Varchar(24), &["i_name"]),
        (Decimal, &["i_price"]),
        (Varchar(50), &["i_data"]),
    ];
    table("item", columns, &["i_id"], Storage::default())
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

fn stock() -> Table {
    const PARENTS: &[Reference] =
        &[parent(&["s_w_id"], "warehouse", &["w_id"]), parent(&["s_i_id"], "item", &["i_id"])];
    let columns: Columns = &[
        (Int, &["s_w_id", "s_i_id", "s_quantity"]),
        (Char(24), &STOCK_DISTRICTS),
        (Int, &["s_ytd", "s_order_cnt", "s_remote_cnt"]),
        (Varchar(50), &["s_data"]),
    ];
    table("stock", columns, &["s_w_id", "s_i_id"], children(PARENTS))
}

fn order_line() -> Table {
    const PARENTS: &[Reference] = &[
        parent(&["ol_w_id", "ol_d_id", "ol_o_id"], "orders", &["o_w_id", "o_d_id", "o_id"]),
        parent(&["ol_supply_w_id", "ol_i_id"], "stock", &["s_w_id", "s_i_id"]),
    ];
    let columns: Columns = &[
        (Int, &["ol_w_id", "ol_d_id", "ol_o_id", "ol_number", "ol_i_id", "ol_supply_w_id"]),
        (Timestamp, &["ol_delivery_d"]),
        (Int, &["ol_quantity"]),
        (Decimal, &["ol_amount"]),
        (Char(24), &["ol_dist_info"]),
    ];
    let key = &["ol_w_id", "ol_d_id", "ol_o_id", "ol_number"];
    nullable(table("order_line", columns, key, children(PARENTS)), "ol_delivery_d")
}
