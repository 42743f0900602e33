//! Frames that are written and read again, against the files of `gsd.hoomd` and by the schema's rules.

use std::path::{Path, PathBuf};

use gsd::hoomd::{
    Frame, LoggedValue, Shape, StepRule, Trajectory, TrajectoryOptions, TrajectoryWriter, Validation,
};
use gsd::{Commit, CommitScheme, Durability, ErrorKind, File, Version, WriterOptions};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/gsd/ok")
}

/// The fixtures that `gsd.hoomd` 5.0.1 has written.
fn written_by_gsd_hoomd() -> Vec<PathBuf> {
    let files = std::fs::read_dir(fixtures()).unwrap().map(|file| file.unwrap().path());
    let mut files: Vec<PathBuf> = files
        .filter(|path| {
            File::open(path).is_ok_and(|file| file.header().application_name() == "gsd.hoomd 5.0.1")
        })
        .collect();
    files.sort();
    files
}

fn options(schema: Version) -> TrajectoryOptions {
    let writer =
        WriterOptions::default().with_schema("test", "hoomd", schema).with_durability(Durability::Cached);
    TrajectoryOptions::default().with_writer(writer)
}

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("a.gsd")
    }

    fn writer(&self) -> TrajectoryWriter {
        TrajectoryWriter::create(self.path(), &options(Version::new(2, 0))).unwrap()
    }

    /// Names of the chunks that each frame stores.
    fn chunks(&self) -> Vec<Vec<String>> {
        let file = File::open(self.path()).unwrap();
        let names = |frame| {
            let entries = file.index().slice(file.frame_entries(frame));
            entries.iter().map(|entry| file.names().get(entry.id).unwrap().into_owned()).collect()
        };
        (0..file.nframes()).map(names).collect()
    }
}

/// The frames that `gsd.hoomd` has stored, given to the writer with its rules, make its file again, to the byte.
#[test]
fn the_same_frames_make_the_file_of_gsd_hoomd() {
    let mut count = 0;
    for path in written_by_gsd_hoomd() {
        // Its shapes have whole numbers, which are written as reals.
        if path.ends_with("hoomd_type_shapes.gsd") {
            continue;
        }
        let trajectory = Trajectory::open(&path).unwrap();
        let place = Place::new();
        let version = trajectory.schema_version();
        let writer = WriterOptions::default()
            .with_schema("gsd.hoomd 5.0.1", "hoomd", version)
            .with_scheme(CommitScheme::Reference)
            .with_commit(Commit::Manual)
            .with_durability(Durability::Cached);
        let options = TrajectoryOptions::default()
            .with_writer(writer)
            .with_step_rule(StepRule::IfDifferent)
            .with_validation(Validation::Off);
        let mut writer = TrajectoryWriter::create(place.path(), &options).unwrap();
        for frame in trajectory.iter() {
            writer.append(&frame.to_stored_frame().unwrap()).unwrap();
            // gsd.hoomd commits the first frame by itself.
            if frame.index() == 0 {
                writer.flush().unwrap();
            }
        }
        writer.close().unwrap();
        assert!(std::fs::read(place.path()).unwrap() == std::fs::read(&path).unwrap(), "{}", path.display());
        count += 1;
    }
    assert!(count > 10, "{count}");
}

/// Whole frames, written with defaults and inherited values left out, read as they were.
#[test]
fn frames_read_as_they_were_written() {
    for path in written_by_gsd_hoomd() {
        let trajectory = Trajectory::open(&path).unwrap();
        let place = Place::new();
        let mut writer = place.writer();
        for frame in trajectory.iter() {
            writer.append(&frame.to_frame().unwrap()).unwrap();
        }
        writer.close().unwrap();
        let again = Trajectory::open(place.path()).unwrap();
        // Readers do not see a last frame without chunks.
        assert_eq!(again.len(), trajectory.len());
        for (one, other) in trajectory.iter().zip(again.iter()) {
            assert_eq!(
                one.to_frame().unwrap(),
                other.to_frame().unwrap(),
                "{} {}",
                path.display(),
                one.index()
            );
        }
    }
}

#[test]
fn chunks_equal_to_frame_0_or_default_are_omitted_except_step() {
    let place = Place::new();
    let mut writer = place.writer();
    let mut frame = Frame::default();
    frame.particles.n = Some(2);
    frame.particles.mass = Some(vec![1.0_f32, 1.0].into());
    frame.particles.charge = Some(vec![0.5_f32, 0.5].into());
    frame.particles.types = Some(vec!["A".to_owned()].into());
    frame.particles.type_shapes = Some(vec![Shape::None].into());
    for step in [0, 10] {
        frame.configuration.step = Some(step);
        writer.append(&frame).unwrap();
    }
    // Back to the default of what frame 0 has.
    frame.particles.charge = Some(vec![0.0_f32, 0.0].into());
    frame.particles.mass = Some(vec![-0.0_f32, 1.0].into());
    frame.configuration.step = None;
    writer.append(&frame).unwrap();
    writer.append(&Frame::default()).unwrap();
    writer.close().unwrap();
    let step = "configuration/step";
    assert_eq!(place.chunks()[0], [step, "particles/N", "particles/charge"]);
    assert_eq!(place.chunks()[1], [step]);
    assert_eq!(place.chunks()[2], [step, "particles/charge", "particles/mass"]);
    assert_eq!(place.chunks()[3], [step]);
    let trajectory = Trajectory::open(place.path()).unwrap();
    let charges = |at| trajectory.frame(at).unwrap().particles().charge().unwrap().into_f64().into_owned();
    assert_eq!((charges(1), charges(2), charges(3)), (vec![0.5, 0.5], vec![0.0, 0.0], vec![0.5, 0.5]));
    let mass = trajectory.frame(2).unwrap().particles().mass().unwrap().into_f32().unwrap();
    assert!(mass[0].is_sign_negative());
}

#[test]
fn precision_is_kept_and_f64_does_not_go_into_old_schemas() {
    let mut frame = Frame::default();
    frame.particles.n = Some(1);
    frame.particles.position = Some(vec![[0.1_f64, 0.2, -0.3]].into());
    frame.configuration.simulation_box = Some(vec![3.3_f64, 3.3, 3.3, 0.0, 0.0, 0.0].into());
    let place = Place::new();
    let mut writer = place.writer();
    writer.append(&frame).unwrap();
    writer.close().unwrap();
    let trajectory = Trajectory::open(place.path()).unwrap();
    let view = trajectory.frame(0).unwrap();
    assert_eq!(view.particles().position().unwrap().as_f64(), Some(&[[0.1, 0.2, -0.3]][..]));
    assert_eq!(view.simulation_box().unwrap().lengths, [3.3; 3]);

    let place = Place::new();
    let mut writer = TrajectoryWriter::create(place.path(), &options(Version::new(1, 4))).unwrap();
    let error = writer.append(&frame).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)) && writer.is_empty(), "{error}");
    // The writer continues.
    writer.append(&Frame::default()).unwrap();
    assert_eq!(writer.len(), 1);
}

#[test]
fn box_with_lz_zero_defaults_to_two_dimensions() {
    let place = Place::new();
    let mut writer = place.writer();
    let mut frame = Frame::default();
    frame.configuration.simulation_box = Some(vec![8.0_f32, 8.0, 0.0, 0.0, 0.0, 0.0].into());
    writer.append(&frame).unwrap();
    frame.configuration.simulation_box = Some(vec![8.0_f32, 8.0, 8.0, 0.0, 0.0, 0.0].into());
    writer.append(&frame).unwrap();
    writer.close().unwrap();
    let trajectory = Trajectory::open(place.path()).unwrap();
    let dimensions: Vec<u8> = trajectory.iter().map(|frame| frame.dimensions().unwrap()).collect();
    assert_eq!(dimensions, [2, 3]);
}

/// A change to a frame of three particles with two types and a bond, and the code of its problem.
type Case = (&'static str, bool, fn(&mut Frame<'static>));

const CASES: [Case; 12] = [
    ("typeid", true, |frame| frame.particles.typeid = Some(vec![0, 1, 2].into())),
    ("schema_text", true, |frame| frame.particles.types = Some(vec!["A".to_owned(), "A".to_owned()].into())),
    ("tags", true, |frame| frame.bonds.group = Some(vec![[0, 3]].into())),
    ("typeid", true, |frame| frame.bonds.typeid = Some(vec![1].into())),
    ("schema_shape", true, |frame| frame.particles.type_shapes = Some(vec![Shape::None; 3].into())),
    ("tags", true, |frame| {
        frame.constraints.n = Some(1);
        frame.constraints.group = Some(vec![[u32::MAX, 0]].into());
    }),
    ("not_finite", false, |frame| frame.particles.mass = Some(vec![1.0_f64, f64::NAN, 1.0].into())),
    ("not_finite", false, |frame| frame.particles.angmom = Some(vec![[f32::INFINITY; 4]; 3].into())),
    ("outside_box", false, |frame| frame.particles.position = Some(vec![[0.0_f32, 0.0, 4.5]; 3].into())),
    ("box", false, |frame| frame.configuration.simulation_box = Some(vec![-1.0_f32; 6].into())),
    ("box", false, |frame| frame.configuration.dimensions = Some(4)),
    ("step_order", false, |frame| frame.configuration.step = Some(5)),
];

fn sound() -> Frame<'static> {
    let mut frame = Frame::default();
    frame.configuration.step = Some(5);
    frame.configuration.simulation_box = Some(vec![8.0_f32, 8.0, 8.0, 0.0, 0.0, 0.0].into());
    frame.particles.n = Some(3);
    frame.particles.types = Some(vec!["A".to_owned(), "B".to_owned()].into());
    frame.particles.typeid = Some(vec![0, 1, 1].into());
    frame.bonds.n = Some(1);
    frame.bonds.types = Some(vec!["bond".to_owned()].into());
    frame.bonds.group = Some(vec![[0, 2]].into());
    frame
}

#[test]
fn contradictions_are_refused_and_doubtful_values_reported() {
    for (code, is_error, change) in CASES {
        let mut wrong = sound();
        wrong.configuration.step = Some(6);
        change(&mut wrong);
        let place = Place::new();
        let mut writer = place.writer();
        assert_eq!(writer.append(&sound()).unwrap(), [], "{code}");
        let appended = writer.append(&wrong);
        if is_error {
            assert!(matches!(appended.unwrap_err().kind(), ErrorKind::Usage(_)), "{code}");
            assert_eq!(writer.len(), 1, "{code}");
        } else {
            let codes: Vec<_> =
                appended.unwrap().iter().map(|problem| (problem.code, problem.frame)).collect();
            assert_eq!(codes, [(code, 1)]);
        }
        drop(writer);

        let strict = options(Version::new(2, 0)).with_validation(Validation::Strict);
        let mut writer = TrajectoryWriter::create(place.path(), &strict).unwrap();
        writer.append(&sound()).unwrap();
        assert!(writer.append(&wrong).is_err(), "{code}");
        let off = options(Version::new(2, 0)).with_validation(Validation::Off);
        drop(writer);
        let mut writer = TrajectoryWriter::open(place.path(), &off).unwrap();
        assert_eq!(writer.append(&wrong).unwrap(), [], "{code}");
    }
}

#[test]
fn rows_that_are_not_n_are_always_refused() {
    let off = options(Version::new(2, 0)).with_validation(Validation::Off);
    let place = Place::new();
    let mut writer = TrajectoryWriter::create(place.path(), &off).unwrap();
    let mut frame = Frame::default();
    frame.particles.position = Some(vec![[0.0_f32; 3]; 2].into());
    let error = writer.append(&frame).unwrap_err();
    assert_eq!(error.context(), Some("particles/position"));
    frame.particles.n = Some(2);
    frame.bonds.group = Some(vec![[0, 1]].into());
    assert!(writer.append(&frame).is_err());
    frame.bonds.group = None;
    frame.configuration.simulation_box = Some(vec![1.0_f32; 5].into());
    assert!(writer.append(&frame).is_err());
    frame.configuration.simulation_box = None;
    writer.append(&frame).unwrap();
    // Frame 0 contains the count.
    frame.particles.n = None;
    writer.append(&frame).unwrap();
    assert_eq!(writer.len(), 2);
}

#[test]
fn appended_frames_are_held_against_frame_0_of_the_file() {
    let place = Place::new();
    let options = options(Version::new(2, 0));
    let mut writer = TrajectoryWriter::create(place.path(), &options).unwrap();
    writer.append(&sound()).unwrap();
    writer.close().unwrap();
    let mut writer = TrajectoryWriter::open(place.path(), &options).unwrap();
    let mut frame = sound();
    frame.bonds.group = Some(vec![[1, 2]].into());
    let codes: Vec<_> = writer.append(&frame).unwrap().iter().map(|problem| problem.code).collect();
    assert_eq!(codes, ["step_order"]);
    writer.close().unwrap();
    assert_eq!(place.chunks()[1], ["configuration/step", "bonds/group"]);

    let other = Place::new();
    let writer = WriterOptions::default().with_schema("test", "other", Version::new(1, 0));
    gsd::Writer::create(other.path(), &writer).unwrap().close().unwrap();
    assert!(TrajectoryWriter::open(other.path(), &options).is_err());
}

#[test]
fn logs_are_written_in_every_frame_and_state_in_old_schemas_alone() {
    let mut frame = Frame::default();
    frame.log.insert("energy", 0.5_f64);
    frame.log.insert("text", "näh");
    let vectors = [1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0];
    frame.log.insert("particles/force", LoggedValue::matrix(3, &vectors).unwrap());
    let place = Place::new();
    let mut writer = place.writer();
    writer.append(&frame).unwrap();
    writer.append(&frame).unwrap();
    frame.state.insert("hpmc/integrate/d", 0.25_f64);
    assert!(writer.append(&frame).is_err());
    frame.state = gsd::hoomd::Log::default();
    frame.log.insert("bad\0name", 1_u8);
    assert!(writer.append(&frame).is_err());
    writer.close().unwrap();
    let trajectory = Trajectory::open(place.path()).unwrap();
    assert_eq!(trajectory.len(), 2);
    let log = trajectory.frame(1).unwrap().stored_logs().unwrap();
    assert_eq!(log.get("energy").unwrap().scalar(), Some(0.5));
    assert_eq!(log.get("text").unwrap().to_text().unwrap(), "näh");
    let force = log.get("particles/force").unwrap();
    assert_eq!((force.shape(), &*force.elements::<f32>().unwrap()), ((2, 3), &vectors[..]));

    let old = Place::new();
    let mut writer = TrajectoryWriter::create(old.path(), &options(Version::new(1, 4))).unwrap();
    let mut frame = Frame::default();
    frame.state.insert("hpmc/integrate/d", 0.25_f64);
    writer.append(&frame).unwrap();
    frame.state.insert("hpmc/unknown", 0.25_f64);
    assert!(writer.append(&frame).is_err());
    frame.state = gsd::hoomd::Log::default();
    frame.state.insert("hpmc/integrate/d", 0.25_f32);
    assert!(writer.append(&frame).is_err());
    writer.append(&Frame::default()).unwrap();
    writer.close().unwrap();
    let trajectory = Trajectory::open(old.path()).unwrap();
    let state = |at| trajectory.frame(at).unwrap().state().unwrap();
    assert_eq!(state(0).get("hpmc/integrate/d").unwrap().scalar(), Some(0.25));
    assert!(state(1).is_empty());
}
