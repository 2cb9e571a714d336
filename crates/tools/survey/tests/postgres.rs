//! The survey of real servers.

use engine::ServerError;
use observations::{ServerSetting, SurveyedServer, Unread};
use postgres::server::PrivateServer;
use testing::installed::{folder, installations, options, running};
use work::Cancel;

const SECRET: &str = "Geh3imnis-never-to-be-seen";

fn survey(url: &str) -> Result<(SurveyedServer, Vec<Unread>), ServerError> {
    let server = engine::server::by_url(testing::ENGINES, url).unwrap();
    (inspection::postgres::survey::SURVEY.read)(&*server, &Cancel::new().stop())
}

fn changed(server: &SurveyedServer) -> Vec<&str> {
    server
        .settings
        .iter()
        .filter(|setting| setting.is_changed)
        .map(|setting| setting.name.as_str())
        .collect()
}

fn setting<'a>(server: &'a SurveyedServer, name: &str) -> &'a ServerSetting {
    server.setting(name).unwrap_or_else(|| panic!("{name} of {}", server.version))
}

/// Every value is what the server itself shows.
fn assert_values_are_shown(server: &SurveyedServer, cluster: &PrivateServer) {
    let known = server.settings.iter().filter(|setting| setting.value.is_some());
    for setting in known.filter(|setting| setting.source != "database") {
        let sql = format!("SELECT setting FROM pg_settings WHERE name = '{}'", setting.name);
        assert_eq!(Some(testing::installed::ask(cluster, &sql)), setting.value, "{}", setting.name);
    }
}

#[test]
fn a_server_says_how_it_is_set_and_from_where_and_no_secrets() {
    for installation in installations() {
        let folder = folder();
        let cluster = running(options(&installation, folder.path()));
        let mut client = cluster.connect().unwrap();
        let statements = [
            "ALTER SYSTEM SET work_mem = '12345kB'",
            "ALTER SYSTEM SET max_parallel_workers_per_gather = 3",
            "ALTER SYSTEM SET max_worker_processes = 19",
            &format!("ALTER SYSTEM SET primary_conninfo = 'host=h password={SECRET}'"),
            &format!("ALTER DATABASE postgres SET my.secret = '{SECRET}'"),
            "CREATE DATABASE big",
            "ALTER DATABASE postgres SET random_page_cost = 1.5",
            "SELECT pg_reload_conf()",
        ];
        for sql in statements {
            client.batch(sql).unwrap();
        }
        let reloaded = testing::installed::until(|| {
            testing::installed::ask(&cluster, "SHOW work_mem") == "12345kB"
        });
        assert!(reloaded, "{}", installation.version);

        let (server, unread) = survey(&cluster.config().to_string()).unwrap();
        assert_eq!(unread, [], "a superuser sees all");
        assert!(
            server.version.starts_with(&format!("PostgreSQL {}", installation.version)),
            "{server:?}"
        );
        assert!(server.is_local && server.is_replica == Some(false));
        assert_eq!(server.huge_pages_used, Some(false), "no huge pages were set aside for it");

        let work_mem = setting(&server, "work_mem");
        assert_eq!(
            (work_mem.value.as_deref(), work_mem.unit.as_deref()),
            (Some("12345"), Some("kB"))
        );
        assert_eq!(
            (work_mem.default.as_deref(), work_mem.source.as_str()),
            (Some("4096"), "configuration file")
        );
        assert_eq!(work_mem.file.as_deref(), Some("postgresql.auto.conf"));
        assert_eq!(server.bytes("work_mem"), Some(12_345 << 10));
        assert_eq!(server.number("max_parallel_workers_per_gather"), Some(3));
        let workers = setting(&server, "max_worker_processes");
        assert!(workers.pending_restart && workers.value.as_deref() == Some("8"), "{workers:?}");
        assert_eq!(setting(&server, "random_page_cost").source, "database");
        let checked =
            ["work_mem", "max_parallel_workers_per_gather", "primary_conninfo", "random_page_cost"];
        assert!(
            checked.iter().all(|name| changed(&server).contains(name)),
            "{:?}",
            changed(&server)
        );
        for name in ["lc_messages", "log_timezone", "shared_buffers"] {
            assert!(!changed(&server).contains(&name), "{name}: initdb writes it");
        }
        let text = setting(&server, "primary_conninfo");
        assert_eq!((text.value.as_ref(), text.default.as_ref()), (None, None));
        assert!(!format!("{server:?}").contains(SECRET));

        assert_values_are_shown(&server, &cluster);
        assert_eq!(server.extensions[0].name, "plpgsql");
        let names: Vec<&str> =
            server.databases.iter().map(|database| database.name.as_str()).collect();
        assert!(names.contains(&"big") && !names.contains(&"template1"), "{names:?}");
        let size = testing::installed::ask(&cluster, "SELECT pg_database_size('big')").parse().ok();
        assert_eq!(
            server.databases.iter().find(|database| database.name == "big").unwrap().bytes,
            size
        );
    }
}

#[test]
fn a_role_that_may_little_gets_what_it_may_see() {
    for installation in installations() {
        let folder = folder();
        let cluster = running(options(&installation, folder.path()));
        let mut client = cluster.connect().unwrap();
        client.batch("CREATE ROLE poor LOGIN").unwrap();
        client.batch("CREATE DATABASE closed").unwrap();
        client.batch("REVOKE CONNECT ON DATABASE closed FROM public").unwrap();
        let config = cluster.config();
        let socket =
            testing::installed::ask(&cluster, "SHOW unix_socket_directories").replace('"', "");
        let port = testing::installed::ask(&cluster, "SHOW port");
        let poor = format!("host='{socket}' port={port} user=poor dbname={}", config.database);
        let (server, unread) = survey(&poor).unwrap();
        let size = |name: &str| {
            server.databases.iter().find(|database| database.name == name).unwrap().bytes
        };
        assert_eq!(size("closed"), None);
        assert!(size("postgres") > Some(1 << 20));
        assert!(unread.iter().any(|gap| gap.why.contains("pg_read_all_settings")), "{unread:?}");
        assert!(server.bytes("shared_buffers") > Some(0));
        assert!(
            !server.address.contains("poor") && server.address.contains("port="),
            "{}",
            server.address
        );
    }
}

#[test]
fn a_server_that_is_not_there_is_an_error_with_its_place() {
    let folder = folder();
    let url =
        format!("host='{}' user=me password={SECRET} dbname=postgres", folder.path().display());
    let error = survey(&url).unwrap_err();
    let message = error.to_string();
    assert!(
        message.starts_with("connecting: cannot connect to ") && !message.contains(SECRET),
        "{message}"
    );
    assert!(error.advice.is_some_and(|advice| advice.contains("Is the server running?")));
}
