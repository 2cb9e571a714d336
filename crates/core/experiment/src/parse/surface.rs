//! Response surfaces: the levels of each factor between, and for some designs beyond, the two of
//! the file.

use super::{Reader, Values, read_as};
use crate::document::{Content, Node};
use crate::error::Fault;
use crate::file::{AXIAL_POINTS, BLOCKS, CENTRE_POINTS, LOG_SCALE, SURFACE};
use crate::{Blocks, Design, Factor, FactorLevel, Repeats, SurfaceFactor, SurfaceRuns};
use designs::{Alpha, Surface, SurfaceDesign, box_behnken, central_composite};

impl Reader<'_> {
    pub fn surface(
        &mut self,
        core: &Values,
        factors: &mut [Factor],
        hard: &[usize],
        repeats: &Repeats,
    ) -> Option<Design> {
        self.refuse_exclusions("a response surface");
        if let Some(factor) = hard.first() {
            let message = "a response surface changes each factor from run to run; remove this one \
                           from order.hard_to_change or [[manual]], or use a grid";
            let name = &factors[*factor].name;
            self.errors.add(&self.factor_span(name), name, message);
        }
        self.check_log_scale(core, factors);
        let ranges = self.ranges(core, factors);
        let design = self.points(core, factors.len());
        let is_split =
            design.as_ref().is_some_and(|design| design.blocks.iter().any(|block| *block > 0));
        if is_split && matches!(repeats.blocks, Blocks::Adaptive { .. }) {
            let message = "orthogonal blocks are incomplete, which adaptive repeats cannot judge; \
                           give repeats.blocks as a number";
            self.errors.add(&self.span_of(BLOCKS.path()), BLOCKS.path(), message);
        }
        let (ranges, design) = (ranges?, design?);
        let mut levels = vec![vec![0; factors.len()]; design.runs.len()];
        let mut is_sound = true;
        for (position, (factor, range)) in factors.iter_mut().zip(&ranges).enumerate() {
            let coded: Vec<f64> = design.runs.iter().map(|run| run[position]).collect();
            let Some(found) = self.levels_of(factor, range, &coded) else {
                is_sound = false;
                continue;
            };
            for (run_levels, level) in levels.iter_mut().zip(found) {
                run_levels[position] = level;
            }
        }
        if !is_sound {
            return None;
        }
        let surface = SurfaceRuns { factors: ranges, design, levels };
        self.check_determined(&surface, factors);
        Some(Design::Surface(surface))
    }

    pub(super) fn check_log_scale(&mut self, core: &Values, factors: &[Factor]) {
        let known: Vec<&str> = factors.iter().map(|factor| factor.name.as_str()).collect();
        for name in LOG_SCALE.value_in(core).iter().filter(|name| !known.contains(&name.as_str())) {
            let fault = Fault::unknown("factor", name, &known);
            self.errors.add(&self.span_of(LOG_SCALE.path()), LOG_SCALE.path(), fault);
        }
    }

    /// The range of each factor; `None` after an error.
    fn ranges(&mut self, core: &Values, factors: &[Factor]) -> Option<Vec<SurfaceFactor>> {
        let logs = LOG_SCALE.value_in(core);
        let ranges: Vec<Option<SurfaceFactor>> =
            factors.iter().map(|factor| self.range(factor, logs.contains(&factor.name))).collect();
        ranges.into_iter().collect()
    }

    fn range(&mut self, factor: &Factor, is_log: bool) -> Option<SurfaceFactor> {
        let labels: Vec<String> = factor.levels.iter().map(|level| level.label.clone()).collect();
        let is_plain = self
            .root
            .leaves_of("factors", "")
            .iter()
            .any(|leaves_of| leaves_of.path == factor.name);
        let range = if is_plain {
            let range = SurfaceFactor::new(&factor.name, &labels, is_log);
            range.map_err(|error| error.to_string())
        } else {
            Err("linked levels have no order; a response surface takes factors of [factors]"
                .to_owned())
        };
        match range {
            Ok(range) => return Some(range),
            // A factor without levels is an error of its own.
            Err(_) if labels.is_empty() => {}
            Err(message) => {
                self.errors.add(&self.factor_span(&factor.name), &factor.name, message);
            }
        }
        None
    }

    /// Adds the centre to the two levels of a factor that has none yet; `None` after an error.
    pub(super) fn add_centre(&mut self, factor: &mut Factor) -> Option<()> {
        if factor.levels.len() > 2 {
            return Some(());
        }
        let logs = self.root.at(LOG_SCALE.path()).map(Node::elements).unwrap_or_default();
        let is_log = logs.iter().any(|log| log.text() == Some(&factor.name));
        let label = self.range(factor, is_log)?.label(0.0);
        if factor.levels.iter().any(|level| level.label == label) {
            self.refuse_close(factor, &label);
            return None;
        }
        let level = self.level(&factor.name, label)?;
        factor.levels.push(level);
        Some(())
    }

    fn refuse_close(&mut self, factor: &Factor, label: &str) {
        let message = format!(
            "the levels are too close: two levels of the design are rounded to {label}; widen the \
             range, or write it in a smaller unit"
        );
        self.errors.add(&self.factor_span(&factor.name), &factor.name, message);
    }

    /// A level of a design that the file does not give; `None` after an error.
    fn level(&mut self, factor: &str, label: String) -> Option<FactorLevel> {
        let settings = self.vocabulary.find(factor);
        let written = self.root.leaves_of("factors", "");
        let written = written.iter().find(|leaf| leaf.path == factor)?.node.elements().first()?;
        let span = self.factor_span(factor);
        let node = Node { span: span.clone(), content: content(&label, written) };
        match read_as(&settings, &node) {
            Ok(value) => {
                let set = vec![(factor.to_owned(), value)];
                Some(FactorLevel { label, set, if_installed: false })
            }
            Err(Fault { message, help }) => {
                let message = format!("the design needs the level {label}: {message}");
                self.errors.add(&span, factor, Fault { message, help });
                None
            }
        }
    }

    fn points(&mut self, core: &Values, factors: usize) -> Option<SurfaceDesign> {
        let centre = CENTRE_POINTS.value_in(core) as usize;
        let is_composite = SURFACE.value_in(core) == "central-composite";
        if !is_composite && self.root.at(AXIAL_POINTS.path()).is_some() {
            let message = "a Box-Behnken design has no axial points; remove the setting";
            self.errors.add(&self.span_of(AXIAL_POINTS.path()), AXIAL_POINTS.path(), message);
        }
        let alpha = match AXIAL_POINTS.value_in(core).as_str() {
            "rotatable" => Alpha::Rotatable,
            "orthogonal-blocks" => Alpha::OrthogonalBlocks,
            _ => Alpha::Faced,
        };
        let design = match (is_composite, alpha) {
            (true, Alpha::OrthogonalBlocks) => central_composite(factors, alpha, centre, centre),
            (true, _) => {
                central_composite(factors, alpha, centre, 0).map(SurfaceDesign::in_one_block)
            }
            (false, _) => box_behnken(factors, centre),
        };
        if design.is_none() {
            let message = if is_composite {
                format!("a central composite design takes 2 to 8 factors, not {factors}")
            } else {
                format!(
                    "a Box-Behnken design takes 3 to 7 factors, not {factors}; \
                     surface = \"central-composite\" takes 2 to 8"
                )
            };
            self.errors.add(&self.span_of(SURFACE.path()), SURFACE.path(), message);
        }
        design
    }

    /// Replaces the levels of a factor by those of the coded numbers, lowest first, and returns the
    /// position of each; `None` after an error.
    fn levels_of(
        &mut self,
        factor: &mut Factor,
        range: &SurfaceFactor,
        coded: &[f64],
    ) -> Option<Vec<usize>> {
        let mut sorted = coded.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted.dedup_by(|value, other| (*value - *other).abs() < 1e-9);
        let labels: Vec<String> = sorted.iter().map(|at| range.label(*at)).collect();
        let mut pairs = labels.iter().zip(labels.iter().skip(1));
        if let Some((same, _)) = pairs.find(|(low, high)| low == high) {
            self.refuse_close(factor, same);
            return None;
        }
        let levels = labels.into_iter().map(|label| self.level(&factor.name, label));
        factor.levels = levels.collect::<Option<_>>()?;
        coded.iter().map(|coded| sorted.iter().position(|at| (at - coded).abs() < 1e-9)).collect()
    }

    /// The runs have to tell all coefficients of the surface apart, also after rounding.
    fn check_determined(&mut self, surface: &SurfaceRuns, factors: &[Factor]) {
        if !Surface::is_determined(&surface.coded(factors), &surface.design.blocks) {
            let message =
                format!("these runs do not determine the surface; raise {}", CENTRE_POINTS.path());
            self.errors.add(&self.span_of(CENTRE_POINTS.path()), CENTRE_POINTS.path(), message);
        }
    }
}

/// A level as the file would give it: a number where its levels are numbers, else text.
fn content(label: &str, written: &Node) -> Content {
    let is_text = written.text().is_some();
    match (label.parse::<i64>(), label.parse::<f64>()) {
        (Ok(whole), _) if !is_text => Content::Integer(whole),
        (Err(_), Ok(number)) if !is_text => Content::Float(number),
        _ => Content::Text(label.to_owned()),
    }
}
