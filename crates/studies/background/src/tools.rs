//! Actions beside a load, as settings are checked against them: plain data.

use crate::server::Product;

/// The background actions of an engine: plain data that settings are checked against.
#[derive(Clone, Copy)]
pub struct Background {
    /// The backup tools, the default one first.
    pub tools: &'static [BackupTool],
    /// Actions as statements, by name: `analyze`, `vacuum`, `index-build`.
    pub actions: &'static [StatementAction],
    /// True if a table can be made and filled while a load works ([`engine::Tables::create`]).
    pub loads_beside: bool,
    /// The work on a private server by client programs; `None`: the engine does it.
    pub server: Option<&'static Product>,
}

/// An action that consists of statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatementAction {
    /// The name in experiment files.
    pub name: &'static str,
    /// The statements for each table, with `{table}`, `{column}` (the first one outside of the key)
    /// and `{workers}`.
    pub statements: &'static [&'static str],
    /// Statements that undo it after the load.
    pub undo: &'static [&'static str],
    /// True if it uses several workers.
    pub has_workers: bool,
}

/// A program or interface that makes backups.
#[derive(Clone, Copy)]
pub struct BackupTool {
    /// The name in experiment files.
    pub name: &'static str,
    /// Methods by which it compresses, in addition to `none`.
    pub compressions: &'static [&'static str],
    /// True if it works with several workers.
    pub has_workers: bool,
    /// True if it can be limited to bytes a second.
    pub has_rate_limit: bool,
    /// True if the server writes the files, in a folder of its own and with buffers that settings
    /// give.
    pub is_of_server: bool,
}

impl StatementAction {
    /// An action of one worker that leaves nothing behind.
    pub const fn new(name: &'static str, statements: &'static [&'static str]) -> Self {
        Self { name, statements, undo: &[], has_workers: false }
    }

    /// It is undone by these statements.
    pub const fn undone_by(self, undo: &'static [&'static str]) -> Self {
        Self { undo, ..self }
    }

    /// It uses several workers.
    pub const fn with_workers(self) -> Self {
        Self { has_workers: true, ..self }
    }
}

impl BackupTool {
    /// A tool of one worker without a limit, which writes the files itself.
    pub const fn new(name: &'static str, compressions: &'static [&'static str]) -> Self {
        let (has_workers, has_rate_limit, is_of_server) = (false, false, false);
        Self { name, compressions, has_workers, has_rate_limit, is_of_server }
    }

    /// It works with several workers.
    pub const fn with_workers(self) -> Self {
        Self { has_workers: true, ..self }
    }

    /// It can be limited to bytes a second.
    pub const fn with_rate_limit(self) -> Self {
        Self { has_rate_limit: true, ..self }
    }

    /// The server writes the files.
    pub const fn of_server(self) -> Self {
        Self { is_of_server: true, ..self }
    }
}

impl Background {
    /// The tool with this name, or the default one.
    pub fn tool(&self, name: Option<&str>) -> Option<&'static BackupTool> {
        match name {
            Some(name) => self.tools.iter().find(|tool| tool.name == name),
            None => self.tools.first(),
        }
    }

    /// The action with this name.
    pub fn action(&self, name: &str) -> Option<&'static StatementAction> {
        self.actions.iter().find(|action| action.name == name)
    }
}
