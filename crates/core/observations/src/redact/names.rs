//! Names of secrets: of variables, settings and options.

/// Endings of names of secrets.
const SECRETS: [&str; 27] = [
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
    "masterauth",
    "secret",
    "token",
    "api_key",
    "apikey",
    "access_key",
    "accesskey",
    "account_key",
    "accountkey",
    "secret_key",
    "secretkey",
    "private_key",
    "encryption_key",
    "auth_key",
    "x_amz_signature",
];

/// Returns whether a name (of a variable or an option) marks its value as a secret: `PGPASSWORD`,
/// `API_TOKEN`, `account-key`.
pub fn names_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('-', "_");
    name == "pass" || SECRETS.iter().any(|secret| name.ends_with(secret))
}
