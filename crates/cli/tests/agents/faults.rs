//! A link that is cut, TLS with a wrong certificate, hostile peers, and clocks that drift.

use super::{Agent, TOKEN, UserBroker, has_broker, has_thread, program, scripted_load, slow_load};
use crate::common::{Exit, Lab, end, signal, skipped, wait_until};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;
use transport::relay::{Relay, Toxics};

/// Runs an experiment whose agents reach the broker over a relay, which is cut for this time once
/// they have worked for some milliseconds.
pub fn cut_link(lab: &Lab, broker: &UserBroker, length: Duration, after_ms: u64) {
    let address = |port: u16| SocketAddr::from(([127, 0, 0, 1], port)).into();
    let relay =
        Relay::start(&address(0), address(broker.port().unwrap()), Toxics::default()).unwrap();
    let port = relay.address().as_socket().unwrap().port();
    let url = format!("nats://127.0.0.1:{port}");
    let agents = ["one", "two"]
        .map(|name| Agent::start(broker.command(&program(), &url).args(["--name", name])));
    let (direct, token) = (broker.url(), broker.folder.path().join("token"));
    let run = ["run", "e.toml", "--agents", "2", "--broker", &direct, "--agents-within", "120"];
    let run = [&run[..], &["--token-file", token.to_str().unwrap()]].concat();
    let child = lab.start_with(&run);
    wait_until("an agent generates load", || {
        agents.iter().any(|agent| has_thread(agent.pid().cast_signed(), "load-1"))
    });
    std::thread::sleep(Duration::from_millis(after_ms));
    relay.cut();
    std::thread::sleep(length);
    relay.restore();
    end(child).expect(0);
    for agent in agents {
        agent.end().expect(0);
    }
}

/// Keys and certificates, made by openssl.
struct Certificates(TempDir);

impl Certificates {
    fn make() -> Option<Self> {
        let all = Self(tempfile::tempdir().unwrap());
        for name in ["root", "stranger"] {
            let done = Command::new("openssl")
                .args(["req", "-x509", "-newkey", "ec", "-pkeyopt"])
                .args(["ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj"])
                .args([&format!("/CN={name}"), "-keyout", &format!("{name}.key"), "-out"])
                .arg(format!("{name}.crt"))
                .current_dir(all.0.path())
                .output();
            if !done.is_ok_and(|done| done.status.success()) {
                skipped("openssl is not installed");
                return None;
            }
        }
        let request = "req|-newkey|rsa:2048|-nodes|-subj|/CN=broker|-keyout|server.key|-out|s.csr";
        let sign = "x509|-req|-in|s.csr|-CA|root.crt|-CAkey|root.key|-CAcreateserial|-days|2|\
                    -extfile|extension|-out|server.crt";
        std::fs::write(all.path("extension"), "subjectAltName=DNS:localhost").unwrap();
        for arguments in [request, sign] {
            let mut openssl = Command::new("openssl");
            let done = openssl.args(arguments.split('|')).current_dir(all.0.path());
            assert!(done.output().unwrap().status.success(), "{arguments}");
        }
        Some(all)
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }
}

#[test]
fn the_broker_shows_a_certificate_that_leads_to_a_trusted_root_and_names_the_host() {
    if !has_broker() {
        return;
    }
    let Some(certificates) = Certificates::make() else { return };
    let broker = UserBroker::start_with(&format!(
        "tls {{ cert_file: \"{}\", key_file: \"{}\" }}\n",
        certificates.path("server.crt"),
        certificates.path("server.key")
    ));
    let port = broker.port().unwrap();
    let lab = Lab::with(&scripted_load("generators = 1", ""));
    let token = broker.folder.path().join("token").display().to_string();
    let run = |url: &str, root: &str, code: i32| {
        let run = ["run", "e.toml", "--agents", "1", "--broker", url, "--token-file", &token];
        let mut command = lab.command(&run);
        command.env("SSL_CERT_FILE", certificates.path(root)).env_remove("SSL_CERT_DIR");
        Exit::from(command.output().unwrap()).expect(code)
    };
    let localhost = format!("tls://localhost:{port}");
    run(&localhost, "stranger.crt", 1)
        .says(&format!("no broker answers at {localhost}"))
        .says("certificate");
    run(&format!("tls://127.0.0.1:{port}"), "root.crt", 1).says("certificate");
    // A broker with TLS is not spoken to without it, whatever the URL says.
    run(&format!("nats://localhost:{port}"), "stranger.crt", 1).says("certificate");
    let mut agent = broker.command(&program(), &localhost);
    let agent = Agent::start(agent.env("SSL_CERT_FILE", certificates.path("root.crt")));
    run(&localhost, "root.crt", 0);
    assert_eq!(lab.trials("t"), 1);
    agent.end().expect(0);
}

/// A peer with the token that listens to a subject, and sends rubbish.
struct Hostile(TcpStream);

impl Hostile {
    /// The run for which it claims agents.
    const RUN: &str = "hostile";

    fn connect(broker: &UserBroker, subject: &str) -> Self {
        let mut stream = TcpStream::connect(("127.0.0.1", broker.port().unwrap())).unwrap();
        let login = format!("CONNECT {{\"auth_token\":\"{TOKEN}\",\"verbose\":false}}\r\n");
        stream.write_all(format!("{login}SUB {subject} 1\r\nPING\r\n").as_bytes()).unwrap();
        Self(stream)
    }

    /// Waits for an agent that works for a run; returns the names of both.
    fn agent_and_run(&self) -> (String, String) {
        let mut reader = BufReader::new(self.0.try_clone().unwrap());
        loop {
            let mut line = String::new();
            assert!(reader.read_line(&mut line).unwrap() > 0, "the broker closed the connection");
            let Some(words) = line.strip_prefix("MSG steelbench.") else { continue };
            let mut payload =
                vec![0; words.split(' ').next_back().unwrap().trim().parse().unwrap()];
            reader.read_exact(&mut payload).unwrap();
            let subject: Vec<&str> = words.split(' ').next().unwrap().split('.').collect();
            if let ["run", run, agent] = subject[..] {
                return (agent.to_owned(), run.to_owned());
            }
        }
    }

    fn send(&mut self, subject: &str, payload: &[u8]) {
        let head = format!("PUB {subject} {}\r\n", payload.len());
        self.0.write_all(&[head.as_bytes(), payload, b"\r\n"].concat()).unwrap();
    }

    /// Claims an agent until it answers: it has read all that waited then. And lets it go.
    fn claim(&mut self, agent: &str) {
        let subject = format!("steelbench.agent.{agent}.{}", Self::RUN);
        self.0.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        let mut reader = BufReader::new(self.0.try_clone().unwrap());
        wait_until("the agent accepts a claim", || {
            self.send(&subject, b"\"Claim\"");
            let mut line = String::new();
            reader.read_line(&mut line).is_ok() && line.starts_with("MSG steelbench.run.")
        });
        self.send(&subject, b"\"Dismiss\"");
    }
}

/// The largest memory that a process has had, in MiB; `None` once it has ended.
fn peak_mib(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().unwrap() >> 10)
}

fn packed(text: &[u8]) -> Vec<u8> {
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(text).unwrap();
    packed.finish().unwrap()
}

/// Times that each message is sent: unpacked, gigabytes.
const FLOOD: usize = 40;

#[test]
fn a_hostile_peer_cannot_fill_the_memory_of_agents_or_runs() {
    if !has_broker() {
        return;
    }
    let broker = UserBroker::start();
    let listening = Hostile::connect(&broker, "steelbench.>");
    let agent = broker.agent(&program(), &["--name", "one"]);
    let file = slow_load(400, 1).replace("generators = 2", "generators = 1");
    let lab = Lab::with(&file);
    let (url, token) = (broker.url(), broker.folder.path().join("token"));
    let options = ["--agents", "1", "--broker", &url, "--token-file", token.to_str().unwrap()];
    let child = lab.start_with(&[&["run", "e.toml"], &options[..]].concat());
    let (agent_id, run) = listening.agent_and_run();
    drop(listening);
    let bomb = packed(&vec![b' '; 64 << 20]);
    let result = |reply: &str| [reply.as_bytes(), &bomb].concat();
    let to_agent = format!("steelbench.agent.{agent_id}.{run}");
    let to_run = format!("steelbench.run.{run}.{agent_id}");
    let subjects = [to_agent, to_run, "steelbench.hello".to_owned()];
    let messages = [
        vec![b'x'; 1 << 20],
        bomb.clone(),
        result("{\"Done\":{\"trial\":1,\"bytes\":16777216}}\n"),
        result("{\"Report\":{\"trial\":1,\"number\":1,\"bytes\":16777216}}\n"),
        "[".repeat(256 << 10).into_bytes(),
        format!("{{\"Refuse\":\"{}\"}}", "a".repeat(256 << 10)).into_bytes(),
        Vec::new(),
    ];
    let mut hostile =
        Hostile::connect(&broker, &format!("steelbench.run.{}.{agent_id}", Hostile::RUN));
    // The run may give up before the agent has read all.
    let mut peak_of_run = peak_mib(child.id());
    for _ in 0..FLOOD {
        for subject in &subjects {
            for message in &messages {
                hostile.send(subject, message);
            }
        }
        peak_of_run = peak_mib(child.id()).or(peak_of_run);
    }
    hostile.claim(&agent_id);
    peak_of_run = peak_mib(child.id()).or(peak_of_run);
    let peaks = [("agent", peak_mib(agent.pid()).unwrap()), ("run", peak_of_run.unwrap())];
    assert!(peaks.iter().all(|(_, mib)| *mib < 256), "in MiB: {peaks:?}");
    // Once the peer is gone, the run can be resumed.
    signal(&child, libc::SIGINT);
    let ended = end(child);
    assert!(!ended.stderr.contains("panicked"), "{ended:#?}");
    lab.run_with(&[&options[..], &["--retry-failed"]].concat(), 0);
    agent.end().expect(0).says(&format!("left run {run}: its messages were larger"));
}

/// A library that makes the monotonic clock of a process run 4 % faster.
fn drifting_clock(folder: &Path) -> Option<String> {
    let (source, path) = (folder.join("drift.c"), folder.join("drift.so"));
    let text = "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <time.h>\nint \
                clock_gettime(clockid_t clock, struct timespec *now) {\n  static int \
                (*real)(clockid_t, struct timespec *);\n  static long long first;\n  if (!real) \
                real = dlsym(RTLD_NEXT, \"clock_gettime\");\n  int failed = real(clock, now);\n  \
                if (failed || clock != CLOCK_MONOTONIC) return failed;\n  long long ns = \
                now->tv_sec * 1000000000LL + now->tv_nsec;\n  if (!first) first = ns;\n  ns += \
                (ns - first) / 25;\n  now->tv_sec = ns / 1000000000LL;\n  now->tv_nsec = ns % \
                1000000000LL;\n  return 0;\n}\n";
    std::fs::write(&source, text).unwrap();
    let mut build = Command::new("cc");
    build.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&path).arg(&source).arg("-ldl");
    if build.output().is_ok_and(|output| output.status.success()) {
        return Some(path.display().to_string());
    }
    skipped("building a library with cc");
    None
}

#[test]
fn a_clock_that_drifts_is_named() {
    if !has_broker() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let Some(library) = drifting_clock(folder.path()) else { return };
    let broker = UserBroker::start();
    let mut drifting = broker.command(&program(), &broker.url());
    let drifting = Agent::start(drifting.args(["--name", "drifts"]).env("LD_PRELOAD", library));
    let steady = broker.agent(&program(), &["--name", "steady"]);
    let lab = Lab::with(&slow_load(100, 1));
    let (url, token) = (broker.url(), broker.folder.path().join("token"));
    lab.run_with(&["--agents", "2", "--broker", &url, "--token-file", token.to_str().unwrap()], 0);
    let warnings = "SELECT DISTINCT detail LIKE 'the clock of load generator drifts drifted by %' \
                    FROM warnings WHERE kind = 'generators' AND detail LIKE '%clock%'";
    assert_eq!(lab.rows("t", warnings), ["1"]);
    // A second of work at 4 %.
    let drift = "SELECT min(value) > 20 AND max(value) < 400 FROM facts WHERE name = \
                 'generator_clock_drift'";
    assert_eq!(lab.rows("t", drift), ["1"]);
    for agent in [drifting, steady] {
        agent.end().expect(0);
    }
}
