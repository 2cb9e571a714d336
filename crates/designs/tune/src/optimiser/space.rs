//! The settings that a search varies: their values, the points that are allowed, and points as
//! features of a model.

use super::draw::Draw;

/// The values of a knob.
#[derive(Debug, Clone, PartialEq)]
pub enum Domain {
    /// Numbers from one bound to another; on a logarithmic scale both have the same sign.
    Numbers {
        /// Lower bound.
        low: f64,
        /// Upper bound.
        high: f64,
        /// True if values are drawn on a logarithmic scale.
        is_log: bool,
        /// True if only whole numbers are values.
        whole: bool,
        /// Further values with a meaning of their own, such as -1 and 0.
        special: Vec<f64>,
    },
    /// This number of values without an order.
    Choice(usize),
}

/// A value for each knob: a number, or the position of a choice. `None`: left alone.
pub type Point = Vec<Option<f64>>;

/// Relations between knobs.
pub trait Rules {
    /// Returns whether a knob has an effect, by the values of knobs before it.
    fn applies(&self, knob: usize, before: &[Option<f64>]) -> bool;
    /// Returns whether a point keeps all constraints.
    fn allows(&self, point: &[Option<f64>]) -> bool;
}

/// Draws of a point before its constraints count as contradictory.
const DRAWS_MAX: usize = 2_000;
/// The share of draws that are one of a knob's special values.
const SPECIAL_SHARE: f64 = 0.2;
/// Distances of neighbours on the scale of a knob: how narrow an optimum is, is not known.
const NEAR_MIN: f64 = 0.005;
const NEAR_MAX: f64 = 0.3;

/// Knobs and the relations between them.
#[derive(Clone, Copy)]
pub struct Space<'s> {
    /// The values of each knob.
    pub domains: &'s [Domain],
    /// Conditions and constraints.
    pub rules: &'s dyn Rules,
}

impl Domain {
    /// The value at a position from 0 to 1.
    fn at(&self, position: f64) -> f64 {
        match self {
            Self::Choice(number) => ((position * *number as f64) as usize).min(number - 1) as f64,
            Self::Numbers { low, high, is_log, whole, special } => {
                let share = if special.is_empty() { 0.0 } else { SPECIAL_SHARE };
                if position < share {
                    let index = (position / share * special.len() as f64) as usize;
                    return special[index.min(special.len() - 1)];
                }
                let inner = (position - share) / (1.0 - share);
                let value = rounded(if *is_log {
                    low * (high / low).powf(inner)
                } else {
                    low + inner * (high - low)
                });
                let value = if *whole { value.round() } else { value };
                value.clamp(*low, *high)
            }
        }
    }

    /// The position of a number between the bounds, on its scale.
    fn scaled(&self, value: f64) -> f64 {
        match self {
            Self::Choice(number) => value / (number - 1).max(1) as f64,
            Self::Numbers { low, high, is_log: true, .. } if value / low > 0.0 => {
                (value / low).ln() / (high / low).ln()
            }
            Self::Numbers { low, high, .. } => (value - low) / (high - low),
        }
    }

    /// A value near another one, of about this distance on the scale.
    fn near(&self, value: f64, distance: f64, draw: &mut Draw) -> f64 {
        match self {
            Self::Numbers { special, .. } => {
                let leaves = !special.is_empty() && draw.unit() < SPECIAL_SHARE;
                if leaves || special.contains(&value) {
                    return self.at(draw.unit());
                }
                let share = if special.is_empty() { 0.0 } else { SPECIAL_SHARE };
                let mut inner = self.scaled(value) + distance * draw.normal();
                if !(0.0..=1.0).contains(&inner) {
                    inner = draw.unit();
                }
                self.at(share + inner * (1.0 - share))
            }
            Self::Choice(_) => self.at(draw.unit()),
        }
    }

    fn features(&self, value: Option<f64>, features: &mut Vec<f64>) {
        match (self, value) {
            // Choices have no order: each has a feature of its own.
            (Self::Choice(number), value) if *number > 2 => {
                features.extend((0..*number).map(|index| f64::from(value == Some(index as f64))));
            }
            (_, None) => features.push(-1.0),
            (Self::Numbers { special, .. }, Some(value)) => {
                let index = special.iter().position(|point| point.total_cmp(&value).is_eq());
                let outside = index.map(|index| -0.5 * (index + 1) as f64 / special.len() as f64);
                features.push(outside.unwrap_or_else(|| self.scaled(value)));
            }
            (Self::Choice(_), Some(value)) => features.push(value),
        }
    }
}

/// The squared distance of two points by their features.
pub(crate) fn squared_distance(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(a, b)| (a - b).powi(2)).sum()
}

/// The nearest number of three digits: more than people would set say nothing.
fn rounded(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

impl Space<'_> {
    /// A point as features of a model.
    pub fn features(&self, point: &[Option<f64>]) -> Vec<f64> {
        let mut features = Vec::new();
        for (domain, value) in self.domains.iter().zip(point) {
            domain.features(*value, &mut features);
        }
        features
    }

    /// The point with knobs without effect left alone; `None` if constraints forbid it.
    pub fn settled(&self, mut point: Point) -> Option<Point> {
        for knob in 0..point.len() {
            if !self.rules.applies(knob, &point[..knob]) {
                point[knob] = None;
            }
        }
        self.rules.allows(&point).then_some(point)
    }

    /// A random point; `None` if no draw keeps the constraints.
    pub fn random(&self, draw: &mut Draw) -> Option<Point> {
        (0..DRAWS_MAX).find_map(|_| {
            let domains = self.domains.iter();
            self.settled(domains.map(|domain| Some(domain.at(draw.unit()))).collect())
        })
    }

    /// A point that differs from another one in one knob or two.
    pub fn neighbour(&self, point: &[Option<f64>], draw: &mut Draw) -> Option<Point> {
        let mut other = point.to_vec();
        let distance = NEAR_MIN * (NEAR_MAX / NEAR_MIN).powf(draw.unit());
        for _ in 0..=draw.below(2) {
            let knob = draw.below(point.len());
            let domain = &self.domains[knob];
            other[knob] = Some(match point[knob] {
                Some(value) => domain.near(value, distance, draw),
                None => domain.at(draw.unit()),
            });
        }
        // A knob that takes effect by this has no value yet.
        for (value, domain) in other.iter_mut().zip(self.domains) {
            value.get_or_insert_with(|| domain.at(draw.unit()));
        }
        self.settled(other)
    }

    /// Points that fill the space: of several Latin hypercubes (M. `McKay`, R. Beckman and W.
    /// Conover, Technometrics 21, 1979) the one whose points lie farthest apart. Points that
    /// constraints forbid are replaced by random ones. Fewer where no random point is allowed.
    pub fn filling(&self, number: usize, draw: &mut Draw) -> Vec<Point> {
        let cubes = (0..20).map(|_| self.hypercube(number, draw));
        let apart = |points: &Vec<Point>| {
            let features: Vec<Vec<f64>> = points.iter().map(|point| self.features(point)).collect();
            let pairs = features.iter().enumerate().flat_map(|(index, feature)| {
                features[..index].iter().map(move |other| squared_distance(feature, other))
            });
            pairs.fold(f64::INFINITY, f64::min)
        };
        let best = cubes.max_by(|left, right| {
            left.len().cmp(&right.len()).then(apart(left).total_cmp(&apart(right)))
        });
        best.unwrap_or_default()
    }

    fn hypercube(&self, number: usize, draw: &mut Draw) -> Vec<Point> {
        let columns: Vec<Vec<f64>> = self
            .domains
            .iter()
            .map(|domain| {
                let mut strata: Vec<usize> = (0..number).collect();
                draw.shuffle(&mut strata);
                let positions =
                    strata.iter().map(|stratum| (*stratum as f64 + draw.unit()) / number as f64);
                positions.map(|position| domain.at(position)).collect()
            })
            .collect();
        let points = (0..number).filter_map(|row| {
            let point = columns.iter().map(|column| Some(column[row])).collect();
            self.settled(point).or_else(|| self.random(draw))
        });
        points.collect()
    }
}
