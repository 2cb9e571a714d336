//! Sizing against the worked figures of a published study (S3c) and against figures worked out by
//! hand.

use command_line::Failure;
use size::{EXAMPLE, Plan, Resource, Sizes, Sizing, size};

/// A place without recordings.
fn nothing(_: &str) -> Result<Vec<(&'static str, f64)>, Failure> {
    Err(Failure::usage("no recordings"))
}

fn sizing_of(source: &str) -> Sizing {
    size(&Plan::read(source, &nothing).expect("a plan"))
}

fn alternative<'a>(sizing: &'a Sizing, name: &str) -> &'a Sizes {
    sizing
        .alternatives
        .iter()
        .find(|alternative| alternative.name == name)
        .expect("an alternative of this name")
}

/// A chain of one disk part under a demand.
fn disks(demand: &str, part: &str, link: &str) -> Sizes {
    let source = format!(
        "[demand]\n{demand}\n[target]\nutilisation = 1\nspace = \
         1\n[parts.disk]\n{part}\n[[alternative]]\nname = \"one\"\nchain = [{{ part = \"disk\", \
         {link} }}]\n"
    );
    sizing_of(&source).alternatives.remove(0)
}

fn close(ours: f64, published: f64) {
    assert!(
        (ours - published).abs() <= 1e-9 * published.abs().max(1.0),
        "{ours} instead of {published}"
    );
}

fn used(sized: &Sizes, link: usize, resource: Resource) -> (f64, f64) {
    let used = sized.links[link]
        .uses
        .iter()
        .find(|used| used.resource == resource)
        .expect("a resource in use");
    (used.demand, used.utilisation)
}

#[test]
fn transactions_in_flight_are_rate_times_response_time() {
    close(sizing_of(EXAMPLE).in_flight.expect("a rate and a time"), 3_000.0);
}

#[test]
fn half_writes_on_raid_10_are_15_000_disk_ios_and_360_disks_do_72_000() {
    let sized = disks("reads = 5000\nwrites = 5000", "iops = 200", "count = 360, raid = \"10\"");
    let (demand, utilisation) = used(&sized, 0, Resource::Io);
    close(demand, 15_000.0);
    close(demand / utilisation, 72_000.0);
    // 75 disks would do, so 38 pairs.
    let fewest = disks("reads = 5000\nwrites = 5000", "iops = 200", "raid = \"10\"");
    assert_eq!((fewest.links[0].count, fewest.links[0].is_computed), (76, true));
}

#[test]
fn ssds_are_as_many_as_the_larger_of_space_and_ios_asks_for() {
    let part =
        "read_iops = 35000\nwrite_iops = 3300\ncapacity = \"64 GB\"\nover_provisioning = 0.2";
    // 4.2 TB in pieces of 51.2 GB.
    let by_space = disks("reads = 5000\nwrites = 5000\nsize = \"4.2 TB\"", part, "raid = \"0\"");
    assert_eq!(by_space.links[0].count, 83);
    assert_eq!(by_space.links[0].narrowest().map(|used| used.resource), Some(Resource::Space));
    // 70,000 / 35,000 + 33,000 / 3,300.
    let by_ios = disks("reads = 70000\nwrites = 33000\nsize = \"64 GB\"", part, "raid = \"0\"");
    assert_eq!(by_ios.links[0].count, 12);
    assert_eq!(by_ios.links[0].narrowest().map(|used| used.resource), Some(Resource::Io));
}

#[test]
fn growth_adds_up_over_the_years() {
    let grown =
        disks("size = \"1 TB\"\ngrowth = 0.2\nyears = 3", "capacity = \"100 GB\"", "raid = \"0\"");
    close(used(&grown, 0, Resource::Space).0, 1.728e12);
    assert_eq!(grown.links[0].count, 18);
}

#[test]
fn twenty_serial_reads_take_over_100_ms_of_disks_and_2_ms_of_flash() {
    let demand = "transactions = 1\nreads = 100\nserial_reads = 20";
    let of_disks = disks(demand, "iops = 200", "count = 100").transaction_s.expect("not saturated");
    assert!(of_disks > 0.1 && of_disks < 0.11, "{of_disks}");
    let flash = disks(demand, "iops = 35000\nlatency = \"80 us\"", "count = 1")
        .transaction_s
        .expect("not saturated");
    assert!(flash > 0.001_6 && flash < 0.002_1, "{flash}");
}

#[test]
fn a_chain_is_as_wide_as_its_narrowest_link() {
    let source = "[demand]\nsequential_reads = \"1.2 GB/s\"\n[parts.disk]\nbandwidth = \"80 \
                  MB/s\"\nprice = 2000\n[parts.sas-x4]\nbandwidth = \"1 \
                  GB/s\"\n[parts.pcie]\nbandwidth = \"1.6 GB/s\"\n[[alternative]]\nname = \
                  \"a\"\nchain = [{ part = \"disk\", count = 45 }, { part = \"sas-x4\", count = 1 \
                  }, { part = \"pcie\", count = 1 }]\n";
    let sized = &sizing_of(source).alternatives[0];
    assert_eq!((sized.narrowest, sized.fits), (Some(1), false));
    close(sized.carries.expect("a rate"), 1.0 / 1.2);
    // $2,000 a disk, 45 of them behind 1 GB/s: the published $90,000 for a GB/s.
    close(sized.price_per_gb_s.expect("a price"), 90_000.0);
}

#[test]
fn the_example_is_what_it_is_by_hand() {
    let sizing = sizing_of(EXAMPLE);
    let direct = alternative(&sizing, "direct attached disks");
    let counts: Vec<u64> = direct.links.iter().map(|link| link.count).collect();
    assert_eq!(counts, [360, 15, 5]);
    close(direct.price, 360.0 * 500.0 + 15.0 * 3000.0 + 5.0 * 700.0);
    close(direct.price_per_transaction.expect("a rate"), direct.price / 10_000.0);
    // 15,000 small I/Os, and the log on both disks of each pair.
    close(used(direct, 0, Resource::Io).1, 15_000.0 / 72_000.0 + 120e6 / (360.0 * 80e6));
    close(used(direct, 0, Resource::Space).1, 8.4 / 26.28);
    let ssds = alternative(&sizing, "SSDs");
    assert_eq!(ssds.links[0].count, 120);
    let written = 10_000.0 * 8192.0 + 60e6 * 8.0 / 7.0;
    close(
        ssds.links[0].worn_out_years.expect("endurance"),
        120.0 * 1e15 / written / (365.25 * 86_400.0),
    );
    // All three are within their targets: the cheapest is first.
    let prices: Vec<f64> =
        sizing.alternatives.iter().map(|alternative| alternative.price).collect();
    assert!(
        prices.is_sorted()
            && sizing.alternatives.iter().all(|alternative| alternative.is_within_targets),
        "{prices:?}"
    );
}

#[test]
fn a_failed_disk_of_a_pair_leaves_its_reads_to_the_other() {
    let part = "iops = 200\nbandwidth = \"80 MB/s\"\ncapacity = \"72 GB\"";
    let sized = disks(
        "reads = 5000\nwrites = 5000",
        part,
        "count = 100, raid = \"10\", rebuild = \"20 MB/s\"",
    );
    // Each of 50 pairs has 100 reads and 100 writes a second: half the reads and all the writes a
    // disk, then all of both.
    close(used(&sized, 0, Resource::Io).1, 0.75);
    let degraded = sized.links[0].degraded.expect("redundant");
    close(degraded.utilisation, 1.0);
    close(degraded.while_rebuilt.expect("a rate"), 1.25);
    close(degraded.rebuild_s.expect("a rate"), 3_600.0);
}

#[test]
fn credits_last_as_long_as_they_pay_for_what_is_above_the_base_rate() {
    // A cloud volume of 100 IOPS that bursts to 3,000 from a bucket of 5.4 million I/Os: 1,862 s at
    // full rate.
    let part = "iops = 100\nburst_iops = 3000\nburst_credits = 5_400_000";
    let at_full_rate = disks("reads = 3000", part, "count = 1").links[0].burst_s.expect("credits");
    assert!((at_full_rate - 1_862.07).abs() < 0.01, "{at_full_rate}");
    assert_eq!(disks("reads = 90", part, "count = 1").links[0].burst_s, Some(f64::INFINITY));
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    for (source, parts) in [
        (
            "[demand]\nreads = 5\nred = 1\n",
            &["line 3, column 1", "unknown key `red`", "no alternative"][..],
        ),
        ("[demand]\nreads = -5\n", &["line 2, column 9", "above 0"]),
        ("[demand]\nreads_per_transaction = 5\n", &["needs the transaction rate"]),
        ("[demand]\nsize = \"4 parsecs\"\n", &["`4 parsecs` is not allowed"]),
        ("[parts.disk]\nprice = 5\n", &["no capability given", "[demand] is empty"]),
        (
            "[demand]\nreads = 5\n[parts.disk]\niops = 200\n[[alternative]]\nname = \"a\"\nchain \
             = [{ part = \"disc\" }]\n",
            &["line 7, column 19", "unknown part `disc`", "disk"],
        ),
        (
            "[demand]\nreads = 5\n[parts.disk]\niops = 200\n[[alternative]]\nname = \"a\"\nchain \
             = [{ part = \"disk\", count = 5, raid = \"10\" }]\n",
            &["must be a multiple of the 2 disks"],
        ),
        (
            "[demand]\nreads = 5\n[parts.disk]\niops = 200\n[[alternative]]\nname = \"a\"\nchain \
             = [{ part = \"disk\", raid = \"0\", rebuild = \"20 MB/s\" }]\n",
            &["needs redundancy"],
        ),
    ] {
        let errors = Plan::read(source, &nothing).expect_err("wrong").to_string();
        for part in parts {
            assert!(errors.contains(part), "{source}: {errors}");
        }
    }
}

#[test]
fn a_saturated_chain_has_no_latency() {
    let sized = disks("reads = 1000", "iops = 200", "count = 4");
    assert_eq!((sized.fits, sized.read_s, sized.transaction_s), (false, None, None));
    close(sized.carries.expect("a rate"), 0.8);
}

/// Recorded demands fill in for values that the plan omits.
#[test]
fn a_demand_from_a_recording() {
    let plan = |demand: &str| {
        let rest = "[parts.disk]\niops = 200\n[[alternative]]\nname = \"one\"\nchain = [{ part = \
                    \"disk\" }]\n";
        Plan::read(&format!("[demand]\n{demand}\n{rest}"), &|from| match from {
            "inserts data_files=16" => Ok(vec![
                ("transactions", 500.0),
                ("reads_per_transaction", 2.0),
                ("writes_per_transaction", 4.0),
                ("cpu_per_transaction", 0.001),
            ]),
            other => Err(Failure::usage(format!("there is no results file {other}"))),
        })
    };
    let demand = plan("from = \"inserts data_files=16\"").expect("a plan").demand;
    close(demand.reads, 1_000.0);
    close(demand.writes, 2_000.0);
    close(demand.processors, 0.5);
    let twice = plan("from = \"inserts data_files=16\"\ntransactions = \"1000/s\"\nwrites = 300")
        .expect("a plan")
        .demand;
    close(twice.reads, 2_000.0);
    close(twice.writes, 300.0);
    let error = plan("from = \"nothing\"").expect_err("wrong").to_string();
    assert!(error.contains("demand.from: there is no results file nothing"), "{error}");
    assert!(Plan::read("[demand]\nfrom = \"a\"\n", &nothing).is_err());
}

/// Disks of 100 GB at 1,000 each, for 1 TB that grows by half a year for three years; a disk is a
/// fifth cheaper each year. By hand: 15, 23 and 34 disks are needed at the ends of the years.
#[test]
fn buying_with_the_growth_costs_less_while_prices_fall() {
    let demand = "size = \"1 TB\"\ngrowth = 0.5\nyears = 3";
    let sized =
        disks(demand, "capacity = \"100 GB\"\nprice = 1000\nprice_decline = 0.2", "raid = \"0\"");
    close(sized.price, 34_000.0);
    let bought = sized.purchases.expect("growth");
    close(bought.price, 15_000.0 + 8.0 * 800.0 + 11.0 * 640.0);
    close(bought.saving, 1.0 - 28_440.0 / 34_000.0);
    // All pieces are bought in the end: at steady prices nothing is saved.
    let steady = disks(demand, "capacity = \"100 GB\"\nprice = 1000", "raid = \"0\"");
    close(steady.purchases.expect("growth").saving, 0.0);
    // Nothing grows, or the number of pieces is given: nothing is bought later.
    for (demand, link) in [("size = \"1 TB\"", "raid = \"0\""), (demand, "count = 40")] {
        assert_eq!(disks(demand, "capacity = \"100 GB\"\nprice = 1000", link).purchases, None);
    }
}

/// A purchase of 36,000 that loses its value over 36 months, and 10 a month for each of 4 pieces.
#[test]
fn a_purchase_loses_its_value_by_equal_parts() {
    let source = "[demand]\nsize = \"1 TB\"\n[target]\ndepreciation = 36\nspace = \
                  1\n[parts.disk]\ncapacity = \"250 GB\"\nprice = 9000\nprice_per_month = \
                  10\n[[alternative]]\nname = \"one\"\nchain = [{ part = \"disk\", count = 4 }]\n";
    close(sizing_of(source).alternatives[0].price_per_month.expect("a life"), 1_040.0);
    assert_eq!(disks("size = \"1 TB\"", "capacity = \"1 TB\"", "count = 1").price_per_month, None);
}

/// 1 TB on 4 TB grows by half a year: to 80 % after ln(3.2) / ln(1.5) years.
#[test]
fn space_lasts_until_its_target() {
    let source = "[demand]\nsize = \"1 TB\"\ngrowth = 0.5\nyears = 1\n[parts.disk]\ncapacity = \"1 \
                  TB\"\n[[alternative]]\nname = \"one\"\nchain = [{ part = \"disk\", \
                  count = 4 }]\n";
    let lasts = sizing_of(source).alternatives[0].space_lasts_years[0].expect("growth");
    close(lasts, 3.2_f64.ln() / 1.5_f64.ln());
    let steady = disks("size = \"1 TB\"", "capacity = \"1 TB\"", "count = 4");
    assert_eq!(steady.space_lasts_years, [None]);
}
