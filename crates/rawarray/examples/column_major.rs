//! Writes a column-major array, and borrows it from the mapped file: `cargo run -p holdall-rawarray --example column_major`.
#![allow(clippy::print_stdout)]

use rawarray::{File, RawArray};

fn main() -> rawarray::Result<()> {
    let path = std::env::temp_dir().join(format!("column_major-{}.ra", std::process::id()));
    // Two rows and three columns, the first index fastest, as Julia, MATLAB and BART have them.
    RawArray::new(vec![2, 3], vec![11_i32, 21, 12, 22, 13, 23])?.write(&path)?;

    let file = File::open(&path)?;
    let dataset = file.dataset()?;
    println!("row 1, column 2: {}", dataset.read::<i32>()?[[1, 2]]);
    println!("all rows of column 0: {:?}", dataset.read_region::<i32>((.., 0))?);
    assert_eq!(dataset.read::<i32>()?.as_slice(), [11, 12, 13, 21, 22, 23]);
    drop(dataset);
    drop(file);
    Ok(std::fs::remove_file(path)?)
}

#[test]
fn example_runs() -> rawarray::Result<()> {
    main()
}
