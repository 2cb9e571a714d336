use crate::number;
use analysis::Accounting;

/// Where the sessions' time went, as a sum that is 100 %:
/// `16 connections x 78.4 s = CPU 31.0 % + log 2.1 % + signal 60.1 % + client 6.0 % + unaccounted 0.8 %`.
pub(crate) fn line(accounting: &Accounting) -> String {
    let mut parts = vec![("CPU", accounting.cpu_s)];
    parts.extend(accounting.resource_s.iter().map(|(class, seconds)| (class.name(), *seconds)));
    parts.push(("signal", accounting.signal_s));
    parts.push(("client", accounting.client_s));
    parts.push(("unaccounted", accounting.unaccounted_s));
    let shares: Vec<f64> = parts.iter().map(|(_, seconds)| 100.0 * accounting.share(*seconds)).collect();
    let (shares, _) = number::parts_that_add_up(&shares, 1);
    let terms: Vec<_> = parts
        .iter()
        .zip(shares)
        .map(|((name, _), share)| format!("{name} {} %", number::fixed(share, 1)))
        .collect();
    // A mean over configurations with different numbers of connections need not be whole.
    let connections = match accounting.connections {
        whole if whole.fract() == 0.0 => number::fixed(whole, 0),
        mean => number::figure(mean),
    };
    let elapsed = number::seconds(accounting.elapsed_s);
    format!("{connections} connections x {elapsed} = {}", terms.join(" + "))
}
