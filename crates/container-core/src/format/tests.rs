use std::io::Write as _;

use super::*;
use crate::container::toy::Toy;
use crate::container::{ReadOptions, Visibility};
use crate::dtype::{ByteOrder, DType};
use crate::interchange::{MAX_DEPTH, NAME};
use crate::report::RepairItem;
use crate::{ErrorKind, Limits};

fn map(entries: &[(&str, Value)]) -> Value {
    Value::Map(entries.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
}

/// Calls `check` with a request for these datasets, each with a selection.
fn with_request<T>(toy: &Toy, selection: &[(usize, &str)], check: impl FnOnce(&WriteRequest<'_>) -> T) -> T {
    let region = |index: usize, text: &str| Region::parse(text, &toy.datasets[index].shape).unwrap();
    let selection: Vec<_> = selection.iter().map(|(index, text)| (*index, region(*index, text))).collect();
    let options = TargetOptions { metadata: Some(map(&[("mine", Value::Null)])), ..TargetOptions::default() };
    check(&WriteRequest {
        container: toy,
        selection: &selection,
        options: &options,
        read: ReadOptions::default(),
        progress: Progress::none(),
    })
}

fn toy() -> Toy {
    let toy = Toy::new().with("a/b", "<u2", &[2, 3], Order::C).with("c", "|u1", &[4], Order::C);
    let mut toy = toy.with("hidden", "|u1", &[4], Order::C);
    toy.last().visibility = Visibility::Recursive;
    toy
}

#[test]
fn metadata_go_along_with_the_name_of_the_one_dataset() {
    let toy = Toy { meta: || Ok(map(&[("unit", "m".into()), ("mine", 1_u64.into())])), ..toy() };
    let (tree, losses) = with_request(&toy, &[(0, "...")], |request| request.metadata()).unwrap();
    assert_eq!(tree, map(&[("unit", "m".into()), (NAME, "a/b".into()), ("mine", Value::Null)]));
    assert!(losses.is_empty());
    let (tree, _) = with_request(&toy, &[(0, "..."), (1, "...")], |request| request.metadata()).unwrap();
    assert_eq!(tree, map(&[("unit", "m".into()), ("mine", Value::Null)]));
}

#[test]
fn damaged_metadata_are_a_loss_and_other_errors_are_errors() {
    let damaged = Toy { meta: || Err(Error::malformed("no such tag").with_range(3..4)), ..toy() };
    let (tree, losses) = with_request(&damaged, &[(0, "...")], |request| request.metadata()).unwrap();
    assert_eq!(tree, map(&[]));
    let what = "unreadable metadata: no such tag (bytes 3..4)".to_owned();
    assert_eq!(losses, [Loss { dataset: None, what }]);
    let large = Toy { meta: || Err(Error::limit("memory in bytes", 9, 3)), ..toy() };
    let error = with_request(&large, &[(0, "...")], |request| request.metadata()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }));
}

#[test]
fn metadata_that_are_nested_too_deep_are_a_loss() {
    let meta = || {
        let deep = (0..MAX_DEPTH).fold(Value::Null, |inner, _| Value::List(vec![inner]));
        Ok(map(&[("deep", deep), ("flat", Value::Null)]))
    };
    let toy = Toy { meta, ..toy() };
    let (tree, losses) = with_request(&toy, &[(1, "...")], |request| request.metadata()).unwrap();
    assert_eq!(tree, map(&[("flat", Value::Null), (NAME, "c".into()), ("mine", Value::Null)]));
    assert_eq!(losses.len(), 1);
    assert!(losses[0].what.starts_with("metadata: deep, more than 48 values"), "{}", losses[0].what);
}

#[test]
fn a_request_is_of_all_where_each_listed_dataset_is_whole_and_in_its_place() {
    let toy = toy();
    let is_all = |selection: &[(usize, &str)]| with_request(&toy, selection, |request| request.is_all());
    assert!(is_all(&[(0, "..."), (1, ":")]));
    for part in [&[(0, "..."), (1, "1:")][..], &[(1, ":"), (0, "...")], &[(0, "...")], &[]] {
        assert!(!is_all(part), "{part:?}");
    }
    assert!(!is_all(&[(0, "..."), (1, ":"), (2, ":")]));
    assert!(!is_all(&[(0, "..."), (2, ":")]));
    assert!(with_request(&Toy::new(), &[], |request| request.is_all()));
}

#[test]
fn a_target_of_one_array_names_those_it_was_given() {
    let toy = toy();
    let single = |selection: &[(usize, &str)]| {
        with_request(&toy, selection, |request| {
            request.single().map(|(index, region)| (index, region.clone()))
        })
    };
    assert_eq!(single(&[(1, "2:")]).unwrap(), (1, Region::parse("2:", &[4]).unwrap()));
    assert_eq!(single(&[]).unwrap_err().to_string(), "no dataset to convert");
    let error = single(&[(0, "..."), (1, "...")]).unwrap_err();
    assert_eq!(error.to_string(), "the target holds one array, the source has a/b, c");
    assert_eq!(error.hint(), Some("name one: FILE::PATH"));
    let names = |count: usize| single(&vec![(1, ":"); count]).unwrap_err().to_string();
    assert!(names(20).ends_with("has c, c, c, c, c, c, c, c, c, c, c, c, c, c, c, c, c, c, c, c"));
    assert!(names(23).ends_with("c, c and 3 more"), "{}", names(23));
    assert_eq!(names(23).matches("c,").count(), 19);
}

#[test]
fn a_new_format_only_reads_and_shows_its_name() {
    let format =
        Format::new("x", "X", |probe| probe.len == Some(3), |_, _| Err(Error::wrong_format("an X file")));
    assert_eq!(format!("{format:?}"), "Format(\"x\")");
    assert!((format.sniff)(&Probe { head: b"", directory: None, len: Some(3) }));
    let compared = format.comparable_metadata.unwrap()(Value::Null, Value::Bool(true));
    assert_eq!(compared, (Value::Null, Value::Bool(true)));
    assert!(format.import.is_none() && format.codecs.is_empty() && format.repair.is_none());
}

#[test]
fn an_input_is_bytes_or_a_directory() {
    let source = Input::bytes(Box::new(vec![1, 2])).into_source().unwrap();
    assert_eq!(*source.read(0..2).unwrap(), [1, 2]);
    let directory = Input { source: None, path: Some("a".into()) };
    let error = directory.into_source().err().unwrap();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
}

#[test]
fn a_pipe_takes_bytes_and_cannot_be_patched() {
    /// Counts the calls of `flush`.
    struct Flushed(Vec<u8>, usize);
    impl Write for Flushed {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.write(bytes)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            self.1 += 1;
            Ok(())
        }
    }
    let mut pipe = Pipe(Flushed(Vec::new(), 0));
    pipe.reserve(u64::MAX).unwrap();
    pipe.write_all(b"abc").unwrap();
    pipe.flush().unwrap();
    assert!(pipe.as_seek().is_none());
    assert_eq!((pipe.0.0, pipe.0.1), (b"abc".to_vec(), 1));
}

#[test]
fn a_new_file_can_be_patched_and_needs_its_room() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let mut file = AtomicFile::create(&path, Overwrite::Refuse).unwrap();
    let out: &mut dyn Output = &mut file;
    if cfg!(target_os = "linux") {
        assert!(out.reserve(1 << 60).is_err());
    }
    out.write_all(b"abc").unwrap();
    let seek = out.as_seek().unwrap();
    seek.seek(std::io::SeekFrom::Start(1)).unwrap();
    seek.write_all(b"X").unwrap();
    file.commit(Durability::Cached).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"aXc");
}

/// Writes the input's bytes without the last, or nothing for a directory.
fn shorten(
    input: Input,
    _: &OpenOptions,
    out: Option<&mut dyn Output>,
    _: Progress<'_>,
) -> Result<RepairReport> {
    let path = input.path.clone().unwrap();
    let out = out.unwrap();
    match input.source {
        None => out.write_all(b"directory")?,
        Some(source) if source.len() == 1 => return Err(Error::malformed("nothing to keep")),
        Some(source) => out.write_all(&source.read(0..source.len() - 1)?)?,
    }
    let kept = vec![RepairItem::of_file(path.file_name().unwrap().to_string_lossy())];
    Ok(RepairReport { kept, ..RepairReport::default() })
}

#[test]
fn a_repair_makes_a_new_file_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("a"), b"abcd").unwrap();
    let report = repair_file(&at("a"), &at("new"), shorten).unwrap();
    assert_eq!((report.kept[0].what.as_str(), std::fs::read(at("new")).unwrap()), ("a", b"abc".to_vec()));
    assert!(repair_file(&at("a"), &at("new"), shorten).is_err());
    assert_eq!(std::fs::read(at("new")).unwrap(), b"abc");
    std::fs::write(at("one"), b"1").unwrap();
    repair_file(&at("one"), &at("none"), shorten).unwrap_err();
    assert!(!at("none").exists());
    std::fs::create_dir(at("d")).unwrap();
    repair_file(&at("d"), &at("of d"), shorten).unwrap();
    assert_eq!(std::fs::read(at("of d")).unwrap(), b"directory");
}

#[test]
fn an_item_gets_the_byte_order_of_the_file_that_takes_it() {
    let item = |dtype: &str, kind: Option<ItemKind>| {
        let mut toy = Toy::new().with("i", dtype, &[3], Order::C);
        toy.last().attributes = kind.map(|kind| (ITEM.to_owned(), kind.word().into())).into_iter().collect();
        toy.datasets.remove(0)
    };
    let big = DType::parse(">u4").unwrap();
    assert_eq!(item_order(&item("<u4", None), &big).unwrap(), Some(ByteOrder::Big));
    assert_eq!(item_order(&item(">u4", Some(ItemKind::Numbers)), &big).unwrap(), None);
    assert_eq!(item_order(&item("|u1", Some(ItemKind::Bytes)), &big).unwrap(), None);
    for refused in [item("<u2", Some(ItemKind::Bytes)), item("|u1", None), item("<u8", None)] {
        let error = item_order(&refused, &big).unwrap_err();
        assert_eq!(error.context(), Some("i"));
        assert!(error.to_string().starts_with("i: the file has elements of >u4, not "), "{error}");
    }
    let error = item_order(&item("|u1", Some(ItemKind::Text)), &big).unwrap_err();
    assert_eq!(error.to_string(), "i: the file has items of >u4, not text");
    let words = [ItemKind::Text, ItemKind::Bytes, ItemKind::Numbers].map(ItemKind::word);
    assert_eq!(words, ["text", "bytes", "numbers"]);
}

fn options(extra: &[(&str, &str)]) -> TargetOptions {
    let extra = extra.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    TargetOptions { extra, limits: Limits::default(), ..TargetOptions::default() }
}

#[test]
fn options_that_a_format_lacks_are_refused_with_those_it_has() {
    let check = |extra: &[(&str, &str)], known: &[&str]| {
        options(extra).check_options("X", known).map_err(|error| error.to_string())
    };
    let append = |extra: &[(&str, &str)], known: &[&str]| {
        options(extra).check_append_options("X", known).map_err(|error| error.to_string())
    };
    assert_eq!(check(&[("filter", "shuffle"), ("split", "yes")], &["split", "filter"]), Ok(()));
    assert_eq!(check(&[("filter", "none"), ("as-bytes", "yes")], &[]), Ok(()));
    assert_eq!(
        check(&[("filter", "shuffle"), ("split", "yes")], &["filter", "level"]),
        Err("X has no split (it has filter, level)".into())
    );
    assert_eq!(check(&[("split", "yes")], &[]), Err("X has no split (it has none of these options)".into()));
    assert_eq!(append(&[("split", "none"), ("a", "b")], &["a"]), Ok(()));
    assert_eq!(
        append(&[("split", "yes")], &["a", "b"]),
        Err("appending to X takes no split (it takes a, b)".into())
    );
    let specs = [OptionSpec::new("filter", "none|shuffle"), OptionSpec::new("split", "N")];
    assert_eq!((OptionSpec::names(&specs), specs[1].values), (vec!["filter", "split"], "N"));
}

#[test]
fn elements_become_bytes_only_on_request() {
    assert!(options(&[("as-bytes", "yes")]).as_bytes());
    assert!(!options(&[("as-bytes", "none")]).as_bytes() && !options(&[]).as_bytes());
}

#[test]
fn metadata_of_the_user_take_the_place_of_those_of_the_source() {
    let given = |metadata| TargetOptions { metadata, ..TargetOptions::default() };
    let tree = || map(&[("a", 1_u64.into()), ("b", 2_u64.into())]);
    assert_eq!(given(None).with_metadata(tree()), tree());
    let own = Some(map(&[("a", 7_u64.into()), ("c", Value::Null)]));
    let want = map(&[("b", 2_u64.into()), ("a", 7_u64.into()), ("c", Value::Null)]);
    assert_eq!(given(own.clone()).with_metadata(tree()), want);
    assert_eq!(given(own).with_metadata(Value::Int(3)), Value::Int(3));
    assert_eq!(given(Some(Value::Null)).with_metadata(tree()), tree());
}

fn changed(changes: &[(&str, Option<&str>)], tree: &Value, root: Option<&str>) -> Result<Value, String> {
    let list: Vec<MetaChange> = changes
        .iter()
        .map(|(pointer, value)| match value {
            Some(value) => MetaChange::Set { pointer: (*pointer).into(), value: (*value).into() },
            None => MetaChange::Unset { pointer: (*pointer).into() },
        })
        .collect();
    let open = OpenOptions::default();
    let parse = |text: &str| match text {
        "bad" => Err(Error::usage("no value")),
        text => Ok(Value::from(text)),
    };
    let (replace, durability) = (Replace::default(), Durability::Cached);
    let changes = MetadataChanges { list: &list, replace, open: &open, durability, parse };
    assert_eq!(format!("{changes:?}"), format!("MetadataChanges({list:?})"));
    changes.apply(tree.clone(), root).map_err(|error| error.to_string())
}

#[test]
fn metadata_change_by_pointer() {
    let list = || Value::List(vec!["x".into(), "y".into()]);
    let tree = map(&[("a", map(&[("b", 1_u64.into())])), ("l", list()), ("s/t", Value::Null)]);
    let one = |pointer: &str, value: Option<&str>| changed(&[(pointer, value)], &tree, None);
    let at = |result: Result<Value, String>, pointer: &str| result.unwrap().pointer(pointer).cloned();
    assert_eq!(at(one("/a/b", Some("new")), "/a/b"), Some("new".into()));
    assert_eq!(at(one("/a/c", Some("new")), "/a/c"), Some("new".into()));
    assert_eq!(at(one("/s~1t", Some("new")), "/s~1t"), Some("new".into()));
    assert_eq!(at(one("/l/1", Some("new")), "/l"), Some(Value::List(vec!["x".into(), "new".into()])));
    assert_eq!(at(one("/l/-", Some("z")), "/l/2"), Some("z".into()));
    assert_eq!(at(one("/l/0", None), "/l"), Some(Value::List(vec!["y".into()])));
    assert_eq!(at(one("/a", None), "/a"), None);
    let nested = map(&[("l", Value::List(vec![Value::Null, map(&[("k", Value::Null)])]))]);
    assert_eq!(at(changed(&[("/l/1/k", Some("v"))], &nested, None), "/l/1/k"), Some("v".into()));
    for (pointer, value, message) in [
        ("a", Some("x"), "\"a\" is not a JSON pointer"),
        ("/x/y", Some("x"), "/x/y: no parent \"x\""),
        ("/a/b/c", Some("x"), "/a/b/c: its parent is neither a map nor a list"),
        ("/a/b/c/d", Some("x"), "/a/b/c/d: no parent \"c\""),
        ("/l/2", Some("x"), "/l/2: the list has 2 items"),
        ("/l/2/x", Some("x"), "/l/2/x: no parent \"2\""),
        ("/l/2", None, "/l/2: not found"),
        ("/c", None, "/c: not found"),
        ("/a/b/c", None, "/a/b/c: not found"),
        ("/a/b", Some("bad"), "/a/b: no value"),
    ] {
        assert_eq!(one(pointer, value), Err(message.to_owned()));
    }
}

#[test]
fn the_map_of_a_files_metadata_is_created_with_its_first_entry() {
    let empty = map(&[]);
    let of = |pointer: &str| changed(&[(pointer, Some("v"))], &empty, Some("meta"));
    assert_eq!(of("/meta/a").unwrap(), map(&[("meta", map(&[("a", "v".into())]))]));
    assert_eq!(of("/meta").unwrap(), map(&[("meta", "v".into())]));
    assert_eq!(of("/metal/a"), Err("/metal/a: no parent \"metal\"".into()));
    let there = map(&[("meta", map(&[("b", Value::Null)]))]);
    let both = changed(&[("/meta/a", Some("v"))], &there, Some("meta")).unwrap();
    assert_eq!(both, map(&[("meta", map(&[("b", Value::Null), ("a", "v".into())]))]));
    assert_eq!(changed(&[("/meta/a", Some("v"))], &empty, None), Err("/meta/a: no parent \"meta\"".into()));
}
