use super::check::{Check, State};
use report::model::{Cell, Columns, Document, Section, Tone};

/// Names of the sections, in their order.
pub(crate) const SECTIONS: [&str; 2] = ["missing", "ready"];

/// Abilities that a screen has with their remedies.
const MISSING: usize = 4;

/// The page of checks: what is missing or limited, with its remedy, then what works.
pub fn page(engines: &[Check], machine: &[Check]) -> Document {
    let checks = || engines.iter().chain(machine);
    let mut missing = Section::new("Missing or limited").named("missing", MISSING);
    for check in checks().filter(|check| check.state != State::Ready) {
        let tone = if check.state == State::Missing { Tone::Bad } else { Tone::Warning };
        missing.toned(format!("{:<7}  {}: {}", check.state.label(), check.name, check.found), tone);
        if let Some(remedy) = &check.remedy {
            missing.indented(9, remedy.as_str(), Tone::Plain);
        }
    }
    let mut ready = Section::new("Ready").named("ready", usize::MAX);
    let mut table = Columns::for_rows(checks().filter(|check| check.state == State::Ready));
    table.left("ability", |check| Cell::new(check.name.as_str(), Tone::Good));
    table.name("found", |check| &check.found);
    ready.table(table);
    let sections = [missing, ready].into_iter().filter_map(Section::unless_empty).collect();
    Document { title: "Abilities of this machine".into(), sections }
}
