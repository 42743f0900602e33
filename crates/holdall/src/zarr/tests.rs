use std::path::PathBuf;

use super::*;
use crate::convert::{Conversion, ConvertOptions, ConvertOutcome};
use crate::testing::Memory;
use container_core::dtype::{DType, Order};
use container_core::write::Overwrite;

fn write(
    container: &dyn Container,
    selection: &[(usize, Region)],
    target: &Path,
    options: &ConvertOptions<'_>,
) -> Result<Conversion> {
    match crate::convert::write(container, selection, &FORMAT, target, options)? {
        ConvertOutcome::Done(conversion) => Ok(conversion),
        ConvertOutcome::Differs(differences) => panic!("{differences:?}"),
    }
}

/// Every file below a directory, by its path, sorted.
fn files(root: &Path) -> Vec<(String, Vec<u8>)> {
    let (mut folders, mut files) = (vec![PathBuf::from(root)], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
                files.push((name, fs::read(&path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

fn json_of(files: &[(String, Vec<u8>)], name: &str) -> Json {
    serde_json::from_slice(&files.iter().find(|(file, _)| file == name).unwrap().1).unwrap()
}

fn options(words: &[(&str, &str)]) -> ConvertOptions<'static> {
    let mut options = ConvertOptions::default();
    options.import.extra = words.iter().map(|(word, value)| ((*word).into(), (*value).into())).collect();
    options
}

#[test]
fn an_array_is_a_directory_of_chunks_the_last_filled_up_and_zeros_left_out() {
    let place = tempfile::tempdir().unwrap();
    let target = place.path().join("a.zarr");
    let memory = Memory::new().with(
        "data",
        ">u2",
        &[2, 5],
        &[0, 1, 0, 2, 0, 0, 0, 0, 0, 5, 0, 6, 0, 7, 0, 0, 0, 0, 0, 10],
    );
    let losses = write(&memory, &memory.all(), &target, &options(&[("chunks", "2,2")])).unwrap().losses;
    assert!(losses.is_empty());
    let files = files(&target);
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["c/0/0", "c/0/2", "zarr.json"]);
    assert_eq!(files[0].1, [1, 0, 2, 0, 6, 0, 7, 0]);
    assert_eq!(files[1].1, [5, 0, 0, 0, 10, 0, 0, 0]);
    let metadata = json_of(&files, "zarr.json");
    assert_eq!(metadata["data_type"], "uint16");
    assert_eq!(metadata["chunk_grid"]["configuration"]["chunk_shape"], json!([2, 2]));
    assert_eq!(metadata["codecs"], json!([{ "name": "bytes", "configuration": { "endian": "little" } }]));
}

#[test]
fn column_major_chunks_are_stored_in_storage_order() {
    let place = tempfile::tempdir().unwrap();
    let target = place.path().join("a.zarr");
    let u1 = DType::parse("|u1").unwrap();
    let memory = Memory::new().with_type("data", u1, &[3, 2], Order::F, &[1, 2, 3, 4, 5, 6]);
    write(&memory, &memory.all(), &target, &options(&[("chunks", "2,2")])).unwrap();
    let files = files(&target);
    assert_eq!(files[0], ("c/0/0".into(), vec![1, 2, 4, 5]));
    assert_eq!(files[1], ("c/1/0".into(), vec![3, 0, 6, 0]));
    let metadata = json_of(&files, "zarr.json");
    assert_eq!(metadata["codecs"][0], json!({ "name": "transpose", "configuration": { "order": [1, 0] } }));
}

#[test]
fn several_are_a_group_with_groups_by_their_paths() {
    let place = tempfile::tempdir().unwrap();
    let target = place.path().join("a.zarr");
    let mut memory = Memory::new().with("g/x", "|u1", &[1], &[1]).with("g/x/mask", "|u1", &[1], &[2]);
    memory.meta = Value::Map(vec![("by".into(), "hand".into())]);
    let memory = memory.attribute("g/x", "unit", "m");
    let losses = write(&memory, &memory.all(), &target, &options(&[])).unwrap().losses;
    let files = files(&target);
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        ["g/x.mask/c/0", "g/x.mask/zarr.json", "g/x/c/0", "g/x/zarr.json", "g/zarr.json", "zarr.json"]
    );
    assert_eq!(json_of(&files, "zarr.json")["attributes"], json!({ "by": "hand" }));
    assert_eq!(json_of(&files, "g/zarr.json")["node_type"], "group");
    assert_eq!(json_of(&files, "g/x/zarr.json")["attributes"], json!({ "unit": "m" }));
    assert_eq!(losses[0].dataset.as_deref(), Some("g/x/mask"));
}

#[test]
fn failed_write_leaves_no_target_and_keeps_foreign_directories() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    let memory = Memory::new().with("a", "|u1", &[1], &[1]).with("b", "|u1", &[1], &[1]).damaged("b");
    assert!(write(&memory, &memory.all(), &at("a.zarr"), &options(&[])).is_err());
    let sound = Memory::new().with("a", "bfloat16", &[1], &[1, 2]);
    let error = write(&sound, &sound.all(), &at("a.zarr"), &options(&[])).unwrap_err();
    assert!(error.hint().unwrap().contains("--as-bytes"));
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    write(&sound, &sound.all(), &at("a.zarr"), &options(&[("as-bytes", "")])).unwrap();
    assert!(write(&sound, &sound.all(), &at("a.zarr"), &options(&[("as-bytes", "")])).is_err());
    let mut again = options(&[("as-bytes", "")]);
    again.overwrite = Overwrite::Replace;
    write(&sound, &sound.all(), &at("a.zarr"), &again).unwrap();
    fs::create_dir(at("mine")).unwrap();
    fs::write(at("mine/thesis.txt"), b"all of it").unwrap();
    let error = write(&sound, &sound.all(), &at("mine"), &again).unwrap_err();
    assert!(error.to_string().contains("of another kind"));
    assert_eq!(files(place.path()).len(), 3);
    assert!(write(&sound, &sound.all(), Path::new("-"), &again).is_err());
}
