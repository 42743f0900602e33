//! Values that are read by element type are those of [`Container::read`](container_core::Container::read), which the corpus holds against the references.

use container_core::dtype::{ByteOrder, Element};
use container_core::{ErrorKind, Limits, OpenDataset, Order, ReadOptions, Region, TypedArray};
use half::f16;
use holdall::OpenFile;
use num_complex::Complex;

use crate::manifest::all_fixtures;

/// Of all fixtures: every dataset of a number type, as a whole, its last row, and borrowed where that is possible. Errors name the file.
#[test]
fn typed_values_are_those_of_the_container() {
    let (mut read, mut viewed, mut refused) = (0, 0, 0);
    for fixture in all_fixtures() {
        let Ok(file) = holdall::open(&fixture.full_path) else { continue };
        for index in 0..file.container.listed_count() {
            let Some(dataset) = file.container.dataset(index) else { continue };
            let counts = match &*dataset.dtype.with_order(ByteOrder::Little).to_string() {
                "|u1" => compare::<u8>(&file, index),
                "|i1" => compare::<i8>(&file, index),
                "<i2" => compare::<i16>(&file, index),
                "<u4" => compare::<u32>(&file, index),
                "<i8" => compare::<i64>(&file, index),
                "<f2" => compare::<f16>(&file, index),
                "<f4" => compare::<f32>(&file, index),
                "<f8" => compare::<f64>(&file, index),
                "<c16" => compare::<Complex<f64>>(&file, index),
                _ => [0, 0, 1],
            };
            read += counts[0];
            viewed += counts[1];
            refused += counts[2];
        }
    }
    assert!(read > 1000 && viewed > 100 && refused > 10, "{read} {viewed} {refused}");
}

/// Numbers of reads, views and refusals.
fn compare<T: Element>(file: &OpenFile, index: usize) -> [usize; 3] {
    let name = file.path.as_ref().unwrap().display().to_string();
    let dataset = OpenDataset::of_container(&*file.container, index).unwrap().in_file(file.path.as_deref());
    let whole = Region::whole(dataset.shape());
    let expected = file.container.read(index, &whole, &ReadOptions::default());
    let (expected, typed) = match (expected, dataset.read::<T>()) {
        (Ok(expected), Ok(typed)) => (expected, typed),
        (Err(expected), Err(error)) => {
            assert_eq!(error.kind().to_string(), expected.kind().to_string(), "{name}");
            assert!(error.file_name().is_some() && error.dataset().is_some(), "{name}: {error}");
            return [0, 0, 1];
        }
        (expected, typed) => panic!("{name}: {:?} and {:?}", expected.map(drop), typed.map(drop)),
    };
    let elements = expected.elements::<T>(Order::C, &Limits::default()).unwrap();
    let bytes = |values: &[T]| bytemuck::cast_slice::<T, u8>(values).to_vec();
    assert_eq!(bytes(typed.as_slice()), bytes(&elements), "{name} {}", dataset.path());
    assert_eq!(typed.shape(), dataset.dims().unwrap(), "{name}");

    if let Some(row) = dataset.shape().first().and_then(|len| len.checked_sub(1)) {
        let last = dataset.read_region::<T>(row).unwrap();
        let start = typed.len() - last.len();
        assert_eq!(bytes(last.as_slice()), bytes(&typed.as_slice()[start..]), "{name} {}", dataset.path());
    }
    match dataset.view::<T>() {
        Ok(view) => {
            assert!(view.is_borrowed());
            assert_eq!(in_c_order(&view), bytes(typed.as_slice()), "{name} {}", dataset.path());
            [1, 1, 0]
        }
        Err(error) => {
            assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{name}: {error}");
            [1, 0, 0]
        }
    }
}

/// The bytes of the elements by their indices, the last axis fastest.
fn in_c_order<T: Element>(array: &TypedArray<'_, T>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for at in 0..array.len() {
        let mut rest = at;
        let mut indices = vec![0; array.shape().len()];
        for (index, len) in indices.iter_mut().zip(array.shape()).rev() {
            (*index, rest) = (rest % len, rest / len);
        }
        bytes.extend_from_slice(bytemuck::bytes_of(array.get(&indices).unwrap()));
    }
    bytes
}
