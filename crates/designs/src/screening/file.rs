//! Screenings in a file: their two-level design, and the runs that `[[extension]]` adds to it.

use super::plan::plan;
use super::settings::{KIND, RESOLUTION, RUNS};
use crate::extension::{Extension, Step};
use crate::factor::{add_centre, check_log_scale};
use crate::mathematics::{self, Resolution, Size, Surface};
use crate::settings::{
    CENTRE_POINTS, EXTENSION, EXTENSION_CENTRE, EXTENSION_FACTOR, EXTENSION_RUNS, LOG_SCALE,
};
use experiment::{
    Added, Blocks, Design, DesignFile, DesignPlace, DesignRuns, Experiment, Factor, Fault,
};
use serde_json::Value;

/// Runs of the centre in each block of a surface that extends a screening without any.
const CENTRE_RUNS: usize = 3;

/// The screening.
#[derive(Debug)]
pub struct Screening;

/// The runs of a screening.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScreeningRuns {
    /// The two-level design.
    pub design: mathematics::Screening,
    /// Runs of the centre, after those of the design.
    pub centre_points: usize,
}

impl ScreeningRuns {
    /// The runs of an experiment with such a design; `None` of another one.
    pub fn for_experiment(experiment: &Experiment) -> Option<Self> {
        let runs = experiment.design.as_ref().filter(|runs| runs.kind == KIND)?;
        let size = size(experiment.get(RESOLUTION), experiment.get(RUNS))?;
        let factors = experiment.factors.len();
        let design = mathematics::Screening::new(factors, size, &experiment.hard_to_change).ok()?;
        let centre_points = runs.levels.as_ref()?.len() - design.runs();
        Some(Self { design, centre_points })
    }
}

/// The size of a screening, which is given in one of two ways.
fn size(resolution: Option<String>, runs: Option<u64>) -> Option<Size> {
    let resolution = resolution.map(|name| match name.as_str() {
        "III" => Resolution::III,
        "IV" => Resolution::IV,
        _ => Resolution::V,
    });
    resolution.map(Size::Resolution).or(runs.map(|runs| Size::Runs(runs as usize)))
}

/// The position of a coded level among those of a factor, of which the centre is the last.
fn position(coded: i8) -> usize {
    [0, 2, 1][(coded + 1) as usize]
}

fn positions(runs: &[Vec<i8>]) -> Vec<Vec<usize>> {
    runs.iter().map(|run| run.iter().copied().map(position).collect()).collect()
}

impl Design for Screening {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn settings(&self) -> &'static [&'static str] {
        const { &[RESOLUTION.path(), RUNS.path(), CENTRE_POINTS.path(), LOG_SCALE.path()] }
    }

    fn shares_blocks(&self) -> bool {
        true
    }

    fn read(&self, file: &mut DesignFile<'_>) -> Option<DesignRuns> {
        let size = read_size(file);
        let all_have_two = check_levels(file);
        file.refuse_exclusions("a screening design");
        check_log_scale(file);
        let size = size.filter(|_| all_have_two)?;
        let design = mathematics::Screening::new(file.factors.len(), size, file.hard);
        let design = match design {
            Ok(design) => design,
            Err(error) => {
                let is_number = matches!(size, Size::Runs(_));
                let path = if is_number { RUNS.path() } else { RESOLUTION.path() };
                file.error(DesignPlace::Setting(path), error.to_string());
                return None;
            }
        };
        let screening = ScreeningRuns { design, centre_points: read_centre(file)? };
        read_extensions(file, &screening);
        let mut levels = positions(screening.design.design.runs());
        let centre = vec![position(0); file.factors.len()];
        levels.extend(vec![centre; screening.centre_points]);
        // Only centre points run the same levels twice in a block.
        let is_numbered = |levels: &[usize]| levels.contains(&position(0));
        Some(DesignRuns { levels: Some(levels), is_numbered, ..DesignRuns::all(KIND) })
    }

    fn plan(&self, experiment: &Experiment) -> (Vec<String>, Value) {
        let runs = ScreeningRuns::for_experiment(experiment);
        runs.map_or_else(Default::default, |runs| {
            plan(&runs.design, runs.centre_points, experiment)
        })
    }
}

/// Adds the extensions in the order of the file.
fn read_extensions(file: &mut DesignFile<'_>, screening: &ScreeningRuns) {
    if matches!(file.repeats.blocks, Blocks::Adaptive { .. }) {
        let message = "extensions follow a fixed number of blocks; give repeats.blocks as the \
                       number that was run";
        file.error(DesignPlace::Extension(0, None), message);
    }
    let mut steps: Vec<Step> = Vec::new();
    for (table, values) in file.extensions(EXTENSION).into_iter().enumerate() {
        let Extension { step, blocks } = match Extension::read(&values) {
            Ok(extension) => extension,
            Err(error) => {
                file.error(DesignPlace::Extension(table, None), error.to_string());
                continue;
            }
        };
        let is_confirmation = matches!(step, Step::Confirm { .. });
        if !is_confirmation && steps.iter().any(|known| known.kind() == step.kind()) {
            let kind = step.kind();
            let message = format!("a screening has one {kind}; this is the second one");
            file.error(DesignPlace::Extension(table, None), message);
            continue;
        }
        if let Some(runs) = extension_runs(file, table, &step, screening) {
            let (kind, runs) = (step.kind().to_owned(), positions(&runs));
            file.added.push(Added { kind, values, runs, blocks, is_set_up_each: is_confirmation });
            steps.push(step);
        }
    }
}

/// Gives each factor its centre where the file asks for centre points; returns their number.
fn read_centre(file: &mut DesignFile<'_>) -> Option<usize> {
    if !file.has(CENTRE_POINTS.path()) || file.get(CENTRE_POINTS) == 0 {
        return Some(0);
    }
    if let Some(factor) = file.hard.first() {
        let message = "centre points set this factor to a third level in each block; remove it \
                       from order.hard_to_change or [[manual]], or design.centre_points";
        file.error_of_factor(*factor, message);
        return None;
    }
    let added: Vec<Option<()>> =
        (0..file.factors.len()).map(|factor| add_centre(file, factor)).collect();
    let number = file.get(CENTRE_POINTS) as usize;
    added.into_iter().collect::<Option<Vec<()>>>().map(|_| number)
}

/// The size, or the errors of both ways in which it is given.
fn read_size(file: &mut DesignFile<'_>) -> Option<Size> {
    match [RESOLUTION.path(), RUNS.path()].map(|path| file.has(path)) {
        [false, false] => {
            let help = "resolution = \"IV\" keeps main effects apart from interactions of two \
                        factors; runs = 12 takes 12 configurations";
            let message = "a screening design needs a resolution or a number of runs";
            file.error(DesignPlace::Design, Fault::with_help(message, help));
        }
        [true, true] => {
            file.error(DesignPlace::Design, "give either resolution or runs, not both");
            return None;
        }
        _ => {}
    }
    size(file.get(RESOLUTION), file.get(RUNS))
}

/// Each factor of a screening design has two levels, which are always run.
fn check_levels(file: &mut DesignFile<'_>) -> bool {
    for factor in 0..file.factors.len() {
        let Factor { name, levels, .. } = file.factors[factor].clone();
        let number = levels.len();
        // A factor without levels is an error of its own.
        if number == 1 || number > 2 {
            let message = format!(
                "{number} level{} in a screening design, which compares two",
                if number == 1 { "" } else { "s" }
            );
            let help = "give a low and a high level, or use a grid";
            file.error_of_factor(factor, Fault::with_help(message, help));
        }
        if levels.iter().any(|level| level.if_installed) {
            let message = "a screening design cannot omit a level; remove if_installed";
            file.error(DesignPlace::Omission(&name), message);
        }
    }
    file.factors.iter().all(|factor| factor.levels.len() == 2)
}

/// The coded levels of the runs that an extension adds.
fn extension_runs(
    file: &mut DesignFile<'_>,
    table: usize,
    step: &Step,
    screening: &ScreeningRuns,
) -> Option<Vec<Vec<i8>>> {
    match step {
        Step::Fold(factor) => folded(file, table, screening, factor.as_deref()),
        Step::Confirm { runs, .. } => {
            let factors = file.factors.len();
            if let Some(run) = runs.iter().find(|run| run.len() != factors) {
                let message =
                    format!("a run has {} levels, but the file has {factors} factors", run.len());
                let place = DesignPlace::Extension(table, Some(EXTENSION_RUNS.path()));
                file.error(place, message);
                return None;
            }
            Some(runs.clone())
        }
        Step::Surface { centre } => around(file, table, screening, centre),
    }
}

fn folded(
    file: &mut DesignFile<'_>,
    table: usize,
    screening: &ScreeningRuns,
    name: Option<&str>,
) -> Option<Vec<Vec<i8>>> {
    let factors = file.factors.clone();
    let names: Vec<&str> = factors.iter().map(|factor| factor.name.as_str()).collect();
    let position = name.map(|name| names.iter().position(|known| *known == name));
    if position == Some(None) {
        let fault = Fault::unknown("factor", name.unwrap_or_default(), &names);
        file.error(DesignPlace::Extension(table, Some(EXTENSION_FACTOR.path())), fault);
        return None;
    }
    let added = screening.design.design.added_by_fold(position.flatten());
    let Some(mut runs) = added else {
        let fault = nothing_to_fold(screening, name, &names);
        file.error(DesignPlace::Extension(table, None), fault);
        return None;
    };
    runs.extend(vec![vec![0; factors.len()]; screening.centre_points]);
    Some(runs)
}

/// The axial and centre points of a surface whose corners are runs of the screening.
fn around(
    file: &mut DesignFile<'_>,
    table: usize,
    screening: &ScreeningRuns,
    centre: &[i8],
) -> Option<Vec<Vec<i8>>> {
    let place = DesignPlace::Extension(table, Some(EXTENSION_CENTRE.path()));
    let index: Vec<usize> = (0..centre.len()).filter(|at| centre[*at] == 0).collect();
    let factors = file.factors.len();
    if centre.len() != factors || index.len() < 2 {
        let message = format!(
            "a surface takes a sign for each of {factors} factors, of which two or more are 0"
        );
        file.error(place, message);
        return None;
    }
    if let Some(factor) = file.hard.first() {
        let message = format!(
            "a surface changes each factor from run to run, but {} is hard to change",
            file.factors[*factor].name
        );
        file.error(place, message);
        return None;
    }
    for factor in &index {
        add_centre(file, *factor)?;
    }
    let runs = mathematics::around(centre, screening.centre_points.max(CENTRE_RUNS));
    let runs_of_design = screening.design.design.runs();
    let corners: Vec<&[i8]> = runs_of_design.iter().map(Vec::as_slice).collect();
    if !Surface::is_determined_by(&corners, &runs, &index) {
        let names: Vec<&str> = index.iter().map(|at| file.factors[*at].name.as_str()).collect();
        let message = format!(
            "the runs of the screening do not determine a surface over {}: interactions are \
             aliased",
            names.join(", ")
        );
        let help = "fold the screening first, or start a response surface of its own with \
                    these factors";
        file.error(place, Fault::with_help(message, help));
        return None;
    }
    Some(runs)
}

/// The reason for which a fold-over of all factors, or of one, adds no runs.
fn nothing_to_fold(screening: &ScreeningRuns, name: Option<&str>, names: &[&str]) -> Fault {
    let Some(generator) = screening.design.generators.first() else {
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
