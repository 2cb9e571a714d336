//! Bytes that network interfaces carry.

use std::collections::BTreeMap;

/// Counters of the network interfaces without the loopback, since boot.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NetworkCounters {
    /// Bytes received and sent, by interface.
    bytes: BTreeMap<String, u64>,
}

impl NetworkCounters {
    /// Reads `/proc/net/dev` (see proc(5)): the interfaces of this process's network namespace.
    /// `None`: it cannot be read.
    pub fn read() -> Option<Self> {
        Some(Self::parse(&std::fs::read_to_string("/proc/net/dev").ok()?))
    }

    fn parse(text: &str) -> Self {
        let interfaces = text.lines().filter_map(|line| line.split_once(':'));
        let bytes = interfaces.filter_map(|(name, counters)| {
            let counters: Vec<u64> =
                counters.split_ascii_whitespace().map_while(|word| word.parse().ok()).collect();
            // Eight counters of reception, the first in bytes, then those of transmission.
            let bytes = counters.first()?.saturating_add(*counters.get(8)?);
            Some((name.trim().to_owned(), bytes)).filter(|(name, _)| name != "lo")
        });
        Self { bytes: bytes.collect() }
    }

    /// Returns the bytes that the busiest interface has received and sent since earlier counters.
    /// A bridge carries the bytes of its members again: the sum of all would count them twice.
    /// `None`: there is no interface but the loopback.
    pub fn busiest_since(&self, earlier: &Self) -> Option<u64> {
        self.bytes
            .iter()
            .map(|(name, bytes)| bytes.saturating_sub(*earlier.bytes.get(name).unwrap_or(&0)))
            .max()
    }
}

#[cfg(test)]
mod tests {
    use super::NetworkCounters;

    const HEAD: &str = "Inter-|   Receive                        |  Transmit\n face |bytes packets \
                        errs drop fifo frame compressed multicast|bytes packets errs drop fifo \
                        colls carrier compressed\n";

    #[test]
    fn the_busiest_interface_is_that_with_most_bytes_in_both_directions() {
        let read = |lo, eth0, sent, eth1| {
            NetworkCounters::parse(&format!(
                "{HEAD}    lo: {lo} 1 0 0 0 0 0 0 {lo} 1 0 0 0 0 0 0\n  eth0: {eth0} 2 0 0 0 0 0 \
                 0 {sent} 9 0 0 0 0 0 0\neth1:{eth1} 7 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
            ))
        };
        let (before, after) = (read(0, 1_000, 50, 7), read(99_999, 1_400, 60, 400));
        assert_eq!(after.busiest_since(&before), Some(410));
        assert_eq!(NetworkCounters::parse(HEAD).busiest_since(&before), None);
        // Counters of an interface that is new since then.
        assert_eq!(after.busiest_since(&NetworkCounters::default()), Some(1_460));
        assert!(NetworkCounters::read().is_some());
    }
}
