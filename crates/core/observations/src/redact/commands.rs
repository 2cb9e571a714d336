//! Secrets in the words of command lines that no name announces: `-u name:secret` of any program,
//! and what a few programs are given by short options and by position.

use super::names::SECRETS;
use crate::folded::{is_elsewhere, is_quote, quoted};
use regex_lite::Regex;
use std::collections::HashMap;
use std::iter::repeat_n;
use std::ops::Range;
use std::sync::LazyLock;

/// Programs, and the secrets in the words behind their names, as groups. Each word has a blank
/// before it, and none in it. ~ is the beginning of a short option, & the value of an option, # a
/// word that is not an option, ! the ending of a name of a secret, ; a login. The first two rules
/// are for any program.
#[rustfmt::skip]
const RULES: [(&str, &str); 40] = [
    ("",
        "(?:~[uU][ =]?| --?(?:[^ =]*[-_.])?(?:auth|user|username|login|creds)(?:[-_]basic)?[ =]);"),
    ("", " -pass[a-z]* pass:([^ ]+)"),
    ("mysql* mariadb* mariabackup xtrabackup 7z 7za 7zz 7zr rar unrar", "~p=?([^ ]+)"),
    ("mydumper myloader mycli mongo* cqlsh beeline rabbitmqadmin twine cypher-shell cbq", "~p&"),
    ("couchbase-cli go-tpc tiup ncftp* useradd usermod maxctrl isql-fb tdload dsbulk", "~p&"),
    ("hdbsql rdesktop psexec racadm exaplus pt-*", "~p&"),
    ("docker podman nerdctl buildah skopeo helm oras crane oc cf", " login(?: .*?)?~p&"),
    ("az", " (?:login|sql|postgres|mysql|mariadb)(?: .*?)?~p&"),
    ("sshpass", "^(?: -[vP][^ ]*| [^-s][^ ]*)*~p&"),
    ("exaplus sqlcmd bcp osql isql tsql sqsh fisql dtexec mssql-cli mosquitto_* zip unzip", "~P&"),
    ("ipmitool cbc* p4 ssh-keygen", "~P&"),
    ("redis-* valkey-* keydb-cli memtier_benchmark ldappasswd", "~a&"),
    ("vsql db2look ldap*", "~w&"),
    ("ldappasswd", "~s&"),
    ("ssh-keygen", "~N&"),
    ("openssl", "~[kK]&"),
    ("snmp*", "~[AXc]&"),
    ("influx doctl", "~t&"),
    ("http https httpie xh xhs hey oha", "~a[ =]?[^ :]*:([^ ]+)"),
    ("ab", "~[AP][ =]?[^ :]*:([^ ]+)"),
    ("curl", "(?:~E| --cert)[ =]?[^ :]*:([^ ]+)|~b[ =]?[^ =]*=([^ ]+)"),
    ("lftp open", "~u[ =]?[^ ,]*,([^ ]+)"),
    ("pt-*", " (?:[^ ]*,)?p=([^, ]+)"),
    ("rar unrar", " -hp=?([^ ]+)"),
    ("gbak gfix gsec gstat isql swaks nzsql nodetool plink pscp psftp putty",
        " -(?:pas[a-z]*|ap|pw)[ =]([^ ]+)"),
    ("sqlcmd osql dtexec sqlpackage xfreerdp wfreerdp schtasks",
        "(?i) /(?:p[ :=]?|(?:[rst]p|de)[ :=])([^ ]+)"),
    ("kubectl oc", " --from-literal[ =][^ =]*=([^ ]+)"),
    ("az aws memtier_benchmark",
        " --(?:key|value|sse-c-(?:copy-source-)?key|authenticate)[ =]([^ ]+)"),
    // By position, by the word before, and as the last word.
    ("isql iusql", "^(?: -[^ ]*)* # # (#)"),
    ("net", "^ use # (#)"),
    ("wpa_passphrase smbclient", "^ # (#)"),
    ("convertto-securestring", "^ (#)|(?i: -string)[ =]([^ ]+)"),
    ("mysqladmin mariadb-admin redis-cli valkey-cli keydb-cli setx nmcli pdftk diset neo4j-admin",
        "(?i) [^ ]*(?:!)(?: -[^ ]*)* (#)"),
    ("aws", "(?i) set(?: .*)? [^ ]*(?:!)(?: -[^ ]*)* (#)"),
    ("redis-cli valkey-cli keydb-cli", " (?:auth|AUTH)(?: .*)? (#)$| >([^ ]+)"),
    ("openssl cargo vault bao", " (?:passwd|login|unseal)(?: .*)? (#)$"),
    ("mc rabbitmqctl", " (?:alias|config|add_user|change_password|authenticate_user)(?: .*)? (#)$"),
    ("etcdctl htpasswd", " (?:add|-[nc]?b[^ ]*)(?: .*)? (#)$"),
    // user/secret@database; the names of the second ones are also other words.
    ("sqlplus rman expdp impdp sqlldr sqlcl db2batch",
        r" (?:[^ /=]*=)?[\w$#\[\]]+/([^ ]*?)(?:@[^ @]*)?(?: |$)"),
    ("sql exp imp connect conn", r" (?:[^ /=]*=)?[\w$#\[\]]+/([^ ]*)@[^ @]*(?: |$)"),
];
/// A user and a secret, which are not two numbers.
const LOGIN: &str =
    r"(?:\d*[:%](\d*[^ \d/][^ ]*)|[^ :%/+${]*[^ :%/+${\d][^ :%/+${]*[:%](/?[^ /][^ ]*))";
/// Letters of options without a value, which can be written before another one: `-Nsp`.
const FLAGS: &str = "ABbCEfGiIjJkLlMnNoOqrRsStvVwXcH#";
/// Quotes in quotes that are looked into.
const DEPTH_MAX: usize = 6;

/// The programs and their patterns, by the beginnings of their names.
static KNOWN: LazyLock<HashMap<&str, Vec<(&str, Regex)>>> = LazyLock::new(|| {
    let mut known: HashMap<_, Vec<_>> = HashMap::new();
    for (programs, pattern) in RULES {
        let pattern = pattern
            .replace('!', &SECRETS.join("|").replace('_', "[_-]"))
            .replace(';', LOGIN)
            .replace('&', "[ =]?([^ ]+)")
            .replace(" #", " [^- ][^ ]*")
            .replace("(#", "([^- ][^ ]*")
            .replace('~', &format!(" -[{FLAGS}]*?"));
        let pattern = Regex::new(&pattern).expect("a pattern of this module");
        for name in programs.split(' ') {
            known.entry(beginning(name)).or_default().push((name, pattern.clone()));
        }
    }
    known
});

fn beginning(name: &str) -> &str {
    name.get(..2).unwrap_or(name)
}

/// The words of a command without their quotes, a blank before each.
#[derive(Default)]
struct Command {
    words: String,
    /// Where each of its bytes comes from.
    places: Vec<usize>,
    is_in_word: bool,
    /// Where its last word begins.
    last_word: usize,
}

/// Finds the secrets in the command lines of a part of a folded text.
pub fn secrets(text: &str, part: Range<usize>, depth: usize, found: &mut Vec<Range<usize>>) {
    let (mut command, mut at, mut is_after_quote) = (Command::default(), part.start, false);
    while let Some(c) = text[at..part.end].chars().next() {
        if let Some(inner) = command.opened(text, at, part.end) {
            command.push(text, inner.clone());
            if depth < DEPTH_MAX && text[inner.clone()].contains(' ') {
                secrets(text, inner.clone(), depth + 1, found);
            }
            (at, is_after_quote) = (inner.end + inner.start - at, true);
            continue;
        }
        // What a backslash escapes is part of the word.
        let escaped = text[at + c.len_utf8()..part.end].chars().next().filter(|_| c == '\\');
        let end = at + c.len_utf8() + escaped.map_or(0, char::len_utf8);
        if "\n;|&`)".contains(c) || is_after_quote && "]}".contains(c) {
            std::mem::take(&mut command).secrets(found);
        } else if c.is_whitespace()
            || "<>(".contains(c)
            || is_after_quote && c == ','
            || !command.is_in_word && (c == '[' || is_quote(c))
        {
            command.is_in_word = false;
        } else {
            command.push(text, at..end);
        }
        (at, is_after_quote) = (end, false);
    }
    command.secrets(found);
}

impl Command {
    fn push(&mut self, text: &str, part: Range<usize>) {
        for (at, c) in text[part.clone()].char_indices() {
            let blank = if self.is_in_word { "" } else { " " };
            let c = if c.is_whitespace() { '_' } else { c };
            if !self.is_in_word {
                self.last_word = self.words.len() + blank.len();
            }
            self.words.extend(blank.chars().chain([c]));
            self.places.extend(repeat_n(part.start + at, blank.len() + c.len_utf8()));
            self.is_in_word = true;
        }
    }

    /// The inner part of the quotes that open here, if they are closed in their line. Behind a
    /// letter it is an apostrophe, but in an option.
    fn opened(&self, text: &str, at: usize, end: usize) -> Option<Range<usize>> {
        let inner = quoted(text, at).filter(|inner| inner.end < end)?;
        let word = if self.is_in_word { &self.words[self.last_word..] } else { "" };
        if word.ends_with(char::is_alphanumeric) && !word.starts_with('-') {
            return None;
        }
        let is_closed = text[inner.end..].starts_with(is_quote);
        (is_closed && !text[inner.clone()].contains('\n')).then_some(inner)
    }

    fn secrets(&self, found: &mut Vec<Range<usize>>) {
        let (mut tried, mut end) = (Vec::new(), 0);
        let has_option = self.words.contains(" -");
        for word in self.words.split(' ') {
            end += word.len();
            let name = word.rsplit(['/', '\\', '=', ':', '{']).next().unwrap_or_default();
            let name = name.to_ascii_lowercase();
            let name = name.strip_suffix(".exe").unwrap_or(&name);
            let matches = |known: &str| match known.strip_suffix('*') {
                Some(beginning) => name.starts_with(beginning),
                None => known == name,
            };
            // The words begin with a blank: the first name is empty, as that of any program.
            for (known, pattern) in KNOWN.get(beginning(name)).into_iter().flatten() {
                let may_match = matches(known) && (end > 0 || has_option);
                if may_match && !tried.contains(&pattern.as_str()) {
                    self.hide(pattern, end, found);
                    tried.push(pattern.as_str());
                }
            }
            end += 1;
        }
    }

    /// Finds the groups of a pattern in the words behind a place, unless the secret is elsewhere or
    /// a parameter; URLs have rules of their own.
    fn hide(&self, pattern: &Regex, start: usize, found: &mut Vec<Range<usize>>) {
        for captures in pattern.captures_iter(&self.words[start..]) {
            for group in captures.iter().skip(1).flatten() {
                let value = group.as_str();
                let name = value.strip_prefix('{').and_then(|name| name.strip_suffix('}'));
                let is_sign = |c: char| !c.is_ascii_alphanumeric() && c != '_';
                let is_parameter = name.is_some_and(|name| !name.contains(is_sign));
                if !is_elsewhere(value) && !is_parameter && !value.contains("://") {
                    let places = &self.places[start + group.start()..start + group.end()];
                    found.extend(places.iter().map(|place| *place..place + 1));
                }
            }
        }
    }
}
