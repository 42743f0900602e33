//! Bloscpack 0.16 reads the files that are written here, appends to them, and its files are read and appended to here.

use std::path::{Path, PathBuf};
use std::process::Command;

use blosc_chunk::Compressor;
use bloscpack::{
    AppendOptions, ChecksumCode, ChunkOptions, File, Limits, Offsets, Shuffle, WriteOptions, append_bytes,
};
use container_core::container::ReadOptions;
use container_core::write::Durability;
use holdall::Address;
use holdall::convert::{ConvertOptions, ConvertOutcome, ReadBack};
use interop::peer::{python, script};
use tempfile::tempdir;

const CODECS: [Compressor; 5] =
    [Compressor::BLOSCLZ, Compressor::LZ4, Compressor::LZ4HC, Compressor::ZLIB, Compressor::ZSTD];
const SHUFFLES: [Shuffle; 3] = [Shuffle::None, Shuffle::Bytes, Shuffle::Bits];
const LENGTHS: [usize; 6] = [0, 1, 127, 128, 5000, 40_000];
const METADATA: [Option<&str>; 4] = [
    None,
    Some("{}"),
    Some("[1, 2.5, \"three\", null, true]"),
    Some("{\"\u{e9}\": \"\u{65e5}\u{672c}\", \"many\": [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]}"),
];

/// Runs a Python script; gives what it prints.
fn peer(name: &str, command: &str, folders: &[&Path]) -> String {
    let output =
        Command::new(python().unwrap()).arg(script(name)).arg(command).args(folders).output().unwrap();
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn bloscpack(command: &str, folders: &[&Path]) -> String {
    peer("bloscpack_cases.py", command, folders)
}

/// Numbers that grow by small steps.
fn data(len: usize) -> Vec<u8> {
    let mut sum = 0_u32;
    let numbers = (0..len.div_ceil(4) as u32).flat_map(|at| {
        sum += at.wrapping_mul(2_654_435_761) >> 29;
        sum.to_le_bytes()
    });
    let mut bytes: Vec<u8> = numbers.collect();
    bytes.truncate(len);
    bytes
}

/// The files of `folder` with this extension.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|it| it == extension)).collect();
    found.sort();
    found
}

fn options(number: usize, compressor: Compressor, shuffle: Shuffle, level: u8) -> WriteOptions {
    let checksum = ChecksumCode((number % 9) as u8);
    let typesize = [4, 8, 1, 14][number / 3 % 4];
    let mut options = WriteOptions::default();
    options.chunks = ChunkOptions::default()
        .with_codec(compressor, level)
        .with_shuffle(shuffle)
        .with_typesize(typesize)
        .with_checksum(checksum)
        .with_threads(1 + number % 2);
    options.chunk_size = [None, Some(16_384), Some(1000)][number % 3];
    options.offsets = if number.is_multiple_of(2) { Offsets::Table } else { Offsets::None };
    options.durability = Durability::Cached;
    options
}

#[test]
fn bloscpack_reads_every_codec_filter_checksum_and_metadata_that_is_written() {
    let folder = tempdir().unwrap();
    let mut number = 0;
    for compressor in CODECS {
        for shuffle in SHUFFLES {
            for (len, level) in LENGTHS.iter().flat_map(|&len| [0, 1, 7, 9].map(|level| (len, level))) {
                let path =
                    folder.path().join(format!("{number:03}_{compressor}_{shuffle:?}_{len}_{level}.blp"));
                let mut options = options(number, compressor, shuffle, level);
                if let Some(json) = METADATA[number % 4] {
                    let (tree, _) = bloscpack::from_json(json.as_bytes(), &Limits::default()).unwrap();
                    options.metadata = Some(tree);
                    std::fs::write(path.with_extension("json"), json).unwrap();
                }
                let plain = data(len);
                bloscpack::write(&path, &plain, &options).unwrap();
                std::fs::write(path.with_extension("bin"), &plain).unwrap();
                number += 1;
            }
        }
    }
    assert_eq!(number, 360);
    assert_eq!(bloscpack("expect", &[folder.path()]), number.to_string());
}

#[test]
fn files_from_bloscpack_are_read_whole_and_in_parts() {
    let folder = tempdir().unwrap();
    bloscpack("write", &[folder.path()]);
    let paths = files(folder.path(), "blp");
    assert_eq!(paths.len(), 180);
    for path in paths {
        let plain = std::fs::read(path.with_extension("bin")).unwrap();
        let file = File::open(&path).unwrap();
        assert!(file.layout().faults().is_empty(), "{}: {:?}", path.display(), file.layout().faults());
        let len = plain.len() as u64;
        assert_eq!(file.len().unwrap(), len, "{}", path.display());
        for range in [0..len, len / 3..len / 2, len.saturating_sub(7)..len] {
            let read = file.read_range(range.clone(), &ReadOptions::default()).unwrap();
            let expected = &plain[range.start as usize..range.end as usize];
            assert!(read == expected, "{} {range:?}", path.display());
        }
        let json = std::fs::read(path.with_extension("json")).ok();
        let tree = json.map(|json| bloscpack::from_json(&json, &Limits::default()).unwrap().0);
        assert_eq!(file.metadata(), tree.as_ref(), "{}", path.display());
    }
}

/// Bytes that fit into the last chunk, fill it, go beyond it, and need the last spare offsets.
#[test]
fn each_appends_to_files_of_the_other_and_reads_the_result() {
    let folder = tempdir().unwrap();
    let mut number = 0;
    for compressor in CODECS {
        for (len, more) in [(2500, 100), (2500, 500), (2500, 501), (2500, 9000), (3000, 1), (900, 400)] {
            for ours_first in [true, false] {
                let path = folder.path().join(format!("{number:02}.blp"));
                number += 1;
                let mut options = options(0, compressor, Shuffle::Bytes, 5);
                options.chunk_size = Some(1000);
                options.chunks.checksum = ChecksumCode((number % 9) as u8);
                let plain = data(len + 2 * more);
                bloscpack::write(&path, &plain[..len], &options).unwrap();
                let (first, second) = plain[len..].split_at(more);
                let (ours, theirs) = if ours_first { (first, second) } else { (second, first) };
                std::fs::write(path.with_extension("more"), theirs).unwrap();
                std::fs::write(path.with_extension("ours"), ours).unwrap();
                std::fs::write(path.with_extension("bin"), &plain).unwrap();
                if ours_first {
                    append(&path);
                }
            }
        }
    }
    bloscpack("append", &[folder.path()]);
    for path in files(folder.path(), "blp") {
        let plain = std::fs::read(path.with_extension("bin")).unwrap();
        let ours = std::fs::read(path.with_extension("ours")).unwrap();
        if plain.ends_with(&ours) && File::open(&path).unwrap().len().unwrap() < plain.len() as u64 {
            append(&path);
        }
        let file = File::open(&path).unwrap();
        let read = file.read_range(0..file.len().unwrap(), &ReadOptions::default()).unwrap();
        assert!(read == plain, "{}", path.display());
    }
    assert_eq!(bloscpack("expect", &[folder.path()]), number.to_string());
}

/// Files of Python's that end too early: what a repair keeps is what stood in front, and Python reads the same. Those with a changed byte in their
/// chunks are read by Python once they are repaired, as they are here.
#[test]
fn bloscpack_reads_repaired_files() {
    let (folder, made) = (tempdir().unwrap(), tempdir().unwrap());
    bloscpack("write", &[folder.path()]);
    let (mut number, mut kept, mut all, mut changed) = (0, 0, 0, 0);
    for path in files(folder.path(), "blp") {
        let plain = std::fs::read(path.with_extension("bin")).unwrap();
        if plain.len() < 5000 {
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        let data = File::open(&path).unwrap().layout().chunks().first().unwrap().range().start as usize;
        let cuts = [1, 2, 3, 5].map(|part| (true, data + (bytes.len() - data) * part / 6 + part));
        for (is_cut, at) in cuts.into_iter().chain([(false, (data + bytes.len()) / 2)]) {
            let mut damaged = bytes.clone();
            if is_cut {
                damaged.truncate(at);
            } else {
                damaged[at] ^= 0x10;
            }
            let torn = made.path().join("torn");
            let mended = made.path().join(format!("{number:04}.blp"));
            std::fs::write(&torn, damaged).unwrap();
            let label = format!("{} at {at}", path.display());
            let report = match bloscpack::repair(&torn, &mended) {
                // Its only block is the damaged one.
                Err(error) if !is_cut && error.is_damage() => continue,
                report => report.unwrap_or_else(|error| panic!("{label}: {error}")),
            };
            let file = File::open(&mended).unwrap();
            let read = file.read_range(0..file.len().unwrap(), &ReadOptions::default()).unwrap();
            if is_cut {
                assert!(plain.starts_with(&read) && !report.lost.is_empty(), "{label}: {report:?}");
                (kept, all) = (kept + read.len(), all + plain.len());
            } else {
                assert_eq!(read.len(), plain.len(), "{label}: {report:?}");
                changed += 1;
            }
            std::fs::write(mended.with_extension("bin"), &read).unwrap();
            if path.with_extension("json").exists() {
                std::fs::copy(path.with_extension("json"), mended.with_extension("json")).unwrap();
            }
            number += 1;
        }
    }
    // A sixth of the file, a third, a half, five sixths; nothing of what is one block.
    assert!(kept * 4 > all && changed > 20, "{kept} of {all}, and {changed}");
    assert_eq!(bloscpack("expect", &[made.path()]), number.to_string());
}

fn append(path: &Path) {
    let more = std::fs::read(path.with_extension("ours")).unwrap();
    let mut options = AppendOptions::default();
    options.durability = Durability::Cached;
    append_bytes(path, more.as_slice(), more.len() as u64, &options).unwrap();
}

fn convert(source: &Path, target: &Path) {
    let source = Address { file: source.to_owned(), dataset: None, selection: None };
    let (verify, durability) = (ReadBack::Yes, Durability::Cached);
    let options = ConvertOptions { verify, durability, ..ConvertOptions::default() };
    let outcome = holdall::convert(&source, target, &options);
    assert!(matches!(outcome, Ok(ConvertOutcome::Done(_))), "{}: {outcome:?}", source.file.display());
}

/// Every type, shape and order of the numpy tests.
#[test]
fn arrays_go_both_ways_between_numpy_files_and_bloscpack() {
    let folders = [tempdir().unwrap(), tempdir().unwrap(), tempdir().unwrap(), tempdir().unwrap()];
    let [saved, ours, theirs, back] = folders.each_ref().map(tempfile::TempDir::path);
    peer("npy_cases.py", "write", &[saved]);
    bloscpack("pack", &[saved, theirs]);
    let npys = files(saved, "npy");
    for npy in &npys {
        let name = npy.file_name().unwrap();
        let blp = Path::new(name).with_extension("blp");
        convert(npy, &ours.join(&blp));
        convert(&theirs.join(&blp), &back.join(name));
        let (then, now) = (std::fs::read(npy).unwrap(), std::fs::read(back.join(name)).unwrap());
        assert!(then == now, "{}: by way of Bloscpack it is another file", npy.display());
    }
    assert!(npys.len() > 500, "only {} arrays", npys.len());
    assert_eq!(bloscpack("unpack", &[saved, ours]), npys.len().to_string());
}
