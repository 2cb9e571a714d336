-- Stock of the suppliers of a nation.
SELECT p_size, count(*) AS offers, min(ps_supplycost) AS cost
FROM part
JOIN partsupp ON ps_partkey = p_partkey
JOIN supplier ON s_suppkey = ps_suppkey
JOIN nation ON n_nationkey = s_nationkey
WHERE n_name = 'GERMANY' AND p_size <= 25
GROUP BY p_size
ORDER BY p_size;
