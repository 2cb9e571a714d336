//! The substitution parameters of the queries (2.4.1.3 to 2.4.22.3 of the specification): those of
//! its validation, or drawn for each stream.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::ops::RangeInclusive;
use tpchgen::distribution::Distributions;
use work::{Values, day};

/// Nations in the order of their keys, and the positions of their regions.
const NATIONS: [(&str, usize); 25] = [
    ("ALGERIA", 0),
    ("ARGENTINA", 1),
    ("BRAZIL", 1),
    ("CANADA", 1),
    ("EGYPT", 4),
    ("ETHIOPIA", 0),
    ("FRANCE", 3),
    ("GERMANY", 3),
    ("INDIA", 2),
    ("INDONESIA", 2),
    ("IRAN", 4),
    ("IRAQ", 4),
    ("JAPAN", 2),
    ("JORDAN", 4),
    ("KENYA", 0),
    ("MOROCCO", 0),
    ("MOZAMBIQUE", 0),
    ("PERU", 1),
    ("CHINA", 2),
    ("ROMANIA", 3),
    ("SAUDI ARABIA", 4),
    ("VIETNAM", 2),
    ("RUSSIA", 3),
    ("UNITED KINGDOM", 3),
    ("UNITED STATES", 1),
];
const REGIONS: [&str; 5] = ["AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"];
const SEGMENTS: [&str; 5] = ["AUTOMOBILE", "BUILDING", "FURNITURE", "MACHINERY", "HOUSEHOLD"];
const MODES: [&str; 7] = ["REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"];
/// The three syllables of types (4.2.2.13).
const SIZES: [&str; 6] = ["STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO"];
const FINISHES: [&str; 5] = ["ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED"];
const METALS: [&str; 5] = ["TIN", "NICKEL", "BRASS", "STEEL", "COPPER"];
/// The two syllables of containers.
const BOX_SIZES: [&str; 5] = ["SM", "LG", "MED", "JUMBO", "WRAP"];
const BOXES: [&str; 8] = ["CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM"];
/// Words of the comments that Q13 excludes.
const FIRST_WORDS: [&str; 4] = ["special", "pending", "unusual", "express"];
const SECOND_WORDS: [&str; 4] = ["packages", "requests", "accounts", "deposits"];

/// The source of parameters.
pub struct Source(Option<Xoshiro256PlusPlus>);

impl Source {
    /// The parameters of the validation.
    pub fn validation() -> Self {
        Self(None)
    }

    /// The parameters of a stream, from 0, as a seed determines them.
    pub fn drawn(seed: u64, stream: u32) -> Self {
        // Not the numbers that the orders of streams are drawn with.
        let mut random = Xoshiro256PlusPlus::seed_from_u64(!seed);
        (0..stream).for_each(|_| random.jump());
        Self(Some(random))
    }

    /// A number of a range, or the one of the validation.
    fn number(&mut self, range: RangeInclusive<i32>, validation: i32) -> i32 {
        self.0.as_mut().map_or(validation, |random| random.random_range(range))
    }

    /// An element of a list, or the one of the validation.
    fn pick<'a>(&mut self, list: &[&'a str], validation: &'a str) -> &'a str {
        self.0.as_mut().map_or(validation, |random| list[random.random_range(0..list.len())])
    }

    /// Different numbers of a range, as many as the validation has.
    fn different(&mut self, range: RangeInclusive<i32>, validation: &[i32]) -> Vec<i32> {
        let Some(random) = &mut self.0 else { return validation.to_vec() };
        let mut numbers = Vec::new();
        while numbers.len() < validation.len() {
            let number = random.random_range(range.clone());
            if !numbers.contains(&number) {
                numbers.push(number);
            }
        }
        numbers
    }

    fn nation(&mut self, validation: i32) -> &'static str {
        NATIONS[self.number(0..=24, validation) as usize].0
    }

    fn color(&mut self, validation: &'static str) -> &'static str {
        self.pick(Distributions::static_default().part_colors().get_values(), validation)
    }

    /// `Brand#MN`.
    fn brand(&mut self, validation: [i32; 2]) -> String {
        let [maker, number] = validation.map(|digit| self.number(1..=5, digit));
        format!("Brand#{maker}{number}")
    }

    /// The first day of a year from 1993 to 1997, and of the next.
    fn year(&mut self, validation: i32) -> [String; 2] {
        let year = self.number(1993..=1997, validation);
        [year, year + 1].map(|year| format!("{year}-01-01"))
    }

    /// The first day of a month, which is counted from January 1993, and the first day this many
    /// months later.
    fn months(&mut self, range: RangeInclusive<i32>, validation: i32, length: i32) -> [String; 2] {
        let month = self.number(range, validation);
        [month, month + length]
            .map(|month| format!("{}-{:02}-01", 1993 + month / 12, month % 12 + 1))
    }
}

/// The position of a month from January 1993.
const fn month(year: i32, month: i32) -> i32 {
    (year - 1993) * 12 + month - 1
}

/// The values of a query's parameters, as its SQL numbers them.
pub fn values(query: u32, source: &mut Source) -> Vec<String> {
    match query {
        1 => vec![days_before("1998-12-01", source.number(60..=120, 90))],
        2 => vec![
            source.number(1..=50, 15).to_string(),
            source.pick(&METALS, "BRASS").into(),
            source.pick(&REGIONS, "EUROPE").into(),
        ],
        3 => vec![
            source.pick(&SEGMENTS, "BUILDING").into(),
            format!("1995-03-{:02}", source.number(1..=31, 15)),
        ],
        4 => source.months(month(1993, 1)..=month(1997, 10), month(1993, 7), 3).into(),
        5 => {
            let region = source.pick(&REGIONS, "ASIA").to_owned();
            [vec![region], source.year(1994).into()].concat()
        }
        6 => {
            let (dates, percent) = (source.year(1994), source.number(2..=9, 6));
            let discounts = [percent - 1, percent + 1].map(|percent| format!("0.{percent:02}"));
            let quantity = vec![source.number(24..=25, 24).to_string()];
            [dates.into(), discounts.into(), quantity].concat()
        }
        7 => {
            let nations = source.different(0..=24, &[6, 7]);
            nations.iter().map(|nation| NATIONS[*nation as usize].0.into()).collect()
        }
        8 => {
            let (nation, region) = NATIONS[source.number(0..=24, 2) as usize];
            let (size, finish) =
                (source.pick(&SIZES, "ECONOMY"), source.pick(&FINISHES, "ANODIZED"));
            let metal = source.pick(&METALS, "STEEL");
            vec![nation.into(), REGIONS[region].into(), format!("{size} {finish} {metal}")]
        }
        9 => texts(&[source.color("green")]),
        10 => source.months(month(1993, 2)..=month(1995, 1), month(1993, 10), 3).into(),
        11 => texts(&[source.nation(7)]),
        _ => values_from_12(query, source),
    }
}

/// The values of the parameters of the queries from 12 on.
fn values_from_12(query: u32, source: &mut Source) -> Vec<String> {
    match query {
        12 => {
            let modes = source.different(0..=6, &[5, 3]);
            let modes: Vec<String> =
                modes.iter().map(|mode| MODES[*mode as usize].to_owned()).collect();
            [modes, source.year(1994).into()].concat()
        }
        13 => {
            texts(&[source.pick(&FIRST_WORDS, "special"), source.pick(&SECOND_WORDS, "requests")])
        }
        14 => source.months(month(1993, 1)..=month(1997, 12), month(1995, 9), 1).into(),
        15 => source.months(month(1993, 1)..=month(1997, 10), month(1996, 1), 3).into(),
        16 => {
            let brand = source.brand([4, 5]);
            let (size, finish) =
                (source.pick(&SIZES, "MEDIUM"), source.pick(&FINISHES, "POLISHED"));
            let sizes = source.different(1..=50, &[49, 14, 23, 45, 19, 3, 36, 9]);
            vec![brand, format!("{size} {finish}"), list(sizes.iter().map(i32::to_string))]
        }
        17 => {
            let brand = source.brand([2, 3]);
            let (size, kind) = (source.pick(&BOX_SIZES, "MED"), source.pick(&BOXES, "BOX"));
            vec![brand, format!("{size} {kind}")]
        }
        18 => vec![source.number(312..=315, 300).to_string()],
        19 => [(1..=10, 1, [1, 2]), (10..=20, 10, [2, 3]), (20..=30, 20, [3, 4])]
            .into_iter()
            .flat_map(|(quantities, least, brand)| {
                let least = source.number(quantities, least);
                [source.brand(brand), least.to_string(), (least + 10).to_string()]
            })
            .collect(),
        20 => {
            let color = source.color("forest").to_owned();
            let years = source.year(1994).into();
            [vec![color], years, vec![source.nation(3).to_owned()]].concat()
        }
        21 => texts(&[source.nation(20)]),
        22 => {
            let codes = source.different(10..=34, &[13, 31, 23, 29, 30, 18, 17]);
            vec![list(codes.iter().map(|code| format!("'{code}'")))]
        }
        _ => Vec::new(),
    }
}

fn texts(all: &[&str]) -> Vec<String> {
    all.iter().map(|text| (*text).to_owned()).collect()
}

fn list(values: impl Iterator<Item = String>) -> String {
    values.collect::<Vec<_>>().join(", ")
}

/// The day this many days before a date.
fn days_before(date: &str, days: i32) -> String {
    let (mut text, last) = (String::new(), day(date).unwrap_or_default());
    // Writing to memory cannot fail.
    let _ = Values::Dates(vec![last - days]).write(0, &mut text);
    text
}

#[cfg(test)]
mod tests {
    use super::{FINISHES, METALS, NATIONS, REGIONS, SIZES, Source, values};
    use crate::queries::QUERIES;
    use datasets::DataSet;
    use std::collections::BTreeSet;
    use work::Values;

    /// The columns of a table of TPC-H.
    fn column(table: &str, name: &str) -> Vec<String> {
        let set = DataSet::new(table, datasets::Size { scale: 0.1, ..Default::default() }).unwrap();
        let fill = set.fills().remove(0);
        let at = fill.columns.iter().position(|column| *column == name).unwrap();
        let of_batch = |rows: work::Rows| {
            let text = |row| {
                let mut text = String::new();
                Values::write(&rows.columns[at], row, &mut text).unwrap();
                text
            };
            (0..rows.count).map(text).collect::<Vec<_>>()
        };
        fill.batches.flat_map(of_batch).collect()
    }

    /// Every nation and region, with its key as it is in the tables, and all types of parts.
    #[test]
    fn lists_are_those_of_the_tables() {
        let nations = column("nation", "n_name").into_iter().zip(column("nation", "n_regionkey"));
        let known = NATIONS.map(|(name, region)| (name.to_owned(), region.to_string()));
        assert_eq!(nations.collect::<Vec<_>>(), known);
        assert_eq!(column("region", "r_name"), REGIONS);
        let types: BTreeSet<String> = column("part", "p_type").into_iter().collect();
        let made = SIZES.iter().flat_map(|size| {
            let with = move |finish: &&str| METALS.map(|metal| format!("{size} {finish} {metal}"));
            FINISHES.iter().flat_map(with)
        });
        assert_eq!(types, made.collect::<BTreeSet<_>>());
        for (query, table, name) in [
            (3, "customer", "c_mktsegment"),
            (17, "part", "p_container"),
            (12, "lineitem", "l_shipmode"),
        ] {
            let stored: BTreeSet<String> = column(table, name).into_iter().collect();
            let position = usize::from(query == 17);
            let drawn = (0..2_000).map(|stream| {
                let mut source = Source::drawn(1 + stream, 0);
                values(query, &mut source).swap_remove(position)
            });
            assert_eq!(drawn.collect::<BTreeSet<_>>(), stored, "Q{query}");
        }
    }

    #[test]
    fn drawn_parameters_are_those_of_a_seed_and_differ_between_streams() {
        let all = |mut source: Source| -> Vec<Vec<String>> {
            QUERIES.iter().map(|query| values(query.number, &mut source)).collect()
        };
        assert_eq!(all(Source::drawn(7, 3)), all(Source::drawn(7, 3)));
        assert_ne!(all(Source::drawn(7, 3)), all(Source::drawn(7, 4)));
        assert_ne!(all(Source::drawn(7, 3)), all(Source::drawn(8, 3)));
        let validation = all(Source::validation());
        let sizes = |all: &[Vec<String>]| all.iter().map(Vec::len).collect::<Vec<_>>();
        for stream in 0..200 {
            assert_eq!(sizes(&all(Source::drawn(1, stream))), sizes(&validation));
        }
    }

    /// The bounds of 2.4.1.3, 2.4.4.3, 2.4.6.3, 2.4.10.3 and 2.4.19.3 are reached, not exceeded.
    #[test]
    fn drawn_parameters_stay_within_their_bounds() {
        let ends = |query: u32, at: usize| {
            let drawn =
                (0..3_000).map(|seed| values(query, &mut Source::drawn(seed, 0)).remove(at));
            let all: BTreeSet<String> = drawn.collect();
            [all.first().unwrap().clone(), all.last().unwrap().clone()]
        };
        assert_eq!(ends(1, 0), ["1998-08-03", "1998-10-02"]);
        assert_eq!(ends(4, 0), ["1993-01-01", "1997-10-01"]);
        assert_eq!(ends(4, 1), ["1993-04-01", "1998-01-01"]);
        assert_eq!(
            (ends(6, 2), ends(6, 3)),
            (["0.01", "0.08"].map(Into::into), ["0.03", "0.10"].map(Into::into))
        );
        assert_eq!(ends(10, 0), ["1993-02-01", "1995-01-01"]);
        assert_eq!(ends(15, 1), ["1993-04-01", "1998-01-01"]);
        assert_eq!(ends(19, 4), ["10", "20"]);
        assert_eq!(ends(19, 7), ["20", "30"]);
        assert_eq!(ends(18, 0), ["312", "315"]);
    }
}
