//! Ready experiments with their scripts, which `init --workload` writes.

use command_line::ready::{Ready, ReadyFile};

macro_rules! files {
    ($($name:literal),+ $(,)?) => {
        &[$(ReadyFile {
            name: $name,
            text: include_str!(concat!("../../../experiments/", $name)),
        }),+]
    };
}

/// All of them, by name.
pub const READY: &[Ready] = &[
    Ready { name: "decision-support", files: files!["decision-support.toml"] },
    Ready { name: "mixed-load", files: files!["mixed-load.toml"] },
    Ready { name: "order-entry", files: files!["sqlite-order-entry.toml"] },
    Ready {
        name: "smallbank",
        files: files![
            "smallbank.toml",
            "smallbank-amalgamate.sql",
            "smallbank-balance.sql",
            "smallbank-deposit-checking.sql",
            "smallbank-send-payment.sql",
            "smallbank-transact-savings.sql",
            "smallbank-write-check.sql",
        ],
    },
    Ready {
        name: "tatp",
        files: files![
            "tatp.toml",
            "tatp-delete-call-forwarding.sql",
            "tatp-get-access-data.sql",
            "tatp-get-new-destination.sql",
            "tatp-get-subscriber-data.sql",
            "tatp-insert-call-forwarding.sql",
            "tatp-update-location.sql",
            "tatp-update-subscriber-data.sql",
        ],
    },
    Ready {
        name: "ycsb",
        files: files![
            "ycsb.toml",
            "ycsb-insert.sql",
            "ycsb-read.sql",
            "ycsb-read-latest.sql",
            "ycsb-read-modify-write.sql",
            "ycsb-scan.sql",
            "ycsb-update.sql",
        ],
    },
];
