//! The same arrays in an HDF5 file that h5grove 4 itself serves, and in ours.

use std::path::{Path, PathBuf};
use std::process::Command;

use holdall::convert::{ConvertOptions, Losses, convert};
use holdall::{Address, Error};
use serde_json::Value as Json;

use super::{Format, Opened};

/// Prints the answers of h5grove, and writes each array as a `.npy` file.
fn answers(folder: &Path) -> Vec<Json> {
    let python = std::env::var_os("HOLDALL_PYTHON").map(PathBuf::from);
    let python = python.expect("HOLDALL_PYTHON names no Python with h5grove (cargo xtask setup makes one)");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/interop/peers/h5grove_answers.py");
    let output = Command::new(python).arg(script).arg(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
}

/// A description without what a file has of its own: the name, attributes, chunks and filters; and without the key of h5web.
fn comparable(mut meta: Json) -> Json {
    let map = meta.as_object_mut().unwrap();
    ["name", "attributes", "chunks", "filters"].iter().for_each(|key| drop(map.remove(*key)));
    without_padding(&mut meta);
    meta
}

fn without_padding(value: &mut Json) {
    match value {
        Json::Object(map) => {
            map.remove("strPad");
            map.values_mut().for_each(without_padding);
        }
        Json::Array(items) => items.iter_mut().for_each(without_padding),
        _ => {}
    }
}

/// Whether two answers in JSON are equal. A single may be spelled by more digits than distinguish it.
fn same(ours: &Json, theirs: &Json, is_single: bool) -> bool {
    match (ours, theirs) {
        (Json::Array(ours), Json::Array(theirs)) => {
            ours.len() == theirs.len()
                && ours.iter().zip(theirs).all(|(ours, theirs)| same(ours, theirs, is_single))
        }
        (Json::Number(a), Json::Number(b)) => {
            let single = |number: &serde_json::Number| number.as_f64().map(|value| value as f32);
            a == b
                || a.as_f64() == b.as_f64() && a.is_f64() == b.is_f64()
                || is_single && single(a) == single(b)
        }
        _ => ours == theirs,
    }
}

/// Flattens the field `v`, the fourth of each record.
fn flatten_sub_arrays(records: &mut Json) {
    let items = records.as_array_mut().unwrap();
    match items.first() {
        Some(Json::Array(_)) | None => items.iter_mut().for_each(flatten_sub_arrays),
        Some(_) => {
            let rows = items[3].as_array().unwrap();
            items[3] = rows.iter().flat_map(|row| row.as_array().unwrap().clone()).collect();
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// One answer of ours against theirs; a sentence where they differ.
fn difference(file: &Opened, path: &str, name: &str, wanted: &Json) -> Option<String> {
    let how = (
        Format::parse(wanted["format"].as_str().unwrap()).unwrap(),
        wanted["flatten"].as_bool().unwrap(),
        wanted["dtype"] == "safe",
    );
    let ours: Result<Vec<u8>, Error> = file.try_data(path, wanted["selection"].as_str(), how);
    let what = || format!("{name} {wanted}").chars().take(400).collect::<String>();
    match (ours, &wanted["error"], &wanted["json"], &wanted["hex"]) {
        // Meant: numpy's files of strings, records and bytes, which h5grove refuses.
        (Ok(_), Json::String(_), _, _) if how.0 == Format::Npy => None,
        (Err(_), Json::String(_), _, _) => None,
        // Meant: h5grove sends addresses in memory for text of any length.
        (_, _, _, Json::String(_)) if name.contains("text") && how.0 == Format::Bin => None,
        // Meant: numpy's scalars of bytes are without their padding, and then of another size than the type.
        (Ok(ours), _, _, Json::String(theirs))
            if name.starts_with("fixed") && wanted["selection"] == "0,0" =>
        {
            (!hex(&ours).starts_with(theirs.as_str())).then(what)
        }
        (Ok(ours), _, _, Json::String(theirs)) => {
            (hex(&ours) != *theirs).then(|| format!("{}: ours {}", what(), hex(&ours)))
        }
        (Ok(ours), Json::Null, theirs, _) => {
            let mut theirs = theirs.clone();
            // Meant: a sub-array is one list where all is flat; h5web refuses others.
            if how.1 && name.contains("record") {
                flatten_sub_arrays(&mut theirs);
            }
            let ours: Json = serde_json::from_slice(&ours).unwrap();
            let is_single = !name.starts_with("f8") && !name.starts_with("c16");
            (!same(&ours, &theirs, is_single)).then(|| format!("{}: ours {ours}", what()))
        }
        (ours, ..) => Some(format!("{}: ours {:?}", what(), ours.map(|bytes| hex(&bytes)))),
    }
}

#[test]
fn answers_are_those_of_h5grove() {
    let folder = tempfile::tempdir().unwrap();
    let all = answers(folder.path());
    assert!(all.len() > 35);
    let (mut differences, mut compared) = (Vec::new(), 0);
    for case in &all {
        let name = case["name"].as_str().unwrap();
        let npy = folder.path().join(format!("{name}.npy"));
        let mut files = vec![npy.clone()];
        for extension in ["asdf", "b2nd"] {
            let target = npy.with_extension(extension);
            // Not into a format that lacks the type: opaque bytes in ASDF.
            let options = ConvertOptions { losses: Losses::Refuse, ..ConvertOptions::default() };
            if convert(&Address::file(&npy), &target, &options).is_ok() {
                files.push(target);
            }
        }
        for path in files {
            let file = Opened::path(&path);
            let entity = file.entities.path_of(file.container.as_ref(), 0);
            let label = format!("{name}.{}", path.extension().unwrap().to_string_lossy());
            let (ours, theirs) = (comparable(file.meta(&entity)), comparable(case["meta"].clone()));
            if ours != theirs {
                differences.push(format!("{label}: ours {ours}, theirs {theirs}"));
            }
            for wanted in case["answers"].as_array().unwrap() {
                compared += 1;
                differences.extend(difference(&file, &entity, &label, wanted));
            }
        }
    }
    assert!(differences.is_empty(), "{} of {compared}:\n{}", differences.len(), differences.join("\n"));
    assert!(compared > 1500, "{compared}");
}
