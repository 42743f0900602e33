//! Tables of text: read in any type, written out, and read again.

use container_core::container::Container;
use container_core::dtype::{DType, Kind};
use container_core::region::Region;
use container_core::{ErrorKind, Progress, Result};
use holdall::csv::{Csv, Header, open_csv};
use holdall::export::{AsStored, ExportFormat, export};

use crate::feed::Feed;
use crate::options::{limits, read_options};

/// Types to ask for; the first is none.
const DTYPES: &[&str] = &[
    "",
    "|b1",
    "|i1",
    ">u2",
    "<i8",
    "<u8",
    "<f2",
    ">f4",
    "<f8",
    ">c16",
    "<M8[ms]",
    ">m8[s]",
    "<U3",
    "|S3",
    "|V2",
    "[('a', '<U2'), ('b', '|u1', (2,))]",
    "[('a', '<f8')]",
    "[('x', [('y', '>i4'), ('z', '<U1')]), ('', '|b1')]",
];

/// A table that can be read is the same when it has been written out and is read again.
pub fn csv_table(data: &[u8]) {
    let mut feed = Feed::new(data);
    let dtype = match feed.one_of(DTYPES) {
        "" => None,
        dtype => Some(DType::parse(dtype).expect("a type")),
    };
    let header = feed.one_of(&[Header::Auto, Header::Names, Header::Skip, Header::None]);
    let delimiter = feed.one_of(b",\t; ");
    let text = feed.rest().to_vec();
    let container = match open_csv(&text, &Csv { dtype, header, delimiter }, &limits()) {
        Ok(container) => container,
        Err(error) => {
            let known = matches!(
                error.kind(),
                ErrorKind::Usage(_) | ErrorKind::Unsupported(_) | ErrorKind::Limit { .. }
            );
            assert!(known, "{error}");
            let range = error.range().unwrap_or(0..0);
            assert!(range.start <= range.end && range.end <= text.len() as u64, "{range:?}");
            return;
        }
    };
    let dataset = container.dataset(0).expect("it has one array");
    match container.read(0, &Region::whole(&dataset.shape), &read_options()) {
        Ok(whole) => assert_eq!(whole.shape(), &dataset.shape[..]),
        // A long text makes all that are beside it as long.
        Err(error) => assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}"),
    }
    let Ok(written) = as_csv(&*container) else { return };
    // Bytes that are no text are spelled as Python does, and not read so.
    if has_bytes(&dataset.dtype) || dataset.shape[0] == 0 {
        return;
    }
    let has_names = matches!(dataset.dtype, DType::Record(_)) || dataset.shape.len() > 2;
    let header = if has_names { Header::Names } else { Header::None };
    let how = Csv { dtype: Some(dataset.dtype.clone()), header, ..Csv::default() };
    let again = open_csv(&written.as_bytes().to_vec(), &how, &limits()).expect("what was written");
    assert_eq!(again.require(0).expect("it has one array").dtype, dataset.dtype);
    // The bits of NaN are not in its text.
    assert_eq!(as_csv(&*again).expect("as before"), written);
}

fn as_csv(container: &dyn Container) -> Result<String> {
    let whole = Region::whole(&container.require(0)?.shape);
    let mut out = Vec::new();
    let read = read_options();
    export(container, 0, &whole, ExportFormat::Csv, AsStored::Yes, &read, Progress::none(), &mut out)?;
    Ok(String::from_utf8(out).expect("text"))
}

fn has_bytes(dtype: &DType) -> bool {
    match dtype {
        DType::Scalar(scalar) => scalar.kind == Kind::Bytes,
        DType::Record(record) => record.fields.iter().any(|field| has_bytes(&field.dtype)),
    }
}

/// Tables of every kind, for every type, without a first row of names and with one.
pub(crate) fn tables() -> Vec<Vec<u8>> {
    let texts = [
        "1,2.5\n-3,nan\n",
        "x,y\n1,True\n2,False\r\n",
        "name,p[0],p[1]\n\"a, \"\"b\"\"\",1,2\nc,3,4\n",
        "axis0,axis1,value\n0,0,7\n0,1,8\n1,0,9\n1,1,6\n",
        "(1+2j)\n-2e5j\n",
        "2021-02-03T04:05:06.789\nNaT\n",
        "\"\"\n\u{e9}\n\u{feff}\n",
        "a\tb\n18446744073709551615\t-9223372036854775808\n",
        "0x00ff\n007\n",
    ];
    let mut all = Vec::new();
    for (at, text) in texts.iter().enumerate() {
        for dtype in 0..DTYPES.len() as u8 {
            all.push([&[dtype, at as u8, u8::from(text.contains('\t'))], text.as_bytes()].concat());
        }
    }
    all
}
