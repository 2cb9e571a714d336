//! Commands that get less than they need: files of a limited size, no thread, a crowd of clients.

use crate::common::{Exit, Lab, NOBODY, is_root, scripted, skipped, wait_until};
use crate::serving::Server;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Limits a resource of the command.
pub fn limit(
    command: &mut Command,
    resource: libc::__rlimit_resource_t,
    most: u64,
) -> &mut Command {
    let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
    // SAFETY: between fork and exec a system call alone is made.
    unsafe {
        command.pre_exec(move || match libc::setrlimit(resource, &raw const limit) {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        })
    }
}

#[test]
fn a_limit_of_file_sizes_is_reported() {
    let file = "[experiment]\nname = \"t\"\n[target]\nengine = \"sqlite\"\n[workload]\nprobe = \
                \"insert\"\nconnections = 1\nrows = 20000\nrows_per_transaction = \
                100\n[repeats]\nblocks = 1\n";
    let lab = Lab::with(file);
    let mut command = lab.command(&["run", "e.toml"]);
    let ended = Exit::from(limit(&mut command, libc::RLIMIT_FSIZE, 200 << 10).output().unwrap());
    let ended = ended.expect(1);
    assert!(ended.stderr.contains("ulimit -f"), "{ended:#?}");
    lab.run_with(&["--retry-failed"], 0);

    let scripted = Lab::with(&scripted(3, "", ""));
    scripted.run(0);
    let mut command = scripted.command(&["report", "t", "--output", "t.html"]);
    Exit::from(limit(&mut command, libc::RLIMIT_FSIZE, 8 << 10).output().unwrap())
        .expect(1)
        .says("t.html")
        .says("File too large");
    assert!(!scripted.path("t.html").exists());
}

#[test]
fn a_user_without_threads_is_told_so() {
    if !is_root() {
        skipped("becoming a user whose threads are counted needs root");
        return;
    }
    let lab = Lab::with(&scripted(1, "", ""));
    lab.run(0);
    for path in ["", "results", "results/t.steelbench"] {
        chown(lab.path(path), Some(NOBODY), Some(NOBODY)).unwrap();
    }
    for arguments in [&["export", "t", "--format", "xlsx"][..], &["serve", "--port", "0"]] {
        let mut command = lab.unprivileged(arguments);
        Exit::from(limit(&mut command, libc::RLIMIT_NPROC, 1).output().unwrap())
            .expect(1)
            .says("ulimit -u");
    }
    assert!(!lab.path("t.xlsx").exists());
}

/// SQLite reports a file that it cannot open for any reason in the same way.
#[test]
fn a_limit_of_open_files_is_reported() {
    let lab = Lab::with(&scripted(2, "", ""));
    lab.run(0);
    let mut refused = 0;
    for files in 4..=24 {
        let mut command = lab.command(&["run", "e.toml", "--retry-failed"]);
        let ended = Exit::from(limit(&mut command, libc::RLIMIT_NOFILE, files).output().unwrap());
        if ended.code != Some(0) {
            refused += 1;
            assert!(ended.stderr.to_lowercase().contains("too many open files"), "{ended:#?}");
        }
    }
    assert!(refused > 0);
}

#[test]
fn profiles_replace_only_our_own_files() {
    let lab = Lab::new();
    for name in ["notes.folded", "notes.svg", "notes.json"] {
        lab.write(name, "<svg>mine</svg>");
        let ended = lab.steelbench(&["profile", "--output", name, "--", "touch", "started"]);
        ended.expect(1).says("was not written by Steelbench");
        assert_eq!(lab.read(name), "<svg>mine</svg>", "{name}");
    }
    assert!(!lab.path("started").exists());
}

/// Connections of the crowd, and requests that each sends without reading an answer.
const CROWD: usize = 400;
const PIPELINED: usize = 50;
/// Pages for the crowd that may precede ours.
const OTHERS_MAX: usize = 60;

/// Answers with a page that have arrived so far.
fn answered(crowd: &mut [(TcpStream, Vec<u8>)]) -> usize {
    let head = b"HTTP/1.1 200";
    let mut count = 0;
    let mut some = vec![0; 64 << 10];
    for (stream, buffer) in crowd {
        // An error says that nothing is there, or that the connection was closed.
        while let Ok(length @ 1..) = stream.read(&mut some) {
            buffer.extend(&some[..length]);
        }
        count += buffer.windows(head.len()).filter(|part| part == head).count();
    }
    count
}

#[test]
fn a_crowd_that_reads_no_answers_does_not_keep_others_waiting() {
    let lab = Lab::with(&scripted(2, "", ""));
    lab.run(0);
    let server = Server::start(&lab, &[]);
    let page = "/run?file=t";
    let request = format!("GET {page} HTTP/1.1\r\nHost: {}\r\n\r\n", server.address);
    let mut crowd = Vec::new();
    for _ in 0..CROWD {
        let mut stream = TcpStream::connect(&server.address).unwrap();
        stream.set_nonblocking(true).unwrap();
        // A connection may be closed for newer ones.
        let _ = stream.write_all(request.repeat(PIPELINED).as_bytes());
        crowd.push((stream, Vec::new()));
    }
    wait_until("the crowd gets answers", || answered(&mut crowd) > 0);
    let before = answered(&mut crowd);
    wait_until("we get a page", || server.get(page).status == 200);
    let others = answered(&mut crowd) - before;
    assert!(others <= OTHERS_MAX, "{others} pages for the crowd came before ours");
}
