//! Tests of all effects as one family.

use designs::mathematics::Stratum;

/// The p-values of all effects as one family (Holm).
pub fn adjusted(stratum: &Stratum) -> Vec<Option<f64>> {
    let p_values = stratum.effects.iter().map(|effect| Some(effect.p_value));
    statistics::adjusted(&p_values.collect::<Vec<_>>())
}
