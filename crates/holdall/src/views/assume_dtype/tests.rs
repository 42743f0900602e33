//! Elements without a type, as numpy's `frombuffer` shows them.

use container_core::Limits;
use container_core::container::require;

use super::*;
use crate::testing::Memory;

fn assumed(stored: &str, shape: &[u64], bytes: &[u8], dtype: &str) -> Result<Assumed> {
    let memory = Memory::new().with("data", stored, shape, bytes).with("typed", "<i2", &[2], &[1, 0, 2, 0]);
    Assumed::new(Box::new(memory), DType::parse(dtype).unwrap())
}

fn read(view: &Assumed, index: usize, region: &str) -> (String, Vec<u64>, Vec<u8>) {
    let dataset = view.dataset(index).unwrap().into_owned();
    assert_eq!((&dataset, &view.datasets()[index]), (&*require(view, index).unwrap(), &dataset));
    let region = Region::parse(region, &dataset.shape).unwrap();
    let array = view.read(index, &region, &ReadOptions::default()).unwrap();
    assert_eq!(array.dtype(), &dataset.dtype);
    let bytes = array.bytes(Order::C, &Limits::default()).unwrap().into_owned();
    (dataset.dtype.to_string(), array.shape().to_vec(), bytes)
}

#[test]
fn opaque_elements_are_of_the_type_and_others_keep_theirs() {
    let bytes: Vec<u8> = (0..24).collect();
    let view = assumed("|V4", &[2, 3], &bytes, ">f4").unwrap();
    assert_eq!(read(&view, 0, ""), (">f4".into(), vec![2, 3], bytes.clone()));
    assert_eq!(read(&view, 0, "1, ::-2"), (">f4".into(), vec![2], [&bytes[20..], &bytes[12..16]].concat()));
    assert_eq!(read(&view, 1, "1:"), ("<i2".into(), vec![1], vec![2, 0]));
    assert!(view.as_any().is_none());
}

/// Every region of small arrays, of all pairs of sizes.
#[test]
fn elements_of_another_size_are_counted_in_bytes() {
    let bytes: Vec<u8> = (0..24).collect();
    for stored in [1_u64, 2, 3, 4, 6, 8, 12, 24] {
        for size in [1_usize, 2, 3, 4, 8, 24] {
            let view = assumed(&format!("|V{stored}"), &[24 / stored], &bytes, &format!("|S{size}")).unwrap();
            let count = 24 / size;
            for start in 0..=count {
                for end in start..=count {
                    for step in [-2_isize, -1, 1, 3] {
                        let part: Vec<&[u8]> = bytes.chunks(size).skip(start).take(end - start).collect();
                        let taken: Vec<&[u8]> = if step < 0 {
                            part.iter().rev().step_by(step.unsigned_abs()).copied().collect()
                        } else {
                            part.iter().step_by(step.unsigned_abs()).copied().collect()
                        };
                        let text = match (step < 0, start) {
                            (true, _) if start == end => "0:0".to_owned(),
                            (true, 0) => format!("{}::{step}", end - 1),
                            (true, _) => format!("{}:{}:{step}", end - 1, start - 1),
                            (false, _) => format!("{start}:{end}:{step}"),
                        };
                        let want = (format!("|S{size}"), vec![taken.len() as u64], taken.concat());
                        assert_eq!(read(&view, 0, &text), want, "{stored} {size} {text}");
                    }
                }
            }
        }
    }
}

#[test]
fn dtypes_of_mismatched_size_are_refused() {
    for (stored, shape, dtype) in
        [("|V4", &[3_u64][..], "<f8"), ("|V4", &[2, 2], "<f8"), ("|V4", &[2, 2], "<i2")]
    {
        let bytes = vec![0; usize::try_from(shape.iter().product::<u64>() * 4).unwrap()];
        let error = assumed(stored, shape, &bytes, dtype).err().unwrap();
        assert!(error.to_string().contains("data"), "{error}");
        assert!(error.hint().is_some());
    }
    assert!(assumed("|V4", &[2], &[0; 8], "|S0").is_err());
}
