use super::book::Book;
use super::cell::Value;
use super::columns::Columns;
use crate::{number, time};
use analysis::Summary;
use rust_xlsxwriter::XlsxError;

/// What was found, with its evidence; then what failed and what is marked.
struct Said {
    kind: String,
    text: String,
    evidence: String,
}

pub fn sheet(book: &mut Book, summary: &Summary) -> Result<(), XlsxError> {
    let said = said(summary);
    let mut columns: Columns<'_, &Said> = Columns::new();
    columns.add("kind", |said| Value::text(&said.kind));
    columns.wrapped("finding", |said| Value::text(&said.text));
    columns.wrapped("evidence", |said| Value::text(&said.evidence));
    book.titled("Verdict", &lines(summary), &columns, said.iter())
}

fn lines(summary: &Summary) -> Vec<String> {
    let run = &summary.recording.run;
    let done = format!(
        "Run {}, {}; {} done, {} failed",
        run.id,
        time::utc(run.started_ms),
        number::plural(summary.done(), "trial"),
        number::plural(summary.failed(), "attempt")
    );
    let compared = summary
        .response
        .as_ref()
        .map(|response| format!("Compared on {} ({})", response.name, response.unit));
    [Some(run.name.clone()), run.question.clone(), Some(done), compared].into_iter().flatten().collect()
}

fn said(summary: &Summary) -> Vec<Said> {
    let findings = summary.findings().into_iter().map(|finding| Said {
        kind: name(finding.kind),
        text: finding.text,
        evidence: finding.evidence,
    });
    let failures = summary.failures().into_iter().map(|failure| Said {
        kind: "failure".to_owned(),
        text: failure.cause,
        evidence: format!(
            "{}: {}",
            number::plural(failure.attempts, "attempt"),
            failure.configurations.join("; ")
        ),
    });
    findings.chain(failures).collect()
}

/// The name that programs read too.
fn name(kind: analysis::FindingKind) -> String {
    match serde_json::to_value(kind) {
        Ok(serde_json::Value::String(name)) => name,
        _ => String::new(),
    }
}
