//! The reference files that the standard's authors publish: each holds what its twin says, which has all arrays in the tree.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use asdf::compression::codecs;
use asdf::yaml::{Kind, Node, NodeId, Scalar};
use asdf::{ChecksumStatus, File, NdArray};
use container_core::Limits;
use container_core::container::ReadOptions;
use container_core::dtype::{ByteOrder, DType, Kind as Of, Order};
use container_core::region::Region;
use interop::peer::python;
use serde_json::json;

use crate::nodes::{self, below};
use crate::peers::{Release, peer};

const VERSIONS: [&str; 7] = ["1.0.0", "1.1.0", "1.2.0", "1.3.0", "1.4.0", "1.5.0", "1.6.0"];

/// Each file with its twin.
fn pairs() -> Vec<(PathBuf, PathBuf)> {
    let folder = python().unwrap().parent().unwrap().parent().unwrap().join("asdf-standard/reference_files");
    let mut pairs = Vec::new();
    for version in VERSIONS {
        let folder = folder.join(version);
        let entries = std::fs::read_dir(&folder)
            .unwrap_or_else(|error| panic!("{}: {error} (cargo xtask setup fetches it)", folder.display()));
        for path in entries.map(|entry| entry.unwrap().path()) {
            if path.extension().is_some_and(|it| it == "yaml") {
                pairs.push((path.with_extension("asdf"), path));
            }
        }
    }
    pairs.sort();
    pairs
}

/// Returns the content of a file, with arrays as if they were in the tree: each node with its path.
fn values(file: &File) -> Vec<(String, String)> {
    let mut found = Vec::new();
    visit(file, file.tree().root(), String::new(), &mut HashMap::new(), &mut found);
    found
}

fn visit(
    file: &File,
    node: Node<'_>,
    path: String,
    seen: &mut HashMap<NodeId, String>,
    found: &mut Vec<(String, String)>,
) {
    let node = node.target();
    if matches!(path.as_str(), "asdf_library" | "history") {
        return;
    }
    if let Some(first) = seen.get(&node.id()).filter(|_| node.kind() != Kind::Scalar) {
        found.push((path, format!("alias of {first}")));
        return;
    }
    seen.insert(node.id(), path.clone());
    if node.tag().is_some_and(NdArray::is_tag) {
        array(file, &NdArray::parse(node).unwrap(), &path, found);
        return;
    }
    match node.kind() {
        Kind::Scalar => found.push((path, nodes::scalar(node))),
        Kind::Sequence => {
            found.push((path.clone(), "seq".to_owned()));
            for (at, item) in node.items().enumerate() {
                visit(file, item, below(&path, &at.to_string()), seen, found);
            }
        }
        Kind::Mapping => {
            found.push((path.clone(), "map".to_owned()));
            for (key, value) in node.pairs() {
                visit(file, value, below(&path, key.text()), seen, found);
            }
        }
    }
}

fn array(file: &File, array: &NdArray, path: &str, found: &mut Vec<(String, String)>) {
    let geometry = file.geometry_of(array).unwrap();
    let whole = Region::whole(&geometry.shape);
    let elements = file.read_array(array, &whole, &ReadOptions::default()).unwrap();
    let mut bytes = elements.bytes(Order::C, &Limits::default()).unwrap().into_owned();
    geometry.dtype.swap_to(ByteOrder::Little, &mut bytes).unwrap();
    found.push((path.to_owned(), format!("shape {:?}", geometry.shape)));
    found.push((format!("{path} type"), geometry.dtype.with_order(ByteOrder::Little).descr().repr()));
    let size = geometry.dtype.itemsize();
    if size == 0 {
        return;
    }
    for (at, item) in bytes.chunks(size).enumerate() {
        let mut place = path.to_owned();
        let mut rest = at as u64;
        let mut indices: Vec<u64> = geometry
            .shape
            .iter()
            .rev()
            .map(|len| {
                let index = rest % len;
                rest /= len;
                index
            })
            .collect();
        indices.reverse();
        indices.iter().for_each(|index| place.push_str(&format!("/{index}")));
        element(&geometry.dtype, item, &place, found);
    }
}

fn element(dtype: &DType, item: &[u8], path: &str, found: &mut Vec<(String, String)>) {
    let scalar = match dtype {
        DType::Record(record) => {
            for (at, field) in record.fields.iter().enumerate() {
                let size = field.dtype.itemsize();
                element(
                    &field.dtype,
                    &item[field.offset..field.offset + size],
                    &format!("{path}/{at}"),
                    found,
                );
            }
            return;
        }
        DType::Scalar(scalar) => scalar,
    };
    let number = item.iter().rev().fold(0_i128, |number, byte| number << 8 | i128::from(*byte));
    let real = |bytes: &[u8]| match bytes.len() {
        4 => f64::from(f32::from_le_bytes(bytes.try_into().unwrap())),
        _ => f64::from_le_bytes(bytes.try_into().unwrap()),
    };
    let text = |characters: Vec<char>| {
        let text: String = characters.into_iter().collect();
        format!("str {}", text.trim_end_matches('\0'))
    };
    let is = match scalar.kind {
        Of::Bool => format!("bool {}", number != 0),
        Of::Int => {
            let bits = 8 * scalar.size as u32;
            format!("int {}", if number >> (bits - 1) == 1 { number - (1 << bits) } else { number })
        }
        Of::Uint => format!("int {number}"),
        Of::Float => nodes::is(&Scalar::Float(real(item))),
        Of::Complex => {
            let (re, im) = item.split_at(item.len() / 2);
            let part = |value: f64| {
                if value.is_nan() { "nan".to_owned() } else { format!("{:016x}", value.to_bits()) }
            };
            format!("complex {} {}", part(real(re)), part(real(im)))
        }
        Of::Bytes => text(item.iter().copied().map(char::from).collect()),
        Of::Unicode => {
            let letter = |part: &[u8]| char::from_u32(u32::from_le_bytes(part.try_into().unwrap())).unwrap();
            text(item.chunks(4).map(letter).collect())
        }
        ref other => panic!("{other:?}"),
    };
    found.push((path.to_owned(), is));
}

/// Returns PyYAML's nodes of the twin: data of arrays at the place of the arrays.
fn by_pyyaml(twin: &Path) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(twin).unwrap();
    let answer = peer(Release::Newest).ask("yaml", json!({ "text": text }));
    let all = nodes::of_answer(&answer["nodes"]);
    let is_array = |is: &str| is.starts_with("tag:stsci.edu:asdf/core/ndarray-");
    let arrays: Vec<String> =
        all.iter().filter(|(_, is)| is_array(is)).map(|(path, _)| path.clone()).collect();
    let mut found = Vec::new();
    for (path, is) in all {
        let mut steps = path.split('/');
        if matches!(steps.next(), Some("asdf_library" | "history")) {
            continue;
        }
        let Some(array) =
            arrays.iter().find(|array| path.strip_prefix(*array).is_some_and(|rest| rest.starts_with('/')))
        else {
            if !is_array(&is) {
                found.push((
                    path,
                    is.replace("tag:stsci.edu:asdf/core/asdf-1.1.0 map", "map")
                        .replace("tag:stsci.edu:asdf/core/asdf-1.0.0 map", "map"),
                ));
            }
            continue;
        };
        let rest = &path[array.len() + 1..];
        if let Some(place) = rest.strip_prefix("data/")
            && is != "seq"
        {
            found.push((format!("{array}/{place}"), complex(&is)));
        }
    }
    found
}

/// A complex number in the words of [`element`].
fn complex(is: &str) -> String {
    let Some(text) = is.strip_prefix("tag:stsci.edu:asdf/core/complex-1.0.0 ") else { return is.to_owned() };
    let number = asdf::types::complex::parse(text).unwrap();
    let part =
        |value: f64| if value.is_nan() { "nan".to_owned() } else { format!("{:016x}", value.to_bits()) };
    format!("complex {} {}", part(number.re), part(number.im))
}

#[test]
fn reference_files_match_their_inline_twins() {
    let pairs = pairs();
    assert_eq!(pairs.len(), 105);
    for (path, twin) in pairs {
        let label = path.display();
        let file = File::open(&path).unwrap_or_else(|error| panic!("{error}"));
        let inline = File::open(&twin).unwrap_or_else(|error| panic!("{error}"));
        let (ours, by_twin) = (values(&file), values(&inline));
        assert!(ours.len() > 1, "{label}");
        // What names references is as it was written in one, and resolved in the other.
        let problems = nodes::differences(&ours, &by_twin);
        assert!(problems.is_empty(), "{label}: {problems:#?}");
        let elements: Vec<_> = ours
            .iter()
            .filter(|(path, is)| !path.ends_with(" type") && !is.starts_with("shape "))
            .cloned()
            .collect();
        let problems = nodes::differences(&elements, &by_pyyaml(&twin));
        assert!(problems.is_empty(), "{label} by PyYAML: {problems:#?}");
    }
}

#[test]
fn compressed_reference_files_verify_by_the_old_rule_alone() {
    let mut states = [0; 2];
    for (path, _) in pairs() {
        let file = File::open(&path).unwrap();
        for block in file.blocks() {
            let state =
                asdf::checksum_status(file.source(), block, &codecs(), &Limits::default(), 1).unwrap();
            let expected = if block.header.is_compressed() {
                ChecksumStatus::LegacyDecoded
            } else if block.header.is_streamed() {
                ChecksumStatus::Absent
            } else {
                ChecksumStatus::Stored
            };
            assert_eq!(state, expected, "{}, block {}", path.display(), block.index);
            states[usize::from(block.header.is_compressed())] += 1;
        }
    }
    assert_eq!(states[1], 14, "blocks of the seven compressed files");
    assert!(states[0] > 100, "{states:?}");
}
