//! Profiles in the files of AWS: `~/.aws/config` and `~/.aws/credentials`
//! (<https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html>).

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::Path;

use container_core::{Error, Result};

/// Longest file that is read.
const MAX_FILE: u64 = 1 << 20;

/// Settings of a profile that are taken, and the variables of the environment for the same.
const SETTINGS: [(&str, &str); 5] = [
    ("aws_access_key_id", "AWS_ACCESS_KEY_ID"),
    ("aws_secret_access_key", "AWS_SECRET_ACCESS_KEY"),
    ("aws_session_token", "AWS_SESSION_TOKEN"),
    ("region", "AWS_REGION"),
    ("endpoint_url", "AWS_ENDPOINT_URL"),
];

/// Settings that name another source of credentials, which the command `aws` can ask.
const ELSEWHERE: [&str; 5] =
    ["sso_session", "sso_start_url", "role_arn", "credential_process", "web_identity_token_file"];

/// The settings of profile `name` in `files`, by the variables of the environment for the same. Without a name, those of `default`, if there is one.
///
/// # Errors
/// `Usage` for a named profile that no file has, and for one whose credentials are elsewhere; `Io` for a file that cannot be read.
pub(super) fn read(files: &[impl AsRef<Path>], name: Option<&str>) -> Result<Vec<(&'static str, String)>> {
    let mut found = None;
    for file in files {
        if let Some(text) = text(file.as_ref())? {
            for (key, value) in section(&text, name.unwrap_or("default")).into_iter().flatten() {
                found.get_or_insert_with(BTreeMap::new).insert(key, value);
            }
        }
    }
    let Some(found) = found else {
        let Some(name) = name else { return Ok(Vec::new()) };
        let error = Error::usage(format!("no profile {name:?} in the files of AWS"));
        return Err(error.with_hint("profiles are in ~/.aws/config and ~/.aws/credentials"));
    };
    if !found.contains_key("aws_access_key_id")
        && let Some(other) = ELSEWHERE.iter().find(|key| found.contains_key(**key))
    {
        // A default that nobody asked for is not an error: the bucket may be public.
        let Some(name) = name else { return Ok(Vec::new()) };
        let error = Error::unsupported(format!("profile {name:?} has its credentials elsewhere ({other})"));
        return Err(error.with_hint("eval \"$(aws configure export-credentials --format env)\""));
    }
    Ok(SETTINGS.iter().filter_map(|(key, variable)| Some((*variable, found.get(*key)?.clone()))).collect())
}

fn text(path: &Path) -> Result<Option<String>> {
    let in_file = |error: std::io::Error| Error::from(error).in_file(path.display().to_string());
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(in_file(error)),
    };
    let mut text = Vec::new();
    file.take(MAX_FILE).read_to_end(&mut text).map_err(in_file)?;
    Ok(Some(String::from_utf8_lossy(&text).into_owned()))
}

/// The settings of `[name]` or `[profile name]`; `None` without such a section. Indented lines belong to the setting above them.
fn section(text: &str, name: &str) -> Option<Vec<(String, String)>> {
    let mut settings = None;
    let mut is_inside = false;
    for line in text.lines() {
        let is_nested = line.starts_with([' ', '\t']);
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(header) =
            line.strip_prefix('[').and_then(|rest| rest.split_once(']')).map(|(header, _)| header.trim())
        {
            let profile = header.strip_prefix("profile").filter(|rest| rest.starts_with([' ', '\t']));
            is_inside = profile.map_or(header, str::trim) == name;
            if is_inside {
                settings.get_or_insert_with(Vec::new);
            }
            continue;
        }
        if let (true, false, Some((key, value))) = (is_inside, is_nested, line.split_once('=')) {
            // A comment after a value begins with a space and a mark.
            let value = value.split(" #").next().unwrap_or_default().split(" ;").next().unwrap_or_default();
            let setting = (key.trim().to_ascii_lowercase(), value.trim().to_owned());
            settings.get_or_insert_with(Vec::new).push(setting);
        }
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = "\
# comment
[default]
region = eu-west-1 ; near
s3 =
  addressing_style = path
  region = nested
[profile work]
Region=us-west-2
endpoint_url = http://localhost:9000 # local
[profile sso]
sso_session = corp
[services work]
region = no
";
    const CREDENTIALS: &str = "\
[default]
aws_access_key_id = DEFAULT
aws_secret_access_key = a=b/c+d#e
[work]
aws_access_key_id=WORK
aws_secret_access_key=w
aws_session_token=t
";

    fn profile(name: Option<&str>) -> Result<Vec<(&'static str, String)>> {
        let folder = tempfile::tempdir().unwrap();
        let files = ["config", "credentials", "absent"].map(|name| folder.path().join(name));
        std::fs::write(&files[0], CONFIG).unwrap();
        std::fs::write(&files[1], CREDENTIALS).unwrap();
        read(&files, name)
    }

    #[test]
    fn a_profile_is_read_from_both_files() {
        let owned = |settings: &[(&'static str, &str)]| -> Vec<_> {
            settings.iter().map(|(key, value)| (*key, (*value).to_owned())).collect()
        };
        let default = owned(&[
            ("AWS_ACCESS_KEY_ID", "DEFAULT"),
            ("AWS_SECRET_ACCESS_KEY", "a=b/c+d#e"),
            ("AWS_REGION", "eu-west-1"),
        ]);
        assert_eq!(profile(None).unwrap(), default);
        let work = owned(&[
            ("AWS_ACCESS_KEY_ID", "WORK"),
            ("AWS_SECRET_ACCESS_KEY", "w"),
            ("AWS_SESSION_TOKEN", "t"),
            ("AWS_REGION", "us-west-2"),
            ("AWS_ENDPOINT_URL", "http://localhost:9000"),
        ]);
        assert_eq!(profile(Some("work")).unwrap(), work);
    }

    #[test]
    fn a_profile_that_cannot_be_used_is_refused() {
        assert!(profile(Some("none")).unwrap_err().to_string().contains("\"none\""));
        let error = profile(Some("sso")).unwrap_err();
        assert!(error.hint().is_some_and(|hint| hint.contains("export-credentials")), "{error}");
        assert_eq!(read(&["/absent"], None).unwrap(), []);
    }
}
