//! Frames of the fixtures, against what `gsd.hoomd` 5.0.1 reads (`golden/hoomd_frames.py`), and what hostile files come to.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use container_core::Progress;
use gsd::hoomd::{FloatArray, Frame, GroupData, SinglePrecision, Trajectory, check_trajectory};
use gsd::{ChunkType, ErrorKind, File, OpenOptions, Strictness};

const GOLDEN: &str = include_str!("golden/hoomd_frames.txt");

fn fixture(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/gsd");
    let ok = root.join("ok").join(name);
    if ok.exists() { ok } else { root.join("odd").join(name) }
}

/// The digest is that of little-endian numbers.
fn show(kind: &str, width: usize, bytes: &[u8]) -> String {
    let (mut low, mut high) = (1_u32, 0_u32);
    let mut numbers = bytes.to_vec();
    if cfg!(target_endian = "big") {
        numbers.chunks_exact_mut(width).for_each(<[u8]>::reverse);
    }
    for byte in &numbers {
        low = (low + u32::from(*byte)) % 65521;
        high = (high + low) % 65521;
    }
    format!("{kind}{width}:{}:{:08x}", bytes.len() / width, high << 16 | low)
}

fn integers<T: bytemuck::Pod>(kind: &str, rows: &[T]) -> String {
    show(kind, 4, bytemuck::cast_slice(rows))
}

fn reals<S: SinglePrecision>(values: &FloatArray<'_, S>) -> String {
    show("f", if values.as_f32().is_some() { 4 } else { 8 }, values.bytes())
}

fn group<const K: usize>(data: &GroupData<'_, K>) -> String
where
    [u32; K]: bytemuck::Pod,
{
    let types = data.types.as_ref().unwrap().join(",");
    let types = if types.is_empty() { "-".to_owned() } else { types };
    let (typeid, group) = (data.typeid.as_ref().unwrap(), data.group.as_ref().unwrap());
    format!("{} {types} {} {}", data.n.unwrap(), integers("u", typeid), integers("u", group))
}

/// The lines of a frame, as the Python script prints them.
fn lines(start: &str, frame: &Frame<'_>) -> String {
    let mut out = String::new();
    let one = &frame.configuration;
    let values = reals(one.simulation_box.as_ref().unwrap());
    let (step, dimensions) = (one.step.unwrap(), one.dimensions.unwrap());
    writeln!(out, "{start} configuration {step} {dimensions} {values}").unwrap();
    let one = &frame.particles;
    let fields = [
        one.n.unwrap().to_string(),
        one.types.as_ref().unwrap().join(","),
        integers("u", one.typeid.as_ref().unwrap()),
        reals(one.mass.as_ref().unwrap()),
        reals(one.charge.as_ref().unwrap()),
        reals(one.diameter.as_ref().unwrap()),
        integers("i", one.body.as_ref().unwrap()),
        reals(one.moment_inertia.as_ref().unwrap()),
        reals(one.position.as_ref().unwrap()),
        reals(one.orientation.as_ref().unwrap()),
        reals(one.velocity.as_ref().unwrap()),
        reals(one.angmom.as_ref().unwrap()),
        integers("i", one.image.as_ref().unwrap()),
    ];
    writeln!(out, "{start} particles {}", fields.join(" ")).unwrap();
    writeln!(out, "{start} bonds {}", group(&frame.bonds)).unwrap();
    writeln!(out, "{start} angles {}", group(&frame.angles)).unwrap();
    writeln!(out, "{start} dihedrals {}", group(&frame.dihedrals)).unwrap();
    writeln!(out, "{start} impropers {}", group(&frame.impropers)).unwrap();
    writeln!(out, "{start} pairs {}", group(&frame.pairs)).unwrap();
    let one = &frame.constraints;
    let (value, tags) = (reals(one.value.as_ref().unwrap()), integers("u", one.group.as_ref().unwrap()));
    writeln!(out, "{start} constraints {} {value} {tags}", one.n.unwrap()).unwrap();
    write!(out, "{start} log").unwrap();
    for (name, value) in frame.log.iter() {
        let kind = match value.chunk_type() {
            ChunkType::Float | ChunkType::Double => "f",
            ChunkType::Int8 | ChunkType::Int16 | ChunkType::Int32 | ChunkType::Int64 => "i",
            _ => "u",
        };
        let width = usize::try_from(value.chunk_type().size()).unwrap();
        write!(out, " {name}={}", show(kind, width, value.bytes())).unwrap();
    }
    out.push('\n');
    out
}

fn golden_names() -> Vec<&'static str> {
    let mut names: Vec<_> = GOLDEN.lines().filter_map(|line| line.split(' ').next()).collect();
    names.dedup();
    names
}

#[test]
fn frames_are_those_that_gsd_hoomd_reads() {
    let mut found = String::new();
    for name in golden_names() {
        let trajectory = Trajectory::open(fixture(name)).unwrap();
        for frame in trajectory.iter() {
            found.push_str(&lines(&format!("{name} {}", frame.index()), &frame.to_frame().unwrap()));
        }
    }
    for (at, (found, golden)) in found.lines().zip(GOLDEN.lines()).enumerate() {
        assert_eq!(found, golden, "line {}", at + 1);
    }
    assert_eq!(found.lines().count(), GOLDEN.lines().count());
}

/// The same through a source that copies and at every alignment: frames read backwards, field by field.
#[test]
fn frames_are_the_same_from_any_source_in_any_order() {
    for name in golden_names() {
        let bytes = std::fs::read(fixture(name)).unwrap();
        let mapped = Trajectory::open(fixture(name)).unwrap();
        let held = File::from_bytes(bytes).unwrap();
        let held = Trajectory::from_file(held).unwrap();
        let mut positioned = OpenOptions::default();
        positioned.access = container_core::source::Access::Positioned;
        let positioned = Trajectory::open_with(fixture(name), &positioned).unwrap();
        for frame in mapped.iter().rev() {
            let want = frame.to_frame().unwrap();
            assert_eq!(held.frame(frame.index()).unwrap().to_frame().unwrap(), want);
            assert_eq!(positioned.frame(frame.index()).unwrap().to_frame().unwrap(), want);
        }
    }
}

#[test]
fn frames_are_counted_picked_and_refused_past_the_end() {
    let trajectory = Trajectory::open(fixture("hoomd_n_returns.gsd")).unwrap();
    let count = trajectory.len();
    assert_eq!(
        trajectory.iter().map(|frame| frame.index()).collect::<Vec<_>>(),
        (0..count).collect::<Vec<_>>()
    );
    let picked = |range, step| -> Vec<u64> {
        trajectory.frames(range, step).unwrap().map(|frame| frame.index()).collect()
    };
    assert_eq!(picked(0..count, 2), (0..count).step_by(2).collect::<Vec<_>>());
    assert_eq!(picked(1..count, u64::MAX), [1]);
    assert!(picked(count..count, 1).is_empty());
    let last = trajectory.get(-1).unwrap();
    assert_eq!(last, trajectory.frame(count - 1).unwrap().to_frame().unwrap());
    for error in [
        trajectory.frame(count).err(),
        trajectory.get(i64::MIN).err(),
        trajectory.frames(..=count, 1).err(),
        trajectory.frames(.., 0).err(),
    ] {
        assert!(matches!(error.unwrap().kind(), ErrorKind::Usage(_)));
    }
}

#[test]
fn other_schemas_and_versions_are_refused() {
    let kind = |name: &str| Trajectory::open(fixture(name)).err().unwrap().into_kind();
    assert!(matches!(kind("fl_1_frame.gsd"), ErrorKind::WrongFormat { .. }));
    assert!(matches!(kind("hoomd_schema_3_0.gsd"), ErrorKind::Unsupported(_)));
}

#[test]
fn a_chunk_that_is_not_the_schemas_is_an_error_of_its_field_alone() {
    for (name, chunk) in [
        ("physics_length_short.gsd", "particles/mass"),
        ("physics_length_long.gsd", "particles/mass"),
        ("physics_position_integers.gsd", "particles/image"),
        ("physics_types_not_utf8.gsd", "particles/types"),
        ("physics_shapes_not_json.gsd", "particles/type_shapes"),
        ("physics_box_of_3.gsd", "configuration/box"),
        ("physics_n_two.gsd", "bonds/N"),
    ] {
        let trajectory = Trajectory::open(fixture(name)).unwrap();
        let frame = trajectory.frame(0).unwrap();
        let error = frame.to_frame().unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Malformed(_)), "{name}: {error}");
        assert_eq!(error.context(), Some(format!("gsd frame 0 {chunk}").as_str()), "{name}");
        assert!(error.range().is_some(), "{name}");
        frame.step().unwrap();
    }
}

/// Every byte of a small file changed: reading gives values or errors, and stays within the memory that it is allowed.
#[test]
fn changed_bytes_are_read_or_refused() {
    let path = fixture("hoomd_log.gsd");
    let bytes = std::fs::read(path).unwrap();
    let mut options = OpenOptions::default();
    options.limits = options.limits.with_memory(1 << 20);
    for at in 0..bytes.len() {
        // Most of a fresh file is room for names and entries.
        if bytes[at] == 0 && at % 61 != 0 {
            continue;
        }
        for flip in [0x01, 0x80, 0xFF] {
            let mut bytes = bytes.clone();
            bytes[at] ^= flip;
            for strictness in [Strictness::Compatible, Strictness::Lenient] {
                let Ok(file) =
                    File::from_source(Box::new(bytes.clone()), &options.with_strictness(strictness))
                else {
                    continue;
                };
                let Ok(trajectory) = Trajectory::from_file(file) else { continue };
                for frame in trajectory.iter().take(4) {
                    let _ = frame.to_frame();
                }
                if trajectory.len() < 100 {
                    let _ = check_trajectory(&trajectory, Progress::none());
                }
            }
        }
    }
}

/// A file of a few hundred bytes that claims four thousand million particles, bonds and so on.
#[test]
fn huge_counts_allocate_only_within_the_memory_limit() {
    let n = u32::MAX.to_le_bytes();
    let plan = gsd::sequential::Plan::new("test", "hoomd", gsd::Version::new(2, 0)).unwrap();
    let counts = ["particles", "bonds", "angles", "dihedrals", "impropers", "constraints", "pairs"];
    let names: Vec<String> = counts.iter().map(|container| format!("{container}/N")).collect();
    let chunks: Vec<_> =
        names.iter().map(|name| (0, name.as_str(), ChunkType::Uint32, 1, 1, &n[..])).collect();
    let bytes = gsd::sequential::to_vec(plan, &chunks).unwrap();
    let mut options = OpenOptions::default();
    // Any one of the defaults would fit.
    options.limits = options.limits.with_memory(200 << 30);
    let file = File::from_source(Box::new(bytes), &options).unwrap();
    let trajectory = Trajectory::from_file(file).unwrap();
    let frame = trajectory.frame(0).unwrap();
    assert_eq!(frame.particles().n().unwrap(), u32::MAX);
    assert!(matches!(frame.to_frame().unwrap_err().kind(), ErrorKind::Limit { .. }));
    assert_eq!(check_trajectory(&trajectory, Progress::none()).unwrap(), []);
}
