//! Prices over time: pieces bought as the data grows, at prices that fall, against all pieces now;
//! and the cost of a month.

use crate::link::{links, price_of};
use crate::plan::{Alternative, Plan};
use crate::{LinkLoad, Resource};
use serde::Serialize;

/// Months of a year.
const MONTHS: f64 = 12.0;
/// Years of purchases that are planned at most.
const YEARS_MAX: f64 = 30.0;

/// The purchases of an alternative, each for the growth of a year.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Purchases {
    /// The price of all of them, with the monthly prices of the months that are left at each.
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
    let (mut price, mut is_bought_later) = (0.0, false);
    for year in 0..years.ceil() as u32 {
        let until = f64::from(year + 1).min(years);
        let months = (plan.targets.months - MONTHS * f64::from(year)).max(0.0);
        let needed = links(plan, alternative, &plan.demand.after(until));
        for (link, bought) in needed.iter().zip(&mut bought) {
            let new = link.count.saturating_sub(*bought);
            *bought += new;
            is_bought_later |= year > 0 && new > 0;
            let part = &plan.parts[link.part];
            let fallen = (1.0 - part.price_decline).powi(year as i32);
            price += new as f64 * (part.price * fallen + part.price_per_month * months);
        }
    }
    is_bought_later.then(|| Purchases { price, saving: 1.0 - price / price_now })
}

/// The cost of a month of a chain, with monthly prices; `None` where the plan has no depreciation.
pub fn price_per_month(plan: &Plan, links: &[LinkLoad]) -> Option<f64> {
    let life = plan.targets.depreciation?;
    let bought = price_of(plan, links, 0.0);
    Some(bought / life + price_of(plan, links, 1.0) - bought)
}

/// Years until the space of a link reaches its target, where its data grows and it has room now.
pub fn space_lasts_years(plan: &Plan, link: &LinkLoad) -> Option<f64> {
    let used = link.uses.iter().find(|used| used.resource == Resource::Space)?;
    let now = plan.demand.bytes_now / plan.demand.bytes * used.utilisation;
    let times = plan.targets.space / now;
    plan.demand.years_until(times).filter(|_| now > 0.0 && times >= 1.0)
}
