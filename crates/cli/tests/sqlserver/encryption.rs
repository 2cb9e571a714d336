//! Encrypted connections and access tokens.

use super::{Mock, Tls, answer_survey};
use crate::common::Lab;
use inspection::sqlserver::survey::views as survey_views;
use mssql_mock_tds::ConnectionInfo;
use std::os::unix::fs::PermissionsExt as _;

#[test]
fn strict_and_mandatory_connections_are_verified() {
    for (tls, mode) in [(Tls::On, "mandatory"), (Tls::Strict, "strict")] {
        let lab = Lab::new();
        let mock = Mock::start(tls, &lab);
        answer_survey(&mock);
        mock.answers.answer(
            &survey_views::CONFIGURATIONS.sql(),
            "name | configured | in_use\nmax worker threads | 0 | 0",
        );
        let survey = |parameters: &str| {
            let url = mock.url(&format!("encrypt={mode}&{parameters}"));
            lab.steelbench(&["survey", "--server", &url, "--volume", "/", "--json"])
        };
        let refused = survey("").expect(1);
        assert!(
            refused.stderr.contains("ertificate")
                && refused.stderr.contains("TrustServerCertificate"),
            "{refused:#?}"
        );
        assert_eq!(
            mock.connections(),
            0,
            "no login to a server with another certificate than the named one"
        );
        let pinned =
            survey(&format!("servercertificate={}", lab.path("server.pem").display())).expect(0);
        let answer: serde_json::Value = serde_json::from_str(&pinned.stdout).unwrap();
        let server = &answer["servers"][0];
        assert_eq!(
            (&server["engine"], &server["databases"][0]["name"]),
            (&"sqlserver".into(), &"shop".into())
        );
        let settings = server["settings"].as_array().unwrap();
        let value = |name: &str| {
            settings.iter().find(|setting| setting["name"] == name).unwrap()["value"].clone()
        };
        assert_eq!(
            (value("numa_node_count"), value("max worker threads")),
            ("2".into(), "0".into())
        );
        assert!(
            answer["unread"]
                .as_array()
                .unwrap()
                .iter()
                .all(|array| !array["what"].as_str().unwrap().contains("127.0.0.1"))
        );
        // What Encrypt=Strict promises, TrustServerCertificate does not take away.
        let trusted = survey("trustservercertificate=yes");
        assert_eq!(trusted.code, Some(i32::from(tls == Tls::Strict)), "{trusted:#?}");
        assert!(!format!("{refused:?}{pinned:?}{trusted:?}").contains("S3c"));
    }
}

/// The token is what Microsoft's mock server received; what else a login by it needs is the
/// vendor's.
#[test]
fn an_access_token_logs_in_encrypted_and_is_not_shown() {
    let lab = Lab::new();
    let mock = Mock::start(Tls::On, &lab);
    answer_survey(&mock);
    mock.answers.answer(
        &survey_views::CONFIGURATIONS.sql(),
        "name | configured | in_use\nmax worker threads | 0 | 0",
    );
    let file = lab.path("token");
    let survey = |login: &str, parameters: &str| {
        let url = format!(
            "mssql://{login}127.0.0.1:{}/master?trustservercertificate=yes&accesstokenfile={}&\
             {parameters}",
            mock.port,
            file.display()
        );
        lab.steelbench(&["survey", "--server", &url, "--volume", "/", "--json"])
    };
    let keep = |token: &str, mode: u32| {
        std::fs::write(&file, format!("{token}\n")).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let received = || {
        let connections = mock.connections.blocking_lock();
        connections
            .all()
            .values()
            .filter_map(ConnectionInfo::received_token_as_string)
            .collect::<Vec<_>>()
    };
    let missing = survey("", "").expect(2);
    assert!(missing.stderr.contains("access token file"), "{missing:#?}");
    keep("eyJ0.S3c", 0o644);
    let readable = survey("", "").expect(2);
    assert!(readable.stderr.contains("chmod 600"), "{readable:#?}");
    keep("", 0o600);
    let empty = survey("", "").expect(2);
    assert!(empty.stderr.contains("is empty"), "{empty:#?}");
    keep("eyJ0.S3c", 0o600);
    let named = survey("anna@", "").expect(2);
    assert!(named.stderr.contains("replaces user and password"), "{named:#?}");
    let clear = survey("", "encrypt=optional").expect(2);
    assert!(clear.stderr.contains("requires encryption"), "{clear:#?}");
    let both = survey("sa:S3c@", "").expect(2);
    assert!(both.stderr.contains("replaces user and password"), "{both:#?}");
    assert_eq!(received(), Vec::<String>::new());
    let taken = survey("", "").expect(0);
    assert!(taken.stdout.contains("max worker threads"), "{taken:#?}");
    let tokens = received();
    assert!(!tokens.is_empty() && tokens.iter().all(|token| token == "eyJ0.S3c"), "{tokens:?}");
    assert!(!format!("{missing:?}{readable:?}{clear:?}{both:?}{taken:?}").contains("S3c"));
}
