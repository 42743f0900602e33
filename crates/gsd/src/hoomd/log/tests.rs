use super::*;

#[test]
fn values_have_their_type_shape_and_bytes() {
    let value = LoggedValue::matrix(2, &[1_u16, 2, 3, 4]).unwrap();
    assert_eq!((value.chunk_type(), value.shape()), (ChunkType::Uint16, (2, 2)));
    assert_eq!(value.bytes(), [1_u16, 2, 3, 4].map(u16::to_ne_bytes).concat());
    assert_eq!((value.scalar(), value.to_f64()), (None, Some(vec![1.0, 2.0, 3.0, 4.0])));
    assert_eq!(LoggedValue::array(&[1_u8, 2]).unwrap().shape(), (2, 1));
    assert_eq!(value.clone().into_owned(), value);
    // Part of a row, no columns, and elements that GSD lacks.
    assert!(LoggedValue::matrix(3, &[1_u16, 2, 3, 4]).is_err());
    assert!(LoggedValue::matrix(0, &[1_u16]).is_err() && LoggedValue::matrix::<u16>(0, &[]).is_err());
    assert!(LoggedValue::array(&[1_i128]).is_err());
    let error = LoggedValue::new(ChunkType::Float, 2, 3, vec![0; 23]).unwrap_err();
    assert_eq!(error.to_string(), "23 bytes for 2 × 3 float");
    assert!(LoggedValue::new(ChunkType::Float, 2, 3, vec![0; 24]).is_ok());
}

#[test]
fn numbers_of_every_type_become_f64() {
    let all: [(LoggedValue<'_>, f64); 10] = [
        (200_u8.into(), 200.0),
        (60_000_u16.into(), 60_000.0),
        (u32::MAX.into(), 4_294_967_295.0),
        ((1_u64 << 53).into(), 9_007_199_254_740_992.0),
        ((-100_i8).into(), -100.0),
        ((-30_000_i16).into(), -30_000.0),
        (i32::MIN.into(), -2_147_483_648.0),
        ((-(1_i64 << 53)).into(), -9_007_199_254_740_992.0),
        (0.5_f32.into(), 0.5),
        (0.1_f64.into(), 0.1),
    ];
    for ((value, number), chunk_type) in all.into_iter().zip(ChunkType::ALL) {
        assert_eq!((value.chunk_type(), value.shape()), (chunk_type, (1, 1)));
        assert_eq!((value.scalar(), value.to_f64()), (Some(number), Some(vec![number])), "{chunk_type:?}");
    }
}

#[test]
fn elements_are_given_in_their_own_type_alone() {
    let value = LoggedValue::array(&[1.5_f32, -2.0]).unwrap();
    assert_eq!(*value.elements::<f32>().unwrap(), [1.5, -2.0]);
    assert!(value.elements::<f64>().is_err());
    let error = value.elements::<u32>().unwrap_err();
    assert_eq!(error.to_string(), "the elements are float, not <u4");
    // Not aligned, they are copied.
    let bytes = [&[9][..], bytemuck::cast_slice(&[1.5_f32, -2.0])].concat();
    let value = LoggedValue::new(ChunkType::Float, 2, 1, &bytes[1..]).unwrap();
    assert_eq!(*value.elements::<f32>().unwrap(), [1.5, -2.0]);
}

#[test]
fn text_ends_before_its_nuls_and_is_no_number() {
    let text = LoggedValue::text("näh");
    assert_eq!((text.chunk_type(), text.shape()), (ChunkType::Character, (4, 1)));
    assert_eq!((text.to_text().unwrap(), text.to_f64(), text.scalar()), ("näh", None, None));
    assert_eq!(LoggedValue::from("x").to_text().unwrap(), "x");
    assert_eq!(LoggedValue::text("x").scalar(), None);
    let padded = LoggedValue::new(ChunkType::Character, 5, 1, &b"a\0b\0\0"[..]).unwrap();
    assert_eq!(padded.to_text().unwrap(), "a\0b");
    assert!(LoggedValue::new(ChunkType::Character, 1, 1, &b"\xFF"[..]).unwrap().to_text().is_err());
    let error = LoggedValue::from(1_u8).to_text().unwrap_err();
    assert_eq!(error.to_string(), "the elements are uint8, not text");
}

#[test]
fn a_log_keeps_the_order_and_replaces_by_name() {
    let mut log = Log::default();
    assert!(log.is_empty());
    log.insert("b", 1_u8);
    log.insert("a", 2_u8);
    log.insert("b", 3_u8);
    assert_eq!((log.len(), log.is_empty()), (2, false));
    let listed: Vec<_> = log.iter().map(|(name, value)| (name, value.scalar().unwrap())).collect();
    assert_eq!(listed, [("b", 3.0), ("a", 2.0)]);
    assert_eq!((log.get("a").unwrap().scalar(), log.get("c")), (Some(2.0), None));
    assert_eq!(log.clone().into_owned(), log);
}
