//! `[model]` of the experiment file: the levels on which throughput models are tested.

use experiment::{
    AnalysisSection, CommonSection, DesignFile, DesignPlace, Factor, Fault, Kind, settings,
    value_in_source,
};

settings! {
    /// The settings.
    const SETTINGS = [];
    /// Levels held out of the fit of throughput models, to test them: "workload.connections > 8";
    /// also with >=, <, <= and =. Default: the highest third of the levels.
    HOLD_OUT: Vec<String> = "model.hold_out", Kind::TextList;
}

/// The section of the file.
pub const SECTION: AnalysisSection = AnalysisSection {
    section: CommonSection {
        name: "model",
        doc: "The levels on which throughput models are tested.",
        settings: SETTINGS,
    },
    check,
};

/// Levels of a factor that a model is not fitted to, so that it can be tested on them:
/// `workload.connections > 8`.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldOutLevels {
    /// Dotted path of the factor.
    pub factor: String,
    /// How levels are compared with `value`: `>`, `>=`, `<`, `<=`, `=`.
    relation: String,
    /// A level.
    value: f64,
}

impl HeldOutLevels {
    /// The rules that the text of an experiment file names.
    pub fn in_source(source: &str) -> Vec<Self> {
        let rules = value_in_source(source, HOLD_OUT);
        rules.iter().filter_map(|rule| Self::read(rule)).collect()
    }

    /// Reads a rule as it is written in a file; `None` for any other text.
    fn read(text: &str) -> Option<Self> {
        let at = text.find(['<', '>', '='])?;
        let (factor, rest) = (text[..at].trim(), &text[at..]);
        let relation =
            [">=", "<=", ">", "<", "="].into_iter().find(|relation| rest.starts_with(relation))?;
        let value: f64 = rest[relation.len()..].trim().parse().ok()?;
        let is_rule = !factor.is_empty() && value.is_finite();
        is_rule.then(|| Self { factor: factor.into(), relation: relation.into(), value })
    }

    /// Returns whether it concerns this level.
    pub fn holds(&self, level: f64) -> bool {
        match self.relation.as_str() {
            ">=" => level >= self.value,
            "<=" => level <= self.value,
            ">" => level > self.value,
            "<" => level < self.value,
            _ => (level - self.value).abs() <= f64::EPSILON * self.value.abs(),
        }
    }
}

/// Each rule names a factor of numbers, and some of its levels.
fn check(file: &mut DesignFile<'_>) {
    for text in file.get(HOLD_OUT) {
        if let Some(fault) = fault(&text, file.factors) {
            file.error(DesignPlace::Setting(HOLD_OUT.path()), fault);
        }
    }
}

fn fault(text: &str, factors: &[Factor]) -> Option<Fault> {
    let Some(rule) = HeldOutLevels::read(text) else {
        let message =
            format!("`{text}` is not a condition; write a factor, >, >=, <, <= or =, and a number");
        return Some(Fault::with_help(message, "as in \"workload.connections > 8\""));
    };
    let Some(factor) = factors.iter().find(|factor| factor.name == rule.factor) else {
        let all: Vec<&str> = factors.iter().map(|factor| factor.name.as_str()).collect();
        return Some(Fault::unknown("factor", &rule.factor, &all));
    };
    let matches = factor.numeric().unwrap_or_default().iter().any(|level| rule.holds(*level));
    (!matches).then(|| format!("`{text}` matches no level of {}", rule.factor).into())
}

#[cfg(test)]
mod tests {
    use super::HeldOutLevels;

    #[test]
    fn as_written() {
        let levels = |text: &str| {
            let rule = HeldOutLevels::read(text)?;
            Some((rule.factor.clone(), [4.0, 8.0, 16.0].map(|level| rule.holds(level))))
        };
        let factor = || "workload.connections".to_owned();
        assert_eq!(levels("workload.connections > 8"), Some((factor(), [false, false, true])));
        assert_eq!(levels("workload.connections>=8"), Some((factor(), [false, true, true])));
        assert_eq!(levels("workload.connections = 8"), Some((factor(), [false, true, false])));
        assert_eq!(levels("workload.connections <= 4"), Some((factor(), [true, false, false])));
        for nonsense in ["", "> 8", "workload.connections", "workload.connections > many", "a => 3"]
        {
            assert_eq!(HeldOutLevels::read(nonsense), None, "{nonsense}");
        }
    }
}
