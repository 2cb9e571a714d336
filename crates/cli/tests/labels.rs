//! Identity of a run: its label, and the commit of its experiment file's folder.

use crate::common::{Lab, scripted, skipped};
use crate::serving::Server;
use std::process::Command;

fn git(lab: &Lab, arguments: &[&str]) -> String {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=t", "-c", "user.email=t@t"])
        .args(arguments)
        .current_dir(lab.path(""));
    let output = git.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn label_and_commit_are_shown_wherever_runs_are() {
    if Command::new("git").arg("--version").output().is_err() {
        return skipped("git is not installed");
    }
    let lab = Lab::with(&scripted(3, "delay = \"2 ms\"", ""));
    lab.run_with(&["--label", "before patch"], 0);
    assert_eq!(lab.rows("t", "SELECT label, git_commit FROM runs"), ["before patch|null"]);
    git(&lab, &["init", "-q"]);
    git(&lab, &["add", "e.toml"]);
    git(&lab, &["commit", "-qm", "one"]);
    let commit = git(&lab, &["rev-parse", "HEAD"]);
    lab.run_with(&["--fresh", "--label", "after patch"], 0);
    lab.write("e.toml", &scripted(3, "delay = \"2 ms\"", "# changed\n"));
    lab.run_with(&["--fresh"], 0);
    let recorded = lab.rows("t", "SELECT label, git_commit, git_changed FROM runs ORDER BY id");
    let expected = [
        "before patch|null|null".to_owned(),
        format!("after patch|{commit}|0"),
        format!("null|{commit}|1"),
    ];
    assert_eq!(recorded, expected);
    let (clean, changed) = (
        format!("\"after patch\", commit {}", &commit[..12]),
        format!("commit {} with changes", &commit[..12]),
    );
    let shown = |arguments: &[&str], parts: &[&str]| {
        let text = lab.steelbench(arguments).expect(0).stdout;
        for part in parts {
            assert!(text.contains(part), "{part}: {text}");
        }
    };
    shown(&["show", "t", "--run", "2", "--full"], &[&clean]);
    shown(&["show", "t", "--runs"], &["\"before patch\"", &clean, &changed]);
    shown(&["compare", "t@2", "t@3"], &[&clean, &changed]);
    shown(&["history", "t"], &["before patch", "after patch", &changed]);
    shown(
        &["export", "t", "--run", "2", "--format", "json"],
        &["\"label\":\"after patch\"", &commit],
    );
    lab.steelbench(&["report", "t", "--run", "2"]).expect(0);
    assert!(lab.read("results/t.html").contains(&commit[..12]));
    let server = Server::start(&lab, &[]);
    let list = server.page("/");
    assert!(list.contains("after patch") && list.contains(&changed), "{list}");
    let history = &lab.json(&["history", "t"])[0];
    assert_eq!(history["runs"][1]["run"]["label"], "after patch");
    assert_eq!(history["runs"][2]["run"]["git"]["changed"], true);
}

#[test]
fn a_run_that_goes_on_keeps_its_label_until_it_gets_another() {
    let lab = Lab::with(&scripted(2, "delay = \"2 ms\"", ""));
    let label = |lab: &Lab| lab.rows("t", "SELECT label FROM runs");
    lab.run_with(&["--label", "one"], 0);
    lab.run(0);
    assert_eq!(label(&lab), ["one"]);
    lab.run_with(&["--label", "password=hunter2"], 0);
    assert_eq!(label(&lab), ["password=*******"]);
}
