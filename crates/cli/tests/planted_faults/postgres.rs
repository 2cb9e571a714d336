//! Faults of PostgreSQL.

use super::{Advice, Case, check, load, missing_indexes, reads_less};
use crate::common::Lab;
use crate::servers::private::{in_a_session, on_each_server};
use postgres::client::Client;

const FAULTS: &[Case] = &[
    Case {
        tables: "CREATE TABLE eq (id int PRIMARY KEY, customer int, note text);
            INSERT INTO eq SELECT g, g % 5000, 'note of ' || g FROM generate_series(1, 30000) g",
        load: &[(20, "SELECT * FROM eq WHERE customer = {n}")],
        advice: &[Advice {
            kind: "missing_index",
            about: "eq",
            ddl: "CREATE INDEX CONCURRENTLY ON public.eq (customer)",
        }],
    },
    Case {
        tables: "CREATE TABLE facts (id int PRIMARY KEY, data jsonb);
            INSERT INTO facts SELECT g, jsonb_build_object('user', g % 4000)
            FROM generate_series(1, 30000) g",
        load: &[(20, "SELECT id FROM facts WHERE data->>'user' = '{n}'")],
        advice: &[Advice { kind: "unusable_index", about: "facts", ddl: "" }],
    },
    Case {
        tables: "CREATE TABLE two (id int PRIMARY KEY, shop int, day int, note text);
            INSERT INTO two SELECT g, g % 90, g % 97, 'note of ' || g
            FROM generate_series(1, 30000) g",
        load: &[(20, "SELECT id, note FROM two WHERE shop = {n} AND day = {n}")],
        advice: &[Advice {
            kind: "missing_index",
            about: "two",
            ddl: "CREATE INDEX CONCURRENTLY ON public.two (shop, day)",
        }],
    },
    Case {
        tables: "CREATE TABLE since (id int PRIMARY KEY, at timestamp, kind int, note text);
            INSERT INTO since SELECT g, timestamp '2026-01-01' + g * interval '1 minute', g % 50,
            'note of ' || g FROM generate_series(1, 30000) g",
        load: &[(20, "SELECT note FROM since WHERE at >= '2026-01-21 12:00' AND kind = {n}")],
        advice: &[Advice {
            kind: "missing_index",
            about: "since",
            ddl: "CREATE INDEX CONCURRENTLY ON public.since (kind, at)",
        }],
    },
    Case {
        // The columns of the index are in the wrong order.
        tables: "CREATE TABLE turned (id int PRIMARY KEY, at int, account int, note text);
            INSERT INTO turned SELECT g, g, g % 5000, 'note of ' || g
            FROM generate_series(1, 30000) g;
            CREATE INDEX turned_at ON turned (at, account)",
        load: &[
            (20, "SELECT note FROM turned WHERE account = {n} AND at > 100"),
            (20, "SELECT note FROM turned WHERE at = {n}"),
        ],
        advice: &[Advice {
            kind: "missing_index",
            about: "turned",
            ddl: "CREATE INDEX CONCURRENTLY ON public.turned (account, at)",
        }],
    },
    Case {
        // The plan for any value walks the index of the order.
        tables: "CREATE TABLE latest (id int PRIMARY KEY, customer int, at int, note text);
            INSERT INTO latest SELECT g, CASE WHEN g < 15000 THEN g % 5000 ELSE 5000 + g % 7 END,
            g, 'note of ' || g FROM generate_series(1, 30000) g;
            CREATE INDEX latest_at ON latest (at)",
        load: &[
            (20, "SELECT * FROM latest WHERE customer = {n} ORDER BY at DESC LIMIT 10"),
            (5, "SELECT note FROM latest WHERE at = {n}"),
        ],
        advice: &[Advice {
            kind: "missing_index",
            about: "latest",
            ddl: "CREATE INDEX CONCURRENTLY ON public.latest (customer, at)",
        }],
    },
    Case {
        tables: "CREATE TABLE best (id int PRIMARY KEY, score int, note text);
            INSERT INTO best SELECT g, g * 7919 % 30011, 'note of ' || g
            FROM generate_series(1, 30000) g",
        load: &[(20, "SELECT id, score FROM best ORDER BY score DESC LIMIT 10")],
        advice: &[Advice {
            kind: "missing_index",
            about: "best",
            ddl: "CREATE INDEX CONCURRENTLY ON public.best (score)",
        }],
    },
    Case {
        tables: "CREATE TABLE people (id int PRIMARY KEY, email text);
            INSERT INTO people SELECT g, 'User' || g || '@example.org'
            FROM generate_series(1, 30000) g",
        load: &[(20, "SELECT id FROM people WHERE lower(email) = 'user{n}@example.org'")],
        advice: &[Advice {
            kind: "missing_index",
            about: "people",
            ddl: "CREATE INDEX CONCURRENTLY ON public.people ((lower(email)))",
        }],
    },
    Case {
        tables: "CREATE TABLE carts (id int PRIMARY KEY, code text UNIQUE);
            CREATE TABLE items (id int PRIMARY KEY, cart int, note text);
            INSERT INTO carts SELECT g, 'code ' || g FROM generate_series(1, 6000) g;
            INSERT INTO items SELECT g, g % 6000, 'note of ' || g FROM generate_series(1, 30000) g",
        load: &[(
            20,
            "SELECT i.note FROM carts c JOIN items i ON i.cart = c.id WHERE c.code = 'code {n}'",
        )],
        advice: &[Advice {
            kind: "missing_index",
            about: "items",
            ddl: "CREATE INDEX CONCURRENTLY ON public.items (cart)",
        }],
    },
    Case {
        tables: "CREATE TABLE jobs (id int PRIMARY KEY, token text, state int);
            INSERT INTO jobs SELECT g, 'token ' || g, 0 FROM generate_series(1, 30000) g",
        load: &[(20, "UPDATE jobs SET state = 1 WHERE token = 'token {n}'")],
        advice: &[Advice {
            kind: "missing_index",
            about: "jobs",
            ddl: "CREATE INDEX CONCURRENTLY ON public.jobs (token)",
        }],
    },
    Case {
        tables: "CREATE TABLE words (id int PRIMARY KEY, word text);
            INSERT INTO words SELECT g, 'word ' || g || ' of many'
            FROM generate_series(1, 30000) g",
        load: &[(20, "SELECT id FROM words WHERE word LIKE 'word 77{n}%'")],
        advice: &[Advice {
            kind: "missing_index",
            about: "words",
            ddl: "CREATE INDEX CONCURRENTLY ON public.words (word text_pattern_ops)",
        }],
    },
    Case {
        tables: "CREATE TABLE docs (id int PRIMARY KEY, data jsonb);
            INSERT INTO docs SELECT g, jsonb_build_object('k', g % 5000, 'note', 'of ' || g)
            FROM generate_series(1, 30000) g",
        load: &[(20, "SELECT id FROM docs WHERE data @> '{\"k\": {n}}'")],
        advice: &[Advice {
            kind: "missing_index",
            about: "docs",
            ddl: "CREATE INDEX CONCURRENTLY ON public.docs USING gin (data)",
        }],
    },
    Case {
        tables: "CREATE TABLE posts (id int PRIMARY KEY, tags text[]);
            INSERT INTO posts SELECT g, ARRAY['tag ' || g % 5000, 'of ' || g % 7]
            FROM generate_series(1, 30000) g",
        load: &[(20, "SELECT id FROM posts WHERE tags @> ARRAY['tag {n}']")],
        advice: &[Advice {
            kind: "missing_index",
            about: "posts",
            ddl: "CREATE INDEX CONCURRENTLY ON public.posts USING gin (tags)",
        }],
    },
    Case {
        tables: "CREATE TABLE labels (id int PRIMARY KEY, tags text[]);
            INSERT INTO labels SELECT g, ARRAY['tag ' || g % 5000, 'of ' || g % 7]
            FROM generate_series(1, 30000) g",
        load: &[(20, "SELECT id FROM labels WHERE 'tag {n}' = ANY (tags)")],
        advice: &[Advice {
            kind: "unusable_index",
            about: "labels",
            ddl: "CREATE INDEX CONCURRENTLY ON public.labels USING gin (tags)",
        }],
    },
    Case {
        tables: "CREATE TABLE either (id int PRIMARY KEY, a int, b int, note text);
            INSERT INTO either SELECT g, g % 5000, g % 4999, 'note of ' || g
            FROM generate_series(1, 30000) g;
            CREATE INDEX either_a ON either (a)",
        load: &[
            (20, "SELECT note FROM either WHERE a = {n} OR b = {n}"),
            (5, "SELECT note FROM either WHERE a = {n}"),
        ],
        advice: &[Advice {
            kind: "missing_index",
            about: "either",
            ddl: "CREATE INDEX CONCURRENTLY ON public.either (b)",
        }],
    },
    Case {
        tables: "CREATE TABLE seen (id int PRIMARY KEY, at int, note text);
            INSERT INTO seen SELECT g, g * 7919 % 30011, 'note of ' || g
            FROM generate_series(1, 30000) g",
        load: &[(20, "SELECT max(at) FROM seen")],
        advice: &[Advice {
            kind: "missing_index",
            about: "seen",
            ddl: "CREATE INDEX CONCURRENTLY ON public.seen (at)",
        }],
    },
    Case {
        tables: "CREATE TABLE topics (id int PRIMARY KEY, name text);
            CREATE TABLE votes (id int PRIMARY KEY, topic int, note text);
            INSERT INTO topics SELECT g, 'topic ' || g FROM generate_series(1, 6000) g;
            INSERT INTO votes SELECT g, g % 6000, 'note of ' || g FROM generate_series(1, 30000) g",
        load: &[(
            20,
            "SELECT t.name, (SELECT count(*) FROM votes v WHERE v.topic = t.id) FROM topics t \
             WHERE t.id = {n}",
        )],
        advice: &[Advice {
            kind: "missing_index",
            about: "votes",
            ddl: "CREATE INDEX CONCURRENTLY ON public.votes (topic)",
        }],
    },
    Case {
        tables: "CREATE TABLE days (id int PRIMARY KEY, at timestamptz, note text);
            INSERT INTO days SELECT g, timestamptz '2020-01-01' + g * interval '1 hour',
            'note of ' || g FROM generate_series(1, 30000) g",
        load: &[(20, "SELECT note FROM days WHERE at::date = date '2020-02-01' + {n}")],
        advice: &[Advice {
            kind: "unusable_index",
            about: "days",
            ddl: "CREATE INDEX CONCURRENTLY ON public.days (at)",
        }],
    },
    Case {
        tables: "CREATE TABLE years (id int PRIMARY KEY, at timestamp, note text);
            INSERT INTO years SELECT g, timestamp '1800-01-01' + g * interval '20 days',
            'note of ' || g FROM generate_series(1, 30000) g",
        load: &[(20, "SELECT note FROM years WHERE extract(year FROM at) = 1800 + {n}")],
        advice: &[Advice {
            kind: "unusable_index",
            about: "years",
            ddl: "CREATE INDEX CONCURRENTLY ON public.years (at)",
        }],
    },
    Case {
        tables: "CREATE TABLE typed (id bigint PRIMARY KEY, note text);
            INSERT INTO typed SELECT g, 'note of ' || g FROM generate_series(1, 30000) g",
        load: &[(20, "SELECT note FROM typed WHERE id = {n}::numeric")],
        advice: &[Advice { kind: "unusable_index", about: "typed", ddl: "" }],
    },
    Case {
        tables: "CREATE TABLE texts (id int PRIMARY KEY, body text);
            INSERT INTO texts SELECT g, 'a body of ' || g FROM generate_series(1, 30000) g",
        load: &[(20, "SELECT id FROM texts WHERE body ILIKE '%OF 77{n}'")],
        advice: &[Advice {
            kind: "infix_search",
            about: "texts",
            ddl: "CREATE INDEX CONCURRENTLY ON public.texts USING gin (body gin_trgm_ops)",
        }],
    },
    Case {
        tables: "CREATE TABLE pages (id int PRIMARY KEY, note text);
            INSERT INTO pages SELECT g, 'note of ' || g FROM generate_series(1, 30000) g",
        load: &[(20, "SELECT * FROM pages ORDER BY id LIMIT 20 OFFSET 2500{n}")],
        advice: &[Advice { kind: "large_offset", about: "pages", ddl: "" }],
    },
    Case {
        tables: "CREATE TABLE cities (id int PRIMARY KEY, city int, name text);
            INSERT INTO cities SELECT g, g % 500, 'name ' || g FROM generate_series(1, 30000) g;
            CREATE INDEX cities_city ON cities (city);
            CREATE INDEX cities_city_name ON cities (city, name)",
        load: &[(20, "SELECT name FROM cities WHERE city = {n} ORDER BY name LIMIT 5")],
        advice: &[Advice {
            kind: "redundant_index",
            about: "cities (cities_city)",
            ddl: "DROP INDEX CONCURRENTLY public.cities_city",
        }],
    },
    Case {
        tables: "CREATE TABLE twice (id int PRIMARY KEY, a int, note text);
            INSERT INTO twice SELECT g, g % 5000, 'note of ' || g FROM generate_series(1, 30000) g;
            CREATE INDEX twice_one ON twice (a);
            CREATE INDEX twice_two ON twice (a)",
        load: &[(20, "SELECT note FROM twice WHERE a = {n}")],
        advice: &[Advice {
            kind: "redundant_index",
            about: "twice (twice_",
            ddl: "DROP INDEX CONCURRENTLY public.twice_*",
        }],
    },
    Case {
        tables: "CREATE TABLE idle (id int PRIMARY KEY, a int, b int);
            INSERT INTO idle SELECT g, g % 5000, g FROM generate_series(1, 60000) g;
            CREATE INDEX idle_b ON idle (b)",
        load: &[(20, "SELECT a FROM idle WHERE id = {n}")],
        advice: &[Advice {
            kind: "unused_index",
            about: "idle (idle_b)",
            ddl: "DROP INDEX CONCURRENTLY public.idle_b",
        }],
    },
    Case {
        tables: "CREATE TABLE sorted (id int PRIMARY KEY, amount int, note text);
            INSERT INTO sorted SELECT g, g * 7919 % 30011, 'note of ' || g
            FROM generate_series(1, 30000) g",
        load: &[(20, "SELECT * FROM sorted ORDER BY amount, note")],
        advice: &[Advice {
            kind: "spill",
            about: "sorted",
            ddl: "ALTER ROLE \"postgres\" SET work_mem = '4MB'",
        }],
    },
    Case {
        tables: "CREATE TABLE zips (id int PRIMARY KEY, city int, zip int);
            INSERT INTO zips SELECT g, g % 50, (g % 50) * 100 + 7 FROM generate_series(1, 50000) g;
            CREATE INDEX zips_city ON zips (city)",
        load: &[(20, "SELECT id FROM zips WHERE city = {n} AND zip = {n}07")],
        advice: &[Advice {
            kind: "estimate_off",
            about: "FROM zips",
            ddl: "CREATE STATISTICS zips_city_zip ON city, zip FROM public.zips",
        }],
    },
    Case {
        tables: "CREATE TABLE lists (id int PRIMARY KEY, owner int, note text);
            INSERT INTO lists SELECT g, g % 300, 'note of ' || g FROM generate_series(1, 30000) g;
            CREATE INDEX lists_owner ON lists (owner)",
        load: &[
            (13, "SELECT id FROM lists WHERE owner = {n}"),
            (1300, "SELECT note FROM lists WHERE id = {n}"),
        ],
        advice: &[Advice { kind: "repeated_statement", about: "FROM lists WHERE id", ddl: "" }],
    },
    Case {
        tables: "CREATE TABLE parents (id int PRIMARY KEY);
            CREATE TABLE children (id int PRIMARY KEY, parent int REFERENCES parents, note text);
            INSERT INTO parents SELECT g FROM generate_series(1, 100) g;
            INSERT INTO children SELECT g, 50 + g % 50, 'note' FROM generate_series(1, 30000) g",
        load: &[(5, "DELETE FROM parents WHERE id = {n}")],
        advice: &[Advice {
            kind: "foreign_key_without_index",
            about: "children (children_parent_fkey)",
            ddl: "CREATE INDEX CONCURRENTLY ON public.children (parent)",
        }],
    },
    Case {
        tables: "CREATE TABLE nameless (at int, note text);
            INSERT INTO nameless SELECT g % 7, 'note' FROM generate_series(1, 5000) g",
        load: &[(5, "INSERT INTO nameless VALUES ({n}, 'new')")],
        advice: &[Advice {
            kind: "no_primary_key",
            about: "nameless",
            ddl: "ALTER TABLE public.nameless ADD COLUMN id bigint GENERATED ALWAYS AS IDENTITY \
                  PRIMARY KEY",
        }],
    },
    Case {
        // Of the list, all that is not banned is read to the end; it is too large for a hash.
        tables: "CREATE TABLE banned (id int PRIMARY KEY, customer int);
            INSERT INTO banned SELECT g, g % 900 FROM generate_series(1, 100000) g;
            CREATE TABLE visits (id int PRIMARY KEY, customer int, note text);
            INSERT INTO visits SELECT g, g % 909, 'note of ' || g FROM generate_series(1, 6000) g",
        load: &[(
            3,
            "SELECT count(*) FROM visits WHERE customer NOT IN (SELECT customer FROM banned)",
        )],
        advice: &[
            Advice { kind: "repeated_subquery", about: "visits", ddl: "" },
            Advice {
                kind: "spill",
                about: "visits",
                ddl: "ALTER ROLE \"postgres\" SET work_mem = *",
            },
        ],
    },
    Case {
        tables: "CREATE TABLE counted (id serial PRIMARY KEY, note text);
            INSERT INTO counted (note) SELECT 'note' FROM generate_series(1, 1000) g;
            SELECT setval('counted_id_seq', 2000000000)",
        load: &[(5, "SELECT note FROM counted WHERE id = {n}")],
        advice: &[Advice {
            kind: "exhaustion",
            about: "public.counted (id)",
            ddl: "ALTER TABLE public.counted ALTER COLUMN id TYPE bigint",
        }],
    },
    Case {
        tables: "CREATE TABLE dead (id int PRIMARY KEY, note text) WITH (autovacuum_enabled = off);
            INSERT INTO dead SELECT g, 'note' FROM generate_series(1, 5000) g",
        load: &[(1, "DELETE FROM dead WHERE id > 2000")],
        advice: &[
            Advice { kind: "dead_rows", about: "dead", ddl: "VACUUM (ANALYZE) public.dead" },
            Advice { kind: "stale_statistics", about: "dead", ddl: "ANALYZE public.dead" },
        ],
    },
    Case {
        tables: "CREATE TABLE stale (id int PRIMARY KEY);
            INSERT INTO stale SELECT g FROM generate_series(1, 6000) g",
        load: &[(1, "INSERT INTO stale SELECT g FROM generate_series(6001, 9000) g")],
        advice: &[Advice { kind: "stale_statistics", about: "stale", ddl: "ANALYZE public.stale" }],
    },
    Case {
        tables: "SELECT pg_create_physical_replication_slot('left', true)",
        load: &[],
        advice: &[Advice {
            kind: "held_up",
            about: "replication slot left",
            ddl: "SELECT pg_drop_replication_slot('left')",
        }],
    },
    Case {
        tables: "CREATE TABLE broken (id int PRIMARY KEY, a int);
            INSERT INTO broken SELECT g, g FROM generate_series(1, 1000) g;
            CREATE INDEX broken_a ON broken (a);
            UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'broken_a'::regclass",
        load: &[(5, "SELECT a FROM broken WHERE id = {n}")],
        advice: &[Advice {
            kind: "invalid_index",
            about: "broken (broken_a)",
            ddl: "DROP INDEX CONCURRENTLY public.broken_a",
        }],
    },
];

/// Statements that are as they should be.
const INNOCENTS: &[Case] = &[Case {
    tables: "CREATE TABLE ok_customers (id int PRIMARY KEY, name text, mail text UNIQUE);
        CREATE TABLE ok_orders (id int PRIMARY KEY, customer int NOT NULL REFERENCES ok_customers,
            status text, amount int, at timestamp, data jsonb);
        CREATE INDEX ok_orders_customer ON ok_orders (customer, at);
        CREATE INDEX ok_orders_open ON ok_orders (at) WHERE status = 'open';
        CREATE INDEX ok_orders_lower ON ok_customers (lower(name));
        CREATE TABLE ok_small (id int PRIMARY KEY, word text, flag boolean);
        INSERT INTO ok_customers SELECT g, 'Name ' || g, 'mail ' || g
            FROM generate_series(1, 8000) g;
        INSERT INTO ok_orders SELECT g, 1 + g % 8000,
            CASE WHEN g % 300 = 0 THEN 'open' ELSE 'done' END, g % 977,
            timestamp '2026-01-01' + g * interval '1 minute', jsonb_build_object('k', g % 3)
            FROM generate_series(1, 30000) g;
        INSERT INTO ok_small SELECT g, 'word ' || g, g % 2 = 0 FROM generate_series(1, 300) g",
    load: &[
        (20, "SELECT * FROM ok_orders WHERE id = {n}"),
        (20, "SELECT name FROM ok_customers WHERE mail = 'mail {n}'"),
        (20, "SELECT * FROM ok_orders WHERE customer = {n}"),
        (20, "SELECT * FROM ok_orders WHERE customer = {n} ORDER BY at DESC LIMIT 3"),
        (20, "SELECT id FROM ok_orders WHERE status = 'open' ORDER BY at LIMIT {n}"),
        (20, "SELECT id FROM ok_customers WHERE lower(name) = 'name {n}'"),
        (20, "SELECT count(*) FROM ok_orders"),
        (20, "SELECT status, count(*), sum(amount) FROM ok_orders GROUP BY status"),
        (20, "SELECT sum(amount) FROM ok_orders WHERE status = 'done'"),
        (20, "SELECT count(*) FROM ok_orders WHERE amount > {n}"),
        (20, "SELECT count(*) FROM ok_orders WHERE data @> '{\"k\": 1}'"),
        (20, "SELECT * FROM ok_orders ORDER BY id LIMIT 10"),
        (20, "SELECT * FROM ok_orders ORDER BY id LIMIT 10 OFFSET 10"),
        (
            20,
            "SELECT o.id, c.name FROM ok_orders o JOIN ok_customers c ON c.id = o.customer WHERE \
              o.id = {n}",
        ),
        (
            20,
            "SELECT o.id FROM ok_customers c JOIN ok_orders o ON o.customer = c.id WHERE c.mail \
              = 'mail {n}'",
        ),
        (
            5,
            "SELECT c.name, sum(o.amount) FROM ok_orders o JOIN ok_customers c ON c.id = \
             o.customer GROUP BY c.name ORDER BY 2 DESC LIMIT 10",
        ),
        (20, "SELECT * FROM ok_orders WHERE id IN ({n}, 100, 200)"),
        (20, "SELECT * FROM ok_small WHERE word LIKE '%{n}%'"),
        (20, "SELECT * FROM ok_small WHERE flag AND word <> 'x'"),
        (20, "UPDATE ok_orders SET amount = amount + 1 WHERE id = {n}"),
        (
            20,
            "INSERT INTO ok_small VALUES (1000 + {n}, 'new', true) ON CONFLICT (id) DO UPDATE \
              SET word = 'newer'",
        ),
        (20, "DELETE FROM ok_small WHERE id = 1000 + {n}"),
        (20, "WITH x AS (SELECT * FROM ok_orders WHERE customer = {n}) SELECT count(*) FROM x"),
        (
            20,
            "SELECT name FROM ok_customers c WHERE id = {n} AND EXISTS (SELECT FROM ok_orders o \
              WHERE o.customer = c.id)",
        ),
        (5, "SELECT id, row_number() OVER (ORDER BY id) FROM ok_orders WHERE id < 1000"),
        (5, "SELECT DISTINCT status FROM ok_orders"),
        (2, "SELECT id FROM ok_orders WHERE amount = {n}"),
        (20, "SELECT relname FROM pg_class WHERE relname LIKE 'ok%'"),
        (20, "SELECT count(*) FROM information_schema.tables WHERE table_name = 'ok_small'"),
        (20, "SELECT id FROM ok_orders WHERE at >= date '2026-01-01' AND customer = {n}"),
        (20, "SELECT g FROM generate_series(1, {n}) g WHERE g = 3"),
        (
            20,
            "SELECT id FROM ok_orders WHERE id = {n} UNION ALL SELECT id FROM ok_customers WHERE \
              id = {n}",
        ),
    ],
    advice: &[],
}];

/// The settings of the servers; little memory for sorts, so that some spill.
const SETTINGS: [(&str, &str); 4] = [
    ("shared_preload_libraries", "pg_stat_statements"),
    ("autovacuum", "off"),
    ("work_mem", "1MB"),
    ("jit", "off"),
];

#[test]
fn each_planted_fault_is_found_with_its_remedy_and_nothing_else() {
    on_each_server(&SETTINGS, |cluster, url| {
        in_a_session(cluster, |client| {
            client.batch("CREATE EXTENSION pg_stat_statements").unwrap();
            // Where it is installed, the planner judges the indexes, too.
            let _ = client.batch("CREATE EXTENSION hypopg");
            for case in FAULTS.iter().chain(INNOCENTS) {
                client
                    .batch(case.tables)
                    .unwrap_or_else(|error| panic!("{error}: {}", case.tables));
            }
        });
        in_a_session(cluster, |client| client.batch("VACUUM ANALYZE").unwrap());
        in_a_session(cluster, |client| client.batch("SELECT pg_stat_statements_reset()").unwrap());
        in_a_session(cluster, |client| {
            for sql in load(FAULTS).chain(load(INNOCENTS)) {
                client.query(&sql, &[]).unwrap_or_else(|error| panic!("{error}: {sql}"));
            }
        });
        let line = ["queries", url, "--json", "--plans", "500", "--statements", "500"];
        let ended = Lab::new().steelbench(&line).expect(0);
        check(&serde_json::from_str(&ended.stdout).unwrap(), FAULTS);
        in_a_session(cluster, |client| {
            for (sql, ddl) in missing_indexes(FAULTS) {
                let without = pages(client, &sql);
                client.batch(ddl).unwrap();
                reads_less(&sql, without, pages(client, &sql));
            }
        });
    });
}

/// The pages that a statement reads, by the server's account of it.
fn pages(client: &mut Client, sql: &str) -> u64 {
    let explain = format!("EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) {sql}");
    let plan = client.cell(&explain).unwrap().unwrap();
    let plan: serde_json::Value = serde_json::from_str(&plan).unwrap();
    let pages = |kind: &str| plan[0]["Plan"][kind].as_u64().unwrap();
    pages("Shared Hit Blocks") + pages("Shared Read Blocks")
}
