//! Wraps the YAML library, which only this module uses: its events with byte ranges, and its errors as ours.

use std::borrow::Cow;
use std::ops::Range;

use container_core::Error;
use granit_parser::{
    ErrorKind, Event as Theirs, Options, Parser, ScalarStyle as TheirStyle, StrInput, StructureStyle,
};

use crate::{Collection, Kind, Origin, ScalarStyle, YamlLimits};

/// Parser event: the next part of the text.
pub(crate) enum Event<'t> {
    /// The document begins after the range.
    Document,
    /// A scalar with its text after escapes and folding, and for literal and folded ones the columns of its lines; text and range are empty for an
    /// absent value.
    Scalar(Cow<'t, str>, ScalarStyle, Option<Tag>, Option<usize>),
    /// A collection begins.
    Open(Kind, Collection, Option<Tag>),
    /// The innermost collection ends.
    Close,
    /// `*name`, which is the range.
    Alias,
    /// `&name` of the node of the last event, which is the range.
    Anchor,
}

/// A tag in two parts, the handle replaced by its prefix.
pub(crate) struct Tag {
    prefix: String,
    suffix: String,
    /// Its bytes in the text.
    pub(crate) range: Range<usize>,
}

impl Tag {
    /// Writes the whole tag into `buffer`, replacing its contents.
    pub(crate) fn write(&self, buffer: &mut String) {
        buffer.clear();
        buffer.push_str(&self.prefix);
        buffer.push_str(&self.suffix);
    }
}

/// Reason for a missing event.
pub(crate) enum Failure {
    /// A dash before the end of an item in a flow collection, which libyaml takes for plain text.
    Dash(Error),
    /// Any other error.
    Other(Error),
}

impl Failure {
    /// Returns the error to report.
    pub(crate) fn error(self) -> Error {
        let (Self::Dash(error) | Self::Other(error)) = self;
        error
    }
}

/// The events of one document.
pub(crate) struct Events<'t> {
    parser: Parser<'t, StrInput<'t>>,
    origin: Origin,
    depth: usize,
    documents: usize,
}

impl<'t> Events<'t> {
    /// Reads `text`, which is from `origin`.
    pub(crate) fn new(text: &'t str, origin: Origin, limits: &YamlLimits) -> Self {
        let mut options = Options::default();
        options.emit_anchor_events = true;
        options.set_emit_comments(false);
        // The option of libyaml, which PyYAML reads with.
        options.block_scalar_eof_without_line_feed = true;
        options.bom_inside_document_as_content = true;
        options.flow_nesting_limit = limits.depth;
        options.block_nesting_limit = limits.depth;
        Self {
            parser: Parser::new_from_str_with_options(text, options),
            origin,
            depth: limits.depth,
            documents: 0,
        }
    }

    /// The next event with its bytes in the text; `None` at the end.
    ///
    /// # Errors
    /// `Malformed` for text that is not YAML or a second document; `Limit` for nesting.
    pub(crate) fn next(&mut self) -> Result<Option<(Event<'t>, Range<usize>)>, Failure> {
        loop {
            let Some(next) = self.parser.next_event() else { return Ok(None) };
            let (event, span) = next.map_err(|error| self.failure(&error))?;
            let range = span.byte_range().unwrap_or_default();
            let event = match event {
                Theirs::StreamEnd => return Ok(None),
                Theirs::DocumentStart(_, version) => {
                    if let Some(version) = version
                        && (version.major != 1 || !matches!(version.minor, 1 | 2))
                    {
                        let what = format!(
                            "unsupported YAML version {}.{} (expected 1.1)",
                            version.major, version.minor
                        );
                        return Err(Failure::Other(self.origin.at(&range, Error::unsupported(what))));
                    }
                    self.documents = self.documents.saturating_add(1);
                    if self.documents > 1 {
                        let what = "a second YAML document (expected one)";
                        return Err(Failure::Other(self.origin.malformed(&range, what)));
                    }
                    Event::Document
                }
                Theirs::Alias(_) | Theirs::UnresolvedAlias(_) => Event::Alias,
                Theirs::Anchor(..) => Event::Anchor,
                Theirs::Scalar(text, style, _, tag) => {
                    // The library gives `~` for an absent scalar.
                    let text =
                        if range.is_empty() && style == TheirStyle::Plain { Cow::Borrowed("") } else { text };
                    Event::Scalar(text, own_style(style), own_tag(tag, &span), span.indent)
                }
                Theirs::SequenceStart(style, _, tag) => {
                    Event::Open(Kind::Sequence, own_layout(style), own_tag(tag, &span))
                }
                Theirs::MappingStart(style, _, tag) => {
                    Event::Open(Kind::Mapping, own_layout(style), own_tag(tag, &span))
                }
                Theirs::SequenceEnd | Theirs::MappingEnd => Event::Close,
                // The beginning of the stream and the ends of documents.
                _ => continue,
            };
            return Ok(Some((event, range)));
        }
    }

    fn failure(&self, error: &granit_parser::ScanError) -> Failure {
        let is_dash = matches!(error.kind(), ErrorKind::PlainScalarStartsWithDashFlowIndicator);
        let error = self.origin.named(self.error(error));
        if is_dash { Failure::Dash(error) } else { Failure::Other(error) }
    }

    fn error(&self, error: &granit_parser::ScanError) -> Error {
        let marker = error.marker();
        if matches!(error.kind(), ErrorKind::RecursionLimitExceeded) {
            let allowed = self.depth as u64;
            return Error::limit("depth of the tree", allowed.saturating_add(1), allowed);
        }
        let at = marker.byte_offset().unwrap_or_default();
        let column = marker.col().saturating_add(1);
        let what = format!("invalid YAML at line {}, column {column}: {}", marker.line(), error.info());
        self.origin.malformed(&(at..at.saturating_add(1)), what)
    }
}

fn own_tag(tag: Option<Cow<'_, granit_parser::Tag>>, span: &granit_parser::Span) -> Option<Tag> {
    let tag = tag?;
    let range = span.tag_span().and_then(|span| span.byte_range()).unwrap_or_default();
    Some(Tag { prefix: tag.handle().to_owned(), suffix: tag.suffix().to_owned(), range })
}

const fn own_style(style: TheirStyle) -> ScalarStyle {
    match style {
        TheirStyle::Plain => ScalarStyle::Plain,
        TheirStyle::SingleQuoted => ScalarStyle::SingleQuoted,
        TheirStyle::DoubleQuoted => ScalarStyle::DoubleQuoted,
        TheirStyle::Literal => ScalarStyle::Literal,
        TheirStyle::Folded => ScalarStyle::Folded,
    }
}

const fn own_layout(style: StructureStyle) -> Collection {
    match style {
        StructureStyle::Block => Collection::Block,
        StructureStyle::Flow => Collection::Flow,
    }
}
