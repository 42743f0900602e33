use super::*;
use container_core::container::{Container, OpenOptions, ReadOptions};
use container_core::format::Input;
use container_core::{Progress, npy};

/// A `.npy` file of version 1.0, by numpy's format description.
fn array(descr: &str, fortran: &str, shape: &str, data: &[u8]) -> Box<dyn Container> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend_from_slice(&u16::try_from(header.len()).unwrap().to_le_bytes());
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend_from_slice(data);
    (npy::FORMAT.open)(Input::bytes(Box::new(bytes)), &OpenOptions::default()).unwrap()
}

fn imported(container: &dyn Container, options: &ImportOptions) -> Result<(crate::File, Vec<Loss>)> {
    let shape = container.require(0)?.shape.clone();
    let selection = [(0, Region::whole(&shape))];
    let read = ReadOptions::default();
    let job = Import { container, selection: &selection, options, read, progress: Progress::none() };
    let mut out = Vec::new();
    let losses = import(&job, &mut out)?;
    Ok((crate::File::from_bytes(out, crate::OpenOptions::default())?, losses))
}

fn words(words: &[(&str, &str)]) -> ImportOptions {
    let mut options = ImportOptions::default();
    options.words = words.iter().map(|(word, value)| ((*word).to_owned(), (*value).to_owned())).collect();
    options
}

#[test]
fn a_column_major_array_has_strides_and_its_bytes_stay() {
    let data = [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6];
    let (file, losses) =
        imported(&*array(">u2", "True", "(2, 3)", &data), &ImportOptions::default()).unwrap();
    assert!(losses.is_empty());
    let text = file.tree().document().text();
    let node = "data: !core/ndarray-1.1.0\n  source: 0\n  datatype: uint16\n  byteorder: big\n  shape: [2, 3]\n  strides: [2, 4]\n";
    assert!(text.contains(node), "{text}");
    assert_eq!(*file.read_block(0, &ReadOptions::default()).unwrap(), data);
    assert!(file.blocks()[0].header.digest().is_some());
}

#[test]
fn words_choose_standard_alignment_and_digests() {
    let source = array("|u1", "False", "(3,)", &[1, 2, 3]);
    let options = words(&[("standard", "1.5.0"), ("align", "4096"), ("checksum", "none")]);
    let (file, _) = imported(&*source, &options).unwrap();
    assert_eq!(file.layout().header.standard.map(|standard| standard.minor), Some(5));
    assert!(file.tree().document().text().contains("!core/ndarray-1.0.0"));
    assert_eq!(file.blocks()[0].data.start % 4096, 0);
    assert!(file.blocks()[0].header.digest().is_none());
    for bad in
        [("standard", "2.0.0"), ("standard", "one"), ("align", "48"), ("checksum", "crc32"), ("chunks", "5")]
    {
        let error = imported(&*source, &words(&[bad])).err();
        assert!(matches!(error.map(Error::into_kind), Some(ErrorKind::Usage(_))), "{bad:?}");
    }
}

#[test]
fn types_without_a_name_are_refused_or_become_bytes() {
    let source = array("<M8[D]", "True", "(2, 1)", &[7; 16]);
    let error = imported(&*source, &ImportOptions::default()).err().unwrap();
    assert!(matches!(error.kind(), ErrorKind::Unsupported(_)) && error.next_step().is_some(), "{error}");
    let (file, losses) = imported(&*source, &words(&[("as-bytes", "")])).unwrap();
    assert_eq!(losses.len(), 1);
    assert_eq!(file.geometry(0).unwrap().shape, [2, 1, 8]);
}
