use super::message;
use super::task::{Output, Prepared, Statements, Task};
use crate::postgres::failure;
use crate::{Done, EngineError, Request, Results};
use pgclient::ServerError;
use std::io;
use std::sync::Arc;
use transport::Wire;

/// One connection's side of the protocol, with the request in flight.
pub struct PostgresWire {
    statements: Arc<Statements>,
    task: Task,
    prepared: Prepared,
    results: Vec<Results>,
    /// The first error of the request, or what the server said before it closed the connection.
    error: Option<ServerError>,
}

impl PostgresWire {
    /// A connection that is logged in and has prepared nothing.
    pub fn new(statements: Arc<Statements>) -> Self {
        let prepared = Prepared::none_of(statements.len());
        Self { statements, task: Task::default(), prepared, results: Vec::new(), error: None }
    }

    /// The server is ready for the next exchange of the request; the answer when it was the last.
    fn exchange_over(&mut self, output: &mut Vec<u8>) -> Option<Result<Done, EngineError>> {
        self.prepared.exchange_over();
        if let Some(error) = self.error.take() {
            return Some(Err(failure::of_server("running a transaction", &error)));
        }
        let mut out = Output { bytes: output, statements: &self.statements, prepared: &mut self.prepared };
        if self.task.go_on(&mut out) {
            return None;
        }
        Some(Ok(Done { retries: 0, results: std::mem::take(&mut self.results) }))
    }
}

impl Wire for PostgresWire {
    type Request<'a> = &'a Request<'a>;
    type Answer = Result<Done, EngineError>;

    fn begin(&mut self, request: &Request<'_>, output: &mut Vec<u8>) {
        self.results.clear();
        let mut out = Output { bytes: output, statements: &self.statements, prepared: &mut self.prepared };
        self.task.begin(request, &mut out);
    }

    fn take(&mut self, input: &mut &[u8], output: &mut Vec<u8>) -> Option<Self::Answer> {
        while let Some((kind, body)) = message::first(input) {
            *input = &input[body.len() + 5..];
            match kind {
                b'1' => self.prepared.complete(),
                b'E' if self.error.is_none() => {
                    self.error = Some(ServerError::parse(body));
                }
                b'T' if self.task.results => {
                    let columns = message::column_names(body);
                    self.results.push(Results { columns, ..Results::default() });
                }
                b'D' if self.task.results => {
                    if let Some(results) = self.results.last_mut() {
                        results.rows += 1;
                        results.last = message::cells(body);
                    }
                }
                b'Z' => {
                    if let answer @ Some(_) = self.exchange_over(output) {
                        return answer;
                    }
                }
                // CommandComplete, BindComplete, notices and the like need no action.
                _ => {}
            }
        }
        None
    }

    fn lost(&mut self, error: &io::Error) -> Self::Answer {
        Err(match self.error.take() {
            Some(said) => failure::of_server("running a transaction", &said),
            None => EngineError::Engine {
                doing: "running a transaction".into(),
                message: format!("the connection to the server is lost: {error}"),
            },
        })
    }
}
