//! The statements of the transactions, in SQL that all engines read but for the parts of
//! [`work::SqlPart`].

use crate::kind::Kind;
use crate::tables::STOCK_DISTRICTS;
use work::{Operation, SqlPart};

/// The statements of the transactions, as engines compile them.
pub fn operations() -> Vec<Operation> {
    Query::ALL.iter().map(|query| query.operation()).collect()
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

/// The texts of statements, but those of [`Query::Stock`].
const TEXTS: [(Query, &str); 31] = [
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
    (Query::Outstanding, "INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES (?, ?, ?)"),
    (Query::Item, "SELECT i_price, i_name, i_data FROM item WHERE i_id = ?"),
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
    (Query::PaymentWarehouse, "UPDATE warehouse SET w_ytd = w_ytd + ? WHERE w_id = ?"),
    (
        Query::PaymentWarehouseName,
        "SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip FROM warehouse \
         WHERE w_id = ?",
    ),
    (Query::PaymentDistrict, "UPDATE district SET d_ytd = d_ytd + ? WHERE d_w_id = ? AND d_id = ?"),
    (
        Query::PaymentDistrictName,
        "SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip FROM district \
         WHERE d_w_id = ? AND d_id = ?",
    ),
    (Query::PaymentNamed, BY_NAME),
    (Query::StatusNamed, BY_NAME),
    (
        Query::PaymentCustomer,
        "SELECT c_credit, c_data, c_first, c_middle, c_last, c_street_1, c_street_2, \
         c_city, c_state, c_zip, c_phone, c_since, c_credit_lim, c_discount, c_balance \
         FROM customer[lock] WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?{lock}",
    ),
    (
        Query::PaymentGood,
        "UPDATE customer SET c_balance = c_balance - ?, c_ytd_payment = c_ytd_payment + \
         ?, c_payment_cnt = c_payment_cnt + 1 WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
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
    (
        Query::DeliveryOldest,
        "SELECT no_o_id FROM new_order[lock] WHERE no_w_id = ? AND no_d_id = ? ORDER BY \
         no_o_id{first}{lock}",
    ),
    (Query::DeliveryLeft, "SELECT count(*) FROM new_order WHERE no_w_id = ? AND no_d_id = ?"),
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
    (Query::LevelDistrict, "SELECT d_next_o_id FROM district WHERE d_w_id = ? AND d_id = ?"),
    (
        Query::LevelCount,
        "SELECT count(DISTINCT s_i_id) FROM order_line, stock WHERE ol_w_id = ? AND \
         ol_d_id = ? AND ol_o_id >= ? AND ol_o_id < ? AND s_w_id = ol_w_id AND s_i_id = \
         ol_i_id AND s_quantity < ?",
    ),
];

impl Query {
    /// All of them, in the order in which they are compiled.
    pub const ALL: [Self; 41] = [
        Self::OrderCustomer,
        Self::OrderDistrict,
        Self::OrderNumber,
        Self::Order,
        Self::Outstanding,
        Self::Item,
        Self::Stock(0),
        Self::Stock(1),
        Self::Stock(2),
        Self::Stock(3),
        Self::Stock(4),
        Self::Stock(5),
        Self::Stock(6),
        Self::Stock(7),
        Self::Stock(8),
        Self::Stock(9),
        Self::StockTaken,
        Self::OrderLine,
        Self::PaymentWarehouse,
        Self::PaymentWarehouseName,
        Self::PaymentDistrict,
        Self::PaymentDistrictName,
        Self::PaymentNamed,
        Self::PaymentCustomer,
        Self::PaymentGood,
        Self::PaymentBad,
        Self::Payment,
        Self::StatusNamed,
        Self::StatusCustomer,
        Self::StatusOrder,
        Self::StatusLines,
        Self::DeliveryOldest,
        Self::DeliveryLeft,
        Self::DeliveryTaken,
        Self::DeliveryOrder,
        Self::DeliveryCarrier,
        Self::DeliveryLines,
        Self::DeliveryAmount,
        Self::DeliveryCustomer,
        Self::LevelDistrict,
        Self::LevelCount,
    ];

    /// The position in [`Self::ALL`].
    pub fn position(self) -> usize {
        Self::ALL.iter().position(|name| *name == self).unwrap_or(0)
    }

    /// The kind of transactions that it belongs to.
    pub fn kind(self) -> Kind {
        match self {
            Self::OrderCustomer
            | Self::OrderDistrict
            | Self::OrderNumber
            | Self::Order
            | Self::Outstanding
            | Self::Item
            | Self::Stock(_)
            | Self::StockTaken
            | Self::OrderLine => Kind::NewOrder,
            Self::PaymentWarehouse
            | Self::PaymentWarehouseName
            | Self::PaymentDistrict
            | Self::PaymentDistrictName
            | Self::PaymentNamed
            | Self::PaymentCustomer
            | Self::PaymentGood
            | Self::PaymentBad
            | Self::Payment => Kind::Payment,
            Self::StatusNamed | Self::StatusCustomer | Self::StatusOrder | Self::StatusLines => {
                Kind::OrderStatus
            }
            Self::LevelDistrict | Self::LevelCount => Kind::StockLevel,
            _ => Kind::Delivery,
        }
    }

    /// The text: `?` is a parameter, `[lock]` behind a table and `{lock}` at the end lock the rows
    /// that are read, `{first}` limits them to one.
    pub fn text(self) -> String {
        if let Self::Stock(district) = self {
            return format!(
                "SELECT s_quantity, s_data, {} FROM stock[lock] WHERE s_w_id = ? AND s_i_id = \
                 ?{{lock}}",
                STOCK_DISTRICTS[district]
            );
        }
        let found = TEXTS.iter().find(|(query, _)| *query == self);
        found.map_or_else(String::new, |(_, text)| (*text).to_owned())
    }

    /// Returns whether it answers with rows.
    pub fn reads(self) -> bool {
        !matches!(
            self,
            Self::OrderNumber
                | Self::Order
                | Self::Outstanding
                | Self::StockTaken
                | Self::OrderLine
                | Self::PaymentWarehouse
                | Self::PaymentDistrict
                | Self::PaymentGood
                | Self::PaymentBad
                | Self::Payment
                | Self::DeliveryTaken
                | Self::DeliveryCarrier
                | Self::DeliveryLines
                | Self::DeliveryCustomer
        )
    }

    /// The text without what engines write differently.
    pub fn plain_text(self) -> String {
        self.text().replace("[lock]", "").replace("{lock}", "").replace("{first}", "")
    }

    /// The operation that engines compile.
    pub fn operation(self) -> Operation {
        let text = self.text();
        let (mut parts, mut rest) = (Vec::new(), text.as_str());
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
    use super::Query;

    #[test]
    fn statements_that_read_and_their_parameters() {
        for (position, query) in Query::ALL.into_iter().enumerate() {
            assert_eq!(query.position(), position);
            assert_eq!(query.reads(), query.text().starts_with("SELECT"), "{query:?}");
        }
    }
}
