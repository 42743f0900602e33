//! `holdall samples`: files that the command itself contains.

use crate::support::run;

#[test]
fn samples_are_written_into_a_new_folder_alone() {
    let here = tempfile::tempdir().unwrap();
    let done = run(here.path(), &["samples"]);
    assert_eq!(done.expect(0), "");
    assert!(done.err.starts_with("21 samples in samples"), "{}", done.err);
    std::fs::write(here.path().join("samples/image.asdf"), "mine").unwrap();
    let again = run(here.path(), &["samples"]);
    assert_eq!(again.expect(2), "");
    assert_eq!(std::fs::read(here.path().join("samples/image.asdf")).unwrap(), b"mine");
    run(here.path(), &["samples", "--force"]).expect(0);
    run(here.path(), &["verify", "samples/image.asdf"]).expect(0);
}

/// The list has every file; each is as its line claims.
#[test]
fn the_list_names_each_sample() {
    let here = tempfile::tempdir().unwrap();
    let list = run(here.path(), &["samples", "--list"]);
    assert!(!here.path().join("samples").exists());
    run(here.path(), &["samples", "-o", "."]).expect(2);
    run(here.path(), &["samples", "-o", "a/b"]).expect(0);
    for line in list.expect(0).lines() {
        let (name, about) = line.split_once('\t').unwrap();
        let path = format!("a/b/{name}");
        let verdict = run(here.path(), &["verify", "--json", &path]);
        let is_damaged = ["ended early", "differs", "ended before", "another format"]
            .iter()
            .any(|word| about.contains(word));
        assert_eq!(verdict.code == Some(0), !is_damaged, "{line}: {}", verdict.out);
    }
}
