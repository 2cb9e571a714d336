//! The fitted surface of a run with such a design: its coefficients, its stationary point and the
//! trials that would come next.

mod sentences;

use crate::factor::NumericFactor;
use crate::mathematics::{AxisCurvature, RegionRange, Stationary, Surface};
pub use crate::mathematics::{Kind, LackOfFit};
use crate::settings::RESPONSE_SURFACE;
use ::analysis::{Summary, wording};
use observations::{Direction, Interval};
use serde::Serialize;
use std::collections::BTreeSet;

/// Distances of the next trials from the centre, in those of the outermost runs.
const DISTANCES: [f64; 4] = [0.5, 1.0, 1.5, 2.0];
/// Halvings of the distance at which a path ends.
const HALVINGS: usize = 50;
/// A share of the distance that is rounding.
const ROUNDING: f64 = 1e-9;

/// A response surface.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SurfaceReport {
    /// The factors x1, x2, ... in the order of the file.
    pub factors: Vec<SurfaceAxis>,
    /// The unit of the response.
    pub unit: String,
    /// True if high values are better.
    pub higher_is_better: bool,
    /// Trials with a value.
    pub trials: usize,
    /// Trials that failed or timed out, which the fit leaves out.
    pub left_out: usize,
    /// The surface; `None` where the trials do not determine it.
    pub fit: Option<FittedSurface>,
    /// Coded levels, block and value of each trial.
    #[serde(skip)]
    pub points: Vec<SurfacePoint>,
}

/// A factor of a surface.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SurfaceAxis {
    /// The name.
    pub name: String,
    /// The level coded -1.
    pub low: String,
    /// The level coded 1.
    pub high: String,
    /// True if equal ratios of its levels are equal distances.
    pub is_log: bool,
    /// The coding.
    #[serde(skip)]
    pub factor: NumericFactor,
}

impl SurfaceAxis {
    /// The last part of the name.
    pub fn short_name(&self) -> &str {
        wording::short_name(&self.name)
    }
}

/// A trial on the surface.
#[derive(Debug, Clone, PartialEq)]
pub struct SurfacePoint {
    /// Coded levels.
    pub coded: Vec<f64>,
    /// The block.
    pub block: u32,
    /// The value.
    pub value: f64,
}

/// A second-order model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FittedSurface {
    /// Value at the centre, in a block with the mean shift.
    pub centre: f64,
    /// 95 % interval of this mean.
    pub centre_interval: Option<Interval>,
    /// The coefficients, those of slopes first, then of products and squares.
    pub coefficients: Vec<Coefficient>,
    /// Blocks.
    pub blocks: usize,
    /// Share of the variation that the model and the blocks explain.
    pub r_squared: f64,
    /// Degrees of freedom of the error.
    pub df: usize,
    /// The comparison of its misses with the error of repeats.
    pub lack_of_fit: Option<LackOfFit>,
    /// The point where the surface is level in every direction.
    pub stationary: Option<StationaryPoint>,
    /// The answer that the surface gives.
    pub answer: Answer,
    /// The next trials: the optimum, or the points of steepest ascent to better values.
    pub next: Vec<NextTrial>,
    /// The model.
    #[serde(skip)]
    pub surface: Surface,
}

/// A coefficient of the model in coded levels.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Coefficient {
    /// `x1`, `x1 x2`, `x1^2`.
    pub term: String,
    /// The value.
    pub value: f64,
    /// 95 % interval of this one alone.
    pub interval: Option<Interval>,
    /// The p-value of "it is 0", adjusted (Holm) for all coefficients.
    pub adjusted_p: Option<f64>,
}

/// A stationary point.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StationaryPoint {
    /// The coded levels.
    pub coded: Vec<f64>,
    /// The levels next to it that can be set.
    pub levels: Vec<String>,
    /// The value there, in a block with the mean shift.
    pub value: f64,
    /// 95 % interval of this mean.
    pub interval: Option<Interval>,
    /// The shape around it.
    pub shape: Kind,
    /// True if it is in the tested region.
    pub is_tested: bool,
    /// True if its 95 % confidence region reaches into the tested region.
    pub may_be_tested: bool,
    /// Curvature along each axis, the largest first.
    pub curvatures: Vec<AxisCurvature>,
    /// The range of each factor in the 95 % confidence region.
    pub region: Option<Vec<LevelRange>>,
}

/// The levels of a factor in a region.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LevelRange {
    /// The lowest; `None` if it is below the tested levels.
    pub low: Option<String>,
    /// The highest; `None` if it is above the tested levels.
    pub high: Option<String>,
}

/// The answer of a surface on the best levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// No coefficient is significant.
    Level,
    /// It is best at the stationary point.
    Optimum,
    /// It would be best at a point outside the tested region.
    Outside,
    /// It is worst at the stationary point, or has a saddle there: it is best at an edge.
    Edge,
    /// In some direction it may be level.
    Ridge,
}

/// A trial that would come next.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NextTrial {
    /// The levels, as they can be set.
    pub levels: Vec<String>,
    /// Coded levels.
    pub coded: Vec<f64>,
    /// Predicted mean, in a block with the mean shift.
    pub value: f64,
    /// 95 % interval of this mean.
    pub interval: Option<Interval>,
    /// True if it is in the tested region; else the prediction extrapolates.
    pub is_tested: bool,
}

/// The coded levels between and around which trials ran.
struct Region {
    low: Vec<f64>,
    high: Vec<f64>,
    /// Distance of the outermost trials from the centre.
    distance: f64,
}

impl Region {
    fn new(points: &[SurfacePoint], factors: usize) -> Self {
        let ends = |of: fn(f64, f64) -> f64, from: f64| -> Vec<f64> {
            (0..factors)
                .map(|at| points.iter().map(|point| point.coded[at]).fold(from, of))
                .collect()
        };
        let distance =
            points.iter().map(|point| statistics::norm(&point.coded)).fold(0.0, f64::max);
        Self {
            low: ends(f64::min, f64::INFINITY),
            high: ends(f64::max, f64::NEG_INFINITY),
            distance,
        }
    }

    fn contains(&self, point: &[f64]) -> bool {
        let ends = self.low.iter().zip(&self.high);
        point
            .iter()
            .zip(ends)
            .all(|(at, (low, high))| low - ROUNDING <= *at && *at <= high + ROUNDING)
            && statistics::norm(point) <= self.distance * (1.0 + ROUNDING)
    }
}

impl SurfaceReport {
    /// The surface over some factors through some configurations; `None` without a response, and
    /// where the levels of the factors are not known.
    fn estimate(summary: &Summary, factors: Vec<NumericFactor>, runs: &[usize]) -> Option<Self> {
        let (recording, response) = (summary.recording, summary.response.as_ref()?);
        if factors.is_empty() {
            return None;
        }
        let mut points = Vec::new();
        for position in runs {
            let configuration = &recording.configurations[*position];
            let code = |numeric: &NumericFactor| numeric.code(configuration.level(&numeric.name)?);
            let coded: Vec<f64> = factors.iter().map(code).collect::<Option<_>>()?;
            let values = summary.values(*position).into_iter();
            points.extend(values.map(|(block, value)| SurfacePoint {
                coded: coded.clone(),
                block,
                value,
            }));
        }
        let trials = recording.trials.iter().filter(|trial| runs.contains(&trial.configuration));
        let attempted: BTreeSet<(usize, u32)> =
            trials.map(|trial| (trial.configuration, trial.block)).collect();
        let axes = factors.into_iter().map(|factor| SurfaceAxis {
            name: factor.name.clone(),
            low: factor.label(-1.0),
            high: factor.label(1.0),
            is_log: factor.is_log(),
            factor,
        });
        let mut report = Self {
            factors: axes.collect(),
            unit: response.unit.clone(),
            higher_is_better: response.direction == Direction::HigherIsBetter,
            trials: points.len(),
            left_out: attempted.len().saturating_sub(points.len()),
            fit: None,
            points,
        };
        report.fit = report.fitted();
        Some(report)
    }

    fn fitted(&self) -> Option<FittedSurface> {
        let numbers: BTreeSet<u32> = self.points.iter().map(|point| point.block).collect();
        let blocks = self.points.iter().map(|point| numbers.range(..point.block).count());
        let blocks: Vec<usize> = blocks.collect();
        let points: Vec<Vec<f64>> = self.points.iter().map(|point| point.coded.clone()).collect();
        let values: Vec<f64> = self.points.iter().map(|point| point.value).collect();
        let surface = Surface::fit(&points, &blocks, &values).ok()?;
        let tested = Region::new(&self.points, self.factors.len());
        let coefficients = coefficients(&surface);
        let stationary = self.stationary(&surface, &tested);
        let answer = self.answer(&coefficients, stationary.as_ref());
        let next = self.next(&surface, &tested, answer, stationary.as_ref());
        let (centre, centre_interval) = surface.estimate(&vec![0.0; self.factors.len()]);
        Some(FittedSurface {
            centre,
            centre_interval,
            coefficients,
            blocks: numbers.len(),
            r_squared: surface.fit.r_squared(),
            df: surface.fit.df,
            lack_of_fit: surface.lack_of_fit,
            stationary,
            answer,
            next,
            surface,
        })
    }

    /// The levels at coded ones, as they can be set.
    pub fn levels(&self, coded: &[f64]) -> Vec<String> {
        self.factors.iter().zip(coded).map(|(factor, at)| factor.factor.label(*at)).collect()
    }

    fn stationary(&self, surface: &Surface, tested: &Region) -> Option<StationaryPoint> {
        let found = Stationary::find(surface)?;
        let region = surface.region(&found, &tested.low, &tested.high);
        let is_tested = tested.contains(&found.point);
        let may_be_tested = region.as_ref().is_none_or(|region| {
            let ends = found.point.iter().zip(tested.low.iter().zip(&tested.high));
            region.iter().zip(ends).all(|(range, (at, (low, high)))| {
                let reaches_down = at <= high || range.low.is_none_or(|end| end <= *high);
                let reaches_up = at >= low || range.high.is_none_or(|end| end >= *low);
                reaches_down && reaches_up
            })
        });
        let ranges = region.map(|region| {
            let axes = self.factors.iter().zip(region);
            let ranges = axes.map(|(axis, RegionRange { low, high })| LevelRange {
                low: low.map(|end| axis.factor.label(end)),
                high: high.map(|end| axis.factor.label(end)),
            });
            ranges.collect()
        });
        let (value, interval) = surface.estimate(&found.point);
        Some(StationaryPoint {
            levels: self.levels(&found.point),
            value,
            interval,
            shape: found.kind,
            is_tested,
            may_be_tested,
            region: ranges,
            coded: found.point,
            curvatures: found.curvatures,
        })
    }

    fn answer(&self, coefficients: &[Coefficient], stationary: Option<&StationaryPoint>) -> Answer {
        if !coefficients.iter().any(|coefficient| coefficient.adjusted_p.is_some_and(|p| p < 0.05))
        {
            return Answer::Level;
        }
        // A plane rises to an edge.
        let Some(stationary) = stationary else { return Answer::Edge };
        match (stationary.shape, self.higher_is_better) {
            (Kind::Ridge, _) => Answer::Ridge,
            (Kind::Maximum, true) | (Kind::Minimum, false) if stationary.is_tested => {
                Answer::Optimum
            }
            (Kind::Maximum, true) | (Kind::Minimum, false) => Answer::Outside,
            (Kind::Maximum | Kind::Minimum | Kind::Saddle, _) => Answer::Edge,
        }
    }

    fn next(
        &self,
        surface: &Surface,
        tested: &Region,
        answer: Answer,
        stationary: Option<&StationaryPoint>,
    ) -> Vec<NextTrial> {
        let points = match (answer, stationary) {
            (Answer::Level, _) => Vec::new(),
            (Answer::Optimum, Some(stationary)) => vec![stationary.coded.clone()],
            _ => self.path(surface, tested),
        };
        let trials = points.into_iter().map(|point| {
            let levels = self.levels(&point);
            let codes = self.factors.iter().zip(&levels);
            let codes = codes.map(|(factor, level)| factor.factor.code(level).unwrap_or(f64::NAN));
            let coded: Vec<f64> = codes.collect();
            let (value, interval) = surface.estimate(&coded);
            NextTrial { levels, value, interval, is_tested: tested.contains(&coded), coded }
        });
        trials.collect()
    }

    /// The points of steepest ascent, until a factor cannot be set. The last one is then where the
    /// path leaves the tested levels, if it does so there.
    fn path(&self, surface: &Surface, tested: &Region) -> Vec<Vec<f64>> {
        let at = |distance: f64| surface.path(self.higher_is_better, &[distance]).pop();
        let mut points = Vec::new();
        let mut low = 0.0;
        for distance in DISTANCES.map(|distance| distance * tested.distance) {
            let Some(point) = at(distance) else { break };
            if self.can_be_set(&point) {
                points.push(point);
                low = distance;
                continue;
            }
            let mut high = distance;
            for _ in 0..HALVINGS {
                let middle = f64::midpoint(low, high);
                let is_possible = at(middle).is_some_and(|levels| self.can_be_set(&levels));
                if is_possible { low = middle } else { high = middle }
            }
            points
                .extend(at(low).filter(|point| tested.contains(point) && !points.contains(point)));
            break;
        }
        points
    }

    /// Returns whether these levels can be set: a factor whose levels are positive stays so, and
    /// one whose levels begin at 0 does not fall below.
    fn can_be_set(&self, coded: &[f64]) -> bool {
        self.factors.iter().zip(coded).all(|(factor, at)| {
            let (lowest, number) = (factor.factor.number(-1.0), factor.factor.number(*at));
            if lowest == 0.0 { number >= 0.0 } else { lowest < 0.0 || number > 0.0 }
        })
    }
}

fn coefficients(surface: &Surface) -> Vec<Coefficient> {
    let fit = &surface.fit;
    let positions = surface.before..surface.before + surface.terms.len();
    let p_values: Vec<Option<f64>> = positions.clone().map(|at| fit.p_value(at)).collect();
    let adjusted = statistics::adjusted(&p_values);
    let terms = positions.zip(&surface.terms).zip(adjusted);
    let coefficients = terms.map(|((at, term), adjusted_p)| {
        let value = fit.coefficients[at];
        Coefficient {
            term: term_name(term),
            value,
            interval: fit.half_width(at).map(|half| Interval::around(value, half)),
            adjusted_p,
        }
    });
    coefficients.collect()
}

/// `x1`, `x1 x2`, `x1^2`.
fn term_name(term: &[usize]) -> String {
    match term {
        [term] => format!("x{}", term + 1),
        [term, other] if term == other => format!("x{}^2", term + 1),
        _ => term.iter().map(|term| term_name(&[*term])).collect::<Vec<_>>().join(" "),
    }
}

/// The surface of a run with such a design, or of one that continues as such; `None` of another
/// design, and without a response.
pub fn surface(summary: &Summary) -> Option<SurfaceReport> {
    let recording = summary.recording;
    let source = &recording.run.source;
    if summary.design_kind == RESPONSE_SURFACE {
        let runs: Vec<usize> = (0..recording.configurations.len()).collect();
        return SurfaceReport::estimate(summary, NumericFactor::from_source(source), &runs);
    }
    let continued = summary.continued_as(RESPONSE_SURFACE)?;
    let numeric = NumericFactor::numeric_from_source(source);
    let factors = continued.factors.iter().map(|at| {
        let factor = &recording.factors[*at].name;
        numeric.iter().find(|(name, _)| name == factor)?.1.clone().ok()
    });
    SurfaceReport::estimate(summary, factors.collect::<Option<_>>()?, &continued.runs)
}
