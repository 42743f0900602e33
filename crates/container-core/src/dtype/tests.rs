use super::*;

#[test]
fn complex_numbers_swap_by_part() {
    let dtype = DType::new(Kind::Complex, 8, ByteOrder::Big);
    let mut item = [1, 2, 3, 4, 5, 6, 7, 8];
    dtype.swap_to(ByteOrder::Little, &mut item).unwrap();
    assert_eq!(item, [4, 3, 2, 1, 8, 7, 6, 5]);
}

#[test]
fn records_swap_field_by_field_and_leave_padding_alone() {
    let number = DType::new(Kind::Uint, 2, ByteOrder::Big);
    let field = |name: &str, offset, shape| Field {
        name: name.into(),
        title: None,
        dtype: number.clone(),
        shape,
        offset,
    };
    let fields = vec![field("a", 0, vec![]), field("b", 3, vec![2])];
    let dtype = DType::Record(Record { fields, size: 8 });
    let mut item = [1, 2, 3, 4, 5, 6, 7, 8];
    dtype.swap_to(ByteOrder::Little, &mut item).unwrap();
    assert_eq!(item, [2, 1, 3, 5, 4, 7, 6, 8]);
}

#[test]
fn order_for_returns_the_needed_byte_order() {
    let uint = |size, order| DType::new(Kind::Uint, size, order);
    let (little, big) = (uint(4, ByteOrder::Little), uint(4, ByteOrder::Big));
    assert_eq!(little.order_for(&big).unwrap(), Some(ByteOrder::Big));
    assert_eq!(big.order_for(&little).unwrap(), Some(ByteOrder::Little));
    assert_eq!(big.order_for(&big).unwrap(), None);
    let error = big.order_for(&uint(8, ByteOrder::Big)).unwrap_err();
    assert!(matches!(error.kind(), crate::ErrorKind::Usage(_)));
}

#[test]
fn overlapping_fields_are_not_swapped_twice() {
    let field = |name: &str, size, offset| Field {
        name: name.into(),
        title: None,
        dtype: DType::new(Kind::Uint, size, ByteOrder::Big),
        shape: vec![],
        offset,
    };
    let dtype = DType::Record(Record { fields: vec![field("a", 4, 0), field("b", 2, 0)], size: 4 });
    let error = dtype.swap_to(ByteOrder::Little, &mut [1, 2, 3, 4]).unwrap_err();
    assert!(matches!(error.kind(), crate::ErrorKind::Unsupported(_)));
}

#[test]
#[cfg_attr(miri, ignore = "long data")]
fn zero_size_fields_add_no_cost_to_byte_swapping() {
    let empty = |at: usize| Field {
        name: format!("f{at}"),
        title: None,
        dtype: DType::new(Kind::Bytes, 0, ByteOrder::Little),
        shape: vec![],
        offset: 0,
    };
    let mut fields: Vec<Field> = (0..16_000).map(empty).collect();
    fields.push(Field { dtype: DType::new(Kind::Uint, 2, ByteOrder::Big), ..empty(16_000) });
    let dtype = DType::Record(Record { fields, size: 2 });
    let mut items = [1, 2].repeat(1 << 20);
    dtype.swap_to(ByteOrder::Little, &mut items).unwrap();
    assert!(items.chunks(2).all(|item| item == [2, 1]));
}

#[test]
fn opaque_numbers_swap_by_part() {
    let dtype = DType::new(Kind::Opaque(2), 6, ByteOrder::Big);
    let mut item = [1, 2, 3, 4, 5, 6];
    dtype.swap_to(ByteOrder::Little, &mut item).unwrap();
    assert_eq!((item, dtype.to_string().as_str()), ([3, 2, 1, 6, 5, 4], "|V6"));
}

#[test]
fn byte_order_is_dropped_for_types_without_one() {
    assert_eq!(DType::new(Kind::Uint, 1, ByteOrder::Big), DType::new(Kind::Uint, 1, ByteOrder::Little));
    assert!(DType::void(16).is_in_order(ByteOrder::Big));
}

#[test]
fn every_width_is_reversed() {
    for (descr, unit) in [
        (">u2", 2),
        (">f4", 4),
        (">i8", 8),
        (">f16", 16),
        (">c8", 4),
        (">c16", 8),
        (">c32", 16),
        (">U2", 4),
        (">M8[s]", 8),
        (">m8", 8),
        ("|S3", 1),
        ("|V5", 1),
        ("|b1", 1),
        ("|u1", 1),
    ] {
        let dtype = DType::parse(descr).unwrap();
        let items: Vec<u8> = (1..=96).take(dtype.itemsize() * 3).collect();
        let mut swapped = items.clone();
        dtype.swap_to(ByteOrder::Little, &mut swapped).unwrap();
        let want: Vec<u8> =
            items.chunks(unit).flat_map(|unit| unit.iter().rev().copied().collect::<Vec<_>>()).collect();
        assert_eq!(swapped, want, "{descr}");
        dtype.swap_to(ByteOrder::Big, &mut swapped).unwrap();
        assert_eq!(swapped, want, "{descr}");
        assert_eq!(dtype.little_endian(&items).unwrap(), want, "{descr}");
        assert_eq!(dtype.has_byte_order(), unit > 1, "{descr}");
        assert_eq!(dtype.is_in_order(ByteOrder::Little), unit == 1, "{descr}");
        assert!(dtype.is_in_order(ByteOrder::Big) || unit == 1, "{descr}");
    }
    let three = DType::new(Kind::Uint, 3, ByteOrder::Big);
    let mut items = [1, 2, 3, 4, 5, 6];
    three.swap_to(ByteOrder::Little, &mut items).unwrap();
    assert_eq!(items, [3, 2, 1, 6, 5, 4]);
}

/// The unit is undefined where the size is not a whole number of parts.
#[test]
fn odd_sizes_have_no_byte_order() {
    for (kind, size) in [
        (Kind::Unicode, 6),
        (Kind::Complex, 7),
        (Kind::Opaque(0), 8),
        (Kind::Opaque(3), 8),
        (Kind::Opaque(8), 8),
    ] {
        let dtype = DType::new(kind.clone(), size, ByteOrder::Big);
        assert!(!dtype.has_byte_order(), "{kind:?} {size}");
        assert_eq!(dtype, DType::new(kind, size, ByteOrder::Little));
    }
}

#[test]
fn elements_that_are_little_endian_are_lent() {
    let (little, big) = (DType::parse("<u2").unwrap(), DType::parse(">u2").unwrap());
    assert!(matches!(little.little_endian(&[1, 2][..]).unwrap(), Cow::Borrowed([1, 2])));
    assert!(matches!(big.little_endian(&[1, 2][..]).unwrap(), Cow::Owned(bytes) if bytes == [2, 1]));
    assert_eq!(*big.little_endian(vec![1, 2, 3, 4]).unwrap(), [2, 1, 4, 3]);
    assert!(matches!(big.written_as(&big, &[1, 2]).unwrap(), Cow::Borrowed([1, 2])));
    assert_eq!(*big.written_as(&DType::void(2), &[1, 2]).unwrap(), [2, 1]);
    let error = big.little_endian(&[1, 2, 3][..]).unwrap_err();
    assert_eq!(error.to_string(), "3 bytes are not whole elements of 2 bytes");
    assert!(matches!(error.kind(), crate::ErrorKind::Usage(_)));
}

#[test]
fn elements_without_bytes_cannot_be_swapped_out_of_any() {
    let empty = DType::Record(Record {
        fields: vec![Field {
            name: "a".into(),
            title: None,
            dtype: DType::parse(">u2").unwrap(),
            shape: vec![],
            offset: 0,
        }],
        size: 0,
    });
    empty.swap_to(ByteOrder::Little, &mut []).unwrap();
    assert!(empty.swap_to(ByteOrder::Little, &mut [1, 2]).is_err());
}

#[test]
fn a_loss_of_type_states_size_and_order() {
    let message = |descr: &str| DType::parse(descr).unwrap().bytes_loss_message();
    assert_eq!(message(">u4"), "4 bytes an element, little-endian");
    assert_eq!(message("<u4"), "4 bytes an element, little-endian");
    assert_eq!((message("|u1"), message("|S3")), ("1 byte an element".into(), "3 bytes an element".into()));
}

#[test]
fn records_within_records_change_their_order_part_by_part() {
    let dtype =
        DType::parse("[('a', '>u2'), ('p', [('x', '|u1'), ('y', '>u2')], (2,)), ('c', '<u2')]").unwrap();
    let mut item = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
    dtype.swap_to(ByteOrder::Little, &mut item).unwrap();
    assert_eq!(item, [2, 1, 3, 5, 4, 6, 8, 7, 9, 10]);
    assert!(dtype.has_byte_order() && !dtype.is_in_order(ByteOrder::Big));
    let little = dtype.with_order(ByteOrder::Little);
    let want =
        DType::parse("[('a', '<u2'), ('p', [('x', '|u1'), ('y', '<u2')], (2,)), ('c', '<u2')]").unwrap();
    assert_eq!(little, want);
    assert!(little.is_in_order(ByteOrder::Little) && dtype.as_scalar().is_none() && !dtype.is_void());
    // Neighbours that touch are not an overlap.
    let field = |name: &str, offset| Field {
        name: name.into(),
        title: None,
        dtype: DType::parse(">u2").unwrap(),
        shape: vec![],
        offset,
    };
    let swapped = |second| {
        let dtype = DType::Record(Record { fields: vec![field("a", 0), field("b", second)], size: 4 });
        let mut item = [1, 2, 3, 4];
        dtype.swap_to(ByteOrder::Little, &mut item).map(|()| item)
    };
    assert_eq!(swapped(2).unwrap(), [2, 1, 4, 3]);
    assert!(swapped(1).is_err());
}

#[test]
fn sub_arrays_of_a_million_records_are_refused() {
    let inner = DType::parse("[('x', '>u2'), ('y', '|u1')]").unwrap();
    let field =
        |count| Field { name: "a".into(), title: None, dtype: inner.clone(), shape: vec![count], offset: 0 };
    let swap = |count: usize| {
        let dtype = DType::Record(Record { fields: vec![field(count)], size: 3 });
        dtype.swap_to(ByteOrder::Little, &mut [1, 2, 3])
    };
    let error = swap(MAX_RUNS + 1).unwrap_err();
    assert_eq!(error.to_string(), "records of more than 1048576 numbers");
}

#[test]
fn orders_have_letters_and_opposites() {
    assert_eq!((Order::C.letter(), Order::F.letter()), ("C", "F"));
    assert_eq!((Order::C.reversed(), Order::F.reversed()), (Order::F, Order::C));
}

#[test]
fn rust_types_have_their_types_in_this_machines_order() {
    use num_complex::Complex;
    macro_rules! same {
        ($($type:ty: $descr:literal),+ $(,)?) => {$(
            let native = DType::parse($descr).unwrap().with_order(ByteOrder::NATIVE);
            assert_eq!(<$type>::dtype(), native, $descr);
            assert!(expect_type::<$type>(&native.with_order(ByteOrder::Big)).is_ok());
        )+};
    }
    same!(
        i8: "|i1", i16: "<i2", i32: "<i4", i64: "<i8", u8: "|u1", u16: "<u2", u32: "<u4", u64: "<u8",
        half::f16: "<f2", f32: "<f4", f64: "<f8", half::bf16: "bfloat16",
        Complex<f32>: "<c8", Complex<f64>: "<c16",
    );
    assert_eq!(i128::dtype(), DType::native(Kind::Int, 16));
    let error = expect_type::<u16>(&DType::parse("<i2").unwrap()).unwrap_err();
    let want = if cfg!(target_endian = "big") { ">u2" } else { "<u2" };
    assert_eq!(error.to_string(), format!("the elements are <i2, not {want}"));
    assert!(expect_type::<u16>(&DType::void(2)).is_err());
}

impl Element for [u8; 4] {}

/// A record of the caller's takes the bytes of any type of its size.
#[test]
fn opaque_types_of_rust_take_every_type_of_their_size() {
    assert_eq!(<[u8; 4]>::dtype(), DType::void(4));
    for taken in ["<u4", "|V4", "|S4", "[('a', '<u2'), ('b', '<u2')]"] {
        expect_type::<[u8; 4]>(&DType::parse(taken).unwrap()).unwrap();
    }
    assert!(expect_type::<[u8; 4]>(&DType::void(5)).is_err());
}
