//! The report of a run of the disk probe.

use analysis::{Study, summarize_with};
use observations::{Observations, Recording, Response};
use report::{Block, Chart, Document, Medium, Section, Style, terminal};
use testing::reports::disk::{DISK, Device, device_use, disk_observed, saturation, with_settings};
use testing::reports::{done, plan};

const STUDIES: &[&Study] = &[&disk::STUDY];

/// 10,000 IOPS for each I/O under way until 50,000: N* = 5.
const DEVICE: Device = Device { service_s: 20e-6, delay_s: 80e-6 };

fn document(recording: &Recording) -> Document {
    report::run(&summarize_with(recording, STUDIES, Vec::new()), &[disk::SECTIONS], Medium::Any)
}

fn section<'d>(document: &'d Document, heading: &str) -> &'d Section {
    document.sections.iter().find(|section| section.heading.as_str() == heading).unwrap()
}

fn charts(document: &Document) -> impl Iterator<Item = &Chart> {
    let blocks = document.sections.iter().flat_map(|section| &section.blocks);
    blocks.filter_map(|block| if let Block::Chart(chart) = block { Some(chart) } else { None })
}

/// The text of one section.
fn text(document: &Document, heading: &str, width: usize) -> String {
    let sections = vec![section(document, heading).clone()];
    terminal(&Document { sections, ..Document::default() }, width, Style::Plain)
}

/// Blocks of 0.99, 1 and 1.01: t(0.975, 2) x 0.01 / sqrt(3) = 2.5 %.
#[test]
fn the_grid_of_the_study_as_charts() {
    let document = document(&saturation(DEVICE, &["1", "2"], &["1", "4", "8"]));
    let expected = "
Disk
Means of 3 trials with 95 % intervals; MB/s are 10^6 bytes a second.
Labels are threads x queue depth per thread.
IOPS, higher is better (I/Os/s)
  1 x 1  ████████                                  10,000 ± 2.5 %
  1 x 4  ████████████████████████████████          40,000 ± 2.5 %
  1 x 8  ████████████████████████████████████████  50,000 ± 2.5 %
  2 x 1  ████████████████                          20,000 ± 2.5 %
  2 x 4  ████████████████████████████████████████  50,000 ± 2.5 %
  2 x 8  ████████████████████████████████████████  50,000 ± 2.5 %
Bandwidth, higher is better (MB/s)
  1 x 1  ████████                                  81.9 ± 2.5 %
  1 x 4  ████████████████████████████████           328 ± 2.5 %
  1 x 8  ████████████████████████████████████████   410 ± 2.5 %
  2 x 1  ████████████████                           164 ± 2.5 %
  2 x 4  ████████████████████████████████████████   410 ± 2.5 %
  2 x 8  ████████████████████████████████████████   410 ± 2.5 %
Mean latency, lower is better (us)
  1 x 1  ████████████▌                             100 ± 2.5 %  p99 200 us
  1 x 4  ████████████▌                             100 ± 2.5 %  p99 200 us
  1 x 8  ████████████████████                      160 ± 2.5 %  p99 320 us
  2 x 1  ████████████▌                             100 ± 2.5 %  p99 200 us
  2 x 4  ████████████████████                      160 ± 2.5 %  p99 320 us
  2 x 8  ████████████████████████████████████████  320 ± 2.5 %  p99 640 us
";
    assert_eq!(text(&document, "Disk", 80), expected);
    let expected = "
Disk: figures
configuration            n  IOPS          MB/s        latency     p99
threads=1 queue_depth=1  3  10.0k ± 0.2k  81.9 ± 2.0  100 ± 2 us  200 ± 5 us
";
    let figures = text(&document, "Disk: figures", 80);
    assert!(
        figures.starts_with(expected)
            && figures.ends_with("(columns hidden at this width: CPU us/I/O)\n"),
        "{figures}"
    );
}

#[test]
fn the_knee_in_sentences() {
    let knee = |threads: &[&str], depths: &[&str]| {
        text(&document(&saturation(DEVICE, threads, depths)), "Knee", 300)
    };
    let expected = "
Knee
saturates at 8 outstanding (1 thread x 8): 50,000 ± 2.5 % (n = 3) \
                    IOPS; beyond that only latency grows: p99 320 us -> 1.28 ms at 32.
  maximum \
                    50,000 [48,770, 51,260] (n = 3) IOPS at 8 outstanding (1 thread x 8); mean \
                    latency at this point 160 us (p99 320 us); asymptotic knee N* = maximum IOPS \
                    x lowest latency = 5.00 [5.00, 5.00] outstanding.
";
    assert_eq!(knee(&["1", "2"], &["1", "2", "4", "8", "16"]), expected);
    let rising = knee(&["1"], &["1", "2", "3", "4"]);
    let says = "knee not reached: IOPS still rise at the largest load tried, 40,000 ± 2.5 % (n = \
                3) at 4 outstanding (1 thread x 4).\n";
    assert!(rising.starts_with(&format!("\nKnee\n{says}")), "{rising}");
    // With a spread between blocks, the text has an interval or says that none can be given.
    for (noise, says) in [
        (0.006, "saturates between 4 and 8 outstanding (1 thread x 8): 50,000 ± "),
        (
            0.05,
            "3 blocks are too few to locate the knee: it is at 4 outstanding or more. By the \
             means, \
             IOPS come within 5 % of the highest",
        ),
    ] {
        let mut run = saturation(
            Device { delay_s: 63e-6, ..DEVICE },
            &["1"],
            &["1", "2", "4", "8", "16", "32"],
        );
        for (at, trial) in run.trials.iter_mut().enumerate() {
            let wave = [1.0, -2.0, 1.0][at % 3]
                * if trial.configuration % 2 == 0 { noise } else { -noise };
            let observations = trial.observations.as_mut().unwrap();
            for response in
                observations.responses.iter_mut().filter(|response| response.name == "iops")
            {
                response.value *= 1.0 + wave;
            }
        }
        let text = text(&document(&run), "Knee", 300);
        assert!(text.starts_with(&format!("\nKnee\n{says}")), "{text}");
    }
    let mut saturation = saturation(DEVICE, &["1"], &["1", "2", "4", "8", "16"]);
    saturation.trials.retain(|trial| trial.block == 1);
    let text = text(&document(&saturation), "Knee", 300);
    assert!(
        text.contains(
            "8 outstanding (1 thread x 8); one block gives no interval, so no knee is reported."
        ),
        "{text}"
    );
}

#[test]
fn other_factors_are_groups_and_too_many_bars_are_thinned() {
    let depths: Vec<String> = (1..=20).map(|depth| depth.to_string()).collect();
    let depths: Vec<&str> = depths.iter().map(String::as_str).collect();
    let mut recording = plan(&[
        ("workload.pattern", &["random-read", "random-write"]),
        ("workload.queue_depth", &depths),
    ]);
    with_settings(&mut recording, &DISK);
    for configuration in 0..40 {
        let depth = (configuration % 20 + 1) as f64;
        let observations = disk_observed(DEVICE.iops(depth), depth, 8192.0, configuration < 20);
        recording.trials.push(done(configuration, 1, observations));
    }
    let document = document(&recording);
    for chart in charts(&document) {
        let groups: Vec<&str> = chart.groups.iter().map(|group| group.label.as_str()).collect();
        assert_eq!(groups, ["pattern=random-read", "pattern=random-write"]);
        for group in &chart.groups {
            let ends = (group.bars[0].label.as_str(), group.bars.last().unwrap().label.as_str());
            assert_eq!((group.bars.len(), ends), (16, ("1 x 1", "1 x 20")));
        }
    }
    assert!(
        text(&document, "Disk", 80)
            .contains("The charts show 32 of 40 configurations; the table below has all.")
    );
    let rows = text(&document, "Disk: figures", 80)
        .lines()
        .filter(|line| line.contains("pattern="))
        .count();
    assert_eq!(rows, 40);
}

#[test]
fn a_misfit_of_littles_law_is_said() {
    let mut recording = saturation(DEVICE, &["1"], &["4"]);
    for trial in &mut recording.trials {
        trial.observations.as_mut().unwrap().responses[5].value = 3.2;
    }
    let text = text(&document(&recording), "Disk", 200);
    let says = "Little's law does not hold for threads=1 queue_depth=4: IOPS x mean latency is \
                4.00, but 3.20 I/Os were in flight (25.0 % difference, 3 trials).";
    assert!(text.contains(says), "{text}");
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

#[test]
fn streams_have_a_table() {
    let streams = text(&document(&raids()), "Disk: streams", 80);
    assert!(streams.contains("\nvolume=raid5   log     3  750 ± 124"), "{streams}");
}

#[test]
fn charts_fit_every_width_and_keep_their_columns_in_colour() {
    let recording = raids();
    for document in [document(&saturation(DEVICE, &["1", "2"], &["1", "4"])), document(&recording)]
    {
        let sections = document.sections.into_iter().map(|section| Section {
            blocks: section
                .blocks
                .into_iter()
                .filter(|block| matches!(block, Block::Chart(_)))
                .collect(),
            ..section
        });
        let document = Document { sections: sections.collect(), ..document };
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
}

#[test]
fn markdown_has_the_bars_as_tables() {
    let text = report::markdown(&document(&saturation(DEVICE, &["1"], &["1", "4"])));
    let expected = "**Mean latency, lower is better (us)**

|  | us | 95 % interval |  |
| :-- | --: | :-- | :-- |
| 1 x 1 | 100 | ± 2.5 % | p99 200 us |
| 1 x 4 | 100 | ± 2.5 % | p99 200 us |
";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn names_in_charts_command_no_terminal() {
    let evil = "x\u{1b}]0;owned\u{7}\r\n\u{202e}";
    let mut recording = plan(&[(evil, &[evil, "b"]), ("workload.queue_depth", &["1", "2"])]);
    with_settings(&mut recording, &DISK);
    for configuration in 0..4 {
        for block in 1..3 {
            let mut observations = disk_observed(100.0 + f64::from(block), 1.0, 512.0, true);
            observations.responses.push(Response::higher(&format!("{evil}.iops"), evil, 5.0));
            observations.devices = vec![device_use(evil, 5.0, 5.0, 512.0)];
            recording.trials.push(done(configuration, block, observations));
        }
    }
    let document = document(&recording);
    assert!(charts(&document).count() > 0);
    for text in [terminal(&document, 100, Style::Plain), report::markdown(&document)] {
        assert!(
            !text.contains(|c: char| c != '\n' && (c.is_control() || c == '\u{202e}')),
            "{text:?}"
        );
    }
}

#[test]
fn a_run_of_failures_has_no_disk_section() {
    let mut recording = plan(&[("workload.queue_depth", &["1", "2"])]);
    with_settings(&mut recording, &DISK);
    recording.trials.push(testing::reports::failed(0, 1, "no space"));
    assert!(document(&recording).sections.iter().all(|section| section.heading.as_str() != "Disk"));
    let not_numbers = Observations {
        responses: vec![
            Response::higher("iops", "I/Os/s", f64::NAN),
            Response::higher("depth", "I/Os", 0.0),
        ],
        ..Observations::default()
    };
    recording.trials.push(done(0, 2, not_numbers));
    recording.trials.push(done(1, 2, disk_observed(1.0, f64::INFINITY, 0.0, true)));
    for width in [0, 30, 80] {
        terminal(&document(&recording), width, Style::Colour);
    }
}
