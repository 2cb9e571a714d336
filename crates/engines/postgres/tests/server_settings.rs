//! Settings of private clusters on real servers, of every version that is installed.

use engine::EngineError;
use std::collections::BTreeMap;
use testing::installed::{ask, folder, installations, options, running, started};
use work::Cancel;

fn settings(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn settings_are_applied_and_read_back() {
    for installation in installations() {
        let folder = folder();
        let mut cluster = running(options(&installation, folder.path()));
        let cancel = Cancel::new();
        let first = started(&cluster);
        let reloaded = settings(&[
            ("work_mem", "64MB"),
            ("synchronous_commit", "false"),
            ("Random_Page_Cost", "1.10"),
            ("log_line_prefix", "it's %p \\ "),
            ("checkpoint_timeout", "1h"),
        ]);
        assert!(!cluster.apply(&reloaded, &cancel).unwrap());
        assert_eq!(started(&cluster), first);
        for (setting, expected) in [
            ("work_mem", "64MB"),
            ("synchronous_commit", "off"),
            ("random_page_cost", "1.1"),
            ("log_line_prefix", "it's %p \\ "),
            ("checkpoint_timeout", "1h"),
        ] {
            assert_eq!(ask(&cluster, &format!("SHOW {setting}")), expected);
        }
        // Settings that are not requested return to their defaults; 32 MB are 4096 pages.
        let restarting = settings(&[
            ("shared_buffers", "32MB"),
            ("wal_buffers", "-1"),
            ("wal_level", "LOGICAL"),
        ]);
        assert!(cluster.apply(&restarting, &cancel).unwrap());
        let second = started(&cluster);
        assert_ne!(second, first);
        assert_eq!(
            ask(&cluster, "SELECT setting FROM pg_settings WHERE name = 'shared_buffers'"),
            "4096"
        );
        assert_eq!(ask(&cluster, "SHOW work_mem"), "4MB");
        assert_eq!(ask(&cluster, "SHOW log_line_prefix"), "%m [%p] ");
        // Nothing changes: nothing is restarted.
        assert!(!cluster.apply(&restarting, &cancel).unwrap());
        assert_eq!(started(&cluster), second);
        assert!(cluster.apply(&BTreeMap::new(), &cancel).unwrap());
        assert_eq!(ask(&cluster, "SHOW shared_buffers"), "128MB");
        assert_eq!(ask(&cluster, "SHOW wal_level"), "replica");
    }
}

#[test]
fn refused_settings_are_named_and_the_next_ones_apply() {
    for installation in installations() {
        let folder = folder();
        let mut cluster = running(options(&installation, folder.path()));
        let cancel = Cancel::new();
        let first = started(&cluster);
        let bad: [(&str, &str, &[&str]); 10] = [
            (
                "work_mem",
                "many",
                &["target.settings.work_mem = many", "invalid value for parameter \"work_mem\""],
            ),
            ("work_mem", "64 mb", &["work_mem", "Valid units"]),
            ("synchronous_commit", "maybe", &["synchronous_commit", "remote_apply"]),
            ("shared_buffers", "a lot", &["shared_buffers", "invalid value"]),
            ("max_connections", "0", &["max_connections", "outside the valid range"]),
            (
                "shared_bufers",
                "1GB",
                &["target.settings.shared_bufers", "did you mean `shared_buffers`?"],
            ),
            ("block_size", "16kB", &["target.settings.block_size", "is fixed"]),
            ("port", "5432", &["target.settings.port", "Steelbench sets this itself"]),
            (
                "auto_explain.log_analyze",
                "on",
                &["auto_explain.log_analyze", "shared_preload_libraries"],
            ),
            ("work_mem", "1MB'\nport = '1", &["work_mem", "several lines"]),
        ];
        for (name, value, parts) in bad {
            let error =
                cluster.apply(&settings(&[(name, value)]), &cancel).unwrap_err().to_string();
            for part in parts {
                assert!(error.contains(part), "{name} = {value}: {error}");
            }
            assert!(cluster.is_running());
        }
        assert_eq!(started(&cluster), first);
        assert!(!cluster.apply(&settings(&[("work_mem", "5MB")]), &cancel).unwrap());
        assert_eq!(ask(&cluster, "SHOW work_mem"), "5MB");
    }
}

#[test]
fn a_server_that_cannot_start_says_why_and_recovers() {
    for installation in installations() {
        let folder = folder();
        let mut cluster = running(options(&installation, folder.path()));
        let cancel = Cancel::new();
        let unstartable = settings(&[("shared_preload_libraries", "no_such_module")]);
        let error = cluster.apply(&unstartable, &cancel).unwrap_err().to_string();
        assert!(error.contains("could not access file \"no_such_module\""), "{error}");
        assert!(!cluster.is_running());
        cluster.apply(&settings(&[("work_mem", "6MB")]), &cancel).unwrap();
        assert_eq!(ask(&cluster, "SHOW work_mem"), "6MB");
        assert_eq!(ask(&cluster, "SHOW shared_preload_libraries"), "");

        let overcommit =
            std::fs::read_to_string("/proc/sys/vm/overcommit_memory").unwrap_or_default();
        if overcommit.trim() == "1" {
            println!("SKIPPED: this machine promises any amount of memory");
            continue;
        }
        let error = cluster
            .apply(&settings(&[("shared_buffers", "4TB")]), &cancel)
            .unwrap_err()
            .to_string();
        assert!(error.contains("could not map anonymous shared memory"), "{error}");
        cluster.apply(&BTreeMap::new(), &cancel).unwrap();
        assert_eq!(ask(&cluster, "SHOW shared_buffers"), "128MB");
    }
}

#[test]
fn a_setting_that_something_overrides_did_not_take() {
    for installation in installations() {
        let folder = folder();
        let mut cluster = running(options(&installation, folder.path()));
        cluster.connect().unwrap().batch("ALTER ROLE postgres SET work_mem = '9MB'").unwrap();
        let error = cluster.apply(&settings(&[("work_mem", "5MB")]), &Cancel::new()).unwrap_err();
        let EngineError::SettingIgnored { setting, expected: wanted_value, got } = error else {
            panic!("{error}")
        };
        assert_eq!(
            (setting.as_str(), wanted_value.as_str(), got.as_str()),
            ("target.settings.work_mem", "5MB", "9216kB")
        );
    }
}
