//! Files of any bytes as trajectories: frames, tensors, logs, checks, and writing what was read.

use std::borrow::Cow;

use container_core::Progress;
use gsd::hoomd::columns::{Changes, Gaps, LogOptions, LogTable};
use gsd::hoomd::schema::FIELDS;
use gsd::hoomd::{
    FloatArray, Frame, Scalars, Shape, SinglePrecision, Trajectory, TrajectoryOptions, TrajectoryWriter,
    Validation, check_frame, check_trajectory, csv,
};
use gsd::{Durability, File, Writer};

use crate::feed::Feed;
use crate::gsd_file::{MAX_DATASET_BYTES, POLICIES, open, own_options};
use crate::lens::look_at_error;

/// Defaults are left out, in either precision, and come back in single. A value like the default that is stored nonetheless, because
/// frame 0 has another, keeps its precision, which this does not look at.
fn default_as_single<S: SinglePrecision>(reals: &mut Option<FloatArray<'_, S>>, default: S) {
    let wide = default.widen();
    let is_default = |row: &S::Double| bytemuck::bytes_of(row) == bytemuck::bytes_of(&wide);
    if let Some(FloatArray::F64(rows)) = reals
        && rows.iter().all(is_default)
    {
        *reals = Some(FloatArray::F32(Cow::Owned(vec![default; rows.len()])));
    }
}

/// Looks at the frames of the bytes, in every policy.
pub fn gsd_hoomd(data: &[u8]) {
    let mut feed = Feed::derived(data);
    for policy in POLICIES {
        let Ok(file) = open(data, policy) else { continue };
        // Entries may share their data.
        let held = file.index().iter().filter_map(|entry| entry.size()).fold(0, u64::saturating_add);
        let frames = file.nframes();
        if held.saturating_mul(frames) <= MAX_DATASET_BYTES {
            logs(&file);
        }
        let trajectory = match Trajectory::from_file(file) {
            Ok(trajectory) => trajectory,
            Err(error) => {
                look_at_error(&error);
                continue;
            }
        };
        if let Err(error) = check_trajectory(&trajectory, Progress::none()) {
            look_at_error(&error);
        }
        if held.saturating_mul(frames.max(1)) > MAX_DATASET_BYTES {
            continue;
        }
        let read = frames_of(&trajectory);
        tensors(&trajectory, &mut feed);
        if read.len() as u64 == frames {
            again(&trajectory, &read);
        }
    }
}

/// Every frame, as far as it can be read.
fn frames_of(trajectory: &Trajectory) -> Vec<Frame<'_>> {
    let mut read = Vec::new();
    for view in trajectory.iter() {
        for result in [view.to_stored_frame(), view.to_frame()] {
            if let Err(error) = &result {
                look_at_error(error);
            }
        }
        if let Ok(problems) = check_frame(&view, Some(view.index())) {
            assert!(problems.iter().all(|problem| !problem.message.is_empty()));
        }
        if let Ok(cube) = view.simulation_box() {
            let (inside, _) = cube.wrap([0.3, -4.0, 1e9], [0, 0, i32::MAX]);
            _ = (
                cube.is_inside(inside),
                cube.unwrap(inside, [1, 2, 3]),
                cube.volume(),
                cube.make_fraction(inside),
            );
        }
        read.extend(view.to_frame());
    }
    let last = trajectory.len();
    assert!(trajectory.frame(last).is_err());
    read
}

fn tensors(trajectory: &Trajectory, feed: &mut Feed<'_>) {
    let threads = feed.threads();
    for field in FIELDS {
        let tensor = || {
            let tensor = trajectory.time_series(field.name);
            tensor.frames(.., 1).expect("all frames").threads(threads)
        };
        match tensor().read() {
            Ok(array) => {
                let frame = feed.below(trajectory.len().clamp(1, 1 << 15) as usize) as u64;
                if let Ok(view) = trajectory.frame(frame) {
                    assert_eq!(array.shape().first(), Some(&trajectory.len()));
                    // In an index out of order both look elsewhere.
                    let ordered = trajectory.file().options().strictness != gsd::Strictness::Compatible;
                    if let Some(entry) = view.stored(field.name).filter(|_| ordered) {
                        assert_eq!(array.shape().get(1), Some(&entry.n), "{}", field.name);
                    }
                }
            }
            Err(error) => look_at_error(&error),
        }
        if let Err(error) = tensor().read_f64() {
            look_at_error(&error);
        }
    }
}

/// The log as columns.
fn logs(file: &File) {
    for gaps in [Gaps::FromFrame0, Gaps::Null] {
        let options = LogOptions::default().with_gaps(gaps).with_changes(Changes::Skip);
        let table = match LogTable::read(file, &options) {
            Ok(table) => table,
            Err(error) => {
                look_at_error(&error);
                continue;
            }
        };
        assert_eq!(table.len() as u64, file.nframes());
        for column in &table.columns {
            assert_eq!(column.stored.len(), table.len());
        }
        let mut text = Vec::new();
        match csv::write(&table, &mut text) {
            Ok(()) => {
                let lines = text.iter().filter(|byte| **byte == b'\n').count();
                assert!(lines > table.len(), "{lines} lines");
            }
            Err(error) => look_at_error(&error),
        }
    }
}

/// Frames that were read are written, and read again as the same.
fn again(trajectory: &Trajectory, frames: &[Frame<'_>]) {
    let mut options = TrajectoryOptions::default().with_validation(Validation::Off);
    options.writer.durability = Durability::Cached;
    options.writer.schema_version = trajectory.schema_version();
    options.writer.limits = own_options(gsd::Strictness::Strict).limits;
    let storage = crash_test::RecordingStorage::default();
    let written = Writer::create_storage(storage.clone(), &options.writer)
        .and_then(|writer| TrajectoryWriter::from_writer(writer, &options))
        .and_then(|mut writer| {
            frames.iter().try_for_each(|frame| writer.append(frame).map(|_| ()))?;
            writer.close()
        });
    if let Err(error) = written {
        look_at_error(&error);
        assert!(!error.is_damage(), "what was read is not written: {error}");
        return;
    }
    let file = open(&storage.image(), gsd::Strictness::Strict).expect("what was written");
    let copy = Trajectory::from_file(file).expect("it has the schema");
    assert_eq!(copy.len(), frames.len() as u64);
    for (view, frame) in copy.iter().zip(frames) {
        let read = view.to_frame().expect("what was written");
        assert_eq!(told(&read), told(frame), "frame {}", view.index());
    }
}

/// A frame as text, in which NaN is itself; logs by name, since their order is that of the names of the file.
fn told(frame: &Frame<'_>) -> (String, Vec<String>) {
    let mut rest = frame.clone();
    (rest.log, rest.state) = Default::default();
    let (all, particles) = (&mut rest.configuration, &mut rest.particles);
    if let Some(cube) = &mut all.simulation_box
        && cube.as_f64() == Some(&[1.0, 1.0, 1.0, 0.0, 0.0, 0.0])
    {
        *cube = Scalars::F32(Cow::Owned(vec![1.0, 1.0, 1.0, 0.0, 0.0, 0.0]));
    }
    default_as_single(&mut particles.mass, 1.0);
    default_as_single(&mut particles.charge, 0.0);
    default_as_single(&mut particles.diameter, 1.0);
    default_as_single(&mut particles.moment_inertia, [0.0; 3]);
    default_as_single(&mut particles.position, [0.0; 3]);
    default_as_single(&mut particles.orientation, [1.0, 0.0, 0.0, 0.0]);
    default_as_single(&mut particles.velocity, [0.0; 3]);
    default_as_single(&mut particles.angmom, [0.0; 4]);
    default_as_single(&mut rest.constraints.value, 0.0);
    // Shapes that are none of other types than there are come back as one for each type.
    let plain = |shapes: &[Shape]| shapes.iter().all(|shape| *shape == Shape::None);
    rest.particles.type_shapes = rest.particles.type_shapes.take().filter(|shapes| !plain(shapes));
    let logs = [&frame.log, &frame.state].into_iter().flat_map(|log| log.iter());
    let mut logs: Vec<String> = logs.map(|(name, value)| format!("{name}: {value:?}")).collect();
    logs.sort();
    (format!("{rest:?}"), logs)
}
