//! Names of the kernel's functions.

use observations::UNKNOWN;
use std::fs;

/// The kernel itself, without its modules.
const KERNEL: &str = "[kernel]";

/// Functions of the kernel and its modules, by address.
pub(super) struct Kernel {
    /// Ascending: address, name, module.
    functions: Vec<(u64, String, String)>,
}

impl Kernel {
    /// Reads `/proc/kallsyms`, where that is permitted: otherwise all addresses are 0.
    pub fn read() -> Self {
        Self::parse(&fs::read_to_string("/proc/kallsyms").unwrap_or_default())
    }

    fn parse(symbols: &str) -> Self {
        let mut functions: Vec<_> = symbols.lines().filter_map(parse_line).collect();
        functions.sort_by_key(|function| function.0);
        functions.dedup_by_key(|function| function.0);
        Self { functions }
    }

    /// Function and module at an address. Addresses are all that the kernel tells: what comes before the next name
    /// belongs to a function.
    pub fn find(&self, address: u64) -> (&str, &str) {
        let after = self.functions.partition_point(|function| function.0 <= address);
        match after.checked_sub(1).and_then(|index| self.functions.get(index)) {
            Some((_, name, module)) => (name, module),
            None => (UNKNOWN, KERNEL),
        }
    }
}

/// `ffffffff81000000 T _stext` or `ffffffffc0000000 t ext4_read [ext4]`, of code.
fn parse_line(line: &str) -> Option<(u64, String, String)> {
    let mut fields = line.split_ascii_whitespace();
    let (address, kind, name) = (fields.next()?, fields.next()?, fields.next()?);
    let address = u64::from_str_radix(address, 16).ok().filter(|address| *address != 0)?;
    let module = fields.next().unwrap_or(KERNEL);
    matches!(kind, "t" | "T" | "w" | "W").then(|| (address, name.to_owned(), module.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_named_by_what_begins_before_it() {
        let kernel = Kernel::parse("30 t b [ext4]\n10 T a\n20 D data\n00 T hidden\njunk\n");
        assert_eq!(kernel.find(0x10), ("a", "[kernel]"));
        assert_eq!(kernel.find(0x2f), ("a", "[kernel]"));
        assert_eq!(kernel.find(0x31), ("b", "[ext4]"));
        assert_eq!(kernel.find(0xf), (UNKNOWN, "[kernel]"));
        assert_eq!(Kernel::parse("0 T a\n0 T b\n").find(0x10), (UNKNOWN, "[kernel]"));
    }
}
