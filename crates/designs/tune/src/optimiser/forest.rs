//! A random forest: the mean of regression trees that each see another sample of the data (L.
//! Breiman, Machine Learning 45, 2001). Thresholds lie anywhere between two values, so that trees
//! disagree where nothing was measured: their variance is what a prediction does not know (F.
//! Hutter, L. Xu, H. Hoos and K. Leyton-Brown, Artificial Intelligence 206, 2014).

use super::draw::Draw;

/// Trees of a forest.
const TREES: usize = 40;
/// A leaf with fewer values is not divided.
const DIVIDED_MIN: usize = 5;

/// Regression trees on points of numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Forest {
    trees: Vec<Vec<Node>>,
}

/// A prediction for one point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// Mean of the trees.
    pub mean: f64,
    /// Variance between the trees.
    pub variance: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Node {
    Leaf { mean: f64 },
    Split { feature: usize, threshold: f64, below: usize, above: usize },
}

/// Values at points; a point occurs as often as it was measured.
struct Data<'d> {
    points: &'d [Vec<f64>],
    values: &'d [f64],
}

/// A division of rows.
struct Cut {
    feature: usize,
    threshold: f64,
    squares: f64,
}

impl Forest {
    /// Fits a forest to the values at these points, of which there is at least one.
    pub fn fit(points: &[Vec<f64>], values: &[f64], draw: &mut Draw) -> Self {
        let data = Data { points, values };
        let trees = (0..TREES).map(|_| {
            let rows: Vec<usize> = points.iter().map(|_| draw.below(points.len())).collect();
            let mut tree = Vec::new();
            data.grow(rows, &mut tree, draw);
            tree
        });
        Self { trees: trees.collect() }
    }

    /// Predicts the value at a point.
    pub fn predict(&self, point: &[f64]) -> Prediction {
        let number = self.trees.len() as f64;
        let (mut sum, mut squares) = (0.0, 0.0);
        for tree in &self.trees {
            let value = leaf(tree, point);
            sum += value;
            squares += value * value;
        }
        let mean = sum / number;
        Prediction { mean, variance: (squares / number - mean * mean).max(0.0) }
    }
}

fn leaf(tree: &[Node], point: &[f64]) -> f64 {
    let mut at = 0;
    loop {
        match tree[at] {
            Node::Leaf { mean } => return mean,
            Node::Split { feature, threshold, below, above } => {
                at = if point[feature] <= threshold { below } else { above };
            }
        }
    }
}

impl Data<'_> {
    /// Adds the tree of these rows and returns the position of its root.
    fn grow(&self, rows: Vec<usize>, tree: &mut Vec<Node>, draw: &mut Draw) -> usize {
        let at = tree.len();
        let mean = rows.iter().map(|row| self.values[*row]).sum::<f64>() / rows.len() as f64;
        tree.push(Node::Leaf { mean });
        if rows.len() < DIVIDED_MIN {
            return at;
        }
        if let Some(Cut { feature, threshold, .. }) = self.best_cut(&rows, draw) {
            let (low, high) =
                rows.into_iter().partition(|row| self.points[*row][feature] <= threshold);
            let below = self.grow(low, tree, draw);
            let above = self.grow(high, tree, draw);
            tree[at] = Node::Split { feature, threshold, below, above };
        }
        at
    }

    /// The division with the smallest sum of squares among five in six features.
    fn best_cut(&self, rows: &[usize], draw: &mut Draw) -> Option<Cut> {
        let features = self.points[0].len();
        let left_out = (0..features / 6).map(|_| draw.below(features)).collect::<Vec<_>>();
        let tried = (0..features).filter(|feature| !left_out.contains(feature));
        let cuts = tried.filter_map(|feature| self.cut(rows, feature, draw));
        cuts.min_by(|left, right| left.squares.total_cmp(&right.squares))
    }

    fn cut(&self, rows: &[usize], feature: usize, draw: &mut Draw) -> Option<Cut> {
        let mut pairs: Vec<(f64, f64)> =
            rows.iter().map(|row| (self.points[*row][feature], self.values[*row])).collect();
        pairs.sort_by(|left, right| left.0.total_cmp(&right.0));
        let total: f64 = pairs.iter().map(|(_, value)| value).sum();
        let mut sum = 0.0;
        let mut best: Option<(f64, f64, f64)> = None;
        for position in 1..pairs.len() {
            sum += pairs[position - 1].1;
            let (low, high) = (pairs[position - 1].0, pairs[position].0);
            if low >= high {
                continue;
            }
            let (below, above) = (position as f64, (pairs.len() - position) as f64);
            // The sum of squares within both parts, less what no division changes.
            let squares = -sum * sum / below - (total - sum).powi(2) / above;
            if best.as_ref().is_none_or(|(least, ..)| squares < *least) {
                best = Some((squares, low, high));
            }
        }
        let (squares, low, high) = best?;
        Some(Cut { feature, threshold: low + draw.unit() * (high - low), squares })
    }
}
