//! Standard output that closes early or is full.

use std::io::Read;
use std::path::Path;
use std::process::Stdio;

use crate::support::{Run, files, floats, holdall, rawarray};

/// Adds a file whose values fill any pipe's buffer many times over, in every form of output.
fn add_big(directory: &Path) {
    let data = floats(4000).repeat(200);
    std::fs::write(directory.join("big.ra"), rawarray(3, 4, &[4000, 200], &data)).unwrap();
    let dims = [1_u64; 64];
    std::fs::write(directory.join("many.ra"), rawarray(3, 4, &dims, &floats(1))).unwrap();
}

/// Runs with a reader that takes `bytes` bytes and goes.
fn read_and_go(directory: &Path, args: &[&str], bytes: usize) -> Run {
    let mut command = holdall(directory);
    let mut child = command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let mut taken = vec![0; bytes];
    stdout.read_exact(&mut taken).unwrap();
    drop(stdout);
    Run::of(&child.wait_with_output().unwrap())
}

#[test]
fn a_closed_pipe_ends_silently() {
    let directory = files();
    add_big(directory.path());
    for args in [
        &["cat", "big.ra"][..],
        &["cat", "big.ra", "--format", "raw"],
        &["cat", "big.ra", "--format", "csv"],
        &["cat", "big.ra", "--format", "json"],
        &["cat", "big.ra", "--format", "npy"],
        &["convert", "big.ra", "-", "--to", "npy"],
        &["convert", "big.ra", "-", "--to", "rawarray"],
    ] {
        let run = read_and_go(directory.path(), args, 1);
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{args:?}");
    }
}

#[test]
fn unread_output_is_success() {
    let directory = files();
    add_big(directory.path());
    for args in [
        &["info", "good.ra"][..],
        &["ls", "--json", "good.ra"],
        &["tree", "many.ra"],
        &["layout", "good.ra"],
        &["verify", "good.ra", "good.ra", "good.ra"],
        &["formats"],
        &["completions", "bash"],
        &["man"],
        &["--help"],
        &["--version"],
    ] {
        let run = read_and_go(directory.path(), args, 0);
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{args:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_under_standard_output_is_an_error() {
    let directory = files();
    for args in [&["info", "good.ra"][..], &["cat", "good.ra"], &["convert", "good.ra", "-", "--to", "npy"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output =
            holdall(directory.path()).args(args).stdout(full).stderr(Stdio::piped()).output().unwrap();
        let run = Run::of(&output);
        run.expect(2);
        assert!(run.err.starts_with("holdall: standard output: writing: No space left"), "{args:?} {run:#?}");
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_is_read_once_whatever_the_order_of_its_values() {
    use std::io::Write as _;

    use crate::support::npy;

    let directory = files();
    // Row-major values pass through as they are stored: a file would be opened again for that, by position.
    let array = npy("<f4", false, "(3, 2)", &floats(6));
    for args in [&["cat", "-::data[1]"][..], &["convert", "-::data[1]", "-", "--to", "npy"]] {
        let mut command = holdall(directory.path());
        let mut child = command
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(&array).unwrap();
        let run = Run::of(&child.wait_with_output().unwrap());
        let out = run.expect(0);
        assert!(args[0] == "convert" || out == "2.0\n3.0\n", "{out:?}");
    }
}

/// A pipe with a name gives its bytes once: who opens it again waits forever.
#[cfg(unix)]
#[test]
fn a_named_pipe_is_opened_once() {
    let directory = files();
    let fifo = directory.path().join("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let bytes = std::fs::read(directory.path().join("good.ra")).unwrap();
    for args in
        [&["verify", "fifo"][..], &["recode", "fifo", "b.ra", "-f"], &["repair", "fifo", "-o", "c.ra"]]
    {
        let mut command = holdall(directory.path());
        let mut child = command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // It waits until there is a reader.
        std::fs::write(&fifo, &bytes).unwrap();
        let waited = (0..600).any(|_| {
            let has_ended = child.try_wait().unwrap().is_some();
            if !has_ended {
                std::thread::sleep(std::time::Duration::from_millis(100));
            }
            has_ended
        });
        if !waited {
            child.kill().unwrap();
        }
        Run::of(&child.wait_with_output().unwrap()).expect(0);
    }
}
