//! Names of datasets around their values, where `cat` writes several.

use std::io::{self, Write};

use container_core::Result;
use holdall::address::{Address, typed};
use holdall::export::ExportFormat;
use serde_json::json;

use crate::escapes::safe_json;
use crate::output::printable;

/// The name of a dataset, in the form of its values.
pub struct Label {
    /// Text before the values.
    before: String,
    /// Text after them; its lines are those of the form, which has none of its own then.
    after: Option<&'static str>,
}

impl Label {
    /// The label of a dataset of a file. Bytes have none.
    pub fn new(format: ExportFormat, file: &str, address: &Address, dataset: &str, is_first: bool) -> Self {
        let selection = address.selection_of(dataset);
        let path = typed(dataset);
        match format {
            ExportFormat::Text => {
                let selection = selection.map(|text| format!("[{text}]")).unwrap_or_default();
                let name = format!("{file}::{path}{selection}");
                let gap = if is_first { "" } else { "\n" };
                Self { before: format!("{gap}==> {} <==\n", printable(&name)), after: None }
            }
            ExportFormat::Json => {
                let line = json!({ "schema": "holdall.cat/1", "path": file, "dataset": path, "selection": selection });
                let line = line.to_string();
                let open = line.strip_suffix('}').unwrap_or(&line);
                Self { before: format!("{},\"values\":", safe_json(open)), after: Some("}\n") }
            }
            ExportFormat::Csv | ExportFormat::Raw | ExportFormat::Npy => {
                Self { before: String::new(), after: None }
            }
        }
    }

    /// Writes values with their label. Where they cannot be read, nothing is written.
    ///
    /// # Errors
    /// Those of `write`, and of writing.
    pub fn around<T>(
        self,
        out: &mut dyn Write,
        write: impl FnOnce(&mut dyn Write) -> Result<T>,
    ) -> Result<T> {
        let mut labelled = Labelled { out, before: Some(self.before), one_line: self.after.is_some() };
        let done = write(&mut labelled);
        if done.is_err() {
            // The next label begins a line.
            if labelled.before.is_none() && labelled.one_line {
                labelled.out.write_all(b"\n")?;
            }
            return done;
        }
        labelled.begin()?;
        labelled.out.write_all(self.after.unwrap_or_default().as_bytes())?;
        done
    }
}

/// A writer that writes a label before the first byte, and may join lines.
struct Labelled<'a> {
    out: &'a mut dyn Write,
    before: Option<String>,
    one_line: bool,
}

impl Labelled<'_> {
    fn begin(&mut self) -> io::Result<()> {
        self.before.take().map_or(Ok(()), |before| self.out.write_all(before.as_bytes()))
    }
}

impl Write for Labelled<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.begin()?;
        if !self.one_line {
            return self.out.write_all(bytes);
        }
        // Between the tokens of JSON alone: its strings have escapes.
        bytes.split(|byte| *byte == b'\n').try_for_each(|part| self.out.write_all(part))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
