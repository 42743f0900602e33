//! Tables of python-blosc2: their columns are what python-blosc2 reads, null where it says so.

use std::fs;
use std::process::Command;

use container_core::Progress;
use container_core::container::{OpenOptions, ReadOptions};
use container_core::region::Region;
use holdall::export::{AsStored, ExportFormat, export};
use holdall::open::{Accept, open_with};
use interop::peer::{python, script};
use serde_json::Value;

#[test]
fn columns_of_tables_are_what_python_blosc2_reads() {
    let folder = tempfile::tempdir().unwrap();
    let output =
        Command::new(python().unwrap()).arg(script("ctable.py")).arg(folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut count = 0;
    for entry in fs::read_dir(folder.path()).unwrap() {
        let told = entry.unwrap().path();
        if told.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let table = told.with_extension("");
        let opened = open_with(&table, Accept::Containers, &OpenOptions::default()).unwrap();
        let container = &*opened.container;
        let columns: Vec<(String, Option<String>, Value)> =
            serde_json::from_slice(&fs::read(&told).unwrap()).unwrap();
        for (path, dtype, values) in columns {
            let name = format!("{}::{path}", table.display());
            let index = container.find(&path).unwrap_or_else(|| panic!("{name}"));
            let dataset = container.dataset(index).unwrap().into_owned();
            if let Some(dtype) = dtype {
                assert_eq!(dataset.dtype.to_string(), dtype, "{name}");
            }
            let (read, region) = (ReadOptions::default(), Region::whole(&dataset.shape));
            let (mut out, format) = (Vec::new(), ExportFormat::Json);
            export(container, index, &region, format, AsStored::No, &read, Progress::none(), &mut out)
                .unwrap();
            assert_eq!(serde_json::from_slice::<Value>(&out).unwrap(), values, "{name}");
            count += 1;
        }
    }
    assert_eq!(count, 7 * 28);
}
