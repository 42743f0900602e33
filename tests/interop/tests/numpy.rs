//! numpy reads what is converted to `.npy`, and what numpy saves is read. Both are looked at by numpy itself.

use std::path::{Path, PathBuf};
use std::process::Command;

use container_core::dtype::{ByteOrder, Element};
use container_core::write::Durability;
use half::f16;
use holdall::Address;
use holdall::convert::{ConvertOptions, ConvertOutcome, ReadBack};
use interop::peer::{python, script};
use num_complex::Complex;
use rawarray::{Encoding, RawArray, WriteOptions, write_bools};
use tempfile::tempdir;

/// As in the Python script.
const SHAPES: &[&[u64]] =
    &[&[], &[0], &[1], &[7], &[3, 0, 2], &[1, 5], &[5, 1], &[3, 4], &[4, 3, 2], &[2, 1, 3, 2]];

/// Runs the Python script; gives what it prints.
fn numpy(command: &str, folders: &[&Path]) -> String {
    let python = python().unwrap();
    let output = Command::new(python)
        .args(["-W", "error"])
        .arg(script("npy_cases.py"))
        .arg(command)
        .args(folders)
        .output();
    let output = output.unwrap();
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn convert(source: &Path, target: &Path) {
    let source = Address { file: source.to_owned(), dataset: None, selection: None };
    let (verify, durability) = (ReadBack::Yes, Durability::Cached);
    let options = ConvertOptions { verify, durability, ..ConvertOptions::default() };
    let outcome = holdall::convert(&source, target, &options);
    assert!(matches!(outcome, Ok(ConvertOutcome::Done(_))), "{}: {outcome:?}", source.file.display());
}

/// Writes `.ra` files of the numbers 0, 1, 2, … and converts each.
struct Written {
    folder: PathBuf,
    count: usize,
}

impl Written {
    /// The `.npy` to convert to; its name tells what must be in it.
    fn next(&mut self, dtype: &str, shape: &[u64]) -> PathBuf {
        let dims: Vec<String> = shape.iter().map(u64::to_string).collect();
        let shape = if dims.is_empty() { "scalar".to_owned() } else { dims.join("x") };
        self.count += 1;
        self.folder.join(format!("{:04}_{dtype}_{shape}.npy", self.count))
    }

    fn all<T: Element>(&mut self, ra: &Path, encodings: &[Encoding], number: fn(u8) -> T) {
        for shape in SHAPES {
            let count = shape.iter().product::<u64>() as u8;
            let array = RawArray::new(shape.to_vec(), (0..count).map(number).collect()).unwrap();
            for encoding in encodings {
                for order in [ByteOrder::Little, ByteOrder::Big] {
                    let mut options = WriteOptions::default();
                    (options.encoding, options.data_order, options.durability) =
                        (*encoding, order, Durability::Cached);
                    array.write_with(ra, &options).unwrap();
                    let npy = self.next(&T::dtype().with_order(order).to_string(), shape);
                    convert(ra, &npy);
                }
            }
        }
    }
}

#[test]
fn numpy_reads_every_type_shape_and_encoding_that_is_converted() {
    let (folder, place) = (tempdir().unwrap(), tempdir().unwrap());
    let ra = place.path().join("a.ra");
    let mut written = Written { folder: folder.path().to_owned(), count: 0 };
    let both = [Encoding::Plain, Encoding::Lz4];
    let integers = [Encoding::Plain, Encoding::Lz4, Encoding::Leb128];
    written.all::<i8>(&ra, &integers, |number| number as i8);
    written.all::<i16>(&ra, &integers, i16::from);
    written.all::<i32>(&ra, &integers, i32::from);
    written.all::<i64>(&ra, &integers, i64::from);
    written.all::<u8>(&ra, &integers, |number| number);
    written.all::<u16>(&ra, &integers, u16::from);
    written.all::<u32>(&ra, &integers, u32::from);
    written.all::<u64>(&ra, &integers, u64::from);
    written.all::<f16>(&ra, &both, |number| f16::from_f32(number.into()));
    written.all::<f32>(&ra, &both, f32::from);
    written.all::<f64>(&ra, &both, f64::from);
    written.all::<Complex<f32>>(&ra, &both, |number| Complex::new(number.into(), -f32::from(number)));
    written.all::<Complex<f64>>(&ra, &both, |number| Complex::new(number.into(), -f64::from(number)));
    for shape in SHAPES {
        for encoding in [Encoding::Plain, Encoding::Bits] {
            let mut options = WriteOptions::default();
            options.encoding = encoding;
            let bools: Vec<bool> = (0..shape.iter().product::<u64>()).map(|number| number != 0).collect();
            write_bools(&ra, shape, &bools, &options).unwrap();
            convert(&ra, &written.next("|b1", shape));
        }
    }
    assert_eq!(numpy("expect", &[folder.path()]), written.count.to_string());
}

#[test]
fn numpy_files_round_trip_directly_and_through_rawarray() {
    let folders = [tempdir().unwrap(), tempdir().unwrap(), tempdir().unwrap(), tempdir().unwrap()];
    let [saved, as_ra, back, direct] = folders.each_ref().map(tempfile::TempDir::path);
    numpy("write", &[saved]);
    let mut count = 0;
    for entry in std::fs::read_dir(saved).unwrap() {
        let npy = entry.unwrap().path();
        let name = npy.file_name().unwrap();
        let ra = as_ra.join(name).with_extension("ra");
        convert(&npy, &ra);
        convert(&ra, &back.join(name));
        convert(&npy, &direct.join(name));
        count += 1;
    }
    assert_eq!(numpy("compare", &[saved, back, direct]), count.to_string());
}
