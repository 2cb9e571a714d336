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
        rows.iter().filter_map(|one| one.1.get(Counter::TimeNs)).map(|ns| ns as f64).sum();
    let mut columns = Columns::for_rows(rows);
    columns.add("statement", "", |one| one.0);
    columns.add("database", "", |one| one.1.database.as_str());
    columns.add("user", "", |one| one.1.user.as_str());
    columns.add("text", "", |one| said(one.1)).wrapped = true;
    columns.add("digest", "", |one| one.1.digest.as_str());
    columns.add("sent by clients", "", |one| one.1.is_top);
    columns.add("share of time", "", move |one| {
        one.1.get(Counter::TimeNs).filter(|_| total > 0.0).map(|ns| Share(ns as f64 / total))
    });
    for &(counter, label, unit) in Counter::ALL.iter().filter(|(counter, ..)| {
        all.snapshot.statements.iter().any(|one| one.get(*counter).is_some())
    }) {
        let unit = match unit {
            Unit::Number => "",
            Unit::Nanoseconds => "ns",
            Unit::Blocks => "pages",
            Unit::Bytes => "B",
        };
        columns.add(label, unit, move |one| one.1.get(counter));
    }
    columns.add("mean", "ms", |one| one.1.mean_ms());
    columns.add("shortest", "ms", |one| one.1.spread?.min_ms);
    columns.add("longest", "ms", |one| one.1.spread?.max_ms);
    columns.add("standard deviation", "ms", |one| one.1.spread?.stddev_ms);
    columns.add("rows each", "", |one| one.1.by_call(Counter::Rows));
    columns.add("plans known", "", |one| one.1.plans.len());
    columns.add("why no plan", "", |one| one.1.not_explained.as_deref()).wrapped = true;
    columns.add("counters reset", "", |one| one.1.is_partial);
    columns.named("statements")
}

/// A plan with the numbers of its statement and of itself.
type NumberedPlan<'a> = (usize, usize, &'a StatementPlan);

fn all_plans(all: &Queries) -> Vec<NumberedPlan<'_>> {
    let statements = (1..).zip(&all.snapshot.statements);
    statements
        .flat_map(|(at, one)| (1..).zip(&one.plans).map(move |(number, plan)| (at, number, plan)))
        .collect()
}

fn plans<'a>(all: &'a Queries, files: &'a PlanFileNames) -> Table<'a> {
    let mut columns = Columns::for_rows(all_plans(all));
    columns.add("statement", "", |one| one.0);
    columns.add("plan", "", |one| one.1);
    columns.add("origin", "", |one| one.2.origin.label());
    columns.add("runs", "", |one| one.2.runs);
    columns.add("hash", "", |one| one.2.hash());
    columns.add("cost", "", |one| one.2.plan.cost);
    columns.add("CPU share of cost", "", |one| one.2.plan.cpu_share().map(Share));
    columns.add("I/O share of cost", "", |one| one.2.plan.cpu_share().map(|cpu| Share(1.0 - cpu)));
    columns.add("estimated rows", "", |one| one.2.plan.root.as_ref()?.rows.estimated);
    columns.add("rows", "", |one| one.2.plan.root.as_ref()?.rows.actual);
    columns.add("time", "ms", |one| one.2.plan.elapsed_ms);
    columns.add("planning", "ms", |one| one.2.plan.planning_ms);
    columns.add("operators", "", |one| one.2.plan.operators().len());
    columns.add("remarks", "", |one| remarks(&one.2.plan, &all.rules.terms).len());
    columns.add("indexes", "", |one| {
        let operators = one.2.plan.operators();
        let indexes =
            operators.iter().filter_map(|(_, operator)| operator.objects.first()?.index.clone());
        joined(indexes, ", ")
    });
    columns.add("file", "", |one| files.get(&(one.0, one.1)).map(String::as_str));
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
            (1..).zip(operators).map(move |(number, ((depth, operator), own))| Node {
                of: (statement, plan),
                number,
                depth,
                operator,
                own,
            })
        })
        .collect();
    let mut columns = Columns::for_rows(nodes);
    columns.add("statement", "", |one| one.of.0);
    columns.add("plan", "", |one| one.of.1);
    columns.add("operator", "", |one| one.number);
    columns.add("depth", "", |one| one.depth);
    columns.add("kind", "", |one| name(one.operator.kind));
    columns.add("name", "", |one| one.operator.name.as_str());
    columns.add("detail", "", |one| one.operator.detail.as_str());
    columns.add("table", "", |one| {
        one.operator.objects.first().map(|object| Object { index: None, ..object.clone() }.label())
    });
    columns.add("index", "", |one| {
        one.operator.objects.first().and_then(|object| object.index.clone())
    });
    columns.add("own cost", "", |one| one.own.cost);
    columns.add("CPU cost of a run", "", |one| Some(one.operator.run_cost?.cpu));
    columns.add("I/O cost of a run", "", |one| Some(one.operator.run_cost?.io));
    columns.add("CPU share", "", |one| one.operator.run_cost?.cpu_share().map(Share));
    columns
        .add("I/O share", "", |one| one.operator.run_cost?.cpu_share().map(|cpu| Share(1.0 - cpu)));
    columns.add("estimated rows", "", |one| one.operator.rows.estimated);
    columns.add("rows", "", |one| one.operator.rows.actual);
    columns.add("runs", "", |one| one.operator.executions);
    columns.add("own time", "ms", |one| one.own.ms);
    columns
        .add("conditions", "", |one| {
            joined(one.operator.predicates.iter().map(|one| &one.text), "; ")
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
            found.plan.parameters.iter().map(move |one| (statement, plan, one))
        })
        .collect();
    let mut columns = Columns::for_rows(rows);
    columns.add("statement", "", |one| one.0);
    columns.add("plan", "", |one| one.1);
    columns.add("parameter", "", |one| one.2.name.as_str());
    columns.add("compiled for", "", |one| one.2.compiled.as_deref()).wrapped = true;
    columns.add("run with", "", |one| one.2.run.as_deref()).wrapped = true;
    columns.add("differs", "", |one| {
        (one.2.compiled.is_some() && one.2.run.is_some()).then_some(one.2.differs)
    });
    columns.named("parameters")
}

fn indexes(all: &Queries) -> Table<'_> {
    let page = all.snapshot.block_bytes;
    let rows: Vec<Used> = used(all).into_iter().collect();
    let mut columns = Columns::for_rows(rows);
    columns.add("database", "", |one| one.table.database.as_str());
    columns.add("table", "", |one| one.table.label());
    columns.add("index", "", |one| one.index.name.as_str());
    columns.add("method", "", |one| one.index.method.as_str());
    columns.add("columns", "", |one| one.index.columns());
    columns.add("included", "", |one| joined(&one.index.included, ", "));
    columns.add("where", "", |one| one.index.predicate.as_deref());
    columns.add("unique", "", |one| one.index.is_unique);
    columns.add("needed", "", |one| one.index.is_needed);
    columns.add("valid", "", |one| one.index.is_valid);
    columns.add("size", "B", |one| one.index.bytes);
    columns
        .add("free (estimated)", "B", move |one| one.index.bloat_bytes(&one.table.columns, page));
    columns.add("entries (estimated)", "", |one| one.index.entries);
    columns.add("reads", "", |one| one.index.scans);
    columns.add("reads in the interval", "", |one| one.index.interval_scans);
    columns.add("last read", "", |one| one.index.last_scan_ms.map(Time));
    columns.add("entries read", "", |one| one.index.rows_read);
    columns.add("rows fetched", "", |one| one.index.rows_fetched);
    columns.add("cache hits", "pages", |one| one.index.blocks.map(|blocks| blocks.0));
    columns.add("cache misses", "pages", |one| one.index.blocks.map(|blocks| blocks.1));
    columns.add("table rows (estimated)", "", |one| one.table.rows);
    columns.add("table size", "B", |one| one.table.bytes);
    columns.add("table scans", "", |one| one.table.scans);
    columns.add("table inserts", "", |one| one.table.inserts);
    columns.add("table updates", "", |one| one.table.updates);
    columns.add("table HOT updates", "", |one| one.table.hot_updates);
    columns.add("table deletes", "", |one| one.table.deletes);
    columns.add("counted since", "", |one| one.table.since_ms.map(Time));
    columns.add("statements", "", |one| joined(&one.statements, ", "));
    columns.add("definition", "", |one| one.index.definition.as_str()).wrapped = true;
    columns.named("indexes")
}

fn index_use(all: &Queries) -> Table<'_> {
    let mut columns = Columns::for_rows(all.uses.iter());
    let (tables, statements) = (&all.snapshot.tables, &all.snapshot.statements);
    columns.add("database", "", move |one| tables[one.table].database.as_str());
    columns.add("table", "", move |one| tables[one.table].label());
    columns.add("index", "", move |one| tables[one.table].indexes[one.index].name.as_str());
    columns.add("statement", "", move |one| one.statement + 1);
    columns.add("plan", "", move |one| one.plan + 1);
    columns.add("access", "", move |one| name(one.access));
    columns.add("calls", "", move |one| statements[one.statement].get(Counter::Calls));
    columns.add("time", "ns", move |one| statements[one.statement].get(Counter::TimeNs));
    columns.named("index use")
}

fn advice(all: &Queries) -> Table<'_> {
    let rows: Vec<(usize, &Advice)> = (1..).zip(&all.advice).collect();
    let mut columns = Columns::for_rows(rows);
    columns.add("advice", "", |one| one.0);
    columns.add("kind", "", |one| one.1.kind.label());
    columns.add("certainty", "", |one| one.1.certainty.label());
    columns.add("database", "", |one| one.1.database.as_str());
    columns.add("subject", "", |one| one.1.subject.as_str());
    columns.add("statements", "", |one| joined(one.1.statements.iter().map(|at| at + 1), ", "));
    columns.add("evidence", "", |one| one.1.evidence.as_str()).wrapped = true;
    columns.add("change", "", |one| one.1.change.as_str()).wrapped = true;
    columns.add("price", "", |one| one.1.price.as_str()).wrapped = true;
    columns.add("ddl", "", |one| one.1.ddl.as_deref()).wrapped = true;
    columns.add("cost without", "", |one| one.1.hypothetical.map(|cost| cost.cost_without));
    columns.add("cost with", "", |one| one.1.hypothetical.map(|cost| cost.cost_with));
    columns.named("advice")
}
