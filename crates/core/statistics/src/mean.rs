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
