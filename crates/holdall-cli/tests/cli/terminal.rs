//! Output at a terminal, and the effect of NO_COLOR and --color.

use crate::support::{files, run};

#[test]
fn colours_are_limited_to_terminals_by_default() {
    let directory = files();
    let at = directory.path();
    assert!(!run(at, &["info", "missing"]).err.contains('\x1b'));
    assert!(run(at, &["info", "missing", "--color", "always"]).err.contains('\x1b'));
    assert!(!run(at, &["--help"]).out.contains('\x1b'));
    assert!(run(at, &["--color=always", "--help"]).out.contains('\x1b'));
}

#[cfg(target_os = "linux")]
mod pseudo {
    use std::io::Read;
    use std::path::Path;
    use std::process::{Command, Stdio};

    use crate::pseudo_terminal::{pseudo_terminal, shown as shown_by};
    use crate::support::{Run, files, floats, holdall, rawarray, run};

    /// Runs with standard output and standard error on a pseudo-terminal, and gives what it showed.
    fn shown(directory: &Path, args: &[&str], change: impl Fn(&mut Command)) -> String {
        let mut command = holdall(directory);
        command.args(args).env("TERM", "xterm").env_remove("CI");
        change(&mut command);
        shown_by(&mut command)
    }

    #[test]
    fn findings_that_are_alike_are_summed_up_for_people() {
        let directory = crate::findings::folder();
        let verify = |more: &[&str]| {
            let words = [&["verify", "a.asdf", "--color", "never"], more].concat();
            shown(directory.path(), &words, |_| {})
        };
        let summed = verify(&[]);
        let line = "  note 5 × unreferenced_block, the first: ";
        assert!(summed.lines().any(|shown| shown.starts_with(line)), "{summed}");
        // The tree has 58 bytes, each block 54 and two of data.
        assert!(summed.contains("; all within bytes 58..338"), "{summed}");
        assert!(summed.contains("\n  (--all lists every finding)\n"), "{summed}");
        let all = verify(&["--all"]);
        assert_eq!(all.matches("  note unreferenced_block: ").count(), 5, "{all}");
        assert!(!all.contains("×") && !all.contains("--all"), "{all}");
    }

    #[test]
    fn a_terminal_gets_a_table_with_a_heading() {
        let directory = files();
        let plain = shown(directory.path(), &["ls", "good.ra", "--color", "never"], |_| {});
        assert_eq!(
            plain,
            "PATH  DTYPE  SHAPE   ORDER  CHUNKS  CODEC  STORED  VALUES\n\
             data  <f4    (3, 2)  F      -       none     24 B    24 B\n"
        );
        let tree = shown(directory.path(), &["tree", "good.ra"], |command| {
            command.env("NO_COLOR", "1");
        });
        assert!(
            tree.starts_with("good.ra (rawarray)\n├── element  float32\n├── dims  [2 items]\n│   ├── 0  3\n"),
            "{tree}"
        );
        assert!(tree.contains("└── data  <f4 (3, 2) F none\n    ├── "), "{tree}");
    }

    /// Each verb with a form for people.
    const PEOPLES_FORMS: &[&[&str]] = &[
        &["info", "good.ra", "cut.ra"],
        &["ls", "good.ra"],
        &["tree", "good.ra", "good.ra"],
        &["cat", "good.ra"],
        &["meta", "good.ra"],
        &["stat", "good.ra"],
        &["layout", "good.ra"],
        &["verify", "good.ra", "cut.ra", "other.txt"],
        &["repair", "cut.ra", "-o", "new.ra", "-f"],
        &["diff", "good.ra", "cut.ra"],
        &["digest", "good.ra"],
        &["formats"],
    ];

    #[test]
    fn pretty_prints_into_a_pipe_as_to_a_terminal() {
        let directory = files();
        let at = directory.path();
        for args in PEOPLES_FORMS {
            let terminal = shown(at, args, |command| {
                command.env("NO_COLOR", "1");
            });
            let both = |command: &mut Command| {
                let output = command.args(*args).output().unwrap();
                let (out, err) = (Run::of(&output).out, Run::of(&output).err);
                (out, err)
            };
            for (out, err) in
                [both(holdall(at).arg("--pretty")), both(holdall(at).env("HOLDALL_PRETTY", "1"))]
            {
                // On the terminal the lines of both streams are mixed.
                let mut sorted: Vec<&str> = out.lines().chain(err.lines()).collect();
                let mut on_terminal: Vec<&str> = terminal.lines().collect();
                sorted.sort_unstable();
                on_terminal.sort_unstable();
                assert_eq!(sorted, on_terminal, "{args:?}");
                assert!(terminal.contains(&out) || args[0] == "verify", "{args:?}");
            }
            let no = both(holdall(at).env("HOLDALL_PRETTY", "0"));
            assert_eq!(no, both(&mut holdall(at)), "{args:?}");
        }
    }

    /// A folder of RawArray files, more than a screen has lines.
    fn many(directory: &Path) {
        std::fs::create_dir(directory.join("many")).unwrap();
        for number in 0..30 {
            std::fs::copy(directory.join("good.ra"), directory.join(format!("many/{number:02}.ra"))).unwrap();
        }
    }

    #[test]
    fn a_long_list_goes_through_the_pager() {
        let directory = files();
        let at = directory.path();
        many(at);
        let pager = "sed 's/^/> /; 1s/^/'$LESS' /'";
        let with = |args: &[&str], variable: &str, value: &str| {
            shown(at, args, |command| {
                command.env("NO_COLOR", "1").env(variable, value).env("LINES", "24");
            })
        };
        for variable in ["PAGER", "HOLDALL_PAGER"] {
            let paged = with(&["ls", "many"], variable, pager);
            assert!(paged.starts_with("FRX > PATH "), "{paged}");
            assert_eq!(paged.lines().filter(|line| line.starts_with("> many/")).count(), 30, "{paged}");
        }
        // Short lists, JSON and other verbs do not; nor do lists without a pager.
        for (args, value) in [
            (&["ls", "good.ra"][..], pager),
            (&["ls", "--json", "many"], pager),
            (&["ls", "--no-pager", "many"], pager),
            (&["ls", "many"], ""),
            (&["ls", "many"], "cat"),
        ] {
            let plain = with(args, "PAGER", value);
            assert!(!plain.contains("> ") && plain.contains("<f4"), "{args:?} {plain}");
        }
        // Into a pipe there is no pager, --pretty or not.
        let piped = holdall(at).args(["ls", "--pretty", "many"]).env("PAGER", pager).output().unwrap();
        assert!(Run::of(&piped).expect(0).starts_with("PATH "));
    }

    #[test]
    fn a_pager_that_ends_early_or_is_missing_is_no_error_of_ours() {
        let directory = files();
        many(directory.path());
        for pager in ["head -1", "true", "no-such-pager-at-all 2>/dev/null"] {
            let text = shown(directory.path(), &["ls", "many"], |command| {
                command.env("NO_COLOR", "1").env("PAGER", pager).env("LINES", "10");
            });
            assert!(!text.contains("holdall:"), "{pager}: {text}");
        }
    }

    #[test]
    fn progress_waits_and_says_eta() {
        use std::time::{Duration, Instant};

        let directory = files();
        let data = floats(16_384).repeat(1024);
        std::fs::write(directory.path().join("big.ra"), rawarray(3, 4, &[16 << 20], &data)).unwrap();
        let (slave, mut master) = pseudo_terminal();
        let mut command = holdall(directory.path());
        command.args(["stat", "-j", "1", "big.ra"]).env("TERM", "xterm").env_remove("CI");
        command.stdout(Stdio::null()).stderr(Stdio::from(slave));
        let started = Instant::now();
        let mut child = command.spawn().unwrap();
        drop(command);
        let (mut text, mut first) = (Vec::new(), None);
        let mut piece = [0; 4096];
        while let Ok(len @ 1..) = master.read(&mut piece) {
            first.get_or_insert_with(|| started.elapsed());
            text.extend(&piece[..len]);
        }
        let elapsed = started.elapsed();
        assert!(child.wait().unwrap().success());
        let text = String::from_utf8(text).unwrap();
        let Some(first) = first else {
            // A fast machine has nothing to show.
            assert!(elapsed < Duration::from_secs(2), "{elapsed:?}");
            return;
        };
        assert!(first >= Duration::from_millis(450), "{first:?} {text}");
        assert!(text.contains("MiB/s eta "), "{text}");
        for (at, _) in text.match_indices(" MiB/64.00 MiB") {
            let count = text[..at].rsplit(' ').next().unwrap();
            assert!(count.parse::<f64>().is_ok_and(|count| count <= 64.0), "{count:?} {text}");
        }
    }

    #[test]
    fn pretty_changes_no_form_for_programs() {
        let directory = files();
        let at = directory.path();
        for verb in ["info", "ls", "stat", "layout", "verify", "digest", "meta"] {
            let plain = run(at, &[verb, "--json", "good.ra"]);
            assert_eq!(
                run(at, &[verb, "--json", "good.ra", "--pretty"]).expect(0),
                plain.expect(0),
                "{verb}"
            );
        }
        for format in ["csv", "json", "raw", "npy"] {
            let bytes = |more: &[&str]| {
                let args = [&["cat", "good.ra", "--format", format], more].concat();
                holdall(at).args(args).output().unwrap()
            };
            assert_eq!(bytes(&["--pretty"]), bytes(&[]), "{format}");
            assert!(bytes(&[]).status.success(), "{format}");
        }
    }

    #[test]
    fn no_color_and_color_never_are_obeyed() {
        let directory = files();
        for args in
            [&["ls", "good.ra"][..], &["verify", "good.ra", "cut.ra"], &["info", "missing"], &["--help"]]
        {
            assert!(shown(directory.path(), args, |_| {}).contains('\x1b'), "{args:?}");
            let plain = shown(directory.path(), args, |command| {
                command.env("NO_COLOR", "1");
            });
            assert!(!plain.contains('\x1b'), "{args:?} {plain}");
            let plain = shown(directory.path(), &[args, &["--color", "never"]].concat(), |_| {});
            assert!(!plain.contains('\x1b'), "{args:?} {plain}");
            let dumb = shown(directory.path(), args, |command| {
                command.env("TERM", "dumb");
            });
            assert!(!dumb.contains('\x1b'), "{args:?} {dumb}");
        }
    }

    #[test]
    fn bytes_are_not_thrown_at_a_terminal() {
        let directory = files();
        for args in [&["cat", "good.ra", "--format", "npy"][..], &["convert", "good.ra", "-", "--to", "npy"]]
        {
            let text = shown(directory.path(), args, |_| {});
            assert!(text.contains("not written to a terminal"), "{args:?} {text}");
        }
    }

    /// A tree whose keys, texts and field names hold ESC, CSI (U+009B), a right-to-left override and an isolate.
    const NASTY: &str = r##"#ASDF 1.0.0
%YAML 1.1
--- !<tag:stsci.edu:asdf/core/asdf-1.1.0>
"key\e[2J\x9B\u202E": "text\e]0;title\a\x9B2J\u2066\u061C"
"array\x9B\u202E": !<tag:stsci.edu:asdf/core/ndarray-1.1.0>
  data: [[1, "\e[2J\x9B"], [2, "\u202Eab"]]
  datatype:
  - {name: number, datatype: int16}
  - {name: "field\e[2J\x9B\u202E", datatype: [ucs4, 8]}
"words\x9B": !<tag:stsci.edu:asdf/core/ndarray-1.1.0>
  data: ["\e[31m", "\x9B31m"]
  datatype: [ucs4, 8]
"##;

    #[test]
    fn control_characters_in_files_are_escaped() {
        let directory = files();
        let at = directory.path();
        let name = "na\u{9b}m\u{202e}e.asdf";
        for (name, more) in [(name, ""), ("other.asdf", "\"b\\x9B\\u202E\": 1\n")] {
            std::fs::write(at.join(name), format!("{NASTY}{more}...\n")).unwrap();
        }
        let address = |rest: &str| format!("{name}{rest}");
        let array = address("::array\u{9b}\u{202e}");
        let words = address("::words\u{9b}");
        let missing = address("::none\u{9b}");
        let field = "field\u{1b}[2J\u{9b}\u{202e}";
        let mut commands: Vec<Vec<&str>> = [&array, &words]
            .iter()
            .flat_map(|array| {
                let format = ["text", "csv", "json"].map(|format| vec!["cat", array, "--format", format]);
                format.into_iter().chain([vec!["digest", array], vec!["plot", array, "-o", "a.png"]])
            })
            .collect();
        for verb in ["info", "ls", "tree", "meta", "verify", "layout", "stat"] {
            commands.extend([vec![verb, name], vec![verb, name, "--json"]]);
        }
        commands.extend([
            vec!["meta", name, "--yaml"],
            vec!["meta", name, "--inline"],
            vec!["meta", name, "--raw", "/key\u{1b}[2J\u{9b}\u{202e}"],
            vec!["meta", name, "/no\u{9b}"],
            vec!["cat", name],
            vec!["cat", &missing],
            vec!["stat", &missing],
            vec!["ls", &missing],
            vec!["diff", name, "other.asdf"],
            vec!["diff", name, "other.asdf", "--json"],
            vec!["diff", name, "good.ra"],
            vec!["convert", name, "a.ra"],
            vec!["convert", name, "a.gsd"],
            vec!["convert", name, "a.asdf"],
            vec!["extract", name, "-o", "out"],
            vec!["extract", name, "-o", "more", "--json"],
            vec!["repair", name, "-o", "repaired.asdf"],
            vec!["plot", &array, "--field", field, "-o", "b.png"],
            vec!["plot", &array, "--field", "number", "-o", "c.png"],
            vec!["info", "no\u{9b}such\u{202e}file"],
        ]);
        for args in commands {
            let text = shown(at, &args, |command| {
                command.env("NO_COLOR", "1");
            });
            assert!(!text.is_empty() || args[0] == "convert" || args[0] == "repair", "{args:?} is silent");
            let raw =
                |c: char| (c.is_control() && !"\n\t".contains(c)) || "\u{61c}\u{202e}\u{2066}".contains(c);
            assert!(!text.contains(raw), "{args:?} {text:?}");
            if args.contains(&"--json") || args.contains(&"json") {
                for line in text.lines().filter(|line| line.starts_with('{')) {
                    serde_json::from_str::<serde_json::Value>(line).unwrap();
                }
            }
        }
    }
}
