use crate::check::{Check, State};
use report::model::{Document, Section, Tone};

/// The page of checks: engines, then the machine.
pub fn page(engines: &[Check], machine: &[Check]) -> Document {
    let sections = vec![section("Engines", engines), section("This machine", machine)];
    Document { title: "Abilities of this machine".into(), sections }
}

fn section(heading: &'static str, checks: &[Check]) -> Section {
    let mut section = Section::new(heading);
    for check in checks {
        let tone = match check.state {
            State::Ready => Tone::Good,
            State::Limited => Tone::Warning,
            State::Missing => Tone::Bad,
        };
        let state = format!("{:<7}  {}", check.state.label(), check.name);
        if check.state == State::Ready {
            section.toned(format!("{state}: {}", check.found), tone);
            continue;
        }
        section.toned(state, tone);
        section.indented(9, check.found.clone(), Tone::Plain);
        if let Some(remedy) = &check.remedy {
            section.indented(9, remedy.clone(), Tone::Plain);
        }
    }
    section
}
