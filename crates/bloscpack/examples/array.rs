//! Writes an array to a Bloscpack file and reads some of its rows: `cargo run -p holdall-bloscpack --example array`.
#![allow(clippy::print_stdout)]

use bloscpack::{Array, File, WriteOptions, write_array};

fn main() -> bloscpack::Result<()> {
    let path = std::env::temp_dir().join(format!("array-{}.blp", std::process::id()));
    let values: Vec<f64> = (0..20_000).map(|value| f64::from(value).sqrt()).collect();
    write_array(&path, &Array::from_elements(&values, &[1000, 20])?, &WriteOptions::default())?;

    let file = File::open(&path)?;
    // Chunks with none of these rows are not decoded.
    let rows = file.dataset()?.read_region::<f64>(500..502)?;
    println!("{} bytes for {} of values: {rows:?}", std::fs::metadata(&path)?.len(), values.len() * 8);
    assert_eq!(rows.as_slice(), &values[10_000..10_040]);
    drop(file);
    Ok(std::fs::remove_file(path)?)
}

#[test]
fn example_runs() -> bloscpack::Result<()> {
    main()
}
