//! PostgreSQL servers and pgbench, to compare with.

use crate::postgres_client::{OWNER, Server as PostgresServer, bindirs};
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A running server of each installed version, one after the other.
pub fn servers() -> impl Iterator<Item = Server> {
    let mut found = bindirs();
    found.retain(|bin| ["pgbench", "psql"].iter().all(|name| bin.join(name).exists()));
    if found.is_empty() {
        println!("SKIPPED: no PostgreSQL server with pgbench is installed");
    }
    let settings = [("log_statement", "all"), ("log_line_prefix", "")];
    found.into_iter().map(move |bin| Server(PostgresServer::start(&bin, "", &settings)))
}

/// A server with the programs of its version.
pub struct Server(PostgresServer);

impl Server {
    /// How to reach a database.
    pub fn url(&self, database: &str) -> String {
        let (folder, port) = (self.0.folder().display(), self.0.port);
        format!("host={folder} port={port} user={OWNER} dbname={database}")
    }

    /// Where a program of this version is.
    pub fn program(&self, name: &str) -> PathBuf {
        self.0.bin.join(name)
    }

    /// Runs a program of this version as the server's owner.
    pub fn run(&self, program: &str, arguments: &[&str], input: &str) -> Output {
        let mut command = Command::new(self.program(program));
        command.args(arguments).env("PGHOST", self.0.folder()).env("PGUSER", OWNER);
        command.env("PGPORT", self.0.port.to_string());
        command.env("PGDATABASE", "postgres").env("PGOPTIONS", "");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_owned();
        // Its output must be read at the same time, or its pipe fills up.
        let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
        let output = child.wait_with_output().unwrap();
        // Not every program reads its input.
        let _ = writer.join().unwrap();
        output
    }

    /// Runs psql and gives what it prints.
    pub fn psql(&self, database: &str, input: &str) -> String {
        let output = self.run("psql", &["-XAtq", "-v", "ON_ERROR_STOP=1", "-d", database], input);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs pgbench with a script, and gives what it says on its standard error: `Err` if it fails.
    pub fn pgbench(&self, script: &str, arguments: &[&str]) -> Result<String, String> {
        let arguments = [&["-n", "-f", "/dev/stdin"], arguments].concat();
        let output = self.run("pgbench", &arguments, script);
        let text = String::from_utf8(output.stderr).unwrap();
        if output.status.success() { Ok(text) } else { Err(text) }
    }

    /// Returns the output of `debug()` while pgbench runs a script.
    pub fn debug(&self, script: &str, arguments: &[&str]) -> Vec<String> {
        let pgbench = self.pgbench(script, arguments).unwrap_or_else(|error| panic!("{error}"));
        let values = pgbench.lines().filter(|line| line.starts_with("debug("));
        values.map(|line| line.split_once("): ").unwrap().1.to_owned()).collect()
    }

    /// Returns the server's log.
    pub fn log(&self) -> String {
        fs::read_to_string(self.0.folder().join("log")).unwrap()
    }
}
