//! Grows an array in a `.b2nd` file row by row, and reads a column: `cargo run -p holdall-blosc2-frame --example append_rows`.
#![allow(clippy::print_stdout)]

use blosc2_frame::b2nd::{NdArray, NdEditor, NdOptions};
use blosc2_frame::{Array, Durability, EditOptions, Element};

fn main() -> blosc2_frame::Result<()> {
    let path = std::env::temp_dir().join(format!("append_rows-{}.b2nd", std::process::id()));
    let mut log =
        NdEditor::create(&path, &f32::dtype(), &[0, 3], &NdOptions::default(), &EditOptions::default())?;
    for second in 0..4_u8 {
        let second = f32::from(second);
        log.append(0, &Array::from_elements(&[second, second * 0.5, 20.0 + second], &[1, 3])?)?;
    }
    // Up to here the file on the disk is as it was: after a crash it has all of the rows or none.
    log.commit(Durability::Synced)?;
    drop(log);

    let array = NdArray::open(&path)?;
    let temperature = array.dataset().read_region::<f32>((.., 2))?;
    println!("{:?}: {temperature:?}", array.shape());
    assert_eq!(temperature.as_slice(), [20.0, 21.0, 22.0, 23.0]);
    drop(array);
    Ok(std::fs::remove_file(path)?)
}

#[test]
fn example_runs() -> blosc2_frame::Result<()> {
    main()
}
