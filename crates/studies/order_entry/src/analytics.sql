-- A1 delivered lines by their number
SELECT ol_number, count(*) AS line_count, sum(ol_quantity) AS quantity, sum(ol_amount) AS amount,
    avg(ol_amount) AS average
FROM order_line
WHERE ol_delivery_d IS NOT NULL
GROUP BY ol_number
ORDER BY ol_number

-- A2 largest outstanding orders
SELECT no_w_id, no_d_id, no_o_id, sum(ol_amount) AS amount
FROM new_order JOIN order_line ON ol_w_id = no_w_id AND ol_d_id = no_d_id AND ol_o_id = no_o_id
GROUP BY no_w_id, no_d_id, no_o_id
ORDER BY amount DESC, no_w_id, no_d_id, no_o_id{first 20}

-- A3 outstanding orders by size
SELECT o_ol_cnt, count(*) AS order_count
FROM orders
WHERE EXISTS (SELECT 1 FROM order_line WHERE ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id =
    o_id AND ol_delivery_d IS NULL)
GROUP BY o_ol_cnt
ORDER BY o_ol_cnt

-- A4 customers without outstanding orders by state
SELECT c_state, count(*) AS customers, sum(c_balance) AS balance
FROM customer
WHERE c_discount < (SELECT avg(c_discount) FROM customer) AND NOT EXISTS (SELECT 1 FROM orders
    WHERE o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id AND o_carrier_id IS NULL)
GROUP BY c_state
ORDER BY c_state

-- A5 sales by class of price
SELECT price_class, count(*) AS line_count, sum(ol_quantity) AS quantity, sum(ol_amount) AS amount
FROM order_line JOIN (SELECT i_id, CASE WHEN i_price < 25 THEN 'low' WHEN i_price < 75 THEN
    'middle' ELSE 'high' END AS price_class FROM item) classes ON i_id = ol_i_id
GROUP BY price_class
ORDER BY price_class

-- A6 items in demand that are low in stock
SELECT s_w_id, s_i_id, s_quantity, sold
FROM stock JOIN (SELECT ol_supply_w_id, ol_i_id, sum(ol_quantity) AS sold FROM order_line GROUP BY
    ol_supply_w_id, ol_i_id) demand ON ol_supply_w_id = s_w_id AND ol_i_id = s_i_id
WHERE s_quantity < 20
ORDER BY sold DESC, s_w_id, s_i_id{first 20}

-- A7 best customers of good credit
SELECT c_w_id, c_d_id, c_id, c_last, sum(ol_amount) AS amount
FROM customer JOIN orders ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id JOIN order_line
    ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
WHERE c_credit = 'GC'
GROUP BY c_w_id, c_d_id, c_id, c_last
ORDER BY amount DESC, c_w_id, c_d_id, c_id{first 20}

-- A8 payments by warehouse and district
SELECT w_name, d_w_id, d_id, payments, paid, d_ytd
FROM warehouse JOIN district ON d_w_id = w_id JOIN (SELECT h_w_id, h_d_id, count(*) AS payments,
    sum(h_amount) AS paid FROM history GROUP BY h_w_id, h_d_id) made ON h_w_id = d_w_id AND h_d_id
    = d_id
ORDER BY d_w_id, d_id
