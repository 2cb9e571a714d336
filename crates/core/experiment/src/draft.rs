use crate::error::FileErrors;
use crate::experiment::Experiment;
use crate::file::{BLOCKS, NAME, QUESTION, SEED};
use crate::{Catalog, FromValue, Kind, NamedFile, Setting, Value, parse};
use std::sync::Arc;
use toml_edit::{Array, DocumentMut, InlineTable, Item, value};

/// A list that is longer than this has a line for each element.
const LIST_LENGTH_MAX: usize = 80;

/// An experiment that a program builds by typed settings: what quick commands are short for.
///
/// It is written as an experiment file and read like any other. So everything is validated in one
/// place, what is recorded is a file that can be run again, and errors point into it.
#[derive(Debug, Clone, Default)]
pub struct Draft {
    comments: String,
    document: DocumentMut,
    files: Vec<Arc<NamedFile>>,
}

/// The settings of one linked level.
#[derive(Debug, Clone, Default)]
pub struct LinkedSettings(InlineTable);

impl Draft {
    /// An experiment that varies nothing yet.
    pub fn new(name: &str, question: &str) -> Self {
        let mut draft = Self::default();
        draft.set(NAME, name.to_owned());
        draft.set(QUESTION, question.to_owned());
        draft
    }

    /// An experiment with another one's file, to be changed.
    pub fn from_experiment(experiment: &Experiment) -> Self {
        // The source was read as an experiment before.
        let document = experiment.source.parse().unwrap_or_default();
        Self { document, ..Self::default() }
    }

    /// Removes the section or the value at a dotted path.
    pub fn remove(&mut self, path: &str) {
        let (tables, key) = path.rsplit_once('.').unwrap_or(("", path));
        let mut parts = tables.split('.').filter(|part| !part.is_empty());
        let table = parts.try_fold(self.document.as_item_mut(), |item, part| {
            item.as_table_like_mut()?.get_mut(part)
        });
        if let Some(table) = table.and_then(Item::as_table_like_mut) {
            table.remove(key);
        }
    }

    /// Adds a comment at the beginning of the file.
    pub fn comment(&mut self, text: &str) {
        self.comments.extend(text.lines().flat_map(|line| ["# ", line, "\n"]));
    }

    /// Keeps a file with the experiment that it was made from.
    pub fn made_from(&mut self, file: NamedFile) {
        self.files.push(Arc::new(file));
    }

    /// Gives a setting a value.
    pub fn set<T, V>(&mut self, setting: Setting<T>, value: V)
    where
        T: FromValue + From<V>,
        V: Into<Value>,
    {
        self.place(setting.path(), written(setting.declaration.kind, value.into()));
    }

    /// Gives a setting of this path a value as people write it, which is judged when the experiment
    /// is built.
    pub fn set_text(&mut self, path: &str, text: &str) {
        self.place(path, plain(text));
    }

    /// Gives a setting a value if there is one.
    pub fn set_some<T, V>(&mut self, setting: Setting<T>, value: Option<V>)
    where
        T: FromValue + From<V>,
        V: Into<Value>,
    {
        if let Some(value) = value {
            self.set(setting, value);
        }
    }

    /// Makes a setting a factor with these levels. A single level is the setting's value; none
    /// leave it as it is.
    pub fn vary<T, V>(&mut self, setting: Setting<T>, levels: &[V])
    where
        T: FromValue + From<V>,
        V: Into<Value> + Clone,
    {
        if let [only] = levels {
            self.set(setting, only.clone());
        } else if !levels.is_empty() {
            let kind = setting.declaration.kind;
            let levels = levels.iter().map(|level| written(kind, level.clone().into()));
            self.section("factors")[setting.path()] = value(list(levels));
        }
    }

    /// Makes the setting of this path a factor with these levels, or gives it the only one, as
    /// people write them.
    pub fn vary_text(&mut self, path: &str, levels: &[&str]) {
        match levels {
            [only] => self.set_text(path, only),
            levels => {
                self.section("factors")[path] =
                    value(list(levels.iter().map(|level| plain(level))));
            }
        }
    }

    /// Adds a level to a factor that is made of linked levels.
    pub fn level(&mut self, factor: &str, name: &str, settings: LinkedSettings) {
        self.push(
            "level",
            [("factor", value(factor)), ("name", value(name)), ("set", value(settings.0))],
        );
    }

    /// Declares a volume.
    pub fn volume(&mut self, name: &str, path: &str) {
        self.push("volume", [("name", value(name)), ("path", value(path))]);
    }

    /// The number of times that each configuration is run, and the seed of the order and of what is
    /// drawn.
    pub fn repeats(&mut self, blocks: u32, seed: u64) {
        self.set(BLOCKS, blocks);
        self.set(SEED, seed);
    }

    /// The experiment file.
    pub fn source(&self) -> String {
        let blank = if self.comments.is_empty() { "" } else { "\n" };
        format!("{}{blank}{}", self.comments, self.document)
    }

    /// The experiment, validated as a file is.
    ///
    /// # Errors
    /// Everything that is wrong, each with its place in [`Draft::source`].
    pub fn build(&self, catalog: &Catalog) -> Result<Experiment, FileErrors> {
        Ok(Experiment { files: self.files.clone(), ..parse(&self.source(), catalog)? })
    }

    /// Puts a value where its dotted path says.
    fn place(&mut self, path: &str, value: toml_edit::Value) {
        let mut parts = path.split('.');
        let mut item = self.section(parts.next().unwrap_or_default());
        for part in parts {
            item = &mut item[part];
        }
        *item = Item::Value(value);
    }

    /// A section, which is new with its first setting.
    fn section(&mut self, name: &str) -> &mut Item {
        self.document.entry(name).or_insert(toml_edit::table())
    }

    /// Adds a table to a `[[section]]`.
    fn push<const N: usize>(&mut self, section: &str, keys: [(&str, Item); N]) {
        let tables = self.document.entry(section).or_insert(toml_edit::array());
        if let Some(tables) = tables.as_array_of_tables_mut() {
            tables.push(keys.into_iter().collect());
        }
    }
}

impl LinkedSettings {
    /// Gives a setting a value.
    #[must_use]
    pub fn with<T, V>(mut self, setting: Setting<T>, value: V) -> Self
    where
        T: FromValue + From<V>,
        V: Into<Value>,
    {
        self.0.insert(setting.path(), written(setting.declaration.kind, value.into()));
        self
    }

    /// Gives the setting of this path a value.
    #[must_use]
    pub fn with_value(mut self, path: &str, value: Value) -> Self {
        self.0.insert(path, written(Kind::Scalar, value));
        self
    }

    /// Gives the setting of this path a value as people write it, which is judged when the
    /// experiment is built.
    #[must_use]
    pub fn with_text(mut self, path: &str, text: &str) -> Self {
        self.0.insert(path, plain(text));
        self
    }
}

/// A value as people write it. A list of one is written as its element.
fn written(kind: Kind, value: Value) -> toml_edit::Value {
    match kind.write(value) {
        Value::Bool(value) => value.into(),
        Value::Integer(value) => value.into(),
        Value::Float(value) => value.into(),
        Value::Text(text) => text.into(),
        Value::List(mut values) if values.len() == 1 => written(kind, values.remove(0)),
        Value::List(values) => list(values.into_iter().map(|value| written(kind, value))).into(),
    }
}

/// A text as a number or a truth value where it is written just so, else as the text.
fn plain(text: &str) -> toml_edit::Value {
    let whole = text.parse::<i64>().ok().filter(|number| number.to_string() == text);
    let number =
        text.parse::<f64>().ok().filter(|number| number.is_finite() && number.to_string() == text);
    let truth = text.parse::<bool>().ok();
    let plain =
        whole.map(Into::into).or_else(|| number.map(Into::into)).or_else(|| truth.map(Into::into));
    plain.unwrap_or_else(|| text.into())
}

fn list(values: impl Iterator<Item = toml_edit::Value>) -> Array {
    let mut list: Array = values.collect();
    if list.to_string().len() > LIST_LENGTH_MAX {
        list.iter_mut().for_each(|value| value.decor_mut().set_prefix("\n    "));
        list.set_trailing("\n");
        list.set_trailing_comma(true);
    }
    list
}

#[cfg(test)]
mod tests {
    use super::{Draft, LinkedSettings};
    use crate::{Catalog, Declaration, Kind, Setting, Value, common, declarations, settings};

    settings! {
        /// A text.
        NAME: String = "target.name", Kind::Text;
        /// A size.
        SIZE: Option<u64> = "target.size", Kind::Size { min: 0, max: i64::MAX };
        /// Some texts.
        NAMES: Vec<String> = "target.names", Kind::TextList;
        /// A number.
        COUNT: u32 = "workload.count", Kind::Count { min: 1, max: 9 }, "1";
        /// A time.
        TIME: f64 = "workload.time", Kind::Duration, "1 s";
    }

    const TARGET: &[Declaration] = declarations![NAME, SIZE, NAMES];
    const WORKLOAD: &[Declaration] = declarations![COUNT, TIME];

    fn draft() -> (Draft, Catalog) {
        let mut draft = Draft::new("t", "Which?");
        draft.set(common::ENGINE, "e");
        draft.set(common::PROBE, "p");
        draft.repeats(2, 7);
        (
            draft,
            Catalog {
                engines: vec![("e", TARGET)],
                probes: vec![("p", WORKLOAD)],
                ..Catalog::default()
            },
        )
    }

    #[test]
    fn what_is_set_is_in_the_experiment_and_in_its_file() {
        let (mut draft, catalog) = draft();
        draft.comment("One.\nTwo.");
        draft.set(SIZE, 8192_u64);
        draft.set_some(TIME, Some(0.05));
        draft.set_some(NAME, None::<String>);
        draft.vary(COUNT, &[1_u32, 2]);
        draft.level("kind", "few", LinkedSettings::default().with(NAMES, vec!["a".to_owned()]));
        draft.level(
            "kind",
            "more",
            LinkedSettings::default().with(NAMES, vec!["a".to_owned(), "b".to_owned()]),
        );
        draft.volume("v", "/mnt/v");
        draft.set_some(crate::file::TRIAL_TIME_S, Some(90_000.0));
        let experiment = draft.build(&catalog).unwrap();
        assert_eq!(experiment.source, draft.source());
        assert_eq!(crate::parse(&draft.source(), &catalog).unwrap(), experiment);
        assert!(experiment.source.starts_with("# One.\n# Two.\n\n[experiment]\nname = \"t\"\n"));
        for line in [
            "size = \"8 KiB\"",
            "time = \"50 ms\"",
            "\"workload.count\" = [1, 2]",
            "trial_time = \"25 h\"",
        ] {
            assert!(
                experiment.source.lines().any(|written| written == line),
                "{line}\n{}",
                experiment.source
            );
        }
        let labels: Vec<String> =
            experiment.configurations.iter().map(crate::Configuration::label).collect();
        assert_eq!(
            labels,
            ["count=1 kind=few", "count=1 kind=more", "count=2 kind=few", "count=2 kind=more"]
        );
        let first = &experiment.configurations[0];
        assert_eq!((first.get(SIZE), first.get(COUNT), first.get(TIME)), (Some(8192), 1, 0.05));
        assert_eq!(first.get(NAMES), ["a"]);
        assert_eq!(
            (experiment.repeats.seed, experiment.get(crate::file::TRIAL_TIME_S)),
            (7, 90_000.0)
        );
        assert_eq!(experiment.volumes[0].path, "/mnt/v");
    }

    #[test]
    fn texts_are_what_a_person_would_have_written() {
        let (mut draft, catalog) = draft();
        draft.set_text("workload.time", "50 ms");
        draft.set_text("target.name", "007");
        draft.vary_text("workload.count", &["1", "2"]);
        draft.vary_text("target.size", &["8 KiB"]);
        let experiment = draft.build(&catalog).unwrap();
        let first = &experiment.configurations[0];
        assert_eq!(
            (first.get(TIME), first.get(SIZE), first.get(NAME)),
            (0.05, Some(8192), "007".to_owned())
        );
        assert_eq!(experiment.factors[0].numeric(), Some(vec![1.0, 2.0]));
        for line in ["time = \"50 ms\"", "name = \"007\"", "\"workload.count\" = [1, 2]"] {
            assert!(
                experiment.source.lines().any(|written| written == line),
                "{line}\n{}",
                experiment.source
            );
        }
    }

    #[test]
    fn any_text_survives_the_file() {
        let nasty = "a \"b\" \\ \u{1} \u{7f} \n\t é 🦀 # [x] '''";
        let (mut draft, catalog) = draft();
        draft.set(NAME, nasty);
        draft.set(NAMES, vec![nasty.to_owned(); 3]);
        let experiment = draft.build(&catalog).unwrap();
        assert_eq!(experiment.configurations[0].get(NAME), nasty);
        assert_eq!(experiment.configurations[0].get(NAMES), vec![nasty; 3]);
    }

    #[test]
    fn what_the_settings_do_not_take_is_an_error() {
        let (mut draft, catalog) = draft();
        draft.set(COUNT, 10_u32);
        draft.vary(SIZE, &[1_u64, 1]);
        let message = draft.build(&catalog).unwrap_err().to_string();
        assert!(
            message.contains("expected 1 to 9") && message.contains("`1` is given twice"),
            "{message}"
        );
    }

    #[test]
    fn values_are_read_as_they_were_set() {
        fn same<T: crate::FromValue>(setting: Setting<T>, values: impl IntoIterator<Item = Value>) {
            let kind = setting.declaration.kind;
            for value in values {
                let written = kind.write(value.clone());
                assert_eq!(kind.read_again(&written).ok(), Some(value), "{written}");
            }
        }
        let sizes = [0, 512, 8000, 8192, 1536 << 10, 1000]
            .map(|bytes: u64| SIZE.declaration.kind.write(bytes.into()).to_string());
        assert_eq!(sizes, ["0", "512", "8 KB", "8 KiB", "1.5 MiB", "1 KB"]);
        same(SIZE, [0_u64, 1, 512, 1000, 4096, 1 << 20, (1 << 20) + 1, 1 << 62].map(Value::from));
        same(
            TIME,
            [0.0, 1e-9, 0.05, 0.1 + 0.2, 1.0, 1.5, 90.0, 3600.0, 86_400.0, 1e7 / 3.0]
                .map(Value::from),
        );
    }
}
