mod plan_costs;
mod plan_remarks;
mod queries;
mod showplan;
