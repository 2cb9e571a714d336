//! The runs that `[[extension]]` adds to a screening.

use super::Reader;
use crate::document::Node;
use crate::error::Fault;
use crate::experiment::{Blocks, Design, Factor, Repeats, ScreeningRuns};
use crate::extension::{Extension, ExtensionRuns, Step};
use crate::file::{EXTENSION, EXTENSION_CENTRE, EXTENSION_FACTOR, EXTENSION_RUNS};
use designs::Surface;

/// Runs of the centre in each block of a surface that extends a screening without any.
const CENTRE_RUNS: usize = 3;
const PATH: &str = "extension";

impl Reader<'_> {
    /// The extensions of a screening, in the order of the file.
    pub fn extensions(
        &mut self,
        design: Option<&Design>,
        factors: &mut [Factor],
        hard: &[usize],
        repeats: &Repeats,
    ) -> Vec<ExtensionRuns> {
        let nodes = self.root.tables(PATH);
        let Some(first) = nodes.first() else { return Vec::new() };
        let Some(Design::Screening(screening)) = design else {
            // A design with errors is not judged.
            if design.is_some() {
                let message = "only a screening design has extensions; remove this table";
                self.errors.add(&first.span, PATH, message);
            }
            return Vec::new();
        };
        if matches!(repeats.blocks, Blocks::Adaptive { .. }) {
            let message = "extensions follow a fixed number of blocks; give repeats.blocks as the \
                           number that was run";
            self.errors.add(&first.span, PATH, message);
        }
        let mut all: Vec<ExtensionRuns> = Vec::new();
        for node in nodes {
            let values = self.read_item(node, PATH, EXTENSION, &["kind"], &[]);
            let extension = match Extension::read(&values) {
                Ok(extension) => extension,
                Err(error) => {
                    self.errors.add(&node.span, PATH, error.to_string());
                    continue;
                }
            };
            if all.iter().any(|previous| {
                previous.extension.step.kind() == extension.step.kind()
                    && !matches!(previous.extension.step, Step::Confirm { .. })
            }) {
                let kind = extension.step.kind();
                let message = format!("a screening has one {kind}; this is the second one");
                self.errors.add(&node.span, PATH, message);
                continue;
            }
            if let Some(runs) = self.extension_runs(node, &extension, screening, factors, hard) {
                all.push(ExtensionRuns { extension, runs });
            }
        }
        all
    }

    fn extension_runs(
        &mut self,
        node: &Node,
        extension: &Extension,
        screening: &ScreeningRuns,
        factors: &mut [Factor],
        hard: &[usize],
    ) -> Option<Vec<Vec<i8>>> {
        match &extension.step {
            Step::Fold(factor) => self.folded(node, screening, factor.as_deref(), factors),
            Step::Confirm { runs, .. } => {
                let other = runs.iter().find(|run| run.len() != factors.len());
                if let Some(run) = other {
                    let message = format!(
                        "a run has {} levels, but the file has {} factors",
                        run.len(),
                        factors.len()
                    );
                    self.errors.add(&node.span, EXTENSION_RUNS.path(), message);
                    return None;
                }
                Some(runs.clone())
            }
            Step::Surface { centre } => self.around(node, screening, centre, factors, hard),
        }
    }

    fn folded(
        &mut self,
        node: &Node,
        screening: &ScreeningRuns,
        name: Option<&str>,
        factors: &[Factor],
    ) -> Option<Vec<Vec<i8>>> {
        let names: Vec<&str> = factors.iter().map(|factor| factor.name.as_str()).collect();
        let position = name.map(|name| names.iter().position(|known| *known == name));
        if position == Some(None) {
            let fault = Fault::unknown("factor", name.unwrap_or_default(), &names);
            self.errors.add(&node.span, EXTENSION_FACTOR.path(), fault);
            return None;
        }
        let added = screening.design.design().added_by_fold(position.flatten());
        let Some(mut runs) = added else {
            let fault = nothing_to_fold(screening, name, &names);
            self.errors.add(&node.span, PATH, fault);
            return None;
        };
        runs.extend(vec![vec![0; factors.len()]; screening.centre_points]);
        Some(runs)
    }

    /// The axial and centre points of a surface whose corners are runs of the screening.
    fn around(
        &mut self,
        node: &Node,
        screening: &ScreeningRuns,
        centre: &[i8],
        factors: &mut [Factor],
        hard: &[usize],
    ) -> Option<Vec<Vec<i8>>> {
        let place = EXTENSION_CENTRE.path();
        let index: Vec<usize> = (0..centre.len()).filter(|at| centre[*at] == 0).collect();
        if centre.len() != factors.len() || index.len() < 2 {
            let message = format!(
                "a surface takes a sign for each of {} factors, of which two or more are 0",
                factors.len()
            );
            self.errors.add(&node.span, place, message);
            return None;
        }
        if let Some(factor) = hard.first() {
            let message = format!(
                "a surface changes each factor from run to run, but {} is hard to change",
                factors[*factor].name
            );
            self.errors.add(&node.span, place, message);
            return None;
        }
        for factor in &index {
            self.add_centre(&mut factors[*factor])?;
        }
        let mut runs = Vec::new();
        for factor in &index {
            for level in [-1, 1] {
                let mut run = centre.to_vec();
                run[*factor] = level;
                runs.push(run);
            }
        }
        let centres = screening.centre_points.max(CENTRE_RUNS);
        runs.extend(vec![centre.to_vec(); centres]);
        if !is_determined(screening, &runs, &index) {
            let names: Vec<&str> = index.iter().map(|at| factors[*at].name.as_str()).collect();
            let message = format!(
                "the runs of the screening do not determine a surface over {}: interactions are \
                 aliased",
                names.join(", ")
            );
            let help = "fold the screening first, or start a response surface of its own with \
                        these factors";
            self.errors.add(&node.span, place, Fault::with_help(message, help));
            return None;
        }
        Some(runs)
    }
}

/// Returns whether corners and added points, in a block each, determine a surface.
fn is_determined(screening: &ScreeningRuns, added: &[Vec<i8>], runs: &[usize]) -> bool {
    let corners = screening.design.design();
    let all = corners.runs().iter().chain(added);
    let points: Vec<Vec<f64>> =
        all.map(|run| runs.iter().map(|at| f64::from(run[*at])).collect()).collect();
    let blocks: Vec<usize> =
        (0..points.len()).map(|run| usize::from(run >= corners.runs().len())).collect();
    Surface::is_determined(&points, &blocks)
}

/// The reason for which a fold-over of all factors, or of one, adds no runs.
fn nothing_to_fold(screening: &ScreeningRuns, name: Option<&str>, names: &[&str]) -> Fault {
    let generators = screening.design.generators();
    let Some(generator) = generators.first() else {
        return "the design has all combinations: no effects are aliased, and a fold-over \
                repeats its runs"
            .into();
    };
    let message = match name {
        None => "reversing all factors repeats the same runs, as each word of the defining \
                 relation has an even number of factors"
            .to_owned(),
        Some(name) => {
            format!("reversing {name} repeats the same runs: the factor is not aliased with others")
        }
    };
    let help = format!("fold on one factor: {}", names[generator.factor]);
    Fault::with_help(message, help)
}
