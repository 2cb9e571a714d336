//! A server of pages and those who visit it.

use crate::common::{Lab, PATIENCE, skipped, wait_until};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A server that ends with the test.
pub struct Server {
    pub child: Option<Child>,
    /// `127.0.0.1:4711`
    pub address: String,
}

/// An answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    /// In lower case.
    pub head: String,
    pub body: String,
}

impl Server {
    pub fn start(lab: &Lab, arguments: &[&str]) -> Self {
        Self::start_in(lab, &lab.path(""), arguments)
    }

    /// Starts a server in another folder.
    pub fn start_in(lab: &Lab, folder: &Path, arguments: &[&str]) -> Self {
        let arguments = [&["serve", "--port", "0"], arguments].concat();
        let mut command = lab.command(&arguments);
        command.current_dir(folder);
        Self::spawn(command)
    }

    /// The one that a command starts.
    pub fn spawn(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line
            .strip_prefix("http://")
            .and_then(|rest| rest.split('/').next())
            .unwrap_or_default();
        assert!(!address.is_empty(), "{line}");
        Self { address: address.to_owned(), child: Some(child) }
    }

    /// Sends a request as it is written.
    pub fn send(&self, request: &str) -> Answer {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, head: head.to_lowercase(), body: body.to_owned() }
    }

    pub fn ask(&self, method: &str, path: &str, host: &str) -> Answer {
        self.send(&format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"))
    }

    pub fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &self.address)
    }

    /// A page that has to be there.
    #[track_caller]
    pub fn page(&self, path: &str) -> String {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}: {answer:#?}");
        answer.body
    }

    pub fn version(&self) -> String {
        self.page("/version?file=t")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            drop(child.kill());
            drop(child.wait());
        }
    }
}

/// A run of two configurations that waits before each trial until it is let go on. Its hook ends
/// with it, and does not take what is meant for the next run.
pub const GATED: &str = "[hooks]\nbefore_trial = \"while kill -0 $PPID; do mv token used \
                         2>/dev/null && exit; sleep 0.02; done\"\n";

/// Lets `n` trials of a gated run go, one after the other.
pub fn let_go(lab: &Lab, n: usize) {
    for _ in 0..n {
        let before = lab.trials("t");
        lab.write("token", "");
        wait_until("a trial is recorded", || lab.trials("t") > before);
    }
}

/// A browser that a program drives.
pub struct Browser {
    child: Child,
    steps: Option<ChildStdin>,
    results: BufReader<ChildStdout>,
}

impl Browser {
    /// `None`, which is said, where there is none.
    pub fn start() -> Option<Self> {
        let works = |program: &str, arguments: &[&str]| {
            Command::new(program)
                .args(arguments)
                .output()
                .is_ok_and(|output| output.status.success())
        };
        if !(works("python3", &["-c", "import selenium"])
            && works("chromium", &["--version"])
            && works("chromedriver", &["--version"]))
        {
            skipped("needs chromium, chromedriver, and python3 with selenium");
            return None;
        }
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/serve_browser.py");
        let mut child = Command::new("python3")
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (steps, results) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Some(Self { child, steps, results })
    }

    #[track_caller]
    pub fn step(&mut self, step: &Value) -> Value {
        writeln!(self.steps.as_mut().unwrap(), "{step}").unwrap();
        let mut line = String::new();
        self.results.read_line(&mut line).unwrap();
        serde_json::from_str(&line)
            .unwrap_or_else(|_| panic!("the browser's driver failed at {step}"))
    }

    #[track_caller]
    pub fn open(&mut self, server: &Server, path: &str) {
        self.step(&json!({ "open": format!("http://{}{path}", server.address) }));
    }

    #[track_caller]
    pub fn js(&mut self, script: &str) -> Value {
        self.step(&json!({ "js": script }))
    }

    /// Waits until a script's result is true.
    #[track_caller]
    pub fn until(&mut self, script: &str) {
        let step = self.step(&json!({ "until": script, "seconds": 60 }));
        assert!(
            !step.is_null(),
            "never happened: {script}; {}",
            self.js("return document.body.innerText")
        );
    }

    #[track_caller]
    pub fn keys(&mut self, focus: &str, keys: &[&str]) {
        self.step(&json!({ "focus": focus, "keys": keys }));
    }

    /// Saves a screenshot in the folder that `STEELBENCH_PICTURES` names, if set.
    pub fn picture(&mut self, name: &str) {
        if let Some(folder) = std::env::var_os("STEELBENCH_PICTURES") {
            self.step(&json!({ "picture": Path::new(&folder).join(name) }));
        }
    }

    #[track_caller]
    pub fn complains_of_nothing(&mut self) {
        assert_eq!(self.step(&json!({ "console": true })), json!([]));
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The driver ends the browser when there are no more steps.
        drop(self.steps.take());
        drop(self.child.wait());
    }
}
