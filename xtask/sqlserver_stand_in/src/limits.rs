//! Documented limits of SQL Server, checked on the text of a statement
//! (<https://learn.microsoft.com/sql/sql-server/maximum-capacity-specifications-for-sql-server>).
//! The tests of the engine check with it every statement that the engine makes; the stand-in
//! refuses a statement beyond them, as a server would.

/// Most characters of a name, most parameters, most columns of a table and of a key.
const NAME_MAX: usize = 128;
const PARAMETERS_MAX: u64 = 2_100;
const COLUMNS_MAX: usize = 1_024;
const KEY_COLUMNS_MAX: usize = 32;
/// Bytes of a row at most, and of the keys of a clustered and of another index.
const ROW_MAX: u64 = 8_060;
const KEY_MAX: [u64; 2] = [900, 1_700];
/// Bytes of a batch: 65,536 packets of the default size.
const BATCH_MAX: usize = 65_536 * 4_096;
/// Most characters of a path.
const PATH_MAX: usize = 259;
/// A size is a number of KB, MB, GB or TB.
const SIZE_MAX: u64 = 2_147_483_647;
const DATA_FILE_MAX: u64 = 16 << 40;
const LOG_FILE_MAX: u64 = 2 << 40;
const FILE_MIN: u64 = 512 << 10;

#[derive(Debug, Clone, PartialEq)]
enum Token {
    /// A word, in upper case.
    Word(String),
    /// A name in brackets.
    Name(String),
    Text(String),
    Number(u64),
    Sign(char),
}

/// The limit that a statement exceeds.
pub fn exceeded(sql: &str) -> Option<String> {
    if sql.encode_utf16().count() * 2 > BATCH_MAX {
        return Some(format!("a batch of more than {BATCH_MAX} bytes"));
    }
    let tokens = tokens(sql);
    let checks = [names, types, sizes, parameters, table];
    checks.iter().find_map(|check| check(&tokens))
}

fn tokens(sql: &str) -> Vec<Token> {
    let signs: Vec<char> = sql.chars().collect();
    let (mut tokens, mut at) = (Vec::new(), 0);
    while let Some(sign) = signs.get(at).copied() {
        let rest = &signs[at + 1..];
        let is_text = sign == '\'' || (sign == 'N' && rest.first() == Some(&'\''));
        if sign == '[' || is_text {
            let end = if is_text { '\'' } else { ']' };
            at += 1 + usize::from(sign == 'N');
            let mut inner = String::new();
            while let Some(sign) = signs.get(at).copied() {
                at += 1;
                if sign == end {
                    if signs.get(at) != Some(&end) {
                        break;
                    }
                    at += 1;
                }
                inner.push(sign);
            }
            tokens.push(if is_text { Token::Text(inner) } else { Token::Name(inner) });
            continue;
        }
        let is_word = |sign: &char| sign.is_alphanumeric() || "_@#$".contains(*sign);
        let word: String = signs[at..].iter().copied().take_while(is_word).collect();
        at += word.chars().count().max(1);
        match word.parse::<u64>() {
            _ if word.is_empty() && sign.is_whitespace() => {}
            _ if word.is_empty() => tokens.push(Token::Sign(sign)),
            Ok(number) => tokens.push(Token::Number(number)),
            Err(_) => tokens.push(Token::Word(word.to_uppercase())),
        }
    }
    tokens
}

fn is_word(token: &Token, words: &[&str]) -> bool {
    matches!(token, Token::Word(word) if words.contains(&word.as_str()))
}

/// The numbers in the parentheses behind a token.
fn arguments(tokens: &[Token]) -> Vec<u64> {
    if tokens.first() != Some(&Token::Sign('(')) {
        return Vec::new();
    }
    let inner = tokens[1..].iter().take_while(|token| **token != Token::Sign(')'));
    inner
        .filter_map(|token| match token {
            Token::Number(number) => Some(*number),
            _ => None,
        })
        .collect()
}

fn names(tokens: &[Token]) -> Option<String> {
    let is_path = |at: usize| {
        at > 1 && is_word(&tokens[at - 2], &["FILENAME"]) && tokens[at - 1] == Token::Sign('=')
    };
    tokens.iter().enumerate().find_map(|(at, token)| match token {
        Token::Name(name) | Token::Word(name) if name.encode_utf16().count() > NAME_MAX => {
            Some(format!("a name of more than {NAME_MAX} characters: {name}"))
        }
        Token::Name(name) if name.is_empty() => Some("a name without characters".into()),
        Token::Text(text) if is_path(at) && text.encode_utf16().count() > PATH_MAX => {
            Some(format!("a path of more than {PATH_MAX} characters: {text}"))
        }
        _ => None,
    })
}

fn types(tokens: &[Token]) -> Option<String> {
    tokens.iter().enumerate().find_map(|(at, token)| {
        let Token::Word(name) = token else { return None };
        let arguments = arguments(&tokens[at + 1..]);
        let first = arguments.first().copied();
        let fits = match name.as_str() {
            "CHAR" | "VARCHAR" | "BINARY" | "VARBINARY" => {
                first.is_none_or(|length| (1..=8_000).contains(&length))
            }
            "NCHAR" | "NVARCHAR" => first.is_none_or(|length| (1..=4_000).contains(&length)),
            "DECIMAL" | "NUMERIC" => {
                first.is_none_or(|digits| (1..=38).contains(&digits))
                    && arguments.get(1).is_none_or(|scale| Some(*scale) <= first)
            }
            "DATETIME2" | "TIME" | "DATETIMEOFFSET" => first.is_none_or(|scale| scale <= 7),
            _ => true,
        };
        (!fits).then(|| format!("{} ({arguments:?})", name.to_lowercase()))
    })
}

/// Sizes and growth of files, in whole pages and extents, as the server keeps them.
fn sizes(tokens: &[Token]) -> Option<String> {
    let log =
        tokens.windows(2).position(|two| is_word(&two[0], &["LOG"]) && is_word(&two[1], &["ON"]));
    tokens.iter().enumerate().find_map(|(at, token)| {
        let what = match token {
            Token::Word(word) if ["SIZE", "FILEGROWTH", "FILLFACTOR"].contains(&word.as_str()) => {
                word
            }
            _ => return None,
        };
        let [Some(Token::Sign('=')), Some(Token::Number(number)), unit] =
            [1, 2, 3].map(|behind| tokens.get(at + behind))
        else {
            return None;
        };
        if what == "FILLFACTOR" {
            return (!(1..=100).contains(number)).then(|| format!("FILLFACTOR = {number}"));
        }
        if *number > SIZE_MAX {
            return Some(format!("{what} = {number}: more than {SIZE_MAX}"));
        }
        let shift = match unit {
            Some(Token::Word(unit)) if unit == "KB" => 10,
            Some(Token::Word(unit)) if unit == "MB" => 20,
            Some(Token::Word(unit)) if unit == "GB" => 30,
            Some(Token::Word(unit)) if unit == "TB" => 40,
            _ => return Some(format!("{what} = {number} without a unit")),
        };
        let (bytes, is_size) = (number << shift, what == "SIZE");
        let most = if log.is_some_and(|log| at > log) { LOG_FILE_MAX } else { DATA_FILE_MAX };
        let (unit, least) = if is_size { (8 << 10, FILE_MIN) } else { (64 << 10, 0) };
        let is_wrong = bytes > most || bytes < least || bytes % unit != 0;
        is_wrong.then(|| format!("{what} = {bytes} bytes: {least} to {most}, multiples of {unit}"))
    })
}

fn parameters(tokens: &[Token]) -> Option<String> {
    let number = |token: &Token| match token {
        Token::Word(word) => word.strip_prefix("@P")?.parse::<u64>().ok(),
        _ => None,
    };
    let most = tokens.iter().filter_map(number).max()?;
    (most > PARAMETERS_MAX).then(|| format!("{most} parameters: more than {PARAMETERS_MAX}"))
}

/// The parts of a list in parentheses, without these.
fn parts(tokens: &[Token]) -> Vec<&[Token]> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0_i32, 1);
    for (at, token) in tokens.iter().enumerate() {
        depth += match token {
            Token::Sign('(') => 1,
            Token::Sign(')') => -1,
            _ => 0,
        };
        if depth == 0 || (depth == 1 && *token == Token::Sign(',')) {
            parts.push(&tokens[start..at]);
            start = at + 1;
        }
        if depth == 0 {
            break;
        }
    }
    parts
}

/// Bytes of a column, and whether its length varies.
fn width(column: &[Token]) -> Option<(u64, bool)> {
    let Token::Word(name) = column.get(1)? else { return None };
    let arguments = arguments(column.get(2..)?);
    let length = arguments.first().copied().unwrap_or(1);
    Some(match name.as_str() {
        "BIT" | "TINYINT" => (1, false),
        "SMALLINT" => (2, false),
        "INT" | "REAL" => (4, false),
        "BIGINT" | "FLOAT" | "DATETIME2" | "DATETIME" => (8, false),
        "DATE" => (3, false),
        "UNIQUEIDENTIFIER" => (16, false),
        "DECIMAL" | "NUMERIC" => {
            (if length < 10 { 5 } else { 9 + 4 * (length.saturating_sub(11) / 9) }, false)
        }
        "CHAR" | "BINARY" => (length, false),
        "NCHAR" => (2 * length, false),
        "VARCHAR" | "VARBINARY" => (length, true),
        "NVARCHAR" => (2 * length, true),
        _ => return None,
    })
}

/// The least length of a table's rows (as error 1701 has it), and the length of its key.
fn table(tokens: &[Token]) -> Option<String> {
    if !(is_word(tokens.first()?, &["CREATE"]) && is_word(tokens.get(1)?, &["TABLE"])) {
        return None;
    }
    let open = tokens.iter().position(|token| *token == Token::Sign('('))?;
    let parts = parts(&tokens[open..]);
    let (keys, columns): (Vec<&[Token]>, Vec<&[Token]>) =
        parts.into_iter().partition(|part| is_word(&part[0], &["CONSTRAINT", "PRIMARY"]));
    if columns.len() > COLUMNS_MAX {
        return Some(format!("{} columns: more than {COLUMNS_MAX}", columns.len()));
    }
    let widths: Vec<Option<(u64, bool)>> = columns.iter().map(|column| width(column)).collect();
    if let Some(unknown) = widths.iter().position(Option::is_none) {
        return Some(format!("a column of an unknown type: {:?}", columns[unknown]));
    }
    let varying = widths.iter().flatten().filter(|(_, varies)| *varies).count() as u64;
    let fixed: u64 =
        widths.iter().flatten().filter(|(_, varies)| !varies).map(|width| width.0).sum();
    let offsets = if varying > 0 { 2 + 2 * varying } else { 0 };
    let row = 4 + fixed + 2 + (columns.len() as u64).div_ceil(8) + offsets;
    if row > ROW_MAX {
        return Some(format!("rows of {row} bytes: more than {ROW_MAX}"));
    }
    keys.iter().find_map(|key| {
        let open = key.iter().position(|token| *token == Token::Sign('('))?;
        let named = self::parts(&key[open..]);
        let bytes: u64 = columns
            .iter()
            .zip(widths.iter().flatten())
            .filter(|(column, _)| named.iter().any(|part| part.first() == column.first()))
            .map(|(_, (bytes, _))| bytes)
            .sum();
        let is_clustered = !key.iter().any(|token| is_word(token, &["NONCLUSTERED"]));
        let most = KEY_MAX[usize::from(!is_clustered)];
        let is_wrong = bytes > most || named.len() > KEY_COLUMNS_MAX;
        is_wrong.then(|| format!("a key of {bytes} bytes and {} columns", named.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::exceeded;

    #[test]
    fn statements_beyond_a_limit_are_told_by_it_and_others_are_not() {
        let wide = "x".repeat(129);
        for (sql, limit) in [
            ("CREATE TABLE [t] ([f] char(8045) NOT NULL)", "char ([8045])"),
            ("CREATE TABLE [t] ([a] char(8000) NOT NULL, [b] char(60) NOT NULL)", "rows of 8067"),
            ("CREATE TABLE [t] ([a] nvarchar(4001) NULL)", "nvarchar ([4001])"),
            ("CREATE TABLE [t] ([a] decimal(39, 2) NULL)", "decimal"),
            (
                "CREATE TABLE [t] ([a] char(901) NOT NULL, CONSTRAINT [p] PRIMARY \
                 KEY CLUSTERED ([a]))",
                "a key of 901",
            ),
            (&format!("SELECT [{wide}]"), "a name of more than 128"),
            ("SELECT @P2101", "2101 parameters"),
            (
                "CREATE DATABASE [d] ON PRIMARY (NAME = N'd', FILENAME = N'/d', SIZE = \
                 2147483648 KB)",
                "SIZE = 2147483648",
            ),
            (
                "CREATE DATABASE [d] ON PRIMARY (NAME = N'd', FILENAME = N'/d', SIZE = 1025 KB)",
                "multiples of 8192",
            ),
            (
                "CREATE DATABASE [d] ON PRIMARY (NAME = N'd', FILENAME = N'/d', FILEGROWTH = 8 KB)",
                "multiples of 65536",
            ),
            (
                "CREATE DATABASE [d] LOG ON (NAME = N'd', FILENAME = N'/d', SIZE = 3145728 MB)",
                "SIZE = 3298534883328",
            ),
            ("CREATE TABLE [t] ([a] int NOT NULL) WITH (FILLFACTOR = 101)", "FILLFACTOR"),
            ("CREATE TABLE [t] ([a] money NOT NULL)", "unknown type"),
        ] {
            let message = exceeded(sql).unwrap_or_else(|| panic!("{sql}"));
            assert!(message.contains(limit), "{sql}: {message}");
        }
        for sql in [
            "CREATE TABLE [t] ([id] bigint NOT NULL, [f] char(8000) NOT NULL DEFAULT \
             (REPLICATE('a', 8000)), \
             CONSTRAINT [pk_t] PRIMARY KEY CLUSTERED ([id]) WITH (FILLFACTOR = 90))",
            "CREATE TABLE [t] ([a] varchar(8000) NULL, [b] varchar(8000) NULL)",
            "CREATE DATABASE [d] ON PRIMARY (NAME = N'd', FILENAME = N'/d', SIZE = 3145728 MB, \
             FILEGROWTH = 64 KB)",
            "SELECT 'SIZE = 3', N'it''s' AS [a]]b] WHERE x = @P2100",
        ] {
            assert_eq!(exceeded(sql), None, "{sql}");
        }
    }
}
