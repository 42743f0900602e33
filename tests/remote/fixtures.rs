//! Fixtures as files of a far source are those of a near one.

use container_core::container::{Container, OpenOptions, ReadOptions, visible_datasets};
use container_core::region::Region;
use container_core::source::Source;
use container_core::{Limits, Result};
use holdall::json::ls_json;
use holdall::open::{Accept, open_source};

use crate::manifest::all_fixtures;

/// A file in memory that costs a trip.
struct Far(Vec<u8>);

impl Source for Far {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        self.0.read_into(at, dst)
    }

    fn is_far(&self) -> bool {
        true
    }
}

/// Bytes of the last row of a dataset, or of all of it.
fn values(file: &dyn Container, index: usize, is_row: bool) -> Result<Vec<u8>> {
    let dataset = file.require(index)?.into_owned();
    let region = match dataset.shape.first() {
        Some(1..) if is_row => Region::parse("-1", &dataset.shape)?,
        _ => Region::whole(&dataset.shape),
    };
    let array = file.read(index, &region, &ReadOptions::default())?;
    Ok(array.bytes(dataset.order, &Limits::default())?.into_owned())
}

#[test]
fn fixtures_have_the_same_values_from_far() {
    let (mut read, mut refused) = (0, 0);
    for fixture in all_fixtures() {
        let Ok(bytes) = std::fs::read(&fixture.full_path) else { continue };
        let open = |source| open_source(source, None, Accept::Containers, &OpenOptions::default());
        let (near, far) = (open(Box::new(bytes.clone()) as Box<dyn Source>), open(Box::new(Far(bytes))));
        let name = fixture.full_path.display();
        let (near, far) = match (near, far) {
            (Ok(near), Ok(far)) => (near.container, far.container),
            (near, far) => {
                assert_eq!(near.is_err(), far.is_err(), "{name}");
                continue;
            }
        };
        assert_eq!(near.listed_count(), far.listed_count(), "{name}");
        // Rows first: a listing may read headers that a read of one array does not.
        for is_row in [true, false] {
            for index in (0..near.listed_count().min(50)).rev() {
                match (values(near.as_ref(), index, is_row), values(far.as_ref(), index, is_row)) {
                    (Ok(near), Ok(far)) => {
                        read += 1;
                        assert!(near == far, "{name}, dataset {index}");
                    }
                    (near, far) => {
                        refused += 1;
                        assert_eq!(
                            near.err().map(|it| it.to_string()),
                            far.err().map(|it| it.to_string()),
                            "{name}"
                        );
                    }
                }
            }
        }
        let listed = |file: &dyn Container| {
            visible_datasets(file).map(|(_, dataset)| ls_json(&dataset)).collect::<Vec<_>>()
        };
        assert_eq!(listed(near.as_ref()), listed(far.as_ref()), "{name}");
        assert_eq!(near.byte_map(), far.byte_map(), "{name}");
    }
    assert!(read > 1000 && refused > 10, "{read} {refused}");
}
