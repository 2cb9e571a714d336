//! fio job files and fio's JSON, against fio itself.

use crate::common::{Lab, skipped};
use serde_json::Value;
use std::process::Command;

/// Runs fio on a job file in the lab; `None`: it is not installed.
fn fio(lab: &Lab, file: &str) -> Option<Value> {
    let output =
        Command::new("fio").args(["--output-format=json", file]).current_dir(lab.path("")).output();
    let Ok(output) = output else {
        skipped("fio is not installed");
        return None;
    };
    assert!(output.status.success(), "{output:?}");
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

fn ours(lab: &Lab, arguments: &[&str]) -> Value {
    let ended = lab.steelbench(&[&["disk", "--output", "fio-json"], arguments].concat()).expect(0);
    serde_json::from_str(&ended.stdout).unwrap()
}

/// Every key that we write is one of fio's, with a value of the same type.
#[track_caller]
fn same_shape(ours: &Value, theirs: &Value, place: &str) {
    match (ours, theirs) {
        (Value::Object(ours), Value::Object(theirs)) => {
            for (key, value) in ours {
                let place = format!("{place}.{key}");
                match theirs.get(key) {
                    Some(other) => same_shape(value, other, &place),
                    // Of options fio has those that the file gives.
                    None => {
                        assert!(
                            place.contains(".job options.") && value.is_string(),
                            "fio has no {place}"
                        );
                    }
                }
            }
        }
        (Value::Array(ours), Value::Array(theirs)) => {
            // A container's file system may hide its device from fio.
            for (value, other) in ours.iter().zip(theirs) {
                same_shape(value, other, place);
            }
        }
        (Value::Number(number), Value::Number(other)) => {
            assert_eq!(number.is_f64(), other.is_f64(), "{place}");
        }
        (value, other) => {
            assert_eq!(std::mem::discriminant(value), std::mem::discriminant(other), "{place}");
        }
    }
}

/// Identities within fio's document also hold within ours.
fn identities(document: &Value) {
    for job in document["jobs"].as_array().unwrap() {
        assert_eq!(job["error"], 0, "{job}");
        for direction in ["read", "write"] {
            let part = &job[direction];
            let number = |key: &str| part[key].as_f64().unwrap();
            assert_eq!(part["clat_ns"]["N"], part["total_ios"], "{part}");
            assert_eq!(
                part["io_kbytes"].as_u64().unwrap(),
                part["io_bytes"].as_u64().unwrap() / 1024
            );
            if number("total_ios") > 0.0 {
                // The runtime is rounded to a millisecond.
                let seconds = number("runtime") / 1e3;
                let near = |rate: f64, amount: f64| {
                    (rate * seconds - amount).abs() <= amount * 0.01 + rate * 0.001
                };
                assert!(near(number("iops"), number("total_ios")), "{part}");
                assert!(near(number("bw_bytes"), number("io_bytes")), "{part}");
                assert!((number("bw") * 1024.0 - number("bw_bytes")).abs() <= 1024.0, "{part}");
            }
        }
    }
}

#[test]
fn the_same_jobs_do_the_same_work() {
    let jobs = "[global]\ndirectory=.\nioengine=psync\nsize=4m\n[one \
                pass]\nrw=read\nbs=16k\n[many]\nrw=randwrite\nbs=4k\nnumjobs=2\nfsync=8\n[part]\n\
                rw=write\nbs=64k\nio_size=1m\n[after]\nstonewall\nrw=randread\nbsrange=4k-16k\n";
    let lab = Lab::new();
    lab.write("jobs.fio", jobs);
    let ours = ours(&lab, &["--fio", "jobs.fio"]);
    let Some(theirs) = fio(&lab, "jobs.fio") else { return };
    same_shape(&ours, &theirs, "");
    identities(&ours);
    identities(&theirs);
    let jobs = |document: &Value| document["jobs"].as_array().unwrap().clone();
    let (mine, fios) = (jobs(&ours), jobs(&theirs));
    assert_eq!(mine.len(), fios.len());
    // Sizes that are drawn come to a number of I/Os that differs; everything else is exact.
    for (job, other) in mine.iter().zip(&fios).take(4) {
        for (section, key) in [
            ("read", "total_ios"),
            ("read", "io_bytes"),
            ("write", "total_ios"),
            ("write", "io_bytes"),
        ] {
            assert_eq!(
                job[section][key], other[section][key],
                "{} {section} {key}",
                job["jobname"]
            );
        }
        assert_eq!(job["job options"]["rw"], other["job options"]["rw"]);
    }
    assert_eq!(mine[0]["read"]["total_ios"], 256);
    assert_eq!(mine[3]["write"]["io_bytes"], 1 << 20);
    // fio does not sync behind the last write.
    for job in &mine[1..3] {
        let syncs = job["sync"]["total_ios"].as_u64().unwrap();
        assert!((127..=128).contains(&syncs), "{syncs}");
    }
    assert!(mine[4]["read"]["io_bytes"].as_u64().unwrap() >= 4 << 20);
}

/// Jobs behind stonewalls are trials, which run in random order; the document has fio's order,
/// whatever the seed.
#[test]
fn groups_are_reported_as_fio_reports_them() {
    let lab = Lab::new();
    let group = |name: &str, options: &str| format!("[{name}]\nstonewall\n{options}\n");
    let jobs = "[global]\ndirectory=.\nioengine=psync\nsize=1m\nbs=4k\n[first]\nrw=read\n\
                group_reporting\n[beside]\nrw=randwrite\nnumjobs=2\ngroup_reporting\n"
        .to_owned()
        + &group("many", "rw=randwrite\nnumjobs=3\ngroup_reporting\nfsync=8")
        + &group("alone", "rw=randread")
        + &group("last", "rw=write\nbs=16k");
    lab.write("jobs.fio", &jobs);
    // Before fio, which leaves its files.
    let ours = ["1", "2", "3"].map(|seed| ours(&lab, &["--fio", "jobs.fio", "--seed", seed]));
    let Some(theirs) = fio(&lab, "jobs.fio") else { return };
    let figures = |document: &Value| -> Vec<String> {
        let figure = |job: &Value| {
            let number = |section: &str, key: &str| job[section][key].as_u64().unwrap();
            let [reads, writes] =
                ["read", "write"].map(|text| (number(text, "total_ios"), number(text, "io_bytes")));
            format!("{} {} {reads:?} {writes:?}", job["jobname"], job["groupid"])
        };
        document["jobs"].as_array().unwrap().iter().map(figure).collect()
    };
    for ours in ours {
        same_shape(&ours, &theirs, "");
        identities(&ours);
        assert_eq!(figures(&ours), figures(&theirs));
    }
}

#[test]
fn a_run_for_a_time_has_the_same_shape() {
    let lab = Lab::new();
    lab.write(
        "mixed.fio",
        "[mixed]\nfilename=data\nsize=8m\nrw=randrw\nrwmixread=80\nbs=8k\nioengine=libaio\n\
         iodepth=4\ndirect=1\ntime_based\nruntime=300ms\nfdatasync=16\n",
    );
    let ours = ours(&lab, &["--fio", "mixed.fio"]);
    assert!(!lab.path("data").exists(), "created files are removed");
    let Some(theirs) = fio(&lab, "mixed.fio") else { return };
    same_shape(&ours, &theirs, "");
    identities(&ours);
    for document in [&ours, &theirs] {
        let job = &document["jobs"][0];
        assert_eq!(job["jobname"], "mixed");
        let ios = |direction: &str| job[direction]["total_ios"].as_u64().unwrap();
        // 80 % in the mean; with hundreds of I/Os ten standard deviations are less than this.
        let reads = ios("read") as f64 / (ios("read") + ios("write")) as f64;
        assert!((reads - 0.8).abs() < 0.15, "{reads}");
        assert_eq!(job["read"]["io_bytes"].as_u64().unwrap(), ios("read") * 8192);
    }
}

#[test]
fn a_grid_has_a_job_for_each_trial() {
    let lab = Lab::new();
    std::fs::create_dir(lab.path("d")).unwrap();
    let document = ours(
        &lab,
        &[
            "d",
            "--size",
            "4m",
            "--depth",
            "1,2",
            "--duration",
            "50ms",
            "--warmup",
            "0",
            "--blocks",
            "2",
        ],
    );
    identities(&document);
    let mut names: Vec<&str> = document["jobs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|job| job["jobname"].as_str().unwrap())
        .collect();
    names.sort_unstable();
    let (text, two) = ("disk queue_depth=1", "disk queue_depth=2");
    assert_eq!(names, [text, text, two, two]);
}

#[test]
fn what_we_do_not_have_is_named_all_at_once() {
    let lab = Lab::new();
    let common = "[a]\nsize=1m\nrw=randread\nruntime=100ms\n";
    lab.write(
        "a.fio",
        &format!("{common}nrfiles=4\n[b]\nsize=1m\nverify=md5\nrw=read\nruntime=100ms\n"),
    );
    let words = "these options are not supported: nrfiles (line 5), verify (line 8)";
    lab.steelbench(&["disk", "--fio", "a.fio"]).expect(2).says(words);
    lab.steelbench(&["disk", "--fio", "a.fio", "--fio-ignore"])
        .expect(0)
        .says("omitted, not supported")
        .says("nrfiles (line 5)");
    // The job file is kept with the run.
    assert_eq!(
        lab.rows("a", "SELECT named_by, path, content FROM files"),
        [format!("--fio|a.fio|{}", lab.read("a.fio"))]
    );
    for (more, words) in [
        ("ioengine=rdma\nbs=x\n", "a.fio:5: ioengine"),
        ("ioengine=rdma\nbs=x\n", "a.fio:6: bs"),
        ("[b]\nrw=read\nsize=1m\nruntime=200ms\n", "jobs a and b differ in runtime"),
        ("[b]\nrw=read\nruntime=100ms\n", "give its size"),
        ("[b]\nrw=read\nsize=1m\noffset=4k\nruntime=100ms\n", "jobs a and b differ in offset"),
        ("filename=${NO_SUCH_VARIABLE_HERE}\n", "NO_SUCH_VARIABLE_HERE is not set"),
    ] {
        lab.write("a.fio", &format!("{common}{more}"));
        lab.steelbench(&["disk", "--fio", "a.fio"]).expect(2).says(words);
    }
    lab.steelbench(&["disk", "--fio", "none.fio"]).expect(2).says("none.fio");
}

#[test]
fn a_file_that_was_there_is_not_written_unless_allowed() {
    let lab = Lab::new();
    lab.write("data", &"x".repeat(1 << 20));
    lab.write("a.fio", "[a]\nfilename=data\nrw=write\nbs=64k\n");
    lab.steelbench(&["disk", "--fio", "a.fio"]).expect(2).says("allow it with --overwrite");
    assert_eq!(lab.read("data"), "x".repeat(1 << 20));
    lab.steelbench(&["disk", "--fio", "a.fio", "--overwrite"]).expect(0);
    assert_ne!(std::fs::read(lab.path("data")).unwrap(), "x".repeat(1 << 20).into_bytes());
}
