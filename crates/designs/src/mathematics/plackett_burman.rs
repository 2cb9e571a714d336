//! Plackett and Burman's designs: main effects of many factors in a number of runs that is not a
//! power of two. Source: R. L. Plackett and J. P. Burman, Biometrika 33 (1946).

use crate::mathematics::Design;

/// The first runs of the designs in 12, 20 and 24 runs; the others follow by cyclic shifts, and one
/// with all factors low.
const FIRST: [&str; 3] = ["++-+++---+-", "++--++++-+-+----++-", "+++++-+-++--++--+-+----"];

/// The design with all its `runs - 1` columns; `None` for another number of runs.
pub fn plackett_burman(runs: usize) -> Option<Design> {
    let first = FIRST.iter().find(|first| first.len() + 1 == runs)?.as_bytes();
    let columns = runs - 1;
    let shifted = (0..columns).map(|shift| {
        (0..columns)
            .map(|column| if first[(shift + column) % columns] == b'+' { 1 } else { -1 })
            .collect()
    });
    Some(Design::new(shifted.chain([vec![-1; columns]]).collect()))
}
