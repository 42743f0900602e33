//! Standard output and standard error: tables for people, tab-separated rows for pipes, JSON lines for programs.

use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};

use anstyle::{AnsiColor, Style};
use comfy_table::{Cell, CellAlignment, Table};
use container_core::format::Formats;
use container_core::{Error, Limits};

use crate::errors::{Failure, Outcome, Result};
pub use crate::escapes::{Escapes, printable};
use crate::escapes::{Safe, safe_json};
use crate::pager::{self, Pager};

/// Sound, same, complete.
pub const OK: Style = AnsiColor::Green.on_default();
/// Odd, partly.
pub const WARN: Style = AnsiColor::Yellow.on_default();
/// Damaged, unreadable.
pub const ERROR: Style = AnsiColor::Red.on_default().bold();
/// Headings and names.
pub const STRONG: Style = Style::new().bold();
/// Style of text that may be skipped.
pub const DIM: Style = Style::new().dimmed();

/// Form of standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Tables and human sizes on a terminal, tab-separated rows elsewhere.
    Auto,
    /// The terminal's form everywhere (`--pretty`).
    Pretty,
}

/// Output of a verb.
pub struct Console {
    /// Standard output.
    pub out: Out,
    /// Limits for files.
    pub limits: Limits,
    /// Formats in addition to those of the library.
    pub formats: Formats,
    worst: Outcome,
}

impl Console {
    /// The console of this process.
    pub fn new(limits: Limits, form: Form, formats: Formats) -> Self {
        Self { out: Out::new(form), limits, formats, worst: Outcome::Yes }
    }

    /// Counts an answer about one of several files.
    pub fn note(&mut self, outcome: Outcome) {
        self.worst = self.worst.max(outcome);
    }

    /// Reports a file without an answer, and continues.
    pub fn fail(&mut self, failure: &Failure) {
        // Earlier output appears first.
        let _ = self.out.flush();
        print_error(failure);
        if !failure.error.is_after_change() {
            self.note(failure.outcome());
        }
    }

    /// The command's answer, once everything is written.
    pub fn finish(mut self, result: Result<Outcome>) -> Outcome {
        let flushed = self.out.finish();
        let result = result.and_then(|outcome| flushed.map(|()| outcome).map_err(Failure::from));
        match result {
            Ok(outcome) => self.worst.max(outcome),
            Err(failure) if failure.is_closed_pipe() => self.worst,
            Err(failure) => {
                print_error(&failure);
                // Repeating the command as after a failure would make the change twice.
                if failure.error.is_after_change() { self.worst } else { self.worst.max(failure.outcome()) }
            }
        }
    }
}

/// Writes an error to standard error, without effect on the exit code.
pub fn print_error(failure: &Failure) {
    let paint = Paint::of(&io::stderr());
    let mut text = format!("{}: ", paint.with(ERROR, "holdall"));
    for (number, line) in failure.lines().iter().enumerate() {
        if number > 0 {
            text.push('\n');
        }
        text.push_str(line);
    }
    to_stderr(&text);
}

/// Writes a line to standard error, or nowhere if that is gone.
pub fn to_stderr(line: &str) {
    let mut stderr = io::stderr().lock();
    let _ = writeln!(stderr, "{line}");
}

/// Colouring of a stream: on or off.
#[derive(Clone, Copy, Debug)]
pub struct Paint(bool);

impl Paint {
    /// The choice by `--color`, NO_COLOR and the kind of stream.
    pub fn of(stream: &impl anstream::stream::RawStream) -> Self {
        Self(anstream::AutoStream::choice(stream) != anstream::ColorChoice::Never)
    }

    /// `text` in `style`.
    pub fn with<'t>(self, style: Style, text: &'t str) -> Cow<'t, str> {
        if self.0 { Cow::Owned(format!("{style}{text}{style:#}")) } else { Cow::Borrowed(text) }
    }
}

/// A writer whose errors name its destination, so that they are not taken for the source's.
pub struct Named<W> {
    /// The writer.
    pub inner: W,
    /// Name of the destination.
    pub name: String,
}

impl<W: Write> Named<W> {
    fn blame<T>(&self, result: io::Result<T>) -> io::Result<T> {
        result.map_err(|error| Error::from(error).with_subject(&*self.name).with_context("writing").into())
    }
}

impl<W: Write> Write for Named<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = self.inner.write(bytes);
        self.blame(result)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let result = self.inner.write_all(bytes);
        self.blame(result)
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.inner.flush();
        self.blame(result)
    }
}

/// Standard output, locked and buffered.
pub struct Out {
    writer: Named<BufWriter<StdoutLock<'static>>>,
    terminal: bool,
    form: Form,
    pager: Option<Pager>,
    /// Colouring of this output.
    pub paint: Paint,
}

impl Out {
    fn new(form: Form) -> Self {
        let stdout = io::stdout();
        let (terminal, paint) = (stdout.is_terminal(), Paint::of(&stdout));
        let inner = BufWriter::with_capacity(64 << 10, stdout.lock());
        Self { writer: Named { inner, name: "standard output".into() }, terminal, form, pager: None, paint }
    }

    /// True where standard output is a terminal.
    pub const fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// True where a person reads: at a terminal, or anywhere with `--pretty`.
    pub const fn is_for_people(&self) -> bool {
        self.terminal || matches!(self.form, Form::Pretty)
    }

    /// Sends what follows through the user's pager, if it is longer than the screen of the terminal.
    pub fn use_pager(&mut self) {
        if self.terminal {
            self.pager = pager::command().map(|command| Pager::new(command, screen().1));
        }
    }

    /// Writes everything, and waits for the pager.
    fn finish(&mut self) -> io::Result<()> {
        let paged = self.pager.take().map_or(Ok(()), |mut pager| pager.finish(&mut self.writer));
        paged.and(self.writer.flush())
    }

    /// Characters in a line: those of the terminal, or COLUMNS, or 80.
    pub fn width(&self) -> usize {
        screen().0
    }

    /// One line of JSON, with escapes for all that could steer a terminal.
    pub fn json(&mut self, value: &serde_json::Value) -> io::Result<()> {
        self.write_all(safe_json(&value.to_string()).as_bytes())?;
        self.write_all(b"\n")
    }

    /// Passes text from a file to people with its control characters escaped, and byte for byte through a pipe.
    ///
    /// # Errors
    /// Those of `write`, and of writing, which `write` gets.
    pub fn text<T>(
        &mut self,
        escapes: Escapes,
        write: impl FnOnce(&mut dyn Write) -> Result<T>,
    ) -> Result<T> {
        if self.is_for_people() { self.escaped(escapes, write) } else { write(self) }
    }

    /// As [`Out::text`] at a terminal, and byte for byte elsewhere, `--pretty` or not: for forms that programs read.
    ///
    /// # Errors
    /// As those of [`Out::text`].
    pub fn data<T>(
        &mut self,
        escapes: Escapes,
        write: impl FnOnce(&mut dyn Write) -> Result<T>,
    ) -> Result<T> {
        if self.terminal { self.escaped(escapes, write) } else { write(self) }
    }

    fn escaped<T>(&mut self, escapes: Escapes, write: impl FnOnce(&mut dyn Write) -> Result<T>) -> Result<T> {
        let mut safe = Safe::new(self, escapes);
        let done = write(&mut safe);
        safe.finish()?;
        done
    }

    /// One tab-separated row. Tabs and line ends in a field are escaped.
    pub fn row<S: AsRef<str>>(&mut self, fields: &[S]) -> io::Result<()> {
        for (number, field) in fields.iter().enumerate() {
            if number > 0 {
                self.write_all(b"\t")?;
            }
            self.write_all(printable(field.as_ref()).as_bytes())?;
        }
        self.write_all(b"\n")
    }

    /// A table: aligned and with its heading, where it is not empty, for people, else tab-separated rows alone. `numbers` are the columns that
    /// are aligned to the right.
    pub fn table<R: IntoIterator<Item = Vec<String>>>(
        &mut self,
        heading: &[&str],
        numbers: &[usize],
        rows: R,
    ) -> io::Result<()> {
        if !self.is_for_people() {
            return rows.into_iter().try_for_each(|row| self.row(&row));
        }
        // Maximum number of rows aligned together: more do not fit on a screen, and may not fit in memory.
        const MAX_ALIGNED: usize = 10_000;
        let mut rows = rows.into_iter();
        let mut has_heading = !heading.is_empty();
        loop {
            let part: Vec<Vec<String>> = rows.by_ref().take(MAX_ALIGNED).collect();
            if part.is_empty() && !has_heading {
                return Ok(());
            }
            let mut table = Table::new();
            table.load_style(comfy_table::presets::NOTHING);
            if has_heading {
                table.set_header(heading.iter().map(Cell::new));
            }
            for row in part {
                table.add_row(row.iter().map(|field| Cell::new(printable(field))));
            }
            for (number, column) in table.column_iter_mut().enumerate() {
                column.set_padding((0, 2));
                if numbers.contains(&number) {
                    column.set_cell_alignment(CellAlignment::Right);
                }
            }
            for (number, line) in table.lines().enumerate() {
                let line = line.trim_end();
                let is_heading = has_heading && number == 0;
                let line = if is_heading { self.paint.with(STRONG, line) } else { Cow::Borrowed(line) };
                writeln!(self, "{line}")?;
            }
            has_heading = false;
        }
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.pager {
            Some(pager) => pager.write(bytes, &mut self.writer),
            None => self.writer.write_all(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// Columns and lines of the screen: those of the terminal at standard output, or COLUMNS and LINES, or 80 and 24.
pub fn screen() -> (usize, usize) {
    #[cfg(unix)]
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok();
    #[cfg(unix)]
    let (columns, lines) = size.map_or((0, 0), |size| (size.ws_col.into(), size.ws_row.into()));
    #[cfg(not(unix))]
    let (columns, lines) = (0, 0);
    let or = |size: usize, name: &str, default: usize| match size {
        0 => {
            let set = std::env::var(name).ok().and_then(|text| text.trim().parse().ok());
            set.filter(|size| *size > 0).unwrap_or(default)
        }
        size => size,
    };
    (or(columns, "COLUMNS", 80), or(lines, "LINES", 24))
}

/// A number of bytes for people: `1.5 KiB`.
pub fn human_bytes(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    // In tenths, so that no float rounds a size up to a unit it does not reach.
    let mut tenths = u128::from(bytes) * 10 / 1024;
    let mut unit = 0;
    while tenths >= 10 * 1024 && unit + 1 < UNITS.len() {
        tenths /= 1024;
        unit += 1;
    }
    format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_as_people_write_them() {
        let cases = [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (1536, "1.5 KiB"),
            (1_048_575, "1023.9 KiB"),
            (1 << 20, "1.0 MiB"),
            (u64::MAX, "15.9 EiB"),
        ];
        for (bytes, text) in cases {
            assert_eq!(human_bytes(bytes), text);
        }
    }
}
