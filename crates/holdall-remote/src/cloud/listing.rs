//! The objects in a bucket whose keys fit a pattern.

use container_core::{Error, Limits, Result};
use futures_util::StreamExt as _;
use globset::{GlobBuilder, GlobMatcher};
use object_store::ObjectStore as _;
use object_store::path::Path as Key;

use super::transport::Answers;
use super::{Bucket, no_credentials};
use crate::answer::{failure_of, malformed};
use crate::remote_url::PATTERN_LETTERS;
use crate::retry::Retries;
use crate::store::Failure;

/// Keys that one pattern may name. Their addresses are held in memory.
const MAX_KEYS: usize = 100_000;

/// The kind of keys that are listed.
enum Fits<'a> {
    /// `*` is a part of a name, `**` any number of folders.
    Pattern(GlobMatcher),
    /// Those below a folder with one of these extensions.
    Below(&'a [&'a str]),
}

impl Fits<'_> {
    fn fits(&self, key: &str) -> bool {
        match self {
            Self::Pattern(pattern) => pattern.is_match(key),
            Self::Below(extensions) => {
                let name = key.rsplit('/').next().unwrap_or_default();
                name.rsplit_once('.')
                    .is_some_and(|(_, end)| extensions.iter().any(|known| known.eq_ignore_ascii_case(end)))
            }
        }
    }
}

impl Bucket {
    /// The keys that the key of the bucket's address names, sorted: a pattern with `*`, `?` or `[…]`, or a folder, which ends with `/` or is empty, with
    /// the objects below it that have one of `extensions`.
    ///
    /// # Errors
    /// `Usage` for an invalid pattern, and where nothing fits; `Limit` beyond 100,000 keys; `Io` where the store fails or refuses; `Cancelled`.
    pub(crate) fn list(&self, pattern: &str, extensions: &[&str], limits: &Limits) -> Result<Vec<String>> {
        let special = pattern.find(PATTERN_LETTERS);
        let fits = if special.is_some() {
            let parsed = GlobBuilder::new(pattern).literal_separator(true).backslash_escape(false).build();
            let parsed =
                parsed.map_err(|error| Error::usage(format!("invalid pattern: {}", error.kind())))?;
            Fits::Pattern(parsed.compile_matcher())
        } else {
            Fits::Below(extensions)
        };
        // Only what is below the folders before the first letter with a meaning.
        let literal = special.and_then(|at| pattern.get(..at)).unwrap_or(pattern);
        let folder = literal.rsplit_once('/').map_or("", |(folder, _)| folder);
        let folder = Key::parse(folder).map_err(|_| Error::usage("invalid folder of a pattern"))?;
        let mut keys = Vec::new();
        let (mut last, mut held): (Option<Key>, u64) = (None, 0);
        let mut retries = Retries::new(self.transport().connections().options(), limits.stop);
        while let Err(failure) = self.list_from(&folder, &mut last, &fits, (&mut keys, &mut held), limits) {
            match failure {
                Ended::Again => limits.stop.check()?,
                Ended::By(failure) => retries.wait(failure)?,
            }
        }
        if keys.is_empty() && special.is_some() && !pattern.contains(['*', '?']) {
            // Brackets may be a part of the name.
            return Ok(vec![pattern.to_owned()]);
        }
        if keys.is_empty() {
            return Err(Error::usage("no object fits this pattern"));
        }
        keys.sort_unstable();
        Ok(keys)
    }

    /// Lists what comes after `last`, which moves on with the listing, into keys and the bytes that they take.
    fn list_from(
        &self,
        folder: &Key,
        last: &mut Option<Key>,
        fits: &Fits<'_>,
        (keys, held): (&mut Vec<String>, &mut u64),
        limits: &Limits,
    ) -> Result<(), Ended> {
        let store = self.store();
        let prefix = (!folder.as_ref().is_empty()).then_some(folder);
        let mut listed = match last {
            Some(last) => store.list_with_offset(prefix, last),
            None => store.list(prefix),
        };
        loop {
            let (answers, next) = self.transport().answers_of(|| pollster::block_on(listed.next()));
            limits.stop.check().map_err(Failure::fatal)?;
            let object = match next {
                None => return Ok(()),
                Some(Ok(object)) => object,
                Some(Err(error)) => return Err(self.failed(&error, answers)?),
            };
            let key = object.location.as_ref();
            if fits.fits(key) {
                *held = held.saturating_add(key.len() as u64).saturating_add(64);
                if keys.len() >= MAX_KEYS || *held > limits.memory / 4 {
                    let error = Error::limit(
                        "objects that fit the pattern",
                        keys.len() as u64 + 1,
                        keys.len() as u64,
                    );
                    return Err(Failure::fatal(
                        error.with_hint("name fewer of them: s3://bucket/2026-01/*.gsd"),
                    )
                    .into());
                }
                keys.push(key.to_owned());
            }
            *last = Some(object.location);
        }
    }

    /// The end of a listing that failed. The library's message is not shown: it may have the address with a signature in it.
    fn failed(&self, error: &object_store::Error, answers: Answers) -> Result<Ended, Failure> {
        if matches!(error, object_store::Error::InvalidPath { .. }) {
            let problem = "a key in this folder has empty parts, . or .. (unsupported)";
            let error = Error::from(std::io::Error::new(std::io::ErrorKind::InvalidData, problem));
            return Ok(Ended::By(Failure::fatal(error.with_hint("name the objects one by one"))));
        }
        Ok(match answers.other {
            // Nothing could be asked without credentials.
            None if self.stop_seeking().map_err(Failure::fatal)? => Ended::Again,
            None => Ended::By(Failure::fatal(no_credentials())),
            Some(Err(failure)) => Ended::By(failure),
            Some(Ok((status, headers))) if self.moves(status, &headers)? => Ended::Again,
            Some(Ok((status, headers))) if !status.is_success() => {
                let mut failure = failure_of(status, &headers, None);
                if matches!(status.as_u16(), 401 | 403)
                    && let Some(hint) = self.hint_at_credentials()
                {
                    failure.error = failure.error.with_hint(hint);
                }
                Ended::By(failure)
            }
            Some(Ok(_)) => Ended::By(malformed("invalid list of the object store")),
        })
    }
}

/// The reason for which a listing ended before its end.
enum Ended {
    By(Failure),
    /// The same request is made again, to another region or without credentials.
    Again,
}

impl From<Failure> for Ended {
    fn from(failure: Failure) -> Self {
        Self::By(failure)
    }
}
