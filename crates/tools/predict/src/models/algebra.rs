//! Matrices of a few rows.

/// The inverse of a symmetric matrix (Gauss and Jordan with pivots), scaled by its diagonal first:
/// coefficients of very different size. `None` where it has none.
pub(crate) fn invert(matrix: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let n = matrix.len();
    let scale: Vec<f64> = (0..n).map(|row| matrix[row][row].sqrt()).collect();
    if scale.iter().any(|scale| !scale.is_finite() || *scale <= 0.0) {
        return None;
    }
    let mut rows: Vec<Vec<f64>> = (0..n)
        .map(|row| {
            let row_scaled =
                (0..n).map(|column| matrix[row][column] / (scale[row] * scale[column]));
            row_scaled.chain((0..n).map(|column| f64::from(u8::from(row == column)))).collect()
        })
        .collect();
    for column in 0..n {
        let pivot =
            (column..n).max_by(|a, b| rows[*a][column].abs().total_cmp(&rows[*b][column].abs()))?;
        rows.swap(column, pivot);
        let head = rows[column][column];
        // Of a matrix scaled to ones on its diagonal: less than this is rounding.
        if head.abs() < 1e-13 {
            return None;
        }
        rows[column].iter_mut().for_each(|value| *value /= head);
        let row = rows[column].clone();
        for (_, other) in rows.iter_mut().enumerate().filter(|(at, _)| *at != column) {
            let factor = other[column];
            other.iter_mut().zip(&row).for_each(|(value, row)| *value -= factor * row);
        }
    }
    Some(
        (0..n)
            .map(|row| {
                (0..n).map(|column| rows[row][n + column] / (scale[row] * scale[column])).collect()
            })
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::invert;

    #[test]
    fn times_the_matrix_is_one() {
        let matrix = vec![vec![4e6, 2e3, 1.0], vec![2e3, 3.0, 1e-3], vec![1.0, 1e-3, 5e-6]];
        let inverse = invert(&matrix).unwrap();
        for (at, row) in matrix.iter().enumerate() {
            for column in 0..3 {
                let product: f64 =
                    row.iter().zip(&inverse).map(|(row, other)| row * other[column]).sum();
                let expected = f64::from(u8::from(at == column));
                assert!((product - expected).abs() < 1e-6, "{at} {column} {product}");
            }
        }
        assert_eq!(invert(&[vec![1.0, 1.0], vec![1.0, 1.0]]), None);
    }
}
