//! Sets a value in a YAML file and keeps every other byte: `cargo run --example edit_settings -- settings.yaml camera/gain 2.5`.

use std::error::Error;

use yaml11::{Document, TreeEditor, Yaml, YamlLimits, resolve};

/// The text with `value` at `path`, as a plain scalar would be read.
fn edited(text: &str, path: &str, value: &str) -> Result<String, yaml11::Error> {
    let document = Document::parse(text.as_bytes(), 0, &YamlLimits::default())?;
    let value = match resolve(value) {
        yaml11::Scalar::Int(number) => Yaml::Int(number),
        yaml11::Scalar::Float(number) => Yaml::Float(number),
        yaml11::Scalar::Bool(is_true) => Yaml::Bool(is_true),
        _ => Yaml::text(value),
    };
    let mut editor = TreeEditor::new(document);
    editor.set(path, &value)?;
    Ok(editor.text().to_owned())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, path, value] = arguments.as_slice() else {
        return Err("usage: edit_settings FILE PATH VALUE".into());
    };
    let text = std::fs::read_to_string(file)?;
    std::fs::write(file, edited(&text, path, value)?)?;
    Ok(())
}

#[test]
fn one_value_changes_and_the_comments_stay() {
    let text = "camera:   # the new one\n  gain: 017\n  name: \"a\"\n";
    assert_eq!(
        edited(text, "camera/gain", "2.5").unwrap(),
        "camera:   # the new one\n  gain: 2.5\n  name: \"a\"\n"
    );
    assert!(edited(text, "camera/name/x", "1").is_err());
}
