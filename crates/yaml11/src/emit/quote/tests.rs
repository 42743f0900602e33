use super::*;

#[test]
fn numbers_of_any_reader_are_misread_and_versions_are_not() {
    let misread = [
        "0",
        "-0",
        "+1",
        "1_000",
        "0b101",
        "0x1F",
        "0X1f",
        "0x1p3",
        "0o17",
        "017",
        "08",
        "1.",
        ".5",
        "-.5",
        "1e3",
        "1E+3",
        "1.5e-3",
        "1:30",
        "190:20:30",
        "1:30.5",
        "685.230_15e+03",
        ".inf",
        "-.INF",
        "+.inf",
        ".nan",
        "inf",
        "-Infinity",
        "nan",
        "NULL",
        "Yes",
        "OFF",
        "2001-12-14",
        "2001-1-1",
        "2001-12-14 21:59:43.10 -5",
        "2001-12-14T21:59:43Z",
        "=",
        "<<",
        "~",
        "",
    ];
    for text in misread {
        assert!(is_misread(text), "{text:?}");
    }
    let text = [
        "1.6.0",
        "1-2",
        "127.0.0.1",
        "_1",
        "e3",
        "1e",
        "1e+",
        "0xg",
        "0x",
        "+",
        "-",
        ".",
        "1:",
        "a:1",
        "y",
        "n",
        "yess",
        "~a",
        "2001-12",
        "20011-12-14",
        "infinite",
        "0o",
        "1 2",
        "<",
    ];
    for text in text {
        assert!(!is_misread(text), "{text:?}");
    }
}

#[test]
fn plain_text_resolving_to_another_type_is_misread() {
    // Each plain spelling of another type must be recognised here.
    let digits = ["", "0", "1", "08", "1_0", "0x1", "0b1", "1:2", "1:60", "2001-01-01"];
    let middles = ["", ".", ".5", ".5_", "e3", "e+3", ".e+3", ".5e-3", ":30", ":30.5", "-1"];
    for sign in ["", "+", "-"] {
        for digits in digits {
            for middle in middles {
                let text = format!("{sign}{digits}{middle}");
                if crate::resolve(&text) != crate::Scalar::Text(&text) {
                    assert!(is_misread(&text), "{text:?}");
                }
            }
        }
    }
}
