//! The statements of the transactions, in SQL that all engines read but for the parts of
//! [`work::SqlPart`].

use crate::kind::Kind;
use crate::tables::STOCK_DISTRICTS;
use std::sync::LazyLock;
use work::{Operation, SqlPart};

/// The statements of the transactions, as engines compile them.
pub fn operations() -> Vec<Operation> {
    QUERIES.iter().map(QueryStatement::operation).collect()
}

/// A statement of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Query {
    OrderCustomer,
    OrderDistrict,
    OrderNumber,
    Order,
    Outstanding,
    Item,
    /// Stock of an item in the district of this position.
    Stock(usize),
    StockTaken,
    OrderLine,
    PaymentWarehouse,
    PaymentWarehouseName,
    PaymentDistrict,
    PaymentDistrictName,
    PaymentNamed,
    PaymentCustomer,
    PaymentGood,
    PaymentBad,
    Payment,
    StatusNamed,
    StatusCustomer,
    StatusOrder,
    StatusLines,
    DeliveryOldest,
    DeliveryLeft,
    DeliveryTaken,
    DeliveryOrder,
    DeliveryCarrier,
    DeliveryLines,
    DeliveryAmount,
    DeliveryCustomer,
    LevelDistrict,
    LevelCount,
}

/// The middle customer of those with a last name, in the order of their first names, rounded up
/// (clause 2.5.2.2): twice its place is their number or one more.
const BY_NAME: &str = "SELECT c_id FROM (SELECT c_id, row_number() OVER (ORDER BY c_first, c_id) \
                       AS place, count(*) OVER () AS number FROM customer WHERE c_w_id = ? AND \
                       c_d_id = ? AND c_last = ?) named WHERE 2 * place IN (number, number + 1)";

/// The statements of each kind of transactions, in the order of their operations. `{district}` is
/// the column of [`Query::Stock`].
const STATEMENTS: [(Kind, &[(Query, &str)]); 5] = [
    (
        Kind::NewOrder,
        &[
            (
                Query::OrderCustomer,
                "SELECT c_discount, c_last, c_credit, w_tax FROM customer, warehouse WHERE w_id = \
                 ? AND c_w_id = w_id AND c_d_id = ? AND c_id = ?",
            ),
            (
                Query::OrderDistrict,
                "SELECT d_next_o_id, d_tax FROM district[lock] WHERE d_w_id = ? AND d_id = ?{lock}",
            ),
            (
                Query::OrderNumber,
                "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = ? AND d_id = ?",
            ),
            (
                Query::Order,
                "INSERT INTO orders (o_w_id, o_d_id, o_id, o_c_id, o_entry_d, o_ol_cnt, \
                 o_all_local) VALUES (?, ?, ?, ?, ?, ?, ?)",
            ),
            (
                Query::Outstanding,
                "INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES (?, ?, ?)",
            ),
            (Query::Item, "SELECT i_price, i_name, i_data FROM item WHERE i_id = ?"),
            (
                Query::Stock(0),
                "SELECT s_quantity, s_data, {district} FROM stock[lock] WHERE s_w_id = ? AND \
                 s_i_id = ?{lock}",
            ),
            (
                Query::StockTaken,
                "UPDATE stock SET s_quantity = ?, s_ytd = s_ytd + ?, s_order_cnt = s_order_cnt + \
                 1, s_remote_cnt = s_remote_cnt + ? WHERE s_w_id = ? AND s_i_id = ?",
            ),
            (
                Query::OrderLine,
                "INSERT INTO order_line (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, \
                 ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info) VALUES (?, ?, ?, ?, ?, ?, \
                 ?, ?, ?)",
            ),
        ],
    ),
    (
        Kind::Payment,
        &[
            (Query::PaymentWarehouse, "UPDATE warehouse SET w_ytd = w_ytd + ? WHERE w_id = ?"),
            (
                Query::PaymentWarehouseName,
                "SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip FROM warehouse \
                 WHERE w_id = ?",
            ),
            (
                Query::PaymentDistrict,
                "UPDATE district SET d_ytd = d_ytd + ? WHERE d_w_id = ? AND d_id = ?",
            ),
            (
                Query::PaymentDistrictName,
                "SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip FROM district \
                 WHERE d_w_id = ? AND d_id = ?",
            ),
            (Query::PaymentNamed, BY_NAME),
            (
                Query::PaymentCustomer,
                "SELECT c_credit, c_data, c_first, c_middle, c_last, c_street_1, c_street_2, \
                 c_city, c_state, c_zip, c_phone, c_since, c_credit_lim, c_discount, c_balance \
                 FROM customer[lock] WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?{lock}",
            ),
            (
                Query::PaymentGood,
                "UPDATE customer SET c_balance = c_balance - ?, c_ytd_payment = c_ytd_payment + \
                 ?, c_payment_cnt = c_payment_cnt + 1 WHERE c_w_id = ? AND c_d_id = ? AND c_id = \
                 ?",
            ),
            (
                Query::PaymentBad,
                "UPDATE customer SET c_balance = c_balance - ?, c_ytd_payment = c_ytd_payment + \
                 ?, c_payment_cnt = c_payment_cnt + 1, c_data = ? WHERE c_w_id = ? AND c_d_id = ? \
                 AND c_id = ?",
            ),
            (
                Query::Payment,
                "INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, \
                 h_amount, h_data) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            ),
        ],
    ),
    (
        Kind::OrderStatus,
        &[
            (Query::StatusNamed, BY_NAME),
            (
                Query::StatusCustomer,
                "SELECT c_balance, c_first, c_middle, c_last FROM customer WHERE c_w_id = ? AND \
                 c_d_id = ? AND c_id = ?",
            ),
            (
                Query::StatusOrder,
                "SELECT o_id, o_entry_d, o_carrier_id FROM orders WHERE o_w_id = ? AND o_d_id = ? \
                 AND o_c_id = ? ORDER BY o_id DESC{first}",
            ),
            (
                Query::StatusLines,
                "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM \
                 order_line WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?",
            ),
        ],
    ),
    (
        Kind::Delivery,
        &[
            (
                Query::DeliveryOldest,
                "SELECT no_o_id FROM new_order[lock] WHERE no_w_id = ? AND no_d_id = ? ORDER BY \
                 no_o_id{first}{lock}",
            ),
            (
                Query::DeliveryLeft,
                "SELECT count(*) FROM new_order WHERE no_w_id = ? AND no_d_id = ?",
            ),
            (
                Query::DeliveryTaken,
                "DELETE FROM new_order WHERE no_w_id = ? AND no_d_id = ? AND no_o_id = ?",
            ),
            (
                Query::DeliveryOrder,
                "SELECT o_c_id FROM orders[lock] WHERE o_w_id = ? AND o_d_id = ? AND o_id = \
                 ?{lock}",
            ),
            (
                Query::DeliveryCarrier,
                "UPDATE orders SET o_carrier_id = ? WHERE o_w_id = ? AND o_d_id = ? AND o_id = ?",
            ),
            (
                Query::DeliveryLines,
                "UPDATE order_line SET ol_delivery_d = ? WHERE ol_w_id = ? AND ol_d_id = ? AND \
                 ol_o_id = ?",
            ),
            (
                Query::DeliveryAmount,
                "SELECT sum(ol_amount) FROM order_line WHERE ol_w_id = ? AND ol_d_id = ? AND \
                 ol_o_id = ?",
            ),
            (
                Query::DeliveryCustomer,
                "UPDATE customer SET c_balance = c_balance + ?, c_delivery_cnt = c_delivery_cnt + \
                 1 WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
            ),
        ],
    ),
    (
        Kind::StockLevel,
        &[
            (
                Query::LevelDistrict,
                "SELECT d_next_o_id FROM district WHERE d_w_id = ? AND d_id = ?",
            ),
            (
                Query::LevelCount,
                "SELECT count(DISTINCT s_i_id) FROM order_line, stock WHERE ol_w_id = ? AND \
                 ol_d_id = ? AND ol_o_id >= ? AND ol_o_id < ? AND s_w_id = ol_w_id AND s_i_id = \
                 ol_i_id AND s_quantity < ?",
            ),
        ],
    ),
];

/// A statement of a kind of transactions.
#[derive(Debug)]
pub struct QueryStatement {
    pub query: Query,
    pub kind: Kind,
    /// The SQL, in which `[lock]` and `{lock}` lock the rows that are read, and `{first}` limits
    /// them to one.
    text: String,
    /// True if it answers with rows.
    pub reads: bool,
}

/// All statements, in the order of their operations.
pub static QUERIES: LazyLock<Vec<QueryStatement>> = LazyLock::new(|| {
    let each = STATEMENTS.iter().flat_map(|(kind, all)| all.iter().map(move |row| (*kind, row)));
    each.flat_map(|(kind, (query, text))| {
        let reads = text.starts_with("SELECT");
        let districts = if *query == Query::Stock(0) { &STOCK_DISTRICTS[..] } else { &[""] };
        let districts = districts.iter().enumerate();
        districts.map(move |(district, column)| {
            let query = if column.is_empty() { *query } else { Query::Stock(district) };
            QueryStatement { query, kind, text: text.replace("{district}", column), reads }
        })
    })
    .collect()
});

impl Query {
    /// The position in [`QUERIES`].
    pub fn position(self) -> usize {
        QUERIES.iter().position(|statement| statement.query == self).unwrap_or(0)
    }
}

impl QueryStatement {
    /// The text without what engines write differently.
    pub fn plain_text(&self) -> String {
        self.text.replace("[lock]", "").replace("{lock}", "").replace("{first}", "")
    }

    /// The operation that engines compile.
    fn operation(&self) -> Operation {
        let (mut parts, mut rest) = (Vec::new(), self.text.as_str());
        while let Some(at) = rest.find(['?', '[', '{']) {
            let (part, length) = match &rest[at..] {
                rest if rest.starts_with("[lock]") => (SqlPart::LockHint, 6),
                rest if rest.starts_with("{lock}") => (SqlPart::Lock, 6),
                rest if rest.starts_with("{first}") => (SqlPart::First, 7),
                _ => (SqlPart::Parameter, 1),
            };
            parts.push(SqlPart::Text(rest[..at].to_owned()));
            parts.push(part);
            rest = &rest[at + length..];
        }
        parts.push(SqlPart::Text(rest.to_owned()));
        Operation::Sql(parts)
    }
}

#[cfg(test)]
mod tests {
    use super::QUERIES;

    #[test]
    fn each_statement_has_a_position() {
        for (position, statement) in QUERIES.iter().enumerate() {
            assert_eq!(statement.query.position(), position, "{:?}", statement.query);
        }
        assert_eq!(QUERIES.len(), 41);
    }
}
