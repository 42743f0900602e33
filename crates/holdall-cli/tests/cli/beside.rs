//! Other processes that change a file while the command reads it, and leftovers of killed ones.

use std::io::Read;
use std::process::Stdio;

use crate::support::{contents, files, holdall, npy, run};

/// A lost mapped page once ended the command by a signal.
#[cfg(target_os = "linux")]
#[test]
fn a_file_that_is_cut_while_it_is_read_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path().join("a.npy");
    // Column-major, so that it is mapped to be read row by row.
    std::fs::write(&at, npy("<f8", true, "(4096, 32768)", b"")).unwrap();
    let file = std::fs::File::options().write(true).open(&at).unwrap();
    file.set_len(file.metadata().unwrap().len() + 4096 * 32768 * 8).unwrap();
    let mut command = holdall(directory.path());
    command.args(["cat", "a.npy", "--format", "raw"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    // It waits for the pipe now, with more to read.
    out.read_exact(&mut [0]).unwrap();
    file.set_len(4096).unwrap();
    let mut rest = Vec::new();
    out.read_to_end(&mut rest).unwrap();
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert!(err.contains("became shorter while it was read"), "{err}");
}

/// 64 columns of 2⁴⁰ numbers need more room than any disk has.
#[cfg(target_os = "linux")]
#[test]
fn insufficient_disk_space_is_reported_before_writing() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    // A file with a hole: it claims what it has.
    std::fs::write(at.join("a.npy"), npy("<f8", false, "(549755813888,)", b"")).unwrap();
    let file = std::fs::File::options().write(true).open(at.join("a.npy")).unwrap();
    if file.set_len(file.metadata().unwrap().len() + (8 << 39)).is_err() {
        // Not every file system has files of 4 TiB.
        return;
    }
    let before: Vec<String> = std::fs::read_dir(at)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    for args in [
        &["convert", "a.npy", "b.fits"][..],
        &["convert", "a.npy", "b.ra"],
        &["convert", "a.npy", "b.asdf"],
        &["convert", "a.npy", "b.gsd"],
        &["cat", "a.npy", "-o", "b.npy"],
        &["cat", "a.npy", "-o", "b.csv"],
        &["cat", "a.npy", "-o", "b.bin"],
    ] {
        let told = run(at, args);
        if told.code == Some(0) {
            // A disk of petabytes.
            return;
        }
        told.expect(2);
        assert!(told.err.contains("No space left") || told.err.contains("File too large"), "{told:#?}");
        let after: Vec<String> = std::fs::read_dir(at)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        assert_eq!(after, before, "{args:?}");
    }
}

/// A conversion to a directory that is killed leaves one behind; the next one removes it.
#[cfg(target_os = "linux")]
#[test]
fn the_next_writer_removes_what_a_killed_one_left() {
    let directory = files();
    let at = directory.path();
    let data: Vec<u8> =
        (0..4_000_000_u32).flat_map(|at| (at.wrapping_mul(2_654_435_761)).to_le_bytes()).collect();
    std::fs::write(at.join("a.npy"), npy("<u4", false, "(4000, 1000)", &data)).unwrap();
    let left = || contents(at).into_iter().filter(|(name, _)| name.starts_with(".holdall-")).count();
    for _ in 0..20 {
        let mut child = holdall(at)
            .args(["convert", "a.npy", "b.zarr", "--chunks", "10,10", "--codec", "zstd"])
            .spawn()
            .unwrap();
        while left() == 0 && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        if left() > 0 {
            break;
        }
        let _ = std::fs::remove_dir_all(at.join("b.zarr"));
    }
    assert_eq!(left(), 1);
    run(at, &["convert", "good.npy", "b.zarr"]).expect(0);
    assert_eq!(left(), 0);
}
