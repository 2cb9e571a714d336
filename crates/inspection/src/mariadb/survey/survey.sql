-- variables of MariaDB
SELECT lower(variable_name), global_value,
    if(global_value_origin IN ('COMPILE-TIME', 'AUTO'), global_value, default_value),
    lower(global_value_origin), substring_index(coalesce(global_value_path, ''), '/', -1),
    variable_type IN ('VARCHAR', 'UNKNOWN')
FROM information_schema.system_variables
WHERE global_value IS NOT NULL
ORDER BY 1

-- variables of MySQL
SELECT lower(v.variable_name), v.variable_value,
    if(i.variable_source = 'COMPILED', v.variable_value, NULL), lower(i.variable_source),
    substring_index(coalesce(i.variable_path, ''), '/', -1),
    v.variable_value NOT REGEXP '^([0-9.]+|ON|OFF|YES|NO)$'
FROM performance_schema.global_variables v
JOIN performance_schema.variables_info i USING (variable_name)
ORDER BY 1

-- databases
SELECT schema_name, sum(data_length + index_length) AS bytes
FROM information_schema.schemata
LEFT JOIN information_schema.tables ON table_schema = schema_name
WHERE schema_name NOT IN ('information_schema', 'performance_schema', 'mysql', 'sys')
GROUP BY schema_name
ORDER BY bytes DESC, schema_name

-- plugins
SELECT plugin_name, plugin_version
FROM information_schema.plugins
WHERE plugin_status = 'ACTIVE' AND plugin_library IS NOT NULL
ORDER BY plugin_name
