//! Runs in child processes if the system permits less: the example is run with fewer rights.

use super::support::{MIB, command, file};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// The example `random_read`, and a file, accessible to every user.
fn example() -> Option<(TempDir, PathBuf, PathBuf)> {
    let built = std::env::current_exe().unwrap().parent()?.parent()?.join("examples/random_read");
    // A temporary folder that others may enter, which those below a home may not be.
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("random_read");
    if std::fs::copy(built, &program).is_err() {
        println!("SKIPPED: the example random_read is not built (cargo test builds it)");
        return None;
    }
    let data = file(&folder, "data", 4 * MIB);
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
    Some((folder, program, data))
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// The example's arguments: half a second of buffered reads.
fn reads(data: &Path, block: &'static str) -> [String; 5] {
    [data.display().to_string(), block.into(), "16".into(), "buffered".into(), "0.5".into()]
}

#[test]
fn too_little_locked_memory_costs_the_registration_only() {
    let Some((_folder, program, data)) = example() else { return };
    if !command("prlimit --memlock=4194304 setpriv --reuid=65001 --regid=65001 --clear-groups true")
    {
        println!("SKIPPED: needs root, setpriv and prlimit");
        return;
    }
    // A user of its own: what others have locked counts for each user.
    let run = |limit: &str| {
        let output = Command::new("prlimit")
            .args([limit, "setpriv", "--reuid=65001", "--regid=65001", "--clear-groups"])
            .arg(&program)
            .args(reads(&data, "65536"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", text(&output));
        text(&output)
    };
    let little = run("--memlock=65536");
    assert!(little.contains("backend IoUring"), "{little}");
    assert!(little.contains("not registered") && little.contains("64 KiB"), "{little}");
    assert!(little.contains("needs 1024 KiB"), "{little}");
    let enough = run("--memlock=4194304");
    assert!(enough.contains("backend IoUring, notes []"), "{enough}");
}

#[test]
fn permission_denied_is_said_with_advice() {
    let Some((_folder, program, data)) = example() else { return };
    std::fs::set_permissions(&data, PermissionsExt::from_mode(0o600)).unwrap();
    if !command("setpriv --reuid=65534 --regid=65534 --clear-groups true") {
        println!("SKIPPED: needs root and setpriv");
        return;
    }
    let output = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(&program)
        .args(reads(&data, "4096"))
        .output()
        .unwrap();
    assert!(!output.status.success());
    let text = text(&output);
    assert!(text.contains("PermissionDenied") && text.contains("as a user with access"), "{text}");
}

#[test]
fn where_io_uring_is_not_permitted_pread_serves() {
    let Some((_folder, program, data)) = example() else { return };
    let mut child = Command::new(&program);
    child.args(reads(&data, "4096"));
    // SAFETY: between fork and exec only system calls are made.
    unsafe { child.pre_exec(forbid_io_uring) };
    let output = child.output().unwrap();
    let text = text(&output);
    assert!(output.status.success(), "{text}");
    assert!(
        text.contains("backend Blocking") && text.contains("io_uring is not permitted"),
        "{text}"
    );
}

/// As containers have it: `io_uring_setup(2)` gives EPERM.
fn forbid_io_uring() -> std::io::Result<()> {
    let step = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
    let refuse = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
    let mut steps = [
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, libc::SYS_io_uring_setup as u32),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, refuse),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
    // SAFETY: the filter and its steps live during the calls.
    let failed = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
            || libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) != 0
    };
    if failed { Err(std::io::Error::last_os_error()) } else { Ok(()) }
}
