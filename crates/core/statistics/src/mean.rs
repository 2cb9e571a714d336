use std::borrow::Borrow;

/// Arithmetic mean; not a number of none.
pub fn mean(values: impl IntoIterator<Item: Borrow<f64>>) -> f64 {
    let values = values.into_iter();
    let (sum, n) = values.fold((-0.0, 0_usize), |(sum, n), value| {
        let value: &f64 = value.borrow();
        (sum + value, n + 1)
    });
    sum / n as f64
}

/// Geometric mean of some values; `None` if one of them is unknown or not above 0.
pub fn geometric_mean(values: impl IntoIterator<Item = Option<f64>>) -> Option<f64> {
    let logarithms =
        values.into_iter().map(|value| value.filter(|value| *value > 0.0).map(f64::ln));
    let logarithms: Vec<f64> = logarithms.collect::<Option<_>>()?;
    Some(mean(&logarithms).exp())
}

/// Median, in whatever order the values are; `None` without any.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    median_of_sorted(&sorted)
}

/// Median of sorted values; `None` without any.
pub fn median_of_sorted(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    Some(if sorted.len() % 2 == 1 { upper } else { f64::midpoint(sorted[middle - 1], upper) })
}
