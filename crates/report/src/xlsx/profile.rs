//! Where the sessions' time went, by level of the main factor.

use super::book::{Book, Size};
use super::cell::Value;
use super::charts;
use super::columns::{Columns, named_level};
use analysis::{Accounting, LevelWaits, Summary};
use observations::{Recording, WaitClass};
use rust_xlsxwriter::XlsxError;

/// A part of the sessions' time: its name and its seconds.
type Part = (String, Box<dyn Fn(&Accounting) -> f64>);

pub fn sheet(book: &mut Book, recording: &Recording, summary: &Summary) -> Result<(), XlsxError> {
    let levels = summary.waits();
    let parts = parts(&levels);
    let factor = summary.main_factor.and_then(|main| recording.factors.get(main));
    let mut columns: Columns<'_, &LevelWaits> = Columns::new();
    columns.add(factor.map_or("level", |factor| factor.name.as_str()), |waits| {
        match (factor, &waits.level) {
            (Some(factor), Some(level)) => named_level(factor, level),
            _ => Value::text("all trials"),
        }
    });
    columns.add("trials", |waits| Value::Count(waits.accounting.trials as u64));
    columns.add("sessions (s)", |waits| Value::Number(waits.accounting.session_s));
    let first = columns.0.len() as u16;
    let shares: Vec<(u16, String)> = (first..).zip(parts.iter().map(|(name, _)| name.clone())).collect();
    for (name, seconds) in &parts {
        columns.add(name, move |waits| Value::Share(waits.accounting.share(seconds(&waits.accounting))));
    }
    for (name, seconds) in &parts {
        columns.add(format!("{name} (s)"), move |waits| Value::Number(seconds(&waits.accounting)));
    }
    book.table("Profile", Size::Small, &columns, levels.iter())?;
    if levels.is_empty() {
        return Ok(());
    }
    charts::stacked(book.sheet("Profile")?, "Where the sessions' time went", &shares, levels.len())
}

/// CPU, the classes of waits that occur, and the rest. They add up to the sessions' time.
fn parts(levels: &[LevelWaits]) -> Vec<Part> {
    let mut parts: Vec<Part> = vec![("CPU".to_owned(), Box::new(|a| a.cpu_s))];
    let occurs = |class: &WaitClass| levels.iter().any(|waits| waits.accounting.resource(*class) != 0.0);
    for class in WaitClass::ALL.into_iter().filter(occurs) {
        parts.push((format!("{class} wait"), Box::new(move |a| a.resource(class))));
    }
    parts.push(("wait for a processor".to_owned(), Box::new(|a| a.signal_s)));
    parts.push(("client".to_owned(), Box::new(|a| a.client_s)));
    parts.push(("unaccounted".to_owned(), Box::new(|a| a.unaccounted_s)));
    parts
}
