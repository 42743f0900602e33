//! Writes a RawArray file and reads it back.

use rawarray::RawArray;

fn main() -> std::io::Result<()> {
    let path = std::env::temp_dir().join(format!("rawarray-only-{}.ra", std::process::id()));
    let ra: RawArray<f32> = vec![1.0_f32, 2.0].into();
    ra.write(&path)?;
    let back: Vec<f32> = RawArray::<f32>::read(&path)?.into();
    std::fs::remove_file(&path)?;
    assert_eq!(back, [1.0, 2.0]);
    Ok(())
}
