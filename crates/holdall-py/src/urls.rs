//! Files at URLs, with the settings of a call and of the environment.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use container_core::source::{Addresses, Source};
use holdall::address::{is_url, shown};
use holdall::remote::{RemoteOptions, addresses, is_variable};
use holdall::{Error, Limits, Result};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::{raise, raise_at};
use crate::patient::patiently;

/// Most clients that are kept, each with its connections.
const MAX_CLIENTS: usize = 32;

/// Settings by their names, as `holdall.open` takes them. Those of headers are `header:NAME`.
type Settings = Vec<(String, String)>;

/// A client, with its settings and those of the environment.
struct Client {
    settings: Settings,
    environment: Settings,
    addresses: Arc<dyn Addresses>,
}

/// The clients that were used last, the latest last.
static CLIENTS: Mutex<Vec<Client>> = Mutex::new(Vec::new());

/// URLs as addresses of files.
#[derive(Debug)]
pub(crate) struct Urls(pub(crate) Settings);

impl Addresses for Urls {
    fn open(&self, address: &Path, limits: &Limits) -> Option<Result<Box<dyn Source>>> {
        if !is_url(address) {
            return None;
        }
        match client(&self.0) {
            Ok(client) => client.open(address, limits),
            Err(error) => Some(Err(error)),
        }
    }

    fn list(&self, address: &Path, extensions: &[&str], limits: &Limits) -> Option<Result<Vec<PathBuf>>> {
        if !is_url(address) {
            return None;
        }
        match client(&self.0) {
            Ok(client) => client.list(address, extensions, limits),
            Err(error) => Some(Err(error)),
        }
    }
}

/// The client for settings: files share its connections.
fn client(settings: &Settings) -> Result<Arc<dyn Addresses>> {
    let environment = environment().map_err(|_| Error::usage("the environment is no text"))?;
    let mut clients = CLIENTS.lock().unwrap_or_else(PoisonError::into_inner);
    let fits = |client: &Client| client.settings == *settings && client.environment == environment;
    let client = match clients.iter().position(fits) {
        Some(at) => clients.remove(at),
        None => {
            let addresses = addresses(options(settings, &environment)?);
            Client { settings: settings.clone(), environment, addresses }
        }
    };
    let addresses = Arc::clone(&client.addresses);
    if clients.len() >= MAX_CLIENTS {
        clients.remove(0);
    }
    clients.push(client);
    Ok(addresses)
}

/// The variables of `os.environ` that matter. Python's own: the C library's must not be read while another thread sets one.
fn environment() -> PyResult<Settings> {
    Python::attach(|py| {
        let all: std::collections::BTreeMap<String, String> =
            py.import("os")?.getattr("environ")?.call_method0("copy")?.extract()?;
        Ok(all.into_iter().filter(|(name, _)| is_variable(name)).collect())
    })
}

fn options(settings: &Settings, environment: &Settings) -> Result<RemoteOptions> {
    let mut options = RemoteOptions::default();
    let mut given = Vec::new();
    for (name, value) in settings {
        let value = value.clone();
        match name.as_str() {
            "anon" => options.anon = value == "True",
            "endpoint_url" => options.endpoint_url = Some(value),
            "region" => options.region = Some(value),
            "profile" => options.profile = Some(value),
            "proxy" => options.proxy = Some(value),
            "refuse_private_redirects" => options.refuse_private_redirects = value == "True",
            "deadline" => {
                let seconds =
                    value.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
                let invalid = || Error::usage(format!("invalid deadline {value:?} (expected seconds)"));
                options.deadline = seconds.filter(|deadline| !deadline.is_zero()).ok_or_else(invalid)?;
            }
            // fsspec's words for the same.
            "key" => given.push(("AWS_ACCESS_KEY_ID".to_owned(), value)),
            "secret" => given.push(("AWS_SECRET_ACCESS_KEY".to_owned(), value)),
            "token" => given.push(("AWS_SESSION_TOKEN".to_owned(), value)),
            "account_name" => given.push(("AZURE_STORAGE_ACCOUNT_NAME".to_owned(), value)),
            "account_key" => given.push(("AZURE_STORAGE_ACCOUNT_KEY".to_owned(), value)),
            "sas_token" => given.push(("AZURE_STORAGE_SAS_TOKEN".to_owned(), value)),
            _ => match name.strip_prefix("header:") {
                Some(header) => options.headers.push((header.to_owned(), value)),
                None => given.push((name.to_ascii_uppercase(), value)),
            },
        }
    }
    let variables = environment.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
    options.add_environment(variables);
    // What a call gives replaces what the environment has.
    options.settings.extend(given);
    Ok(options)
}

/// Whether a text is a URL rather than a path.
#[pyfunction]
pub(crate) fn is_url_text(text: &str) -> bool {
    is_url(Path::new(text))
}

/// A path or URL without what may be secret.
#[pyfunction]
pub(crate) fn shown_address(text: &str) -> String {
    shown(Path::new(text))
}

/// Bytes of the file at a URL, which is opened for them once more.
#[pyclass(frozen, module = "holdall._holdall")]
pub(crate) struct UrlBytes {
    source: Arc<dyn Source>,
}

#[pymethods]
impl UrlBytes {
    #[new]
    fn new(py: Python<'_>, text: PathBuf, settings: Settings) -> PyResult<Self> {
        let address = text.clone();
        let opened = patiently(py, None, move |_, _| Urls(settings).open(&address, &Limits::default()))?;
        let opened = opened.unwrap_or_else(|| Err(Error::usage("not a URL")));
        Ok(Self { source: opened.map_err(|error| raise_at(error, &text))?.into() })
    }

    /// The bytes from `start` to `stop`, fewer at the end of the file.
    fn read<'py>(&self, py: Python<'py>, start: u64, stop: u64) -> PyResult<Bound<'py, PyBytes>> {
        let source = Arc::clone(&self.source);
        let read = patiently(py, None, move |_, _| {
            let stop = stop.min(source.len());
            let len = stop.saturating_sub(start);
            Limits::default().allocate(len)?;
            Ok(source.read(start.min(stop)..stop)?.into_owned())
        })?;
        Ok(PyBytes::new(py, &read.map_err(raise)?))
    }
}

/// The files that the address of a pattern or a folder in a bucket names; None for other addresses.
#[pyfunction]
pub(crate) fn list_address(
    py: Python<'_>,
    text: PathBuf,
    settings: Settings,
) -> PyResult<Option<Vec<OsString>>> {
    let extensions: Vec<&str> =
        holdall::formats::containers(&[]).flat_map(|format| format.extensions).copied().collect();
    let listed = py.detach(|| Urls(settings).list(&text, &extensions, &Limits::default()));
    let listed = listed.transpose().map_err(|error| raise_at(error, &text))?;
    Ok(listed.map(|paths| paths.into_iter().map(PathBuf::into_os_string).collect()))
}
