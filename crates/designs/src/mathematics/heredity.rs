//! Models of a Plackett-Burman design with interactions. Source: M. Hamada and C. F. J. Wu, Journal
//! of Quality Technology 24 (1992).

use crate::mathematics::subsets::subsets;
use crate::mathematics::{Design, Fit};

/// Models of one size that are fitted; larger ones are left out.
const MODELS_MAX: usize = 400_000;

/// A model of main effects and interactions of two factors.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// The terms, each by its factors; an interaction only with at least one of its factors (weak
    /// heredity).
    pub terms: Vec<Vec<usize>>,
    /// Half the effect of each term; the mean comes first.
    pub coefficients: Vec<f64>,
    /// Share of the variation that it explains.
    pub r_squared: f64,
}

/// The `best` models of each size up to `size_max` terms that explain most, small sizes first.
/// Sizes with too many models are left out.
pub fn models(design: &Design, values: &[f64], size_max: usize, best: usize) -> Vec<Model> {
    let factors = design.factors();
    let terms: Vec<Vec<usize>> = (1..=2).flat_map(|size| subsets(factors, size)).collect();
    let columns = terms.iter().map(|term| {
        let runs = design.runs().iter();
        runs.map(|run| term.iter().map(|factor| f64::from(run[*factor])).product()).collect()
    });
    let columns: Vec<Vec<f64>> = columns.collect();
    let mut found = Vec::new();
    for size in 1..=size_max.min(design.runs().len().saturating_sub(2)) {
        if number_of_subsets(terms.len(), size) > MODELS_MAX as f64 {
            break;
        }
        let mut models: Vec<Model> = subsets(terms.len(), size)
            .filter(|chosen| has_heredity(chosen, &terms))
            .filter_map(|chosen| model(&chosen, &terms, &columns, values))
            .collect();
        models.sort_by(|first, other| other.r_squared.total_cmp(&first.r_squared));
        models.truncate(best);
        found.extend(models);
    }
    found
}

fn has_heredity(chosen: &[usize], terms: &[Vec<usize>]) -> bool {
    chosen.iter().all(|interaction| {
        let factors = &terms[*interaction];
        factors.len() == 1
            || factors.iter().any(|factor| chosen.iter().any(|term| terms[*term] == [*factor]))
    })
}

fn model(
    chosen: &[usize],
    terms: &[Vec<usize>],
    columns: &[Vec<f64>],
    values: &[f64],
) -> Option<Model> {
    let column = chosen.iter().map(|term| columns[*term].clone());
    let with_mean: Vec<Vec<f64>> = [vec![1.0; values.len()]].into_iter().chain(column).collect();
    let fit = Fit::new(&with_mean, values).ok()?;
    Some(Model {
        terms: chosen.iter().map(|term| terms[*term].clone()).collect(),
        r_squared: fit.r_squared(),
        coefficients: fit.coefficients,
    })
}

fn number_of_subsets(all: usize, size: usize) -> f64 {
    (0..size).map(|i| (all - i) as f64 / (i + 1) as f64).product()
}
