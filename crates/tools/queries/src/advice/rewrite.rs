//! Statements that no index serves as they are written.

use super::demand::{Demand, demands, is_large, key};
use super::missing::{Need, is_repeated, reads_too_much};
use super::place::{Place, TableRead, large_tables, squeezed};
use super::price::price;
use crate::query::{Comparison, Condition, Operand, Other};
use crate::words::{numbers, runs};
use inspection::statements::{
    Advice, AdviceKind, Certainty, Column, Counter, Index, NewIndex, Rules, Snapshot, Table,
};
use observations::number::{figure, seconds};

/// Functions of dates and times, whose results are ranges of the column.
const OF_TIME: &str = "date(|year(|month(|day(|extract(|date_trunc(|to_char(|date_format(|\
                       strftime(|date_part(|::date|as date)";

/// Findings about single statements, by their texts and the work that they do. `total_s`: the time
/// of all statements.
pub fn rewrites(snapshot: &Snapshot, rules: &Rules, total_s: f64) -> Vec<Advice> {
    let mut all = Vec::new();
    for (at, statement) in snapshot.statements.iter().enumerate() {
        let is_repeated = !rules.keeps_statistics || is_repeated(statement, total_s);
        if statement.calls() == 0 || !is_repeated {
            continue;
        }
        large_tables(snapshot, rules, at, |TableRead { place, source, number, table }| {
            let found = of_source(place, source, table)
                .or_else(|| offset(place, table))
                .or_else(|| not_in(place));
            all.extend(found.map(|found| Advice {
                database: table.database.clone(),
                table: Some(number),
                statements: vec![at],
                subject: format!("{} ({})", table.label(), numbers(&[at])),
                evidence: format!("{} {}", work(place), found.evidence),
                weight: statement.time_s(),
                ..found
            }));
        });
    }
    all
}

/// A run's work and time: `20 runs of 3.1 ms read 612 pages each`.
fn work(place: Place<'_>) -> String {
    let statement = place.statement();
    let read = match (statement.blocks_by_call(), statement.by_call(Counter::RowsRead)) {
        (Some(pages), _) => format!(" and {} pages", figure(pages)),
        (None, Some(rows)) => format!(" and {} rows read", figure(rows)),
        (None, None) => String::new(),
    };
    format!(
        "Its {} take {}{read} each and return {} rows each.",
        runs(statement.calls()),
        seconds(statement.mean_ms().unwrap_or(0.0) / 1e3),
        figure(statement.by_call(Counter::Rows).unwrap_or(0.0))
    )
}

/// The rows that a run returns: an upper bound of those that it has to read, but for rows that it
/// puts together, of which one is assumed.
fn returned(place: Place<'_>) -> Need {
    let rows = place.statement().by_call(Counter::Rows).unwrap_or(0.0);
    Need { rows, is_counted: !place.block.gathers }
}

fn of_source(place: Place<'_>, source: usize, table: &Table) -> Option<Advice> {
    if place.block.sources.len() != 1 || !reads_too_much(place, table, returned(place)) {
        return None;
    }
    let mine =
        place.block.conditions.iter().filter(|condition| place.is_of(&condition.operand, source));
    let conditions: Vec<&Condition> = mine.collect();
    let by_value = demands(place, source, table).into_iter().find(|demand| !demand.is_join);
    if let Some(demand) = &by_value {
        return served(place, table, demand, &conditions);
    }
    conditions.iter().find_map(|condition| match &condition.comparison {
        Comparison::Like | Comparison::LikeAnyCase => infix(place, table, condition),
        Comparison::Element => element(place, table, condition),
        Comparison::Equal | Comparison::In | Comparison::Range => {
            computed(place, table, &condition.operand)
        }
        _ => None,
    })
}

/// An index has the columns, and yet runs read the table.
fn served(
    place: Place<'_>,
    table: &Table,
    demand: &Demand,
    conditions: &[&Condition],
) -> Option<Advice> {
    let index = table.indexes.iter().find(|index| demand.is_served_by(index))?;
    if !returned(place).is_counted || !demand.is_whole || place.block.has_offset {
        return None;
    }
    let column = demand.keys().next()?;
    let casts = |text: &str| {
        let squeezed_text = text.replace(['(', '"'], "");
        squeezed_text.contains(&format!("{})::", column.base))
            && !squeezed_text.contains(&format!("{})::text", column.base))
    };
    let readers = place.readers(table);
    let mut predicates = readers.iter().flat_map(|reader| &reader.operator.predicates);
    let is_cast = predicates.any(|predicate| casts(&predicate.text));
    let of_texts = conditions.iter().filter(|condition| {
        let column = place.column_of(table, &condition.operand);
        column.is_some_and(|column| column.kind.contains("char") || column.kind.contains("text"))
    });
    let misses = place.rules.abilities.numbers_miss_texts;
    let may_compare_number = misses && of_texts.clone().next().is_some();
    let compares_number = misses
        && of_texts.clone().any(|condition| match &condition.other {
            Other::Value(Some(text)) => text.starts_with(|c: char| c.is_ascii_digit()),
            _ => false,
        });
    let why = match (is_cast, compares_number, may_compare_number) {
        (true, ..) => "The value has another type, so",
        (_, true, _) => "It compares a text with a number, so",
        (.., true) => "The value may be a number or have another collation: then",
        _ => return None,
    };
    let is_sure = is_cast || compares_number;
    let certainty = if is_sure { Certainty::Counted } else { Certainty::Possible };
    Some(Advice {
        evidence: format!(
            "Index {} has the column. {why} the server converts the column of each row.",
            index.name
        ),
        change: format!(
            "Send the value with the type of the column ({}): a quoted text, or a cast of the \
             parameter.",
            column.text
        ),
        price: "A change of the program, not of the server.".into(),
        ..Advice::new(AdviceKind::UnusableIndex, certainty)
    })
}

/// A function or a cast of a column, of which an index knows nothing.
fn computed(place: Place<'_>, table: &Table, operand: &Operand) -> Option<Advice> {
    if operand.is_plain || key(place, table, operand).is_some() {
        return None;
    }
    let column = place.column_of(table, operand)?;
    let lower = operand.text.to_lowercase();
    let is_time = OF_TIME.split('|').any(|known| lower.contains(known));
    let leads = |index: &Index| squeezed(&index.keys[0].column) == squeezed(&column.name);
    let has_index = indexes_on(table, column).any(leads);
    let columns = vec![column.name.clone()];
    let price = price(place.rules.upkeep, table, &columns);
    let is_document = column.kind.to_ascii_lowercase().starts_with("json");
    // Of another function, the plain column may be of no use.
    let helps = !is_document && (is_time || !place.rules.abilities.expressions);
    let new = (helps && !has_index && !is_large(column))
        .then(|| (place.rules.create_index)(&NewIndex::new(table, &columns)));
    let certainty = if place.block.gathers { Certainty::Possible } else { Certainty::Counted };
    let (name, expressions) = (&column.name, place.rules.abilities.expressions);
    let change = if is_time {
        format!(
            "Compare {name} itself with a range ({name} >= start AND {name} < end): an index on it \
             then finds the rows."
        )
    } else if is_document && expressions {
        format!("Index the expression, with the key of {name} that the statement asks for.")
    } else {
        let or = if expressions {
            "index the expression"
        } else {
            "store the result in a generated column with an index"
        };
        format!("Compare {name} itself and compute the value instead, or {or}.")
    };
    Some(Advice {
        evidence: format!("It compares the result of an expression of {name}, which no index has."),
        change,
        price: if new.is_some() {
            format!("A change of the statement, and: {price}")
        } else if is_document {
            price
        } else {
            "A change of the statement.".into()
        },
        ddl: new,
        ..Advice::new(AdviceKind::UnusableIndex, certainty)
    })
}

/// The indexes with a column among their keys.
fn indexes_on<'t>(table: &'t Table, column: &Column) -> impl Iterator<Item = &'t Index> {
    let base = squeezed(&column.name);
    let has_key = move |index: &&Index| index.keys.iter().any(|key| squeezed(&key.column) == base);
    table.indexes.iter().filter(has_key)
}

/// A pattern that may begin anywhere.
fn infix(place: Place<'_>, table: &Table, condition: &Condition) -> Option<Advice> {
    let column = place.column_of(table, &condition.operand)?;
    if !condition.operand.is_plain {
        return computed(place, table, &condition.operand);
    }
    if indexes_on(table, column).any(|index| index.method != "btree") {
        return None;
    }
    let (ddl, change, before) = match place.rules.abilities.infix {
        Some(index) => {
            let columns = vec![format!("{}{}", column.name, index.class)];
            let new = NewIndex { method: Some(index.method), ..NewIndex::new(table, &columns) };
            let change =
                "An index of trigrams finds texts by any part of three characters or more.";
            (Some((place.rules.create_index)(&new)), change, Some(index.needs))
        }
        None => (
            None,
            "An index of texts finds whole words (a full-text index); an ordered index serves \
             patterns only that begin with a fixed text.",
            None,
        ),
    };
    Some(Advice {
        evidence: format!(
            "It looks for a pattern that may begin anywhere in {}, so each row is read.",
            column.name
        ),
        change: change.into(),
        price: "Such an index is often larger than the column, and each change of the column \
                writes many entries."
            .into(),
        ddl,
        before_ddl: before.map(str::to_owned),
        ..Advice::new(AdviceKind::InfixSearch, Certainty::Counted)
    })
}

/// `value = ANY (array)`, which an index of arrays does not serve.
fn element(place: Place<'_>, table: &Table, condition: &Condition) -> Option<Advice> {
    let column = place.column_of(table, &condition.operand)?;
    let (method, class) = (place.rules.abilities.inverted)("@>", &column.kind)?;
    let columns = vec![format!("{}{class}", column.name)];
    let has_index = indexes_on(table, column).any(|index| index.method == method);
    let new = NewIndex { method: Some(method), ..NewIndex::new(table, &columns) };
    Some(Advice {
        evidence: format!("No index serves value = ANY ({}).", column.name),
        change: format!(
            "Write {} @> ARRAY[value] instead: an index of the elements serves that.",
            column.name
        ),
        price: "A change of the statement; each change of the array writes an entry for each \
                element."
            .into(),
        ddl: (!has_index).then(|| (place.rules.create_index)(&new)),
        ..Advice::new(AdviceKind::UnusableIndex, Certainty::Counted)
    })
}

/// Rows that are read, only to be skipped.
fn offset(place: Place<'_>, table: &Table) -> Option<Advice> {
    let block = place.block;
    let is_page = block.is_top && block.has_offset && block.is_limited && !block.gathers;
    if !is_page || !reads_too_much(place, table, returned(place)) {
        return None;
    }
    let order: Vec<&str> = block.order.iter().map(|order| order.operand.text.as_str()).collect();
    let after = if order.is_empty() { "the key".to_owned() } else { order.join(", ") };
    Some(Advice {
        evidence: "OFFSET reads the rows that it skips.".into(),
        change: format!(
            "Begin a page behind the last row of the page before: WHERE ({after}) > (its values) \
             ORDER BY {after} LIMIT n. An index on ({after}) then reads the page alone."
        ),
        price: "A change of the program: pages are reached one after the other, not by number."
            .into(),
        ..Advice::new(AdviceKind::LargeOffset, Certainty::Counted)
    })
}

/// A list that is read again for each row, because it may contain NULL and does not fit in memory.
fn not_in(place: Place<'_>) -> Option<Advice> {
    let block = place.block;
    let has_list = block.conditions.iter().any(|condition| {
        condition.comparison == Comparison::NotIn && condition.other == Other::Query
    });
    let mut predicates = place.statement().operators().flat_map(|operator| &operator.predicates);
    let is_repeated = predicates.any(|predicate| {
        predicate.text.contains("SubPlan") && !predicate.text.contains("hashed SubPlan")
    });
    (has_list && is_repeated).then(|| Advice {
        evidence: "The plan runs the subquery of NOT IN again for each row.".into(),
        change:
            "NOT EXISTS (SELECT FROM ... WHERE ...) becomes one join. It also differs where the \
                 list has NULL: NOT IN then returns no row at all."
                .into(),
        price: "A change of the statement.".into(),
        ..Advice::new(AdviceKind::RepeatedSubquery, Certainty::Counted)
    })
}
