//! Text from data as HTML: nothing in it is read as markup.

use crate::Text;

/// Text for an element's content or an attribute in double quotes: control characters are spelled
/// out, as everywhere in reports, and markup is escaped.
pub fn text(raw: &str) -> String {
    escape(Text::from(raw).as_str())
}

/// Several lines, for a `pre` element; tabs become blanks.
pub fn lines(raw: &str) -> String {
    raw.lines().map(|line| text(&line.replace('\t', "    "))).collect::<Vec<_>>().join("\n")
}

/// Escapes a [`Text`] for element content and for attributes in double quotes.
pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}

/// A name for `id` attributes: letters, digits and hyphens.
pub fn id(raw: &str) -> String {
    let words = raw.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-").to_ascii_lowercase()
}

/// JSON for a script element: no string in it can end the element or begin a comment.
pub fn json(value: &serde_json::Value) -> String {
    value.to_string().replace('<', "\\u003c")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_and_control_characters_are_text() {
        let raw = "<b a=\"1\" c='2'>&\u{1b}\u{202e}";
        assert_eq!(text(raw), "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;\\u{1b}\\u{202e}");
        assert_eq!(lines("a\t<\n\0"), "a    &lt;\n\\u{0}");
        assert_eq!(id("Waits: data_files = 1 <x>"), "waits-data-files-1-x");
    }

    #[test]
    fn json_stays_in_its_element_and_is_the_same_json() {
        let value = serde_json::json!({ "a": "</script><!--<script>" });
        let text = json(&value);
        assert!(!text.contains('<'));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }
}
