//! The time that requests take at a server that is so busy. L. Kleinrock, "Queueing Systems" volume
//! 1 (1975), chapters 3 and 5.

/// The most servers for which waiting is computed; with more of them waits are negligible below
/// saturation.
const SERVERS_MAX: u64 = 10_000;

/// Time in the system of M/M/c: Poisson arrivals at `servers` that share a queue, exponential
/// service of `service_s` in the mean, each busy for this share of the time; seconds. `None` from a
/// utilisation of 1 on: the queue grows for ever.
pub fn shared_queue(servers: u64, service_s: f64, utilisation: f64) -> Option<f64> {
    if !(0.0..1.0).contains(&utilisation) {
        return None;
    }
    let servers = servers.clamp(1, SERVERS_MAX);
    let waits = erlang_c(servers, utilisation * servers as f64);
    Some(service_s + waits * service_s / (servers as f64 * (1.0 - utilisation)))
}

/// Time in the system of M/D/1: a link that sends one request after the other, each taking
/// `service_s`; seconds.
pub fn link(service_s: f64, utilisation: f64) -> Option<f64> {
    (0.0..1.0)
        .contains(&utilisation)
        .then(|| service_s + utilisation * service_s / (2.0 * (1.0 - utilisation)))
}

/// The probability that a request waits, by Erlang's second formula, for an offered load in servers
/// below their number.
fn erlang_c(servers: u64, offered: f64) -> f64 {
    // Erlang's first formula by its recurrence, which neither overflows nor cancels.
    let blocked = (1..=servers).fold(1.0, |b, n| offered * b / (n as f64 + offered * b));
    let utilisation = offered / servers as f64;
    blocked / (1.0 - utilisation * (1.0 - blocked))
}

#[cfg(test)]
mod tests {
    use super::{erlang_c, link, shared_queue};

    #[test]
    fn one_server_takes_service_over_what_is_idle() {
        let time = shared_queue(1, 0.005, 0.8).expect("not saturated");
        assert!((time - 0.025).abs() < 1e-12, "{time}");
        assert!((link(0.002, 0.5).expect("not saturated") - 0.003).abs() < 1e-12);
        assert_eq!([shared_queue(1, 0.005, 1.0), link(0.005, 1.2)], [None, None]);
    }

    /// Figures of Erlang's table: 10 servers at 8 erlangs 0.4092, 2 at 1 erlang 1/3; and by summing
    /// the states.
    #[test]
    fn waiting_is_as_probable_as_in_tables() {
        assert!((erlang_c(2, 1.0) - 1.0 / 3.0).abs() < 1e-12);
        assert!((erlang_c(10, 8.0) - 0.4092).abs() < 5e-5);
        let (c, a) = (5_u64, 3.5_f64);
        let term = |n: u64| (1..=n).fold(1.0, |product, k| product * a / k as f64);
        let tail = term(c) / (1.0 - a / c as f64);
        let states: f64 = (0..c).map(term).sum();
        assert!((erlang_c(c, a) - tail / (states + tail)).abs() < 1e-12);
    }
}
