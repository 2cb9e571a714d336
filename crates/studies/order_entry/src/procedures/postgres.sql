CREATE OR REPLACE PROCEDURE order_entry_new_order(
    home int, own_district int, own_customer int, ordered_at timestamp, all_local int,
    item_ids int[], suppliers int[], quantities int[]) LANGUAGE plpgsql AS $body$
DECLARE
    order_id int;
    price numeric;
    left_over int;
    info text;
BEGIN
    PERFORM c_discount, c_last, c_credit, w_tax FROM customer, warehouse
        WHERE w_id = home AND c_w_id = w_id AND c_d_id = own_district AND c_id = own_customer;
    SELECT d_next_o_id INTO STRICT order_id FROM district
        WHERE d_w_id = home AND d_id = own_district FOR UPDATE;
    UPDATE district SET d_next_o_id = d_next_o_id + 1
        WHERE d_w_id = home AND d_id = own_district;
    INSERT INTO orders (o_w_id, o_d_id, o_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)
        VALUES (home, own_district, order_id, own_customer, ordered_at,
                cardinality(item_ids), all_local);
    INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES (home, own_district, order_id);
    FOR line IN 1..cardinality(item_ids) LOOP
        SELECT i_price INTO price FROM item WHERE i_id = item_ids[line];
        IF NOT FOUND THEN
            ROLLBACK;
            RETURN;
        END IF;
        SELECT s_quantity - quantities[line],
               (ARRAY[s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05, s_dist_06, s_dist_07,
                      s_dist_08, s_dist_09, s_dist_10])[own_district]
            INTO STRICT left_over, info FROM stock
            WHERE s_w_id = suppliers[line] AND s_i_id = item_ids[line] FOR UPDATE;
        IF left_over < 10 THEN
            left_over := left_over + 91;
        END IF;
        UPDATE stock SET s_quantity = left_over, s_ytd = s_ytd + quantities[line],
                s_order_cnt = s_order_cnt + 1,
                s_remote_cnt = s_remote_cnt + CASE WHEN suppliers[line] <> home THEN 1 ELSE 0 END
            WHERE s_w_id = suppliers[line] AND s_i_id = item_ids[line];
        INSERT INTO order_line (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id,
                ol_quantity, ol_amount, ol_dist_info)
            VALUES (home, own_district, order_id, line, item_ids[line], suppliers[line],
                    quantities[line], quantities[line] * price, info);
    END LOOP;
END
$body$;

CREATE OR REPLACE PROCEDURE order_entry_payment(
    home int, own_district int, customer_home int, customer_district int, customer_id int,
    last_name text, paid numeric, paid_at timestamp) LANGUAGE plpgsql AS $body$
DECLARE
    own_customer int := customer_id;
    warehouse_name text;
    district_name text;
    credit text;
    old_data text;
BEGIN
    UPDATE warehouse SET w_ytd = w_ytd + paid WHERE w_id = home;
    SELECT w_name INTO STRICT warehouse_name FROM warehouse WHERE w_id = home;
    UPDATE district SET d_ytd = d_ytd + paid WHERE d_w_id = home AND d_id = own_district;
    SELECT d_name INTO STRICT district_name FROM district
        WHERE d_w_id = home AND d_id = own_district;
    IF last_name <> '' THEN
        SELECT c_id INTO STRICT own_customer FROM (
            SELECT c_id, row_number() OVER (ORDER BY c_first, c_id) AS place,
                   count(*) OVER () AS number
            FROM customer WHERE c_w_id = customer_home AND c_d_id = customer_district
                AND c_last = last_name) named
            WHERE 2 * place IN (number, number + 1);
    END IF;
    SELECT c_credit, c_data INTO STRICT credit, old_data FROM customer
        WHERE c_w_id = customer_home AND c_d_id = customer_district AND c_id = own_customer
        FOR UPDATE;
    IF credit = 'BC' THEN
        UPDATE customer SET c_balance = c_balance - paid, c_ytd_payment = c_ytd_payment + paid,
                c_payment_cnt = c_payment_cnt + 1,
                c_data = left(concat(own_customer, ' ', customer_district, ' ', customer_home, ' ',
                                     own_district, ' ', home, ' ', paid, ' | ', old_data), 500)
            WHERE c_w_id = customer_home AND c_d_id = customer_district AND c_id = own_customer;
    ELSE
        UPDATE customer SET c_balance = c_balance - paid, c_ytd_payment = c_ytd_payment + paid,
                c_payment_cnt = c_payment_cnt + 1
            WHERE c_w_id = customer_home AND c_d_id = customer_district AND c_id = own_customer;
    END IF;
    INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
        VALUES (own_customer, customer_district, customer_home, own_district, home, paid_at, paid,
                concat(warehouse_name, '    ', district_name));
END
$body$;

CREATE OR REPLACE PROCEDURE order_entry_order_status(
    home int, own_district int, customer_id int, last_name text) LANGUAGE plpgsql AS $body$
DECLARE
    own_customer int := customer_id;
    order_id int;
BEGIN
    IF last_name <> '' THEN
        SELECT c_id INTO STRICT own_customer FROM (
            SELECT c_id, row_number() OVER (ORDER BY c_first, c_id) AS place,
                   count(*) OVER () AS number
            FROM customer WHERE c_w_id = home AND c_d_id = own_district
                AND c_last = last_name) named
            WHERE 2 * place IN (number, number + 1);
    END IF;
    PERFORM c_balance, c_first, c_middle, c_last FROM customer
        WHERE c_w_id = home AND c_d_id = own_district AND c_id = own_customer;
    SELECT o_id INTO STRICT order_id FROM orders
        WHERE o_w_id = home AND o_d_id = own_district AND o_c_id = own_customer
        ORDER BY o_id DESC LIMIT 1;
    PERFORM ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line
        WHERE ol_w_id = home AND ol_d_id = own_district AND ol_o_id = order_id;
END
$body$;

CREATE OR REPLACE PROCEDURE order_entry_delivery(
    home int, carrier int, delivered_at timestamp) LANGUAGE plpgsql AS $body$
DECLARE
    order_id int;
    own_customer int;
    due numeric;
BEGIN
    FOR own_district IN 1..10 LOOP
        -- A read that waited for an order which another delivery took finds none, although there
        -- may be others.
        FOR look IN 1..10 LOOP
            SELECT no_o_id INTO order_id FROM new_order
                WHERE no_w_id = home AND no_d_id = own_district
                ORDER BY no_o_id LIMIT 1 FOR UPDATE;
            EXIT WHEN FOUND;
            PERFORM 1 FROM new_order WHERE no_w_id = home AND no_d_id = own_district LIMIT 1;
            EXIT WHEN NOT FOUND;
        END LOOP;
        CONTINUE WHEN order_id IS NULL;
        DELETE FROM new_order
            WHERE no_w_id = home AND no_d_id = own_district AND no_o_id = order_id;
        SELECT o_c_id INTO STRICT own_customer FROM orders
            WHERE o_w_id = home AND o_d_id = own_district AND o_id = order_id FOR UPDATE;
        UPDATE orders SET o_carrier_id = carrier
            WHERE o_w_id = home AND o_d_id = own_district AND o_id = order_id;
        UPDATE order_line SET ol_delivery_d = delivered_at
            WHERE ol_w_id = home AND ol_d_id = own_district AND ol_o_id = order_id;
        SELECT sum(ol_amount) INTO STRICT due FROM order_line
            WHERE ol_w_id = home AND ol_d_id = own_district AND ol_o_id = order_id;
        UPDATE customer SET c_balance = c_balance + due, c_delivery_cnt = c_delivery_cnt + 1
            WHERE c_w_id = home AND c_d_id = own_district AND c_id = own_customer;
    END LOOP;
END
$body$;

CREATE OR REPLACE PROCEDURE order_entry_stock_level(
    home int, own_district int, threshold int) LANGUAGE plpgsql AS $body$
DECLARE
    next_order int;
    low bigint;
BEGIN
    SELECT d_next_o_id INTO STRICT next_order FROM district
        WHERE d_w_id = home AND d_id = own_district;
    SELECT count(DISTINCT s_i_id) INTO low FROM order_line, stock
        WHERE ol_w_id = home AND ol_d_id = own_district AND ol_o_id >= next_order - 20
            AND ol_o_id < next_order AND s_w_id = ol_w_id AND s_i_id = ol_i_id
            AND s_quantity < threshold;
END
$body$;
