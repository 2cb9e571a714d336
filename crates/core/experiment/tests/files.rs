//! Files that are right: what becomes of them.

use crate::common::{DESIGN, EVERYTHING, experiment, parse};
use experiment::common::{ENGINE, OBSERVE_INTERVAL, OBSERVE_WAITS};
use experiment::file::{
    AFTER_RUN, BEFORE_TRIAL, DESCRIPTION, DISK_SPACE_BYTES, HOOKS_TIMEOUT_S, QUESTION, RESPONSE,
    RUN_TIME_S, TRIAL_TIME_S,
};
use experiment::{Blocks, Invalid, Value};
use observations::Throttle;

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

#[test]
fn the_file_of_the_design() {
    let experiment = experiment(DESIGN);
    assert_eq!(experiment.name, "random-insert-data-files");
    assert_eq!(
        experiment.get(QUESTION).as_deref(),
        Some("How many data files does a random-key insert load want on this machine?")
    );
    let factors: Vec<&str> = experiment.factors.iter().map(|factor| factor.name.as_str()).collect();
    assert_eq!(factors, ["target.data_files", "target.settings.synchronous"]);
    assert_eq!(experiment.factors[0].numeric(), Some(vec![1.0, 2.0, 4.0, 8.0, 16.0]));
    assert_eq!(experiment.factors[1].numeric(), None);
    assert!(
        experiment.factors.iter().all(|factor| !factor.hard_to_change && factor.manual.is_none())
    );

    let labels: Vec<String> =
        experiment.configurations.iter().map(experiment::Configuration::label).collect();
    assert_eq!(labels.len(), 10);
    assert_eq!(
        labels[..3],
        [
            "data_files=1 synchronous=normal",
            "data_files=1 synchronous=full",
            "data_files=2 synchronous=normal"
        ]
    );
    assert_eq!(labels[9], "data_files=16 synchronous=full");
    assert_eq!(experiment.baseline, Some(0));
    assert_eq!(experiment.repeats.blocks, Blocks::Fixed(5));
    assert_eq!((experiment.repeats.seed, experiment.repeats.retries), (1, 0));

    // Given, varied, and by default.
    let last = &experiment.configurations[9];
    assert_eq!(last.value("target.engine"), Some(&text("sqlite")));
    assert_eq!(last.value("workload.rows"), Some(&Value::Integer(320_000)));
    assert_eq!(last.value("target.data_files"), Some(&Value::Integer(16)));
    assert_eq!(last.value("target.settings.synchronous"), Some(&text("full")));
    assert_eq!(last.value("target.busy_timeout"), Some(&Value::Float(60.0)));
    assert!(last.get(OBSERVE_WAITS));
    assert_eq!(last.get(OBSERVE_INTERVAL).to_bits(), 1.0_f64.to_bits());
    assert_eq!(last.value("workload.duration"), None);
}

#[test]
fn a_file_with_everything() {
    let experiment = experiment(EVERYTHING);
    // 3 data files x 2 volumes x 2 logs x 2 arrays, less 2 data files x 1 log of each.
    assert_eq!(experiment.configurations.len(), 24 - 2 * 2 * 2);
    assert!(experiment.configurations.iter().all(|configuration| {
        configuration.levels[2].label == "rollback"
            || configuration.value("target.data_files") == Some(&Value::Integer(1))
    }));
    assert_eq!(experiment.get(RESPONSE).as_deref(), Some("rows"));
    assert_eq!(experiment.get(DESCRIPTION).as_deref(), Some("A file with every section."));

    let levels: Vec<Vec<&str>> = experiment
        .factors
        .iter()
        .map(|factor| factor.levels.iter().map(|level| level.label.as_str()).collect())
        .collect();
    assert_eq!(
        levels[1..],
        [vec!["fast", "fast+slow"], vec!["wal, synced", "rollback"], vec!["raid-0", "raid-1"]]
    );
    assert_eq!(
        experiment.factors[2].levels[0].set,
        [
            ("target.settings.journal_mode".to_owned(), Value::Text("wal".into())),
            ("target.settings.wal_autocheckpoint".to_owned(), Value::Integer(1000)),
        ]
    );
    // A level without settings differs by its name alone: for a hook or a person to make.
    assert!(experiment.factors[3].levels.iter().all(|level| level.set.is_empty()));
    // A setting of one linked level is not one of the other.
    let rollback = experiment
        .configurations
        .iter()
        .find(|configuration| configuration.levels[2].label == "rollback")
        .unwrap();
    assert_eq!(rollback.value("target.settings.wal_autocheckpoint"), None);
    assert_eq!(rollback.value("target.settings.synchronous"), Some(&text("normal")));

    let [fast, slow] = &experiment.volumes[..] else { panic!("two volumes") };
    assert_eq!((fast.prepare.as_deref(), fast.hook_timeout_s), (Some("mount /mnt/fast"), 60.0));
    assert_eq!(
        (slow.path.as_str(), slow.cleanup.as_deref(), slow.hook_timeout_s),
        ("/mnt/slow", None, 600.0)
    );
    assert_eq!(fast.throttle, None);
    let limits = Throttle {
        read_iops: Some(3000),
        write_iops: Some(1500),
        read_bytes: Some(125_000_000),
        write_bytes: Some(67_108_864),
    };
    assert_eq!(slow.throttle, Some(limits));
    let both = experiment
        .configurations
        .iter()
        .find(|configuration| configuration.levels[1].label == "fast+slow")
        .unwrap();
    assert_eq!(both.volumes(), ["fast", "slow"]);

    assert_eq!(experiment.get(BEFORE_TRIAL).as_deref(), Some("sync"));
    assert_eq!(
        (experiment.get(HOOKS_TIMEOUT_S), experiment.get(AFTER_RUN).as_deref()),
        (20.0, Some("true"))
    );
    assert_eq!(experiment.repeats.blocks, Blocks::Adaptive { min: 3, max: 20, until: 0.02 });
    assert_eq!((experiment.repeats.seed, experiment.repeats.retries), (7, 2));
    assert_eq!((experiment.get(TRIAL_TIME_S), experiment.get(RUN_TIME_S)), (600.0, Some(28_800.0)));
    assert_eq!(experiment.get(DISK_SPACE_BYTES), Some(4 << 30));
    assert_eq!(
        experiment.factors[3].manual.as_deref(),
        Some("Rebuild the array as {level}, then continue.")
    );
    // A person is slower than a command, so that the array changes before the volume.
    assert_eq!(experiment.hard_to_change, [3, 1]);

    // Factors that the baseline does not name have their first level.
    let baseline = &experiment.configurations[experiment.baseline.unwrap()];
    assert_eq!(baseline.label(), "data_files=1 volume=fast log=rollback array=raid-0");
}

/// `"320k"`, `320000` and `"320_000"` are one level, whichever way it is referred to.
#[test]
fn levels_are_referred_to_by_what_they_mean() {
    let source = DESIGN
        .replace(
            "\"target.data_files\" = [1, 2, 4, 8, 16]",
            "\"workload.rows\" = [\"100k\", \"320k\"]",
        )
        .replace("{ \"target.data_files\" = 1 }", "{ \"workload.rows\" = 320000 }");
    let experiment = experiment(&source);
    assert_eq!(experiment.baseline, Some(2));
    assert_eq!(experiment.configurations[2].label(), "rows=320k synchronous=normal");
}

#[test]
fn tables_and_dotted_keys_mean_the_same() {
    let dotted = DESIGN
        .replace("settings = { synchronous = \"normal\" }", "settings.synchronous = \"normal\"")
        .replace("\"target.data_files\" = [1", "target.data_files = [1")
        .replace("{ \"target.data_files\" = 1 }", "{ target.data_files = 1 }");
    let (quoted, dotted) = (experiment(DESIGN), experiment(&dotted));
    assert_eq!(quoted.configurations, dotted.configurations);
    assert_eq!(quoted.baseline, dotted.baseline);
}

/// A configuration has the settings of its own engine only, and every key is known to one of them.
#[test]
fn engines_can_be_varied() {
    let source = "
        [experiment]
        name = \"engines\"
        [target]
        url = \"server://somewhere\"
        final_checkpoint = false
        [workload]
        probe = \"insert\"
        [factors]
        \"target.engine\" = [\"sqlite\", \"server\"]
    ";
    let experiment = experiment(source);
    let [sqlite, server] = &experiment.configurations[..] else { panic!("two configurations") };
    assert_eq!((sqlite.get(ENGINE).as_str(), server.get(ENGINE).as_str()), ("sqlite", "server"));
    assert_eq!(sqlite.value("target.url"), None);
    assert_eq!(server.value("target.url"), Some(&text("server://somewhere")));
    assert_eq!(sqlite.value("target.final_checkpoint"), Some(&Value::Bool(false)));
    assert_eq!(server.value("target.final_checkpoint"), None);
    // The default of a setting that both have is each one's own.
    assert_eq!(sqlite.value("target.file_growth"), Some(&Value::Integer(0)));
    assert_eq!(server.value("target.file_growth"), Some(&Value::Float(0.1)));
    assert_eq!(server.value("target.busy_timeout"), None);
}

#[test]
fn without_factors_there_is_one_configuration() {
    let experiment = experiment(
        "experiment.name = \"one\"\ntarget.engine = \"sqlite\"\nworkload.probe = \"scan\"\n",
    );
    assert_eq!(experiment.configurations.len(), 1);
    assert_eq!(experiment.baseline, None);
    assert_eq!(experiment.repeats.blocks, Blocks::Fixed(5));
    assert_eq!((experiment.get(TRIAL_TIME_S), experiment.get(RUN_TIME_S)), (3600.0, None));
    assert_eq!(experiment.get(DISK_SPACE_BYTES), None);
}

#[test]
fn settings_have_positions() {
    let experiment = experiment(DESIGN);
    let objections = experiment.objections(&[
        Invalid::new("workload.rows", "too many"),
        Invalid::new("target.settings.synchronous", "unsafe"),
        Invalid::new("target.busy_timeout", "too long"),
        Invalid::new("target.settings.page_size", "missing"),
    ]);
    let positions: Vec<(usize, usize, usize, &str)> = objections
        .errors
        .iter()
        .map(|error| (error.line, error.column, error.length, error.path.as_str()))
        .collect();
    assert_eq!(
        positions,
        [
            // What the file does not give is discussed at the table that would hold it.
            (6, 2, "target".len(), "target.busy_timeout"),
            (8, 1, "settings".len(), "target.settings.page_size"),
            (14, 8, "\"320k\"".len(), "workload.rows"),
            // A setting that is given and varied is discussed where its levels stand.
            (19, 33, "[\"normal\", \"full\"]".len(), "target.settings.synchronous"),
        ]
    );
    assert!(experiment.objections(&[]).errors.is_empty());
}

/// The expected hash is Python's, of the settings written out by hand:
///
/// ```python
/// text = ('{"observe.interval":1.0,'
///         '"observe.waits":true,"target.data_files":2,"target.engine":"server",'
///         '"target.file_growth":0.1,"target.url":"server://größe","workload.duration":0.25,'
///         '"workload.probe":"scan","workload.share":1.0}')
/// hash = 0xcbf29ce484222325
/// for byte in text.encode():
///     hash = (hash ^ byte) * 0x100000001b3 % 2**64
/// print(f"{hash:016x}")
/// ```
#[test]
fn keys_are_stable() {
    let source = "
        [experiment]
        name = \"key\"
        [target]
        engine = \"server\"
        data_files = 2
        url = \"server://größe\"
        [workload]
        probe = \"scan\"
        duration = \"250 ms\"
    ";
    let configuration = &experiment(source).configurations[0];
    assert_eq!(configuration.key(), "0e74fbe768174319");
    // The order of the keys and the way in which values are written do not count.
    let other = "
        [workload]
        duration = 0.25
        probe = \"scan\"
        [target]
        url = \"server://größe\"
        data_files = \"2\"
        engine = \"server\"
        [experiment]
        name = \"another-name\"
    ";
    assert_eq!(experiment(other).configurations[0].key(), configuration.key());
    assert_ne!(
        experiment(&source.replace("= 2", "= 3")).configurations[0].key(),
        configuration.key()
    );
}

#[test]
fn many_configurations_are_fine_up_to_the_limit() {
    let levels =
        |count: u32| (1..=count).map(|level| level.to_string()).collect::<Vec<_>>().join(", ");
    let source = |rows: u32| {
        DESIGN.replace(
            "\"target.data_files\" = [1, 2, 4, 8, 16]",
            &format!(
                "\"target.data_files\" = [{}]\n\"workload.rows\" = [{}]",
                levels(100),
                levels(rows)
            ),
        )
    };
    assert_eq!(experiment(&source(50)).configurations.len(), 10_000);
    assert!(parse(&source(51)).is_err());
}
