//! What should be looked at about a server. Each rule names its source.

use observations::{Advice, SurveyedServer, Weight};

/// The largest `max degree of parallelism` that the documentation recommends within a NUMA node
/// (<https://learn.microsoft.com/sql/database-engine/configure-windows/configure-the-max-degree-of-parallelism-server-configuration-option>).
const PARALLELISM_MAX: i64 = 16;
/// Processors of a node up to which all of them may work for one statement (same source).
const FEW_PROCESSORS: i64 = 8;

/// All that applies.
pub fn advice(server: &SurveyedServer) -> Vec<Advice> {
    let rules = [parallelism, parallelism_cost, memory, fibers, priority];
    rules.into_iter().filter_map(|rule| rule(server)).collect()
}

fn subject(server: &SurveyedServer, setting: &str) -> String {
    format!("{}: {setting}", server.address)
}

fn parallelism(server: &SurveyedServer) -> Option<Advice> {
    let name = "max degree of parallelism";
    let (degree, processors) = (server.number(name)?, server.number("cpu_count")?);
    let nodes = server.number("numa_node_count").filter(|nodes| *nodes > 0).unwrap_or(1);
    let of_node = processors / nodes;
    if degree != 0 || of_node <= FEW_PROCESSORS {
        return None;
    }
    let best = if nodes == 1 { FEW_PROCESSORS } else { (of_node / 2).clamp(FEW_PROCESSORS, PARALLELISM_MAX) };
    Some(Advice {
        rule: "sqlserver-parallelism",
        weight: Weight::Problem,
        subject: subject(server, name),
        fact: format!(
            "It is 0, with {processors} processors on {nodes} NUMA nodes: one statement may take all of them."
        ),
        reason: "Microsoft's guidelines limit it from more than 8 processors of a NUMA node on (configure the max degree of \
                 parallelism).",
        action: format!("Set it to {best}, or less where many statements run at once."),
    })
}

fn parallelism_cost(server: &SurveyedServer) -> Option<Advice> {
    let name = "cost threshold for parallelism";
    (server.number(name)? == 5).then(|| Advice {
        rule: "sqlserver-parallelism-cost",
        weight: Weight::Note,
        subject: subject(server, name),
        fact: "It is 5, the default.".into(),
        reason: "Microsoft's documentation of the option calls the default, which is from before SQL Server 2000, a starting \
                 point: short statements that run in parallel take threads from others.",
        action: "Look at the waits CXPACKET and CXCONSUMER, and test higher values such as 20 or 50.".into(),
    })
}

fn memory(server: &SurveyedServer) -> Option<Advice> {
    let name = "max server memory (MB)";
    (server.number(name)? == i64::from(i32::MAX)).then(|| Advice {
        rule: "sqlserver-memory",
        weight: Weight::Problem,
        subject: subject(server, name),
        fact: "It is 2147483647 MB, the default: no limit.".into(),
        reason: "The server takes memory until the operating system has little left (Microsoft: server memory \
                 configuration options, which recommends 75 % of what others do not need).",
        action: "Set a limit that leaves room for the operating system and other programs.".into(),
    })
}

fn fibers(server: &SurveyedServer) -> Option<Advice> {
    set_although_discouraged(server, "lightweight pooling", "sqlserver-fibers")
}

fn priority(server: &SurveyedServer) -> Option<Advice> {
    set_although_discouraged(server, "priority boost", "sqlserver-priority")
}

fn set_although_discouraged(server: &SurveyedServer, name: &str, rule: &'static str) -> Option<Advice> {
    (server.number(name)? == 1).then(|| Advice {
        rule,
        weight: Weight::Problem,
        subject: subject(server, name),
        fact: "It is on.".into(),
        reason: "Microsoft's documentation of the option: do not use it, it will be removed.",
        action: "Set it to 0, and restart the server.".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use observations::ServerSetting;

    fn rules(settings: &[(&str, &str)]) -> Vec<&'static str> {
        let setting = |(name, value): &(&str, &str)| ServerSetting {
            name: (*name).into(),
            value: Some((*value).into()),
            ..ServerSetting::default()
        };
        let server =
            SurveyedServer { settings: settings.iter().map(setting).collect(), ..SurveyedServer::default() };
        advice(&server).iter().map(|advice| advice.rule).collect()
    }

    #[test]
    fn rules_apply_to_what_they_are_about_and_to_nothing_unknown() {
        let degree = |degree, processors, nodes| {
            rules(&[
                ("max degree of parallelism", degree),
                ("cpu_count", processors),
                ("numa_node_count", nodes),
            ])
        };
        assert_eq!(degree("0", "16", "1"), ["sqlserver-parallelism"]);
        assert!(degree("0", "16", "2").is_empty() && degree("8", "64", "2").is_empty());
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
