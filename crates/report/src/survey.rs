//! Inventories: of one machine and its servers, and of many side by side.
//!
//! - `machine`: processors, memory, settings of the system
//! - `server`: what a server says of itself
//! - `merged`: many machines
//! - `json`: the file that `merge` reads, and what programs read of a merge

pub mod json;
mod machine;
mod merged;
mod server;

pub use merged::merged;

use crate::model::{Document, Section};
use crate::{time, volume};
use observations::{Advice, Survey};

/// The inventory of a machine and of servers, and the advice on them.
pub fn page(survey: &Survey, advice: &[Advice]) -> Document {
    let host = survey.machine.host.as_deref().unwrap_or("this machine");
    let mut sections = vec![machine::about(survey)];
    sections.extend(machine::nodes(&survey.machine.nodes));
    sections.extend(machine::wanted_settings(&survey.settings));
    sections.extend(machine::other_settings(&survey.settings));
    sections.extend(machine::volumes(&survey.volumes));
    sections.extend(survey.servers.iter().flat_map(server::sections));
    sections.push(volume::advised(advice, "None of the rules finds anything that stands out."));
    sections.extend(unread(survey));
    Document { title: format!("{host} on {}", time::utc(survey.taken_ms)).into(), sections }
}

fn unread(survey: &Survey) -> Option<Section> {
    let mut section = Section::new("What could not be read");
    // Of files that are not there the names are enough.
    let (absent, failed): (Vec<_>, Vec<_>) = survey.unread.iter().partition(|one| one.why == "not there");
    if !absent.is_empty() {
        let names: Vec<&str> = absent.iter().map(|one| one.what.as_str()).collect();
        section.note(format!("Not there: {}.", names.join(", ")));
    }
    for one in failed {
        section.warn(format!("{}: {}", one.what, one.why));
    }
    section.unless_empty()
}

/// A line for each fact; what is not known is said.
fn facts<const N: usize>(section: &mut Section, facts: [(&str, Option<String>); N]) {
    for (name, value) in facts {
        match value {
            Some(value) => section.line(format!("{name}: {value}")),
            None => section.note(format!("{name}: not known")),
        }
    }
}
