//! Files that are changed in turns by Python asdf and by this workspace, then exploded, put together again, rewritten and repaired.

use std::path::Path;

use asdf::explode::{explode, implode};
use asdf::rewrite::{Recompression, RewriteOptions, rewrite};
use asdf::stream::Appender;
use asdf::update::{UpdateOptions, Updater};
use asdf::writer::{ArraySpec, Plan, WriteOptions};
use asdf::yaml::Yaml;
use asdf::{ChecksumStatus, File, Version, compression};
use container_core::Limits;
use container_core::container::ReadOptions;
use container_core::dtype::DType;
use container_core::region::Region;
use container_core::write::{AtomicFile, Durability, Overwrite};
use serde_json::{Map, Value, json};

use crate::arrays::type_json;
use crate::peers::{RELEASES, Release, folder, peer};
use crate::random::{Random, cases};
use crate::trees;
use crate::view::{self, hex, sha256};

const TYPES: [&str; 6] = ["<i4", ">f8", "|u1", "<c8", "|S5", r#"[["a", "<i4"], ["b", "<f8"]]"#];

/// Expected content of a file.
type Model = Map<String, Value>;

fn about(dtype: &str, shape: &[u64], bytes: &[u8]) -> Value {
    json!({"$array": {"dtype": type_json(dtype), "shape": shape, "sha256": sha256(bytes)}})
}

/// The newest Python, this workspace and the model agree, and no digest is wrong.
#[track_caller]
fn check(path: &Path, model: &Model, label: &str) {
    let expected = Value::Object(model.clone());
    view::assert_same(&peer(Release::Newest).tree(path), &expected, &format!("{label} by Python"));
    let file = File::open(path).unwrap_or_else(|error| panic!("{label}: {error}"));
    view::assert_same(&view::tree(&file), &expected, label);
    for block in file.blocks() {
        let state =
            asdf::checksum_status(file.source(), block, &compression::codecs(), &Limits::default(), 1)
                .unwrap();
        assert!(!matches!(state, ChecksumStatus::Bad { .. }), "{label}: block {}", block.index);
    }
}

/// One change by Python.
fn change_by_python(random: &mut Random, release: Release, path: &Path, model: &mut Model) -> String {
    let name = random.pick(&["a", "b", "array0", "array1", "array2"]);
    let mut request = json!({ "path": path });
    if random.chance(2) && model.contains_key(name) && model.len() > 1 {
        request["unset"] = json!([[name]]);
        model.remove(name);
    } else if name.starts_with("array") {
        let (dtype, shape) = (random.pick(&TYPES), random.shape());
        let bytes = random.elements(dtype, shape.iter().product::<u64>() as usize);
        let mut array = json!({"dtype": type_json(dtype), "shape": shape, "hex": hex(&bytes)});
        // asdf 2 compresses no text, no complex numbers and no records.
        if release != Release::Old && random.chance(5) {
            array["storage"] = "internal".into();
            array["compression"] = random.pick(&["zlib", "bzp2", "lz4"]).into();
        }
        request["set"] = json!([[[name], { "$array": array }]]);
        model.insert(name.to_owned(), about(dtype, &shape, &bytes));
    } else {
        let value = random.value(2);
        request["set"] = json!([[[name], value]]);
        model.insert(name.to_owned(), value);
    }
    peer(release).ask("update", request);
    format!("{release:?} {name}")
}

/// One change by this workspace.
fn change_here(random: &mut Random, path: &Path, model: &mut Model) -> String {
    let mut options = UpdateOptions::default();
    options.durability = Durability::Cached;
    let name = random.pick(&["a", "b", "array0", "array1", "array2", "added"]);
    let is_array = model.get(name).is_some_and(|it| it.get("$array").is_some());
    let mut what = "set";
    let mut updater = Updater::open(path, options).unwrap();
    let (dtype, shape) = (random.pick(&TYPES), random.shape());
    let bytes = random.elements(dtype, shape.iter().product::<u64>() as usize);
    if random.chance(2) && model.contains_key(name) && model.len() > 1 {
        what = "remove";
        updater.remove(name).unwrap();
        model.remove(name);
    } else if is_array && random.chance(4) {
        what = "replace";
        let file = File::open(path).unwrap();
        let array = &file.array(name).unwrap().array;
        let block = file.block_of(array).unwrap().index;
        let whole = file.whole(file.find_array(name).unwrap()).unwrap();
        let len = file.read_block(block, &ReadOptions::default()).unwrap().len();
        let items = file.read(name, &whole, &ReadOptions::default()).unwrap().dtype().clone();
        let dtype = TYPES.into_iter().find(|it| DType::parse(it).unwrap() == items).unwrap();
        let bytes = random.elements(dtype, len / items.itemsize());
        updater.replace_block(block, &bytes).unwrap();
        model[name]["$array"]["sha256"] = sha256(&bytes).into();
    } else if name.starts_with("array") || name == "added" {
        what = "add";
        let mut spec = ArraySpec::new(DType::parse(dtype).unwrap(), shape.clone());
        if random.chance(5) {
            spec = spec.compressed(random.pick(&["zlib", "bzp2", "lz4", "zstd", "blsc"]), None);
        }
        let data = bytes.clone();
        updater.add_array(name, &spec, Box::new(move |put| data.chunks(100).try_for_each(put))).unwrap();
        model.insert(name.to_owned(), about(dtype, &shape, &bytes));
    } else {
        let value = random.value(2);
        updater.set(name, &trees::yaml(&value)).unwrap();
        model.insert(name.to_owned(), value);
    }
    let committed = updater.commit().unwrap();
    format!("here {what} {name}, {committed:?}")
}

/// Ways of writing a file anew that change no value.
fn rewrites(random: &mut Random, path: &Path, model: &Model, label: &str) {
    let folder = folder();
    let file = File::open(path).unwrap();
    let target = folder.path().join("parts.asdf");
    let options = WriteOptions::default();
    let done = explode(&file, &target, Overwrite::Refuse, Durability::Cached, &options).unwrap();
    check(&target, model, &format!("{label} exploded"));
    let whole = folder.path().join("whole.asdf");
    let mut out = AtomicFile::create(&whole, Overwrite::Refuse).unwrap();
    let count = implode(&File::open(&target).unwrap(), &options, &mut out).unwrap();
    out.commit(Durability::Cached).unwrap();
    assert_eq!(count + 1, done.files.len(), "{label}");
    check(&whole, model, &format!("{label} imploded"));
    let mut options = RewriteOptions::default();
    options.compression = match random.below(3) {
        0 => None,
        1 => Some(Recompression::Plain),
        _ => {
            Some(Recompression::Codec(random.pick(&["zlib", "bzp2", "lz4", "zstd", "blsc"]).to_owned(), None))
        }
    };
    options.digests = random.pick(&[None, Some(true)]);
    let new = folder.path().join("new.asdf");
    let mut out = AtomicFile::create(&new, Overwrite::Refuse).unwrap();
    rewrite(file.source(), &options, &mut out).unwrap();
    out.commit(Durability::Cached).unwrap();
    check(&new, model, &format!("{label} rewritten {:?}", options.compression));
    // Python's own explosion is put together here.
    let copy = folder.path().join("copy.asdf");
    std::fs::copy(path, &copy).unwrap();
    if random.chance(3) {
        let all_external = json!({"path": copy, "to": folder.path().join("theirs.asdf"),
            "options": {"all_array_storage": "external"}});
        peer(Release::Newest).ask("rewrite", all_external);
        check(&folder.path().join("theirs.asdf"), model, &format!("{label} exploded by Python"));
    }
    // Without the magic of a block in the middle, or with an index that lies, a repair brings all of it back.
    let blocks = file.blocks();
    let mut bytes = std::fs::read(path).unwrap();
    let Some(index) = &file.layout().index else { return };
    let at =
        if blocks.len() > 2 && random.chance(5) { blocks[1].at as usize } else { index.start as usize + 35 };
    bytes[at] ^= 1;
    let (torn, mended) = (folder.path().join("torn.asdf"), folder.path().join("mended.asdf"));
    std::fs::write(&torn, bytes).unwrap();
    asdf::repair(&torn, &mended).unwrap();
    check(&mended, model, &format!("{label} repaired, byte {at}"));
}

#[test]
fn files_that_are_changed_in_turns_hold_what_they_should() {
    let mut random = Random::new(9);
    for number in 0..cases(14) {
        let folder = folder();
        let path = folder.path().join("turns.asdf");
        let standard = random.pick(&["1.3.0", "1.5.0", "1.6.0"]);
        let releases: &[Release] = if standard == "1.6.0" { &RELEASES[..2] } else { &RELEASES };
        let tree = json!({"a": random.value(3), "b": "text"});
        let mut model = tree.as_object().unwrap().clone();
        let first = random.pick(releases);
        peer(first).ask(
            "write",
            json!({"path": path, "tree": tree, "standard": standard,
            "options": {"pad_blocks": random.chance(3)}}),
        );
        let mut label = format!("{number}, {standard} by {first:?}");
        // What Python cannot read has no turn of it any more.
        for _ in 0..6 {
            let has_own_codecs = File::open(&path)
                .unwrap()
                .blocks()
                .iter()
                .any(|it| it.label().is_some_and(|label| !["zlib", "bzp2", "lz4"].contains(&label)));
            let done = if random.chance(6) {
                change_here(&mut random, &path, &mut model)
            } else {
                let release = if has_own_codecs { Release::Newest } else { random.pick(releases) };
                change_by_python(&mut random, release, &path, &mut model)
            };
            label = format!("{label}; {done}");
            check(&path, &model, &label);
        }
        rewrites(&mut random, &path, &model, &label);
    }
}

#[test]
fn streams_grow_here_and_are_read_by_python() {
    let mut random = Random::new(10);
    for release in RELEASES {
        for number in 0..cases(6) {
            let folder = folder();
            let path = folder.path().join("stream.asdf");
            let dtype = random.pick(&TYPES);
            let columns = 1 + random.below(5);
            let standard = random.pick(release.standards());
            let rows = random.below(4);
            let row = |random: &mut Random| random.elements(dtype, columns as usize);
            let mut data: Vec<u8> = (0..rows).flat_map(|_| row(&mut random)).collect();
            let by_python = random.chance(5);
            if by_python {
                let tree = json!({"rows": {"$stream": {"dtype": type_json(dtype), "shape": [columns]}}});
                peer(release).ask(
                    "write",
                    json!({"path": path, "tree": tree, "standard": standard, "tail": hex(&data)}),
                );
            } else {
                let mut options = WriteOptions::default();
                options.standard = Version::parse(standard).unwrap();
                options.durability = Durability::Cached;
                let mut plan = Plan::new(options);
                let node =
                    plan.streamed(&ArraySpec::new(DType::parse(dtype).unwrap(), [0, columns])).unwrap();
                let mut writer =
                    plan.create(Yaml::mapping([("rows", node)]), &path, Overwrite::Refuse).unwrap();
                writer.write(&data).unwrap();
                writer.finish().unwrap();
            }
            let mut total = rows;
            for turn in 0..3 {
                let mut appender = Appender::open(&path, &UpdateOptions::default()).unwrap();
                assert_eq!((appender.array(), appender.rows()), ("rows", total));
                let more = random.below(40);
                for _ in 0..more {
                    let bytes = row(&mut random);
                    appender.append(&bytes).unwrap();
                    data.extend(bytes);
                }
                appender.commit(Durability::Cached).unwrap();
                drop(appender);
                total += more;
                let label = format!("{release:?} {number}.{turn}: {dtype} {standard} {by_python}");
                let file = File::open(&path).unwrap();
                let geometry = file.geometry(0).unwrap();
                assert_eq!(geometry.shape, [total, columns], "{label}");
                let part = Region::whole(&geometry.shape);
                assert_eq!(file.read("rows", &part, &ReadOptions::default()).unwrap().len(), total * columns);
                let expected = json!({"rows": about(dtype, &[total, columns], &data)});
                view::assert_same(&view::tree(&file), &expected, &label);
                view::assert_same(&peer(release).tree(&path), &expected, &label);
            }
        }
    }
}
