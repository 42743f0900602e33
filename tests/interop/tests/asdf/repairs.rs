//! Files that are damaged and repaired here, and read by Python: what is kept has the values that it had.

use std::path::Path;

use asdf::File;
use asdf::update::{UpdateOptions, Updater};
use asdf::writer::ArraySpec;
use container_core::dtype::DType;
use serde_json::{Value, json};

use crate::arrays::type_json;
use crate::peers::{Release, folder, peer};
use crate::random::Random;
use crate::view::{self, hex, sha256};

fn about(dtype: &str, shape: &[u64], bytes: &[u8]) -> Value {
    json!({"$array": {"dtype": type_json(dtype), "shape": shape, "sha256": sha256(bytes)}})
}

/// Repairs `bytes`, and holds the array `a` of four columns, as Python and this workspace read it, against the first rows of `data`. Gives
/// their number.
fn rows_kept(folder: &Path, bytes: &[u8], data: &[u8], label: &str) -> u64 {
    let (torn, mended) = (folder.join("torn.asdf"), folder.join("mended.asdf"));
    std::fs::write(&torn, bytes).unwrap();
    let _ = std::fs::remove_file(&mended);
    let report = asdf::repair(&torn, &mended).unwrap_or_else(|error| panic!("{label}: {error}"));
    assert!(!report.lost.is_empty(), "{label}");
    let file = File::open(&mended).unwrap();
    let rows = file.geometry(0).unwrap().shape[0];
    let expected = json!({"a": about("<i4", &[rows, 4], &data[..rows as usize * 16]), "name": "kept"});
    view::assert_same(&view::tree(&file), &expected, label);
    view::assert_same(&peer(Release::Newest).tree(&mended), &expected, &format!("{label} by Python"));
    rows
}

#[test]
fn cut_blocks_are_read_by_python_as_far_as_they_are_kept() {
    let mut random = Random::new(11);
    // Some of it can be made shorter, and some cannot.
    let mut data = random.elements("<i4", 4000);
    data.extend((0..8000_i32).flat_map(|at| (at / 3).to_le_bytes()));
    let all = data.len() as u64 / 16;
    for codec in ["", "zlib", "lz4", "bzp2"] {
        let folder = folder();
        let path = folder.path().join("whole.asdf");
        let mut array = json!({"dtype": "<i4", "shape": [all, 4], "hex": hex(&data), "storage": "internal"});
        if !codec.is_empty() {
            array["compression"] = codec.into();
        }
        let tree = json!({"a": {"$array": array}, "name": "kept"});
        peer(Release::Newest).ask("write", json!({"path": path, "tree": tree, "standard": "1.6.0"}));
        let bytes = std::fs::read(&path).unwrap();
        let block = File::open(&path).unwrap().blocks()[0].clone();
        let (start, end) = (block.data.start as usize, block.data.end as usize);
        let mut kept = Vec::new();
        for step in 0..24 {
            let cut = start + (end - start) * step / 24 + random.below(7) as usize;
            kept.push(rows_kept(folder.path(), &bytes[..cut], &data, &format!("{codec:?} cut at {cut}")));
        }
        assert!(kept.is_sorted(), "{codec:?}: {kept:?}");
        // A chunk of lz4 and a block of bzip2 hold all of this, and tell nothing before their end.
        let most = if ["lz4", "bzp2"].contains(&codec) { 0 } else { all / 2 };
        assert!(kept[23] >= most && kept[23] < all, "{codec:?}: {kept:?}");
    }
}

#[test]
fn values_after_the_damage_keep_their_positions() {
    // Chunks of 4 MiB; blocks of less than 900 kB.
    for (codec, rows, most) in
        [("lz4", 700_000_u64, 4 << 20), ("bzp2", 200_000, 900_000), ("blsc", 700_000, 4 << 20)]
    {
        let values = 0..rows as u32 * 4;
        let data: Vec<u8> =
            values.flat_map(|at| (at.wrapping_mul(2_654_435_761) >> 12).to_le_bytes()).collect();
        let folder = folder();
        let path = folder.path().join("whole.asdf");
        peer(Release::Newest)
            .ask("write", json!({"path": path, "tree": {"name": "kept"}, "standard": "1.6.0"}));
        let mut updater = Updater::open(&path, UpdateOptions::default()).unwrap();
        let spec = ArraySpec::new(DType::parse("<i4").unwrap(), vec![rows, 4]).compressed(codec, None);
        updater.add_array("a", &spec, Box::new(|put| data.chunks(1 << 16).try_for_each(put))).unwrap();
        updater.commit().unwrap();
        drop(updater);
        let mut bytes = std::fs::read(&path).unwrap();
        let block = File::open(&path).unwrap().blocks()[0].clone();
        let middle = (block.data.start + block.data.end) as usize / 2;
        bytes[middle..middle + 16].fill(0xff);
        if codec == "lz4" {
            // The length of the second chunk: bytes within it may be others without any error.
            let first = u32::from_be_bytes(bytes[block.data.start as usize..][..4].try_into().unwrap());
            bytes[block.data.start as usize + 4 + first as usize] ^= 1;
        }
        let (torn, mended) = (folder.path().join("torn.asdf"), folder.path().join("mended.asdf"));
        std::fs::write(&torn, &bytes).unwrap();
        let report = asdf::repair(&torn, &mended).unwrap();
        let told: Vec<&str> = report.lost.iter().map(|item| item.what.as_str()).collect();
        // "block 0: bytes 4194304..8388608 of its data, replaced by zeros"
        let holes = told
            .iter()
            .filter_map(|what| what.strip_prefix("block 0: bytes ")?.split_once(" of its data, replaced"));
        let mut expected = data.clone();
        let mut lost = 0;
        for (hole, _) in holes {
            let (from, to) = hole.split_once("..").unwrap();
            let (from, to): (usize, usize) = (from.parse().unwrap(), to.parse().unwrap());
            expected[from..to].fill(0);
            lost += to - from;
        }
        assert!(lost > 0 && lost <= most, "{codec}: {told:?}");
        assert!(told.iter().any(|what| what.starts_with("a: lost elements of rows ")), "{codec}: {told:?}");
        let expected = json!({"a": about("<i4", &[rows, 4], &expected), "name": "kept"});
        view::assert_same(&view::tree(&File::open(&mended).unwrap()), &expected, codec);
        view::assert_same(&peer(Release::Newest).tree(&mended), &expected, &format!("{codec} by Python"));
    }
}
