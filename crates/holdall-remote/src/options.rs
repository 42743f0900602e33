//! Settings of remote reads.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// Settings of remote reads. The default reads public objects without credentials.
#[derive(Clone)]
#[non_exhaustive]
pub struct RemoteOptions {
    /// Headers sent with each request to the origin (scheme, host and port) of the address, and to no other.
    pub headers: Vec<(String, String)>,
    /// Maximum bytes that one source keeps in its cache.
    pub cache_len: u64,
    /// Maximum requests of one source at a time.
    pub max_in_flight: usize,
    /// Maximum time without a byte from the server; then the request is retried.
    pub stall: Duration,
    /// Maximum time for one range of bytes, retries included.
    pub deadline: Duration,
    /// Maximum retries of a range after transient failures: no connection, a body that ends early, status 408, 429 or 5xx.
    pub max_retries: u32,
    /// Proxy of all requests: `http://host:port`.
    pub proxy: Option<String>,
    /// Hosts that are reached without the proxy, with their subdomains; `*` is all.
    pub no_proxy: Vec<String>,
    /// Whether redirects to hosts with private addresses (loopback, private networks, link-local) are refused: for programs whose addresses come from
    /// strangers, and which can reach what these cannot.
    pub refuse_private_redirects: bool,
    /// Whether requests to object stores are sent without credentials.
    pub anon: bool,
    /// Address of an object store other than the provider's own: `http://localhost:9000`. Of an address that begins with `http://` nothing is
    /// encrypted.
    pub endpoint_url: Option<String>,
    /// Region of S3.
    pub region: Option<String>,
    /// Profile in the files of AWS.
    pub profile: Option<String>,
    /// Further settings of object stores, credentials included, by the names of the environment variables for them: `AWS_ACCESS_KEY_ID`,
    /// `GOOGLE_APPLICATION_CREDENTIALS`, `AZURE_STORAGE_ACCOUNT_NAME`. Letter case is ignored, and so are unknown names.
    pub settings: Vec<(String, String)>,
    /// Files of AWS with profiles: `~/.aws/config` and `~/.aws/credentials`. Files that do not exist are ignored.
    pub aws_files: Vec<PathBuf>,
}

impl Default for RemoteOptions {
    fn default() -> Self {
        Self {
            headers: Vec::new(),
            cache_len: 64 << 20,
            max_in_flight: 16,
            stall: Duration::from_secs(30),
            deadline: Duration::from_secs(180),
            max_retries: 5,
            proxy: None,
            no_proxy: Vec::new(),
            refuse_private_redirects: false,
            anon: false,
            endpoint_url: None,
            region: None,
            profile: None,
            settings: Vec::new(),
            aws_files: Vec::new(),
        }
    }
}

impl RemoteOptions {
    /// Takes the settings that environment variables have by custom: `HTTPS_PROXY` or `ALL_PROXY` and `NO_PROXY`, `AWS_*`, `GOOGLE_*`, `AZURE_*`, and
    /// `HOME` for the files of AWS. Options that are set already stay.
    pub fn add_environment(&mut self, variables: impl IntoIterator<Item = (OsString, OsString)>) {
        let mut home = None;
        let (mut config, mut credentials) = (None, None);
        let mut proxies: [Option<String>; 2] = [None, None];
        for (name, value) in variables {
            let Some(name) = name.to_str().filter(|name| is_variable(name)).map(str::to_ascii_uppercase)
            else {
                continue;
            };
            if value.is_empty() {
                continue;
            }
            match name.as_str() {
                // Windows has no HOME.
                "HOME" | "USERPROFILE" => home = Some(PathBuf::from(value)),
                "AWS_CONFIG_FILE" => config = Some(PathBuf::from(value)),
                "AWS_SHARED_CREDENTIALS_FILE" => credentials = Some(PathBuf::from(value)),
                _ => {
                    let Some(value) = value.to_str().map(str::to_owned) else { continue };
                    match name.as_str() {
                        "HTTPS_PROXY" => proxies[0] = Some(value),
                        "ALL_PROXY" => proxies[1] = Some(value),
                        "NO_PROXY" if self.no_proxy.is_empty() => {
                            self.no_proxy = value.split(',').map(|host| host.trim().to_owned()).collect();
                        }
                        "AWS_PROFILE" => self.profile = self.profile.take().or(Some(value)),
                        _ => self.settings.push((name, value)),
                    }
                }
            }
        }
        let [https, all] = proxies;
        self.proxy = self.proxy.take().or(https).or(all);
        if self.aws_files.is_empty() {
            let in_home = |name: &str| home.as_ref().map(|home| home.join(".aws").join(name));
            let files =
                [config.or_else(|| in_home("config")), credentials.or_else(|| in_home("credentials"))];
            self.aws_files = files.into_iter().flatten().collect();
        }
    }
}

/// Names of headers and settings are shown, their values and the proxy's address are not: they may be secret.
impl fmt::Debug for RemoteOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        let settings: Vec<&str> = self.settings.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("RemoteOptions")
            .field("headers", &headers)
            .field("cache_len", &self.cache_len)
            .field("max_in_flight", &self.max_in_flight)
            .field("stall", &self.stall)
            .field("deadline", &self.deadline)
            .field("max_retries", &self.max_retries)
            .field("has_proxy", &self.proxy.is_some())
            .field("no_proxy", &self.no_proxy)
            .field("refuse_private_redirects", &self.refuse_private_redirects)
            .field("anon", &self.anon)
            .field("has_endpoint_url", &self.endpoint_url.is_some())
            .field("region", &self.region)
            .field("profile", &self.profile)
            .field("settings", &settings)
            .field("aws_files", &self.aws_files)
            .finish()
    }
}

/// Whether [`RemoteOptions::add_environment`] reads a variable of this name, in any case.
#[must_use]
pub fn is_variable(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    ["AWS_", "GOOGLE_", "AZURE_"].iter().any(|start| name.starts_with(start))
        || ["HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "HOME", "USERPROFILE"].contains(&name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_has_no_secret() {
        let options = RemoteOptions {
            headers: vec![("Authorization".into(), "Bearer SECRET".into())],
            proxy: Some("http://user:SECRET@proxy".into()),
            endpoint_url: Some("http://user:SECRET@store".into()),
            settings: vec![("AWS_SESSION_TOKEN".into(), "SECRET".into())],
            ..RemoteOptions::default()
        };
        let shown = format!("{options:?}");
        assert!(shown.contains("Authorization") && !shown.contains("SECRET"), "{shown}");
    }

    #[test]
    fn the_environment_does_not_replace_what_is_set() {
        let of = |variables: &[(&str, &str)], options: RemoteOptions| {
            let mut options = options;
            options.add_environment(variables.iter().map(|(name, value)| ((*name).into(), (*value).into())));
            options
        };
        let variables = [
            ("all_proxy", "http://all"),
            ("https_proxy", "http://https"),
            ("NO_PROXY", "localhost, .example.org"),
            ("AWS_PROFILE", "work"),
            ("AWS_ACCESS_KEY_ID", "key"),
            ("AZURE_STORAGE_ACCOUNT_NAME", "account"),
            ("HOME", "/root-of-a"),
            ("AWS_CONFIG_FILE", "/etc/aws"),
            ("PATH", "/bin"),
            ("AWS_REGION", ""),
        ];
        let options = of(&variables, RemoteOptions::default());
        assert_eq!(options.proxy.as_deref(), Some("http://https"));
        assert_eq!(options.no_proxy, ["localhost", ".example.org"]);
        assert_eq!(options.profile.as_deref(), Some("work"));
        let names: Vec<_> = options.settings.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["AWS_ACCESS_KEY_ID", "AZURE_STORAGE_ACCOUNT_NAME"]);
        assert_eq!(
            options.aws_files,
            [PathBuf::from("/etc/aws"), PathBuf::from("/root-of-a/.aws/credentials")]
        );
        let mine = RemoteOptions {
            proxy: Some("http://mine".into()),
            profile: Some("mine".into()),
            aws_files: vec!["/mine".into()],
            ..RemoteOptions::default()
        };
        let options = of(&variables, mine);
        assert_eq!(
            (options.proxy.as_deref(), options.profile.as_deref()),
            (Some("http://mine"), Some("mine"))
        );
        assert_eq!(options.aws_files, [PathBuf::from("/mine")]);
    }
}
