use experiment::OtherName;

/// A setting of HammerDB's TPROC-C; most have the database's prefix: `pg_count_ware`.
const fn hammerdb(name: &'static str, help: &'static str) -> OtherName {
    OtherName { program: "HammerDB", name, help }
}

/// HammerDB's settings.
pub const OTHER_NAMES: &[OtherName] = &[
    hammerdb("_count_ware", "use workload.warehouses"),
    hammerdb("_num_vu", "leave it out: warehouses are loaded in parallel"),
    hammerdb("vu", "use workload.connections"),
    hammerdb("_rampup", "use workload.warmup with a unit: warmup = \"2 min\""),
    hammerdb("_duration", "use workload.duration with a unit: duration = \"5 min\""),
    hammerdb("_total_iterations", "use workload.transactions"),
    hammerdb("_keyandthink", "use workload.pace: 1 for the specified times, 0 for none"),
    hammerdb("_storedprocs", "use workload.logic = \"procedures\" or \"client\""),
    hammerdb("_no_stored_procs", "use workload.logic = \"procedures\" or \"client\""),
    hammerdb("_driver", "use workload.duration for a timed load, else workload.transactions"),
    hammerdb("_async_client", "use workload.terminals: they share workload.connections"),
    hammerdb("_async_scale", "use workload.terminals: they share workload.connections"),
    hammerdb("_allwarehouse", "leave it out: terminals are spread over all warehouses"),
    hammerdb("_timeprofile", "leave it out: latencies are always recorded"),
    hammerdb("_raiseerror", "leave it out: an error fails the trial"),
    hammerdb("_partition", "leave it out: tables are not partitioned"),
    hammerdb("_vacuum", "leave it out: tables are analyzed after the load"),
    hammerdb("_host", "use target.url"),
    hammerdb("_server", "use target.url"),
    hammerdb("_port", "use target.url"),
    hammerdb("_socket", "use target.url with ?socket=/path"),
    hammerdb("_user", "use target.url"),
    hammerdb("_dbase", "use target.url"),
    hammerdb("_pass", "leave it out: passwords come from the environment or a password file"),
];
