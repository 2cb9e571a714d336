//! A MySQL server to test on. Debian has it in its unstable release alone, whose libraries are
//! newer than the system's: it is unpacked with them into a folder of its own and started by their
//! loader. Nothing of the system changes.

use crate::process::{output, succeed, target};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The packages of the server and of its client programs.
const PACKAGES: [&str; 2] = ["mysql-server-core", "mysql-client-core"];
/// Packages that these depend on for scripts alone, which are not run.
const NOT_UNPACKED: [&str; 2] = ["perl", "libperl"];
const RELEASE: &str = "sid";
/// The programs that are made to start, and where they are.
const PROGRAMS: [(&str, &str); 3] = [("mysqld", "sbin"), ("mysql", "bin"), ("mysqldump", "bin")];

/// The folder with the programs, in the target folder; fetched now unless it is there.
pub fn install() -> Result<PathBuf, String> {
    let folder = target().join("test-tools").join("mysql");
    if folder.join(PROGRAMS[0].0).exists() {
        return Ok(folder);
    }
    let unfinished = folder.with_extension("unfinished");
    let at = |path: &Path| {
        let path = path.display().to_string();
        move |error| format!("{path}: {error}")
    };
    let _ = fs::remove_dir_all(&unfinished);
    let root = unfinished.join("root");
    fs::create_dir_all(&root).map_err(at(&root))?;
    fetch(&unfinished.join("apt"), &root)?;
    for (program, place) in PROGRAMS {
        let path = unfinished.join(program);
        fs::write(&path, starter(&root, program, place)?).map_err(at(&path))?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).map_err(at(&path))?;
    }
    fs::rename(&unfinished, &folder).map_err(at(&folder))?;
    Ok(folder)
}

/// Downloads the packages by an apt whose state is in this folder, and unpacks them.
fn fetch(state: &Path, root: &Path) -> Result<(), String> {
    let write = |name: &str, text: String| {
        let path = state.join(name);
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))
    };
    for folder in ["lists/partial", "cache/archives/partial"] {
        fs::create_dir_all(state.join(folder))
            .map_err(|error| format!("{}: {error}", state.display()))?;
    }
    let place = state.display();
    write("status", String::new())?;
    let keys = "/usr/share/keyrings/debian-archive-keyring.gpg";
    write("sources.list", format!("deb [signed-by={keys}] {} {RELEASE} main\n", mirror()?))?;
    // A copy of the mirror that stands still is past its date; what it has is signed nevertheless.
    write(
        "apt.conf",
        format!(
            "Dir::State \"{place}\"; Dir::State::status \"{place}/status\"; Dir::Cache \
             \"{place}/cache\";\nDir::Etc::sourcelist \"{place}/sources.list\"; \
             Dir::Etc::sourceparts \"/dev/null\";\nDir::Etc::preferencesparts \"/dev/null\"; \
             Acquire::Check-Valid-Until \"false\";\nAcquire::Languages \"none\"; Acquire::Retries \
             \"3\"; APT::Install-Recommends \"false\";\nAPT::Sandbox::User \"root\";\n"
        ),
    )?;
    let apt = |arguments: &[&str]| {
        let mut apt = Command::new("apt-get");
        succeed(apt.args(arguments).env("APT_CONFIG", state.join("apt.conf")))
    };
    let download = [&["install", "-y", "-qq", "--download-only"], &PACKAGES[..]].concat();
    // Mirrors change while they are read.
    let fetched = || apt(&["update", "-qq"]).and_then(|()| apt(&download));
    fetched().or_else(|_| fetched()).or_else(|_| fetched())?;
    let archives = state.join("cache/archives");
    for entry in fs::read_dir(&archives)
        .map_err(|error| format!("{}: {error}", archives.display()))?
        .flatten()
    {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_package = entry.path().extension().is_some_and(|ending| ending == "deb");
        if is_package && !NOT_UNPACKED.iter().any(|package| name.starts_with(package)) {
            succeed(Command::new("dpkg-deb").arg("-x").arg(entry.path()).arg(root))?;
        }
    }
    fs::remove_dir_all(state).map_err(|error| format!("{place}: {error}"))
}

/// The mirror of Debian that the system's own packages come from.
fn mirror() -> Result<String, String> {
    let targets = || {
        let mut list = Command::new("apt-get");
        list.args([
            "indextargets",
            "--format",
            "$(REPO_URI)|$(ORIGIN)|$(LABEL)",
            "Identifier: Packages",
        ]);
        output(&mut list)
    };
    let of_debian = |listed: &str| {
        listed.lines().find_map(|line| line.strip_suffix("|Debian|Debian").map(str::to_owned))
    };
    if let Some(mirror) = of_debian(&targets()?) {
        return Ok(mirror);
    }
    // Without package lists, the mirrors of Debian cannot be recognized.
    succeed(Command::new("apt-get").args(["update", "-qq"]))?;
    of_debian(&targets()?)
        .ok_or_else(|| "no mirror of Debian is among the sources of packages".into())
}

/// A script that starts a program with the libraries that it was built for. Its process is named
/// after the program, and finds its files wherever the folder is.
fn starter(root: &Path, program: &str, place: &str) -> Result<String, String> {
    let find = |folder: &str, beginning: &str| {
        let entries = fs::read_dir(root.join(folder)).into_iter().flatten().flatten();
        let mut names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.find(|name| name.starts_with(beginning)).map(|name| format!("{folder}/{name}"))
    };
    let loader = find("usr/lib64", "ld-linux-").or_else(|| find("usr/lib", "ld-linux-"));
    let loader = loader.ok_or_else(|| format!("{}: there is no loader in it", root.display()))?;
    let libraries = format!("usr/lib/{}-linux-gnu", std::env::consts::ARCH);
    let text = if program == "mysqld" {
        // Behind what the caller says, which may have to come first.
        "--basedir=\"$root/usr\" --lc-messages-dir=\"$root/usr/share/mysql\" \
         --plugin-dir=\"$root/usr/lib/mysql/plugin\" \
         --character-sets-dir=\"$root/usr/share/mysql/charsets\" --secure-file-priv=NULL \
         --mysqlx=OFF"
    } else {
        ""
    };
    Ok(format!(
        "#!/bin/bash\nroot=$(dirname \"$(readlink -f \"$0\")\")/root\nexec -a {program} \
         \"$root/{loader}\" --library-path \"$root/{libraries}:$root/{libraries}/private\" \
         \"$root/usr/{place}/{program}\" \"$@\" {text}\n"
    ))
}
