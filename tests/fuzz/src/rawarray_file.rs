//! RawArray files of any bytes: opening and repairing.

use std::borrow::Cow;

use container_core::container::{OpenOptions, Tolerance};
use container_core::dtype::{ByteOrder, Element, Order};
use container_core::format::Input;
use container_core::magic;
use container_core::report::RepairReport;
use rawarray::{Encoding, FORMAT, Fault, File, TypedFile};

use crate::feed::Feed;
use crate::lens::{look_at_error, look_through};
use crate::options::{all_open_options, limits, open_options, read_options};
use crate::repaired::{self, repaired};

/// Opens the bytes in every way and looks at all there is.
pub fn rawarray_open(data: &[u8]) {
    let mut feed = Feed::derived(data);
    for options in all_open_options() {
        let input = Input::bytes(Box::new(data.to_vec()));
        match (FORMAT.open)(input, &options) {
            Ok(container) => look_through(&*container, data.len() as u64, options.tolerance, &mut feed),
            Err(error) => look_at_error(&error),
        }
        if let Ok(file) = File::from_source(Box::new(data.to_vec()), &options) {
            native(file, &mut feed);
        }
    }
}

/// The format's own interface.
fn native(file: File, feed: &mut Feed<'_>) {
    let faults = file.faults();
    assert!(file.layout().faults().iter().all(|fault| faults.contains(&fault)));
    assert!(faults.is_sorted_by_key(|fault| std::cmp::Reverse(fault.severity())));
    drop(faults);
    let trailer = file.trailer().expect("the trailer is in memory");
    assert_eq!(trailer.len() as u64, file.trailer_range().end - file.trailer_range().start);
    if let Ok(bools) = file.to_bools(&read_options()) {
        assert_eq!(Ok(bools.len() as u64), file.len().map_err(|error| error.to_string()));
    }
    for index in [0, 1, feed.word()] {
        if let Ok(inner) = file.element_file(index) {
            assert_eq!(inner.layout().file_len(), file.header().elbyte);
        }
    }
    let segment = file.segment();
    if let Ok(segment) = &segment {
        assert_eq!(segment.encoding(), file.encoding());
    }
    let Ok(whole) = file.read_all(&read_options()) else { return };
    let bytes = whole.bytes(Order::F, &limits()).map(Cow::into_owned).unwrap_or_default();
    drop(whole);
    match feed.below(4) {
        0 => typed::<u8>(file, &bytes),
        1 => typed::<i32>(file, &bytes),
        2 => typed::<f64>(file, &bytes),
        _ => typed::<num_complex::Complex<f32>>(file, &bytes),
    }
}

/// A file of `T`, where it is one, gives the same values by every way.
fn typed<T: Element + PartialEq>(file: File, bytes: &[u8]) {
    let Ok(dtype) = file.dtype() else { return };
    let Ok(file) = TypedFile::<T>::new(file) else { return };
    let mut native = bytes.to_vec();
    dtype.swap_to(ByteOrder::NATIVE, &mut native).expect("whole elements");
    let vec = file.to_vec().expect("what is read as bytes is read as values");
    assert!(bytemuck::cast_slice::<T, u8>(&vec) == native);
    let view = file.view().expect("as above");
    assert!(bytemuck::cast_slice::<T, u8>(&view) == native);
}

/// Repairs the bytes, and holds the result against them.
pub fn rawarray_repair(data: &[u8]) {
    for tolerance in [Tolerance::Strict, Tolerance::Lenient] {
        let mut options = open_options();
        options.tolerance = tolerance;
        let (mended, report) = match repaired(&FORMAT, data, &options) {
            Ok(done) => done,
            Err(error) => {
                assert!(!reads(data, &options), "readable, but not repaired: {error}");
                continue;
            }
        };
        let file =
            File::from_source(Box::new(mended.clone()), &open_options()).expect("a repaired file opens");
        assert!(is_sound(&mended), "repaired, but {:?}", file.faults());
        keeps_a_prefix(data, &file, &report, &options);
        let (again, report) = repaired(&FORMAT, &mended, &open_options()).expect("a sound file");
        assert!(again == mended, "repairing a repaired file changes it");
        assert!(report.guessed.is_empty() && report.lost.is_empty(), "{report:?}");
        if is_sound(data) {
            keeps_everything(data, &file);
        }
    }
}

fn reads(data: &[u8], options: &OpenOptions) -> bool {
    let file = File::from_source(Box::new(data.to_vec()), options);
    file.is_ok_and(|file| file.read_all(&read_options()).is_ok())
}

fn is_sound(data: &[u8]) -> bool {
    repaired::is_sound(&FORMAT, data, &open_options())
}

/// Plain values are those that stood in the input from the start of its data on, little-endian now.
fn keeps_a_prefix(data: &[u8], file: &File, report: &RepairReport, options: &OpenOptions) {
    let whole = file.read_all(&read_options()).expect("a sound file");
    let values = whole.bytes(Order::F, &limits()).expect("no copy");
    for item in report.kept.iter().chain(&report.guessed).chain(&report.lost) {
        let range = item.range.clone().expect("every item of a repair has a place");
        assert!(range.start <= range.end, "{item:?}");
    }
    for item in report.kept.iter().chain(&report.guessed) {
        assert!(item.range.as_ref().is_some_and(|range| range.end <= data.len() as u64), "{item:?}");
    }
    assert!(report.guessed.iter().all(|item| item.evidence.is_some()), "{report:?}");
    let mut data = data.to_vec();
    if let Some(magic) = magic::closest_magic(&data, FORMAT.magics) {
        data[..magic.len()].copy_from_slice(magic);
    }
    let input = File::from_source(Box::new(data.clone()), options).expect("what was repaired was opened");
    let was_plain = input.encoding() == Encoding::Plain || input.faults().contains(&&Fault::FlagOnRawData);
    if !was_plain || values.is_empty() {
        return;
    }
    assert_eq!(file.encoding(), Encoding::Plain);
    // The first item is the header, up to the data.
    let at = report.kept[0].range.clone().map_or(0, |range| range.end) as usize;
    let mut stored = data[at..at + values.len()].to_vec();
    // The type with its order: others are shown some types as opaque bytes. A damaged header may have none, but tells the order.
    let dtype = file.layout().dtype().expect("what was repaired has a type").clone();
    let dtype = dtype.with_order(input.layout().data_order());
    dtype.swap_to(ByteOrder::Little, &mut stored).expect("whole elements");
    assert!(stored == *values, "not what stood at {at}");
}

/// A sound file loses nothing but its byte order.
fn keeps_everything(data: &[u8], file: &File) {
    let input = File::from_source(Box::new(data.to_vec()), &open_options()).expect("a sound file");
    assert_eq!(input.dims(), file.dims());
    assert!(input.trailer().ok() == file.trailer().ok(), "the trailer changed");
    assert!(numbers(&input).ok() == numbers(file).ok(), "the values changed");
}

/// All values in the order of storage, little-endian, those included that others are shown as opaque bytes.
pub(crate) fn numbers(file: &File) -> container_core::Result<Vec<u8>> {
    let array = file.read_all(&read_options())?;
    let mut values = array.bytes(Order::F, &limits())?.into_owned();
    if let Some(dtype) = file.layout().dtype() {
        dtype.swap_to(ByteOrder::Little, &mut values)?;
    }
    Ok(values)
}
