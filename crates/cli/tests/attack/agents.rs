//! Kills of agents, brokers and coordinators at random instants: the run is repeated until it ends,
//! and has each trial once. And a link between agents and broker that is cut.

use crate::agents::{UserBroker, children, cut_link, has_broker, kill, slow_load};
use crate::attack::arena::{Random, Tries, campaign};
use crate::common::{Lab, end, signal};
use std::time::{Duration, Instant};

/// Kills of a try.
const KILLS: usize = 3;
/// A run that has not ended after this time hangs.
const PATIENCE: Duration = Duration::from_secs(120);

const MACHINES: &str = "[machines]\ncount = 2\ncheck = 2\n";

/// Processes that were killed.
#[derive(Default)]
struct Killed {
    agents: usize,
    brokers: usize,
    runs: usize,
}

impl Killed {
    fn all(&self) -> usize {
        self.agents + self.brokers + self.runs
    }
}

/// Kills one process after the other, then lets the run end.
fn kill_at_random(random: &mut Random, killed: &mut Killed) -> Result<(), String> {
    let has_machines = random.below(2) == 0;
    let blocks = 4;
    let file = slow_load(30, blocks);
    let file = if has_machines {
        format!("{}{MACHINES}", file.replace("generators = 2\n", ""))
    } else {
        file
    };
    let lab = Lab::with(&file);
    let arguments = ["run", "e.toml", "--agents", "2", "--retry-failed"];
    let (begun, mut child) = (Instant::now(), lab.start_with(&arguments));
    let enough = killed.all() + KILLS;
    loop {
        std::thread::sleep(Duration::from_millis(50 + random.below(900) as u64));
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) if status.success() => break,
            Some(_) => {
                let ended = std::mem::replace(&mut child, lab.start_with(&arguments));
                let ended = end(ended);
                if ended.stderr.contains("panicked") {
                    return Err(ended.stderr);
                }
            }
            None if killed.all() < enough => match random.below(3) {
                0 => killed.agents += kill_one(child.id(), " agent "),
                1 => killed.brokers += kill_one(child.id(), "nats-server"),
                _ => {
                    signal(&child, libc::SIGKILL);
                    end(std::mem::replace(&mut child, lab.start_with(&arguments)));
                    killed.runs += 1;
                }
            },
            None => {}
        }
        if begun.elapsed() > PATIENCE {
            let _ = child.kill();
            return Err(format!("it hangs: {}", end(child).stderr));
        }
    }
    end(child);
    each_trial_once(&lab, blocks)
}

/// Kills a child with a text in its command line, if there is one. Returns the number of kills.
fn kill_one(parent: u32, text: &str) -> usize {
    let Some(child) = children(parent, text).first().copied() else { return 0 };
    kill(child);
    1
}

/// Each configuration has each block once, on one machine.
fn each_trial_once(lab: &Lab, blocks: u32) -> Result<(), String> {
    let done = "SELECT configuration, count(*), count(DISTINCT block) FROM trials WHERE status = \
                'done' AND block > 0 GROUP BY 1";
    let (rows, expected) = (lab.rows("t", done), format!("|{blocks}|{blocks}"));
    if rows.len() != 2 || rows.iter().any(|row| !row.ends_with(&expected)) {
        return Err(format!("{rows:?}"));
    }
    let wrong = "SELECT (SELECT count(*) FROM runs), (SELECT count(*) FROM trials WHERE status = \
                 'done' AND work_amount <> 30), (SELECT count(*) FROM (SELECT 1 FROM trials WHERE \
                 status = 'done' AND block > 0 GROUP BY block HAVING count(DISTINCT \
                 ifnull(machine, '')) > 1))";
    let wrong = lab.rows("t", wrong);
    if wrong == ["1|0|0"] { Ok(()) } else { Err(format!("{wrong:?}")) }
}

#[test]
fn agent_kills() {
    if has_broker() {
        let mut killed = Killed::default();
        let tries = Tries { short: 1, full: 105 };
        campaign("agent_kills", tries, |random| kill_at_random(random, &mut killed));
        let Killed { agents, brokers, runs } = killed;
        println!("agent_kills: {agents} agents, {brokers} brokers and {runs} runs were killed");
    }
}

/// 7 s with the tests, which is longer than an agent may be silent; 60 s in the full campaign.
#[test]
fn agent_link_cuts() {
    if !has_broker() {
        return;
    }
    let is_full = std::env::var("STEELBENCH_ATTACK_TRIES").is_ok_and(|text| text == "full");
    let length = Duration::from_secs(if is_full { 60 } else { 7 });
    campaign("agent_link_cuts", Tries { short: 1, full: 4 }, |random| {
        let broker = UserBroker::start();
        let lab = Lab::with(&slow_load(60, 2));
        cut_link(&lab, &broker, length, random.below(1_500) as u64);
        each_trial_once_of(&lab)
    });
}

fn each_trial_once_of(lab: &Lab) -> Result<(), String> {
    let done = "SELECT count(*), count(DISTINCT configuration || ' ' || block) FROM trials WHERE \
                status = 'done'";
    let rows = lab.rows("t", done);
    if rows == ["4|4"] { Ok(()) } else { Err(format!("{rows:?}")) }
}
