//! Published results beside each other.

use size::published::{self, ReadError, compare, read};

fn columns(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(ours, theirs)| ((*ours).to_owned(), (*theirs).to_owned())).collect()
}

#[track_caller]
fn close(ours: f64, theirs: f64) {
    assert!((ours / theirs - 1.0).abs() < 0.005, "{ours} is not {theirs}");
}

/// The example has the figures of the published studies, and these ratios are printed there: SSDs
/// against disks 1.93x.
#[test]
fn ratios_of_the_studies() {
    let groups = compare(&read(published::EXAMPLE, &[]).unwrap());
    let ratio = |benchmark: &str| {
        let group =
            groups.iter().find(|rows| rows[0].entry.benchmark.starts_with(benchmark)).unwrap();
        group.last().unwrap().ratio
    };
    close(ratio("sequential insert"), 1.93);
    close(ratio("random insert"), 3580.0 / 2993.0);
    close(ratio("backup, write-back"), 354.0 / 81.0);
    close(ratio("backup, write-through"), 631.0 / 129.0);
    // Of times, less is better and core seconds are what a core costs.
    let inserts = &groups[0];
    close(inserts[1].per_core.unwrap(), 909.0 * 8.0);
    assert!(inserts[1].price_per_score.is_none());
}

/// `QphH` is the geometric mean of power and throughput; a tenth of the time of one query of 22 is
/// 10^(1/22) = 1.110 of the power and 1.054 of `QphH`, whichever query, and anything between of the
/// time of all.
#[test]
fn one_query_has_little_weight_in_a_geometric_mean() {
    let times: Vec<f64> = (1..=22).map(|query| f64::from(query) * 0.5).collect();
    let header = (1..=22).map(|query| format!("q{query}")).collect::<Vec<_>>().join(",");
    let row = times.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
    let text = format!(
        "benchmark,system,power,throughput,cores,price,{header}\nTPC-H,a,\"40,000\",10000,8,\
         $20000,{row}\n"
    );
    let entries = read(&text, &[]).unwrap();
    close(entries[0].score, 20_000.0);
    let row = &compare(&entries)[0][0];
    close(row.power_to_throughput.unwrap(), 4.0);
    close(row.price_per_score.unwrap(), 1.0);
    let queries = row.queries.as_ref().unwrap();
    let product: f64 = times.iter().map(|time| time.ln()).sum();
    close(queries.geometric_mean_s, (product / 22.0).exp());
    close(queries.ten_times, 0.1103);
    close(queries.ten_times_score, 0.0537);
    // By changing the times themselves.
    let mut faster = times.clone();
    faster[6] /= 10.0;
    let mean = |times: &[f64]| (times.iter().map(|time| time.ln()).sum::<f64>() / 22.0).exp();
    close(mean(&times) / mean(&faster) - 1.0, queries.ten_times);
    let total: f64 = times.iter().sum();
    close(queries.each[6].ten_times_total, 1.0 - faster.iter().sum::<f64>() / total);
}

/// Each part of `QphH` has its own ratio, and their geometric mean is that of the scores.
#[test]
fn power_and_throughput_have_their_own_ratios() {
    let text = "benchmark,system,power,throughput,price,price_servers,price_storage\nTPC-H,a,40000,\
                10000,100000,60000,30000\nTPC-H,b,60000,40000,200000,60000,120000\n";
    let groups = compare(&read(text, &[]).unwrap());
    let second = &groups[0][1];
    close(second.power_ratio.unwrap(), 1.5);
    close(second.throughput_ratio.unwrap(), 4.0);
    close((1.5_f64 * 4.0).sqrt(), second.ratio);
    // What no column names is the rest: the parts add up.
    for row in &groups[0] {
        let price: f64 = row.price_parts.iter().map(|part| part.price).sum();
        let share: f64 = row.price_parts.iter().map(|part| part.share).sum();
        close(price, row.entry.price.unwrap());
        close(share, 1.0);
    }
    let part = |name: &str| second.price_parts.iter().find(|part| part.name == name).unwrap();
    assert_eq!((part("storage").ratio, part("servers").ratio), (Some(4.0), Some(1.0)));
    close(part("other").price, 20_000.0);
    close(part("storage").share, 0.6);
    close(part("storage").per_score.unwrap(), 120_000.0 / second.entry.score);
}

/// Without a price it is the sum of its parts; parts of more than the price are an error.
#[test]
fn parts_of_a_price_are_not_more_than_it() {
    let groups = compare(&read("system,score,price_disks,price_host\na,10,5,0\n", &[]).unwrap());
    assert_eq!((groups[0][0].entry.price, groups[0][0].price_parts.len()), (Some(5.0), 1));
    let error = read("system,score,price,price_disks\na,10,5,6\n", &[]).unwrap_err().to_string();
    assert_eq!(error, "line 2: the parts of the price add up to 6, more than the price 5");
    let columns = columns(&[("price_disks", "Storage")]);
    let mapped = compare(&read("system,score,Storage\na,10,7\n", &columns).unwrap());
    assert_eq!(mapped[0][0].price_parts[0].name, "disks");
}

/// Columns of other names, and those of our own export: repeats of one system are their mean.
#[test]
fn files_of_others() {
    let text = "System,tpmC,Total Cost,Cores\nA,\"1,000,000\",$500000,64\nB,500000,$200000,16\n";
    let mapping = columns(&[("score", "tpmC"), ("price", "Total Cost")]);
    let groups = compare(&read(text, &mapping).unwrap());
    let second = &groups[0][1];
    close(second.ratio, 0.5);
    close(second.ratio_per_core.unwrap(), 2.0);
    close(second.ratio_per_price.unwrap(), 1.25);
    let export = "configuration,block,throughput \
                  (rows/s)\nfiles=1,1,100\nfiles=1,2,110\nfiles=4,1,300\nfiles=4,2,330\n";
    let columns = columns(&[("system", "configuration"), ("score", "throughput (rows/s)")]);
    let rows = &compare(&read(export, &columns).unwrap())[0];
    assert_eq!((rows.len(), rows[0].entry.results), (2, 2));
    close(rows[0].entry.score, 105.0);
    close(rows[1].ratio, 3.0);
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let error = |text: &str, mapping: &[(&str, &str)]| {
        read(text, &columns(mapping)).unwrap_err().to_string()
    };
    let unit = error("system,score,memory_gb\na,100,64 GB\n", &[]);
    assert_eq!(
        unit,
        "line 2, memory_gb: \"64 GB\" is not a number; a column has plain numbers in one unit"
    );
    assert!(error("system,score\na,-5\n", &[]).contains("line 2, score: \"-5\" is not above 0"));
    assert!(error("name,score\na,5\n", &[]).contains("no column \"system\""));
    assert!(
        error("system,score\na,5\n", &[("score", "tpmC")]).contains("the file has: system, score")
    );
    assert!(error("system,score\na,5\n", &[("scoer", "score")]).contains("unknown column"));
    assert!(error("system,score,better\na,5,less\n", &[]).contains("not higher or lower"));
    assert!(error("system,power\na,5\n", &[]).contains("missing"));
    assert!(error("system,score\na,1,000\n", &[]).contains("line: 2"));
    assert!(error("system,score\na,\"1,00\"\n", &[]).contains("not a number"));
    // Inconsistent units: QphH is not the geometric mean with a power in thousands.
    let score = error("system,score,power,throughput\na,20000,40,10000\n", &[]);
    assert!(score.contains("not the geometric mean of power and throughput, 632.5"), "{score}");
    assert!(matches!(read("system,score\n", &[]), Err(ReadError::Empty)));
}
