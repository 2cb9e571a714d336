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

fn table(
    name: &'static str,
    columns: &[(&'static str, DataType)],
    key: &'static [&'static str],
    storage: Storage,
) -> Table {
    let columns = columns.iter().map(|(name, data_type)| Column::new(name, *data_type)).collect();
    Table { name, columns, key, storage }
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
    let columns = [
        ("w_id", Int),
        ("w_name", Varchar(10)),
        ("w_street_1", Varchar(20)),
        ("w_street_2", Varchar(20)),
        ("w_city", Varchar(20)),
        ("w_state", Char(2)),
        ("w_zip", Char(9)),
        ("w_tax", Decimal),
        ("w_ytd", Decimal),
    ];
    table("warehouse", &columns, &["w_id"], Storage::default())
}

fn district() -> Table {
    const PARENTS: &[Reference] =
        &[Reference { columns: &["d_w_id"], table: "warehouse", key: &["w_id"] }];
    let columns = [
        ("d_w_id", Int),
        ("d_id", Int),
        ("d_name", Varchar(10)),
        ("d_street_1", Varchar(20)),
        ("d_street_2", Varchar(20)),
        ("d_city", Varchar(20)),
        ("d_state", Char(2)),
        ("d_zip", Char(9)),
        ("d_tax", Decimal),
        ("d_ytd", Decimal),
        ("d_next_o_id", Int),
    ];
    table("district", &columns, &["d_w_id", "d_id"], children(PARENTS))
}

fn customer() -> Table {
    const PARENTS: &[Reference] = &[Reference {
        columns: &["c_w_id", "c_d_id"],
        table: "district",
        key: &["d_w_id", "d_id"],
    }];
    let columns = [
        ("c_w_id", Int),
        ("c_d_id", Int),
        ("c_id", Int),
        ("c_first", Varchar(16)),
        ("c_middle", Char(2)),
        ("c_last", Varchar(16)),
        ("c_street_1", Varchar(20)),
        ("c_street_2", Varchar(20)),
        ("c_city", Varchar(20)),
        ("c_state", Char(2)),
        ("c_zip", Char(9)),
        ("c_phone", Char(16)),
        ("c_since", Timestamp),
        ("c_credit", Char(2)),
        ("c_credit_lim", Decimal),
        ("c_discount", Decimal),
        ("c_balance", Decimal),
        ("c_ytd_payment", Decimal),
        ("c_payment_cnt", Int),
        ("c_delivery_cnt", Int),
        ("c_data", Varchar(500)),
    ];
    let index = &["c_w_id", "c_d_id", "c_last", "c_first"];
    let storage = Storage { index, ..children(PARENTS) };
    table("customer", &columns, &["c_w_id", "c_d_id", "c_id"], storage)
}

fn history() -> Table {
    const PARENTS: &[Reference] = &[
        Reference {
            columns: &["h_c_w_id", "h_c_d_id", "h_c_id"],
            table: "customer",
            key: &["c_w_id", "c_d_id", "c_id"],
        },
        Reference { columns: &["h_w_id", "h_d_id"], table: "district", key: &["d_w_id", "d_id"] },
    ];
    let columns = [
        ("h_c_id", Int),
        ("h_c_d_id", Int),
        ("h_c_w_id", Int),
        ("h_d_id", Int),
        ("h_w_id", Int),
        ("h_date", Timestamp),
        ("h_amount", Decimal),
        ("h_data", Varchar(24)),
    ];
    table("history", &columns, &[], children(PARENTS))
}

fn orders() -> Table {
    const PARENTS: &[Reference] = &[Reference {
        columns: &["o_w_id", "o_d_id", "o_c_id"],
        table: "customer",
        key: &["c_w_id", "c_d_id", "c_id"],
    }];
    let columns = [
        ("o_w_id", Int),
        ("o_d_id", Int),
        ("o_id", Int),
        ("o_c_id", Int),
        ("o_entry_d", Timestamp),
        ("o_carrier_id", Int),
        ("o_ol_cnt", Int),
        ("o_all_local", Int),
    ];
    let index = &["o_w_id", "o_d_id", "o_c_id", "o_id"];
    let storage = Storage { index, ..children(PARENTS) };
    nullable(table("orders", &columns, &["o_w_id", "o_d_id", "o_id"], storage), "o_carrier_id")
}

fn new_order() -> Table {
    const PARENTS: &[Reference] = &[Reference {
        columns: &["no_w_id", "no_d_id", "no_o_id"],
        table: "orders",
        key: &["o_w_id", "o_d_id", "o_id"],
    }];
    let columns = [("no_w_id", Int), ("no_d_id", Int), ("no_o_id", Int)];
    table("new_order", &columns, &["no_w_id", "no_d_id", "no_o_id"], children(PARENTS))
}

fn item() -> Table {
    let columns = [
        ("i_id", Int),
        ("i_im_id", Int),
        ("i_name", Varchar(24)),
        ("i_price", Decimal),
        ("i_data", Varchar(50)),
    ];
    table("item", &columns, &["i_id"], Storage::default())
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
    const PARENTS: &[Reference] = &[
        Reference { columns: &["s_w_id"], table: "warehouse", key: &["w_id"] },
        Reference { columns: &["s_i_id"], table: "item", key: &["i_id"] },
    ];
    let mut columns = vec![("s_w_id", Int), ("s_i_id", Int), ("s_quantity", Int)];
    columns.extend(STOCK_DISTRICTS.map(|name| (name, Char(24))));
    columns.extend([
        ("s_ytd", Int),
        ("s_order_cnt", Int),
        ("s_remote_cnt", Int),
        ("s_data", Varchar(50)),
    ]);
    table("stock", &columns, &["s_w_id", "s_i_id"], children(PARENTS))
}

fn order_line() -> Table {
    const PARENTS: &[Reference] = &[
        Reference {
            columns: &["ol_w_id", "ol_d_id", "ol_o_id"],
            table: "orders",
            key: &["o_w_id", "o_d_id", "o_id"],
        },
        Reference {
            columns: &["ol_supply_w_id", "ol_i_id"],
            table: "stock",
            key: &["s_w_id", "s_i_id"],
        },
    ];
    let columns = [
        ("ol_w_id", Int),
        ("ol_d_id", Int),
        ("ol_o_id", Int),
        ("ol_number", Int),
        ("ol_i_id", Int),
        ("ol_supply_w_id", Int),
        ("ol_delivery_d", Timestamp),
        ("ol_quantity", Int),
        ("ol_amount", Decimal),
        ("ol_dist_info", Char(24)),
    ];
    let key = &["ol_w_id", "ol_d_id", "ol_o_id", "ol_number"];
    nullable(table("order_line", &columns, key, children(PARENTS)), "ol_delivery_d")
}
