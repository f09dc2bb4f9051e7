-- SPDX-License-Identifier: Apache-2.0
-- A join of two large tables in memory, by an index whose keys come in random order. Debian package: sqlite3.
--   okosu try --stdin examples/real/sqlite-join.sql -- sqlite3 :memory:
.bail on
PRAGMA cache_size = -2000000;
CREATE TABLE orders(id INTEGER PRIMARY KEY, customer INTEGER, amount INTEGER);
CREATE TABLE customers(code INTEGER, region INTEGER, name TEXT);

-- Odd multipliers modulo a power of two: every code once, in an order that no cache likes.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 524287)
INSERT INTO customers SELECT (i * 305419897) & 524287, i % 97, printf('customer %08d', i) FROM n;
CREATE INDEX customers_code ON customers(code);

WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 1048575)
INSERT INTO orders SELECT i, (i * 40503 + 12345) & 524287, (i * 7919) % 10007 FROM n;

SELECT region, count(*), sum(amount), max(name)
FROM orders JOIN customers ON customers.code = orders.customer
GROUP BY region ORDER BY region;
