//! Queueing networks against mean value analysis written another way, simulators and textbooks.

use predict::models::curve::{Bottlenecks, Level, Model};
use predict::models::hold_out::FittedModel;
use predict::models::network::{Service, Station, arriving, throughputs};

#[track_caller]
fn close(ours: f64, theirs: f64, relative: f64) {
    assert!((ours / theirs - 1.0).abs() < relative, "{ours} is not {theirs}");
}

/// Seconds in M/M/c by Erlang's second formula, for c servers that are busy for this share.
pub fn shared_queue(servers: u32, service_s: f64, busy: f64) -> f64 {
    let (c, offered) = (f64::from(servers), busy * f64::from(servers));
    let term = |n: u32| (1..=n).fold(1.0, |product, k| product * offered / f64::from(k));
    let full = term(servers) / (1.0 - busy);
    let waits = full / ((0..servers).map(term).sum::<f64>() + full);
    service_s + waits * service_s / (c * (1.0 - busy))
}

fn servers(servers: u32, demand_s: f64) -> Station {
    Station { demand_s, service: Service::Servers(servers) }
}

fn delay(demand_s: f64) -> Station {
    Station { demand_s, service: Service::Delay }
}

/// Load-dependent mean value analysis by its recursion over marginal probabilities (M. Reiser and
/// S. S. Lavenberg, Journal of the ACM 27, 1980), which shares nothing with normalising constants.
fn mean_value_analysis(stations: &[Station], customers: usize) -> Vec<f64> {
    let mut probabilities: Vec<Vec<f64>> = stations.iter().map(|_| vec![1.0]).collect();
    let mut found = Vec::new();
    for n in 1..=customers {
        let residence: Vec<f64> = stations
            .iter()
            .zip(&probabilities)
            .map(|(station, p)| {
                (1..=n)
                    .map(|j| {
                        j as f64 * station.demand_s / station.service.rate(j as f64) * p[j - 1]
                    })
                    .sum()
            })
            .collect();
        let throughput = n as f64 / residence.iter().sum::<f64>();
        for (station, p) in stations.iter().zip(&mut probabilities) {
            let mut next = vec![0.0; n + 1];
            for j in 1..=n {
                next[j] = throughput * station.demand_s / station.service.rate(j as f64) * p[j - 1];
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
        servers(2, 0.004),
        delay(0.002),
        servers(7, 0.009),
        servers(1, 0.001),
        servers(40, 0.003),
        delay(0.02),
        Station { demand_s: 0.004, service: Service::Shared },
    ];
    let ours = throughputs(&stations, 30).unwrap();
    assert_eq!(ours.len(), 30);
    for (ours, theirs) in ours.iter().zip(mean_value_analysis(&stations, 30)) {
        close(*ours, theirs, 1e-9);
    }
}

/// Think time 15 s, demands of 5, 4 and 3 s, by hand with the arrival theorem (Lazowska and others,
/// chapter 6). N = 1: 12 s; N = 2: 5 (1 + 5/27) + 4 (1 + 4/27) + 3 (1 + 3/27) = 374/27 s.
#[test]
fn as_by_hand() {
    let stations = [servers(1, 5.0), servers(1, 4.0), servers(1, 3.0), delay(15.0)];
    let found = throughputs(&stations, 2).unwrap();
    close(found[0], 1.0 / 27.0, 1e-12);
    close(found[1], 2.0 / (15.0 + 374.0 / 27.0), 1e-12);
}

/// Processors, a serial section and thinking.
fn network(processors: u32, cpu_s: f64, serial_s: f64, think_s: f64) -> [Station; 3] {
    [servers(processors, cpu_s), servers(1, serial_s), delay(think_s)]
}

/// ciw 3.2.7 (`PyPI`): a ring of two processors, a serial section and thinking, exponential times,
/// 5,400 s after 600 s of warm-up, seeds 1 to 3; throughput and its standard error.
#[test]
fn as_the_simulator_ciw_finds() {
    let (first, second) = (network(2, 0.5, 0.3, 2.0), network(4, 1.0, 0.2, 1.0));
    for (stations, customers, simulated, error) in [
        (&first, 4, 1.356_79, 0.001_03),
        (&first, 8, 2.387_35, 0.002_14),
        (&first, 16, 3.190_74, 0.012_0),
        (&second, 6, 2.537_35, 0.002_47),
        (&second, 20, 3.948_95, 0.014_5),
    ] {
        let found = throughputs(stations, customers).unwrap()[customers - 1];
        // Three seeds: t of two degrees of freedom at 99 % is 9.9; and 0.5 % for what a few
        // standard errors of three are worth.
        let off = (found - simulated).abs();
        assert!(off < 9.9 * error + 0.005 * simulated, "{customers}: {found} {simulated}");
    }
}

/// A model in which the recursion loses its digits: many processors, nearly all busy. The
/// asymptotes hold all the same.
#[test]
fn many_processors_under_a_heavy_load() {
    let found = throughputs(&[servers(64, 0.064), delay(0.1)], 2000).unwrap();
    assert!(found.windows(2).all(|pair| pair[1] >= pair[0] * (1.0 - 1e-10)));
    close(found[0], 1.0 / 0.164, 1e-12);
    close(found[1999], 1000.0, 1e-9);
}

/// A server, of which one is taken at a time, is M/M/1: 5 ms at 80 % become 25 ms. Two are M/M/2.
/// A network that takes everybody is an open one, of which each station stands by itself (Jackson).
#[test]
fn arrivals_at_a_rate_as_by_formula() {
    let all_s = |rates: &[f64], rate| {
        arriving(rates, rate, 1.0).map(|station| station.line_s + station.inside_s).unwrap()
    };
    close(all_s(&[200.0], 160.0), 0.025, 1e-12);
    close(arriving(&[200.0], 160.0, 1.0).unwrap().inside_s, 0.005, 1e-12);
    close(all_s(&[100.0, 200.0], 150.0), shared_queue(2, 0.01, 0.75), 1e-12);
    for (stations, processors, rate) in
        [(network(2, 0.5, 0.3, 2.0), 2_u32, 2.2), (network(4, 1.0, 0.2, 1.0), 4, 3.0)]
    {
        let [cpu, serial, think] = [0, 1, 2].map(|at: usize| stations[at].demand_s);
        let busy = rate * cpu / f64::from(processors);
        let formula =
            shared_queue(processors, cpu, busy) + shared_queue(1, serial, rate * serial) + think;
        close(all_s(&throughputs(&stations, 2000).unwrap(), rate), formula, 1e-6);
    }
    // What cannot be kept up, and thousands in progress.
    assert_eq!(
        [arriving(&[200.0], 200.0, 1.0), arriving(&[200.0], 0.0, 1.0), arriving(&[], 1.0, 1.0)],
        [None; 3]
    );
    let many: Vec<f64> = (1..=4000).map(f64::from).collect();
    close(all_s(&many, 3000.0), 1.0, 1e-9);
}

/// Seconds in line, their standard error, and seconds inside by simpy 4. Transactions arrive
/// at random at a system that admits a limited number, the network above with exponential times;
/// 58,000 s after 2,000 s, four seeds. By ciw 3.2.7 without a limit: 3.570 s and 2.994 s, standard
/// errors 0.018 and 0.013.
///
/// Inside it is exact to what the simulation tells; the line is at most a tenth too long. Were
/// those who leave a full network taken to do so at random, it would be up to half too long.
#[test]
fn arrivals_at_a_rate_as_simulators_find() {
    let waits =
        [(2, 0.5, 0.3, 2.0), (4, 1.0, 0.2, 1.0)].map(|(processors, cpu_s, serial_s, delay_s)| {
            Bottlenecks { processors, cpu_s, service: Service::Servers(1), serial_s, delay_s }
        });
    for (network, inside, rate, line_s, error_s, inside_s) in [
        (&waits[0], 4, 1.2, 3.3965, 0.0249, 2.9267),
        (&waits[0], 8, 1.8, 0.392, 0.0098, 3.1606),
        (&waits[0], 8, 2.2, 2.6257, 0.061, 3.2871),
        (&waits[1], 16, 3.0, 0.0854, 0.0028, 2.9301),
    ] {
        let rates = network.throughputs(inside).unwrap();
        let found = arriving(&rates, rate, network.dispersion(inside)).unwrap();
        close(found.inside_s, inside_s, 0.01);
        let (low, high) = (line_s - 4.0 * error_s, 1.1 * (line_s + 4.0 * error_s));
        assert!((low..high).contains(&found.line_s), "{found:?} {line_s}");
        let at_random = arriving(&rates, rate, 1.0).unwrap().line_s;
        assert!(
            (found.line_s - line_s).abs() < (at_random - line_s).abs(),
            "{found:?} {at_random}"
        );
    }
    for (network, rate, simulated_s) in [(&waits[0], 2.2, 3.570), (&waits[1], 3.0, 2.994)] {
        let found =
            arriving(&network.throughputs(200).unwrap(), rate, network.dispersion(200)).unwrap();
        close(found.inside_s, simulated_s, 0.015);
    }
}

/// A customer served one at a time, who then thinks, leaves as a renewal process: its dispersion is
/// the squared coefficient of variation of the sum of two exponential times. A server that is never
/// idle, and customers who only think, release at random.
#[test]
fn how_evenly_a_full_system_lets_go() {
    use predict::models::network::dispersion;
    let (served_s, thinks_s) = (0.3_f64, 0.5_f64);
    let squared = (served_s.powi(2) + thinks_s.powi(2)) / (served_s + thinks_s).powi(2);
    close(dispersion(&[1.0 / served_s], thinks_s), squared, 1e-12);
    close(dispersion(&vec![1.0 / served_s; 4000], thinks_s), 1.0, 1e-6);
    let all: Vec<f64> = (1..=50).map(|n| f64::from(n) / served_s).collect();
    close(dispersion(&all, thinks_s), squared, 1e-9);
    close(dispersion(&[3.0, 3.0], 0.0), 1.0, 1e-12);
}

/// Customers, throughput and transactions per sync, simulated by simpy 4.1.2 (`PyPI`) with 18,000
/// transactions and three seeds.
///
/// Two CPUs with a think time of 10 s, and eight CPUs with 2 s. Each transaction takes 1 s of CPU
/// and a sync of the log of 4 s, which serves all transactions that wait when it begins. Times are
/// exponential, but the syncs of the last two tables are constant.
const GROUP_COMMIT: [[(f64, f64, f64); 7]; 4] = [
    [
        (1.0, 0.0664, 1.0),
        (2.0, 0.1239, 1.0),
        (4.0, 0.22886, 1.257),
        (8.0, 0.43411, 1.952),
        (16.0, 0.83818, 3.533),
        (32.0, 1.56618, 6.331),
        (64.0, 1.9763, 8.109),
    ],
    [
        (1.0, 0.14214, 1.0),
        (2.0, 0.21442, 1.0),
        (4.0, 0.38575, 1.652),
        (8.0, 0.74515, 3.047),
        (16.0, 1.44828, 5.918),
        (32.0, 2.92056, 11.656),
        (64.0, 5.27867, 20.756),
    ],
    [
        (1.0, 0.06656, 1.0),
        (2.0, 0.12813, 1.0),
        (4.0, 0.24366, 1.22),
        (8.0, 0.47047, 1.965),
        (16.0, 0.92891, 3.727),
        (32.0, 1.7244, 6.898),
        (64.0, 1.99418, 7.977),
    ],
    [
        (1.0, 0.14276, 1.0),
        (2.0, 0.23135, 1.0),
        (4.0, 0.43962, 1.787),
        (8.0, 0.87127, 3.49),
        (16.0, 1.74003, 6.96),
        (32.0, 3.47893, 13.916),
        (64.0, 6.77583, 27.103),
    ],
];

/// Fitted to 1 to 16 customers, it says what 32 and 64 do; a log with one commit at a time does
/// not.
#[test]
fn group_commit_as_simpy_finds() {
    for (processors, simulated) in [2, 8, 2, 8].into_iter().zip(GROUP_COMMIT) {
        let levels: Vec<Level> = simulated[..5]
            .iter()
            .map(|(n, throughput, batch)| Level {
                n: *n,
                trials: vec![*throughput],
                cpu_s: Some(1.0),
                batch: Some(*batch),
            })
            .collect();
        let off = |model| {
            let fitted = FittedModel::fit(model, &levels, Some(processors)).unwrap();
            simulated[5..]
                .iter()
                .map(move |(n, x, _)| (fitted.predict(*n).unwrap().predicted / x - 1.0).abs())
                .fold(0.0, f64::max)
        };
        let (shared, serial) = (off(Model::SharedSyncs), off(Model::Network));
        assert!(shared < 0.12 && serial > 0.35, "{processors}: {shared} {serial}");
    }
}

/// ciw 3.2.7 (`PyPI`): two processors and a serial part, each shared by all who are there, and
/// thinking, with exponential times of (0.5, 0.1, 2) and (2, 0.5, 1) s. Of 16 customers each draws
/// the one kind with 3/4 and the other with 1/4. Simulated are the seconds of each kind at the
/// processors and at the serial part, waiting included.
#[test]
fn what_is_drawn_waits_alike() {
    let demand = |at: usize| 0.75 * [0.5, 0.1, 2.0][at] + 0.25 * [2.0, 0.5, 1.0][at];
    let network = Bottlenecks {
        processors: 2,
        cpu_s: demand(0),
        service: Service::Servers(1),
        serial_s: demand(1),
        delay_s: demand(2),
    };
    let residences = network.residences_s(16).unwrap();
    close(residences.iter().sum::<f64>(), 16.0 / network.throughputs(16).unwrap()[15], 1e-6);
    for (at, row_times) in [[2.795_51, 11.306_62], [0.187_02, 0.933_94]].into_iter().enumerate() {
        for (kind, simulated) in row_times.into_iter().enumerate() {
            let times = [[0.5, 0.1], [2.0, 0.5]][kind][at] / demand(at);
            close(residences[at] * times, simulated, 0.04);
        }
    }
}

#[test]
fn what_makes_no_sense_has_no_solution() {
    for stations in
        [servers(1, -0.001), servers(1, 0.0), servers(0, 0.1), servers(1, f64::NAN), delay(0.0)]
    {
        assert_eq!(throughputs(std::slice::from_ref(&stations), 4), None, "{stations:?}");
    }
    assert_eq!([throughputs(&[delay(0.1)], 0), throughputs(&[delay(0.1)], 5000)], [None, None]);
    // Nothing but a delay, and no delay.
    close(throughputs(&[delay(0.1)], 4).unwrap()[3], 40.0, 1e-12);
    close(throughputs(&[servers(1, 0.1)], 4).unwrap()[3], 10.0, 1e-12);
}
