//! The language of Markdown pages: words, lengths of sentences, and width.

use crate::markdown::{Kind, Page, without_code_and_targets};

const WORDS_MAX: usize = 40;
const WIDTH_MAX: usize = 100;
/// The banned words, one a line; in another file, so that this module does not find itself.
const BANNED: &str = include_str!("banned_words.txt");

/// Everything that is wrong with the language of a page. Generated pages have the program's texts,
/// which are checked in their source.
pub fn check(page: &Page) -> Vec<String> {
    if page.is_generated() {
        return Vec::new();
    }
    let name = &page.name;
    let mut wrong = Vec::new();
    for line in page.lines() {
        let width = line.text.chars().count();
        // A row of a table cannot be broken.
        if width > WIDTH_MAX && line.kind != Kind::TableRow {
            wrong.push(format!("{name}:{}: {width} columns, more than {WIDTH_MAX}", line.number));
        }
    }
    for passage in page.passages() {
        let text = without_code_and_targets(&passage.text);
        let place = format!("{name}:{}", passage.number);
        wrong.extend(banned(&text).map(|word| format!("{place}: banned: {word}")));
        for sentence in sentences(&text) {
            let words = words(sentence);
            if words > WORDS_MAX {
                let start: String = sentence.chars().take(50).collect();
                wrong.push(format!("{place}: {words} words, more than {WORDS_MAX}: {start}"));
            }
        }
    }
    wrong
}

fn banned(text: &str) -> impl Iterator<Item = &'static str> {
    let letters = text.to_lowercase().replace(|c: char| !c.is_alphanumeric(), " ");
    let words: Vec<&str> = letters.split_whitespace().collect();
    let text = format!(" {} ", words.join(" "));
    BANNED.lines().filter(move |word| text.contains(&format!(" {word} ")))
}

/// Sentences end with a full stop, a question mark, an exclamation mark or a colon before a space
/// and a character that is not a small letter.
fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
    for (at, _) in text.match_indices(['.', '!', '?', ':']) {
        let rest = &text[at + 1..];
        let next = rest.strip_prefix(' ').and_then(|rest| rest.chars().next());
        if next.is_some_and(|next| !next.is_lowercase()) {
            sentences.push(&text[start..=at]);
            start = at + 1;
        }
    }
    sentences.push(&text[start..]);
    sentences
}

fn words(sentence: &str) -> usize {
    sentence.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count()
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::markdown::Page;

    fn wrong(text: &str) -> Vec<String> {
        check(&Page { name: "page.md".into(), text: text.into() })
    }

    #[test]
    fn long_sentences_are_found_across_lines() {
        let words = |count| vec!["word"; count].join("\n");
        assert_eq!(wrong(&words(40)), Vec::<String>::new());
        assert!(wrong(&words(41))[0].starts_with("page.md:1: 41 words"));
        assert_eq!(wrong(&format!("{}. {}.", words(40), "Next")), Vec::<String>::new());
    }

    #[test]
    fn banned_words_are_found_outside_of_code() {
        let word = "any".replace("any", "anew");
        assert_eq!(wrong(&format!("`{word}` re{word}")), Vec::<String>::new());
        assert_eq!(wrong(&format!("Begin {word}.")), [format!("page.md:1: banned: {word}")]);
    }

    #[test]
    fn rows_of_tables_may_be_wide() {
        let long = "x".repeat(101);
        assert_eq!(wrong(&format!("| {long} |")), Vec::<String>::new());
        assert_eq!(wrong(&format!("    {long}")).len(), 1);
    }
}
