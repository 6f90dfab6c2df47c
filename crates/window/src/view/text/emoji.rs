//! Paints colour emoji: finds them in laid-out text and paints their pictures into the space reserved for them.

use std::collections::HashMap;
use std::io::Cursor;
use std::sync::Arc;

use egui::epaint::{Mesh, TextShape};
use egui::text::LayoutSection;
use egui::{
    Color32, ColorImage, Context, FontData, Galley, Rect, Shape, TextureHandle, TextureOptions, Vec2, pos2, vec2,
};
use skrifa::bitmap::{BitmapData, BitmapGlyph, BitmapStrikes, Origin};
use skrifa::instance::Size;
use skrifa::{FontRef, GlyphId, MetadataProvider};
use unicode_segmentation::UnicodeSegmentation;

/// Maximum number of cached pictures; the least recently shown ones are dropped first.
const MAX_KEPT: usize = 512;

/// An emoji in a laid-out text.
#[derive(Clone, Debug)]
pub(super) struct Spot {
    /// The whole emoji sequence, with skin tone and joined characters.
    text: String,
    /// Horizontal offset from the text's top left corner, in points.
    left: f32,
    /// Vertical offset of the baseline from the text's top left corner, in points.
    base: f32,
    /// Font size, in points.
    size: f32,
}

/// The emoji font and the pictures rendered from it.
#[derive(Default)]
pub(super) struct Emoji {
    font: Option<Arc<FontData>>,
    pictures: HashMap<(String, u32), Picture>,
    frame: u64,
}

struct Picture {
    /// `None` if the font does not contain the emoji.
    drawn: Option<(TextureHandle, Rect)>,
    shown: u64,
}

impl Emoji {
    /// Uses this font from now on.
    pub(super) fn set_font(&mut self, font: Arc<FontData>) {
        self.pictures.clear();
        self.font = Some(font);
    }

    /// Whether an emoji font was found.
    pub(super) fn has_font(&self) -> bool {
        self.font.is_some()
    }

    /// Drops the least recently shown pictures. Call once per frame.
    pub(super) fn next_frame(&mut self) {
        self.frame += 1;
        if self.pictures.len() > MAX_KEPT {
            let frame = self.frame;
            self.pictures.retain(|_, picture| picture.shown + 1 >= frame);
        }
    }

    /// The emoji in a text, with their positions.
    pub(super) fn spots(&self, galley: &Galley, is_emoji: impl Fn(char) -> bool) -> Vec<Spot> {
        let text = &galley.job.text;
        if self.font.is_none() || !text.chars().any(&is_emoji) {
            return Vec::new();
        }
        let mut emoji =
            text.grapheme_indices(true).filter(|(_, one)| one.chars().next().is_some_and(&is_emoji)).peekable();
        let mut spots = Vec::new();
        for placed in &galley.rows {
            for glyph in &placed.row.glyphs {
                let Some((at, one)) = emoji.next_if(|(_, one)| one.starts_with(glyph.chr)) else { continue };
                let holds =
                    |section: &&LayoutSection| (section.byte_range.start.0..section.byte_range.end.0).contains(&at);
                let Some(section) = galley.job.sections.iter().find(holds) else { continue };
                let size = section.format.font_id.size;
                let (left, base) = (placed.pos.x + glyph.pos.x, placed.pos.y + glyph.pos.y);
                spots.push(Spot { text: one.to_owned(), left, base, size });
            }
        }
        spots
    }

    /// The pictures to paint over a text.
    pub(super) fn shapes(&mut self, context: &Context, text: &TextShape, spots: &[Spot]) -> Vec<Shape> {
        let alpha = text.override_text_color.map_or(1.0, |colour| f32::from(colour.a()) / 255.0);
        let tint = Color32::WHITE.gamma_multiply(text.opacity_factor * alpha);
        let pixels_per_point = context.pixels_per_point();
        let mut shapes = Vec::new();
        for spot in spots {
            let pixels = (spot.size * pixels_per_point).round().clamp(1.0, 512.0) as u32;
            let Some((texture, place)) = self.picture(context, &spot.text, pixels) else { continue };
            let origin = text.pos + vec2(spot.left, spot.base);
            let corner = origin + place.min.to_vec2() / pixels_per_point;
            let corner = (corner.to_vec2() * pixels_per_point).round() / pixels_per_point;
            let rect = Rect::from_min_size(corner.to_pos2(), place.size() / pixels_per_point);
            let mut mesh = Mesh::with_texture(texture);
            mesh.add_rect_with_uv(rect, Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0)), tint);
            shapes.push(Shape::mesh(mesh));
        }
        shapes
    }

    /// The picture of an emoji at a font size in pixels, and its rectangle relative to the start of the baseline.
    fn picture(&mut self, context: &Context, text: &str, pixels: u32) -> Option<(egui::TextureId, Rect)> {
        let font = self.font.as_deref()?;
        let frame = self.frame;
        let picture = self.pictures.entry((text.to_owned(), pixels)).or_insert_with(|| {
            let drawn = draw(font, text, pixels as f32).map(|(image, corner)| {
                let size = vec2(image.size[0] as f32, image.size[1] as f32);
                let texture = context.load_texture(format!("emoji {text}"), image, TextureOptions::LINEAR);
                (texture, Rect::from_min_size(corner.to_pos2(), size))
            });
            Picture { drawn, shown: frame }
        });
        picture.shown = frame;
        picture.drawn.as_ref().map(|(texture, place)| (texture.id(), *place))
    }
}

/// Renders an emoji in pixels, and returns the offset of its top left corner from the start of the baseline.
fn draw(font: &FontData, text: &str, pixels: f32) -> Option<(ColorImage, Vec2)> {
    let font = FontRef::from_index(&font.font, font.index).ok()?;
    let glyph = glyph_of(&font, text)?;
    let strikes: BitmapStrikes = font.bitmap_strikes();
    let found: BitmapGlyph = strikes.glyph_for_size(Size::new(pixels), glyph)?;
    let BitmapData::Png(bytes) = found.data else { return None };
    let whole = decode(bytes)?;
    let scale = pixels / found.ppem_y.max(1.0);
    let size = [0, 1].map(|axis| ((whole.size[axis] as f32 * scale).round() as usize).max(1));
    let left = found.inner_bearing_x * scale;
    let top = match found.placement_origin {
        Origin::TopLeft => -found.inner_bearing_y * scale,
        Origin::BottomLeft => -found.inner_bearing_y * scale - size[1] as f32,
    };
    Some((reduced(&whole, size), vec2(left, top)))
}

/// The single glyph that the font has for an emoji sequence.
fn glyph_of(font: &FontRef, text: &str) -> Option<GlyphId> {
    let data = harfrust::ShaperData::new(font);
    let mut buffer = harfrust::UnicodeBuffer::new();
    buffer.push_str(text);
    buffer.guess_segment_properties();
    let shaped = data.shaper(font).build().shape(buffer, harfrust::ShapeOptions::new());
    let glyph = GlyphId::new(shaped.glyph_infos().first()?.glyph_id);
    (glyph != GlyphId::NOTDEF).then_some(glyph)
}

/// Decodes a PNG.
pub(super) fn decode(bytes: &[u8]) -> Option<ColorImage> {
    let mut decoder = png::Decoder::new(Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::normalize_to_color8() | png::Transformations::ALPHA);
    let mut reader = decoder.read_info().ok()?;
    let mut pixels = vec![0; reader.output_buffer_size()?];
    let info = reader.next_frame(&mut pixels).ok()?;
    let size = [info.width as usize, info.height as usize];
    (info.color_type == png::ColorType::Rgba)
        .then(|| ColorImage::from_rgba_unmultiplied(size, &pixels[..info.buffer_size()]))
}

/// Scales an image down to `size` by averaging the source pixels.
fn reduced(whole: &ColorImage, size: [usize; 2]) -> ColorImage {
    let mut small = ColorImage::filled(size, Color32::TRANSPARENT);
    let span = |at: usize, axis: usize| {
        let (from, to) = (at * whole.size[axis] / size[axis], (at + 1) * whole.size[axis] / size[axis]);
        from.min(whole.size[axis] - 1)..to.max(from + 1).min(whole.size[axis])
    };
    for y in 0..size[1] {
        for x in 0..size[0] {
            let (mut sum, mut count) = ([0_u32; 4], 0);
            for row in span(y, 1) {
                for column in span(x, 0) {
                    let pixel = whole.pixels[row * whole.size[0] + column].to_array();
                    sum = std::array::from_fn(|channel| sum[channel] + u32::from(pixel[channel]));
                    count += 1;
                }
            }
            let [red, green, blue, alpha] = sum.map(|total| (total / count.max(1)) as u8);
            small.pixels[y * size[0] + x] = Color32::from_rgba_premultiplied(red, green, blue, alpha);
        }
    }
    small
}
