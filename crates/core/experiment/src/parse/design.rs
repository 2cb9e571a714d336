//! The design of the experiment: which combinations of levels are run.

use super::{Reader, Values};
use crate::document::Node;
use crate::error::Fault;
use crate::experiment::{Design, Factor};
use crate::file::{DESIGN_KIND, LEVEL_IF_INSTALLED, RESOLUTION, RUNS};
use designs::{Resolution, Screening, Size};
use std::ops::Range;

/// Returns whether an experiment file selects a screening design; of one that cannot be read:
/// no.
pub fn is_screening(source: &str) -> bool {
    let root = Node::parse(source).ok();
    let kind = root.as_ref().and_then(|root| root.at(DESIGN_KIND.path())?.text());
    kind == Some(SCREENING)
}

/// The kind of design.
const SCREENING: &str = "screening";

impl Reader<'_> {
    /// The design that `[design]` selects; `None` after an error.
    pub fn design(&mut self, core: &Values, factors: &[Factor], hard: &[usize]) -> Option<Design> {
        let is_screening = DESIGN_KIND.value_in(core) == SCREENING;
        let size = self.screening_size(core, is_screening);
        if !is_screening {
            return Some(Design::Grid);
        }
        let all_have_two = self.check_levels(factors);
        if let Some(rule) = self.root.tables("exclude").first() {
            let message = "a screening design runs a fixed set of configurations; remove \
                           [[exclude]], or use a grid";
            self.errors.add(&rule.span, "exclude", message);
        }
        let size = size.filter(|_| all_have_two)?;
        match Screening::new(factors.len(), size, hard) {
            Ok(screening) => Some(Design::Screening(screening)),
            Err(error) => {
                let path = match size {
                    Size::Runs(_) => RUNS.path(),
                    Size::Resolution(_) => RESOLUTION.path(),
                };
                let span = self.root.at(path).map_or(0..0, |node| node.span.clone());
                self.errors.add(&span, path, error.to_string());
                None
            }
        }
    }

    /// The size of a screening design, which is given in one of two ways.
    fn screening_size(&mut self, core: &Values, is_screening: bool) -> Option<Size> {
        let resolution = RESOLUTION.value_in(core).map(|name| match name.as_str() {
            "III" => Resolution::III,
            "IV" => Resolution::IV,
            _ => Resolution::V,
        });
        let sizes = [
            resolution.map(Size::Resolution),
            RUNS.value_in(core).map(|runs| Size::Runs(runs as usize)),
        ];
        let given = [RESOLUTION.path(), RUNS.path()].map(|path| self.root.at(path).is_some());
        let span = self.root.key_span("design");
        match (is_screening, given) {
            (false, [false, false]) => {}
            (false, _) => {
                let message = "only a screening design has a resolution or a number of runs; add \
                               kind = \"screening\"";
                self.errors.add(&span, DESIGN_KIND.path(), message);
            }
            (true, [false, false]) => {
                let help = "resolution = \"IV\" keeps main effects apart from interactions of two \
                            factors; runs = 12 takes 12 configurations";
                let message = "a screening design needs a resolution or a number of runs";
                self.errors.add(&span, DESIGN_KIND.path(), Fault::with_help(message, help));
            }
            (true, [true, true]) => {
                let message = "give either resolution or runs, not both";
                self.errors.add(&span, DESIGN_KIND.path(), message);
            }
            (true, _) => {}
        }
        if given == [true, true] { None } else { sizes.into_iter().flatten().next() }
    }

    /// Each factor of a screening design has two levels, which are always run.
    fn check_levels(&mut self, factors: &[Factor]) -> bool {
        for factor in factors {
            let number = factor.levels.len();
            // A factor without levels is an error of its own.
            if number == 1 || number > 2 {
                let message = format!(
                    "{number} level{} in a screening design, which compares two",
                    if number == 1 { "" } else { "s" }
                );
                let help = "give a low and a high level, or use a grid";
                let span = self.factor_span(&factor.name);
                self.errors.add(&span, &factor.name, Fault::with_help(message, help));
            }
            if factor.levels.iter().any(|level| level.if_installed) {
                let message = "a screening design cannot omit a level; remove if_installed";
                let span = self.factor_span(&factor.name);
                self.errors.add(&span, LEVEL_IF_INSTALLED.path(), message);
            }
        }
        factors.iter().all(|factor| factor.levels.len() == 2)
    }

    /// Where the levels of a factor stand.
    fn factor_span(&self, name: &str) -> Range<usize> {
        let plain = self.root.leaves_of("factors", "").into_iter().find(|leaf| leaf.path == name);
        plain.map_or_else(
            || {
                let own = |node: &&Node| node.value("factor").and_then(Node::text) == Some(name);
                self.root.tables("level").iter().find(own).map_or(0..0, |node| node.span.clone())
            },
            |leaf| leaf.node.span.clone(),
        )
    }
}
