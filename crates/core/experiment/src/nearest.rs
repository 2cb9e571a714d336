//! Suggestions for mistyped names.

/// Names less alike than this are not suggested: two letters of five may differ.
const SIMILARITY_MIN: f64 = 0.6;

/// Penalty of a name in another section: it is suggested only if no name of the same section is as
/// close.
const OTHER_SECTION: f64 = 0.1;

/// An abbreviation of at least [`ABBREVIATION_MIN`] letters counts as this alike.
const ABBREVIATION: f64 = 0.7;
const ABBREVIATION_MIN: usize = 3;

/// The similarity of a setting to a path below it.
const BELOW: f64 = 0.9;

/// Most names that are listed beside a suggestion; more would hide it.
const LISTED_MAX: usize = 12;

/// Most names that are listed without a suggestion.
const LISTED_MAX_ALONE: usize = 40;

/// The known name nearest to a mistyped one, if any is near.
///
/// Compares the last parts of dotted paths, so that `target.xyz` is not near to everything in
/// `target`, and `data_files` finds `target.data_files`.
pub fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let similar = known.iter().map(|candidate| (similarity(name, candidate), *candidate));
    // The first of equals.
    let best = similar.reduce(|best, next| if next.0 > best.0 { next } else { best });
    best.filter(|(similarity, _)| *similarity >= SIMILARITY_MIN).map(|(_, candidate)| candidate)
}

/// A sentence for a name that is not known: ``unknown setting `jurnal_mode`; did you mean
/// `journal_mode`? (known: ...)``. The known names are listed when they are few.
pub fn unknown_name(what: &str, name: &str, known: &[&str]) -> String {
    let message = format!("unknown {what} `{name}`");
    suggestion(name, known).map_or(message.clone(), |help| format!("{message}; {help}"))
}

/// Returns a suggestion for an unknown name.
pub(crate) fn suggestion(name: &str, known: &[&str]) -> Option<String> {
    let nearest = nearest(name, known).map(|nearest| format!("did you mean `{nearest}`?"));
    let listed_max = if nearest.is_some() { LISTED_MAX } else { LISTED_MAX_ALONE };
    // A list of one would repeat the suggestion.
    let listed_min = if nearest.is_some() { 2 } else { 1 };
    let listed = (listed_min..=listed_max).contains(&known.len()).then(|| known.join(", "));
    match (nearest, listed) {
        (Some(nearest), Some(listed)) => Some(format!("{nearest} (known: {listed})")),
        (Some(nearest), None) => Some(nearest),
        (None, listed) => listed.map(|listed| format!("known: {listed}")),
    }
}

fn similarity(name: &str, candidate: &str) -> f64 {
    let split = |path: &str| -> (String, String) {
        let path = path.to_lowercase();
        path.rsplit_once('.')
            .map_or((String::new(), path.clone()), |(section, key)| (section.into(), key.into()))
    };
    let ((section, key), (known_section, known_key)) = (split(name), split(candidate));
    if known_key == "*" {
        // Any key fits, so the section decides.
        let depth = |path: &str| path.matches('.').count();
        return if depth(name) == depth(candidate) { alike(&section, &known_section) } else { 0.0 };
    }
    if name.strip_prefix(candidate).is_some_and(|rest| rest.starts_with('.')) {
        // A table where the value of this setting should be.
        return BELOW;
    }
    let penalty = if section == known_section { 0.0 } else { OTHER_SECTION };
    alike(&key, &known_key) - penalty
}

/// 1 less the share of letters that were mistyped, swapped letters counting once.
fn alike(name: &str, known: &str) -> f64 {
    let longest = name.chars().count().max(known.chars().count()).max(1);
    let alike = 1.0 - strsim::osa_distance(name, known) as f64 / longest as f64;
    let abbreviated = name.len() >= ABBREVIATION_MIN && known.starts_with(name);
    if abbreviated { alike.max(ABBREVIATION) } else { alike }
}

#[cfg(test)]
mod tests {
    use super::{nearest, unknown_name};

    #[test]
    fn suggests_only_what_is_near() {
        let known = ["journal_mode", "synchronous", "page_size"];
        assert_eq!(nearest("jurnal_mode", &known), Some("journal_mode"));
        assert_eq!(nearest("Journal_Mode", &known), Some("journal_mode"));
        assert_eq!(nearest("sync", &known), Some("synchronous"));
        assert_eq!(nearest("xyz", &known), None);
        assert_eq!(nearest("", &known), None);
        assert_eq!(nearest("anything", &[]), None);
    }

    #[test]
    fn a_common_section_makes_no_two_paths_alike() {
        let known = [
            "target.engine",
            "target.data_files",
            "workload.key",
            "workload.rows",
            "target.settings.*",
        ];
        assert_eq!(nearest("target.xyzzy", &known), None);
        assert_eq!(nearest("workload.abc", &known), None);
        assert_eq!(nearest("target.datafiles", &known), Some("target.data_files"));
        assert_eq!(nearest("data_files", &known), Some("target.data_files"));
        assert_eq!(nearest("taget.data_files", &known), Some("target.data_files"));
        assert_eq!(nearest("workload.data_files", &known), Some("target.data_files"));
        assert_eq!(nearest("workload.rows.min", &known), Some("workload.rows"));
        assert_eq!(nearest("target.setings.synchronous", &known), Some("target.settings.*"));
    }

    #[test]
    fn lists_the_known_names_when_they_are_few() {
        let few = ["journal_mode", "synchronous"];
        assert_eq!(
            unknown_name("setting", "sinchronous", &few),
            "unknown setting `sinchronous`; did you mean `synchronous`? (known: journal_mode, \
             synchronous)"
        );
        assert_eq!(
            unknown_name("setting", "x", &few),
            "unknown setting `x`; known: journal_mode, synchronous"
        );
        let many: Vec<String> = (0..50).map(|number| format!("setting_number_{number}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(
            unknown_name("setting", "setting_number_07", &many),
            "unknown setting `setting_number_07`; did you mean `setting_number_0`?"
        );
        assert_eq!(unknown_name("setting", "x", &many), "unknown setting `x`");
    }
}
