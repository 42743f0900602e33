//! Files that this workspace writes, read by three releases of Python asdf.

use asdf::writer::{ArraySpec, NewHistoryEntry, Padding, Plan, WriteOptions};
use asdf::yaml::Yaml;
use asdf::{File, Version};
use container_core::dtype::{ByteOrder, DType, Order};
use container_core::write::{Durability, Overwrite};
use serde_json::{Map, Value, json};
use std::path::Path;

use crate::arrays::{RECORDS, TYPES, is_float16, type_json};
use crate::peers::{RELEASES, Release, folder, peer};
use crate::random::{Random, cases};
use crate::trees;
use crate::view::{self, sha256};

/// An array that is written, and what a reader should say of it.
struct Array {
    spec: ArraySpec,
    dtype: &'static str,
    /// In C order.
    bytes: Vec<u8>,
    inline: bool,
}

impl Array {
    fn random(random: &mut Random, types: &[&'static str], codecs: &[&str]) -> Self {
        let dtype = random.pick(types);
        let shape = random.shape();
        let bytes = random.elements(dtype, shape.iter().product::<u64>() as usize);
        let mut spec = ArraySpec::new(DType::parse(dtype).unwrap(), shape);
        if random.chance(3) {
            spec = spec.order(Order::F);
        }
        // Python does not read records within records from the tree, nor did it always read lists of nothing.
        let inline = !spec.shape.is_empty()
            && !bytes.is_empty()
            && random.chance(3)
            && (!dtype.starts_with('[') || dtype == RECORDS[0]);
        if random.chance(6) && !codecs.is_empty() {
            spec = spec.compressed(random.pick(codecs), None);
        }
        Self { spec, dtype, bytes, inline }
    }

    /// The bytes in the order of the spec.
    fn given(&self) -> Vec<u8> {
        if self.spec.order == Order::C {
            return self.bytes.clone();
        }
        let (shape, size) = (&self.spec.shape, self.spec.dtype.itemsize());
        let count = shape.iter().product::<u64>();
        let mut given = vec![0; self.bytes.len()];
        for at in 0..count {
            let (mut rest, mut place, mut step) = (at, 0, count);
            // The last axis varies fastest in `at`, the first one in `place`.
            for len in shape.iter().rev() {
                step /= len;
                place += rest % len * step;
                rest /= len;
            }
            let (from, to) = (at as usize * size, place as usize * size);
            given[to..to + size].copy_from_slice(&self.bytes[from..from + size]);
        }
        given
    }

    /// As `arrays` of an answer list it.
    fn listed(&self, path: &str) -> Value {
        let mut little = self.bytes.clone();
        self.spec.dtype.swap_to(ByteOrder::Little, &mut little).unwrap();
        let mut listed = json!({"path": path, "dtype": type_json(self.dtype), "shape": self.spec.shape, "values": sha256(&little)});
        if self.inline {
            listed["dtype"] = without_order(&listed["dtype"]);
        }
        listed
    }
}

/// A type of numpy without its byte order, which data in the tree do not have.
fn without_order(dtype: &Value) -> Value {
    match dtype {
        Value::String(text) => text.trim_start_matches(['<', '>', '|', '=']).into(),
        Value::Array(parts) => parts.iter().map(without_order).collect(),
        other => other.clone(),
    }
}

fn options(random: &mut Random, standard: &str, release: Release) -> WriteOptions {
    let mut options = WriteOptions::default();
    options.standard = Version::parse(standard).unwrap();
    options.durability = Durability::Cached;
    options.checksums = random.chance(8);
    options.index = random.chance(8);
    options.extensions = random.chance(7);
    options.threads = 1 + random.below(2) as usize;
    if random.chance(3) {
        options.padding = Padding::Factor(random.pick(&[1.0, 1.1, 2.0]));
    }
    // asdf 2.15 takes the length of a header for granted.
    if release != Release::Old && random.chance(3) {
        options.align = Some(random.pick(&[16, 64, 4096]));
    }
    if random.chance(3) {
        options.history = vec![NewHistoryEntry {
            description: random.text(),
            time: None,
            software: Some(("tests".to_owned(), "1.0".to_owned())),
        }];
    }
    options
}

fn write(path: &Path, options: WriteOptions, arrays: &[Array], about: &Value) {
    let mut plan = Plan::new(options);
    let mut pairs = vec![("about".to_owned(), trees::yaml(about))];
    let mut data = Vec::new();
    for (at, array) in arrays.iter().enumerate() {
        let node = if array.inline {
            plan.inline(&array.spec, &array.given()).unwrap()
        } else {
            data.push(array.given());
            plan.array(&array.spec).unwrap()
        };
        pairs.push((format!("array{at}"), node));
    }
    let mut writer = plan.create(Yaml::mapping(pairs), path, Overwrite::Refuse).unwrap();
    let data = data.concat();
    for piece in data.chunks(1000) {
        writer.write(piece).unwrap();
    }
    writer.finish().unwrap();
}

#[test]
fn python_reads_written_files_bit_by_bit() {
    let mut random = Random::new(4);
    for release in RELEASES {
        for number in 0..cases(40) {
            let folder = folder();
            let path = folder.path().join("ours.asdf");
            let standard = random.pick(release.standards());
            let halves = standard == "1.6.0";
            let types: Vec<&str> = TYPES.into_iter().filter(|it| halves || !is_float16(it)).collect();
            let codecs: &[&str] = match release {
                Release::Newest => &["zlib", "bzp2", "lz4", "zstd", "blsc"],
                // Without what decodes the others.
                _ => &["zlib", "bzp2", "lz4"],
            };
            let arrays: Vec<Array> =
                (0..random.below(6)).map(|_| Array::random(&mut random, &types, codecs)).collect();
            let about = random.value(3);
            let options = options(&mut random, standard, release);
            let checksums = options.checksums;
            let shown: Vec<_> = arrays.iter().map(|it| (it.dtype, &it.spec, it.inline)).collect();
            let label = format!("{release:?} {number}: {options:?} {shown:?}");
            write(&path, options, &arrays, &about);
            let mut peer = peer(release);
            // Of a compressed block, releases before 5.3 take another digest for right, and none for wrong.
            let plain = checksums && arrays.iter().all(|it| it.inline || it.spec.compression.is_none());
            if release == Release::Newest || plain {
                let told = peer
                    .try_ask("validate", json!({ "path": path }))
                    .unwrap_or_else(|error| panic!("{error}: {label}"));
                assert_eq!(told["warnings"], json!([]), "{label}");
            }
            let mut answer = peer.ask("read", json!({ "path": path }));
            assert_eq!(answer["standard"], standard, "{label}");
            let mut listed = answer.remove("arrays").unwrap();
            for (at, array) in arrays.iter().enumerate() {
                let path = format!("array{at}");
                let found = listed.as_array_mut().unwrap().iter_mut().find(|it| it["path"] == path.as_str());
                let found = found.unwrap_or_else(|| panic!("no {path}: {label}"));
                if array.inline {
                    found["dtype"] = without_order(&found["dtype"]);
                }
                view::assert_same(found, &array.listed(&path), &label);
            }
            view::assert_same(&answer["tree"]["about"], &about, &label);
            // What is read here is what Python reads.
            let file = File::open(&path).unwrap();
            let mut ours = view::tree(&file);
            view::assert_same(&ours["about"].take(), &about, &label);
        }
    }
}

/// zlib without a level has an encoder of our own for such arrays: of several segments, on threads.
#[test]
fn compressed_arrays_with_noise_are_read_by_python_bit_by_bit() {
    let mut random = Random::new(6);
    for (dtype, kept) in [("<u2", 1), ("<i4", 2), ("<f8", 4), ("|u1", 0), (">f4", 1)] {
        let size = DType::parse(dtype).unwrap().itemsize();
        let count = 1_300_000 / size;
        // Of each item some bytes change slowly, and others are noise.
        let bytes: Vec<u8> = (0..count * size)
            .map(|at| {
                if at % size < size - kept {
                    random.below(if size == 1 { 50 } else { 256 }) as u8
                } else {
                    (at / 3000) as u8
                }
            })
            .collect();
        let spec = ArraySpec::new(DType::parse(dtype).unwrap(), vec![count as u64]).compressed("zlib", None);
        let arrays = [Array { spec, dtype, bytes, inline: false }];
        let folder = folder();
        let path = folder.path().join("ours.asdf");
        write(&path, options(&mut random, "1.6.0", Release::Newest), &arrays, &json!({}));
        let answer = peer(Release::Newest).ask("read", json!({ "path": path }));
        view::assert_same(&answer["arrays"][0], &arrays[0].listed("array0"), dtype);
    }
}

#[test]
fn views_streams_masks_and_other_files_are_read_by_python() {
    let mut random = Random::new(5);
    for release in RELEASES {
        for number in 0..cases(12) {
            let folder = folder();
            let path = folder.path().join("ours.asdf");
            let name = random.pick(&["<i4", ">f8", "|u1", ">u2"]);
            let dtype = DType::parse(name).unwrap();
            let size = dtype.itemsize() as u64;
            let standard = random.pick(release.standards());
            let mut options = options(&mut random, standard, release);
            options.history.clear();
            // Releases before 5.3 take no digest for a wrong one.
            options.checksums |= release != Release::Newest;
            let label = format!("{release:?} {number}: {options:?}");
            let (rows, columns) = (1 + random.below(9), 1 + random.below(9));
            let base = random.elements(name, (rows * columns) as usize);
            let mut plan = Plan::new(options.clone());
            let spec = ArraySpec::new(dtype.clone(), [rows, columns]);
            let whole = plan.array(&spec).unwrap();
            // The last rows first, every other column.
            let half = columns.div_ceil(2);
            let backwards = plan
                .view(
                    0,
                    &ArraySpec::new(dtype.clone(), [rows, half]),
                    (rows - 1) * columns * size,
                    Some(&[-((columns * size) as i64), 2 * size as i64]),
                )
                .unwrap();
            let bits = random.elements("|b1", (rows * columns) as usize);
            let mask = plan.array(&ArraySpec::new(DType::parse("|b1").unwrap(), [rows, columns])).unwrap();
            let masked = plan.array(&spec.clone().masked(mask)).unwrap();
            let other = folder.path().join("other file.asdf");
            let mut others = Plan::new(options.clone());
            let node = others.array(&spec).unwrap();
            let mut writer = others.create(Yaml::mapping([("x", node)]), &other, Overwrite::Refuse).unwrap();
            writer.write(&base).unwrap();
            writer.finish().unwrap();
            let external = plan.external(&spec, "other%20file.asdf").unwrap();
            let stream = plan.streamed(&ArraySpec::new(dtype.clone(), [0, columns])).unwrap();
            let tree = Yaml::mapping([
                ("whole", whole.clone()),
                ("backwards", backwards),
                ("masked", masked),
                ("external", external),
                ("stream", stream),
                ("again", Yaml::Sequence(vec![whole], None)),
            ]);
            let mut writer = plan.create(tree, &path, Overwrite::Refuse).unwrap();
            for bytes in [&base, &bits, &base, &base] {
                writer.write(bytes).unwrap();
            }
            writer.finish().unwrap();
            let row = (columns * size) as usize;
            let lines: Vec<&[u8]> = base.chunks(row).rev().collect();
            let picked: Vec<u8> = lines
                .iter()
                .flat_map(|line| line.chunks(size as usize).step_by(2).flatten().copied())
                .collect();
            let about = |shape: [u64; 2], bytes: &[u8]| json!({"dtype": name, "shape": shape, "sha256": sha256(bytes)});
            let full = json!({"$array": about([rows, columns], &base)});
            let mut with_mask = full.clone();
            with_mask["$array"]["mask"] = sha256(&bits).into();
            let expected = json!({
                "whole": full, "external": full, "stream": full, "again": [full],
                "backwards": {"$array": about([rows, half], &picked)},
                "masked": with_mask,
            });
            let theirs = peer(release).tree(&path);
            view::assert_same(&theirs, &expected, &label);
            let ours = view::tree(&File::open(&path).unwrap());
            view::assert_same(&ours, &expected, &label);
            let told = peer(release).ask("validate", json!({ "path": path }));
            assert_eq!(told["warnings"], json!([]), "{label}");
        }
    }
}

#[test]
fn history_and_software_are_those_that_python_shows() {
    let folder = folder();
    for (release, standard) in [
        (Release::Newest, "1.6.0"),
        (Release::Mid, "1.5.0"),
        (Release::Old, "1.2.0"),
        (Release::Newest, "1.0.0"),
    ] {
        let path = folder.path().join(format!("{release:?}{standard}.asdf"));
        let mut options = WriteOptions::default();
        options.standard = Version::parse(standard).unwrap();
        options.software = Some(("tests".to_owned(), "1.10".to_owned()));
        options.history = vec![NewHistoryEntry {
            description: "made".to_owned(),
            time: Some(asdf::yaml::Timestamp {
                year: 2020,
                month: 2,
                day: 29,
                time: Some((1, 2, 3, 0)),
                offset: Some(0),
            }),
            software: Some(("one".to_owned(), "2".to_owned())),
        }];
        write(&path, options, &[], &json!({}));
        let answer = peer(release).ask("read", json!({ "path": path }));
        let tree = &answer["tree"];
        assert_eq!(tree["asdf_library"], json!({"name": "tests", "version": "1.10"}));
        let entry = json!({"description": "made", "software": {"name": "one", "version": "2"},
            "time": {"$datetime": "2020-02-29T01:02:03+00:00"}});
        let entries = if tree["history"].is_array() { &tree["history"] } else { &tree["history"]["entries"] };
        assert_eq!(entries[0], entry, "{release:?}: {}", tree["history"]);
        // The other way.
        let theirs = folder.path().join(format!("their{release:?}{standard}.asdf"));
        let tree: Map<String, Value> = Map::new();
        peer(release).ask(
            "write",
            json!({"path": theirs, "tree": tree, "standard": standard, "history": ["one", "two"]}),
        );
        let file = File::open(&theirs).unwrap();
        let history = file.history().unwrap();
        let said: Vec<&str> = history.entries.iter().map(|entry| entry.description).collect();
        assert_eq!(said, ["one", "two"]);
        assert!(history.entries.iter().all(|entry| entry.time.is_some()));
        assert_eq!(file.library().unwrap().unwrap().name, "asdf");
        assert_eq!(history.extensions.is_empty(), standard == "1.0.0");
    }
}
