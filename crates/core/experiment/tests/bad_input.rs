//! Files that are wrong: each error at its place, saying what is allowed.

mod shown;

use crate::common::{DESIGN, EVERYTHING, parse};
use experiment::FileErrors;

#[track_caller]
fn errors(source: &str) -> FileErrors {
    parse(source).map(|_| ()).expect_err("the file is wrong")
}

/// Replaces `old` in the file of the design, and checks that there is one error, which covers
/// `marked` in the new file and has all of these parts.
#[track_caller]
fn check(source: &str, old: &str, new: &str, marked: &str, parts: &[&str]) {
    assert!(source.contains(old), "{old} is in the file");
    let source = source.replacen(old, new, 1);
    let found = errors(&source);
    let rendered = found.render("test.toml", &source);
    assert_eq!(found.errors.len(), 1, "{rendered}");
    let error = &found.errors[0];
    let line = source.lines().nth(error.line - 1).unwrap_or_default();
    let covered: String = line.chars().skip(error.column - 1).take(error.length).collect();
    assert_eq!(covered, marked, "{rendered}");
    for part in parts {
        assert!(rendered.contains(part), "{part} is missing in\n{rendered}");
    }
}

#[test]
fn unknown_keys_name_the_nearest() {
    let near = |old, new, marked, parts: &[&str]| check(DESIGN, old, new, marked, parts);
    near(
        "connections = 16",
        "conections = 16",
        "conections",
        &[
            "error: workload.conections: unknown setting `workload.conections`",
            "did you mean `workload.connections`? (known: workload.key, workload.connections, \
             workload.rows",
        ],
    );
    near(
        "[repeats]",
        "[repeat]",
        "repeat",
        &["unknown section `repeat`", "did you mean `repeats`?"],
    );
    near(
        "blocks = 5",
        "bloks = 5",
        "bloks",
        &["repeats: unknown setting `bloks`", "did you mean `blocks`?"],
    );
    near("baseline =", "base_line =", "base_line", &["did you mean `baseline`?"]);
    near("question =", "qestion =", "qestion", &["did you mean `question`?"]);
    near(
        "engine = \"sqlite\"",
        "engine = \"sqllite\"",
        "\"sqllite\"",
        &[
            "target.engine: unknown engine `sqllite`",
            "did you mean `sqlite`? (known: sqlite, server)",
        ],
    );
    near("probe = \"insert\"", "probe = \"inserts\"", "\"inserts\"", &["unknown probe `inserts`"]);
    near(
        "key = \"random\"",
        "key = \"randon\"",
        "\"randon\"",
        &[
            "workload.key: unknown value `randon`",
            "did you mean `random`? (known: random, sequential)",
        ],
    );
    near(
        "rows = \"320k\"",
        "xyzzy = 1",
        "xyzzy",
        &["unknown setting `workload.xyzzy`", "known: workload.key"],
    );
    near("settings = { synchronous = \"normal\" }", "settings = 5", "5", &["this is a table"]);
    // A setting of another engine is not one of this one.
    let of_scan = ["`workload.share` is not a setting of probe insert", "a setting of probe scan"];
    near("connections = 16", "share = 0.5", "share", &of_scan);
}

#[test]
fn values_say_what_is_allowed() {
    let rows = |value: &str, part| {
        check(DESIGN, "rows = \"320k\"", &format!("rows = {value}"), value, &[part]);
    };
    rows("0", "`0` is not allowed; expected 1 to 1000000000000");
    rows("-5", "`-5` is not allowed");
    rows("\"0k\"", "`0k` is not allowed");
    rows("1.5", "whole numbers from 1 to 1000000000000, as \"320k\", \"2 million\"");
    rows("\"many\"", "`many` is not allowed");
    rows("9223372036854775807", "expected 1 to 1000000000000");
    rows("\"9 billion billion\"", "is not allowed");
    rows("true", "`true` is not allowed");
    rows("[1, 2]", "a list is not allowed");
    rows("2026-01-01", "`2026-01-01` is not allowed");
    check(
        DESIGN,
        "16\n",
        "{ a = 1 }\n",
        "a",
        &["unknown setting `workload.connections.a`", "workload.connections`?"],
    );
    check(DESIGN, "16\n", "{}\n", "{}", &["a table is not allowed"]);

    check(DESIGN, "seed = 1", "seed = -1", "-1", &["expected 0 to"]);
    check(DESIGN, "blocks = 5", "blocks = 0", "0", &["repeats.blocks", "expected 1 to"]);
    check(
        DESIGN,
        "[repeats]",
        "[limits]\ntrial_time = 0\n[repeats]",
        "0",
        &["limits.trial_time", "above 0"],
    );
    check(DESIGN, "[repeats]", "[observe]\ninterval = \"0 s\"\n[repeats]", "\"0 s\"", &["above 0"]);
    check(
        DESIGN,
        "[repeats]",
        "[observe]\nwaits = \"no\"\n[repeats]",
        "\"no\"",
        &["true or false"],
    );
    check(EVERYTHING, "rate = \"5k/s\"", "rate = \"-5/s\"", "\"-5/s\"", &["\"5000/s\"", "above 0"]);
    check(
        EVERYTHING,
        "duration = \"2 min\"",
        "duration = \"2 fortnights\"",
        "\"2 fortnights\"",
        &["\"250 ms\""],
    );
    check(
        EVERYTHING,
        "disk_space = \"4 GiB\"",
        "disk_space = \"4 lightyears\"",
        "\"4 lightyears\"",
        &["\"64 KiB\""],
    );
}

#[test]
fn names_are_names_of_files() {
    let name = "name = \"random-insert-data-files\"";
    for bad in ["a/b", "..", "Capitals", "ünicode", "with space", "-option", ""] {
        let quoted = format!("\"{bad}\"");
        check(DESIGN, name, &format!("name = {quoted}"), &quoted, &["experiment.name"]);
    }
    check(DESIGN, name, "", "experiment", &["experiment.name: missing"]);
    check(DESIGN, name, "name = 5", "5", &["a quoted text"]);
    check(
        DESIGN,
        name,
        &format!("name = \"{}\"", "a".repeat(101)),
        &format!("\"{}\"", "a".repeat(101)),
        &["at most 100"],
    );
}

#[test]
fn engine_and_probe_are_needed() {
    check(
        DESIGN,
        "engine = \"sqlite\" ",
        "",
        "target",
        &["target.engine: missing", "known: sqlite, server"],
    );
    check(DESIGN, "probe = \"insert\"", "", "workload", &["workload.probe: missing"]);
    check(DESIGN, "engine = \"sqlite\" ", "engine = 7", "7", &["target.engine", "a quoted text"]);
    // Linked levels of which only one names an engine.
    let source = DESIGN.replace("engine = \"sqlite\"", "")
        + "
        [[level]]
        factor = \"system\"
        name = \"ours\"
        set = { \"target.engine\" = \"sqlite\" }
        [[level]]
        factor = \"system\"
        name = \"theirs\"
    ";
    check(&source, "", "", "target", &["target.engine: missing in configuration", "system=theirs"]);
}

#[test]
fn factors_name_settings_and_have_levels() {
    let files = "\"target.data_files\" = [1, 2, 4, 8, 16]";
    let factor = |new: &str, marked: &str, parts: &[&str]| {
        // Without the baseline, which would be wrong as well.
        let source = DESIGN.replace("baseline = { \"target.data_files\" = 1 }", "");
        check(&source, files, new, marked, parts);
    };
    factor(
        "\"target.datafiles\" = [1, 2]",
        "\"target.datafiles\"",
        &["unknown setting `target.datafiles`", "did you mean `target.data_files`?"],
    );
    factor("data_files = [1, 2]", "data_files", &["did you mean `target.data_files`?"]);
    factor("\"target.data_files\" = []", "[]", &["the factor needs at least one level"]);
    factor("\"target.data_files\" = 4", "4", &["a factor is a list of levels"]);
    factor("\"target.data_files\" = [1, 0]", "0", &["`0` is not allowed; expected 1 to 126"]);
    factor("\"target.data_files\" = [1, \"two\"]", "\"two\"", &["`two` is not allowed"]);
    factor("\"target.data_files\" = [1, 2, 1]", "1", &["the level `1` is given twice"]);
    factor(
        "\"workload.rows\" = [320000, \"320k\"]",
        "\"320k\"",
        &["the level `320k` is given twice"],
    );
    factor(
        "\"target.settings.cache_size\" = [1, \"1\"]",
        "\"1\"",
        &["the level `1` is given twice"],
    );
    factor(
        "\"target.open\" = [\"separate\", \"atached\"]",
        "\"atached\"",
        &["did you mean `attached`?"],
    );
    factor(
        "\"target.engine\" = [\"sqlite\", \"servre\"]",
        "\"servre\"",
        &["did you mean `server`?"],
    );
    factor("\"target.data_files\" = [1]\ntarget.data_files = [2]", "data_files", &["varied twice"]);
    factor(
        "\"experiment.name\" = [\"a\", \"b\"]",
        "\"experiment.name\"",
        &["unknown setting `experiment.name`"],
    );
}

#[test]
fn linked_levels_belong_to_one_factor() {
    let level = "factor = \"array\"\nname = \"raid-1\"\n";
    let set = "set = { \"target.settings.journal_mode\" = \"delete\" }";
    check(
        EVERYTHING,
        level,
        "factor = \"array\"\nname = \"raid-0\"\n",
        "\"raid-0\"",
        &["factor `array` has two levels named `raid-0`"],
    );
    check(
        EVERYTHING,
        set,
        "set = { \"target.data_files\" = 2 }",
        "\"target.data_files\"",
        &["factors `target.data_files` and `log` both set this"],
    );
    check(
        EVERYTHING,
        set,
        "set = { \"target.datafiles\" = 2 }",
        "\"target.datafiles\"",
        &["did you mean"],
    );
    check(EVERYTHING, set, "set = { \"target.open\" = 2 }", "2", &["expected separate, attached"]);
    check(EVERYTHING, set, "set = [1]", "[1]", &["write settings by their dotted paths"]);
    check(
        EVERYTHING,
        set,
        "sets = {}",
        "sets",
        &["level: unknown setting `sets`", "did you mean `set`?"],
    );
    check(EVERYTHING, "name = \"raid-0\"\n", "", "[[level]]", &["level: name is missing"]);
    check(
        EVERYTHING,
        "factor = \"array\"\nname = \"raid-0\"",
        "factor = \"target.data_files\"\nname = \"raid-0\"",
        "\"target.data_files\"",
        &["has its levels in [factors]"],
    );
}

#[test]
fn exclusions_exclude_something_and_leave_something() {
    let rule = "\"target.data_files\" = [2, 4]\nlog = \"wal, synced\"";
    let exclude =
        |new: &str, marked: &str, parts: &[&str]| check(EVERYTHING, rule, new, marked, parts);
    exclude(
        "\"target.datafiles\" = 2",
        "\"target.datafiles\"",
        &["exclude: unknown factor", "did you mean"],
    );
    exclude(
        "log = \"wal, sinced\"",
        "\"wal, sinced\"",
        &["unknown level of log `wal, sinced`", "did you mean `wal, synced`?"],
    );
    exclude(
        "\"target.data_files\" = [2, 3]",
        "3",
        &["unknown level of target.data_files `3`", "known: 1, 2, 4"],
    );
    exclude("", "[[exclude]]", &["no factor given"]);
    exclude("log = []", "[]", &["no level of log"]);
    exclude(
        "\"target.data_files\" = [2, 4]\n[[exclude]]\n\"target.data_files\" = [2, \
         4]\n[[exclude]]\n\"target.data_files\" = 1\nlog = \"rollback\"\narray = \
         \"raid-0\"\n\"target.volume\" = \"fast\"",
        "{ \"target.data_files\" = 1, \"log\" = \"rollback\" }",
        &["report.baseline: this configuration is excluded"],
    );
    let all = EVERYTHING.replacen(rule, "log = [\"wal, synced\", \"rollback\"]", 1);
    check(&all, "", "", "[[exclude]]", &["every configuration is excluded"]);
}

#[test]
fn the_baseline_is_one_configuration() {
    let old = "{ \"target.data_files\" = 1 }";
    let baseline = |new: &str, marked: &str, parts: &[&str]| check(DESIGN, old, new, marked, parts);
    baseline(
        "{ \"target.data_files\" = 3 }",
        "3",
        &["report.baseline: unknown level of target.data_files `3`", "known: 1, 2, 4, 8, 16"],
    );
    baseline(
        "{ \"target.data_file\" = 1 }",
        "\"target.data_file\"",
        &["did you mean `target.data_files`?"],
    );
    baseline(
        "{ \"target.data_files\" = [1, 2] }",
        "{ \"target.data_files\" = [1, 2] }",
        &["not several"],
    );
    baseline("1", "1", &["write factors with their levels"]);
}

#[test]
fn volumes_are_declared() {
    check(
        EVERYTHING,
        "volume = \"fast\"",
        "volume = \"fats\"",
        "\"fats\"",
        &["target.volume: unknown volume `fats`", "did you mean `fast`? (known: fast, slow)"],
    );
    check(
        EVERYTHING,
        "[\"fast\", [\"fast\", \"slow\"]]",
        "[\"fast\", [\"fast\", \"sloow\"]]",
        "\"sloow\"",
        &["did you mean `slow`?"],
    );
    check(
        EVERYTHING,
        "\"target.settings.journal_mode\" = \"delete\"",
        "\"target.log_volume\" = \"x\"",
        "\"target.log_volume\"",
        &["`target.log_volume` is not a setting of engine sqlite"],
    );
    check(
        DESIGN,
        "settings =",
        "volume = \"fast\"\nsettings =",
        "\"fast\"",
        &[
            "volume `fast` is not declared",
            "help: add a [[volume]] with name = \"fast\" and its path",
        ],
    );
    check(
        EVERYTHING,
        "[[manual]]",
        "[[volume]]\nname = \"fast\"\npath = \"/mnt/other\"\n[[manual]]",
        "\"fast\"",
        &["two volumes have the name `fast`"],
    );
    check(EVERYTHING, "path = \"/mnt/slow\"", "", "[[volume]]", &["volume: path is missing"]);
    check(EVERYTHING, "hook_timeout = \"1 min\"", "hook_timeout = 0", "0", &["above 0"]);
}

#[test]
fn throttles_are_limits_with_units() {
    let throttle = "{ read_iops = \"3k\", write_iops = 1500, bandwidth = \"125 MB/s\", \
                    write_bandwidth = \"64 MiB/s\" }";
    let near =
        |new: &str, marked: &str, parts: &[&str]| check(EVERYTHING, throttle, new, marked, parts);
    let all = "write { read_iops = ..., write_iops = ..., bandwidth = ..., read_bandwidth = ..., \
               write_bandwidth = ... }";
    near("{}", "{}", &["volume.throttle: this is a table", all]);
    near("3000", "3000", &["volume.throttle: this is a table", all]);
    near(
        "{ write_iops = 0 }",
        "0",
        &["volume.throttle.write_iops: `0` is not allowed", "1 to 1000000000"],
    );
    near(
        "{ bandwidth = \"125 MB\" }",
        "\"125 MB\"",
        &[
            "volume.throttle.bandwidth: `125 MB` is not allowed",
            "as \"125 MB/s\", \"64 MiB/s\" or in digits",
        ],
    );
    // 125 without a unit is a mistake, not 125 bytes a second.
    near("{ bandwidth = 125 }", "125", &["expected 4096 to"]);
    near(
        "{ write_iop = 3000 }",
        "write_iop",
        &["volume: unknown setting `throttle.write_iop`", "did you mean `throttle.write_iops`?"],
    );
}

#[test]
fn order_and_manual_steps_name_factors() {
    check(
        EVERYTHING,
        "[\"target.volume\"]",
        "[\"target.volum\"]",
        "\"target.volum\"",
        &["order.hard_to_change: unknown factor", "did you mean `target.volume`?"],
    );
    check(
        EVERYTHING,
        "[\"target.volume\"]",
        "[\"array\", \"array\"]",
        "\"array\"",
        &["given twice"],
    );
    check(
        EVERYTHING,
        "[[manual]]\nfactor = \"array\"",
        "[[manual]]\nfactor = \"aray\"",
        "\"aray\"",
        &["manual.factor: unknown factor `aray`", "did you mean `array`?"],
    );
    check(
        EVERYTHING,
        "[hooks]",
        "[[manual]]\nfactor = \"array\"\ntext = \"x\"\n[hooks]",
        "\"array\"",
        &["two manual steps"],
    );
}

#[test]
fn adaptive_repeats_are_complete() {
    let old = "{ min = 3, max = 20, until = \"2%\" }";
    let blocks = |new: &str, marked: &str, part| check(EVERYTHING, old, new, marked, &[part]);
    blocks("{ min = 3, max = 20 }", "{ min = 3, max = 20 }", "until missing");
    blocks("{ min = 30, max = 20, until = 0.1 }", "30", "30 is above max (20)");
    blocks("{ min = 1, max = 20, until = 0.1 }", "1", "repeats.blocks.min: `1` is not allowed");
    blocks("{ min = 3, max = 20, until = 0 }", "0", "a share above 0");
    blocks("{ min = 3, max = 20, until = \"2\" }", "\"2\"", "from 0 to 1");
    blocks("{}", "{}", "a table is not allowed");
}

#[test]
fn sections_have_their_brackets() {
    check(EVERYTHING, "[limits]", "[[limits]]", "limits", &["this is a section: write [limits]"]);
    check(
        DESIGN,
        "[repeats]",
        "[exclude]\n[repeats]",
        "exclude",
        &["this is a section: write [[exclude]]"],
    );
    check(
        DESIGN,
        "[experiment]",
        "volume = [1]\n[experiment]",
        "1",
        &["expected a table, found a number"],
    );
    check(DESIGN, "[experiment]", "hooks = 1\n[experiment]", "hooks", &["write [hooks]"]);
}

/// A thousand million configurations are counted, not made.
#[test]
fn too_many_configurations_are_counted() {
    let levels = (1..=1000).map(|level| level.to_string()).collect::<Vec<_>>().join(", ");
    let factors = format!(
        "\"workload.rows\" = [{levels}]\n\"workload.connections\" = \
         [{levels}]\n\"target.file_growth\" = [{levels}]\n"
    );
    check(
        DESIGN,
        "\"target.data_files\" = [1, 2, 4, 8, 16]\n\"target.settings.synchronous\" = [\"normal\", \
         \"full\"]",
        &(factors + "\"target.data_files\" = [1]"),
        "factors",
        &["1000 x 1000 x 1000 x 1 = 1000000000 configurations; the maximum is 10000"],
    );
    // More than any integer holds.
    let many: Vec<String> =
        (0..60).map(|factor| format!("\"target.settings.s{factor}\" = [1, 2, 3, 4, 5]")).collect();
    check(
        DESIGN,
        "\"target.settings.synchronous\" = [\"normal\", \"full\"]",
        &many.join("\n"),
        "factors",
        &["more than 10^38"],
    );
    // Each number is possible, their product is not.
    check(
        DESIGN,
        "blocks = 5",
        "blocks = 1_000_000",
        "1_000_000",
        &["10 configurations in 1000000 blocks are 10000000 trials"],
    );
}

#[test]
fn set_ups_need_a_factor_and_blocks() {
    check(
        DESIGN,
        "[repeats]",
        "[repeats]\nsetups = 3",
        "3",
        &["repeats.setups: there is no hard-to-change factor", "order.hard_to_change"],
    );
    let hard = "[order]\nhard_to_change = [\"target.data_files\"]\n[repeats]";
    let six = format!("{hard}\nsetups = 6");
    check(DESIGN, "[repeats]", &six, "6", &["5 blocks cannot be divided among 6 set-ups"]);
    check(
        EVERYTHING,
        "[repeats]",
        "[repeats]\nsetups = 2",
        "2",
        &["adaptive repeats cannot be divided"],
    );
    parse(&DESIGN.replace("[repeats]", &format!("{hard}\nsetups = 5"))).unwrap();
}
