use serde::{Deserialize, Serialize};

/// Levels of a factor that a model is not fitted to, so that it can be tested on them:
/// `workload.connections > 8`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HoldOut {
    /// Dotted path of the factor.
    pub factor: String,
    /// How levels are compared with `value`: `>`, `>=`, `<`, `<=`, `=`.
    pub relation: String,
    /// A level.
    pub value: f64,
}

impl HoldOut {
    /// Reads one as it is written in a file; `None` for any other text.
    pub fn read(text: &str) -> Option<Self> {
        let at = text.find(['<', '>', '='])?;
        let (factor, rest) = (text[..at].trim(), &text[at..]);
        let relation =
            [">=", "<=", ">", "<", "="].into_iter().find(|relation| rest.starts_with(relation))?;
        let value: f64 = rest[relation.len()..].trim().parse().ok()?;
        let is_one = !factor.is_empty() && value.is_finite();
        is_one.then(|| Self { factor: factor.into(), relation: relation.into(), value })
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

#[cfg(test)]
mod tests {
    use super::HoldOut;

    #[test]
    fn as_written() {
        let levels = |text: &str| {
            let rule = HoldOut::read(text)?;
            Some((rule.factor.clone(), [4.0, 8.0, 16.0].map(|level| rule.holds(level))))
        };
        let factor = || "workload.connections".to_owned();
        assert_eq!(levels("workload.connections > 8"), Some((factor(), [false, false, true])));
        assert_eq!(levels("workload.connections>=8"), Some((factor(), [false, true, true])));
        assert_eq!(levels("workload.connections = 8"), Some((factor(), [false, true, false])));
        assert_eq!(levels("workload.connections <= 4"), Some((factor(), [true, false, false])));
        for nonsense in ["", "> 8", "workload.connections", "workload.connections > many", "a => 3"]
        {
            assert_eq!(HoldOut::read(nonsense), None, "{nonsense}");
        }
    }
}
