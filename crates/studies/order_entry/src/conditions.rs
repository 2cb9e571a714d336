//! The consistency conditions (clause 3.3.2), each as a query that counts violations.

use crate::size::Size;
use std::fmt;

/// Number of the last condition; the first is 1.
pub const CONDITIONS: usize = 12;

/// Warehouses that are checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// All of them.
    Complete,
    /// These.
    Sample(Vec<i64>),
}

impl Scope {
    /// The condition that a column with a warehouse is in it.
    fn holds(&self, column: &str) -> String {
        match self {
            Self::Complete => format!("{column} > 0"),
            Self::Sample(warehouses) => {
                let numbers: Vec<String> = warehouses.iter().map(ToString::to_string).collect();
                format!("{column} IN ({})", numbers.join(", "))
            }
        }
    }
}

/// Violated conditions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Violations {
    /// Number of a condition, and of rows that violate it.
    pub found: Vec<(usize, u64)>,
}

impl fmt::Display for Violations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("consistency violated: ")?;
        for (place, (condition, rows)) in self.found.iter().enumerate() {
            let separator = if place == 0 { "" } else { "; " };
            write!(f, "{separator}condition {condition} ({}): {rows} rows", meaning(*condition))?;
        }
        f.write_str(
            "; the engine lost or duplicated changes, or another program changed the tables",
        )
    }
}

/// The demand of a condition.
pub fn meaning(condition: usize) -> &'static str {
    match condition {
        1 => "w_ytd is the sum of d_ytd",
        2 => "d_next_o_id follows the last order and the last outstanding one",
        3 => "outstanding orders have no gaps",
        4 => "a district has as many lines as its orders say",
        5 => "orders without a carrier are outstanding",
        6 => "an order has as many lines as it says",
        7 => "lines without a delivery date are of orders without a carrier",
        8 => "w_ytd is the sum of payments",
        9 => "d_ytd is the sum of payments",
        10 => "c_balance is delivered amounts less payments",
        11 => "delivered orders are those of the load and those that customers count",
        _ => "c_balance and c_ytd_payment are delivered amounts",
    }
}

/// Checks conditions; `count` runs a query that answers with one number.
///
/// # Errors
/// The violated conditions, or the error of a query.
pub fn check<E: From<Violations>>(
    size: Size,
    scope: &Scope,
    mut count: impl FnMut(&str) -> Result<f64, E>,
) -> Result<(), E> {
    let mut found = Vec::new();
    for condition in 1..=CONDITIONS {
        let rows = count(&query(condition, size, scope))? as u64;
        if rows > 0 {
            found.push((condition, rows));
        }
    }
    if found.is_empty() { Ok(()) } else { Err(Violations { found }.into()) }
}

/// The query that counts the violations of a condition. Amounts are equal when they differ by less
/// than half a hundredth: an engine may store them as floating point numbers.
pub fn query(condition: usize, size: Size, scope: &Scope) -> String {
    let holds = |column: &str| scope.holds(column);
    match condition {
        1 => format!(
            "SELECT count(*) FROM warehouse LEFT JOIN (SELECT d_w_id, sum(d_ytd) AS total FROM \
             district GROUP BY d_w_id) d ON d_w_id = w_id WHERE {} AND (total IS NULL OR abs(w_ytd \
             - total) > 0.005)",
            holds("w_id")
        ),
        2 => format!(
            "SELECT count(*) FROM district LEFT JOIN (SELECT o_w_id, o_d_id, max(o_id) AS latest \
             FROM orders WHERE {} GROUP BY o_w_id, o_d_id) o ON o_w_id = d_w_id AND o_d_id = d_id \
             LEFT JOIN (SELECT no_w_id, no_d_id, max(no_o_id) AS newest FROM new_order WHERE {} \
             GROUP BY no_w_id, no_d_id) n ON no_w_id = d_w_id AND no_d_id = d_id WHERE {} AND \
             (latest IS NULL OR d_next_o_id - 1 <> latest OR d_next_o_id - 1 <> newest)",
            holds("o_w_id"),
            holds("no_w_id"),
            holds("d_w_id")
        ),
        3 => format!(
            "SELECT count(*) FROM (SELECT no_w_id, no_d_id FROM new_order WHERE {} GROUP BY \
             no_w_id, no_d_id HAVING max(no_o_id) - min(no_o_id) + 1 <> count(*)) n",
            holds("no_w_id")
        ),
        4 => format!(
            "SELECT count(*) FROM district LEFT JOIN (SELECT o_w_id, o_d_id, sum(o_ol_cnt) AS \
             stated FROM orders WHERE {} GROUP BY o_w_id, o_d_id) o ON o_w_id = d_w_id AND o_d_id \
             = d_id LEFT JOIN (SELECT ol_w_id, ol_d_id, count(*) AS counted FROM order_line WHERE \
             {} GROUP BY ol_w_id, ol_d_id) l ON ol_w_id = d_w_id AND ol_d_id = d_id WHERE {} AND \
             coalesce(stated, 0) <> coalesce(counted, 0)",
            holds("o_w_id"),
            holds("ol_w_id"),
            holds("d_w_id")
        ),
        5 => format!(
            "SELECT count(*) FROM orders LEFT JOIN new_order ON no_w_id = o_w_id AND no_d_id = \
             o_d_id AND no_o_id = o_id WHERE {} AND (o_carrier_id IS NULL AND no_o_id IS NULL OR \
             o_carrier_id IS NOT NULL AND no_o_id IS NOT NULL)",
            holds("o_w_id")
        ),
        6 => format!(
            "SELECT count(*) FROM orders LEFT JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, count(*) AS \
             counted FROM order_line WHERE {} GROUP BY ol_w_id, ol_d_id, ol_o_id) l ON ol_w_id = \
             o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE {} AND o_ol_cnt <> \
             coalesce(counted, 0)",
            holds("ol_w_id"),
            holds("o_w_id")
        ),
        7 => format!(
            "SELECT count(*) FROM order_line LEFT JOIN orders ON o_w_id = ol_w_id AND o_d_id = \
             ol_d_id AND o_id = ol_o_id WHERE {} AND (ol_delivery_d IS NULL AND o_carrier_id IS \
             NOT NULL OR ol_delivery_d IS NOT NULL AND o_carrier_id IS NULL)",
            holds("ol_w_id")
        ),
        8 => format!(
            "SELECT count(*) FROM warehouse LEFT JOIN (SELECT h_w_id, sum(h_amount) AS total FROM \
             history WHERE {} GROUP BY h_w_id) h ON h_w_id = w_id WHERE {} AND abs(w_ytd - \
             coalesce(total, 0)) > 0.005",
            holds("h_w_id"),
            holds("w_id")
        ),
        9 => format!(
            "SELECT count(*) FROM district LEFT JOIN (SELECT h_w_id, h_d_id, sum(h_amount) AS \
             total FROM history WHERE {} GROUP BY h_w_id, h_d_id) h ON h_w_id = d_w_id AND h_d_id \
             = d_id WHERE {} AND abs(d_ytd - coalesce(total, 0)) > 0.005",
            holds("h_w_id"),
            holds("d_w_id")
        ),
        11 => delivered_orders(size, scope),
        _ => of_customers(condition == 10, scope),
    }
}

fn delivered_orders(size: Size, scope: &Scope) -> String {
    let holds = |column: &str| scope.holds(column);
    format!(
        "SELECT count(*) FROM district LEFT JOIN (SELECT o_w_id, o_d_id, count(*) AS ordered FROM \
         orders WHERE {} GROUP BY o_w_id, o_d_id) o ON o_w_id = d_w_id AND o_d_id = d_id LEFT JOIN \
         (SELECT no_w_id, no_d_id, count(*) AS outstanding FROM new_order WHERE {} GROUP BY \
         no_w_id, no_d_id) n ON no_w_id = d_w_id AND no_d_id = d_id LEFT JOIN (SELECT c_w_id, \
         c_d_id, sum(c_delivery_cnt) AS delivered FROM customer WHERE {} GROUP BY c_w_id, c_d_id) \
         c ON c_w_id = d_w_id AND c_d_id = d_id WHERE {} AND coalesce(ordered, 0) - \
         coalesce(outstanding, 0) <> {} + coalesce(delivered, 0)",
        holds("o_w_id"),
        holds("no_w_id"),
        holds("c_w_id"),
        holds("d_w_id"),
        size.delivered()
    )
}

/// Conditions 10 and 12: a customer's balance, with payments from the history or as the customer
/// counts them.
fn of_customers(by_history: bool, scope: &Scope) -> String {
    let holds = |column: &str| scope.holds(column);
    let (join, paid) = if by_history {
        let join = format!(
            " LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, sum(h_amount) AS paid FROM history \
             WHERE {} GROUP BY h_c_w_id, h_c_d_id, h_c_id) h ON h_c_w_id = c_w_id AND h_c_d_id = \
             c_d_id AND h_c_id = c_id",
            holds("h_c_w_id")
        );
        (join, "coalesce(paid, 0)")
    } else {
        (String::new(), "c_ytd_payment")
    };
    format!(
        "SELECT count(*) FROM customer LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, sum(ol_amount) \
         AS delivered FROM orders JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND \
         ol_o_id = o_id WHERE {} AND ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) o \
         ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id{join} WHERE {} AND \
         abs(c_balance + {paid} - coalesce(delivered, 0)) > 0.005",
        holds("o_w_id"),
        holds("c_w_id")
    )
}
