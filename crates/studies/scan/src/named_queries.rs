//! Queries of TPC-H that a scan can run by their names.

/// Queries of the specification (2.4.1 and 2.4.6) on LINEITEM with the parameters of their
/// validation; without the order of Q1, which costs nothing for four rows.
pub fn named_query(name: &str) -> Option<&'static str> {
    match name {
        "tpch-q1" => Some(
            "SELECT l_returnflag, l_linestatus, sum(l_quantity) AS sum_qty, sum(l_extendedprice) \
             AS sum_base_price, sum(l_extendedprice * (1 - l_discount)) AS sum_disc_price, \
             sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) AS sum_charge, avg(l_quantity) \
             AS avg_qty, avg(l_extendedprice) AS avg_price, avg(l_discount) AS avg_disc, count(*) \
             AS count_order FROM lineitem WHERE l_shipdate <= '1998-09-02' GROUP BY l_returnflag, \
             l_linestatus",
        ),
        "tpch-q6" => Some(
            "SELECT sum(l_extendedprice * l_discount) AS revenue FROM lineitem WHERE l_shipdate \
             >= '1994-01-01' AND l_shipdate < '1995-01-01' AND l_discount BETWEEN 0.05 AND 0.07 \
             AND l_quantity < 24",
        ),
        _ => None,
    }
}
