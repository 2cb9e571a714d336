//! The code that trials spent their processor time in, where they were profiled.

use crate::compare::{WorkScale, change_columns, change_row};
use crate::configurations::label;
use crate::model::{Section, Table, Tone};
use crate::number;
use crate::profile::{functions, more, used};
use analysis::profile::ConfigurationProfile;
use analysis::{Decomposition, Standing, Summary};

/// Functions that are listed of a configuration, and of a change.
const FUNCTIONS: usize = 10;
/// With more configurations than this only the baseline and the best are shown.
const ALL_SHOWN: usize = 3;

/// The configurations whose profiles a report shows.
pub(crate) fn shown(summary: &Summary) -> Vec<&ConfigurationProfile> {
    let matters = |profile: &&ConfigurationProfile| {
        let row = summary.configurations.iter().find(|row| row.index == profile.index);
        row.is_some_and(|row| row.baseline || row.standing == Standing::Best)
    };
    let all = summary.profiles.iter();
    let shown: Vec<_> =
        if summary.profiles.len() > ALL_SHOWN { all.clone().filter(matters).collect() } else { Vec::new() };
    if shown.is_empty() { all.take(ALL_SHOWN).collect() } else { shown }
}

/// For each of these configurations where its processor time went; between the two that are explained, what changed.
pub(crate) fn sections(summary: &Summary) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    if let Some(explanation) = summary.explanations.last() {
        let between = format!("from {}", explanation.sides());
        sections.extend(changes(&explanation.decomposition, &between, ["from", "to"]));
    }
    let shown = shown(summary);
    let left_out = summary.profiles.len() - shown.len();
    sections.extend(shown.into_iter().map(section));
    if let Some(last) = sections.last_mut().filter(|_| left_out > 0) {
        let others = number::plural(left_out, "other configuration");
        last.toned(format!("{others} were profiled too: `compare` and `export` show them."), Tone::Muted);
    }
    sections
}

fn section(configuration: &ConfigurationProfile) -> Section {
    let mut section = Section::new(format!("Code: {}", label(&configuration.label)));
    let profile = &configuration.profile;
    if profile.all.samples == 0 {
        section.line("Nothing was found running: who waits leaves no sample.");
        return section;
    }
    section.line(used(profile));
    functions(&mut section, profile, FUNCTIONS);
    for missing in &profile.missing {
        section.toned(missing.as_str(), Tone::Warning);
    }
    section
}

/// Processor time for the same work by function; `None` where trials were not profiled.
pub(crate) fn changes(decomposition: &Decomposition, between: &str, sides: [&str; 2]) -> Option<Section> {
    let code = decomposition.code.as_ref()?;
    let scale = WorkScale::of(decomposition);
    let mut section =
        Section::new(format!("Code that changed most, {between}: processor seconds for {}", scale.name));
    let largest = code.total.from_s.max(code.total.to_s);
    let decimals = number::places(largest * scale.units, 4);
    let (functions, rest) = code.parts.split_at(code.parts.len().saturating_sub(1));
    let shown = functions.iter().take(FUNCTIONS).chain(rest).chain([&code.total]);
    let rows = shown.map(|part| change_row(part, &scale, decimals)).collect();
    section.table(Table { columns: change_columns("function", sides), rows, fixed: false });
    let [from, to] = code.samples;
    section.toned(
        format!(
            "{} and {} samples of processor time, user mode and kernel, of all processes of the load and of a server on \
             this machine. Other code: functions with less than 1 % on both sides.",
            number::count(from),
            number::count(to)
        ),
        Tone::Muted,
    );
    more(&mut section, functions.len().saturating_sub(FUNCTIONS));
    Some(section)
}
