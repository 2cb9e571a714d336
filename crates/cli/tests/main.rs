//! The tests of this crate, in one executable.
#![allow(
    clippy::float_cmp,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test that cannot continue has failed"
)]

mod captures;
mod common;
mod planted;
#[path = "../src/registry.rs"]
#[allow(dead_code, reason = "tests use a part of it")]
mod registry;
mod screen;
mod servers;
mod serving;
mod skeleton;

mod agents;
mod attack;
mod background;
mod bad_files;
mod catalog;
mod commands;
mod compare_runs;
mod compare_sqlite;
mod compression;
mod contract;
mod damaged_plans;
mod data;
mod disk;
mod disk_devices;
mod disk_fio;
mod doctor;
mod drawn;
mod dropped_databases;
mod duckdb;
mod failures;
mod file_systems;
mod helper_programs;
mod hidden_commands;
mod history;
mod hooks;
mod hostile_commands;
mod html;
mod import;
mod kill;
mod known_loads;
mod labels;
mod load_faults;
mod man_pages;
mod manual;
mod mariadb;
mod mariadb_own_server;
mod mariadb_queries;
mod mariadb_waits;
mod marks;
mod models;
mod mysql;
mod named_files;
mod one_screen;
mod open_loop;
mod order;
mod own_tables;
mod pg;
mod plan;
mod planted_faults;
mod postgres;
mod postgres_faults;
mod postgres_network;
mod postgres_own_server;
mod postgres_script;
mod postgres_url;
mod preflight;
mod profile;
mod queries;
mod queries_watch;
mod race;
mod reading_probes;
mod ready_experiments;
mod recorded;
mod rehearsal;
mod results_file;
mod resume;
mod scarce;
mod screening;
mod secrets;
mod secrets_of_commands;
mod serve;
mod serve_browser;
mod server_health;
mod silences;
mod silent_servers;
mod size;
mod small_workloads;
mod sort_order;
mod sqlite;
mod sqlite_queries;
mod sqlserver;
#[cfg(feature = "sqlserver")]
mod sqlserver_target;
mod stability;
#[cfg(feature = "sqlserver")]
mod statement_logs;
mod statements;
mod suggestions;
mod surface;
mod survey;
mod sync;
mod sysbench;
mod terminal;
mod throttle;
mod time;
mod timeouts;
mod try_change;
mod tune;
mod untrusted;
mod unwritable;
mod volumes;
mod waits;
mod work_folders;
mod workbooks;
mod written_files;
mod xlsx;
