CREATE TABLE mybigtable (
    c1 uuid NOT NULL DEFAULT gen_random_uuid(), c2 timestamp NOT NULL DEFAULT now(),
    c3 char(111) NOT NULL DEFAULT 'a', c4 int NOT NULL DEFAULT 1, c5 int NOT NULL DEFAULT 2,
    c6 bigint NOT NULL DEFAULT 42, PRIMARY KEY (c1));
