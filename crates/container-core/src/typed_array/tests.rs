use super::*;

#[test]
fn an_index_is_a_tuple_of_axes_in_either_order() {
    let rows = TypedArray::new(vec![0_u8, 1, 2, 10, 11, 12], &[2, 3], Order::C).unwrap();
    let columns = TypedArray::new(vec![0_u8, 10, 1, 11, 2, 12], &[2, 3], Order::F).unwrap();
    for array in [&rows, &columns] {
        assert_eq!((array[[0, 2]], array[[1, 0]], array.get(&[2, 0]), array.get(&[0])), (2, 10, None, None));
    }
    assert_eq!(rows, columns);
    assert_ne!(rows, TypedArray::new(vec![0_u8; 6], &[2, 3], Order::F).unwrap());
    assert!(TypedArray::new(vec![0_u8; 5], &[2, 3], Order::C).is_err());
    assert_eq!(TypedArray::new(vec![7_u8], &[], Order::C).unwrap()[[]], 7);
}

#[test]
fn debug_shows_the_ends_of_long_axes() {
    let short = TypedArray::new(vec![1.5_f32, -0.0, 3.0, 4.0], &[2, 2], Order::C).unwrap();
    assert_eq!(format!("{short:?}"), "[[1.5, -0.0], [3.0, 4.0]] [2, 2]");
    let long = TypedArray::new((0..2000_u16).collect::<Vec<_>>(), &[2000], Order::C).unwrap();
    assert_eq!(format!("{long:?}"), "[0, 1, 2, …, 1997, 1998, 1999] [2000]");
    let none = TypedArray::new(Vec::<u8>::new(), &[0, 3], Order::C).unwrap();
    assert_eq!(format!("{none:?}"), "[] [0, 3]");
}

#[cfg(feature = "ndarray")]
#[test]
fn ndarray_has_the_same_indices_in_either_order() {
    for order in [Order::C, Order::F] {
        let array = TypedArray::new((0..6_i32).collect::<Vec<_>>(), &[2, 3], order).unwrap();
        let view = array.as_ndarray().unwrap().into_owned();
        assert_eq!(view, array.clone().into_ndarray().unwrap());
        for (row, column) in [(0, 0), (0, 2), (1, 1)] {
            assert_eq!(view[[row, column]], array[[row, column]]);
        }
    }
}

#[test]
fn arrays_of_either_order_are_equal_where_their_elements_are() {
    let shape = [2, 3, 4];
    let rows: Vec<u16> = (0..24).collect();
    let columns: Vec<u16> = (0..24).map(|at| (at % 2) * 12 + (at / 2 % 3) * 4 + at / 6).collect();
    let rows = TypedArray::new(rows, &shape, Order::C).unwrap();
    let turned = TypedArray::new(columns.clone(), &shape, Order::F).unwrap();
    assert_eq!((rows[[1, 2, 3]], turned[[1, 2, 3]], turned[[0, 1, 2]]), (23, 23, 6));
    assert_eq!(rows, turned);
    assert_eq!(turned, rows);
    assert_eq!(turned, turned.clone());
    for changed in 0..24 {
        let mut columns = columns.clone();
        columns[changed] += 100;
        let other = TypedArray::new(columns, &shape, Order::F).unwrap();
        assert_ne!(rows, other, "{changed}");
        assert_ne!(other, rows, "{changed}");
        assert_ne!(turned, other, "{changed}");
    }
    assert_ne!(rows, TypedArray::new((0..24).collect::<Vec<u16>>(), &[3, 2, 4], Order::C).unwrap());
}

#[test]
fn elements_are_borrowed_until_they_are_owned() {
    let elements = [1_u8, 2, 3, 4];
    let array = TypedArray::new(&elements[..], &[2, 2], Order::F).unwrap();
    assert_eq!((array.len(), array.is_empty(), array.is_borrowed()), (4, false, true));
    assert_eq!((array.shape(), array.order(), array.as_slice()), (&[2, 2][..], Order::F, &elements[..]));
    assert_eq!(array.iter().copied().collect::<Vec<_>>(), elements);
    assert_eq!((&array).into_iter().map(|one| u32::from(*one)).sum::<u32>(), 10);
    let owned = array.clone().into_owned();
    assert_eq!((owned.is_borrowed(), owned.order(), owned.into_vec()), (false, Order::F, vec![1, 2, 3, 4]));
    let none = TypedArray::new(Vec::<u8>::new(), &[0, 3], Order::C).unwrap();
    assert_eq!((none.len(), none.is_empty(), none.get(&[0, 0])), (0, true, None));
    let error = TypedArray::new(&elements[..3], &[2, 2], Order::C).unwrap_err();
    assert_eq!(error.to_string(), "3 elements for an array of shape [2, 2]");
    assert!(TypedArray::new(&elements[..], &[usize::MAX, 5], Order::C).is_err());
}

#[test]
#[should_panic(expected = "index [0, 2] is outside of an array of shape [2, 2]")]
fn an_index_outside_of_the_array_panics() {
    let _ = TypedArray::new(vec![1_u8, 2, 3, 4], &[2, 2], Order::C).unwrap()[[0, 2]];
}
