//! Rasterises the output of `egui` on the CPU: pictures of the window without a window, a display or a GPU.
//!
//! Colours are premultiplied and blended in gamma space, as `egui` does.
//!
//! The room is painted by `egui` rather than by Bevy: measured in one run, sprites and text of Bevy drew up to a tenth
//! fewer frames on software Vulkan and made the program 8 MB larger (figures in `docs/figures.md`). And a frame of
//! `egui` is just a list of triangles, from which a machine without any graphics adapter can draw the same picture as
//! the window (`tests/it/frames.rs`: at most 1 % of the pixels differ in any frame of a zoom).

use std::collections::HashMap;
use std::path::Path;

use egui::epaint::textures::{TextureOptions, TextureWrapMode, TexturesDelta};
use egui::epaint::{ClippedPrimitive, ImageData, Mesh, Primitive, Vertex};
use egui::{Color32, ColorImage, Context, RawInput, Rect, TextureId, Ui, Vec2, vec2};
use thiserror::Error;

use super::text::post_layout::ShownText;
use super::text::system_fonts::SystemFonts;
use crate::safe_fs::replace_bytes;

/// A picture could not be saved.
#[derive(Debug, Error)]
pub enum PictureError {
    /// The file could not be written.
    #[error("{path}: {source}")]
    File {
        /// The path.
        path: String,
        /// The I/O error.
        source: std::io::Error,
    },
    /// The picture could not be encoded as PNG.
    #[error("{path}: {source}")]
    Png {
        /// The path.
        path: String,
        /// The encoder's error.
        source: png::EncodingError,
    },
}

/// The textures of one context, updated after each frame.
#[derive(Default)]
pub struct Rasteriser {
    textures: HashMap<TextureId, (ColorImage, TextureOptions)>,
    text: ShownText,
    /// Loads the system fonts, once a character is missing from the bundled ones.
    find_fonts: Option<fn() -> SystemFonts>,
}

impl Rasteriser {
    /// A rasteriser that loads system fonts with `find` once a character is missing from the bundled fonts.
    pub fn with_fonts(find: fn() -> SystemFonts) -> Self {
        Self { find_fonts: Some(find), ..Self::default() }
    }

    /// Runs a UI for a few frames and draws the last one. `size` is in points.
    pub fn picture_of(
        &mut self,
        context: &Context,
        size: Vec2,
        pixels_per_point: f32,
        frames: usize,
        mut ui: impl FnMut(&mut Ui),
    ) -> ColorImage {
        let mut picture = ColorImage::filled([1, 1], Color32::BLACK);
        context.set_pixels_per_point(pixels_per_point);
        let mut last = frames.max(1);
        let mut frame = 0;
        while frame < last {
            let input = RawInput {
                screen_rect: Some(Rect::from_min_size(egui::Pos2::ZERO, size)),
                time: Some(frame as f64 / 60.0),
                ..RawInput::default()
            };
            let mut output = context.run_ui(input, &mut ui);
            self.text.finish(context, &mut output);
            self.update(&mut output.textures_delta);
            if let (Some(find), Some(wanted)) = (self.find_fonts, self.text.take_missing_characters()) {
                self.text.add(context, find().find(&wanted));
                // One frame to load the fonts, one to measure with them.
                last = last.max(frame + 3);
            }
            frame += 1;
            if frame == last {
                let primitives = context.tessellate(output.shapes, pixels_per_point);
                picture = self.draw(&primitives, size, pixels_per_point);
            }
        }
        picture
    }

    /// Applies new and changed textures.
    pub fn update(&mut self, delta: &mut TexturesDelta) {
        for (id, change) in delta.set.iter().flat_map(|(id, changes)| changes.iter().map(move |change| (id, change))) {
            let ImageData::Color(image) = &change.image;
            match change.pos {
                None => {
                    self.textures.insert(*id, ((**image).clone(), change.options));
                }
                Some([left, top]) => {
                    let Some((whole, _)) = self.textures.get_mut(id) else { continue };
                    for row in 0..image.size[1].min(whole.size[1].saturating_sub(top)) {
                        let width = image.size[0].min(whole.size[0].saturating_sub(left));
                        let to = (top + row) * whole.size[0] + left;
                        let from = row * image.size[0];
                        whole.pixels[to..to + width].copy_from_slice(&image.pixels[from..from + width]);
                    }
                }
            }
        }
        for id in &delta.free {
            self.textures.remove(id);
        }
        delta.clear();
    }

    /// Draws primitives onto black.
    pub fn draw(&self, primitives: &[ClippedPrimitive], size: Vec2, pixels_per_point: f32) -> ColorImage {
        let pixels = (size * pixels_per_point).round();
        let (width, height) = ((pixels.x as usize).max(1), (pixels.y as usize).max(1));
        let mut canvas = ColorImage::filled([width, height], Color32::BLACK);
        for ClippedPrimitive { clip_rect, primitive } in primitives {
            let Primitive::Mesh(mesh) = primitive else { continue };
            let clip = Rect::from_min_max(
                (clip_rect.min.to_vec2() * pixels_per_point).round().to_pos2(),
                (clip_rect.max.to_vec2() * pixels_per_point).round().to_pos2(),
            )
            .intersect(Rect::from_min_size(egui::Pos2::ZERO, vec2(width as f32, height as f32)));
            if clip.is_positive() {
                self.draw_mesh(mesh, clip, pixels_per_point, &mut canvas);
            }
        }
        canvas
    }

    fn draw_mesh(&self, mesh: &Mesh, clip: Rect, pixels_per_point: f32, canvas: &mut ColorImage) {
        let Some((image, options)) = self.textures.get(&mesh.texture_id) else { return };
        let texture = Texture { image, repeats: options.wrap_mode == TextureWrapMode::Repeat };
        for corners in mesh.indices.chunks_exact(3) {
            let corner = |at: usize| {
                let vertex = mesh.vertices[corners[at] as usize];
                Vertex { pos: (vertex.pos.to_vec2() * pixels_per_point).to_pos2(), ..vertex }
            };
            draw_triangle([corner(0), corner(1), corner(2)], &texture, clip, canvas);
        }
    }
}

/// A texture with its wrap mode.
struct Texture<'a> {
    image: &'a ColorImage,
    repeats: bool,
}

impl Texture<'_> {
    /// The bilinearly filtered colour at texture coordinates from 0 to 1.
    fn sample(&self, u: f32, v: f32) -> [f32; 4] {
        let [width, height] = self.image.size;
        let (x, y) = (u * width as f32 - 0.5, v * height as f32 - 0.5);
        let (left, top) = (x.floor(), y.floor());
        let (right_share, bottom_share) = (x - left, y - top);
        let mut mixed = [0.0; 4];
        for (dx, dy, share) in [
            (0, 0, (1.0 - right_share) * (1.0 - bottom_share)),
            (1, 0, right_share * (1.0 - bottom_share)),
            (0, 1, (1.0 - right_share) * bottom_share),
            (1, 1, right_share * bottom_share),
        ] {
            if share > 0.0 {
                let texel = self.texel(left as i64 + dx, top as i64 + dy).to_array();
                for (mixed, part) in mixed.iter_mut().zip(texel) {
                    *mixed += share * f32::from(part);
                }
            }
        }
        mixed
    }

    fn texel(&self, x: i64, y: i64) -> Color32 {
        let [width, height] = self.image.size.map(|size| size as i64);
        let (x, y) = if self.repeats {
            (x.rem_euclid(width), y.rem_euclid(height))
        } else {
            (x.clamp(0, width - 1), y.clamp(0, height - 1))
        };
        self.image.pixels[(y * width + x) as usize]
    }
}

fn draw_triangle(corners: [Vertex; 3], texture: &Texture, clip: Rect, canvas: &mut ColorImage) {
    let [a, mut b, mut c] = corners;
    let cross = |p: egui::Pos2, q: egui::Pos2, r: egui::Pos2| (q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x);
    let mut area = cross(a.pos, b.pos, c.pos);
    if area < 0.0 {
        std::mem::swap(&mut b, &mut c);
        area = -area;
    }
    if area <= f32::EPSILON || !area.is_finite() {
        return;
    }
    let bounds = Rect::from_points(&[a.pos, b.pos, c.pos]).intersect(clip);
    if !bounds.is_positive() {
        return;
    }
    // Fill rule: a pixel on an edge shared by two triangles belongs to exactly one of them.
    let owns = |p: egui::Pos2, q: egui::Pos2| (p.y == q.y && q.x > p.x) || q.y < p.y;
    let edges = [(b.pos, c.pos), (c.pos, a.pos), (a.pos, b.pos)];
    let owned = edges.map(|(p, q)| owns(p, q));
    let plain = a.uv == b.uv && b.uv == c.uv;
    let plain_texel = texture.sample(a.uv.x, a.uv.y);
    for y in bounds.min.y.floor() as usize..bounds.max.y.ceil() as usize {
        for x in bounds.min.x.floor() as usize..bounds.max.x.ceil() as usize {
            let middle = egui::pos2(x as f32 + 0.5, y as f32 + 0.5);
            if !clip.contains(middle) {
                continue;
            }
            let weights = edges.map(|(p, q)| cross(p, q, middle));
            let inside = weights.iter().zip(owned).all(|(weight, owned)| *weight > 0.0 || (*weight == 0.0 && owned));
            if !inside {
                continue;
            }
            let [wa, wb, wc] = weights.map(|weight| weight / area);
            let texel = if plain {
                plain_texel
            } else {
                texture.sample(wa * a.uv.x + wb * b.uv.x + wc * c.uv.x, wa * a.uv.y + wb * b.uv.y + wc * c.uv.y)
            };
            let tint = |at: usize| {
                let part = |vertex: &Vertex| f32::from(vertex.color.to_array()[at]);
                wa * part(&a) + wb * part(&b) + wc * part(&c)
            };
            let pixel = &mut canvas.pixels[y * canvas.size[0] + x];
            *pixel = blend(*pixel, std::array::from_fn(|at| texel[at] * tint(at) / 255.0));
        }
    }
}

fn blend(below: Color32, above: [f32; 4]) -> Color32 {
    let rest = 1.0 - above[3] / 255.0;
    let below = below.to_array();
    let mixed = |at: usize| (above[at] + f32::from(below[at]) * rest).round().clamp(0.0, 255.0) as u8;
    Color32::from_rgba_premultiplied(mixed(0), mixed(1), mixed(2), 255)
}

/// Writes a picture as PNG.
pub fn write_png(picture: &ColorImage, path: &Path) -> Result<(), PictureError> {
    let named = || path.display().to_string();
    if std::fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        let source = std::io::Error::other("something else than a file lies there");
        return Err(PictureError::File { path: named(), source });
    }
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, picture.size[0] as u32, picture.size[1] as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let rows: Vec<u8> = picture.pixels.iter().flat_map(|pixel| [pixel.r(), pixel.g(), pixel.b()]).collect();
    let encoded = encoder.write_header().and_then(|mut writer| writer.write_image_data(&rows));
    encoded.map_err(|source| PictureError::Png { path: named(), source })?;
    replace_bytes(path, &bytes).map_err(|source| PictureError::File { path: named(), source })
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::{Shape, pos2};

    fn draw(shapes: impl Fn(&egui::Painter)) -> ColorImage {
        let context = Context::default();
        Rasteriser::default().picture_of(&context, vec2(100.0, 60.0), 1.0, 1, |ui| shapes(ui.painter()))
    }

    #[test]
    fn a_rectangle_fills_its_pixels_and_no_others() {
        let red = Color32::from_rgb(200, 10, 20);
        let inside = Rect::from_min_max(pos2(10.0, 20.0), pos2(40.0, 30.0));
        let picture = draw(|painter| {
            painter.rect_filled(inside, 0.0, red);
        });
        let count = picture.pixels.iter().filter(|pixel| **pixel == red).count();
        assert_eq!(count, 300);
        assert_eq!(picture[(10, 20)], red);
        assert_ne!(picture[(9, 20)], red);
    }

    #[test]
    fn half_transparent_colours_are_blended_once() {
        let half = Color32::from_rgba_unmultiplied(255, 255, 255, 128);
        let picture = draw(|painter| {
            painter.rect_filled(Rect::EVERYTHING, 0.0, Color32::BLACK);
            painter.rect_filled(Rect::from_min_max(pos2(0.0, 0.0), pos2(50.0, 60.0)), 0.0, half);
            painter.rect_filled(Rect::from_min_max(pos2(0.0, 0.0), pos2(20.0, 60.0)), 0.0, half);
        });
        assert!((126..=130).contains(&picture[(30, 30)].r()), "{:?}", picture[(30, 30)]);
        assert!((189..=195).contains(&picture[(10, 30)].r()), "two halves, each once: {:?}", picture[(10, 30)]);
    }

    #[test]
    fn text_and_circles_leave_ink_inside_their_bounds() {
        let picture = draw(|painter| {
            painter.text(
                pos2(5.0, 5.0),
                egui::Align2::LEFT_TOP,
                "Ada",
                egui::FontId::proportional(14.0),
                Color32::WHITE,
            );
            painter.add(Shape::circle_filled(pos2(70.0, 30.0), 10.0, Color32::WHITE));
        });
        let ink = |left: usize, right: usize| {
            (0..60).flat_map(|y| (left..right).map(move |x| (x, y))).filter(|at| picture[*at].r() > 100).count()
        };
        assert!(ink(4, 35) > 20, "no text");
        let round = ink(60, 81);
        assert!((290..=340).contains(&round), "a circle of radius 10 has 314 pixels, not {round}");
    }
}
