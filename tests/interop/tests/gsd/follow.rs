//! A file that gsd writes is followed while it does.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use gsd::{Change, File, Follower, LastFramePolicy, OpenOptions};
use interop::peer::{python, script};

/// Checks that a frame is as the script has written it.
fn check(file: &File, frame: u64) {
    let step = file.find_chunk(frame, "step").unwrap_or_else(|| panic!("no step in frame {frame}"));
    assert_eq!(*file.read_elements::<u64>(&step).unwrap(), [frame]);
    let values = file.find_chunk(frame, "values").unwrap_or_else(|| panic!("no values in frame {frame}"));
    assert_eq!((values.n, values.m), (frame % 7 + 1, 3));
    let expected: Vec<f32> = (0..values.n * 3).map(|at| (at + frame) as f32).collect();
    assert_eq!(*file.read_elements::<f32>(&values).unwrap(), *expected);
    let own: Vec<String> = file.frame_chunks(frame).map(|(name, _)| name.into_owned()).skip(2).collect();
    let named = frame.is_multiple_of(5).then(|| format!("log/of/frame/{frame}"));
    assert_eq!(own, named.into_iter().collect::<Vec<_>>());
}

fn start(path: &Path, frames: u64, flush: u64) -> Child {
    let mut python = Command::new(python().unwrap());
    python.arg(script("gsd_follow.py")).arg(path).args([frames.to_string(), flush.to_string()]);
    python.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
}

/// Takes what there is; gives the number of frames that came so far.
fn take(follower: &mut Follower, seen: u64) -> u64 {
    match follower.poll().unwrap() {
        Change::Frames(frames) => {
            assert_eq!((frames.start, frames.end), (seen, follower.file().nframes()));
            frames.clone().for_each(|frame| check(follower.file(), frame));
            frames.end
        }
        Change::Nothing => seen,
        Change::Replaced => panic!("it is the same file"),
    }
}

/// Lets the script go on when the test has failed.
struct Release<'a>(&'a AtomicU64);

impl Drop for Release<'_> {
    fn drop(&mut self) {
        self.0.store(u64::MAX, Ordering::SeqCst);
    }
}

#[test]
fn frames_of_gsd_come_once_and_whole() {
    // Index and names move several times.
    for (frames, flush) in [(400, 1), (1500, 13)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.gsd");
        let mut child = start(&path, frames, flush);
        let mut to = child.stdin.take().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // Frames that are in the file for certain, and those of which the script knows that they were looked at.
        let written = AtomicU64::new(0);
        let answered = AtomicU64::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while let Some(Ok(line)) = lines.next() {
                    let count = line.parse().unwrap_or(frames);
                    written.store(count, Ordering::SeqCst);
                    while line != "done" && answered.load(Ordering::SeqCst) < count {
                        std::thread::sleep(Duration::from_micros(50));
                    }
                    if line != "done" {
                        to.write_all(b"\n").unwrap();
                    }
                }
            });
            let _release = Release(&answered);
            let open = || Follower::open_with(&path, &OpenOptions::default(), LastFramePolicy::Twice);
            let mut follower = loop {
                // The reference makes its files in steps.
                match open() {
                    Ok(follower) => break follower,
                    Err(_) => std::thread::sleep(Duration::from_millis(1)),
                }
            };
            let mut seen = 0;
            while seen < frames {
                let there = written.load(Ordering::SeqCst);
                seen = take(&mut follower, seen);
                if there > answered.load(Ordering::SeqCst) {
                    // What was flushed before is there by the second look.
                    seen = take(&mut follower, seen);
                    assert!(seen >= there, "{seen} of {there} frames came");
                    answered.store(there, Ordering::SeqCst);
                }
                std::thread::sleep(Duration::from_micros(300));
            }
            assert_eq!(take(&mut follower, seen), frames);
            (0..frames).for_each(|frame| check(follower.file(), frame));
        });
        assert!(child.wait().unwrap().success());
    }
}
