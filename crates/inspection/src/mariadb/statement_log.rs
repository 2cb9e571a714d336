//! Slow query logs (<https://mariadb.com/kb/en/slow-query-log-overview/>,
//! <https://dev.mysql.com/doc/refman/8.4/en/slow-query-log.html>).

use crate::statements::{LoggedRun, StatementLogs};

/// Reads these logs.
pub const LOGS: StatementLogs = StatementLogs {
    recognise: |beginning| beginning.lines().any(|line| line.starts_with("# Query_time: ")),
    read,
};

fn read(text: &str) -> Vec<LoggedRun> {
    let mut found = Vec::new();
    let mut run = LoggedRun::default();
    let (mut database, mut is_head) = (String::new(), true);
    for line in text.lines() {
        if let Some(facts) = line.strip_prefix("# ") {
            if !is_head {
                finish(&mut found, &mut run);
            }
            is_head = true;
            head(facts, &mut run);
            continue;
        }
        // The server writes this at each start.
        if line.contains(", Version: ")
            || line.starts_with("Tcp port: ")
            || line.starts_with("Time ")
        {
            continue;
        }
        is_head = false;
        if let Some(name) = line.strip_prefix("use ")
            && run.text.is_empty()
        {
            name.trim_end_matches(';').trim_matches('`').clone_into(&mut database);
        } else if !(run.text.is_empty() && line.starts_with("SET timestamp=")) {
            if !run.text.is_empty() {
                run.text.push('\n');
            }
            run.text.push_str(line);
        }
        if run.database.is_empty() {
            run.database.clone_from(&database);
        }
    }
    finish(&mut found, &mut run);
    found
}

fn finish(found: &mut Vec<LoggedRun>, run: &mut LoggedRun) {
    let run = std::mem::take(run);
    let run = LoggedRun { text: run.text.trim().trim_end_matches(';').to_owned(), ..run };
    let is_comment = run.text.starts_with("# administrator command");
    if !run.text.is_empty() && !is_comment {
        found.push(run);
    }
}

/// A line of facts: `Query_time: 0.000216  Lock_time: 0.000077  Rows_sent: 1`.
fn head(facts: &str, run: &mut LoggedRun) {
    if let Some(user) = facts.strip_prefix("User@Host: ") {
        user.split(['[', ' ']).next().unwrap_or_default().clone_into(&mut run.user);
        return;
    }
    let words: Vec<&str> = facts.split_whitespace().collect();
    for pair in words.windows(2) {
        let number = || pair[1].parse::<f64>().ok();
        match pair[0] {
            "Query_time:" => run.ms = number().unwrap_or(0.0) * 1e3,
            "Lock_time:" => run.lock_ms = number().map(|seconds| seconds * 1e3),
            "Rows_sent:" | "Rows_affected:" => {
                let more = number().map(|rows| rows as u64);
                run.rows = Some(run.rows.unwrap_or(0) + more.unwrap_or(0));
            }
            "Rows_examined:" => run.rows_read = number().map(|rows| rows as u64),
            "Schema:" if !pair[1].ends_with(':') => pair[1].clone_into(&mut run.database),
            _ => {}
        }
    }
}
