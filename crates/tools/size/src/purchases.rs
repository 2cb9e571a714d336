//! When to buy: pieces bought as the data grows, at prices that fall, against all pieces now; and
//! what a purchase is worth later.

use crate::link::{links, price_of};
use crate::plan::{Alternative, Plan};
use crate::{LinkLoad, Resource};
use serde::Serialize;

/// Months of a year.
const MONTHS: f64 = 12.0;
/// Years of purchases that are planned at most.
const YEARS_MAX: f64 = 30.0;

/// Pieces that are bought at the beginning of a year.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Purchase {
    /// Years from now.
    pub year: u32,
    /// New pieces of each link.
    pub pieces: Vec<u64>,
    /// Their price then, with the monthly prices of the months that are left.
    pub price: f64,
}

/// The purchases of an alternative, each for the growth of a year.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Purchases {
    /// In the order of time; years without one are left out.
    pub purchases: Vec<Purchase>,
    /// The price of all of them.
    pub price: f64,
    /// The part of the price of all pieces now that they save; below 0 they cost more.
    pub saving: f64,
}

/// The purchases of a chain with links that get as many pieces as they need; `None` where nothing
/// grows, or a purchase later would be that of now.
pub fn purchases(plan: &Plan, alternative: &Alternative, price_now: f64) -> Option<Purchases> {
    let years = plan.demand.years.min(YEARS_MAX);
    if plan.demand.growth <= 0.0 || years <= 1.0 || price_now <= 0.0 {
        return None;
    }
    let mut bought = vec![0_u64; alternative.chain.len()];
    let mut all = Vec::new();
    for year in 0..years.ceil() as u32 {
        let until = f64::from(year + 1).min(years);
        let needed = links(plan, alternative, &plan.demand.after(until));
        let pieces: Vec<u64> = needed
            .iter()
            .zip(&mut bought)
            .map(|(link, bought)| {
                let new = link.count.saturating_sub(*bought);
                *bought += new;
                new
            })
            .collect();
        if pieces.iter().all(|count| *count == 0) {
            continue;
        }
        let months = (plan.targets.months - MONTHS * f64::from(year)).max(0.0);
        let price = alternative.chain.iter().zip(&pieces).map(|(link, count)| {
            let part = &plan.parts[link.part];
            let fallen = (1.0 - part.price_decline).powi(year as i32);
            *count as f64 * (part.price * fallen + part.price_per_month * months)
        });
        all.push(Purchase { year, price: price.sum(), pieces });
    }
    let price: f64 = all.iter().map(|purchase| purchase.price).sum();
    (all.len() > 1).then(|| Purchases { purchases: all, price, saving: 1.0 - price / price_now })
}

/// Cost of a chain by month, and its value at the end of the years.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Depreciation {
    /// Loss of value of a month while there is any, with monthly prices.
    pub per_month: f64,
    /// Value after the years of the demand, or after the months of monthly prices where there are
    /// none.
    pub value_left: f64,
    /// Months after which that is.
    pub months: f64,
}

/// The depreciation of the pieces of a chain; `None` where the plan has none.
pub fn depreciation(plan: &Plan, links: &[LinkLoad]) -> Option<Depreciation> {
    let life = plan.targets.depreciation?;
    let years = plan.demand.years;
    let months = if years > 0.0 { years * MONTHS } else { plan.targets.months };
    let bought: f64 =
        links.iter().map(|link| link.count as f64 * plan.parts[link.part].price).sum();
    let monthly = price_of(plan, links, 1.0) - bought;
    Some(Depreciation {
        per_month: bought / life + monthly,
        value_left: bought * (1.0 - months / life).max(0.0),
        months,
    })
}

/// Years until the space of a link reaches its target, where its data grows and it has room now.
pub fn space_lasts_years(plan: &Plan, link: &LinkLoad) -> Option<f64> {
    let used = link.uses.iter().find(|used| used.resource == Resource::Space)?;
    let now = plan.demand.bytes_now / plan.demand.bytes * used.utilisation;
    let times = plan.targets.space / now;
    plan.demand.years_until(times).filter(|_| now > 0.0 && times >= 1.0)
}
