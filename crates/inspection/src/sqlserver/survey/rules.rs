//! Rules about a server: the source of each rule is the page of Microsoft's documentation about the
//! option
//! (<https://learn.microsoft.com/sql/database-engine/configure-windows/server-configuration-options-sql-server>).

use crate::server_rules::{self, OnMachine, Rule};
use observations::Weight::{Note, Problem};
use observations::{Advice, Survey, SurveyedServer};

/// The parallelism of a statement that the guidelines allow on one NUMA node, and on each of
/// several.
const OF_ONE_NODE_MAX: i64 = 8;
const OF_NODES_MAX: i64 = 16;
/// A degree of 0 means all processors, up to these.
const ALL_MAX: i64 = 64;

/// Returns the rules' advice on a server.
pub fn advice(server: &SurveyedServer, survey: &Survey) -> Vec<Advice> {
    server_rules::advice(&RULES, server, survey)
}

#[rustfmt::skip]
const RULES: [Rule; 5] = [
    (Problem, "sqlserver-parallelism",
        "set it to that value, or lower if many statements run concurrently",
        "one statement can use more CPUs than Microsoft's guidelines allow: those of one NUMA \
         node, 8 of a single node, half of a node with more than 16 (max degree of parallelism)",
        parallelism),
    (Note, "sqlserver-parallelism-cost",
        "check the waits CXPACKET and CXCONSUMER, and test higher values such as 20 or 50",
        "the default dates from before SQL Server 2000 and is only a starting point: short \
         statements that run in parallel use threads that others need (cost threshold for \
         parallelism)",
        |place| place.has("cost threshold for parallelism", &["5"])),
    (Problem, "sqlserver-memory",
        "set a limit that leaves room for the operating system and other programs",
        "without a limit, the server uses almost all memory; Microsoft recommends 75 % of the \
         memory that other processes do not need (server memory configuration options)",
        |place| place.has("max server memory (MB)", &["2147483647"])),
    (Problem, "sqlserver-fibers",
        "set it to 0, and restart the server",
        "the documentation advises against it, and a future version will remove it (lightweight \
         pooling)",
        |place| place.has("lightweight pooling", &["1"])),
    (Problem, "sqlserver-priority",
        "set it to 0, and restart the server",
        "the documentation advises against it, and a future version will remove it (priority \
         boost)",
        |place| place.has("priority boost", &["1"])),
];

fn parallelism(place: &OnMachine<'_>) -> Option<String> {
    let degree = place.server.number("max degree of parallelism")?;
    let processors = place.server.number("cpu_count")?;
    let nodes = place.server.number("numa_node_count").filter(|nodes| *nodes > 0).unwrap_or(1);
    let of_node = processors / nodes;
    let best = match nodes {
        1 => of_node.min(OF_ONE_NODE_MAX),
        _ if of_node <= OF_NODES_MAX => of_node,
        _ => (of_node / 2).min(OF_NODES_MAX),
    };
    let used = if degree == 0 { ALL_MAX } else { degree }.min(processors);
    (used > best).then(|| {
        format!(
            "has max degree of parallelism = {degree} with {processors} CPUs on {nodes} NUMA \
             nodes; the guidelines allow at most {best}"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use observations::ServerSetting;

    fn rules(settings: &[(&str, &str)]) -> Vec<&'static str> {
        let server = SurveyedServer {
            settings: settings
                .iter()
                .map(|(name, value)| ServerSetting {
                    name: (*name).into(),
                    value: Some((*value).into()),
                    ..ServerSetting::default()
                })
                .collect(),
            ..SurveyedServer::default()
        };
        advice(&server, &Survey::default()).iter().map(|advice| advice.rule).collect()
    }

    #[test]
    fn rules_apply_to_what_they_are_about_and_to_nothing_unknown() {
        let degree = |degree: &str, processors: &str, nodes: &str| {
            rules(&[
                ("max degree of parallelism", degree),
                ("cpu_count", processors),
                ("numa_node_count", nodes),
            ])
        };
        assert_eq!(degree("0", "16", "1"), ["sqlserver-parallelism"]);
        // The table of the guidelines: processors, nodes, the most that is allowed.
        for (processors, nodes, most) in [
            ("4", "1", 4),
            ("8", "1", 8),
            ("64", "1", 8),
            ("16", "2", 8),
            ("32", "2", 16),
            ("48", "2", 12),
            ("64", "2", 16),
            ("128", "2", 16),
        ] {
            assert!(degree(&most.to_string(), processors, nodes).is_empty(), "{processors}");
            let more = degree(&(most + 1).to_string(), processors, nodes);
            // No statement uses more than there are.
            assert_eq!(more.is_empty(), processors == most.to_string(), "{processors}");
        }
        assert_eq!(degree("0", "16", "2"), ["sqlserver-parallelism"]);
        assert!(degree("0", "8", "1").is_empty());
        assert_eq!(rules(&[("max server memory (MB)", "2147483647")]), ["sqlserver-memory"]);
        assert!(rules(&[("max server memory (MB)", "65536"), ("priority boost", "0")]).is_empty());
        assert_eq!(
            rules(&[
                ("priority boost", "1"),
                ("lightweight pooling", "1"),
                ("cost threshold for parallelism", "5")
            ]),
            ["sqlserver-parallelism-cost", "sqlserver-fibers", "sqlserver-priority"]
        );
        assert!(rules(&[]).is_empty());
    }
}
