//! Arrays as items: every dataset that the sources name is one, all of one type.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use container_core::container::{Container, OpenOptions, ReadOptions};
use container_core::dtype::{DType, Order};
use container_core::region::Region;
use container_core::source::open_path;
use container_core::{Error, ErrorKind, Result};

use super::relative_name;
use crate::address::Address;
use crate::open::{Accept, is_stream, open_with};
use crate::raw_bytes::Plain;

/// The arrays, each by its file and its place in it. A file is opened when its turn comes.
pub(super) struct Arrays {
    places: Vec<Place>,
    /// Type of the elements of every item, with its byte order.
    pub(super) dtype: DType,
    /// The requested type, which files of unknown formats have.
    asked: Option<DType>,
    options: OpenOptions,
    /// The file that was read last.
    last: Mutex<Option<(PathBuf, Arc<dyn Container>)>>,
}

struct Place {
    file: PathBuf,
    index: usize,
    region: Region,
}

impl Arrays {
    /// Finds the arrays and their names. With `asked`, files of unknown formats are elements of that type.
    ///
    /// # Errors
    /// `Usage` for arrays of several axes, and of another type than the requested one or that of the first; those of opening the files.
    pub(super) fn find(
        sources: &[PathBuf],
        asked: Option<&DType>,
        options: &OpenOptions,
    ) -> Result<(Self, Vec<String>)> {
        let (mut places, mut names, mut common) = (Vec::new(), Names::default(), asked.cloned());
        for source in sources {
            let address = Address::parse_os(source.as_os_str());
            if is_stream(&address.file) {
                let problem = "standard input has no name, which an item of arrays needs";
                return Err(Error::usage(problem));
            }
            let file = address.file.display();
            let container = open_any(&address.file, asked, options)
                .map_err(|error| error.with_subject(file.to_string()))?;
            let chosen = address.select(&*container).map_err(|error| error.with_subject(file.to_string()))?;
            let is_one = chosen.len() == 1;
            for (index, region) in chosen {
                let dataset = &*container.require(index)?;
                let named =
                    |error: Error| error.with_subject(file.to_string()).in_dataset(dataset.path.clone());
                if region.shape().len() != 1 {
                    let problem = format!("an item has one axis (found shape {:?})", region.shape());
                    return Err(named(Error::usage(problem)));
                }
                let dtype = common.get_or_insert_with(|| dataset.dtype.clone());
                dataset.dtype.order_for(dtype).map_err(|_| {
                    named(Error::usage(format!(
                        "the array is {} (expected {dtype}, the type of the items)",
                        dataset.dtype
                    )))
                })?;
                names.add(&address.file, (!is_one).then_some(&dataset.path));
                places.push(Place { file: address.file.clone(), index, region });
            }
        }
        let dtype = common.ok_or_else(|| Error::usage("no array among the sources"))?;
        let (asked, options) = (asked.cloned(), options.clone());
        Ok((Self { places, dtype, asked, options, last: Mutex::new(None) }, names.list))
    }

    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// Number of elements of an item.
    pub(super) fn len_of(&self, index: usize) -> u64 {
        self.places.get(index).and_then(|place| place.region.shape().first().copied()).unwrap_or(0)
    }

    /// The bytes of an item, in the byte order of the type.
    ///
    /// # Errors
    /// `Usage` where the number is out of range; those of opening and reading.
    pub(super) fn get(&self, index: usize) -> Result<Vec<u8>> {
        let place = self.places.get(index).ok_or_else(|| Error::usage(format!("no item {index}")))?;
        let read = || {
            let container = self.open(&place.file)?;
            let read = ReadOptions::default().with_limits(self.options.limits);
            let dtype = container.require(place.index)?.dtype.clone();
            let array = container.read(place.index, &place.region, &read)?;
            let mut bytes = array.bytes(Order::C, &self.options.limits)?.into_owned();
            if let Some(order) = dtype.order_for(&self.dtype)? {
                dtype.swap_to(order, &mut bytes)?;
            }
            Ok(bytes)
        };
        read().map_err(|error: Error| error.with_subject(place.file.display().to_string()))
    }

    fn open(&self, file: &Path) -> Result<Arc<dyn Container>> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, container)) = last.as_ref().filter(|(path, _)| path == file) {
            return Ok(container.clone());
        }
        let container: Arc<dyn Container> = open_any(file, self.asked.as_ref(), &self.options)?.into();
        *last = Some((file.to_owned(), container.clone()));
        Ok(container)
    }
}

/// A container, an array file, or elements alone where their type is given.
fn open_any(file: &Path, asked: Option<&DType>, options: &OpenOptions) -> Result<Box<dyn Container>> {
    match (open_with(file, Accept::ContainersAndArrays, options), asked) {
        (Ok(opened), _) => Ok(opened.container),
        (Err(error), Some(dtype)) if matches!(error.kind(), ErrorKind::WrongFormat { .. }) => {
            let source = open_path(file, options.access, &options.limits)?;
            Ok(Box::new(Plain::of_rows(source, dtype.clone(), &[], Order::C)?))
        }
        (Err(error), _) => Err(error),
    }
}

/// Names of items, no two the same.
#[derive(Default)]
struct Names {
    list: Vec<String>,
    seen: HashSet<String>,
}

impl Names {
    /// Adds the first of these that is free: the file's name without its extension, with it, a number. Of a file of
    /// several arrays the path of the dataset follows.
    fn add(&mut self, file: &Path, dataset: Option<&String>) {
        let full = |base: PathBuf| {
            let path = dataset.map_or_else(|| base.clone(), |dataset| base.join(dataset));
            path.to_str().and_then(relative_name)
        };
        let mut number = self.list.len();
        let mut tries = [full(file.with_extension("")), full(file.to_owned())].into_iter().flatten();
        let free = tries.find(|name| !self.seen.contains(name)).unwrap_or_else(|| {
            while self.seen.contains(&number.to_string()) {
                number += 1;
            }
            number.to_string()
        });
        self.seen.insert(free.clone());
        self.list.push(free);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::npy_bytes;

    fn find(sources: &[PathBuf], asked: Option<&str>) -> Result<(Arrays, Vec<String>)> {
        let asked = asked.map(|dtype| DType::parse(dtype).unwrap());
        Arrays::find(sources, asked.as_ref(), &OpenOptions::default())
    }

    #[test]
    fn arrays_of_one_type_are_items_in_its_byte_order() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        std::fs::write(at("a.npy"), npy_bytes("<u2", "False", "(2,)", &[1, 0, 2, 0])).unwrap();
        std::fs::write(at("b.npy"), npy_bytes(">u2", "False", "(1,)", &[0, 3])).unwrap();
        std::fs::write(at("c.bin"), [4, 0]).unwrap();
        let (arrays, names) = find(&[at("a.npy"), at("b.npy")], None).unwrap();
        assert_eq!((arrays.dtype.to_string(), arrays.len(), arrays.len_of(0)), ("<u2".into(), 2, 2));
        assert_eq!((arrays.get(0).unwrap(), arrays.get(1).unwrap()), (vec![1, 0, 2, 0], vec![3, 0]));
        assert!(names[0].ends_with("/a") && names[1].ends_with("/b"), "{names:?}");
        // Files of unknown formats are elements of the requested type.
        let (arrays, _) = find(&[at("c.bin"), at("a.npy")], Some(">u2")).unwrap();
        assert_eq!((arrays.get(0).unwrap(), arrays.get(1).unwrap()), (vec![4, 0], vec![0, 1, 0, 2]));
        assert!(find(&[at("c.bin")], None).is_err());
        assert!(find(&[at("c.bin")], Some("<f8")).is_err());
        assert!(find(&[at("a.npy")], Some("<i2")).err().unwrap().to_string().contains("<u2"));
        assert!(find(&[at("missing.npy")], None).is_err() && find(&["-".into()], None).is_err());
    }

    #[test]
    fn multidimensional_arrays_are_refused_as_items() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.npy");
        std::fs::write(&path, npy_bytes("|u1", "False", "(2,1)", &[1, 2])).unwrap();
        assert!(find(&[path], None).err().unwrap().to_string().contains("[2, 1]"));
    }
}
