//! Names of locals, fields and items that do not name the thing.

use super::source::{Kind, of_ours, pieces};
use std::collections::BTreeMap;

/// Participles and pronouns in place of nouns.
const BANNED: [&str; 13] = [
    "asked", "beside", "door", "given", "heard", "hearing", "it", "one", "own", "said", "seen",
    "told", "wanted",
];

/// Checks a file of source, tests included.
pub fn check(file: &str) -> Vec<String> {
    let Some(text) = of_ours(file) else { return Vec::new() };
    let names = banned(&text).into_iter();
    names
        .map(|(name, lines)| {
            format!("{file}:{}: the name `{name}`, {} in this file", lines[0], lines.len())
        })
        .collect()
}

/// Banned names that a file introduces, with their lines: of locals and closure parameters, of
/// fields and items. A type, a variant or a constant counts wherever it is used.
fn banned(text: &str) -> BTreeMap<&str, Vec<usize>> {
    let mut code = pieces(text);
    code.retain(|piece| matches!(piece.kind, Kind::Word | Kind::Sign));
    let mut banned: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, piece) in code.iter().enumerate() {
        let before = at.checked_sub(1).map_or("", |at| code[at].text);
        let after = code.get(at + 1).map_or("", |piece| piece.text);
        let is_introduced = match before {
            // What follows the bar of a closure may be a call.
            "let" | "mut" | "ref" | "for" | "|" => after != "(",
            "fn" | "mod" => true,
            _ => after == ":" && before != "$" || piece.text.starts_with(char::is_uppercase),
        };
        if is_introduced && is_banned(piece.text) {
            banned.entry(piece.text).or_default().push(piece.line);
        }
    }
    banned
}

fn is_banned(name: &str) -> bool {
    let rest = name.strip_prefix("Own").unwrap_or_default();
    BANNED.contains(&name.to_lowercase().as_str()) || rest.starts_with(char::is_uppercase)
}

#[cfg(test)]
mod tests {
    use super::banned;

    #[test]
    fn names_of_locals_and_closure_parameters_are_found() {
        let text = "fn a() {\n let own = 1;\n let (mut seen, b) = c;\n |it| b;\n}\n\
                    fn g() {\n for said in h {} }";
        let names: Vec<_> = banned(text).into_iter().collect();
        assert_eq!(
            names,
            [("it", vec![4]), ("own", vec![2]), ("said", vec![7]), ("seen", vec![3])]
        );
    }

    #[test]
    fn names_of_fields_and_items_are_found() {
        let text = "struct Own { seen: u8 }\nfn said() { told::<OwnPart>(SEEN) }\nmod heard;";
        let names: Vec<_> = banned(text).into_keys().collect();
        assert_eq!(names, ["Own", "OwnPart", "SEEN", "heard", "said", "seen"]);
    }

    #[test]
    fn names_of_others_and_texts_are_not() {
        let text = "b.own.given() + one(c) + one::d; f(\"own {it}\"); // let own\n\
                    Owned(OWNER) + match e { $one:ident => Other::it() }";
        assert!(banned(text).is_empty());
    }
}
