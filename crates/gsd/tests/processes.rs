//! Writers in processes of their own: killed, out of room, and several for one chunk.
//!
//! A test runs itself again as a child, which finds its part in an environment variable.
#![cfg(unix)]

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use container_core::ErrorKind;
use gsd::{
    ChunkType, CommitScheme, Durability, File, OpenOptions, RowWriter, Strictness, Writer, WriterOptions,
    write_restart,
};

const PART: &str = "HOLDALL_GSD_CHILD";

/// Returns the parent's instructions, in a child.
fn part() -> Option<Vec<String>> {
    let part = std::env::var(PART).ok()?;
    Some(part.split('|').map(str::to_owned).collect())
}

/// This test again, as a child.
fn child(test: &str, part: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(PART, part.join("|"));
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    command
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Numbers that a child has printed in whole lines, after the output of the test runner.
fn said(child: &mut Child) -> Vec<u64> {
    let mut output = String::new();
    let _ = child.stdout.take().unwrap().read_to_string(&mut output);
    let whole = output.rfind('\n').map_or("", |end| &output[..end]);
    whole.lines().filter_map(|line| line.rsplit_once("did ")?.1.parse().ok()).collect()
}

fn write_frame(writer: &mut Writer) -> gsd::Result<()> {
    let frame = writer.nframes();
    writer.write_chunk("step", 1, 1, &[frame])?;
    writer.write_chunk("position", 500, 3, &[frame as f32; 1500])?;
    if frame.is_multiple_of(5) {
        writer.write_chunk(&format!("log/{frame}"), 1, 1, &[frame])?;
    }
    if frame.is_multiple_of(40) {
        writer.write_chunk("large", 300_000, 1, &vec![frame; 300_000])?;
    }
    writer.end_frame()
}

/// Opens a file and checks every value in it.
fn frames_of(path: &Path) -> u64 {
    let file = File::open_with(path, &OpenOptions::default().with_strictness(Strictness::Strict)).unwrap();
    for frame in 0..file.nframes() {
        let of =
            |name: &str| file.find_chunk(frame, name).unwrap_or_else(|| panic!("{name} in frame {frame}"));
        assert_eq!(*file.read_elements::<u64>(&of("step")).unwrap(), [frame]);
        let position = of("position");
        assert_eq!(position.shape(), [500, 3]);
        let position = file.read_elements::<f32>(&position).unwrap();
        assert!(position.iter().all(|value| *value == frame as f32));
        if frame.is_multiple_of(5) {
            assert_eq!(*file.read_elements::<u64>(&of(&format!("log/{frame}"))).unwrap(), [frame]);
        }
        if frame.is_multiple_of(40) {
            let large = file.read_elements::<u64>(&of("large")).unwrap();
            assert!(large.len() == 300_000 && large.iter().all(|value| *value == frame));
        }
    }
    file.nframes()
}

fn options() -> WriterOptions {
    WriterOptions::default()
}

#[test]
fn a_killed_writer_leaves_every_frame_that_it_committed() {
    if let Some(part) = part() {
        let [path, sync] = &part[..] else { panic!("{part:?}") };
        let sync = if sync == "sync" { Durability::Synced } else { Durability::Cached };
        let mut writer = Writer::append(path, &options().with_durability(sync)).unwrap();
        loop {
            write_frame(&mut writer).unwrap();
            println!("did {}", writer.committed_frames());
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("killed.gsd");
    let mut frames = 0;
    for round in 0..16_u64 {
        let sync = if round % 2 == 0 { "sync" } else { "no sync" };
        let mut child = child("a_killed_writer_leaves_every_frame_that_it_committed", &[text(&path), sync])
            .spawn()
            .unwrap();
        // Long enough to start writing, and then at any moment.
        std::thread::sleep(Duration::from_micros(15_000 + round * 7919 % 40_000));
        child.kill().unwrap();
        let committed = said(&mut child).last().copied().unwrap_or(frames);
        child.wait().unwrap();
        if path.exists() {
            let found = frames_of(&path);
            assert!(found >= committed && found <= committed + 1, "{found} frames, {committed} committed");
            frames = found;
        }
    }
    assert!(frames > 0, "no child came to write a frame");
}

#[test]
fn a_killed_restart_leaves_the_old_frame_or_the_new_one() {
    const NAME: &str = "a_killed_restart_leaves_the_old_frame_or_the_new_one";
    let fill = |step: u64| {
        move |writer: &mut Writer| {
            writer.write_chunk("step", 1, 1, &[step])?;
            writer.write_chunk("position", 30_000, 1, &vec![step; 30_000])
        }
    };
    if let Some(part) = part() {
        let first: u64 = part[1].parse().unwrap();
        for step in first.. {
            write_restart(&part[0], &options().with_durability(Durability::Cached), fill(step)).unwrap();
            println!("did {step}");
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("restart.gsd");
    write_restart(&path, &options(), fill(0)).unwrap();
    let mut last = 0;
    for round in 0..10_u64 {
        let mut child = child(NAME, &[text(&path), &format!("{}", last + 1)]).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(12_000 + round * 7919 % 30_000));
        child.kill().unwrap();
        let done = said(&mut child).last().copied().unwrap_or(last);
        child.wait().unwrap();
        let file = File::open(&path).unwrap();
        assert_eq!(file.nframes(), 1);
        let chunk = |name| file.read_elements::<u64>(&file.find_chunk(0, name).unwrap()).unwrap();
        let step = chunk("step")[0];
        assert!(step == done || step == done + 1, "step {step} after {done}");
        assert!(chunk("position").iter().all(|value| *value == step));
        last = step;
    }
    assert!(last > 0, "no child came to replace the file");

    // What cannot be filled leaves the file as it was, and nothing new. A killed child may have left its part of one, which the next writer removes.
    let names = || {
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>()
    };
    let before = names();
    let failed = write_restart(&path, &options(), |writer| writer.write_chunk("", 1, 1, &[1_u8]));
    assert!(failed.is_err());
    assert_eq!(File::open(&path).unwrap().nframes(), 1);
    let after = names();
    assert!(
        after.contains(&"restart.gsd".into()) && after.iter().all(|name| before.contains(name)),
        "{after:?}"
    );
}

/// Runs itself under a limit on file sizes, as on a full disk.
#[test]
fn a_file_that_may_not_grow_keeps_what_was_committed() {
    const NAME: &str = "a_file_that_may_not_grow_keeps_what_was_committed";
    if let Some(part) = part() {
        let scheme = if part[1] == "atomic" { CommitScheme::Atomic } else { CommitScheme::Reference };
        let mut writer = Writer::append(&part[0], &options().with_scheme(scheme)).unwrap();
        let failed = loop {
            if let Err(error) = write_frame(&mut writer) {
                break error;
            }
        };
        assert!(
            matches!(failed.kind(), ErrorKind::Io(error) if error.kind() == std::io::ErrorKind::FileTooLarge),
            "{failed}"
        );
        assert!(matches!(writer.flush().unwrap_err().kind(), ErrorKind::Usage(_)));
        assert_eq!(writer.committed_frames(), frames_of(Path::new(&part[0])));
        println!("did {}", writer.committed_frames());
        return;
    }
    for scheme in ["atomic", "reference"] {
        // In blocks of 512 or 1024 bytes.
        for blocks in [6000, 7000, 7037] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("full.gsd");
            let mut limited = Command::new("sh");
            limited.args(["-c", &format!(r#"ulimit -f {blocks} && exec "$0" --exact "$1" --nocapture"#)]);
            limited.arg(std::env::current_exe().unwrap()).arg(NAME);
            limited.env(PART, [text(&path), scheme].join("|")).stdout(Stdio::piped());
            let mut limited = limited.spawn().unwrap();
            let committed = said(&mut limited).last().copied();
            assert!(limited.wait().unwrap().success());
            let committed = committed.expect("the child says how far it came");
            assert!(committed > 0 && frames_of(&path) == committed);
            // Without the limit it continues.
            let mut writer = Writer::append(&path, &options()).unwrap();
            (0..3).for_each(|_| write_frame(&mut writer).unwrap());
            writer.close().unwrap();
            assert_eq!(frames_of(&path), committed + 3);
        }
    }
}

#[test]
fn several_processes_fill_one_chunk() {
    const NAME: &str = "several_processes_fill_one_chunk";
    if let Some(part) = part() {
        let [path, token, first] = &part[..] else { panic!("{part:?}") };
        let rows = RowWriter::open_token(path, token).unwrap();
        assert_eq!(rows.shape(), (3000, 3));
        let first: u64 = first.parse().unwrap();
        for row in first..first + 1000 {
            rows.write_rows(row, &[row as f32; 3]).unwrap();
        }
        assert!(rows.write_rows(first, &[0_f32; 3]).is_err());
        rows.sync().unwrap();
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shared.gsd");
    let mut writer = Writer::create(&path, &options()).unwrap();
    for frame in 0..2_u64 {
        writer.write_chunk("step", 1, 1, &[frame]).unwrap();
        let chunk = writer.reserve_chunk("position", ChunkType::Float, 3000, 3).unwrap();
        let token = chunk.to_token().unwrap();
        let children: Vec<Child> = ["0", "1000", "2000"]
            .map(|first| child(NAME, &[text(&path), &token, first]).spawn().unwrap())
            .into();
        assert!(matches!(writer.end_frame().unwrap_err().kind(), ErrorKind::Usage(_)));
        for (mut child, first) in children.into_iter().zip([0, 1000, 2000]) {
            let _ = said(&mut child);
            assert!(child.wait().unwrap().success());
            chunk.confirm(first..first + 1000).unwrap();
        }
        assert_eq!(chunk.missing(), None);
        assert_eq!(File::open(&path).unwrap().nframes(), frame);
        writer.end_frame().unwrap();
    }
    let other = folder.path().join("other.gsd");
    let chunk = writer.reserve_chunk("more", ChunkType::Float, 10, 1).unwrap();
    Writer::create(&other, &options()).unwrap().close().unwrap();
    for (path, token) in [(&path, "gsd-rows-1 512 9 1"), (&other, &*chunk.to_token().unwrap())] {
        let error = RowWriter::open_token(path, token).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
    }
    writer.close().unwrap();
    let file = File::open(&path).unwrap();
    assert_eq!(file.nframes(), 2);
    for frame in 0..2 {
        let entry = file.find_chunk(frame, "position").unwrap();
        let values = file.read_elements::<f32>(&entry).unwrap();
        assert!(values.chunks(3).zip(0_u16..).all(|(row, number)| row == [f32::from(number); 3]));
    }
}
