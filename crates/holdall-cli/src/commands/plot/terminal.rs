//! Abilities of the terminal.

use std::env::var;

use clap::ValueEnum;
use holdall_plot::{Protocol, Style};

/// The words of `--term`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Term {
    /// What the terminal is known to show
    Auto,
    /// Kitty's graphics protocol
    Kitty,
    /// DEC's sixels
    Sixel,
    /// Two points in each character
    Blocks,
}

impl Term {
    pub fn protocol(self) -> Protocol {
        match self {
            Self::Kitty => Protocol::Kitty,
            Self::Sixel => Protocol::Sixel,
            Self::Blocks => blocks(&|name| var(name).ok()),
            Self::Auto => detected(&|name| var(name).ok()),
        }
    }
}

pub const fn name(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Kitty => "kitty",
        Protocol::Sixel => "sixel",
        Protocol::Blocks | Protocol::Blocks256 => "blocks",
    }
}

fn blocks(env: &dyn Fn(&str) -> Option<String>) -> Protocol {
    match env("COLORTERM").as_deref() {
        Some("truecolor" | "24bit") => Protocol::Blocks,
        _ => Protocol::Blocks256,
    }
}

/// By what terminals say of themselves. Nothing is asked, because an answer may never come.
fn detected(env: &dyn Fn(&str) -> Option<String>) -> Protocol {
    let (term, program) = (env("TERM").unwrap_or_default(), env("TERM_PROGRAM").unwrap_or_default());
    // A multiplexer passes neither on by default.
    if term.starts_with("screen") || term.starts_with("tmux") {
        return blocks(env);
    }
    if env("KITTY_WINDOW_ID").is_some()
        || term.contains("kitty")
        || term.contains("ghostty")
        || matches!(program.as_str(), "ghostty" | "WezTerm")
    {
        return Protocol::Kitty;
    }
    if ["foot", "mlterm", "contour", "sixel"].iter().any(|known| term.contains(known)) {
        return Protocol::Sixel;
    }
    blocks(env)
}

/// Characters along a line, lines, and pixels of the window where the terminal tells them.
#[cfg(unix)]
fn window() -> Option<[u32; 4]> {
    let size = rustix::termios::tcgetwinsize(rustix::stdio::stdout()).ok()?;
    let known = size.ws_col > 0 && size.ws_row > 0;
    known.then(|| [size.ws_col, size.ws_row, size.ws_xpixel, size.ws_ypixel].map(u32::from))
}

#[cfg(not(unix))]
fn window() -> Option<[u32; 4]> {
    None
}

/// A picture as large as the terminal.
pub fn style(protocol: Protocol, size: Option<(u32, u32)>, dpi: u32) -> Style {
    let [columns, rows, width, height] = window().unwrap_or([80, 24, 0, 0]);
    let bare = matches!(protocol, Protocol::Blocks | Protocol::Blocks256);
    let suited = if bare {
        // The title, the range, the recipe and the prompt need lines, too.
        Some((columns.clamp(16, 400), (rows.clamp(14, 300) - 6) * 2))
    } else {
        // Common pixel sizes of a character, for terminals that do not report them.
        let width = if width > 0 { width } else { columns * 9 };
        let height = if height > 0 { height } else { rows * 18 };
        (width < 900 || height < 760).then(|| (width.clamp(320, 900), (height * 8 / 10).clamp(240, 720)))
    };
    Style { size: size.or(suited), dpi, title: None, bare }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(variables: &[(&str, &str)]) -> Protocol {
        detected(&|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn terminal_protocol_is_detected_from_the_environment() {
        assert_eq!(on(&[("TERM", "xterm-kitty")]), Protocol::Kitty);
        assert_eq!(on(&[("TERM", "tmux-256color"), ("KITTY_WINDOW_ID", "1")]), Protocol::Blocks256);
        assert_eq!(on(&[("TERM", "foot"), ("COLORTERM", "truecolor")]), Protocol::Sixel);
        assert_eq!(on(&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")]), Protocol::Blocks);
        assert_eq!(on(&[]), Protocol::Blocks256);
    }
}
