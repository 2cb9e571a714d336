//! Holm's step-down correction for several comparisons.

/// Adjusted p-values of one family, in the order given; a comparison without a p-value is not
/// part of the family. Source: S. Holm, Scandinavian Journal of Statistics 6 (1979).
pub fn adjust(p_values: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut order: Vec<(usize, f64)> =
        p_values.iter().enumerate().filter_map(|(i, p)| p.map(|p| (i, p))).collect();
    order.sort_by(|left, right| left.1.total_cmp(&right.1));
    let mut adjusted = vec![None; p_values.len()];
    let mut largest: f64 = 0.0;
    for (rank, &(i, p)) in order.iter().enumerate() {
        largest = largest.max(p * (order.len() - rank) as f64).min(1.0);
        adjusted[i] = Some(largest);
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::adjust;

    #[test]
    fn steps_down_and_leaves_out_what_has_no_p_value() {
        let adjusted = adjust(&[Some(0.04), None, Some(0.01), Some(0.03)]);
        assert_eq!(adjusted, [Some(0.06), None, Some(0.03), Some(0.06)]);
        assert_eq!(adjust(&[None, Some(0.9), Some(0.8)]), [None, Some(1.0), Some(1.0)]);
        assert_eq!(adjust(&[]), []);
    }
}
