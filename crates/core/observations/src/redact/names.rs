//! Names of secrets: of variables, settings and options.

/// Endings of names of secrets.
const SECRETS: [&str; 36] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "pwd",
    "_pw",
    "_pass",
    "dbpass",
    "keypass",
    "storepass",
    "userpass",
    "requirepass",
    "sshpass",
    "pgpass",
    "masterauth",
    "rediscli_auth",
    "secret",
    "secret_key_base",
    "token",
    "credential",
    "credentials",
    "creds",
    "api_key",
    "apikey",
    "access_key",
    "accesskey",
    "account_key",
    "accountkey",
    "storage_key",
    "secret_key",
    "secretkey",
    "private_key",
    "encryption_key",
    "auth_key",
    "subscription_key",
    "x_amz_signature",
];
/// Names of secrets that other names may end with.
const WHOLE: [&str; 3] = ["pass", "pw", "_auth"];
/// Names that a number may follow: `--password1`.
const NUMBERED: [&str; 3] = ["password", "passwd", "pwd"];
/// Endings of names of variables, behind that of a secret: `DB_PASSWORD_PROD`.
const STAGES: [&str; 7] = ["_prod", "_production", "_staging", "_dev", "_test", "_old", "_new"];

/// Returns whether a name (of a variable or an option) marks its value as a secret: `PGPASSWORD`,
/// `API_TOKEN`, `account-key`, `DB_PASSWORD_2`.
pub fn names_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('-', "_");
    let name = STAGES.iter().find_map(|stage| name.strip_suffix(stage)).unwrap_or(&name);
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('_');
    WHOLE.contains(&name)
        || SECRETS.iter().any(|secret| name.ends_with(secret))
        || NUMBERED.iter().any(|secret| plain.ends_with(secret))
}
