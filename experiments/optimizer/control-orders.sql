-- Lines of a market segment's orders that were shipped after a day.
SELECT o_orderpriority, count(*) AS lines, sum(l_extendedprice * (1 - l_discount)) AS revenue
FROM customer
JOIN orders ON o_custkey = c_custkey
JOIN lineitem ON l_orderkey = o_orderkey
WHERE c_mktsegment = 'BUILDING' AND o_orderdate < '1995-06-30' AND l_shipdate > '1995-03-31'
GROUP BY o_orderpriority
ORDER BY o_orderpriority;
