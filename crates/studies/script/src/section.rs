//! Scripts and their statements, or the parts of other loads, by configuration.

use analysis::{ConfigurationScripts, PartNames, StatementFigures, Summary};
use observations::order;
use report::model::{Block, Cell, Column, Columns, Section, Table};
use report::number;
use report::table::Share;
use report::text::shortened;

/// Statements that a table has: of more, the most costly.
const STATEMENTS_MAX: usize = 16;

/// For each configuration that the verdict names: its scripts and statements.
pub fn sections(summary: &Summary, configurations: &[ConfigurationScripts]) -> Vec<Section> {
    let named = summary.named_configurations();
    let shown = configurations.iter().filter(|configuration| named.contains(&configuration.index));
    let mut sections: Vec<Section> = shown
        .map(|summary_of_script| {
            section(summary_of_script, summary.part_names(summary_of_script.index))
        })
        .collect();
    let others = configurations.len() - sections.len();
    if let Some(last) = sections.last_mut()
        && others > 0
    {
        let others = number::plural(others, "other configuration");
        last.note(format!("{others}: see `show --only` and the JSON output."));
    }
    sections
}

fn section(configuration_scripts: &ConfigurationScripts, names: PartNames) -> Section {
    let mut section = Section::about(names.heading, &configuration_scripts.configuration);
    section.line(totals(configuration_scripts, names));
    section.table(scripts(configuration_scripts, names));
    if !configuration_scripts.counts.is_empty() {
        section.table(counts(configuration_scripts));
    }
    if configuration_scripts.checks > 0 {
        let checks = number::plural(configuration_scripts.checks as usize, "check");
        section.line(format!("{checks} of the tables held after each trial."));
    }
    let costly = most_costly(&configuration_scripts.statements);
    let others: f64 = 1.0 - costly.iter().map(|statement| statement.share).sum::<f64>();
    let left_out = configuration_scripts.statements.len() - costly.len();
    section.table(statements(configuration_scripts, costly, names));
    if left_out > 0 {
        let others = number::percent(others.max(0.0), 1);
        let left_out = number::plural(left_out, "statement");
        section.note(format!(
            "{left_out} more took {others} of the time; see `export` or JSON for all."
        ));
        let all = Block::Table(statements(
            configuration_scripts,
            configuration_scripts.statements.iter().collect(),
            names,
        ));
        section.blocks.push(Block::Fold("All statements".into(), vec![all]));
    }
    section.note(
        "Latency: mean of trials ± 95 % CI, from sending a statement to its complete answer, \
         without failed ones. Share: of the time in all statements. Failed: the transaction was \
         given up; retried: it was repeated.",
    );
    section
}

/// `Number of transactions 12,345 (5 trials); initial connection time 4.10 ± 0.20 ms.`
fn totals(configuration_scripts: &ConfigurationScripts, names: PartNames) -> String {
    let transactions: u64 =
        configuration_scripts.scripts.iter().map(|script| script.transactions).sum();
    let (transactions, trials) =
        (number::count(transactions), number::plural(configuration_scripts.trials, "trial"));
    let connecting =
        configuration_scripts.initial_connection_time.as_ref().map_or_else(String::new, |time| {
            format!("; initial connection time {}", number::estimate(time))
        });
    format!("Number of {} {transactions} ({trials}){connecting}.", names.work)
}

fn scripts(configuration_scripts: &ConfigurationScripts, names: PartNames) -> Table<'static> {
    let mut table = Columns::for_rows(&configuration_scripts.scripts);
    table.name(names.part, |script| &script.script);
    table.right(names.work, |script| Cell::count(script.transactions));
    table.right("share", |script| Share(script.share)).optional(1);
    if configuration_scripts.scripts.iter().any(|script| script.specified_share.is_some()) {
        table.right("specified", |script| script.specified_share.map(Share)).optional(1);
    }
    table.left(names.rate, |script| script.tps.as_ref().map(Cell::estimate_without_unit));
    table.left("latency average", |script| script.latency.as_ref());
    table.right("failed", |script| Cell::count(script.failures));
    table.right("retried", |script| Cell::count(script.retries));
    table.into()
}

fn statements(
    configuration_scripts: &ConfigurationScripts,
    rows: Vec<&StatementFigures>,
    names: PartNames,
) -> Table<'static> {
    let mut table = Columns::for_rows(rows);
    table.with(Column::statement("statement"), |row| shortened(&row.text));
    if configuration_scripts.scripts.len() > 1 {
        table.name(names.part, |row| &row.script);
    }
    table.right("count", |row| Cell::count(row.count)).optional(1);
    table.left("latency average", |row| row.latency.as_ref());
    table.right("longest", |row| Cell::seconds(row.longest_s)).optional(2);
    table.right("share", |row| Share(row.share));
    table.right("failed", |row| Cell::count(row.failures));
    table.right("retried", |row| Cell::count(row.retries));
    table.into()
}

fn counts(configuration_scripts: &ConfigurationScripts) -> Table<'static> {
    let mut table = Columns::for_rows(&configuration_scripts.counts);
    if configuration_scripts.scripts.len() > 1 {
        table.name("script", |count| &count.script);
    }
    table.name("counted", |count| &count.name);
    table.right("sum", |count| number::whole(count.sum));
    table.right("per transaction", |count| number::figure(count.per_transaction));
    table.into()
}

/// All in their order, or those on which most time was spent.
fn most_costly(statements: &[StatementFigures]) -> Vec<&StatementFigures> {
    let mut order: Vec<usize> = (0..statements.len()).collect();
    order::sort(&mut order, &|left, right| {
        statements[*right].share.total_cmp(&statements[*left].share)
    });
    order.truncate(STATEMENTS_MAX);
    order.sort_unstable();
    order.into_iter().map(|at| &statements[at]).collect()
}
