//! Sparse Blosc2 frames as targets, read by python-blosc2.

use std::fs;

use crate::blosc2::{python, start};
use crate::support::run;

#[test]
fn a_sparse_frame_is_a_directory_that_python_reads() {
    let folder = start();
    let at = folder.path();
    let chunks = ["--chunks", "20,17,4"];
    let args = [&["convert", "a.npy", "s.b2nd", "-O", "sparse=yes", "--verify"][..], &chunks].concat();
    run(at, &args).expect(0);
    assert!(at.join("s.b2nd/chunks.b2frame").is_file());
    let same = "a = np.load('a.npy'); b = blosc2.open('s.b2nd'); \
                print(np.array_equal(a, b[:]), b.schunk.contiguous, b.schunk.nchunks)";
    assert_eq!(python(at, same), "True False 3");
    run(at, &["verify", "s.b2nd"]).expect(0);
    run(at, &["diff", "a.npy", "s.b2nd"]).expect(0);
    let names = || {
        let mut names: Vec<_> =
            fs::read_dir(at.join("s.b2nd")).unwrap().map(|it| it.unwrap().file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(names(), ["00000000.chunk", "00000001.chunk", "00000002.chunk", "chunks.b2frame"]);
    // And from one frame to the other, and back.
    run(at, &["recode", "s.b2nd", "t.b2nd", "-O", "sparse=yes", "--codec", "lz4", "--verify"]).expect(0);
    run(at, &["recode", "t.b2nd", "u.b2nd", "-O", "sparse=no"]).expect(0);
    assert!(at.join("t.b2nd").is_dir() && at.join("u.b2nd").is_file());
    run(at, &["diff", "t.b2nd", "u.b2nd"]).expect(0);
    assert_eq!(python(at, "print(np.array_equal(np.load('a.npy'), blosc2.open('t.b2nd')[:]))"), "True");
}

#[test]
fn foreign_directory_is_kept_and_errors_leave_no_files() {
    let folder = start();
    let at = folder.path();
    fs::create_dir(at.join("mine")).unwrap();
    fs::write(at.join("mine/notes"), b"kept").unwrap();
    let sparse = ["-O", "sparse=yes", "--to", "blosc2"];
    let convert =
        |target: &str, more: &[&str]| run(at, &[&["convert", "a.npy", target][..], &sparse, more].concat());
    convert("mine", &["-f"]).expect(2);
    assert_eq!(fs::read(at.join("mine/notes")).unwrap(), b"kept");
    convert("-", &[]).expect(2);
    convert("s", &[]).expect(0);
    convert("s", &[]).expect(2);
    convert("s", &["-f"]).expect(0);
    convert("x", &["--codec", "nothing"]).expect(2);
    run(at, &["convert", "a.npy", "y.b2nd", "-O", "sparse=perhaps"]).expect(2);
    run(at, &["convert", "a.npy", "y.ra", "-O", "sparse=yes"]).expect(2);
    let mut names: Vec<_> = fs::read_dir(at).unwrap().map(|it| it.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["a.npy", "mine", "s"]);
}
