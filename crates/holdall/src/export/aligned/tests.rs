use super::*;
use crate::testing::Memory;

/// On a page of 40 characters.
fn shown(container: &Memory, selection: &str, values: Shown) -> String {
    let region = Region::parse(selection, &container.datasets()[0].shape).unwrap();
    let page = Page { width: 40, values };
    let mut out = Vec::new();
    export_aligned(container, 0, &region, page, &ReadOptions::default(), Progress::none(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn edges(dtype: &str, shape: &[u64], bytes: &[u8]) -> String {
    shown(&Memory::new().with("data", dtype, shape, bytes), "...", Shown::Edges)
}

fn doubles(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn counted(count: i32) -> Vec<u8> {
    (0..count).flat_map(i32::to_le_bytes).collect()
}

/// numpy.set_printoptions(floatmode='unique', linewidth=42): print(a), less the brackets.
#[test]
fn one_axis_flows_along_lines_as_numpy_prints_it() {
    assert_eq!(edges("<i4", &[12], &counted(12)), " 0  1  2  3  4  5  6  7  8  9 10 11\n");
    assert_eq!(
        edges("<i4", &[20], &counted(20)),
        " 0  1  2  3  4  5  6  7  8  9 10 11 12\n13 14 15 16 17 18 19\n"
    );
    assert_eq!(edges("<i4", &[2000], &counted(2000)), "   0    1    2 ... 1997 1998 1999\n");
    assert_eq!(edges("|b1", &[3], &[1, 0, 1]), " True False  True\n");
    assert_eq!(edges("<i4", &[0], &[]), "[]\n");
}

#[test]
fn floats_have_their_points_below_each_other_as_numpy_has_them() {
    let floats = |values: &[f64]| edges("<f8", &[values.len() as u64], &doubles(values));
    assert_eq!(floats(&[1.0, 2.5, -30.125]), "  1.      2.5   -30.125\n");
    assert_eq!(floats(&[0.1, 1e-05]), "1.e-01 1.e-05\n");
    assert_eq!(floats(&[1.0, 123_456_789.0]), "1.00000000e+00 1.23456789e+08\n");
    assert_eq!(floats(&[1e100, -1.5e-7]), " 1.0e+100 -1.5e-007\n");
    assert_eq!(floats(&[f64::NAN, f64::INFINITY, -f64::INFINITY, 1.0]), " nan  inf -inf   1.\n");
    assert_eq!(floats(&[0.0, -0.0]), " 0. -0.\n");
    // In short -3.6e-07: the digits of the exact value fill up.
    let halves: Vec<u8> = [0x8013_u16, 0x8006].iter().flat_map(|bits| bits.to_le_bytes()).collect();
    assert_eq!(edges("<f2", &[2], &halves), "-1.13e-06 -3.58e-07\n");
    assert_eq!(edges("<c16", &[2], &doubles(&[1.0, 2.5, -3.25, -4.0])), " 1.  +2.5j -3.25-4.j\n");
}

#[test]
fn two_axes_are_rows_and_columns() {
    assert_eq!(edges("<i4", &[2, 3], &counted(6)), "0 1 2\n3 4 5\n");
    assert_eq!(
        edges("<i4", &[50, 40], &counted(2000)),
        "   0    1    2 ...   37   38   39\n  40   41   42 ...   77   78   79\n  80   81   82 ...  117  118  119\n...\n\
         1880 1881 1882 ... 1917 1918 1919\n1920 1921 1922 ... 1957 1958 1959\n1960 1961 1962 ... 1997 1998 1999\n"
    );
}

/// numpy breaks such rows; columns are left out instead, so that a line is a row.
#[test]
fn columns_are_left_out_where_a_row_is_wider_than_the_page() {
    let wide = edges("<i4", &[2, 100], &counted(200));
    assert_eq!(wide, "  0   1   2   3   4 ...  96  97  98  99\n100 101 102 103 104 ... 196 197 198 199\n");
    let all = shown(&Memory::new().with("data", "<i4", &[2, 100], &counted(200)), "...", Shown::All);
    assert_eq!(all.lines().map(|line| line.split_whitespace().count()).collect::<Vec<_>>(), [100, 100]);
}

#[test]
fn more_axes_are_planes_with_their_indices() {
    assert_eq!(
        edges("<i4", &[2, 1, 2, 2], &counted(8)),
        "[0, 0, :, :]\n0 1\n2 3\n\n[1, 0, :, :]\n4 5\n6 7\n"
    );
    let many = edges("<i4", &[1000, 1, 2], &counted(2000));
    let planes: Vec<&str> = many.lines().filter(|line| line.starts_with(['[', '.'])).collect();
    assert_eq!(
        planes,
        ["[0, :, :]", "[1, :, :]", "[2, :, :]", "...", "[997, :, :]", "[998, :, :]", "[999, :, :]"]
    );
    assert!(many.ends_with("\n[999, :, :]\n1998 1999\n"), "{many}");
}

/// Fields are aligned as numpy aligns them, a record on each line.
#[test]
fn records_texts_and_missing_values_are_aligned() {
    let mut bytes = Vec::new();
    for (number, value, text) in [(1_u8, 2.5_f64, b"ab\0"), (10, -1.0, b"c\0\0")] {
        bytes.extend(i32::from(number).to_le_bytes());
        bytes.extend(value.to_le_bytes());
        bytes.extend(text);
        bytes.extend([number, 200]);
    }
    let dtype = "[('a', '<i4'), ('b', '<f8'), ('c', '|S3'), ('d', '|u1', (2,))]";
    assert_eq!(edges(dtype, &[2], &bytes), "( 1,  2.5, b'ab', [  1, 200])\n(10, -1. , b'c' , [ 10, 200])\n");
    assert_eq!(edges("|S3", &[2, 2], b"a\0\0bcdx y\0\0\0"), "b'a'   b'bcd'\nb'x y' b''\n");
}

#[test]
fn selections_and_single_values_are_shown() {
    let square = Memory::new().with("data", "<i4", &[3, 4], &counted(12));
    assert_eq!(shown(&square, "1:, ::-2", Shown::Edges), " 7  5\n11  9\n");
    assert_eq!(shown(&square, "2, 3", Shown::Edges), "11\n");
    let long = Memory::new().with("data", "<i4", &[2, 1500], &counted(3000));
    assert_eq!(shown(&long, "1", Shown::Edges), "1500 1501 1502 ... 2997 2998 2999\n");
}
