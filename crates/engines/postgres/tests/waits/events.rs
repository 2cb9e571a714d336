//! Wait events of servers and their classes.

use observations::WaitClass;
use postgres::waits::{WAIT_TYPES, class};
use testing::installed::{folder, installations, options, running};

#[test]
#[ignore = "lane all: needs PostgreSQL 17"]
fn every_wait_event_of_a_server_has_a_class_of_its_kind() {
    let mut checked = false;
    for installation in
        installations().into_iter().filter(|installation| installation.version.major >= 17)
    {
        let folder = folder();
        let cluster = running(options(&installation, folder.path()));
        let mut client = cluster.connect().unwrap();
        let rows =
            client.query("SELECT type, type || ':' || name FROM pg_wait_events", &[]).unwrap();
        let mut names = Vec::new();
        for row in rows.iter() {
            let (kind, name) = (row.get(0).unwrap(), row.get(1).unwrap());
            let expected: &[WaitClass] = match kind {
                "Activity" => &[WaitClass::Idle],
                "Client" => &[WaitClass::Client],
                "Lock" => &[WaitClass::Lock],
                "BufferPin" | "Buffer" => &[WaitClass::Latch],
                "LWLock" => &[WaitClass::Latch, WaitClass::Log],
                "IO" if name.contains("LockFile")
                    || name.contains("Dsm")
                    || name.contains("VersionFile") =>
                {
                    &[WaitClass::Other]
                }
                "IO" if name.starts_with("IO:Wal") => &[WaitClass::Log],
                "IO" if name.starts_with("IO:DataFile") => {
                    &[WaitClass::DataRead, WaitClass::DataWrite]
                }
                "IO" => &[
                    WaitClass::DataRead,
                    WaitClass::DataWrite,
                    WaitClass::Log,
                    WaitClass::Checkpoint,
                ],
                _ => &WaitClass::ALL,
            };
            assert!(expected.contains(&class(name)), "{name} is {}", class(name));
            names.push(name.to_lowercase());
        }
        for event in WAIT_TYPES
            .iter()
            .filter(|wait_type| wait_type.name.contains(':') && !wait_type.is_pattern())
        {
            let version = &installation.version;
            assert!(
                names.contains(&event.name.to_lowercase()),
                "no such event in {version}: {}",
                event.name
            );
        }
        checked = true;
        cluster.remove().unwrap();
    }
    if !checked {
        println!("SKIPPED: no PostgreSQL from 17 on is installed");
    }
}
