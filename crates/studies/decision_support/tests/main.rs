//! The tests of this crate, in one executable.
#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

mod engines;
mod scale_1;
mod waits;

mod scale_1_duckdb {
    #[test]
    #[ignore = "lane all: scale 1"]
    fn the_published_answers_are_found() {
        crate::scale_1::published_answers("duckdb");
    }
}

mod scale_1_mariadb {
    #[test]
    #[ignore = "lane all: scale 1"]
    fn the_published_answers_are_found() {
        crate::scale_1::published_answers("mariadb");
    }
}

mod scale_1_postgres {
    #[test]
    #[ignore = "lane all: scale 1"]
    fn the_published_answers_are_found() {
        crate::scale_1::published_answers("postgres");
    }
}

mod scale_1_sqlite {
    #[test]
    #[ignore = "lane all: scale 1"]
    fn the_published_answers_are_found() {
        crate::scale_1::published_answers("sqlite");
    }
}
