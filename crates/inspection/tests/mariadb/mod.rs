mod plan_remarks;
mod plans;
