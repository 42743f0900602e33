//! Arrays: of all frames at once, and as `.npy` files.

use std::path::Path;
use std::process::Command;

use bytemuck::cast_slice;
use container_codecs::checksum::Algorithm;
use container_core::dtype::Order;
use container_core::write::Durability;
use gsd::ChunkType;
use gsd::hoomd::Trajectory;
use gsd::hoomd::columns::{Changes, LogOptions, LogTable, Values};
use gsd::hoomd::schema::{FIELDS, Field};
use holdall::Address;
use holdall::convert::{ConvertOptions, ConvertOutcome, ReadBack};
use interop::peer::{python, script};
use tempfile::tempdir;

use crate::listing::little_endian;
use crate::peers::{Gsd, files, gsd, listed};

fn line(frames: u64, name: &str, dtype: &str, len: usize, little: &[u8]) -> String {
    let shape = if little.is_empty() { 0 } else { len };
    format!("{frames}\t{name}\t{dtype}\t{shape}\t{}", Algorithm::Md5.digest(little))
}

/// A field of the schema in all frames, where it has one shape in them.
fn field(trajectory: &Trajectory, field: &Field) -> Option<String> {
    let (frames, name) = (trajectory.len(), field.name);
    if field.chunk_type == ChunkType::Float {
        let (shape, values) = trajectory.time_series(name).read_f64().ok()?;
        assert_eq!(shape.iter().product::<u64>(), values.len() as u64, "{name}");
        return Some(line(frames, name, "<f8", values.len(), &little_endian(8, cast_slice(&values))));
    }
    let array = trajectory.time_series(name).read().ok()?;
    let bytes = array.bytes(Order::C, &gsd::Limits::default()).unwrap();
    let dtype = array.dtype().to_string();
    // Stored numbers, or defaults as this machine has them.
    let bytes =
        if dtype.starts_with('>') { little_endian(array.dtype().itemsize(), &bytes) } else { bytes.into() };
    Some(line(frames, name, &dtype.replace('>', "<"), array.len() as usize, &bytes))
}

fn columns(trajectory: &Trajectory) -> Vec<String> {
    let options = LogOptions::default().with_changes(Changes::Skip).with_threads(2);
    let table = LogTable::read(trajectory.file(), &options).unwrap();
    let numbers = table.columns.iter().filter_map(|column| {
        macro_rules! of {
            ($($variant:ident $dtype:literal),+) => {
                match &column.values {
                    $(Values::$variant(values) => Some(($dtype, values.len(), cast_slice::<_, u8>(values))),)+
                    _ => None,
                }
            };
        }
        let (dtype, len, bytes) = of!(
            U8 "|u1", U16 "<u2", U32 "<u4", U64 "<u8", I8 "|i1", I16 "<i2", I32 "<i4", I64 "<i8", F32 "<f4", F64 "<f8"
        )?;
        let bytes = little_endian(dtype[2..].parse().unwrap(), bytes);
        Some(line(trajectory.len(), &column.name, dtype, len, &bytes))
    });
    numbers.collect()
}

/// Every quantity that has one shape in all frames, inherited values and defaults included.
#[test]
fn quantities_of_all_frames_are_those_of_each() {
    let folder = tempdir().unwrap();
    gsd(Gsd::Newest, ["random".as_ref(), folder.path().as_os_str(), "200".as_ref(), "25".as_ref()]);
    for name in
        ["hoomd_full", "hoomd_full_double", "hoomd_falls_back", "hoomd_falls_back_double", "hoomd_log_gaps"]
    {
        let fixture = format!("../../testdata/gsd/ok/{name}.gsd");
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join(fixture);
        std::fs::copy(fixture, folder.path().join(name).with_extension("gsd")).unwrap();
    }
    gsd(Gsd::Newest, ["stacks".as_ref(), folder.path().as_os_str()]);
    let (mut count, mut problems) = (0, Vec::new());
    for path in files(folder.path(), "gsd") {
        let trajectory = Trajectory::open(&path).unwrap();
        let stored = |name: &str| trajectory.file().names().id(name).is_some();
        let mut found = columns(&trajectory);
        found.extend(FIELDS.iter().filter(|it| stored(it.name)).filter_map(|it| field(&trajectory, it)));
        for line in listed(&path, "stacks").lines() {
            let name = line.split('\t').nth(1).unwrap_or_default();
            if !stored(name) {
                continue;
            }
            count += 1;
            if !found.iter().any(|it| it == line) {
                let ours = found.iter().find(|it| it.split('\t').nth(1) == Some(name));
                problems.push(format!("{}: {ours:?}, not {line}", path.display()));
            }
        }
    }
    assert!(problems.is_empty(), "{} of {count}: {:#?}", problems.len(), &problems[..problems.len().min(8)]);
    assert!(count > 150, "only {count} quantities");
}

fn convert(source: &Path, target: &Path) -> bool {
    let source = Address { file: source.to_owned(), dataset: None, selection: None };
    let (verify, durability) = (ReadBack::Yes, Durability::Cached);
    let options = ConvertOptions { verify, durability, ..ConvertOptions::default() };
    matches!(holdall::convert(&source, target, &options), Ok(ConvertOutcome::Done(_)))
}

/// Every type, shape and order of the numpy tests.
#[test]
fn arrays_go_both_ways_between_numpy_files_and_gsd() {
    let folders =
        [tempdir().unwrap(), tempdir().unwrap(), tempdir().unwrap(), tempdir().unwrap(), tempdir().unwrap()];
    let [saved, ours, back, theirs, read] = folders.each_ref().map(tempfile::TempDir::path);
    let status =
        Command::new(python().unwrap()).arg(script("npy_cases.py")).arg("write").arg(saved).output().unwrap();
    assert!(status.status.success());
    gsd(Gsd::Newest, ["pack".as_ref(), saved.as_os_str(), theirs.as_os_str()]);
    let mut count = 0;
    for npy in files(saved, "npy") {
        let name = Path::new(npy.file_name().unwrap());
        let target = ours.join(name).with_extension("gsd");
        if convert(&npy, &target) {
            assert!(convert(&target, &back.join(name)), "{}", target.display());
            count += 1;
        }
    }
    assert!(count > 200, "only {count} arrays");
    gsd(Gsd::Newest, ["unpack".as_ref(), saved.as_os_str(), ours.as_os_str(), back.as_os_str()]);
    let packed = files(theirs, "gsd");
    assert!(packed.len() > 100, "only {} arrays", packed.len());
    for path in packed {
        let target = read.join(path.file_stem().unwrap()).with_extension("npy");
        assert!(convert(&path, &target), "{}", path.display());
    }
    gsd(Gsd::Newest, ["unpacked".as_ref(), theirs.as_os_str(), read.as_os_str()]);
}
