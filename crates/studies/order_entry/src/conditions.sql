-- w_ytd is the sum of d_ytd
SELECT count(*)
FROM warehouse LEFT JOIN (SELECT d_w_id, sum(d_ytd) AS total FROM district GROUP BY d_w_id) d ON
    d_w_id = w_id
WHERE {w_id} AND (total IS NULL OR abs(w_ytd - total) > 0.005)

-- d_next_o_id follows the last order and the last outstanding one
SELECT count(*)
FROM district LEFT JOIN (SELECT o_w_id, o_d_id, max(o_id) AS latest FROM orders WHERE {o_w_id}
    GROUP BY o_w_id, o_d_id) o ON o_w_id = d_w_id AND o_d_id = d_id LEFT JOIN (SELECT no_w_id,
    no_d_id, max(no_o_id) AS newest FROM new_order WHERE {no_w_id} GROUP BY no_w_id, no_d_id) n ON
    no_w_id = d_w_id AND no_d_id = d_id
WHERE {d_w_id} AND (latest IS NULL OR d_next_o_id - 1 <> latest OR d_next_o_id - 1 <> newest)

-- outstanding orders have no gaps
SELECT count(*)
FROM (SELECT no_w_id, no_d_id FROM new_order WHERE {no_w_id} GROUP BY no_w_id, no_d_id HAVING
    max(no_o_id) - min(no_o_id) + 1 <> count(*)) n

-- a district has as many lines as its orders say
SELECT count(*)
FROM district LEFT JOIN (SELECT o_w_id, o_d_id, sum(o_ol_cnt) AS stated FROM orders WHERE {o_w_id}
    GROUP BY o_w_id, o_d_id) o ON o_w_id = d_w_id AND o_d_id = d_id LEFT JOIN (SELECT ol_w_id,
    ol_d_id, count(*) AS counted FROM order_line WHERE {ol_w_id} GROUP BY ol_w_id, ol_d_id) l ON
    ol_w_id = d_w_id AND ol_d_id = d_id
WHERE {d_w_id} AND coalesce(stated, 0) <> coalesce(counted, 0)

-- orders without a carrier are outstanding
SELECT count(*)
FROM orders LEFT JOIN new_order ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id
WHERE {o_w_id} AND (o_carrier_id IS NULL AND no_o_id IS NULL OR o_carrier_id IS NOT NULL AND
    no_o_id IS NOT NULL)

-- an order has as many lines as it says
SELECT count(*)
FROM orders LEFT JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, count(*) AS counted FROM order_line WHERE
    {ol_w_id} GROUP BY ol_w_id, ol_d_id, ol_o_id) l ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND
    ol_o_id = o_id
WHERE {o_w_id} AND o_ol_cnt <> coalesce(counted, 0)

-- lines without a delivery date are of orders without a carrier
SELECT count(*)
FROM order_line LEFT JOIN orders ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id
WHERE {ol_w_id} AND (ol_delivery_d IS NULL AND o_carrier_id IS NOT NULL OR ol_delivery_d IS NOT
    NULL AND o_carrier_id IS NULL)

-- w_ytd is the sum of payments
SELECT count(*)
FROM warehouse LEFT JOIN (SELECT h_w_id, sum(h_amount) AS total FROM history WHERE {h_w_id} GROUP
    BY h_w_id) h ON h_w_id = w_id
WHERE {w_id} AND abs(w_ytd - coalesce(total, 0)) > 0.005

-- d_ytd is the sum of payments
SELECT count(*)
FROM district LEFT JOIN (SELECT h_w_id, h_d_id, sum(h_amount) AS total FROM history WHERE {h_w_id}
    GROUP BY h_w_id, h_d_id) h ON h_w_id = d_w_id AND h_d_id = d_id
WHERE {d_w_id} AND abs(d_ytd - coalesce(total, 0)) > 0.005

-- c_balance is delivered amounts less payments
SELECT count(*)
FROM customer LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, sum(ol_amount) AS delivered FROM orders
    JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE {o_w_id} AND
    ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) o ON o_w_id = c_w_id AND o_d_id =
    c_d_id AND o_c_id = c_id LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, sum(h_amount) AS paid
    FROM history WHERE {h_c_w_id} GROUP BY h_c_w_id, h_c_d_id, h_c_id) h ON h_c_w_id = c_w_id AND
    h_c_d_id = c_d_id AND h_c_id = c_id
WHERE {c_w_id} AND abs(c_balance + coalesce(paid, 0) - coalesce(delivered, 0)) > 0.005

-- delivered orders are those of the load and those that customers count
SELECT count(*)
FROM district LEFT JOIN (SELECT o_w_id, o_d_id, count(*) AS ordered FROM orders WHERE {o_w_id}
    GROUP BY o_w_id, o_d_id) o ON o_w_id = d_w_id AND o_d_id = d_id LEFT JOIN (SELECT no_w_id,
    no_d_id, count(*) AS outstanding FROM new_order WHERE {no_w_id} GROUP BY no_w_id, no_d_id) n
    ON no_w_id = d_w_id AND no_d_id = d_id LEFT JOIN (SELECT c_w_id, c_d_id, sum(c_delivery_cnt)
    AS delivered FROM customer WHERE {c_w_id} GROUP BY c_w_id, c_d_id) c ON c_w_id = d_w_id AND
    c_d_id = d_id
WHERE {d_w_id} AND coalesce(ordered, 0) - coalesce(outstanding, 0) <> {delivered} +
    coalesce(delivered, 0)

-- c_balance and c_ytd_payment are delivered amounts
SELECT count(*)
FROM customer LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, sum(ol_amount) AS delivered FROM orders
    JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE {o_w_id} AND
    ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) o ON o_w_id = c_w_id AND o_d_id =
    c_d_id AND o_c_id = c_id
WHERE {c_w_id} AND abs(c_balance + c_ytd_payment - coalesce(delivered, 0)) > 0.005
