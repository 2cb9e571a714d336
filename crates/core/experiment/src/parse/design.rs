//! The design of the experiment: which combinations of levels are run.

use super::{Reader, Values};
use crate::document::Node;
use crate::error::Fault;
use crate::file::{
    AXIAL_POINTS, BLOCKS, CENTRE_POINTS, DESIGN_KIND, DESIGNS, LEVEL_IF_INSTALLED, LOG_SCALE,
    RACE_FIRST, RESOLUTION, RUNS, SURFACE,
};
use crate::{Blocks, Configuration, Design, Factor, Repeats, ScreeningRuns};
use designs::{Resolution, Screening, Size};
use std::ops::Range;

/// Kinds of designs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DesignKind {
    /// All combinations.
    #[default]
    Grid,
    /// A fraction of them with two levels.
    Screening,
    /// All combinations until they lose.
    Race,
    /// Points to which a surface is fitted.
    ResponseSurface,
}

impl DesignKind {
    const ALL: [Self; DESIGNS.len()] =
        [Self::Grid, Self::Screening, Self::Race, Self::ResponseSurface];

    fn from_name(name: &str) -> Option<Self> {
        let position = DESIGNS.iter().position(|design| *design == name)?;
        Some(Self::ALL[position])
    }

    /// The name in the file.
    pub fn name(self) -> &'static str {
        DESIGNS[self as usize]
    }

    /// The kind that the text of an experiment file selects; a grid where it cannot be read.
    pub fn from_source(source: &str) -> Self {
        let root = Node::parse(source).ok();
        let name = root.as_ref().and_then(|root| root.at(DESIGN_KIND.path())?.text());
        name.and_then(Self::from_name).unwrap_or_default()
    }
}

/// Returns the blocks that all candidates of a race run, by the text of its file.
pub fn race_first(source: &str) -> u32 {
    let root = Node::parse(source).ok();
    let value = root.as_ref().and_then(|root| {
        crate::human::read(RACE_FIRST.declaration.kind, root.at(RACE_FIRST.path())?).ok()
    });
    let race_setting = value.map(|value| (RACE_FIRST.path().to_owned(), value));
    RACE_FIRST.value_in(&race_setting.into_iter().collect())
}

/// Settings that only some kinds of designs have.
const OF_KINDS: [(&str, &[DesignKind]); 7] = [
    (RESOLUTION.path(), &[DesignKind::Screening]),
    (RUNS.path(), &[DesignKind::Screening]),
    (RACE_FIRST.path(), &[DesignKind::Race]),
    (SURFACE.path(), &[DesignKind::ResponseSurface]),
    (AXIAL_POINTS.path(), &[DesignKind::ResponseSurface]),
    (CENTRE_POINTS.path(), &[DesignKind::ResponseSurface, DesignKind::Screening]),
    (LOG_SCALE.path(), &[DesignKind::ResponseSurface, DesignKind::Screening]),
];

impl Reader<'_> {
    /// The design that `[design]` selects; `None` after an error.
    pub fn design(
        &mut self,
        core: &Values,
        factors: &mut [Factor],
        hard: &[usize],
        repeats: &Repeats,
    ) -> Option<Design> {
        let kind = DesignKind::from_name(&DESIGN_KIND.value_in(core)).unwrap_or_default();
        self.check_settings_of(kind);
        match kind {
            DesignKind::Grid => Some(Design::Grid),
            DesignKind::Screening => self.screening(core, factors, hard),
            DesignKind::Race => Some(self.race(core, factors, hard, repeats)),
            DesignKind::ResponseSurface => self.surface(core, factors, hard, repeats),
        }
    }

    /// Settings of other kinds of designs are errors.
    fn check_settings_of(&mut self, kind: DesignKind) {
        let present = OF_KINDS.iter().filter(|(path, _)| self.root.at(path).is_some());
        let misfits = present.filter(|(_, kinds)| !kinds.contains(&kind));
        let owners = misfits.clone().flat_map(|(_, kinds)| *kinds).map(|kind| kind.name()).next();
        let names: Vec<&str> =
            misfits.map(|(path, _)| path.trim_start_matches("design.")).collect();
        let Some(owner) = owners else { return };
        let (kind, names) = (kind.name(), names.join(" or "));
        let message =
            format!("a {kind} design has no {names}; remove it, or add kind = \"{owner}\"");
        self.errors.add(&self.root.key_span("design"), DESIGN_KIND.path(), message);
    }

    fn screening(
        &mut self,
        core: &Values,
        factors: &mut [Factor],
        hard: &[usize],
    ) -> Option<Design> {
        let size = self.screening_size(core);
        let all_have_two = self.check_levels(factors);
        self.refuse_exclusions("a screening design");
        self.check_log_scale(core, factors);
        let size = size.filter(|_| all_have_two)?;
        match Screening::new(factors.len(), size, hard) {
            Ok(design) => {
                let centre_points = self.screening_centre(core, factors, hard)?;
                Some(Design::Screening(ScreeningRuns { design, centre_points }))
            }
            Err(error) => {
                let path = match size {
                    Size::Runs(_) => RUNS.path(),
                    Size::Resolution(_) => RESOLUTION.path(),
                };
                self.errors.add(&self.span_of(path), path, error.to_string());
                None
            }
        }
    }

    /// Gives each factor its centre where the file asks for centre points; returns their number.
    fn screening_centre(
        &mut self,
        core: &Values,
        factors: &mut [Factor],
        hard: &[usize],
    ) -> Option<usize> {
        let has_centre_points = self.root.at(CENTRE_POINTS.path()).is_some();
        let number = if has_centre_points { CENTRE_POINTS.value_in(core) as usize } else { 0 };
        if number == 0 {
            return Some(0);
        }
        if let Some(factor) = hard.first() {
            let message = "centre points set this factor to a third level in each block; remove \
                           it from order.hard_to_change or [[manual]], or design.centre_points";
            let name = &factors[*factor].name;
            self.errors.add(&self.factor_span(name), name, message);
            return None;
        }
        let added: Vec<Option<()>> =
            factors.iter_mut().map(|factor| self.add_centre(factor)).collect();
        added.into_iter().collect::<Option<Vec<()>>>().map(|_| number)
    }

    pub(super) fn refuse_exclusions(&mut self, design: &str) {
        if let Some(rule) = self.root.tables("exclude").first() {
            let message = format!(
                "{design} runs a fixed set of configurations; remove [[exclude]], or use a grid"
            );
            self.errors.add(&rule.span, "exclude", message);
        }
    }

    /// Candidates leave after a block, which all of them have run by then.
    fn race(
        &mut self,
        core: &Values,
        factors: &[Factor],
        hard: &[usize],
        repeats: &Repeats,
    ) -> Design {
        let first = RACE_FIRST.value_in(core);
        let message = match repeats.blocks {
            Blocks::Adaptive { .. } => Some(
                "a race decides by itself how often a candidate runs; give repeats.blocks as a \
                 number, the most blocks"
                    .to_owned(),
            ),
            Blocks::Fixed(blocks) if blocks < first => Some(format!(
                "{blocks} blocks are fewer than the first {first} of the race ({}), after which \
                 losers leave",
                RACE_FIRST.path()
            )),
            Blocks::Fixed(_) => None,
        };
        if let Some(message) = message {
            self.errors.add(&self.span_of(BLOCKS.path()), BLOCKS.path(), message);
        }
        if let Some(factor) = hard.first() {
            let message = "a race runs all candidates in each block, which changes this factor in \
                           each block; remove it from order.hard_to_change or [[manual]], or use a \
                           grid";
            let name = &factors[*factor].name;
            self.errors.add(&self.factor_span(name), name, message);
        }
        Design::Race { first }
    }

    /// A race needs two candidates.
    pub fn check_candidates(&mut self, design: Option<&Design>, all: &[Configuration]) {
        if matches!(design, Some(Design::Race { .. })) && all.len() == 1 {
            let message = "a race needs two candidates or more; give a factor with several levels";
            self.errors.add(&self.root.key_span("design"), DESIGN_KIND.path(), message);
        }
    }

    pub(super) fn span_of(&self, path: &str) -> Range<usize> {
        self.root.at(path).map_or_else(|| self.root.key_span("design"), |node| node.span.clone())
    }

    /// The size of a screening design, which is given in one of two ways.
    fn screening_size(&mut self, core: &Values) -> Option<Size> {
        let resolution = RESOLUTION.value_in(core).map(|name| match name.as_str() {
            "III" => Resolution::III,
            "IV" => Resolution::IV,
            _ => Resolution::V,
        });
        let sizes = [
            resolution.map(Size::Resolution),
            RUNS.value_in(core).map(|runs| Size::Runs(runs as usize)),
        ];
        let is_set = [RESOLUTION.path(), RUNS.path()].map(|path| self.root.at(path).is_some());
        let span = self.root.key_span("design");
        match is_set {
            [false, false] => {
                let help = "resolution = \"IV\" keeps main effects apart from interactions of two \
                            factors; runs = 12 takes 12 configurations";
                let message = "a screening design needs a resolution or a number of runs";
                self.errors.add(&span, DESIGN_KIND.path(), Fault::with_help(message, help));
            }
            [true, true] => {
                let message = "give either resolution or runs, not both";
                self.errors.add(&span, DESIGN_KIND.path(), message);
            }
            _ => {}
        }
        if is_set == [true, true] { None } else { sizes.into_iter().flatten().next() }
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
    pub(super) fn factor_span(&self, name: &str) -> Range<usize> {
        let plain = self.root.leaves_of("factors", "").into_iter().find(|leaf| leaf.path == name);
        let node = plain.map(|leaf| leaf.node).or_else(|| {
            let mut tables = self.root.tables("level").iter();
            tables.find(|node| node.value("factor").and_then(Node::text) == Some(name))
        });
        node.map_or(0..0, |node| node.span.clone())
    }
}
