use super::*;
use crate::testing::{Memory, npy_bytes};
use container_core::dtype::{DType, Order};
use container_core::{ErrorKind, Value};
use std::path::PathBuf;

struct Place {
    directory: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn put(&self, name: &str, bytes: &[u8]) -> Address {
        std::fs::write(self.at(name), bytes).unwrap();
        Address::file(self.at(name))
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.directory.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn verified() -> ConvertOptions<'static> {
    ConvertOptions { verify: ReadBack::Yes, durability: Durability::Cached, ..ConvertOptions::default() }
}

fn done(outcome: ConvertOutcome) -> Conversion {
    match outcome {
        ConvertOutcome::Done(conversion) => conversion,
        ConvertOutcome::Differs(differences) => panic!("{differences:?}"),
    }
}

/// The bytes of a file after its header.
fn elements(path: &Path, len: usize) -> Vec<u8> {
    let bytes = std::fs::read(path).unwrap();
    bytes[bytes.len() - len..].to_vec()
}

#[test]
fn an_array_file_becomes_another_with_what_was_selected() {
    let place = Place::new();
    let mut source = place.put("a.npy", &npy_bytes(">u2", "True", "(2, 2)", &[0, 1, 0, 3, 0, 2, 0, 4]));
    source.selection = Some(":, ::-1".into());
    let conversion = done(convert(&source, &place.at("b.npy"), &verified()).unwrap());
    assert_eq!(
        conversion,
        Conversion { target_format: "npy", datasets: vec!["data".into()], losses: vec![], warning: None }
    );
    // numpy: np.save of a[:, ::-1] in Fortran order, big-endian as it was.
    assert_eq!(elements(&place.at("b.npy"), 8), [0, 2, 0, 4, 0, 1, 0, 3]);
    assert_eq!(place.names(), ["a.npy", "b.npy"]);
}

#[test]
fn a_target_is_replaced_only_on_request_and_never_by_itself() {
    let place = Place::new();
    let source = place.put("a.npy", &npy_bytes("|u1", "False", "(2,)", &[1, 2]));
    place.put("b.npy", b"old");
    let usage = |target: &str, options: &ConvertOptions<'_>| {
        let error = convert(&source, &place.at(target), options).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
    };
    usage("b.npy", &verified());
    let force = ConvertOptions { overwrite: Overwrite::Replace, ..verified() };
    usage("a.npy", &force);
    usage("c.unknown", &force);
    assert_eq!(std::fs::read(place.at("b.npy")).unwrap(), b"old");
    done(convert(&source, &place.at("b.npy"), &force).unwrap());
    assert_eq!(elements(&place.at("b.npy"), 2), [1, 2]);
    assert_eq!(place.names(), ["a.npy", "b.npy"]);
}

/// A mask, metadata, and a second dataset of the same path: into a file, and into directories.
#[test]
fn a_target_that_would_lack_something_is_not_written() {
    let place = Place::new();
    let mut memory = Memory::new()
        .with("x", "<i4", &[2], &[1, 0, 0, 0, 2, 0, 0, 0])
        .masked("x", &[0, 1])
        .with("x", "<i4", &[2], &[0; 8]);
    memory.meta = Value::Map(vec![("k".into(), "v".into())]);
    let mut targets = vec![("a.npy", 1, vec![]), ("a.gsd", 2, vec![])];
    if cfg!(feature = "zarr") {
        targets.push(("a.zarr", 2, vec![]));
    }
    if cfg!(feature = "blosc2") {
        targets.push(("a.b2nd", 1, vec![("sparse".to_owned(), "yes".to_owned())]));
    }
    for (name, count, words) in targets {
        if target_format(Path::new(name), None, &[]).is_err() {
            continue;
        }
        let format = target_format(Path::new(name), None, &[]).unwrap();
        let mut options = ConvertOptions { losses: Losses::Refuse, ..verified() };
        options.import.extra = words;
        let all = memory.all();
        let selection = &all[..count];
        for overwrite in [Overwrite::Refuse, Overwrite::Replace] {
            let options = ConvertOptions { overwrite, ..options.clone() };
            let error = write(&memory, selection, format, &place.at(name), &options).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{name}: {error}");
            let text = error.to_string();
            assert!(text.contains("x: mask: 1 of 2 elements"), "{name}: {text}");
            assert!(count == 1 || text.contains("; x: duplicate name"), "{name}: {text}");
            assert!(place.names().is_empty(), "{name}: {:?}", place.names());
        }
        // An existing target stays.
        let plain = Memory::new().with("y", "|u1", &[2], &[7, 8]);
        done(write(&plain, &plain.all(), format, &place.at(name), &options).unwrap());
        let path = place.at(name);
        let files = || crate::testing::bytes_below(&path);
        let old = files();
        let force = ConvertOptions { overwrite: Overwrite::Replace, ..options.clone() };
        assert!(write(&memory, selection, format, &path, &force).is_err());
        assert_eq!((place.names(), files()), (vec![name.to_owned()], old));
        if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) }.unwrap();
    }
    let options = ConvertOptions { losses: Losses::Refuse, to: Some("npy"), ..ConvertOptions::default() };
    let source = place.put("a.npy", &npy_bytes("|u1", "False", "(2,)", &[1, 2]));
    let error = convert(&source, Path::new("-"), &options).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)));
    // The same file as without the option, where the conversion is lossless.
    done(convert(&source, &place.at("b.npy"), &ConvertOptions { to: None, ..options }).unwrap());
    assert_eq!(std::fs::read(place.at("b.npy")).unwrap(), std::fs::read(place.at("a.npy")).unwrap());
}

#[test]
fn standard_output_cannot_be_verified() {
    let place = Place::new();
    let source = place.put("a.npy", &npy_bytes("|u1", "False", "(2,)", &[1, 2]));
    let options = ConvertOptions { to: Some("npy"), ..verified() };
    let error = convert(&source, Path::new("-"), &options).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)));
}

#[test]
fn several_datasets_into_one_array_are_listed() {
    let place = Place::new();
    let memory = Memory::new().with("x", "|u1", &[1], &[1]).with("y", "|u1", &[1], &[2]);
    let npy = target_format(Path::new("a.npy"), None, &[]).unwrap();
    let error = write(&memory, &memory.all(), npy, &place.at("a.npy"), &verified()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)));
    assert!(error.to_string().contains("x, y"));
    assert!(place.names().is_empty());
}

#[test]
fn damage_during_conversion_keeps_the_old_target() {
    let place = Place::new();
    place.put("b.npy", b"old");
    let memory = Memory::new().with("x", "|u1", &[1], &[1]).damaged("x");
    let npy = target_format(Path::new("b.npy"), None, &[]).unwrap();
    let force = ConvertOptions { overwrite: Overwrite::Replace, ..verified() };
    let error = write(&memory, &memory.all(), npy, &place.at("b.npy"), &force).unwrap_err();
    assert_eq!((error.is_damage(), error.range()), (true, Some(16..48)));
    assert_eq!(place.names(), ["b.npy"]);
    assert_eq!(std::fs::read(place.at("b.npy")).unwrap(), b"old");
}

#[test]
fn a_target_that_reads_back_otherwise_is_not_left() {
    /// Writes a `.npy` file with one element changed.
    fn wrong(import: &WriteRequest<'_>, out: &mut dyn container_core::format::Output) -> Result<Vec<Loss>> {
        assert_eq!(import.read.digests, Digests::Compare);
        out.write_all(&npy_bytes("|u1", "False", "(3,)", &[1, 2, 4]))?;
        Ok(vec![])
    }
    static WRONG: Format = Format { import: Some(wrong), ..container_core::npy::FORMAT };
    let place = Place::new();
    let memory = Memory::new().with("x", "|u1", &[3], &[1, 2, 3]);
    let mut options = verified();
    options.read.digests = Digests::Ignore;
    let outcome = write(&memory, &memory.all(), &WRONG, &place.at("a.npy"), &options).unwrap();
    let ConvertOutcome::Differs(differences) = outcome else { panic!("it passed") };
    assert_eq!(differences.len(), 1);
    assert_eq!(differences[0].what, "values: 1 of 3 differ, the first at [2]: 3 and 4");
    assert!(place.names().is_empty());
}

#[test]
fn types_missing_in_the_target_read_back_converted() {
    let place = Place::new();
    let npy = target_format(Path::new("a.npy"), None, &[]).unwrap();
    let bfloat = DType::parse("bfloat16").unwrap();
    let bytes = [0x3f80_u16.to_le_bytes(), 0xc000_u16.to_le_bytes()].concat();
    let memory = Memory::new().with_type("x", bfloat, &[2], Order::F, &bytes);
    let conversion = done(write(&memory, &memory.all(), npy, &place.at("a.npy"), &verified()).unwrap());
    assert_eq!(conversion.losses.len(), 1);
    assert_eq!(elements(&place.at("a.npy"), 8), [1_f32.to_le_bytes(), (-2_f32).to_le_bytes()].concat());
    let complex32 =
        DType::new(container_core::dtype::Kind::Complex, 4, container_core::dtype::ByteOrder::Big);
    let memory = Memory::new().with_type("x", complex32, &[1], Order::C, &[1, 2, 3, 4]);
    done(write(&memory, &memory.all(), npy, &place.at("b.npy"), &verified()).unwrap());
    // Part by part, little-endian.
    assert_eq!(elements(&place.at("b.npy"), 4), [2, 1, 4, 3]);
}

#[cfg(feature = "rawarray")]
mod rawarray {
    use super::*;

    use crate::testing::ra_bytes;

    #[test]
    fn a_rawarray_file_goes_to_npy_and_back_without_a_change() {
        let place = Place::new();
        let source = place.put("a.ra", &ra_bytes());
        done(convert(&source, &place.at("b.npy"), &verified()).unwrap());
        let text = std::fs::read(place.at("b.npy")).unwrap();
        let text = String::from_utf8_lossy(&text);
        assert!(text.contains("'fortran_order': True, 'shape': (2, 3)"), "{text}");
        assert_eq!(elements(&place.at("b.npy"), 12), ra_bytes()[64..]);
        let back = Address::file(place.at("b.npy"));
        done(convert(&back, &place.at("c.ra"), &verified()).unwrap());
        assert_eq!(std::fs::read(place.at("c.ra")).unwrap(), ra_bytes());
    }

    #[test]
    fn reversed_axes_read_back_reversed() {
        let place = Place::new();
        let source = place.put("a.npy", &npy_bytes("<u2", "False", "(3, 2)", &ra_bytes()[64..]));
        let mut options = verified();
        options.import.axes = Axes::Reversed;
        done(convert(&source, &place.at("b.ra"), &options).unwrap());
        assert_eq!(std::fs::read(place.at("b.ra")).unwrap(), ra_bytes());
    }

    #[test]
    fn a_selection_that_drops_an_axis_reads_back() {
        let place = Place::new();
        let mut source = place.put("a.ra", &ra_bytes());
        source.dataset = Some("data".into());
        source.selection = Some("1, ::-1".into());
        done(convert(&source, &place.at("b.npy"), &verified()).unwrap());
        assert_eq!(elements(&place.at("b.npy"), 6), [5, 0, 4, 0, 3, 0]);
    }

    #[test]
    fn converted_files_have_equal_values_for_any_codec() {
        let place = Place::new();
        let source = place.put("a.ra", &ra_bytes());
        let flags = place.put("b.npy", &npy_bytes("|b1", "False", "(3,)", &[1, 0, 1]));
        let open = |name: &str| {
            let opened =
                crate::open::open_with(&place.at(name), Accept::Containers, &OpenOptions::default()).unwrap();
            let all = Address::file(place.at(name));
            let all = all.select(&*opened.container).unwrap();
            (opened.container, all)
        };
        for (source, codec) in [(&source, "lz4"), (&source, "leb128"), (&flags, "bits")] {
            let (plain, packed) = (format!("{codec}-plain.ra"), format!("{codec}.ra"));
            done(convert(source, &place.at(&plain), &verified()).unwrap());
            let mut options = verified();
            options.import.codec = Some((codec.into(), None));
            done(convert(source, &place.at(&packed), &options).unwrap());
            let ((a, a_all), (b, b_all)) = (open(&plain), open(&packed));
            assert_eq!(b.datasets()[0].codec, codec);
            let found = crate::diff::diff(&*a, &a_all, &*b, &b_all, &DiffOptions::default()).unwrap();
            assert_eq!(found, [], "{codec}");
        }
    }
}

/// Keys with the same text: a target that identifies datasets by path has the one that the path finds. Of several chunks of one name in one
/// frame, GSD has the one that gsd 5.0.1 reads: `gsd.fl` reads 2 for `a` of this file.
#[cfg(all(feature = "gsd", feature = "asdf"))]
#[test]
fn of_datasets_of_one_path_one_is_carried_and_the_others_are_losses() {
    let place = Place::new();
    let chunks =
        std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/gsd/odd/duplicate_other.gsd"));
    let source = place.put("a.gsd", &chunks.unwrap());
    let what = "duplicate name: the target stores one dataset of a name".to_owned();
    for (target, options) in [("b.asdf", verified()), ("b.gsd", ConvertOptions::default())] {
        let conversion = done(convert(&source, &place.at(target), &options).unwrap());
        assert_eq!(conversion.datasets, ["a", "b"]);
        assert!(conversion.losses.iter().all(|loss| loss.what != what), "{target}: {:?}", conversion.losses);
        let opened =
            crate::open::open_with(&place.at(target), Accept::Containers, &OpenOptions::default()).unwrap();
        let (file, index) = (&opened.container, opened.container.find("a").unwrap());
        let region = Region::whole(&file.dataset(index).unwrap().shape);
        let values = file.read(index, &region, &ReadOptions::default()).unwrap();
        assert_eq!(*values.bytes(Order::C, &container_core::Limits::default()).unwrap(), [2]);
    }
    let tree = "#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n\
        1: !core/ndarray-1.1.0 [1, 2, 3]\n\"1\": !core/ndarray-1.1.0 [4, 5]\n...\n";
    let source = place.put("a.asdf", tree.as_bytes());
    let conversion = done(convert(&source, &place.at("c.gsd"), &ConvertOptions::default()).unwrap());
    assert_eq!(
        (conversion.datasets.len(), conversion.losses.iter().filter(|loss| loss.what == what).count()),
        (1, 1)
    );
    let conversion = done(convert(&source, &place.at("c.asdf"), &verified()).unwrap());
    assert_eq!((conversion.datasets.len(), conversion.losses), (2, vec![]));
}

#[cfg(feature = "gsd")]
fn chunks_of_one_byte(names: &[&str], frames: u64) -> Vec<u8> {
    let plan = gsd::sequential::Plan::new("a test", "of my own", gsd::Version::new(1, 0)).unwrap();
    let frames = (0..frames).flat_map(|frame| names.iter().map(move |name| (frame, *name)));
    let chunks: Vec<_> =
        frames.map(|(frame, name)| (frame, name, gsd::ChunkType::Uint8, 1, 1, &[7_u8][..])).collect();
    gsd::sequential::to_vec(plan, &chunks).unwrap()
}

/// Names of a GSD file after a conversion to ASDF and back, verified both ways.
#[cfg(all(feature = "gsd", feature = "asdf"))]
fn names_by_way_of_asdf(names: &[&str], frames: u64) -> Vec<String> {
    let place = Place::new();
    let source = place.put("a.gsd", &chunks_of_one_byte(names, frames));
    done(convert(&source, &place.at("b.asdf"), &verified()).unwrap());
    let tree = Address::file(place.at("b.asdf"));
    for pair in [["a.gsd", "b.asdf"], ["b.asdf", "a.gsd"]] {
        let [a, b] = pair.map(|name| {
            let opened =
                crate::open_with(&place.at(name), Accept::Containers, &OpenOptions::default()).unwrap();
            let all = Address::file(place.at(name)).select(&*opened.container).unwrap();
            (opened.container, all)
        });
        assert!(crate::diff::diff(&*a.0, &a.1, &*b.0, &b.1, &DiffOptions::default()).unwrap().is_empty());
    }
    done(convert(&tree, &place.at("c.gsd"), &verified()).unwrap());
    let file = gsd::File::open(place.at("c.gsd")).unwrap();
    assert_eq!(
        (file.nframes(), file.index().len()),
        (frames, names.len() * usize::try_from(frames).unwrap())
    );
    (0..u16::MAX).map_while(|id| Some(file.names().get(id)?.into_owned())).collect()
}

/// A tilde within a step of a path is escaped in ASDF; the name means the same.
#[cfg(all(feature = "gsd", feature = "asdf"))]
#[test]
fn names_with_tildes_read_back_as_what_they_mean() {
    for name in ["x~", "a~b", "a~0b", "a/b~1"] {
        assert_eq!(names_by_way_of_asdf(&[name], 1), [name]);
    }
}

/// A name that another begins with: whichever comes first.
#[cfg(all(feature = "gsd", feature = "asdf"))]
#[test]
fn nested_names_round_trip_through_asdf_in_any_order() {
    for names in [["a/b", "a", "a/b/c"], ["a", "a/b", "a/b/c"], ["a/b/c", "a/b", "a"]] {
        for frames in [1, 3] {
            assert_eq!(names_by_way_of_asdf(&names, frames), names);
        }
    }
}

/// Big-endian bfloat16, which numpy lacks: as bytes alone they are little-endian, and read back unchanged.
#[cfg(all(feature = "rawarray", feature = "blosc2", feature = "bloscpack", feature = "asdf"))]
#[test]
fn elements_that_become_bytes_are_little_endian_everywhere() {
    let place = Place::new();
    let words = [1_u64, 5, 2, 6, 1, 3].map(u64::to_le_bytes).concat();
    let source =
        place.put("a.ra", &[b"rawarray".as_slice(), &words, &[0x3f, 0x80, 0x40, 0, 0xc0, 0x40]].concat());
    for target in ["a.b2nd", "a.blp", "a.asdf"] {
        let mut options = verified();
        options.import.extra.push((TargetOptions::AS_BYTES.into(), String::new()));
        done(convert(&source, &place.at(target), &options).unwrap());
        let opened =
            crate::open_with(&place.at(target), Accept::Containers, &OpenOptions::default()).unwrap();
        let whole = Region::whole(&opened.container.require(0).unwrap().shape);
        let array = opened.container.read(0, &whole, &ReadOptions::default()).unwrap();
        let bytes = array.bytes(Order::C, &Default::default()).unwrap();
        assert_eq!(*bytes, [0x80, 0x3f, 0, 0x40, 0x40, 0xc0], "{target}");
    }
}

/// A key of a tree may be empty, and is again after formats without names. A chunk needs a name.
#[cfg(all(feature = "gsd", feature = "asdf", feature = "rawarray"))]
#[test]
fn an_empty_key_comes_back() {
    let place = Place::new();
    let tree = "#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n\
        \"\": !core/ndarray-1.1.0 [1, 2, 3]\n...\n";
    let source = place.put("a.asdf", tree.as_bytes());
    done(convert(&source, &place.at("b.ra"), &verified()).unwrap());
    let array = Address::file(place.at("b.ra"));
    done(convert(&array, &place.at("c.asdf"), &verified()).unwrap());
    let back =
        crate::open::open_with(&place.at("c.asdf"), Accept::Containers, &OpenOptions::default()).unwrap();
    assert_eq!(back.container.datasets().iter().map(|dataset| &*dataset.path).collect::<Vec<_>>(), [""]);
    let losses = done(convert(&array, &place.at("d.gsd"), &verified()).unwrap()).losses;
    assert!(losses.iter().any(|loss| loss.what.contains("which is empty")), "{losses:?}");
}

/// The name of the chunk that contains carried metadata, which no reader lists.
#[cfg(all(feature = "gsd", feature = "asdf"))]
#[test]
fn an_array_that_would_be_the_chunk_of_metadata_is_refused() {
    let place = Place::new();
    let tree = "#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n\
        x: !core/ndarray-1.1.0 [1, 2, 3]\nholdall: {metadata: !core/ndarray-1.1.0 [1, 2, 3]}\n...\n";
    let mut source = place.put("a.asdf", tree.as_bytes());
    let refused = convert(&source, &place.at("b.gsd"), &ConvertOptions::default()).unwrap_err();
    assert!(
        matches!(refused.kind(), ErrorKind::Usage(problem) if problem.contains("is reserved for metadata")),
        "{refused}"
    );
    source.dataset = Some("x".into());
    done(convert(&source, &place.at("b.gsd"), &verified()).unwrap());
}

/// Metadata of other formats are in frame 0 alone; no later frame has to have them.
#[cfg(all(feature = "gsd", feature = "asdf"))]
#[test]
fn frames_are_added_to_a_file_with_carried_metadata() {
    let place = Place::new();
    let tree = "#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n\
        data: !core/ndarray-1.1.0 [1, 2, 3]\nunit: m\n...\n";
    let source = place.put("a.asdf", tree.as_bytes());
    done(convert(&source, &place.at("b.gsd"), &verified()).unwrap());
    let options = crate::append::AppendOptions::default();
    crate::append::append(&place.at("b.gsd"), crate::append::Addition::Datasets(&source), &options).unwrap();
    let file = gsd::File::open(place.at("b.gsd")).unwrap();
    assert_eq!((file.nframes(), file.index().len()), (2, 3));
}

/// Absent frames are a loss from a file of frames as from an array.
#[cfg(feature = "gsd")]
#[test]
fn empty_frame_selection_is_reported_as_a_loss() {
    let place = Place::new();
    let file = place.put("a.gsd", &chunks_of_one_byte(&["data"], 20));
    let array = place.put("a.npy", &npy_bytes("|u1", "False", "(20, 1)", &[0; 20]));
    let mut import = TargetOptions::default();
    import.extra = vec![("frames".into(), "1000:".into())];
    let what = "arrays without frames: no chunk stores them";
    let loss = Loss { dataset: None, what: what.into() };
    place.put("b.gsd", &chunks_of_one_byte(&["data"], 2));
    for source in [&file, &array] {
        let options = ConvertOptions {
            import: import.clone(),
            overwrite: Overwrite::Replace,
            ..ConvertOptions::default()
        };
        let conversion = done(convert(source, &place.at("c.gsd"), &options).unwrap());
        assert_eq!(conversion.losses, std::slice::from_ref(&loss));
        let options = crate::append::AppendOptions {
            import: import.clone(),
            ..crate::append::AppendOptions::default()
        };
        let addition = crate::append::Addition::Datasets(source);
        let appended = crate::append::append(&place.at("b.gsd"), addition, &options).unwrap();
        assert_eq!(appended.losses, std::slice::from_ref(&loss));
        assert_eq!(gsd::File::open(place.at("b.gsd")).unwrap().nframes(), 2);
    }
}

/// Texts of the header that no writer makes come back as the bytes that they are, and with them the frames.
#[cfg(all(feature = "gsd", feature = "asdf"))]
#[test]
fn texts_of_a_gsd_header_that_are_odd_come_back() {
    let place = Place::new();
    for name in ["application_64", "schema_64", "application_not_utf8", "application_after_nul"] {
        let path = format!("{}/../../testdata/gsd/odd/{name}.gsd", env!("CARGO_MANIFEST_DIR"));
        let source = place.put("a.gsd", &std::fs::read(&path).unwrap());
        let options = ConvertOptions { overwrite: Overwrite::Replace, ..verified() };
        done(convert(&source, &place.at("b.asdf"), &options).unwrap());
        let tree = Address::file(place.at("b.asdf"));
        done(convert(&tree, &place.at("c.gsd"), &options).unwrap());
        let (then, now) = (gsd::File::open(&path).unwrap(), gsd::File::open(place.at("c.gsd")).unwrap());
        assert_eq!(now.nframes(), then.nframes(), "{name}");
        assert_eq!(now.header().application, then.header().application, "{name}");
        assert_eq!(now.header().schema, then.header().schema, "{name}");
    }
}

/// Lists and mappings without anything in them, and a mask that is an array of its own.
#[cfg(feature = "asdf")]
#[test]
fn losses_from_tree_to_bare_array_are_reported_completely() {
    let place = Place::new();
    let head =
        "#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n";
    let array = "!core/ndarray-1.1.0 {data: [1, 2], datatype: int8, shape: [2]";
    let losses = |tree: &str, dataset: &str| {
        let mut source = place.put("a.asdf", format!("{head}{tree}...\n").as_bytes());
        source.dataset = Some(dataset.into());
        let options = ConvertOptions { overwrite: Overwrite::Replace, ..verified() };
        let found = done(convert(&source, &place.at("b.npy"), &options).unwrap()).losses;
        found.into_iter().map(|loss| loss.what).collect::<Vec<_>>()
    };
    assert_eq!(losses(&format!("a: {array}}}\nlist: []\nmap: {{}}\n"), "a"), ["tree: list, map"]);
    assert_eq!(losses(&format!("a: {array}}}\nin: [{{x: {array}}}}}]\n"), "a"), [""; 0]);
    let masked = format!("a: {array}, mask: {array}}}}}\n");
    assert_eq!(
        losses(&masked, "a")[0],
        "mask: 2 of 2 elements are missing (null or masked); each has its stored value (--fill VALUE for another)"
    );
}
