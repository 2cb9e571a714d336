//! Errors of names and signs that are nearly right, each of which names what was meant; and what a
//! shell offers.

use crate::common::{self, Lab, scripted};
use std::process::Command;

/// An experiment with these lines in `[target]` and `[workload]`, and more after them.
fn file(target: &str, workload: &str, more: &str) -> String {
    format!(
        "[experiment]\nname = \"t\"\n[target]\n{target}\n[workload]\n{workload}\nconnections = \
         1\n{more}\n"
    )
}

const SQLITE: &str = "engine = \"sqlite\"";
const INSERT: &str = "probe = \"insert\"\nrows = 10";

#[test]
fn each_error_names_what_was_meant() {
    let baseline = "[factors]\n\"target.data_files\" = [1, 2]\n[report]\nbaseline = { \
                    \"target.data_fils\" = 1 }";
    for (text, says) in [
        (
            file(SQLITE, &format!("{INSERT}\nscript = \"a.sql\""), ""),
            &[
                "`workload.script` is not a setting of probe insert",
                "it is a setting of probe script",
            ][..],
        ),
        (
            file(SQLITE, INSERT, "[factors]\n\"target.data_fils\" = [1, 2]"),
            &["did you mean `target.data_files`?"],
        ),
        (
            file(SQLITE, INSERT, baseline),
            &["unknown factor", "did you mean `target.data_files`?\n"],
        ),
        (
            file(SQLITE, "probe = \u{201c}insert\u{201d}", ""),
            &["6:", "is a typographic quotation mark", "straight quotes"],
        ),
        (
            file(SQLITE, INSERT, "[factors]\n\u{201e}target.data_files\u{201c} = [1]"),
            &["10:", "is a typographic quotation mark"],
        ),
        (
            file("engine = \"mysql\"", INSERT, ""),
            &["unknown engine `mysql`", "engine `mariadb` covers mysql"],
        ),
        (file("engine = \"postgresql\"", INSERT, ""), &["engine `postgres` covers postgresql"]),
        (file("engine = \"sqlit\"", INSERT, ""), &["did you mean `sqlite`?"]),
        (
            file(SQLITE, "probe = \"order-entry\"\npg_count_ware = 10", ""),
            &["unknown setting `workload.pg_count_ware`", "HammerDB; use workload.warehouses"],
        ),
        (
            format!("mssqls_rampup = 2\n{}", file(SQLITE, INSERT, "")),
            &["mssqls_rampup is a setting of HammerDB", "use workload.warmup"],
        ),
        (file(SQLITE, INSERT, "maria_scale_fact = 1"), &["HammerDB; use workload.scale"]),
    ] {
        let lab = Lab::with(&text);
        let ended = lab.steelbench(&["check", "e.toml"]).expect(2);
        for part in says {
            assert!(ended.stderr.contains(part), "{part}: {ended:#?}");
        }
    }
    let lab = Lab::new();
    lab.steelbench(&["run", "--pg_num_vu", "4"])
        .expect(2)
        .says("leave it out: warehouses are loaded");
    lab.steelbench(&["init", "--engine", "mysql"]).expect(2).says("engine `mariadb` covers mysql");
    lab.steelbench(&["init", "--engine", "mssql"])
        .expect(2)
        .says("engine `sqlserver` covers mssql");
    assert!(!lab.path("experiment.toml").exists());
}

#[test]
fn compare_names_the_file_that_it_searched() {
    let lab = Lab::with(&scripted(1, "", ""));
    lab.run(0);
    let searched = "results/t.steelbench: no configuration is data_fils=1";
    lab.steelbench(&["compare", "data_fils=1", "data_files=2"]).expect(2).says(searched);
}

#[test]
fn the_help_of_try_is_printed() {
    let help = Lab::new().steelbench(&["queries", "try", "--help"]).expect(0).stdout;
    for part in ["--drop", "--test-server", "--help", "steelbench queries try --dump"] {
        assert!(help.contains(part), "{part}: {help}");
    }
}

/// The words that bash offers for the last word of a line.
fn offered(lab: &Lab, line: &str) -> Vec<String> {
    let script = format!(
        "source <(steelbench completions bash)
        COMP_LINE='{line}'; COMP_POINT=${{#COMP_LINE}}; COMP_WORDS=($COMP_LINE)
        [ \"${{COMP_LINE: -1}}\" = ' ' ] && COMP_WORDS+=('')
        COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
        _steelbench_with_words steelbench \"${{COMP_WORDS[COMP_CWORD]}}\" \
            \"${{COMP_WORDS[COMP_CWORD - 1]}}\"
        printf '%s\\n' \"${{COMPREPLY[@]}}\""
    );
    lines_of("bash", &["-c", &script], lab)
}

/// The lines that a shell prints in the folder, with the program on its path.
fn lines_of(shell: &str, arguments: &[&str], lab: &Lab) -> Vec<String> {
    let program = lab.command(&[]).get_program().to_owned();
    let folder = std::path::Path::new(&program).parent().unwrap().display().to_string();
    let path = format!("{folder}:{}", std::env::var("PATH").unwrap());
    let output = Command::new(shell)
        .args(arguments)
        .env("HOME", lab.path(""))
        .env("PATH", path)
        .current_dir(lab.path(""))
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn bash_completes_experiments_levels_engines_and_probes() {
    let lab = Lab::with(&scripted(1, "", ""));
    lab.run(0);
    assert_eq!(offered(&lab, "steelbench show "), ["t"]);
    assert_eq!(offered(&lab, "steelbench report x"), [""]);
    assert_eq!(offered(&lab, "steelbench compare "), ["t"]);
    // Bash replaces what follows the equals sign.
    assert_eq!(offered(&lab, "steelbench compare t data_files="), ["1", "2"]);
    assert_eq!(offered(&lab, "steelbench init --engine mar"), ["mariadb"]);
    assert_eq!(offered(&lab, "steelbench init --probe scr"), ["script"]);
    assert_eq!(offered(&lab, "steelbench init --like disk-ra"), ["disk-raid", "disk-raid5"]);
    assert!(offered(&lab, "steelbench show --js").contains(&"--json".to_owned()));
    assert_eq!(offered(&lab, "steelbench show t wa"), ["waits", "warnings"]);
    assert_eq!(offered(&lab, "steelbench survey --section vol"), ["volumes"]);
}

/// Runs the completion of a shell that may be absent.
fn has(shell: &str) -> bool {
    let is_there = Command::new(shell).arg("--version").output().is_ok();
    if !is_there {
        common::skipped(&format!("{shell} is not installed"));
    }
    is_there
}

#[test]
fn fish_completes_experiments_levels_and_engines() {
    if !has("fish") {
        return;
    }
    let lab = Lab::with(&scripted(1, "", ""));
    lab.run(0);
    let offered = |line: &str| {
        let script = format!("steelbench completions fish | source; complete -C '{line}'");
        let lines = lines_of("fish", &["--no-config", "-c", &script], &lab);
        let words = lines.iter().map(|line| line.split('\t').next().unwrap().to_owned());
        words.collect::<Vec<_>>()
    };
    for line in ["steelbench show ", "steelbench report ", "steelbench compare "] {
        assert!(offered(line).contains(&"t".to_owned()), "{line}: {:?}", offered(line));
    }
    let levels = offered("steelbench compare t data_f");
    assert_eq!(levels, ["data_files=1", "data_files=2"]);
    assert_eq!(offered("steelbench init --engine mar"), ["mariadb"]);
    assert_eq!(offered("steelbench show t wai"), ["waits"]);
    assert!(!offered("steelbench check ").contains(&"t".to_owned()));
}

/// A response may be that of some configurations only, so that a run warns once all were measured.
#[test]
fn a_response_that_no_configuration_has_is_warned_of_once() {
    let file = scripted(2, "", "").replace("name = \"t\"", "name = \"t\"\nresponse = \"elapsd\"");
    let lab = Lab::with(&file);
    let ended =
        lab.run(0).says("experiment.response: unknown response `elapsd`; did you mean `elapsed`?");
    let warnings = ended.stderr.split("unknown response `elapsd`");
    let lines: Vec<usize> = warnings.map(|part| part.matches("/4  block ").count()).collect();
    assert!(lines.len() == 2 && lines[1] == 3, "{ended:#?}");
}

/// zsh completes only on a terminal; its own `compadd` is replaced by one that prints.
#[test]
fn zsh_completes_experiments_and_levels() {
    if !has("zsh") {
        return;
    }
    let lab = Lab::with(&scripted(1, "", ""));
    lab.run(0);
    let offered = |words: &str| {
        let script = format!(
            "compdef() {{ }}; compadd() {{ print -rl -- ${{(P)2}}; }}; _files() {{ print files; }}
            source <(steelbench completions zsh)
            _steelbench_words() {{ print generated; }}
            words=({words}); CURRENT=$#words; _steelbench"
        );
        lines_of("zsh", &["-f", "-c", &script], &lab)
    };
    assert_eq!(offered("steelbench show ''"), ["t"]);
    assert_eq!(offered("steelbench compare t ''"), ["t", "data_files=1", "data_files=2"]);
    assert_eq!(offered("steelbench show --j"), ["generated"]);
    assert_eq!(offered("steelbench show t ''"), ["generated"]);
    // The names of data sets are values that clap knows.
    for line in ["steelbench init ''", "steelbench data ''"] {
        assert_eq!(offered(line), ["generated"], "{line}");
    }
    let parsed =
        "source <(print 'compdef() { }'; steelbench completions zsh); whence -w _steelbench_words";
    assert_eq!(lines_of("zsh", &["-f", "-c", parsed], &lab), ["_steelbench_words: function"]);
}
