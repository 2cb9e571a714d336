mod forms;

use super::redacted;
use forms::{COMMANDS, INNOCENT};

/// Each text has the secret in it, whole or in parts.
#[test]
fn no_part_of_a_password_stays_and_all_else_does() {
    for (text, shown) in [
        ("postgres://u:S3c@h/d", "postgres://u:***@h/d"),
        ("see POSTGRES://u:S3c@h:5/d?a=b, please", "see POSTGRES://u:***@h:5/d?a=b, please"),
        ("mysql://u:S3c@", "mysql://u:***@"),
        ("az storage blob list --key S3c -o tsv", "az storage blob list --key *** -o tsv"),
        ("https://S3cS3cS3c:x-oauth-basic@h/x", "https://***********************@h/x"),
        ("u:S3c@h", "u:***@h"),
        ("postgres://u:S3c", "postgres://u:***"),
        ("u:S3c@: not found", "u:***@: not found"),
        ("results/postgres:/u:S3c@h.html", "results/postgres:******@h.html"),
        (":S3c@h u:S3c@", ":***@h u:***@"),
        ("is it u:S3c@? (u:S3c@!)", "is it u:***@? (u:***@!)"),
        ("postgres://u:S?3/c@h", "postgres://u:*****@h"),
        ("postgres://u:S@3@c@h", "postgres://u:*****@h"),
        ("mariadb://u@h/x:%2fu:S3c%40h", "mariadb://u@h/x:********%40h"),
        (r#""url": "postgres:\/\/u:S3c@h""#, r#""url": "postgres:\/\/u:***@h""#),
        (r"postgres://u\u003aS3c@h", r"postgres://u\u003a***@h"),
        ("host=h password=S3c user=u", "host=h password=*** user=u"),
        ("host=h password = 'S 3\\'c' user=u", "host=h password = '******' user=u"),
        ("host=h passwd=S3\\ c", "host=h passwd=*****"),
        ("host=h password=S3 c user=u", "host=h password=**** user=u"),
        ("postgres://h?pass%77ord=S3c&a=b", "postgres://h?pass%77ord=***&a=b"),
        (r#"{"pass\u0077ord": "S\"3c", "a": 1}"#, r#"{"pass\u0077ord": "*****", "a": 1}"#),
        (r#""{\"password\": \"S3c\", \"a\": 1}""#, r#""{\"password\": \"***\", \"a\": 1}""#),
        ("PGPASSWORD=S3c psql -h h", "PGPASSWORD=*** psql -h h"),
        ("export MYSQL_PWD='S3c'; x", "export MYSQL_PWD='***'; x"),
        ("tool --password S3c --db d", "tool --password *** --db d"),
        ("tool --password=S3c", "tool --password=***"),
        ("ALTER ROLE a PASSWORD 'S3c'", "ALTER ROLE a PASSWORD '***'"),
        (r#"{"token": 371, "a": 1}"#, r#"{"token": ***, "a": 1}"#),
        ("AWS_SECRET_ACCESS_KEY=S3c", "AWS_SECRET_ACCESS_KEY=***"),
        ("url = \"host=h password='S3c\"", "url = \"host=h password='****"),
        ("password = [\"S3c\", 'S]3c'] # a", "password = [*************] # a"),
        (r#""{\"token\": [\"S3\"], \"a\": 1}""#, r#""{\"token\": [******], \"a\": 1}""#),
        (
            "command = [\"tool\", \"--password\", \"S3c\", \"x\"]",
            "command = [\"tool\", \"--password\", \"***\", \"x\"]",
        ),
        ("password = \"\"\"S\"3c\"\"\" # a", "password = \"\"\"****\"\"\" # a"),
    ] {
        assert_eq!(redacted(text), shown, "{text}");
        assert_eq!(redacted(shown), shown, "twice");
    }
}

#[test]
fn what_is_no_password_stays() {
    for text in [
        "postgres://user@host:5432/database",
        "no engine has mongodb://; known are postgres://, http://h:80/x and http://[::1]:80",
        "host=h port=5432 user=u dbname=d",
        "password_encryption = 'scram-sha-256'",
        "tip: to pass '--output' as a value, use '-- --output'",
        "FATAL: password authentication failed for user \"u\"",
        "a password is asked for: give one in PGPASSWORD or ~/.pgpass",
        "SELECT tags::jsonb @> '[]', a::text@>b FROM t -- e.toml:8:15",
        "PGPASSWORD=$PGPASSWORD psql --password -h h",
        "log_line_prefix = '%t:%r:%u@%d:[%p]:'",
        "git@example.org:owner/name 12:30 a@b",
        "%zz \\u00 \\ % \\u",
        "",
    ] {
        assert_eq!(redacted(text), text);
    }
}

/// A secret.
const SECRET: &str = "Zq7vS3CRETx9";

#[test]
fn the_secrets_of_known_forms_are_hidden_and_all_else_stays() {
    for form in COMMANDS {
        let (before, after) = form.split_once('§').unwrap();
        let shown = redacted(&format!("{before}{SECRET}{after}"));
        let expected = format!("{before}{after}");
        // A blank or a quote of the secret itself can be hidden with it.
        let around = |text: &str| text.replace(['a', 'b', '*', ' ', '"', '\'', '\\'], "");
        assert!(!shown.contains("S3C"), "{form}: {shown}");
        assert_eq!(around(&shown), around(&expected), "{form}");
        assert_eq!(redacted(&shown), shown, "twice");
    }
    assert!(COMMANDS.len() >= 60);
}

/// Labels of results are command lines.
#[test]
fn command_lines_without_a_secret_stay() {
    for line in INNOCENT {
        assert_eq!(redacted(line), *line);
    }
}

/// Inside the words of any other program, too, and after any text.
#[test]
fn no_text_around_a_command_uncovers_its_secret() {
    for (before, after) in [
        ("can't run ", ""),
        ("it's \"", "\""),
        ("x = '", "' # it's"),
        ("hyperfine \"", "\" 'true'"),
        ("(", ")"),
        ("echo \"a\" 'b'; ", ";"),
    ] {
        for form in COMMANDS.iter().filter(|form| !form.contains(['\'', '"', '`', '\n'])) {
            let text = format!("{before}{}{after}", form.replace('§', SECRET));
            assert!(!redacted(&text).contains("S3C"), "{text}: {}", redacted(&text));
        }
    }
}

/// Texts that end anywhere, and quotes that nothing closes.
#[test]
fn any_part_of_a_text_is_read() {
    let more = ["PRAGMA key", "PRAGMA key=", "IDENTIFIED BY", "IDENTIFIED WITH", "PASSWORD N'"];
    for text in COMMANDS.iter().chain(INNOCENT).chain(&more) {
        let chars: Vec<char> = text.chars().collect();
        for cut in 0..chars.len() {
            for part in [&chars[..cut], &chars[cut..]] {
                let part: String = part.iter().collect();
                assert_eq!(redacted(&part).chars().count(), part.chars().count());
            }
        }
    }
}

#[test]
fn a_json_document_stays_one() {
    let mut value = serde_json::json!({
        "token": 371, "password": "S3c", "keys": [{ "a": "postgres://u:S3c@h" }, null, 1.5],
        "command": ["sqlcmd", "-P", "S3c \"\\", "-b"], "text": "mysql -pS3c",
    });
    super::redact_json(&mut value);
    let expected = serde_json::json!({
        "token": 371, "password": "***", "keys": [{ "a": "postgres://u:***@h" }, null, 1.5],
        "command": ["sqlcmd", "-P", "******", "-b"], "text": "mysql -p***",
    });
    assert_eq!(value, expected);
}
