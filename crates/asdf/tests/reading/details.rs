//! Details, byte maps and datasets of files made by hand.

use asdf::FORMAT;
use asdf::container_core::container::{Axes, Dataset, Defaults, OpenOptions, ReadOptions, Visibility};
use asdf::container_core::dtype::Order;
use asdf::container_core::format::{Input, Probe};
use asdf::container_core::region::Region;
use asdf::container_core::{Limits, Value};

use crate::support::{HEAD, block, block_with, empty, file, open, tree};

fn detail(bytes: &[u8], name: &str) -> Option<Value> {
    let details = open(bytes).unwrap().about().details;
    details.into_iter().find(|(key, _)| key == name).map(|(_, value)| value)
}

fn number(value: u64) -> Option<Value> {
    Some(value.into())
}

fn list(items: &[&str]) -> Option<Value> {
    Some(items.iter().map(|item| Value::from(*item)).collect::<Vec<_>>().into())
}

/// `zlib.compress(b"ab" * 20)` of Python's zlib.
const ZLIB: [u8; 13] = [0x78, 0x9c, 0x4b, 0x4c, 0x4a, 0x24, 0x0a, 0x02, 0x00, 0x38, 0x7b, 0x0f, 0x3d];

fn zlib() -> Vec<u8> {
    block_with(&ZLIB, |header| (header.compression, header.data_size) = (*b"zlib", 40))
}

#[test]
fn an_empty_file_has_few_details() {
    let about = open(&empty()).unwrap().about();
    assert_eq!(
        (about.format, about.version.as_deref(), about.size, about.complete),
        ("asdf", Some("1.0.0"), 54, true)
    );
    let expected = [
        ("standard", Value::from("1.6.0")),
        ("written by", Value::Null),
        ("tree bytes", 21_u64.into()),
        ("padding bytes", 0_u64.into()),
        ("arrays", 0_u64.into()),
        ("blocks", 0_u64.into()),
    ];
    assert_eq!(about.details, expected.map(|(name, value)| (name.to_owned(), value)));
    assert!(!open(&empty()[..50]).unwrap().about().complete);
}

#[test]
fn comments_are_listed_but_for_the_standard() {
    let with = |comments: &str| format!("#ASDF 1.0.0\n{comments}%YAML 1.1\n--- {{}}\n...\n").into_bytes();
    let other = with("# a b\n#ASDF_STANDARD 1.5.0\r\n\n#c  \n");
    assert_eq!(detail(&other, "comments"), list(&["# a b"]));
    let other = with("# a b\n#ASDF_STANDARD 1.5.0\r\n#c  \n");
    assert_eq!(detail(&other, "comments"), list(&["# a b", "#c"]));
    assert_eq!((detail(&other, "standard"), detail(&other, "standard taken")), (Some("1.5.0".into()), None));
    assert_eq!(detail(&with("#ASDF_STANDARD 1.5.0\r\n"), "comments"), None);
    // Without a standard, the first one is taken.
    let short = with("# a comment of 22 b.\n");
    assert_eq!(detail(&short, "comments"), list(&["# a comment of 22 b."]));
    assert_eq!(detail(&short, "standard"), Some(Value::Null));
    assert_eq!(detail(&short, "standard taken"), Some("1.0.0".into()));
    // Twenty are shown, and the others are counted.
    let many = |count: usize| with(&(0..count).map(|at| format!("#{at}\n")).collect::<String>());
    assert_eq!(detail(&many(20), "more comments"), None);
    assert_eq!(detail(&many(23), "more comments"), number(3));
    let Some(Value::List(shown)) = detail(&many(23), "comments") else { panic!("no comments") };
    assert_eq!((shown.len(), shown[19].clone()), (20, "#19".into()));
}

#[test]
fn software_and_history_are_summed_up() {
    let text = tree(
        "asdf_library: !core/software-1.0.0 {name: asdf, version: 5.2.0}\n\
         history:\n  entries: [{description: a}, {description: b}]\n  extensions:\n  - {extension_uri: u:1}\n  \
         - {extension_class: c.D}\n  - {other: 1}\n",
    );
    assert_eq!(detail(text.as_bytes(), "written by"), Some("asdf 5.2.0".into()));
    assert_eq!(detail(text.as_bytes(), "history entries"), number(2));
    assert_eq!(detail(text.as_bytes(), "extensions"), list(&["u:1", "c.D"]));
    let bare = tree("asdf_library: {name: x, version: ''}\nhistory: [a, b, c]\n");
    assert_eq!(detail(bare.as_bytes(), "written by"), Some("x".into()));
    assert_eq!(detail(bare.as_bytes(), "history entries"), number(3));
    assert_eq!(detail(bare.as_bytes(), "extensions"), None);
    let none = tree("asdf_library: {name: y}\nhistory: {entries: [], extensions: []}\n");
    assert_eq!(detail(none.as_bytes(), "written by"), Some("y".into()));
    assert_eq!(
        (detail(none.as_bytes(), "history entries"), detail(none.as_bytes(), "extensions")),
        (None, None)
    );
}

#[test]
fn blocks_are_counted_by_codec() {
    let streamed = block_with(b"rows", |header| (header.flags, header.checksum) = (1, [0; 16]));
    let room = [block_with(b"abc", |header| header.allocated_size = 10), vec![0; 7]].concat();
    let bytes = [&empty()[..], b"\0\0", &room, &zlib(), &streamed].concat();
    let codecs = vec![("none".to_owned(), Value::from(2_u64)), ("zlib".into(), 1_u64.into())];
    assert_eq!(detail(&bytes, "block codecs"), Some(Value::Map(codecs)));
    assert_eq!(detail(&bytes, "padding bytes"), number(2));
    assert_eq!(detail(&bytes, "blocks"), number(3));
    assert_eq!(detail(&bytes, "blocks that no array names"), number(3));
    assert_eq!(detail(&bytes, "blocks with checksum"), number(2));
    assert_eq!(detail(&bytes, "streamed"), Some(true.into()));
    assert_eq!((detail(&bytes, "stored bytes"), detail(&bytes, "decoded bytes")), (number(20), number(47)));
    assert_eq!(detail(&bytes, "allocated and not used"), number(7));
    assert_eq!(detail(&bytes, "block index"), Some("absent".into()));
    let plain = file(&empty(), &[block_with(b"abc", |header| header.checksum = [0; 16])]);
    for name in ["blocks with checksum", "streamed", "allocated and not used"] {
        assert_eq!(detail(&plain, name), None, "{name}");
    }
    assert_eq!(detail(&plain, "block index"), Some("proved".into()));
    let stale = [&plain[..plain.len() - 6], b"6\n...\n"].concat();
    assert_eq!(detail(&stale, "block index"), Some("stale".into()));
    assert_eq!(detail(&empty(), "block index"), None);
}

#[test]
fn external_files_are_listed_once() {
    let one = |key: &str, name: &str| {
        format!(
            "{key}: !core/ndarray-1.1.0 {{source: {name}, datatype: uint8, byteorder: big, shape: [1]}}\n"
        )
    };
    let text = tree(&[one("a", "z.asdf"), one("b", "x.asdf"), one("c", "z.asdf")].concat());
    assert_eq!(detail(text.as_bytes(), "external files"), list(&["x.asdf", "z.asdf"]));
    assert_eq!(detail(text.as_bytes(), "arrays"), number(3));
    let many: String = (0..25).map(|at| one(&format!("a{at}"), &format!("f{at:02}.asdf"))).collect();
    let Some(Value::List(names)) = detail(tree(&many).as_bytes(), "external files") else { panic!("none") };
    assert_eq!((names.len(), names[19].clone()), (20, "f19.asdf".into()));
}

/// Three arrays: in a plain block, in a compressed one, and in the tree.
fn arrays() -> Vec<u8> {
    let text = tree(
        "q: !unit/quantity-1.1.0\n  unit: km\n  value: !core/ndarray-1.1.0 {source: 0, datatype: int16, byteorder: little, shape: [2, 2]}\n\
         z: !core/ndarray-1.1.0 {source: 1, datatype: uint8, byteorder: big, shape: [40], mask: 7}\n\
         i: !core/ndarray-1.1.0 {data: [1, 2, 3], datatype: int8}\n",
    );
    file(text.as_bytes(), &[block(b"abcdefgh"), zlib()])
}

#[test]
fn datasets_have_the_storage_and_the_attributes_of_their_arrays() {
    let bytes = arrays();
    let container = open(&bytes).unwrap();
    let text = |name: &str, value: &str| (name.to_owned(), Value::from(value));
    let start = bytes.windows(9).position(|it| it == b"[1, 2, 3]").unwrap();
    let [q, z, i] = container.datasets() else { panic!("{:?}", container.datasets()) };
    let summary = |it: &Dataset| {
        (it.path.clone(), it.dtype.to_string(), it.shape.clone(), it.codec.clone(), it.stored, it.logical)
    };
    assert_eq!(summary(q), ("q/value".into(), "<i2".into(), vec![2, 2], "none".into(), 8, 8));
    assert_eq!(summary(z), ("z".into(), "|u1".into(), vec![40], "zlib".into(), 13, 40));
    assert_eq!(summary(i), ("i".into(), "|i1".into(), vec![3], "none".into(), 9, 3));
    assert!(start > 0);
    assert_eq!(q.attributes, [text("unit", "km")]);
    assert_eq!(z.attributes, [text("mask", "7")]);
    assert_eq!((i.attributes.len(), i.visibility), (0, Visibility::Always));
    // The blocks come after the arrays.
    assert_eq!((container.dataset_count(), container.listed_count()), (5, 3));
    let block = container.dataset(4).unwrap().into_owned();
    assert_eq!(summary(&block), ("blocks/1".into(), "|u1".into(), vec![40], "zlib".into(), 13, 40));
    assert_eq!(block.visibility, Visibility::Recursive);
    assert!(container.dataset(5).is_none());
    assert_eq!(
        (container.find("z"), container.find("blocks/0"), container.find("y")),
        (Some(1), Some(3), None)
    );
}

#[test]
fn losses_of_bare_arrays_are_the_rest_of_the_tree() {
    let whats = |bytes: &[u8]| -> Vec<(Option<String>, String)> {
        open(bytes).unwrap().losses().into_iter().map(|loss| (loss.dataset, loss.what)).collect()
    };
    assert_eq!(whats(&empty()), []);
    let of = |path: &str, what: &str| (Some(path.to_owned()), what.to_owned());
    let own = whats(&arrays());
    assert!(own.contains(&of("q/value", "unit km")) && own.contains(&of("z", "mask 7")), "{own:?}");
    let text = tree("a: !core/ndarray-1.1.0 {data: [1]}\nb: {c: 1}\nd: []\n");
    assert_eq!(whats(text.as_bytes()), [(None, "tree: b, d".to_owned())]);
    // Of mappings and lists that have arrays alone nothing is lost; an empty one is a value.
    let array = "!core/ndarray-1.1.0 {data: [1]}";
    let nested = format!(
        "a: {{b: {array}, c: {{d: {array}}}}}\ne: [{array}, {array}]\nf: {{}}\ng: {{h: {{i: {array}, j: []}}}}\nk: [{array}, 1]\n"
    );
    assert_eq!(whats(tree(&nested).as_bytes()), [(None, "tree: f, g, k".to_owned())]);
}

#[test]
fn byte_map_names_the_arrays_of_blocks() {
    let bytes = arrays();
    let map = open(&bytes).unwrap().byte_map();
    let tree_end = bytes.windows(5).position(|it| it == b"\n...\n").unwrap() as u64 + 5;
    let found: Vec<_> =
        map.iter().map(|it| (it.range.start, it.role.as_str(), it.dataset.as_deref())).collect();
    let expected = [
        (0, "header", None),
        (12, "comments", None),
        (33, "tree", None),
        (tree_end, "block header", Some("q/value")),
        (tree_end + 54, "data", Some("q/value")),
        (tree_end + 62, "block header", Some("z")),
        (tree_end + 116, "data", Some("z")),
        (tree_end + 129, "index", None),
    ];
    assert_eq!(found, expected);
    let data = &map[6];
    assert_eq!((data.codec.as_deref(), data.stored, data.decoded), (Some("zlib"), Some(13), Some(40)));
    assert_eq!(data.checksum.as_deref(), Some("md5"));
    // A streamed block has no digest, and gaps have their own role.
    let streamed = block_with(b"rows", |header| header.flags = 1);
    let bytes = [HEAD.as_bytes(), &block(b"abc"), b"gap", &streamed].concat();
    let map = open(&bytes).unwrap().byte_map();
    let roles: Vec<&str> = map.iter().map(|part| part.role.as_str()).collect();
    assert_eq!(roles, ["header", "comments", "block header", "data", "gap", "block header", "data"]);
    assert_eq!((&map[6].checksum, map[6].decoded, &map[6].dataset), (&None, Some(4), &None));
}

#[test]
fn blocks_are_listed_with_their_digests() {
    let bytes = arrays();
    let container = open(&bytes).unwrap();
    let blocks = container.blocks();
    let codecs: Vec<_> =
        blocks.iter().map(|block| (block.codec().map(str::to_owned), block.decoded_len())).collect();
    assert_eq!(codecs, [(None, 8), (Some("zlib".to_owned()), 40)]);
    assert!(blocks.iter().all(|block| block.checksum().is_some()));
    assert_eq!(container.checksums().into_iter().collect::<Vec<_>>(), ["md5"]);
}

/// The element `[i, j]` is at byte `i + 2 * j`.
#[test]
fn column_major_arrays_are_shown_with_their_axes_reversed_on_request() {
    let columns = "a: !core/ndarray-1.1.0 {source: 0, datatype: uint8, byteorder: big, shape: [2, 3], strides: [1, 2]}\n";
    let rows = "b: !core/ndarray-1.1.0 {source: 0, datatype: uint8, byteorder: big, shape: [2, 3]}\n";
    let bytes = file(tree(&[columns, rows].concat()).as_bytes(), &[block(b"abcdef")]);
    let shown = |axes: Axes, index: usize, region: &str| {
        let mut options = OpenOptions::default();
        options.axes = axes;
        let container = (FORMAT.open)(Input::bytes(Box::new(bytes.clone())), &options).unwrap();
        let dataset = container.dataset(index).unwrap().into_owned();
        let region = Region::parse(region, &dataset.shape).unwrap();
        let read = ReadOptions::default();
        container.check_readable(index, &region, &read).unwrap();
        let array = container.read(index, &region, &read).unwrap();
        (dataset.shape, dataset.order, array.bytes(Order::C, &Limits::default()).unwrap().into_owned())
    };
    assert_eq!(shown(Axes::AsStored, 0, ":"), (vec![2, 3], Order::F, b"acebdf".to_vec()));
    assert_eq!(shown(Axes::Reversed, 0, ":"), (vec![3, 2], Order::C, b"abcdef".to_vec()));
    assert_eq!(shown(Axes::Reversed, 0, "1:,1"), (vec![3, 2], Order::C, b"df".to_vec()));
    for axes in [Axes::AsStored, Axes::Reversed] {
        assert_eq!(shown(axes, 1, ":"), (vec![2, 3], Order::C, b"abcdef".to_vec()));
    }
}

#[test]
fn masks_hide_elements_unless_only_what_is_stored_is_wanted() {
    let text = "a: !core/ndarray-1.1.0 {source: 0, datatype: uint8, byteorder: big, shape: [2, 3], strides: [1, 2], mask: 99}\n";
    let bytes = file(tree(text).as_bytes(), &[block(b"abcdef")]);
    let hidden = |axes: Axes, defaults: Defaults| {
        let mut options = OpenOptions::default();
        (options.axes, options.defaults) = (axes, defaults);
        let container = (FORMAT.open)(Input::bytes(Box::new(bytes.clone())), &options).unwrap();
        let whole = Region::whole(&container.dataset(0).unwrap().shape);
        let mask = container.mask(0, &whole, &ReadOptions::default()).unwrap();
        // Of a block there is none.
        assert!(container.mask(1, &Region::whole(&[6]), &ReadOptions::default()).unwrap().is_none());
        mask.map(|mask| mask.bytes(Order::C, &Limits::default()).unwrap().into_owned())
    };
    // 99 is the letter c, the second in its rows.
    assert_eq!(hidden(Axes::AsStored, Defaults::Apply), Some(vec![0, 1, 0, 0, 0, 0]));
    assert_eq!(hidden(Axes::Reversed, Defaults::Apply), Some(vec![0, 0, 1, 0, 0, 0]));
    assert_eq!(hidden(Axes::AsStored, Defaults::StoredOnly), None);
}

#[test]
fn the_format_has_every_operation() {
    assert_eq!((FORMAT.name, FORMAT.title, FORMAT.extensions), ("asdf", "ASDF", &["asdf"][..]));
    assert_eq!((FORMAT.magics, FORMAT.journal_suffix), (&[&b"#ASDF 1.0.0"[..]][..], Some(".asdfjournal")));
    let names: Vec<&str> = FORMAT.options.iter().map(|option| option.name).collect();
    assert_eq!(names, ["checksum", "standard", "align", "padding", "streamed"]);
    assert!(FORMAT.has_masks && FORMAT.support.len() == 3 && !FORMAT.codecs.is_empty());
    assert!(FORMAT.import.is_some() && FORMAT.append.is_some() && FORMAT.repair.is_some());
    assert!(FORMAT.change_metadata.is_some() && FORMAT.comparable_metadata.is_some());
    assert!(FORMAT.other_files.is_some());
    let sniff = |head: &[u8]| (FORMAT.sniff)(&Probe { head, directory: None, len: None });
    assert!(sniff(b"#ASDF 1.0.0\n") && sniff(b"#ASDF\t2") && sniff(b"#ASDF "));
    assert!(!sniff(b"#ASDF") && !sniff(b"#ASDF1.0.0") && !sniff(b"#ASDF\n") && !sniff(b"asdf 1"));
}
