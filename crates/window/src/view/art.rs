//! The built-in drawings: SVG sources, rasterised once at the display's scale into texture atlases from which figures
//! are composed.
//!
//! Every drawing is kept at several sizes, because a sprite that is drawn much smaller than its texture shimmers.

use std::sync::Arc;

use egui::epaint::textures::TextureOptions;
use egui::{Color32, ColorImage, Context, Rect, TextureHandle, TextureId, Vec2, pos2, vec2};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};

use crate::base::Problem;

/// Pixels per unit of the largest atlas at display scale 1, so that nothing blurs at the largest zoom.
const LARGEST: f32 = 3.0;
/// Number of atlases; each has half the scale of the one before.
const SIZES: usize = 4;
/// Texture side that every graphics card supports.
const SAFE_SIDE: usize = 2048;
/// Empty texels around each drawing, against bleeding.
const GAP: usize = 2;
/// Side of one floor tile, in world units.
pub const FLOOR_TILE: f32 = 256.0;

macro_rules! sprites {
    ($($name:ident = $path:literal,)*) => {
        /// A drawing. Those without colours of their own are white and grey, to be tinted.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[expect(missing_docs, reason = "the names say what they show")]
        pub enum Sprite { $($name),* }

        const SOURCES: &[(&str, &str)] = &[
            $(($path, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../assets/", $path)))),*
        ];
    };
}

sprites! {
    Leg = "figures/leg.svg",
    Arm = "figures/arm.svg",
    Hand = "figures/hand.svg",
    BodySweater = "figures/body-sweater.svg",
    BodySmock = "figures/body-smock.svg",
    BodyCoat = "figures/body-coat.svg",
    BodyVest = "figures/body-vest.svg",
    TrimShirt = "figures/trim-shirt.svg",
    TrimApron = "figures/trim-apron.svg",
    TrimScarf = "figures/trim-scarf.svg",
    TrimPocket = "figures/trim-pocket.svg",
    TrimStripes = "figures/trim-stripes.svg",
    Head = "figures/head.svg",
    Face = "figures/face.svg",
    FaceBlink = "figures/face-blink.svg",
    FaceTalk = "figures/face-talk.svg",
    FaceWorried = "figures/face-worried.svg",
    HairShort = "figures/hair-short.svg",
    HairFringe = "figures/hair-fringe.svg",
    HairSide = "figures/hair-side.svg",
    HairCurly = "figures/hair-curly.svg",
    HairSpiky = "figures/hair-spiky.svg",
    HairBun = "figures/hair-bun.svg",
    HairSides = "figures/hair-sides.svg",
    BackBob = "figures/back-bob.svg",
    BackLong = "figures/back-long.svg",
    BackTail = "figures/back-tail.svg",
    BackBraids = "figures/back-braids.svg",
    HatBeret = "figures/hat-beret.svg",
    HatCap = "figures/hat-cap.svg",
    HatBeanie = "figures/hat-beanie.svg",
    HatStraw = "figures/hat-straw.svg",
    HatScarf = "figures/hat-scarf.svg",
    Glasses = "figures/glasses.svg",
    Beard = "figures/beard.svg",
    Moustache = "figures/moustache.svg",
    Lap = "figures/lap.svg",
    Chair = "figures/chair.svg",
    Page = "figures/page.svg",
    Book = "figures/book.svg",
    Letter = "figures/letter.svg",
    Pen = "figures/pen.svg",
    Cup = "figures/cup.svg",
    Cloud = "figures/cloud.svg",
    SignTool = "figures/sign-tool.svg",
    SignPause = "figures/sign-pause.svg",
    SignAlert = "figures/sign-alert.svg",
    SignHand = "figures/sign-hand.svg",
    SignHeart = "figures/sign-heart.svg",
    SignWords = "figures/sign-words.svg",
    Pinboard = "elements/pinboard.svg",
    TaskBoard = "elements/taskboard.svg",
    MessageBoard = "elements/messageboard.svg",
    Inbox = "elements/inbox.svg",
    InboxFlag = "elements/inbox-flag.svg",
    InboxFlagDown = "elements/inbox-flag-down.svg",
    InboxLetter = "elements/inbox-letter.svg",
    Rulebook = "elements/rulebook.svg",
    OtherElement = "elements/other.svg",
    Note = "elements/note.svg",
    Shelf = "decor/shelf.svg",
    Plant = "decor/plant.svg",
    Lamp = "decor/lamp.svg",
    Workbench = "decor/workbench.svg",
    Coffee = "decor/coffee.svg",
    Bench = "decor/bench.svg",
    Desk = "decor/desk.svg",
    White = "decor/white.svg",
    Disc = "decor/disc.svg",
    Glow = "decor/glow.svg",
    Shadow = "decor/shadow.svg",
    Band = "decor/band.svg",
    Ring = "decor/ring.svg",
}

const FLOOR: (&str, &str) =
    ("decor/floor.svg", include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../assets/decor/floor.svg")));

/// The place of a drawing in the atlas, and the drawn part of its canvas.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Piece {
    /// Texture coordinates, from 0 to 1.
    pub uv: Rect,
    /// The non-empty part of the canvas, in canvas units with y down.
    pub ink: Rect,
    /// Size of the whole canvas.
    pub canvas: Vec2,
}

/// A texture atlas with all drawings at one scale.
pub struct Sheet {
    texture: TextureHandle,
    pieces: Vec<Piece>,
    pixels_per_unit: f32,
}

impl Sheet {
    /// The atlas texture.
    pub fn texture(&self) -> TextureId {
        self.texture.id()
    }

    /// The place of a drawing.
    pub fn piece(&self, sprite: Sprite) -> Piece {
        self.pieces[sprite as usize]
    }
}

/// All atlases. The default has none and paints nothing.
#[derive(Default)]
pub struct Art {
    sheets: Vec<Sheet>,
    floors: Vec<(TextureHandle, f32)>,
    pixels_per_point: f32,
}

impl Art {
    /// Rasterises all drawings for a display of this scale. Reports invalid drawings, which are replaced by plain
    /// shapes.
    pub fn load(context: &Context, pixels_per_point: f32) -> (Self, Vec<Problem>) {
        let pixels_per_point = if pixels_per_point.is_finite() { pixels_per_point.clamp(0.5, 4.0) } else { 1.0 };
        let side = context.input(|input| input.max_texture_side).max(SAFE_SIDE);
        let mut problems = Vec::new();
        let drawings: Vec<Drawing> =
            SOURCES.iter().map(|(path, source)| Drawing::read(path, source, &mut problems)).collect();
        let floor = Drawing::read(FLOOR.0, FLOOR.1, &mut problems);
        let mut scale = LARGEST * pixels_per_point;
        let mut sheets = Vec::new();
        while sheets.len() < SIZES {
            match Packed::of(&drawings, scale, side) {
                Some(packed) => sheets.push(packed.upload(context, sheets.len())),
                // If the largest scale does not fit, a slightly blurred drawing at the largest zoom is acceptable.
                None if sheets.is_empty() && scale > 0.5 => {
                    scale *= 0.75;
                    continue;
                }
                None => break,
            }
            scale /= 2.0;
        }
        let floors = (0..SIZES).map(|size| {
            let pixels = FLOOR_TILE * LARGEST * pixels_per_point / 2.0_f32.powi(size as i32);
            // Whole pixels only: a tile with a partial pixel would show a seam where it repeats.
            let scale = pixels.min(SAFE_SIDE as f32).round() / FLOOR_TILE;
            let image = floor.rasterise(scale).map_or_else(|| ColorImage::filled([1, 1], Color32::TRANSPARENT), image);
            let options = TextureOptions::LINEAR_REPEAT;
            (context.load_texture(format!("room floor {size}"), image, options), scale)
        });
        let floors = floors.collect();
        (Self { sheets, floors, pixels_per_point }, problems)
    }

    /// The atlas for a zoom: the smallest one that need not be enlarged.
    pub fn sheet(&self, zoom: f32) -> Option<&Sheet> {
        let wanted = zoom * self.pixels_per_point * 0.95;
        self.sheets.iter().rev().find(|sheet| sheet.pixels_per_unit >= wanted).or(self.sheets.first())
    }

    /// The floor tile for a zoom, scaled by at most 1.4 in either direction. Scaled down further, its seams would
    /// flicker, and differ between displays.
    pub fn floor(&self, zoom: f32) -> Option<TextureId> {
        let wanted = zoom * self.pixels_per_point * std::f32::consts::FRAC_1_SQRT_2;
        let fits = self.floors.iter().rev().find(|(_, scale)| *scale >= wanted).or(self.floors.first());
        fits.map(|(texture, _)| texture.id())
    }
}

/// A parsed SVG source.
struct Drawing {
    tree: Option<Tree>,
    size: Vec2,
}

impl Drawing {
    fn read(path: &str, source: &str, problems: &mut Vec<Problem>) -> Self {
        match Tree::from_str(source, &Options::default()) {
            Ok(tree) => {
                let size = vec2(tree.size().width(), tree.size().height());
                Self { tree: Some(tree), size }
            }
            Err(error) => {
                problems.push(Problem::warning(
                    format!("assets/{path}"),
                    format!("the drawing could not be read: {error}"),
                    "fix the SVG source; a plain shape is shown instead",
                ));
                Self { tree: None, size: vec2(48.0, 64.0) }
            }
        }
    }

    fn rasterise(&self, scale: f32) -> Option<Pixmap> {
        let pixels = (self.size * scale).ceil();
        let mut pixmap = Pixmap::new((pixels.x as u32).max(1), (pixels.y as u32).max(1))?;
        match &self.tree {
            Some(tree) => resvg::render(tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut()),
            None => pixmap.fill(resvg::tiny_skia::Color::from_rgba8(150, 140, 130, 255)),
        }
        Some(pixmap)
    }
}

/// Renders a square SVG with `pixels` per side as straight RGBA bytes. `None` if it is invalid.
pub fn picture_of(source: &str, pixels: u32) -> Option<Vec<u8>> {
    let tree = Tree::from_str(source, &Options::default()).ok()?;
    let mut pixmap = Pixmap::new(pixels, pixels)?;
    let scale = pixels as f32 / tree.size().width().max(tree.size().height());
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    let straight = |pixel: &resvg::tiny_skia::PremultipliedColorU8| {
        let colour = pixel.demultiply();
        [colour.red(), colour.green(), colour.blue(), colour.alpha()]
    };
    Some(pixmap.pixels().iter().flat_map(straight).collect())
}

/// The bounds of the non-transparent part: left, top, right and bottom, the last two exclusive.
fn ink_of(pixmap: &Pixmap) -> [usize; 4] {
    let (width, height) = (pixmap.width() as usize, pixmap.height() as usize);
    let mut bounds = [width, height, 0, 0];
    for (index, pixel) in pixmap.pixels().iter().enumerate() {
        if pixel.alpha() > 0 {
            let (x, y) = (index % width, index / width);
            bounds = [bounds[0].min(x), bounds[1].min(y), bounds[2].max(x + 1), bounds[3].max(y + 1)];
        }
    }
    if bounds[2] == 0 { [0, 0, 1, 1] } else { bounds }
}

fn image(pixmap: Pixmap) -> ColorImage {
    ColorImage::from_rgba_premultiplied([pixmap.width() as usize, pixmap.height() as usize], pixmap.data())
}

/// An atlas before it is uploaded.
struct Packed {
    image: ColorImage,
    pieces: Vec<Piece>,
    scale: f32,
}

impl Packed {
    /// Packs the drawings in rows, tallest first; `None` if they do not fit into a texture.
    fn of(drawings: &[Drawing], scale: f32, side: usize) -> Option<Self> {
        let pixmaps: Vec<Pixmap> =
            drawings.iter().map(|drawing| drawing.rasterise(scale)).collect::<Option<Vec<_>>>()?;
        let inks: Vec<[usize; 4]> = pixmaps.iter().map(ink_of).collect();
        let (places, height) = rows_of(&inks, SAFE_SIDE.min(side))?;
        if height > side {
            return None;
        }
        let width = SAFE_SIDE.min(side);
        let mut image = ColorImage::filled([width, height], Color32::TRANSPARENT);
        let whole = vec2(width as f32, height as f32);
        let mut pieces = Vec::with_capacity(drawings.len());
        for (((pixmap, ink), place), drawing) in pixmaps.iter().zip(&inks).zip(&places).zip(drawings) {
            let [left, top, right, bottom] = *ink;
            for y in top..bottom {
                let row = &pixmap.pixels()[y * pixmap.width() as usize..][left..right];
                let to = (place[1] + y - top) * width + place[0];
                for (texel, pixel) in image.pixels[to..].iter_mut().zip(row) {
                    *texel = Color32::from_rgba_premultiplied(pixel.red(), pixel.green(), pixel.blue(), pixel.alpha());
                }
            }
            let corner = pos2(place[0] as f32, place[1] as f32);
            let size = vec2((right - left) as f32, (bottom - top) as f32);
            let uv =
                Rect::from_min_max((corner.to_vec2() / whole).to_pos2(), ((corner.to_vec2() + size) / whole).to_pos2());
            let ink = Rect::from_min_size(pos2(left as f32, top as f32) / scale, size / scale);
            pieces.push(Piece { uv, ink, canvas: drawing.size });
        }
        Some(Self { image, pieces, scale })
    }

    fn upload(self, context: &Context, size: usize) -> Sheet {
        let texture = context.load_texture(format!("room art {size}"), Arc::new(self.image), TextureOptions::LINEAR);
        Sheet { texture, pieces: self.pieces, pixels_per_unit: self.scale }
    }
}

/// A position for each rectangle, packed in rows of the given width, and the total height; `None` if one is too wide.
fn rows_of(inks: &[[usize; 4]], width: usize) -> Option<(Vec<[usize; 2]>, usize)> {
    let size = |index: usize| {
        let [left, top, right, bottom] = inks[index];
        (right - left + GAP, bottom - top + GAP)
    };
    let mut order: Vec<usize> = (0..inks.len()).collect();
    order.sort_by_key(|index| std::cmp::Reverse(size(*index).1));
    let mut places = vec![[0, 0]; inks.len()];
    let (mut x, mut y, mut row_height) = (GAP, GAP, 0);
    for index in order {
        let (wide, tall) = size(index);
        if wide + GAP > width {
            return None;
        }
        if x + wide > width {
            (x, y, row_height) = (GAP, y + row_height, 0);
        }
        places[index] = [x, y];
        x += wide;
        row_height = row_height.max(tall);
    }
    Some((places, y + row_height + GAP))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_drawing_can_be_read_and_shows_something() {
        let mut problems = Vec::new();
        for (path, source) in SOURCES.iter().chain([&FLOOR]) {
            let pixmap = Drawing::read(path, source, &mut problems).rasterise(0.5).unwrap();
            let [left, top, right, bottom] = ink_of(&pixmap);
            assert!(right - left > 1 && bottom - top > 1, "{path} is empty");
        }
        assert_eq!(problems, []);
    }

    #[test]
    fn a_broken_drawing_is_reported_and_replaced() {
        let mut problems = Vec::new();
        let drawing = Drawing::read("figures/head.svg", "<svg", &mut problems);
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].place, "assets/figures/head.svg");
        assert!(drawing.rasterise(1.0).is_some());
    }

    #[test]
    fn drawings_never_overlap() {
        let inks: Vec<[usize; 4]> = (1..40).map(|index| [0, 0, 7 * index % 90 + 1, 13 * index % 70 + 1]).collect();
        let (places, height) = rows_of(&inks, 256).unwrap();
        let rects: Vec<Rect> = places
            .iter()
            .zip(&inks)
            .map(|(place, ink)| {
                Rect::from_min_size(pos2(place[0] as f32, place[1] as f32), vec2(ink[2] as f32, ink[3] as f32))
            })
            .collect();
        for (index, rect) in rects.iter().enumerate() {
            assert!(rect.right() <= 256.0 && rect.bottom() <= height as f32);
            for other in &rects[index + 1..] {
                assert!(!rect.intersects(*other) || !rect.intersect(*other).is_positive());
            }
        }
    }

    #[test]
    fn small_drawings_are_used_when_zoomed_out() {
        let (art, problems) = Art::load(&Context::default(), 1.0);
        assert_eq!(problems, []);
        let scale = |zoom: f32| art.sheet(zoom).unwrap().pixels_per_unit;
        assert!(scale(3.0) >= 2.9);
        assert!(scale(1.0) >= 1.0 && scale(1.0) < 2.0);
        assert!(scale(0.2) < 0.5);
    }
}
