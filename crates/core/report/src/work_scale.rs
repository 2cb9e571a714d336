//! Parts of a decomposition as they are shown.

use crate::model::{Cell, Column, Columns, Table, Tone};
use crate::number;
use crate::sections::RUN_QUEUE;
use analysis::{Decomposition, Part, PartKind, wording};

/// The name of a part.
pub(crate) fn name(kind: &PartKind) -> String {
    match kind {
        PartKind::Cpu => "CPU".to_owned(),
        PartKind::Resource(class) => class.name().to_owned(),
        PartKind::Signal => RUN_QUEUE.to_owned(),
        PartKind::Client => "client".to_owned(),
        PartKind::Unaccounted => "unaccounted".to_owned(),
        PartKind::WaitType(name) | PartKind::ClientWait(name) => {
            observations::shown(name).to_owned()
        }
        PartKind::Function { function, module } => format!("{function} ({module})"),
        PartKind::OtherCode => "other code".to_owned(),
        PartKind::Total => "total".to_owned(),
    }
}

/// Less time is better; said only of what is supported, and not of time in which sessions wait for
/// their client.
pub(crate) fn tone(part: &Part) -> Tone {
    match part.change_s {
        _ if !part.supported() || part.kind.is_client() => Tone::Plain,
        less if less < 0.0 => Tone::Good,
        _ => Tone::Bad,
    }
}

/// For how many units of work seconds are shown: as in findings.
pub struct WorkScale {
    /// Units of work.
    pub units: f64,
    /// Their name: `1,000 rows`.
    pub name: String,
}

impl WorkScale {
    /// The scale for the work of a decomposition.
    pub fn for_decomposition(decomposition: &Decomposition) -> Self {
        let (units, name) = wording::work_scale(decomposition.work, &decomposition.unit);
        Self { units, name }
    }

    /// Parts each by itself: what else is in the table need not add up to them.
    pub(crate) fn table<'p>(
        &self,
        first: &str,
        sides: [&str; 2],
        parts: impl Iterator<Item = &'p Part>,
        largest_s: f64,
    ) -> Table<'static> {
        self.changes(
            first,
            sides,
            parts.map(|part| (part, (part.from_s * self.units, part.to_s * self.units))).collect(),
            number::places(largest_s * self.units, 4),
        )
    }

    /// Parts with both sides as they are printed.
    pub fn changes(
        &self,
        first: &str,
        [from, to]: [&str; 2],
        parts: Vec<(&Part, (f64, f64))>,
        decimals: usize,
    ) -> Table<'static> {
        let fixed = |value: f64| Cell::from(value).shown(number::fixed(value, decimals));
        let end = |value: f64| number::signed(value, decimals.saturating_sub(1));
        let mut table = Columns::for_rows(parts);
        table.name(first, |(part, _)| name(&part.kind));
        table.with(Column::right(from), |(_, (from, _))| fixed(*from));
        table.with(Column::right(to), |(_, (_, to))| fixed(*to));
        // Parts add up, so the printed change is the difference of the printed sides.
        table.with(Column::right("change"), |(part, (from, to)): &(&Part, (f64, f64))| {
            Cell::from(to - from).shown(number::signed(to - from, decimals)).toned(tone(part))
        });
        table
            .with(Column::left("interval"), |(part, _)| {
                let Some(interval) = part.interval else { return "".into() };
                let interval = interval.times(self.units);
                let ends = format!("[{}, {}]", end(interval.low), end(interval.high));
                Cell::ends(interval, ends)
            })
            .optional(1);
        table
            .right("share of change", |(part, _)| {
                let share = part.share.filter(|_| part.kind != PartKind::Total);
                share.map_or_else(|| "".into(), |share| Cell::percent(share, 0))
            })
            .optional(2);
        table.into()
    }
}
