//! `.npy` files of any bytes.

use container_core::container::Tolerance;
use container_core::dtype::{DType, Order};
use container_core::format::Input;
use container_core::npy::{FORMAT, Header, Writer};

use crate::feed::Feed;
use crate::lens::{look_at_error, look_through};
use crate::options::{limits, open_options};

/// Opens the bytes and looks at all there is.
pub fn npy_open(data: &[u8]) {
    for reversed in [false, true] {
        let mut options = open_options();
        if reversed {
            options.axes = container_core::container::Axes::Reversed;
        }
        match (FORMAT.open)(Input::bytes(Box::new(data.to_vec())), &options) {
            Ok(container) => {
                let mut feed = Feed::derived(data);
                look_through(&*container, data.len() as u64, Tolerance::Strict, &mut feed);
            }
            Err(error) => look_at_error(&error),
        }
    }
}

/// A header that is read, be it of a stream, is written so that it reads as the same again.
pub fn npy_roundtrip(data: &[u8]) {
    match Header::needed(data, u64::MAX) {
        Ok(needed) => assert!(needed >= 10),
        Err(error) => look_at_error(&error),
    }
    let header = match Header::parse(data, u64::MAX, &limits()) {
        Ok(header) => header,
        Err(error) => return look_at_error(&error),
    };
    assert!(header.data_at <= data.len() as u64);
    let written = match Header::to_bytes(&header.dtype, &header.shape, header.order) {
        Ok(written) => written,
        Err(error) => return look_at_error(&error),
    };
    assert_eq!(written.len() % 64, 0);
    let again = Header::parse(&written, u64::MAX, &limits()).expect("what was written");
    assert_eq!((&again.dtype, &again.shape), (&header.dtype, &header.shape));
    assert_eq!((again.data_at, again.data_len), (written.len() as u64, header.data_len));
    let long_axes = header.shape.iter().filter(|len| **len > 1).count();
    if long_axes > 1 && !header.shape.contains(&0) {
        assert_eq!(again.order, header.order);
    } else {
        assert_eq!(again.order, Order::C);
    }
    assert!(Header::to_bytes(&again.dtype, &again.shape, again.order).ok() == Some(written));
    takes_what_it_says(&header.dtype, &header.shape);
}

/// The writer takes the bytes that the shape has room for, and not one more.
fn takes_what_it_says(dtype: &DType, shape: &[u64]) {
    let mut file = Writer::new(Vec::new(), dtype, shape, Order::C).expect("its header was written before");
    let len = container_core::array::byte_len(dtype, shape).expect("it has a header");
    if len > 1 << 12 {
        assert!(file.finish().is_err());
        return;
    }
    let len = len as usize;
    assert!(file.write(&vec![0; len + 1]).is_err());
    file.write(&vec![0; len]).expect("room for as many");
    assert!(file.write(&[0]).is_err());
    file.finish().expect("all are there");
}
