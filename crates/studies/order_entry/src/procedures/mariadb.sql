DROP PROCEDURE IF EXISTS order_entry_new_order;

CREATE PROCEDURE order_entry_new_order(
    IN home int, IN own_district int, IN own_customer int, IN ordered_at datetime,
    IN all_local int, IN line_count int, IN item_ids text, IN suppliers text, IN quantities text)
whole: BEGIN
    DECLARE order_id, line, item, supplier, quantity, left_over int DEFAULT 0;
    DECLARE price, discount decimal(15,2);
    DECLARE info char(24);
    START TRANSACTION;
    SELECT c_discount + w_tax INTO discount FROM customer, warehouse
        WHERE w_id = home AND c_w_id = w_id AND c_d_id = own_district AND c_id = own_customer;
    SELECT d_next_o_id INTO order_id FROM district
        WHERE d_w_id = home AND d_id = own_district FOR UPDATE;
    UPDATE district SET d_next_o_id = d_next_o_id + 1
        WHERE d_w_id = home AND d_id = own_district;
    INSERT INTO orders (o_w_id, o_d_id, o_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)
        VALUES (home, own_district, order_id, own_customer, ordered_at, line_count, all_local);
    INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES (home, own_district, order_id);
    WHILE line < line_count DO
        SET line = line + 1;
        SET item = substring_index(substring_index(item_ids, ',', line), ',', -1);
        SET supplier = substring_index(substring_index(suppliers, ',', line), ',', -1);
        SET quantity = substring_index(substring_index(quantities, ',', line), ',', -1);
        SET price = (SELECT i_price FROM item WHERE i_id = item);
        IF price IS NULL THEN
            ROLLBACK;
            LEAVE whole;
        END IF;
        SELECT s_quantity - quantity,
               elt(own_district, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05, s_dist_06,
                   s_dist_07, s_dist_08, s_dist_09, s_dist_10)
            INTO left_over, info FROM stock WHERE s_w_id = supplier AND s_i_id = item FOR UPDATE;
        IF left_over < 10 THEN
            SET left_over = left_over + 91;
        END IF;
        UPDATE stock SET s_quantity = left_over, s_ytd = s_ytd + quantity,
                s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + (supplier <> home)
            WHERE s_w_id = supplier AND s_i_id = item;
        INSERT INTO order_line (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id,
                ol_quantity, ol_amount, ol_dist_info)
            VALUES (home, own_district, order_id, line, item, supplier, quantity,
                    quantity * price, info);
    END WHILE;
    COMMIT;
END;

DROP PROCEDURE IF EXISTS order_entry_payment;

CREATE PROCEDURE order_entry_payment(
    IN home int, IN own_district int, IN customer_home int, IN customer_district int,
    IN customer_id int, IN last_name varchar(16), IN paid decimal(15,2), IN paid_at datetime)
BEGIN
    DECLARE own_customer int DEFAULT customer_id;
    DECLARE warehouse_name, district_name varchar(10);
    DECLARE credit char(2);
    DECLARE old_data varchar(500);
    START TRANSACTION;
    UPDATE warehouse SET w_ytd = w_ytd + paid WHERE w_id = home;
    SELECT w_name INTO warehouse_name FROM warehouse WHERE w_id = home;
    UPDATE district SET d_ytd = d_ytd + paid WHERE d_w_id = home AND d_id = own_district;
    SELECT d_name INTO district_name FROM district WHERE d_w_id = home AND d_id = own_district;
    IF last_name <> '' THEN
        SELECT c_id INTO own_customer FROM (
            SELECT c_id, row_number() OVER (ORDER BY c_first, c_id) AS place,
                   count(*) OVER () AS number
            FROM customer WHERE c_w_id = customer_home AND c_d_id = customer_district
                AND c_last = last_name) named
            WHERE 2 * place IN (number, number + 1);
    END IF;
    SELECT c_credit, c_data INTO credit, old_data FROM customer
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
    COMMIT;
END;

DROP PROCEDURE IF EXISTS order_entry_order_status;

CREATE PROCEDURE order_entry_order_status(
    IN home int, IN own_district int, IN customer_id int, IN last_name varchar(16))
BEGIN
    DECLARE own_customer int DEFAULT customer_id;
    DECLARE order_id, line_count int;
    DECLARE balance, amount decimal(15,2);
    START TRANSACTION;
    IF last_name <> '' THEN
        SELECT c_id INTO own_customer FROM (
            SELECT c_id, row_number() OVER (ORDER BY c_first, c_id) AS place,
                   count(*) OVER () AS number
            FROM customer WHERE c_w_id = home AND c_d_id = own_district
                AND c_last = last_name) named
            WHERE 2 * place IN (number, number + 1);
    END IF;
    SELECT c_balance INTO balance FROM customer
        WHERE c_w_id = home AND c_d_id = own_district AND c_id = own_customer;
    SELECT o_id INTO order_id FROM orders
        WHERE o_w_id = home AND o_d_id = own_district AND o_c_id = own_customer
        ORDER BY o_id DESC LIMIT 1;
    SELECT count(ol_delivery_d), sum(ol_amount) INTO line_count, amount FROM order_line
        WHERE ol_w_id = home AND ol_d_id = own_district AND ol_o_id = order_id;
    COMMIT;
END;

DROP PROCEDURE IF EXISTS order_entry_delivery;

CREATE PROCEDURE order_entry_delivery(IN home int, IN carrier int, IN delivered_at datetime)
BEGIN
    DECLARE own_district, order_id, own_customer int DEFAULT 0;
    DECLARE due decimal(15,2);
    START TRANSACTION;
    WHILE own_district < 10 DO
        SET own_district = own_district + 1;
        SET order_id = NULL;
        SELECT no_o_id INTO order_id FROM new_order
            WHERE no_w_id = home AND no_d_id = own_district
            ORDER BY no_o_id LIMIT 1 FOR UPDATE;
        IF order_id IS NOT NULL THEN
            DELETE FROM new_order
                WHERE no_w_id = home AND no_d_id = own_district AND no_o_id = order_id;
            SELECT o_c_id INTO own_customer FROM orders
                WHERE o_w_id = home AND o_d_id = own_district AND o_id = order_id FOR UPDATE;
            UPDATE orders SET o_carrier_id = carrier
                WHERE o_w_id = home AND o_d_id = own_district AND o_id = order_id;
            UPDATE order_line SET ol_delivery_d = delivered_at
                WHERE ol_w_id = home AND ol_d_id = own_district AND ol_o_id = order_id;
            SELECT sum(ol_amount) INTO due FROM order_line
                WHERE ol_w_id = home AND ol_d_id = own_district AND ol_o_id = order_id;
            UPDATE customer SET c_balance = c_balance + due, c_delivery_cnt = c_delivery_cnt + 1
                WHERE c_w_id = home AND c_d_id = own_district AND c_id = own_customer;
        END IF;
    END WHILE;
    COMMIT;
END;

DROP PROCEDURE IF EXISTS order_entry_stock_level;

CREATE PROCEDURE order_entry_stock_level(IN home int, IN own_district int, IN threshold int)
BEGIN
    DECLARE next_order, low int;
    SELECT d_next_o_id INTO next_order FROM district WHERE d_w_id = home AND d_id = own_district;
    SELECT count(DISTINCT s_i_id) INTO low FROM order_line, stock
        WHERE ol_w_id = home AND ol_d_id = own_district AND ol_o_id >= next_order - 20
            AND ol_o_id < next_order AND s_w_id = ol_w_id AND s_i_id = ol_i_id
            AND s_quantity < threshold;
END;
