//! Compression as a factor on engines that have it: data is stored with the requested method, and
//! methods that are not available are errors.

use crate::common;
use crate::common::{Lab, skipped};
use crate::servers;
use crate::servers::installed::{duckdb_libraries, installations};
use std::path::Path;

/// Runs a ready experiment with other lines in place of some, and more in its target.
fn ready(name: &str, target: &str, changes: &[(&str, &str)]) -> Lab {
    let mut text = testing::ready::text(name);
    for (old, new) in
        [("[target]\n", format!("[target]\n{target}\n").as_str())].iter().chain(changes)
    {
        assert!(text.contains(old), "{old} is in {name}.toml");
        text = text.replace(old, new);
    }
    servers::lab(&text)
}

/// The mean of a fact of the trials with a level of compression.
fn fact(lab: &Lab, name: &str, level: &str, fact: &str) -> f64 {
    let sql = format!(
        "SELECT avg(f.value) FROM facts f JOIN trials t ON t.id = f.trial
         JOIN configuration_levels l ON l.configuration = t.configuration
         WHERE f.name = '{fact}' AND l.level = '{level}'"
    );
    lab.rows(name, &sql)[0].parse().unwrap()
}

/// The works of a ready experiment that are in the data of the section.
fn works(lab: &Lab) -> Vec<String> {
    let shown = lab.json(&["show"]).remove(0);
    let rows = shown["compression"][0]["rows"].as_array().unwrap_or_else(|| panic!("{shown}"));
    let mut works: Vec<String> =
        rows.iter().map(|row| row["work"].as_str().unwrap().to_owned()).collect();
    works.dedup();
    works.truncate(6);
    works
}

const WORKS: [&str; 6] =
    ["", "work=load", "work=hot scan", "work=cold scan", "work=lookups", "work=updates"];

#[test]
fn duckdb_compresses_as_it_is_told_and_what_it_does_not_is_an_error() {
    for library in duckdb_libraries() {
        let library = library.map(|path| format!("library = \"{path}\"")).unwrap_or_default();
        let small = [
            ("scale = 0.05", "scale = 0.01"),
            ("blocks = 3", "blocks = 2"),
            ("profile = true", "profile = false"),
            ("\"workload.scans\" = 20", "\"workload.scans\" = 2"),
            ("\"workload.lookups\" = 500", "\"workload.lookups\" = 50"),
            ("\"workload.updates\" = 200", "\"workload.updates\" = 20"),
        ];
        let lab = ready("compression-cost", &library, &small);
        let ended = lab.run(0);
        ended.shows("Compression").shows("break-even of a scan");
        assert_eq!(works(&lab), WORKS);
        let [none, auto] =
            ["none", "auto"].map(|level| fact(&lab, "compression-cost", level, "stored_bytes"));
        // 60,175 rows with 8 columns of 8 bytes, 4 of 4 and texts of more than 40: what is stored
        // as it is takes as much.
        assert!(none > 60_175.0 * 120.0 && auto < 0.6 * none, "{none} {auto}");
        // Without the format of file that has it, DuckDB stores texts as they are.
        let other = ("[\"none\", \"auto\", \"dictionary\"]", "[\"zstd\"]");
        let lab = ready("compression-cost", &library, &[&small[..], &[other]].concat());
        let failed = lab.run(1);
        failed.shows(
            "setting target.compression = zstd had no effect: the engine reports l_orderkey \
             BitPacking",
        );
        // A column by itself.
        let column = format!(
            "{library}\ncolumn_compression = {{ l_comment = \"none\", l_shipmode = \"dictionary\" \
             }}"
        );
        let only_auto = ("[\"none\", \"auto\", \"dictionary\"]", "[\"auto\"]");
        let lab = ready("compression-cost", &column, &[&small[..], &[only_auto]].concat());
        lab.run(0);
        let by_column = fact(&lab, "compression-cost", "auto", "stored_bytes");
        assert!(by_column > 1.2 * auto && by_column < none, "{auto} {by_column} {none}");
    }
}

#[test]
fn postgres_compresses_long_texts_and_a_server_without_a_method_is_named_before_the_first_trial() {
    for installation in installations() {
        let target = format!(
            "bindir = \"{}\"\nversion = \"{}\"",
            installation.bindir.display(),
            installation.version
        );
        let small = [
            ("rows = \"5k\"", "rows = \"500\""),
            ("blocks = 3", "blocks = 2"),
            ("profile = true", "profile = false"),
            ("{ jit = false }", "{ jit = false, fsync = false }"),
            ("\"workload.lookups\" = \"10k\"", "\"workload.lookups\" = 100"),
            ("\"workload.updates\" = 1000", "\"workload.updates\" = 50"),
        ];
        let with_lz4 = ("[\"none\", \"pglz\"]", "[\"none\", \"pglz\", \"lz4\"]");
        let lab = ready("compression-toast", &target, &[&small[..], &[with_lz4]].concat());
        let mut ended = lab.steelbench(&["run", "e.toml", "--full"]);
        let lab = if ended.code == Some(2) && ended.stderr.contains("was built without lz4") {
            assert_eq!(lab.trials("compression-toast"), 0);
            let lab = ready("compression-toast", &target, &small);
            ended = lab.run(0);
            lab
        } else {
            lab
        };
        ended.expect(0).shows("break-even of a scan");
        assert_eq!(works(&lab), WORKS);
        let [none, pglz] =
            ["none", "pglz"].map(|level| fact(&lab, "compression-toast", level, "stored_bytes"));
        // Texts of 3,000 to 5,000 bytes, out of line in chunks.
        assert!((500.0 * 4_000.0..500.0 * 6_500.0).contains(&none), "{none}");
        assert!(pglz < 0.7 * none, "{pglz} of {none}");
    }
}

/// InnoDB's report on its tables during a load, the size of their files on disk, and the recorded
/// figures agree.
#[test]
#[ignore = "lane all: a load for each of four methods"]
fn innodb_compresses_rows_and_pages_as_it_is_told() {
    let Some(server) = servers::mariadb::Server::start(&[]) else { return };
    let mut root = server.connect();
    let mut measured = |method: &str| {
        let lab = servers::lab(&format!(
            "[experiment]\nname = \"t\"\n[target]\nengine = \"mariadb\"\nurl = \
             \"{}\"\n[workload]\nprobe = \"lookup\"\ndata = \"documents\"\nrows = \
             2000\nconnections = 2\nduration = \"3 s\"\n[observe]\nwaits = \
             false\n[factors]\n\"target.compression\" = [\"{method}\"]\n[repeats]\nblocks = 1\n",
            server.url("root")
        ));
        let child = lab.start();
        let runs =
            "SELECT count(*) > 2 FROM information_schema.processlist WHERE db = 'steelbench'";
        common::wait_until("a load runs", || root.cell(runs).unwrap().as_deref() == Some("1"));
        let sql = "SELECT concat(row_format, ' ', create_options) FROM information_schema.tables \
                   WHERE table_schema = 'steelbench' AND table_name <> 'made_by_steelbench'";
        let options = root.cell(sql).unwrap().unwrap();
        let files = std::fs::read_dir(server.folder().join("data/steelbench")).unwrap().flatten();
        let of_data = |file: &std::path::Path| {
            file.extension().is_some_and(|end| end == "ibd")
                && !file.ends_with("made_by_steelbench.ibd")
        };
        let on_disk: u64 = files
            .filter(|file| of_data(&file.path()))
            .map(|file| std::os::unix::fs::MetadataExt::blocks(&file.metadata().unwrap()) * 512)
            .sum();
        common::end(child).expect(0);
        (options, fact(&lab, "t", method, "stored_bytes"), on_disk as f64)
    };
    let (options, none, on_disk) = measured("none");
    assert!(options.starts_with("Dynamic") && !options.contains("COMPRESSED"), "{options}");
    // Texts of 3,000 to 5,000 bytes, each in a page of its own.
    assert!(none > 2000.0 * 3_000.0 && (none / on_disk - 1.0).abs() < 0.05, "{none} {on_disk}");
    let mut before = none;
    for (method, says, of_none) in [
        ("compressed-8k", "KEY_BLOCK_SIZE=8", 0.7),
        ("compressed-4k", "KEY_BLOCK_SIZE=4", 0.6),
        ("page-zlib", "PAGE_COMPRESSED", 0.8),
    ] {
        let (options, stored, on_disk) = measured(method);
        let is_so = options.to_uppercase().contains(says)
            && (options.starts_with("Compressed") == says.contains("KEY"));
        assert!(is_so, "{method}: {options}");
        assert!(stored < of_none * none, "{method}: {stored} of {none}");
        assert!((stored / on_disk - 1.0).abs() < 0.05, "{method}: {stored} and {on_disk}");
        if says.contains("KEY") {
            assert!(stored < before, "{method}: {stored} of {before}");
            before = stored;
        }
    }
}

/// The server is there, and lacks one thing: not MariaDB is what is not installed.
#[test]
fn a_level_that_a_server_was_built_without_is_left_out_and_said_so() {
    let is_there =
        |method: &&str| Path::new(&format!("/usr/lib/mysql/plugin/provider_{method}.so")).exists();
    let lacking =
        ["snappy", "lzma", "bzip2", "lzo", "lz4"].into_iter().find(|method| !is_there(method));
    let Some(method) = lacking.filter(|_| !servers::installed::mariadb_installations().is_empty())
    else {
        return skipped("a MariaDB server that lacks a plugin for compression is needed");
    };
    let lab = Lab::with(&format!(
        "[experiment]\nname = \"t\"\n[target]\nengine = \"mariadb\"\n[workload]\nprobe = \
         \"lookup\"\nrows = 10\nlookups = 1\n[[level]]\nfactor = \"pages\"\nname = \"plain\"\nset \
         = {{ \"target.compression\" = \"none\" }}\n[[level]]\nfactor = \"pages\"\nname = \
         \"other\"\nif_installed = true\nset = {{ \"target.compression\" = \"page-{method}\" }}\n"
    ));
    let checked = lab.steelbench(&["check", "e.toml"]).expect(0);
    let output = checked.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let says = format!("level other of pages omitted: this server was built without {method}");
    assert!(output.contains(&says) && !output.contains("not installed"), "{output}");
}

/// An experiment that scans a data set.
fn scan(engine: &str, target: &str, data: &str) -> String {
    format!(
        "[experiment]\nname = \"t\"\n[target]\nengine = \"{engine}\"\n{target}\n[workload]\nprobe \
         = \"scan\"\ndata = \"{data}\"\nscale = 0.001\nrows = 100\nscans = 1\n"
    )
}

#[test]
fn what_an_engine_does_not_have_is_said_by_check() {
    for (engine, target, data, says) in [
        ("sqlite", "compression = \"zstd\"", "lineitem", "known: none"),
        (
            "sqlite",
            "column_compression = { l_comment = \"zstd\" }",
            "lineitem",
            "column_compression",
        ),
        ("duckdb", "compression = \"lzo\"", "lineitem", "bitpacking"),
        (
            "duckdb",
            "column_compression = { l_coment = \"zstd\" }",
            "lineitem",
            "did you mean `l_comment`?",
        ),
        (
            "duckdb",
            "compression = \"none\"\nsettings = { force_compression = \"rle\" }",
            "lineitem",
            "; remove one of them",
        ),
        ("postgres", "compression = \"zstd\"", "documents", "pglz"),
        ("postgres", "compression = \"pglz\"", "lineitem", "use data = \"documents\""),
        (
            "postgres",
            "column_compression = { n = \"pglz\" }",
            "documents",
            "compresses text columns only",
        ),
    ] {
        let ended = Lab::with(&scan(engine, target, data)).steelbench(&["check", "e.toml"]);
        assert_eq!(ended.code, Some(2), "{engine} {target}: {ended:?}");
        ended.says(says).says("compression");
    }
}

/// A library tells its methods: 1.2 knows no `dict_fsst`.
#[test]
#[ignore = "lane all: versions of duckdb"]
fn a_method_that_a_version_does_not_have_is_refused_by_check() {
    let libraries: Vec<String> = duckdb_libraries().into_iter().flatten().collect();
    let Some(old) = libraries.iter().find(|path| path.contains("1.2")) else {
        return skipped("no libduckdb 1.2 in STEELBENCH_TEST_DUCKDB_LIBS");
    };
    let target = format!("library = \"{old}\"\ncompression = \"dict_fsst\"");
    let lab = Lab::with(&scan("duckdb", &target, "lineitem"));
    lab.steelbench(&["check", "e.toml"])
        .expect(2)
        .says("DuckDB 1.2.2 does not support compression `dict_fsst`");
}
