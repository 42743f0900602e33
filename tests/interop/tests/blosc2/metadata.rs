//! Metadata both ways: what python-blosc2 says of files that are written here, and structs and dictionaries that are the same.

use std::collections::BTreeMap;

use blosc2_frame::blosc_chunk::{Compressor, Pipeline};
use blosc2_frame::{EditOptions, Editor, Frame, FrameOptions, Writer, default_params, msgpack};
use container_core::write::{AtomicFile, Durability, Overwrite};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::peers::{Peer, folder, numbers};
use crate::random::{Random, cases};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Run {
    station: String,
    year: u16,
    offsets: Vec<f64>,
    deep: BTreeMap<String, Option<i64>>,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Kind {
    Wind,
    Rain { millimetres: u32 },
}

fn run() -> Run {
    let deep = BTreeMap::from([("a".to_owned(), Some(i64::MIN)), ("b".to_owned(), None)]);
    let kind = Kind::Rain { millimetres: 70_000 };
    Run { station: "Vent \u{2603}".to_owned(), year: 2026, offsets: vec![0.5, -1e300], deep, kind }
}

#[test]
fn a_struct_is_a_dictionary_and_a_dictionary_is_a_struct() {
    let expected = json!({"station": "Vent \u{2603}", "year": 2026, "offsets": [0.5, -1e300],
        "deep": {"a": i64::MIN, "b": null}, "kind": {"Rain": {"millimetres": 70_000}}});
    for mut peer in Peer::both() {
        let folder = folder();
        let path = folder.path().join("a.b2frame");
        let mut out = AtomicFile::create(&path, Overwrite::Refuse).unwrap();
        let mut writer = Writer::new(&mut out, FrameOptions::default()).unwrap();
        writer.append(b"data").unwrap();
        writer.set_vlmetalayer("run", &msgpack::to_msgpack(&run()).unwrap()).unwrap();
        writer.finish().unwrap();
        out.commit(Durability::Cached).unwrap();
        assert_eq!(peer.info(&path)["vlmeta"]["run"], expected);
        let mut changed = expected.clone();
        (changed["year"], changed["kind"]) = (json!(1999), json!("Wind"));
        peer.ask("mutate", json!({"path": path, "steps": [["vlmeta", "run", changed]]}));
        let bytes = Frame::open(&path).unwrap().vlmetalayer("run").unwrap().unwrap();
        let found: Run = msgpack::from_msgpack(&bytes).unwrap();
        assert_eq!(found, Run { year: 1999, kind: Kind::Wind, ..run() });
    }
}

#[test]
fn more_attributes_than_c_blosc2_takes_are_one_entry_to_it() {
    for mut peer in Peer::both() {
        let folder = folder();
        let path = folder.path().join("a.b2frame");
        drop(Editor::create(&path, FrameOptions::default(), &EditOptions::default()).unwrap());
        let mut editor = Editor::open(&path, &EditOptions::default()).unwrap();
        let long = "a name of more than thirty-one bytes".to_owned();
        let names: Vec<String> = (0..40).map(|at| format!("name {at}")).chain([long.clone()]).collect();
        for (at, name) in names.iter().enumerate() {
            editor.set_attribute(name, &container_core::Value::Int(at as i128)).unwrap();
        }
        editor.append(b"data").unwrap();
        editor.commit(Durability::Cached).unwrap();
        let info = peer.info(&path);
        let user = info["vlmeta"].as_object().unwrap();
        assert!(user.len() <= 16, "{user:?}");
        let inside = user["attrs"].as_object().unwrap();
        for (at, name) in names.iter().enumerate() {
            let value = user.get(name).or_else(|| inside.get(name)).unwrap_or_else(|| panic!("no {name}"));
            assert_eq!(*value, at, "{name}");
        }
        assert!(inside.contains_key(&long));
        // It goes on with such a file, and so do we.
        peer.ask(
            "mutate",
            json!({"path": path, "steps": [["append", {"hex": "64617461"}], ["vlmeta", "name 3", "new"]]}),
        );
        let frame = Frame::open(&path).unwrap();
        let attributes: BTreeMap<String, String> = frame
            .attributes()
            .unwrap()
            .into_iter()
            .map(|(name, value)| (name, format!("{value:?}")))
            .collect();
        assert_eq!(attributes.len(), names.len());
        assert!(attributes["name 3"].contains("new"), "{attributes:?}");
        assert!(attributes[&long].contains("40"), "{attributes:?}");
    }
}

/// The encoding parameters that python-blosc2 reports of a frame are those that were requested.
#[test]
fn python_reports_the_requested_parameters() {
    let mut random = Random::new(8);
    let mut peers = Peer::both();
    let codecs =
        [Compressor::BLOSCLZ, Compressor::LZ4, Compressor::LZ4HC, Compressor::ZLIB, Compressor::ZSTD];
    for number in 0..cases(40) {
        let folder = folder();
        let path = folder.path().join("a.b2frame");
        let mut options = FrameOptions::default();
        let typesize = random.pick(&[1, 2, 4, 8, 12, 255]);
        options.params = default_params(typesize);
        options.params.compressor = random.pick(&codecs);
        options.params.level = random.below(10) as u8;
        let words: &[&str] = random.pick(&[
            &[][..],
            &["shuffle"],
            &["bitshuffle"],
            &["delta", "shuffle"],
            &["shuffle", "bytedelta"],
        ]);
        options.params.filters = Pipeline::parse_words(words).unwrap();
        let expected = options.params.clone();
        let value = random.bytes(typesize);
        options.metalayers.set("mine", msgpack::to_msgpack(&json!({"n": number})).unwrap()).unwrap();
        let mut out = AtomicFile::create(&path, Overwrite::Refuse).unwrap();
        let mut writer = Writer::new(&mut out, options).unwrap();
        for _ in 0..3 {
            writer.append(&value.repeat(500)).unwrap();
        }
        writer.set_vlmetalayer("number", &msgpack::to_msgpack(&number).unwrap()).unwrap();
        writer.finish().unwrap();
        out.commit(Durability::Cached).unwrap();
        for peer in &mut peers {
            let info = peer.info(&path);
            let params = &info["cparams"];
            let label = format!("case {number}: {expected:?}: {params}");
            assert_eq!(params["codec"], expected.compressor.0, "{label}");
            assert_eq!(params["typesize"], typesize, "{label}");
            let filters: Vec<u64> = expected.filters.0.iter().map(|filter| filter.id.into()).collect();
            assert_eq!(numbers(&params["filters"]), filters, "{label}");
            assert_eq!(info["vlmeta"]["number"], number, "{label}");
            assert_eq!(info["meta"], json!(["mine"]), "{label}");
            let (answer, values) = peer.read(&path);
            assert_eq!(answer["nchunks"], Value::from(3), "{label}");
            assert!(values == value.repeat(1500), "{label}");
        }
    }
}
