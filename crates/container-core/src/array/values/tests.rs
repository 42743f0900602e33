use super::*;
use crate::region::Region;

#[test]
fn values_go_in_and_come_out() {
    let array = Array::from_elements(&[1_i16, 2, 3, 4, 5, 6], &[2, 3]).unwrap();
    assert_eq!((array.dtype().clone(), array.dims().unwrap()), (i16::dtype(), vec![2, 3]));
    let column = array.clone().select(&Region::parse(":, 1", &[2, 3]).unwrap()).unwrap();
    assert_eq!(column.to_vec::<i16>().unwrap(), [2, 5]);
    assert!(column.to_vec::<u16>().is_err());
    assert!(Array::from_elements(&[0_u8; 5], &[2, 3]).is_err());
    assert_eq!(array.typed::<i16>(&Limits::default()).unwrap()[[1, 0]], 4);
}

#[test]
fn numbers_of_every_type_are_doubles() {
    let of = |dtype: &str, order, bytes: &[u8]| {
        let array =
            Array::new(DType::parse(dtype).unwrap(), vec![2, 1], order, bytes.to_vec().into()).unwrap();
        array.to_f64().map(|values| (values.shape().to_vec(), values.into_vec()))
    };
    let column = vec![2, 1];
    assert_eq!(of(">i2", Order::C, &[0xff, 0xfe, 0, 3]).unwrap(), (column.clone(), vec![-2.0, 3.0]));
    assert_eq!(of("|b1", Order::F, &[1, 0]).unwrap(), (column.clone(), vec![1.0, 0.0]));
    // 1.5 and -2 as IEEE halves.
    assert_eq!(of("<f2", Order::C, &[0, 0x3e, 0, 0xc0]).unwrap(), (column, vec![1.5, -2.0]));
    let error = of("<c8", Order::C, &[0; 16]).unwrap_err();
    assert_eq!(error.to_string(), "the elements are <c8, which are no real numbers");
    assert!(of("|S3", Order::C, b"abcdef").is_err());
    // What cannot be converted is not told to be.
    let hint = |dtype: &str, bytes: &[u8]| {
        let array =
            Array::new(DType::parse(dtype).unwrap(), vec![1], Order::C, bytes.to_vec().into()).unwrap();
        array.to_vec::<f64>().unwrap_err().hint().map(str::to_owned)
    };
    assert!(hint("<f4", &[0; 4]).is_some_and(|hint| hint.contains("to_f64")));
    assert_eq!((hint("<c8", &[0; 8]), hint("|S3", b"abc")), (None, None));
    // In C order, whatever the order in memory.
    let plane =
        Array::new(DType::parse("|u1").unwrap(), vec![2, 2], Order::F, vec![1, 2, 3, 4].into()).unwrap();
    assert_eq!(plane.to_f64().unwrap().into_vec(), [1.0, 3.0, 2.0, 4.0]);
}

#[test]
fn a_view_borrows_or_is_refused() {
    let elements = [1.0_f64, 2.0, 3.0, 4.0, 5.0, 6.0];
    let array = Array::from_elements(&elements, &[2, 3]).unwrap();
    let view = array.clone().view::<f64>().unwrap();
    assert_eq!((view.as_slice().as_ptr(), view.is_borrowed()), (elements.as_ptr(), true));
    let turned = array.clone().reversed_axes().view::<f64>().unwrap();
    assert_eq!((turned.order(), turned[[2, 0]]), (Order::F, 3.0));
    let part = array.clone().select(&Region::parse("1", &[2, 3]).unwrap()).unwrap().view::<f64>().unwrap();
    assert_eq!(part.as_slice(), [4.0, 5.0, 6.0]);
    let gaps = array.clone().select(&Region::parse(":, ::2", &[2, 3]).unwrap()).unwrap();
    let owned = array.clone().into_owned(&Limits::default()).unwrap();
    let swapped = DType::parse(if cfg!(target_endian = "big") { "<f8" } else { ">f8" }).unwrap();
    let swapped =
        Array::new(swapped, vec![6], Order::C, Cow::Borrowed(bytemuck::cast_slice(&elements))).unwrap();
    for refused in [gaps.view::<f64>(), owned.view(), swapped.view()] {
        assert!(refused.is_err());
    }
}

#[test]
fn debug_shows_values_shape_and_type() {
    let big = Array::new(
        DType::parse(">i4").unwrap(),
        vec![2],
        Order::C,
        vec![0, 0, 0, 7, 255, 255, 255, 255].into(),
    );
    assert_eq!(format!("{:?}", big.unwrap()), "[7, -1] [2] >i4");
    let complex = [num_complex::Complex::new(1.5_f32, -2.0)];
    let complex = Array::from_elements(&complex, &[]).unwrap();
    assert_eq!(format!("{complex:?}"), "(1.5, -2.0) [] <c8");
    let opaque = Array::new(DType::parse("|V2").unwrap(), vec![1], Order::C, vec![1, 171].into()).unwrap();
    assert_eq!(format!("{opaque:?}"), "[0x01ab] [1] |V2");
    let truth = Array::new(DType::parse("|b1").unwrap(), vec![2], Order::C, vec![0, 1].into()).unwrap();
    assert_eq!(format!("{truth:?}"), "[false, true] [2] |b1");
    let bytes = vec![0; 4000];
    let wide = Array::new(DType::parse("|u1").unwrap(), vec![4, 1000], Order::C, bytes.into()).unwrap();
    let row = "[0, 0, 0, …, 0, 0, 0]";
    assert_eq!(format!("{wide:?}"), format!("[{row}, {row}, {row}, {row}] [4, 1000] |u1"));
}

#[cfg(feature = "ndarray")]
#[test]
fn ndarray_is_borrowed_in_either_order_and_copied_else() {
    use ndarray::ShapeBuilder;
    let rows = ndarray::Array2::from_shape_fn((2, 3), |(i, j)| [[0_u8, 1, 2], [10, 11, 12]][i][j]);
    let mut columns = ndarray::Array2::zeros((2, 3).f());
    columns.assign(&rows);
    let mut turned = rows.clone();
    turned.invert_axis(ndarray::Axis(0));
    for (array, is_borrowed) in [(rows.view(), true), (columns.view(), true), (turned.view(), false)] {
        let ours = Array::from_ndarray(&array).unwrap();
        assert_eq!(ours.parts().2, is_borrowed);
        assert_eq!(ours.to_ndarray::<u8>().unwrap(), array.into_dyn());
    }
}

#[test]
fn a_view_that_would_copy_is_refused_with_the_reason() {
    let words = [1_u32, 2, 3, 4];
    let bytes: &[u8] = bytemuck::cast_slice(&words);
    let native = |bytes| Array::new(u32::dtype(), vec![2], Order::C, bytes).unwrap();
    let array = || Array::from_elements(&words, &[2, 2]).unwrap();
    let reason = |array: Array<'_>| {
        let error = array.view::<u32>().unwrap_err();
        assert_eq!(error.hint(), Some("read copies them"));
        error.to_string().strip_prefix("the elements cannot be borrowed: they are ").unwrap().to_owned()
    };
    let column = array().select(&Region::parse(":, 0", &[2, 2]).unwrap()).unwrap();
    assert_eq!(reason(column), "with gaps");
    assert_eq!(reason(array().into_owned(&Limits::default()).unwrap()), "decoded or copied");
    let odd = bytes.as_ptr().align_offset(4) + 1;
    assert_eq!(reason(native(Cow::Borrowed(&bytes[odd..odd + 8]))), "unaligned");
    let other = if cfg!(target_endian = "big") { "<u4" } else { ">u4" };
    let other = Array::new(DType::parse(other).unwrap(), vec![4], Order::C, Cow::Borrowed(bytes)).unwrap();
    assert_eq!(reason(other.clone()), "in the other byte order");
    // Opaque elements have no order, and another type is another error.
    assert_eq!(other.view::<[u8; 4]>().unwrap().as_slice()[0], words[0].to_ne_bytes());
    assert!(array().view::<i32>().unwrap_err().to_string().starts_with("the elements are "));
    let last = array().select(&Region::parse("1, 1:", &[2, 2]).unwrap()).unwrap();
    assert_eq!(last.view::<u32>().unwrap().as_slice(), [4]);
    let none = array().select(&Region::parse("2:", &[2, 2]).unwrap()).unwrap();
    assert_eq!(none.view::<u32>().unwrap().shape(), [0, 2]);
}

#[test]
fn a_selection_is_a_view() {
    let words = [1_u16, 2, 3, 4, 5, 6];
    let array = Array::from_elements(&words, &[2, 3]).unwrap();
    let part = array.clone().select_by((.., 1..)).unwrap();
    assert_eq!((part.dims().unwrap(), part.to_vec::<u16>().unwrap()), (vec![2, 2], vec![2, 3, 5, 6]));
    assert!(array.select_by((2, 0)).is_err());
}

#[test]
fn debug_shows_each_kind_of_number() {
    let show = |descr: &str, bytes: &[u8]| {
        let dtype = DType::parse(descr).unwrap();
        let array = Array::new(dtype, vec![], Order::C, Cow::Borrowed(bytes)).unwrap();
        format!("{array:?}").split(' ').next().unwrap().to_owned()
    };
    for (descr, bytes, want) in [
        ("|i1", &[0xff][..], "-1"),
        ("|u1", &[0xff], "255"),
        ("<i2", &[0xfe, 0xff], "-2"),
        ("<u2", &[0xfe, 0xff], "65534"),
        ("<i4", &[0xfe, 0xff, 0xff, 0xff], "-2"),
        (">u4", &[0, 0, 1, 0], "256"),
        ("<i8", &[0xfd, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], "-3"),
        (">u8", &[0, 0, 0, 0, 0, 0, 1, 1], "257"),
        ("<f2", &[0, 0x3e], "1.5"),
        (">f4", &[0x3f, 0xc0, 0, 0], "1.5"),
        ("<f8", &[0, 0, 0, 0, 0, 0, 0xf8, 0x3f], "1.5"),
        ("bfloat16", &[0xc0, 0x3f], "1.5"),
        ("|b1", &[1], "true"),
        ("|S2", b"ab", "0x6162"),
        ("<f16", &[1; 16], "0x01010101010101010101010101010101"),
        ("|V17", &[1; 17], "0x01010101010101010101010101010101…"),
        ("[('a', '|u1')]", &[9], "0x09"),
    ] {
        assert_eq!(show(descr, bytes), want, "{descr}");
    }
    for (kind, want) in [(Kind::Int, "-1"), (Kind::Uint, "340282366920938463463374607431768211455")] {
        let array = Array::new(DType::native(kind, 16), vec![], Order::C, vec![255; 16].into()).unwrap();
        assert!(format!("{array:?}").starts_with(want));
    }
}

#[test]
fn debug_shortens_arrays_of_more_than_a_thousand_elements_and_many_axes() {
    let show = |shape: &[u64]| {
        let len = crate::region::element_count(shape.iter().copied()).unwrap();
        let bytes = vec![7; usize::try_from(len).unwrap()];
        let array = Array::new(DType::parse("|u1").unwrap(), shape.to_vec(), Order::C, bytes.into()).unwrap();
        format!("{array:?}")
    };
    assert_eq!(show(&[1000]).matches('7').count(), 1000);
    assert_eq!(show(&[1001]), "[7, 7, 7, …, 7, 7, 7] [1001] |u1");
    assert_eq!(show(&[6, 200]).matches("[7, 7, 7, …, 7, 7, 7]").count(), 6);
    assert_eq!(show(&[7, 200]).matches("[7, 7, 7, …, 7, 7, 7]").count(), 6);
    assert!(show(&[7, 200]).contains("], …, ["));
    assert_eq!(show(&[1; 16]), format!("{}7{} {:?} |u1", "[".repeat(16), "]".repeat(16), [1; 16]));
    assert_eq!(show(&[1; 17]), format!("{}…{} {:?} |u1", "[".repeat(16), "]".repeat(16), [1; 17]));
    assert_eq!(show(&[0, 4]), "[] [0, 4] |u1");
}
