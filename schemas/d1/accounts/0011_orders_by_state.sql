-- What is open, and what was paid when, without reading all orders.

CREATE INDEX orders_by_state ON orders (state, paid);
