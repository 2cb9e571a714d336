//! The page of a search: the confirmed gain first, then how it was found.

use crate::ablation::Ablation;
use crate::confirmation::{Confirmation, RANGE_MAX};
use crate::rating::{Rating, Verdict};
use crate::search::History;
use crate::space::Knobs;
use crate::stage::{Contender, FACTOR, PRESENT};
use analysis::{FindingKind, Summary};
use engine::SettingsForm;
use observations::Interval;
use report::model::{Column, Columns, Document, Section, Tone};
use report::number;
use report::table::{Cell, NOTHING};

/// Names of the sections, in their order.
pub(crate) const SECTIONS: [&str; 5] = ["confirmation", "why", "settings", "knobs", "search"];

/// Rows of a table on a screen.
const ROWS: usize = 6;

/// All that a page shows.
pub struct Page<'p> {
    /// Name of the experiment.
    pub title: &'p str,
    /// The knobs.
    pub knobs: &'p Knobs<'p>,
    /// The search.
    pub history: &'p History,
    /// Seconds that early stops saved.
    pub saved_s: f64,
    /// The confirmation.
    pub confirmation: &'p Confirmation,
    /// Which knobs the gain needs, if that was measured.
    pub ablation: Option<&'p Ablation>,
    /// How the winner's settings are written.
    pub form: Option<&'p SettingsForm>,
}

impl Page<'_> {
    /// The document.
    pub fn document(&self, summary: &Summary) -> Document {
        let ratings = self.reported(summary);
        let sections = [
            Some(self.result(summary, &ratings)),
            Some(self.table(&ratings)),
            self.why(summary),
            Some(self.settings()),
            self.ablation.map(|ablation| self.needed(ablation)),
            Some(self.search()),
            self.apply(),
        ];
        Document { title: self.title.into(), sections: sections.into_iter().flatten().collect() }
    }

    /// The ratings of the contenders after the first. A ratio has one interval, that of the report
    /// of the confirmation, unless its larger family claims no gain.
    fn reported(&self, summary: &Summary) -> Vec<Rating> {
        let Confirmation { contenders, ratings, .. } = self.confirmation;
        let levels = summary.factors.effects.first().map_or(&[][..], |effect| &effect.levels);
        let reported = contenders[1..].iter().zip(ratings).map(|(contender, rating)| {
            let level = levels.iter().find(|level| level.level == contender.name);
            let interval = level.and_then(|level| level.comparison.as_ref()?.interval);
            let interval = interval.filter(|interval| {
                rating.verdict != Verdict::Failed
                    && (rating.verdict != Verdict::Better || interval.low > 1.0)
            });
            Rating { interval: interval.or(rating.interval), ..*rating }
        });
        reported.collect()
    }

    fn result(&self, summary: &Summary, ratings: &[Rating]) -> Section {
        let Confirmation { contenders, response, blocks, winner, .. } = self.confirmation;
        let mut section = Section::new("Result");
        let Some(winner) = *winner else {
            let worth = self.knobs.search.worth;
            let at_least = if worth > 0.0 {
                format!(" by {} or more", number::short_percent(worth))
            } else {
                String::new()
            };
            section.line(format!(
                "Keep the present settings: no candidate is significantly better in {}{at_least}.",
                response.name
            ));
            return section;
        };
        let rating = &ratings[winner - 1];
        section.line(format!(
            "Settings {} are better than the present ones in {}: {} ({}, 95 % interval adjusted \
             for selection among {}).",
            contenders[winner].name,
            response.name,
            gain(rating.gain, rating.interval),
            number::plural(*blocks, "block"),
            number::plural(ratings.len(), "candidate"),
        ));
        let risk = summary.durability_against(0, winner);
        if !risk.is_empty() {
            section.warn(risk.trim_start());
        }
        section
    }

    fn table(&self, ratings: &[Rating]) -> Section {
        let confirmation = self.confirmation;
        let mut section = Section::new("Confirmation").named("confirmation", ROWS);
        // The present settings come first, and have no rating.
        let rating = |at: usize| at.checked_sub(1).map(|at| &ratings[at]);
        let spread = |at: usize| rating(at).map_or(confirmation.present, |rating| rating.spread);
        let mut table = Columns::for_rows(0..confirmation.contenders.len());
        table.with(Column::name("settings"), |at| confirmation.contenders[*at].name.clone());
        let unit = confirmation.response.unit.as_str();
        table.with(Column::left(confirmation.response.name.as_str()), |at| {
            cell(spread(*at).mean, |mean| number::quantity(mean, unit))
        });
        table.with(Column::left("vs present"), |at| {
            rating(*at)
                .map_or_else(|| "baseline".to_owned(), |rating| gain(rating.gain, rating.interval))
        });
        table.with(Column::left("range over blocks"), |at| {
            cell(spread(*at).range, number::short_percent)
        });
        table.with(Column::left("standing"), |at| rating(*at).map_or(NOTHING, standing).to_owned());
        section.table(table);
        if confirmation.present.range > RANGE_MAX {
            section.warn(format!(
                "warning: the present settings differ by {} over blocks too: repeat on an idle \
                 machine, or with longer trials. A candidate that follows them is not called \
                 unstable.",
                number::short_percent(confirmation.present.range)
            ));
        }
        section.note(format!(
            "Mean of {}; only these figures count, those of the search are the luckiest of many. \
             [ ]: 95 % t intervals of the paired ratio, adjusted for the choice of the best \
             one. Unstable: a range of more than 30 % of the mean.",
            number::plural(confirmation.blocks, "fresh block")
        ));
        section
    }

    /// The waits that differ between the compared configurations.
    fn why(&self, summary: &Summary) -> Option<Section> {
        let winner = &self.confirmation.contenders[self.confirmation.winner?];
        let mut section = Section::new("Why").named("why", 1);
        // The summary explains the best mean, which need not be the winner.
        let pair = format!("From {FACTOR}={PRESENT} to {FACTOR}={},", winner.name);
        let findings = summary.findings();
        let waits = findings.iter().filter(|finding| finding.kind == FindingKind::Waits);
        for finding in waits.filter(|wait| wait.text.starts_with(&pair)) {
            section.line(finding.text.as_str());
            section.detail(finding.evidence.as_str());
        }
        section.unless_empty()
    }

    fn settings(&self) -> Section {
        let mut section = Section::new("Settings").named("settings", 0);
        let knobs = &self.knobs.search.knobs;
        let mut table = Columns::for_rows(0..knobs.len());
        table.with(Column::name("setting"), |at| knobs[*at].name().to_owned());
        for Contender { name, point } in &self.confirmation.contenders {
            table.with(Column::left(name.as_str()), |at| knobs[*at].text(point[*at]));
        }
        section.table(table);
        section
    }

    fn needed(&self, ablation: &Ablation) -> Section {
        let knobs = &self.knobs.search.knobs;
        let mut section = Section::new("Knobs").named("knobs", ROWS);
        let mut table = Columns::for_rows(ablation.steps.iter());
        table.with(Column::name("setting, in addition"), |step| knobs[step.knob].name().to_owned());
        table.left("its factor", |step| gain(Some(step.gain.factor), step.gain.interval));
        table.left("all so far vs present", |step| gain(step.rating.gain, step.rating.interval));
        section.table(table);
        section.note(
            "Each row adds one of the winner's values to those above it. [ ]: 95 % t intervals of \
             paired ratios, Bonferroni for all rows; an interval that contains 1 shows no effect.",
        );
        if let Some(enough) = ablation.enough {
            let names: Vec<&str> =
                ablation.steps[..enough].iter().map(|step| knobs[step.knob].name()).collect();
            section.line(format!(
                "{} of {}: {} {} 95 % of the measured gain.",
                enough,
                number::plural(ablation.steps.len(), "changed setting"),
                names.join(", "),
                if enough == 1 { "keeps" } else { "keep" }
            ));
        }
        section
    }

    fn search(&self) -> Section {
        let history = self.history;
        let mut section = Section::new("Search").named("search", 0);
        let trials = number::plural(history.tried.len(), "trial");
        let rounds = number::plural(history.rounds.len(), "round");
        section.line(format!(
            "{trials} in {rounds}, {}; {} failed or broke a limit.",
            number::seconds(history.seconds),
            history.failed()
        ));
        if !history.stopped.is_empty() {
            let saved = number::seconds(self.saved_s);
            let is_known = history.stopped.iter().all(|trial| trial.left_s.is_some());
            let saved = if is_known {
                format!("This saved {saved} of measurement.")
            } else {
                format!("By the model's estimate of their times this saved about {saved}.")
            };
            let stopped = number::plural(history.stopped.len(), "trial");
            section.line(format!("{stopped} stopped early: worse than the leader. {saved}"));
        }
        if history.is_exhausted {
            section.line(format!(
                "Ended early: the last three rounds improved the best point by less than {}.",
                number::short_percent(self.knobs.search.worth)
            ));
        }
        if let [first, .., last] = history.present[..] {
            let unit = &self.confirmation.response.unit;
            let [first, last] = [first, last].map(|value| number::quantity(value, unit));
            section.line(format!(
                "The present settings measured {first} in the first round and {last} in the last."
            ));
        }
        section
    }

    /// The winner's settings as the engine reads them, and the present ones that it does without.
    fn apply(&self) -> Option<Section> {
        let confirmation = self.confirmation;
        let [present, winner] =
            [0, confirmation.winner?].map(|at| self.engine_settings(&confirmation.contenders[at]));
        let form = self.form?;
        let mut section = Section::new(format!("To apply ({})", form.name));
        for line in (form.write)(&winner).lines() {
            section.indented(1, line, Tone::Plain);
        }
        let names = present.iter().map(|(name, _)| name.as_str());
        let removed: Vec<&str> =
            names.filter(|name| winner.iter().all(|(kept, _)| kept != name)).collect();
        if !removed.is_empty() {
            let removed = removed.join(", ");
            section.line(format!("Remove {removed}: the winner has the server's default."));
        }
        section.unless_empty()
    }

    /// Names and values of the settings of the server that a contender has.
    fn engine_settings(&self, contender: &Contender) -> Vec<(String, String)> {
        let settings = self.knobs.settings(&contender.point).into_iter();
        let server_settings = settings.filter_map(|(path, value)| {
            Some((path.strip_prefix("target.settings.")?.to_owned(), value.to_string()))
        });
        server_settings.collect()
    }
}

fn gain(gain: Option<f64>, interval: Option<Interval>) -> String {
    match (gain, interval) {
        // An end next to 1 is open.
        (Some(gain), Some(Interval { low, high })) if low > 1.0 && low <= 1.0_f64.next_up() => {
            format!("{gain:.3}x [>1, {high:.3}]")
        }
        (Some(gain), Some(Interval { low, high })) => format!("{gain:.3}x [{low:.3}, {high:.3}]"),
        _ => NOTHING.to_owned(),
    }
}

fn cell(value: f64, show: impl Fn(f64) -> String) -> Cell {
    if value.is_finite() { Cell::from(value).shown(show(value)) } else { Cell::default() }
}

fn standing(rating: &Rating) -> &'static str {
    match rating.verdict {
        Verdict::Failed => "failed or broke a limit",
        Verdict::Unstable => "unstable",
        Verdict::Better => "better",
        Verdict::NotBetter => "not shown to be better",
    }
}
