//! Damaged plans: an error or a plan, never a panic, and no memory or stack without limits.

use crate::registry::REGISTRY;
use engine::plan_files::PlanFileError;
use plans::{PlanError, Statement, remarks};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const PLANS: [&str; 8] = [
    include_str!("../../engines/postgres/tests/plans/pg-join.txt"),
    include_str!("../../engines/postgres/tests/plans/pg-sub.json"),
    include_str!("../../engines/postgres/tests/plans/pg-auto-explain.log"),
    include_str!("../../engines/mariadb/tests/plans/ma-join.json"),
    include_str!("../../engines/mariadb/tests/plans/ma-derived.json"),
    include_str!("../../engines/mariadb/tests/plans/ma-update.txt"),
    include_str!("../../engines/sqlserver/tests/plans/own.sqlplan"),
    include_str!("../../engines/postgres/tests/plans/pg-join.json"),
];

fn read(bytes: &[u8]) -> Result<Vec<Statement>, PlanFileError> {
    engine::plan_files::read(REGISTRY.engines, bytes)
}

#[test]
fn other_texts_are_refused() {
    for text in ["", "SELECT 1", "<html></html>", "{}", "[]", "[1]", "{\"a\": 1}"] {
        let refused = read(text.as_bytes()).unwrap_err();
        assert!(refused.to_string().contains("expected one of EXPLAIN of PostgreSQL"), "{refused}");
    }
    let cut = read(b"[{\"Plan\": {\"Node Type\": \"Seq Sc");
    assert!(matches!(cut, Err(PlanFileError::Plan(PlanError::Damaged { .. }))), "{cut:?}");
}

#[test]
fn damaged_plans_are_refused_or_read() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(17);
    let (mut refused, mut understood) = (0, 0);
    for attempt in 0..800 {
        let mut bytes = PLANS[attempt % PLANS.len()].as_bytes().to_vec();
        for _ in 0..random.random_range(1..6) {
            let at = random.random_range(0..bytes.len());
            match random.random_range(0..5) {
                0 => bytes[at] = random.random(),
                1 => bytes.truncate(at.max(1)),
                2 => {
                    bytes.remove(at);
                }
                3 => {
                    let end = (at + random.random_range(1..200)).min(bytes.len());
                    let part = bytes[at..end].to_vec();
                    bytes.splice(at..at, part);
                }
                _ => {
                    let digits = [b"-1".as_slice(), b"1e400", b"NaN", b"18446744073709551616", b""];
                    bytes.splice(
                        at..at,
                        digits[random.random_range(0..digits.len())].iter().copied(),
                    );
                }
            }
            if bytes.is_empty() {
                break;
            }
        }
        match read(&bytes) {
            Ok(statements) => {
                understood += 1;
                for one in &statements {
                    let rules = REGISTRY.engine(&one.engine).unwrap().statement_rules().unwrap();
                    one.plan.iter().for_each(|plan| drop(remarks(plan, &rules.terms)));
                }
            }
            Err(error) => {
                refused += 1;
                assert!(!error.to_string().is_empty());
            }
        }
    }
    assert!(refused > 100 && understood > 100, "{refused} refused, {understood} read");
}

#[test]
fn plans_without_an_end_are_refused() {
    let nested = |open: &str, close: &str, depth: usize| {
        format!("{}{}", open.repeat(depth), close.repeat(depth))
    };
    let xml = format!(
        "<ShowPlanXML><BatchSequence><Batch><Statements><StmtSimple><QueryPlan>{}</QueryPlan></\
         StmtSimple></Statements></Batch></BatchSequence></ShowPlanXML>",
        nested("<RelOp><Top>", "</Top></RelOp>", 20_000)
    );
    let elements = format!(
        "<ShowPlanXML><Statements>{}</Statements></ShowPlanXML>",
        nested("<a>", "</a>", 100_000)
    );
    let json = format!(
        "[{{\"Plan\": {}}}]",
        nested("{\"Node Type\": \"Limit\", \"Plans\": [", "]}", 20_000)
    );
    let text = (0..2_000)
        .map(|depth| format!("{}->  Limit  (cost=0.00..1.00 rows=1 width=4)", " ".repeat(depth)))
        .collect::<Vec<_>>()
        .join("\n");
    let blocks = nested("{\"query_block\": ", "}", 20_000).replace(": }", ": {}}");
    // An element of an unknown kind has no plan.
    assert!(read(elements.as_bytes()).unwrap()[0].plan.is_none());
    for plan in [xml, json, text, blocks] {
        let result = read(plan.as_bytes());
        assert!(
            matches!(
                result,
                Err(PlanFileError::Unknown { .. }
                    | PlanFileError::Plan(PlanError::TooDeep(_) | PlanError::Damaged { .. }))
            ),
            "{plan:.80}: {result:?}"
        );
    }
}

#[test]
fn entities_and_schemas_of_others_are_not_followed() {
    let bomb = "<?xml version=\"1.0\"?><!DOCTYPE ShowPlanXML [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY \
                b \"&a;&a;&a;&a;&a;&a;\"><!ENTITY f \
                SYSTEM \"file:///etc/passwd\">]><ShowPlanXML>&b;&f;</ShowPlanXML>";
    let error = read(bomb.as_bytes()).unwrap_err();
    assert!(matches!(error, PlanFileError::Plan(PlanError::Damaged { .. })), "{error}");
}
