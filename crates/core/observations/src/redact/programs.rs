//! Options by which programs are given secrets, other than those that are named so.

use super::quotes::{is_variable, word_length};
use super::words::{Word, arguments};

/// Programs whose options, or words, hold secrets.
struct Program {
    /// Names of its programs.
    names: &'static [&'static str],
    /// These options matter only with one of these words; empty: always.
    with: &'static [&'static str],
    /// The short options without a value, which can be written before another: `-Nsp`.
    flags: &'static str,
    /// The own options end with the first other word, at which another command begins.
    runs_another: bool,
    options: &'static [Flag],
    /// Words that are followed by a secret.
    before: &'static [&'static str],
    /// A word of the command is `user/secret@database`.
    login: Login,
    /// The last word is a secret.
    last: bool,
    /// The position of the word before the first option that is a secret, from 1.
    leading: usize,
}

/// A word with a login.
#[derive(Clone, Copy, PartialEq)]
enum Login {
    None,
    /// `user/secret@database`: the program's name is also another word.
    Whole,
    /// Also `user/secret`.
    Any,
    /// `h=host,u=user,p=secret` of Percona Toolkit.
    Pairs,
}

/// An option and the part of its value that is a secret.
#[derive(Clone, Copy)]
struct Flag(&'static str, Part);

#[derive(Clone, Copy, PartialEq)]
enum Part {
    /// The value.
    All,
    /// The value, which is part of the option's word: alone, the option asks for it.
    Attached,
    /// The value after the first sign like this.
    After(char),
    /// The value after this.
    Behind(&'static str),
}

use Part::{After, All, Attached, Behind};

const NONE: Program = Program {
    names: &[],
    with: &[],
    flags: "",
    runs_another: false,
    options: &[],
    before: &[],
    login: Login::None,
    last: false,
    leading: 0,
};

const REDIS: &[&str] =
    &["redis-cli", "valkey-cli", "keydb-cli", "redis-benchmark", "valkey-benchmark"];

/// The table. Options that are named like a secret, such as `--password`, need no entry.
#[rustfmt::skip]
const PROGRAMS: &[Program] = &[
    Program {
        names: &[
            "mysql", "mysqldump", "mysqladmin", "mysqlimport", "mysqlslap", "mysqlcheck", "mysqlsh",
            "mysqlshow", "mysqlbinlog", "mysqlpump", "mysql_upgrade", "mariadb", "mariadb-dump",
            "mariadb-admin", "mariadb-import", "mariadb-slap", "mariadb-check", "mariadb-show",
            "mariadb-binlog", "mariadb-upgrade", "mariabackup", "mariadb-backup", "xtrabackup",
        ],
        flags: "ABbcCEfGHijnNoqrsTtvwX",
        options: &[Flag("-p", Attached)],
        ..NONE
    },
    Program {
        names: &[
            "mydumper", "myloader", "mycli", "mongo", "mongosh", "mongodump", "mongorestore",
            "mongoexport", "mongoimport", "mongostat", "mongotop", "cqlsh", "beeline",
            "rabbitmqadmin", "twine", "cypher-shell", "cbq", "couchbase-cli", "hdbsql", "go-tpc",
            "tiup", "ncftp", "ncftpget", "ncftpput", "useradd", "usermod", "maxctrl", "isql-fb",
            "tdload", "dsbulk", "rdesktop", "psexec", "racadm",
        ],
        options: &[Flag("-p", All)],
        ..NONE
    },
    Program {
        names: &[
            "pt-archiver", "pt-config-diff", "pt-deadlock-logger", "pt-duplicate-key-checker",
            "pt-find", "pt-fk-error-logger", "pt-heartbeat", "pt-index-usage", "pt-kill",
            "pt-mysql-summary", "pt-online-schema-change", "pt-query-digest", "pt-show-grants",
            "pt-slave-delay", "pt-slave-find", "pt-stalk", "pt-table-checksum", "pt-table-sync",
            "pt-table-usage", "pt-upgrade", "pt-variable-advisor", "pt-visual-explain",
        ],
        options: &[Flag("-p", All)],
        login: Login::Pairs,
        ..NONE
    },
    Program {
        names: &["mysqladmin", "mariadb-admin"],
        before: &["password"],
        ..NONE
    },
    Program {
        names: &["exaplus"],
        options: &[Flag("-p", All), Flag("-P", All)],
        ..NONE
    },
    Program {
        names: &["vsql"],
        options: &[Flag("-w", All)],
        ..NONE
    },
    Program { names: &["nzsql", "nodetool"], options: &[Flag("-pw", All)], ..NONE },
    Program {
        names: &[
            "sqlcmd", "bcp", "osql", "isql", "tsql", "sqsh", "fisql", "dtexec", "mssql-cli",
        ],
        flags: "CNEeIbkrqRc",
        options: &[Flag("-P", All), Flag("/P", All)],
        ..NONE
    },
    Program { names: &["dtexec"], options: &[Flag("/de", All), Flag("/De", All)], ..NONE },
    Program {
        names: &["sqlpackage"],
        options: &[Flag("/sp", All), Flag("/tp", All)],
        ..NONE
    },
    // Of unixODBC: source, user, secret.
    Program { names: &["isql", "iusql"], leading: 3, ..NONE },
    Program {
        names: &["gbak", "gfix", "gsec", "gstat", "isql"],
        options: &[Flag("-pas", All), Flag("-pass", All)],
        ..NONE
    },
    Program { names: &["db2look", "ldappasswd"], options: &[Flag("-w", All)], ..NONE },
    Program { names: &["ldappasswd"], options: &[Flag("-s", All), Flag("-a", All)], ..NONE },
    Program {
        names: &[
            "mosquitto_pub", "mosquitto_sub", "zip", "unzip", "ipmitool", "cbc-pillowfight", "cbc",
            "p4",
        ],
        options: &[Flag("-P", All)],
        ..NONE
    },
    Program {
        names: &["setx"],
        with: &["pgpassword", "mysql_pwd", "sqlcmdpassword", "rediscli_auth"],
        last: true,
        ..NONE
    },
    Program { names: &["ssh-keygen"], options: &[Flag("-P", All), Flag("-N", All)], ..NONE },
    Program {
        names: &["7z", "7za", "7zz", "7zr", "rar", "unrar"],
        options: &[Flag("-p", Attached), Flag("-hp", Attached)],
        ..NONE
    },
    Program { names: &["sshpass"], runs_another: true, options: &[Flag("-p", All)], ..NONE },
    Program { names: &["plink", "pscp", "psftp", "putty"], options: &[Flag("-pw", All)], ..NONE },
    Program {
        names: &["curl"],
        flags: "#0123456afgiIjJkLlMnNOpqRsSvVZ",
        options: &[
            Flag("-u", After(':')), Flag("--user", After(':')), Flag("-U", After(':')),
            Flag("--proxy-user", After(':')), Flag("-E", After(':')), Flag("--cert", After(':')),
            Flag("--oauth2-bearer", All),
        ],
        ..NONE
    },
    Program {
        names: &["http", "https", "httpie", "xh", "xhs", "hey", "oha"],
        options: &[Flag("-a", After(':')), Flag("--auth", After(':'))],
        ..NONE
    },
    Program {
        names: &["ab"],
        options: &[Flag("-A", After(':')), Flag("-P", After(':'))],
        ..NONE
    },
    Program {
        names: &["memtier_benchmark"],
        options: &[Flag("-a", All), Flag("--authenticate", All)],
        ..NONE
    },
    Program { names: &["etcdctl"], options: &[Flag("--user", After(':'))], ..NONE },
    Program { names: &["etcdctl"], with: &["user"], before: &["add"], ..NONE },
    Program { names: &["lftp", "open"], options: &[Flag("-u", After(','))], ..NONE },
    Program {
        names: &["smbclient", "smbget", "smbcacls", "smbcquotas", "rpcclient", "net", "winexe"],
        options: &[Flag("-U", After('%')), Flag("--user", After('%'))],
        ..NONE
    },
    Program {
        names: REDIS,
        options: &[Flag("-a", All)],
        before: &["requirepass", "masterauth"],
        ..NONE
    },
    Program { names: REDIS, with: &["auth"], last: true, ..NONE },
    Program { names: REDIS, with: &["setuser"], options: &[Flag(">", Attached)], ..NONE },
    Program {
        names: &["redis-server", "valkey-server"],
        options: &[Flag("--requirepass", All), Flag("--masterauth", All)],
        ..NONE
    },
    Program {
        names: &["openssl"],
        options: &[
            Flag("-passin", Behind("pass:")), Flag("-passout", Behind("pass:")),
            Flag("-pass", Behind("pass:")), Flag("-password", Behind("pass:")),
            Flag("-k", All), Flag("-K", All), Flag("-hmac", All),
        ],
        ..NONE
    },
    Program { names: &["openssl"], with: &["passwd"], last: true, ..NONE },
    Program {
        names: &["snmpget", "snmpgetnext", "snmpset", "snmpwalk", "snmpbulkwalk", "snmptable"],
        options: &[Flag("-A", All), Flag("-X", All), Flag("-c", All)],
        ..NONE
    },
    Program { names: &["swaks"], options: &[Flag("-ap", All)], ..NONE },
    Program { names: &["xfreerdp", "wfreerdp"], options: &[Flag("/p", All)], ..NONE },
    Program { names: &["schtasks"], options: &[Flag("/rp", All), Flag("/p", All)], ..NONE },
    Program { names: &["net"], with: &["use"], leading: 3, ..NONE },
    Program { names: &["wpa_passphrase"], leading: 2, ..NONE },
    Program { names: &["nmcli"], before: &["password"], ..NONE },
    Program { names: &["pdftk"], before: &["input_pw", "user_pw", "owner_pw"], ..NONE },
    Program { names: &["cargo"], with: &["login"], last: true, ..NONE },
    Program {
        names: &["convertto-securestring"],
        options: &[Flag("-String", All)],
        leading: 1,
        ..NONE
    },
    Program { names: &["doctl"], options: &[Flag("-t", All)], ..NONE },
    Program {
        names: &["consul"],
        options: &[Flag("-http-auth", After(':')), Flag("--http-auth", After(':'))],
        ..NONE
    },
    Program { names: &["az"], with: &["secret"], options: &[Flag("--value", All)], ..NONE },
    Program {
        names: &["ldapsearch", "ldapadd", "ldapmodify", "ldapdelete"],
        options: &[Flag("-w", All)],
        ..NONE
    },
    Program { names: &["impala-shell"], options: &[Flag("--ldap_password_cmd", All)], ..NONE },
    Program { names: &["influx"], options: &[Flag("-t", All)], ..NONE },
    Program {
        names: &[
            "docker", "podman", "nerdctl", "buildah", "skopeo", "helm", "oras", "crane", "oc", "cf",
            "az",
        ],
        with: &["login"],
        options: &[Flag("-p", All)],
        ..NONE
    },
    Program { names: &["skopeo", "buildah"], options: &[Flag("--creds", After(':'))], ..NONE },
    Program {
        names: &["az"],
        with: &["sql", "postgres", "mysql", "mariadb"],
        options: &[Flag("-p", All)],
        ..NONE
    },
    Program {
        names: &["az"],
        with: &["cosmosdb", "storage", "redis"],
        options: &[Flag("--key", All)],
        ..NONE
    },
    Program {
        names: &["kubectl", "oc"],
        with: &["secret"],
        options: &[Flag("--from-literal", After('='))],
        ..NONE
    },
    Program {
        names: &["aws"],
        options: &[Flag("--sse-c-key", All), Flag("--sse-c-copy-source-key", All)],
        before: &[
            "aws_secret_access_key", "aws_session_token", "default.aws_secret_access_key",
            "default.aws_session_token",
        ],
        ..NONE
    },
    Program { names: &["vault", "bao"], with: &["login"], before: &["login"], ..NONE },
    Program { names: &["vault", "bao"], before: &["unseal"], ..NONE },
    Program { names: &["mc"], with: &["alias", "config"], last: true, ..NONE },
    Program {
        names: &["rabbitmqctl"],
        with: &["add_user", "change_password", "authenticate_user"],
        last: true,
        ..NONE
    },
    Program { names: &["neo4j-admin"], before: &["set-initial-password"], ..NONE },
    Program {
        names: &["htpasswd"],
        with: &["-b", "-nb", "-bn", "-bc", "-cb", "-nbB", "-bB", "-Bb", "-Bbn", "-nbm"],
        last: true,
        ..NONE
    },
    Program { names: &["db2"], before: &["using"], ..NONE },
    // HammerDB's scripts: `diset connection mssqls_pass secret`.
    Program {
        names: &["diset"],
        before: &[
            "mssqls_pass", "mysql_pass", "maria_pass", "pg_pass", "pg_superuserpass",
            "pg_defaultdbpass", "system_password", "tpcc_pass", "db2_pass", "oracle_pass",
        ],
        ..NONE
    },
    Program {
        names: &[
            "sqlplus", "rman", "expdp", "impdp", "sqlldr", "sqlcl", "db2batch", "db2bench_run",
        ],
        login: Login::Any,
        ..NONE
    },
    Program { names: &["sql", "exp", "imp", "connect", "conn"], login: Login::Whole, ..NONE },
];

/// Hides the secrets that programs are given by their own options.
pub fn hide(chars: &[char], hidden: &mut [bool]) {
    let mut at = 0;
    while at < chars.len() {
        let end = at + word_length(chars, at, "_-");
        let follows = chars.get(end).is_some_and(|c| " \t'\"\\.".contains(*c));
        let is_file = at.checked_sub(1).is_some_and(|before| ".@".contains(chars[before]));
        if end > at && follows && !is_file {
            let name: String = chars[at..end].iter().collect::<String>().to_ascii_lowercase();
            let suffix = chars[end..].starts_with(&['.', 'e', 'x', 'e']);
            let end = if suffix { end + 4 } else { end };
            let mut programs =
                PROGRAMS.iter().filter(|program| program.names.contains(&name.as_str())).peekable();
            if programs.peek().is_some() && chars.get(end) != Some(&'.') {
                let words = arguments(chars, at, end);
                for program in programs {
                    program.hide(&words, hidden);
                }
            }
        }
        at = end.max(at + 1);
    }
}

impl Program {
    fn hide(&self, words: &[Word], hidden: &mut [bool]) {
        let is = |word: &Word, text: &&str| {
            word.text.iter().copied().map(|c| c.to_ascii_lowercase()).eq(text.chars())
        };
        let mut with = self.with.iter();
        if !self.with.is_empty()
            && !with.any(|word_pattern| words.iter().any(|word| is(word, word_pattern)))
        {
            return;
        }
        if let Some(word) = words.last().filter(|word| {
            self.last && word.text[0] != '-' && !self.with.iter().any(|text| is(word, text))
        }) {
            mask(word, 0, All, hidden);
        }
        let first =
            words.get(..self.leading).filter(|all| all.iter().all(|word| word.text[0] != '-'));
        if let Some(secret) = first.and_then(<[_]>::last) {
            mask(secret, 0, All, hidden);
        }
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if let Some((part, from)) = self.option(&word.text) {
                match from {
                    Some(from) => mask(word, from, part, hidden),
                    None if part == Attached => {}
                    None => {
                        if let Some(value) = words.next() {
                            mask(value, 0, part, hidden);
                        }
                    }
                }
            } else if self.before.iter().any(|word_pattern| is(word, word_pattern)) {
                // Options can stand between: `vault login -method=userpass`.
                if let Some(secret) = words.by_ref().find(|word| word.text[0] != '-') {
                    mask(secret, 0, All, hidden);
                }
            } else if word.text[0] != '-' {
                mask_login(word, self.login, hidden);
                if self.runs_another {
                    return;
                }
            }
        }
    }

    /// The secret part of an option's value, and where in the word the value begins, if it does.
    fn option(&self, word: &[char]) -> Option<(Part, Option<usize>)> {
        self.options.iter().find_map(|Flag(name, part)| {
            let name: Vec<char> = name.chars().collect();
            let is_short = name.len() == 2;
            let flags = if is_short && name[0] == '-' && word[0] == '-' {
                word[1..].iter().take_while(|c| **c != name[1] && self.flags.contains(**c)).count()
            } else {
                0
            };
            let (sign, letters) = name.split_first()?;
            let rest = word.strip_prefix(&[*sign])?[flags..].strip_prefix(letters)?;
            let value = word.len() - rest.len();
            match rest.first() {
                None => Some((*part, None)),
                Some('=') => Some((*part, Some(value + 1))),
                Some(':') if *sign == '/' => Some((*part, Some(value + 1))),
                Some(_) => (is_short || *part == Attached).then_some((*part, Some(value))),
            }
        })
    }
}

/// Hides a part of the value that begins here in a word.
fn mask(word: &Word, from: usize, part: Part, hidden: &mut [bool]) {
    let value = &word.text[from..];
    let start = match part {
        All | Attached => Some(0),
        After(sign) => value.iter().position(|c| *c == sign).map(|at| at + 1),
        Behind(prefix) => {
            let prefix: Vec<char> = prefix.chars().collect();
            value.starts_with(&prefix).then_some(prefix.len())
        }
    };
    if let Some(start) = start.filter(|start| !is_elsewhere(&value[*start..])) {
        for place in &word.places[from + start..] {
            hidden[*place] = true;
        }
    }
}

/// `user/secret@database`, `userid=user/secret`; a path begins with a slash or a dot.
fn mask_login(word: &Word, login: Login, hidden: &mut [bool]) {
    let text = &word.text;
    if login == Login::Pairs {
        let mut start = 0;
        for pair in text.split(|c| *c == ',') {
            if pair.starts_with(&['p', '=']) && !is_elsewhere(&pair[2..]) {
                word.places[start + 2..start + pair.len()].iter().for_each(|at| hidden[*at] = true);
            }
            start += pair.len() + 1;
        }
        return;
    }
    let Some(slash) = text.iter().position(|c| *c == '/') else { return };
    let end = text.iter().rposition(|c| *c == '@').filter(|at| *at > slash);
    let user = text[..slash].rsplit(|c| *c == '=').next().unwrap_or_default();
    let is_user = !user.is_empty()
        && user.iter().all(|c| c.is_alphanumeric() || "_$#[]".contains(*c))
        && match login {
            Login::None | Login::Pairs => false,
            Login::Whole => end.is_some(),
            Login::Any => true,
        };
    if is_user {
        let secret = slash + 1..end.unwrap_or(text.len());
        if !is_elsewhere(&text[secret.clone()]) {
            for place in &word.places[secret] {
                hidden[*place] = true;
            }
        }
    }
}

/// Returns whether a value is a variable, the output of a command or a parameter: `$PASSWORD`,
/// `$(cat file)`, `{password}`.
fn is_elsewhere(value: &[char]) -> bool {
    let is_parameter = match value {
        ['{', name @ .., '}'] => name.iter().all(|c| c.is_ascii_alphanumeric() || *c == '_'),
        _ => false,
    };
    is_parameter || is_variable(value) || value.starts_with(&['$', '('])
}
