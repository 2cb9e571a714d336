//! Devices of known truth: how often do the knee, the maximum and N* lie in their intervals?

use analysis::Interval;
use disk::analysis::{Knee, knee};
use testing::recordings::disk::{DISK, disk_observed, with_settings};
use testing::recordings::{Random, done, recording};

const EXPERIMENTS: usize = 300;
const DEPTHS: [&str; 7] = ["2", "8", "16", "32", "64", "128", "512"];

/// IOPS by I/Os in flight: the asymptotes of a closed network of one server, with a corner that is
/// sharp or round.
struct Device {
    maximum: f64,
    /// N*.
    corner: f64,
    /// The sharpness of the corner: 1 is a hyperbola.
    sharpness: f64,
    /// Spread of the trials of each level, and of the machine from block to block.
    noise: Vec<f64>,
    machine: f64,
}

impl Device {
    /// A corner within the levels; noise of 1 to 20 %, the same everywhere or not.
    fn of_chance(random: &mut Random) -> Self {
        let spread = |random: &mut Random| 0.01 * 20_f64.powf(random.uniform());
        let (common, is_saturating) = (spread(random), random.below(2) == 0);
        Self {
            maximum: 100_000.0,
            corner: 4.0 * 20_f64.powf(random.uniform()),
            sharpness: 2.0 + 6.0 * random.uniform(),
            noise: DEPTHS.map(|_| if is_saturating { spread(random) } else { common }).to_vec(),
            machine: 0.1 * random.uniform(),
        }
    }

    fn iops(&self, depth: f64) -> f64 {
        let share = depth / self.corner;
        self.maximum * share / (1.0 + share.powf(self.sharpness)).powf(1.0 / self.sharpness)
    }

    /// The analyses of a run of `blocks` blocks and of one without noise.
    fn measured(&self, random: &mut Random, blocks: u32) -> (Knee, Knee) {
        let measure = |random: &mut Random, is_noisy: f64| {
            let mut run = recording(&[("workload.queue_depth", &DEPTHS)]);
            with_settings(&mut run, &DISK);
            for block in 1..=blocks {
                let machine = self.machine * random.normal();
                for (at, depth) in DEPTHS.iter().enumerate() {
                    let depth: f64 = depth.parse().unwrap();
                    let noise = machine + self.noise[at] * random.normal();
                    let iops = self.iops(depth) * (is_noisy * noise).exp();
                    run.trials.push(done(at, block, disk_observed(iops, depth, 8192.0, true)));
                }
            }
            knee(&run).remove(0)
        };
        (measure(random, 1.0), measure(random, 0.0))
    }
}

/// Intervals that hold the truth, and all of them.
#[derive(Default)]
struct Coverage(usize, usize);

impl Coverage {
    fn count(&mut self, holds: bool) {
        *self = Self(self.0 + usize::from(holds), self.1 + 1);
    }

    fn interval(&mut self, interval: Option<Interval>, truth: f64) {
        self.count(interval.unwrap().contains(truth));
    }

    fn share(&self) -> f64 {
        self.0 as f64 / self.1 as f64
    }
}

#[test]
fn the_knee_lies_where_it_is_said_to() {
    for blocks in [3, 5, 10] {
        let mut random = Random::new(51);
        let [mut knees, mut maxima, mut corners] = [(); 3].map(|()| Coverage::default());
        let (mut ended, mut wrong, mut points) = (0, 0, 0);
        for _ in 0..EXPERIMENTS {
            let device = Device::of_chance(&mut random);
            let (recording, truth) = device.measured(&mut random, blocks);
            let between = recording.between.unwrap();
            // Where IOPS still rise at the most in flight, no knee may be claimed.
            let at = truth.knee.unwrap_or(truth.maximum);
            knees.count(between.from <= at && between.to.is_none_or(|to| at <= to));
            // Of the geometric mean over blocks, which the noise does not shift.
            maxima.interval(recording.maximum_interval, truth.points[truth.maximum].iops.mean);
            corners.interval(recording.asymptotic_interval, truth.asymptotic.unwrap());
            ended += usize::from(between.to.is_some());
            points += usize::from(recording.knee.is_some());
            wrong += usize::from(recording.knee.is_some() && recording.knee != truth.knee);
        }
        let [knees, maxima, corners] = [knees, maxima, corners].map(|shares| shares.share());
        println!(
            "{blocks} blocks: knee {knees:.3}, maximum {maxima:.3}, N* {corners:.3}; an upper end \
             {ended}"
        );
        println!("by the means alone: {wrong} of {points} knees are wrong");
        assert!(knees >= 0.95, "{blocks} blocks: {knees}");
        // The choice of the highest level costs some width where one level stands out.
        assert!(
            (0.93..=0.99).contains(&maxima) && (0.93..=1.0).contains(&corners),
            "{maxima} {corners}"
        );
        // Not merely silent: with a spread of 1 % a few blocks suffice.
        assert!(ended >= EXPERIMENTS / 20, "{ended}");
    }
}
