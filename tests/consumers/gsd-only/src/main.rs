//! Writes frames, follows them, and reads a trajectory and its log.

use gsd::hoomd::{Frame, Trajectory, TrajectoryOptions, TrajectoryWriter};
use gsd::{Change, File, Follower, Writer, WriterOptions};

fn main() -> Result<(), gsd::Error> {
    let path = std::env::temp_dir().join(format!("gsd-only-{}.gsd", std::process::id()));
    let mut writer = Writer::create(&path, &WriterOptions::default())?;
    let mut follower = Follower::open(&path)?;
    for frame in 0..3_u64 {
        writer.write_chunk("numbers", 2, 3, &[frame; 6])?;
        writer.end_frame()?;
        assert_eq!(follower.poll()?, Change::Frames(frame..frame + 1));
    }
    writer.close()?;
    let file = File::open(&path)?;
    let chunk = file.find_chunk(2, "numbers").expect("it was written");
    assert_eq!(*file.read_elements::<u64>(&chunk)?, [2; 6]);
    drop(file);

    let mut writer = TrajectoryWriter::create(&path, &TrajectoryOptions::default())?;
    let mut frame = Frame::default();
    frame.particles.n = Some(2);
    frame.particles.position = Some(vec![[0.25_f32; 3]; 2].into());
    writer.append(&frame)?;
    writer.close()?;
    assert_eq!(follower.poll()?, Change::Replaced);
    let trajectory = Trajectory::open(&path)?;
    assert_eq!(trajectory.len(), 1);
    std::fs::remove_file(&path)?;
    Ok(())
}
