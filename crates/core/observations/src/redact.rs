//! Passwords in texts, found by their context. All code that prints or records a URL, a connection
//! string, an environment, a command line or an experiment file sends it through here.

mod names;
mod pairs;
mod phrases;
mod programs;
mod quotes;
mod urls;
mod words;

pub use names::names_secret;

use quotes::{after_blanks, bare_end, dollar_quoted, is_variable, list_end, quote, quoted};
use serde_json::Value;
use std::ops::Range;

/// The text with a star for each character of what is, or may be, a password in it:
///
/// - in anything like a URL, what is between the first colon and the last `@`: `x://name:...@host`,
///   `name:...@host`;
/// - the value of a name that says so, after `=`, after `:` with quotes, in quotes alone, or as an
///   option: `password=...`, `"passwd": "..."`, `PASSWORD '...'`, `--password ...`, `token =
///   ["...", "..."]`. A variable of the shell is not a
///   value;
/// - the text of elements and the value of entries that are named so: `<password>...</password>`,
///   `name: PASSWORD, value: ...`;
/// - the value of options by which well-known programs are given one: `mysql -p...`, `sqlcmd -P
///   ...`, `curl -u name:...`;
/// - what `IDENTIFIED BY` and headers of HTTP announce, and tokens that begin as known ones do.
///
/// Names and signs are recognised in percent-encoding and in the escapes of JSON and TOML too.
pub fn redacted(text: &str) -> String {
    if !may_hold_secret(text) {
        return text.to_owned();
    }
    let (chars, ends) = signs(text);
    let mut hidden = vec![false; chars.len()];
    let found = urls::logins(&chars).into_iter().chain(values(&chars));
    for range in found.chain(pairs::password_files(&chars)) {
        hidden[range].fill(true);
    }
    programs::hide(&chars, &mut hidden);
    let (mut shown, mut start) = (String::with_capacity(text.len()), 0);
    for (end, hidden) in ends.into_iter().zip(hidden) {
        let source = &text[start..end as usize];
        if hidden && source != "\n" {
            shown.extend(source.chars().map(|_| '*'));
        } else {
            shown.push_str(source);
        }
        start = end as usize;
    }
    shown
}

/// Hides what is, or may be, a password in the texts of a JSON document, and the texts of names
/// that say so.
pub fn redact_json(value: &mut Value) {
    match value {
        Value::String(text) => *text = redacted(text),
        Value::Array(values) => {
            redact_words(values);
            values.iter_mut().for_each(redact_json);
        }
        Value::Object(entries) => {
            for (name, value) in entries {
                match value {
                    Value::String(text) if names_secret(name) => {
                        *text = "*".repeat(text.chars().count());
                    }
                    value => redact_json(value),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Hides secrets in the words of a command: an option and its value are two.
fn redact_words(words: &mut [Value]) {
    let list: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
    let quoted =
        list.iter().map(|word| format!("\"{}\"", word.replace(['\'', '"', '\\', '\n'], "_")));
    let line = format!("[{}]", quoted.collect::<Vec<_>>().join(","));
    let shown = redacted(&line);
    if list.len() < words.len() || shown == line {
        return;
    }
    let mut signs = line.chars().zip(shown.chars()).skip(1);
    for word in words {
        // Its quotes and its comma surround each word.
        let text = format!("\"{}\",", word.as_str().unwrap_or_default());
        let shown = text.chars().map(|c| match signs.next() {
            Some((before, after)) if before != after => after,
            _ => c,
        });
        *word = shown.collect::<String>()[1..].into();
        if let Value::String(text) = word {
            text.truncate(text.len() - 2);
        }
    }
}

/// Parts of texts that may hold a secret: of names, of phrases, and of tokens; and the names of
/// programs that are given one without an option that begins with `-`.
const PARTS: [&[u8]; 63] = [
    b"pass",
    b"pwd",
    b"_pw",
    b"secret",
    b"token",
    b"cred",
    b"key",
    b"auth",
    b"sig",
    b"identified",
    b"bearer",
    b"cookie",
    b"gh",
    b"github_pat_",
    b"glpat-",
    b"xox",
    b"xapp-",
    b"sk-",
    b"aiza",
    b"ya29.",
    b"dop_v1_",
    b"openrowset",
    b"hvs.",
    b"hvb.",
    b"sk_live_",
    b"sk-ant-",
    b"npm_",
    b"eyj",
    b"sqlcmd",
    b"bcp",
    b"osql",
    b"db2",
    b"vault",
    b"bao",
    b"userid=",
    b"sqlplus",
    b"sqlldr",
    b"isql",
    b"rman",
    b"impdp",
    b"expdp",
    b"using",
    b".logon",
    b"rabbitmqctl",
    b"neo4j-admin",
    b"crypt",
    b"hmac(",
    b"remote",
    b"mysql(",
    b"postgresql(",
    b"mongodb(",
    b"s3",
    b"sp_add",
    b"pdftk",
    b"nmcli",
    b"wpa_",
    b"net use",
    b"cargo",
    b"freerdp",
    b"schtasks",
    b"dtexec",
    b"sqlpackage",
    b"etcdctl",
];

/// The parts that begin with a byte, a bit each.
const LEADS: [u64; 256] = {
    let mut leads = [0; 256];
    let mut part = 0;
    while part < PARTS.len() {
        leads[PARTS[part][0] as usize] |= 1 << part;
        leads[PARTS[part][0].to_ascii_uppercase() as usize] |= 1 << part;
        part += 1;
    }
    leads
};

/// Returns whether the text needs a closer look: most recorded texts are plain names.
fn may_hold_secret(text: &str) -> bool {
    let bytes = text.as_bytes();
    let begins = |at: usize, part: &[u8]| {
        bytes.get(at..at + part.len()).is_some_and(|found| found.eq_ignore_ascii_case(part))
    };
    let holds = |at: usize| match bytes[at] {
        b'@' | b'%' | b'\\' => true,
        b':' => begins(at, b"://") || matches!(bytes.get(at + 1), Some(b'*' | b'0'..=b'9')),
        // An option.
        b'-' => at == 0 || !bytes[at - 1].is_ascii_alphanumeric(),
        byte => {
            let leads = LEADS[usize::from(byte)];
            leads != 0
                && (0..PARTS.len()).any(|part| leads >> part & 1 == 1 && begins(at, PARTS[part]))
        }
    };
    (0..bytes.len()).any(holds)
}

/// The characters of a text, escapes decoded where they stand for a letter, a digit or a sign that
/// matters here; and where each ends.
fn signs(text: &str) -> (Vec<char>, Vec<u32>) {
    let (mut chars, mut ends) = (Vec::new(), Vec::new());
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let (length, sign) = escape(&text[at..]).unwrap_or((c.len_utf8(), c));
        at += length;
        chars.push(sign);
        ends.push(at as u32);
    }
    (chars, ends)
}

/// The length of an escape at the beginning of a text, and what it stands for.
fn escape(text: &str) -> Option<(usize, char)> {
    let forms = [("%", 2), ("\\u", 4), ("\\U", 8), ("\\x", 2)];
    let slash = text.starts_with("\\/").then_some((2, '/'));
    slash
        .or_else(|| {
            forms.iter().find_map(|(prefix, digits)| {
                let code = text.strip_prefix(prefix)?.get(..*digits)?;
                let sign = char::from_u32(u32::from_str_radix(code, 16).ok()?)?;
                Some((prefix.len() + digits, sign))
            })
        })
        .filter(|(_, sign)| sign.is_ascii_alphanumeric() || ":/@=_.-?&".contains(*sign))
}

/// The values of names of secrets, and what other words announce.
fn values(chars: &[char]) -> Vec<Range<usize>> {
    let is_name = |c: &char| c.is_ascii_alphanumeric() || "_-".contains(*c);
    let mut found = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        at += chars[at..].iter().take_while(|c| **c == '-').count();
        let end = at + chars[at..].iter().take_while(|c| is_name(c)).count();
        let end = end - chars[at..end].iter().rev().take_while(|c| **c == '-').count();
        let name = chars[at..end].iter().collect::<String>().to_ascii_lowercase().replace('-', "_");
        // "To pass 'x' as a value" is a sentence.
        let is_verb = name == "pass" && chars[end..].starts_with(&[' ', '\'']);
        if (names_secret(&name) || pairs::is_in_query(chars, at, &name)) && !is_verb {
            let secret = value(chars, end, is_option(chars, at))
                .or_else(|| pairs::secret(chars, &(at..end)));
            found.extend(secret.filter(|range| !is_variable(&chars[range.clone()])));
        }
        if end > at {
            found.extend(phrases::secret(chars, &name, &(at..end)));
        }
        at = end.max(at + 1);
    }
    found
}

/// Returns whether the word that ends in a name is an option: `--password`, `-token`,
/// `--server.password`.
fn is_option(chars: &[char], name: usize) -> bool {
    let is_part = |c: &&char| c.is_ascii_alphanumeric() || "_.-".contains(**c);
    let length = chars[..name].iter().rev().take_while(is_part).count();
    let before = &chars[name - length..name];
    // `-pass` is of openssl: its value is the place of the password.
    before.first() == Some(&'-') && !(before == ['-'] && chars[name..].starts_with(&PASS))
}

/// The name of an option of one dash, and what follows it.
const PASS: [char; 5] = ['p', 'a', 's', 's', ' '];

/// The value that follows a name, if one does.
fn value(chars: &[char], name_end: usize, is_option: bool) -> Option<Range<usize>> {
    let blanks = |at: usize| after_blanks(chars, at);
    let (_, after_quote) = quote(chars, name_end).unzip();
    let mut sign = blanks(after_quote.unwrap_or(name_end));
    if is_option && after_quote.is_some() && chars.get(sign) == Some(&',') {
        // The next word of a list of words.
        sign = blanks(sign + 1);
    }
    let is_call = chars.get(sign) == Some(&'(');
    let signs = if is_call { "(" } else { ":=>" };
    let start = blanks(sign + chars[sign..].iter().take_while(|c| signs.contains(**c)).count());
    // N'...', E'...' and U&'...' are texts of SQL.
    let prefix = match chars.get(start..).unwrap_or_default() {
        ['N' | 'n' | 'E' | 'e', '\'', ..] => 1,
        ['U' | 'u', '&', '\'', ..] => 2,
        _ => 0,
    };
    let start = start + if start > name_end { prefix } else { 0 };
    let opened = quoted(chars, start).or_else(|| dollar_quoted(chars, start));
    let is_list = chars.get(start) == Some(&'[');
    let follows = match chars.get(sign)? {
        '=' => true,
        ':' => after_quote.is_some() || opened.is_some(),
        '-' => false,
        '\'' | '"' | '\\' => opened.is_some() && sign > name_end,
        '(' | 'N' | 'n' | 'E' | 'e' | 'U' | 'u' | '$' if !is_option => opened.is_some(),
        _ => is_option && sign > name_end,
    };
    if !follows {
        return None;
    }
    if is_list {
        return Some(start + 1..list_end(chars, start));
    }
    if opened.is_some() {
        return opened;
    }
    let end = bare_end(chars, start, chars[sign] == ':');
    let is_in_list = chars[..name_end].iter().rev().find(|c| !c.is_alphanumeric()) == Some(&',');
    let is_pair = !is_option && !is_in_list && chars[sign] == '=';
    Some(start..if is_pair { words_end(chars, name_end, end) } else { end })
}

/// The end of a value of libpq, which ends at a blank: a word behind it without a value of its own
/// was meant as a part of it.
fn words_end(chars: &[char], name_end: usize, end: usize) -> usize {
    let is_keyword = chars[..name_end]
        .iter()
        .rev()
        .take_while(|c| c.is_ascii_alphanumeric() || **c == '_')
        .all(|c| !c.is_ascii_uppercase());
    if !is_keyword {
        return end;
    }
    std::iter::successors(Some(end), |end| {
        let word = after_blanks(chars, *end);
        let word_end = bare_end(chars, word, false);
        let is_pair = chars[word..word_end].contains(&'=')
            || chars.get(after_blanks(chars, word_end)) == Some(&'=');
        (word > *end && word_end > word && !is_pair).then_some(word_end)
    })
    .last()
    .unwrap_or(end)
}

#[cfg(test)]
mod tests;
