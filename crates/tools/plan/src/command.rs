use crate::document::{self, PlanOf};
use crate::found::PlanFiles;
use clap::Parser;
use command_line::files::{Replace, write_html};
use command_line::output::{self, Extent, Form};
use command_line::{Context, ExitCode, Failure, Tool};
use inspection::pages;
use inspection::plans::{self, FILE_BYTES_MAX};
use report::json::object;
use serde_json::{Value, json};
use std::io::Read;
use std::path::PathBuf;
use work::sql::statement::shown;

/// Plans on a page: with more, a browser takes long to show it.
const PAGE_MAX: usize = 200;

/// Explain execution plans in files, without a server
///
/// Reads SQL Server's ShowPlan XML and EXPLAIN of PostgreSQL, MariaDB and MySQL.
#[derive(Debug, Parser)]
#[command(name = "plan")]
pub struct Plan {
    /// Files with plans, or folders of them; - for standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Number of statements to show operators for, most expensive first
    #[arg(long, value_name = "N", default_value = "5")]
    limit: usize,
    /// Show literal values in statements and conditions (may contain personal data)
    #[arg(long)]
    literals: bool,
    /// Also write a page with the operators of all plans by time to this file
    #[arg(long, value_name = "PAGE")]
    html: Option<PathBuf>,
    /// Also explain estimated costs by published formulas
    #[arg(long)]
    costs: bool,
    #[command(flatten)]
    extent: Extent,
    #[command(flatten)]
    form: Form,
}

impl Tool for Plan {
    const EXAMPLES: [&'static str; 2] = [
        "steelbench plan slow.sqlplan",
        "psql -c 'EXPLAIN (ANALYZE, FORMAT JSON) SELECT 1' db | steelbench plan -",
    ];
    const SECTIONS: &'static [&'static str] = &document::SECTIONS;

    fn run(&self, context: &Context) -> Result<ExitCode, Failure> {
        let mut found = PlanFiles::new(context);
        for path in &self.files {
            if path.as_os_str() == "-" {
                let mut bytes = Vec::new();
                let read = std::io::stdin().lock().take(FILE_BYTES_MAX).read_to_end(&mut bytes);
                found.add("standard input", read.map(|_| bytes), true);
            } else if path.is_dir() {
                found.folder(path)?;
            } else {
                found.file(path, true);
            }
        }
        found.complain();
        if found.plans.is_empty() {
            return Err(Failure::usage("no plan found"));
        }
        for plan in &mut found.plans {
            for_show(plan, self.literals);
        }
        let plans = &found.plans;
        if let Some(page) = &self.html {
            let document = document::plans(plans, PAGE_MAX, pages::plan_page);
            write_html(&report::web::page(&document), page, Replace::Ours)?;
        }
        let show: document::Show = if self.costs { pages::plan_costs } else { pages::plan_tree };
        let document = || document::plans(plans, self.limit, show);
        output::show_part(self.form, &self.extent, || as_json(plans), document)?;
        Ok(if found.errors.is_empty() { ExitCode::Ok } else { ExitCode::Failed })
    }
}

/// Texts in one line, without their constants unless they are wanted, and never with what may be a
/// password.
fn for_show(file_plan: &mut PlanOf, literals: bool) {
    let rules = file_plan.rules;
    let clean = |text: &mut String| *text = shown(text, rules.syntax, literals);
    clean(&mut file_plan.statement.text);
    if let Some(plan) = &mut file_plan.statement.plan {
        plan.visit_texts(&rules.terms, clean);
    }
}

/// The plans of files, in their order, for programs.
fn as_json(plans: &[PlanOf]) -> serde_json::Result<Value> {
    let plans: Vec<Value> = plans
        .iter()
        .map(|shown| {
            let plan = shown.statement.plan.as_ref();
            let remarks = plan.map(|plan| plans::remarks(plan, &shown.rules.terms));
            let operator_shares = plan.map(plans::Plan::net_costs);
            json!({
                "file": shown.file, "statement": shown.statement, "own": operator_shares,
                "remarks": remarks,
            })
        })
        .collect();
    object("plans", &json!({ "plans": plans }), Value::Null)
}
