//! Entities and answers, of files made by hand and of the test data.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

mod peer;
mod testdata;

use std::fmt::Write as _;
use std::path::Path;

use container_core::container::{Container, OpenOptions, ReadOptions};
use container_core::dtype::{ByteOrder, DType, Kind};
use container_core::{ErrorKind, Limits};
use holdall::open::{Accept, open_source, open_with};
use serde_json::{Value as Json, json};

use super::safe::Conversion;
use super::types::type_json;
use super::{Entities, Format};

/// An open file and its entities.
struct Opened {
    container: Box<dyn Container>,
    entities: Entities,
}

impl Opened {
    fn new(container: Box<dyn Container>) -> Self {
        let entities = Entities::new(container.as_ref());
        Self { container, entities }
    }

    fn bytes(bytes: &[u8]) -> Self {
        let source = Box::new(bytes.to_vec());
        let opened = open_source(source, None, Accept::ContainersAndArrays, &OpenOptions::default()).unwrap();
        Self::new(opened.container)
    }

    fn path(path: &Path) -> Self {
        Self::new(open_with(path, Accept::ContainersAndArrays, &OpenOptions::default()).unwrap().container)
    }

    /// An ASDF file of a tree.
    fn asdf(tree: &str) -> Self {
        let head = "#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n";
        Self::bytes(format!("{head}--- !core/asdf-1.1.0\n{tree}...\n").as_bytes())
    }

    /// A `.npy` file.
    fn npy(descr: &str, fortran: &str, shape: &str, elements: &[u8]) -> Self {
        let text = format!("{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}");
        let mut bytes = b"\x93NUMPY\x01\0".to_vec();
        bytes.extend(u16::try_from(text.len() + 1).unwrap().to_le_bytes());
        bytes.extend(text.as_bytes());
        bytes.push(b'\n');
        bytes.extend(elements);
        Self::bytes(&bytes)
    }

    fn meta(&self, path: &str) -> Json {
        self.entities.meta(self.container.as_ref(), path).unwrap()
    }

    fn attributes(&self, path: &str) -> Json {
        self.entities.attributes(self.container.as_ref(), path).unwrap()
    }

    fn try_data(
        &self,
        path: &str,
        selection: Option<&str>,
        how: (Format, bool, bool),
    ) -> container_core::Result<Vec<u8>> {
        let wanted = self.entities.data(self.container.as_ref(), path, selection, how)?;
        let (mut all, mut longest) = (Vec::new(), 0);
        wanted.write(self.container.as_ref(), &ReadOptions::default(), &mut |piece| {
            longest = longest.max(piece.len());
            all.extend(piece);
            Ok(())
        })?;
        assert!(longest <= 4 << 20);
        if let Some(len) = wanted.len() {
            assert_eq!(len, all.len() as u64);
        }
        Ok(all)
    }

    fn json(&self, path: &str, selection: Option<&str>) -> Json {
        serde_json::from_slice(&self.try_data(path, selection, (Format::Json, false, false)).unwrap())
            .unwrap()
    }

    fn flat(&self, path: &str) -> Json {
        serde_json::from_slice(&self.try_data(path, None, (Format::Json, true, false)).unwrap()).unwrap()
    }

    fn safe(&self, path: &str, selection: Option<&str>) -> Vec<u8> {
        self.try_data(path, selection, (Format::Bin, false, true)).unwrap()
    }

    /// Names and kinds of the children of a group.
    fn children(&self, path: &str) -> Vec<(String, String)> {
        let meta = self.meta(path);
        let text = |child: &Json, key: &str| child[key].as_str().unwrap().to_owned();
        meta["children"]
            .as_array()
            .unwrap()
            .iter()
            .map(|child| (text(child, "name"), text(child, "kind")))
            .collect()
    }

    fn names(&self, path: &str) -> Vec<String> {
        self.children(path).into_iter().map(|(name, _)| name).collect()
    }
}

const TREE: &str = "\
meta: !example-1.0.0 {camera: F158, count: 3, big: 18446744073709551615, half: 0.5, lit: true, none: null}
numbers: [1, 2, 3]
mixed: [1, 2.5]
words: [a, 1, true]
nothing: []
empty: {}
rows: [[1, 2], {a: b}]
a/b~c: !core/ndarray-1.1.0 [[1, 2], [3, 4]]
\"\": {\"\": 1}
flux: {unit: Jy, value: !core/ndarray-1.1.0 {data: [1.5, 2.5], datatype: float32, shape: [2]}}
";

#[test]
fn an_asdf_tree_is_groups_and_datasets() {
    let file = Opened::asdf(TREE);
    let kinds = file.children("/");
    let kinds: Vec<(&str, &str)> = kinds.iter().map(|(name, kind)| (name.as_str(), kind.as_str())).collect();
    assert_eq!(
        kinds,
        [
            ("meta", "group"),
            ("numbers", "dataset"),
            ("mixed", "dataset"),
            ("words", "dataset"),
            ("nothing", "dataset"),
            ("empty", "group"),
            ("rows", "group"),
            ("a~1b~0c", "dataset"),
            ("~e", "group"),
            ("flux", "group"),
        ]
    );
    assert_eq!(file.names("/meta"), ["camera", "count", "big", "half", "lit", "none"]);
    assert_eq!(file.attributes("/meta"), json!({ "tag": "!example-1.0.0" }));
    assert_eq!(file.attributes("/"), json!({ "tag": "!core/asdf-1.1.0" }));
    assert_eq!(file.attributes("/flux/value"), json!({ "tag": "!core/ndarray-1.1.0", "unit": "Jy" }));
    assert_eq!(file.names("/rows"), ["0", "1"]);
    assert_eq!(file.names("/empty"), Vec::<String>::new());
    for (path, value) in [
        ("/meta/camera", json!("F158")),
        ("/meta/count", json!(3)),
        ("/meta/big", json!(18_446_744_073_709_551_615_u64)),
        ("/meta/half", json!(0.5)),
        ("/meta/lit", json!(true)),
        ("/meta/none", Json::Null),
        ("/numbers", json!([1, 2, 3])),
        ("/mixed", json!([1.0, 2.5])),
        ("/words", json!(["a", "1", "true"])),
        ("/nothing", json!([])),
        ("/rows/0", json!([1, 2])),
        ("/rows/1/a", json!("b")),
        ("/a~1b~0c", json!([[1, 2], [3, 4]])),
        ("/~e/~e", json!(1)),
        ("/flux/value", json!([1.5, 2.5])),
    ] {
        assert_eq!(file.json(path, None), value, "{path}");
    }
    assert_eq!(file.json("/numbers", Some("::2")), json!([1, 3]));
    assert_eq!(file.json("/words", Some("-1")), json!("true"));
    assert_eq!(file.safe("/numbers", Some("1")), 2_i64.to_le_bytes());
    assert_eq!(file.meta("/meta/none")["shape"], Json::Null);
    assert_eq!(file.meta("/numbers")["shape"], json!([3]));
    assert_eq!(file.meta("/meta/lit")["type"]["members"], json!({ "FALSE": 0, "TRUE": 1 }));
}

#[test]
fn aliases_multiply_no_values() {
    // 999 children of 1,100 texts of 64 KiB each would be 72 GB.
    let mut tree = format!("text: &t {}\nlist: &l [{}]\n", "x".repeat(64 << 10), ["*t"; 1100].join(", "));
    (0..997).for_each(|number| writeln!(tree, "k{number}: *l").unwrap());
    tree += "a: !core/ndarray-1.1.0 [1, 2]\n";
    let file = Opened::asdf(&tree);
    let kinds = file.children("/");
    assert_eq!(kinds.len(), 1000);
    assert!(kinds.iter().all(|(_, kind)| kind == "dataset"));
    assert_eq!(file.meta("/")["children"][5]["shape"], json!([1100]));
    assert_eq!(file.meta("/text")["kind"], "dataset");
    // What would be more than an answer has its reason instead.
    assert_eq!(file.meta("/k3")["kind"], "soft_link");
    assert_eq!(file.json("/text", None).as_str().map(str::len), Some(64 << 10));
}

#[test]
fn paths_lead_to_datasets_and_back() {
    let file = Opened::asdf(TREE);
    let container = file.container.as_ref();
    let index = container.find("a~1b~0c").unwrap();
    assert_eq!(file.entities.find(container, "/a~1b~0c"), Some((index, None)));
    assert_eq!(file.entities.path_of(container, index), "/a~1b~0c");
    assert_eq!(file.entities.find(container, "/meta"), None);
    let paths = file.entities.paths(container, "/", &Limits::default()).unwrap();
    let paths: Vec<&str> = paths.as_array().unwrap().iter().map(|path| path.as_str().unwrap()).collect();
    assert_eq!(paths[..3], ["/", "/meta", "/meta/camera"]);
    for path in ["/a~1b~0c", "/rows/1/a", "/flux/value", "/~e/~e"] {
        assert!(paths.contains(&path), "{path}");
    }
    let below = file.entities.paths(container, "/rows", &Limits::default()).unwrap();
    assert_eq!(below, json!(["/rows", "/rows/0", "/rows/1", "/rows/1/a"]));
}

#[test]
fn an_unknown_path_is_refused_in_the_words_of_h5grove() {
    let file = Opened::asdf(TREE);
    let container = file.container.as_ref();
    for path in ["/x", "/meta/camera/x", "/a", "/meta//camera", "/numbers/7", "/numbers.mask"] {
        let error = file.entities.meta(container, path).unwrap_err();
        assert!(error.to_string().contains("not a valid path"), "{path}: {error}");
        assert!(matches!(error.kind(), ErrorKind::Absent(_)));
    }
    assert!(file.try_data("/meta", None, (Format::Json, false, false)).is_err());
    assert!(file.try_data("/numbers", Some("7"), (Format::Json, false, false)).is_err());
    assert!(file.try_data("/meta/camera", None, (Format::Bin, false, true)).is_err());
}

#[test]
fn missing_floats_are_nan_and_other_masks_entities() {
    let tree = "\
f: !core/ndarray-1.1.0
  data: [1.5, 2.5, 3.5]
  datatype: float32
  shape: [3]
  mask: !core/ndarray-1.1.0 {data: [false, true, false], datatype: bool8, shape: [3]}
i: !core/ndarray-1.1.0
  data: [1, 2, 3]
  datatype: int16
  shape: [3]
  mask: !core/ndarray-1.1.0 {data: [false, true, true], datatype: bool8, shape: [3]}
";
    let file = Opened::asdf(tree);
    assert_eq!(file.names("/"), ["f", "i", "i.mask"]);
    assert_eq!(file.json("/f", None), json!([1.5, null, 3.5]));
    assert_eq!(file.safe("/f", Some("1:")), [f32::NAN.to_le_bytes(), 3.5_f32.to_le_bytes()].concat());
    assert_eq!(file.json("/i", None), json!([1, 2, 3]));
    assert_eq!(file.json("/i.mask", None), json!([false, true, true]));
    assert_eq!(file.safe("/i.mask", Some("::2")), [0, 1]);
    assert_eq!(file.meta("/i.mask")["shape"], json!([3]));
    assert_eq!(file.entities.find(file.container.as_ref(), "/i.mask"), None);
}

#[test]
fn a_group_lists_a_thousand_children() {
    let entries: String = (0..1500).map(|key| format!("k{key}: {key}\n")).collect();
    let file = Opened::asdf(&entries);
    let names = file.names("/");
    assert_eq!(names.len(), 1000);
    assert_eq!(names[998..], ["k998", "… 501 more"]);
    assert_eq!(file.meta("/… 501 more")["kind"], "group");
    assert_eq!(file.json("/k1400", None), json!(1400));
    assert_eq!(super::names::more(999_000), "… 999 000 more");
    assert_eq!(super::names::more(1_234_567), "… 1 234 567 more");
}

#[test]
fn column_major_values_are_sent_in_c_order() {
    // numpy: np.array([[1, 3, 5], [2, 4, 6]], order="F").
    let file = Opened::npy("'|u1'", "True", "(2, 3)", &[1, 2, 3, 4, 5, 6]);
    assert_eq!(file.json("/data", None), json!([[1, 3, 5], [2, 4, 6]]));
    assert_eq!(file.flat("/data"), json!([1, 3, 5, 2, 4, 6]));
    assert_eq!(file.safe("/data", None), [1, 3, 5, 2, 4, 6]);
    assert_eq!(file.safe("/data", Some(":,1")), [3, 4]);
}

#[test]
fn dates_are_text_and_time_differences_numbers() {
    // numpy: 2020-01-02 is day 18263.
    let days = [18_263_i64.to_le_bytes(), i64::MIN.to_le_bytes()].concat();
    let file = Opened::npy("'<M8[D]'", "False", "(2,)", &days);
    assert_eq!(file.json("/data", None), json!(["2020-01-02", "NaT"]));
    assert_eq!(file.meta("/data")["type"]["class"], 3);
    assert_eq!(file.meta("/data")["type"]["vlen"], true);
    let file = Opened::npy("'<m8[s]'", "False", "(1,)", &90_i64.to_le_bytes());
    assert_eq!(
        (file.json("/data", None), file.safe("/data", None)),
        (json!([90]), 90_i64.to_le_bytes().to_vec())
    );
}

#[test]
fn bfloats_are_halves_for_the_page_and_singles_in_binary() {
    // The upper halves of the singles 1.0 and -2.5.
    for (order, bytes) in
        [(ByteOrder::Little, [0x80, 0x3f, 0x20, 0xc0]), (ByteOrder::Big, [0x3f, 0x80, 0xc0, 0x20])]
    {
        let dtype = DType::new(Kind::BFloat, 2, order);
        let kind = type_json(&dtype, None);
        assert_eq!((&kind["class"], &kind["size"]), (&json!(1), &json!(2)));
        let conversion = Conversion::safe(&dtype).unwrap();
        assert_eq!(
            conversion.apply(&bytes).unwrap(),
            [1_f32.to_le_bytes(), (-2.5_f32).to_le_bytes()].concat()
        );
    }
}

#[test]
fn numbers_that_javascript_lacks_are_opaque() {
    for descr in ["<i16", "<f16", "<c32", "|V3"] {
        let dtype = DType::parse(descr).unwrap_or_else(|_| DType::native(Kind::Int, 16));
        assert_eq!(type_json(&dtype, None)["class"], 5, "{descr}");
    }
}

#[test]
fn any_number_of_elements_without_bytes_is_refused() {
    let file = Opened::npy("'|S0'", "False", "(1099511627776,)", &[]);
    let error = file.try_data("/data", None, (Format::Json, true, false)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
    let file = Opened::npy("'|S0'", "False", "(2,)", &[]);
    assert_eq!(file.json("/data", None), json!(["", ""]));
    let file = Opened::npy("'<f8'", "False", "(1099511627776, 0)", &[]);
    assert!(file.try_data("/data", None, (Format::Json, false, false)).is_err());
    assert_eq!(file.flat("/data"), json!([]));
}

#[test]
fn an_export_is_a_file_of_numpy_or_a_tiff() {
    let file = Opened::npy("'>i2'", "False", "(2, 3)", &[0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6]);
    let npy = file.try_data("/data", Some("1"), (Format::Npy, false, false)).unwrap();
    let again = Opened::bytes(&npy);
    assert_eq!(again.json("/data", None), json!([4, 5, 6]));
    let tiff = file.try_data("/data", None, (Format::Tiff, false, false)).unwrap();
    assert_eq!(tiff[..10], *b"II*\0\x08\0\0\0\x0a\0");
    // ImageWidth, LONG, one value.
    assert_eq!(tiff[10..22], [0, 1, 4, 0, 1, 0, 0, 0, 3, 0, 0, 0]);
    assert_eq!(tiff[134..], [1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0]);
    assert!(file.try_data("/data", Some("0"), (Format::Tiff, false, false)).is_err());
}

#[test]
fn aliases_that_contain_themselves_end() {
    let file = Opened::asdf("a: &a {b: *a, c: 1}\n");
    assert_eq!(file.names("/a/b/b/b"), ["b", "c"]);
    let paths = file.entities.paths(file.container.as_ref(), "/", &Limits::default()).unwrap();
    assert!(paths.as_array().unwrap().len() < 10);
}
