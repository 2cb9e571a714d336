//! The one choice among installed versions, of servers and of their programs: the newest release of
//! the wanted series; where that is not installed, the nearest other series.

use std::cmp::Reverse;

/// The suitability of a version for data of a requested one; the greatest is the best. A newer
/// series reads what an older one has written; the reverse is not certain.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    Older(Vec<u32>),
    Newer(Reverse<Vec<u32>>, Vec<u32>),
    Requested(Vec<u32>),
}

/// Chooses among versions, of which the first numbers name the series, as many as `series`: one of
/// PostgreSQL's (15 of 15.18), two of MariaDB's and MySQL's (10.11 of 10.11.6). Of equal ones the
/// first is chosen; without a requested version the newest.
pub fn choose<T>(
    all: impl IntoIterator<Item = T>,
    requested: Option<&[u32]>,
    series: usize,
    numbers: impl Fn(&T) -> Vec<u32>,
) -> Option<T> {
    let fit = |item: &T| {
        let numbers = numbers(item);
        let series_of = |version: &[u32]| version[..series.min(version.len())].to_vec();
        let own_series = series_of(&numbers);
        match requested.map(series_of) {
            Some(requested_series) if own_series < requested_series => Fit::Older(numbers),
            Some(requested_series) if own_series > requested_series => {
                Fit::Newer(Reverse(own_series), numbers)
            }
            _ => Fit::Requested(numbers),
        }
    };
    all.into_iter().min_by_key(|item| Reverse(fit(item)))
}

/// States which version is measured where the source's is not available, and why.
pub fn substitution(measured: &str, source: &str, reason: &str) -> String {
    format!("Measuring on {measured} instead of {source}: {reason}.")
}

#[cfg(test)]
mod tests {
    use super::choose;

    fn chosen(installed: &[&[u32]], requested: Option<&[u32]>, series: usize) -> Vec<u32> {
        choose(installed, requested, series, |version| version.to_vec()).unwrap().to_vec()
    }

    #[test]
    fn the_newest_release_of_the_wanted_series_goes_before_newer_series() {
        let installed: &[&[u32]] = &[&[18, 6], &[15, 18], &[15, 20], &[15, 3], &[17, 2], &[14, 9]];
        for (requested, expected) in [
            (Some(&[15, 19][..]), [15, 20]),
            (Some(&[15]), [15, 20]),
            (Some(&[18, 9]), [18, 6]),
            // Not installed: the nearest newer series, else the nearest older one.
            (Some(&[16, 4]), [17, 2]),
            (Some(&[10, 23]), [14, 9]),
            (Some(&[19, 0]), [18, 6]),
            (None, [18, 6]),
        ] {
            assert_eq!(chosen(installed, requested, 1), expected, "{requested:?}");
        }
        let installed: &[&[u32]] = &[&[11, 4, 2], &[10, 6, 22], &[10, 11, 6], &[10, 11, 19]];
        assert_eq!(chosen(installed, Some(&[10, 11, 14]), 2), [10, 11, 19]);
        assert_eq!(chosen(installed, Some(&[10, 5, 1]), 2), [10, 6, 22]);
    }

    #[test]
    fn the_first_of_equal_ones_is_chosen() {
        let installed = [("a", [15, 18]), ("b", [15, 20]), ("c", [15, 20])];
        let found = choose(&installed, Some(&[15]), 1, |(_, version)| version.to_vec());
        assert_eq!(found.unwrap().0, "b");
        assert!(choose(&installed[..0], None, 1, |(_, version)| version.to_vec()).is_none());
    }
}
