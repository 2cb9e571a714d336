//! Chains under their load, and which of them is the cheapest that carries it.

use crate::Resource;
use crate::link::{LinkLoad, links, price_of};
use crate::plan::{Alternative, Plan};
use crate::purchases::{Purchases, price_per_month, purchases, space_lasts_years};
use crate::queue;
use observations::order;
use serde::Serialize;

/// Result of a plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sizing {
    /// Transactions in flight, by Little's Law.
    pub in_flight: Option<f64>,
    /// Alternatives within their targets, the cheapest first; then the others, the least loaded
    /// first.
    pub alternatives: Vec<Sizes>,
}

/// An alternative under the load of the demand.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sizes {
    /// The name.
    pub name: String,
    /// From the disks to the processors.
    pub links: Vec<LinkLoad>,
    /// Position of the link that is used most of those with a rate.
    pub narrowest: Option<usize>,
    /// The multiple of the demand that it carries before the narrowest link is saturated.
    pub carries: Option<f64>,
    /// True if every link is within its target.
    pub is_within_targets: bool,
    /// True if every link carries its load.
    pub fits: bool,
    /// Time of a small read through the chain; `None` when a link is saturated.
    pub read_s: Option<f64>,
    /// Serial reads and CPU time of a transaction; `None` when a link is saturated or the plan does
    /// not give them.
    pub transaction_s: Option<f64>,
    /// Price of all pieces, with the monthly ones for the months of the plan.
    pub price: f64,
    /// Price for a transaction a second.
    pub price_per_transaction: Option<f64>,
    /// Price for a GB/s that the chain can read.
    pub price_per_gb_s: Option<f64>,
    /// Pieces bought as the data grows; `None` where nothing is bought later.
    pub purchases: Option<Purchases>,
    /// Cost of a month; `None` without a depreciation in the plan.
    pub price_per_month: Option<f64>,
    /// Years until the space of each link reaches its target; `None` where it never does.
    pub space_lasts_years: Vec<Option<f64>>,
}

/// Sizes every alternative of a plan.
pub fn size(plan: &Plan) -> Sizing {
    let demand = &plan.demand;
    let mut alternatives: Vec<Sizes> =
        plan.alternatives.iter().map(|alternative| sized(plan, alternative)).collect();
    order::sort(&mut alternatives, &|a, b| {
        let order = b.is_within_targets.cmp(&a.is_within_targets).then(b.fits.cmp(&a.fits));
        order
            .then(a.price.total_cmp(&b.price))
            .then(b.carries.unwrap_or(0.0).total_cmp(&a.carries.unwrap_or(0.0)))
    });
    Sizing {
        in_flight: demand.transactions.zip(demand.response_time_s).map(|(rate, time)| rate * time),
        alternatives,
    }
}

fn sized(plan: &Plan, alternative: &Alternative) -> Sizes {
    let Plan { demand, targets, .. } = plan;
    let links = links(plan, alternative, demand);
    let rates = |link: &LinkLoad| {
        let rates = link
            .uses
            .iter()
            .filter(|used| !matches!(used.resource, Resource::Space | Resource::Places));
        rates.map(|used| used.utilisation).reduce(f64::max)
    };
    let busiest =
        links.iter().enumerate().filter_map(|(position, link)| Some((position, rates(link)?)));
    let narrowest = busiest.max_by(|a, b| a.1.total_cmp(&b.1));
    let uses = || links.iter().flat_map(|link| &link.uses);
    let read_s = links.iter().map(|link| link.read_s).sum::<Option<f64>>();
    let price = price_of(plan, &links, targets.months);
    let gb_s = readable(plan, alternative, &links).map(|bytes| bytes / 1e9);
    Sizes {
        name: alternative.name.clone(),
        narrowest: narrowest.map(|(position, _)| position),
        carries: narrowest.filter(|(_, busy)| *busy > 0.0).map(|(_, busy)| 1.0 / busy),
        is_within_targets: uses()
            .all(|used| used.utilisation <= used.resource.target(targets) + 1e-9),
        fits: uses().all(|used| used.utilisation <= 1.0),
        read_s,
        transaction_s: read_s.and_then(|read_s| transaction_s(plan, &links, read_s)),
        price,
        price_per_transaction: demand.transactions.filter(|_| price > 0.0).map(|rate| price / rate),
        price_per_gb_s: gb_s.filter(|_| price > 0.0).map(|gb_s| price / gb_s),
        purchases: purchases(plan, alternative, price),
        price_per_month: price_per_month(plan, &links),
        space_lasts_years: links.iter().map(|link| space_lasts_years(plan, link)).collect(),
        links,
    }
}

/// Bytes a second that the chain can read: what the narrowest of its links can.
fn readable(plan: &Plan, alternative: &Alternative, links: &[LinkLoad]) -> Option<f64> {
    alternative
        .chain
        .iter()
        .zip(links)
        .filter_map(|(link, load)| {
            plan.parts[link.part].read_bandwidth.map(|bandwidth| bandwidth * load.count as f64)
        })
        .reduce(f64::min)
}

/// Returns the part of a transaction's time that the chain explains: its serial reads and its CPU
/// time, each with queueing.
fn transaction_s(plan: &Plan, links: &[LinkLoad], read_s: f64) -> Option<f64> {
    let demand = &plan.demand;
    let processors = links.iter().find_map(|link| {
        let cores = plan.parts[link.part].cores? as u64 * link.count;
        let busy = link.uses.iter().find(|used| used.resource == Resource::Processor)?.utilisation;
        Some(queue::shared_queue(cores, demand.processor_s, busy))
    });
    let processor_s = match processors {
        Some(time) => time?,
        None => demand.processor_s,
    };
    let time = demand.serial_reads * read_s + processor_s;
    (time > 0.0).then_some(time)
}
