use super::compile::{Body, Command, compile};
use super::names::{Names, Slot, is_name};
use super::{MixError, ScriptError, Source, Value};
use engines::UserStatement;
use experiment::choice;
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

choice! {
    /// How statements are sent.
    pub enum Protocol {
        /// Prepared once, with variables as parameters.
        Prepared = "prepared",
        /// As text, with the variables' values filled in.
        Simple = "simple",
    }
}

/// What scripts can rely on before they run.
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
    statements: Vec<UserStatement>,
}

#[derive(Debug)]
pub(super) struct Script {
    pub name: String,
    pub body: Body,
    weight: u32,
}

impl Script {
    pub fn error(&self, command: usize, fault: super::Fault) -> ScriptError {
        let Command { line, column, .. } = self.body.commands[command];
        ScriptError { script: self.name.clone(), line, column, fault }
    }
}

impl Mix {
    /// Parses scripts.
    ///
    /// # Errors
    /// When one of them cannot be understood, a variable is never set, or none has a weight.
    pub fn parse(sources: &[Source], protocol: Protocol, presets: &Presets) -> Result<Self, MixError> {
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
                return Err(MixError::Variable(name.clone()));
            }
            preset.push((names.assign(name), Value::Text(text.as_str().into())));
        }
        let mut statements = Vec::new();
        let mut scripts = Vec::new();
        for (number, source) in sources.iter().enumerate() {
            names.begin_script(number);
            let body = compile(&source.text, protocol, &mut names, &mut statements)
                .map_err(|error| error.in_script(&source.name, &source.text))?;
            scripts.push(Script { name: source.name.clone(), body, weight: source.weight });
        }
        names.check(sources)?;
        if scripts.iter().all(|script| script.weight == 0) {
            return Err(MixError::NoWeight);
        }
        let mut initial = vec![None; names.len()];
        for (slot, value) in preset {
            initial[slot] = Some(value);
        }
        let client_id = initial[client_id].is_none().then_some(client_id);
        Ok(Self { scripts, names, initial, client_id, seed: presets.seed, statements })
    }

    /// The statements to prepare on each connection; requests name them by their position.
    pub fn statements(&self) -> &[UserStatement] {
        &self.statements
    }

    /// Names of the scripts, in the order in which they were given.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.scripts.iter().map(|script| script.name.as_str())
    }

    /// Chooses a script by the weights.
    pub(super) fn choose(&self, random: &mut Xoshiro256PlusPlus) -> usize {
        if let [_] = self.scripts.as_slice() {
            return 0;
        }
        let total: u64 = self.scripts.iter().map(|script| u64::from(script.weight)).sum();
        let mut drawn = random.random_range(0..total);
        self.scripts
            .iter()
            .position(|script| match drawn.checked_sub(u64::from(script.weight)) {
                Some(rest) => {
                    drawn = rest;
                    false
                }
                None => true,
            })
            .unwrap_or_default()
    }
}
