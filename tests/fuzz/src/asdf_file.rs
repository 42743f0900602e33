//! ASDF files of any bytes: opening by every policy, and looking at all there is.

use asdf::{FORMAT, File, OpenOptions, Strictness, checksum_status};
use container_core::container::{Defaults, Tolerance, all_datasets};
use container_core::dtype::Order;
use container_core::format::Input;

use crate::feed::Feed;
use crate::lens::{look_at_error, look_through};
use crate::options::{read_options, small_options};
use crate::values::region;

/// Most bytes that all datasets of a file may hold, for all of them to be read many times.
const MAX_DATASET_BYTES: u64 = 1 << 17;

/// Most elements that are looked up one by one.
const MAX_ELEMENTS: u64 = 2000;

pub(crate) const POLICIES: [Strictness; 3] =
    [Strictness::Compatible, Strictness::Strict, Strictness::Lenient];

pub(crate) fn open(data: &[u8], strictness: Strictness) -> container_core::Result<File> {
    let mut options = OpenOptions::default().with_strictness(strictness).with_limits(small_options().limits);
    options.yaml.expanded = 100_000;
    File::from_source(Box::new(data.to_vec()), None, options)
}

/// Opens the bytes in every way and looks at all there is.
pub fn asdf_open(data: &[u8]) {
    let mut feed = Feed::derived(data);
    let files = POLICIES.map(|strictness| open(data, strictness));
    for file in &files {
        match file {
            Ok(file) => native(file, &mut feed),
            Err(error) => look_at_error(error),
        }
    }
    if let [compatible, Ok(strict), lenient] = &files {
        for other in [compatible, lenient] {
            let other = other.as_ref().expect("strict opens no more than the others");
            assert_eq!(strict.layout(), other.layout());
            assert_eq!(strict.arrays(), other.arrays());
        }
    }
    assert!(files[0].is_err() || files[2].is_ok(), "lenient refuses what compatible opens");
    for tolerance in [Tolerance::Strict, Tolerance::Lenient] {
        let mut options = small_options();
        options.tolerance = tolerance;
        options.defaults = Defaults::StoredOnly;
        match (FORMAT.open)(Input::bytes(Box::new(data.to_vec())), &options) {
            Err(error) => look_at_error(&error),
            Ok(lens) => {
                let held = all_datasets(&*lens).take(65).map(|(_, dataset)| dataset.logical);
                if lens.dataset_count() <= 64 && held.fold(0, u64::saturating_add) <= MAX_DATASET_BYTES {
                    look_through(&*lens, data.len() as u64, tolerance, &mut feed);
                }
            }
        }
    }
}

/// The format's own interface.
pub(crate) fn native(file: &File, feed: &mut Feed<'_>) {
    let options = read_options();
    for fault in file.faults().chain(&file.array_faults()) {
        assert!(fault.range().start <= fault.range().end && !fault.message().is_empty());
        look_at_error(&fault.error());
    }
    for (index, block) in file.blocks().iter().take(64).enumerate() {
        let limits = small_options().limits;
        if let Err(error) = checksum_status(file.source(), block, &file.options().codecs, &limits, 1) {
            look_at_error(&error);
        }
        if let Err(error) = file.read_block(index, &options) {
            look_at_error(&error);
        }
    }
    for index in 0..file.arrays().len().min(64) {
        array(file, index, feed);
    }
    for reference in file.find_references().unwrap_or_default().iter().take(64) {
        match file.find_reference(&reference.uri) {
            Ok(referent) => assert!(referent.node.range().end <= u64::MAX / 2),
            Err(error) => look_at_error(&error),
        }
    }
    let results = [file.library().err(), file.history().err()];
    results.iter().flatten().for_each(look_at_error);
}

/// Reads an array as a whole, in part, and element by element.
fn array(file: &File, index: usize, feed: &mut Feed<'_>) {
    let entry = &file.arrays()[index];
    let options = read_options();
    assert!(file.find_array(&entry.path).is_some());
    if let Err(error) = file.value(&entry.path) {
        look_at_error(&error);
    }
    let geometry = match file.geometry(index) {
        Ok(geometry) => geometry.clone(),
        Err(error) => return look_at_error(&error),
    };
    assert_eq!(geometry.shape.len(), geometry.strides.len());
    if geometry.byte_len() > MAX_DATASET_BYTES {
        return;
    }
    let whole = file.whole(index).expect("its geometry is known");
    if let Err(error) = file.mask(&entry.path, &whole, &options) {
        look_at_error(&error);
    }
    let read = match file.read_index(index, &whole, &options) {
        Ok(read) => read,
        Err(error) => return look_at_error(&error),
    };
    assert_eq!((read.shape(), read.dtype()), (&geometry.shape[..], &geometry.dtype));
    let bytes = read.bytes(Order::C, &options.limits).expect("a small array").into_owned();
    assert_eq!(bytes.len() as u64, geometry.byte_len());
    let part = region(&geometry.shape, feed);
    let small = file.read_index(index, &part, &options).expect("a region of what can be read");
    assert_eq!(small.shape(), part.shape());
    // The same by hand, where the elements are in a block: this is what an offset and strides mean.
    let Ok(block) = file.block_of(&entry.array) else { return };
    let stored = match file.read_block(block.index, &options) {
        Ok(stored) => stored,
        // Of a block no more is read than its elements need.
        Err(error) => return look_at_error(&error),
    };
    if geometry.len() > MAX_ELEMENTS || geometry.dtype.itemsize() == 0 {
        return;
    }
    let mut by_hand = Vec::with_capacity(bytes.len());
    for at in 0..geometry.len() {
        let (mut rest, mut place) = (at, i128::from(geometry.offset));
        for (len, stride) in geometry.shape.iter().zip(&geometry.strides).rev() {
            place += i128::from(rest % len) * i128::from(*stride);
            rest /= len;
        }
        let place = usize::try_from(place).expect("an element before the block");
        by_hand.extend_from_slice(&stored[place..place + geometry.dtype.itemsize()]);
    }
    assert!(bytes == by_hand, "{} is read otherwise than by hand", entry.path);
}
