//! Conditions as engines write them, and what in them makes the order of an index useless.

use crate::sql_tree::{Node, name_end, nodes};
use serde::{Deserialize, Serialize};
use work::sql::{Kind, Syntax, Token, tokens};

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
    let mut found = Vec::new();
    let mut solid =
        tokens(&text, syntax).filter(|token| !matches!(token.kind, Kind::Space | Kind::Comment));
    if solid.nth(TOKENS_MAX).is_none() {
        Reader { syntax }.condition(&nodes(&text, syntax), &mut found);
    }
    found.sort_unstable();
    found.dedup();
    found
}

struct Reader {
    syntax: Syntax,
}

/// A side of a comparison.
struct Side<'a> {
    /// The table of its first column, or the column where no table is named.
    column: Option<&'a str>,
    obstacle: Option<Obstacle>,
}

impl Reader {
    /// Adds the obstacles of a condition.
    fn condition(&self, all: &[Node<'_>], found: &mut Vec<Obstacle>) {
        let all = bare(all);
        for word in ["or", "and"] {
            let parts = split(all, |node, _| node.is(word));
            if parts.len() > 1 {
                if word == "or" && parts.iter().filter(|part| self.links_tables(part)).count() > 1 {
                    found.push(Obstacle::AlternativeKeys);
                }
                for part in parts {
                    self.condition(part, found);
                }
                return;
            }
        }
        if let [not, rest @ ..] = all
            && (not.is("not") || not.is_sign("!"))
        {
            return self.condition(rest, found);
        }
        let Some(Comparison { left, right, is_pattern }) = comparison(all) else { return };
        let literal = first_literal(right).filter(|_| is_pattern);
        if literal.is_some_and(|text| text[1..].starts_with(['%', '_'])) {
            found.push(Obstacle::LeadingWildcard);
        }
        found.extend([left, right].into_iter().filter_map(|side| self.side(side).obstacle));
    }

    /// Returns true for a comparison of columns of two tables, in parentheses or not, or for
    /// several of them.
    fn links_tables(&self, part: &[Node<'_>]) -> bool {
        let part = bare(part);
        let both = split(part, |node, _| node.is("and"));
        if both.len() > 1 {
            return both.iter().any(|part| self.links_tables(part));
        }
        let Some(Comparison { left, right, .. }) = comparison(part) else { return false };
        let columns = self.side(left).column.zip(self.side(right).column);
        columns.is_some_and(|(left, right)| left != right)
    }

    fn side<'a>(&self, all: &[Node<'a>]) -> Side<'a> {
        let column = self.table(all);
        let has = |test: &dyn Fn(&Node<'_>) -> bool| all.iter().any(|node| node.any(test));
        let obstacle = if has(&|node| node.is("case")) {
            Some(Obstacle::Case)
        } else if column.is_none() || has(&|node| node.is_sign("{")) {
            None
        } else {
            self.wrapping(all)
        };
        Side { column, obstacle }
    }

    /// The operation on the column of an expression before it is compared.
    fn wrapping(&self, all: &[Node<'_>]) -> Option<Obstacle> {
        let all = bare(all);
        if let Some(at) = (self.syntax == Syntax::Postgres).then(|| cast(all)).flatten() {
            // Text types share one representation.
            let is_relabelled = all[at + 2].is("text bpchar character varchar");
            let inner = self.wrapping(&all[..at]);
            return inner.or((!is_relabelled).then_some(Obstacle::Conversion));
        }
        let signs = ['+', '-', '*', '/', '%', '|', '&'];
        let parts =
            split(all, |node, at| at > 0 && sign(node).is_some_and(|sign| sign.starts_with(signs)));
        if parts.len() > 1 {
            return Some(Obstacle::Arithmetic);
        }
        let [name, Node::Group(_), ..] = all else { return None };
        if !name.is_name() || name.is(NO_FUNCTIONS) {
            return None;
        }
        let is_conversion = name.is("CONVERT_IMPLICIT CONVERT CAST TRY_CONVERT TRY_CAST");
        Some(if is_conversion { Obstacle::Conversion } else { Obstacle::Function })
    }

    /// The table of the first column in an expression; the column itself where its table is not
    /// named.
    fn table<'a>(&self, all: &[Node<'a>]) -> Option<&'a str> {
        let mut at = 0;
        while let Some(node) = all.get(at) {
            let end = name_end(all, at);
            let next = all.get(end);
            let is_type = at > 1 && all[at - 1].is_sign(":");
            let is_call = matches!(next, Some(Node::Group(_)));
            let found = match node {
                Node::Group(inner) => self.table(inner),
                Node::Token(_) if end == at || is_type || is_call => None,
                Node::Token(first) if self.is_column(first, end - at == 1, next) => {
                    // `[db].[dbo].[t].[c] as [u].[c]` is a column of u.
                    let alias = next.filter(|next| next.is("as")).and(all.get(end + 1));
                    let table = if end - at > 1 { &all[end - 3] } else { node };
                    alias.unwrap_or(table).token().map(|token| token.text)
                }
                Node::Token(_) => None,
            };
            if found.is_some() {
                return found;
            }
            at = end.max(at + 1);
        }
        None
    }

    fn is_column(&self, first: &Token<'_>, is_alone: bool, next: Option<&Node<'_>>) -> bool {
        let is_prefix = next.and_then(Node::token).is_some_and(|next| next.kind == Kind::Literal);
        let mut words = NO_FUNCTIONS.split(' ').chain(CONSTANTS.split(' '));
        let is_keyword = words.any(|word| first.is_keyword(word));
        // Computed values have no table in ShowPlan.
        let is_computed = self.syntax == Syntax::SqlServer && is_alone;
        !first.text.starts_with("[@") && !is_prefix && !is_keyword && !is_computed
    }
}

/// Words before a parenthesis that call nothing that depends on a column.
const NO_FUNCTIONS: &str = "ANY ALL SOME IN ROW VALUES SUBPLAN HASHED EXISTS PROBE NOT AND OR LIKE \
                            BETWEEN ARRAY";

/// Words that are no columns.
const CONSTANTS: &str = "WITH WITHOUT ZONE PRECISION VARYING NULL TRUE FALSE IS CASE WHEN THEN \
                         ELSE END INTERVAL DATE TIMESTAMP TIME CURRENT_DATE CURRENT_TIMESTAMP \
                         LOCALTIMESTAMP ESCAPE AS";

/// An expression without the parentheses around the whole of it.
fn bare<'n, 'a>(mut all: &'n [Node<'a>]) -> &'n [Node<'a>] {
    while let [Node::Group(inner)] = all {
        all = inner;
    }
    all
}

fn sign<'a>(node: &Node<'a>) -> Option<&'a str> {
    node.token().filter(|token| token.kind == Kind::Sign).map(|token| token.text)
}

/// The change of depth by a node: brackets, and CASE with its END.
fn step(node: &Node<'_>) -> i64 {
    i64::from(node.is("case") || node.is_sign("[")) - i64::from(node.is("end") || node.is_sign("]"))
}

/// The parts of an expression between separators; the AND of a BETWEEN is none.
fn split<'n, 'a>(
    all: &'n [Node<'a>],
    is_separator: impl Fn(&Node<'a>, usize) -> bool,
) -> Vec<&'n [Node<'a>]> {
    let (mut depth, mut begin, mut is_range) = (0_i64, 0, false);
    let mut parts = Vec::new();
    for (at, node) in all.iter().enumerate() {
        depth += step(node);
        if depth != 0 {
            continue;
        }
        if node.is("between") {
            is_range = true;
        } else if is_range && node.is("and") {
            is_range = false;
        } else if is_separator(node, at) {
            parts.push(&all[begin..at]);
            begin = at + 1;
        }
    }
    parts.push(&all[begin..]);
    parts
}

/// A comparison's sides.
struct Comparison<'n, 'a> {
    left: &'n [Node<'a>],
    right: &'n [Node<'a>],
    is_pattern: bool,
}

fn comparison<'n, 'a>(all: &'n [Node<'a>]) -> Option<Comparison<'n, 'a>> {
    let mut depth = 0_i64;
    for (at, node) in all.iter().enumerate() {
        depth += step(node);
        // Also LIKE of PostgreSQL.
        let is_pattern = node.is("like ilike") || node.is_sign("~~") || node.is_sign("~~*");
        let is_sign = sign(node)
            .is_some_and(|sign| sign.starts_with(['=', '<', '>', '!', '~']) || sign == "@>");
        if depth == 0 && at > 0 && (is_pattern || is_sign || node.is("in between")) {
            return Some(Comparison { left: &all[..at], right: &all[at + 1..], is_pattern });
        }
    }
    None
}

fn first_literal<'a>(all: &[Node<'a>]) -> Option<&'a str> {
    all.iter().find_map(|node| match node {
        Node::Token(token) => Some(token.text).filter(|_| token.kind == Kind::Literal),
        Node::Group(inner) => first_literal(inner),
    })
}

/// The position of the `::` behind which the rest is the name of a type.
fn cast(all: &[Node<'_>]) -> Option<usize> {
    let mut depth = 0_i64;
    let mut found = None;
    for (at, node) in all.iter().enumerate() {
        depth += step(node);
        let Some(sign) = sign(node).filter(|_| depth == 0) else { continue };
        if sign == ":" && all.get(at + 1).is_some_and(|next| next.is_sign(":")) {
            found = Some(at);
        } else if !matches!(sign, ":" | "]" | ".") {
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
    use super::{Obstacle, TOKENS_MAX, obstacles};
    use work::sql::Syntax::{self, MariaDb, Postgres, SqlServer};

    #[test]
    fn what_is_done_to_a_column_is_found_in_the_syntax_of_each_engine() {
        let cases: [(Syntax, &str, &[Obstacle]); 30] = [
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
            (Postgres, "(lower(tags) @> '{x}'::text[])", &[Function]),
            (Postgres, "('x'::text !~~ lower(name))", &[Function]),
            (Postgres, "(name ~~* '%x'::text)", &[LeadingWildcard]),
            (MariaDb, "year(t.created) = 2013 and t.b > 5", &[Function]),
            (MariaDb, "t.`name` like '%x' or t.a between 3 and 4", &[LeadingWildcard]),
            (MariaDb, "o.a = l.b or o.a = l.c", &[AlternativeKeys]),
        ];
        for (syntax, text, expected) in cases {
            assert_eq!(obstacles(text, syntax), expected, "{text}");
        }
    }

    #[test]
    fn conditions_of_too_many_tokens_are_not_judged() {
        let longest = "(f(a)=1)".to_owned() + &" AND b=1".repeat((TOKENS_MAX - 8) / 4);
        assert_eq!(obstacles(&longest, Postgres), [Function]);
        assert_eq!(obstacles(&format!("{longest} -- b"), Postgres), [Function]);
        assert_eq!(obstacles(&format!("{longest};"), Postgres), []);
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
