//! The published wait tables, recomputed: every sum, average and percentage that can be.

use analysis::waits::{HEADINGS, WaitOptions, WaitTable};
use observations::{Wait, WaitSource};

struct Published {
    name: String,
    rows: Vec<Vec<String>>,
}

impl Published {
    fn number(&self, row: usize, column: usize) -> f64 {
        self.rows[row][column].parse().unwrap()
    }

    /// The range of totals for which every printed percentage is right.
    fn total(&self) -> (f64, f64) {
        (0..self.rows.len()).fold((0.0, f64::INFINITY), |(low, high), row| {
            let (wait, percentage) = (self.number(row, 1), self.number(row, 5));
            let (least, most) =
                ((wait - 0.005) / (percentage + 0.005), (wait + 0.005) / (percentage - 0.005));
            (f64::max(low, 100.0 * least), f64::min(high, 100.0 * most))
        })
    }

    /// The printed rows as waits, and the unprinted rest of the total as small ones.
    ///
    /// Printed columns were rounded one by one, so that a sum may be off by the last digit: such a
    /// row is given digits below the printed ones for which all three columns are right.
    fn waits(&self) -> Vec<Wait> {
        let mut waits: Vec<Wait> = (0..self.rows.len())
            .map(|row| {
                let (resource, signal) = (self.number(row, 2), self.number(row, 3));
                let below = 0.3 * (self.number(row, 1) - resource - signal);
                wait(
                    &self.rows[row][0],
                    self.number(row, 4) as u64,
                    resource + below,
                    signal + below,
                )
            })
            .collect();
        let (low, high) = self.total();
        let rest = f64::midpoint(low, high) - waits.iter().map(Wait::wait_s).sum::<f64>();
        let smallest = waits.last().unwrap().wait_s();
        let pieces = (rest / smallest).ceil() + 1.0;
        for i in 0..pieces as u32 {
            waits.push(wait(&format!("UNPRINTED_{i}"), 1, rest / pieces, 0.0));
        }
        waits
    }
}

fn wait(wait_type: &str, count: u64, resource_s: f64, signal_s: f64) -> Wait {
    let class = sqlserver::class(wait_type);
    let wait_type = wait_type.to_owned();
    Wait { wait_type, class, count: Some(count), resource_s, signal_s, source: WaitSource::Counted }
}

fn published() -> Vec<Published> {
    let text = include_str!("data/published_waits.txt");
    let mut tables: Vec<Published> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix("== ") {
            tables.push(Published { name: name.to_owned(), rows: Vec::new() });
        } else {
            let row = line.split_whitespace().map(str::to_owned).collect();
            tables.last_mut().unwrap().rows.push(row);
        }
    }
    assert_eq!(tables.iter().map(|table| table.rows.len()).sum::<usize>(), 16);
    tables
}

#[test]
fn every_cell_is_printed_as_published() {
    assert_eq!(HEADINGS.len(), 9);
    for table in published() {
        let waits = table.waits();
        let computed = WaitTable::new(&[waits.as_slice()], WaitOptions::default());
        assert_eq!(
            computed.top().len(),
            table.rows.len(),
            "{}: the rows that make up 95 %",
            table.name
        );
        for (row, expected) in computed.top().iter().zip(&table.rows) {
            assert_eq!(row.cells()[..expected.len()], expected[..], "{}", table.name);
        }
    }
}

/// The table is unchanged when half of each wait's trials have 0.5 and half 1.5 times the figure:
/// the mean is the figure, and averages per wait are weighted by the number of waits.
#[test]
fn the_mean_of_trials_is_printed_the_same() {
    for table in published() {
        let scaled = |factor: f64| -> Vec<Wait> {
            table
                .waits()
                .into_iter()
                .map(|w| Wait {
                    count: w.count.map(|count| {
                        if factor < 1.0 { count / 2 } else { count + count.div_ceil(2) }
                    }),
                    resource_s: factor * w.resource_s,
                    signal_s: factor * w.signal_s,
                    ..w
                })
                .collect()
        };
        let (half, more) = (scaled(0.5), scaled(1.5));
        let computed = WaitTable::new(&[half.as_slice(), more.as_slice()], WaitOptions::default());
        assert_eq!(computed.trials, 2);
        for (row, expected) in computed.top().iter().zip(&table.rows) {
            assert_eq!(row.cells()[..expected.len()], expected[..], "{}", table.name);
        }
    }
}

/// `Wait_S = Resource_S + Signal_S`, except where the publication itself is off by its last digit.
#[test]
fn published_sums_hold_up_to_known_rounding() {
    let mut off = Vec::new();
    for table in published() {
        for row in 0..table.rows.len() {
            let hundredths = |column| (100.0 * table.number(row, column)).round() as i64;
            let residual = hundredths(1) - hundredths(2) - hundredths(3);
            if residual != 0 {
                off.push((table.name.clone(), table.rows[row][0].clone(), residual));
            }
        }
    }
    let known = [
        ("S1d, format example", "PAGELATCH_SH", -1),
        ("S1c, spinning disks, two files", "WRITELOG", -1),
        ("S1c, data and log on SSD RAID-0", "WRITELOG", 1),
        ("S1c, data and log on SSD RAID-0", "PAGEIOLATCH_EX", -1),
    ];
    assert_eq!(
        off,
        known.map(|(table, wait, residual)| (table.to_owned(), wait.to_owned(), residual))
    );
}

/// All percentages of a table follow from one total.
#[test]
fn published_percentages_share_a_total() {
    for table in published() {
        let (low, high) = table.total();
        assert!(low < high, "{}: no total fits", table.name);
        let printed: f64 = (0..table.rows.len()).map(|row| table.number(row, 1)).sum();
        assert!(printed < high, "{}: more than 100 %", table.name);
    }
}
