//! Machines that share a plan: the check between them, their effect, and its interactions.

use crate::machine_effects::{MachineEffects, by_machine, checked, verdict};
use analysis::{Factors, Summary};
use observations::Recording;
use report::{Section, Tone, effect_section, interaction_section, number};

/// The check, the effect of the machine, and the interactions with it.
pub fn sections(summary: &Summary, machines: Option<&MachineEffects>) -> Vec<Section> {
    let Some(MachineEffects { machines, check, plan }) = machines else { return Vec::new() };
    let recording = summary.recording;
    let mut sections = Vec::new();
    if let (Some(recording), Some(factors)) = (checked(recording), check) {
        let name = number::plural(machines.len(), "machine");
        let heading = format!("Check of {name}: one configuration on each of them");
        let mut shown = shown(&recording, factors, &heading);
        shown.truncate(1);
        if let Some(section) = shown.first_mut() {
            let verdicts = verdict(summary.recording);
            let sentences = verdicts.iter().map(|verdict| (verdict.text.as_str(), verdict.differs));
            for (text, differs) in sentences {
                let tone = if differs { Tone::Bad } else { Tone::Plain };
                section.indented(2, text, tone);
            }
        }
        sections.extend(shown);
    }
    if let (Some(recording), Some(factors)) = (by_machine(recording), plan) {
        sections.extend(shown(&recording, factors, "Machines: means over all configurations"));
    }
    sections
}

/// The effect of the last factor, and its interactions.
fn shown(recording: &Recording, factors: &Factors, heading: &str) -> Vec<Section> {
    let mut summary = analysis::summarize(recording);
    summary.factors = factors.clone();
    let Some(machine) = summary.factors.effects.last() else { return Vec::new() };
    let mut effect = effect_section(&summary, machine);
    effect.heading = heading.into();
    let interactions = interaction_section(&summary);
    [effect].into_iter().chain(interactions).collect()
}
