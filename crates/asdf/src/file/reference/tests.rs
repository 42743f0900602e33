use container_core::ErrorKind;

use crate::{File, OpenOptions};

fn file(tree: &str) -> File {
    let text =
        format!("#ASDF 1.0.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n{tree}...\n");
    File::from_bytes(text.into_bytes(), OpenOptions::default()).unwrap()
}

fn text(file: &File, uri: &str) -> Option<String> {
    file.find_reference(uri).ok().map(|found| found.node.text().to_owned())
}

#[test]
fn pointers_are_taken_apart_before_they_are_decoded() {
    let file =
        file("a/b: one\na: {b: two, '': empty}\n'x~y': tilde\n'p%q': percent\nl: [zero, first]\n1: number\n");
    for (uri, value) in [
        ("#/a~1b", "one"),
        ("#/a%2Fb", "one"),
        ("#/a/b", "two"),
        // Python asdf does without the first slash.
        ("#a/b", "two"),
        ("#/a/", "empty"),
        ("#/x~0y", "tilde"),
        ("#/p%25q", "percent"),
        ("#/l/1", "first"),
        ("#/1", "number"),
    ] {
        assert_eq!(text(&file, uri).as_deref(), Some(value), "{uri}");
    }
    for nothing in ["#/l/01", "#/l/-1", "#/l/2", "#/a/b/c", "#/%zz", "#/nix"] {
        assert!(
            matches!(file.find_reference(nothing).unwrap_err().kind(), ErrorKind::Malformed(_)),
            "{nothing}"
        );
    }
    assert_eq!(file.find_reference("#").unwrap().node.id(), file.tree().root().id());
}

#[test]
fn reference_chains_resolve_and_circular_references_are_refused() {
    let file = file(concat!(
        "a: {$ref: '#/b', other: ignored}\n",
        "b: {$ref: '#/c/0'}\n",
        "c: [{x: found}]\n",
        "self: {$ref: '#/self'}\n",
        "one: {$ref: '#/two/x'}\n",
        "two: {$ref: '#/one'}\n",
        "none: {$ref: 5}\n",
    ));
    assert_eq!(text(&file, "#/a/x").as_deref(), Some("found"));
    let from = file.tree().find("a").unwrap();
    assert_eq!(file.resolve_reference(from).unwrap().node.id(), file.tree().find("c/0").unwrap().id());
    for circle in ["self", "one"] {
        let error = file.resolve_reference(file.tree().find(circle).unwrap()).unwrap_err();
        assert!(error.to_string().contains("cycle"), "{error}");
    }
    let found = file.find_references().unwrap();
    let paths: Vec<&str> = found.iter().map(|reference| reference.path.as_str()).collect();
    assert_eq!(paths, ["a", "b", "self", "one", "two"]);
    assert_eq!(found.first().unwrap().uri, "#/b");
    let plain = file.tree().find("c").unwrap();
    assert_eq!(file.resolve_reference(plain).unwrap().node.id(), plain.id());
}

#[test]
fn other_files_are_found_beside_this_one_and_nowhere_else() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("in");
    std::fs::create_dir(&inside).unwrap();
    let tree = |text: &str| format!("#ASDF 1.0.0\n%YAML 1.1\n---\n{text}...\n");
    std::fs::write(inside.join("a.asdf"), tree("x: {$ref: 'b%2Easdf#/y'}\nup: {$ref: '../out.asdf#/y'}\n"))
        .unwrap();
    std::fs::write(inside.join("b.asdf"), tree("y: {$ref: 'a.asdf#/z'}\nw: {$ref: '#/v'}\nv: 7\n")).unwrap();
    std::fs::write(folder.path().join("out.asdf"), tree("y: secret\n")).unwrap();
    let file = File::open(inside.join("a.asdf")).unwrap();
    // A fragment alone refers to the file that contains it.
    assert_eq!(text(&file, "b.asdf#/w").as_deref(), Some("7"));
    let error = file.find_reference("#/x").unwrap_err();
    assert!(error.to_string().contains("has no target"), "{error}");
    for refused in ["../out.asdf", "file:///etc/passwd", "/etc/passwd", "http://host/x.asdf"] {
        let error = file.find_reference(refused).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Unsupported(_)), "{refused}: {error}");
    }
    assert!(file.find_reference("#/up").is_err());
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(folder.path().join("out.asdf"), inside.join("link.asdf")).unwrap();
        let error = file.find_reference("link.asdf#/y").unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Unsupported(_)), "{error}");
    }
    // A wider folder is the caller's to allow.
    let below = crate::ExternalFiles::Under(folder.path().to_path_buf());
    let wider = OpenOptions { external: below, ..OpenOptions::default() };
    let file = File::open_with(inside.join("a.asdf"), wider).unwrap();
    assert_eq!(text(&file, "#/up").as_deref(), Some("secret"));
    let none = OpenOptions { external: crate::ExternalFiles::Deny, ..OpenOptions::default() };
    let file = File::open_with(inside.join("a.asdf"), none).unwrap();
    assert!(matches!(file.find_reference("b.asdf").unwrap_err().kind(), ErrorKind::Unsupported(_)));
}

#[test]
fn files_that_name_one_another_end_somewhere() {
    let folder = tempfile::tempdir().unwrap();
    let tree = |text: &str| format!("#ASDF 1.0.0\n%YAML 1.1\n---\n{text}...\n");
    std::fs::write(folder.path().join("a.asdf"), tree("x: {$ref: 'b.asdf#/x'}\n")).unwrap();
    std::fs::write(folder.path().join("b.asdf"), tree("x: {$ref: 'a.asdf#/x'}\n")).unwrap();
    let file = File::open(folder.path().join("a.asdf")).unwrap();
    let error = file.find_reference("#/x").unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
    let few = OpenOptions { max_external_files: 0, ..OpenOptions::default() };
    let file = File::open_with(folder.path().join("a.asdf"), few).unwrap();
    assert!(matches!(file.find_reference("b.asdf").unwrap_err().kind(), ErrorKind::Limit { .. }));
}

/// Steps that grew with the square of the references would take minutes.
#[test]
fn many_references_are_followed_in_time_that_grows_as_they_are_many() {
    let count = 50_000;
    let keys: String = (0..count).map(|at| format!("k{at}: 1\n")).collect();
    let references: String = (0..count).map(|at| format!("- {{$ref: '#/k{at}'}}\n")).collect();
    let text = format!("#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%YAML 1.1\n---\n{keys}r:\n{references}...\n");
    let file = File::from_bytes(text.into_bytes(), OpenOptions::default()).unwrap();
    let document = file.tree().document();
    let begin = std::time::Instant::now();
    let found = file.find_references().unwrap();
    assert_eq!(found.len(), count);
    for reference in found {
        assert_eq!(file.resolve_reference(document.node(reference.node)).unwrap().node.text(), "1");
    }
    assert!(begin.elapsed().as_secs() < 30, "{:?}", begin.elapsed());
}
