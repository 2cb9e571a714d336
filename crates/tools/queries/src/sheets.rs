//! Spreadsheet tables, a sheet each: every figure is a number.

use crate::Queries;
use crate::document::{Used, said, used};
use crate::plan_files::PlanFileNames;
use plans::{Object, Operator, Own, Parameter, remarks};
use report::model::Columns;
use report::table::{Share, Table, Time};
use report::text::joined;
use serde::Serialize;
use statements::{Advice, Counter, Statement, StatementPlan, Unit};

/// The tables of statements and indexes in the order of their sheets.
pub fn tables<'a>(all: &'a Queries, files: &'a PlanFileNames) -> Vec<Table<'a>> {
    vec![
        statements(all),
        plans(all, files),
        operators(all),
        parameters(all),
        indexes(all),
        index_use(all),
        advice(all),
    ]
}

/// The name that programs read too.
fn name(value: impl Serialize) -> String {
    serde_json::to_value(value).unwrap_or_default().as_str().unwrap_or_default().replace('_', " ")
}

type Numbered<'a> = (usize, &'a Statement);

fn statements(all: &Queries) -> Table<'_> {
    let rows: Vec<Numbered> = (1..).zip(&all.snapshot.statements).collect();
    let total: f64 =
        rows.iter().filter_map(|row| row.1.get(Counter::TimeNs)).map(|ns| ns as f64).sum();
    let mut columns = Columns::for_rows(rows);
    columns.add("statement", "", |column| column.0);
    columns.add("database", "", |column| column.1.database.as_str());
    columns.add("user", "", |column| column.1.user.as_str());
    columns.add("text", "", |column| said(column.1)).wrapped = true;
    columns.add("digest", "", |column| column.1.digest.as_str());
    columns.add("sent by clients", "", |column| column.1.is_top);
    columns.add("share of time", "", move |column| {
        column.1.get(Counter::TimeNs).filter(|_| total > 0.0).map(|ns| Share(ns as f64 / total))
    });
    for &(counter, label, unit) in Counter::ALL.iter().filter(|(counter, ..)| {
        all.snapshot.statements.iter().any(|statement| statement.get(*counter).is_some())
    }) {
        let unit = match unit {
            Unit::Number => "",
            Unit::Nanoseconds => "ns",
            Unit::Blocks => "pages",
            Unit::Bytes => "B",
        };
        columns.add(label, unit, move |column| column.1.get(counter));
    }
    columns.add("mean", "ms", |column| column.1.mean_ms());
    columns.add("shortest", "ms", |column| column.1.spread?.min_ms);
    columns.add("longest", "ms", |column| column.1.spread?.max_ms);
    columns.add("standard deviation", "ms", |column| column.1.spread?.stddev_ms);
    columns.add("rows each", "", |column| column.1.by_call(Counter::Rows));
    columns.add("plans known", "", |column| column.1.plans.len());
    columns.add("why no plan", "", |column| column.1.not_explained.as_deref()).wrapped = true;
    columns.add("counters reset", "", |column| column.1.is_partial);
    columns.named("statements")
}

/// A plan with the numbers of its statement and of itself.
type NumberedPlan<'a> = (usize, usize, &'a StatementPlan);

fn all_plans(all: &Queries) -> Vec<NumberedPlan<'_>> {
    let statements = (1..).zip(&all.snapshot.statements);
    statements
        .flat_map(|(at, statement)| {
            (1..).zip(&statement.plans).map(move |(number, plan)| (at, number, plan))
        })
        .collect()
}

fn plans<'a>(all: &'a Queries, files: &'a PlanFileNames) -> Table<'a> {
    let mut columns = Columns::for_rows(all_plans(all));
    columns.add("statement", "", |column| column.0);
    columns.add("plan", "", |column| column.1);
    columns.add("origin", "", |column| column.2.origin.label());
    columns.add("runs", "", |column| column.2.runs);
    columns.add("hash", "", |column| column.2.hash());
    columns.add("cost", "", |column| column.2.plan.cost);
    columns.add("CPU share of cost", "", |column| column.2.plan.cpu_share().map(Share));
    columns.add("I/O share of cost", "", |column| {
        column.2.plan.cpu_share().map(|cpu| Share(1.0 - cpu))
    });
    columns.add("estimated rows", "", |column| column.2.plan.root.as_ref()?.rows.estimated);
    columns.add("rows", "", |column| column.2.plan.root.as_ref()?.rows.actual);
    columns.add("time", "ms", |column| column.2.plan.elapsed_ms);
    columns.add("planning", "ms", |column| column.2.plan.planning_ms);
    columns.add("operators", "", |column| column.2.plan.operators().len());
    columns.add("remarks", "", |column| remarks(&column.2.plan, &all.rules.terms).len());
    columns.add("indexes", "", |column| {
        let operators = column.2.plan.operators();
        let indexes =
            operators.iter().filter_map(|(_, operator)| operator.objects.first()?.index.clone());
        joined(indexes, ", ")
    });
    columns.add("file", "", |column| files.get(&(column.0, column.1)).map(String::as_str));
    columns.named("plans")
}

#[derive(Clone)]
struct Node<'a> {
    of: (usize, usize),
    number: usize,
    depth: usize,
    operator: &'a Operator,
    own: Own,
}

fn operators(all: &Queries) -> Table<'_> {
    let nodes: Vec<Node> = all_plans(all)
        .into_iter()
        .flat_map(|(statement, plan, found)| {
            let operators = found.plan.operators().into_iter().zip(found.plan.own());
            (1..).zip(operators).map(move |(number, ((depth, operator), share))| Node {
                of: (statement, plan),
                number,
                depth,
                operator,
                own: share,
            })
        })
        .collect();
    let mut columns = Columns::for_rows(nodes);
    columns.add("statement", "", |column| column.of.0);
    columns.add("plan", "", |column| column.of.1);
    columns.add("operator", "", |column| column.number);
    columns.add("depth", "", |column| column.depth);
    columns.add("kind", "", |column| name(column.operator.kind));
    columns.add("name", "", |column| column.operator.name.as_str());
    columns.add("detail", "", |column| column.operator.detail.as_str());
    columns.add("table", "", |column| {
        column
            .operator
            .objects
            .first()
            .map(|object| Object { index: None, ..object.clone() }.label())
    });
    columns.add("index", "", |column| {
        column.operator.objects.first().and_then(|object| object.index.clone())
    });
    columns.add("own cost", "", |column| column.own.cost);
    columns.add("CPU cost of a run", "", |column| Some(column.operator.run_cost?.cpu));
    columns.add("I/O cost of a run", "", |column| Some(column.operator.run_cost?.io));
    columns.add("CPU share", "", |column| column.operator.run_cost?.cpu_share().map(Share));
    columns.add("I/O share", "", |column| {
        column.operator.run_cost?.cpu_share().map(|cpu| Share(1.0 - cpu))
    });
    columns.add("estimated rows", "", |column| column.operator.rows.estimated);
    columns.add("rows", "", |column| column.operator.rows.actual);
    columns.add("runs", "", |column| column.operator.executions);
    columns.add("own time", "ms", |column| column.own.ms);
    columns
        .add("conditions", "", |column| {
            joined(column.operator.predicates.iter().map(|predicate| &predicate.text), "; ")
        })
        .wrapped = true;
    columns.named("operators")
}

/// A parameter with the numbers of its statement and plan.
type NumberedParameter<'a> = (usize, usize, &'a Parameter);

/// The values of parameters that plans have.
fn parameters(all: &Queries) -> Table<'_> {
    let rows: Vec<NumberedParameter> = all_plans(all)
        .into_iter()
        .flat_map(|(statement, plan, found)| {
            found.plan.parameters.iter().map(move |parameter| (statement, plan, parameter))
        })
        .collect();
    let mut columns = Columns::for_rows(rows);
    columns.add("statement", "", |column| column.0);
    columns.add("plan", "", |column| column.1);
    columns.add("parameter", "", |column| column.2.name.as_str());
    columns.add("compiled for", "", |column| column.2.compiled.as_deref()).wrapped = true;
    columns.add("run with", "", |column| column.2.run.as_deref()).wrapped = true;
    columns.add("differs", "", |column| {
        (column.2.compiled.is_some() && column.2.run.is_some()).then_some(column.2.differs)
    });
    columns.named("parameters")
}

fn indexes(all: &Queries) -> Table<'_> {
    let page = all.snapshot.block_bytes;
    let rows: Vec<Used> = used(all).into_iter().collect();
    let mut columns = Columns::for_rows(rows);
    columns.add("database", "", |column| column.table.database.as_str());
    columns.add("table", "", |column| column.table.label());
    columns.add("index", "", |column| column.index.name.as_str());
    columns.add("method", "", |column| column.index.method.as_str());
    columns.add("columns", "", |column| column.index.columns());
    columns.add("included", "", |column| joined(&column.index.included, ", "));
    columns.add("where", "", |column| column.index.predicate.as_deref());
    columns.add("unique", "", |column| column.index.is_unique);
    columns.add("needed", "", |column| column.index.is_needed);
    columns.add("valid", "", |column| column.index.is_valid);
    columns.add("size", "B", |column| column.index.bytes);
    columns.add("free (estimated)", "B", move |column| {
        column.index.bloat_bytes(&column.table.columns, page)
    });
    columns.add("entries (estimated)", "", |column| column.index.entries);
    columns.add("reads", "", |column| column.index.scans);
    columns.add("reads in the interval", "", |column| column.index.interval_scans);
    columns.add("last read", "", |column| column.index.last_scan_ms.map(Time));
    columns.add("entries read", "", |column| column.index.rows_read);
    columns.add("rows fetched", "", |column| column.index.rows_fetched);
    columns.add("cache hits", "pages", |column| column.index.blocks.map(|blocks| blocks.0));
    columns.add("cache misses", "pages", |column| column.index.blocks.map(|blocks| blocks.1));
    columns.add("table rows (estimated)", "", |column| column.table.rows);
    columns.add("table size", "B", |column| column.table.bytes);
    columns.add("table scans", "", |column| column.table.scans);
    columns.add("table inserts", "", |column| column.table.inserts);
    columns.add("table updates", "", |column| column.table.updates);
    columns.add("table HOT updates", "", |column| column.table.hot_updates);
    columns.add("table deletes", "", |column| column.table.deletes);
    columns.add("counted since", "", |column| column.table.since_ms.map(Time));
    columns.add("statements", "", |column| joined(&column.statements, ", "));
    columns.add("definition", "", |column| column.index.definition.as_str()).wrapped = true;
    columns.named("indexes")
}

fn index_use(all: &Queries) -> Table<'_> {
    let mut columns = Columns::for_rows(all.uses.iter());
    let (tables, statements) = (&all.snapshot.tables, &all.snapshot.statements);
    columns.add("database", "", move |column| tables[column.table].database.as_str());
    columns.add("table", "", move |column| tables[column.table].label());
    columns
        .add("index", "", move |column| tables[column.table].indexes[column.index].name.as_str());
    columns.add("statement", "", move |column| column.statement + 1);
    columns.add("plan", "", move |column| column.plan + 1);
    columns.add("access", "", move |column| name(column.access));
    columns.add("calls", "", move |column| statements[column.statement].get(Counter::Calls));
    columns.add("time", "ns", move |column| statements[column.statement].get(Counter::TimeNs));
    columns.named("index use")
}

fn advice(all: &Queries) -> Table<'_> {
    let rows: Vec<(usize, &Advice)> = (1..).zip(&all.advice).collect();
    let mut columns = Columns::for_rows(rows);
    columns.add("advice", "", |column| column.0);
    columns.add("kind", "", |column| column.1.kind.label());
    columns.add("certainty", "", |column| column.1.certainty.label());
    columns.add("database", "", |column| column.1.database.as_str());
    columns.add("subject", "", |column| column.1.subject.as_str());
    columns
        .add("statements", "", |column| joined(column.1.statements.iter().map(|at| at + 1), ", "));
    columns.add("evidence", "", |column| column.1.evidence.as_str()).wrapped = true;
    columns.add("change", "", |column| column.1.change.as_str()).wrapped = true;
    columns.add("price", "", |column| column.1.price.as_str()).wrapped = true;
    columns.add("ddl", "", |column| column.1.ddl.as_deref()).wrapped = true;
    columns.add("cost without", "", |column| column.1.hypothetical.map(|cost| cost.cost_without));
    columns.add("cost with", "", |column| column.1.hypothetical.map(|cost| cost.cost_with));
    columns.named("advice")
}
