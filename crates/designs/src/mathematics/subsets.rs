//! Sets of numbers.

/// All sets of `size` of the first `all` numbers, in lexicographic order.
pub(crate) fn subsets(all: usize, size: usize) -> impl Iterator<Item = Vec<usize>> {
    let mut next = (size <= all).then(|| (0..size).collect::<Vec<usize>>());
    std::iter::from_fn(move || {
        let found = next.clone()?;
        let last = (0..size).rev().find(|place| found[*place] < all - size + place);
        next = last.map(|place| {
            let kept = found[..place].iter().copied();
            kept.chain((0..size - place).map(|i| found[place] + 1 + i)).collect()
        });
        Some(found)
    })
}
