//! Commands of the user around trials and runs.

use crate::common::{Lab, end, scripted, wait_until};
use crate::servers::installed::is_alive;

fn hooks(text: &str) -> String {
    format!("[hooks]\n{text}\n")
}

fn lives(pid: &str) -> bool {
    is_alive(pid.trim().parse().unwrap())
}

#[test]
fn hooks_see_the_trial_and_their_output_is_kept() {
    let more = format!(
        "[[level]]\nfactor = \"log mode\"\nname = \"wal, $HOME synced\"\nset = {{ \
         \"target.delay\" = \"2 ms\" }}\n{}",
        hooks(
            "before_trial = '. \"$STEELBENCH_FOLDER/settings.sh\"; env | grep ^STEELBENCH_ | \
             sort; pwd >&2'\nafter_run = 'echo $STEELBENCH_EXPERIMENT > after'"
        )
    );
    let lab = Lab::with(&scripted(2, "", &more));
    lab.write("settings.sh", "export STEELBENCH_OTHER=1\n");
    lab.run(0);
    assert_eq!(
        lab.rows("t", "SELECT trim(content, char(10)) FROM files"),
        ["export STEELBENCH_OTHER=1"]
    );
    let outputs = lab.rows(
        "t",
        "SELECT h.output FROM hooks h JOIN trials t ON t.id = h.trial JOIN configurations c ON \
         c.id = t.configuration
         WHERE h.hook = 'before_trial' AND h.exit_code = 0 ORDER BY t.block, c.position",
    );
    assert_eq!(outputs.len(), 4);
    for (output, (block, data_files)) in outputs.iter().zip([(1, 1), (1, 2), (2, 1), (2, 2)]) {
        for line in [
            "STEELBENCH_EXPERIMENT=t".to_owned(),
            "STEELBENCH_OTHER=1".into(),
            format!("STEELBENCH_FOLDER={}", lab.path("e.toml").parent().unwrap().display()),
            format!("STEELBENCH_BLOCK={block}"),
            format!("STEELBENCH_TARGET_DATA_FILES={data_files}"),
            "STEELBENCH_TARGET_ENGINE=null".into(),
            "STEELBENCH_TARGET_DELAY=0.002".into(),
            "STEELBENCH_LOG_MODE=wal, $HOME synced".into(),
            "STEELBENCH_WORKLOAD_ROWS=10".into(),
        ] {
            assert!(output.lines().any(|printed| printed == line), "{line} is not in {output}");
        }
    }
    assert_eq!(lab.read("after"), "t\n");
}

#[test]
fn a_hook_that_takes_too_long_is_killed_with_all_that_it_started() {
    let text = "before_trial = 'sleep 300 & echo $! > pid; echo waiting for a mount; \
                wait'\ntimeout = \"300 ms\"";
    let lab = Lab::with(&scripted(1, "", &hooks(text)));
    lab.run(1);
    let causes = lab.rows("t", "SELECT DISTINCT cause FROM trials");
    assert_eq!(
        causes,
        ["hook before_trial failed: killed after 0.3 s (hooks.timeout): waiting for a mount"]
    );
    assert_eq!(
        lab.rows("t", "SELECT DISTINCT exit_code, output FROM hooks"),
        ["null|waiting for a mount\n"]
    );
    let pid = lab.read("pid");
    wait_until("the hook's child is gone", || !lives(&pid));
}

#[test]
fn a_process_that_a_hook_leaves_behind_does_not_hold_up_the_run() {
    let lab = Lab::with(&scripted(
        1,
        "",
        &hooks("before_run = 'sleep 300 & echo $! > pid; echo started'"),
    ));
    end(lab.start()).expect(0);
    let pid = lab.read("pid");
    assert!(lives(&pid), "a hook may start a server");
    // SAFETY: the number is that of the process that the hook started a moment ago.
    unsafe { libc::kill(pid.trim().parse().unwrap(), libc::SIGKILL) };
}

#[test]
fn a_hook_that_fails_fails_its_trial_with_its_last_line() {
    let text = "before_trial = 'echo first; echo no such array >&2; exit \
                $((STEELBENCH_TARGET_DATA_FILES - 1))'";
    let lab = Lab::with(&scripted(1, "", &hooks(text)));
    lab.run(1).says("no such array");
    let trials = "SELECT c.label, t.status, t.cause, h.exit_code FROM trials t JOIN \
                  configurations c ON c.id = t.configuration
                  JOIN hooks h ON h.trial = t.id ORDER BY c.position";
    assert_eq!(
        lab.rows("t", trials),
        [
            "data_files=1|done|null|0",
            "data_files=2|failed|hook before_trial failed: exit status: 1: no such array|1"
        ]
    );
    // After a trial a failure counts too: what came of the trial cannot be trusted.
    let lab = Lab::with(&scripted(1, "", &hooks("after_trial = 'echo not unmounted; false'")));
    lab.run(1);
    let causes = lab.rows("t", "SELECT DISTINCT cause FROM trials");
    assert_eq!(causes, ["hook after_trial failed: exit status: 1: not unmounted"]);
}

#[test]
fn the_end_of_a_long_output_is_kept() {
    let lab = Lab::with(&scripted(
        1,
        "",
        &hooks("before_trial = 'yes 0123456789 | head -c 500000; echo the end'"),
    ));
    lab.run(0);
    let kept = "SELECT DISTINCT length(output), substr(output, -8) FROM hooks";
    assert_eq!(lab.rows("t", kept), ["65536|the end\n"]);
}

#[test]
fn a_failure_before_the_run_stops_it() {
    let text = "before_run = 'echo no server; exit 3'\nafter_run = 'touch after'";
    let lab = Lab::with(&scripted(1, "", &hooks(text)));
    lab.run(1).says("hook before_run failed: exit status: 3: no server");
    assert_eq!((lab.trials("t"), lab.work_folders().len()), (0, 0));
    assert!(!lab.path("after").exists(), "what was not started is not stopped");
}
