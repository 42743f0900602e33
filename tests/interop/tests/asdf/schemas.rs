//! Verdicts on trees: those of Python asdf's validation, and of the suite of draft 04 that it has.

use asdf::Version;
use asdf::schema::{Options, Schemas, validate};
use asdf::yaml::{Document, YamlLimits};
use container_core::Result;
use interop::peer::script;
use serde_json::{Value, json};

use crate::peers::{Peer, Release};
use crate::random::cases;

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap()
}

/// `valid` or `invalid`, and why.
fn verdict(text: &str, options: &Options<'_>) -> Result<(&'static str, String)> {
    let document = Document::parse(text.as_bytes(), 0, &YamlLimits::default())?;
    let report = validate(&document, options)?;
    let why: Vec<_> = report.violations.iter().map(|it| format!("{}: {}", it.path, it.message)).collect();
    Ok((if report.is_valid() { "valid" } else { "invalid" }, why.join("; ")))
}

#[test]
fn schema_validation_matches_python_asdf() {
    let mut peer = Peer::run(Release::Newest, &script("asdf_schemas.py"));
    let schemas = concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates/asdf/schemas/");
    let answer = peer.ask("judge", json!({"schemas": schemas, "seed": 1, "mutants": cases(4)}));
    let mut counts = [0; 2];
    let mut problems = Vec::new();
    for case in answer["cases"].as_array().unwrap() {
        let theirs = text(case, "verdict");
        // What Python itself stumbles over has no verdict.
        if theirs != "valid" && theirs != "invalid" {
            continue;
        }
        let options = Options::default().standard(Version::parse(text(case, "standard")));
        let (ours, why) =
            verdict(text(case, "text"), &options).unwrap_or_else(|error| panic!("{error}: {case}"));
        counts[usize::from(ours == "valid")] += 1;
        if ours != theirs {
            problems.push(format!("{ours} ({why}), not {theirs}: {case}"));
        }
    }
    assert!(problems.is_empty(), "{}: {}", problems.len(), problems[..problems.len().min(10)].join("\n"));
    assert!(counts.iter().all(|count| *count > 100), "{counts:?}");
}

/// Cases that Python asdf judges otherwise than draft 04, and this workspace with it: what stands beside a `$ref` of a schema counts,
/// and a mapping with a `$ref` is a reference wherever it stands in a tree, not judged before it is resolved.
const OTHERWISE: [&str; 3] = [
    "ref.json: ref overrides any sibling keywords: ref valid, maxItems ignored",
    "ref.json: property named $ref that is not a reference: property named $ref invalid",
    "ref.json: property named $ref, containing an actual $ref: property named $ref invalid",
];

#[test]
fn schema_keywords_pass_the_draft_04_test_suite() {
    let mut peer = Peer::run(Release::Newest, &script("asdf_schemas.py"));
    let answer = peer.ask("suite", json!({}));
    let mut base = Schemas::new();
    for remote in answer["remotes"].as_array().unwrap() {
        let [uri, schema] = [0, 1].map(|at| remote[at].as_str().unwrap());
        // Some are of later drafts, where `true` is a schema; no case of this one needs them.
        let _ = base.add(schema.as_bytes(), uri);
    }
    let mut problems = Vec::new();
    let all = answer["cases"].as_array().unwrap();
    for case in all {
        let mut schemas = base.clone();
        let judged = schemas
            .add(text(case, "schema").as_bytes(), "asdf://tests/schema")
            .and_then(|uri| verdict(text(case, "data"), &Options::default().with(&schemas, Some(&uri))));
        let otherwise = OTHERWISE.contains(&text(case, "name"));
        let expected = if (case["valid"] == true) != otherwise { "valid" } else { "invalid" };
        match judged {
            Ok((ours, _)) if ours == expected => {}
            Ok((ours, why)) => problems.push(format!("{}: {ours} ({why})", text(case, "name"))),
            Err(error) => problems.push(format!("{}: {error}", text(case, "name"))),
        }
    }
    assert!(problems.is_empty(), "{}: {}", problems.len(), problems.join("\n"));
    assert!(all.len() > 500, "{}", all.len());
}
