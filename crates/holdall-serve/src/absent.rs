//! The server of a build without the feature `serve`: one that cannot be.

use std::convert::Infallible;

use container_core::{Error, Result};

use crate::{NamedFile, Options};

/// A server that listens: none in this build.
pub struct Server(Infallible);

impl Server {
    /// Refuses.
    ///
    /// # Errors
    /// `Unsupported`, which names the feature.
    pub fn bind(_: Vec<NamedFile>, _: Options) -> Result<Self> {
        Err(Error::unsupported("files cannot be shown in the browser: built without the feature `serve`"))
    }

    /// The address for a browser.
    #[must_use]
    pub fn address(&self) -> String {
        match self.0 {}
    }

    /// The port and the token, for programs.
    #[must_use]
    pub fn port_and_token(&self) -> (u16, &str) {
        match self.0 {}
    }

    /// Answers requests.
    ///
    /// # Errors
    /// None: there is no such server.
    pub fn run(self) -> Result<()> {
        match self.0 {}
    }
}
