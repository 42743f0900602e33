//! JSON as text of bounded length.

use std::io::{self, Write};

use serde_json::Value as Json;

/// Bytes up to a number; more are an error.
struct Bounded {
    bytes: Vec<u8>,
    most: usize,
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() > self.most.saturating_sub(self.bytes.len()) {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The value on several lines. `None` where that takes more than `most` bytes.
pub(crate) fn on_lines(value: &Json, most: usize) -> Option<String> {
    let mut text = Bounded { bytes: Vec::new(), most };
    serde_json::to_writer_pretty(&mut text, value).ok()?;
    String::from_utf8(text.bytes).ok()
}

/// The value on one line, or its first `most` bytes.
pub(crate) fn on_a_line(value: &Json, most: usize) -> String {
    let mut text = Bounded { bytes: Vec::new(), most };
    // What does not fit is left out.
    let _ = serde_json::to_writer(&mut text, value);
    String::from_utf8_lossy(&text.bytes).into_owned()
}
