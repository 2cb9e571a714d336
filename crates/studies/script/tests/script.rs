//! Scripts without a server: the requests that they send, and the errors of wrong ones.

use engine::{EngineError, Results};
use probe::load::Workload;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use script::{Interpreter, Mix, Presets, Protocol, Source, Step};
use std::sync::Arc;
use std::time::Duration;
use work::{Parameter, Request, Statement};

fn source(name: &str, text: &str, weight: u32) -> Source {
    Source { name: name.into(), text: text.into(), weight }
}

fn presets(variables: &[(&str, &str)]) -> Presets {
    let variables =
        variables.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    Presets { scale: 3, seed: 11, variables }
}

fn mix(text: &str, protocol: Protocol) -> Arc<Mix> {
    Arc::new(Mix::parse(&[source("test.sql", text, 1)], protocol, &presets(&[])).unwrap())
}

fn mistake(text: &str, protocol: Protocol) -> String {
    Mix::parse(&[source("test.sql", text, 1)], protocol, &presets(&[])).unwrap_err().to_string()
}

/// The statements to prepare, with placeholders as PostgreSQL has them.
fn sql(mix: &Mix) -> Vec<String> {
    mix.statements().iter().map(|statement| statement.sql(|number| format!("${number}"))).collect()
}

/// The parameters of the next statement.
fn parameters(interpreter: &mut Interpreter) -> Vec<Parameter> {
    match interpreter.advance().unwrap() {
        Step::Request(Request::Execute { parameters, .. }) => parameters.to_vec(),
        other => panic!("{other:?}"),
    }
}

/// The text of the next statement, and whether its results are wanted.
fn text(interpreter: &mut Interpreter) -> (String, bool) {
    match interpreter.advance().unwrap() {
        Step::Request(Request::Execute { statement: Statement::Text(sql), results, .. }) => {
            (sql.to_owned(), results)
        }
        other => panic!("{other:?}"),
    }
}

fn row(columns: &[&str], values: &[Option<&str>]) -> Results {
    Results {
        columns: columns.iter().map(|name| (*name).into()).collect(),
        rows: 1,
        last: values.iter().map(|value| value.map(Into::into)).collect(),
        before: Vec::new(),
    }
}

#[test]
fn mistakes_are_told_with_their_place() {
    let simple = [
        ("\\set a 1\n  \\sett b 2\n", "2:3: unknown meta command `sett`; did you mean `set`?"),
        ("select 1;\n\\set é 1 +\n", "2:11: a value expected in the expression, found the end"),
        ("\\set a randm(1, 2)\n", "1:8: unknown function `randm`; did you mean `random`?"),
        ("\\set a random(1)\n", "1:8: random takes 2 arguments, found 1"),
        ("\\set a 1 < 2 < 3\n", "1:14: no second comparison"),
        ("\\set a 5 $ 3\n", "1:10: `$` is not valid in an expression"),
        ("\\set a :\n", "1:8: a variable's name is missing"),
        ("\\set a \\\n  :totla\n", "2:3: unknown variable `totla`"),
        ("\\set a 99999999999999999999\n", "1:8: `99999999999999999999` is too large"),
        ("\\set 1a 5\n", "1:6: `1a` is not a variable name"),
        ("\\sleep 5 min\n", "1:10: `min` is not a unit of time"),
        ("\\sleep soon\n", "1:8: `soon` is not a time"),
        ("select 1;\n\\if true\nselect 2;\n", "2:1: \\if without \\endif"),
        ("\\endif\n", "1:1: \\endif without \\if"),
        ("\\set a 1\n\\gset\n", "2:1: \\gset and \\aset must follow a SQL command"),
        ("select 'it;\n", "1:8: the closing ' is missing"),
        ("\\shell ls\n", "1:1: \\shell is not supported: a program started in a transaction"),
        ("\\setshell a ls\n", "1:1: \\setshell is not supported"),
        (
            "\\syncpipeline\n",
            "1:1: \\syncpipeline is not supported: a script sends its statements one by one",
        ),
        ("-- nothing\n", "1:1: the script has no commands"),
    ];
    for (script, expected) in simple {
        let message = mistake(script, Protocol::Simple);
        assert!(message.starts_with(&format!("test.sql:{expected}")), "{message}");
    }
    let deep = format!("\\set a {}1\n", "-(".repeat(2_000));
    assert!(mistake(&deep, Protocol::Simple).contains("nested at most 100 deep"));
    let long = format!("\\set a 1{}\n", " + 1".repeat(1_000));
    assert!(mistake(&long, Protocol::Simple).contains("at most 1000 operands"));
}

#[test]
fn the_largest_expressions_fit_on_a_threads_stack() {
    let text =
        format!("\\set a {}1{}{}\nselect :a;", "(".repeat(98), " + 1".repeat(900), ")".repeat(98));
    assert_eq!(
        parameters(&mut Interpreter::new(mix(&text, Protocol::Prepared), 0)),
        [Parameter::Integer(901)]
    );
}

#[test]
fn prepared_statements_object_to_what_cannot_be_a_parameter() {
    let prepared = [
        ("select 1 \\; select 2;", "1:10: `\\;` sends two statements at once"),
        ("\\set x 1\nselect 'a:x';", "2:10: variable `x` in quotes"),
        ("select 1 as a \\gset\nselect :a, ':a';", "2:13: variable `a` in quotes"),
        ("select :scael;", "1:8: unknown variable `scael`; did you mean `scale`?"),
    ];
    for (script, expected) in prepared {
        let message = mistake(script, Protocol::Prepared);
        assert!(message.starts_with(&format!("test.sql:{expected}")), "{message}");
    }
    // The colons here do not begin a variable.
    mix("select 'a:b', '10:30', $$:c$$ /* :d */, x::int from t;", Protocol::Prepared);
    mix("select 1 as a \\gset p_\nselect :p_a;", Protocol::Prepared);
}

#[test]
fn results_become_variables() {
    let script = "select a, b from t \\gset\nselect :a, ':b', :none;\nselect 1 \\; select 2 \
                  \\aset p_\nselect :p_a, :p_b, :a;";
    let mut interpreter = Interpreter::new(mix(script, Protocol::Simple), 0);
    assert_eq!(text(&mut interpreter), ("select a, b from t".into(), true));
    interpreter.answer(&[row(&["a", "b", "unused"], &[Some("1"), None, Some("x")])]).unwrap();
    assert_eq!(text(&mut interpreter), ("select 1, 'NULL', :none".into(), false));
    interpreter.answer(&[]).unwrap();
    assert_eq!(text(&mut interpreter), ("select 1 ; select 2".into(), true));
    let nothing = Results { rows: 0, ..row(&["b"], &[]) };
    interpreter.answer(&[row(&["a"], &[Some("it's")]), nothing]).unwrap();
    assert_eq!(text(&mut interpreter), ("select it's, :p_b, 1".into(), false));
    assert!(matches!(interpreter.advance(), Ok(Step::End)));

    let mut interpreter =
        Interpreter::new(mix("select 1;\nselect 2 as a \\gset\n", Protocol::Simple), 0);
    text(&mut interpreter);
    text(&mut interpreter);
    let many = Results { rows: 2, ..row(&["a"], &[Some("1")]) };
    let error = interpreter.answer(&[many]).unwrap_err().to_string();
    assert_eq!(error, "test.sql:2:1: \\gset needs exactly one row, but the query returned 2 rows");
    assert!(interpreter.answer(&[]).is_err());
}

#[test]
fn prepared_parameters_have_the_variables_types() {
    let script = "\\set i 5\n\\set d 2.5\n\\set b 1 < 2\n\\set n null\nselect :i, :d, :b, :n, \
                  :given, :i, :client_id, :scale;\nselect 'x' as t \\gset\nselect :t::text";
    let sources = [source("test.sql", script, 1)];
    let mix = Mix::parse(&sources, Protocol::Prepared, &presets(&[("given", "07")])).unwrap();
    assert_eq!(
        sql(&mix),
        ["select $1, $2, $3, $4, $5, $6, $7, $8", "select 'x' as t", "select $1::text"]
    );
    let mut interpreter = Interpreter::new(Arc::new(mix), 42);
    let expected = [
        Parameter::Integer(5),
        Parameter::Double(2.5),
        Parameter::Bool(true),
        Parameter::Null,
        Parameter::Text("07".into()),
        Parameter::Integer(5),
        Parameter::Integer(42),
        Parameter::Integer(3),
    ];
    assert_eq!(parameters(&mut interpreter), expected);
    assert!(parameters(&mut interpreter).is_empty());
    interpreter.answer(&[row(&["t"], &[Some("x")])]).unwrap();
    assert_eq!(parameters(&mut interpreter), [Parameter::Text("x".into())]);
}

#[test]
fn the_same_statement_is_prepared_once() {
    let script = "begin; select :scale; end; begin; select :scale; end;";
    assert_eq!(sql(&mix(script, Protocol::Prepared)), ["begin", "select $1", "end"]);
}

#[test]
fn variables_given_from_outside_go_first() {
    let sources =
        [source("test.sql", "select :scale, :client_id, :random_seed, :default_seed;", 1)];
    let settings =
        [("scale", "x"), ("client_id", "y"), ("random_seed", "z"), ("default_seed", "w")];
    let mix = Mix::parse(&sources, Protocol::Simple, &presets(&settings)).unwrap();
    let mut interpreter = Interpreter::new(Arc::new(mix), 1);
    assert_eq!(text(&mut interpreter).0, "select x, y, z, w");
    assert!(Mix::parse(&sources, Protocol::Simple, &presets(&[("1x", "2")])).is_err());
}

#[test]
fn a_repeated_transaction_is_the_same_and_the_next_one_is_not() {
    let script = "\\set n :n + 1\n\\set r random(1, 1000000000)\nselect :n, :r;";
    let sources = [source("test.sql", script, 1)];
    let mix = Arc::new(Mix::parse(&sources, Protocol::Prepared, &presets(&[("n", "0")])).unwrap());
    let mut interpreter = Interpreter::new(Arc::clone(&mix), 0);
    let first = parameters(&mut interpreter);
    assert_eq!(first[0], Parameter::Integer(1));
    interpreter.repeat();
    assert_eq!(parameters(&mut interpreter), first);
    interpreter.begin();
    let second = parameters(&mut interpreter);
    assert_eq!(second[0], Parameter::Integer(2));
    assert_ne!(second[1], first[1]);
    interpreter.repeat();
    assert_eq!(parameters(&mut interpreter), second);
    // The same connection of another run draws the same, another connection does not.
    assert_eq!(parameters(&mut Interpreter::new(Arc::clone(&mix), 0)), first);
    assert_ne!(parameters(&mut Interpreter::new(mix, 1))[1], first[1]);
}

#[test]
fn failures_name_the_command() {
    let cases = [
        ("\\set a 1\n\\set b :a / 0\n", "test.sql:2:1: division by zero"),
        ("\\if false\n\\set a 1\n\\endif\n\\set b :a\n", "test.sql:4:1: variable `a` is not set"),
        ("\\set a 'x'\n", ""),
        (
            "\\set a true\n\\sleep :a ms\n",
            "test.sql:2:1: \\sleep: variable `a` has the value `true`",
        ),
        (
            "\\if 1\n\\elif 2\n\\endif\n\\set a 1 and true\n",
            "test.sql:4:1: expected a boolean, found an integer",
        ),
        ("\\set a random(2, 1)\n", "test.sql:1:1: random: the range from 2 to 1 is empty"),
    ];
    for (script, expected) in cases {
        let parsed = Mix::parse(&[source("test.sql", script, 1)], Protocol::Simple, &presets(&[]));
        match parsed {
            Ok(mix) => {
                let error = Interpreter::new(Arc::new(mix), 0).advance().unwrap_err().to_string();
                assert!(error.starts_with(expected) && !expected.is_empty(), "{error}");
            }
            Err(_) => assert!(expected.is_empty(), "{script}"),
        }
    }
}

#[test]
fn sleeping_is_left_to_the_caller() {
    let script = "\\set x 3\n\\sleep :x ms\n\\sleep 2\n\\sleep -1 us\n\\sleep 7us\nselect 1;";
    let mut interpreter = Interpreter::new(mix(script, Protocol::Simple), 0);
    for micros in [3_000, 2_000_000, 0, 7] {
        let Ok(Step::Sleep(time)) = interpreter.advance() else { panic!("no sleep") };
        assert_eq!(time, Duration::from_micros(micros));
    }
    assert_eq!(text(&mut interpreter).0, "select 1");
}

#[test]
fn scripts_are_chosen_by_their_weights() {
    let sources: Vec<Source> = [("a", 7), ("never", 0), ("b", 2), ("c", 1)]
        .map(|(name, weight)| source(name, "select 1;", weight))
        .into();
    let mix = Arc::new(Mix::parse(&sources, Protocol::Prepared, &presets(&[])).unwrap());
    let mut interpreter = Interpreter::new(mix, 0);
    let mut chosen = [0_u32; 4];
    for _ in 0..20_000 {
        chosen[interpreter.begin()] += 1;
    }
    assert_eq!(chosen[1], 0);
    // Within five standard deviations of a binomial distribution.
    for (count, share) in [(chosen[0], 0.7), (chosen[2], 0.2), (chosen[3], 0.1)] {
        let deviation = f64::sqrt(20_000.0 * share * (1.0 - share));
        assert!((f64::from(count) - 20_000.0 * share).abs() < 5.0 * deviation, "{chosen:?}");
    }
    let none = Mix::parse(&[source("a", "select 1;", 0)], Protocol::Simple, &presets(&[]));
    assert_eq!(none.unwrap_err().to_string(), "no script has a weight above 0");
}

/// Draws, and compares with the probabilities that the manual states (chi-squared; about one
/// seed in ten thousand would be so far off).
fn follows(function: &str, first: i64, probabilities: &[f64]) {
    const DRAWS: u32 = 100_000;
    let mut interpreter =
        Interpreter::new(mix(&format!("\\set x {function}\nselect :x;"), Protocol::Prepared), 0);
    let mut counts = vec![0.0; probabilities.len()];
    for _ in 0..DRAWS {
        interpreter.begin();
        let Parameter::Integer(value) = parameters(&mut interpreter)[0] else {
            panic!("no integer")
        };
        counts[usize::try_from(value - first).unwrap()] += 1.0;
    }
    let expected = probabilities.iter().map(|probability| probability * f64::from(DRAWS));
    let statistic: f64 = counts
        .iter()
        .zip(expected)
        .map(|(count, expected)| (count - expected).powi(2) / expected)
        .sum();
    let freedom = probabilities.len() as f64 - 1.0;
    assert!(
        statistic < freedom + 4.5 * (2.0 * freedom).sqrt(),
        "{function}: {statistic} {counts:?}"
    );
}

/// The integral of the normal density, by Simpson's rule.
fn normal(from: f64, to: f64) -> f64 {
    let density = |x: f64| (-x * x / 2.0).exp();
    let step = (to - from) / 100.0;
    let weight = |i: u32| {
        if i == 0 || i == 100 {
            1.0
        } else if i % 2 == 1 {
            4.0
        } else {
            2.0
        }
    };
    (0..=100).map(|i| weight(i) * density(from + step * f64::from(i))).sum::<f64>() * step / 3.0
}

fn normalized(values: impl Iterator<Item = f64> + Clone) -> Vec<f64> {
    let total: f64 = values.clone().sum();
    values.map(|value| value / total).collect()
}

#[test]
fn random_functions_have_the_documented_distributions() {
    follows("random(-4, 5)", -4, &[0.1; 10]);
    for parameter in [0.3, 2.5, 8.0] {
        let at = |i: u32| (-parameter * f64::from(i) / 12.0).exp();
        let probabilities = normalized((0..12).map(|i| at(i) - at(i + 1)));
        follows(&format!("random_exponential(1, 12, {parameter})"), 1, &probabilities);
    }
    for parameter in [2.0, 3.5] {
        let at = |i: u32| parameter * (2.0 * f64::from(i) / 14.0 - 1.0);
        let probabilities = normalized((0..14).map(|i| normal(at(i), at(i + 1))));
        follows(&format!("random_gaussian(-7, 6, {parameter})"), -7, &probabilities);
    }
    for parameter in [0.5, 0.99, 1.0, 1.05, 2.0, 4.0] {
        let probabilities = normalized((1..=10).map(|k| f64::from(k).powf(-parameter)));
        follows(&format!("random_zipfian(100, 109, {parameter})"), 100, &probabilities);
    }
}

/// YCSB's `ScrambledZipfianGenerator` draws a rank among ten billion with the exponent 0.99 and
/// hashes it. The sum of the weights is the constant of its source (ZETAN), and the hashes are
/// those of its first keys: user6284781860667377211, user8517097267634966620.
#[test]
fn numbers_of_records_are_scrambled_as_by_ycsb() {
    const ZETAN: f64 = 26.469_028_201_783_02;
    const HASHES: [u64; 3] =
        [6_284_781_860_667_377_211, 8_517_097_267_634_966_620, 1_820_151_046_732_198_393];
    const ROWS: u64 = 100_000;
    const DRAWS: u32 = 100_000;
    let number = "abs(hash_fnv1a(random_zipfian(0, 10000000000, 0.99), 0)) % 100000";
    let text = format!("\\set n {number}\n\\set key abs(hash_fnv1a(1, 0))\nselect :n, :key;");
    let mut interpreter = Interpreter::new(mix(&text, Protocol::Prepared), 0);
    let mut counts = vec![0_u32; ROWS as usize];
    for _ in 0..DRAWS {
        interpreter.begin();
        let [Parameter::Integer(number), Parameter::Integer(key)] =
            parameters(&mut interpreter)[..]
        else {
            panic!("no integers")
        };
        counts[number as usize] += 1;
        assert_eq!(key as u64, HASHES[1]);
    }
    for (rank, hash) in HASHES.iter().enumerate() {
        let share = (rank as f64 + 1.0).powf(-0.99) / ZETAN;
        let (mean, count) = (f64::from(DRAWS) * share, counts[(hash % ROWS) as usize]);
        // Less frequent ranks with the same remainder add at most a ten-thousandth of all.
        let above = f64::from(count) - mean;
        let deviations = 5.0 * mean.sqrt();
        assert!(above > -deviations && above < deviations + 10.0, "{rank}: {count}, not {mean}");
    }
    let drawn = counts.iter().filter(|count| **count > 0).count();
    assert!(drawn > 20_000, "the tail is all over the table: {drawn}");
}

/// Counts of a transaction are added when it ends; a repeated one counts once, a refused one only
/// its refusal, a given up one nothing.
#[test]
fn counters_add_what_was_committed() {
    let text = "\\count tried 2\nselect 1;\n\\refused refused\n\\count done";
    let mix = mix(text, Protocol::Prepared);
    let mut interpreter = Interpreter::new(mix.clone(), 0);
    let counts =
        || -> Vec<_> { mix.counts().map(|(_, ever, measured)| [ever, measured]).collect() };
    let ask = |interpreter: &mut Interpreter| {
        assert!(matches!(interpreter.advance().unwrap(), Step::Request(_)));
    };
    // Repeated once, then committed.
    interpreter.begin();
    ask(&mut interpreter);
    interpreter.repeat();
    ask(&mut interpreter);
    assert_eq!(counts(), [[0, 0]; 3]);
    assert!(matches!(interpreter.advance().unwrap(), Step::End));
    assert_eq!(counts(), [[2, 0], [0, 0], [1, 0]]);
    // Given up, then refused; the measurement has begun.
    Workload::begin(&mut interpreter);
    Workload::start(&mut interpreter, 1);
    ask(&mut interpreter);
    Workload::start(&mut interpreter, 1);
    ask(&mut interpreter);
    let violation = EngineError::Violation { doing: String::new(), message: String::new() };
    assert!(interpreter.is_result(&violation));
    assert!(matches!(interpreter.advance().unwrap(), Step::End));
    assert_eq!(counts(), [[2, 0], [1, 1], [1, 0]]);
}

#[test]
fn connections_share_new_keys_and_read_those_whose_transactions_have_ended() {
    let text = "\\set new new_key(100)\n\\set latest latest_key(100)\nselect :new, :latest;";
    let mix = mix(text, Protocol::Prepared);
    let [mut first, mut second] = [0, 1].map(|id| Interpreter::new(mix.clone(), id));
    let keys = |new, latest| [new, latest].map(Parameter::Integer);
    assert_eq!(parameters(&mut first), keys(100, 99));
    assert_eq!(parameters(&mut second), keys(101, 99));
    second.repeat();
    assert_eq!(parameters(&mut second), keys(101, 99));
    assert!(matches!(second.advance().unwrap(), Step::End));
    assert!(matches!(first.advance().unwrap(), Step::End));
    first.begin();
    assert_eq!(parameters(&mut first), keys(102, 101));
}

#[test]
fn texts_and_padded_numbers_are_as_long_as_asked() {
    let text = "\\set t random_text(37)\n\\set p zero_pad(42, 7)\nselect :t, :p;";
    let mut interpreter = Interpreter::new(mix(text, Protocol::Prepared), 0);
    let [Parameter::Text(text), Parameter::Text(padded)] = &parameters(&mut interpreter)[..] else {
        panic!("no texts")
    };
    assert!(
        text.len() == 37
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    );
    assert_eq!(&**padded, "0000042");
    for wrong in ["random_text(0)", "random_text(65537)", "zero_pad(1, 0)"] {
        let script = format!("\\set t {wrong}\nselect :t;");
        let mut interpreter = Interpreter::new(self::mix(&script, Protocol::Prepared), 0);
        let error = interpreter.advance().unwrap_err().to_string();
        assert!(error.contains("the length must be from 1 to 65536"), "{error}");
    }
}

/// Scripts with everything, to be damaged.
const WHOLE: &str = "\\set é random_zipfian(1, 10 * :scale, 1.5e0)\n\\if :é >= 3 and not (1 is \
                     null)\nselect E'\\';', $ü$;$ü$, \"ö\" /* /* ä */ */ , :é::int \\; select \
                     ':é' \\gset p_\n\\elif case when true then 1 end\n\\sleep :é \
                     us\n\\else\n\\sleep 5ms\n\\endif\nselect :p_x\\aset\n";

#[test]
fn damaged_scripts_are_refused_or_run_but_never_panic() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
    let letters: Vec<char> = WHOLE.chars().collect();
    let mut outcomes = [0, 0];
    for _ in 0..20_000 {
        let mut damaged = letters.clone();
        for _ in 0..random.random_range(1..4) {
            if damaged.is_empty() {
                break;
            }
            let at = random.random_range(0..damaged.len());
            match random.random_range(0..3) {
                0 => drop(damaged.remove(at)),
                1 => damaged.insert(at, letters[random.random_range(0..letters.len())]),
                _ => damaged.truncate(at),
            }
        }
        let text: String = damaged.into_iter().collect();
        for protocol in [Protocol::Simple, Protocol::Prepared] {
            let Ok(mix) = Mix::parse(&[source("test.sql", &text, 1)], protocol, &presets(&[]))
            else {
                outcomes[0] += 1;
                continue;
            };
            let mut interpreter = Interpreter::new(Arc::new(mix), 0);
            while !matches!(interpreter.advance(), Ok(Step::End) | Err(_)) {}
            outcomes[1] += 1;
        }
    }
    assert!(outcomes.iter().all(|count| *count > 1_000), "{outcomes:?}");
}
