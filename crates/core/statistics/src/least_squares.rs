//! Quantities as sums of counts times costs: which costs are identifiable, and their values.

/// A term is collinear if all but this share of its counts follows from those of the terms before
/// it.
const COLLINEAR: f64 = 0.02;
/// Rounds of the descent at most; it converges long before unless terms are nearly collinear.
const ROUNDS_MAX: usize = 20_000;

/// Positions of the columns, one for each term, that do not follow from those before them
/// (Gram-Schmidt).
pub fn independent_columns(columns: &[Vec<f64>]) -> Vec<usize> {
    let mut kept = Vec::new();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for (term, column) in columns.iter().enumerate() {
        let mut rest = column.clone();
        // Twice: once leaves rounding errors of the size that is tested.
        for direction in basis.iter().chain(&basis) {
            let along = dot(&rest, direction);
            for (value, direction) in rest.iter_mut().zip(direction) {
                *value -= along * direction;
            }
        }
        let (length, left) = (norm(column), norm(&rest));
        if length > 0.0 && left > COLLINEAR * length {
            for value in &mut rest {
                *value /= left;
            }
            basis.push(rest);
            kept.push(term);
        }
    }
    kept
}

/// The costs, not below 0, for which `rows x costs` comes closest to 1 by least squares. Each row
/// holds counts relative to the quantity that they add up to, so that errors are relative ones.
///
/// By descent along one cost after the other: the problem is convex, so that a point that no such
/// step betters is the minimum.
pub fn non_negative(rows: &[Vec<f64>]) -> Vec<f64> {
    let terms = rows.first().map_or(0, Vec::len);
    let lengths: Vec<f64> = (0..terms)
        .map(|term| norm(&rows.iter().map(move |row| row[term]).collect::<Vec<_>>()))
        .collect();
    let scaled = |row: &[f64], term: usize| row[term] / lengths[term];
    let normal: Vec<Vec<f64>> = (0..terms)
        .map(|left| {
            (0..terms)
                .map(|right| rows.iter().map(|row| scaled(row, left) * scaled(row, right)).sum())
                .collect()
        })
        .collect();
    let target: Vec<f64> =
        (0..terms).map(|term| rows.iter().map(|row| scaled(row, term)).sum()).collect();
    let mut costs = vec![0.0; terms];
    for _ in 0..ROUNDS_MAX {
        let mut change = 0.0_f64;
        for term in 0..terms {
            let others = dot(&normal[term], &costs) - normal[term][term] * costs[term];
            let next = ((target[term] - others) / normal[term][term]).max(0.0);
            change = change.max((next - costs[term]).abs());
            costs[term] = next;
        }
        if change <= 1e-13 * costs.iter().copied().fold(0.0, f64::max) {
            break;
        }
    }
    costs.iter().zip(&lengths).map(|(cost, length)| cost / length).collect()
}

/// The sum of the products of two columns.
pub fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}

/// The length of a column.
pub fn norm(column: &[f64]) -> f64 {
    dot(column, column).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// scipy.optimize.nnls of the same rows.
    #[test]
    fn equal_to_scipy() {
        let rows =
            [[1.0, 2.0, 0.5], [0.5, 0.1, 3.0], [2.0, 0.3, 0.2], [0.4, 1.5, 1.0]].map(Vec::from);
        let ours = non_negative(&rows);
        for (ours, scipy) in ours.iter().zip([
            0.413_445_326_080_237_2,
            0.282_937_146_137_763_16,
            0.265_612_521_770_780_7,
        ]) {
            assert!((ours - scipy).abs() < 1e-9, "{ours} is not {scipy}");
        }
        // The second term would have a negative cost: without it the first is (x.1) / (x.x).
        let rows = [[1.0, 1.0], [2.0, 3.0]].map(Vec::from);
        let ours = non_negative(&rows);
        assert!((ours[0] - 3.0 / 5.0).abs() < 1e-9 && ours[1] == 0.0, "{ours:?}");
    }
}
