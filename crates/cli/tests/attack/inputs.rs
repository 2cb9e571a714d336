//! Text input of users: experiment files, fio's job files, connection strings, scripts.

use crate::attack::arena::{Arena, Random, Tries, USUAL, campaign};
use crate::common::scripted;

/// Pieces that are special to a parser, a terminal, a shell or a number.
const PIECES: &[&[u8]] = &[
    b"\n",
    b"\r\n",
    b"=",
    b"[",
    b"]",
    b"[[",
    b"{",
    b"}",
    b"\"",
    b"'",
    b"\"\"\"",
    b",",
    b".",
    b"#",
    b"\\",
    b"%",
    b"$",
    b";",
    b":",
    b"/",
    b"@",
    b"../",
    b"\0",
    b"\x1b[2J",
    b"\x1b]0;x\x07",
    b"\x7f",
    b"\xc2\x9b",
    b"\xe2\x80\xae",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"0",
    b"-1",
    b"1e308",
    b"nan",
    b"-inf",
    b"9223372036854775807",
    b"18446744073709551616",
    b"99999999999999999999",
    b"1e400 GiB",
    b"100%",
    b"true",
    b"[]",
    b"\"\"",
    b"\\u0000",
    b"\\u001b",
    b"[factors]",
    b"[[level]]",
    b"[[exclude]]",
    b"[[volume]]",
    b"name = ",
    b"set = {}",
    b"engine = \"postgres\"",
    b"\"/dev/zero\"",
    b"\"/proc/self/mem\"",
    b"((((((((((((((((((((((((((((((",
    b"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
];

fn mutated(random: &mut Random, text: &str) -> Vec<u8> {
    random.mutate(text.as_bytes(), PIECES)
}

/// Now and then something that is only large.
fn large(random: &mut Random) -> Option<Vec<u8>> {
    Some(match random.below(140) {
        0 => b"[".repeat(100_000),
        1 => b"x = [".repeat(20_000),
        2 => b"a.".repeat(50_000),
        3 => [b"[experiment]\nname = \"".as_slice(), &b"n".repeat(1 << 20), b"\"\n"].concat(),
        4 => b"\"target.data_files\" = [1]\n".repeat(10_000),
        5 => Vec::new(),
        6 => b"\\set a ".iter().copied().chain(b"(-".repeat(50_000)).collect(),
        7 => b"\\if 1\n".repeat(100_000),
        8 => b"\\set a case when 1 then "
            .iter()
            .copied()
            .chain(b"case when not 1 then ".repeat(30_000))
            .collect(),
        9 => b"/*".repeat(200_000),
        10 => b"SELECT 1; ".repeat(500_000),
        11 => (0..200_000).flat_map(|n| format!("\\set v{n} :v{}\n", n / 2).into_bytes()).collect(),
        12 => (0..100_000)
            .flat_map(|n| format!("SELECT 1 AS c \\gset p{n}_\nSELECT :x{n};\n").into_bytes())
            .collect(),
        13 => (0..300_000).flat_map(|n| format!("SELECT {n};").into_bytes()).collect(),
        14 => [
            b"[global]\n".as_slice(),
            &b"direct=1\n".repeat(5_000),
            &b"[job]\nrw=read\n".repeat(20_000),
        ]
        .concat(),
        _ => return None,
    })
}

fn experiments() -> Vec<String> {
    let files = testing::ready::experiments().into_iter();
    let texts = files.map(|path| std::fs::read_to_string(path).unwrap());
    texts.chain([scripted(3, "", "")]).collect()
}

#[test]
fn experiment_files() {
    let texts = experiments();
    let arena = Arena::new();
    campaign("experiment_files", Tries { short: 10, full: 3000 }, |random| {
        let text = random.pick(&texts);
        let bytes = large(random).unwrap_or_else(|| mutated(random, text));
        arena.write("e.toml", &bytes);
        arena.run(&["check", "e.toml"], USUAL)?;
        arena.is_clean()
    });
}

const JOBS: &str = "[global]\nioengine=libaio\ndirect=1\nbs=4k\nsize=64m\nruntime=2\ntime_based\n\
                    group_reporting\n[random-read]\nrw=randread\niodepth=16\nnumjobs=4\n\
                    filename=data\n[log]\nstonewall\nrw=write\nbs=8k-64k\nfsync=1\nrate_iops=500\n\
                    rwmixread=70\n[mixed]\nrw=randrw:8\nrandom_distribution=zipf:1.2\nbssplit=4k/\
                    50:8k/50\nthinktime=100us\nsize=50%\n";

#[test]
fn fio_job_files() {
    let arena = Arena::new();
    campaign("fio_job_files", Tries { short: 10, full: 1000 }, |random| {
        let bytes = large(random).unwrap_or_else(|| mutated(random, JOBS));
        arena.write("a.fio", &bytes);
        let ignore = ["--fio-ignore", "--print"];
        arena.run(&[&["disk", "--fio", "a.fio"], &ignore[random.below(2)..]].concat(), USUAL)?;
        arena.is_clean()
    });
}

const SECRET: &str = "Geh3imnis";

#[test]
fn connection_strings() {
    let arena = Arena::new();
    let strings = [
        "postgres://me:Geh3imnis@127.0.0.1:5432/d?sslmode=require&connect_timeout=3",
        "host=127.0.0.1 port=5432 user=me password=Geh3imnis dbname=d options='-c a=b'",
        "postgresql://me:Geh3imnis@[::1],127.0.0.1:5433/d?application_name=x",
        "mysql://me:Geh3imnis@h/d",
        "me:Geh3imnis@h",
    ];
    campaign("connection_strings", Tries { short: 20, full: 1000 }, |random| {
        let text = random.pick(&strings).to_owned();
        let url = String::from_utf8_lossy(&mutated(random, text)).into_owned();
        let quoted: Vec<String> = url.chars().map(|c| format!("\\U{:08X}", u32::from(c))).collect();
        let quoted = quoted.concat();
        let file = scripted(1, "", "").replace("\"null\"", "\"postgres\"");
        arena.write(
            "e.toml",
            file.replace("[workload]", &format!("url = \"{quoted}\"\n[workload]")).as_bytes(),
        );
        let outcome = arena.run(&["check", "e.toml"], USUAL)?;
        // The word may be printed where the mutated URL no longer marks it as a password.
        let mut places = url.match_indices(SECRET).map(|(at, _)| &url[..at]);
        let is_password =
            places.all(|before| before.ends_with("password=") || before.ends_with(':'));
        if is_password && outcome.text().contains(SECRET) {
            return Err(format!("{url:?}: tells the password: {}", outcome.text()));
        }
        arena.is_clean()
    });
}

const SCRIPT: &str = "\\set aid random(1, 100000 * :scale)\n\\set delta random_gaussian(-5000, \
                      5000, 2.5)\n\\if :delta > 0 and not (:aid % 7 = 0)\nBEGIN;\nUPDATE t SET a \
                      = a + :delta WHERE b = :aid;\nSELECT a FROM t WHERE b = :aid \\gset \
                      p_\n\\sleep 10 us\nEND;\n\\elif hash(:aid, 5) between 3 and 9\nSELECT \
                      'it''s', \"q\", $$x;y$$, $tag$ :aid $tag$; -- comment\n/* a /* nested */ \
                      one */ SELECT :p_a;\n\\endif\n";

#[test]
fn scripts() {
    let arena = Arena::new();
    let workload = "probe = \"script\"\nscript = \"s.sql\"\nvariables = { scale = 2 \
                    }\nconnections = 1\ntransactions = 3\n";
    let file = format!(
        "[experiment]\nname = \"t\"\n[target]\nengine = \
         \"sqlite\"\n[workload]\n{workload}[repeats]\nblocks = 1\n[limits]\ntrial_time = \"10 \
         s\"\n"
    );
    arena.write("e.toml", file.as_bytes());
    campaign("scripts", Tries { short: 10, full: 1000 }, |random| {
        let bytes = large(random).unwrap_or_else(|| mutated(random, SCRIPT));
        arena.write("s.sql", &bytes);
        arena.run(&["check", "e.toml"], USUAL)?;
        if random.below(4) == 0 {
            arena.run(&["run", "e.toml", "--fresh"], USUAL)?;
        }
        arena.is_clean()
    });
}

/// Measurements as other tools print them, by the names of their files.
const MEASUREMENTS: [(&str, &str); 5] = [
    (
        "h.json",
        r#"{"results": [{"command": "a", "mean": 1.5, "times": [1.0, 2.0],
            "parameters": {"n": "1"}, "exit_codes": [0, 0]}]}"#,
    ),
    (
        "f.json",
        r#"{"fio version": "fio-3.33", "jobs": [{"jobname": "r", "error": 0, "read":
            {"total_ios": 100, "iops": 5000.0, "bw": 20000, "runtime": 1000, "clat_ns":
            {"mean": 190000.0, "percentile": {"99.000000": 400000}}}}]}"#,
    ),
    (
        "s.txt",
        "Number of threads: 4\n\nSQL statistics:\n    transactions:    10000  (1000.50 per \
         sec.)\n\nGeneral statistics:\n    total time:    9.9950s\n    total number of events:    \
         10000\n\nLatency (ms):\n         avg:    3.99\n         95th percentile:    5.67\n",
    ),
    ("p.log", "0 1 2000 0 1700000000 2000\n0 2 4000 0 1700000000 6000 7\n1 1 failed 0 17 70\n"),
    ("t.csv", "configuration,block,throughput (tx/s),latency p99 (ms)\na,1,100,5\nb,1,200,3\n"),
];

/// Such measurements, possibly manipulated: what is refused leaves no run.
#[test]
fn imports() {
    campaign("imports", Tries { short: 10, full: 1000 }, |random| {
        let arena = Arena::new();
        let (name, text) = *random.in_turn(&MEASUREMENTS);
        let bytes = large(random).unwrap_or_else(|| mutated(random, text));
        arena.write(name, &bytes);
        let imported = arena.run(&["import", name], USUAL)?;
        let has_run = arena.path("results/imported.steelbench").exists();
        if imported.status.success() != has_run {
            return Err(format!("has a run: {has_run}: {}", imported.text()));
        }
        if has_run {
            arena.run(&["show", "imported", "--full"], USUAL)?;
        }
        arena.is_clean()
    });
}

/// An inventory of a machine with a server, and a profile, as other machines would have written
/// them.
fn documents() -> [String; 2] {
    let setting = r#"{"name":"work_mem","value":"4096","unit":"kB","default":"4096",
        "source":"default","is_changed":false,"pending_restart":false}"#;
    let survey = format!(
        r#"{{"schema":"steelbench/1","kind":"survey","taken_ms":1,"steelbench":"0.1.0","advice":[],
        "machine":{{"host":"h","nodes":[{{"node":0,"cpus":"0-3","cpu_count":4,"distances":[10]}}],
        "processors":{{"cores":2,"logical":4,"caches":[]}}}},
        "settings":[{{"name":"vm.swappiness","value":"60"}}],
        "servers":[{{"engine":"postgres","version":"PostgreSQL 16.1","is_local":true,
        "settings":[{setting}],"address":"host=h","extensions":[],"databases":[]}}]}}"#
    );
    let profile = r#"{"schema":"steelbench/1","kind":"profile-samples","target":"p","elapsed_s":1.5,
        "hz":99,"threads":2,"lost":0,"profiler_cpu_s":0.01,
        "modules":["a","b"],"frames":[{"module":0,"function":"f","kernel":false},{"module":1,
        "function":"g","kernel":true}],
        "stacks":[{"frames":[0,1],"samples":7},{"frames":[0],"samples":3}],"missing":[]}"#;
    [survey, profile.into()]
}

/// Documents from other machines, possibly manipulated.
#[test]
fn documents_of_others() {
    let arena = Arena::new();
    let documents = documents();
    for (name, document) in ["survey.json", "profile.json"].iter().zip(&documents) {
        arena.write(name, document.as_bytes());
    }
    campaign("documents_of_others", Tries { short: 15, full: 1000 }, |random| {
        let which = random.below(2);
        let bytes = large(random).unwrap_or_else(|| mutated(random, &documents[which]));
        arena.write("other.json", &bytes);
        let form = *random.pick(&["--json", "--md"]);
        if which == 0 {
            arena.run(&["survey", "merge", "survey.json", "other.json", form], USUAL)?;
        } else {
            arena.run(&["profile", "compare", "profile.json", "other.json", form], USUAL)?;
        }
        arena.is_clean()
    });
}
