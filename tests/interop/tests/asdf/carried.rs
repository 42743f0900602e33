//! Metadata that conversions carry: asdf, python-blosc2, bloscpack, gsd and `json` see plain values as plain values, and the tree that
//! comes back is the tree.

use std::path::Path;
use std::process::Command;

use holdall::Address;
use holdall::convert::{ConvertOptions, ConvertOutcome, ReadBack, convert};
use interop::peer::{python, script};

fn peer(command: &str, folder: &Path) {
    let output = Command::new(python().unwrap())
        .arg(script("carried_peer.py"))
        .arg(command)
        .arg(folder)
        .output()
        .unwrap();
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
}

fn carry(folder: &Path, source: &str, target: &str) {
    let source = Address { file: folder.join(source), dataset: None, selection: None };
    let options = ConvertOptions { verify: ReadBack::Yes, ..ConvertOptions::default() };
    match convert(&source, &folder.join(target), &options).unwrap() {
        ConvertOutcome::Done(done) => assert_eq!(done.losses, [], "{target}"),
        ConvertOutcome::Differs(differences) => panic!("{target}: {differences:?}"),
    }
}

#[test]
fn others_see_what_was_carried_and_the_tree_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    peer("make", folder);
    for format in ["b2nd", "blp", "ra", "gsd"] {
        carry(folder, "tree.asdf", &format!("tree.{format}"));
        carry(folder, &format!("tree.{format}"), &format!("{format}.asdf"));
    }
    carry(folder, "many.ra", "many.ra.b2nd");
    carry(folder, "many.ra.b2nd", "many.asdf");
    carry(folder, "many.b2nd", "many.blp");
    peer("check", folder);
}
