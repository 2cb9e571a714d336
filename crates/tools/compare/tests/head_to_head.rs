//! Two configurations head to head.

use ::compare::head_to_head;
use analysis::{HeadToHead, MatchedCells, compare_over};
use observations::{Recording, Response};
use report::{Block, Cell, Chart, ChartKind, Document, Section, Style, Table, terminal};
use testing::reports::disk::{DISK, disk_observed, with_settings};
use testing::reports::{data_files, done, observed, plan};

fn table<'d>(document: &'d Document, heading: &str) -> &'d Table<'static> {
    let section =
        document.sections.iter().find(|section| section.heading.as_str().starts_with(heading));
    let mut tables = section.unwrap().blocks.iter().filter_map(|block| match block {
        Block::Table(table) => Some(table),
        _ => None,
    });
    tables.next().unwrap()
}

fn charts(document: &Document) -> impl Iterator<Item = &Chart> {
    let blocks = document.sections.iter().flat_map(|section| &section.blocks);
    blocks.filter_map(|block| if let Block::Chart(chart) = block { Some(chart) } else { None })
}

fn number(rows: &[Vec<Cell>], row: usize, column: usize) -> f64 {
    rows[row][column].text().parse().unwrap()
}

/// Printed figures add up: in every column the parts to the total, in every row to the change.
fn adds_up(table: &Table) {
    let rows: Vec<Vec<Cell>> = table.rows().collect();
    let total = rows.len() - 1;
    assert_eq!(rows[total][0].text().as_str(), "total");
    for column in 1..=3 {
        let sum: f64 = (0..total).map(|row| number(&rows, row, column)).sum();
        assert!((sum - number(&rows, total, column)).abs() < 1e-9, "column {column}: {rows:?}");
    }
    for row in 0..=total {
        let change = number(&rows, row, 2) - number(&rows, row, 1);
        assert!((change - number(&rows, row, 3)).abs() < 1e-9, "row {row}: {rows:?}");
    }
}

fn compared(recording: &Recording) -> (HeadToHead, Document) {
    let compared = compare_over(recording, &MatchedCells::pair(0, 1)).unwrap();
    let document = head_to_head::document(&compared, "data_files=1", "data_files=16");
    (compared, document)
}

/// 16 sessions x 1755 s against 909 s: 87.75 and 45.45 s for 1,000 of 320,000 rows, a factor of
/// 1.93: 48.2 % less time, 93.1 % more rows a second.
#[test]
fn shows_the_factor_and_why() {
    let recording = data_files(&["1", "16"], &[&[1750.0, 1755.0, 1760.0], &[904.0, 909.0, 914.0]]);
    let (_, document) = compared(&recording);
    let text = terminal(&document, 100, Style::Plain);
    let expected = "\
A: data_files=1; B: data_files=16
   configuration  n  elapsed
A  data_files=1   3  1755 ± 12 s
B  data_files=16  3  909 ± 12 s
elapsed: B is 1.93x [1.90, 1.96] faster than A: significantly better (3 blocks, p < 0.001).

B against A
Positive is better for every response: the sign is reversed where lower is better (latency, time,
cost). [ ]: 95 % CI.
Difference from A (positive is better) (%)
  elapsed     │████████████████████▎                    +48.2 [+47.4, +49.0]
  throughput  │███████████████████████████████████████  +93.1 [+90.2, +96.0]

Why
From A to B, session time falls from 87.8 to 45.4 s per 1,000 rows. Of this decrease: 63 % [63, 63]
less WAL_SYNC wait and 30 % [30, 30] less CPU time.
  [ ]: 95 % t intervals, 3 blocks; false discovery rate of the named causes at most 5 %
  (Benjamini-Hochberg)
WAL_SYNC: equally many waits, each shorter: 3200 of 5.53 s -> 3200 of 2.86 s.
  t test of log ratios, 3 blocks, Holm-adjusted: WAL_SYNC count p = 1.000, length p < 0.001

From A to B
Session time per 1,000 rows (s)
  A            ████████████████████████████████████████   87.75
  WAL_SYNC                                 ░░░░░░░░░░░░  -26.65 [-26.65, -26.65]  63 %
  CPU                                ░░░░░░              -12.69 [-12.69, -12.69]  30 %
  CPU_QUEUE                         ░                     -2.11 [-2.11, -2.11]    5 %
  unaccounted                       ░                     -0.85 [-0.85, -0.85]    2 %
  B            █████████████████████                      45.45
Session time = sessions x elapsed; throughput = sessions (16 on both sides) / session time per unit
of work. The changes add up; %: share of the total change. [ ]: 95 % t intervals, 3 blocks. Solid
bars are significant (false discovery rate 5 %). Client time is not counted as a cause.

Session seconds per 1,000 rows by wait type
part             A      B  change  interval        share of change
CPU          26.33  13.64  -12.69  [-12.7, -12.7]             30 %
";
    assert!(text.starts_with(expected), "{text}");
    assert!(text.contains("\ntotal        87.75  45.45  -42.30  [-42.3, -42.3]\n"), "{text}");
    assert!(text.contains("\nlog          52.65  27.27  -25.38"), "{text}");
    for by in ["wait type", "class of wait"] {
        adds_up(table(&document, &format!("Session seconds per 1,000 rows by {by}")));
    }
}

#[test]
fn printed_parts_add_up_whatever_the_figures() {
    for i in 1..200 {
        let x = f64::from(i);
        let (a, b) = (x.sqrt() * 3.7, x.ln() + 1.1);
        let mut recording = data_files(&["1", "16"], &[&[a, a * 1.013], &[b, b * 0.977]]);
        for (n, trial) in recording.trials.iter_mut().enumerate() {
            let observations = trial.observations.as_mut().unwrap();
            observations.time.cpu_s *= 1.0 + (x * 0.7 + n as f64).sin() / 3.0;
            observations.waits[0].resource_s *= 1.0 + (x * 1.3 + n as f64).cos();
        }
        let (_, document) = compared(&recording);
        for by in ["wait type", "class of wait"] {
            adds_up(table(&document, &format!("Session seconds per 1,000 rows by {by}")));
        }
    }
}

#[test]
fn says_when_nothing_can_be_told() {
    let mut recording = data_files(&["1", "16"], &[&[5.0, 7.0, 6.0], &[6.0, 6.5, 5.5]]);
    let (_, document) = compared(&recording);
    let text = terminal(&document, 100, Style::Plain);
    assert!(text.contains("no significant difference (3 blocks,\np = 0.943)."), "{text}");
    assert!(!text.contains("Of this"), "nothing changed: {text}");

    recording.trials.retain(|trial| trial.configuration == 0);
    let (_, document) = compared(&recording);
    let text = terminal(&document, 100, Style::Plain);
    assert!(text.contains("Not comparable: one side has no completed trial.\n"), "{text}");

    recording.trials.push(done(1, 1, observed(4.0)));
    let (_, document) = compared(&recording);
    terminal(&document, 100, Style::Colour);
}

#[test]
fn json_names_both_sides() {
    let recording = data_files(&["1", "16"], &[&[1750.0, 1755.0], &[904.0, 909.0]]);
    let (compared, _) = compared(&recording);
    let value = head_to_head::json(&compared, "one", "other", None).unwrap();
    assert_eq!((&value["schema"], &value["kind"]), (&"steelbench/2".into(), &"comparison".into()));
    assert_eq!((&value["from_label"], &value["to_label"]), (&"one".into(), &"other".into()));
    let factor = value["comparison"]["value"].as_f64().unwrap();
    assert_eq!(factor.to_bits(), compared.comparison.unwrap().value.to_bits());
    assert_eq!(value["decomposition"]["unit"], "row");
}

/// Two sides with streams `data` and `log`: RAID 5 against RAID 10 as published, reads +10 to +15
/// %, writes -60 to -65 %, at the same number under way.
fn raids() -> Recording {
    let mut recording = plan(&[("target.volume", &["raid10", "raid5"])]);
    with_settings(
        &mut recording,
        &[&DISK[..], &[("workload.streams", "[\"data\",\"log\"]")]].concat(),
    );
    for (block, reads, writes) in [(1, 1.10, 0.35), (2, 1.125, 0.375), (3, 1.15, 0.40)] {
        for (configuration, reads, writes) in [(0, 1.0, 1.0), (1, reads, writes)] {
            let streams = [("data", 3000.0 * reads, true), ("log", 2000.0 * writes, false)];
            let mut measured = disk_observed(4000.0, 16.0, 8192.0, true);
            measured.responses.truncate(1);
            for (stream, iops, read) in streams {
                let of_volume = disk_observed(iops, 8.0, 8192.0, read);
                measured.responses.extend(of_volume.responses.into_iter().take(3).map(
                    |response| Response { name: format!("{stream}.{}", response.name), ..response },
                ));
            }
            recording.trials.push(done(configuration, block, measured));
        }
    }
    recording
}

/// A document with one of the sections.
fn only(document: &Document, heading: &str) -> Document {
    let sections = document.sections.iter().filter(|section| section.heading.as_str() == heading);
    Document { sections: sections.cloned().collect(), ..Document::default() }
}

#[test]
fn the_head_to_head_chart_of_the_study() {
    let recording = raids();
    let compared = compare_over(&recording, &MatchedCells::pair(0, 1)).unwrap();
    let document = head_to_head::document(&compared, "RAID 10", "RAID 5");
    // Geometric means of the factors: 1.1248 and 0.3744; latency is their inverse, 1 - 1 / 0.3744 =
    // -167 %.
    // Of three blocks a significant difference has an open end.
    let expected = [
        ("  iops ", " 0 [0, 0]"),
        ("data", ""),
        ("  iops ", " +12.5 [>0, +27.8]"),
        ("  bandwidth ", " +12.5 [>0, +27.8]"),
        ("  latency_mean ", " +11.1 [>0, +21.7]"),
        ("log", ""),
        ("  iops ", " -62.6 [-74.5, <0]"),
        ("  bandwidth ", " -62.6 [-74.5, <0]"),
        ("  latency_mean ", " -167 [-292, <0]"),
    ];
    let text = terminal(&only(&document, "B against A"), 80, Style::Plain);
    let (_, bars) = text.split_once("Difference from A (positive is better) (%)\n").unwrap();
    assert_eq!(bars.lines().count(), expected.len(), "{text}");
    for (line, (start, end)) in bars.lines().zip(expected) {
        assert!(line.starts_with(start) && line.ends_with(end), "{line:?} {start:?} {end:?}");
    }
    let chart = charts(&document).next().unwrap();
    assert_eq!(chart.kind, ChartKind::Diverging);
    let log: Vec<f64> = chart.groups[2].bars.iter().map(|bar| bar.value).collect();
    assert!((-65.0..-60.0).contains(&log[0]) && (log[2] + 167.1).abs() < 0.1, "{log:?}");
}

#[test]
fn charts_fit_every_width_and_keep_their_columns_in_colour() {
    let recording = raids();
    let compared = compare_over(&recording, &MatchedCells::pair(0, 1)).unwrap();
    let document = head_to_head::document(&compared, "a", "b");
    let is_chart = |block: &Block| matches!(block, Block::Chart(_));
    let sections = document.sections.into_iter().map(|section| Section {
        blocks: section.blocks.into_iter().filter(is_chart).collect(),
        ..section
    });
    let document = Document { sections: sections.collect(), ..document };
    assert!(charts(&document).count() > 0);
    for width in [0, 1, 20, 45, 60, 80, 200] {
        let text = terminal(&document, width, Style::Plain);
        let coloured = terminal(&document, width, Style::Colour);
        let mut plain = String::new();
        for (i, part) in coloured.split('\u{1b}').enumerate() {
            plain.push_str(if i == 0 { part } else { part.split_once('m').unwrap().1 });
        }
        assert_eq!(plain, text);
        let longest = text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(width < 60 || longest <= width, "{width}: {text}");
    }
}

#[test]
fn control_characters_never_reach_the_terminal() {
    let evil = "x\u{1b}]0;title\u{7}\r\n\u{202e}";
    let mut recording = plan(&[(evil, &[evil, "b"])]);
    for configuration in 0..2 {
        for block in 1..4 {
            let mut trial = observed(f64::from(block) + 3.0 * configuration as f64);
            trial.work.unit = evil.into();
            trial.responses.push(Response::higher(&format!("{evil}.iops"), evil, 5.0));
            recording.trials.push(done(configuration, block, trial));
        }
    }
    let compared = compare_over(&recording, &MatchedCells::pair(0, 1)).unwrap();
    let document = head_to_head::document(&compared, evil, evil);
    assert!(charts(&document).count() > 0);
    for width in [0, 20, 45, 60, 80, 100, 200] {
        for text in [terminal(&document, width, Style::Plain), report::markdown(&document)] {
            let bad = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
            assert!(!text.contains(bad), "{text:?}");
            assert!(width < 100 || text.contains("u{1b}"), "spelled out instead");
        }
    }
}
