-- Classes of goods that are short in a quarter.
SELECT w_warehouse_sk, i_category, i_class, avg(inv_quantity_on_hand) AS stock
FROM inventory
JOIN warehouse ON w_warehouse_sk = inv_warehouse_sk
JOIN item ON i_item_sk = inv_item_sk
JOIN date_dim ON d_date_sk = inv_date_sk
WHERE d_year = 2001 AND d_qoy = 2
GROUP BY w_warehouse_sk, i_category, i_class
HAVING avg(inv_quantity_on_hand) < 480
ORDER BY w_warehouse_sk, i_category, i_class;
