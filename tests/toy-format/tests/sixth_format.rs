//! Every verb of the command handles a format that it does not contain: [`toy_format::FORMAT`], added by one line.

use std::path::Path;
use std::process::{Command, Output};

/// Runs the command with the format added.
fn holdall(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_holdall-with-toy"));
    command.current_dir(folder).args(arguments).output().expect("the command runs")
}

/// Standard output of a run that ends with exit code 0.
fn stdout(folder: &Path, arguments: &[&str]) -> String {
    let done = holdall(folder, arguments);
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).expect("text")
}

/// A folder with an array of `<i4` as `.npy`, of which the specification of numpy gives the bytes.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let mut npy = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    let header = "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }";
    npy.extend(format!("{header:<117}\n").as_bytes());
    npy.extend([1_i32, -2, 3, 400, 5, 66_000].iter().flat_map(|value| value.to_le_bytes()));
    std::fs::write(folder.path().join("a.npy"), npy).expect("written");
    folder
}

/// The file of that array, by the layout in the crate's documentation.
fn toy() -> Vec<u8> {
    let mut toy = b"TOYARRAY\x00\x04data\x03<i4\x02".to_vec();
    toy.extend([2_u64, 3].iter().flat_map(|len| len.to_le_bytes()));
    let data: Vec<u8> = [1_i32, -2, 3, 400, 5, 66_000].iter().flat_map(|it| it.to_le_bytes()).collect();
    toy.extend(&data);
    toy.extend(data.iter().map(|byte| u64::from(*byte)).sum::<u64>().to_le_bytes());
    toy
}

#[test]
fn it_is_listed_with_its_support_and_in_the_help() {
    let folder = folder();
    let formats = stdout(folder.path(), &["formats"]);
    assert!(formats.lines().any(|line| line.starts_with("Toy\t1\tyes\tyes\tyes\tyes\t.toy")), "{formats}");
    let help = stdout(folder.path(), &["convert", "--help"]);
    assert!(help.contains("Toy (.toy): none; colour=red|blue"), "{help}");
    let error = holdall(folder.path(), &["convert", "a.npy", "a.unknown"]);
    assert!(String::from_utf8_lossy(&error.stderr).contains("toy (.toy)"), "{error:?}");
}

#[test]
fn it_is_written_and_read_by_every_reading_verb() {
    let folder = folder();
    stdout(folder.path(), &["convert", "--verify", "a.npy", "a.toy", "-O", "colour=red"]);
    assert_eq!(std::fs::read(folder.path().join("a.toy")).expect("read"), toy());
    assert!(stdout(folder.path(), &["info", "a.toy"]).contains("Toy"));
    assert!(stdout(folder.path(), &["ls", "a.toy"]).starts_with("data\t<i4\t(2, 3)\t"));
    assert_eq!(stdout(folder.path(), &["cat", "a.toy::data[1]"]), "400\n5\n66000\n");
    assert!(stdout(folder.path(), &["layout", "a.toy"]).contains("data"));
    assert!(stdout(folder.path(), &["stat", "a.toy"]).contains("66000"));
    assert_eq!(stdout(folder.path(), &["meta", "a.toy"]), "{}\n");
    let digest = |file: &str| stdout(folder.path(), &["digest", file]).split(' ').next().map(str::to_owned);
    assert_eq!(digest("a.toy"), digest("a.npy"));
    stdout(folder.path(), &["diff", "a.toy", "a.npy"]);
    stdout(folder.path(), &["plot", "a.toy", "-o", "a.svg"]);
    stdout(folder.path(), &["recode", "a.toy", "b.toy"]);
    assert_eq!(std::fs::read(folder.path().join("b.toy")).expect("read"), toy());
}

#[test]
fn it_is_converted_to_every_other_format_and_back() {
    let folder = folder();
    std::fs::write(folder.path().join("a.toy"), toy()).expect("written");
    for extension in ["asdf", "blp", "b2nd", "gsd", "ra", "npy", "fits", "zarr"] {
        let target = format!("b.{extension}");
        stdout(folder.path(), &["convert", "--verify", "a.toy", &target]);
        if !matches!(extension, "fits" | "zarr") {
            stdout(folder.path(), &["convert", "--verify", &target, "back.toy", "-f"]);
            assert_eq!(stdout(folder.path(), &["cat", "back.toy"]), stdout(folder.path(), &["cat", "a.toy"]));
        }
    }
}

#[test]
fn it_is_verified_found_in_folders_and_repaired() {
    let folder = folder();
    let below = folder.path().join("below");
    std::fs::create_dir(&below).expect("made");
    std::fs::write(below.join("sound.toy"), toy()).expect("written");
    stdout(folder.path(), &["verify", "below"]);
    let mut damaged = toy();
    let second = damaged.split_off(8);
    damaged.extend([second.clone(), second].concat());
    damaged[40] ^= 1;
    std::fs::write(below.join("named-otherwise"), &damaged).expect("written");
    let verify = holdall(folder.path(), &["verify", "--json", "below"]);
    assert_eq!(verify.status.code(), Some(1), "{verify:?}");
    let found = String::from_utf8_lossy(&verify.stdout);
    assert!(found.contains("\"sum\"") && found.contains("sound.toy"), "{found}");
    let repair = holdall(folder.path(), &["repair", "below/named-otherwise", "-o", "repaired.toy"]);
    assert_eq!(repair.status.code(), Some(1), "{repair:?}");
    assert_eq!(std::fs::read(folder.path().join("repaired.toy")).expect("read"), toy());
    damaged = toy();
    damaged[3] ^= 0x40;
    std::fs::write(folder.path().join("letter"), &damaged).expect("written");
    let error = holdall(folder.path(), &["info", "letter"]);
    assert!(String::from_utf8_lossy(&error.stderr).contains("nearly those of Toy files"), "{error:?}");
}

#[test]
fn items_are_packed_and_extracted() {
    let folder = folder();
    std::fs::write(folder.path().join("notes.txt"), "first\nsecond line\n").expect("written");
    stdout(folder.path(), &["pack", "--items", "lines", "--verify", "notes.txt", "notes.toy"]);
    assert!(stdout(folder.path(), &["ls", "notes.toy"]).starts_with("0\t"));
    stdout(folder.path(), &["pack", "--items", "files", "notes.txt", "a.npy", "files.toy"]);
    stdout(folder.path(), &["verify", "notes.toy", "files.toy"]);
    let error = holdall(folder.path(), &["pack", "--items", "lines", "notes.txt", "notes.ra"]);
    assert!(String::from_utf8_lossy(&error.stderr).contains("Toy (.toy)"), "{error:?}");
}

#[test]
fn verbs_that_it_lacks_are_refused_by_name() {
    let folder = folder();
    std::fs::write(folder.path().join("a.toy"), toy()).expect("written");
    for arguments in [["append", "a.toy", "a.npy"].as_slice(), &["meta", "--set", "/a=1", "a.toy"]] {
        let error = holdall(folder.path(), arguments);
        assert_eq!(error.status.code(), Some(2), "{error:?}");
        assert!(String::from_utf8_lossy(&error.stderr).contains("Toy"), "{error:?}");
    }
    assert_eq!(std::fs::read(folder.path().join("a.toy")).expect("read"), toy());
}
