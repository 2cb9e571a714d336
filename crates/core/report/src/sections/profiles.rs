//! The code that trials spent their processor time in, where they were profiled.

use crate::model::{Block, Section};
use crate::number;
use crate::profile::{functions, more, used};
use crate::text::label;
use crate::work_scale::WorkScale;
use analysis::profile::ConfigurationProfile;
use analysis::{Decomposition, Standing, Summary};

/// Functions that are listed of a configuration, and of a change.
const FUNCTIONS: usize = 10;
/// With more configurations than this only the baseline and the best are shown.
const ALL_SHOWN: usize = 3;

/// For each of the configurations that are shown where its processor time went; between the two
/// that are explained, what changed.
pub(crate) fn sections(summary: &Summary, profiles: &[ConfigurationProfile]) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    if let Some(explanation) = summary.explanations().last() {
        let between = format!("from {}", explanation.sides());
        sections.extend(changes(&explanation.decomposition, &between, ["from", "to"]));
    }
    let shown = shown(summary, profiles);
    let left_out = profiles.len() - shown.len();
    sections.extend(shown.iter().map(|profile| section(profile)));
    if let Some(last) = sections.last_mut()
        && left_out > 0
    {
        let others = number::plural(left_out, "other configuration");
        last.note(format!("{others} also have profiles: see `compare` and `export`."));
    }
    sections.extend(shown.into_iter().filter_map(|profile| flame(summary, profile)));
    sections
}

fn shown<'p>(
    summary: &Summary,
    profiles: &'p [ConfigurationProfile],
) -> Vec<&'p ConfigurationProfile> {
    let shown: Vec<_> = if profiles.len() > ALL_SHOWN {
        profiles
            .iter()
            .filter(|profile| {
                let row = summary.configurations.get(profile.index);
                row.is_some_and(|row| row.baseline || row.standing == Standing::Best)
            })
            .collect()
    } else {
        Vec::new()
    };
    if shown.is_empty() { profiles.iter().take(ALL_SHOWN).collect() } else { shown }
}

fn flame(summary: &Summary, shown: &ConfigurationProfile) -> Option<Section> {
    let profile = summary.profile(shown.index)?;
    let mut section = Section::page(format!("Flame graph: {}", label(&shown.label)));
    section.blocks.push(Block::Flame(Box::new(analysis::flame(&profile))));
    Some(section)
}

fn section(configuration: &ConfigurationProfile) -> Section {
    let mut section = Section::new(format!("Code: {}", label(&configuration.label)));
    let profile = &configuration.profile;
    if profile.all.samples == 0 {
        section.line("No samples: no thread was running (waiting threads are not sampled).");
        return section;
    }
    section.line(used(profile));
    functions(&mut section, profile, FUNCTIONS);
    for missing in &profile.missing {
        section.warn(missing);
    }
    section
}

/// Processor time for the same work by function; `None` where trials were not profiled.
pub(crate) fn changes(
    decomposition: &Decomposition,
    between: &str,
    sides: [&str; 2],
) -> Option<Section> {
    let code = decomposition.code.as_ref()?;
    let scale = WorkScale::for_decomposition(decomposition);
    let mut section = Section::new(format!(
        "Code with the largest change, {between}: CPU seconds per {}",
        scale.name
    ));
    let largest = code.total.from_s.max(code.total.to_s);
    let (functions, rest) = code.parts.split_at(code.parts.len().saturating_sub(1));
    let shown = functions.iter().take(FUNCTIONS).chain(rest).chain([&code.total]);
    section.table(scale.table("function", sides, shown, largest));
    let [from, to] = code.samples;
    section.note(format!(
        "{} and {} samples of CPU time (user and kernel) of the load's processes and of a server \
         on this machine. Other code: functions below 1 % on both sides.",
        number::count(from),
        number::count(to)
    ));
    more(&mut section, functions.len().saturating_sub(FUNCTIONS));
    Some(section)
}
