//! Queueing networks against mean value analysis written another way, a simulator and textbooks.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

use models::network::{Class, NetworkError, Service, Station, closed, open, several_classes, throughputs};

#[track_caller]
fn close(ours: f64, theirs: f64, relative: f64) {
    assert!((ours / theirs - 1.0).abs() < relative, "{ours} is not {theirs}");
}

fn station(name: &str, demand_s: f64, service: Service) -> Station {
    Station::new(name, demand_s, service)
}

/// Load-dependent mean value analysis by its recursion over marginal probabilities (M. Reiser and S. S. Lavenberg, Journal
/// of the ACM 27, 1980), which shares nothing with normalising constants.
fn mean_value_analysis(stations: &[Station], customers: usize) -> Vec<f64> {
    let mut probabilities: Vec<Vec<f64>> = stations.iter().map(|_| vec![1.0]).collect();
    let mut found = Vec::new();
    for n in 1..=customers {
        let residence: Vec<f64> = stations
            .iter()
            .zip(&probabilities)
            .map(|(own, p)| (1..=n).map(|j| j as f64 * own.demand_s / own.rate(j) * p[j - 1]).sum())
            .collect();
        let throughput = n as f64 / residence.iter().sum::<f64>();
        for (own, p) in stations.iter().zip(&mut probabilities) {
            let mut next = vec![0.0; n + 1];
            for j in 1..=n {
                next[j] = throughput * own.demand_s / own.rate(j) * p[j - 1];
            }
            next[0] = 1.0 - next[1..].iter().sum::<f64>();
            *p = next;
        }
        found.push(throughput);
    }
    found
}

#[test]
fn as_load_dependent_mean_value_analysis() {
    let stations = [
        station("cpu", 0.004, Service::Servers(2)),
        station("disk", 0.003, Service::Rates(vec![1.0, 1.7, 2.1, 2.2])),
        station("log", 0.002, Service::Batch { share: 0.4 }),
        station("lock", 0.001, Service::Servers(1)),
        station("think", 0.02, Service::Delay),
    ];
    let ours = throughputs(&stations, 30).unwrap();
    for (ours, theirs) in ours.iter().zip(mean_value_analysis(&stations, 30)) {
        close(*ours, theirs, 1e-9);
    }
    // Little's Law holds over all of it: who is nowhere is lost.
    let solved = closed(&stations, 30).unwrap();
    close(solved.stations.iter().map(|own| own.customers).sum::<f64>(), 30.0, 1e-9);
    close(solved.throughput, ours[29], 1e-12);
}

/// Think time 15 s, demands of 5, 4 and 3 s, by hand with the arrival theorem (Lazowska and others, chapter 6).
/// N = 1: 12 s; N = 2: 5 (1 + 5/27) + 4 (1 + 4/27) + 3 (1 + 3/27) = 374/27 s.
#[test]
fn as_by_hand() {
    let stations = [
        station("cpu", 5.0, Service::Servers(1)),
        station("disk 1", 4.0, Service::Servers(1)),
        station("disk 2", 3.0, Service::Servers(1)),
        station("think", 15.0, Service::Delay),
    ];
    let found = throughputs(&stations, 2).unwrap();
    close(found[0], 1.0 / 27.0, 1e-12);
    close(found[1], 2.0 / (15.0 + 374.0 / 27.0), 1e-12);
}

/// ciw 3.2.7 (PyPI): a ring of two processors, a serial section and thinking, exponential times, 5,400 s after 600 s of
/// warm-up, seeds 1 to 3; throughput, its standard error, and customers at each node.
#[test]
fn as_the_simulator_ciw_finds() {
    let network = |servers, cpu, serial, think| {
        [
            station("cpu", cpu, Service::Servers(servers)),
            station("serial", serial, Service::Servers(1)),
            station("think", think, Service::Delay),
        ]
    };
    let first = || network(2, 0.5, 0.3, 2.0);
    let second = || network(4, 1.0, 0.2, 1.0);
    for (stations, customers, simulated, error, at) in [
        (first(), 4, 1.356_79, 0.001_03, [0.718, 0.56, 2.721]),
        (first(), 8, 2.387_35, 0.002_14, [1.553, 1.662, 4.786]),
        (first(), 16, 3.190_74, 0.012_0, [3.483, 6.119, 6.398]),
        (second(), 6, 2.537_35, 0.002_47, [2.622, 0.834, 2.544]),
        (second(), 20, 3.948_95, 0.014_5, [12.59, 3.482, 3.927]),
    ] {
        let solved = closed(&stations, customers).unwrap();
        // Three seeds: t of two degrees of freedom at 99 % is 9.9; and 0.5 % for what a few standard errors of three are worth.
        let off = (solved.throughput - simulated).abs();
        assert!(off < 9.9 * error + 0.005 * simulated, "{customers}: {} {simulated}", solved.throughput);
        for (own, simulated) in solved.stations.iter().zip(at) {
            assert!((own.customers - simulated).abs() < 0.06 * customers as f64, "{own:?} {simulated}");
        }
    }
}

/// Where the recursion loses its digits: many processors, nearly all busy. The asymptotes hold all the same.
#[test]
fn many_processors_under_a_heavy_load() {
    let stations = [station("cpu", 0.064, Service::Servers(64)), station("think", 0.1, Service::Delay)];
    let found = throughputs(&stations, 2000).unwrap();
    assert!(found.windows(2).all(|pair| pair[1] >= pair[0] * (1.0 - 1e-10)));
    close(found[0], 1.0 / 0.164, 1e-12);
    close(found[1999], 1000.0, 1e-9);
}

#[test]
fn arrivals_at_a_rate() {
    // M/M/1 at 80 %: 5 ms become 25 ms; a delay does not queue; Rates of one server are one server.
    let disk = station("disk", 0.005, Service::Servers(1));
    let same = station("rates", 0.005, Service::Rates(vec![1.0]));
    let solved = open(&[disk, same, station("net", 0.01, Service::Delay)], 160.0).unwrap();
    close(solved.response_s, 0.06, 1e-9);
    // M/M/2 by its rates is M/M/2.
    let two = |service| open(&[station("cpu", 0.01, service)], 150.0).unwrap().response_s;
    close(two(Service::Servers(2)), two(Service::Rates(vec![1.0, 2.0])), 1e-9);
    let error = open(&[station("log", 0.01, Service::Servers(1))], 120.0).unwrap_err();
    assert_eq!(error.to_string(), "log would be busy 120 % of the time: the rate cannot be kept up");
}

/// One class is the single-class network within the error of the approximation, two equal classes are one.
#[test]
fn several_kinds_of_transactions() {
    let stations = [
        station("cpu", 0.0, Service::Servers(1)),
        station("disk", 0.0, Service::Servers(1)),
        station("think", 0.0, Service::Delay),
    ];
    let demands_s = vec![0.005, 0.008, 0.1];
    let exact: Vec<Station> = stations
        .iter()
        .zip(&demands_s)
        .map(|(own, demand)| station(&own.name, *demand, own.service.clone()))
        .collect();
    let class = |customers| Class { customers, demands_s: demands_s.clone() };
    for customers in [1, 5, 20, 60] {
        let one = several_classes(&stations, &[class(f64::from(customers))]).unwrap()[0].0;
        close(one, closed(&exact, customers as usize).unwrap().throughput, 0.05);
        let halves = several_classes(
            &stations,
            &[class(f64::from(customers) / 2.0), class(f64::from(customers) / 2.0)],
        );
        let halves = halves.unwrap();
        close(halves[0].0, halves[1].0, 1e-9);
    }
    // Who thinks only is done once in a think time, whatever the others do.
    let idle = Class { customers: 10.0, demands_s: vec![0.0, 0.0, 2.0] };
    let found = several_classes(&stations, &[class(50.0), idle]).unwrap();
    close(found[1].0, 5.0, 1e-9);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let error = closed(&[station("log", -0.001, Service::Servers(1))], 4).unwrap_err();
    assert!(matches!(error, NetworkError::Demand { .. }), "{error}");
    assert_eq!(closed(&[station("cpu", 0.0, Service::Servers(1))], 4), Err(NetworkError::NoDemand));
    let none = closed(&[station("cpu", 0.1, Service::Servers(0))], 4).unwrap_err();
    assert_eq!(none.to_string(), "cpu has no server, or rates that are not above 0");
    assert!(matches!(
        closed(&[station("cpu", 0.1, Service::Servers(1))], 5000),
        Err(NetworkError::TooMany { .. })
    ));
}
