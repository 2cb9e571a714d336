//! Folders that trials work in: those of killed runs are removed, and nothing else.

use crate::common;
use crate::common::{Lab, scripted, skipped, wait_until};
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

const WORK: &str = "results/t.steelbench.work";

/// A recorded run, and what the markers of its folders hold: now, and in earlier versions.
fn recorded() -> (Lab, [String; 2]) {
    let lab = Lab::with(&scripted(1, "", ""));
    lab.run(0);
    let results = lab.path("results/t.steelbench").canonicalize().unwrap().display().to_string();
    let run = lab.rows("t", "SELECT 'run ' || id || ' begun ' || started_ms FROM runs").remove(0);
    (lab, [format!("{results}\n{run}\n"), results])
}

#[test]
fn a_link_to_a_folder_with_a_marker_of_ours_is_not_followed() {
    let (lab, markers) = recorded();
    std::fs::create_dir(lab.path(WORK)).unwrap();
    for (number, marker) in markers.iter().enumerate() {
        let victim = format!("victim-{number}");
        std::fs::create_dir(lab.path(&victim)).unwrap();
        lab.write(&format!("{victim}/.steelbench-work"), marker);
        lab.write(&format!("{victim}/precious"), "salaries");
        symlink(lab.path(&victim), lab.path(&format!("{WORK}/steelbench-trial-99999999-{number}")))
            .unwrap();
    }
    lab.run_with(&["--fresh"], 0);
    for number in 0..markers.len() {
        assert_eq!(lab.read(&format!("victim-{number}/precious")), "salaries");
    }
    // Nor is the folder of all of them a link.
    std::fs::remove_dir_all(lab.path(WORK)).unwrap();
    let inner = "victim-0/steelbench-trial-99999999-0";
    std::fs::create_dir(lab.path(inner)).unwrap();
    symlink(lab.path("victim-0"), lab.path(WORK)).unwrap();
    lab.run_with(&["--fresh"], 1).says("t.steelbench.work: cannot create a folder there");
    assert!(lab.path(inner).exists());
}

#[test]
fn what_a_killed_run_has_left_is_removed_and_nothing_inside_it_is_followed() {
    let (lab, [marker, _]) = recorded();
    let folder = format!("{WORK}/steelbench-trial-99999999-0");
    std::fs::create_dir_all(lab.path(&folder).join("deeper")).unwrap();
    std::fs::create_dir(lab.path("victim")).unwrap();
    lab.write("victim/precious", "salaries");
    lab.write(&format!("{folder}/.steelbench-work"), &marker);
    symlink(lab.path("victim"), lab.path(&folder).join("link")).unwrap();
    symlink(lab.path("victim"), lab.path(&folder).join("deeper/link")).unwrap();
    // The marker of another results file, and one that is a link.
    for (other, is_link) in
        [("steelbench-trial-99999999-1", false), ("steelbench-trial-99999999-2", true)]
    {
        std::fs::create_dir(lab.path(&format!("{WORK}/{other}"))).unwrap();
        let path = format!("{WORK}/{other}/.steelbench-work");
        if is_link {
            lab.write("marker", &marker);
            symlink(lab.path("marker"), lab.path(&path)).unwrap();
        } else {
            lab.write(&path, &marker.replace("begun ", "begun 1"));
        }
    }
    lab.run_with(&["--fresh"], 0).says("left by a killed run");
    assert!(!lab.path(&folder).exists());
    assert_eq!(lab.read("victim/precious"), "salaries");
    for other in ["steelbench-trial-99999999-1", "steelbench-trial-99999999-2"] {
        assert!(lab.path(&format!("{WORK}/{other}")).exists(), "{other}");
    }
}

/// Starts `run e.toml` in a folder that is seen at another place, in a mount namespace of its own.
fn start_at(place: &Path, folder: &Path) -> Child {
    let mut command = Command::new("unshare");
    command.args([
        "--mount",
        "sh",
        "-c",
        "mount --bind \"$1\" \"$2\" && cd \"$2\" && exec \"$0\" run e.toml",
    ]);
    command.arg(env!("CARGO_BIN_EXE_steelbench")).arg(folder).arg(place);
    common::at_home(&mut command, folder);
    // SAFETY: between fork and exec a system call alone is made.
    unsafe {
        command.pre_exec(|| {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            Ok(())
        });
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Two containers that share a volume may both see their results file at the same path.
#[test]
fn a_run_that_lives_keeps_its_folder_on_a_volume_that_others_share() {
    let lab = Lab::new();
    let shared = lab.path("shared").display().to_string();
    for folder in ["shared", "place", "a/results", "b/results"] {
        std::fs::create_dir_all(lab.path(folder)).unwrap();
    }
    let volume = format!("[[volume]]\nname = \"fast\"\npath = \"{shared}\"\n");
    let file = |delay: &str| scripted(1, &format!("volume = \"fast\"\n{delay}"), &volume);
    lab.write("a/e.toml", &file("real_delay = \"100 s\""));
    lab.write("b/e.toml", &file(""));
    let folders = || {
        std::fs::read_dir(&shared).unwrap().flatten().map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let mut first = start_at(&lab.path("place"), &lab.path("a"));
    wait_until("a trial runs or cannot", || {
        !folders().is_empty() || first.try_wait().unwrap().is_some()
    });
    let Some(live) = folders().pop() else {
        let stderr = first.wait_with_output().unwrap().stderr;
        return skipped(&format!(
            "two mount namespaces: {}",
            String::from_utf8_lossy(&stderr).trim()
        ));
    };
    let second = common::end(start_at(&lab.path("place"), &lab.path("b"))).expect(0);
    assert!(live.exists() && !second.stderr.contains("killed"), "{second:?}");
    assert_eq!(folders(), [live]);
    common::signal(&first, libc::SIGINT);
    common::end(first).expect(130);
    assert!(folders().is_empty());
}
