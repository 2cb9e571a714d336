//! Files of statements: paragraphs of SQL, each below a comment that names it.

/// A statement of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedStatement {
    /// The comment in the first line of its paragraph.
    pub name: &'static str,
    /// The SQL in one line, without comments.
    pub text: String,
}

impl NamedStatement {
    /// Returns the text with another one in the place of each part in braces.
    pub fn filled(&self, fill: impl Fn(&str) -> String) -> String {
        let pieces = self.text.split(['{', '}']).enumerate();
        // Pieces in braces have odd places.
        pieces
            .map(|(place, piece)| if place % 2 == 0 { piece.into() } else { fill(piece) })
            .collect()
    }
}

/// Reads a file of statements, which a blank line separates.
pub fn named_statements(file: &'static str) -> impl Iterator<Item = NamedStatement> {
    file.split("\n\n").map(|paragraph| {
        let (name, lines) = paragraph.split_once('\n').unwrap_or((paragraph, ""));
        let lines = lines.lines().map(str::trim).filter(|line| !line.starts_with("--"));
        let text = lines.collect::<Vec<_>>().join(" ");
        NamedStatement { name: name.trim_start_matches("-- "), text }
    })
}
