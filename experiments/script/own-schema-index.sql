CREATE INDEX orders_of_customer ON orders (customer);
