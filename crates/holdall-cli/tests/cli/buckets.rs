//! Files in buckets, on moto's server, which is like Amazon S3 and checks signatures' form.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::support::{Run, holdall, testdata};

/// Files of which the buckets are filled, by their keys.
const FILES: [(&str, &str); 7] = [
    ("run/image.asdf", "asdf/ok/image.asdf"),
    ("run/edges.b2nd", "blosc2/ok/old_shape_2d_edges.b2nd"),
    ("run/30x30.blp", "bloscpack/ok/np_30x30.blp"),
    ("run/deep/full.gsd", "gsd/ok/hoomd_full.gsd"),
    ("signed.ra", "rawarray/ok/f4_3x4.ra"),
    ("run/b c#%41?.ra", "rawarray/ok/f4_3x4.ra"),
    ("run/notes.txt", "rawarray/ok/f4_3x4.ra"),
];

/// moto's server, until it is dropped.
struct Store {
    server: Child,
    answers: BufReader<std::process::ChildStdout>,
    endpoint: String,
    signed: String,
    folder: tempfile::TempDir,
}

impl Store {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (key, fixture) in FILES {
            let path = folder.path().join(key);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::copy(testdata().join(fixture), path).unwrap();
        }
        let python = std::env::var_os("HOLDALL_PYTHON").map(PathBuf::from);
        let python = python.expect("HOLDALL_PYTHON names no Python with moto (cargo xtask setup makes one)");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/interop/peers/s3_peer.py");
        let mut server = Command::new(python);
        let server = server.arg(script).arg(folder.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = server.spawn().unwrap();
        let mut answers = BufReader::new(server.stdout.take().unwrap());
        let mut line = String::new();
        answers.read_line(&mut line).unwrap();
        let about: serde_json::Value = serde_json::from_str(&line).expect("an address of the peer");
        let text = |name: &str| about[name].as_str().unwrap().to_owned();
        let (endpoint, signed) = (text("endpoint"), text("signed"));
        Self { server, answers, endpoint, signed, folder }
    }

    /// The command in the folder, with keys and nothing else of the user's.
    fn command(&self, args: &[&str]) -> Command {
        let mut command = holdall(self.folder.path());
        let names = std::env::vars_os().map(|(name, _)| name);
        for name in names.filter(|name| name.to_string_lossy().starts_with("AWS_")) {
            command.env_remove(name);
        }
        command.args(args).env("HOME", self.folder.path()).env("AWS_ENDPOINT_URL", &self.endpoint);
        command.env("AWS_ACCESS_KEY_ID", "root").env("AWS_SECRET_ACCESS_KEY", "root");
        command
    }

    fn run(&self, args: &[&str]) -> Run {
        Run::of(&self.command(args).output().unwrap())
    }

    /// Replaces the object at `key`.
    fn replace(&mut self, key: &str, fixture: &str) {
        writeln!(self.server.stdin.as_mut().unwrap(), "{key} {}", testdata().join(fixture).display())
            .unwrap();
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        assert_eq!(line, "done\n");
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

#[test]
fn files_in_a_bucket_are_read_as_those_of_a_folder() {
    let mut store = Store::new();
    let verbs: [&[&str]; 9] = [
        &["info"],
        &["ls"],
        &["tree"],
        &["cat"],
        &["meta"],
        &["stat"],
        &["layout"],
        &["verify"],
        &["digest"],
    ];
    for (key, _) in &FILES[..6] {
        let first = store.run(&["ls", key]).expect(0).split('\t').next().unwrap().to_owned();
        for verb in verbs {
            let dataset = if verb[0] == "cat" { format!("::{first}") } else { String::new() };
            let [here, there] = ["", "s3://box/"]
                .map(|start| store.run(&[verb, &[&format!("{start}{key}{dataset}")]].concat()));
            let renamed = |text: &str| text.replace("s3://box/", "");
            assert_eq!(here.code, there.code, "{verb:?} {key}: {there:#?}");
            assert_eq!((here.out, here.err), (renamed(&there.out), renamed(&there.err)), "{verb:?} {key}");
        }
        store.run(&["diff", &format!("s3://box/{key}"), key]).expect(0);
    }
    // The same bytes by a presigned address, without any key.
    let mut command = store.command(&["digest", &store.signed]);
    let signed = Run::of(
        &command.env_remove("AWS_ACCESS_KEY_ID").env_remove("AWS_SECRET_ACCESS_KEY").output().unwrap(),
    );
    let digest = |shown: &str| shown.split(' ').next().unwrap().to_owned();
    assert_eq!(digest(signed.expect(0)), digest(store.run(&["digest", "signed.ra"]).expect(0)));
    assert!(!signed.out.contains("Signature") && !signed.err.contains("Signature"), "{signed:#?}");

    // Patterns and folders, for verbs that read several.
    let names = |run: &Run| {
        run.out.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let listed = store.run(&["verify", "s3://box/run/"]);
    let expected =
        ["run/30x30.blp", "run/b c#%41?.ra", "run/deep/full.gsd", "run/edges.b2nd", "run/image.asdf"];
    listed.expect(0);
    assert_eq!(names(&listed), expected.map(|key| format!("s3://box/{key}")));
    let listed = store.run(&["verify", "s3://box/run/*.[ab]*"]);
    assert_eq!(
        names(&listed),
        ["run/30x30.blp", "run/edges.b2nd", "run/image.asdf"].map(|key| format!("s3://box/{key}"))
    );
    let listed = store.run(&["digest", "s3://box/**/*.gsd::particles/position"]);
    assert!(listed.expect(0).ends_with("  s3://box/run/deep/full.gsd::particles/position\n"), "{listed:#?}");
    let listed = store.run(&["stat", "s3://box/*.ra"]);
    assert!(listed.expect(0).starts_with("s3://box/signed.ra::data\t"), "{listed:#?}");
    let none = store.run(&["info", "s3://box/none/*.ra"]);
    assert!(none.code == Some(2) && none.err.contains("no object fits"), "{none:#?}");
    let several = store.run(&["cat", "s3://box/run/*.ra"]);
    assert!(several.expect(0).starts_with("==> s3://box/run/b c#%41?.ra::data <==\n"), "{several:#?}");
    let one = store.run(&["meta", "s3://box/run/*.ra", "/element"]);
    assert_eq!(one.expect(0), "==> s3://box/run/b c#%41?.ra <==\nfloat32\n");
    let folder = store.run(&["meta", "s3://box/run/"]);
    assert_eq!(folder.expect(0).matches("==> s3://box/run/").count(), 5, "{folder:#?}");

    let found = store.run(&["find", "-l", "format == asdf", "s3://box/run/"]);
    assert_eq!(found.expect(0), "s3://box/run/image.asdf\n");

    // Another writer.
    store.replace("signed.ra", "rawarray/ok/f4_3x4.ra");
    store.run(&["verify", "s3://box/signed.ra"]).expect(0);
}

#[test]
fn credentials_come_from_options_the_environment_and_profiles() {
    let store = Store::new();
    let url = "s3://box/signed.ra";
    let bare = |args: &[&str]| {
        let mut command = store.command(args);
        command
            .env_remove("AWS_ACCESS_KEY_ID")
            .env_remove("AWS_SECRET_ACCESS_KEY")
            .env_remove("AWS_ENDPOINT_URL");
        command
    };
    let ran = |command: &mut Command| Run::of(&command.output().unwrap());
    ran(&mut bare(&["info", "--endpoint-url", &store.endpoint, "--anon", url])).expect(0);
    let private =
        ran(&mut bare(&["info", "--endpoint-url", &store.endpoint, "--anon", "s3://box/run/image.asdf"]));
    assert!(
        private.code == Some(2) && private.err.contains("the request had no credentials"),
        "{private:#?}"
    );
    std::fs::create_dir(store.folder.path().join(".aws")).unwrap();
    let config = format!("[profile local]\nregion = eu-west-1\nendpoint_url = {}\n", store.endpoint);
    std::fs::write(store.folder.path().join(".aws/config"), config).unwrap();
    std::fs::write(
        store.folder.path().join(".aws/credentials"),
        "[local]\naws_access_key_id = root\naws_secret_access_key = SECRET\n",
    )
    .unwrap();
    ran(&mut bare(&["info", "--profile", "local", url])).expect(0);
    ran(bare(&["info", url]).env("AWS_PROFILE", "local")).expect(0);
    let unknown = ran(&mut bare(&["info", "--profile", "none", url]));
    assert!(unknown.code == Some(2) && unknown.err.contains("no profile \"none\""), "{unknown:#?}");
    let absent = store.run(&["info", "s3://box/none.ra"]);
    assert!(absent.code == Some(2) && absent.err.contains("NoSuchKey"), "{absent:#?}");
    let absent = store.run(&["info", "s3://nobox/none.ra"]);
    assert!(absent.code == Some(2) && absent.err.contains("NoSuchBucket"), "{absent:#?}");
    for url in ["s3://root:SECRET@box/signed.ra", "s3:///signed.ra"] {
        let refused = store.run(&["info", url]);
        assert!(refused.code == Some(2) && !refused.err.contains("SECRET"), "{refused:#?}");
    }
}

#[test]
fn file_addresses_are_files_of_this_machine() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(testdata().join("rawarray/ok/f4_3x4.ra"), folder.path().join("a b.ra")).unwrap();
    let ran = |url: &str| Run::of(&holdall(folder.path()).args(["cat", url]).output().unwrap());
    let place = folder.path().display();
    let here = ran("a b.ra");
    assert_eq!(ran(&format!("file://{place}/a%20b.ra")).expect(0), here.out);
    assert_eq!(ran(&format!("file://localhost{place}/a%20b.ra::data")).expect(0), here.out);
    for url in ["file://elsewhere/a.ra", "file:///none.ra"] {
        assert_eq!(ran(url).code, Some(2), "{url}");
    }
}
