use super::*;
use crate::ErrorKind;

const SHAPE: [u64; 3] = [10, 20, 3];

/// Each with the text that numpy has for it.
#[test]
fn selections_are_those_of_numpy() {
    let cases: [(&dyn Selection, &str); 15] = [
        (&(), ":, :, :"),
        (&.., ":"),
        (&3, "3"),
        (&-1, "-1"),
        (&(2..5), "2:5"),
        (&(2..=5), "2:6"),
        (&(..4_usize), ":4"),
        (&(7_u64..), "7:"),
        (&(0..0), "0:0"),
        (&(1, 2..4, ..), "1, 2:4, :"),
        (&(.., 19_usize), ":, 19"),
        (&[0..2, 5..6], "0:2, 5:6"),
        (&(stepped(.., 3), stepped(2..9, 4)), "::3, 2:9:4"),
        (&stepped(.., -1), "::-1"),
        (&(stepped(0..7, -3),), "6::-3"),
    ];
    for (selection, text) in cases {
        assert_eq!(selection.region(&SHAPE).unwrap(), Region::parse(text, &SHAPE).unwrap(), "{text}");
    }
}

#[test]
fn selections_outside_of_the_array_are_refused() {
    let cases: [&dyn Selection; 10] = [
        &10,
        &-11,
        &(0..11),
        &(..=10),
        &(5_u64..4),
        &(-1..3),
        &(0, 20),
        &(0, 0, 0, 0),
        &stepped(.., 0),
        &stepped(3, 2),
    ];
    for (number, selection) in cases.into_iter().enumerate() {
        let error = selection.region(&SHAPE).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{number}");
    }
    assert_eq!(
        (0, 20).region(&SHAPE).unwrap_err().to_string(),
        "axis 1: index 20 is outside of an axis of length 20"
    );
}

/// The elements that ndarray selects.
#[cfg(feature = "ndarray")]
#[test]
fn slices_of_ndarray_select_what_ndarray_selects() {
    let all = ndarray::Array3::from_shape_fn((10, 20, 3), |(i, j, k)| (i * 60 + j * 3 + k) as u32);
    let array = crate::array::Array::from_ndarray(&all).unwrap();
    macro_rules! same {
        ($($slice:expr),+) => {$(
            let ours = array.clone().select(&$slice.region(&SHAPE).unwrap()).unwrap();
            let theirs = all.slice($slice);
            assert_eq!(ours.to_ndarray::<u32>().unwrap(), theirs.into_dyn(), "{}", stringify!($slice));
        )+};
    }
    same!(
        ndarray::s![2, .., 1],
        ndarray::s![..;2, 3..-4;5, -1],
        ndarray::s![..;-1, 1..8;-3, ..],
        ndarray::s![-3.., -7..-2;-2, 0..=1],
        ndarray::s![0..0, .., ..]
    );
    assert!(ndarray::s![0, 0, 0, ndarray::NewAxis].region(&SHAPE).is_err());
}

#[test]
fn selections_of_every_type_are_those_of_numpy() {
    let cases: [(&dyn Selection, &str); 20] = [
        (&3_i64, "3"),
        (&-1_i64, "-1"),
        (&3_u32, "3"),
        (&3_u64, "3"),
        (&3_usize, "3"),
        (&(2_u32..5), "2:5"),
        (&(2_i64..5), "2:5"),
        (&(2_u64..=5), "2:6"),
        (&(2_usize..), "2:"),
        (&(..=4_u32), ":5"),
        (&(..10), ":"),
        (&(10..), "10:"),
        (&"1, ::2", "1, ::2"),
        (&String::from("..., 1"), "..., 1"),
        (&Region::whole(&SHAPE), "..."),
        (&(1,), "1"),
        (&(1, 2, 2), "1, 2, 2"),
        (&[1, 2], "1, 2"),
        (&stepped(3..3, -2), "3:3:-2"),
        (&(stepped(..9, -4), stepped(1..20, 19)), "8::-4, 1::19"),
    ];
    for (selection, text) in cases {
        let (ours, numpys) = (selection.region(&SHAPE).unwrap(), Region::parse(text, &SHAPE).unwrap());
        if numpys.is_empty() {
            assert!(ours.is_empty() && ours.shape() == numpys.shape(), "{text}");
        } else {
            assert_eq!(ours, numpys, "{text}");
        }
    }
    let whole = ().region(&[]).unwrap();
    assert_eq!((whole.len(), whole.axes().len()), (Some(1), 0));
    let six = [2; 6];
    assert_eq!((0, 1, 0, 1, 0, 1).region(&six).unwrap(), Region::parse("0,1,0,1,0,1", &six).unwrap());
    assert_eq!((0, 1, 0, 1, 0).region(&six).unwrap(), Region::parse("0,1,0,1,0", &six).unwrap());
    assert_eq!((0, 1, 0, 1).region(&six).unwrap(), Region::parse("0,1,0,1", &six).unwrap());
}

#[test]
fn errors_of_a_selection_tell_what_it_asked_for() {
    let error = |selection: &dyn Selection| selection.region(&SHAPE).unwrap_err().to_string();
    assert_eq!(error(&-11), "axis 0: index -11 is outside of an axis of length 10");
    assert_eq!(error(&(..=10)), "axis 0: the range 0..11 is outside of an axis of length 10");
    assert_eq!(error(&(5..4)), "axis 0: the range 5..4 is outside of an axis of length 10");
    assert_eq!(error(&(11..)), "axis 0: the range 11..10 is outside of an axis of length 10");
    assert_eq!(error(&(-1..3)), "axis 0: a range cannot begin or end at -1");
    assert_eq!(error(&(0..-3)), "axis 0: a range cannot begin or end at -3");
    assert_eq!(error(&stepped(3, 2)), "axis 0: a step of 2 needs a range and cannot be 0");
    assert_eq!(error(&stepped(stepped(.., 2), 2)), "axis 0: a step of 2 needs a range and cannot be 0");
    assert_eq!(error(&(0, 0, 0, 0)), "4 indices for an array of 3 dimensions");
    assert_eq!(error(&Region::whole(&[10, 21, 3])), "a selection reaches outside an axis of length 20");
    assert!(matches!((..=u64::MAX).region(&SHAPE).unwrap_err().kind(), ErrorKind::Usage(_)));
}
