//! Writing an experiment file.

use std::fmt::Display;
use std::fmt::Write;

/// The text of an experiment file that grows line by line.
#[derive(Debug, Default)]
pub struct FileText(String);

impl FileText {
    /// Begins with a comment, a line for each.
    pub fn new(comment: &[&str]) -> Self {
        let lines: Vec<String> = comment.iter().map(|line| format!("# {line}\n")).collect();
        Self(lines.concat())
    }

    /// Begins a section: `[target]`, `[[volume]]`.
    pub fn section(&mut self, header: &str) {
        self.line(format_args!("\n{header}"));
    }

    /// A comment above what comes next.
    pub fn comment(&mut self, text: &str) {
        for line in text.lines() {
            self.line(format_args!("# {line}"));
        }
    }

    /// A number or boolean.
    pub fn set(&mut self, key: &str, value: impl Display) {
        self.line(format_args!("{key} = {value}"));
    }

    /// A text.
    pub fn text(&mut self, key: &str, value: &str) {
        self.set(key, quoted(value));
    }

    /// A text if there is one.
    pub fn maybe(&mut self, key: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.text(key, value);
        }
    }

    /// A list of texts; a single one stands without brackets.
    pub fn texts(&mut self, key: &str, values: &[String]) {
        match values {
            [] => {}
            [value] => self.text(key, value),
            _ => self.set(key, list(values.iter().map(|value| quoted(value)))),
        }
    }

    /// A list of texts, one a line.
    pub fn long_list(&mut self, key: &str, values: &[String]) {
        let lines: Vec<String> = values.iter().map(|value| format!("    {},\n", quoted(value))).collect();
        self.set(key, format_args!("[\n{}]", lines.concat()));
    }

    /// The whole text.
    pub fn finish(self) -> String {
        self.0
    }

    fn line(&mut self, line: impl Display) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "{line}");
    }
}

/// A list as TOML writes it.
pub fn list(values: impl Iterator<Item = impl Display>) -> String {
    let values: Vec<String> = values.map(|value| value.to_string()).collect();
    format!("[{}]", values.join(", "))
}

/// A text as a basic string of TOML. What JSON escapes means the same there; TOML escapes one character more.
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

#[cfg(test)]
mod tests {
    use super::FileText;

    #[test]
    fn any_text_survives_the_parser() {
        let nasty = "a \"b\" \\ \u{1} \u{7f} \n\t é 🦀 # [x]";
        let mut text = FileText::new(&["of a test"]);
        text.section("[experiment]");
        text.text("name", "t");
        text.text("question", nasty);
        text.section("[target]");
        text.text("engine", "null");
        text.section("[workload]");
        text.text("probe", "insert");
        text.set("rows", 1);
        text.section("[factors]");
        text.texts("\"observe.interval\"", &["1 s".into(), "2 s".into()]);
        let text = text.finish();
        let experiment = experiment::parse(&text, &runner::catalog()).unwrap();
        assert_eq!(experiment.get(experiment::file::QUESTION).as_deref(), Some(nasty));
        assert_eq!(experiment.configurations.len(), 2);
    }
}
