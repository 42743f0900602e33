use super::*;

fn named(head: &[u8]) -> Option<&'static str> {
    let head = &head[..head.len().min(Probe::LEN)];
    Foreign::of_probe(&Probe { head, directory: None, len: None }).map(|foreign| foreign.what)
}

/// The first header of an archive with one member `a`: by Python's `tarfile`, of the format `V7_TAR` or `USTAR`.
fn tar(ustar: bool) -> Vec<u8> {
    let mut header = vec![0; 512];
    header[..1].copy_from_slice(b"a");
    for (at, field) in [(100, "0000644\0"), (108, "0000000\0"), (116, "0000000\0")] {
        header[at..at + 8].copy_from_slice(field.as_bytes());
    }
    header[124..136].copy_from_slice(b"00000000001\0");
    header[136..148].copy_from_slice(b"00000000000\0");
    header[156] = b'0';
    if ustar {
        header[257..265].copy_from_slice(b"ustar\x0000");
    }
    header[148..156].fill(b' ');
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    header
}

#[test]
fn files_of_other_programs_are_named_by_their_signatures() {
    let zip = |name: &str| {
        let mut bytes = b"PK\x03\x04".to_vec();
        bytes.resize(26, 0);
        bytes.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
        bytes.extend([0, 0]);
        bytes.extend(name.as_bytes());
        bytes
    };
    for (head, what) in [
        (b"\x89HDF\r\n\x1a\n\0\0".to_vec(), "an HDF5 file"),
        (b"SIMPLE  =                    T / conforms to FITS standard".to_vec(), "a FITS file"),
        (b"\x1f\x8b\x08\0\0\0\0\0".to_vec(), "a gzip file"),
        (tar(true), "a tar archive"),
        (tar(false), "a tar archive"),
        (zip("a.gsd"), "a zip archive"),
        (zip("x/a.npy"), "an .npz file, a zip archive of numpy's arrays"),
        (zip("group/.zarray"), "a zip archive of a Zarr store"),
        // pickle.dumps(b"blpk" * 10, 4) and pickle.dumps([1], 2).
        (b"\x80\x04\x95\x2d\0\0\0\0\0\0\0C(blpkblpk".to_vec(), "a pickle of Python"),
        (b"\x80\x02]q\0K\x01a.".to_vec(), "a pickle of Python"),
    ] {
        assert_eq!(named(&head), Some(what));
    }
}

#[test]
fn headers_similar_to_foreign_formats_stay_unnamed() {
    let mut other = tar(true);
    other[0] = b'b';
    for head in [&b""[..], b"HDF", b"SIMPLE = 1", &other, &[0; 512], b"\x80\x04\x95", b"\x80\x01]", b"PK"] {
        assert_eq!(named(head), None, "{head:?}");
    }
}

#[test]
fn hdf5_behind_a_block_of_the_users_is_found() {
    for (at, found) in [(512, true), (2048, true), (1536, false), (100, false)] {
        let mut bytes = vec![b' '; at];
        bytes.extend(HDF5_MAGIC);
        bytes.extend([0; 40]);
        assert_eq!(Foreign::of_source(&bytes).unwrap(), found.then_some(HDF5), "{at}");
    }
}

/// FITS headers by hand, in 80-character cards: FITS standard 4.0, 4.2.
fn fits(units: &[(&[&str], usize)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (cards, data) in units {
        for card in cards.iter().chain(&["END"]) {
            bytes.extend(format!("{card:80}").as_bytes());
        }
        let len = bytes.len().next_multiple_of(2880);
        bytes.resize(len, b' ');
        bytes.resize(len + data.next_multiple_of(2880), 0);
    }
    bytes
}

#[test]
fn asdf_in_fits_is_found_by_the_name_of_its_extension() {
    const PRIMARY: &[&str] = &[
        "SIMPLE  =                    T",
        "BITPIX  =                    8",
        "NAXIS   =                    0",
    ];
    const IMAGE: &[&str] = &[
        "XTENSION= 'IMAGE   '",
        "BITPIX  =                  -32 / floats",
        "NAXIS   =                    2",
        "NAXIS1  =                  100",
        "NAXIS2  =                   50",
        "EXTNAME = 'SCI     '",
    ];
    const TABLE: &[&str] = &[
        "XTENSION= 'BINTABLE'",
        "BITPIX  =                    8",
        "NAXIS   =                    2",
        "NAXIS1  =                 3000",
        "NAXIS2  =                    1",
        "PCOUNT  =                    0",
        "GCOUNT  =                    1",
        "EXTNAME = 'ASDF    '           / the tree",
    ];
    let found = |bytes: &[u8]| Foreign::of_fits(&bytes.to_vec()).unwrap().map(|foreign| foreign.what);
    let jwst = fits(&[(PRIMARY, 0), (IMAGE, 20_000), (TABLE, 3000)]);
    assert_eq!(found(&jwst), Some(ASDF_IN_FITS.what));
    assert_eq!(found(&fits(&[(PRIMARY, 0), (IMAGE, 20_000)])), None);
    // The data of an image are not searched for headers.
    let mut hidden = fits(&[(PRIMARY, 0), (IMAGE, 20_000)]);
    let header = fits(&[(TABLE, 0)]);
    let data = hidden.len() - 20_160;
    hidden[data..data + header.len()].copy_from_slice(&header);
    assert_eq!(found(&hidden), None);
    for len in (0..jwst.len()).step_by(700) {
        found(&jwst[..len]);
    }
    let huge = PRIMARY.iter().chain(&["NAXIS1  = 18446744073709551615", "NAXIS2  = 18446744073709551615"]);
    assert_eq!(found(&fits(&[(&huge.copied().collect::<Vec<_>>(), 0), (TABLE, 0)])), None);
}

#[test]
fn texts_are_named_by_their_first_words() {
    let kind = |text: &[u8]| Foreign::of_text(text).map(|foreign| foreign.what);
    for (text, what) in [
        (
            &b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n"[..],
            "a pointer of Git LFS, not the file itself",
        ),
        (b"<!DOCTYPE html>\n<html>", "an HTML page"),
        (b"\xef\xbb\xbf \n<HTML lang='en'>", "an HTML page"),
        (b"<?xml version=\"1.0\"?><Error>", "an XML text"),
        (b"{\"a\": 1}", "a JSON text"),
        (b"%YAML 1.1\n---\na: 1\n", "a YAML text without the line #ASDF 1.0.0"),
        (b"a,b\r\n1,2\r\n", "a text"),
        // A character that is cut at the end of the head.
        (b"na\xc3\xafve \xc3", "a text"),
    ] {
        assert_eq!(kind(text), Some(what));
    }
    for bytes in [&b""[..], b"a\0b", b"\x1b[31m", b"\xff\xfe", b"\x80abc"] {
        assert_eq!(kind(bytes), None, "{bytes:?}");
    }
}
