//! The access path of a plan, from its text: scans that read it in different ways are different
//! work, and share no cost model. PostgreSQL counts rows by an index where that is small, DuckDB
//! answers COUNT(*) and MAX from statistics.

/// Words in the lines of operators that read a table.
const READS: [&str; 3] = ["scan", "search", "seek"];

/// The operator that reads the table: of the last line that names one, without names of tables,
/// indexes and columns. `Seq Scan`, `SEQ_SCAN`, `SCAN USING COVERING INDEX`; empty where there is
/// no such line.
pub(super) fn access(plan: &str) -> String {
    plan.lines().rev().find_map(operator).unwrap_or_default()
}

fn operator(line: &str) -> Option<String> {
    // Without what draws the tree, then without the operator's arguments.
    let line = line.trim_matches(|line: char| !line.is_ascii_alphanumeric());
    let line = [" using ", " on ", "("]
        .iter()
        .fold(line, |line, from| line.split(*from).next().unwrap_or(line));
    let words: Vec<&str> = line.split_whitespace().collect();
    let in_capitals = |word: &&str| !word.contains(|word: char| word.is_ascii_lowercase());
    // SQLite writes its words in capitals, and the table between them.
    let words = match words.first() {
        Some(first) if in_capitals(first) => words.into_iter().filter(in_capitals).collect(),
        _ => words,
    };
    let (operator, lower) = (words.join(" "), line.to_ascii_lowercase());
    // `Type: Sequential Scan` is a property of an operator.
    (READS.iter().any(|reads| lower.contains(reads)) && !line.contains([':', '"']))
        .then_some(operator)
}

#[cfg(test)]
mod tests {
    use super::access;

    /// As the engines print them: PostgreSQL 15, SQLite 3.50, DuckDB 1.5, MariaDB 11.
    #[test]
    fn the_operator_that_reads_the_table_without_its_name() {
        let index_only = "Aggregate\n  ->  Index Only Scan using synthetic_pkey on synthetic";
        assert_eq!(access(index_only), "Index Only Scan");
        let parallel = "Finalize Aggregate\n  ->  Gather\n        Workers Planned: 1\n        ->  \
             Partial Aggregate\n              ->  Parallel Seq Scan on \
             scan_log\n                    Filter: (scan < 5)";
        assert_eq!(access(parallel), "Parallel Seq Scan");
        assert_eq!(
            access("SCAN main.synthetic"),
            access("SCAN lineitem\nUSE TEMP B-TREE FOR GROUP BY")
        );
        assert_eq!(access("SCAN t USING COVERING INDEX t_c2"), "SCAN USING COVERING INDEX");
        let box_of = |lines: [&str; 4]| lines.map(|line| format!("│  {line}  │")).join("\n");
        let from_table = box_of([
            "UNGROUPED_AGGREGATE",
            "SEQ_SCAN",
            "\"data\".main.scan",
            "Type: Sequential Scan",
        ]);
        assert_eq!(access(&from_table), "SEQ_SCAN");
        assert_eq!(access(&box_of(["COLUMN_DATA_SCAN", "────", "~1 row", ""])), "COLUMN_DATA_SCAN");
        assert_eq!(access("{\"query_block\": {\"table\": {\"access_type\": \"ALL\"}}}"), "");
    }
}
