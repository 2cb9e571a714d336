//! Remarks on published plans of SQL Server.
use engine::Engine as _;
use plans::remarks;
use sqlserver::SqlServer;

#[test]
fn dump_remarks() {
    for file in super::showplan::plan_files() {
        let statements =
            engine::plan_files::read(&[&SqlServer], &std::fs::read(&file).unwrap()).unwrap();
        println!("##### {}", file.display());
        for statement in statements {
            let Some(plan) = &statement.plan else { continue };
            println!("  == {:.60} {:?}", statement.text.replace(['\n', '\r'], " "), plan.unknown);
            for one in remarks(plan, &SqlServer.statement_rules().unwrap().terms) {
                println!("    {:?} {:?} {:?} {:.120}", one.rule, one.operator, one.share, one.text);
            }
        }
    }
}
