//! Coverage and width of predictions one octave beyond the levels, over laws of known truth with
//! parameters drawn at random.

use predict::models::curve::{Level, Model};
use predict::models::hold_out::{FACTOR_MAX, FittedModel};
use predict::models::network::{Service, Station, throughputs};
use predict::models::usl::Usl;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

const EXPERIMENTS: usize = 12;
const NOISES: [f64; 3] = [0.01, 0.03, 0.1];

struct Random(Xoshiro256PlusPlus);

impl Random {
    fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Between two figures, evenly on a logarithmic scale.
    fn between(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.uniform())
    }
}

/// The law that a target follows.
#[derive(Debug, Clone, Copy)]
enum Law {
    Amdahl,
    Universal,
    /// CPUs, two serial stations, another with several servers, a delay; the CPU time is recorded.
    Network,
    /// As before, without a record of the CPU time.
    UnknownNetwork,
    /// A log whose syncs are shared, and counted.
    GroupCommit,
    /// As before, not counted.
    UnknownGroupCommit,
}

const LAWS: [Law; 6] = [
    Law::Amdahl,
    Law::Universal,
    Law::Network,
    Law::UnknownNetwork,
    Law::GroupCommit,
    Law::UnknownGroupCommit,
];

/// A target: its throughput with 1, 2, .. at work, and what is recorded of it.
struct Target {
    throughputs: Vec<f64>,
    cpu_s: Option<f64>,
    counts_syncs: bool,
    processors: u32,
}

const CUSTOMERS: usize = 64;

impl Law {
    fn draw(self, random: &mut Random) -> Target {
        let processors = 2 << (random.uniform() * 3.99) as u32;
        let law = |contention, coherency| {
            let law = Usl { gamma: 500.0, contention, coherency };
            (1..=CUSTOMERS).map(|n| law.throughput(n as f64)).collect()
        };
        let of = |throughputs, cpu_s, counts_syncs| Target {
            throughputs,
            cpu_s,
            counts_syncs,
            processors,
        };
        match self {
            Self::Amdahl => of(law(random.between(0.003, 0.5), 0.0), None, false),
            Self::Universal => {
                let (contention, coherency) =
                    (random.between(0.003, 0.5), random.between(2e-5, 0.02));
                of(law(contention, coherency), None, false)
            }
            Self::Network | Self::UnknownNetwork => {
                let cpu_s = random.between(0.0005, 0.005);
                let mut stations = vec![(cpu_s, Service::Servers(processors))];
                for servers in [1, 1, 4] {
                    let demand_s = random.between(2e-5, 2e-3);
                    stations.push((demand_s, Service::Servers(servers)));
                }
                stations.push((random.between(0.0005, 0.02), Service::Delay));
                let known = matches!(self, Self::Network).then_some(cpu_s);
                of(solved(stations), known, false)
            }
            Self::GroupCommit | Self::UnknownGroupCommit => {
                let cpu_s = random.between(0.0002, 0.002);
                let stations = vec![
                    (cpu_s, Service::Servers(processors)),
                    (random.between(0.001, 0.01), Service::Shared),
                    (random.between(0.0002, 0.005), Service::Delay),
                ];
                let is_counted = matches!(self, Self::GroupCommit);
                of(solved(stations), is_counted.then_some(cpu_s), is_counted)
            }
        }
    }
}

fn solved(stations: Vec<(f64, Service)>) -> Vec<f64> {
    let stations: Vec<Station> =
        stations.into_iter().map(|(demand_s, service)| Station { demand_s, service }).collect();
    throughputs(&stations, CUSTOMERS).unwrap()
}

impl Target {
    fn measure(&self, random: &mut Random, n: usize, noise: f64) -> Level {
        let mut trial = || self.throughputs[n - 1] * (noise * random.normal()).exp();
        Level {
            n: n as f64,
            trials: (0..3).map(|_| trial()).collect(),
            cpu_s: self.cpu_s,
            batch: self.counts_syncs.then(|| (n as f64 / 2.0).max(1.0)),
        }
    }
}

/// Covered, useful and all predictions, and the factor between the ends of each interval.
#[derive(Default)]
struct Rates {
    covered: usize,
    useful: usize,
    factors: Vec<f64>,
    errors: Vec<f64>,
}

impl Rates {
    fn coverage(&self) -> f64 {
        self.covered as f64 / self.factors.len() as f64
    }

    fn median(values: &[f64]) -> f64 {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted[sorted.len() / 2]
    }

    fn print(&self, of: &str) {
        let [factor, error] =
            [&self.factors, &self.errors].map(|estimates| Self::median(estimates));
        println!("{of}: {:.3} {factor:.2} {error:.3}", self.coverage());
    }

    fn add(&mut self, other: Self) {
        self.covered += other.covered;
        self.useful += other.useful;
        self.factors.extend(other.factors);
        self.errors.extend(other.errors);
    }
}

/// Predicts `octaves` beyond the highest of `levels` levels: 1, 2, 4, ..
fn simulate(random: &mut Random, law: Law, noise: f64, levels: u32, octaves: u32) -> Rates {
    let mut rates = Rates::default();
    for _ in 0..EXPERIMENTS {
        let target = law.draw(random);
        let recorded: Vec<Level> =
            (0..levels).map(|at| target.measure(random, 1 << at, noise)).collect();
        let cpus = Some(target.processors);
        let fitted = FittedModel::fit(Model::Average, &recorded, cpus).unwrap();
        let n = 1_usize << (levels - 1 + octaves);
        let prediction = fitted.predict(n as f64).unwrap();
        // What the interval is for: the mean of as many trials as the levels have.
        let truth = target.measure(random, n, noise).mean();
        rates.covered += usize::from(prediction.interval.contains(truth));
        rates.useful += usize::from(prediction.is_useful());
        rates.factors.push(prediction.factor());
        rates.errors.push((prediction.predicted / truth).ln().abs());
    }
    rates
}

#[test]
fn one_octave_beyond_the_levels() {
    let mut random = Random(Xoshiro256PlusPlus::seed_from_u64(81));
    println!("coverage, median factor of the interval, median error; {EXPERIMENTS} targets each");
    let mut all = Rates::default();
    for law in LAWS {
        let mut rates = Rates::default();
        for noise in NOISES {
            for levels in [4, 5] {
                rates.add(simulate(&mut random, law, noise, levels, 1));
            }
        }
        rates.print(&format!("{law:?}"));
        all.add(rates);
    }
    all.print("all");
    let (coverage, factor) = (all.coverage(), Rates::median(&all.factors));
    assert!(coverage >= 0.9, "{coverage}");
    assert!(factor <= 2.0, "{factor}");
    assert!(all.useful == all.factors.len(), "{} of {}", all.useful, all.factors.len());
}

/// Farther away intervals still cover, and become useless before they mislead.
#[test]
fn two_and_three_octaves_beyond_the_levels() {
    let mut random = Random(Xoshiro256PlusPlus::seed_from_u64(82));
    for octaves in [2, 3] {
        let mut all = Rates::default();
        for law in LAWS {
            for noise in NOISES {
                all.add(simulate(&mut random, law, noise, 4, octaves));
            }
        }
        let (coverage, factor) = (all.coverage(), Rates::median(&all.factors));
        let useful = all.useful as f64 / all.factors.len() as f64;
        println!(
            "{octaves} octaves: {coverage:.3} {factor:.2}, below a factor of {FACTOR_MAX}: \
             {useful:.2}"
        );
        assert!(coverage >= 0.9, "{coverage}");
    }
}
