//! A server that is killed during a run: every condition holds after its recovery.

use crate::support::reduced;
use experiment::Value;
use order_entry::conditions::{Scope, Violations, check};
use order_entry::{OrderEntry, Size};
use std::time::Duration;
use testing::installed::{ask, folder, installations, options, running, until};
use testing::trials::{TestEngine, text};
use work::Cancel;

const SIZE: Size = Size { warehouses: 2, reduced_by: 100 };

#[test]
fn all_conditions_hold_after_the_server_was_killed() {
    for installation in installations() {
        let folder = folder();
        let mut server = running(options(&installation, folder.path()));
        let pid = server.pid().unwrap();
        let url = server.config().to_string();
        let installation = TestEngine {
            name: format!("postgres {}", installation.version),
            engine: &postgres::POSTGRES,
            settings: vec![("target.url", text(url))],
        };
        let settings = [
            ("workload.transactions", Value::Integer(1_000_000)),
            ("workload.connections", Value::Integer(4)),
        ];
        std::thread::scope(|scope| {
            let watched = &server;
            scope.spawn(move || {
                // Payments are being made: the run is under way.
                let count = "SELECT count(*) FROM steelbench.history";
                let paid = || {
                    let mut client = watched.connect().ok()?;
                    let rows = client.query(count, &[]).ok()?;
                    rows.first()?.get(0)?.parse::<u64>().ok()
                };
                assert!(until(|| paid().is_some_and(|rows| rows > 800)), "no payments");
                std::thread::sleep(Duration::from_millis(50));
                // SAFETY: a system call.
                unsafe { libc::kill(pid, libc::SIGKILL) };
            });
            let removed = installation.measured(&OrderEntry, &reduced(&settings), |_, result| {
                assert!(result.is_err(), "the server was not killed");
            });
            // A killed server cannot be asked.
            drop(removed);
        });
        assert!(until(|| !server.is_running()));
        server.start(&Cancel::new()).unwrap();
        let orders = ask(&server, "SELECT sum(d_next_o_id) FROM steelbench.district");
        assert!(orders.parse::<u64>().unwrap() > 20 * 31, "{orders}");
        let checked = check::<Violations>(SIZE, &Scope::Complete, |query| {
            let mut client = server.connect().unwrap();
            client.batch("SET search_path = steelbench").unwrap();
            let rows = client.query(query, &[]).unwrap();
            Ok(rows.first().unwrap().get(0).unwrap().parse().unwrap())
        });
        assert_eq!(checked, Ok(()));
    }
}
