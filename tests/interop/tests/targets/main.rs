//! numpy computes the digests that are computed here, and zarr-python and astropy read what is converted to Zarr and FITS; in
//! `cargo xtask zarrs` that crate does, too.

mod zarrs;

use std::fs;
use std::path::Path;
use std::process::Command;

use container_core::Progress;
use container_core::container::ReadOptions;
use container_core::write::Durability;
use holdall::Address;
use holdall::convert::{ConvertOptions, ConvertOutcome};
use holdall::digest::{digest, select};
use holdall::open::{Accept, open_with};
use interop::peer::{python, script};
use tempfile::tempdir;

/// Runs the Python script; gives what it prints.
fn peer(command: &str, folder: &Path) -> String {
    let mut python = Command::new(python().unwrap());
    let output =
        python.args(["-W", "error"]).arg(script("targets.py")).arg(command).arg(folder).output().unwrap();
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn whole(file: &Path) -> Address {
    Address { file: file.to_owned(), dataset: None, selection: None }
}

fn convert(source: &Path, target: &Path, codec: Option<&str>, words: &[(&str, &str)]) {
    let mut options = ConvertOptions { durability: Durability::Cached, ..ConvertOptions::default() };
    options.import.codec = codec.map(|codec| (codec.into(), None));
    options.import.extra = words.iter().map(|(word, value)| ((*word).into(), (*value).into())).collect();
    let outcome = holdall::convert(&whole(source), target, &options);
    assert!(matches!(outcome, Ok(ConvertOutcome::Done(_))), "{}: {outcome:?}", target.display());
}

fn digest_of(file: &Path) -> String {
    let opened = open_with(file, Accept::ContainersAndArrays, &Default::default()).unwrap();
    let chosen = select(&whole(file), &*opened.container).unwrap();
    let (index, region) = &chosen[0];
    let made = digest(&*opened.container, *index, region, &ReadOptions::default(), Progress::none());
    made.unwrap().digest.to_string()
}

#[test]
fn digests_zarr_and_fits_are_what_their_own_libraries_make_of_them() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    peer("write", folder);
    let digests = peer("digest", folder);
    let codecs = [
        (None, vec![]),
        (Some("zstd"), vec![("chunks", "2,2")]),
        (Some("zlib"), vec![("chunks", "3,3")]),
        (Some("lz4"), vec![]),
        (Some("zstd"), vec![("filter", "bitshuffle")]),
    ];
    let (mut zarr, mut fits) = (0, 0);
    for (number, line) in digests.lines().enumerate() {
        let (name, wanted) = line.split_once(' ').unwrap();
        let file = folder.join(name);
        assert_eq!(digest_of(&file), wanted, "{name}");
        if name.contains("_zarr_") {
            for at in [number, number + 1] {
                let (codec, words) = &codecs[at % codecs.len()];
                // One shape of chunks is for two axes.
                let two = opened_axes(&file) == 2;
                let words: Vec<_> =
                    words.iter().filter(|(word, _)| two || *word != "chunks").copied().collect();
                convert(&file, &file.with_extension(format!("{at}.zarr")), *codec, &words);
                zarr += 1;
            }
        }
        if name.contains("_image_") {
            convert(&file, &file.with_extension("fits"), None, &[]);
            fits += 1;
        }
    }
    // Chunks and codecs of a format that has them.
    for (number, line) in digests.lines().enumerate().filter(|(_, line)| line.contains("_zarr_")).step_by(3) {
        let file = folder.join(line.split(' ').next().unwrap());
        let between = folder.join("between.b2nd");
        let codec = ["blosclz", "lz4", "lz4hc", "zlib", "zstd", "none"][number / 3 % 6];
        let words: &[_] = if opened_axes(&file) == 2 { &[("chunks", "3,2"), ("blocks", "2,2")] } else { &[] };
        convert(&file, &between, Some(codec), words);
        convert(&between, &file.with_extension("b2nd.zarr"), None, &[]);
        fs::remove_file(&between).unwrap();
        zarr += 1;
    }
    assert_eq!(peer("compare", folder).trim(), format!("{zarr} {fits}"));
    assert!(zarr > 300 && fits > 100, "{zarr} {fits}");
    if let Some(program) = zarrs::program() {
        peer("bytes", folder);
        let (read, refused) = zarrs::compare(&program, folder);
        println!("zarrs: {read} read, {refused} of types that it does not know");
        assert!(read + refused == zarr && read > 3 * refused, "{read} {refused}");
    }
    // The same arrays by way of a format of ours have the same digest.
    for line in digests.lines().step_by(5) {
        let (name, wanted) = line.split_once(' ').unwrap();
        let (file, target) = (folder.join(name), folder.join("through.b2nd"));
        convert(&file, &target, Some("zstd"), &[]);
        assert_eq!(digest_of(&target), wanted, "{name} in Blosc2");
        fs::remove_file(&target).unwrap();
    }
}

fn opened_axes(file: &Path) -> usize {
    let opened = open_with(file, Accept::ContainersAndArrays, &Default::default()).unwrap();
    opened.container.datasets()[0].shape.len()
}
