//! Order entry whose terminals are divided over several agents.

use super::has_broker;
use crate::common::Lab;
use crate::servers::by_url::{OWNER, Server, bindirs};

/// Order entry on a server by URL.
fn orders(target: &str, workload: &str, factors: &str) -> String {
    format!(
        "[experiment]\nname = \"t\"\n[target]\n{target}\n[workload]\nprobe = \
         \"order-entry\"\nwarehouses = 2\nreduced_by = 100\nconnections = 5\ncheck = \
         \"complete\"\n{workload}\n[repeats]\nblocks = 1\n[factors]\n{factors}"
    )
}

/// Five connections run two decks of 23 transactions each, as statements and as procedures.
const DECKS: &str = "transactions = 230";
const LOGIC: &str = "\"workload.logic\" = [\"client\", \"procedures\"]\n";

/// Has a server write down the sums of all tables before they are dropped. The order in which
/// transactions were committed, and the time, do not change the sums.
const KEEP_SUMS: &str = r"
CREATE TABLE public.kept (place serial, sums text);
CREATE FUNCTION public.keep() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
  IF to_regclass('steelbench.district') IS NULL THEN RETURN; END IF;
  INSERT INTO public.kept (sums) SELECT concat_ws(' ',
    (SELECT sum(w_ytd + w_tax) FROM steelbench.warehouse),
    (SELECT sum((d_ytd + d_tax + d_next_o_id) * (10 * d_w_id + d_id)) FROM steelbench.district),
    (SELECT sum((c_balance + 3 * c_ytd_payment + 5 * c_payment_cnt + 7 * c_delivery_cnt
      + length(c_data)) * c_id) FROM steelbench.customer),
    (SELECT sum(h_amount + h_c_id + 3 * h_c_w_id + 5 * h_d_id) FROM steelbench.history),
    (SELECT sum(o_id + o_c_id + 3 * o_ol_cnt + 7 * coalesce(o_carrier_id, 11))
      FROM steelbench.orders),
    (SELECT sum(no_o_id * (10 * no_w_id + no_d_id)) FROM steelbench.new_order),
    (SELECT sum((s_quantity + 3 * s_ytd + 5 * s_order_cnt + 7 * s_remote_cnt) * s_i_id)
      FROM steelbench.stock),
    (SELECT sum(ol_amount + ol_i_id + 3 * ol_quantity + 5 * ol_supply_w_id
      + CASE WHEN ol_delivery_d IS NULL THEN 13 ELSE 0 END) FROM steelbench.order_line));
END $$;
CREATE EVENT TRIGGER keep ON ddl_command_start WHEN TAG IN ('DROP SCHEMA')
  EXECUTE FUNCTION public.keep();
";

/// Counts of the study, and the number of latencies of each kind, by logic.
const COUNTED: &str = "SELECT c.level, f.name, f.value FROM facts f JOIN trials t ON t.id = \
                       f.trial JOIN configuration_levels c ON c.configuration = t.configuration \
                       AND c.factor = 'workload.logic' WHERE f.name GLOB 'transactions.*' OR \
                       f.name IN ('rolled_back', 'order_lines', 'remote_lines', \
                       'remote_payments', 'by_last_name', 'deliveries_skipped', \
                       'warehouses_checked') UNION ALL SELECT c.level, l.name, l.count FROM \
                       latencies l JOIN trials t ON t.id = l.trial JOIN configuration_levels c ON \
                       c.configuration = t.configuration AND c.factor = 'workload.logic' ORDER BY \
                       1, 2";

#[test]
fn terminals_of_several_agents_leave_the_tables_of_one_process() {
    let Some(bin) = bindirs().pop().filter(|_| has_broker()) else { return };
    let server = Server::start(&bin, "host all all 127.0.0.1/32 trust", &[]);
    server.connect().batch(KEEP_SUMS).unwrap();
    let target = format!(
        "engine = \"postgres\"\nurl = \"postgres://{OWNER}@127.0.0.1:{}/postgres\"",
        server.port
    );
    let kept = || {
        let sql = "SELECT string_agg(sums, ',' ORDER BY place) FROM kept";
        let mut client = server.connect();
        let kept = client.cell(sql).unwrap().unwrap();
        client.batch("TRUNCATE kept").unwrap();
        kept.split(',').map(str::to_owned).collect::<Vec<_>>()
    };
    let here = Lab::with(&orders(&target, DECKS, LOGIC));
    here.run(0);
    let (sums, counted) = (kept(), here.rows("t", COUNTED));
    assert!(sums.len() == 2 && sums[0] == sums[1] && sums[0].contains(' '), "{sums:?}");
    // Counts with and without the skipped deliveries, latencies of all and of each kind, service
    // times.
    assert_eq!(counted.len(), 2 * (5 + 6 + 7) + 1, "{counted:#?}");
    let lab =
        Lab::with(&orders(&target, DECKS, &format!("{LOGIC}\"workload.generators\" = [1]\n")));
    lab.run_with(&["--agents", "1"], 0);
    assert_eq!((kept(), lab.rows("t", COUNTED)), (sums.clone(), counted.clone()), "one agent");
    let lab =
        Lab::with(&orders(&target, DECKS, &format!("{LOGIC}\"workload.generators\" = [3]\n")));
    lab.run_with(&["--agents", "3"], 0);
    assert_eq!((kept(), lab.rows("t", COUNTED)), (sums, counted), "three agents");
    let repeats = "SELECT t.retries - ifnull((SELECT sum(value) FROM facts f WHERE f.trial = t.id \
                   AND f.name GLOB 'repeated.*'), 0) FROM trials t WHERE t.retries > 0 AND \
                   t.configuration = 1";
    assert!(lab.rows("t", repeats).iter().all(|left| left == "0"));
}

/// With waiting times, what agents count adds up to what the run records; terminals are not
/// compared by their rates.
#[test]
fn terminals_with_waiting_times_are_divided_and_their_counts_add_up() {
    let Some(bin) = bindirs().pop().filter(|_| has_broker()) else { return };
    let server = Server::start(&bin, "host all all 127.0.0.1/32 trust", &[]);
    let target = format!(
        "engine = \"postgres\"\nurl = \"postgres://{OWNER}@127.0.0.1:{}/postgres\"",
        server.port
    );
    let work = "duration = \"1 s\"\nwarmup = \"0.3 s\"\npace = 0.01\ngenerators = 2";
    let lab = Lab::with(&orders(&target, work, ""));
    lab.run_with(&["--agents", "2"], 0);
    let sums = "SELECT t.work_amount = (SELECT sum(value) FROM facts f WHERE f.trial = t.id AND \
                f.name GLOB 'transactions.*'), t.work_amount = (SELECT sum(count) FROM latencies \
                l WHERE l.trial = t.id AND l.name GLOB 'transaction: *'), t.work_amount > 20 FROM \
                trials t";
    assert_eq!(lab.rows("t", sums), ["1|1|1"]);
    let warned = "SELECT count(*) FROM warnings WHERE kind = 'generators' AND detail GLOB \
                  '*the mean is*'";
    assert_eq!(lab.rows("t", warned), ["0"]);
}

#[test]
fn order_entry_on_mariadb_is_divided_and_its_tables_stay_consistent() {
    if !has_broker() {
        return;
    }
    let Some(server) = crate::servers::mariadb::Server::start(&[]) else { return };
    let target = format!("engine = \"mariadb\"\nurl = \"{}\"", server.url("root"));
    let here = Lab::with(&orders(&target, DECKS, LOGIC));
    here.run(0);
    let lab =
        Lab::with(&orders(&target, DECKS, &format!("{LOGIC}\"workload.generators\" = [2]\n")));
    lab.run_with(&["--agents", "2"], 0);
    assert_eq!(lab.rows("t", COUNTED), here.rows("t", COUNTED));
}

#[test]
fn order_entry_that_cannot_be_divided_is_refused() {
    let check = |target: &str, work: &str, message: &str| {
        let lab = Lab::with(&orders(target, &format!("{work}\ngenerators = 2"), ""));
        lab.steelbench(&["check", "e.toml"]).expect(2).says(message);
    };
    check("engine = \"sqlite\"", DECKS, "this engine runs in the process of the load");
    let url = "engine = \"postgres\"\nurl = \"postgres://127.0.0.1:1/none\"";
    let streams = "duration = \"1 s\"\nanalytics = 1";
    check(url, streams, "streams of analytics cannot be divided");
}
