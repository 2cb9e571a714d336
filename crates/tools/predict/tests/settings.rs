//! `[model]` of experiment files.

use experiment::{Catalog, FileErrors, Kind, settings};

settings! {
    const SETTINGS = [];
    /// Data files.
    DATA_FILES: u32 = "target.data_files", Kind::Count { min: 1, max: 64 }, "1";
    /// Durability.
    SYNCHRONOUS: Option<String> = "target.settings.synchronous", Kind::Text;
}

const FILE: &str = r#"
[experiment]
name = "data-files"

[target]
engine = "sqlite"

[workload]
probe = "insert"

[factors]
"target.data_files" = [1, 2, 4, 8, 16]
"target.settings.synchronous" = ["normal", "full"]
"#;

fn errors(rule: &str) -> Option<(FileErrors, String)> {
    let catalog = Catalog {
        engines: vec![("sqlite", SETTINGS)],
        probes: vec![("insert", &[])],
        analysis_sections: &[predict::SECTION],
        ..Catalog::default()
    };
    let source = format!("{FILE}\n[model]\nhold_out = \"{rule}\"\n");
    experiment::parse(&source, &catalog).err().map(|errors| (errors, source))
}

#[test]
fn levels_that_are_held_out_are_levels_of_a_factor() {
    let wrong = |rule: &str, parts: &[&str]| {
        let (found, source) = errors(rule).unwrap();
        let rendered = found.render("test.toml", &source);
        assert_eq!(found.errors.len(), 1, "{rendered}");
        let error = &found.errors[0];
        let line = source.lines().nth(error.line - 1).unwrap();
        let covered: String = line.chars().skip(error.column - 1).take(error.length).collect();
        assert_eq!(covered, format!("\"{rule}\""), "{rendered}");
        for part in parts {
            assert!(rendered.contains(part), "{part} is missing in\n{rendered}");
        }
    };
    wrong(
        "connections more than 8",
        &["model.hold_out: `connections more than 8` is not a condition", "connections > 8"],
    );
    wrong(
        "target.data_file > 4",
        &["unknown factor `target.data_file`", "did you mean `target.data_files`?"],
    );
    wrong(
        "target.data_files > 16",
        &["`target.data_files > 16` matches no level of target.data_files"],
    );
    // Its levels are not numbers.
    wrong("target.settings.synchronous > 1", &["matches no level"]);
    assert_eq!(errors("target.data_files >= 8"), None);
}
