use crate::{EngineError, Filter, Operation, Output, Table, Work};

/// How an engine writes tables and operations. Used before connections are opened, never while anything is measured.
pub trait Dialect {
    /// A quoted name.
    fn quote(&self, name: &str) -> String {
        format!("\"{}\"", name.replace('"', "\"\""))
    }

    /// The table's name as statements write it.
    fn table(&self, table: &Table) -> String {
        self.quote(table.name)
    }

    /// The placeholder of a statement's parameter; they are numbered from 1.
    fn placeholder(&self, number: usize) -> String;

    /// The statements that create a table, without a key that is made after its rows.
    fn create(&self, table: &Table) -> Vec<String>;

    /// The statement that calls the stored procedure of [`Operation::InsertLoop`], where the engine has procedures.
    fn insert_loop(&self, _table: &Table) -> Option<String> {
        None
    }

    /// The statement of an operation.
    ///
    /// # Errors
    /// When the engine has no such thing.
    fn statement(&self, operation: &Operation, work: &Work) -> Result<String, EngineError> {
        Ok(match operation {
            Operation::Insert { table, columns } => {
                let names: Vec<String> = columns.iter().map(|name| self.quote(name)).collect();
                let values: Vec<String> =
                    (1..=columns.len()).map(|number| self.placeholder(number)).collect();
                let table = self.table(&work.tables[*table]);
                format!("INSERT INTO {table} ({}) VALUES ({})", names.join(", "), values.join(", "))
            }
            Operation::Select { table, outputs, rows, group_by } => {
                let table = &work.tables[*table];
                let groups: Vec<String> = group_by.iter().map(|name| self.quote(name)).collect();
                let outputs = outputs.iter().map(|output| self.output(*output));
                let outputs: Vec<String> = groups.iter().cloned().chain(outputs).collect();
                let grouped = if groups.is_empty() {
                    String::new()
                } else {
                    format!(" GROUP BY {}", groups.join(", "))
                };
                let (from, rows) = (self.table(table), self.filter(*rows, table));
                format!("SELECT {} FROM {from}{rows}{grouped}", outputs.join(", "))
            }
            Operation::Update { table, column, add, rows } => {
                let table = &work.tables[*table];
                let (name, column, rows) = (self.table(table), self.quote(column), self.filter(*rows, table));
                format!("UPDATE {name} SET {column} = {column} + {add}{rows}")
            }
            Operation::Delete { table, rows } => {
                let table = &work.tables[*table];
                format!("DELETE FROM {}{}", self.table(table), self.filter(*rows, table))
            }
            Operation::InsertLoop { table } => {
                let none = EngineError::Unsupported { engine: "this engine", what: "stored procedures" };
                self.insert_loop(&work.tables[*table]).ok_or(none)?
            }
            Operation::Text(text) => text.sql(|number| self.placeholder(number)),
        })
    }

    /// What a query reads.
    fn output(&self, output: Output) -> String {
        match output {
            Output::Column(name) => self.quote(name),
            Output::Count => "count(*)".into(),
            Output::Sum(name) => format!("sum({})", self.quote(name)),
            Output::Max(name) => format!("max({})", self.quote(name)),
            Output::Avg(name) => format!("avg({})", self.quote(name)),
        }
    }

    /// The WHERE clause with the blank before it; empty for all rows.
    fn filter(&self, filter: Filter, table: &Table) -> String {
        let conditions = match filter {
            Filter::All => return String::new(),
            Filter::Key => {
                let one = |(number, name): (usize, &&str)| {
                    format!("{} = {}", self.quote(name), self.placeholder(number + 1))
                };
                table.key.iter().enumerate().map(one).collect::<Vec<_>>().join(" AND ")
            }
            Filter::KeyRange => {
                let key = self.quote(table.key.first().copied().unwrap_or_default());
                format!("{key} BETWEEN {} AND {}", self.placeholder(1), self.placeholder(2))
            }
            Filter::Below(column, bound) => format!("{} < {bound}", self.quote(column)),
        };
        format!(" WHERE {conditions}")
    }
}
