//! The runs of the design that a file selects.

use super::FileReader;
use crate::catalog::Catalog;
use crate::design_file::{DESIGN_KIND, DesignFile, GRID};
use crate::design_runs::{Added, DesignRuns, Runs};
use crate::vocabulary::Values;
use crate::{Factor, Repeats};

impl FileReader<'_> {
    /// The runs of the design that `[design]` selects, and those that extend it. The sections that
    /// say how results are analysed check their values before.
    pub fn design(
        &mut self,
        values: &Values,
        factors: &mut Vec<Factor>,
        hard: &[usize],
        repeats: &Repeats,
    ) -> (Runs, Vec<Added>) {
        let kind = kind(values);
        let Catalog { designs, analysis_sections, .. } = self.catalog;
        self.check_settings_of(&kind);
        let mut file = DesignFile {
            root: self.root,
            vocabulary: &self.vocabulary,
            errors: &mut self.errors,
            values,
            factors,
            hard,
            repeats,
            added: Vec::new(),
        };
        for analysis in *analysis_sections {
            (analysis.check)(&mut file);
        }
        let Some(design) = designs.find(&kind) else {
            file.refuse_extensions();
            return (Runs::Product, Vec::new());
        };
        match design.read(&mut file) {
            Some(runs) => (Runs::Design(runs), file.added),
            None => (Runs::Unknown, Vec::new()),
        }
    }

    /// Settings of other kinds of designs are errors.
    fn check_settings_of(&mut self, kind: &str) {
        let all = self.catalog.designs.all;
        let owners = |path: &str| {
            let with = all.iter().filter(move |design| design.settings().contains(&path));
            with.map(|design| design.kind()).collect::<Vec<_>>()
        };
        let settings = self.catalog.designs.settings.iter().map(|setting| setting.path);
        let present = settings
            .filter(|path| *path != DESIGN_KIND && self.root.at(path).is_some())
            .map(|path| (path, owners(path)));
        let misfits: Vec<(&str, Vec<&str>)> =
            present.filter(|(_, owners)| !owners.contains(&kind)).collect();
        let owner = misfits.iter().find_map(|(_, owners)| owners.last().copied());
        let names: Vec<&str> =
            misfits.iter().map(|(path, _)| path.trim_start_matches("design.")).collect();
        let Some(owner) = owner else { return };
        let names = names.join(" or ");
        let message =
            format!("a {kind} design has no {names}; remove it, or add kind = \"{owner}\"");
        self.errors.add(&self.root.key_span("design"), DESIGN_KIND, message);
    }

    /// Some designs need several configurations.
    pub fn check_design(&mut self, runs: Option<&DesignRuns>, configurations: usize) {
        if let Some(message) = runs.and_then(|runs| runs.objection(configurations)) {
            self.errors.add(&self.root.key_span("design"), DESIGN_KIND, message);
        }
    }
}

/// The kind of the design.
pub fn kind(values: &Values) -> String {
    values.get(DESIGN_KIND).map_or_else(|| GRID.to_owned(), ToString::to_string)
}
