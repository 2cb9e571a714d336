//! Spreadsheet tables, a sheet each: every figure is a number.

use crate::Queries;
use crate::document::{shown_text, used};
use crate::plan_files::PlanFileNames;
use inspection::plans::{NetCost, Object, Operator, Parameter, remarks};
use inspection::statements::{Advice, Counter, Statement, StatementPlan, Unit};
use report::model::{Column, Columns};
use report::table::{Share, Table, Time};
use report::text::joined;
use serde::Serialize;

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
    columns.add("statement", "", |row| row.0);
    columns.add("database", "", |row| row.1.database.as_str());
    columns.add("user", "", |row| row.1.user.as_str());
    columns.add("text", "", |row| shown_text(row.1)).wrapped = true;
    columns.add("digest", "", |row| row.1.digest.as_str());
    columns.add("sent by clients", "", |row| row.1.is_top);
    columns.with(Column::raw("share of time", ""), move |row| {
        row.1.get(Counter::TimeNs).filter(|_| total > 0.0).map(|ns| Share(ns as f64 / total))
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
        columns.with(Column::raw(label, unit), move |row| row.1.get(counter));
    }
    columns.add("mean", "ms", |row| row.1.mean_ms());
    columns.add("shortest", "ms", |row| row.1.spread?.min_ms);
    columns.add("longest", "ms", |row| row.1.spread?.max_ms);
    columns.add("standard deviation", "ms", |row| row.1.spread?.stddev_ms);
    columns.add("rows each", "", |row| row.1.by_call(Counter::Rows));
    columns.add("plans known", "", |row| row.1.plans.len());
    columns.add("why no plan", "", |row| row.1.not_explained.as_deref()).wrapped = true;
    columns.add("counters reset", "", |row| row.1.is_partial);
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
    columns.add("statement", "", |row| row.0);
    columns.add("plan", "", |row| row.1);
    columns.add("origin", "", |row| row.2.origin.label());
    columns.add("runs", "", |row| row.2.runs);
    columns.add("hash", "", |row| row.2.hash());
    columns.add("cost", "", |row| row.2.plan.cost);
    columns.add("CPU share of cost", "", |row| row.2.plan.cpu_share().map(Share));
    columns.add("I/O share of cost", "", |row| row.2.plan.cpu_share().map(|cpu| Share(1.0 - cpu)));
    columns.add("estimated rows", "", |row| row.2.plan.root.as_ref()?.rows.estimated);
    columns.add("rows", "", |row| row.2.plan.root.as_ref()?.rows.actual);
    columns.add("time", "ms", |row| row.2.plan.elapsed_ms);
    columns.add("planning", "ms", |row| row.2.plan.planning_ms);
    columns.add("operators", "", |row| row.2.plan.operators().len());
    columns.with(Column::raw("remarks", ""), |row| remarks(&row.2.plan, &all.rules.terms).len());
    columns.add("indexes", "", |row| {
        let operators = row.2.plan.operators();
        let indexes =
            operators.iter().filter_map(|(_, operator)| operator.objects.first()?.index.clone());
        joined(indexes, ", ")
    });
    columns.with(Column::raw("file", ""), |row| files.get(&(row.0, row.1)).map(String::as_str));
    columns.named("plans")
}

#[derive(Clone)]
struct Node<'a> {
    of: (usize, usize),
    number: usize,
    depth: usize,
    operator: &'a Operator,
    net: NetCost,
}

fn operators(all: &Queries) -> Table<'_> {
    let nodes: Vec<Node> = all_plans(all)
        .into_iter()
        .flat_map(|(statement, plan, found)| {
            let operators = found.plan.operators().into_iter().zip(found.plan.net_costs());
            (1..).zip(operators).map(move |(number, ((depth, operator), share))| Node {
                of: (statement, plan),
                number,
                depth,
                operator,
                net: share,
            })
        })
        .collect();
    let mut columns = Columns::for_rows(nodes);
    columns.add("statement", "", |row| row.of.0);
    columns.add("plan", "", |row| row.of.1);
    columns.add("operator", "", |row| row.number);
    columns.add("depth", "", |row| row.depth);
    columns.add("kind", "", |row| name(row.operator.kind));
    columns.add("name", "", |row| row.operator.name.as_str());
    columns.add("detail", "", |row| row.operator.detail.as_str());
    columns.add("table", "", |row| {
        row.operator.objects.first().map(|object| Object { index: None, ..object.clone() }.label())
    });
    columns.add("index", "", |row| {
        row.operator.objects.first().and_then(|object| object.index.clone())
    });
    columns.add("own cost", "", |row| row.net.cost);
    columns.add("CPU cost of a run", "", |row| Some(row.operator.run_cost?.cpu));
    columns.add("I/O cost of a run", "", |row| Some(row.operator.run_cost?.io));
    columns.add("CPU share", "", |row| row.operator.run_cost?.cpu_share().map(Share));
    columns
        .add("I/O share", "", |row| row.operator.run_cost?.cpu_share().map(|cpu| Share(1.0 - cpu)));
    columns.add("estimated rows", "", |row| row.operator.rows.estimated);
    columns.add("rows", "", |row| row.operator.rows.actual);
    columns.add("runs", "", |row| row.operator.executions);
    columns.add("own time", "ms", |row| row.net.ms);
    columns
        .add("conditions", "", |row| {
            joined(row.operator.predicates.iter().map(|predicate| &predicate.text), "; ")
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
    columns.add("statement", "", |row| row.0);
    columns.add("plan", "", |row| row.1);
    columns.add("parameter", "", |row| row.2.name.as_str());
    columns.add("compiled for", "", |row| row.2.compiled.as_deref()).wrapped = true;
    columns.add("run with", "", |row| row.2.run.as_deref()).wrapped = true;
    columns.add("differs", "", |row| {
        (row.2.compiled.is_some() && row.2.run.is_some()).then_some(row.2.differs)
    });
    columns.named("parameters")
}

fn indexes(all: &Queries) -> Table<'_> {
    let page = all.snapshot.block_bytes;
    let mut columns = Columns::for_rows(used(all));
    columns.add("database", "", |row| row.0.table.database.as_str());
    columns.add("table", "", |row| row.0.table.label());
    columns.add("index", "", |row| row.0.index.name.as_str());
    columns.add("method", "", |row| row.0.index.method.as_str());
    columns.add("columns", "", |row| row.0.index.columns());
    columns.add("included", "", |row| joined(&row.0.index.included, ", "));
    columns.add("where", "", |row| row.0.index.predicate.as_deref());
    columns.add("unique", "", |row| row.0.index.is_unique);
    columns.add("needed", "", |row| row.0.index.is_needed);
    columns.add("valid", "", |row| row.0.index.is_valid);
    columns.add("size", "B", |row| row.0.index.bytes);
    columns.with(Column::raw("free (estimated)", "B"), move |row| {
        row.0.index.bloat_bytes(&row.0.table.columns, page)
    });
    columns.add("entries (estimated)", "", |row| row.0.index.entries);
    columns.add("reads", "", |row| row.0.index.scans);
    columns.add("reads in the interval", "", |row| row.0.index.interval_scans);
    columns.add("last read", "", |row| row.0.index.last_scan_ms.map(Time));
    columns.add("entries read", "", |row| row.0.index.rows_read);
    columns.add("rows fetched", "", |row| row.0.index.rows_fetched);
    columns.add("cache hits", "pages", |row| row.0.index.blocks.map(|blocks| blocks.0));
    columns.add("cache misses", "pages", |row| row.0.index.blocks.map(|blocks| blocks.1));
    columns.add("table rows (estimated)", "", |row| row.0.table.rows);
    columns.add("table size", "B", |row| row.0.table.bytes);
    columns.add("table scans", "", |row| row.0.table.scans);
    columns.add("table inserts", "", |row| row.0.table.inserts);
    columns.add("table updates", "", |row| row.0.table.updates);
    columns.add("table HOT updates", "", |row| row.0.table.hot_updates);
    columns.add("table deletes", "", |row| row.0.table.deletes);
    columns.add("counted since", "", |row| row.0.table.since_ms.map(Time));
    columns.add("statements", "", |row| joined(row.1.iter().map(|at| at + 1), ", "));
    columns.add("definition", "", |row| row.0.index.definition.as_str()).wrapped = true;
    columns.named("indexes")
}

fn index_use(all: &Queries) -> Table<'_> {
    let mut columns = Columns::for_rows(all.uses.iter());
    let (tables, statements) = (&all.snapshot.tables, &all.snapshot.statements);
    columns.with(Column::raw("database", ""), move |row| tables[row.table].database.as_str());
    columns.with(Column::raw("table", ""), move |row| tables[row.table].label());
    columns.with(Column::raw("index", ""), move |row| {
        tables[row.table].indexes[row.index].name.as_str()
    });
    columns.add("statement", "", move |row| row.statement + 1);
    columns.add("plan", "", move |row| row.plan + 1);
    columns.add("access", "", move |row| name(row.access));
    columns
        .with(Column::raw("calls", ""), move |row| statements[row.statement].get(Counter::Calls));
    columns
        .with(Column::raw("time", "ns"), move |row| statements[row.statement].get(Counter::TimeNs));
    columns.named("index use")
}

fn advice(all: &Queries) -> Table<'_> {
    let rows: Vec<(usize, &Advice)> = (1..).zip(&all.advice).collect();
    let mut columns = Columns::for_rows(rows);
    columns.add("advice", "", |row| row.0);
    columns.add("kind", "", |row| row.1.kind.label());
    columns.add("certainty", "", |row| row.1.certainty.label());
    columns.add("database", "", |row| row.1.database.as_str());
    columns.add("subject", "", |row| row.1.subject.as_str());
    columns.add("statements", "", |row| joined(row.1.statements.iter().map(|at| at + 1), ", "));
    columns.add("evidence", "", |row| row.1.evidence.as_str()).wrapped = true;
    columns.add("change", "", |row| row.1.change.as_str()).wrapped = true;
    columns.add("price", "", |row| row.1.price.as_str()).wrapped = true;
    columns.add("ddl", "", |row| row.1.ddl.as_deref()).wrapped = true;
    columns.add("cost without", "", |row| row.1.hypothetical.map(|cost| cost.cost_without));
    columns.add("cost with", "", |row| row.1.hypothetical.map(|cost| cost.cost_with));
    columns.named("advice")
}
