//! Changes application and schema of a file in place.

use std::path::Path;

use container_core::format::{MetaChange, MetadataChanges};
use container_core::write::Durability;
use container_core::write::sectors::differing;
use container_core::write::storage::{FileStorage, Storage};
use container_core::{Error, Result, Value};

use crate::header::{Header, Version, name_field};

/// New values of header fields; `None` leaves one as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeaderNames {
    /// Name of the application, of up to 63 bytes.
    pub application: Option<String>,
    /// Name of the schema, of up to 63 bytes.
    pub schema: Option<String>,
    /// Version of the schema.
    pub schema_version: Option<Version>,
}

/// Changes the names in the header of the file at `path`, all or none: they are within one sector, and are written at once. The rest of
/// the file is unchanged, valid or not.
///
/// # Errors
/// `Usage` for a name that does not fit its field, and while another writer has the file; `WrongFormat`, `Truncated`; `Io`, marked by
/// [`Error::after_change`] where only the sync failed.
pub fn set_names(path: impl AsRef<Path>, names: &HeaderNames, durability: Durability) -> Result<()> {
    let path = path.as_ref();
    let named = |error: Error| error.in_file(path.display().to_string());
    let mut storage = FileStorage::open(path).map_err(named)?;
    change(&mut storage, names, durability)
}

/// Names of the fields of the header that change; pointers to them need no slash.
const FIELDS: [&str; 4] = ["application", "schema", "schema_version", "schema-version"];

/// Applies changes to application and schema. Values are plain text, or quoted as in JSON.
pub(crate) fn change_metadata(path: &Path, changes: &MetadataChanges<'_>) -> Result<Vec<String>> {
    let mut names = HeaderNames::default();
    for change in changes.list {
        let (pointer, value) = match change {
            MetaChange::Set { pointer, value } => (pointer, Some(value)),
            MetaChange::Unset { pointer } => (pointer, None),
        };
        let field = pointer.strip_prefix('/').unwrap_or(pointer);
        if !FIELDS.contains(&field) {
            let problem =
                format!("{pointer}: of a GSD file only application, schema and schema_version change");
            return Err(Error::usage(problem).with_hint("--set application=NAME"));
        }
        let Some(value) = value else {
            let problem = format!("{pointer}: a GSD file cannot lack it");
            return Err(Error::usage(problem).with_hint(format!("--set {field}=VALUE")));
        };
        let text = match (changes.parse)(value) {
            Ok(Value::Text(text)) => text,
            _ => value.clone(),
        };
        match field {
            "application" => names.application = Some(text),
            "schema" => names.schema = Some(text),
            _ => {
                let version = text
                    .split_once('.')
                    .and_then(|(major, minor)| Some(Version::new(major.parse().ok()?, minor.parse().ok()?)));
                let wrong = || Error::usage(format!("{pointer}: {text:?} is not a version such as 1.4"));
                names.schema_version = Some(version.ok_or_else(wrong)?);
            }
        }
    }
    set_names(path, &names, changes.durability).map(|()| Vec::new())
}

fn change(storage: &mut impl Storage, names: &HeaderNames, durability: Durability) -> Result<()> {
    let len = storage.len()?.min(256);
    let mut old = [0; 256];
    let bytes = old.get_mut(..usize::try_from(len).unwrap_or(0)).unwrap_or_default();
    storage.read_at(0, bytes)?;
    let header = Header::parse(bytes)?;
    let field = |what, new: &Option<String>, own| match new {
        Some(name) => name_field(what, name),
        None => Ok(own),
    };
    let new = Header {
        application: field("application", &names.application, header.application)?,
        schema: field("schema", &names.schema, header.schema)?,
        schema_version: names.schema_version.unwrap_or(header.schema_version),
        ..header
    };
    let new = new.to_bytes();
    let Some(range) = differing(&header.to_bytes(), &new) else { return Ok(()) };
    storage.write_at(range.start as u64, new.get(range).unwrap_or_default())?;
    match durability {
        Durability::Synced => storage.sync_change(),
        Durability::Cached => Ok(()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use container_core::ErrorKind;
    use crash_test::{Operation, RecordingStorage};

    use super::*;

    fn fixture(name: &str) -> Vec<u8> {
        std::fs::read(format!("{}/../../testdata/gsd/ok/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
    }

    fn named(application: &str, schema: &str) -> HeaderNames {
        let (application, schema) = (Some(application.to_owned()), Some(schema.to_owned()));
        HeaderNames { application, schema, schema_version: None }
    }

    #[test]
    fn names_change_in_one_write_within_a_sector() {
        // The offsets of the fields are those of the specification: 64 bytes each from byte 48 on, after the version of the schema.
        for name in ["v1_small.gsd", "be_v1_small.gsd"] {
            let start = fixture(name);
            let mut storage = RecordingStorage::new(start.clone());
            let long = "x".repeat(63);
            let mut names = named(&long, "hoomd");
            names.schema_version = Some(Version::new(1, 4));
            change(&mut storage, &names, Durability::Synced).unwrap();
            let operations = storage.operations();
            assert!(
                matches!(&operations[..], [Operation::Write { at, bytes }, Operation::Sync]
                    if *at + bytes.len() as u64 <= 512),
                "{operations:?}"
            );
            let mut wanted = start;
            let version: [u8; 4] = if name.starts_with("be") { [0, 1, 0, 4] } else { [4, 0, 1, 0] };
            wanted[40..44].copy_from_slice(&version);
            wanted[48..176].fill(0);
            wanted[48..111].fill(b'x');
            wanted[112..117].copy_from_slice(b"hoomd");
            assert!(storage.image() == wanted);
            // Setting the same names again does not write.
            change(&mut storage, &names, Durability::Synced).unwrap();
            assert_eq!(storage.operations().len(), 2);
        }
    }

    #[test]
    fn names_that_do_not_fit_leave_the_file_as_it_was() {
        let start = fixture("v1_small.gsd");
        for names in [named("a", &"x".repeat(64)), named("a\0b", "s"), named(&"é".repeat(32), "s")] {
            let mut storage = RecordingStorage::new(start.clone());
            let error = change(&mut storage, &names, Durability::Synced).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Usage(_)) && error.to_string().contains("63 bytes"));
            assert!(storage.operations().is_empty());
        }
        for other in [&start[..200], b"no gsd"] {
            let mut storage = RecordingStorage::new(other.to_vec());
            assert!(change(&mut storage, &named("a", "b"), Durability::Synced).is_err());
            assert!(storage.operations().is_empty());
        }
    }

    #[test]
    fn failed_sync_reports_an_error_after_change() {
        let mut storage = RecordingStorage::new(fixture("v1_small.gsd"));
        storage.refuse_sync_after(0);
        let error = change(&mut storage, &named("mine", "s"), Durability::Synced).unwrap_err();
        assert!(error.is_after_change());
        assert_eq!(Header::parse(&storage.image()).unwrap().application_name(), "mine");
    }

    /// Changes as the program gives them: `("schema", Some("x"))` sets, `None` removes.
    fn changed(list: &[(&str, Option<&str>)]) -> (Result<Vec<String>>, Vec<u8>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.gsd");
        std::fs::write(&path, fixture("v1_small.gsd")).unwrap();
        let change = |(pointer, value): &(&str, Option<&str>)| {
            let pointer = (*pointer).to_owned();
            match value {
                Some(value) => MetaChange::Set { pointer, value: (*value).to_owned() },
                None => MetaChange::Unset { pointer },
            }
        };
        let list: Vec<MetaChange> = list.iter().map(change).collect();
        let changes = MetadataChanges {
            list: &list,
            replace: Default::default(),
            open: &Default::default(),
            durability: Durability::Cached,
            // Quoted text alone.
            parse: |text| match text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
                Some(text) => Ok(text.into()),
                None => Err(Error::usage("not JSON")),
            },
        };
        let done = change_metadata(&path, &changes);
        (done, std::fs::read(&path).unwrap())
    }

    #[test]
    fn each_field_is_set_by_its_pointer() {
        let old = Header::parse(&fixture("v1_small.gsd")).unwrap();
        let text = |name: &str| name_field("", name).unwrap();
        for (list, new) in [
            (&[("/application", Some("mine 1"))][..], Header { application: text("mine 1"), ..old }),
            (&[("schema", Some("\"quoted\""))], Header { schema: text("quoted"), ..old }),
            (&[("schema_version", Some("2.3"))], Header { schema_version: Version::new(2, 3), ..old }),
            (&[("/schema-version", Some("10.0"))], Header { schema_version: Version::new(10, 0), ..old }),
            (
                &[("application", Some("a")), ("schema", Some("b")), ("application", Some("c"))],
                Header { application: text("c"), schema: text("b"), ..old },
            ),
            (&[], old),
        ] {
            let (done, bytes) = changed(list);
            assert_eq!(done.unwrap(), [""; 0]);
            assert_eq!(Header::parse(&bytes).unwrap(), new);
            assert!(bytes[256..] == fixture("v1_small.gsd")[256..]);
        }
    }

    #[test]
    fn other_fields_and_values_are_refused_before_any_change() {
        for (pointer, value, problem, hint) in [
            (
                "/frames",
                Some("3"),
                "/frames: of a GSD file only application, schema and schema_version change",
                "--set application=NAME",
            ),
            ("/schema/x", Some("3"), "/schema/x: of a GSD file only", "--set application=NAME"),
            ("schema", None, "schema: a GSD file cannot lack it", "--set schema=VALUE"),
            ("/application", None, "/application: a GSD file cannot lack it", "--set application=VALUE"),
            ("schema_version", Some("2"), "schema_version: \"2\" is not a version such as 1.4", ""),
            ("schema_version", Some("2.x"), "is not a version", ""),
            ("schema_version", Some("70000.0"), "is not a version", ""),
        ] {
            let (done, bytes) = changed(&[("schema", Some("new")), (pointer, value)]);
            let error = done.unwrap_err();
            assert!(error.to_string().contains(problem), "{error}");
            assert_eq!(error.hint().unwrap_or_default(), hint);
            assert!(bytes == fixture("v1_small.gsd"));
        }
    }
}
