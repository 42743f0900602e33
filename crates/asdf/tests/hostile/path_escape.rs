//! Names of other files: the paths that they may and may not refer to.

use std::fs;
use std::path::Path;

use asdf::container_core::ErrorKind;
use asdf::container_core::container::ReadOptions;
use asdf::container_core::dtype::Order;
use asdf::{ExternalFiles, File, OpenOptions, Strictness};

use crate::crafted::{file, options, plain};

fn naming(uri: &str) -> Vec<u8> {
    file(
        &format!(
            "a: !core/ndarray-1.1.0 {{source: '{uri}', datatype: int8, byteorder: big, shape: [4]}}\nr: {{$ref: '{uri}#/secret'}}"
        ),
        &[],
    )
}

fn secret() -> Vec<u8> {
    file("secret: 7", &[plain(b"abcd")])
}

fn open(path: &Path, external: ExternalFiles) -> File {
    let mut options: OpenOptions = options(Strictness::Compatible);
    options.external = external;
    File::open_with(path, options).unwrap()
}

/// Whether the array and the reference of a file are read.
fn reads(file: &File) -> bool {
    let array = file.whole(0).and_then(|whole| {
        let read = file.read_index(0, &whole, &ReadOptions::default())?;
        Ok(read.bytes(Order::C, &Default::default())?.into_owned())
    });
    let uri = file.find_references().unwrap()[0].uri.clone();
    let reference = file.find_reference(&uri).map(|referent| referent.node.text().to_owned());
    assert_eq!(array.is_ok(), reference.is_ok(), "{array:?} {reference:?}");
    if let Ok(read) = &array {
        assert_eq!((&read[..], reference.unwrap().as_str()), (&b"abcd"[..], "7"));
    }
    array.is_ok()
}

#[test]
fn external_uris_outside_the_directory_are_refused() {
    let outer = tempfile::tempdir().unwrap();
    let inner = outer.path().join("inner");
    fs::create_dir(&inner).unwrap();
    fs::create_dir(inner.join("sub")).unwrap();
    for place in ["x.asdf", "inner/x.asdf", "inner/sub/x.asdf"] {
        fs::write(outer.path().join(place), secret()).unwrap();
    }
    let main = inner.join("main.asdf");
    let try_uri = |uri: &str, external: ExternalFiles| {
        fs::write(&main, naming(uri)).unwrap();
        reads(&open(&main, external))
    };
    let absolute = outer.path().join("x.asdf").display().to_string();
    let inside = inner.join("x.asdf").display().to_string();
    for uri in [
        "../x.asdf".to_owned(),
        "sub/../../x.asdf".into(),
        "%2e%2e/x.asdf".into(),
        "..%2Fx.asdf".into(),
        "./.././x.asdf".into(),
        absolute.clone(),
        inside,
        format!("file://{absolute}"),
        format!("file:{absolute}"),
        format!("FILE://localhost{absolute}"),
        "http://localhost:9/x.asdf".into(),
        "https://x/x.asdf".into(),
        "s3://bucket/x.asdf".into(),
        "memory://x.asdf".into(),
        "//host/x.asdf".into(),
        "\\\\host\\x.asdf".into(),
        "x.asdf?y".into(),
        "x.asdf%00.txt".into(),
        ".".into(),
        "sub".into(),
        "/dev/zero".into(),
        "nothing.asdf".into(),
    ] {
        assert!(!try_uri(&uri, ExternalFiles::SameFolder), "{uri}");
        assert!(!try_uri(&uri, ExternalFiles::Deny), "{uri}");
    }
    for uri in ["x.asdf", "./x.asdf", "sub/x.asdf", "%78.asdf"] {
        assert!(try_uri(uri, ExternalFiles::SameFolder), "{uri}");
        assert!(!try_uri(uri, ExternalFiles::Deny), "{uri}");
    }
    // A root that the caller names is allowed.
    assert!(try_uri("../x.asdf", ExternalFiles::Under(outer.path().into())));
    assert!(!try_uri("../../x.asdf", ExternalFiles::Under(outer.path().into())));
    assert!(!try_uri("../x.asdf", ExternalFiles::Under(inner.clone())));
    assert!(!try_uri("x.asdf", ExternalFiles::Under(inner.join("sub"))));
    assert!(!try_uri(&absolute, ExternalFiles::Under(outer.path().into())));
    // Bytes without a folder have no files next to them.
    let bytes = File::from_bytes(naming("x.asdf"), options(Strictness::Compatible)).unwrap();
    assert!(matches!(bytes.whole(0).unwrap_err().kind(), ErrorKind::Unsupported(_)));
}

#[cfg(unix)]
#[test]
fn symlinks_outside_the_directory_are_refused() {
    use std::os::unix::fs::symlink;
    let outer = tempfile::tempdir().unwrap();
    let inner = outer.path().join("inner");
    fs::create_dir(&inner).unwrap();
    fs::write(outer.path().join("x.asdf"), secret()).unwrap();
    fs::write(inner.join("in.asdf"), secret()).unwrap();
    symlink("../x.asdf", inner.join("link.asdf")).unwrap();
    symlink("..", inner.join("up")).unwrap();
    symlink("circle.asdf", inner.join("circle.asdf")).unwrap();
    symlink("in.asdf", inner.join("fine.asdf")).unwrap();
    symlink("/dev/zero", inner.join("zero.asdf")).unwrap();
    let main = inner.join("main.asdf");
    for (uri, expected) in [
        ("link.asdf", false),
        ("up/x.asdf", false),
        ("up/inner/in.asdf", true),
        ("circle.asdf", false),
        ("zero.asdf", false),
        ("fine.asdf", true),
    ] {
        fs::write(&main, naming(uri)).unwrap();
        assert_eq!(reads(&open(&main, ExternalFiles::SameFolder)), expected, "{uri}");
    }
    // A named pipe would keep the reader waiting for ever.
    let status = std::process::Command::new("mkfifo").arg(inner.join("pipe.asdf")).status();
    if status.is_ok_and(|status| status.success()) {
        fs::write(&main, naming("pipe.asdf")).unwrap();
        assert!(!reads(&open(&main, ExternalFiles::SameFolder)));
    }
}

#[test]
fn files_that_name_one_another() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let refers = |uri: &str| file(&format!("r: {{$ref: '{uri}'}}"), &[]);
    fs::write(at("a.asdf"), refers("b.asdf#/r")).unwrap();
    fs::write(at("b.asdf"), refers("a.asdf#/r")).unwrap();
    let file = open(&at("a.asdf"), ExternalFiles::SameFolder);
    let error = file.find_reference("b.asdf#/r").unwrap_err();
    assert!(!error.to_string().is_empty());
    // A chain of more files than are allowed.
    for number in 0..40 {
        fs::write(at(&format!("c{number}.asdf")), refers(&format!("c{}.asdf#/r", number + 1))).unwrap();
    }
    fs::write(at("c40.asdf"), crate::crafted::file("r: 5", &[])).unwrap();
    let file = open(&at("c0.asdf"), ExternalFiles::SameFolder);
    let error = file.find_reference("c1.asdf#/r").unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
    // An array in itself by its own name is its own block, and a source that names no first block is damage.
    fs::write(at("self.asdf"), naming("none.asdf")).unwrap();
    fs::write(at("none.asdf"), crate::crafted::file("secret: 7", &[])).unwrap();
    assert!(open(&at("self.asdf"), ExternalFiles::SameFolder).whole(0).is_err());
    // More files than are allowed.
    let mut few: OpenOptions = options(Strictness::Compatible);
    few.max_external_files = 2;
    let file = File::open_with(at("c0.asdf"), few).unwrap();
    let opened = (10..20).filter(|number| file.external(&format!("c{number}.asdf")).is_ok()).count();
    assert_eq!(opened, 2);
}
