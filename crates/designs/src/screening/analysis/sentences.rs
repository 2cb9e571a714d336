//! Findings of a screening design. No sentence names one member of an alias chain as the cause.

use super::{EffectTest, ScreenedEffect, Screening, ScreeningConfirmation};
use crate::mathematics::{Curvature, Verdict};
use ::analysis::wording::{SUPPORTED, Sentence};
use observations::Interval;
use observations::number;

/// Effects with a sentence each; the section has all.
const SENTENCES_MAX: usize = 6;

impl Screening {
    /// A sentence on each significant effect, the largest first, or that there is no such effect.
    pub fn sentences(&self, response: &str) -> Vec<Sentence> {
        if self.effects.is_empty() {
            return Vec::new();
        }
        let significant: Vec<&ScreenedEffect> = self.significant().collect();
        let shown = significant.iter().take(SENTENCES_MAX);
        let mut sentences: Vec<Sentence> =
            shown.map(|effect| significant_effect(response, self, effect)).collect();
        if sentences.is_empty() {
            sentences.push(none(self));
        }
        let of_curvature = self.curvature.filter(|test| test.curvature.p_value < SUPPORTED);
        sentences.extend(of_curvature.map(|test| curvature(response, &test.curvature, &self.unit)));
        sentences.extend(
            self.confirmations
                .iter()
                .filter_map(|confirmation| self.confirmed(response, confirmation)),
        );
        sentences
    }

    /// The answer of a confirmation: that of its first difference, from the baseline unless the
    /// baseline is the best run.
    fn confirmed(
        &self,
        response: &str,
        screening_confirmation: &ScreeningConfirmation,
    ) -> Option<Sentence> {
        let first = screening_confirmation.differences.first()?;
        let answer = first.answer;
        let other = if first.baseline { "the baseline" } else { "the predicted worst run" };
        let quantity = |value: f64| number::quantity(value, &self.unit);
        let measured = quantity(answer.measured.abs());
        let verb = if answer.measured > 0.0 { "higher" } else { "lower" };
        // A difference that is there is a claim.
        let claims = !matches!(answer.verdict, Verdict::Undecided | Verdict::NotConfirmed);
        let text = match answer.verdict {
            Verdict::Confirmed => format!(
                "Confirmed: in fresh blocks {response} of the predicted best run is {measured} \
                 {verb} than of {other}, as predicted."
            ),
            Verdict::OtherSize => format!(
                "Confirmed in direction only: in fresh blocks {response} of the predicted best \
                 run is {measured} {verb} than of {other}, not the predicted {}.",
                quantity(first.predicted.abs())
            ),
            Verdict::Undecided => format!(
                "Not confirmed yet: the difference between the predicted best run and {other} \
                 agrees with the prediction and with none; too few repeats."
            ),
            Verdict::NotConfirmed => format!(
                "Not confirmed: the predicted best run and {other} do not differ significantly in \
                 fresh blocks; {} was predicted.",
                quantity(first.predicted.abs())
            ),
            Verdict::Reversed => format!(
                "Not confirmed: in fresh blocks {response} of the predicted best run is \
                 {measured} {verb} than of {other}, the opposite of the prediction."
            ),
        };
        let evidence = format!(
            "predicted {}, expected in fresh blocks {}; measured {} {}, {}",
            quantity(first.predicted),
            ends(answer.expected, &self.unit),
            quantity(answer.measured),
            ends(answer.interval, &self.unit),
            number::plural(screening_confirmation.blocks, "block"),
        );
        Some(Sentence { claims, text, evidence })
    }
}

/// `[1.2 s, 3.4 s]`
fn ends(interval: Interval, unit: &str) -> String {
    format!("[{}, {}]", number::quantity(interval.low, unit), number::quantity(interval.high, unit))
}

fn curvature(response: &str, test: &Curvature, unit: &str) -> Sentence {
    let verb = if test.value > 0.0 { "above" } else { "below" };
    Sentence {
        claims: true,
        text: format!(
            "{response} at the centre is {} {verb} the mean of the runs: at least one factor does \
             not act along a straight line.",
            number::quantity(test.value.abs(), unit)
        ),
        evidence: format!(
            "95 % CI {}, {}, {:.0} degrees of freedom; tested alone",
            ends(test.interval, unit),
            number::p_value(test.p_value),
            test.df
        ),
    }
}

fn significant_effect(response: &str, screening: &Screening, effect: &ScreenedEffect) -> Sentence {
    let verb = if effect.value > 0.0 { "raises" } else { "lowers" };
    let size = number::quantity(effect.value.abs(), &screening.unit);
    let share = screening.share(effect.value.abs());
    let share = share.map_or_else(String::new, |share| {
        format!(" ({} of the mean)", number::short_percent(share))
    });
    let text = match (effect.factor, &effect.chain[..]) {
        (Some(factor), _) => {
            let factor = &screening.factors[factor];
            let name = factor.name.rsplit('.').next().unwrap_or(&factor.name);
            let (from, to) = (&factor.low, &factor.high);
            format!(
                "{} ({name}, {from} to {to}) {verb} {response} by {size}{share}.",
                factor.letter
            )
        }
        (None, []) => format!(
            "A contrast without a factor differs by {size}{share}: interactions of other factors \
             matter."
        ),
        (None, [only]) if screening.partial_aliases => format!(
            "The contrast of {only} {verb} {response} by {size}{share}; {only} or interactions of \
             other factors may be the cause."
        ),
        (None, [only]) => format!("The interaction {only} {verb} {response} by {size}{share}."),
        (None, all) => format!(
            "One of {} {verb} {response} by {size}{share}, or several of them do: this design \
             cannot tell them apart.",
            all.join(", ")
        ),
    };
    Sentence { claims: true, text, evidence: evidence(screening, effect) }
}

fn evidence(screening: &Screening, effect: &ScreenedEffect) -> String {
    let others = match (screening.partial_aliases, effect.chain.len()) {
        (true, _) => "partly aliased with interactions of two factors",
        (false, ..=1) => "aliased with interactions of three or more factors only",
        (false, _) => "aliased with each other",
    };
    let test = match screening.test {
        Some(EffectTest::Repeats { repeats, setups, df, family }) => {
            let ends = effect.interval.map_or_else(String::new, |interval| {
                format!("95 % CI {}, ", ends(interval, &screening.unit))
            });
            let unit = if setups { "set-up" } else { "block" };
            format!(
                "{ends}{} (Holm-adjusted for {}), {}, {df:.0} degrees of freedom",
                number::p_value(effect.adjusted_p.unwrap_or(1.0)),
                number::plural(family, "effect"),
                number::plural(repeats, unit),
            )
        }
        Some(EffectTest::Lenth { simultaneous, family, .. }) => format!(
            "beyond Lenth's simultaneous margin of {} for {}, one block",
            number::quantity(simultaneous, &screening.unit),
            number::plural(family, "effect"),
        ),
        None => String::new(),
    };
    format!("{test}; {others}")
}

fn none(screening: &Screening) -> Sentence {
    let quantity = |value: f64| number::quantity(value, &screening.unit);
    let none = format!("No effect is significant ({} were tested).", screening.effects.len());
    let (text, evidence) = match screening.test {
        None => ("The effects were not tested: too few runs or repeats.".to_owned(), String::new()),
        Some(EffectTest::Lenth { simultaneous, .. }) => {
            (none, format!("Lenth's simultaneous margin: {}; one block", quantity(simultaneous)))
        }
        Some(EffectTest::Repeats { .. }) => {
            let widths = screening.effects.iter().filter_map(|effect| effect.interval);
            let half = widths.map(|width| (width.high - width.low) / 2.0).fold(0.0, f64::max);
            (none, format!("95 % intervals of single effects: ± {}", quantity(half)))
        }
    };
    Sentence { claims: false, text, evidence }
}
