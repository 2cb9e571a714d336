//! The HTML report as text: complete, small, without anything from elsewhere. What browsers make of
//! it is tested with the binary.

use analysis::summarize;
use observations::{Histogram, Latency, Recording, Role, Series};
use report::{Block, Medium, Style, html, terminal};
use sha2::{Digest, Sha512};
use testing::reports::{data_files, failed, plan, two_factors};

fn page(recording: &Recording) -> String {
    html(&summarize(recording), &[])
}

fn escaped(text: &str) -> String {
    let escapes = [("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\"", "&quot;"), ("'", "&#39;")];
    escapes.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

/// The terminal's document is the measure: whatever it says, the page says.
#[test]
fn says_all_that_the_terminal_says() {
    for recording in
        [two_factors(), data_files(&["1"], &[&[3.0, 3.1]]), plan(&[("a.b", &["1", "2"])])]
    {
        let page = page(&recording);
        let document = report::run(&summarize(&recording), &[], Medium::Any);
        let mut sentences = vec![document.title.to_string()];
        // The page has figures for the small charts of the text.
        let chart = |block: &Block| matches!(block, Block::Chart(_) | Block::Figure(_));
        for section in
            document.sections_for(Medium::Text).filter(|section| !section.blocks.iter().any(chart))
        {
            // A page divides the findings into answer, cause, limits and the rest.
            sentences
                .extend(Some(section.heading.to_string()).filter(|heading| heading != "Findings"));
            for block in &section.blocks {
                match block {
                    Block::Line(line) => sentences.push(line.text.to_string()),
                    Block::Table(table) => {
                        sentences.extend(
                            table.columns.iter().map(|column| column.heading().to_string()),
                        );
                        sentences
                            .extend(table.rows().flatten().map(|cell| cell.text().to_string()));
                    }
                    Block::Chart(_)
                    | Block::Figure(_)
                    | Block::Picture(..)
                    | Block::Listing(_)
                    | Block::Fold(..) => {}
                }
            }
        }
        assert!(sentences.len() > 10);
        for text in sentences {
            assert!(page.contains(&escaped(&text)), "{text:?} is not in the page");
        }
    }
}

/// A section that has nothing to say is not there, and what was not found is not in bold.
#[test]
fn empty_sections_are_left_out() {
    let same: [&[f64]; 2] = [&[5.0, 5.1, 5.2], &[5.1, 5.2, 5.0]];
    for recording in [data_files(&["1", "2"], &same), data_files(&["1"], &[&[5.0, 5.1]])] {
        let page = page(&recording);
        assert!(!page.contains(">Why"), "{page}");
        assert_eq!(
            page.contains(">Where the time went<"),
            recording.configurations.len() > 1,
            "{page}"
        );
    }
    let page = page(&data_files(&["1", "2"], &same));
    let (_, answer) = page.split_once("id=\"answer\">Answer</h2>\n").unwrap();
    let muted =
        "<details class=\"finding\"><summary class=\"muted\">No level of data_files differs";
    assert!(answer.starts_with(muted), "{answer}");
    assert!(
        page.contains(".answer summary:not([class]) { font-size"),
        "only a finding without a class is large"
    );
}

/// Question, answer, figure, cause and limits; then sections, of which three are open.
#[test]
fn the_first_view_answers_and_the_rest_is_folded() {
    let mut recording = two_factors();
    recording.run.question = Some("How many?".into());
    let page = page(&recording);
    let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text} is not in the page"));
    let places = [
        "<section class=\"question\">",
        "<p>How many?</p>",
        "<section class=\"answer\">",
        "<section class=\"chart\">",
        "\"Line chart of elapsed against",
        "<section class=\"why\">",
        "\"Stacked bars of session time per",
        "<section class=\"notes\">",
        "<nav ",
        "<details open><summary><h2",
        "<details><summary><h2",
    ];
    assert!(places.map(place).is_sorted(), "{:?}", places.map(place));
    assert_eq!(page.matches("<details open>").count(), 3);
    let (first, _) = page.split_once("<nav ").unwrap();
    let evidence = first.matches("<details class=\"finding\"><summary").count();
    assert!(evidence >= 3, "evidence opens by a click: {first}");
}

/// Numbers of versions and names with numbers behind them have no scale.
#[test]
fn categories_are_not_joined() {
    let values: [&[f64]; 3] = [&[5.0, 5.1, 5.2], &[3.1, 3.2, 3.0], &[2.0, 2.1, 2.2]];
    let scale = |recording: &Recording, name: &str| {
        page(recording).contains(&format!("\"scale\":\"{name}\""))
    };
    let mut versions = data_files(&["14", "16", "18"], &values);
    assert!(scale(&versions, "linear"));
    versions.roles = [("target.data_files".to_owned(), Role::Engine)].into_iter().collect();
    assert!(scale(&versions, "point") && !scale(&versions, "linear"));
    let mut names = data_files(&["small", "large", "huge"], &values);
    names.factors[0].numeric = Some(vec![1.0, 2.0, 4.0]);
    assert!(scale(&names, "point") && !scale(&names, "linear"));
}

#[test]
fn what_cannot_be_drawn_is_a_sentence() {
    let figures = |page: &str| page.matches("<figure>").count();
    let mut nothing_done = plan(&[("target.data_files", &["1", "2"])]);
    assert_eq!(figures(&page(&nothing_done)), 0);
    nothing_done.trials = vec![failed(0, 1, "disk full"), failed(1, 1, "disk full")];
    let page_of_failures = page(&nothing_done);
    assert_eq!(figures(&page_of_failures), 0);
    assert!(page_of_failures.contains("No completed trial to draw."));
    assert_eq!(page_of_failures.matches("<tr class=\"failed\">").count(), 2);
    // One configuration has nothing to be drawn against, and no latencies or series were recorded.
    assert_eq!(figures(&page(&data_files(&["1"], &[&[3.0, 3.1]]))), 0);
    // Two have: the response, both sides, the waterfall, the profile.
    assert_eq!(figures(&page(&data_files(&["1", "2"], &[&[3.0, 3.1], &[2.0, 2.1]]))), 4);
}

/// 400 trials of an hour with eight series a second and two histograms: 11.5 million figures.
#[test]
fn four_hundred_long_trials_stay_under_five_megabytes() {
    let blocks: Vec<f64> = (0..40).map(|block| 3600.0 + f64::from(block)).collect();
    let levels = ["1", "2", "4", "8", "16", "32", "64", "128", "256", "512"];
    let mut recording = data_files(&levels, &[blocks.as_slice(); 10]);
    assert_eq!(recording.trials.len(), 400);
    let mut histogram = Histogram::default();
    (1..20_000_u64).for_each(|i| histogram.record(i * i * 7));
    for trial in &mut recording.trials {
        let observations = trial.observations.as_mut().unwrap();
        observations.latencies = ["transaction", "service"]
            .map(|name| Latency { name: name.into(), histogram: histogram.clone() })
            .to_vec();
        observations.series = (0..8)
            .map(|number| {
                let value =
                    |second: usize| 1e6 / (1.0 + (second % 97) as f64) + f64::from(number) / 3.0;
                Series {
                    name: format!("wait:TYPE_{number}"),
                    unit: "s/s".into(),
                    start_s: -60.0,
                    interval_s: 1.0,
                    values: (0..3660).map(value).collect(),
                }
            })
            .collect();
    }
    let page = page(&recording);
    assert!(page.len() < 5_000_000, "{} bytes", page.len());
    // The first blocks of ten configurations took 3600 s.
    assert_eq!(page.matches("data-value=\"3600\"").count(), 10);
    // Both histograms are the same: they are drawn once. Thinned series say so.
    assert!(page.contains("Latency: transaction") && !page.contains("Latency: service"));
    assert!(page.contains("Thinned: each point is the mean of up to"));
}

/// Long tables end early and say so; exports are complete.
#[test]
fn large_tables_end_after_a_thousand_rows() {
    let levels: Vec<String> = (1..=1_200).map(|level| level.to_string()).collect();
    let levels: Vec<&str> = levels.iter().map(String::as_str).collect();
    let mut recording = data_files(&levels, &vec![[3.0, 3.1, 3.2, 3.1, 3.0].as_slice(); 1_200]);
    let mut histogram = Histogram::default();
    (1..200_u64).for_each(|i| histogram.record(i * i * 7));
    for trial in &mut recording.trials {
        let latency =
            Latency { name: "transaction".into(), histogram: Histogram::sum(&[&histogram]) };
        trial.observations.as_mut().unwrap().latencies = vec![latency];
    }
    let page = page(&recording);
    assert!(page.len() < 8_000_000, "{} bytes", page.len());
    let trials = page.split("<h2").find(|section| section.contains(">Every trial</h2>")).unwrap();
    assert_eq!(trials.matches("<tr>").count(), 1 + 1_000);
    assert!(trials.contains(
        "Shown: the first 1,000 of 6,000 rows; &quot;steelbench export&quot; writes all."
    ));
    assert!(page.contains("the 6,000 single trials are not drawn"));
    assert!(page.contains("Drawn: the first 100 of 1,200 configurations."));
    let text = terminal(&report::run(&summarize(&recording), &[], Medium::Text), 80, Style::Plain);
    assert!(text.contains("Shown: the first 1,000 of 1,200 rows"), "the terminal says so too");
    let rows =
        report::tables(&recording).into_iter().find(|table| table.name == "trials").unwrap().rows();
    assert_eq!(rows.count(), 6_000);
}

#[test]
fn nothing_is_loaded_from_elsewhere() {
    let page = page(&two_factors());
    let ours = page.split("<script>").next().unwrap();
    for reference in [" src=", "href=\"http", "url(", "@import", "<link", "<iframe"] {
        assert!(!ours.contains(reference), "{reference}");
    }
    assert!(page.contains("default-src 'none'"));
    assert!(page.contains("<th scope=\"row\">paired t, paired by block</th><td>both sides are"));
    assert_eq!(page.matches("'sha256-").count(), 3);
    assert_eq!(page.matches("</script>").count(), 4);
    // The same recording makes the same page.
    assert_eq!(page, self::page(&two_factors()));
}

#[test]
fn libraries_are_unchanged() {
    let readme = include_str!("../assets/vendor/README.md");
    let files = [
        ("d3.min.js", include_str!("../assets/vendor/d3.min.js")),
        ("plot.umd.min.js", include_str!("../assets/vendor/plot.umd.min.js")),
    ];
    for (name, content) in files {
        let digest = Sha512::digest(content.as_bytes());
        let hash = digest.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
        assert!(
            readme.contains(&format!("{hash}  {name}")),
            "{name} is not the file that README.md names"
        );
        assert!(
            !content.contains("</script") && !content.contains("<!--") && !content.contains('\r')
        );
    }
    let ours = include_str!("../assets/report.js");
    assert!(!ours.contains("</script") && !ours.contains("<!--") && !ours.contains('\r'));
}
