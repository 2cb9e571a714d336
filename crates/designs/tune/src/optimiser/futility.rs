//! The end of a measurement whose rate cannot reach a given one any more: a rule of futility.
//!
//! Rates are taken against the mean course of the trials that were measured to the end, whose
//! caches fill likewise. The rest of the window is projected from batches of the intervals so
//! far, as the larger of their level and of the line through them, each with the upper end of
//! its prediction interval. The residuals' autocorrelation widens the interval. The error of
//! 0.1 % is divided by the number of looks. A trial whose rate rises more than that course
//! does, or with a batch without any progress, is not judged. Nor is one stopped that could
//! still rise as much as any trial did.
//!
//! Batch means: C. Alexopoulos and A. Seila, in J. Banks (ed.), Handbook of Simulation, 1998,
//! chapter 7. Repeated looks: the inequality of Bonferroni.

use statistics::{mean, t_quantile};

/// Batches that the intervals so far are divided into; fewer intervals are batches of their own.
const BATCHES: usize = 10;
/// Fewest intervals to judge by.
const INTERVALS_MIN: usize = 5;
/// Length of an interval: this share of the window, and long enough for progress to be heard.
const INTERVAL: f64 = 0.01;
const INTERVAL_S_MIN: f64 = 0.1;
/// Parts of the window: it is judged after each from the first of these on, until four fifths.
const PARTS: usize = 20;
const FIRST: usize = 5;
const LOOKS: usize = 12;
/// Share of windows whose rate exceeds the projection at any look, where the model holds.
const ERROR: f64 = 1e-3;
/// Share of constant rates that are taken for rising ones.
const RISING: f64 = 0.1;
/// The largest autocorrelation of batches that is reckoned with.
const CORRELATION_MAX: f64 = 0.9;

/// The rate that a trial has to reach which is measured for a given time.
#[derive(Debug, Clone, PartialEq)]
pub struct RateBound {
    /// The least rate of the whole window, in units a second.
    pub least: f64,
    /// The unit.
    pub unit: String,
    /// Seconds of the window.
    pub window_s: f64,
    /// The courses of the trials that were measured to the end.
    pub courses: Courses,
}

/// The courses of the rates of trials over their windows.
#[derive(Debug, Clone, PartialEq)]
pub struct Courses {
    /// The mean course: the rate in each part of the window against that of the whole.
    shape: [f64; PARTS],
    /// The largest ratio of the rate of the whole window to that of its first part, by look.
    rises: [f64; LOOKS],
}

impl Courses {
    /// Joins trials, each with the rates of equal parts of its window; `None` without any, or where
    /// one has too few parts.
    pub fn from_trials(trials: &[&[f64]]) -> Option<Self> {
        if trials.is_empty() || trials.iter().any(|rates| rates.len() < INTERVALS_MIN) {
            return None;
        }
        let (mut shape, mut rises) = ([0.0; PARTS], [1.0_f64; LOOKS]);
        for rates in trials {
            let all: f64 = rates.iter().sum();
            let until = |part: usize| {
                let end = (part * rates.len()) as f64 / PARTS as f64;
                let parts = (0_u32..).map(|at| (end - f64::from(at)).clamp(0.0, 1.0));
                rates.iter().zip(parts).map(|(rate, part)| rate * part).sum::<f64>() / all
            };
            for (part, mean) in shape.iter_mut().enumerate() {
                let share = until(part + 1) - until(part);
                *mean += PARTS as f64 * share / trials.len() as f64;
            }
            for (look, largest) in rises.iter_mut().enumerate() {
                let part = FIRST + look;
                *largest = largest.max(part as f64 / PARTS as f64 / until(part));
            }
        }
        shape.iter().all(|part| *part > 0.0).then_some(Self { shape, rises })
    }
}

/// Watches the rate of a trial that is measured for a given time.
#[derive(Debug, Clone)]
pub struct RateWatch {
    bound: RateBound,
    interval_s: f64,
    /// Rates of complete intervals.
    rates: Vec<f64>,
    /// Amount and seconds of the interval that is not complete.
    open: f64,
    open_s: f64,
    /// The second at which it was last heard of; `None`: not since the measurement began.
    heard_s: Option<f64>,
    next_look: usize,
    /// The bound that was below the least rate.
    at_most: Option<f64>,
}

impl RateWatch {
    /// Watches a measurement that has not begun.
    pub fn new(bound: RateBound) -> Self {
        Self {
            interval_s: (INTERVAL * bound.window_s).max(INTERVAL_S_MIN),
            bound,
            rates: Vec::new(),
            open: 0.0,
            open_s: 0.0,
            heard_s: None,
            next_look: 0,
            at_most: None,
        }
    }

    fn add(&mut self, seconds: f64, rate: f64) {
        let mut left_s = seconds;
        while self.open_s + left_s >= self.interval_s {
            let own_s = self.interval_s - self.open_s;
            self.rates.push((self.open + rate * own_s) / self.interval_s);
            (self.open, self.open_s) = (0.0, 0.0);
            left_s -= own_s;
        }
        self.open += rate * left_s;
        self.open_s += left_s;
    }

    /// The upper bound of the rate of the whole window; `None`: not known.
    fn projected(&self) -> Option<f64> {
        let RateBound { window_s, courses: Courses { shape, .. }, .. } = &self.bound;
        let share = self.interval_s / window_s;
        let expected = |at: usize| {
            let part = ((at as f64 + 0.5) * share * PARTS as f64) as usize;
            shape[part.min(PARTS - 1)]
        };
        let number = self.rates.len();
        let against: Vec<f64> =
            self.rates.iter().enumerate().map(|(at, rate)| rate / expected(at)).collect();
        let size = (number / BATCHES).max(1);
        let batches: Vec<f64> = against.rchunks_exact(size).take(BATCHES).map(mean).rev().collect();
        if batches.iter().any(|rate| *rate <= 0.0) {
            return None;
        }
        let left = ((1.0 / share - number as f64) / size as f64).max(0.0);
        let rest = Line::fit(&batches).rest_at_most(left)?;
        let done = share * (0..number).map(expected).sum::<f64>();
        Some(share * self.rates.iter().sum::<f64>() + (1.0 - done).max(0.0) * rest)
    }
}

impl runner::RateWatch for RateWatch {
    fn begin(&self) -> Box<dyn runner::RateWatch> {
        Box::new(Self::new(self.bound.clone()))
    }

    fn unit(&self) -> &str {
        &self.bound.unit
    }

    fn hear(&mut self, elapsed_s: f64, rate: f64) -> Option<f64> {
        let Some(step_s) =
            self.heard_s.map(|last_s| elapsed_s - last_s).filter(|step| *step >= 0.0)
        else {
            // Of the time until the first word a part belongs to the warm-up.
            let heard_s = (elapsed_s >= 0.0).then_some(elapsed_s);
            *self = Self { heard_s, ..Self::new(self.bound.clone()) };
            return None;
        };
        if self.at_most.is_some() {
            return None;
        }
        self.heard_s = Some(elapsed_s);
        self.add(step_s, rate);
        let parts = (elapsed_s / self.bound.window_s * PARTS as f64) as usize;
        let look = parts.checked_sub(FIRST).filter(|look| *look >= self.next_look)?;
        if self.rates.len() < INTERVALS_MIN {
            return None;
        }
        self.next_look = look + 1;
        let risen = self.bound.courses.rises.get(look)? * mean(&self.rates);
        let at_most = self.projected()?.max(risen);
        self.at_most = (at_most < self.bound.least).then_some(at_most);
        self.at_most
    }

    fn at_most(&self) -> Option<f64> {
        self.at_most
    }

    fn interval_s(&self) -> f64 {
        self.interval_s
    }

    fn rates(&self) -> &[f64] {
        &self.rates
    }
}

/// The line through batches at 0, 1, 2, ...
struct Line {
    number: f64,
    level: f64,
    slope: f64,
    /// Sum of the squares of the distances from the centre.
    squares: f64,
    /// Variance of a batch, larger by the autocorrelation.
    variance: f64,
}

impl Line {
    fn fit(batches: &[f64]) -> Self {
        let (number, level) = (batches.len() as f64, mean(batches));
        let places: Vec<f64> =
            (0..batches.len()).map(|at| at as f64 - 0.5 * (number - 1.0)).collect();
        let squares: f64 = places.iter().map(|at| at * at).sum();
        let slope = places.iter().zip(batches).map(|(at, rate)| at * rate).sum::<f64>() / squares;
        let rests: Vec<f64> =
            places.iter().zip(batches).map(|(at, rate)| rate - level - slope * at).collect();
        let all: f64 = rests.iter().map(|rest| rest * rest).sum();
        let neighbours: f64 = rests.windows(2).map(|pair| pair[0] * pair[1]).sum();
        // Residuals of a line are correlated less than the values: about (2 + 4 r) / n less.
        let share = if all > 0.0 { neighbours / all } else { 0.0 };
        let correlation =
            ((share + 2.0 / number) / (1.0 - 4.0 / number)).clamp(0.0, CORRELATION_MAX);
        let widened = (1.0 + correlation) / (1.0 - correlation);
        Self { number, level, slope, squares, variance: widened * all / (number - 2.0) }
    }

    /// The upper bound of the mean of the next `left` batches; `None` of a rate that rises.
    fn rest_at_most(&self, left: f64) -> Option<f64> {
        let df = self.number - 2.0;
        let spread = (self.variance / self.squares).sqrt();
        if self.slope > t_quantile(RISING, df) * spread {
            return None;
        }
        let ahead = 0.5 * (self.number + left);
        let quantile = t_quantile(ERROR / LOOKS as f64, df);
        let of_mean = 1.0 / self.number + 1.0 / left;
        let level = quantile * (self.variance * of_mean).sqrt();
        let of_line = of_mean + ahead * ahead / self.squares;
        let line = self.slope * ahead + quantile * (self.variance * of_line).sqrt();
        Some(self.level + level.max(line))
    }
}
