//! The tables of our loads.

use crate::Shape;
use pgclient::{quote_identifier, quote_literal};

/// How a table is made.
pub struct TableText {
    /// Its quoted name.
    pub name: String,
    /// Columns with their defaults and the primary key.
    pub columns: String,
    /// The key is an integer, not a UUID.
    pub integer_key: bool,
}

impl TableText {
    /// The table of this shape on a server with pages of this size.
    ///
    /// `MyBigTable` is that of the published studies; its clustered index is a heap with a primary
    /// key here. Of the shape that has one row a page, the filler takes more than half of a page
    /// and is stored plainly, neither compressed nor out of line: a second row does not fit.
    pub fn of(shape: Shape, page_bytes: u32) -> Self {
        match shape {
            Shape::MyBigTable => Self {
                name: quote_identifier("mybigtable"),
                columns: "c1 uuid NOT NULL DEFAULT gen_random_uuid(), \
                          c2 timestamp NOT NULL DEFAULT now(), \
                          c3 char(111) NOT NULL DEFAULT 'a', \
                          c4 int NOT NULL DEFAULT 1, \
                          c5 int NOT NULL DEFAULT 2, \
                          c6 bigint NOT NULL DEFAULT 42, \
                          PRIMARY KEY (c1)"
                    .into(),
                integer_key: false,
            },
            Shape::OneRowPerPage => Self {
                name: quote_identifier("onerowperpage"),
                columns: format!(
                    "c1 bigint NOT NULL, c2 text NOT NULL DEFAULT repeat('a', {}), PRIMARY KEY (c1)",
                    filler_bytes(page_bytes)
                ),
                integer_key: true,
            },
        }
    }

    /// Statements that create it, spread over so many data files, each on the tablespace of the
    /// same position when there are any.
    pub fn create(&self, data_files: u32, tablespaces: &[String]) -> Vec<String> {
        let Self { name, columns, .. } = self;
        let on = |file: u32| match tablespaces.get(file as usize) {
            Some(tablespace) => format!("SET default_tablespace = {}", quote_identifier(tablespace)),
            None => "RESET default_tablespace".into(),
        };
        let mut statements = Vec::new();
        if data_files <= 1 {
            statements.extend([on(0), format!("CREATE TABLE {name} ({columns})")]);
        } else {
            let hash = "PARTITION BY HASH (c1)";
            statements.push(format!("CREATE TABLE {name} ({columns}) {hash}"));
            for file in 0..data_files {
                let partition = self.partition(file);
                let values = format!("FOR VALUES WITH (MODULUS {data_files}, REMAINDER {file})");
                statements.push(on(file));
                statements.push(format!("CREATE TABLE {partition} PARTITION OF {name} {values}"));
            }
        }
        if self.integer_key {
            // Of a parent this goes to its partitions too.
            statements.push(format!("ALTER TABLE {name} ALTER c2 SET STORAGE PLAIN"));
        }
        statements.push("RESET default_tablespace".into());
        statements.extend(self.procedure());
        statements
    }

    fn partition(&self, file: u32) -> String {
        quote_identifier(&format!("{}_{file}", self.name.trim_matches('"')))
    }

    /// The loop of the published studies: rows one by one, a commit after each batch.
    fn procedure(&self) -> [String; 2] {
        let Self { name, .. } = self;
        let next = "nextval('insert_keys')";
        let (random, sequential) = if self.integer_key {
            // 62 random bits, as the keys that clients make.
            (
                "('x' || left(replace(gen_random_uuid()::text, '-', ''), 16))::bit(64)::bigint & (1::bigint << 62) - 1",
                next.into(),
            )
        } else {
            ("gen_random_uuid()", format!("lpad(to_hex({next}), 32, '0')::uuid"))
        };
        let body = format!(
            "DECLARE done bigint := 0; \
             BEGIN \
               WHILE done < total LOOP \
                 FOR row IN 1..least(batch, total - done) LOOP \
                   IF sequential THEN INSERT INTO {name} (c1) VALUES ({sequential}); \
                   ELSE INSERT INTO {name} (c1) VALUES ({random}); END IF; \
                 END LOOP; \
                 done := done + batch; \
                 COMMIT; \
               END LOOP; \
             END"
        );
        [
            "CREATE SEQUENCE insert_keys CACHE 1000".into(),
            format!(
                "CREATE PROCEDURE insert_rows(total bigint, batch bigint, sequential boolean) \
                 LANGUAGE plpgsql AS {}",
                quote_literal(&body)
            ),
        ]
    }
}

/// Filler of which two do not fit on a page: half of it, and room for less than another.
fn filler_bytes(page_bytes: u32) -> u32 {
    page_bytes * 3 / 4
}
