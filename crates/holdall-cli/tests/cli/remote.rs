//! Files at URLs: each reading verb as for a file, each writing verb refused.

#[path = "../../../holdall-remote/tests/server/mod.rs"]
mod server;

use std::path::Path;
use std::sync::Arc;

use server::{Answer, Server};

use crate::support::{Run, contents, run, testdata};

/// Files of which every verb for values has something to show.
const FILES: [&str; 5] = [
    "asdf/ok/image.asdf",
    "blosc2/ok/old_shape_2d_edges.b2nd",
    "bloscpack/ok/np_30x30.blp",
    "gsd/ok/hoomd_full.gsd",
    "rawarray/ok/f4_3x4.ra",
];

/// The fixtures, each at its path below their folder.
fn fixtures() -> Server {
    Server::new(|_, request| {
        let path = request.target.split('?').next().unwrap_or_default().trim_start_matches('/');
        match std::fs::read(testdata().join(path)) {
            Ok(bytes) => Answer::part(&bytes, request, ""),
            Err(_) => Answer::status("404 Not Found", ""),
        }
    })
}

fn holdall(args: &[&str]) -> Run {
    run(&testdata(), args)
}

#[test]
fn reading_verbs_show_a_url_as_they_show_a_file() {
    let server = fixtures();
    let verbs: [&[&str]; 12] = [
        &["info"],
        &["info", "--json"],
        &["ls"],
        &["tree"],
        &["cat"],
        &["meta"],
        &["stat"],
        &["layout"],
        &["verify"],
        &["verify", "--json"],
        &["digest"],
        &["plot", "--term=blocks"],
    ];
    for file in FILES {
        let first = holdall(&["ls", file]).expect(0).split('\t').next().unwrap().to_owned();
        for verb in verbs {
            let dataset =
                if matches!(verb[0], "cat" | "plot") { format!("::{first}") } else { String::new() };
            let with = |name: &str| holdall(&[verb, &[&format!("{name}{dataset}")]].concat());
            let (here, there) = (with(file), with(&server.url(&format!("/{file}"))));
            let renamed = |text: &str| text.replace(&server.url("/"), "");
            assert_eq!(here.code, there.code, "{verb:?} {file}: {there:#?}");
            assert_eq!(here.out, renamed(&there.out), "{verb:?} {file}");
            assert_eq!(here.err, renamed(&there.err), "{verb:?} {file}");
        }
    }
}

#[test]
fn files_at_urls_are_compared_converted_and_unpacked() {
    let server = fixtures();
    let place = tempfile::tempdir().unwrap();
    for file in FILES {
        let url = server.url(&format!("/{file}"));
        assert_eq!(holdall(&["diff", &url, file]).expect(0), "", "{file}");
        let end = Path::new(file).extension().unwrap().to_str().unwrap();
        let target = place.path().join(format!("new.{end}"));
        let target = target.to_str().unwrap();
        holdall(&["convert", "-f", "--verify", &url, target]).expect(0);
        holdall(&["diff", target, file]).expect(0);
    }
    let url = server.url("/blosc2/ok/batches.b2b");
    let items = [&url, "blosc2/ok/batches.b2b"].map(|file| {
        let folder = tempfile::tempdir().unwrap();
        holdall(&["extract", "--items", file, "-o", folder.path().to_str().unwrap()]).expect(0);
        contents(folder.path())
    });
    assert!(!items[0].is_empty() && items[0] == items[1]);
    // Many at once, in order, with one that is not there.
    let url = |name: &str| server.url(&format!("/rawarray/ok/{name}"));
    let seen = holdall(&["verify", &url("f4_3x4.ra"), &url("none.ra"), "rawarray/ok/f4_3x4.ra"]);
    assert!(seen.out.contains(&url("none.ra")) && seen.code == Some(2), "{seen:#?}");
    assert_eq!(seen.out.matches("\tsound\t").count(), 2, "{seen:#?}");
}

#[test]
fn verbs_that_write_refuse_urls_by_name() {
    let server = fixtures();
    let url = server.url("/rawarray/ok/f4_3x4.ra");
    let place = tempfile::tempdir().unwrap();
    std::fs::copy(testdata().join("rawarray/ok/f4_3x4.ra"), place.path().join("a.ra")).unwrap();
    let args: [&[&str]; 13] = [
        &["append", &url, "a.ra"],
        &["meta", "--set", "/trailer=1", &url],
        &["explode", &url],
        &["implode", &url, "-o", "new.asdf"],
        &["repair", &url, "-o", "new.ra"],
        &["repair", "a.ra", "-o", &url],
        &["recode", &url, "new.ra"],
        &["recode", "a.ra", &url],
        &["pack", &url, "new.blp"],
        &["convert", "a.ra", &url],
        &["cat", "a.ra", "-o", &url],
        &["extract", "a.ra", "-o", &url],
        &["plot", "a.ra", "-o", &url],
    ];
    for args in args {
        let refused = run(place.path(), args);
        assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""), "{args:?}: {refused:#?}");
        assert!(
            refused.err.contains("URLs are read only") && refused.err.contains("copy"),
            "{args:?}: {refused:#?}"
        );
    }
    assert!(server.requests().is_empty());
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1);
}

#[test]
fn headers_and_addresses_stay_secret() {
    let server = Server::new(|_, request| match request.header("x-key") {
        Some("SECRET") => {
            let bytes = std::fs::read(testdata().join("asdf/ok/image.asdf")).unwrap();
            Answer::part(&bytes[..bytes.len() / 2], request, "")
        }
        _ => Answer::status("403 Forbidden", ""),
    });
    let url = server.url("/b/image.asdf?sig=SECRET").replace("http://", "http://user:SECRET@");
    let place = tempfile::tempdir().unwrap();
    let refused = run(place.path(), &["info", &url]);
    assert!(refused.code == Some(2) && refused.err.contains("403"), "{refused:#?}");
    let key = ["--header", "X-Key: SECRET"];
    let verbs: [&[&str]; 20] = [
        &["info"],
        &["info", "--json"],
        &["ls"],
        &["ls", "--json"],
        &["tree"],
        &["tree", "--json"],
        &["cat"],
        &["cat", "--format", "json"],
        &["meta", "--json"],
        &["meta"],
        &["layout"],
        &["layout", "--json"],
        &["verify"],
        &["verify", "--json"],
        &["digest"],
        &["digest", "--json"],
        &["stat", "--json"],
        &["plot", "--term=blocks"],
        &["extract"],
        &["diff", &url],
    ];
    for verb in verbs {
        let shown = run(place.path(), &[verb, &key, &[&url]].concat());
        assert!(!shown.out.contains("SECRET") && !shown.err.contains("SECRET"), "{verb:?}: {shown:#?}");
        if matches!(verb[0], "info" | "verify" | "digest") {
            let all = format!("{}{}", shown.out, shown.err);
            assert!(all.contains("/b/image.asdf?…"), "{verb:?}: {shown:#?}");
        }
    }
    let invalid = run(place.path(), &["info", "--header", "SECRET", &url]);
    assert!(invalid.code == Some(2) && invalid.err.contains("NAME: VALUE"), "{invalid:#?}");
    assert!(!invalid.err.contains("SECRET"), "{invalid:#?}");
}

#[test]
fn a_picture_of_a_url_is_named_after_its_file() {
    let image: Arc<[u8]> = std::fs::read(testdata().join("rawarray/ok/f4_3x4.ra")).unwrap().into();
    let server = Server::of(image, "\"1\"");
    let place = tempfile::tempdir().unwrap();
    run(place.path(), &["plot", &server.url("/b/image.ra?sig=SECRET")]).expect(0);
    let bytes = std::fs::read(place.path().join("image.png")).unwrap();
    assert!(!bytes.windows(6).any(|six| six == b"SECRET"));
}

#[test]
fn a_scheme_that_is_not_known_is_refused() {
    for url in ["ftp://h/x", "zip://a.zip"] {
        let refused = holdall(&["info", url]);
        assert_eq!(refused.code, Some(2));
        assert!(refused.err.contains("http, https"), "{refused:#?}");
    }
}
