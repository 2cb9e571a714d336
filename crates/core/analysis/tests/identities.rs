//! Sums that must hold for any data.

use analysis::grid::{Grid, Matched, Unit};
use analysis::waits::{WaitOptions, WaitTable};
use analysis::{Accounting, Decomposition, MatchedCells, compare_over};
use engine::WaitType;
use observations::{Observations, Recording, TimeUse, Wait, WaitClass, Work};
use sqlserver::{self};
use testing::recordings::{Random, done, recording, wait};

/// A trial with any waits, of any class.
fn any(random: &mut Random) -> Observations {
    let elapsed_s = 10.0 * random.uniform();
    let connections = 1 + random.below(64) as u32;
    let session_s = elapsed_s * f64::from(connections);
    let waits = (0..random.below(20)).map(|_| {
        let class = WaitClass::ALL[random.below(10) as usize];
        let wait_type = format!("{}_{}", class.name(), random.below(3));
        wait(
            &wait_type,
            class,
            session_s * random.uniform().powi(4),
            session_s * random.uniform().powi(6),
        )
    });
    let mut waits: Vec<Wait> = waits.collect();
    waits.sort_by(|a, b| a.wait_type.cmp(&b.wait_type));
    waits.dedup_by(|a, b| a.wait_type == b.wait_type);
    Observations {
        elapsed_s,
        connections,
        work: Work {
            unit: "row".to_owned(),
            amount: 1 + random.below(1_000_000),
            ..Work::default()
        },
        time: TimeUse {
            session_s,
            cpu_s: session_s * random.uniform(),
            cpu_user_s: None,
            ..TimeUse::default()
        },
        waits,
        ..Observations::default()
    }
}

fn close(left: f64, right: f64, scale: f64) {
    assert!(
        (left - right).abs() <= 1e-12 * scale.abs().max(f64::MIN_POSITIVE),
        "{left} is not {right}"
    );
}

#[test]
fn accounting_adds_up() {
    let mut random = Random::new(11);
    for _ in 0..500 {
        let trials: Vec<Observations> = (0..=random.below(6)).map(|_| any(&mut random)).collect();
        let mean = Accounting::mean(&trials.iter().collect::<Vec<_>>()).unwrap();
        let n = trials.len() as f64;
        let largest = mean.accounted_s().max(mean.session_s);
        close(mean.accounted_s() + mean.unaccounted_s, mean.session_s, largest);
        // Every second of every wait is somewhere, but for idle ones.
        let in_waits: f64 = trials
            .iter()
            .flat_map(|t| &t.waits)
            .filter(|wait| wait.class != WaitClass::Idle)
            .map(Wait::wait_s)
            .sum();
        close(mean.accounted_s() - mean.cpu_s, in_waits / n, largest);
        let one_by_one: f64 = trials.iter().map(|t| Accounting::for_trial(t).unaccounted_s).sum();
        close(one_by_one / n, mean.unaccounted_s, largest);
    }
}

#[test]
fn decomposition_adds_up() {
    let mut random = Random::new(12);
    for _ in 0..200 {
        let mut run = recording(&[("target.data_files", &["1", "2"])]);
        let mut other = run.clone();
        for block in 1..=1 + random.below(6) as u32 {
            run.trials.push(done(0, block, any(&mut random)));
            run.trials.push(done(1, block, any(&mut random)));
            other.trials.push(done(1, block, any(&mut random)));
        }
        let grids = [&run, &other].map(|run| Grid::new(run).filter(Decomposition::usable));
        let [from, to] = [0, 1].map(|side| grids[side].repeats(side, Unit::Block));
        let sides = [(grids[0].matched(0, 1), &run), (Matched::unpaired(from, to), &other)];
        for (matched, run_of_second) in sides {
            let decomposition = Decomposition::from_trials(&matched).unwrap();
            let total = &decomposition.total;
            for parts in [&decomposition.by_class, &decomposition.by_type] {
                let size: f64 = parts.iter().map(|part| part.from_s.abs() + part.to_s.abs()).sum();
                close(parts.iter().map(|p| p.from_s).sum(), total.from_s, size);
                close(parts.iter().map(|p| p.to_s).sum(), total.to_s, size);
                close(parts.iter().map(|p| p.change_s).sum(), total.change_s, size);
                close(
                    parts.iter().map(|p| p.share.unwrap()).sum(),
                    1.0,
                    size / total.change_s.abs(),
                );
            }
            // The total is what was measured, not only the sum of parts.
            let per_unit = |run: &Recording, side: usize, of: fn(&Observations) -> f64| {
                let trials = run.done().filter(|(t, _)| t.configuration == side);
                let values: Vec<f64> = trials.map(|(_, o)| of(o) / o.work.amount as f64).collect();
                values.iter().sum::<f64>() / values.len() as f64
            };
            let sides = [(&run, total.from_s), (run_of_second, total.to_s)];
            for (side, (run, session_s)) in sides.into_iter().enumerate() {
                assert!((session_s / per_unit(run, side, |o| o.time.session_s) - 1.0).abs() < 1e-9);
            }
        }
    }
}

/// Throughput = sessions / session time of a unit of work: of each side, and so of their ratio.
#[test]
fn littles_law_holds_between_any_numbers_of_sessions() {
    let mut random = Random::new(14);
    for _ in 0..200 {
        let mut run = recording(&[("workload.connections", &["1", "2"])]);
        run.trials = vec![done(0, 1, any(&mut random)), done(1, 1, any(&mut random))];
        let decomposition =
            compare_over(&run, &MatchedCells::pair(0, 1)).unwrap().decomposition.unwrap();
        let throughput: Vec<f64> =
            run.done().map(|(_, o)| o.work.amount as f64 / o.elapsed_s).collect();
        let measured = throughput[1] / throughput[0];
        close(decomposition.throughput_ratio(), measured, measured);
    }
}

#[test]
fn wait_tables_hold_every_second_once() {
    let mut random = Random::new(13);
    for _ in 0..300 {
        let trials: Vec<Observations> = (0..=random.below(5)).map(|_| any(&mut random)).collect();
        let waits = || trials.iter().flat_map(|t| &t.waits);
        let seconds = |class: fn(WaitClass) -> bool| {
            waits().filter(|w| class(w.class)).map(Wait::wait_s).sum::<f64>() / trials.len() as f64
        };
        let table = WaitTable::of_trials(&trials.iter().collect::<Vec<_>>());
        let all = seconds(|_| true);
        close(table.total_s + table.client_s + table.filtered_s, all, all);
        close(table.filtered_s, seconds(|class| class == WaitClass::Idle), all);
        close(table.client_s, seconds(|class| class == WaitClass::Client), all);
        let with_client = WaitOptions { include_client: true, ..WaitOptions::default() };
        let waits: Vec<&[Wait]> = trials.iter().map(|trial| trial.waits.as_slice()).collect();
        let with_client = WaitTable::new(&waits, with_client);
        close(with_client.total_s, table.total_s + table.client_s, all);
        assert!(
            table
                .rows
                .iter()
                .all(|row| row.class != WaitClass::Client && row.class != WaitClass::Idle)
        );
        if table.total_s > 0.0 {
            close(table.rows.iter().map(|row| row.percentage).sum(), 100.0, 100.0);
            let shown: f64 = table.top().iter().map(|row| row.percentage).sum();
            let last = table.top().last().unwrap().percentage;
            assert!(shown >= 95.0 - 1e-9 && shown - last < 95.0);
        } else {
            assert!(table.top().is_empty());
        }
        assert!(table.rows.is_sorted_by(|a, b| a.wait_s >= b.wait_s));
    }
}

/// Background waits of a server are filtered, with a note; those of the load's sessions are kept.
#[test]
fn benign_waits_are_filtered_for_servers_only() {
    let waits: Vec<Wait> =
        [("WRITELOG", 10.0), ("XE_LIVE_TARGET_TVF", 500.0), ("LAZYWRITER_SLEEP", 900.0)]
            .into_iter()
            .map(|(name, seconds)| wait(name, sqlserver::class(name), seconds, 0.0))
            .collect();
    let is_benign = |name: &str| WaitType::is_benign(sqlserver::WAIT_TYPES, name, &[]);
    let options = WaitOptions { benign: Some(&is_benign), ..WaitOptions::default() };
    let server = WaitTable::new(&[waits.as_slice()], options);
    assert_eq!(server.rows.len(), 1);
    assert_eq!((server.filtered_s, server.filtered.len()), (1400.0, 2));
    let trials = WaitTable::of_trials(&[&Observations { waits, ..Observations::default() }]);
    // Only idle time is left out of the waits of the load's sessions.
    assert_eq!(
        trials.rows.iter().map(|row| row.wait_type.as_str()).collect::<Vec<_>>(),
        ["XE_LIVE_TARGET_TVF", "WRITELOG"]
    );
}
