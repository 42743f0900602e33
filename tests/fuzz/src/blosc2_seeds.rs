//! Seeds of the targets of Blosc2 frames.

use std::fs;
use std::path::{Path, PathBuf};

use blosc2_frame::Frame;

use crate::mutate::XorShift;
use crate::seeds::{choices as noise, gather};

/// Larger files leave most changes without a meaning.
const MAX_SEED_LEN: u64 = 5 << 10;

fn fixtures(extensions: &[&str]) -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/blosc2");
    let mut paths: Vec<PathBuf> = Vec::new();
    extensions.iter().for_each(|extension| gather(&root, extension, &mut paths));
    paths.sort();
    let is_small =
        |path: &PathBuf| fs::metadata(path).is_ok_and(|file| (1..=MAX_SEED_LEN).contains(&file.len()));
    let small = paths.iter().filter(|path| is_small(path));
    small.map(|path| fs::read(path).unwrap_or_else(|error| panic!("{path:?}: {error}"))).collect()
}

/// Frames and EmbedStores.
pub(crate) fn frames() -> Vec<Vec<u8>> {
    let files = fixtures(&["b2frame", "b2nd", "b2f", "b2b", "b2e"]);
    assert!(files.len() > 200, "the fixtures are not where they should be");
    files
}

/// Frames with the shape of an array.
pub(crate) fn arrays() -> Vec<Vec<u8>> {
    fixtures(&["b2nd"])
}

/// Stores in one file.
pub(crate) fn stores() -> Vec<Vec<u8>> {
    let files = fixtures(&["b2z", "b2e"]);
    assert!(files.len() > 10, "the fixtures are not where they should be");
    files
}

/// A frame to change, behind the byte that says how much there is to do, and that.
pub(crate) fn edits() -> Vec<Vec<u8>> {
    let mut numbers = XorShift::new(29);
    let mut all = Vec::new();
    let is_small = |frame: &&Vec<u8>| frame.len() < 1 << 11;
    for frame in frames().iter().filter(is_small).step_by(3) {
        let script: Vec<u8> = (0..40).map(|_| numbers.next().to_le_bytes()[3]).collect();
        all.push([&[40][..], &script, frame].concat());
    }
    all.extend(choices().into_iter().map(|choices| [&[200][..], &choices].concat()));
    all
}

/// msgpack: what fixtures have for metadata.
pub(crate) fn values() -> Vec<Vec<u8>> {
    let mut all = vec![vec![0xc0], vec![0x93, 1, 0xa1, b'x', 0xcb, 0x7f, 0xf8, 0, 0, 0, 0, 0, 0]];
    for bytes in frames() {
        let Ok(frame) = Frame::from_bytes(bytes) else { continue };
        all.extend(frame.metalayers().iter().map(|(_, value)| value.to_vec()));
        let names: Vec<String> = frame.vlmetalayer_names().map(str::to_owned).collect();
        all.extend(names.iter().filter_map(|name| frame.vlmetalayer(name).ok().flatten()));
    }
    all.retain(|value| value.len() < 1 << 12);
    all.sort();
    all.dedup();
    assert!(all.len() > 30, "the fixtures have metadata");
    all
}

/// Noise, some of it long enough for many steps.
pub(crate) fn choices() -> Vec<Vec<u8>> {
    let mut all = noise();
    let mut numbers = XorShift::new(31);
    all.extend((0..80).map(|at| (0..60 + 4 * at).map(|_| numbers.next().to_le_bytes()[3]).collect()));
    all
}
