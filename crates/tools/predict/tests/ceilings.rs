//! Storage ceilings, worked out by hand.

use analysis::{Study, Way, summarize_with};
use observations::{DeviceUse, Observations, Recording, Value, VolumeEnvironment};
use predict::ceiling::{self, Ceiling, Limit, LimitUnit, MeasuredCeiling};
use report::{Document, Medium, StudySections, Style, terminal};
use testing::recordings::disk::{
    DISK, database, device_use, disk_observed, disk_run, on_volume, with_settings,
};
use testing::recordings::{done, observed, recording};

const STUDIES: &[&Study] = &[&disk::STUDY];
const SECTIONS: StudySections<'_> = &[predict::SECTIONS, disk::SECTIONS];

fn ceilings(database: &Recording, disk_runs: &[Recording]) -> Vec<Ceiling> {
    ceiling::ceilings(&summarize_with(database, STUDIES, disk_runs.to_vec()))
}

fn close(left: f64, right: f64, relative: f64) {
    assert!((left - right).abs() <= relative * right.abs(), "{left} is not {right}");
}

/// The text of one section.
fn text(document: &Document, heading: &str, width: usize) -> String {
    let mut sections = document.sections.clone();
    sections.retain(|section| section.heading.as_str() == heading);
    terminal(&Document { sections, ..Document::default() }, width, Style::Plain)
}

fn measured(ceiling: &Ceiling) -> &MeasuredCeiling {
    let Limit::Measured(measured) = &ceiling.ceiling else { panic!("{ceiling:?}") };
    measured
}

/// The work directory and a throttled volume on the same device, which 60 writes a second saturate.
/// It does 5,400 without the throttle.
#[test]
fn a_throttled_volume_beside_the_work_directory_has_its_own_ceiling() {
    let on_both = |run: &mut Recording, throttle: Option<&str>| {
        on_volume(run, "slow", throttle);
        let volumes = &mut run.environments[0].volumes;
        volumes.insert(
            0,
            VolumeEnvironment { name: "default".into(), throttle: None, ..volumes[0].clone() },
        );
        for observation in run.trials.iter_mut().filter_map(|trial| trial.observations.as_mut()) {
            observation.devices = vec![DeviceUse {
                volume: "default, slow".into(),
                ..observation.devices[0].clone()
            }];
        }
    };
    let disk = |iops: f64, volume: &str, throttle| {
        let mut run = recording(&[("target.volume", &[volume])]);
        let pattern = ("workload.pattern", "\"random-write\"");
        with_settings(&mut run, &[&[pattern], &DISK[..1], &DISK[2..]].concat());
        for block in 1..=3 {
            let observations =
                disk_observed(iops * (0.99 + 0.005 * f64::from(block)), 4.0, 8192.0, false);
            let devices = vec![device_use("slow", 0.0, iops, 8192.0)];
            run.trials.push(done(0, block, Observations { devices, ..observations }));
        }
        on_both(&mut run, throttle);
        run
    };
    let mut database = database(59.0, 8192.0, None);
    let throttle = Some("reads 3000 IOPS, writes 60 IOPS, writes 100000000 bytes/s");
    on_both(&mut database, throttle);
    let unthrottled = disk(5400.0, "default", None);
    let [ceiling] = &*ceilings(&database, std::slice::from_ref(&unthrottled)) else {
        panic!("one for the volumes")
    };
    assert_eq!(ceiling.ceiling, Limit::Throttle { throttle: 60.0, unit: LimitUnit::Iops });
    close(ceiling.share, 59.0 / 60.0, 1e-3);
    assert!(ceiling.interval.unwrap().contains(59.0 / 60.0));
    let [ceiling] = &*ceilings(&database, &[unthrottled, disk(60.0, "slow", throttle)]) else {
        panic!("one")
    };
    close(measured(ceiling).iops.mean, 60.0, 2e-3);
    close(ceiling.share, 59.0 / 60.0, 3e-3);
}

/// A volume on two devices, one of which carries the work directory too: what both did counts for
/// it.
#[test]
fn a_volume_has_all_its_devices() {
    let mut run = disk_run(None);
    let mut database = database(20_000.0, 8192.0, None);
    for trial in run.trials.iter_mut().chain(&mut database.trials) {
        let devices = &mut trial.observations.as_mut().unwrap().devices;
        let first = devices[0].clone();
        let shared =
            DeviceUse { volume: "default, ssd".into(), device: "vdc".into(), ..first.clone() };
        *devices = vec![shared, first];
    }
    let found = ceilings(&database, &[run]);
    let [ceiling] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(
        (ceiling.volume.to_string(), ceiling.devices.join(" ")),
        ("ssd".into(), "vdb vdc".into())
    );
    close(ceiling.rate.mean, 40_000.0, 1e-3);
}

/// Two trials that differ by three orders of magnitude leave the share open.
#[test]
fn an_interval_that_says_nothing_is_left_out() {
    let mut database = database(1000.0, 8192.0, None);
    for (trial, writes) in database.trials.iter_mut().zip([2.0, 2.0, 2000.0]) {
        trial.observations.as_mut().unwrap().devices = vec![device_use("ssd", 0.1, writes, 8192.0)];
    }
    let [ceiling] = &*ceilings(&database, &[disk_run(None)]) else { panic!("one") };
    assert_eq!(ceiling.interval, None);
}

#[test]
fn a_database_is_held_against_the_ceiling_that_fits() {
    let found = ceilings(&database(21_443.0, 10_000.0, None), &[disk_run(None)]);
    let [ceiling] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((ceiling.way, ceiling.volume.to_string()), (Way::Write, "ssd".into()));
    let of = measured(ceiling);
    assert_eq!((of.block_bytes, of.random, of.run), (8192, true, 3));
    // 21,443 of 52,300; both vary alike, so the interval holds the share. In some blocks the
    // device's counters are 0.5 % above the load's own.
    close(ceiling.share, 0.41, 2e-3);
    assert!(ceiling.interval.unwrap().contains(0.41));
    let large = &ceilings(&database(2000.0, 40_000.0, None), &[disk_run(None)])[0];
    assert_eq!(measured(large).block_bytes, 65_536);
    assert!(ceilings(&database(100_000.0, 8192.0, None), &[disk_run(None)])[0].share > 1.0);
}

#[test]
fn a_sequential_ceiling_only_where_no_random_one_is() {
    let mut run = disk_run(None);
    run.trials.retain(|trial| trial.configuration >= 2);
    let ceiling = &ceilings(&database(7000.0, 8192.0, None), &[run])[0];
    assert!(!measured(ceiling).random);
    close(ceiling.share, 0.1, 2e-3);
}

#[test]
fn other_storage_is_no_ceiling() {
    let database = database(20_000.0, 8192.0, None);
    let none = |change: &dyn Fn(&mut Recording)| {
        let mut run = disk_run(None);
        change(&mut run);
        assert_eq!(ceilings(&database, &[run]), []);
    };
    none(&|run| run.environments[0].host = Some("other".into()));
    none(&|run| run.environments[0].host = None);
    none(&|run| {
        run.environments[0].volumes[0].throttle = Some("writes 3000 IOPS".parse().unwrap());
    });
    none(&|run| run.environments[0].volumes[0].file_system = Some("xfs".into()));
    none(&|run| run.environments[0].volumes[0].size_bytes = Some(5));
    none(&|run| run.environments.clear());
    none(&|run| {
        run.trials.iter_mut().for_each(|t| t.observations.as_mut().unwrap().devices.clear());
    });
    none(&|run| {
        let trials = run.trials.iter_mut().filter_map(|trial| trial.observations.as_mut());
        trials.for_each(|trial| trial.devices[0].device = "vdc".into());
    });
    for (path, json) in [
        ("workload.direct", "false"),
        ("workload.rate", "1000.0"),
        ("workload.streams", "[\"a\",\"b\"]"),
        ("workload.pattern", "\"random-mixed\""),
        ("target.volume", "[\"ssd\",\"other\"]"),
    ] {
        none(&|run| {
            for configuration in &mut run.configurations {
                configuration.settings.insert(path.into(), Value::from_json(json).unwrap());
            }
        });
    }
    let throttled = self::database(2000.0, 8192.0, Some("writes 3000 IOPS"));
    let [ceiling] = &*ceilings(&throttled, &[disk_run(None)]) else {
        panic!("the throttle is the ceiling")
    };
    assert_eq!(ceiling.ceiling, Limit::Throttle { throttle: 3000.0, unit: LimitUnit::Iops });
    let [ceiling] = &*ceilings(&throttled, &[disk_run(Some("writes 3000 IOPS"))]) else {
        panic!("one")
    };
    assert_eq!(measured(ceiling).block_bytes, 8192);
    assert_eq!(ceilings(&disk_run(None), &[disk_run(None)]), [], "the probe is its own ceiling");
}

/// A ceiling of 52,300 writes/s, and a database with 41 % of it; 1 % of spread on both sides.
#[test]
fn the_share_of_the_ceiling_in_a_sentence() {
    let mut disk = recording(&[("workload.pattern", &["random-write", "sequential-write"])]);
    with_settings(&mut disk, &[&DISK[..], &[("target.volume", "\"ssd\"")]].concat());
    (disk.run.id, disk.run.name) = (3, "disk-ssd".into());
    on_volume(&mut disk, "ssd", None);
    let mut database = recording(&[("target.data_files", &["1"])]);
    on_volume(&mut database, "ssd", None);
    for (block, noise) in [(1, 0.99), (2, 1.0), (3, 1.01)] {
        let devices = vec![device_use("ssd", 0.0, 52_300.0 * noise, 8192.0)];
        let observations = disk_observed(52_300.0 * noise, 32.0, 8192.0, false);
        disk.trials.push(done(0, block, Observations { devices, ..observations }));
        let devices = vec![device_use("ssd", 0.0, 21_443.0 * noise, 8192.0)];
        database.trials.push(done(0, block, Observations { devices, ..observed(10.0) }));
    }
    let report = |recording: &Recording, disk_runs: Vec<Recording>| {
        report::run(&summarize_with(recording, STUDIES, disk_runs), SECTIONS, Medium::Any)
    };
    let document = report(&database, vec![disk.clone()]);
    let expected = "
Storage ceiling
data_files=1: volume ssd (vdb) did 41 % (40-42 %) of its \
                    measured 8.00 KiB random write ceiling (run 3 of disk-ssd, 52,300 IOPS ± 2.5 \
                    %).
  21.4k ± 0.5k writes/s from the kernel's counters of all processes, 8.00 KiB each on \
                    average (n = 3); ceiling by pattern=random-write (n = 3).
";
    assert_eq!(text(&document, "Storage ceiling", 200), expected);
    let expected = "
Devices
configuration  device     reads/s  writes/s  MB/s  read   write  utilisation  queue
data_files=1   vdb (ssd)        0    21,440   176     -  500 us         80 %   4.50
";
    assert!(
        text(&document, "Devices", 100).starts_with(expected),
        "{}",
        text(&document, "Devices", 100)
    );
    let section = text(&report(&disk, Vec::new()), "Devices", 100);
    let load = "pattern=random-write  the load itself";
    assert!(section.contains(load), "{section}");
    for trial in &mut database.trials {
        trial.observations.as_mut().unwrap().devices =
            vec![device_use("ssd", 0.0, 60_000.0, 4096.0)];
    }
    let over = text(&report(&database, vec![disk]), "Storage ceiling", 300);
    assert!(
        over.contains(" did 115 % (112-118 %) of ") && over.contains("above the ceiling, because "),
        "{over}"
    );
    database.environments[0].volumes[0].throttle =
        Some("writes 61000 IOPS, reads 5000000 bytes/s".parse().unwrap());
    let mut text = |writes: [f64; 3]| {
        for (trial, writes) in database.trials.iter_mut().zip(writes) {
            trial.observations.as_mut().unwrap().devices =
                vec![device_use("ssd", 0.0, writes, 4096.0)];
        }
        text(&report(&database, Vec::new()), "Storage ceiling", 300)
    };
    let throttled = text([60_000.0, 60_000.0, 59_000.0]);
    let expected = " (vdb) did 98 % (95-100 %) of its throttle of 61,000 IOPS for writes.\n";
    assert!(throttled.contains(expected), "{throttled}");
    assert!(
        throttled.contains("the disk probe did not measure it under this throttle."),
        "{throttled}"
    );
    let little = text([2.0, 2.0, 60.0]);
    assert!(little.contains(" did less than 0.1 % of its throttle of 61,000 IOPS"), "{little}");
    assert!(little.contains("The interval of the share is too wide to print."), "{little}");
    database.environments[0].volumes[0].throttle = None;
    let none = report(&database, Vec::new());
    assert!(none.sections.iter().all(|section| section.heading.as_str() != "Storage ceiling"));
}
