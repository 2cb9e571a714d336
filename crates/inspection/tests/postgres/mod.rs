mod plan_costs;
mod plan_formats;
mod plan_remarks;
mod plans;
