//! The package in a Debian that has nothing else: install, run the main job, remove.

use super::build::Target;
use super::failure::{self, Failure};
use super::target_folder;
use super::tools::is_on_path;
use crate::process::{output, succeed};
use std::path::Path;
use std::process::Command;

/// The main job of README, from the package.
const EXPERIMENT: &str = "/usr/share/steelbench/experiments/random-insert-data-files.toml";

/// Steps in the clean system. The list of files is the same before and after, apart from those that
/// the package manager keeps of every package.
const STEPS: &str = r#"
set -eu
export DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin
list() { find / -xdev -path /proc -prune -o -path /tmp -prune -o -path /var/lib/dpkg -prune \
    -o -path /var/log -prune -o -path /var/cache -prune -o -print | sort; }
list > /tmp/before
dpkg --install /tmp/steelbench.deb > /dev/null
steelbench --version
mkdir /tmp/job
cd /tmp/job
steelbench run "$1" > report.txt
grep --quiet best report.txt
test -s /usr/share/man/man1/steelbench.1.gz
cd /
dpkg --purge "$2" > /dev/null
list > /tmp/after
diff /tmp/before /tmp/after
"#;

/// Makes the system with mmdebstrap and runs the steps in it; skipped with the reason where that is
/// not possible.
pub fn check(deb: &Path, target: Target) -> Result<(), Failure> {
    if let Some(cause) = obstacle(target) {
        println!("SKIPPED: install, run and remove in a clean Debian: {cause}");
        return Ok(());
    }
    let root = target_folder(target).join("debian");
    let made = make(&root, &field(deb, "Depends")?);
    let result = match &made {
        Ok(()) => use_in(&root, deb).map(|()| "passed: install, main job and removal"),
        Err(cause) => {
            println!("{cause}");
            Ok("SKIPPED: install, run and remove in a clean Debian: it cannot be made")
        }
    };
    let _ = succeed(Command::new("rm").args(["-rf", "--one-file-system"]).arg(&root));
    println!("{}", result?);
    Ok(())
}

fn obstacle(target: Target) -> Option<String> {
    let user = output(Command::new("id").arg("-u")).unwrap_or_default();
    if target != Target::of_this_machine() {
        Some("the package is for another kind of machine".into())
    } else if user.trim() != "0" {
        Some("only root can enter another root".into())
    } else if !is_on_path("mmdebstrap") {
        Some("mmdebstrap is not installed".into())
    } else {
        None
    }
}

/// Returns a field of a package's description.
fn field(deb: &Path, name: &str) -> Result<String, Failure> {
    let mut read = Command::new("dpkg-deb");
    let value = output(read.arg("--field").arg(deb).arg(name)).map_err(Failure::Process)?;
    Ok(value.trim().to_owned())
}

/// Makes a system with the packages that every Debian has and with those that the package depends
/// on, from the mirrors of this one.
fn make(root: &Path, depends: &str) -> Result<(), Failure> {
    let release = failure::read(Path::new("/etc/os-release"))?;
    let suite = release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="));
    let sources = ["/etc/apt/sources.list.d/debian.sources", "/etc/apt/sources.list"];
    let sources = sources.into_iter().find(|path| Path::new(path).exists());
    let _ = std::fs::remove_dir_all(root);
    let mut make = Command::new("mmdebstrap");
    let depends = depends.split(',').filter_map(|part| part.split_whitespace().next());
    let include = format!("--include={}", depends.collect::<Vec<_>>().join(","));
    make.args(["--quiet", "--variant=essential", &include, suite.unwrap_or("stable")]).arg(root);
    make.args(sources);
    output(&mut make).map(|_| ()).map_err(Failure::Process)
}

fn use_in(root: &Path, deb: &Path) -> Result<(), Failure> {
    failure::copy(deb, &root.join("tmp/steelbench.deb"))?;
    failure::write(&root.join("tmp/steps"), STEPS)?;
    let enter = "mount -t proc proc \"$1/proc\" && exec chroot \"$1\" sh /tmp/steps \"$2\" \"$3\"";
    let mut steps = Command::new("unshare");
    // The mount ends with its namespace.
    steps.args(["--mount", "--pid", "--fork", "sh", "-c", enter, "sh"]).arg(root).arg(EXPERIMENT);
    steps.arg(field(deb, "Package")?);
    let printed = output(&mut steps).map_err(Failure::Process)?;
    print!("{printed}");
    Ok(())
}
