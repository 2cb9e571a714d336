//! The small charts of a run: what they say, that they add up, and that they fit wherever they are
//! shown.

use analysis::summarize;
use observations::{Recording, Series};
use report::{Block, Chart, ChartKind, Document, Medium, Style, ascii, terminal};
use testing::reports;
use testing::reports::{data_files, done, observed, plan, two_factors};

/// Three blocks of two levels; the waits of the second are a quarter.
fn study() -> Recording {
    let mut recording = data_files(&["1", "4"], &[&[8.0, 8.1, 7.9], &[4.0, 4.1, 3.95]]);
    for trial in recording.trials.iter_mut().filter(|trial| trial.configuration == 1) {
        let observations = trial.observations.as_mut().unwrap();
        observations.waits[0].resource_s *= 0.5;
        observations.time.cpu_s *= 2.0;
    }
    recording
}

fn document(recording: &Recording) -> Document {
    report::run(&summarize(recording), &[], Medium::Any)
}

fn chart(document: &Document, kind: ChartKind) -> &Chart {
    let blocks = document.sections.iter().flat_map(|section| &section.blocks);
    let mut charts = blocks.filter_map(|block| match block {
        Block::Chart(chart) => Some(chart),
        Block::Figure(figure) => figure.chart.as_ref(),
        _ => None,
    });
    charts.find(|chart| chart.kind == kind).unwrap()
}

fn with_series(mut recording: Recording, values: impl Fn(usize) -> Vec<f64>) -> Recording {
    for trial in &mut recording.trials {
        let values = values(trial.configuration);
        let series = Series {
            name: "throughput".into(),
            unit: "rows/s".into(),
            start_s: -2.0,
            interval_s: 1.0,
            values,
        };
        trial
            .observations
            .iter_mut()
            .for_each(|observation| observation.series.push(series.clone()));
    }
    recording
}

#[test]
fn the_verdict_comes_first_then_its_figure_and_why() {
    let headings: Vec<String> = document(&study())
        .sections_for(Medium::Text)
        .map(|section| section.heading.to_string())
        .collect();
    assert_eq!(
        headings[..5],
        [
            "",
            "Findings",
            "elapsed against data_files",
            "Why: from data_files=1 to data_files=4",
            "Configurations"
        ]
    );
}

/// 16 sessions x 8 s and 4.02 s over 320,000 rows are 400 and 201 ms for 1,000 rows.
#[test]
fn the_waterfall_goes_from_one_side_to_the_other() {
    let document = document(&study());
    let waterfall = chart(&document, ChartKind::Waterfall);
    assert_eq!(waterfall.heading().as_str(), "Session time per 1,000 rows (ms)");
    let bars = &waterfall.groups[0].bars;
    let (last, parts) = bars.split_last().unwrap();
    let printed = |bar| waterfall.value(bar).parse::<f64>().unwrap();
    let sum: f64 = parts.iter().map(printed).sum();
    assert_eq!(
        (waterfall.value(&bars[0]).as_str(), waterfall.value(last).as_str()),
        ("400.0", "200.8")
    );
    assert!((sum - printed(last)).abs() < 1e-9, "the printed figures add up");
    assert_eq!(bars[1].label.as_str(), "WAL_SYNC");
    assert!(
        waterfall.value(&bars[1]).starts_with('-') && !waterfall.value(&bars[0]).starts_with('-')
    );
    assert!(bars.iter().any(|bar| bar.label.as_str() == "unaccounted"));
    let text = report::markdown(&document);
    assert!(
        text.contains("**Session time per 1,000 rows (ms)**")
            && text.contains("| data_files=1 | 400.0 |"),
        "{text}"
    );
}

#[test]
fn one_row_a_level_and_series() {
    let document = document(&two_factors());
    let figure = chart(&document, ChartKind::Bars);
    let groups: Vec<(&str, usize)> =
        figure.groups.iter().map(|g| (g.label.as_str(), g.bars.len())).collect();
    assert_eq!(groups, [("synchronous=normal", 3), ("synchronous=full", 3)]);
    // Too many configurations for a figure: the means over the other factors.
    let levels: Vec<String> = (1..=5).map(|level| level.to_string()).collect();
    let levels: Vec<&str> = levels.iter().map(String::as_str).collect();
    let mut large =
        plan(&[("target.data_files", &levels), ("target.settings.cache_size", &levels)]);
    for configuration in 0..25 {
        large.trials.extend(
            (1..=2).map(|block| done(configuration, block, observed(f64::from(block) + 5.0))),
        );
    }
    let document = self::document(&large);
    let figure = chart(&document, ChartKind::Bars);
    assert_eq!((figure.groups.len(), figure.groups[0].bars.len()), (1, 5));
    assert!(figure.title.as_str().contains("over the other factors"));
}

#[test]
fn time_is_shown_where_it_says_something() {
    let steady = with_series(study(), |_| vec![50.0; 6]);
    assert!(
        !document(&steady).sections.iter().any(|s| s.heading.as_str().contains("over time")),
        "too short"
    );
    let stalled = with_series(study(), |configuration| {
        let mut values = vec![100.0; 12];
        values[5] = if configuration == 0 { 1.0 } else { 90.0 };
        values
    });
    let text = terminal(&document(&stalled), 100, Style::Plain);
    assert!(
        text.contains("  data_files=1 (block 1)  ██│███▁██████  mean 90.1, lowest 1.00\n"),
        "{text}"
    );
    assert!(text.contains(
        "data_files=1 stalled: 1 interval of 9 reached less than a tenth of the mean, the first \
         after 3.00 s."
    ));
    assert!(!text.contains("data_files=4 stalled"), "{text}");
    assert!(text.contains("The warm-up is to the left of the bar."));
}

/// The published format is the one exception.
#[test]
fn nothing_is_wider_than_the_terminal() {
    let mut long = study();
    long.run.question = Some("unbreakable".repeat(30));
    long.trials.push(reports::failed(0, 4, &"/a/very/long/path".repeat(20)));
    let recordings = [study(), two_factors(), long, with_series(two_factors(), |_| vec![5.0; 500])];
    for recording in recordings {
        for width in [40, 80, 200] {
            let document = document(&recording);
            for text in
                [terminal(&document, width, Style::Plain), ascii(&document, width, Style::Plain)]
            {
                let mut published = false;
                for line in text.lines() {
                    published = line.starts_with("WaitType")
                        || published
                            && line.starts_with(|c: char| c.is_ascii_uppercase())
                            && line.split_whitespace().count() == 9;
                    assert!(published || line.chars().count() <= width, "{width}: {line}");
                }
            }
        }
    }
}

#[test]
fn without_unicode_everything_is_still_there() {
    let mut recording =
        with_series(study(), |_| vec![1.0, 5.0, 3.0, 9.0, 2.0, 8.0, 7.0, 6.0, 4.0, 5.0, 9.0]);
    recording.run.question = Some("Größe in µs?".into());
    let document = document(&recording);
    let (unicode, plain) =
        (terminal(&document, 80, Style::Plain), ascii(&document, 80, Style::Plain));
    assert!(!unicode.is_ascii() && plain.is_ascii());
    assert!(plain.contains("Gr??e in us?") && plain.contains("8.00 +- 0.25 s"), "{plain}");
    // Every figure is in both.
    let figures = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| c.is_whitespace() || !c.is_ascii());
        words
            .filter(|word| word.starts_with(|c: char| c.is_ascii_digit()))
            .map(str::to_owned)
            .collect()
    };
    assert_eq!(figures(&plain), figures(&unicode));
    // Falls and rises differ without colour.
    assert!(plain.contains("  WAL_SYNC ") && plain.contains("-----") && plain.contains("#####"));
}
