//! Masks of conversions, as Python asdf and numpy read them.

use std::path::Path;
use std::process::Command;

use holdall::Address;
use holdall::convert::{ConvertOptions, ConvertOutcome, ReadBack, convert};
use interop::peer::{python, script};

fn converted(source: &Path, target: &Path, fill: Option<&str>) -> usize {
    let source = Address { file: source.into(), dataset: Some("a".into()), selection: None };
    let options = ConvertOptions { verify: ReadBack::Yes, fill, ..ConvertOptions::default() };
    match convert(&source, target, &options).unwrap() {
        ConvertOutcome::Done(done) => {
            done.losses.iter().filter(|loss| loss.what.starts_with("mask:")).count()
        }
        ConvertOutcome::Differs(differences) => panic!("{}: {differences:?}", target.display()),
    }
}

#[test]
fn masks_are_kept_or_filled_as_numpy_fills_them() {
    let folder = tempfile::tempdir().unwrap();
    // Those of a number hide nothing as they are: one gets a number that two elements have, one stays so.
    let names = [
        ("inline_masked", 1),
        ("mask_array", 1),
        ("mask_value", 1),
        ("mask_integer", 0),
        ("mask_nan", 1),
        ("mask_same_inline", 1),
    ];
    for (name, losses) in names {
        let source = folder.path().join(format!("{name}.asdf"));
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/asdf/ok");
        let mut bytes = std::fs::read(fixtures.join(format!("{name}.asdf"))).unwrap();
        if name == "mask_value" {
            let at = bytes.windows(5).position(|part| part == b"-4.75").unwrap();
            bytes[at..at + 5].copy_from_slice(b"-3.00");
        }
        std::fs::write(&source, bytes).unwrap();
        let target = |ending: &str| folder.path().join(format!("{name}.{ending}"));
        assert_eq!(converted(&source, &target("copy.asdf"), None), 0, "{name}");
        assert_eq!(converted(&source, &target("npy"), None), losses, "{name}");
        assert_eq!(converted(&source, &target("fill.npy"), Some("-7")), losses, "{name}");
    }
    let output = Command::new(python().unwrap()).arg(script("masks.py")).arg(folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), names.len().to_string());
}
