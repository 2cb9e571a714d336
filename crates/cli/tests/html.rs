//! The HTML report in a real browser: it opens without errors and without a network, shows what the
//! store holds, can be used by keyboard, and reads nothing in the data as markup.

use crate::common::{Lab, scripted, skipped};
use analysis::summarize;
use observations::{HookOutput, Recording, Warning, WarningKind};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// A browser's view.
struct View {
    results: Vec<Value>,
    console: Vec<Value>,
    alert: bool,
}

/// Opens a page and takes steps in it. Prints a note and returns `None` where there is no browser.
fn browse(page: &Path, dark: bool, steps: &[Value]) -> Option<View> {
    let there = |mut command: Command| command.output().is_ok_and(|output| output.status.success());
    let with = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(program);
        command.args(arguments);
        command
    };
    let found = there(with("python3", &["-c", "import selenium"]))
        && there(with("chromium", &["--version"]))
        && there(with("chromedriver", &["--version"]));
    if !found {
        skipped("needs chromium, chromedriver, and python3 with selenium");
        return None;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/html_browser.py");
    let mut browser = with("python3", &[])
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let request = json!({ "page": page, "dark": dark, "steps": steps });
    browser.stdin.take().unwrap().write_all(request.to_string().as_bytes()).unwrap();
    let output = browser.wait_with_output().unwrap();
    assert!(output.status.success(), "the browser's driver failed");
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    let list = |name: &str| value[name].as_array().unwrap().clone();
    Some(View { results: list("results"), console: list("console"), alert: value["alert"] == true })
}

fn js(script: &str) -> Value {
    json!({ "js": script })
}

/// Cells of a column of the trial table, of the rows that are shown.
fn column(heading: &str) -> Value {
    js(&format!(
        "const t = document.getElementById('trials');
         t.closest('details').open = true;
         const c = [...t.tHead.rows[0].cells].findIndex((cell) => cell.textContent === \
         {heading:?});
         return [...t.tBodies[0].rows].filter((row) => row.offsetParent !== null)
           .map((row) => [row.cells[c].textContent, row.cells[c].dataset.value ?? null]);"
    ))
}

/// Exact values of a column.
fn values(cells: &Value) -> Vec<f64> {
    cells
        .as_array()
        .unwrap()
        .iter()
        .map(|cell| cell[1].as_str().unwrap().parse().unwrap())
        .collect()
}

fn sqlite_run() -> Lab {
    let lab = Lab::with(
        "[experiment]\nname = \"t\"\nquestion = \"How many?\"\n[target]\nengine = \
         \"sqlite\"\n[workload]\nprobe = \"insert\"\nconnections = 2\nrows = \
         2000\nrows_per_transaction = 2\n[factors]\n\"target.data_files\" = [1, 2, \
         4]\n\"target.settings.synchronous\" = [\"off\", \"normal\"]\n[repeats]\nblocks = 2\n",
    );
    lab.run(0);
    lab.steelbench(&["report", "t"]).expect(0).shows("results/t.html");
    lab
}

#[test]
fn shows_what_the_store_holds_and_loads_nothing() {
    let lab = sqlite_run();
    let steps = [
        column("elapsed (s)"),
        column("trial"),
        js("return performance.getEntriesByType('resource').length"),
        js("return [...document.querySelectorAll('.plot')].map((plot) => \
            plot.querySelectorAll('svg path, svg rect').length)"),
        js("return [...document.querySelectorAll('h1, h2, h3')].map((h) => Number(h.tagName[1]))"),
        js("return [...document.querySelectorAll('figure')].every((f) => \
            f.querySelector('[aria-label]').ariaLabel.length > 40
              && f.querySelector('figcaption').textContent && f.querySelector('details table tbody \
            tr'))"),
        js("return [...document.querySelectorAll('input, select')].every((input) => \
            input.labels.length === 1)"),
        json!({ "pdf": true }),
        js(COPY),
    ];
    let Some(state) = browse(&lab.path("results/t.html"), false, &steps) else { return };
    assert_eq!((state.console, state.alert), (Vec::new(), false));
    let stored = lab.rows("t", "SELECT sequence || ' ' || elapsed_s FROM trials ORDER BY sequence");
    let sequences = values(&state.results[1]);
    let elapsed = values(&state.results[0]);
    assert_eq!((stored.len(), elapsed.len()), (12, 12));
    let mut shown: Vec<(u32, f64)> = sequences.iter().map(|s| *s as u32).zip(elapsed).collect();
    shown.sort_by_key(|(sequence, _)| *sequence);
    for (stored, (sequence, elapsed)) in stored.iter().zip(&shown) {
        let (number, exact) = stored.split_once(' ').unwrap();
        assert_eq!(number, sequence.to_string());
        let exact: f64 = exact.parse().unwrap();
        assert!((exact - elapsed).abs() <= 1e-12 * exact, "{exact} {elapsed}");
    }
    for cell in state.results[0].as_array().unwrap() {
        let (text, exact) =
            (cell[0].as_str().unwrap(), cell[1].as_str().unwrap().parse::<f64>().unwrap());
        let printed: f64 = text.replace(',', "").parse().unwrap();
        assert!((printed / exact - 1.0).abs() < 0.005, "{text} is not {exact}");
    }
    assert_eq!(state.results[2], 0, "nothing was requested");
    let drawn = state.results[3].as_array().unwrap();
    // Response, profile and latency; whether a waterfall or a series is drawn depends on the
    // figures.
    assert!(drawn.len() >= 3 && drawn.iter().all(|marks| marks.as_u64().unwrap() > 3), "{drawn:?}");
    let levels: Vec<i64> =
        state.results[4].as_array().unwrap().iter().map(|l| l.as_i64().unwrap()).collect();
    assert!(
        levels[0] == 1 && levels.windows(2).all(|two| two[1] > 1 && two[1] - two[0] <= 1),
        "{levels:?}"
    );
    assert_eq!((&state.results[5], &state.results[6]), (&json!(true), &json!(true)));
    assert_eq!(state.results[7][1], "%PDF-");
    let copied = &state.results[8];
    assert!(copied[0].as_u64().unwrap() > 1000, "a picture: {copied}");
    let svg = copied[1].as_str().unwrap();
    assert!(svg.starts_with("<svg") && !svg.contains("var("), "{svg}");
    assert!(copied[2].as_str().unwrap().starts_with("configuration\tn\tmean"), "{copied}");
}

/// Copies the first figure as PNG, as SVG and as a table: bytes of the first, texts of the others.
const COPY: &str = "const copied = [];
    navigator.clipboard.write = async ([item]) => {
        const blob = await item.getType(item.types[0]);
        copied.push(blob.type === 'image/png' ? blob.size : await blob.text());
    };
    const clicked = async () => {
        for (const button of document.querySelector('.copy').querySelectorAll('button')) {
            button.click();
            while (button.textContent !== 'Copied') await new Promise((go) => setTimeout(go, 20));
        }
        return copied;
    };
    return clicked();";

/// A page of plans at the width of a telephone and of a desk: nothing but its tables scrolls aside.
#[test]
fn a_page_of_plans_fits_and_quotes_no_markup() {
    let lab = Lab::new();
    let plan = include_str!("../../inspection/tests/sqlserver/plans/own.sqlplan")
        .replace("N'secret'", "N'&lt;script&gt;alert(1)&lt;/script&gt;'")
        .replace("[IX_a]", "[&lt;img src=x onerror=alert(1)&gt;]");
    lab.write("a.sqlplan", &plan);
    lab.steelbench(&["plan", "a.sqlplan", "--html", "page.html", "--literals"]).expect(0);
    let page = std::fs::read_to_string(lab.path("page.html")).unwrap();
    assert!(page.contains("&lt;script&gt;alert(1)") && !page.contains("<img src=x"), "escaped");
    for part in ["Own time of operators", "1 Nested Loops", "30,000 rows fetched one at a time"] {
        assert!(page.contains(part), "{part}");
    }
    let widths = js("return [390, 1400].map((width) => {
            document.body.style.boxSizing = 'border-box';
            document.body.style.width = document.body.style.maxWidth = width + 'px';
            const begin = document.body.getBoundingClientRect().left;
            const parts = document.querySelectorAll('h1, h2, h3, p, .detail, .scroll, figure');
            const ends = [...parts].map((part) => part.getBoundingClientRect().right - begin);
            return [width, Math.max(...ends), parts.length];
        });");
    let Some(state) = browse(&lab.path("page.html"), false, &[widths]) else { return };
    assert!(!state.alert && state.console.is_empty(), "{:?}", state.console);
    for size in state.results[0].as_array().unwrap() {
        let (width, end) = (size[0].as_f64().unwrap(), size[1].as_f64().unwrap());
        assert!(end <= width && size[2].as_u64() > Some(8), "{size}");
    }
}

#[test]
#[ignore = "lane all: a page in a browser"]
fn sorts_and_filters_by_keyboard() {
    let lab = sqlite_run();
    // Headings in order: trial, block, try, data_files, synchronous, status, then the responses.
    let elapsed = js("const heads = [...document.querySelectorAll('#trials th')];
        const head = heads.find((h) => h.textContent === 'elapsed (s)'); head.id = 'elapsed'; \
                      head.closest('details').open = true; return head.ariaSort");
    let sorted = || js("return document.getElementById('elapsed').getAttribute('aria-sort')");
    let count = || js("return document.getElementById('filter-count').textContent");
    let steps = [
        elapsed,
        json!({ "focus": "#elapsed button", "keys": ["ENTER"] }),
        sorted(),
        column("elapsed (s)"),
        json!({ "focus": "#elapsed button", "keys": ["SPACE"] }),
        sorted(),
        column("elapsed (s)"),
        json!({ "focus": "select[data-column='3']", "keys": ["4"] }),
        count(),
        column("data_files"),
        json!({ "focus": "#filter-text", "keys": ["off"] }),
        count(),
        column("synchronous"),
        json!({ "focus": "#filter-text", "keys": ["such text is nowhere"] }),
        count(),
    ];
    let Some(state) = browse(&lab.path("results/t.html"), false, &steps) else { return };
    assert_eq!((state.console, state.alert), (Vec::new(), false));
    let results = &state.results;
    assert_eq!(
        (&results[0], &results[2], &results[5]),
        (&json!("none"), &json!("ascending"), &json!("descending"))
    );
    let (up, down) = (values(&results[3]), values(&results[6]));
    assert!(up.len() == 12 && up.is_sorted(), "{up:?}");
    assert!(down.iter().rev().is_sorted() && down.len() == 12, "{down:?}");
    assert_eq!(results[8], "4 of 12 trials");
    assert!(results[9].as_array().unwrap().iter().all(|cell| cell[0] == "4"));
    assert_eq!(results[11], "2 of 12 trials");
    assert!(results[12].as_array().unwrap().iter().all(|cell| cell[0] == "off"));
    assert_eq!(results[14], "0 of 12 trials");
}

#[test]
#[ignore = "lane all: a page in a browser"]
fn is_dark_where_the_system_is_and_can_be_switched() {
    let lab = Lab::with(&scripted(2, "waits = [\"A log 0.5 0\"]", ""));
    lab.run(0);
    lab.steelbench(&["report", "--output", "page.html"]).expect(0).shows("page.html");
    // Sum of red, green and blue.
    let light = || {
        js("return getComputedStyle(document.documentElement).backgroundColor.match(/\\d+/g).\
            slice(0, 3)
        .reduce((sum, part) => sum + Number(part), 0)")
    };
    let steps = [light(), json!({ "focus": "#theme", "keys": ["ENTER"] }), light()];
    for dark in [true, false] {
        let Some(state) = browse(&lab.path("page.html"), dark, &steps) else { return };
        let is_dark = |step: usize| state.results[step].as_u64().unwrap() < 200;
        assert_eq!((is_dark(0), is_dark(2)), (dark, !dark));
        assert_eq!(state.console, Vec::<Value>::new());
    }
}

/// Appended to every string of a recording.
const MARKUP: &str = "<script>alert(1)</script>\"><img src=x \
                      onerror=alert(2)>'><!--</title></style>\u{1b}[31m\u{202e}\u{0}";
/// Names of enumerations, which are ours and cannot be anything else.
const OURS: [&str; 5] = ["status", "class", "direction", "kind", "counted"];

/// Appends markup to every string, and to every name that is data.
fn poison(name: &str, value: &mut Value) {
    match value {
        Value::String(text) if !OURS.contains(&name) && !OURS.contains(&text.as_str()) => {
            text.push_str(MARKUP);
        }
        Value::Array(items) => items.iter_mut().for_each(|item| poison(name, item)),
        Value::Object(fields) => {
            if name == "engines" {
                *fields =
                    std::mem::take(fields).into_iter().map(|(key, v)| (key + MARKUP, v)).collect();
            }
            fields.iter_mut().for_each(|(field, value)| poison(field, value));
        }
        _ => {}
    }
}

/// A run with whatever a recording can hold: failures, marks, hooks, series, several factors.
fn recorded() -> Recording {
    let lab = Lab::with(
        &scripted(
            3,
            "waits = [\"A log 0.4 0.1\", \"B lock 0.2 0\", \"C client 0.1 0\"]\nspread = \
             0.3\ndelay = \"2 s\"",
            "[report]\nbaseline = { \"target.data_files\" = 1, \"target.fail_while_exists\" = \
             \"no\" }\n",
        )
        .replace("[factors]\n", "[factors]\n\"target.fail_while_exists\" = [\"no\", \"e.toml\"]\n"),
    );
    lab.run(1);
    let export = lab.steelbench(&["export", "--format", "json"]).expect(0);
    let exported: Value = serde_json::from_str(&export.stdout).unwrap();
    let recording = exported.get("recording").unwrap_or(&exported);
    let mut recording: Recording = serde_json::from_value(recording.clone()).unwrap();
    recording.run.question = Some("Why?".into());
    for trial in &mut recording.trials {
        let hook = |code| HookOutput {
            hook: "before_trial".into(),
            command: "true".into(),
            exit_code: Some(code),
            elapsed_s: 1.0,
            output: "it said\nthis".into(),
        };
        trial.hooks = vec![hook(0), hook(1)];
        if let Some(observations) = &mut trial.observations {
            observations
                .warnings
                .push(Warning { kind: WarningKind::Steal, detail: "stolen".into() });
        }
    }
    recording
}

#[test]
fn markup_in_the_data_is_only_text() {
    let recording = recorded();
    let mut poisoned = serde_json::to_value(&recording).unwrap();
    poison("", &mut poisoned);
    let poisoned: Recording = serde_json::from_value(poisoned).unwrap();
    assert_eq!(poisoned.done().count(), 6);
    let lab = Lab::new();
    let elements = || {
        js("const count = {};
        for (const e of document.querySelectorAll('*')) count[e.tagName] = (count[e.tagName] ?? 0) \
            + 1;
        return [count, [...document.querySelectorAll('*')].flatMap((e) => \
            e.getAttributeNames()).filter((name) => name.startsWith('on'))]")
    };
    let text = || {
        js("document.querySelectorAll('details').forEach((d) => d.open = true); return \
            document.body.innerText + document.title")
    };
    let mut pages = Vec::new();
    for (name, recording) in [("plain.html", &recording), ("poisoned.html", &poisoned)] {
        lab.write(name, &report::html(&summarize(recording), &[]));
        let Some(state) = browse(&lab.path(name), false, &[elements(), text()]) else { return };
        assert_eq!((state.console, state.alert), (Vec::new(), false), "{name}");
        pages.push(state.results);
    }
    // No string has become an element or a handler. (There may be more cells, because a response
    // with another name is another column; what the markup would make or end are these.)
    let tags =
        |page: usize| pages[page][0][0].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(tags(0), tags(1));
    for name in ["SCRIPT", "STYLE", "TITLE", "META"] {
        assert_eq!(pages[0][0][0][name], pages[1][0][0][name], "{name}");
    }
    assert_eq!((&pages[1][0][0]["IMG"], &pages[1][0][1]), (&Value::Null, &json!([])));
    let page = pages[1][1].as_str().unwrap();
    assert!(page.matches("<script>alert(1)</script>\"><img").count() > 100);
    assert!(!page.chars().any(|c| (c.is_control() && c != '\n' && c != '\t') || c == '\u{202e}'));
}

/// Contours, tested points, the stationary point and its region.
#[test]
#[ignore = "lane all: a page in a browser"]
fn a_surface_is_drawn() {
    let lab = crate::surface::published();
    lab.run(0);
    lab.steelbench(&["report", "chemistry", "-o", "page.html"]).expect(0);
    let count = |marks: &str| {
        js(&format!(
            "const plots = [...document.querySelectorAll('.plot')];
             return plots.find((plot) => plot.querySelector('[aria-label=contour]'))
               .querySelectorAll({marks:?}).length"
        ))
    };
    let steps = [
        count("[aria-label=contour] path"),
        count("[aria-label=contour][stroke-dasharray] path"),
        count("[aria-label=dot] circle"),
        count("[aria-label=dot] path"),
    ];
    let Some(state) = browse(&lab.path("page.html"), true, &steps) else { return };
    assert_eq!((state.console, state.alert), (Vec::new(), false));
    let drawn: Vec<i64> = state.results.iter().map(|result| result.as_i64().unwrap()).collect();
    assert!(drawn[0] > 5 && drawn[1] == 1, "{drawn:?}");
    // Four corners, four points on axes, the centre; the cross.
    assert_eq!((drawn[2], drawn[3]), (9, 1));
}
