//! `serve` in a real browser: pages follow a run while it lasts, and keep what their reader has
//! opened or typed.

use crate::common::{Lab, end, scripted, signal};
use crate::serving::{Browser, GATED, Server, let_go};
use serde_json::{Value, json};

const ROWS: &str =
    "return [...document.querySelectorAll('#trials tbody tr')].filter((row) => !row.hidden).length";
const STATE: &str = "return document.getElementById('state').textContent";

fn state_is(text: &str) -> String {
    format!("return document.getElementById('state').textContent.startsWith({text:?})")
}

/// With waits, series of none, and a second factor, so that there are figures and filters.
fn gated(blocks: u32) -> Lab {
    let file =
        scripted(blocks, "waits = [\"A log 0.4 0.1\", \"B lock 0.2 0\"]\nspread = 0.3", GATED);
    Lab::with(&file.replace("[factors]\n", "[factors]\n\"target.delay\" = [\"1 ms\", \"3 ms\"]\n"))
}

#[test]
#[expect(clippy::too_many_lines, reason = "one list of steps, wrapped at 100 columns")]
fn a_run_is_watched_and_what_the_reader_does_stays() {
    let Some(mut browser) = Browser::start() else { return };
    let lab = gated(5);
    let server = Server::start(&lab, &[]);
    browser.open(&server, "/");
    let run = lab.start();
    let_go(&lab, 8);
    // The list shows the run without being reloaded.
    browser.until(
        "return document.querySelector('#runs tbody tr')?.textContent.includes('running: 8 of 20 \
         trials')",
    );
    browser.js("document.querySelector('#runs a').click()");
    browser.until(&state_is("running: 8 of 20 trials"));
    assert_eq!(browser.js(ROWS), 8);
    browser.picture("running.png");

    // What a reader does: fold out, filter, sort, scroll, and stay with the focus in a field.
    browser.js("window.ours = true;
         const details = document.querySelectorAll('#main section details'); details[0].open = \
                true;
         document.querySelector('.picks').open = true;
         document.querySelector('#trials').closest('details').open = true;
         document.querySelector('.picks select[name=b]').selectedIndex = 1;
         document.querySelector('#trials').closest('.scroll').scrollLeft = 40;
         [...document.querySelectorAll('#trials th button')].find((b) => \
                b.textContent.startsWith('elapsed')).click();
         [...document.querySelectorAll('#trials th button')].find((b) => \
                b.textContent.startsWith('elapsed')).click();");
    browser.keys("select[data-column='4']", &["2"]);
    browser.keys("#filter-text", &["done"]);
    let observe = "const t = document.getElementById('trials');
        return { ours: window.ours, text: document.getElementById('filter-text').value,
          level: document.querySelector(\"select[data-column='4']\").value, focus: \
                   document.activeElement.id,
          caret: document.activeElement.selectionStart,
          sort: [...t.querySelectorAll('th[aria-sort=descending]')].map((th) => th.textContent),
          open: [...document.querySelectorAll('#main details')].map((d) => d.open),
          pick: document.querySelector('.picks select[name=b]').selectedIndex, left: \
                   t.closest('.scroll').scrollLeft,
          top: Math.round(document.getElementById('filter-text').getBoundingClientRect().top) }";
    let before = browser.js(observe);
    assert_eq!(browser.js(ROWS), 4);
    assert!(before["open"].as_array().unwrap().contains(&json!(true)));
    let_go(&lab, 4);
    browser.until(&state_is("running: 12 of 20 trials"));
    let after = browser.js(observe);
    let without_top = |mut value: Value| {
        value.as_object_mut().unwrap().remove("top");
        value
    };
    let top = |value: &Value| value["top"].as_f64().unwrap();
    assert!((top(&before) - top(&after)).abs() < 3.0, "it has jumped: {before} {after}");
    assert_eq!(without_top(before), without_top(after));
    assert_eq!(browser.js(ROWS), 6);
    let sorted = "return [...document.querySelectorAll('#trials tbody tr')].filter((row) => \
                  !row.hidden)
        .map((row) => Number(row.cells[[...document.querySelectorAll('#trials th')].findIndex((th) \
                  => th.ariaSort === 'descending')].dataset.value))";
    let sorted: Vec<f64> = serde_json::from_value(browser.js(sorted)).unwrap();
    assert!(sorted.len() == 6 && sorted.iter().rev().is_sorted(), "{sorted:?}");
    // All figures are drawn, of the new trials.
    let drawn = browser.js("return [...document.querySelectorAll('.plot')].every((plot) => \
             plot.querySelector('svg'))");
    assert_eq!(drawn, true);

    // The address holds it all: a copy of it shows the same.
    let address = browser.js("return location.pathname + location.search");
    browser.open(&server, address.as_str().unwrap());
    assert_eq!(
        (browser.js(ROWS), browser.js("return window.ours ?? null")),
        (json!(6), Value::Null)
    );
    assert_eq!(
        browser.js("return document.querySelector('#trials th[aria-sort=descending]').textContent"),
        "elapsed (s)"
    );

    let_go(&lab, 8);
    end(run).expect(0);
    browser.until(&state_is("complete: 20 trials"));
    assert_eq!(browser.js(ROWS), 10);
    browser.picture("complete.png");
    browser.complains_of_nothing();
}

#[test]
#[ignore = "lane all: a page in a browser"]
fn runs_and_configurations_are_picked_and_compared_by_keyboard() {
    let Some(mut browser) = Browser::start() else { return };
    let lab = Lab::with(&scripted(4, "waits = [\"A log 0.4 0.1\"]\nspread = 0.2", ""));
    lab.run(0);
    lab.run_with(&["--fresh"], 0);
    let server = Server::start(&lab, &[]);
    browser.open(&server, "/");
    browser.picture("list.png");
    browser.keys("input[name=from][value='t@1']", &["SPACE"]);
    browser.keys("input[name=to][value='t@2']", &["SPACE"]);
    browser.keys("form button", &["ENTER"]);
    browser.until("return location.pathname === '/runs'");
    let title = browser.js("return document.querySelector('h1').textContent");
    assert!(title.as_str().unwrap().contains("A: t, run 1"), "{title}");
    browser.picture("runs.png");

    browser.open(&server, "/run?file=t&run=2");
    browser.keys(".picks summary", &["ENTER"]);
    browser.keys(".picks form[action='/run'] select", &["2"]);
    browser.keys(".picks form[action='/run'] button", &["ENTER"]);
    browser.until(
        "return document.querySelector('.warning')?.textContent.includes('Only configurations \
         with')",
    );
    assert_eq!(browser.js(ROWS), 4);
    browser.picture("only.png");
    browser.keys(".picks form[action='/compare'] button", &["ENTER"]);
    browser.until("return location.pathname === '/compare'");
    assert_eq!(
        browser.js("return document.querySelector('h1').textContent"),
        "A: data_files=1; B: data_files=2"
    );
    let drawn = browser.js("return document.querySelectorAll('.plot svg').length");
    assert!(drawn.as_u64().unwrap() > 0, "{drawn}");
    browser.picture("compare.png");
    // Every field has a name, and everything loaded is ours.
    browser.open(&server, "/");
    assert_eq!(
        browser.js("return [...document.querySelectorAll('input, select')].every((i) => \
                    i.labels.length + i.ariaLabel?.length > 0 || i.ariaLabel || i.labels.length)"),
        true
    );
    let hosts = browser.js("return [...new Set(performance.getEntriesByType('resource').map((r) \
                            => new URL(r.name).host))]");
    assert_eq!(hosts, json!([server.address]));
    browser.complains_of_nothing();
}

#[test]
#[ignore = "lane all: a page in a browser"]
fn says_when_the_server_has_gone_and_keeps_what_it_shows() {
    let Some(mut browser) = Browser::start() else { return };
    let lab = Lab::with(&scripted(2, "", ""));
    lab.run(0);
    let mut server = Server::start(&lab, &[]);
    browser.open(&server, "/run?file=t");
    assert_eq!(browser.js(STATE), "complete: 4 trials");
    let child = server.child.take().unwrap();
    signal(&child, libc::SIGINT);
    end(child).expect(0);
    browser.until(&state_is("not connected"));
    assert_eq!(browser.js(ROWS), 4);
}

#[test]
fn markup_in_names_is_only_text() {
    let Some(mut browser) = Browser::start() else { return };
    let hostile = "<img src=x onerror=alert(1)>\\\"'&amp;<script>alert(2)</script>\\u001b\\u202e";
    let level = |name: &str| {
        format!(
            "[[level]]\nfactor = \"mode {hostile}\"\nname = \"{name} {hostile}\"\nset = {{ \
             \"target.delay\" = \"2 ms\" }}\n"
        )
    };
    let file = scripted(2, "", &(level("one") + &level("two")))
        .replace("name = \"t\"\n", &format!("name = \"t\"\nquestion = \"Why {hostile}?\"\n"));
    let lab = Lab::with(&file);
    lab.run(0);
    let odd = "results/<img src=x onerror=alert(3)>&\"'.steelbench";
    std::fs::copy(lab.path("results/t.steelbench"), lab.path(odd)).unwrap();
    let server = Server::start(&lab, &[]);
    let clean = "return document.querySelectorAll('img, main script, body > \
                 script:not([src]):not([type])').length === 0
        && ![...document.querySelectorAll('*')].some((e) => e.getAttributeNames().some((name) => \
                 name.startsWith('on')))
        && !/[\\u001b\\u202e]/.test(document.body.innerText)";
    browser.open(&server, "/");
    assert_eq!(
        (
            browser.js(clean),
            browser.js("return document.querySelectorAll('#runs tbody tr').length")
        ),
        (json!(true), json!(2))
    );
    browser.js(
        "[...document.querySelectorAll('#runs a')].find((a) => a.href.includes('img')).click()",
    );
    browser.until("return location.pathname === '/run'");
    assert_eq!((browser.js(clean), browser.js(ROWS)), (json!(true), json!(8)));
    // A level that is all that goes through a form, and comes back.
    browser.js("const s = document.querySelectorAll('.picks form[action=\"/run\"] select');
        s[s.length - 1].selectedIndex = 1; s[0].form.submit()");
    browser.until(
        "return document.querySelector('.warning')?.textContent.includes('Only configurations \
         with')",
    );
    assert_eq!((browser.js(clean), browser.js(ROWS)), (json!(true), json!(4)));
    browser.js("document.querySelector('.picks form[action=\"/compare\"]').submit()");
    browser.until("return location.pathname === '/compare'");
    assert_eq!(browser.js(clean), true);
    assert!(
        browser
            .js("return document.querySelector('h1').textContent")
            .as_str()
            .unwrap()
            .contains("<img src=x")
    );
    browser.open(&server, "/run?file=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E");
    assert_eq!(browser.js(clean), true);
    // That page is not there, which the browser notes.
    let notes = browser.step(&json!({ "console": true }));
    assert_eq!(notes.as_array().unwrap().len(), 1, "{notes}");
}
