//! Schemas that the metadata of a file are held against.

use std::path::Path;

use container_core::container::OpenOptions;
use container_core::report::{Finding, Report, Severity, Verdict};
use container_core::{Error, Result};

use crate::open::{Accept, is_stream, open_with};
use crate::verify::{Verification, VerifyStatus};

/// Schemas that metadata are validated against: those of their tags, and perhaps one more for the whole.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    /// Text and name.
    custom: Option<(Vec<u8>, String)>,
}

impl Schema {
    /// The schemas of the tags, and the schema in the file at `path` for the whole.
    ///
    /// # Errors
    /// `Io`; `Malformed` for an invalid schema.
    pub fn load(path: Option<&Path>) -> Result<Self> {
        let Some(path) = path else { return Ok(Self::default()) };
        let custom = (std::fs::read(path)?, path.display().to_string());
        #[cfg(feature = "asdf")]
        asdf::schema::Schemas::new().add(&custom.0, &custom.1)?;
        Ok(Self { custom: Some(custom) })
    }

    /// Adds mismatches to the outcome of a check of the file at `path`. A format without schemas gets a warning, because it was not
    /// checked.
    pub fn judge(&self, path: &Path, open_options: &OpenOptions, verification: &mut Verification) {
        if verification.verdict == VerifyStatus::Unreadable {
            return;
        }
        let found = if is_stream(path) {
            Err(Error::usage("standard input cannot be read a second time, for its schemas"))
        } else {
            self.findings(path, open_options)
        };
        match found {
            Ok(found) => {
                let findings = std::mem::take(&mut verification.findings).into_iter().chain(found).collect();
                let report = Report::new(findings, verification.blocks);
                if report.verdict() == Verdict::Damaged {
                    verification.verdict = VerifyStatus::Damaged;
                }
                verification.findings = report.findings;
            }
            Err(error) => {
                verification.verdict = VerifyStatus::Unreadable;
                let message = format!("the schemas: {error}");
                verification.findings.insert(0, Finding::new(Severity::Error, "unreadable", message));
            }
        }
    }

    fn findings(&self, path: &Path, options: &OpenOptions) -> Result<Vec<Finding>> {
        let opened = open_with(path, Accept::Containers, options)?;
        if let Some(text) = opened.container.metadata_text() {
            let custom = self.custom.as_ref().map(|(text, name)| (text.as_slice(), name.as_str()));
            return text.validate(custom);
        }
        let message = format!("{} has no schemas to validate against", opened.format.title);
        Ok(vec![Finding::new(Severity::Warning, "no_schema", message)])
    }
}
