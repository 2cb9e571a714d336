//! The queries of a trial: those of the specification, or those of the user's files.

use crate::parameters::{Source, values};
use crate::queries::{QUERIES, Query};
use crate::settings::{DATA, Data, FILES, NUMBERS, PARAMETERS, Parameters, REFRESH};
use experiment::{Configuration, Invalid, NamedFile};
use observations::order;
use std::path::Path;
use work::SqlPart;

/// A query of a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TrialQuery {
    /// A query of the specification.
    Specified(&'static Query),
    /// A query of the user's.
    File {
        /// The name of its file, without folder and extension.
        name: String,
        /// The SQL.
        text: String,
    },
}

impl TrialQuery {
    /// Returns a short name: `Q1`, or that of the file.
    pub fn label(&self) -> String {
        match self {
            Self::Specified(query) => query.label(),
            Self::File { name, .. } => name.clone(),
        }
    }

    /// Returns the name by which recordings and reports call it.
    pub fn title(&self) -> String {
        match self {
            Self::Specified(query) => query.title(),
            Self::File { name, .. } => name.clone(),
        }
    }

    /// Returns its SQL, with parameters of a source, for an engine to complete.
    pub fn parts(&self, source: &mut Source) -> Vec<SqlPart> {
        match self {
            Self::Specified(query) => query.parts(&values(query.number, source)),
            Self::File { text, .. } => vec![SqlPart::Text(text.clone())],
        }
    }
}

/// Returns the queries of a configuration: those of its files in their order, else those of the
/// specification that it names, in the order of their numbers.
///
/// # Errors
/// When one is unknown or no query, and when other settings ask for what only the queries of the
/// specification have.
pub(crate) fn trial_queries(configuration: &Configuration) -> Result<Vec<TrialQuery>, Invalid> {
    if configuration.get(FILES).is_empty() {
        if configuration.get(DATA) != Data::Tpch {
            let message = "missing; the queries of TPC-DS are the council's and not included: give \
                           yours, one in each file";
            return Err(Invalid::new(FILES.path(), message));
        }
        return specified(configuration);
    }
    let only_specified = [
        (NUMBERS.path(), !configuration.get(NUMBERS).is_empty()),
        (PARAMETERS.path(), configuration.get(PARAMETERS) == Parameters::Drawn),
        (REFRESH.path(), configuration.get(REFRESH)),
    ];
    if let Some((path, _)) = only_specified.into_iter().find(|(_, is_given)| *is_given) {
        let message =
            "is for the 22 queries of the specification; leave out this or workload.files";
        return Err(Invalid::new(path, message));
    }
    let mut found = Vec::<TrialQuery>::new();
    for file in configuration.files_of(FILES.path()) {
        let query = from_file(file)?;
        if found.iter().any(|known| known.label() == query.label()) {
            let message = format!("two files are called {}", query.label());
            return Err(Invalid::new(FILES.path(), message));
        }
        found.push(query);
    }
    Ok(found)
}

fn from_file(file: &NamedFile) -> Result<TrialQuery, Invalid> {
    let text = work::sql::query(&file.content)
        .map_err(|error| Invalid::new(FILES.path(), format!("{} {error}", file.path)))?;
    let name = Path::new(&file.path).file_stem().unwrap_or_default().to_string_lossy();
    Ok(TrialQuery::File { name: name.into_owned(), text: text.to_owned() })
}

fn specified(configuration: &Configuration) -> Result<Vec<TrialQuery>, Invalid> {
    let mut found = Vec::<&Query>::new();
    for name in configuration.get(NUMBERS) {
        let query = QUERIES.iter().find(|query| query.label().eq_ignore_ascii_case(&name));
        let Some(query) = query else {
            let message = format!("there is no query {name:?}; known are Q1 to Q22");
            return Err(Invalid::new(NUMBERS.path(), message));
        };
        if !found.contains(&query) {
            found.push(query);
        }
    }
    if found.is_empty() {
        found = QUERIES.iter().collect();
    }
    order::by_key(&mut found, &|query| query.number);
    Ok(found.into_iter().map(TrialQuery::Specified).collect())
}
