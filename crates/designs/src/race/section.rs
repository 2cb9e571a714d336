//! A race: its candidates, and when and why each of them left.

use super::analysis::{Candidate, RaceReport};
use ::analysis::{Interval, Summary};
use report::{Cell, Column, Columns, Section, Tone, level_columns, number};

pub(crate) fn section(summary: &Summary, race: Option<&RaceReport>) -> Option<Section> {
    let race = race?;
    let mut section = Section::new(format!(
        "Race after {}: {} of {} remaining",
        number::plural(race.blocks, "block"),
        race.survivors().count(),
        number::plural(race.candidates.len(), "candidate")
    ));
    let mut table = Columns::for_rows(race.candidates.iter().enumerate());
    level_columns(&mut table, summary, |(_, candidate)| {
        &summary.recording.configurations[candidate.configuration].levels
    });
    table.right("blocks", |(_, candidate)| candidate.blocks);
    table.with(Column::left("mean"), |(_, candidate)| {
        candidate.mean.map(|mean| number::within(mean, candidate.interval, &race.unit))
    });
    table.with(Column::left("leader is better by"), |(_, candidate)| {
        candidate.behind.map(|comparison| behind(race, comparison))
    });
    table.with(Column::left("standing"), |(position, candidate)| {
        standing(race, *position, candidate)
    });
    section.table(table);
    for candidate in &race.candidates {
        section.indented(2, candidate.why.as_str(), Tone::Plain);
    }
    section.note(format!(
        "±, [ ]: 95 % intervals of candidates in the race, which hold at all looks and for all \
         candidates at once. Means of candidates that left have none: their values decided how \
         long they ran. The race took {}; all candidates in all of its blocks would take {}.",
        number::plural(race.trials, "trial"),
        race.blocks * race.candidates.len(),
    ));
    Some(section)
}

fn behind(race: &RaceReport, interval: Interval) -> String {
    if race.by_ratio {
        return format!("[{}x, {}x]", number::ratio(interval.low), number::ratio(interval.high));
    }
    let ends = [interval.low, interval.high].map(|end| number::quantity(end, &race.unit));
    format!("[{}, {}]", ends[0], ends[1])
}

fn standing(race: &RaceReport, position: usize, candidate: &Candidate) -> Cell {
    let (text, tone) = match &candidate.departure {
        Some(departure) => {
            let blocks = number::plural(departure.after, "block");
            return Cell::from(format!("left after {blocks}")).toned(Tone::Muted);
        }
        None if race.blocks < race.first => ("in the race", Tone::Plain),
        None if position > 0 => ("in the race", Tone::Plain),
        None if race.survivors().count() == 1 => ("winner", Tone::Good),
        None => ("leader", Tone::Good),
    };
    Cell::from(text).toned(tone)
}
