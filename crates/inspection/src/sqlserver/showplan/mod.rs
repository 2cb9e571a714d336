//! ShowPlan XML
//! (<https://learn.microsoft.com/sql/relational-databases/showplan-logical-and-physical-operators-reference>).

mod costs;
mod known;
mod properties;
mod traits;
mod xml;

use crate::plans::{
    Access, Kind, Memory, MissingIndex, Operator, Parameter, Plan, PlanError, PlanFormats,
    Predicate, Role, Rows, RunCost, Statement, Wait, Warning,
};
use roxmltree::Node;
use work::sql::Syntax;
use xml::{child, children, flag, is, number, object, parts, unquoted};

/// SQL Server's format.
pub const PLANS: PlanFormats = PlanFormats {
    names: "ShowPlan XML of SQL Server",
    recognise,
    read: |text| if recognise(text) { read(text.trim_start()) } else { Err(PlanError::Unknown) },
};

fn recognise(text: &str) -> bool {
    text.trim_start().starts_with('<') && text.contains("<ShowPlanXML")
}

/// The statements of a batch, those in branches and cursors included.
fn read(text: &str) -> Result<Vec<Statement>, PlanError> {
    let damaged = |cause: String| PlanError::Damaged { format: "ShowPlan XML", cause };
    let document = crate::xml::parse(text).map_err(|error| damaged(error.to_string()))?;
    let mut statements = Vec::new();
    for list in document.root_element().descendants().filter(|node| is(*node, "Statements")) {
        for node in list.children().filter(Node::is_element) {
            read_statement(node, &mut statements)?;
        }
    }
    if statements.is_empty() {
        return Err(damaged("it has no statements".into()));
    }
    Ok(statements)
}

/// A statement; those of a branch are found by themselves, of a condition and a cursor here are the
/// plans of their own.
fn read_statement(node: Node, statements: &mut Vec<Statement>) -> Result<(), PlanError> {
    let text = |name| node.attribute(name).filter(|value| !value.is_empty()).map(str::to_owned);
    let kind = text("StatementType").unwrap_or_else(|| node.tag_name().name().to_owned());
    let statement = |kind: String, plan| Statement {
        text: text("StatementText").unwrap_or_default(),
        kind,
        query_hash: text("QueryHash"),
        plan_hash: text("QueryPlanHash"),
        plan,
        ..Statement::default()
    };
    let plans = plans_of(node);
    match plans.as_slice() {
        [] => statements.push(statement(kind, None)),
        [plan] => statements.push(statement(kind, Some(read_plan(node, *plan)?))),
        // A cursor has one for each of its operations, a condition one for each query in it.
        several => {
            for plan in several {
                let operation = plan.parent().and_then(|parent| parent.attribute("OperationType"));
                let kind = operation
                    .map_or_else(|| kind.clone(), |operation| format!("{kind}: {operation}"));
                statements.push(statement(kind, Some(read_plan(node, *plan)?)));
            }
        }
    }
    Ok(())
}

/// The plans of a statement, without those of statements in it and of functions that it calls.
fn plans_of<'a, 'b>(statement: Node<'a, 'b>) -> Vec<Node<'a, 'b>> {
    let others = ["Statements", "UDF", "StoredProc", "Then", "Else", "QueryPlan"];
    let within = parts(statement, &others);
    within.into_iter().filter(|node| is(*node, "QueryPlan")).collect()
}

fn read_plan(statement: Node, node: Node) -> Result<Plan, PlanError> {
    let times = child(node, "QueryTimeStats");
    let memory = child(node, "MemoryGrantInfo");
    let hardware = child(node, "OptimizerHardwareDependentProperties");
    let degree = hardware.and_then(|known| number(known, "EstimatedAvailableDegreeOfParallelism"));
    let root = child(node, "RelOp").map(|child| read_operator(child, degree, 0)).transpose()?;
    let of_root = root.as_ref().and_then(|root| root.cost);
    let parameters: Vec<Parameter> =
        children(node, "ParameterList", "ColumnReference").map(parameter).collect();
    Ok(Plan {
        planning_cpu_ms: number(node, "CompileCPU"),
        functions_ms: times.and_then(|times| number(times, "UdfElapsedTime")),
        traits: traits::of_statement(statement, node, &parameters, root.as_ref()),
        statistics: traits::statistics(node),
        cost: number(statement, "StatementSubTreeCost").or(of_root),
        elapsed_ms: times.and_then(|times| number(times, "ElapsedTime")),
        cpu_ms: times.and_then(|times| number(times, "CpuTime")),
        planning_ms: number(node, "CompileTime"),
        // 0 where a plan is serial for a reason that is given.
        degree: number(node, "DegreeOfParallelism").map(|degree| (degree as u32).max(1)),
        serial_reason: node.attribute("NonParallelPlanReason").map(str::to_owned),
        early_abort: statement.attribute("StatementOptmEarlyAbortReason").map(str::to_owned),
        memory: memory
            .and_then(|memory| {
                Some(Memory {
                    granted_kib: number(memory, "GrantedMemory")?,
                    used_kib: number(memory, "MaxUsedMemory")?,
                    wait_ms: 1_000.0 * memory_wait_s(node, memory),
                })
            })
            .filter(|memory| memory.granted_kib > 0.0),
        root,
        missing_indexes: missing_indexes(node),
        parameters,
        waits: children(node, "WaitStats", "Wait").map(wait).collect(),
        warnings: plan_warnings(node),
        unknown: known::unknown(node),
        compilation_ms: None,
    })
}

/// Seconds that a statement waited for memory, of which a warning tells too.
fn memory_wait_s(plan: Node, memory: Node) -> f64 {
    let warnings = children(plan, "Warnings", "Wait");
    let warned = warnings
        .filter(|wait| wait.attribute("WaitType") == Some("Memory Grant"))
        .filter_map(|wait| number(wait, "WaitTime"));
    number(memory, "GrantWaitTime").into_iter().chain(warned).fold(0.0, f64::max)
}

/// Reads an operator with its inputs. `degree`: the threads that the optimizer expected to have.
fn read_operator(node: Node, degree: Option<f64>, depth: usize) -> Result<Operator, PlanError> {
    PlanError::check_depth(depth)?;
    // What belongs to this operator, down to where the next ones begin.
    let (below, nodes): (Vec<Node>, Vec<Node>) =
        parts(node, &["RelOp"]).into_iter().partition(|part| is(*part, "RelOp"));
    let inputs = below
        .iter()
        .map(|input| read_operator(*input, degree, depth + 1))
        .collect::<Result<Vec<_>, _>>()?;
    let attribute = |name| node.attribute(name).unwrap_or_default();
    let (physical, logical) = (attribute("PhysicalOp"), attribute("LogicalOp"));
    let is_lookup = nodes.iter().any(|part| is(*part, "IndexScan") && flag(*part, "Lookup"));
    let kind = kind_of(physical, logical, is_lookup);
    let counters: Vec<Node> =
        nodes.iter().copied().filter(|part| is(*part, "RunTimeCountersPerThread")).collect();
    let sum = |name| {
        let counted: Vec<f64> =
            counters.iter().filter_map(|thread| number(*thread, name)).collect();
        (!counted.is_empty()).then(|| counted.iter().sum::<f64>())
    };
    let executions = sum("ActualExecutions");
    let times = executions.map_or_else(
        || estimated_executions(node),
        // Threads that share one execution count one each.
        |executions| {
            if executions > counters.len() as f64 { executions } else { executions.min(1.0) }
        },
    );
    let estimated = |name| number(node, name).map(|rows: f64| rows * times);
    let slowest =
        counters.iter().filter_map(|thread| number(*thread, "ActualElapsedms")).reduce(f64::max);
    let is_batch =
        counters.iter().any(|thread| thread.attribute("ActualExecutionMode") == Some("Batch"));
    // In batch mode an operator's time is its own, in row mode it has its inputs in it.
    let below_ms: f64 = inputs.iter().filter_map(Operator::time).sum();
    let predicates = predicates(&nodes);
    Ok(Operator {
        name: if is_lookup && physical.ends_with("Seek") {
            "Key Lookup".into()
        } else {
            physical.into()
        },
        detail: if logical == physical { String::new() } else { logical.into() },
        objects: nodes.iter().copied().filter(|part| is(*part, "Object")).map(object).collect(),
        access: access(kind, physical),
        cost: number(node, "EstimatedTotalSubtreeCost"),
        run_cost: number(node, "EstimateCPU")
            .zip(number(node, "EstimateIO"))
            .map(|(cpu, io)| RunCost { cpu, io }),
        cost_parts: costs::parts(node, kind, degree),
        rows: Rows { estimated: estimated("EstimateRows"), actual: sum("ActualRows") },
        rows_read: Rows {
            estimated: estimated("EstimatedRowsRead"),
            actual: sum("ActualRowsRead"),
        },
        executions,
        elapsed_ms: slowest.map(|ms| if is_batch { ms + below_ms } else { ms }),
        pages: sum("ActualLogicalReads").map(|logical| {
            let read =
                sum("ActualPhysicalReads").unwrap_or(0.0) + sum("ActualReadAheads").unwrap_or(0.0);
            ((logical - read).max(0.0), read)
        }),
        properties: properties::of_operator(node, &nodes, &inputs, &predicates, times),
        thread_rows: properties::thread_rows(&counters),
        predicates,
        is_parallel: flag(node, "Parallel"),
        warnings: warnings(node),
        inputs,
        kind,
        ..Operator::default()
    })
}

fn estimated_executions(node: Node) -> f64 {
    let again = ["EstimateRebinds", "EstimateRewinds"].map(|name| number(node, name));
    1.0 + again.into_iter().flatten().sum::<f64>()
}

fn access(kind: Kind, physical: &str) -> Option<Access> {
    // `Inserted Scan` and `Deleted Scan` read the rows of a trigger, not a table.
    let is_of_trigger = kind == Kind::TableScan && physical.ends_with("ed Scan");
    kind.access().filter(|_| !is_of_trigger)
}

fn predicates(nodes: &[Node]) -> Vec<Predicate> {
    let columns = |node: Node| -> Vec<String> {
        let columns = node.descendants().filter(|part| is(*part, "ColumnReference"));
        columns.filter_map(|column| column.attribute("Column").map(str::to_owned)).collect()
    };
    let mut all = Vec::new();
    for part in nodes {
        let (role, text) = match part.tag_name().name() {
            "Predicate" | "ProbeResidual" | "Residual" => {
                let text = part.descendants().find_map(|part| part.attribute("ScalarString"));
                (Role::Filter, text.unwrap_or_default().to_owned())
            }
            "Prefix" | "StartRange" | "EndRange" | "IsNotNull" => {
                let compared = child(*part, "RangeColumns").unwrap_or(*part);
                let values = child(*part, "RangeExpressions").map(|values| {
                    let values =
                        values.children().filter_map(|value| value.attribute("ScalarString"));
                    values.collect::<Vec<_>>().join(", ")
                });
                let sign = match part.attribute("ScanType") {
                    Some("GT") => ">",
                    Some("GE") => ">=",
                    Some("LT") => "<",
                    Some("LE") => "<=",
                    _ if is(*part, "IsNotNull") => "IS NOT NULL",
                    _ => "=",
                };
                let values = values.unwrap_or_default();
                (
                    Role::Seek,
                    format!("{} {sign} {values}", columns(compared).join(", "))
                        .trim_end()
                        .to_owned(),
                )
            }
            "HashKeysBuild" | "HashKeysProbe" | "OuterReferences" => {
                (Role::Join, columns(*part).join(", "))
            }
            _ => continue,
        };
        if !text.is_empty() {
            all.push(Predicate::new(role, text, Syntax::SqlServer));
        }
    }
    all
}

fn missing_indexes(plan: Node) -> Vec<MissingIndex> {
    let mut all = Vec::new();
    for group in children(plan, "MissingIndexes", "MissingIndexGroup") {
        for index in group.children().filter(|node| is(*node, "MissingIndex")) {
            let columns = |usage: &str| -> Vec<String> {
                let of_usage =
                    index.children().filter(|node| node.attribute("Usage") == Some(usage));
                let columns = of_usage.flat_map(|group| group.children());
                columns.filter_map(|column| column.attribute("Name").map(unquoted)).collect()
            };
            all.push(MissingIndex {
                object: object(index),
                impact: number(group, "Impact").map(|percent| percent / 100.0),
                equality: columns("EQUALITY"),
                inequality: columns("INEQUALITY"),
                included: columns("INCLUDE"),
            });
        }
    }
    all
}

fn parameter(node: Node) -> Parameter {
    let value = |name| node.attribute(name).map(str::to_owned);
    let (compiled, run) = (value("ParameterCompiledValue"), value("ParameterRuntimeValue"));
    let differs = compiled.is_some() && run.is_some() && compiled != run;
    Parameter { name: value("Column").unwrap_or_default(), compiled, run, differs }
}

fn wait(node: Node) -> Wait {
    Wait {
        name: node.attribute("WaitType").unwrap_or_default().to_owned(),
        wait_ms: number(node, "WaitTimeMs").unwrap_or(0.0),
        count: number(node, "WaitCount").unwrap_or(0.0),
    }
}

/// Warnings of the whole plan. Names of filtered indexes that its parameters kept it from using
/// are elsewhere.
fn plan_warnings(plan: Node) -> Vec<Warning> {
    let mut all = warnings(plan);
    if let Some(unmatched) = all.iter_mut().find(|warning| warning.name == "UnmatchedIndexes") {
        let indexes =
            child(plan, "UnmatchedIndexes").into_iter().flat_map(|list| list.descendants());
        let names = indexes.filter(|node| is(*node, "Object")).map(|node| object(node).label());
        unmatched.detail = names.collect::<Vec<_>>().join(", ");
    }
    all
}

/// Attributes that are set, and elements with their attributes, whatever their names are.
fn warnings(node: Node) -> Vec<Warning> {
    let Some(node) = child(node, "Warnings") else { return Vec::new() };
    let detail = |element: Node| {
        let of_itself = element
            .attributes()
            .map(|attribute| format!("{} {}", attribute.name(), attribute.value()));
        let columns = element.descendants().filter(|part| is(*part, "ColumnReference"));
        let columns = columns.filter_map(|column| {
            let table = column.attribute("Table").map(|table| format!("{}.", unquoted(table)));
            Some(format!("{}{}", table.unwrap_or_default(), column.attribute("Column")?))
        });
        of_itself.chain(columns).collect::<Vec<_>>().join(", ")
    };
    let set = node.attributes().filter(|attribute| matches!(attribute.value(), "1" | "true"));
    let of_attributes =
        set.map(|set| Warning { name: set.name().to_owned(), ..Warning::default() });
    let of_elements = node.children().filter(Node::is_element).map(|element| Warning {
        name: element.tag_name().name().to_owned(),
        detail: detail(element),
        bytes: number(element, "WritesToTempDb").map(|pages| pages * PAGE_BYTES),
    });
    of_attributes.chain(of_elements).collect()
}

/// Spills are counted in pages.
const PAGE_BYTES: f64 = 8_192.0;

/// The kind of an operator, by its physical and its logical name.
fn kind_of(physical: &str, logical: &str, is_lookup: bool) -> Kind {
    match physical {
        _ if is_lookup => Kind::Lookup,
        "Key Lookup" | "RID Lookup" => Kind::Lookup,
        "Clustered Index Seek" | "Index Seek" => Kind::IndexSeek,
        "Table Scan" | "Remote Scan" | "Deleted Scan" | "Inserted Scan" | "Log Row Scan" => {
            Kind::TableScan
        }
        "Nested Loops" => Kind::NestedLoops,
        "Merge Join" if logical == "Union" => Kind::Append,
        "Merge Join" => Kind::MergeJoin,
        "Hash Match" if logical.contains("Join") => Kind::HashJoin,
        "Hash Match" if logical == "Union" => Kind::Append,
        "Hash Match" => Kind::HashAggregate,
        "Adaptive Join" => Kind::HashJoin,
        "Sort" | "Top N Sort" => Kind::Sort,
        "Stream Aggregate" | "Window Aggregate" => Kind::Aggregate,
        "Filter" => Kind::Filter,
        "Top" => Kind::Limit,
        "Concatenation" => Kind::Append,
        "Parallelism" => Kind::Exchange,
        "Compute Scalar" | "Sequence Project" => Kind::Compute,
        "Constant Scan" => Kind::Constant,
        "Table-valued function" => Kind::Function,
        other if other.ends_with("Scan") => Kind::IndexScan,
        other if other.ends_with("Spool") => Kind::Spool,
        other
            if ["Insert", "Update", "Delete", "Merge"].iter().any(|verb| other.ends_with(verb)) =>
        {
            Kind::Modify
        }
        _ => Kind::Other,
    }
}
