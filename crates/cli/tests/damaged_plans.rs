//! Damaged plans: an error, and no memory or stack without limits. `attack::plans` alters plans at
//! random.

use crate::registry::REGISTRY;
use inspection::plan_files::{self, PlanFileError};
use inspection::plans::{PlanError, Statement};

fn read(bytes: &[u8]) -> Result<Vec<Statement>, PlanFileError> {
    plan_files::read(REGISTRY.adapters(), bytes)
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

/// If the time to read grew with the square of their length, these would take hours.
#[test]
fn long_files_are_read_in_linear_time() {
    let document = "[{\"Plan\": {\"Node Type\": \"Result\", \"Total Cost\": 0.01}}]\n";
    assert_eq!(read(document.repeat(50_000).as_bytes()).unwrap().len(), 50_000);
    let line = "and more text of a constant that does not end\n";
    let open = format!(
        "Seq Scan on t  (cost=0.00..1.00 rows=1 width=4)\n  Filter: (a = '{}')\n",
        line.repeat(200_000)
    );
    assert_eq!(read(open.as_bytes()).unwrap().len(), 1);
    let parts = (0..20_000).map(|part| {
        format!(
            "  InitPlan {part}\n    ->  Seq Scan on t  (cost=0.00..1.00 rows=1 width=4) (actual \
             time=0.1..0.1 rows=1 loops=1)\n"
        )
    });
    let parts = parts.collect::<Vec<_>>().concat();
    let parts = format!(
        "Seq Scan on t  (cost=0.00..1.00 rows=1 width=4) (actual time=0.1..0.2 rows=1 \
         loops=1)\n{parts}"
    );
    let error = read(parts.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("more than 500 subqueries"), "{error}");
    let attributes = (0..200_000).map(|at| format!(" a{at}=\"\"")).collect::<Vec<_>>().concat();
    let namespaces = (0..60_000).map(|at| format!("<a xmlns:n{at}='n'>")).collect::<Vec<_>>();
    for content in [format!("<a{attributes}/>"), namespaces.concat()] {
        let error = read(format!("<ShowPlanXML>{content}").as_bytes()).unwrap_err().to_string();
        assert!(error.contains("line 1: more than 1000"), "{error}");
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
