//! A picture as a list of shapes, from back to front. Places are in pixels from the upper left corner.

/// A colour with its opacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rgba(pub u8, pub u8, pub u8, pub u8);

impl Rgba {
    /// White.
    pub const WHITE: Self = Self(255, 255, 255, 255);
    /// Colour of axes and text.
    pub const BLACK: Self = Self(32, 32, 32, 255);
    /// Colour of marks inside a picture, weaker than the data.
    pub const GRID: Self = Self(120, 120, 120, 255);
}

/// Position of a text's anchor along it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Anchored at its first character.
    Start,
    /// Centred.
    Middle,
    /// Anchored after its last character.
    End,
}

/// Direction of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To the right.
    Right,
    /// Upwards.
    Up,
}

/// Coloured points in rows, from the upper left corner; four bytes each: red, green, blue, opacity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pixels {
    /// Points in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// The points; opacity is not multiplied into the colours.
    pub rgba: Vec<u8>,
}

impl Pixels {
    /// An image of transparent points.
    #[must_use]
    pub fn transparent(width: u32, height: u32) -> Self {
        Self { width, height, rgba: vec![0; width as usize * height as usize * 4] }
    }

    /// One point; transparent outside.
    #[must_use]
    pub fn at(&self, x: u32, y: u32) -> Rgba {
        let at = (y as usize * self.width as usize + x as usize) * 4;
        match self.rgba.get(at..at + 4) {
            Some(&[r, g, b, a]) if x < self.width => Rgba(r, g, b, a),
            _ => Rgba(0, 0, 0, 0),
        }
    }
}

/// A rectangle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rect {
    /// Left edge.
    pub x: f64,
    /// Upper edge.
    pub y: f64,
    /// Width.
    pub w: f64,
    /// Height.
    pub h: f64,
}

/// Something to draw.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A filled rectangle.
    Rect {
        /// Position and size.
        rect: Rect,
        /// Fill colour.
        fill: Rgba,
    },
    /// A line through points.
    Line {
        /// The points.
        points: Vec<(f64, f64)>,
        /// Its width.
        width: f64,
        /// Its colour.
        color: Rgba,
    },
    /// A filled outline, which is closed from its last point to the first.
    Area {
        /// The points.
        points: Vec<(f64, f64)>,
        /// Fill colour.
        fill: Rgba,
    },
    /// A line of text.
    Text {
        /// Position of the anchor on the base line.
        at: (f64, f64),
        /// Height of the font.
        size: f64,
        /// The part of the text at that position.
        anchor: Anchor,
        /// Direction of the text.
        direction: Direction,
        /// Its colour.
        color: Rgba,
        /// The text.
        text: String,
    },
    /// Points, each a rectangle with sharp edges.
    Image {
        /// Position and size.
        rect: Rect,
        /// The points.
        pixels: Pixels,
    },
}

/// A picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Pixels per inch.
    pub dpi: u32,
    /// Items of the picture, the lowest first.
    pub items: Vec<Item>,
}

impl Scene {
    /// A white sheet.
    #[must_use]
    pub fn new(width: u32, height: u32, dpi: u32) -> Self {
        let rect = Rect { x: 0.0, y: 0.0, w: width.into(), h: height.into() };
        Self { width, height, dpi, items: vec![Item::Rect { rect, fill: Rgba::WHITE }] }
    }

    /// Adds a line.
    pub fn line(&mut self, points: Vec<(f64, f64)>, width: f64, color: Rgba) {
        self.items.push(Item::Line { points, width, color });
    }

    /// Adds text in the colour of the axes, to the right.
    pub fn text(&mut self, at: (f64, f64), size: f64, anchor: Anchor, text: impl Into<String>) {
        let (direction, color) = (Direction::Right, Rgba::BLACK);
        self.items.push(Item::Text { at, size, anchor, direction, color, text: text.into() });
    }
}
