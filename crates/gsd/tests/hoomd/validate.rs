//! Results of the schema's checks of the fixtures, against the codes in their manifest.

use container_core::Progress;
use gsd::{File, hoomd};

/// Codes that follow from the schema; the others are about the file.
const CODES: [&str; 14] = [
    "newer_schema",
    "schema_type",
    "schema_shape",
    "schema_range",
    "schema_text",
    "box",
    "typeid",
    "tags",
    "not_finite",
    "outside_box",
    "step_order",
    "late_log",
    "narrow_text",
    "signed_groups",
];

/// Paths and codes of the manifest: `path = "…"`, then perhaps `codes = […]`.
fn expected() -> Vec<(String, Vec<String>)> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/gsd");
    let manifest = std::fs::read_to_string(format!("{root}/MANIFEST.toml")).unwrap();
    let quoted =
        |line: &str| -> Vec<String> { line.split('"').skip(1).step_by(2).map(str::to_owned).collect() };
    let mut files: Vec<(String, Vec<String>)> = Vec::new();
    for line in manifest.lines() {
        if line.starts_with("path = ") {
            files.push((format!("{root}/{}", quoted(line)[0]), Vec::new()));
        } else if line.starts_with("codes = ") {
            files.last_mut().unwrap().1 = quoted(line);
        }
    }
    files
}

#[test]
fn every_fixture_has_the_problems_of_its_manifest_and_no_others() {
    let mut checked = 0;
    for (path, codes) in expected() {
        let Ok(file) = File::open(&path) else { continue };
        let problems = hoomd::check_file(&file, Progress::none()).unwrap();
        let mut found: Vec<&str> = problems.iter().map(|problem| problem.code).collect();
        let mut want: Vec<&str> =
            codes.iter().map(String::as_str).filter(|code| CODES.contains(code)).collect();
        found.sort_unstable();
        found.dedup();
        want.sort_unstable();
        assert_eq!(found, want, "{path}: {problems:#?}");
        checked += usize::from(!want.is_empty());
    }
    assert!(checked > 30, "{checked}");
}
