//! `serve` as a hostile client and a program see it: pages, how far a run is, refusals, names,
//! ends.

use crate::common::{Lab, end, scripted, signal, wait_until};
use crate::serving::{GATED, Server, let_go};
use std::collections::HashMap;
use std::ffi::CString;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::fd::FromRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;

fn recorded() -> Lab {
    let lab = Lab::with(&scripted(3, "waits = [\"A log 0.4 0.1\"]\nspread = 0.1", ""));
    lab.run(0);
    lab
}

#[test]
fn pages_show_what_show_and_compare_print() {
    let lab = recorded();
    lab.run_with(&["--fresh"], 0);
    let server = Server::start(&lab, &[]);
    let list = server.page("/");
    assert!(
        list.contains("/run?file=t&amp;run=1") && list.contains("/run?file=t&amp;run=2"),
        "{list}"
    );
    assert!(list.contains("complete: 6 trials"), "{list}");
    let summary = &lab.json(&["show"])[0];
    let findings = summary["findings"].as_array().unwrap();
    let verdict = findings.iter().find(|finding| finding["kind"] != "caveat").unwrap()["text"]
        .as_str()
        .unwrap();
    let question = summary["overview"]["run"]["question"].as_str().map(str::to_owned);
    assert!(question.is_none_or(|question| list.contains(&question)), "{list}");
    let run = server.page("/run?file=t&run=2");
    for page in [&list, &run] {
        assert!(page.contains(verdict), "{verdict}: {page}");
    }
    assert!(server.page("/run?file=t").contains("Run 2, "), "the latest");

    let only = server.page("/run?file=t&run=2&only=&only=target.data_files%3D2");
    let rows = |page: &str| {
        let table = page.split("id=\"trials\"").nth(1).unwrap().split("</tbody>").next().unwrap();
        table.matches("<tr").count() - 1
    };
    assert_eq!((rows(&run), rows(&only)), (6, 3));
    assert!(only.contains("<option value=\"target.data_files=2\" selected>"), "{only}");

    let compared = server.page("/compare?file=t&run=2&a=data_files%3D1&b=data_files%3D2");
    let printed =
        lab.steelbench(&["compare", "data_files=1", "data_files=2", "--md"]).expect(0).stdout;
    let sentence = printed.lines().find(|line| line.starts_with("elapsed: B is ")).unwrap();
    assert!(compared.contains(&sentence.replace('\\', "")), "{sentence}: {compared}");
    assert!(compared.contains("\"kind\":\"waterfall\""), "why they differ is drawn: {compared}");

    let runs = server.page("/runs?from=t%401&to=t%402&all=1");
    assert!(runs.contains("/run?file=t&amp;run=1") && runs.contains("A: t, run 1"), "{runs}");
}

/// The sentence that a comparison begins with, as it is printed.
fn sentence(lab: &Lab, arguments: &[&str]) -> String {
    let printed = lab.steelbench(&[&["compare"], arguments, &["--md"]].concat()).expect(0).stdout;
    printed
        .lines()
        .find(|line| line.starts_with("elapsed: B is "))
        .unwrap_or_else(|| panic!("{printed}"))
        .replace('\\', "")
}

#[test]
fn labels_are_shown_and_groups_of_runs_and_levels_compared_as_on_the_command_line() {
    let more = "\"workload.connections\" = [1, 2]\n";
    let file = scripted(3, "", "").replace("[repeats]", &format!("{more}[repeats]"));
    let lab = Lab::with(&file);
    for label in ["before", "before the second time", "after <b>", "after again"] {
        lab.run_with(&["--fresh", "--label", label], 0);
    }
    let server = Server::start(&lab, &[]);
    let list = server.page("/");
    assert!(list.contains("before the second time") && list.contains("after &lt;b&gt;"), "{list}");
    let groups = server.page("/runs?from=t%401&from=t%402&to=t%403&to=t%404");
    let verdict = sentence(&lab, &["--baseline", "t@1", "t@2", "--candidate", "t@3", "t@4"]);
    assert!(groups.contains(&verdict), "{verdict}: {groups}");
    assert!(
        groups.contains("B: t@4") && groups.contains("from=t%403&amp;from=t%404&amp;to=t%401"),
        "{groups}"
    );
    for wrong in ["/runs?from=t%401&from=t%401&to=t%402", "/runs?from=t%401&from=t%402&to=t%403"] {
        assert_eq!(server.get(wrong).status, 400, "{wrong}");
    }
    let many: Vec<String> = (1..=21).map(|run| format!("from=t%40{run}")).collect();
    assert_eq!(server.get(&format!("/runs?{}&to=t%4050", many.join("&"))).status, 400);
    let levels = server.page("/compare?file=t&run=4&a=data_files%3D1&b=data_files%3D2");
    let sentence = sentence(&lab, &["data_files=1", "data_files=2"]);
    assert!(levels.contains(&sentence), "{sentence}: {levels}");
}

#[test]
fn serves_what_it_was_given_and_notices_what_comes() {
    let lab = Lab::with(&scripted(2, "", ""));
    let server = Server::start(&lab, &[]);
    assert!(server.page("/").contains("No run in the results files in results yet"));
    let nothing = server.page("/version");
    lab.run(0);
    assert_ne!(server.page("/version"), nothing);
    assert!(server.page("/").contains("complete: 4 trials"));
    std::fs::write(lab.path("results/broken.steelbench"), "SQLite format 3\0").unwrap();
    let list = server.page("/");
    assert!(list.contains("broken: results file") && list.contains("complete: 4 trials"), "{list}");
    assert_eq!(server.get("/run?file=broken").status, 500);

    let server = Server::start(&lab, &["results/t.steelbench"]);
    assert!(!server.page("/").contains("broken"));
    assert_eq!(server.get("/run?file=broken").status, 404);
    let named = Server::start(&lab, &["t"]);
    assert!(named.page("/run?file=t").contains("Run 1, "));
    lab.steelbench(&["serve", "--port", "0", "nowhere"]).expect(2).says("nowhere");
}

#[test]
fn refuses_in_plain_words_what_is_not_there_or_makes_no_sense() {
    let lab = recorded();
    std::fs::copy(lab.path("results/t.steelbench"), lab.path("secret.steelbench")).unwrap();
    let server = Server::start(&lab, &[]);
    let paths = [
        ("/nothing", 404),
        ("/assets/nothing.js", 404),
        ("/assets/..%2f..%2fe.toml", 404),
        ("/..%2f..%2fetc%2fpasswd", 404),
        ("/../../../../etc/passwd", 404),
        ("/run?file=..%2fsecret", 404),
        ("/run?file=../secret", 404),
        ("/run?file=../secret.steelbench", 404),
        ("/run?file=results/t", 404),
        ("/run?file=%2fetc%2fpasswd", 404),
        ("/run?file=t%00", 404),
        ("/version?file=../secret", 404),
        ("/run?file=t&run=7", 404),
        ("/run?file=t&run=-1", 404),
        ("/run?file=t&run=99999999999999999999", 400),
        ("/run?file=t&run=one", 400),
        ("/run", 400),
        ("/run?file=t&only=data_files%3D9", 400),
        ("/run?file=t&only=%ff%fe", 400),
        ("/compare?file=t", 400),
        ("/compare?file=t&a=data_files%3D1&b=nothing", 400),
        ("/runs?from=t%401", 400),
        ("/runs?from=t%401&to=t", 400),
        ("/runs?from=t%401&to=t%401", 400),
        ("/runs?from=t%401&to=..%2fsecret%401", 404),
        ("/run?file=%3Cscript%3Ealert(1)%3C/script%3E", 404),
        ("/run?file=t&run=%3Cscript%3Ealert(1)%3C/script%3E", 400),
        ("/compare?file=t&a=%22%3E%3Cscript%3Ealert(1)&b=1", 400),
    ];
    for (path, status) in paths {
        let answer = server.get(path);
        assert_eq!(answer.status, status, "{path}: {answer:#?}");
        assert!(answer.body.contains("<a href=\"/\">All runs</a>"), "{path}: {answer:#?}");
        assert!(
            !answer.body.contains("<script>") && !answer.body.contains("root:"),
            "{path}: {answer:#?}"
        );
    }
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"] {
        for path in ["/", "/run?file=t", "/version", "/assets/report.js"] {
            let answer = server.ask(method, path, &server.address);
            assert_eq!(answer.status, 405, "{method} {path}: {answer:#?}");
        }
    }
    let head = server.ask("HEAD", "/run?file=t", &server.address);
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    assert!(server.page("/").contains("complete: 6 trials"), "it is still there");
}

#[test]
fn answers_to_its_own_names_alone_and_lets_nothing_in() {
    let lab = recorded();
    let server = Server::start(&lab, &[]);
    let port = server.address.rsplit_once(':').unwrap().1;
    for host in [&server.address, "localhost", &format!("localhost:{port}"), "[::1]:9"] {
        assert_eq!(server.ask("GET", "/", host).status, 200, "{host}");
    }
    for host in [
        "evil.example",
        &format!("evil.example:{port}"),
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "",
    ] {
        for path in ["/", "/version", "/run?file=t", "/assets/report.js"] {
            let answer = server.ask("GET", path, host);
            assert!(answer.status == 421 || answer.status == 400, "{host} {path}: {answer:#?}");
            assert!(
                !answer.body.contains("data_files") && !answer.body.contains("version"),
                "{answer:#?}"
            );
        }
    }
    assert_ne!(server.send("GET / HTTP/1.0\r\n\r\n").status, 200, "no name");
    for path in ["/", "/run?file=t", "/version", "/assets/report.js", "/nothing", "/run"] {
        let head = server.get(path).head;
        for header in [
            "x-content-type-options: nosniff",
            "content-security-policy: default-src 'none'",
            "frame-ancestors 'none'",
            "cross-origin-resource-policy: same-origin",
        ] {
            assert!(head.contains(header), "{path}: {head}");
        }
        assert!(!head.contains("access-control"), "{path}: {head}");
    }
    for garbage in [
        "\r\n\r\n",
        "GET\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n",
    ] {
        let mut stream = TcpStream::connect(&server.address).unwrap();
        stream.write_all(garbage.as_bytes()).unwrap();
        let mut answer = String::new();
        drop(stream.shutdown(std::net::Shutdown::Write));
        drop(stream.read_to_string(&mut answer));
        assert!(!answer.contains(" 200 "), "{garbage:?}: {answer}");
    }
    assert_eq!(server.get("/").status, 200);
}

#[test]
fn stops_when_told_to_and_says_when_a_port_is_taken() {
    let lab = recorded();
    for (number, idle) in [(libc::SIGINT, false), (libc::SIGTERM, false), (libc::SIGINT, true)] {
        let mut server = Server::start(&lab, &[]);
        let port = server.address.rsplit_once(':').unwrap().1.to_owned();
        lab.steelbench(&["serve", "--port", &port])
            .expect(1)
            .says(&format!("port {port} of 127.0.0.1 is in use"));
        // An idle connection does not block other requests.
        let open = idle.then(|| TcpStream::connect(&server.address).unwrap());
        assert_eq!(server.get("/").status, 200);
        let child = server.child.take().unwrap();
        signal(&child, number);
        assert_eq!(end(child).expect(0).stderr, "");
        drop(open);
    }
    lab.steelbench(&["serve", "--listen", "not-an-address"]).expect(2);
}

#[test]
fn other_addresses_are_warned_of() {
    let lab = recorded();
    let mut server = Server::start(&lab, &["--listen", "0.0.0.0"]);
    assert_eq!(server.ask("GET", "/", "192.0.2.1:80").status, 200);
    assert_eq!(server.ask("GET", "/", "evil.example").status, 421);
    let child = server.child.take().unwrap();
    signal(&child, libc::SIGINT);
    end(child).expect(0).says("no password is set");
}

#[test]
fn a_run_goes_on_undisturbed_while_it_is_watched() {
    let lab = Lab::with(&scripted(50, "", ""));
    let server = Server::start(&lab, &[]);
    let run = lab.start();
    let mut versions = vec![server.page("/version")];
    wait_until("the run ends", || {
        server.get("/");
        server.get("/run?file=t");
        let version = server.page("/version");
        if versions.last() != Some(&version) {
            versions.push(version);
        }
        server.get("/run?file=t").body.contains("complete: 100 trials")
    });
    end(run).expect(0);
    assert!(versions.len() > 2, "{versions:?}");
    assert_eq!(lab.trials("t"), 100);
    assert_eq!(lab.rows("t", "PRAGMA integrity_check"), ["ok"]);
}

#[test]
fn says_how_far_a_run_is() {
    let lab = Lab::with(&scripted(3, "", GATED));
    let server = Server::start(&lab, &[]);
    let run = lab.start();
    let_go(&lab, 2);
    let version = server.version();
    let page = server.page("/run?file=t");
    assert!(page.contains(">running: 2 of 6 trials<"), "{page}");
    let_go(&lab, 1);
    assert_ne!(server.version(), version, "a trial was committed");
    assert!(server.page("/").contains("<td>running: 3 of 6 trials</td>"));
    let three = server.version();
    signal(&run, libc::SIGKILL);
    end(run);
    assert_ne!(server.version(), three, "the run has ended");
    let stopped = "stopped: 3 of 6 trials, resume with `steelbench run`";
    assert!(server.page("/run?file=t").contains(stopped));
    let run = lab.start();
    let_go(&lab, 3);
    end(run).expect(0);
    assert!(server.page("/run?file=t").contains(">complete: 6 trials<"));
}

/// The page of a run whose trials failed as often as they may shows how many are done.
#[test]
fn says_what_has_failed_for_good() {
    let file = scripted(3, "fail_while_exists = \"broken\"", "").replace("[1, 2]", "[1]");
    let lab = Lab::with(&file);
    lab.run(0);
    lab.write("broken", "");
    lab.write("e.toml", &file.replace("blocks = 3", "blocks = 5"));
    lab.run(1);
    let server = Server::start(&lab, &[]);
    let ended = "ended: 3 of 5 trials done, `steelbench run --retry-failed` repeats the others, \
                 2 attempts failed";
    for page in ["/", "/run?file=t"] {
        assert!(server.page(page).contains(ended), "{}", server.page(page));
    }
    std::fs::remove_file(lab.path("broken")).unwrap();
    lab.run_with(&["--retry-failed"], 0);
    assert!(server.page("/run?file=t").contains("complete: 5 trials, 2 attempts failed"));
}

/// Crafted results files beside genuine ones: each page loads in time and shows an error or what it
/// can; the pages of the genuine files are unchanged.
#[test]
fn crafted_results_files_harm_neither_themselves_nor_others() {
    let lab = recorded();
    let set_source = |from: &str, to: &str| {
        format!("UPDATE runs SET source = replace(source, '{from}', '{to}')")
    };
    let endless = "ALTER TABLE runs RENAME TO theirs; CREATE VIEW runs AS WITH RECURSIVE n(i) AS \
                   (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id FROM n";
    let crafted = [
        ("endless", endless.to_owned(), Some(500)),
        (
            "trigger",
            "CREATE TRIGGER x AFTER INSERT ON runs BEGIN SELECT RAISE(ABORT, 'x'); END".into(),
            Some(500),
        ),
        // As many trials as a number can say.
        ("blocks", set_source("blocks = 3", "blocks = 4294967295"), None),
        (
            "adaptive",
            set_source("blocks = 3", "blocks = { min = 2, max = 4294967295, until = \"1%\" }"),
            None,
        ),
        ("nested", "UPDATE runs SET source = 'x = ' || printf('%.*c', 200000, '[')".into(), None),
        (
            "large",
            "UPDATE runs SET source = source || '#' || hex(zeroblob(70000000))".into(),
            Some(500),
        ),
        ("number", "UPDATE responses SET value = 9e999".into(), None),
        ("block", "UPDATE trials SET block = 4294967295 WHERE id = 2".into(), None),
        (
            "markup",
            "UPDATE runs SET name = '<script>alert(1)</script>', question = '<img src=x \
             onerror=alert(1)>'"
                .into(),
            None,
        ),
    ];
    for (name, sql, _) in &crafted {
        std::fs::copy(
            lab.path("results/t.steelbench"),
            lab.path(&format!("results/{name}.steelbench")),
        )
        .unwrap();
        lab.results(name).execute_batch(sql).unwrap();
    }
    let server = Server::start(&lab, &[]);
    for (name, _, status) in &crafted {
        let answer = server.get(&format!("/run?file={name}"));
        assert!(status.is_none_or(|status| status == answer.status), "{name}: {}", answer.status);
        assert!(
            [200, 500].contains(&answer.status) && !answer.body.contains("<script>alert"),
            "{name}: {answer:?}"
        );
        assert!(!answer.body.contains("page failed."), "{name}: {answer:?}");
    }
    let list = server.page("/");
    assert!(list.contains("complete: 6 trials") && !list.contains("<img src=x"), "{list}");
    let pid = server.child.as_ref().unwrap().id();
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap().trim();
    assert!(most.trim_end_matches(" kB").parse::<u64>().unwrap() < 1 << 20, "{most}");
}

/// Trials of more configurations than the experiment in the same file has.
#[test]
fn trials_of_what_the_experiment_does_not_have_are_shown() {
    let lab = recorded();
    lab.results("t")
        .execute_batch(
            "INSERT INTO configurations SELECT max(id) + 1, run, max(position) + 1, 'other', \
             'other' FROM configurations;
             UPDATE trials SET configuration = (SELECT max(id) FROM configurations)
             WHERE block = 1",
        )
        .unwrap();
    let server = Server::start(&lab, &[]);
    assert!(server.page("/").contains("/run?file=t"));
    assert!(server.page("/run?file=t").contains("other"));
}

#[test]
fn silent_visitors_do_not_keep_others_out() {
    let lab = recorded();
    let mut command = lab.command(&["serve", "--port", "0"]);
    let few = libc::rlimit { rlim_cur: 64, rlim_max: 64 };
    // SAFETY: between fork and exec a system call alone is made.
    unsafe {
        command.pre_exec(move || {
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const few);
            Ok(())
        });
    }
    let server = Server::spawn(command);
    let visitors: Vec<TcpStream> =
        (0..200).map(|_| TcpStream::connect(&server.address).unwrap()).collect();
    assert_eq!(server.get("/").status, 200);
    drop(visitors);
    // Nor do clients that send requests and read no response.
    let request =
        format!("GET /assets/report.js HTTP/1.1\r\nHost: {}\r\n\r\n", server.address).repeat(300);
    let visitors = (0..100).map(|_| {
        let mut visitor = TcpStream::connect(&server.address).unwrap();
        visitor.set_nonblocking(true).unwrap();
        let _ = visitor.write(request.as_bytes());
        visitor
    });
    let visitors: Vec<TcpStream> = visitors.collect();
    assert_eq!(server.get("/").status, 200);
    drop(visitors);
}

/// Browsers report the user of a page (<https://www.w3.org/TR/fetch-metadata/>).
#[test]
fn pages_of_other_sites_may_link_to_ours_and_no_more() {
    let lab = recorded();
    let server = Server::start(&lab, &[]);
    let ask = |site: &str, mode: &str| {
        let headers = format!(
            "Host: {}\r\nSec-Fetch-Site: {site}\r\nSec-Fetch-Mode: {mode}\r\n",
            server.address
        );
        server
            .send(&format!("GET /run?file=t HTTP/1.1\r\n{headers}Connection: close\r\n\r\n"))
            .status
    };
    for (site, mode, status) in [
        ("same-origin", "cors", 200),
        ("none", "navigate", 200),
        ("cross-site", "navigate", 200),
        ("cross-site", "no-cors", 403),
        ("cross-site", "cors", 403),
        ("same-site", "no-cors", 403),
    ] {
        assert_eq!(ask(site, mode), status, "{site} {mode}");
    }
}

/// Counts how often any process opens each file of a folder during `work`.
fn opens(folder: &std::path::Path, work: impl FnOnce()) -> HashMap<String, usize> {
    let path = CString::new(folder.as_os_str().as_bytes()).unwrap();
    // SAFETY: plain system calls; the descriptor is owned from here on.
    let mut watch = unsafe {
        let watch = libc::inotify_init1(libc::IN_NONBLOCK | libc::IN_CLOEXEC);
        assert!(watch >= 0 && libc::inotify_add_watch(watch, path.as_ptr(), libc::IN_OPEN) >= 0);
        std::fs::File::from_raw_fd(watch)
    };
    work();
    let mut found = HashMap::new();
    let mut buffer = vec![0; 1 << 20];
    while let Ok(read) = watch.read(&mut buffer) {
        let mut events = &buffer[..read];
        // inotify(7): watch, mask, cookie, length of the name, the name with zeros after it.
        while let Some((head, rest)) = events.split_at_checked(16) {
            let (name, rest) =
                rest.split_at(u32::from_ne_bytes(head[12..].try_into().unwrap()) as usize);
            let name = String::from_utf8_lossy(name).trim_end_matches('\0').to_owned();
            *found.entry(name).or_default() += 1;
            events = rest;
        }
    }
    found.retain(|name: &String, _| name.ends_with(".steelbench"));
    found
}

/// However many runs and files there are: a list that opened every file for each run would take
/// minutes with a hundred.
#[test]
fn the_list_opens_each_file_once_and_only_those_that_have_changed() {
    let lab = recorded();
    (0..3).for_each(|_| drop(lab.run_with(&["--fresh"], 0)));
    let folder = lab.path("results");
    for copy in 0..5 {
        std::fs::copy(folder.join("t.steelbench"), folder.join(format!("copy{copy}.steelbench")))
            .unwrap();
    }
    // Versions of files that were changed this moment count as different ones.
    std::thread::sleep(std::time::Duration::from_millis(100));
    let server = Server::start(&lab, &[]);
    let list = || assert_eq!(server.page("/").matches("complete: 6 trials").count(), 6 * 4);
    let first = opens(&folder, list);
    // Once to look at the first bytes, once by SQLite.
    assert!(first.len() == 6 && first.values().all(|opens| *opens <= 2), "{first:?}");
    assert_eq!(opens(&folder, list), HashMap::new(), "nothing has changed");
    let file = std::fs::File::options().append(true).open(folder.join("copy3.steelbench")).unwrap();
    file.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(1)).unwrap();
    let refusal = opens(&folder, list);
    assert_eq!(refusal.keys().collect::<Vec<_>>(), ["copy3.steelbench"]);
}
