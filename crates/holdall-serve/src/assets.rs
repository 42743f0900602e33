//! The page, as `cargo xtask web` has built it.

use hyper::header::{self, HeaderValue};
use hyper::{Response, StatusCode};

use crate::reply::{Body, respond};

/// Path, type, whether it is compressed, and bytes of each file.
type Asset = (&'static str, &'static str, bool, &'static [u8]);

const ASSETS: [Asset; 4] = [
    ("/", "text/html; charset=utf-8", false, include_bytes!("../assets/index.html")),
    ("/app.js", "text/javascript; charset=utf-8", true, include_bytes!("../assets/app.js.gz")),
    ("/app.css", "text/css; charset=utf-8", true, include_bytes!("../assets/app.css.gz")),
    ("/licences.txt", "text/plain; charset=utf-8", true, include_bytes!("../assets/licences.txt.gz")),
];

/// The file of the page at a path.
pub(crate) fn find(path: &str) -> Option<Response<Body>> {
    let (_, content_type, is_compressed, bytes) = ASSETS.iter().find(|(name, ..)| *name == path)?;
    let mut response = respond(StatusCode::OK, content_type, Body::whole(bytes::Bytes::from_static(bytes)));
    if *is_compressed {
        response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    Some(response)
}
