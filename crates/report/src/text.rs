use std::fmt;
use std::ops::Deref;

/// Text that is safe to print: one line, without control characters.
///
/// Names come from experiment files, engines and results files of others. A control character in
/// them could move the cursor, recolour or retitle the reader's terminal, and characters that turn
/// the writing direction could make a figure read backwards; they are spelled out (`\u{1b}`, `\n`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text(String);

impl Text {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Text {
    fn from(raw: &str) -> Self {
        let mut safe = String::with_capacity(raw.len());
        for character in raw.chars() {
            if character.is_control() || turns_direction(character) {
                safe.extend(character.escape_default());
            } else {
                safe.push(character);
            }
        }
        Self(safe)
    }
}

impl From<String> for Text {
    fn from(raw: String) -> Self {
        Self::from(raw.as_str())
    }
}

impl From<&String> for Text {
    fn from(raw: &String) -> Self {
        Self::from(raw.as_str())
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Line and paragraph separators, and the marks, embeddings, overrides and isolates of Unicode's
/// bidirectional algorithm (UAX 9).
fn turns_direction(character: char) -> bool {
    matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::Text;

    #[test]
    fn control_characters_are_spelled_out() {
        let raw = "a\u{1b}]0;title\u{7}b\nc\td\u{9b}31me\u{7f}\u{202e}fg\0";
        let safe = Text::from(raw);
        assert_eq!(safe.as_str(), "a\\u{1b}]0;title\\u{7}b\\nc\\td\\u{9b}31me\\u{7f}\\u{202e}fg\\u{0}");
        assert!(!safe.as_str().contains(char::is_control));
    }

    #[test]
    fn everything_else_stays() {
        for text in ["", "data_files=4", "Größe 大きさ — ± µ \\ \"quoted\""] {
            assert_eq!(Text::from(text).as_str(), text);
        }
    }
}
