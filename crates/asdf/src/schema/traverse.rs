//! Traverses a tree: validates each tagged value against the schemas of its tag, and checks literals and keys.

use container_core::{Limits, Result};

use super::WorkLimit;
use super::compiled::CompiledSchemas;
use super::manifest::Tags;
use super::resource::Resources;
use super::validate::{Validator, is_reference};
use super::{Note, NoteKind, Options, Report, Schemas, messages};
use crate::header::Version;
use crate::yaml::{Document, Int, Kind, Node, Scalar};

/// The standard's bounds of integers that are written as literals ("Known limits"), including the uneven lower one.
const LITERAL_RANGE: std::ops::RangeInclusive<i128> = -((1 << 63) - 2)..=(1 << 63) - 1;

/// The first version that allows only text, integers and truth values as keys.
const STRICT_KEYS_SINCE: Version = Version { major: 1, minor: 6, patch: 0 };

pub(super) fn validate(document: &Document, options: &Options<'_>) -> Result<Report> {
    let none = Schemas::new();
    let added = options.schemas.unwrap_or(&none);
    let standard = options.standard.unwrap_or(Version::LAST_STANDARD);
    // Read when the first tag is met: a tree of plain values needs none.
    let mut known_tags = None;
    let mut validator =
        Validator::new(CompiledSchemas::new(Resources::new(added)), WorkLimit::new(options.max_steps));
    let mut report = Report { complete: true, ..Report::default() };
    document.walk(false, &Limits::default(), &mut |path, node| {
        if report.violations.len() >= options.max_violations {
            report.complete = false;
            return Ok(false);
        }
        if is_reference(node) {
            return Ok(false);
        }
        note_literals_and_keys(path, node, standard, &mut report);
        let Some(tag) = node.tag().filter(|tag| !is_plain(tag)) else { return Ok(true) };
        let tags = match &mut known_tags {
            Some(tags) => tags,
            none => none.insert(Tags::of(standard, added)?),
        };
        let Some(known) = tags.get(tag) else {
            report.note(NoteKind::UnknownTag, path, node, tag, || format!("no schema for tag {tag}"));
            return Ok(true);
        };
        if !known.current {
            report.note(NoteKind::OtherStandard, path, node, tag, || {
                format!(
                    "tag {tag} is not part of version {standard} of the standard; its schema was used anyway"
                )
            });
        }
        for uri in &known.schemas {
            match validator.find(uri)? {
                Some(schema) => validator.validate(path, node, schema, &mut report.violations)?,
                None => validator.note_missing_schema(uri),
            }
        }
        Ok(true)
    })?;
    if let Some(uri) = options.custom {
        match validator.find(uri)? {
            Some(schema) => validator.validate("", document.root(), schema, &mut report.violations)?,
            None => validator.note_missing_schema(uri),
        }
    }
    for uri in std::mem::take(&mut validator.missing) {
        report.note(NoteKind::MissingSchema, "", document.root(), &uri, || {
            format!("unknown schema {uri}: references to it were not checked")
        });
    }
    if report.violations.len() > options.max_violations {
        report.violations.truncate(options.max_violations);
        report.complete = false;
    }
    Ok(report)
}

/// True for a tag of YAML's own, which has no schema.
fn is_plain(tag: &str) -> bool {
    tag.starts_with("tag:yaml.org,2002:") || tag == "!"
}

/// Literals beyond 64 bits, and keys of kinds that are not allowed.
fn note_literals_and_keys(path: &str, node: Node<'_>, standard: Version, report: &mut Report) {
    match node.kind() {
        Kind::Scalar => literal(path, node, report),
        Kind::Sequence => {}
        Kind::Mapping => {
            for (key, _) in node.entries() {
                literal(path, key, report);
                let allowed = matches!(
                    key.scalar(),
                    Some(Scalar::Text(_) | Scalar::Int(_) | Scalar::Bool(_) | Scalar::Merge)
                ) && key.tag().is_none_or(is_plain);
                if !allowed && standard >= STRICT_KEYS_SINCE {
                    report.note(NoteKind::Key, path, key, key.text(), || {
                        format!("key {} is neither text nor integer nor truth value", messages::value(key))
                    });
                }
            }
        }
    }
}

fn literal(path: &str, node: Node<'_>, report: &mut Report) {
    let fits = match node.scalar() {
        Some(Scalar::Int(Int::Small(value))) => LITERAL_RANGE.contains(&value),
        Some(Scalar::Int(Int::Big(_))) => false,
        _ => true,
    };
    if !fits {
        report.note(NoteKind::LargeInteger, path, node, node.text(), || {
            format!(
                "integer {} does not fit the 64 bits of literals (core/integer can store it)",
                messages::value(node)
            )
        });
    }
}

impl Report {
    /// Adds a note, or counts it where there is one of the same kind and subject.
    fn note(
        &mut self,
        kind: NoteKind,
        path: &str,
        node: Node<'_>,
        about: &str,
        message: impl FnOnce() -> String,
    ) {
        if let Some(known) = self.notes.iter_mut().find(|note| note.kind == kind && note.about == about) {
            known.count = known.count.saturating_add(1);
        } else if self.notes.len() < 1000 {
            let (about, message) = (about.to_owned(), message());
            self.notes.push(Note {
                kind,
                path: path.to_owned(),
                range: node.span(),
                about,
                message,
                count: 1,
            });
        } else {
            self.complete = false;
        }
    }
}
