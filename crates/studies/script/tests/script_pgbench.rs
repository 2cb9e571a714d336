//! Scripts mean to us what they mean to pgbench: both run the same ones.

use datasets::DataSet;
use engine::{Folders, Permits, Results};
use experiment::{Configuration, Value};
use postgres::POSTGRES;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use script::{BUILTINS, Interpreter, Mix, Presets, Protocol, Source, Step};
use std::collections::BTreeMap;
use std::sync::Arc;
use testing::pgbench::{Server, servers};
use work::{Cancel, Parameter, Request, Statement, Work};

#[test]
fn scripts_mean_what_they_mean_to_pgbench() {
    for server in servers() {
        expressions_have_pgbenchs_values_and_failures(&server);
        hashes_and_permutations_are_pgbenchs(&server);
        texts_of_variables_mean_what_they_mean_to_pgbench(&server);
        conditions_and_continued_lines_take_the_same_branches(&server);
        the_same_scripts_are_understood(&server);
        the_server_gets_the_same_statements(&server);
        random_values_are_distributed_as_pgbenchs(&server);
        built_in_scripts_are_pgbenchs(&server);
    }
}

#[test]
fn tables_are_those_that_pgbench_makes() {
    for server in servers() {
        compare_tables(&server);
    }
}

fn mix(text: &str, protocol: Protocol, variables: &[(&str, &str)]) -> Result<Arc<Mix>, String> {
    let source = Source { name: "test.sql".into(), text: text.into(), weight: 1 };
    let variables =
        variables.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    let presets = Presets { scale: 1, seed: 5, variables };
    Mix::parse(&[source], protocol, &presets).map(Arc::new).map_err(|error| error.to_string())
}

/// Returns the output of `debug()` in one transaction of a script without server requests.
fn our_debug(text: &str, variables: &[(&str, &str)]) -> Result<Vec<String>, String> {
    let mut interpreter = Interpreter::new(mix(text, Protocol::Simple, variables)?, 0);
    match interpreter.advance() {
        Ok(Step::End) => Ok(interpreter.take_debug()),
        Ok(other) => panic!("{other:?}"),
        Err(error) => Err(error.to_string()),
    }
}

fn debug_line(expression: &str) -> String {
    format!("\\set result debug({expression})\n")
}

/// Variables of the expressions.
const VARIABLES: &[(&str, &str)] = &[
    ("zero", "0"),
    ("seven", " +7"),
    ("half", "0.5"),
    ("yes", "y"),
    ("nothing", "null"),
    ("big", "9223372036854775807"),
    ("word", "hello"),
    ("default_seed", "4711"),
];

fn defined() -> Vec<String> {
    VARIABLES
        .iter()
        .flat_map(|(name, value)| ["-D".to_owned(), format!("{name}={value}")])
        .collect()
}

/// Runs expressions here and there: the values are the same, and so are the failures.
fn compare(server: &Server, expressions: &[String]) -> (usize, usize) {
    let defined = defined();
    let arguments: Vec<&str> =
        ["-t", "1"].into_iter().chain(defined.iter().map(String::as_str)).collect();
    let (mut fine, mut ours, mut failures) = (Vec::new(), Vec::new(), 0);
    for expression in expressions {
        match our_debug(&debug_line(expression), VARIABLES) {
            Ok(mut output) => {
                ours.append(&mut output);
                fine.push(expression);
            }
            Err(error) => {
                failures += 1;
                let theirs = server.pgbench(&debug_line(expression), &arguments);
                assert!(theirs.is_err(), "{expression}: we say {error}");
            }
        }
    }
    let script: String = fine.iter().map(|expression| debug_line(expression)).collect();
    let theirs = server.debug(&script, &arguments);
    for ((expression, ours), theirs) in fine.iter().zip(&ours).zip(&theirs) {
        assert_eq!(ours, theirs, "{expression}");
    }
    assert_eq!((ours.len(), theirs.len()), (fine.len(), fine.len()));
    (fine.len(), failures)
}

/// Each of these, up to a semicolon, has something that is easily done otherwise.
const TRICKY: &str = r#"
true = true; 1 = 1.0; null = null; 1 and true; null or true; true or null; false and null;
null and false; true or 1/0 = 1; not 0; not null; 0.5 or true; true is true; 1 is true;
null is not false; 2 is not null; 5 isnull notnull; 1 = 1 is null; not null is null;
1 < 2 is null < 3;
not 1 = 2; 1 < 2 < 3; 1 + not true; ~1 + 2; ~1 | 6; ~~5; ~true; - -3; 2--3; -2*3; +true; -null;
2-3-4;
8/4/2; 7/-2; -7/2; -7%3; 7%-3; 5.5 % 2; 1.7 & 1; 1|2.5; 1 | 2 & 4 # 1; 1<<2+1; 1<<65; 1<<-1; -8>>1;
3>>-1; 1/0; 1/0.0; -1/0.0; 0.0/0; 0.0/0 = 0.0/0; 0.0/0 <> 0.0/0; 5 % 0; mod(-5, 3); mod(5.5, 2);
:big + 1; -:big - 2; :big * 2; -9223372036854775808; - 9223372036854775808; 9223372036854775808;
9223372036854775809; -9223372036854775808 / -1; -9223372036854775808 % -1;
abs(-9223372036854775808);
abs(-1.5); int(2.5); int(3.5); int(-2.5); int(1e30); int(9223372036854775807.0); int(true);
double(9007199254740993); double(true); 1e400; 1e-400; 0e5; 1.; .5; 1e5; 1.5E-7; .; 1e; 5x; 1..2;
1e15;
1e14; 123456789012345678.0; 0.0001; 0.00001; 100.0; -0.0; 0.1 + 0.2; sqrt(2); sqrt(-1); ln(0);
ln(10);
exp(1); exp(1000); pow(2, -1); power(2.5, 3); pow(-8, 0.5); pow(0, 0); pi(); pi(1); PI();
greatest(5, 4.0, 3); greatest(5, 7.5); least(1, 2, -3); least(1.5); greatest(); greatest(1, null);
greatest(true, 1); case when 0.0 then 1 when 2 then 3 end; case when null then 2 end;
case when false then 1/0 else 7 end; case 1 when 1 then 2 end;
CASE WHEN 1 > 2 THEN 1 ELSE CASE WHEN TRUE THEN 5 END END; random(4, 4); random(5, 4); 
random(0, :big);
random(1); random_gaussian(1, 1, 2); random_gaussian(1, 5, 1.9); random_exponential(1, 5, 0);
random_zipfian(5, 5, 1.5); random_zipfian(1, 5, 0); random_zipfian(1, 5, 1000);
random_zipfian(1, 5, 1001); hash(10, 5432); hash(null); hash(true); hash(1.7, 3); hash(:seven);
hash_murmur2(:seven); hash_fnv1a(:seven); hash(1, 2, 3); permute(3, 0); permute(3, 1); 
permute(-7, 10);
permute(3, -4); permute(:seven, :big); :zero; :seven * 2; :half * 2; :yes and true; :nothing; :word;
:undefined; word; nofunction(1); 1 2; (1; 1); ; "a"; 2 ^ 3; 0x10; 1 is 1; 1 between 0 and 2;
:default_seed + 1; :client_id; :scale + 0.5; 1 <> 2 and 1 != 1
"#;

/// Makes expressions that mostly have a value: numbers where numbers are needed.
struct Expressions(Xoshiro256PlusPlus);

impl Expressions {
    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.0.random_range(0..from.len())]
    }

    fn number(&mut self, depth: u32) -> String {
        if depth == 0 {
            return self
                .pick(&["0", "1", "2", "3", "10", "1000", "2.5", ":seven", ":half", "null"])
                .to_owned();
        }
        let depth = depth - 1;
        match self.0.random_range(0..10) {
            0..=3 => {
                let operator = self.pick(&["+", "-", "*", "/", "%", "|", "&", "#", "<<", ">>"]);
                format!("{} {operator} {}", self.number(depth), self.number(depth))
            }
            4 => format!("({})", self.number(depth)),
            5 => format!("{} {}", self.pick(&["-", "+", "~"]), self.number(depth)),
            6 => format!(
                "case when {} then {} else {} end",
                self.truth(depth),
                self.number(depth),
                self.number(0)
            ),
            7 => format!(
                "{}({})",
                self.pick(&["abs", "int", "double", "hash", "sqrt"]),
                self.number(depth)
            ),
            8 => {
                let function = self.pick(&["greatest", "least", "mod", "hash_fnv1a", "pow"]);
                format!("{function}({}, {})", self.number(depth), self.number(depth))
            }
            _ => self.number(depth),
        }
    }

    fn truth(&mut self, depth: u32) -> String {
        if depth == 0 {
            return self.pick(&["true", "false", ":yes", "null", "1 < 2", "2.5 = 2"]).to_owned();
        }
        let depth = depth - 1;
        match self.0.random_range(0..8) {
            0..=2 => {
                let operator = self.pick(&["=", "<>", "<", "<=", ">", ">=", "!="]);
                format!("{} {operator} {}", self.number(depth), self.number(depth))
            }
            3 | 4 => {
                format!("{} {} {}", self.truth(depth), self.pick(&["and", "or"]), self.truth(depth))
            }
            5 => format!("not {}", self.truth(depth)),
            6 => {
                let test = self.pick(&["is null", "is not true", "is false", "isnull", "notnull"]);
                format!("{} {test}", self.truth(depth))
            }
            _ => format!("({})", self.truth(depth)),
        }
    }
}

fn expressions_have_pgbenchs_values_and_failures(server: &Server) {
    let mut made = Expressions(Xoshiro256PlusPlus::seed_from_u64(3));
    let mut expressions: Vec<String> =
        TRICKY.split(';').map(|text| text.trim().to_owned()).collect();
    expressions.extend((0..700).map(|i| if i % 3 == 0 { made.truth(3) } else { made.number(3) }));
    let (fine, failures) = compare(server, &expressions);
    assert!(fine > 500 && failures > 50, "{fine} values, {failures} failures");
}

fn hashes_and_permutations_are_pgbenchs(server: &Server) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(8);
    let mut expressions = Vec::new();
    for _ in 0..150 {
        let (value, seed): (i64, i64) = (random.random(), random.random());
        let size = random.random::<u64>() >> random.random_range(1..64);
        expressions.push(format!("hash_fnv1a({value}, {seed})"));
        expressions.push(format!("hash_murmur2({value}, {seed})"));
        expressions.push(format!("permute({value}, {}, {seed})", size + 1));
    }
    expressions.extend((0..64).map(|value| format!("permute({value}, 64, 9)")));
    expressions.retain(|expression| !expression.contains("-9223372036854775808"));
    assert_eq!(compare(server, &expressions), (expressions.len(), 0));
}

fn texts_of_variables_mean_what_they_mean_to_pgbench(server: &Server) {
    let texts = [
        "t",
        "tr",
        "TRUE",
        "yes",
        "y",
        "on",
        "o",
        "off",
        "of",
        "nO",
        "null",
        "n",
        "12",
        " 12",
        "-5",
        "+5",
        "1e3",
        "12 ",
        "abc",
        "99999999999999999999",
        "nan",
        "inf",
        "-inf",
        "1.",
        ".5",
        "f",
        "fa",
        "-",
        "''",
        "007",
    ];
    for text in texts {
        let ours = our_debug(&debug_line(":x"), &[("x", text)]);
        let theirs = server.pgbench(&debug_line(":x"), &["-t", "1", "-D", &format!("x={text}")]);
        let theirs = theirs.map(|text| text.trim_end().split_once("): ").unwrap().1.to_owned());
        assert_eq!(ours.map(|text| text[0].clone()).ok(), theirs.ok(), "{text:?}");
    }
}

fn conditions_and_continued_lines_take_the_same_branches(server: &Server) {
    let script = "\\set x 3\n\\if :x = 1\n\\set a debug(1)\n\\elif :x = 3\n\\set a debug(2 + \\\n  \
         :x)\n\\if null\n\\set a debug(3)\n\\else\n\\set a debug(4)\n\\if 0.5\n\\set a \
         debug(5)\n\\endif\n\\endif\n\\elif 1/0\n\\else\n\\set a debug(6)\n\\endif\n\\if \
         false\n\\set b 1/0\n\\if 1/0\n\\endif\n\\endif\n  \\SET c debug(7)\n";
    let ours = our_debug(script, &[]).unwrap();
    assert_eq!(ours, ["int 5", "int 4", "int 5", "int 7"]);
    assert_eq!(ours, server.debug(script, &["-t", "1"]));
}

/// Scripts that one of the two might read otherwise. True: understood.
const SCRIPTS: &[(&str, bool)] = &[
    ("\\sleep 0\n", true),
    ("\\sleep 1us\n", true),
    ("\\sleep 1 US\n", true),
    ("\\sleep -1 ms\n", true),
    ("\\sleep 1.5 ms\n", false),
    ("\\sleep 1 m\n", false),
    ("\\sleep\n", false),
    ("\\sleep 1 us 2\n", false),
    ("\\set x 0\n\\sleep :x us\n", true),
    ("\\set x 0.9\n\\sleep :x us\n", true),
    ("\\set x true\n\\sleep :x us\n", false),
    ("\\sett a 1\n", false),
    ("\\set\n", false),
    ("\\set a\n", false),
    ("\\set 1a 5\n", false),
    ("\\set a-b 5\n", false),
    ("\\set a 1 +\n 2\n", false),
    ("\\set Émile 5\n", true),
    ("\\if 1\n", false),
    ("\\else\n", false),
    ("\\elif 1\n", false),
    ("\\endif\n", false),
    ("\\if 1\n\\else\n\\elif 1\n\\endif\n", false),
    ("\\if 1\n\\else\n\\else\n\\endif\n", false),
    ("\\if 1 else\n\\endif\n", false),
    ("\\if 1\n\\endif x\n", false),
    ("\\gset\n", false),
    ("", false),
    ("-- nothing\n", false),
    ("select 1 as x; \\gset\n", true),
    ("select 1 as x \\gset a b\n", false),
    ("select 1 as x \\gset\n\\gset\n", false),
    ("select 1 as x;\n\\set a 1\n\\gset\n", false),
    ("\\ set a 1\n", true),
    ("\\startpipeline\n", false),
    ("\\set a 1 -- c\n", false),
    ("select 1 as x \\set a 1\n", true),
];

/// Runs a script whose queries return one row with one column `x`, 1.
fn we_understand(text: &str) -> Result<(), String> {
    let mut interpreter = Interpreter::new(mix(text, Protocol::Simple, &[])?, 0);
    let mut row = Results { columns: vec!["x".into()], ..Results::default() };
    row.add(vec![Some("1".into())], false);
    loop {
        let is_request = match interpreter.advance().map_err(|error| error.to_string())? {
            Step::Request(_) => true,
            Step::Sleep(_) => false,
            Step::End => return Ok(()),
        };
        if is_request {
            interpreter.answer(std::slice::from_ref(&row)).map_err(|error| error.to_string())?;
        }
    }
}

fn the_same_scripts_are_understood(server: &Server) {
    for (script, understood) in SCRIPTS {
        let ours = we_understand(script);
        assert_eq!(ours.is_ok(), *understood, "{script:?}: {ours:?}");
        let theirs = server.pgbench(script, &["-t", "1"]);
        assert_eq!(theirs.is_ok(), *understood, "{script:?}: {theirs:?}");
    }
}

/// Statements with everything that looks like a variable, a quote or an end and is none.
const STATEMENTS: &str = r#"\set x 5
\set d 1e15 / 3
\set yes true
SELECT :x::text AS "a;b", :x::int8 + :x, ';' -- a comment; and 'more
  , $$;$$, $a$ $$ ; $a$, E'\';', '\', U&'\0041', "a;b" FROM (VALUES (1)) AS v("a;b");
select :d::float8, :yes::bool, '{1,2,3}'::int[], /* ; /* nested ; */ */ 1;
select (select ':;::'), '12:34:56'::time  ;
"#;

/// In the simple protocol variables are replaced everywhere, those that are not set stay.
const SIMPLE_STATEMENTS: &str = r#"
;
select ':x', 5 as ":x", /* :x :nope */ 1 \; select $$:x:yes:nope$$ -- :x
;
"#;

/// Sends what we would send, and gives the requests.
fn requests(script: &str, protocol: Protocol) -> (Arc<Mix>, Vec<(String, Vec<Parameter>)>) {
    let mix = mix(script, protocol, &[]).unwrap();
    let mut interpreter = Interpreter::new(Arc::clone(&mix), 0);
    let mut sent = Vec::new();
    loop {
        match interpreter.advance().unwrap() {
            Step::Request(Request::Execute { statement: Statement::Text(sql), .. }) => {
                sent.push((sql.to_owned(), Vec::new()));
            }
            Step::Request(Request::Execute {
                statement: Statement::Operation(number),
                parameters,
                ..
            }) => {
                let sql = mix.statements()[number].sql(|number| format!("${number}"));
                sent.push((sql, parameters.to_vec()));
            }
            other => {
                assert!(matches!(other, Step::End), "{other:?}");
                return (mix, sent);
            }
        }
    }
}

/// The statements in a server's log that begin in this way, without the semicolons at their ends.
fn logged(log: &str, beginning: &str) -> Vec<String> {
    let lines = log.replace("\n\t", "\u{1}");
    let statements =
        lines.lines().filter_map(|line| line.split_once(beginning).map(|(_, rest)| rest));
    statements
        .map(|text| text.replace('\u{1}', "\n").trim_end_matches([';', ' ', '\n']).to_owned())
        .collect()
}

fn the_server_gets_the_same_statements(server: &Server) {
    let trimmed = |text: &str| text.trim_end().to_owned();
    let simple = format!("{STATEMENTS}{SIMPLE_STATEMENTS}");
    let before = server.log().len();
    server.pgbench(&simple, &["-t", "1"]).unwrap();
    let theirs = logged(&server.log()[before..], "LOG:  statement: ");
    let (_, ours) = requests(&simple, Protocol::Simple);
    let ours: Vec<String> = ours.iter().map(|(text, _)| trimmed(text)).collect();
    assert_eq!(ours, theirs);

    let before = server.log().len();
    server.pgbench(STATEMENTS, &["-t", "1", "-M", "prepared"]).unwrap();
    let log = server.log()[before..].to_owned();
    let theirs: Vec<String> = logged(&log, "LOG:  execute ")
        .iter()
        .map(|text| text.split_once(": ").map_or(String::new(), |(_, text)| trimmed(text)))
        .collect();
    let (_, ours) = requests(STATEMENTS, Protocol::Prepared);
    let texts: Vec<String> = ours.iter().map(|(text, _)| trimmed(text)).collect();
    assert_eq!(texts, theirs);
    let parameters: Vec<usize> = ours.iter().map(|(_, parameters)| parameters.len()).collect();
    assert_eq!(parameters, [3, 2, 0]);
    assert_eq!(ours[0].1, [5, 5, 5].map(Parameter::Integer));
    assert!(log.contains("$1 = '5', $2 = '5', $3 = '5'"), "{log}");
}

/// Counts how often each value comes.
fn histogram(values: impl Iterator<Item = i64>) -> BTreeMap<i64, f64> {
    let mut counts = BTreeMap::new();
    for value in values {
        *counts.entry(value).or_insert(0.0) += 1.0;
    }
    counts
}

fn random_values_are_distributed_as_pgbenchs(server: &Server) {
    const DRAWS: usize = 20_000;
    let functions = [
        "random(-3, 12)",
        "random_exponential(1, 20, 2.5)",
        "random_exponential(-5, 5, 0.1)",
        "random_gaussian(1, 30, 2.0)",
        "random_gaussian(0, 9, 4.5)",
        "random_zipfian(1, 15, 1.1)",
        "random_zipfian(10, 30, 2.5)",
    ];
    let script: String = functions.iter().map(|function| debug_line(function)).collect();
    let mut interpreter = Interpreter::new(mix(&script, Protocol::Simple, &[]).unwrap(), 0);
    let mut ours = Vec::new();
    for _ in 0..DRAWS {
        interpreter.begin();
        assert!(matches!(interpreter.advance(), Ok(Step::End)));
        ours.append(&mut interpreter.take_debug());
    }
    let number = |text: &String| text.strip_prefix("int ").unwrap().parse::<i64>().unwrap();
    let theirs = server.debug(&script, &["-t", &DRAWS.to_string(), "--random-seed", "17"]);
    for (i, function) in functions.iter().enumerate() {
        let counts = |values: &[String]| {
            histogram(values.iter().skip(i).step_by(functions.len()).map(number))
        };
        let (ours, theirs) = (counts(&ours), counts(&theirs));
        // The chi-squared test of two samples of the same size; values that are rare in both
        // count as one. Both seeds are fixed, so the outcome is, too.
        let (mut statistic, mut cells, mut rare) = (0.0, 0.0, (0.0, 0.0));
        let mut add = |a: f64, b: f64| {
            statistic += (a - b).powi(2) / (a + b);
            cells += 1.0;
        };
        let keys: std::collections::BTreeSet<_> = ours.keys().chain(theirs.keys()).collect();
        for key in keys {
            let at = |counts: &BTreeMap<i64, f64>| counts.get(key).copied().unwrap_or(0.0);
            let (a, b) = (at(&ours), at(&theirs));
            if a + b < 20.0 { rare = (rare.0 + a, rare.1 + b) } else { add(a, b) }
        }
        if rare.0 + rare.1 > 0.0 {
            add(rare.0, rare.1);
        }
        let freedom: f64 = cells - 1.0;
        // About one in ten thousand is so far off by chance.
        let limit = freedom + 4.5 * (2.0 * freedom).sqrt();
        assert!(statistic < limit, "{function}: {statistic} of {limit}: {ours:?} {theirs:?}");
    }
}

fn built_in_scripts_are_pgbenchs(server: &Server) {
    for (name, text) in BUILTINS {
        let shown = server.run("pgbench", &[&format!("--show-script={name}")], "");
        let shown = String::from_utf8(shown.stderr).unwrap();
        let (headline, shown) = shown.split_once('\n').unwrap();
        assert!(headline.starts_with(&format!("-- {name}")), "{headline}");
        assert_eq!(shown.trim_end(), text.trim_end());
    }
}

/// Query that describes pgbench's tables: columns, storage, keys, rows, vacuumed pages.
const DESCRIPTION: &str = "
select c.relname, c.reloptions, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull
  from pg_class c join pg_attribute a on a.attrelid = c.oid
  where c.relname like 'pgbench%' and c.relkind in ('r', 'i') and a.attnum > 0 order by 1, \
                           a.attnum;
select conrelid::regclass, pg_get_constraintdef(oid) from pg_constraint
  where conrelid::regclass::text like 'pgbench%' and contype = 'p' order by \
                           conrelid::regclass::text;
select 'branches', count(*), md5(string_agg(t::text, ';' order by bid)) from pgbench_branches t;
select 'tellers', count(*), md5(string_agg(t::text, ';' order by tid)) from pgbench_tellers t;
select 'accounts', count(*), md5(string_agg(t::text, ';' order by aid)) from pgbench_accounts t;
select 'history', count(*) from pgbench_history;
select relname, relpages, reltuples from pg_class where relname like 'pgbench%' and relkind = 'r' \
                           order by 1;
";

fn compare_tables(server: &Server) {
    for database in ["theirs", "ours"] {
        server.psql("postgres", &format!("create database {database}"));
    }
    assert!(server.run("pgbench", &["-i", "-s", "2", "theirs"], "").status.success());
    let url = Value::Text(server.url("ours"));
    let configuration = Configuration {
        settings: [("target.url".to_owned(), url)].into(),
        ..Configuration::default()
    };
    let place = Folders {
        directory: std::env::temp_dir(),
        volumes: Vec::new(),
        permits: Permits::default(),
        cgroup_joins: Vec::new(),
    };
    let instance = (POSTGRES.host)(place).prepare(&configuration, 1, &Cancel::new()).unwrap();
    let (tables, fills) = (DataSet::pgbench(2).tables(), DataSet::pgbench(2).fills());
    instance.create(Work { tables, fills, ..Work::default() }).unwrap();
    // Ours are in a schema of our own.
    server.psql("ours", "alter database ours set search_path = steelbench");
    assert_eq!(server.psql("ours", DESCRIPTION), server.psql("theirs", DESCRIPTION));
    instance.remove().unwrap();
}
