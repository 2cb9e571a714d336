//! The language of comments and texts: banned words, first words of doc comments, long sentences,
//! functions without a verb.

use super::prose::{Passage, Place, Word, passages};
use super::source::{of_ours, tokens};

const WORDS_MAX: usize = 40;

/// Words and phrases with a plainer counterpart.
const BANNED: [&[&str]; 16] = [
    &["anew"],
    &["besides"],
    &["goes", "on"],
    &["meanwhile"],
    &["mend"],
    &["mended"],
    &["nobody"],
    &["none", "of"],
    &["of", "others"],
    &["of", "ours"],
    &["of", "theirs"],
    &["ready", "made"],
    &["somebody"],
    &["stands", "in"],
    &["told"],
    &["whoever"],
];

/// First words that doc comments must not have.
const FIRST_WORDS: [&[&str]; 6] =
    [&["its"], &["the", "same"], &["those"], &["what"], &["whether"], &["who"]];

/// Words after "is no" that do not make it a predicate.
const AFTER_IS_NO: [&str; 5] = ["better", "less", "longer", "more", "worse"];

/// A place where the text is not plain.
#[derive(Debug)]
struct Finding {
    line: usize,
    message: String,
}

/// Checks a file of source, tests included.
pub fn check(file: &str) -> Vec<String> {
    let Some(text) = of_ours(file) else { return Vec::new() };
    let findings = findings(&text).into_iter();
    findings.map(|finding| format!("{file}:{}: {}", finding.line, finding.message)).collect()
}

fn findings(text: &str) -> Vec<Finding> {
    let mut findings = functions_named_of(text);
    for passage in passages(text) {
        if passage.place == Place::DocComment {
            findings.extend(first_words(&passage));
        }
        for sentence in &passage.sentences {
            findings.extend(banned(sentence));
            findings.extend(is_no(sentence));
            if passage.place != Place::Comment {
                findings.extend(long(sentence));
            }
        }
    }
    findings.sort_by_key(|finding| finding.line);
    findings
}

fn functions_named_of(text: &str) -> Vec<Finding> {
    let lines = text.lines().enumerate();
    let named = lines.filter(|(_, line)| {
        tokens(line)
            .windows(3)
            .any(|pair| pair[..2] == ["fn", "of"] && matches!(pair[2], "(" | "<"))
    });
    named.map(|(at, _)| Finding { line: at + 1, message: "a function named `of`".into() }).collect()
}

fn first_words(passage: &Passage) -> Option<Finding> {
    let first = passage.sentences.first()?;
    let begins = FIRST_WORDS.iter().find(|words| is_phrase(first, words))?;
    let message = format!("a doc comment that begins with `{}`", begins.join(" "));
    Some(Finding { line: first[0].line, message })
}

/// The words are these, without punctuation between them.
fn is_phrase(words: &[Word], phrase: &[&str]) -> bool {
    let last = phrase.len() - 1;
    words.len() >= phrase.len()
        && phrase
            .iter()
            .zip(words)
            .enumerate()
            .all(|(at, (phrase, word))| word.text == *phrase && (at == last || !word.ends_clause))
}

fn banned(sentence: &[Word]) -> impl Iterator<Item = Finding> {
    (0..sentence.len()).filter_map(|at| {
        let phrase = BANNED.iter().find(|phrase| is_phrase(&sentence[at..], phrase))?;
        Some(Finding { line: sentence[at].line, message: format!("`{}`", phrase.join(" ")) })
    })
}

/// `X is no Y` in place of `X is not a Y`; `there is no Y` is plain.
fn is_no(sentence: &[Word]) -> impl Iterator<Item = Finding> {
    (1..sentence.len().saturating_sub(2)).filter_map(|at| {
        let is_predicate = is_phrase(&sentence[at..], &["is", "no"])
            && !sentence[at + 1].ends_clause
            && sentence[at - 1].text != "there"
            && !AFTER_IS_NO.contains(&sentence[at + 2].text.as_str());
        is_predicate.then(|| Finding { line: sentence[at].line, message: "`is no`".into() })
    })
}

fn long(sentence: &[Word]) -> Option<Finding> {
    let prose = sentence
        .iter()
        .filter(|word| word.text.chars().all(|c| c.is_alphabetic() || "'-`".contains(c)))
        .count();
    let is_statement = ["select", "insert", "create", "update", "declare", "with", "from", "join"];
    let is_statement = is_statement.iter().any(|statement| sentence[0].text == *statement);
    // Words without punctuation are a list.
    let is_sentence = sentence.iter().any(|word| word.ends_clause) && !is_statement;
    let is_long = sentence.len() > WORDS_MAX && prose * 5 > sentence.len() * 4 && is_sentence;
    is_long.then(|| Finding {
        line: sentence[0].line,
        message: format!("a sentence of {} words, more than {WORDS_MAX}", sentence.len()),
    })
}

#[cfg(test)]
mod tests {
    use super::findings;

    fn messages(text: &str) -> Vec<String> {
        findings(text)
            .into_iter()
            .map(|finding| format!("{}: {}", finding.line, finding.message))
            .collect()
    }

    #[test]
    fn words_are_found_in_comments_and_texts_only() {
        let text = format!(
            "// drawn {new}\nfn {new}() {{ f(\"a {new}, b\", \"{new}\") }}\n// `{new}` is plain",
            new = "anew"
        );
        assert_eq!(messages(&text), ["1: `anew`", "2: `anew`"]);
    }

    #[test]
    fn doc_comments_begin_with_a_verb_or_a_noun() {
        let text = "/// What it is.\nfn a() {}\n/// Returns what it is.\nfn of(b: B) {}\n\
                    struct C {\n    /// Its name.\n    d: u8,\n}";
        assert_eq!(
            messages(text),
            [
                "1: a doc comment that begins with `what`",
                "4: a function named `of`",
                "6: a doc comment that begins with `its`"
            ]
        );
    }

    #[test]
    fn a_predicate_differs_from_a_quantity() {
        let plain = "// There is no more. It is no longer so.";
        let text = format!("{plain} That is{}", " no file of\n// it.");
        assert_eq!(messages(&text), ["1: `is no`"]);
    }

    #[test]
    fn sentences_end() {
        let words = "word ".repeat(39);
        assert!(messages(&format!("/// A {words}.")).is_empty());
        assert_eq!(
            messages(&format!("/// A b {words}.")),
            ["1: a sentence of 41 words, more than 40"]
        );
        assert!(messages(&format!("// A b {words}.")).is_empty());
    }
}
