//! Servers by URL: we work in a schema of our own with what the role may do, and leave nothing.

use crate::common::{Exit, Lab, end, signal, skipped};
use crate::servers;
use crate::servers::by_url::{OWNER, Server, bindirs};
use crate::servers::{ONCE, await_load, causes, lab};
use postgres::client::Config;
use std::os::unix::fs::PermissionsExt;

const PASSWORD: &str = "Geh3imnis-never-to-be-seen";

/// Over TCP, `app` with its password and `owner` without one.
const HBA: &str = "host all app 127.0.0.1/32 scram-sha-256\nhost all owner 127.0.0.1/32 trust";

/// A server with a role that may create schemas in database `bench` and nothing else.
fn server(bin: &std::path::Path, settings: &[(&str, &str)]) -> Server {
    let server = Server::start(bin, HBA, settings);
    let mut client = server.connect();
    client.batch(&format!("CREATE ROLE app LOGIN PASSWORD '{PASSWORD}'")).unwrap();
    client.batch("CREATE DATABASE bench").unwrap();
    client.batch("GRANT CREATE ON DATABASE bench TO app").unwrap();
    server
}

/// How its owner reaches that database, over the unix socket.
fn owner(server: &Server) -> Config {
    server.config().with_database("bench")
}

/// Returns a connection string for a file, with other users or hosts.
fn url(server: &Server, host: &str, user: &str) -> String {
    format!("host={host} port={} user={user} dbname=bench", server.port)
}

fn socket(server: &Server) -> String {
    url(server, server.folder().to_str().unwrap(), OWNER)
}

fn file(url: &str, workload: &str, more: &str) -> String {
    format!(
        "[experiment]\nname = \"t\"\n[target]\nengine = \"postgres\"\nurl = \
         \"{url}\"\n[workload]\n{workload}\n[repeats]\nblocks = 1\n{more}"
    )
}

const INSERTS: &str = "probe = \"insert\"\nconnections = 2\nrows = 500\nrows_per_transaction = 50";

/// Order entry, whose tables would be beside those of the user.
const ORDERS: &str = "probe = \"order-entry\"\nconnections = 1\ntransactions = 1";

/// An insert load that runs until it is stopped.
const ENDLESS: &str =
    "probe = \"insert\"\nconnections = 2\nduration = \"600 s\"\nrows_per_transaction = 10";

/// Returns the objects in the database, without the server's own.
fn contents(server: &Server) -> String {
    let sql = "SELECT coalesce(string_agg(n.nspname || '.' || coalesce(c.relname, ''), ' ' ORDER \
               BY 1), '')
               FROM pg_namespace n LEFT JOIN pg_class c ON c.relnamespace = n.oid
               WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'";
    let mut client = postgres::client::Client::connect(&owner(server)).unwrap();
    client.query(sql, &[]).unwrap().first().unwrap().get(0).unwrap().to_owned()
}

/// Everything that a run has written or said, but for the file of passwords.
fn output(lab: &Lab, ended: &Exit) -> String {
    let mut all = format!("{}{}", ended.stdout, ended.stderr);
    for entry in std::fs::read_dir(lab.path("results")).unwrap().flatten() {
        all += &String::from_utf8_lossy(&std::fs::read(entry.path()).unwrap());
    }
    all
}

#[test]
fn every_way_to_name_a_server_works_and_the_password_is_told_nowhere() {
    for bin in bindirs() {
        let server = server(&bin, &[]);
        let before = contents(&server);
        let host = "127.0.0.1";
        let port = server.port.to_string();
        let hooks = "[hooks]\nbefore_trial = 'env | grep STEELBENCH'\nafter_trial = 'env | grep \
                     STEELBENCH'\n";
        let variables =
            [("PGHOST", host), ("PGPORT", &port), ("PGUSER", "app"), ("PGDATABASE", "bench")];
        for (url, variables, in_file) in [
            (format!("postgres://app@{host}:{port}/bench"), &[][..], false),
            (self::url(&server, host, "app"), &[][..], true),
            (String::new(), &variables[..], false),
        ] {
            let lab = lab(&file(&url, INSERTS, hooks));
            lab.write(".pgpass", &format!("{host}:*:bench:app:{PASSWORD}\n"));
            std::fs::set_permissions(lab.path(".pgpass"), std::fs::Permissions::from_mode(0o600))
                .unwrap();
            let mut run = lab.command(&["run", "e.toml", "--full", "--json"]);
            run.env("HOME", lab.path("")).envs(variables.iter().copied());
            if !in_file {
                std::fs::remove_file(lab.path(".pgpass")).unwrap();
                run.env("PGPASSWORD", PASSWORD);
            }
            let ended = Exit::from(run.output().unwrap()).expect(0);
            assert_eq!(lab.rows("t", "SELECT work_amount, transactions FROM trials"), ["500|10"]);
            let output = output(&lab, &ended);
            assert!(output.contains("STEELBENCH") && !output.contains(PASSWORD));
        }
        assert_eq!(contents(&server), before);
    }
}

#[test]
fn what_a_plain_role_cannot_see_is_marked_and_seen_with_pg_monitor() {
    for bin in bindirs() {
        let server = server(&bin, &[]);
        let warnings = |granted: &str| {
            server.connect().batch(granted).unwrap();
            let lab = lab(&file(&url(&server, "127.0.0.1", "app"), INSERTS, ""));
            let run = lab
                .command(&["run", "e.toml", "--full"])
                .env("PGPASSWORD", PASSWORD)
                .output()
                .unwrap();
            Exit::from(run).expect(0);
            lab.rows(
                "t",
                "SELECT detail FROM warnings WHERE kind = 'not_observed' ORDER BY position",
            )
            .join("\n")
        };
        let (plain, monitor) = (warnings("SELECT 1"), warnings("GRANT pg_monitor TO app"));
        assert!(plain.contains("GRANT pg_monitor") && plain.contains("track_io_timing"), "{plain}");
        assert!(
            !monitor.contains("pg_monitor") && monitor.contains("track_io_timing"),
            "{monitor}"
        );
        server.connect().batch("ALTER SYSTEM SET track_io_timing = on").unwrap();
        server.connect().batch("SELECT pg_reload_conf()").unwrap();
        assert_eq!(warnings("SELECT 1"), "");
    }
}

#[test]
fn a_schema_that_is_not_ours_is_refused_and_one_of_a_killed_run_is_taken_over() {
    for bin in bindirs() {
        let server = server(&bin, &[]);
        let mut client = postgres::client::Client::connect(&owner(&server)).unwrap();
        client.batch("CREATE SCHEMA steelbench; CREATE TABLE steelbench.precious (a int)").unwrap();
        let before = contents(&server);
        let lab = lab(&file(&socket(&server), INSERTS, ""));
        lab.run(1).says("that Steelbench did not create");
        assert_eq!(contents(&server), before);
        lab.write("e.toml", &file(&socket(&server), ORDERS, ""));
        let orders = lab.steelbench(&["run", "e.toml", "--full", "--fresh"]).expect(1);
        orders.says("that Steelbench did not create");
        assert_eq!(contents(&server), before);
        client.batch("DROP SCHEMA steelbench CASCADE").unwrap();
        let before = contents(&server);

        lab.write("e.toml", &file(&socket(&server), ENDLESS, ""));
        let fresh = || lab.command(&["run", "e.toml", "--full", "--fresh"]);
        let child = fresh()
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        await_load(&owner(&server));
        signal(&child, libc::SIGKILL);
        end(child);
        assert!(contents(&server).contains("steelbench.mybigtable"));
        lab.write("e.toml", &file(&socket(&server), INSERTS, ""));
        let next = Exit::from(fresh().output().unwrap()).expect(0);
        next.says("schema steelbench in database").says("of an earlier run is still there");
        assert_eq!(contents(&server), before);
    }
}

#[test]
fn a_run_while_another_one_works_is_refused_and_the_other_goes_on() {
    let Some(bin) = bindirs().pop() else { return };
    let server = server(&bin, &[]);
    let first = lab(&file(&socket(&server), ENDLESS, ""));
    let child = first.start();
    await_load(&owner(&server));
    let second = lab(&file(&socket(&server), INSERTS, ""));
    second.run(1).says("another run is using this database (session ").says("of role owner)");
    await_load(&owner(&server));
    signal(&child, libc::SIGINT);
    end(child).expect(130);
    assert!(!contents(&server).contains("steelbench"));
    let third = lab(&file(&socket(&server), INSERTS, ""));
    third.run(0);
}

#[test]
fn what_is_wrong_with_a_url_is_told_by_check_without_a_password() {
    let lab = lab("");
    let check = |target: &str| {
        lab.write("e.toml", &file("x", INSERTS, "").replace("url = \"x\"", target));
        let ended = lab.steelbench(&["check", "e.toml"]).expect(2);
        assert!(!format!("{ended:?}").contains(PASSWORD), "{ended:?}");
        ended
    };
    for url in [
        format!("postgres://app:{PASSWORD}@h/d"),
        format!("postgres://app@h/d?password={PASSWORD}"),
        format!("host=h password={PASSWORD}"),
    ] {
        check(&format!("url = \"{url}\"")).says("in PGPASSWORD or ~/.pgpass");
        check(&format!("url = \"{url}\"\ncolour = 1")).says("colour");
    }
    check("url = \"host=h colour=blue\"").says("colour");
    check("url = \"\"\nversion = 15").says("this applies to private servers only");
    check("url = \"\"\ncache = \"cold\"").says("Steelbench cannot control the caches");
    check("url = \"\"\nreset = \"restart\"").says("needs a private server");
}

/// Returns a port without a listener.
fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn what_a_server_refuses_is_told_before_the_first_trial() {
    let Some(bin) = bindirs().pop() else { return };
    let server = server(&bin, &[("max_connections", "10")]);
    let before = contents(&server);
    // A file that is right may be run when the server is; a file that is wrong for it is so in
    // `check` too.
    let refused = |file: &str, code: i32, why: &str| {
        let lab = lab(file);
        let checked = lab.steelbench(&["check", "e.toml"]);
        let checked = if code == 2 {
            checked.expect(2).says(why)
        } else {
            checked.expect(0).shows("not ready yet: ").shows(why)
        };
        let ended = lab.run(code).says(why);
        assert_eq!(lab.trials("t"), 0, "{checked:?} {ended:?}");
        assert_eq!(contents(&server), before);
    };
    let many = INSERTS.replace("connections = 2", "connections = 16");
    let many = file(&socket(&server), &many, "");
    refused(&many, 1, "; the load needs 16 and Steelbench 2 more");
    let nobody_there = format!("host=127.0.0.1 port={} user=app", free_port());
    refused(&file(&nobody_there, INSERTS, ""), 1, "Connection refused");
    server.connect().batch("CREATE ROLE guest LOGIN").unwrap();
    let guest = url(&server, server.folder().to_str().unwrap(), "guest");
    let why = "role guest cannot create a schema in database bench; run GRANT CREATE ON DATABASE \
               bench TO guest";
    refused(&file(&guest, INSERTS, ""), 1, why);
    let checkpoints =
        file(&guest, INSERTS, "").replace("[workload]", "final_checkpoint = true\n[workload]");
    refused(&checkpoints, 1, "role guest cannot run CHECKPOINT; run GRANT pg_checkpoint TO guest");
    for (setting, why) in [
        ("shared_buffers = \"1GB\"", "needs a server restart (pg_settings.context = postmaster)"),
        ("fsync = false", "is server-wide (pg_settings.context = sighup)"),
        ("block_size = 8192", "is fixed when PostgreSQL is built"),
        ("log_statement = \"all\"", "permission denied to set parameter \"log_statement\""),
        ("work_mem = \"1 XB\"", "invalid value for parameter \"work_mem\""),
        ("wrok_mem = \"1MB\"", "did you mean `work_mem`?"),
    ] {
        let guest = file(&guest, INSERTS, "")
            .replace("[workload]", &format!("settings.{setting}\n[workload]"));
        refused(&guest, 2, why);
        refused(&guest, 2, &format!("target.settings.{}", setting.split(' ').next().unwrap()));
    }
    server.connect().batch("GRANT CREATE ON DATABASE bench TO guest").unwrap();
    server.connect().batch("ALTER DATABASE bench SET default_transaction_read_only = on").unwrap();
    refused(&file(&guest, INSERTS, ""), 1, "database bench is read-only");
}

/// A factor with a level that needs a restart: all that could have been measured for nothing.
#[test]
fn a_level_that_a_server_by_url_cannot_have_is_refused_before_the_other_levels_are_run() {
    let Some(bin) = bindirs().pop() else { return };
    let server = server(&bin, &[]);
    let levels = "[factors]\n\"target.settings.shared_buffers\" = [\"128MB\", \"1GB\"]\n";
    let lab = lab(&file(&socket(&server), INSERTS, levels).replace("blocks = 1", "blocks = 8"));
    lab.steelbench(&["check", "e.toml"])
        .expect(2)
        .says("--> e.toml:14:")
        .says("needs a server restart");
    lab.run(2).says("target.settings.shared_buffers: needs a server restart");
    assert_eq!(lab.trials("t"), 0);
}

#[test]
fn settings_of_a_session_are_levels_of_a_factor() {
    for bin in bindirs() {
        let server = server(&bin, &[]);
        let mut client = postgres::client::Client::connect(&owner(&server)).unwrap();
        client.batch("CREATE TABLE seen (mem text, note text)").unwrap();
        let levels = "[factors]\n\"target.settings.work_mem\" = [\"1MB\", \
                      \"2MB\"]\n\"target.settings.app.note\" = [\"two words\", 'a\\b']\n";
        let lab = lab(&file(&socket(&server), ONCE, levels));
        lab.write(
            "script.sql",
            "INSERT INTO seen SELECT current_setting('work_mem'), current_setting('app.note')",
        );
        lab.run(0);
        let client = client
            .query("SELECT string_agg(mem || ' ' || note, ', ' ORDER BY mem, note) FROM seen", &[])
            .unwrap();
        let client = client.first().unwrap().get(0).unwrap();
        assert_eq!(client, "1MB a\\b, 1MB two words, 2MB a\\b, 2MB two words");
    }
}

#[test]
fn a_server_that_recovers_from_a_crash_fails_one_trial_and_nothing_of_ours_stays() {
    for bin in bindirs() {
        let server = server(&bin, &[]);
        let before = contents(&server);
        let workload = ENDLESS.replace("600 s", "4 s");
        let lab = lab(&file(&socket(&server), &workload, "").replace("blocks = 1", "blocks = 2"));
        let child = lab.start();
        await_load(&owner(&server));
        let sql =
            "SELECT pid FROM pg_stat_activity WHERE application_name = 'steelbench load' LIMIT 1";
        let session = server
            .connect()
            .query(sql, &[])
            .unwrap()
            .first()
            .unwrap()
            .get(0)
            .unwrap()
            .parse()
            .unwrap();
        servers::kill(session, libc::SIGKILL);
        end(child).expect(1);
        assert_eq!(
            lab.rows("t", "SELECT status FROM trials ORDER BY id"),
            ["failed", "done"],
            "{:?}",
            causes(&lab)
        );
        assert!(causes(&lab)[0].contains("connection"), "{:?}", causes(&lab));
        assert_eq!(contents(&server), before);
    }
}

#[test]
fn the_processes_of_servers_on_this_machine_are_in_the_profile_of_a_trial() {
    let Some(bin) = bindirs().pop() else { return };
    let server = server(&bin, &[]);
    let inserts =
        "probe = \"insert\"\nconnections = 2\nrows = \"ROWS\"\nrows_per_transaction = 1000";
    let by_url = file(&socket(&server), inserts, "[observe]\nprofile = true\n");
    let managed =
        by_url.replace(&format!("url = \"{}\"", socket(&server)), "settings.fsync = false");
    assert_ne!(managed, by_url);
    for file in [by_url, managed] {
        // Work, not time, so that a busy machine yields samples too; more work for a fast one.
        for rows in ["200k", "2000k", "20000k"] {
            let lab = lab(&file.replace("ROWS", rows));
            lab.run(0);
            let unseen = "SELECT detail FROM warnings WHERE kind = 'not_observed' AND detail LIKE \
                          '%profile%'";
            if let Some(why) = lab.rows("t", unseen).first() {
                return skipped(why);
            }
            let profile = lab.json(&["show", "t"])[0]["profiles"][0]["profile"].clone();
            let samples = |name: &str| {
                let modules = profile["modules"].as_array().unwrap().iter();
                let modules =
                    modules.filter(|module| module["module"].as_str().unwrap().ends_with(name));
                modules.map(|module| module["own"]["samples"].as_u64().unwrap()).sum::<u64>()
            };
            if samples("/postgres") > 20 && samples("/steelbench") > 0 {
                break;
            }
            assert_ne!(rows, "20000k", "{profile}");
        }
    }
}

/// A setting of the database changes between two trials, and the planner chooses another plan.
#[test]
fn a_trial_with_another_plan_than_the_first_of_its_configuration_is_warned_about() {
    for bin in bindirs() {
        let Some(psql) =
            bindirs().into_iter().map(|bin| bin.join("psql")).find(|psql| psql.exists())
        else {
            return skipped("there is no psql");
        };
        let server = server(&bin, &[]);
        let (psql, folder, port) = (psql.display(), server.folder().display(), server.port);
        let psql = format!(
            "{psql} -qX -h {folder} -p {port} -U {OWNER} -d bench -c 'ALTER DATABASE bench"
        );
        let hook = format!(
            "case $STEELBENCH_BLOCK in 2) {psql} SET enable_hashagg = off';; 3) {psql} RESET \
             enable_hashagg';; esac"
        );
        let scan = "probe = \"scan\"\nrows = 20000\nscans = 1\ngroup_by = \"c2\"";
        let file = file(&socket(&server), scan, &format!("[hooks]\nbefore_trial = \"{hook}\"\n"));
        let lab = lab(&file.replace("blocks = 1", "blocks = 3"));
        let output = lab.run(0);
        let warned = "SELECT t.block FROM warnings w JOIN trials t ON t.id = w.trial WHERE w.kind \
                      = 'other_plan'";
        assert_eq!(lab.rows("t", warned), ["2"]);
        output.shows("plan differs from other trials");
        let plans = lab.rows("t", "SELECT text LIKE '%HashAggregate%' FROM plans ORDER BY trial");
        assert_eq!(plans, ["1", "0", "1"]);
    }
}
