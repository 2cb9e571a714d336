use crate::benchbase::element::{BenchBaseError, others, text_of};
use roxmltree::Node;
use std::fmt;

/// The workloads with a counterpart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    OrderEntry,
    DecisionSupport,
    Ycsb,
    SmallBank,
    Tatp,
}

/// BenchBase's names of each workload and of its transactions.
const KNOWN: [(Kind, &str, &str); 5] = [
    (Kind::OrderEntry, "tpcc", "NewOrder Payment OrderStatus Delivery StockLevel"),
    (
        Kind::DecisionSupport,
        "tpch",
        "Q1 Q2 Q3 Q4 Q5 Q6 Q7 Q8 Q9 Q10 Q11 Q12 Q13 Q14 Q15 Q16 Q17 Q18 Q19 Q20 Q21 Q22",
    ),
    (
        Kind::Ycsb,
        "ycsb",
        "ReadRecord InsertRecord ScanRecord UpdateRecord DeleteRecord ReadModifyWriteRecord",
    ),
    (
        Kind::SmallBank,
        "smallbank",
        "Amalgamate Balance DepositChecking SendPayment TransactSavings WriteCheck",
    ),
    (
        Kind::Tatp,
        "tatp",
        "DeleteCallForwarding GetAccessData GetNewDestination GetSubscriberData \
         InsertCallForwarding UpdateLocation UpdateSubscriberData",
    ),
];

impl Kind {
    /// The workload whose transactions have these names.
    fn of_transactions(names: &[&str]) -> Option<Self> {
        let known = KNOWN.iter().filter(|_| !names.is_empty()).find(|(.., transactions)| {
            names.iter().all(|name| transactions.split(' ').any(|known| known == *name))
        });
        known.map(|(kind, ..)| *kind)
    }

    /// BenchBase's name.
    pub fn theirs(self) -> &'static str {
        KNOWN.iter().find(|(kind, ..)| *kind == self).map_or("", |(_, name, _)| name)
    }

    /// The script that is the counterpart of a transaction.
    fn script(self, transaction: &str) -> Option<String> {
        let mut script = self.theirs().to_owned();
        for letter in transaction.trim_end_matches("Record").chars() {
            if letter.is_ascii_uppercase() {
                script.push('-');
            }
            script.push(letter.to_ascii_lowercase());
        }
        (transaction != "DeleteRecord").then(|| script + ".sql")
    }

    /// The ready experiment with its scripts.
    pub fn scripts(self) -> Option<&'static str> {
        let has = matches!(self, Self::Ycsb | Self::SmallBank | Self::Tatp);
        has.then(|| self.theirs())
    }

    /// Rows at scale factor 1.
    fn rows(self) -> f64 {
        match self {
            Self::Ycsb => 1e3,
            Self::SmallBank => 1e6,
            _ => 1e5,
        }
    }
}

/// The work of a trial.
pub struct Workload {
    pub kind: Kind,
    scale: f64,
    terminals: u32,
    seconds: Option<f64>,
    warmup: Option<f64>,
    rate: Option<f64>,
    tries: u64,
    /// Scripts with their weights, or numbers of queries.
    parts: Vec<String>,
    inserts: bool,
    paced: bool,
}

impl Workload {
    /// Reads transactions, weights, rate, times, terminals and scale.
    pub fn read(root: Node<'_, '_>, lacking: &mut Vec<String>) -> Result<Self, BenchBaseError> {
        let types = root.children().filter(|child| child.has_tag_name("transactiontypes"));
        let types: Vec<Node<'_, '_>> = types
            .flat_map(|kind| kind.children().filter(|child| child.has_tag_name("transactiontype")))
            .collect();
        let names: Vec<&str> = types.iter().filter_map(|kind| text_of(*kind, "name")).collect();
        let kind = Kind::of_transactions(&names).ok_or(BenchBaseError::OtherWorkload)?;
        let works = root.children().find(|child| child.has_tag_name("works"));
        let mut phases = works
            .into_iter()
            .flat_map(|work| work.children().filter(|child| child.has_tag_name("work")));
        let phase = phases.next().ok_or(missing("work"))?;
        let later = phases.count();
        if later > 0 {
            lacking.push(format!("{later} more <work>: a trial is the first one"));
        }
        let waits = types.iter().any(|kind| {
            ["preExecutionWait", "postExecutionWait"].iter().any(|name| {
                text_of(*kind, name)
                    .is_some_and(|wait| wait.parse::<f64>().is_ok_and(|ms| ms > 0.0))
            })
        });
        let paced = waits && kind == Kind::OrderEntry;
        if waits && !paced {
            lacking.push("waits before and after transactions: use \\sleep in the scripts".into());
        }
        if paced {
            lacking.push("waits of the file: pace = 1 are those of the specification".into());
        }
        others_of(phase, lacking);
        let weights = weights(phase, names.len())?;
        let scale = number(root, "scalefactor")?.unwrap_or(1.0);
        let rate = rate(phase)?;
        if rate.is_some() && matches!(kind, Kind::OrderEntry | Kind::DecisionSupport) {
            lacking.push("<rate>: the load is a closed loop, or has workload.pace".to_owned());
        }
        if let Some(arrival) = text_of(phase, "arrival").or(phase.attribute("arrival"))
            && rate.is_some()
            && !arrival.eq_ignore_ascii_case("poisson")
        {
            lacking.push("<arrival> regular: arrivals are a Poisson process".to_owned());
        }
        let parts = parts(kind, &names, &weights, lacking);
        Ok(Self {
            kind,
            scale,
            terminals: number(root, "terminals")?.map_or(1, |count| count as u32),
            seconds: number(phase, "time")?,
            warmup: number(phase, "warmup")?.filter(|seconds| *seconds > 0.0),
            rate,
            tries: number(root, "retries")?.unwrap_or(3.0) as u64 + 1,
            inserts: parts.iter().any(|part| part.starts_with("ycsb-insert")),
            parts,
            paced,
        })
    }
}

fn missing(element: &'static str) -> BenchBaseError {
    BenchBaseError::Element { element, message: "missing" }
}

/// Elements of a phase that no setting stands for.
fn others_of(phase: Node<'_, '_>, lacking: &mut Vec<String>) {
    const ELEMENTS: [&str; 6] = ["time", "warmup", "rate", "weights", "arrival", "serial"];
    lacking.extend(others(phase, &ELEMENTS).map(|name| format!("<{name}> of the <work>")));
}

fn number(node: Node<'_, '_>, element: &'static str) -> Result<Option<f64>, BenchBaseError> {
    let Some(text) = text_of(node, element) else { return Ok(None) };
    let number = text.parse::<f64>().ok().filter(|text| (0.0..=1e12).contains(text));
    let message = "expected a number that is not negative";
    number.map(Some).ok_or(BenchBaseError::Element { element, message })
}

/// The rate a second; `None` without a limit.
fn rate(phase: Node<'_, '_>) -> Result<Option<f64>, BenchBaseError> {
    match text_of(phase, "rate") {
        Some(text) if ["unlimited", "disabled"].contains(&text.to_ascii_lowercase().as_str()) => {
            Ok(None)
        }
        _ => Ok(number(phase, "rate")?.filter(|rate| *rate > 0.0)),
    }
}

fn weights(phase: Node<'_, '_>, count: usize) -> Result<Vec<f64>, BenchBaseError> {
    let wrong = |message| BenchBaseError::Element { element: "weights", message };
    let text = text_of(phase, "weights").ok_or_else(|| wrong("missing"))?;
    let weights: Option<Vec<f64>> =
        text.split(',').map(|weight| weight.trim().parse::<f64>().ok()).collect();
    let weights = weights.ok_or_else(|| wrong("expected numbers with commas between them"))?;
    if weights.iter().any(|weight| !(0.0..=1e6).contains(weight)) {
        return Err(wrong("expected weights from 0 to a million"));
    }
    if weights.len() == count {
        Ok(weights)
    } else {
        Err(wrong("there is not one for each transaction type"))
    }
}

/// Scripts with weights, or numbers of queries.
fn parts(kind: Kind, names: &[&str], weights: &[f64], lacking: &mut Vec<String>) -> Vec<String> {
    let used = names.iter().zip(weights).filter(|(_, weight)| **weight > 0.0);
    match kind {
        Kind::OrderEntry => {
            let new_order = names.iter().position(|known| *known == "NewOrder");
            let share = new_order.map_or(0.0, |at| weights[at]) / weights.iter().sum::<f64>();
            // The deck has 10 of 23 cards of these, one of each other.
            if (share - 10.0 / 23.0).abs() > 0.02 {
                lacking.push("<weights>: decks of 23 cards have the specified mix".to_owned());
            } else {
                lacking.push("<weights>: decks are 43.5, 43.5, 4.3, 4.3, 4.3 %".to_owned());
            }
            Vec::new()
        }
        Kind::DecisionSupport => {
            let used: Vec<(&&str, &f64)> = used.collect();
            if used.iter().any(|(_, weight)| weight.total_cmp(used[0].1).is_ne()) {
                lacking.push("different <weights>: each query runs once a round".to_owned());
            }
            used.iter().map(|(name, _)| (**name).to_owned()).collect()
        }
        _ => {
            // Weights may have decimal places, those of scripts have none.
            let factor =
                if weights.iter().all(|weight| weight.fract() == 0.0) { 1.0 } else { 1000.0 };
            let scripts = used.filter_map(|(name, weight)| {
                let script = kind.script(name);
                if script.is_none() {
                    lacking.push(format!("transaction {name}"));
                }
                Some(format!("{}@{}", script?, (weight * factor).round()))
            });
            scripts.collect()
        }
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "[workload]")?;
        match self.kind {
            Kind::OrderEntry => {
                writeln!(
                    f,
                    "probe = \"order-entry\"\nwarehouses = {}",
                    self.scale.ceil().max(1.0)
                )?;
            }
            Kind::DecisionSupport => {
                let numbers: Vec<String> =
                    self.parts.iter().map(|number| format!("\"{number}\"")).collect();
                writeln!(f, "probe = \"decision-support\"\nscale = {}", self.scale)?;
                writeln!(f, "queries = [{}]", numbers.join(", "))?;
                return writeln!(f, "streams = {}", self.terminals.max(1));
            }
            _ => self.write_scripts(f)?,
        }
        writeln!(f, "connections = {}", self.terminals.max(1))?;
        writeln!(f, "duration = \"{} s\"", self.seconds.unwrap_or(60.0))?;
        if let Some(warmup) = self.warmup {
            writeln!(f, "warmup = \"{warmup} s\"")?;
        }
        if self.paced {
            writeln!(f, "pace = 1")?;
        }
        if let Some(rate) = self.rate
            && self.kind.scripts().is_some()
        {
            writeln!(f, "rate = \"{rate}/s\"")?;
        }
        writeln!(f, "max_tries = {}", self.tries)?;
        match self.kind {
            Kind::SmallBank => f.write_str(&self.money()),
            Kind::Ycsb if self.inserts => f.write_str(
                "\n[workload.checks.records]\nsql = \"SELECT count(*) FROM usertable\"\nequals = \
                 \":before + :inserted\"\n",
            ),
            _ => Ok(()),
        }
    }
}

impl Workload {
    fn write_scripts(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = (self.scale * self.kind.rows()).round().max(1.0);
        writeln!(f, "probe = \"script\"\ndata = \"{}\"\nrows = {rows}", self.kind.theirs())?;
        if self.kind == Kind::Tatp {
            let a = match rows {
                ..=1e6 => 65_535,
                ..=1e7 => 1_048_575,
                _ => 2_097_151,
            };
            writeln!(f, "variables = {{ a = {a} }}")?;
        }
        writeln!(f, "script = [")?;
        for part in &self.parts {
            writeln!(f, "    \"{part}\",")?;
        }
        writeln!(f, "]")
    }

    /// The check of SmallBank, with the counters of the scripts that run.
    fn money(&self) -> String {
        let has = |name: &str| self.parts.iter().any(|part| part.starts_with(name));
        let paid_in = if has("smallbank-deposit-checking") { " + :paid_in" } else { "" };
        let pays = has("smallbank-transact-savings") || has("smallbank-write-check");
        let paid_out = if pays { " - :paid_out" } else { "" };
        format!(
            "\n[workload.checks.money]\nsql = \"SELECT (SELECT sum(bal) FROM savings) + (SELECT \
             sum(bal) FROM checking)\"\nequals = \":before{paid_in}{paid_out}\"\n"
        )
    }
}
