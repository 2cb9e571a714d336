//! The parts of a statement's text that decide which index serves it: tables, conditions, order
//! and limit of each SELECT, UPDATE and DELETE in it.
//!
//! The reader follows the grammar that engines have in common. What it does not know has no
//! conditions, so that nothing is claimed of it.

mod block;
mod conditions;
mod model;
mod sources;

pub use inspection::sql_tree::Comparison;
pub use model::{Block, ColumnName, Condition, Operand, Other, Source};

use inspection::sql_tree::nodes;
use work::sql::Syntax;

/// Texts that are longer are lists of values more than statements.
const TEXT_MAX: usize = 20_000;

/// The blocks of a statement, itself first.
pub fn blocks(text: &str, syntax: Syntax) -> Vec<Block> {
    if text.len() > TEXT_MAX {
        return Vec::new();
    }
    let nodes = nodes(text, syntax);
    let mut found = Vec::new();
    block::read(&nodes, syntax, true, true, &mut found);
    found
}

#[cfg(test)]
mod tests {
    use super::{Comparison, Other, blocks};
    use work::sql::Syntax;

    /// `column comparison` of each condition of the statement itself.
    fn conditions(text: &str, syntax: Syntax) -> Vec<String> {
        let found = blocks(text, syntax);
        let sign = |comparison: &Comparison| match comparison {
            Comparison::Equal => "=".to_owned(),
            Comparison::In => "in".into(),
            Comparison::Null => "null".into(),
            Comparison::Range => "<".into(),
            Comparison::Like | Comparison::LikeAnyCase => "like".into(),
            Comparison::Contains(operator) => (*operator).into(),
            Comparison::Element => "any".into(),
            Comparison::NotIn => "not in".into(),
            Comparison::Other => "?".into(),
        };
        found[0]
            .conditions
            .iter()
            .map(|condition| {
                let other = match &condition.other {
                    Other::Operand(operand) => format!(" {}", operand.text),
                    Other::Query => " (query)".into(),
                    Other::Value(_) => String::new(),
                };
                format!("{} {}{other}", condition.operand.text, sign(&condition.comparison))
            })
            .collect()
    }

    #[test]
    fn conditions_are_read_in_the_words_of_each_engine() {
        use Syntax::{MariaDb, Postgres, Sqlite};
        for (syntax, text, expected) in [
            (Postgres, "SELECT * FROM t WHERE a=$1 AND b>=$2", vec!["a =", "b <"]),
            (Postgres, "select * from t where lower(t.email) = $1", vec!["lower(email) ="]),
            (Postgres, "SELECT 1 FROM t WHERE a BETWEEN $1 AND $2 AND b = -5", vec!["a <", "b ="]),
            (
                Postgres,
                "SELECT 1 FROM t WHERE (a = ANY($1)) AND (b IN ($2 /*, ... */)) AND c IS NULL",
                vec!["a in", "b in", "c null"],
            ),
            (
                Postgres,
                "SELECT 1 FROM t JOIN u ON u.id = t.u_id WHERE t.data @> $1 AND t.x->>$2 = $3",
                vec!["id = u_id", "data @>", "x->>$2 ="],
            ),
            (
                Postgres,
                "SELECT 1 FROM t WHERE $1 = ANY (tags) AND active",
                vec!["tags any", "active ="],
            ),
            (
                Postgres,
                "SELECT 1 FROM t WHERE a NOT IN (SELECT b FROM u) AND c::date = $1::date",
                vec!["a not in (query)", "c::date ="],
            ),
            (
                Postgres,
                "SELECT 1 FROM t WHERE d > now() - interval $1 AND x < CAST($2 AS int)",
                vec!["d <", "x <"],
            ),
            (
                MariaDb,
                "SELECT `id` , `note` FROM `orders` WHERE `customer_id` = ? AND `n` > ? ORDER BY \
                 `id` LIMIT ?",
                vec!["customer_id =", "n <"],
            ),
            (
                Postgres,
                "SELECT 1 FROM t WHERE at > $1 AND day = $2 AND date::date = date $3",
                vec!["at <", "day =", "date::date ="],
            ),
            (MariaDb, "SELECT 1 FROM t WHERE at > NOW ( ) - INTERVAL ? DAY", vec!["at <"]),
            (MariaDb, "UPDATE `shop` . `t` SET `a` = ? WHERE `t` . `b` IN (...)", vec!["b in"]),
            (Sqlite, "DELETE FROM t WHERE \"a\"=5 and date(b)='x'", vec!["a =", "date(b) ="]),
            (Sqlite, "SELECT 1 FROM t WHERE NOT a = 1 AND b <> 2", vec!["a ?", "b ?"]),
        ] {
            assert_eq!(conditions(text, syntax), expected, "{text}");
        }
    }

    #[test]
    fn order_limit_and_grouping_are_read() {
        let of = |text: &str| blocks(text, Syntax::Postgres).remove(0);
        let found = of("SELECT a, b FROM t WHERE c = $1 ORDER BY t.d DESC, e LIMIT $2 OFFSET $3");
        let order: Vec<(String, bool)> = found
            .order
            .iter()
            .map(|order| (order.operand.text.clone(), order.descending))
            .collect();
        assert_eq!(order, [("d".into(), true), ("e".into(), false)]);
        assert!(found.is_limited && found.has_offset && !found.gathers && found.is_top);
        assert!(of("SELECT count(*) FROM t").gathers);
        assert!(of("SELECT a FROM t GROUP BY a").gathers);
        assert!(!of("SELECT discount FROM account_limits WHERE minute = $1").gathers);
        let last = of("SELECT max(created) FROM t");
        assert!(last.is_limited && !last.gathers && last.order[0].operand.text == "created");
        let either = of("SELECT a FROM t WHERE a = 1 OR b = 2");
        assert_eq!((either.alternatives.len(), either.alternatives[0].len()), (1, 2));
    }

    #[test]
    fn parts_of_a_statement_are_blocks_of_their_own() {
        let found = blocks(
            "WITH x AS (SELECT a FROM t WHERE b = 1) SELECT * FROM x JOIN u USING (a) WHERE \
             EXISTS (SELECT 1 FROM v WHERE v.u_id = u.id)",
            Syntax::Postgres,
        );
        let tables: Vec<Vec<&str>> = found
            .iter()
            .map(|block| block.sources.iter().map(|source| source.name.as_str()).collect())
            .collect();
        assert_eq!(tables, [vec!["x", "u"], vec!["t"], vec!["v"]]);
        assert_eq!(found.iter().filter(|block| block.is_top).count(), 1);
    }

    #[test]
    fn any_text_is_read() {
        for text in ["", "(", ")", "SELECT", "SELECT FROM WHERE", "UPDATE SET", "a = = b OR", "IN"]
        {
            for syntax in [Syntax::Postgres, Syntax::MariaDb, Syntax::SqlServer, Syntax::Sqlite] {
                blocks(text, syntax);
                blocks(&format!("SELECT 1 FROM t WHERE {text}"), syntax);
            }
        }
    }
}
