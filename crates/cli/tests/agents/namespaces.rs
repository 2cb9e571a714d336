//! Agents in network namespaces of their own, as on other hosts: they reach the broker over a link
//! only.

use super::{Agent, RECORDED, TOKEN, UserBroker, has_broker, program, scripted_load, slow_load};
use crate::common::{Lab, skipped};
use std::process::Command;

/// A network namespace with a link to this one; gone when it is dropped.
struct Namespace {
    name: String,
    /// Our address of the link.
    host: String,
}

impl Namespace {
    /// Makes one, or says why there is none. `number` tells those of a process apart.
    fn make(number: u32) -> Option<Self> {
        let id = std::process::id();
        let name = format!("steelbench-{id}-{number}");
        if !ip(&["netns", "add", &name]) {
            skipped("network namespaces need root and the program ip");
            return None;
        }
        // From here on dropping it removes what follows.
        // Another network for each namespace of each process, nearly always.
        let net = format!("10.{}.{}", 64 + id / 100 % 190, id % 100 * 2 + number);
        let made = Self { name, host: format!("{net}.1") };
        let [inner, outer] = ["i", "o"].map(|end| format!("sb{end}{number}-{id}"));
        let (here, there) = (format!("{net}.1/30"), format!("{net}.2/30"));
        let steps: [&[&str]; 5] = [
            &["link", "add", &outer, "type", "veth", "peer", "name", &inner, "netns", &made.name],
            &["addr", "add", &here, "dev", &outer],
            &["link", "set", &outer, "up"],
            &["-n", &made.name, "addr", "add", &there, "dev", &inner],
            &["-n", &made.name, "link", "set", &inner, "up"],
        ];
        for step in steps {
            assert!(ip(step), "{step:?}");
        }
        Some(made)
    }

    /// The command of an agent inside.
    fn agent(&self, broker: &UserBroker) -> Command {
        let url = format!("nats://{}:{}", self.host, broker.port().unwrap());
        let agent = broker.command(&program(), &url);
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.name]).arg(agent.get_program());
        command.args(agent.get_args());
        command
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        ip(&["netns", "del", &self.name]);
    }
}

fn ip(arguments: &[&str]) -> bool {
    Command::new("ip").args(arguments).output().is_ok_and(|done| done.status.success())
}

#[test]
fn two_agents_in_namespaces_record_what_one_process_records() {
    if !has_broker() {
        return;
    }
    let Some(namespaces) = (1..=2).map(Namespace::make).collect::<Option<Vec<_>>>() else {
        return;
    };
    let here = Lab::with(&scripted_load("rate = \"900/s\"", ""));
    here.run(0);
    let broker = UserBroker::start_at("0.0.0.0", "");
    let agents: Vec<_> = namespaces
        .iter()
        .map(|namespace| Agent::start(namespace.agent(&broker).args(["--name", &namespace.name])))
        .collect();
    let lab = Lab::with(&scripted_load("rate = \"900/s\"\ngenerators = 2", ""));
    let (url, token) = (broker.url(), broker.secret("token", TOKEN));
    lab.run_with(&["--agents", "2", "--broker", &url, "--token-file", &token], 0);
    assert_eq!(lab.rows("t", RECORDED), here.rows("t", RECORDED));
    // In a load of a second each of them sends over its link, which has nothing else to carry.
    let lab = Lab::with(&slow_load(100, 1));
    lab.run_with(&["--agents", "2", "--broker", &url, "--token-file", &token], 0);
    let sent = "SELECT count(*) FROM facts WHERE name GLOB 'generator_network.steelbench-*' AND \
                value > 0";
    assert_eq!(lab.rows("t", sent), ["4"]);
    for agent in agents {
        agent.end().expect(0);
    }
}
