//! Data with known answers from books and papers, in the folder `shared/data` beside the project.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test that cannot continue has failed"
)]

use designs::mathematics::{
    Alpha, Chain, Coding, Contrasts, Design, Fit, Fraction, Kind, Lenth, Model, Stationary,
    Surface, box_behnken, central_composite, models, plackett_burman,
};
use statistics::t_quantile;
use std::collections::BTreeMap;
use std::path::Path;

/// A file: columns by name.
type Columns = BTreeMap<String, Vec<f64>>;

fn read(name: &str) -> Option<Columns> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = here.ancestors().map(|folder| folder.join("shared/data/designs"));
    let file = folders.find_map(|folder| csv::Reader::from_path(folder.join(name)).ok());
    let Some(mut file) = file else {
        println!("SKIPPED, cannot be here: the folder shared/data beside the project");
        return None;
    };
    let names: Vec<String> = file.headers().unwrap().iter().map(str::to_owned).collect();
    let mut columns = Columns::new();
    for row in file.records() {
        for (name, field) in names.iter().zip(&row.unwrap()) {
            columns.entry(name.clone()).or_default().push(field.parse().unwrap());
        }
    }
    Some(columns)
}

fn design(columns: &Columns, names: &[&str]) -> Design {
    let runs = columns[names[0]].len();
    Design::new((0..runs).map(|i| names.iter().map(|n| columns[*n][i] as i8).collect()).collect())
}

#[track_caller]
fn close(found: f64, expected: f64, within: f64) {
    assert!((found - expected).abs() <= within, "{found} is not {expected}");
}

/// Effects by the names of their terms.
struct Effects {
    by_chain: Vec<(Vec<String>, f64)>,
    lenth: Lenth,
}

/// The margins of one effect and of all that books have: by t with a third of the number of effects
/// as degrees of freedom.
struct Margins {
    single: f64,
    simultaneous: f64,
}

impl Effects {
    fn new(design: &Design, names: &[&str], values: &[f64]) -> Self {
        let label = |chain: &Chain| -> Vec<String> {
            let name = |factors: &Vec<usize>| factors.iter().map(|i| names[*i]).collect();
            chain.terms.iter().map(|term| name(&term.factors)).collect()
        };
        let chains = Contrasts::new(design).chains;
        let by_chain: Vec<_> =
            chains.iter().map(|chain| (label(chain), chain.effect(values))).collect();
        let effects: Vec<f64> = by_chain.iter().map(|(_, effect)| *effect).collect();
        Self { lenth: Lenth::new(&effects).unwrap(), by_chain }
    }

    fn margins(&self) -> Margins {
        let number = self.by_chain.len() as f64;
        let by_t = |tail: f64| t_quantile(tail, number / 3.0) * self.lenth.pse;
        // The product of the probabilities of all effects is 0.95.
        let tail = (1.0 - 0.95_f64.powf(1.0 / number)) / 2.0;
        Margins { single: by_t(0.025), simultaneous: by_t(tail) }
    }

    #[track_caller]
    fn has(&self, term: &str, expected: f64, within: f64) {
        let chain = self.by_chain.iter().find(|(names, _)| names.iter().any(|name| name == term));
        close(chain.unwrap_or_else(|| panic!("no effect {term}")).1, expected, within);
    }

    fn beyond(&self, limit: f64) -> Vec<String> {
        let large = self.by_chain.iter().filter(|(_, effect)| effect.abs() > limit);
        large.map(|(names, _)| names.join("=")).collect()
    }
}

#[track_caller]
fn limits(effects: &Effects, pse: f64, margin: f64, simultaneous: f64, within: f64) {
    close(effects.lenth.pse, pse, within);
    close(effects.margins().single, margin, within);
    close(effects.margins().simultaneous, simultaneous, within);
}

const FIVE: [&str; 5] = ["A", "B", "C", "D", "E"];

#[test]
fn reactor_full_and_half() {
    let Some(data) = read("reactor-32.csv") else { return };
    let full = design(&data, &FIVE);
    let effects = Effects::new(&full, &FIVE, &data["y"]);
    assert_eq!(effects.by_chain.len(), 31);
    for (term, value) in [("B", 19.5), ("BD", 13.25), ("DE", -11.0), ("D", 10.75), ("E", -6.25)] {
        effects.has(term, value, 1e-9);
    }
    close(effects.lenth.s0, 1.5, 1e-9);
    limits(&effects, 1.3125, 2.9117, 5.5361, 5e-5);
    assert_eq!(effects.beyond(5.5361), ["B", "D", "E", "BD", "DE"]);

    let half: Vec<usize> =
        (0..32).filter(|i| full.runs()[*i].iter().product::<i8>() == 1).collect();
    let runs = Design::new(half.iter().map(|i| full.runs()[*i].clone()).collect());
    let values: Vec<f64> = half.iter().map(|i| data["y"][*i]).collect();
    let effects = Effects::new(&runs, &FIVE, &values);
    assert_eq!(effects.by_chain.len(), 15);
    limits(&effects, 1.875, 4.8198, 9.7850, 5e-5);
    assert_eq!(effects.beyond(9.7850), ["B", "D", "BD"]);
    for (term, value) in [("B", 20.5), ("D", 12.25), ("BD", 10.75), ("DE", -9.5), ("E", -6.25)] {
        effects.has(term, value, 1e-9);
    }
    assert_eq!(effects.beyond(4.8198), ["B", "D", "E", "BD", "DE"]);
    // This half is the fraction with the least aberration.
    let mut fraction = Fraction::minimum_aberration(16, 5).unwrap().design().runs().to_vec();
    let mut runs = runs.runs().to_vec();
    fraction.sort();
    runs.sort();
    assert_eq!(fraction, runs);
}

#[test]
fn reactor_plackett_burman() {
    let Some(data) = read("reactor-pb12.csv") else { return };
    let runs = design(&data, &FIVE);
    let effects = Effects::new(&runs, &FIVE, &data["y"]);
    for (term, value) in [("B", 21.167), ("E", -10.5), ("D", 7.167), ("A", 5.833), ("C", -1.5)] {
        effects.has(term, value, 5e-4);
    }
    let found = models(&runs, &data["y"], 5, 1);
    let model = found.iter().find(|model| model.terms.len() == 5).unwrap();
    assert_eq!(model.terms, [vec![1], vec![3], vec![4], vec![1, 3], vec![3, 4]]);
    close(model.r_squared, 0.9872, 5e-5);
    for (half, effect) in model.coefficients[1..].iter().zip([18.0, 7.167, -5.75, 14.25, -9.5]) {
        close(2.0 * half, effect, 5e-4);
    }
}

#[test]
fn eddy_current() {
    let Some(data) = read("eddy-current-8.csv") else { return };
    let names = ["turns", "distance", "gauge"];
    let effects = Effects::new(&design(&data, &names), &names, &data["y"]);
    close(data["y"].iter().sum::<f64>() / 8.0, 2.65875, 1e-9);
    effects.has("turns", 3.1025, 1e-9);
    effects.has("distance", -0.8675, 1e-9);
    limits(&effects, 0.345, 1.2986, 3.1079, 5e-5);
    assert_eq!(effects.beyond(effects.margins().single), ["turns"]);
    assert!(effects.beyond(effects.margins().simultaneous).is_empty());
}

#[test]
fn sonoluminescence() {
    let Some(data) = read("sonoluminescence-16.csv") else { return };
    let names = ["X1", "X2", "X3", "X4", "X5", "X6", "X7"];
    let effects = Effects::new(&design(&data, &names), &names, &data["y"]);
    close(data["y"].iter().sum::<f64>() / 16.0, 110.606_25, 1e-9);
    for (term, value) in [
        ("X2", -78.6125),
        ("X7", -78.1125),
        ("X1X3", 70.0125),
        ("X1", 66.2125),
        ("X3", 63.8125),
        ("X1X7", -63.4625),
        ("X1X2", -59.5625),
    ] {
        effects.has(term, value, 1e-6);
    }
    limits(&effects, 11.2313, 28.8708, 58.612, 5e-4);
    let beyond = effects.beyond(58.612);
    assert_eq!(
        beyond,
        ["X1", "X2", "X3", "X7", "X1X2=X3X7=X5X6", "X1X3=X2X7=X4X6", "X1X7=X2X3=X4X5"]
    );
}

#[test]
fn drill_advance_and_isatin() {
    let Some(data) = read("drill-and-isatin-16.csv") else { return };
    let names: Vec<String> = (1..=15).map(|i| format!("X{i}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let runs = design(&data, &names);
    let effects = Effects::new(&runs, &names, &data["drill_advance"]);
    assert_eq!(effects.by_chain.len(), 15);
    limits(&effects, 0.0281, 0.0723, 0.1468, 5e-5);
    effects.has("X4", 0.4987, 6e-5);
    effects.has("X2", 0.2513, 6e-5);
    effects.has("X8", 0.1388, 6e-5);
    let first = |chain: &String| chain.split('=').next().unwrap_or_default().to_owned();
    let beyond = |limit: f64| effects.beyond(limit).iter().map(first).collect::<Vec<_>>();
    assert_eq!(beyond(0.1468), ["X2", "X4"]);
    assert_eq!(beyond(0.0723), ["X2", "X4", "X8"]);

    let effects = Effects::new(&runs, &names, &data["isatin"]);
    close(effects.lenth.pse, 0.1144, 5e-5);
    close(effects.margins().single, 0.2940, 5e-5);
    assert!(effects.beyond(effects.margins().single).is_empty());
    assert!(effects.beyond(effects.lenth.simulated().simultaneous).is_empty());
}

#[test]
fn cast_fatigue() {
    let Some(data) = read("cast-fatigue-pb12.csv") else { return };
    let names = ["A", "B", "C", "D", "E", "F", "G"];
    let runs = design(&data, &names);
    let columns = plackett_burman(12).unwrap();
    let columns: Vec<&[i8]> = columns.runs().iter().map(|run| &run[..7]).collect();
    assert_eq!(columns, runs.runs());
    let effects = Effects::new(&runs, &names, &data["y"]);
    for (term, value) in [
        ("A", 0.3258),
        ("B", 0.2938),
        ("C", -0.2458),
        ("D", -0.5162),
        ("E", 0.1498),
        ("F", 0.9152),
        ("G", 0.1832),
    ] {
        effects.has(term, value, 6e-5);
    }
    let pairs: Vec<Model> = models(&runs, &data["y"], 2, 2)
        .into_iter()
        .filter(|model| model.terms.len() == 2)
        .collect();
    assert_eq!(pairs[0].terms, [vec![5], vec![5, 6]]);
    for (found, expected) in pairs[0].coefficients.iter().zip([5.7303, 0.4576, -0.4588]) {
        close(*found, expected, 6e-5);
    }
    close(pairs[0].r_squared, 0.8925, 5e-5);
    // Next comes a pair of interactions without their factors, which heredity excludes.
    let columns: Vec<Vec<f64>> = (0..7)
        .flat_map(|i| (i..7).map(move |j| (i, j)))
        .map(|(i, j)| {
            let of = |run: &Vec<i8>| f64::from(run[i]) * if i == j { 1.0 } else { run[j].into() };
            runs.runs().iter().map(of).collect()
        })
        .collect();
    let pairs = (0..columns.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
    let mut shares: Vec<f64> = pairs
        .filter_map(|(i, j)| {
            let all = [vec![1.0; 12], columns[i].clone(), columns[j].clone()];
            Fit::new(&all, &data["y"]).ok()
        })
        .map(|fit| fit.r_squared())
        .collect();
    shares.sort_by(f64::total_cmp);
    close(shares[shares.len() - 1], 0.8925, 5e-5);
    close(shares[shares.len() - 2], 0.6638, 5e-5);
}

/// Runs of a file in coded levels, with blocks from 0.
struct Runs {
    points: Vec<Vec<f64>>,
    blocks: Vec<usize>,
    values: Vec<f64>,
}

fn coding(low: f64, high: f64) -> Coding {
    Coding { low, high, is_log: false, is_whole: false }
}

fn chem_react(data: &Columns) -> Runs {
    let time = coding(80.0, 90.0);
    let temp = coding(170.0, 180.0);
    let mut runs = Runs { points: Vec::new(), blocks: Vec::new(), values: Vec::new() };
    for (i, value) in data["yield"].iter().enumerate() {
        runs.points.push(vec![time.code(data["time"][i]), temp.code(data["temp"][i])]);
        runs.blocks.push(data["block"][i] as usize - 1);
        runs.values.push(*value);
    }
    runs
}

#[test]
fn chem_react_is_a_maximum() {
    let Some(data) = read("chem-react-ccd.csv") else { return };
    let Runs { points, blocks, values } = chem_react(&data);
    let surface = Surface::fit(&points, &blocks, &values).unwrap();
    let expected = [84.095_427, -4.457_530, 0.932_541, 0.577_712, 0.125, -1.308_555, -0.933_442];
    for (found, expected) in surface.fit.coefficients.iter().zip(expected) {
        close(*found, expected, 1e-6);
    }
    close(surface.fit.r_squared(), 0.9981, 5e-5);
    let lack = surface.lack_of_fit.unwrap();
    close(lack.f, 0.5307, 5e-5);
    close(lack.p_value, 0.6851, 5e-5);
    let stationary = Stationary::find(&surface).unwrap();
    close(stationary.point[0], 0.372_295_4, 1e-7);
    close(stationary.point[1], 0.334_380_2, 1e-7);
    close(stationary.curvatures[0].value, -0.923_302_7, 1e-7);
    close(stationary.curvatures[1].value, -1.318_694_9, 1e-7);
    assert_eq!(stationary.kind, Kind::Maximum);
    let time = coding(80.0, 90.0);
    close(time.level(stationary.point[0]), 86.861_48, 1e-5);
    // The confidence region holds its centre and excludes the centre of the design.
    assert_eq!(surface.may_be_stationary(&stationary.point), Some(true));
    assert_eq!(surface.may_be_stationary(&[0.0, 0.0]), Some(false));
}

#[test]
fn co_is_a_ridge() {
    let Some(data) = read("co-ridge-18.csv") else { return };
    let points: Vec<Vec<f64>> =
        data["x1"].iter().zip(&data["x2"]).map(|(data, other)| vec![*data, *other]).collect();
    let surface = Surface::fit(&points, &[0; 18], &data["y"]).unwrap();
    let stationary = Stationary::find(&surface).unwrap();
    close(stationary.curvatures[0].value, 0.1868, 5e-5);
    close(stationary.curvatures[1].value, -8.8868, 5e-5);
    close(stationary.point[0], -14.81, 5e-3);
    close(stationary.point[1], 15.44, 5e-3);
    assert_eq!(stationary.kind, Kind::Ridge);
}

#[test]
fn surface_designs() {
    let design = central_composite(2, Alpha::OrthogonalBlocks, 3, 3).unwrap();
    close(design.alpha, 2.0_f64.sqrt(), 1e-12);
    assert_eq!(design.runs.len(), 14);
    close(central_composite(3, Alpha::Rotatable, 0, 6).unwrap().alpha, 1.681_793, 1e-6);
    assert!((central_composite(4, Alpha::Faced, 2, 2).unwrap().alpha - 1.0).abs() < 1e-12);
    let five = central_composite(5, Alpha::Rotatable, 0, 6).unwrap();
    assert_eq!((five.runs.len(), five.alpha), (32, 2.0));
    // Orthogonal blocks: the shift of a block and each other coefficient are uncorrelated.
    for factors in 2..=5 {
        let design = central_composite(factors, Alpha::OrthogonalBlocks, 4, 2).unwrap();
        let values = vec![1.0; design.runs.len()];
        let surface = Surface::fit(&design.runs, &design.blocks, &values).unwrap();
        let block = &surface.fit.unscaled[1];
        for other in &block[surface.before..] {
            close(*other, 0.0, 1e-9);
        }
    }
    // Box and Behnken's numbers of runs without centre points.
    let runs = |factors| box_behnken(factors, 0).unwrap().runs;
    assert_eq!([3, 4, 5, 6, 7].map(|factors| runs(factors).len()), [12, 24, 40, 48, 56]);
    for factors in 3..=7 {
        let design = box_behnken(factors, 3).unwrap();
        let varied = |factor: usize| design.runs.iter().filter(|run| run[factor] != 0.0).count();
        assert!((1..factors).all(|factor| varied(factor) == varied(0)));
        let blocks = vec![0; design.runs.len()];
        let values = vec![1.0; design.runs.len()];
        assert!(Surface::fit(&design.runs, &blocks, &values).is_ok());
    }
    assert!(box_behnken(8, 3).is_none() && central_composite(1, Alpha::Faced, 1, 1).is_none());
}

#[test]
fn levels_are_rounded_before_they_are_coded() {
    let connections = Coding { is_log: true, is_whole: true, ..coding(4.0, 64.0) };
    close(connections.level(0.0), 16.0, 1e-12);
    close(connections.code(32.0), 0.5, 1e-12);
    // 4 * 4^1.25 = 22.6 is set to 23.
    close(connections.level(0.25), 23.0, 1e-12);
    close(connections.code(23.0), (23.0_f64 / 4.0).ln() / 16.0_f64.ln() * 2.0 - 1.0, 1e-12);
    assert!(!Coding { is_log: true, ..coding(0.0, 64.0) }.is_sound());
    assert!(!coding(2.0, 1.0).is_sound());
}

#[test]
fn collinear_columns_are_refused() {
    let ones = vec![1.0; 4];
    let x = vec![1.0, 2.0, 3.0, 4.0];
    let twice: Vec<f64> = x.iter().map(|value| 2.0 * value - 1.0).collect();
    assert!(Fit::new(&[ones.clone(), x.clone(), twice], &x).is_err());
    assert!(Fit::new(&[ones, x.clone()], &x[..1]).is_err());
}
