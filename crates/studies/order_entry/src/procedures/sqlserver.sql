CREATE OR ALTER PROCEDURE order_entry_new_order
    @home int, @own_district int, @own_customer int, @ordered_at datetime2, @all_local int,
    @line_count int, @item_ids varchar(8000), @suppliers varchar(8000), @quantities varchar(8000)
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    DECLARE @order_id int, @line int = 0, @item int, @supplier int, @quantity int, @left_over int;
    DECLARE @price decimal(15, 2), @tax decimal(15, 4), @info char(24), @place varchar(10);
    BEGIN TRANSACTION;
    SELECT @tax = c_discount + w_tax FROM customer, warehouse
        WHERE w_id = @home AND c_w_id = w_id AND c_d_id = @own_district AND c_id = @own_customer;
    SELECT @order_id = d_next_o_id FROM district WITH (UPDLOCK, ROWLOCK)
        WHERE d_w_id = @home AND d_id = @own_district;
    UPDATE district SET d_next_o_id = d_next_o_id + 1
        WHERE d_w_id = @home AND d_id = @own_district;
    INSERT INTO orders (o_w_id, o_d_id, o_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)
        VALUES (@home, @own_district, @order_id, @own_customer, @ordered_at, @line_count,
                @all_local);
    INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES (@home, @own_district, @order_id);
    WHILE @line < @line_count
    BEGIN
        SET @place = CONCAT('$[', @line, ']');
        SET @line = @line + 1;
        SET @item = JSON_VALUE(@item_ids, @place);
        SET @supplier = JSON_VALUE(@suppliers, @place);
        SET @quantity = JSON_VALUE(@quantities, @place);
        SET @price = NULL;
        SELECT @price = i_price FROM item WHERE i_id = @item;
        IF @price IS NULL
        BEGIN
            ROLLBACK TRANSACTION;
            RETURN;
        END;
        SELECT @left_over = s_quantity - @quantity,
               @info = CHOOSE(@own_district, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05,
                              s_dist_06, s_dist_07, s_dist_08, s_dist_09, s_dist_10)
            FROM stock WITH (UPDLOCK, ROWLOCK) WHERE s_w_id = @supplier AND s_i_id = @item;
        IF @left_over < 10
            SET @left_over = @left_over + 91;
        UPDATE stock SET s_quantity = @left_over, s_ytd = s_ytd + @quantity,
                s_order_cnt = s_order_cnt + 1,
                s_remote_cnt = s_remote_cnt + CASE WHEN @supplier <> @home THEN 1 ELSE 0 END
            WHERE s_w_id = @supplier AND s_i_id = @item;
        INSERT INTO order_line (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id,
                ol_quantity, ol_amount, ol_dist_info)
            VALUES (@home, @own_district, @order_id, @line, @item, @supplier, @quantity,
                    @quantity * @price, @info);
    END;
    COMMIT TRANSACTION;
END;

CREATE OR ALTER PROCEDURE order_entry_payment
    @home int, @own_district int, @customer_home int, @customer_district int, @customer_id int,
    @last_name varchar(16), @paid decimal(15, 2), @paid_at datetime2
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    DECLARE @own_customer int = @customer_id, @credit char(2), @old_data varchar(500);
    DECLARE @warehouse_name varchar(10), @district_name varchar(10);
    BEGIN TRANSACTION;
    UPDATE warehouse SET w_ytd = w_ytd + @paid WHERE w_id = @home;
    SELECT @warehouse_name = w_name FROM warehouse WHERE w_id = @home;
    UPDATE district SET d_ytd = d_ytd + @paid WHERE d_w_id = @home AND d_id = @own_district;
    SELECT @district_name = d_name FROM district WHERE d_w_id = @home AND d_id = @own_district;
    IF @last_name <> ''
        SELECT @own_customer = c_id FROM (
            SELECT c_id, row_number() OVER (ORDER BY c_first, c_id) AS place,
                   count(*) OVER () AS number
            FROM customer WHERE c_w_id = @customer_home AND c_d_id = @customer_district
                AND c_last = @last_name) named
            WHERE 2 * place IN (number, number + 1);
    SELECT @credit = c_credit, @old_data = c_data FROM customer WITH (UPDLOCK, ROWLOCK)
        WHERE c_w_id = @customer_home AND c_d_id = @customer_district AND c_id = @own_customer;
    IF @credit = 'BC'
        UPDATE customer SET c_balance = c_balance - @paid, c_ytd_payment = c_ytd_payment + @paid,
                c_payment_cnt = c_payment_cnt + 1,
                c_data = LEFT(CONCAT(@own_customer, ' ', @customer_district, ' ', @customer_home,
                                     ' ', @own_district, ' ', @home, ' ', @paid, ' | ', @old_data),
                              500)
            WHERE c_w_id = @customer_home AND c_d_id = @customer_district AND c_id = @own_customer;
    ELSE
        UPDATE customer SET c_balance = c_balance - @paid, c_ytd_payment = c_ytd_payment + @paid,
                c_payment_cnt = c_payment_cnt + 1
            WHERE c_w_id = @customer_home AND c_d_id = @customer_district AND c_id = @own_customer;
    INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
        VALUES (@own_customer, @customer_district, @customer_home, @own_district, @home, @paid_at,
                @paid, CONCAT(@warehouse_name, '    ', @district_name));
    COMMIT TRANSACTION;
END;

CREATE OR ALTER PROCEDURE order_entry_order_status
    @home int, @own_district int, @customer_id int, @last_name varchar(16)
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    DECLARE @own_customer int = @customer_id, @order_id int, @line_count int;
    DECLARE @balance decimal(15, 2), @amount decimal(15, 2);
    BEGIN TRANSACTION;
    IF @last_name <> ''
        SELECT @own_customer = c_id FROM (
            SELECT c_id, row_number() OVER (ORDER BY c_first, c_id) AS place,
                   count(*) OVER () AS number
            FROM customer WHERE c_w_id = @home AND c_d_id = @own_district
                AND c_last = @last_name) named
            WHERE 2 * place IN (number, number + 1);
    SELECT @balance = c_balance FROM customer
        WHERE c_w_id = @home AND c_d_id = @own_district AND c_id = @own_customer;
    SELECT TOP (1) @order_id = o_id FROM orders
        WHERE o_w_id = @home AND o_d_id = @own_district AND o_c_id = @own_customer
        ORDER BY o_id DESC;
    SELECT @line_count = count(ol_delivery_d), @amount = sum(ol_amount) FROM order_line
        WHERE ol_w_id = @home AND ol_d_id = @own_district AND ol_o_id = @order_id;
    COMMIT TRANSACTION;
END;

CREATE OR ALTER PROCEDURE order_entry_delivery
    @home int, @carrier int, @delivered_at datetime2
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    DECLARE @own_district int = 0, @order_id int, @own_customer int, @due decimal(15, 2);
    BEGIN TRANSACTION;
    WHILE @own_district < 10
    BEGIN
        SET @own_district = @own_district + 1;
        SET @order_id = NULL;
        SELECT TOP (1) @order_id = no_o_id FROM new_order WITH (UPDLOCK, ROWLOCK)
            WHERE no_w_id = @home AND no_d_id = @own_district
            ORDER BY no_o_id;
        IF @order_id IS NULL
            CONTINUE;
        DELETE FROM new_order
            WHERE no_w_id = @home AND no_d_id = @own_district AND no_o_id = @order_id;
        SELECT @own_customer = o_c_id FROM orders WITH (UPDLOCK, ROWLOCK)
            WHERE o_w_id = @home AND o_d_id = @own_district AND o_id = @order_id;
        UPDATE orders SET o_carrier_id = @carrier
            WHERE o_w_id = @home AND o_d_id = @own_district AND o_id = @order_id;
        UPDATE order_line SET ol_delivery_d = @delivered_at
            WHERE ol_w_id = @home AND ol_d_id = @own_district AND ol_o_id = @order_id;
        SELECT @due = sum(ol_amount) FROM order_line
            WHERE ol_w_id = @home AND ol_d_id = @own_district AND ol_o_id = @order_id;
        UPDATE customer SET c_balance = c_balance + @due, c_delivery_cnt = c_delivery_cnt + 1
            WHERE c_w_id = @home AND c_d_id = @own_district AND c_id = @own_customer;
    END;
    COMMIT TRANSACTION;
END;

CREATE OR ALTER PROCEDURE order_entry_stock_level
    @home int, @own_district int, @threshold int
AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @next_order int, @low int;
    SELECT @next_order = d_next_o_id FROM district WHERE d_w_id = @home AND d_id = @own_district;
    SELECT @low = count(DISTINCT s_i_id) FROM order_line, stock
        WHERE ol_w_id = @home AND ol_d_id = @own_district AND ol_o_id >= @next_order - 20
            AND ol_o_id < @next_order AND s_w_id = ol_w_id AND s_i_id = ol_i_id
            AND s_quantity < @threshold;
END;
