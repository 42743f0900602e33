//! Files that Python asdf writes, read by this workspace.

use asdf::compression;
use asdf::{ChecksumStatus, Fault, FaultKind, File};
use container_core::Limits;
use container_core::dtype::Order;
use container_core::format::Input;
use container_core::region::Region;
use serde_json::{Map, Value, json};

use crate::arrays::{TYPES, is_float16};
use crate::peers::{RELEASES, Release, folder, peer};
use crate::random::{Random, cases};
use crate::view;

#[test]
fn files_from_python_are_read_bit_by_bit() {
    let mut random = Random::new(1);
    for release in RELEASES {
        let mut states = [0; 3];
        for number in 0..cases(40) {
            let folder = folder();
            let path = folder.path().join("theirs.asdf");
            let standard = random.pick(release.standards());
            let halves = standard == "1.6.0";
            let mut types: Vec<&str> = TYPES.into_iter().filter(|it| halves || !is_float16(it)).collect();
            let mut codecs = ["zlib", "bzp2", "lz4"].as_slice();
            // asdf 2 compresses no text, no complex numbers and no records.
            if release == Release::Old && random.chance(5) {
                codecs = &[];
            } else if release == Release::Old {
                types.retain(|it| !it.contains(['[', 'S', 'U', 'c']));
            }
            let mut tree = Map::new();
            for at in 0..1 + random.below(5) {
                tree.insert(format!("array{at}"), random.array(&types, codecs));
            }
            let about = random.value(3);
            tree.insert("about".to_owned(), about);
            let options = match random.below(5) {
                0 => json!({"pad_blocks": true}),
                1 => json!({"include_block_index": false}),
                2 if !codecs.is_empty() => json!({"all_array_compression": random.pick(codecs)}),
                _ => json!({}),
            };
            let request = json!({"path": path, "tree": tree, "standard": standard, "options": options,
                "config": {"default_array_save_base": random.chance(5)}});
            let label = format!("{release:?} {number}, {standard}: {}", shown(&request));
            peer(release).ask("write", request);
            let file = File::open(&path).unwrap_or_else(|error| panic!("{error}: {label}"));
            let theirs = peer(release).tree(&path);
            let ours = view::tree(&file);
            view::assert_same(&ours, &theirs, &label);
            let version = file.layout().header.standard.map(|it| it.to_string());
            assert_eq!(version.as_deref(), Some(standard));
            let of_arrays = file.array_faults();
            // A view of the first records of a larger array may look like records with gaps.
            let known = [FaultKind::IndexAbsent, FaultKind::PaddedRecords];
            let odd = |it: &&Fault| !known.contains(&it.kind());
            let faults: Vec<_> = file.faults().chain(&of_arrays).filter(odd).map(Fault::message).collect();
            assert!(faults.is_empty(), "{faults:?}: {label}");
            for block in file.blocks() {
                let state = asdf::checksum_status(
                    file.source(),
                    block,
                    &compression::codecs(),
                    &Limits::default(),
                    1,
                )
                .unwrap();
                // Nothing is the same encoded and decoded.
                let legacy =
                    release != Release::Newest && block.header.is_compressed() && block.header.used_size > 0;
                let expected = if legacy { ChecksumStatus::LegacyDecoded } else { ChecksumStatus::Stored };
                assert_eq!(state, expected, "{label}");
                states[usize::from(block.header.is_compressed()) + usize::from(legacy)] += 1;
            }
        }
        let compressed = if release == Release::Newest { states[1] } else { states[2] };
        assert!(states[0] > 20 && compressed > 10, "{release:?}: {states:?}");
    }
}

#[test]
fn types_of_the_standard_and_shared_nodes_are_what_python_wrote() {
    for (release, standard) in [
        (Release::Newest, "1.6.0"),
        (Release::Newest, "1.3.0"),
        (Release::Mid, "1.6.0"),
        (Release::Mid, "1.5.0"),
    ] {
        let folder = folder();
        let path = folder.path().join("theirs.asdf");
        let mut tree = json!({
            "shared": {"$named": ["shared", {"x": [1, 2.5]}]},
            "again": {"$same": "shared"},
            "cycle": {"$named": ["cycle", {"n": 1, "back": {"$same": "cycle"}}]},
            "list": {"$named": ["list", [1, [{"$same": "list"}]]]},
            "big": {"$integer": "-123456789012345678901234567890123456789012345678901234567890"},
            "external": {"$external": {"fileuri": "a.fits", "target": 1, "dtype": "float64", "shape": [3, 4]}},
            "tagged": {"$tag": ["asdf://example.org/thing-1.0.0", {"a": [1]}]},
            "local": {"$tag": ["tag:example.org,2000:x", "5"]},
            "keys": {"$map": [[5, "five"], [false, "no"], ["$x", "dollar"]]},
            "data": {"$array": {"dtype": "<i4", "shape": [2], "hex": "0100000002000000", "name": "data"}},
            "part": {"$array": {"of": "data", "slices": [[1, null, null]]}},
        });
        if standard == "1.6.0" {
            tree["none"] = Value::Null;
        }
        peer(release)
            .ask("write", json!({"path": path, "tree": tree, "standard": standard, "history": ["made"]}));
        let label = format!("{release:?} {standard}");
        let file = File::open(&path).unwrap_or_else(|error| panic!("{error}: {label}"));
        let ours = view::tree(&file);
        view::assert_same(&ours, &peer(release).tree(&path), &label);
        for same in ["big", "tagged", "local", "keys", "external"] {
            view::assert_same(&ours[same], &tree[same], &label);
        }
        let [shared, again] = ["shared", "again"].map(|path| file.tree().find(path).unwrap());
        assert!(shared.is_alias() && shared.target().id() == again.id(), "{label}");
        assert_eq!(ours["cycle"], json!({"n": 1, "back": {"$same": "cycle"}}), "{label}");
        assert_eq!(ours["list"], json!([1, [{"$same": "list"}]]), "{label}");
        assert_eq!(ours.get("none"), tree.get("none"), "{label}");
    }
}

#[test]
fn bytes_of_blocks_are_those_that_python_has_of_them() {
    let folder = folder();
    let path = folder.path().join("theirs.asdf");
    let array = |hex: &str, codec: &str| {
        let count = hex.len() / 4;
        json!({"$array": {"dtype": ">i2", "shape": [count], "hex": hex, "compression": codec}})
    };
    let tree = json!({"a": array("00017fff8000", "zlib"), "b": array("00020003", "bzp2"), "c": array("ffff", "lz4"),
        "stream": {"$stream": {"dtype": "|u1", "shape": [2]}}});
    peer(Release::Newest).ask("write", json!({"path": path, "tree": tree, "tail": "0102030405"}));
    let with_tree = std::fs::read(&path).unwrap();
    let blocks = File::open(&path).unwrap().blocks()[0].at;
    let treeless = folder.path().join("treeless.asdf");
    let blocks = &with_tree[usize::try_from(blocks).unwrap()..];
    std::fs::write(&treeless, [b"#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n", blocks].concat()).unwrap();
    let fixtures = ["odd/unreferenced.asdf", "ok/codec_mixed.asdf", "ok/many_blocks.asdf"]
        .map(|name| interop::json_peer::script_of("asdf").join(name));
    for path in [&path, &treeless].into_iter().chain(&fixtures) {
        let theirs = peer(Release::Newest).ask("blocks", json!({ "path": path }));
        let theirs = theirs["blocks"].as_array().unwrap();
        let lens =
            (asdf::FORMAT.open)(Input::bytes(Box::new(std::fs::read(path).unwrap())), &Default::default())
                .unwrap();
        for (number, bytes) in theirs.iter().enumerate() {
            let index = lens.find(&format!("blocks/{number}")).unwrap();
            let dataset = lens.dataset(index).unwrap();
            assert_eq!(dataset.dtype.to_string(), "|u1");
            let read = lens.read(index, &Region::whole(&dataset.shape), &Default::default()).unwrap();
            let ours = read.bytes(Order::C, &Limits::default()).unwrap();
            assert_eq!(view::hex(&ours), *bytes, "{}, block {number}", path.display());
        }
        assert!(theirs.len() > 1 && lens.find(&format!("blocks/{}", theirs.len())).is_none());
    }
}

/// A request without the bytes of its arrays.
fn shown(request: &Value) -> String {
    let mut request = request.clone();
    for node in request["tree"].as_object_mut().unwrap().values_mut() {
        if let Some(array) = node.get_mut("$array") {
            array["hex"] = Value::Null;
            array["mask"]["$array"]["hex"] = Value::Null;
        }
    }
    request.to_string()
}
