//! Scripts and how often each of them runs; pgbench's built-in ones, and those of sysbench.

use crate::compile::{Body, compile};
use crate::error::{Fault, MixError};
use crate::names::{Names, Slot, is_name};
use crate::shared::{Counter, Shared};
use crate::sql::Protocol;
use crate::sysbench::{self, Sysbench};
use crate::value::Value;
use observations::{Fact, SCRIPT_COUNTS, SCRIPT_SHARES};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use work::UserStatement;

/// Presets that scripts can rely on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Presets {
    /// `:scale`.
    pub scale: u32,
    /// `:random_seed`, from which all that is random follows.
    pub seed: u64,
    /// Variables from outside, which go before the automatic ones: pgbench's `-D`.
    pub variables: Vec<(String, String)>,
}

/// Scripts that a load chooses from, parsed.
#[derive(Debug)]
pub struct Mix {
    pub(super) scripts: Vec<Script>,
    pub(super) names: Names,
    /// Values before the first transaction, by slot.
    pub(super) initial: Vec<Option<Value>>,
    pub(super) client_id: Option<Slot>,
    pub(super) seed: u64,
    pub(super) shared: Shared,
    /// True if connections share keys or counters: all of them have to be in one process.
    pub(super) shares_state: bool,
    statements: Vec<UserStatement>,
}

#[derive(Debug)]
pub(super) struct Script {
    pub name: String,
    pub body: Body,
    /// Position of its first statement among those of all scripts.
    pub first: usize,
    weight: u32,
}

impl Mix {
    /// Parses scripts.
    ///
    /// # Errors
    /// When one of them cannot be understood, a variable is never set, or none has a weight.
    pub fn parse(
        sources: &[Source],
        protocol: Protocol,
        presets: &Presets,
    ) -> Result<Self, MixError> {
        let mut names = Names::default();
        let mut preset: Vec<(Slot, Value)> = Vec::new();
        let default_seed = Xoshiro256PlusPlus::seed_from_u64(presets.seed).next_u64() as i64;
        let automatic = [
            ("scale", i64::from(presets.scale)),
            ("random_seed", presets.seed as i64),
            ("default_seed", default_seed),
        ];
        preset.extend(automatic.map(|(name, value)| (names.assign(name), Value::Integer(value))));
        let client_id = names.assign("client_id");
        for (name, text) in &presets.variables {
            if !is_name(name) {
                return Err(MixError::Variable(Fault::NotAName(name.clone())));
            }
            preset.push((names.assign(name), Value::Text(text.as_str().into())));
        }
        let (mut statements, mut scripts, mut first) = (Vec::new(), Vec::new(), 0);
        for (number, source) in sources.iter().enumerate() {
            names.begin_script(number);
            let body = compile(&source.text, protocol, &mut names, &mut statements)
                .map_err(|error| error.in_script(&source.name, &source.text))?;
            let script = Script { name: source.name.clone(), body, first, weight: source.weight };
            first += script.body.statements.len();
            scripts.push(script);
        }
        names.check().map_err(|(script, error)| {
            let source = &sources[script];
            error.in_script(&source.name, &source.text)
        })?;
        if scripts.iter().all(|script| script.weight == 0) {
            return Err(MixError::NoWeight);
        }
        let mut initial = vec![None; names.len()];
        for (slot, value) in preset {
            initial[slot] = Some(value);
        }
        let client_id = initial[client_id].is_none().then_some(client_id);
        let counters = names.counters().iter().map(|_| Counter::default()).collect();
        let shared = Shared { counters, ..Shared::default() };
        let takes_keys = ["new_key", "latest_key"];
        let shares_state = !shared.counters.is_empty()
            || sources
                .iter()
                .any(|source| takes_keys.iter().any(|name| source.text.contains(name)));
        let seed = presets.seed;
        Ok(Self { scripts, names, initial, client_id, seed, shared, shares_state, statements })
    }

    /// The statements to prepare on each connection; requests name them by their position.
    pub fn statements(&self) -> &[UserStatement] {
        &self.statements
    }

    /// Names of the scripts, in the order in which they were given.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.scripts.iter().map(|script| script.name.as_str())
    }

    /// The counters that scripts add to: their names, and their sums over the committed
    /// transactions of the trial and of the measurement.
    pub fn counts(&self) -> impl Iterator<Item = (&str, i64, i64)> {
        let counters = self.names.counters().iter().zip(&self.shared.counters);
        counters.map(|((_, name), counter)| (name.as_str(), counter.ever(), counter.measured()))
    }

    /// The facts of a trial about the mix: the shares that the weights say, and the counters of the
    /// measurement.
    pub fn facts(&self) -> Vec<Fact> {
        let total: f64 = self.scripts.iter().map(|script| f64::from(script.weight)).sum();
        let shared = self.scripts.iter().filter(|_| self.scripts.len() > 1);
        let shares = shared
            .map(|script| SCRIPT_SHARES.record(&script.name, f64::from(script.weight) / total));
        let counted = self.names.counters().iter().zip(self.counts());
        let counts = counted.map(|((script, name), (.., measured))| {
            let script = &self.scripts[*script].name;
            SCRIPT_COUNTS.record(&format!("{script}: {name}"), measured as f64)
        });
        shares.chain(counts).collect()
    }

    /// The statements of all scripts as they stand there, each with the name of its script.
    pub fn sources(&self) -> impl Iterator<Item = (&str, &str)> {
        self.scripts.iter().flat_map(|script| {
            let statements = script.body.statements.iter();
            statements.map(|statement| (script.name.as_str(), statement.source.as_str()))
        })
    }

    /// Chooses a script by the weights.
    pub(super) fn choose(&self, random: &mut Xoshiro256PlusPlus) -> usize {
        if let [_] = self.scripts.as_slice() {
            return 0;
        }
        let total: u64 = self.scripts.iter().map(|script| u64::from(script.weight)).sum();
        let mut drawn = random.random_range(0..total);
        for (number, script) in self.scripts.iter().enumerate() {
            match drawn.checked_sub(u64::from(script.weight)) {
                Some(rest) => drawn = rest,
                None => return number,
            }
        }
        0
    }
}

/// A script that has not been parsed, and how often it is to run compared with others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Names it in messages and results.
    pub name: String,
    /// The script.
    pub text: String,
    /// It is chosen with a probability of this divided by the sum of all weights.
    pub weight: u32,
}

/// The largest weight.
const FILE_WEIGHT_MAX: u32 = i32::MAX as u32;

impl Source {
    /// A built-in script by its name or a beginning that no other has, with a weight behind an `@`:
    /// `tpcb-like`, `select@9`, `oltp_read_only`; those of sysbench work on these tables.
    ///
    /// # Errors
    /// When there is none, or more than one, or what follows the `@` is not a weight.
    pub fn builtin(argument: &str, sysbench: Sysbench) -> Result<Self, MixError> {
        let (name, weight) = parse_file_argument(argument)?;
        let names: Vec<&'static str> =
            BUILTINS.iter().map(|(name, _)| *name).chain(sysbench::NAMES).collect();
        let mut fitting = names.iter().filter(|known| known.starts_with(name));
        match (fitting.next(), fitting.next()) {
            (Some(name), None) => {
                let pgbench = BUILTINS.iter().find(|(known, _)| known == name);
                let pgbench = pgbench.map(|(_, text)| (*text).to_owned());
                let text = pgbench.or_else(|| sysbench.script(name)).unwrap_or_default();
                Ok(Self { name: (*name).to_owned(), text, weight })
            }
            (None, _) => Err(MixError::Unknown { name: name.to_owned(), known: names }),
            (Some(first), Some(second)) => {
                Err(MixError::Ambiguous { name: name.to_owned(), first, second })
            }
        }
    }

    /// Returns whether it is one of sysbench's scripts.
    pub fn is_of_sysbench(&self) -> bool {
        sysbench::NAMES.contains(&self.name.as_str())
    }
}

/// Takes `file.sql@3` apart into the file and its weight, which is 1 if none is given.
///
/// # Errors
/// When what follows the last `@` is not a weight.
pub fn parse_file_argument(argument: &str) -> Result<(&str, u32), MixError> {
    let Some((file, weight)) = argument.rsplit_once('@') else { return Ok((argument, 1)) };
    let weight = weight.parse().ok().filter(|weight| *weight <= FILE_WEIGHT_MAX);
    match weight {
        Some(weight) if !file.is_empty() => Ok((file, weight)),
        _ => Err(MixError::Weight { argument: argument.to_owned(), most: FILE_WEIGHT_MAX }),
    }
}

/// Names and texts of pgbench's built-in scripts, as `pgbench --show-script` prints them.
pub const BUILTINS: &[(&str, &str)] = &[
    ("tpcb-like", include_str!("builtin/tpcb_like.sql")),
    ("simple-update", include_str!("builtin/simple_update.sql")),
    ("select-only", include_str!("builtin/select_only.sql")),
];

#[cfg(test)]
mod tests {
    use super::{Source, Sysbench, parse_file_argument};

    #[test]
    fn weights_follow_the_last_at_sign() {
        assert_eq!(parse_file_argument("a.sql").unwrap(), ("a.sql", 1));
        assert_eq!(parse_file_argument("a.sql@0").unwrap(), ("a.sql", 0));
        assert_eq!(parse_file_argument("a@b.sql@12").unwrap(), ("a@b.sql", 12));
        for wrong in ["a@b.sql", "a@", "@3", "a@-1", "a@2147483648", "a@1.5"] {
            assert!(parse_file_argument(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn built_in_scripts_go_by_a_beginning_that_no_other_has() {
        assert_eq!(Source::builtin("sel@9", Sysbench::default()).unwrap().name, "select-only");
        assert_eq!(Source::builtin("sel@9", Sysbench::default()).unwrap().weight, 9);
        assert_eq!(Source::builtin("t", Sysbench::default()).unwrap().name, "tpcb-like");
        let ambiguous = Source::builtin("s", Sysbench::default()).unwrap_err().to_string();
        assert!(
            ambiguous.contains("simple-update") && ambiguous.contains("select-only"),
            "{ambiguous}"
        );
        assert_eq!(
            Source::builtin("oltp_p", Sysbench::default()).unwrap().name,
            "oltp_point_select"
        );
        let unknown = Source::builtin("tpcb_like", Sysbench::default()).unwrap_err().to_string();
        assert!(unknown.contains("did you mean `tpcb-like`?"), "{unknown}");
    }
}
