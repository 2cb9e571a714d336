//! The address of a server, and the login: a URL, or the keywords of ADO.NET, ODBC and JDBC; what
//! they leave open comes from the variables of `sqlcmd`
//! (<https://learn.microsoft.com/sql/tools/sqlcmd/sqlcmd-use-scripting-variables>).

use observations::Secret;
use servers::url::EscapeError;
use std::fmt;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Where a default instance listens.
const PORT: u16 = 1433;
/// Most characters of a password (LOGIN7 has no room for more).
const PASSWORD_MAX: u64 = 128 * 4;
/// Most bytes of an access token: more than one with many groups has.
const TOKEN_MAX: u64 = 64 << 10;

/// The encryption of the connection, in the words of Microsoft's drivers
/// (<https://learn.microsoft.com/sql/connect/odbc/dsn-connection-string-attribute#encrypt>).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encryption {
    /// From the first byte on (TDS 8.0); the certificate is always verified.
    Strict,
    /// All but the first exchange; the certificate is verified unless it is trusted unseen.
    Mandatory,
    /// Only the login, unless the server wants more.
    Optional,
}

/// Login method.
#[derive(Clone, PartialEq, Eq)]
pub enum Login {
    /// A login of the server with its password.
    Sql { user: String, password: Secret },
    /// The Kerberos principal of this process's ticket.
    Kerberos,
    /// The user that an access token of Entra ID names. It is read from this file for each
    /// connection, because it expires.
    Token(PathBuf),
}

/// The parameters of a connection. It is displayed, and printed for developers, without its
/// password.
#[derive(Clone, PartialEq, Eq)]
pub struct Config {
    /// Host name or address.
    pub host: String,
    /// Port; `None` with an instance, whose port the server's browser service returns.
    pub port: Option<u16>,
    /// A named instance.
    pub instance: Option<String>,
    /// Login method.
    pub login: Login,
    /// The database to connect to; empty: the login's own.
    pub database: String,
    /// The encryption of the connection.
    pub encryption: Encryption,
    /// True if the certificate is accepted unverified.
    pub trusts_certificate: bool,
    /// The name that the certificate has to bear, if not the host's.
    pub certificate_host: Option<String>,
    /// The certificate itself, which the server's has to equal.
    pub certificate: Option<PathBuf>,
    /// Seconds that connecting may take.
    pub connect_timeout_s: u32,
    /// True if a secondary replica suffices.
    pub reads_only: bool,
    /// True if all addresses of the host are tried in parallel.
    pub multi_subnet: bool,
    /// Doubts about the URL, one sentence each.
    pub warnings: Vec<String>,
}

impl fmt::Display for Config {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("mssql://")?;
        if let Login::Sql { user, .. } = &self.login {
            write!(out, "{user}@")?;
        }
        out.write_str(&self.host)?;
        if let Some(instance) = &self.instance {
            write!(out, "\\{instance}")?;
        }
        if let Some(port) = self.port {
            write!(out, ":{port}")?;
        }
        write!(out, "/{}", self.database)
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// Why a URL or a connection string is not usable. No message contains a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(String);

fn wrong<T>(what: impl Into<String>) -> Result<T, ConfigError> {
    Err(ConfigError(what.into()))
}

/// The raw parts of a connection string.
#[derive(Default)]
struct Keywords {
    /// By keyword, as [`keyword`] names it.
    values: Vec<(String, String)>,
}

impl Keywords {
    fn get(&self, keyword: &str) -> Option<&str> {
        let found = self.values.iter().find(|(name, value)| name == keyword && !value.is_empty());
        found.map(|(_, value)| value.as_str())
    }

    fn is_on(&self, keyword: &str) -> Result<Option<bool>, ConfigError> {
        match self.get(keyword).map(str::to_lowercase).as_deref() {
            None => Ok(None),
            Some("true" | "yes" | "1" | "sspi") => Ok(Some(true)),
            Some("false" | "no" | "0") => Ok(Some(false)),
            Some(_) => wrong(format!("{keyword} must be yes or no")),
        }
    }
}

/// Keywords that are understood, by the first of their names, under which [`Keywords`] has them.
#[rustfmt::skip]
const KEYWORDS: [&[&str]; 16] = [
    &["server", "datasource", "address", "addr", "networkaddress"], &["port", "portnumber"],
    &["instance", "instancename"], &["database", "initialcatalog", "databasename"],
    &["user", "userid", "uid", "username"], &["password", "pwd"], &["passwordfile"],
    &["accesstokenfile"],
    &["trustedconnection", "integratedsecurity"], &["encrypt"], &["trustservercertificate"],
    &["hostnameincertificate"], &["servercertificate"],
    &["connecttimeout", "connectiontimeout", "logintimeout", "timeout"], &["applicationintent"],
    &["multisubnetfailover"],
];
/// Keywords of other drivers that change nothing here.
#[rustfmt::skip]
const WITHOUT_EFFECT: [&str; 12] = [
    "driver", "app", "appname", "applicationname", "packetsize", "persistsecurityinfo", "pooling",
    "maxpoolsize",
    "minpoolsize", "multipleactiveresultsets", "wsid", "connectretrycount",
];

impl Config {
    /// Host, instance and port.
    pub(crate) fn address(&self) -> String {
        let instance = self.instance.as_ref().map_or_else(String::new, |name| format!("\\{name}"));
        let port = self.port.map_or_else(String::new, |port| format!(",{port}"));
        format!("{}{instance}{port}", self.host)
    }

    /// From `mssql://user@host:port/database?encrypt=strict`,
    /// `sqlserver://user@host:port/instance?database=name` (as of the Go driver),
    /// `sqlserver://host:port;databaseName=name` (JDBC) or `Server=host,port;User ID=user`
    /// (ADO.NET, ODBC); what is left open comes from the variables `SQLCMD*` of this process.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        Self::parse_in(text, |name| std::env::var(name).ok())
    }

    /// Parses a text in another environment.
    pub fn parse_in(
        text: &str,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, ConfigError> {
        let mut parts = parse_keywords(text)?;
        let mut warnings = Vec::new();
        for (at, (name, _)) in parts.values.iter().enumerate() {
            if WITHOUT_EFFECT.contains(&name.as_str()) {
                warnings.push(format!("{name} has no effect here"));
            } else if !KEYWORDS.iter().any(|names| names[0] == name) {
                // A password with unquoted signs reads like a keyword: it is not repeated.
                return wrong(format!(
                    "part {} of the connection string starts with an unknown keyword",
                    at + 1
                ));
            }
        }
        let environment = [("SQLCMDSERVER", "server"), ("SQLCMDDBNAME", "database")];
        for (name, keyword) in environment {
            parts.values.extend(variable(name).map(|value| (keyword.to_owned(), value)));
        }
        let (host, instance, port) = place(&parts)?;
        Ok(Self {
            host,
            port: port.or(instance.is_none().then_some(PORT)),
            instance,
            login: login(&parts, variable)?,
            database: parts.get("database").unwrap_or_default().to_owned(),
            encryption: encryption(&parts)?,
            trusts_certificate: parts.is_on("trustservercertificate")?.unwrap_or(false),
            certificate_host: parts.get("hostnameincertificate").map(str::to_owned),
            certificate: parts.get("servercertificate").map(PathBuf::from),
            connect_timeout_s: match parts.get("connecttimeout").map(str::parse) {
                None => 15,
                Some(Ok(seconds)) if seconds > 0 => seconds,
                Some(_) => {
                    return wrong("the connect timeout must be a number of seconds, at least 1");
                }
            },
            reads_only: parts
                .get("applicationintent")
                .is_some_and(|intent| intent.eq_ignore_ascii_case("readonly")),
            multi_subnet: parts.is_on("multisubnetfailover")?.unwrap_or(false),
            warnings,
        })
    }
}

fn parse_keywords(text: &str) -> Result<Keywords, ConfigError> {
    match text.split_once("://") {
        Some((scheme @ ("mssql" | "sqlserver"), rest)) => url(scheme, rest),
        _ => Ok(Keywords { values: keywords(text)? }),
    }
}

/// Returns whether a URL or a connection string contains a password.
pub(crate) fn holds_password(text: &str) -> bool {
    parse_keywords(text).is_ok_and(|parts| parts.get("password").is_some())
}

/// A keyword as it is compared: `User ID`, `user_id`, `UserId` and `uid` are one.
fn keyword(name: &str) -> String {
    let plain: String =
        name.chars().filter(|sign| sign.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let known = KEYWORDS.iter().find(|names| names.contains(&plain.as_str()));
    known.map_or(plain, |names| names[0].to_owned())
}

/// The parts of the text behind `://`.
fn url(scheme: &str, rest: &str) -> Result<Keywords, ConfigError> {
    let (address, properties) = match rest.find(['?', ';']) {
        Some(at) => (&rest[..at], &rest[at..]),
        None => (rest, ""),
    };
    let (authority, path) = address.rsplit_once('/').unwrap_or((address, ""));
    let (user, server) = match authority.rsplit_once('@') {
        Some((user, server)) => (Some(user), server),
        None => (None, authority),
    };
    let mut values = Vec::new();
    let mut add = |name: &str, value: &str| -> Result<(), ConfigError> {
        values.push((name.to_owned(), decoded(value)?));
        Ok(())
    };
    if let Some(user) = user {
        let (user, password) =
            user.split_once(':').map_or((user, None), |(user, password)| (user, Some(password)));
        add("user", user)?;
        password.map_or(Ok(()), |password| add("password", password))?;
    }
    add("server", server)?;
    // The Go driver has the instance there, all others the database.
    add(if scheme == "sqlserver" { "instance" } else { "database" }, path)?;
    match properties.split_at_checked(1) {
        Some((";", properties)) => values.extend(keywords(properties)?),
        Some((_, properties)) => {
            for pair in properties.split('&').filter(|pair| !pair.is_empty()) {
                let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                values.push((keyword(name), decoded(value)?));
            }
        }
        None => {}
    }
    Ok(Keywords { values })
}

/// Percent-encoding undone.
fn decoded(text: &str) -> Result<String, ConfigError> {
    servers::url::decoded(text).or_else(|error| match error {
        EscapeError::Code => wrong(
            "`%` in the URL must be followed by two hexadecimal digits; write a literal `%` as %25",
        ),
        EscapeError::NotUtf8 => wrong("the URL is not valid UTF-8 after percent-decoding"),
    })
}

/// `name=value;name=value`, values in quotes or braces where they hold semicolons.
fn keywords(text: &str) -> Result<Vec<(String, String)>, ConfigError> {
    let mut values = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix(';') {
            rest = after.trim_start();
            continue;
        }
        let Some((name, value)) = rest.split_once('=') else {
            return wrong("the connection string contains a keyword without a value");
        };
        let (value, after) = keyword_value(value.trim_start())?;
        values.push((keyword(name), value));
        rest = after.trim_start();
    }
    Ok(values)
}

/// The value at the beginning of a text, and what follows it.
fn keyword_value(text: &str) -> Result<(String, &str), ConfigError> {
    let end = match text.chars().next() {
        Some('{') => '}',
        Some(quote @ ('"' | '\'')) => quote,
        _ => {
            let (value, rest) = text.split_at(text.find(';').unwrap_or(text.len()));
            return Ok((value.trim_end().to_owned(), rest));
        }
    };
    let mut value = String::new();
    let mut signs = text.char_indices().skip(1).peekable();
    while let Some((at, sign)) = signs.next() {
        if sign != end {
            value.push(sign);
        } else if signs.peek().is_some_and(|(_, next)| *next == end) {
            // Doubled, it stands for itself.
            signs.next();
            value.push(sign);
        } else {
            let rest = text[at + 1..].trim_start();
            let ends = rest.is_empty() || rest.starts_with(';');
            return if ends {
                Ok((value, rest))
            } else {
                wrong("unexpected text after a value that has ended")
            };
        }
    }
    wrong(format!("the connection string has a value without a closing {end}"))
}

/// Host, instance and port: `tcp:host,1433`, `host\instance`, `host:1433`, `[::1]:1433`.
fn place(keywords: &Keywords) -> Result<(String, Option<String>, Option<u16>), ConfigError> {
    let server = keywords.get("server").unwrap_or("localhost").trim();
    if server.starts_with("np:") || server.starts_with("lpc:") || server.starts_with(r"\\") {
        return wrong("only TCP is supported; give the server as host or host,port");
    }
    let server = server.strip_prefix("tcp:").unwrap_or(server);
    let (server, port) = match server.rsplit_once([',', ':']) {
        Some((server, port))
            if !server.contains(':') || server.ends_with(']') || server.contains(',') =>
        {
            (server, Some(port))
        }
        _ => (server, None),
    };
    let (host, instance) =
        server.split_once('\\').map_or((server, None), |(host, name)| (host, Some(name)));
    let host = match host.trim().trim_start_matches('[').trim_end_matches(']') {
        "." | "(local)" | "" => "localhost",
        host => host,
    };
    let port = match port.map(str::trim).or_else(|| keywords.get("port")).map(str::parse::<u16>) {
        None => None,
        Some(Ok(port)) if port > 0 => Some(port),
        Some(_) => return wrong("the port must be a number from 1 to 65535"),
    };
    let instance = instance
        .or_else(|| keywords.get("instance"))
        .filter(|name| !name.eq_ignore_ascii_case("mssqlserver"));
    // With a port the instance is known already.
    Ok((host.to_owned(), instance.filter(|_| port.is_none()).map(str::to_owned), port))
}

fn login(
    keywords: &Keywords,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Login, ConfigError> {
    let in_place = |keyword: &str| {
        let of_password =
            ["user", "password", "passwordfile"].iter().any(|text| keywords.get(text).is_some());
        let text = format!("{keyword} replaces user and password: leave them out");
        if of_password { wrong(text) } else { Ok(()) }
    };
    if let Some(file) = keywords.get("accesstokenfile") {
        if encryption(keywords)? == Encryption::Optional {
            return wrong("an access token requires encryption; remove Encrypt=optional");
        }
        in_place("AccessTokenFile=")?;
        access_token(Path::new(file))?;
        return Ok(Login::Token(file.into()));
    }
    if keywords.is_on("trustedconnection")? == Some(true) {
        in_place("Trusted_Connection=yes")?;
        return Ok(Login::Kerberos);
    }
    let Some(user) = keywords
        .get("user")
        .map(str::to_owned)
        .or_else(|| variable("SQLCMDUSER").filter(|user| !user.is_empty()))
    else {
        return wrong(
            "no user given: put it into the URL (mssql://user@host/) or SQLCMDUSER, ask for \
             Kerberos by Trusted_Connection=yes, or name a file with an access token of Entra ID \
             by AccessTokenFile=",
        );
    };
    let file = keywords
        .get("passwordfile")
        .map(|path| secret_from(Path::new(path), "password", PASSWORD_MAX))
        .transpose()?;
    let secret = keywords.get("password").map(Secret::from).or(file.map(Secret::from));
    let password = secret.or_else(|| variable("SQLCMDPASSWORD").map(Secret::from));
    Ok(Login::Sql { user, password: password.unwrap_or_default() })
}

/// The access token in a file, as it is now.
pub(crate) fn access_token(path: &Path) -> Result<String, ConfigError> {
    let token = secret_from(path, "access token", TOKEN_MAX)?;
    if token.is_empty() {
        return wrong(format!("access token file {} is empty", path.display()));
    }
    Ok(token)
}

/// The first line of a file that only its owner may read.
fn secret_from(path: &Path, what: &str, bytes_max: u64) -> Result<String, ConfigError> {
    let name = path.display();
    let failed = |error: std::io::Error| ConfigError(format!("{what} file {name}: {error}"));
    let metadata = path.metadata().map_err(failed)?;
    if metadata.permissions().mode() & 0o077 != 0 {
        return wrong(format!(
            "{what} file {name}: other users can access it; run chmod 600 on it"
        ));
    }
    if metadata.len() > bytes_max {
        return wrong(format!("{what} file {name} is too large"));
    }
    let text = std::fs::read_to_string(path).map_err(failed)?;
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

fn encryption(keywords: &Keywords) -> Result<Encryption, ConfigError> {
    match keywords.get("encrypt").map(str::to_lowercase).as_deref() {
        None | Some("mandatory" | "yes" | "true" | "1") => Ok(Encryption::Mandatory),
        Some("strict") => Ok(Encryption::Strict),
        Some("optional" | "no" | "false" | "0") => Ok(Encryption::Optional),
        Some(other) => {
            wrong(format!("Encrypt = {other:?}: expected strict, mandatory or optional"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Config, ConfigError> {
        Config::parse_in(text, |_| None)
    }

    fn password(config: &Config) -> &str {
        let Login::Sql { password, .. } = &config.login else { panic!("no SQL login: {config}") };
        password.reveal()
    }

    #[test]
    fn all_ways_to_write_a_server_name_the_same_one() {
        for text in [
            "mssql://sa:S3c@db1:1434/shop?encrypt=optional",
            "sqlserver://sa:S3c@db1:1434?database=shop&encrypt=no",
            "sqlserver://db1:1434;databaseName=shop;user=sa;password=S3c;encrypt=false",
            "Server=tcp:db1,1434;Initial Catalog=shop;User ID=sa;Password=S3c;Encrypt=Optional;",
            "Data Source = db1,1434 ; database=shop; uid=sa ; PWD={S3c} ; Encrypt='no'",
        ] {
            let config = parsed(text).unwrap();
            assert_eq!(config.to_string(), "mssql://sa@db1:1434/shop", "{text}");
            assert_eq!(
                (password(&config), config.encryption),
                ("S3c", Encryption::Optional),
                "{text}"
            );
            assert!(!format!("{config:?}").contains("S3c"));
        }
    }

    #[test]
    fn values_may_hold_any_sign() {
        let config = parsed("Server=.;User ID=a;Password=\"x;y\"\"=z\"").unwrap();
        assert_eq!(
            (password(&config), config.host.as_str(), config.port),
            ("x;y\"=z", "localhost", Some(PORT))
        );
        assert_eq!(password(&parsed("mssql://a:p%40%3A%25@h/").unwrap()), "p@:%");
        assert_eq!(password(&parsed("mssql://a:p@q:r@h/").unwrap()), "p@q:r");
        assert_eq!(password(&parsed("Server=h;Uid=a;Pwd={a}}b};").unwrap()), "a}b");
        let config = parsed("mssql://a@[::1]:1500/").unwrap();
        assert_eq!((config.host.as_str(), config.port), ("::1", Some(1500)));
        let config = parsed(r"Server=db1\second;Uid=a").unwrap();
        assert_eq!((config.instance.as_deref(), config.port), (Some("second"), None));
        assert_eq!(parsed("sqlserver://a@db1/second").unwrap().instance.as_deref(), Some("second"));
        assert_eq!(
            parsed(r"Server=db1\second,1500;Uid=a").unwrap().instance,
            None,
            "the port says it"
        );
    }

    #[test]
    fn defaults_are_those_of_current_drivers_and_connections_are_made_one_by_one() {
        let config = parsed("mssql://sa@db1").unwrap();
        assert_eq!((config.encryption, config.trusts_certificate), (Encryption::Mandatory, false));
        assert!(!config.multi_subnet && !config.reads_only && config.connect_timeout_s == 15);
        let config = parsed(
            "Server=h;Uid=a;Encrypt=Strict;TrustServerCertificate=yes;HostNameInCertificate=b",
        )
        .unwrap();
        assert_eq!((config.encryption, config.trusts_certificate), (Encryption::Strict, true));
        assert_eq!(config.certificate_host.as_deref(), Some("b"));
        assert!(matches!(
            parsed("Server=h;Trusted_Connection=yes").unwrap().login,
            Login::Kerberos
        ));
        let both = parsed("Server=h;User ID=sa;Trusted_Connection=yes").unwrap_err().to_string();
        assert!(both.contains("Trusted_Connection=yes replaces user and password"), "{both}");
    }

    #[test]
    fn what_is_left_open_comes_from_the_environment() {
        let variable = |name: &str| match name {
            "SQLCMDSERVER" => Some("tcp:db9,1999".to_owned()),
            "SQLCMDUSER" => Some("monitor".to_owned()),
            "SQLCMDPASSWORD" => Some("S3c".to_owned()),
            "SQLCMDDBNAME" => Some("shop".to_owned()),
            _ => None,
        };
        let config = Config::parse_in("mssql://", variable).unwrap();
        assert_eq!(
            (config.to_string().as_str(), password(&config)),
            ("mssql://monitor@db9:1999/shop", "S3c")
        );
        let kerberos = Config::parse_in("mssql://h/?trusted_connection=yes", variable).unwrap();
        assert!(
            matches!(kerberos.login, Login::Kerberos),
            "the variable is for who names no login"
        );
        let config = Config::parse_in("mssql://sa:own@h/x", variable).unwrap();
        assert_eq!(
            (config.to_string().as_str(), password(&config)),
            ("mssql://sa@h:1433/x", "own")
        );
    }

    #[test]
    fn a_password_file_is_for_its_owner_only() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "S3c ret\n").unwrap();
        let text = format!("Server=h;Uid=a;PasswordFile={}", file.path().display());
        let set = |mode| {
            std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(mode)).unwrap();
        };
        set(0o640);
        let error = parsed(&text).unwrap_err().to_string();
        assert!(error.starts_with("password file "), "{error}");
        set(0o600);
        assert_eq!(password(&parsed(&text).unwrap()), "S3c ret");
    }

    #[test]
    fn what_is_wrong_is_said_without_the_password() {
        for (text, part) in [
            ("mssql://h/", "no user given"),
            ("mssql://a:S3c@h:99999/", "the port must be a number"),
            ("mssql://a:S3c%4@h/", "two hexadecimal digits"),
            ("Server=h;Uid=a;Pwd=S3c;Encrypt=maybe", "expected strict, mandatory or optional"),
            ("Server=h;Uid=a;Pwd='S3c", "closing '"),
            ("Server=h;Uid=a;Pwd='S3c'x", "unexpected text after"),
            (
                "Server=h;Uid=a;Pwd=S3c;Colour=red",
                "part 4 of the connection string starts with \
                                                   an unknown keyword",
            ),
            ("Server=h;Uid=a;Pwd=S3c;Connect Timeout=soon", "connect timeout"),
            ("Server=np:h;Uid=a;Pwd=S3c", "only TCP"),
            ("Server=h;S3c", "without a value"),
        ] {
            let error = parsed(text).unwrap_err().to_string();
            assert!(error.contains(part) && !error.contains("S3c"), "{text}: {error}");
        }
        assert_eq!(
            parsed("Server=h;Uid=a;Driver={ODBC Driver 18}").unwrap().warnings,
            ["driver has no effect here"]
        );
    }
}
