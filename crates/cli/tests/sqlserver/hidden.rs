//! Logins without permissions: hidden sessions and waits are unknown, not absent.

use super::{Mock, Tls, without};
use crate::common::Lab;
use sqlserver::live::views;

/// Without VIEW SERVER STATE the views of sessions show only one's own, without an error.
#[test]
fn sessions_that_are_hidden_are_not_called_idle() {
    let lab = Lab::new();
    let mock = Mock::start(Tls::Off, &lab);
    let requests = "session_id | status | wait_type | wait_resource | query_id | database_name | \
                    login_name | program_name\n";
    mock.answers.answer(&views::REQUESTS.sql(), requests);
    mock.answers.refuse(&views::WAITS.sql(), 300, "VIEW SERVER STATE permission was denied.");
    let url = mock.url("encrypt=optional");
    let waits = || lab.steelbench(&["waits", "--full", &url, "--seconds", "1"]).expect(0).stdout;
    let line = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for (may, why) in [
        ("0", "GRANT VIEW SERVER STATE"),
        ("-", "the server does not know the permission VIEW SERVER STATE"),
    ] {
        mock.answers.answer(&views::PERMISSION.sql(), &format!("may\n{may}"));
        let shown = line(waits());
        let says = format!("this login may see its own sessions only; {why}");
        assert!(shown.contains(&says), "{may}: {shown}");
        for claim in ["were idle", "No waits", "CPU 0.0 %"] {
            assert!(!shown.contains(claim), "{claim}: {shown}");
        }
        assert!(shown.contains("Unknown: whether sessions had work."), "{shown}");
    }
    // A login that may see them, but whose waits are refused, has seen no waits either.
    mock.answers.answer(&views::PERMISSION.sql(), "may\n1");
    let shown = line(waits());
    assert!(shown.contains("could not be read") && !shown.contains("No waits."), "{shown}");
    mock.answers
        .answer(&views::WAITS.sql(), "wait_type | waits | wait_ms | signal_ms\nA | 1 | 1 | 0");
    let shown = line(waits());
    assert!(shown.contains("No waits.") && !shown.contains("Unknown"), "{shown}");
}

/// A server whose permissions cannot be asked is not taken for one that shows all.
#[test]
fn a_permission_that_cannot_be_asked_is_told() {
    let shown = without(&[&views::PERMISSION.sql()], &["waits", "--full", "URL", "--seconds", "1"]);
    assert!(shown.contains("own sessions only; VIEW SERVER STATE: error 33557097"), "{shown}");
    // What it does show is shown.
    assert!(shown.contains("PFS page 5:1:1520544"), "{shown}");
}
