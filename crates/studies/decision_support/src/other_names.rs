use experiment::OtherName;

/// A setting of HammerDB's TPROC-H; most have the database's prefix: `pg_scale_fact`.
const fn hammerdb(name: &'static str, help: &'static str) -> OtherName {
    OtherName { program: "HammerDB", name, help }
}

/// HammerDB's settings.
pub const OTHER_NAMES: &[OtherName] = &[
    hammerdb("_scale_fact", "use workload.scale"),
    hammerdb("_total_querysets", "use workload.rounds"),
    hammerdb("_degree_of_parallel", "use workload.degree"),
    hammerdb("_num_tpch_threads", "leave it out: rows are made ahead by all CPUs"),
    hammerdb("_raise_query_error", "leave it out: an error fails the trial"),
];
