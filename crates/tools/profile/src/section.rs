//! The code that trials spent their processor time in, where they were profiled.

use crate::flame::{flame, svg};
use crate::summary::{ConfigurationProfile, of_configuration};
use crate::tables::{functions, used};
use analysis::{Standing, Summary};
use report::text::label;
use report::{Block, Section, code_changes, number};

/// Functions that are listed of a configuration.
const FUNCTIONS: usize = 10;
/// How to read a flame graph.
const CAPTION: &str = "Width: CPU time of a function and its callees, neighbours sorted by name. \
                       Orange: user mode; blue: kernel. Boxes below 0.1 % are left out. Point at \
                       a box for its figures.";
/// With more configurations than this only the baseline and the best are shown.
const ALL_SHOWN: usize = 3;

/// For each of the configurations that are shown where its processor time went; between the two
/// that are explained, what changed.
pub fn sections(summary: &Summary, profiles: &[ConfigurationProfile]) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    if let Some(explanation) = summary.explanations().last() {
        let between = format!("from {}", explanation.sides());
        sections.extend(code_changes(&explanation.decomposition, &between, ["from", "to"]));
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
    sections.extend(shown.into_iter().filter_map(|profile| flame_graph(summary, profile)));
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

fn flame_graph(summary: &Summary, shown: &ConfigurationProfile) -> Option<Section> {
    let profile = of_configuration(summary, shown.index)?;
    let mut section = Section::page(format!("Flame graph: {}", label(&shown.label)));
    let root = flame(&profile);
    if root.samples == 0 {
        section.note("No samples.");
    } else {
        section.blocks.push(Block::Picture(svg(&root), CAPTION.into()));
    }
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
