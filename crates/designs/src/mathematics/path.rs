//! Steepest ascent on a curved surface: the best point at each distance from the centre.

use crate::mathematics::Surface;
use crate::mathematics::stationary::eigen;

/// Halvings of the interval of a multiplier.
const HALVINGS: usize = 100;

impl Surface {
    /// The points at these distances from the centre with the highest value (or the lowest), as
    /// ridge analysis finds them. Near the centre it is the direction of steepest ascent; further
    /// on it bends with the surface. Empty where the surface is level at the centre. Source: N. R.
    /// Draper, Technometrics 5 (1963).
    pub fn path(&self, highest: bool, distances: &[f64]) -> Vec<Vec<f64>> {
        let sign = if highest { 1.0 } else { -1.0 };
        let axes = eigen(
            (0..self.factors)
                .map(|i| (0..self.factors).map(|j| sign * self.half(i, j)).collect())
                .collect(),
        );
        let slopes: Vec<f64> =
            (0..self.factors).map(|factor| sign * self.coefficient(&[factor])).collect();
        let along: Vec<f64> = axes.iter().map(|axis| axis.along(&slopes)).collect();
        let size = along.iter().map(|step| step * step).sum::<f64>().sqrt();
        if size == 0.0 {
            return Vec::new();
        }
        let top = axes[0].value;
        let parts = |multiplier: f64| {
            let parts = axes.iter().zip(&along);
            parts.map(move |(axis, slope)| slope / (2.0 * (multiplier - axis.value)))
        };
        let point = |distance: &f64| {
            // The distance falls as the multiplier rises above the largest curvature.
            let (mut low, mut high) = (top, top + size / (2.0 * distance));
            for _ in 0..HALVINGS {
                let middle = f64::midpoint(low, high);
                let length = parts(middle).map(|part| part * part).sum::<f64>().sqrt();
                if length <= *distance { high = middle } else { low = middle }
            }
            let mut parts: Vec<f64> = parts(high).collect();
            // Without a slope along the steepest axis, that axis takes the rest of the distance.
            let others: f64 = parts[1..].iter().map(|part| part * part).sum();
            parts[0] = (distance * distance - others).max(0.0).sqrt().copysign(along[0]);
            let mut point = vec![0.0; self.factors];
            for (part, axis) in parts.into_iter().zip(&axes) {
                axis.add_to(&mut point, part);
            }
            point
        };
        distances.iter().map(point).collect()
    }
}
