//! The commented example file parses, as it is and with its comments made settings.

use crate::common::{catalog, parse};

#[test]
fn it_parses_for_every_engine_and_probe() {
    let catalog = catalog();
    for (engine, _) in &catalog.engines {
        for (probe, settings) in &catalog.probes {
            let text = experiment::example(&catalog, engine, probe);
            let experiment =
                parse(&text).unwrap_or_else(|errors| panic!("{}", errors.render("example", &text)));
            assert_eq!(experiment.configurations.len(), 3, "{text}");
            assert_eq!(experiment.baseline, Some(0));
            assert_eq!(experiment.configurations[0].get(experiment::common::PROBE), *probe);
            // Every setting is explained.
            for setting in *settings {
                let key = setting.path.strip_prefix("workload.").unwrap();
                assert!(text.contains(&format!("{key} = ")), "{key} is missing in\n{text}");
            }
        }
    }
}

/// Each setting that stands behind a `#` is one that could stand there without it.
#[test]
fn its_comments_are_right() {
    let catalog = catalog();
    for (engine, _) in &catalog.engines {
        for (probe, _) in &catalog.probes {
            let text = experiment::example(&catalog, engine, probe);
            let uncommented: Vec<&str> = text.lines().map(uncomment).collect();
            assert!(
                uncommented
                    .iter()
                    .filter(|line| !line.starts_with('#') && line.contains('='))
                    .count()
                    > 40
            );
            let source = uncommented.join("\n");
            let experiment = parse(&source)
                .unwrap_or_else(|errors| panic!("{}", errors.render("example", &source)));
            assert_eq!(experiment.volumes.len(), 1);
            assert!(experiment.get(experiment::file::BEFORE_TRIAL).is_some());
            // 3 levels x 2 linked levels, less what the exclusion takes.
            assert_eq!(experiment.configurations.len(), 6 - 2);
        }
    }
}

/// The line without its `#` if it is a setting or section; the second form of `blocks` stays out.
fn uncomment(line: &str) -> &str {
    let Some(rest) = line.strip_prefix("# ") else { return line };
    let key = rest.split(" = ").next().unwrap_or_default();
    let is_key = rest.contains(" = ")
        && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '"'));
    let is_section = rest.starts_with('[');
    if (is_key && !rest.starts_with("blocks = {")) || is_section { rest } else { line }
}
