//! Secrets by the words before them: names of variables, settings and options, statements of SQL,
//! headers of HTTP, and tokens that say what they are.

use crate::folded::{is_elsewhere, is_quote, pattern, quoted};
use regex_lite::Regex;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

/// Endings of names of secrets, which a number may follow.
#[rustfmt::skip]
pub const SECRETS: [&str; 37] = [
    "password", "passwd", "passphrase", "passcode", "pwd", "_pw", "_pass", "dbpass", "keypass",
    "storepass", "userpass", "requirepass", "sshpass", "pgpass", "masterauth", "rediscli_auth",
    "secret", "secret_key_base", "token", "credential", "credentials", "creds", "api_key", "apikey",
    "access_key", "accesskey", "account_key", "accountkey", "storage_key", "secret_key",
    "secretkey", "private_key", "secret_id", "encryption_key", "auth_key", "subscription_key",
    "x_amz_signature",
];
/// Names of secrets that other names may end with.
const WHOLE: [&str; 3] = ["pass", "pw", "_auth"];
/// Endings of names of variables, behind that of a secret: `DB_PASSWORD_PROD`.
const STAGES: [&str; 7] = ["_prod", "_production", "_staging", "_dev", "_test", "_old", "_new"];
/// Last words of names of options and variables that mark a value only if it looks random.
const KEYS: [&str; 6] = ["key", "auth", "jwt", "session", "cookie", "cookies"];
/// Names of secrets as options, and as parameters in the query of a URL.
const OPTIONS: [&str; 4] = ["cookie", "oauth2_bearer", "ldap_password_cmd", "hmac"];
const QUERY: [&str; 4] = ["sig", "signature", "key", "auth"];
/// Parts of a stream of I/O, after its name, which may be `one-pass`.
const STREAM_PARTS: [&str; 3] = ["read", "write", "sync"];
/// Beginnings of tokens that services issue.
#[rustfmt::skip]
const TOKENS: [&str; 22] = [
    "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "xoxa-",
    "xoxs-", "xapp-", "hvs.", "hvb.", "sk_live_", "sk-ant-", "sk-proj-", "AIza", "ya29.",
    "dop_v1_", "npm_", "eyJ",
];
/// Characters that follow such a beginning; shorter ones are words.
const TOKEN_CHARS_MIN: usize = 8;
/// Characters before a word that are looked at.
const BEFORE_MAX: usize = 100;
/// Bytes behind a word that its patterns see: a long text must not take the square of its length.
const AFTER_MAX: usize = 16 << 10;
/// Bytes of a value from which on the words in it are not looked at, for the same reason.
const LONG: usize = 1024;

/// Signs at which a value without quotes ends, apart from quotes; without any, it has quotes.
const QUOTED: &str = "";
const WORD: &str = " \t\r\n&";
/// Signs as for [`WORD`]; words without a value of their own belong to the value, as libpq's values
/// end at a blank.
const WORDS: &str = " \t\n\r&";
const JSON: &str = " \t\r\n&,}]";
const BARE: &str = " \t\r\n;";
const LINE: &str = "\n\\";
/// No signs: the value is a group of the pattern, and has to look random.
const RANDOM: &str = " ";
/// Characters of a random value that has small and capital letters and digits, and of another one.
const RANDOM_CHARS_MIN: [usize; 2] = [8, 20];

/// The end of the text before the name of an option.
const OPTION: &str = r"(?:^|[^\w.-])-[\w.-]*$";
/// Places of secrets, in the patterns of [`pattern`]. First the word that announces the secret:
/// nothing for all names of secrets, a dash for those with a dash. Then the end of the text before
/// that word, and the text from the word to the secret, or with the secret as a group. Last, how a
/// secret without quotes ends.
#[rustfmt::skip]
const RULES: [(&str, &str, &str, &str); 38] = [
    // password=..., "password": "...", PASSWORD '...', --password ..., "--password", "..."
    ("", "", "^[Q]?B=[:=>]*B", WORDS),
    ("", "", "^[Q]B:[:=>]*B", JSON),
    ("", "", r"^[Q]?(?:B:[:=>]*|B\(|[ \t])B", QUOTED),
    ("", OPTION, r"^(?:[Q]B,|[Q]?[ \t])B((?:\\[\s\S]|[^\\\sQ`&-])C*)", WORD),
    ("", OPTION, "^[Q]B,B", QUOTED),
    // PGPASSWORD ..., without a sign between them
    ("", "", r"^[ \t]+([^\sQ`&;]+)", RANDOM),
    // password: ..., {password: ...}
    ("", r"(?:(?:^|\n)B(?:-[ \t]+)?|[Q]B)[\w.-]*$",
        r"^:[ \t]+([^\sQ`&$,}\]][^\sQ`&,}\]]*)B(?:[\r\n#Q]|$)", QUOTED),
    ("", r"[{,]B[\w.-]*$", r"^:[ \t]+([^\sQ`&$,}\]][^\sQ`&,}\]]*)B[,}]", QUOTED),
    // <password>...<, name="password">...<, name: PASSWORD, value: ...
    ("", r"<[\w.:-]*$", "^>([^<>]*)<", QUOTED),
    ("", "", "^[Q]>([^<>]*)<", QUOTED),
    ("", "", r"^(?:[Q][\s,]*|[\s,]+)[Q]?value[Q]?B[:=]B", JSON),
    // login ... password ..., /SourcePassword:...
    ("", r"login\s+\S+\s+$", r"^[ \t]+", WORD),
    ("", r"\s/[a-z]*$", "^:", JSON),
    // Headers.
    ("authorization proxy_authorization", "", "^[Q]?B[:=]H", LINE),
    ("cookie set_cookie", r"(?:^|[\nQ])$", "^[Q]?B[:=]H", LINE),
    ("- apikey x_functions_key x_clickhouse_key x_auth_key", "", "^:H", LINE),
    ("bearer", "", r"^[ \t]+([\w.~+/=-]*\d[\w.~+/=-]{4,}|[\w.~+/=-]{4,}\d[\w.~+/=-]*)", QUOTED),
    // Statements and commands.
    ("identified", "", "^I", QUOTED),
    ("identified", r"user|role|grant|connect|key\s+management", "^I", BARE),
    ("replace", r"identified\s+by\s", "^B", QUOTED),
    ("password", r"set\s+$", r"^\s+for[^\n;]*?(?:=|\sto\s)\s*[a-z]*", QUOTED),
    ("using", r"(?:connect|attach)\s+to\s[\s\S]*\suser\s+\S+\s+$", r"^[ \t]+", BARE),
    ("key rekey hexkey hexrekey textkey", r"pragma\s+$", r"^B[=(]B", QUOTED),
    ("key", r"attach\s[^;]*\sas\s+\S+\s+$", "^B", QUOTED),
    ("logon", r"\.$", r"^[ \t]+[^\s,Q]*,", BARE),
    ("requirepass masterauth", r"(?:^|\n)B$", r"^[ \t]+", BARE),
    ("sp_password", "", r"^([^\n;]*)", QUOTED),
    ("begin", "-----$", r"^[a-z ]*private key-----([\s\S]*?)(?:-----|$)", QUOTED),
    // Functions by the place of the secret; those of ClickHouse read tables of other servers.
    ("pgp_sym_encrypt pgp_sym_decrypt aes_encrypt aes_decrypt", "", r"^B\(A,[^Q,()]*", QUOTED),
    ("encryptbypassphrase decryptbypassphrase crypt pwdcompare", "", r"^B\([^Q,()]*VB,", QUOTED),
    ("pwdencrypt", "", r"^B\([^Q,()]*", QUOTED),
    ("sp_addlogin", "", r"^B\(?A,[^Q,()]*", QUOTED),
    ("sp_addlinkedsrvlogin", "", r"^B\(?(?:A,){4}[^Q,()]*", QUOTED),
    ("hmac", "", r"^B\(A,[^Q,()]*VB,", QUOTED),
    ("mysql postgresql mongodb remote remotesecure", "", r"^B\((?:A,){4}[^Q,()]*", QUOTED),
    ("openrowset", "", r"^B\(A,(?:A;){2}[^Q,()]*", QUOTED),
    ("s3", "", r"^B\((?:A,){2}[^Q,()]*VB,", QUOTED),
    ("s3cluster", "", r"^B\((?:A,){3}[^Q,()]*VB,", QUOTED),
];

struct Rule {
    before: Regex,
    after: Regex,
    ends: &'static str,
}

/// The rules by their words.
static KNOWN: LazyLock<HashMap<&str, Vec<Rule>>> = LazyLock::new(|| {
    let mut known: HashMap<_, Vec<_>> = HashMap::new();
    for (words, before, after, ends) in RULES {
        for word in words.split(' ') {
            let rule = Rule { before: pattern(before), after: pattern(after), ends };
            known.entry(word).or_default().push(rule);
        }
    }
    known
});
static IS_OPTION: LazyLock<Regex> = LazyLock::new(|| pattern(OPTION));
static TAG: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\$\w*\$"));
static LIST: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^\[((?:T|[^\]])*)(?:$|\](?:[\s,;#}\])Q]|$))"));
static MORE_WORDS: LazyLock<Regex> = LazyLock::new(|| {
    let word = r"(?:\\[\s\S]|[^\\\sQ`&=])";
    pattern(&format!(r"^((?:[ \t]+{word}+)*?)(?:[ \t]+{word}*[ \t]*=|B(?:[\r\nQ`&]|$))"))
});

/// Returns whether a name (of a variable or an option) marks its value as a secret: `PGPASSWORD`,
/// `API_TOKEN`, `account-key`, `DB_PASSWORD_2`.
pub fn names_secret(name: &str) -> bool {
    is_secret(&name.to_ascii_lowercase().replace('-', "_"))
}

fn is_secret(name: &str) -> bool {
    let name = STAGES.iter().find_map(|stage| name.strip_suffix(stage)).unwrap_or(name);
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('_');
    WHOLE.contains(&name) || SECRETS.iter().any(|secret| plain.ends_with(secret))
}

/// The secrets of a folded text that words announce, or that are tokens.
pub fn secrets(text: &str) -> Vec<Range<usize>> {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let (mut found, mut at, mut long_end) = (Vec::<Range<usize>>::new(), 0, 0);
    while let Some(skipped) = text[at..].find(is_letter) {
        let start = at + skipped;
        let rest = &text[start..];
        let length = rest.find(|c| !is_letter(c) && c != '-').unwrap_or(rest.len());
        let word = rest[..length].trim_end_matches('-');
        at = start + word.len();
        found.extend(token(rest).map(|range| start + range.start..start + range.end));
        if start >= long_end {
            let values = announced(text, word, start);
            let long = values.iter().filter(|value| value.len() >= LONG);
            long_end = long.map(|value| value.end).max().unwrap_or(long_end);
            found.extend(values);
        }
    }
    found
}

/// Returns whether a text may have a token in it.
pub fn has_token(text: &str) -> bool {
    TOKENS.iter().any(|start| text.contains(start))
}

/// A token that begins as those of a known service do, or a JSON Web Token.
fn token(text: &str) -> Option<Range<usize>> {
    let start = TOKENS.iter().find(|start| text.starts_with(**start))?.len();
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && !"_.-".contains(c));
    Some(start..end.unwrap_or(text.len())).filter(|token| token.len() >= TOKEN_CHARS_MIN)
}

/// The secrets that a word of a text announces.
fn announced(text: &str, word: &str, start: usize) -> Vec<Range<usize>> {
    let (name, end) = (word.to_ascii_lowercase().replace('-', "_"), start + word.len());
    let from = (start.saturating_sub(BEFORE_MAX)..=start).find(|at| text.is_char_boundary(*at));
    let (before, after) = (&text[from.unwrap_or(start)..start], behind(text, end));
    let is_secret = is_secret(&name)
        || QUERY.contains(&&*name) && before.ends_with(['?', '&'])
        || name == "key" && before.ends_with("secret.");
    let has_option = OPTIONS.contains(&&*name);
    let is_key = !is_secret
        && !has_option
        && name.rsplit('_').next().is_some_and(|last| KEYS.contains(&last));
    let is_option = (is_secret || is_key || has_option) && IS_OPTION.is_match(before);
    let is_variable = is_key && after.starts_with('=') && !word.contains(char::is_lowercase);
    // "To pass 'x'" is a sentence, and the value of `-pass` is the place of the secret.
    let is_other = word == "pass"
        && (after.starts_with(" '") || before.ends_with(" -") && after.starts_with(' '));
    let is_named = (is_secret || is_option || is_variable) && !is_other;
    let keys = [(true, &*name), (is_named, ""), (is_named && word.contains('-'), "-")];
    let keys = keys.into_iter().filter_map(|(is_known, key)| is_known.then_some(key));
    let rules =
        keys.flat_map(|key| KNOWN.get(key).into_iter().flatten().map(move |rule| (key, rule)));
    let values = rules.filter_map(|(key, rule)| {
        let captures = rule.after.captures(after).filter(|_| rule.before.is_match(before))?;
        let is_pair = !is_option && !before.ends_with(',') && !word.contains(char::is_uppercase);
        let range = match captures.iter().flatten().nth(1) {
            Some(group) => end + group.start()..end + group.end(),
            None if rule.ends == WORDS && !is_pair => value(text, end + captures[0].len(), WORD)?,
            None => value(text, end + captures[0].len(), rule.ends)?,
        };
        let value = &text[range.clone()];
        let is_parameter = rule.ends == LINE && value.starts_with('{');
        let is_hidden = !is_elsewhere(value) && !is_parameter && !STREAM_PARTS.contains(&value);
        let is_any = rule.ends != RANDOM && (key == name || !is_key);
        (is_hidden && (is_any || is_random(value))).then_some(range)
    });
    values.collect()
}

/// Returns whether a value is not a word, a number, a path or a login: keys that machines make.
pub fn is_random(value: &str) -> bool {
    let kinds = [char::is_ascii_lowercase, char::is_ascii_uppercase, |c: &char| c.is_ascii_digit()];
    let count = kinds.iter().filter(|is_kind| value.chars().any(|c| is_kind(&c))).count();
    let [mixed, long] = RANDOM_CHARS_MIN;
    let is_long = value.len() >= if count == kinds.len() { mixed } else { long };
    is_long
        && value.contains(|c: char| c.is_ascii_digit())
        && count > 1
        && !value.contains(['.', ':'])
        && !value.starts_with(['/', '~', '$', '{', '-'])
}

/// The text behind a place that patterns see.
fn behind(text: &str, start: usize) -> &str {
    let limit = text.len().min(start + AFTER_MAX);
    let end = (start..=limit).rev().find(|at| text.is_char_boundary(*at));
    &text[start..end.unwrap_or(start)]
}

/// The value that begins at a place: in quotes, a list, or up to one of these signs.
fn value(text: &str, start: usize, ends: &str) -> Option<Range<usize>> {
    let rest = &text[start..];
    // N'...', E'...' and U&'...' are texts of SQL.
    let mut prefixes =
        ["", "N", "n", "E", "e", "U&", "u&"].iter().filter(|sign| rest.starts_with(**sign));
    if let Some(inner) = prefixes.find_map(|sign| quoted(text, start + sign.len())) {
        return Some(inner);
    }
    if let Some(tag) = TAG.find(rest)
        && let Some(length) = rest[tag.end()..].find(tag.as_str())
    {
        return Some(start + tag.end()..start + tag.end() + length);
    }
    if let Some(list) = LIST.captures(rest).filter(|_| [WORD, WORDS, JSON].contains(&ends)) {
        return Some(start + 1..start + 1 + list[1].len());
    }
    let mut is_escaped = false;
    let end = rest.find(|c| {
        let is_end = !is_escaped && (is_quote(c) || c == '`' || ends.contains(c));
        is_escaped = !is_escaped && c == '\\';
        is_end
    });
    let end = start + end.unwrap_or(rest.len());
    let more = MORE_WORDS.captures(behind(text, end)).filter(|_| ends == WORDS);
    (ends != QUOTED).then_some(start..end + more.map_or(0, |more| more[1].len()))
}
