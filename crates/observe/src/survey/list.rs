/// No machine has more processors; a longer list is not one of the kernel.
const CPUS_MAX: u32 = 1 << 20;

/// The numbers in a list of the kernel: `0-3,8,10-11` (see cpuset(7), List format). `None` if it is none.
pub(crate) fn parse(text: &str) -> Option<Vec<u32>> {
    let mut numbers = Vec::new();
    for part in text.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        if first > last || last > CPUS_MAX {
            return None;
        }
        numbers.extend(first..=last);
    }
    Some(numbers)
}

/// How many processors such a list names.
pub(crate) fn count(text: &str) -> Option<u32> {
    parse(text).map(|numbers| numbers.len() as u32)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn reads_lists() {
        assert_eq!(parse("0-3,8,10-11\n"), Some(vec![0, 1, 2, 3, 8, 10, 11]));
        assert_eq!(parse("0-2,5,7-8\n"), Some(vec![0, 1, 2, 5, 7, 8]));
        assert_eq!(parse(""), Some(Vec::new()));
        for wrong in ["3-1", "a", "0-4294967295", "1-", "-1"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
