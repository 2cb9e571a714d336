//! Plans that the server makes again. No statement is run: each is first parsed by itself, so that
//! what is more than one is refused, and then explained without ANALYZE in a read-only session.
//!
//! From 16 on the plan for any values is that of `EXPLAIN (GENERIC_PLAN)`
//! (<https://www.postgresql.org/docs/current/sql-explain.html>). Before, it is that of a prepared
//! statement under `plan_cache_mode = force_generic_plan`, to which NULL is given for each value
//! (<https://www.postgresql.org/docs/current/sql-prepare.html>).

use super::reader::{Reader, is_dropped, version};
use crate::postgres::PLANS;
use crate::query_reader::explain_each;
use crate::statements::{Advice, Hypothetical, Origin, Snapshot, StatementPlan};
use engine::server::MARK;
use engine::{AdminSession, NoPlan, ServerError};
use work::sql::{Kind, Syntax, Token, tokens};

/// Makes a plan for each statement that can have one, in their order.
pub(super) fn all(reader: &mut Reader, snapshot: &mut Snapshot) {
    let (plans, stop) = (reader.limits.plans, reader.stop.clone());
    explain_each(&mut snapshot.statements, plans, &stop, |statement| {
        let running =
            reader.running.get(&statement.digest).filter(|text| !text.contains('$')).cloned();
        let logged = statement.plans.iter().find_map(|plan| plan.sample.clone());
        if is_dropped(&statement.database) {
            return Err(NoPlan::refused("its database was dropped"));
        }
        statement.sample = logged.clone().or_else(|| running.clone());
        let session =
            reader.session(&statement.database).map_err(|error| NoPlan::refused(error.words()))?;
        let generic = generic_plan(session, &statement.text);
        let text = logged.or_else(|| running.filter(|_| generic.is_err()));
        let sample = text.and_then(|text| plan(session, &text, Origin::Sample).ok());
        match (generic, sample) {
            (Err(why), None) => Err(why),
            (generic, sample) => Ok(generic.into_iter().chain(sample).collect()),
        }
    });
}

/// Types of a summand whose type the text does not say, as in `date $1 + $2`.
const SUMMAND_TYPES: [&str; 2] = ["integer", "interval"];

/// The plan of a statement for any values, or why there is none.
fn generic_plan(session: &mut dyn AdminSession, text: &str) -> Result<StatementPlan, NoPlan> {
    let text = castable(text);
    plan(session, &text, Origin::Generic).or_else(|why| {
        let typed = SUMMAND_TYPES.iter().map(|kind| with_summands(&text, kind));
        typed
            .filter(|typed| *typed != text)
            .find_map(|typed| plan(session, &typed, Origin::Generic).ok())
            .ok_or(why)
    })
}

/// The plan of a text, or why there is none.
fn plan(
    session: &mut dyn AdminSession,
    text: &str,
    origin: Origin,
) -> Result<StatementPlan, NoPlan> {
    let reason = |error: ServerError| {
        // "insufficient privilege"
        if error.code.as_deref() == Some("42501") {
            return NoPlan::Denied { message: error.to_string() };
        }
        NoPlan::refused(match error.code.as_deref() {
            // "undefined table", "undefined function"
            Some("42P01" | "42883") => {
                format!(
                    "{error}: it was dropped, is temporary, or is in a schema outside this \
                     session's search_path"
                )
            }
            // "syntax error", "indeterminate datatype", "ambiguous function"
            Some("42601" | "42P18" | "42725") => {
                format!(
                    "{}: it cannot be planned without parameter values",
                    error.to_string().trim_end_matches('.')
                )
            }
            _ => error.to_string(),
        })
    };
    let name = session.prepare(text).map_err(reason)?;
    let explained = if version(session)[0] >= 16 {
        session.run(&format!("EXPLAIN /* {MARK} */ (FORMAT JSON, VERBOSE, GENERIC_PLAN) {text}"))
    } else {
        let count = format!(
            "SELECT /* {MARK} */ pg_catalog.cardinality(parameter_types) FROM \
             pg_catalog.pg_prepared_statements WHERE name = '{name}'"
        );
        let count = session.cell(&count).map_err(reason)?.and_then(|count| count.parse().ok());
        let nulls = vec!["NULL"; count.unwrap_or(0)].join(", ");
        let arguments = if nulls.is_empty() { nulls } else { format!("({nulls})") };
        session
            .run(&format!("EXPLAIN /* {MARK} */ (FORMAT JSON, VERBOSE) EXECUTE {name} {arguments}"))
    };
    // A statement that cannot be deallocated ends with the session.
    let _ = session.run(&format!("DEALLOCATE /* {MARK} */ {name}"));
    let rows = explained.map_err(reason)?;
    let json = rows.first().map(|row| row.text(0)).unwrap_or_default();
    let plan = PLANS.read_one(&json).map_err(NoPlan::refused)?;
    Ok(StatementPlan::new(origin, plan).with_text("json", json))
}

/// The constant for a text, whatever names of the server's objects it contains.
fn literal(text: &str) -> String {
    format!("E'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

/// By hypopg, which knows indexes that are there only for our session's planner
/// (<https://hypopg.readthedocs.io/en/latest/usage.html>).
pub(super) fn hypothetical(
    reader: &mut Reader,
    snapshot: &Snapshot,
    advice: &Advice,
) -> Option<Hypothetical> {
    let statement = &snapshot.statements[*advice.statements.first()?];
    let replanned = statement.plans.iter().find(|plan| plan.origin == Origin::Generic)?;
    let session = reader.session(&advice.database).ok()?;
    let sql = format!(
        "SELECT /* {MARK} */ pg_catalog.quote_ident(n.nspname) FROM pg_catalog.pg_extension e \
         JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'hypopg'"
    );
    let schema = session.cell(&sql).ok()??;
    let ddl = literal(&advice.ddl.as_deref()?.replacen(" CONCURRENTLY", "", 1));
    let create = format!("SELECT /* {MARK} */ indexrelid FROM {schema}.hypopg_create_index({ddl})");
    session.query(&create).ok()?;
    let with = generic_plan(session, &statement.text);
    let _ = session.query(&format!("SELECT /* {MARK} */ {schema}.hypopg_reset()"));
    Some(Hypothetical { cost_without: replanned.plan.cost?, cost_with: with.ok()?.plan.cost? })
}

/// Types whose literals have the type before them.
const LITERAL_TYPES: [&str; 6] = ["interval", "date", "time", "timestamp", "timestamptz", "timetz"];

/// The text with `interval $1`, which no grammar has, as a cast of the parameter; and with
/// `extract($1 FROM a)` as a call, whose first argument may be one.
fn castable(text: &str) -> String {
    let all: Vec<Token> = tokens(text, Syntax::Postgres).collect();
    let solid: Vec<usize> = (0..all.len()).filter(|at| all[*at].kind != Kind::Space).collect();
    let token = |place: usize| solid.get(place).map(|at| &all[*at]);
    let is_parameter = |place| token(place).is_some_and(Token::is_numbered_parameter);
    let (mut out, mut done) = (String::with_capacity(text.len()), 0);
    for place in 0..solid.len() {
        let at = solid[place];
        if at < done {
            continue;
        }
        out.extend(all[done..at].iter().map(|space| space.text));
        done = at + 1;
        let word = &all[at];
        let zone = ["with", "time", "zone"];
        let has_zone = (1..).zip(zone).all(|(next, name)| {
            token(place + next).is_some_and(|token| {
                token.is_keyword(name) || (name == "with" && token.is_keyword("without"))
            })
        });
        let value = if has_zone { place + 4 } else { place + 1 };
        let is_type = LITERAL_TYPES.iter().any(|name| word.is_keyword(name));
        if is_type && is_parameter(value) {
            let name: Vec<&str> = solid[place..value].iter().map(|at| all[*at].text).collect();
            let cast = ["CAST(", all[solid[value]].text, " AS ", &name.join(" "), ")"];
            out.extend(cast);
            done = solid[value] + 1;
        } else if word.is_keyword("extract")
            && token(place + 1).is_some_and(|token| token.text == "(")
            && is_parameter(place + 2)
            && token(place + 3).is_some_and(|token| token.is_keyword("from"))
        {
            out.extend(["pg_catalog.\"extract\"(", all[solid[place + 2]].text, ", "]);
            done = solid[place + 3] + 1;
        } else {
            out.push_str(word.text);
        }
    }
    out.extend(all[done.min(all.len())..].iter().map(|rest| rest.text));
    out
}

/// The text with each parameter after a plus or a minus as a cast to this type.
fn with_summands(text: &str, kind: &str) -> String {
    let mut before = "";
    let typed = tokens(text, Syntax::Postgres).map(|token| {
        let is_summand = matches!(before, "+" | "-") && token.is_numbered_parameter();
        if token.kind != Kind::Space {
            before = token.text;
        }
        if is_summand { format!("CAST({} AS {kind})", token.text) } else { token.text.to_owned() }
    });
    typed.collect()
}

#[cfg(test)]
mod tests {
    use super::{castable, literal, with_summands};

    #[test]
    fn a_constant_ends_where_its_text_ends() {
        assert_eq!(
            literal(r#"CREATE INDEX ON "a'\' $x$" (b)"#),
            r#"E'CREATE INDEX ON "a''\\'' $x$" (b)'"#
        );
    }

    #[test]
    fn summands_get_a_type() {
        let text = "SELECT a FROM t WHERE d < CAST($1 AS date) + $2 AND e = $3 - x -  $4";
        assert_eq!(
            with_summands(text, "integer"),
            "SELECT a FROM t WHERE d < CAST($1 AS date) + CAST($2 AS integer) AND e = $3 - x -  \
             CAST($4 AS integer)"
        );
    }

    #[test]
    fn constants_with_a_type_become_casts_of_parameters() {
        for (text, expected) in [
            ("SELECT a FROM t WHERE d > date $1", "SELECT a FROM t WHERE d > CAST($1 AS date)"),
            ("SELECT now() - interval  $2, x", "SELECT now() - CAST($2 AS interval), x"),
            ("SELECT timestamp with time zone $1", "SELECT CAST($1 AS timestamp with time zone)"),
            ("SELECT EXTRACT($1 FROM d) = $2", "SELECT pg_catalog.\"extract\"($1,  d) = $2"),
            ("SELECT date, 'date $1' FROM t", "SELECT date, 'date $1' FROM t"),
            ("", ""),
        ] {
            assert_eq!(castable(text), expected);
        }
    }
}
