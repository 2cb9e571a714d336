//! Hints of alternatives, held against published plans.

use engine::Results;
use inspection::plans::Access;
use std::collections::BTreeSet;
use testing::published_plans;

/// Published plans as a session that explains sends them: the operators that hints force are found
/// by their names.
#[test]
fn a_session_that_explains_has_estimates_and_the_operators_of_hints() {
    let files = published_plans();
    if files.is_empty() {
        println!("SKIPPED, cannot be here: the folder shared/plans beside the project");
        return;
    }
    let optimizer = optimizer::for_engine("sqlserver").unwrap();
    let texts = files.iter().filter_map(|file| Some((file, std::fs::read_to_string(file).ok()?)));
    let mut found = BTreeSet::new();
    let mut estimated = 0;
    for (file, text) in texts {
        let results = Results { last: vec![Some(text)], ..Results::default() };
        let Ok(plan) = (optimizer.read)(&results) else { continue };
        for (_, operator) in plan.operators() {
            estimated += usize::from(operator.rows.estimated.is_some());
            let forced = optimizer
                .alternatives
                .iter()
                .filter(|alternative| !alternative.operators.is_empty());
            let hints = forced.filter(|hint| hint.has(&operator.name));
            for name in hints.map(|hint| hint.name) {
                let is_scan = operator.access == Some(Access::Scan);
                assert_eq!(is_scan, name != "index", "{}: {}", file.display(), operator.name);
                found.insert(name);
            }
        }
    }
    assert_eq!(found.into_iter().collect::<Vec<_>>(), ["index", "index-scan", "scan"]);
    assert!(estimated > 100, "{estimated}");
}
