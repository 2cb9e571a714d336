//! Order of rows of results. A sort of the standard library is compiled again for each closure,
//! thousands of instructions each time; here only positions are sorted, by one function for all.

use std::cmp::Ordering;

/// Sorts rows by a comparison; equal rows keep their order.
pub fn sort<T>(rows: &mut [T], compare: &dyn Fn(&T, &T) -> Ordering) {
    let order = positions(rows.len(), &|a, b| compare(&rows[a], &rows[b]));
    rearrange(order, &mut |a, b| rows.swap(a, b));
}

/// Sorts rows by a key; equal rows keep their order.
pub fn by_key<T, K: Ord>(rows: &mut [T], key: &dyn Fn(&T) -> K) {
    sort(rows, &|a, b| key(a).cmp(&key(b)));
}

/// Sorts rows by a number, the largest first; equal rows keep their order.
pub fn largest_first<T>(rows: &mut [T], number: &dyn Fn(&T) -> f64) {
    sort(rows, &|a, b| number(b).total_cmp(&number(a)));
}

/// Sorts rows by a number, the smallest first; equal rows keep their order.
pub fn smallest_first<T>(rows: &mut [T], number: &dyn Fn(&T) -> f64) {
    sort(rows, &|a, b| number(a).total_cmp(&number(b)));
}

/// The positions of rows in their order.
fn positions(count: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..count).collect();
    positions.sort_by(|a, b| compare(*a, *b));
    positions
}

/// Swaps rows until each place holds the row of its position, cycle by cycle.
fn rearrange(mut positions: Vec<usize>, swap: &mut dyn FnMut(usize, usize)) {
    for start in 0..positions.len() {
        let mut place = start;
        loop {
            let from = std::mem::replace(&mut positions[place], place);
            if from == start || from == place {
                break;
            }
            swap(place, from);
            place = from;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{by_key, largest_first, smallest_first, sort};
    use std::cmp::Reverse;

    #[test]
    fn rows_are_in_the_order_of_the_standard_library() {
        for count in [0, 1, 2, 3, 50, 211] {
            let rows: Vec<(usize, usize)> = (0..count).map(|row| (row * 7_919 % 13, row)).collect();
            let mut sorted = [(); 4].map(|()| rows.clone());
            let [any, key, smallest, largest] = &mut sorted;
            sort(any, &|a, b| a.0.cmp(&b.0));
            by_key(key, &|row| row.0);
            smallest_first(smallest, &|row| row.0 as f64);
            largest_first(largest, &|row| row.0 as f64);
            let mut expected = rows;
            expected.sort_by_key(|row| row.0);
            assert!([any, key, smallest].iter().all(|sorted| **sorted == expected));
            expected.sort_by_key(|row| (Reverse(row.0), row.1));
            assert_eq!(*largest, expected);
        }
    }
}
