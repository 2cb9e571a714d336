//! Conditions as engines write them, and what in them makes the order of an index useless.

use serde::{Deserialize, Serialize};
use sql::{Kind, Syntax, Token, tokens};

/// A part of a condition for which the order of an index is of no use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Obstacle {
    /// A column is compared through a function.
    Function,
    /// A column is converted to another type before it is compared.
    Conversion,
    /// A column is compared through arithmetic.
    Arithmetic,
    /// The value depends on a CASE.
    Case,
    /// The pattern begins with a wildcard.
    LeadingWildcard,
    /// Rows of two tables belong together by one of several comparisons.
    AlternativeKeys,
}

/// Longer conditions are not judged: the time grows with the square of their length.
const TOKENS_MAX: usize = 2_000;

/// The obstacles in a condition, each once.
pub(crate) fn obstacles(text: &str, syntax: Syntax) -> Vec<Obstacle> {
    // MariaDB marks a value that it computes once.
    let text = if syntax == Syntax::MariaDb { text.replace("<cache>", "") } else { text.into() };
    let all: Vec<Token> = tokens(&text, syntax)
        .filter(|token| !matches!(token.kind, Kind::Space | Kind::Comment))
        .take(TOKENS_MAX + 1)
        .collect();
    let mut found = Vec::new();
    if all.len() <= TOKENS_MAX {
        Reader { syntax }.condition(&all, &mut found);
    }
    found.sort_unstable();
    found.dedup();
    found
}

struct Reader {
    syntax: Syntax,
}

/// A side of a comparison.
#[derive(Default)]
struct Side<'a> {
    /// The table of its first column, or the column where no table is named.
    column: Option<&'a str>,
    obstacle: Option<Obstacle>,
}

impl Reader {
    /// Adds the obstacles of a condition.
    fn condition(&self, all: &[Token], found: &mut Vec<Obstacle>) {
        let all = without_parentheses(all);
        if all.is_empty() {
            return;
        }
        for word in ["OR", "AND"] {
            let parts = split(all, |token, _| token.is_keyword(word));
            if parts.len() > 1 {
                if word == "OR" && parts.iter().filter(|part| self.links_tables(part)).count() > 1 {
                    found.push(Obstacle::AlternativeKeys);
                }
                for part in parts {
                    self.condition(part, found);
                }
                return;
            }
        }
        if all[0].is_keyword("NOT") || all[0].text == "!" {
            return self.condition(&all[1..], found);
        }
        let Some(comparison) = comparison(all) else { return };
        let (left, right) = (&all[..comparison.start], &all[comparison.end..]);
        if comparison.is_pattern && has_leading_wildcard(right) {
            found.push(Obstacle::LeadingWildcard);
        }
        let sides = [self.side(left), self.side(right)];
        found.extend(sides.iter().filter_map(|side| side.obstacle));
    }

    /// Returns true for a comparison of columns of two tables, in parentheses or not, or for
    /// several of them.
    fn links_tables(&self, part: &[Token]) -> bool {
        let part = without_parentheses(part);
        let both = split(part, |token, _| token.is_keyword("AND"));
        if both.len() > 1 {
            return both.iter().any(|part| self.links_tables(part));
        }
        let Some(comparison) = comparison(part) else { return false };
        let left = self.side(&part[..comparison.start]).column;
        let right = self.side(&part[comparison.end..]).column;
        left.zip(right).is_some_and(|(left, right)| left != right)
    }

    fn side<'a>(&self, all: &[Token<'a>]) -> Side<'a> {
        let mut side = Side { column: self.table(all), obstacle: None };
        let all = without_parentheses(all);
        if all.iter().any(|token| token.is_keyword("CASE")) {
            side.obstacle = Some(Obstacle::Case);
            return side;
        }
        if side.column.is_none() || all.iter().any(|token| token.text == "{") {
            return side;
        }
        side.obstacle = self.wrapping(all);
        side
    }

    /// The operation on the column of an expression before it is compared.
    fn wrapping(&self, all: &[Token]) -> Option<Obstacle> {
        let all = without_parentheses(all);
        if let Some(at) = (self.syntax == Syntax::Postgres).then(|| cast(all)).flatten() {
            // Text types share one representation.
            let is_relabelled =
                matches!(all[at + 2].text, "text" | "bpchar" | "character" | "varchar");
            let inner = self.wrapping(&all[..at]);
            return inner.or((!is_relabelled).then_some(Obstacle::Conversion));
        }
        let signs = ["+", "-", "*", "/", "%", "|", "&"];
        if split(all, |token, at| at > 0 && token.kind == Kind::Sign && signs.contains(&token.text))
            .len()
            > 1
        {
            return Some(Obstacle::Arithmetic);
        }
        let [name, open, ..] = all else { return None };
        let is_call = matches!(name.kind, Kind::Word | Kind::Name) && open.text == "(";
        if !is_call || NO_FUNCTIONS.iter().any(|word| name.is_keyword(word)) {
            return None;
        }
        let conversions = ["CONVERT_IMPLICIT", "CONVERT", "CAST", "TRY_CONVERT", "TRY_CAST"];
        let is_conversion = conversions.iter().any(|word| name.is_keyword(word));
        Some(if is_conversion { Obstacle::Conversion } else { Obstacle::Function })
    }

    /// The table of the first column in an expression; the column itself where its table is not
    /// named.
    fn table<'a>(&self, all: &[Token<'a>]) -> Option<&'a str> {
        let mut at = 0;
        while at < all.len() {
            let end = name_end(all, at);
            if end == at {
                at += 1;
                continue;
            }
            let is_type = at > 1 && all[at - 1].text == ":";
            let is_call = all.get(end).is_some_and(|next| next.text == "(" || next.text == "'");
            let (first, parts) = (all[at], (end - at).div_ceil(2));
            if !is_type && !is_call && self.is_column(first, parts, all.get(end)) {
                // `[db].[dbo].[t].[c] as [u].[c]` is a column of u.
                let alias = all.get(end).filter(|next| next.is_keyword("AS"));
                return Some(alias.and(all.get(end + 1)).map_or_else(
                    || if parts > 1 { all[end - 3].text } else { first.text },
                    |alias| alias.text,
                ));
            }
            at = end;
        }
        None
    }

    fn is_column(&self, first: Token, parts: usize, next: Option<&Token>) -> bool {
        let is_variable =
            first.text.starts_with(['@', '$', ':', '?']) || first.text.starts_with("[@");
        let is_prefix = next.is_some_and(|next| next.kind == Kind::Literal);
        let is_keyword = first.kind == Kind::Word
            && (NO_FUNCTIONS.iter().chain(&CONSTANTS)).any(|word| first.is_keyword(word));
        // Computed values have no table in ShowPlan.
        let is_computed = self.syntax == Syntax::SqlServer && parts == 1;
        !is_variable && !is_prefix && !is_keyword && !is_computed
    }
}

/// Words before a parenthesis that call nothing that depends on a column.
const NO_FUNCTIONS: [&str; 16] = [
    "ANY", "ALL", "SOME", "IN", "ROW", "VALUES", "SUBPLAN", "HASHED", "EXISTS", "PROBE", "NOT",
    "AND", "OR", "LIKE", "BETWEEN", "ARRAY",
];

/// Words that are no columns.
const CONSTANTS: [&str; 23] = [
    "WITH",
    "WITHOUT",
    "ZONE",
    "PRECISION",
    "VARYING",
    "NULL",
    "TRUE",
    "FALSE",
    "IS",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "END",
    "INTERVAL",
    "DATE",
    "TIMESTAMP",
    "TIME",
    "CURRENT_DATE",
    "CURRENT_TIMESTAMP",
    "LOCALTIMESTAMP",
    "ESCAPE",
    "AS",
];

/// The position behind the dotted name that begins at a position; the position where none begins.
fn name_end(all: &[Token], at: usize) -> usize {
    let is_name =
        |at: usize| all.get(at).is_some_and(|token| matches!(token.kind, Kind::Word | Kind::Name));
    if !is_name(at) {
        return at;
    }
    let mut end = at + 1;
    while all.get(end).is_some_and(|token| token.text == ".") && is_name(end + 1) {
        end += 2;
    }
    end
}

/// An expression without the parentheses around the whole of it.
fn without_parentheses<'t, 'a>(mut all: &'t [Token<'a>]) -> &'t [Token<'a>] {
    while let [open, .., close] = all
        && open.text == "("
        && close.text == ")"
    {
        let mut depth = 0_i64;
        let end = all.iter().position(|token| {
            depth += step(token);
            depth == 0
        });
        if end != Some(all.len() - 1) {
            break;
        }
        all = &all[1..all.len() - 1];
    }
    all
}

/// The change of depth by a token: parentheses, and CASE with its END.
fn step(token: &Token) -> i64 {
    match token.text {
        "(" | "[" => 1,
        ")" | "]" => -1,
        _ if token.is_keyword("CASE") => 1,
        _ if token.is_keyword("END") => -1,
        _ => 0,
    }
}

/// The parts of an expression between separators outside of parentheses; the AND of a BETWEEN is
/// none.
fn split<'t, 'a>(
    all: &'t [Token<'a>],
    is_separator: impl Fn(&Token, usize) -> bool,
) -> Vec<&'t [Token<'a>]> {
    let (mut depth, mut begin, mut is_range) = (0_i64, 0, false);
    let mut parts = Vec::new();
    for (at, token) in all.iter().enumerate() {
        depth += step(token);
        if depth != 0 {
            continue;
        }
        if token.is_keyword("BETWEEN") {
            is_range = true;
        } else if is_range && token.is_keyword("AND") {
            is_range = false;
        } else if is_separator(token, at) {
            parts.push(&all[begin..at]);
            begin = at + 1;
        }
    }
    parts.push(&all[begin..]);
    parts
}

/// A comparison's operator.
struct Comparison {
    start: usize,
    end: usize,
    is_pattern: bool,
}

fn comparison(all: &[Token]) -> Option<Comparison> {
    let mut depth = 0_i64;
    let is_sign = |at: usize| {
        all.get(at).is_some_and(|token| {
            token.kind == Kind::Sign && matches!(token.text, "=" | "<" | ">" | "!" | "~" | "*")
        })
    };
    for (at, token) in all.iter().enumerate() {
        depth += step(token);
        if depth != 0 || at == 0 {
            continue;
        }
        let word = ["LIKE", "ILIKE", "IN", "BETWEEN"].iter().find(|word| token.is_keyword(word));
        if let Some(word) = word {
            return Some(Comparison { start: at, end: at + 1, is_pattern: word.ends_with("LIKE") });
        }
        if is_sign(at) && token.text != "*" {
            let end = (at..all.len()).find(|at| !is_sign(*at)).unwrap_or(all.len());
            // LIKE of PostgreSQL.
            let is_pattern = end - at > 1 && token.text == "~" && all[at + 1].text == "~";
            return Some(Comparison { start: at, end, is_pattern });
        }
    }
    None
}

fn has_leading_wildcard(all: &[Token]) -> bool {
    let literal = all.iter().find(|token| token.kind == Kind::Literal);
    literal.is_some_and(|token| token.text[1..].starts_with(['%', '_']))
}

/// The position of the `::` behind which the rest is the name of a type.
fn cast(all: &[Token]) -> Option<usize> {
    let mut depth = 0_i64;
    let mut found = None;
    for (at, token) in all.iter().enumerate() {
        depth += step(token);
        let is_cast = depth == 0 && token.text == ":" && all.get(at + 1)?.text == ":";
        if is_cast {
            found = Some(at);
        } else if depth == 0
            && token.kind == Kind::Sign
            && !matches!(token.text, ":" | ")" | "]" | ".")
        {
            // An operator behind it: the cast is of a part only.
            found = None;
        }
    }
    found.filter(|at| *at > 0 && at + 2 < all.len())
}

#[cfg(test)]
mod tests {
    use super::Obstacle::{
        AlternativeKeys, Arithmetic, Case, Conversion, Function, LeadingWildcard,
    };
    use super::{Obstacle, obstacles};
    use sql::Syntax::{self, MariaDb, Postgres, SqlServer};

    #[test]
    fn what_is_done_to_a_column_is_found_in_the_syntax_of_each_engine() {
        let cases: [(Syntax, &str, &[Obstacle]); 27] = [
            (SqlServer, "datepart(year,[d].[dbo].[Posts].[Created])=(2013)", &[Function]),
            (SqlServer, "[d].[dbo].[Posts].[Created]>=dateadd(day,(-1),getdate())", &[]),
            (
                SqlServer,
                "CONVERT_IMPLICIT(nvarchar(40),[d].[dbo].[U].[Name] as [u].[Name],0)=[@d]",
                &[Conversion],
            ),
            (
                SqlServer,
                "[d].[dbo].[U].[Name] as [u].[Name]=CONVERT_IMPLICIT(nvarchar(40),[@1],0)",
                &[],
            ),
            (
                SqlServer,
                "[d].[dbo].[U].[N] as [u].[N]=CASE WHEN getdate()<[@1] THEN [@2] ELSE [@3] END",
                &[Case],
            ),
            (SqlServer, "[d].[dbo].[U].[N] as [u].[N] like N'%x'", &[LeadingWildcard]),
            (SqlServer, "[d].[dbo].[U].[N] as [u].[N] like N'x%' AND [Expr1003]=(1)", &[]),
            (
                SqlServer,
                "[d].[dbo].[P].[T] as [p].[T]=(1) OR [d].[dbo].[P].[T] as [p].[T]=(2)",
                &[],
            ),
            (
                SqlServer,
                "[d].[dbo].[U].[Id] as [u].[Id]=[d].[dbo].[P].[A] as [p].[A] OR \
              [d].[dbo].[U].[Id] as [u].[Id]=[d].[dbo].[P].[B] as [p].[B]",
                &[AlternativeKeys],
            ),
            (SqlServer, "([d].[sys].[x].[status] as [i].[status]&(1))<>(0)", &[Arithmetic]),
            (SqlServer, "[d].[dbo].[T].[a]=(-1)", &[]),
            (SqlServer, "isnull([d].[dbo].[T].[a],(0))=(1)", &[Function]),
            (SqlServer, "PROBE([Bitmap1006],[d].[dbo].[V].[PostId] as [v].[PostId])", &[]),
            (Postgres, "(lower((name)::text) = 'x'::text)", &[Function]),
            (Postgres, "((name)::text = 'x'::text)", &[]),
            (Postgres, "((name)::text ~~ '%x'::text)", &[LeadingWildcard]),
            (Postgres, "(((id)::numeric = 5.0) AND (b < 3))", &[Conversion]),
            (Postgres, "((created)::date = '2024-01-01'::date)", &[Conversion]),
            (Postgres, "(created >= (now() - '1 day'::interval))", &[]),
            (Postgres, "((a + 1) = 5)", &[Arithmetic]),
            (Postgres, "((a = 1) OR (b = ANY ('{1,2}'::integer[])))", &[]),
            (Postgres, "((a.x = b.y) OR (a.x = b.z))", &[AlternativeKeys]),
            (Postgres, "(EXTRACT(year FROM created) = '2013'::numeric)", &[Function]),
            (Postgres, "(CASE WHEN (a > 1) THEN b ELSE c END = 4)", &[Case]),
            (MariaDb, "year(t.created) = 2013 and t.b > 5", &[Function]),
            (MariaDb, "t.`name` like '%x' or t.a between 3 and 4", &[LeadingWildcard]),
            (MariaDb, "o.a = l.b or o.a = l.c", &[AlternativeKeys]),
        ];
        for (syntax, text, expected) in cases {
            assert_eq!(obstacles(text, syntax), expected, "{text}");
        }
    }

    #[test]
    fn any_text_is_read() {
        for text in ["", "(", "((((", "a = ", "= 1", "CASE", "a::", "a ~~ ", "NOT", "()", "like '"]
        {
            for syntax in [SqlServer, Postgres, MariaDb] {
                assert_eq!(obstacles(text, syntax), [], "{text}");
            }
        }
        let deep = format!("{}a=1 AND b=2{}", "(".repeat(9_999), ")".repeat(9_999));
        assert_eq!(obstacles(&deep, Postgres), []);
    }
}
