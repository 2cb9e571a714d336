-- sizes of files
SELECT name AS steelbench_queries, file_size
FROM information_schema.{innodb_sys_tablespaces|innodb_tablespaces}

-- files
SELECT file_name AS steelbench_queries, substring_index(event_name, '/', -1), count_read,
    sum_number_of_bytes_read, sum_timer_read, count_write, sum_number_of_bytes_write,
    sum_timer_write
FROM performance_schema.file_summary_by_instance
WHERE event_name LIKE 'wait/io/file/innodb/%' OR event_name LIKE 'wait/io/file/sql/%log%'
    OR event_name LIKE 'wait/io/file/aria/%' OR event_name LIKE 'wait/io/file/myisam/%'
ORDER BY sum_timer_wait DESC
LIMIT 5000

-- waits
SELECT event_name AS steelbench_queries, sum(count_star), sum(sum_timer_wait) / 1e12
FROM performance_schema.events_waits_summary_by_account_by_event_name
WHERE user IS NOT NULL AND event_name <> 'idle' AND count_star > 0
    AND event_name NOT LIKE 'wait/io/table/%' AND event_name NOT LIKE 'wait/lock/table/%'
GROUP BY event_name
