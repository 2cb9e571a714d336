\set a random(1, 1000000)
INSERT INTO bench_insert (a, b) VALUES (:a, 'some text');
