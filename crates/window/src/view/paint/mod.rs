//! Paints the room with `egui`: floor, furniture, elements, agents and their interactions.
//!
//! Nearly everything is in two meshes: one for the layers behind the agents, one for agents and ropes. Objects outside
//! the view are skipped, and details too small to be legible are simplified.

mod appearance;
mod area_labels;
mod batch;
mod clusters;
mod draw_order;
mod element;
mod figure;
mod floor;
mod floor_covering;
mod ghost;
mod knowledge_overlay;
mod label;
mod label_input;
mod label_layout;
mod markdown_text;
pub mod minimap;
mod occupancy;
mod talk;
mod tasks;
#[cfg(test)]
pub(crate) mod tests;
mod text_layer;
mod text_scaling;
mod work;
mod zoomed_out;

use std::collections::BTreeSet;

use bevy::math::Vec2 as World;
use bevy::platform::collections::HashSet;
use egui::{Color32, CornerRadius, Painter, Pos2, Rect, Stroke, StrokeKind, pos2, vec2};

pub use appearance::Outfit;
pub use clusters::square_side;
pub use ghost::{Ghost, ghost};
pub use knowledge_overlay::travel_colour;
pub use label::Labels;
pub use label_layout::inside;
pub use minimap::minimap;
pub use occupancy::Occupancy;
pub use talk::{chosen_tie, dragged_rope, handle, handle_place, relationship_at, relationship_midpoint};
#[cfg(test)]
pub(crate) use text_scaling::in_rows;
pub use zoomed_out::DOT_INK;

use super::activity_text::{Importance, label_state};
use super::art::{Art, Sprite};
use super::camera::Camera;
use super::furniture;
use super::model::{AgentView, DecorView, RoomModel};
use super::pick::RoomObject;
use super::recent_events::Recent;
use super::theme::{Theme, state_colour};
use super::who_knows::WhoKnows;
use crate::schedule::TICKS_PER_SEC;
use crate::simulation::State;
use batch::Batch;
use draw_order::DrawItem;

/// Objects this far outside the view may still reach into it, in world units.
const MARGIN: f32 = 130.0;

/// The parameters of a painted frame.
#[derive(Clone, Copy, Debug)]
pub struct PaintParameters<'a> {
    /// The camera.
    pub camera: Camera,
    /// The colours.
    pub theme: Theme,
    /// Real time, in seconds.
    pub now_secs: f64,
    /// The selection.
    pub selected: &'a BTreeSet<RoomObject>,
    /// The hovered agent or element.
    pub hovered: Option<&'a RoomObject>,
    /// The pointer, if it is over the room.
    pub pointer: Option<Pos2>,
    /// Whether details are shown beside each agent, for which bubbles make room.
    pub quiet: bool,
    /// The knowledge to highlight.
    pub who_knows: Option<&'a WhoKnows>,
    /// Whether animations are off (reduced motion).
    pub still: bool,
}

/// The level of detail of agents.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Detail {
    /// Dots, with numbers for clusters.
    Dots,
    /// Figures without names.
    Figures,
    /// Figures with names, signs and bubbles.
    Names,
}

impl Detail {
    /// The level of detail at this zoom.
    pub fn at(zoom: f32) -> Self {
        if zoom < 0.25 {
            Self::Dots
        } else if zoom < 0.45 {
            Self::Figures
        } else {
            Self::Names
        }
    }
}

/// Paints the room into the camera's viewport. `labels` keeps label places between frames.
pub fn room(
    painter: &Painter,
    room: &RoomModel,
    recent: &Recent,
    art: &Art,
    scene: &PaintParameters,
    labels: &mut Labels,
) {
    let PaintParameters { camera, theme, now_secs, .. } = *scene;
    let painter = painter.with_clip_rect(camera.viewport.intersect(painter.clip_rect()));
    floor::floor(&painter, camera, theme, art);
    let Some(sheet) = art.sheet(camera.zoom) else { return };
    let detail = Detail::at(camera.zoom);
    let seen = Seen::of(room, camera);
    let chosen = Chosen::of(scene);

    let lying = |kind: &'static str| {
        let pieces = seen.decor.iter().map(|index| (*index, &room.decor[*index]));
        pieces.filter(move |(_, decor)| &*decor.kind == kind)
    };
    for decor in seen.decor.iter().map(|index| &room.decor[*index]) {
        floor_covering::covering(&painter, decor, camera, theme);
    }
    for (index, decor) in lying("rug") {
        floor::rug(&painter, decor, floor::rugs(&room.decor[..index]).count(), camera, theme);
    }
    // Window light is painted over rugs.
    for (_, decor) in lying("window") {
        floor::window_light(&painter, decor, camera, theme);
    }

    let mut batch = Batch::new(sheet, 18 * seen.agents.len() + 24 * seen.elements.len() + 256);
    floor::grid(&mut batch, camera, theme);
    floor::lamp_pools(&mut batch, room, camera, theme);
    for decor in seen.decor.iter().map(|index| &room.decor[*index]).filter(|decor| !furniture::is_flat(&decor.kind)) {
        element::shadow(&mut batch, decor.position, decor.size, camera, theme);
    }
    for element in seen.elements.iter().map(|index| &room.elements[*index]) {
        element::shadow(&mut batch, element.position, element::SIZE, camera, theme);
    }
    talk::tie_ropes(&mut batch, room, camera, theme);
    work::threads(&mut batch, room, camera, theme);
    talk::talk_ropes(&mut batch, room, camera, theme, now_secs);
    if scene.quiet && detail > Detail::Dots {
        knowledge_overlay::thought_threads(&mut batch, room, recent, scene);
    }
    if let Some(known) = scene.who_knows {
        knowledge_overlay::who_knows(&mut batch, room, known, scene);
    }
    stand(&painter, &mut batch, room, recent, &seen, &chosen, scene, detail);
    let clusters = if detail == Detail::Dots {
        let agents = seen.agents.iter().map(|index| (*index, &room.agents[*index as usize]));
        let clusters = clusters::group(agents, camera.zoom);
        zoomed_out::paint(&mut batch, &clusters, room, (camera, theme), zoomed_out::glow_at(now_secs, scene.still));
        clusters
    } else {
        Vec::new()
    };
    floor::lamp_halos(&mut batch, room, camera, theme, now_secs);
    batch.flush(&painter);
    zoomed_out::counts(&painter, &clusters, camera);
    floor::vignette(&painter, camera.viewport, theme);
    if !chosen.agents.is_empty() && detail > Detail::Dots {
        for agent in seen.agents.iter().map(|index| &room.agents[*index as usize]) {
            outline(&painter, figure_rect(agent, camera), &agent.id, &chosen.agents, scene);
        }
    }
    if detail == Detail::Names {
        work::sheets(&painter, room, recent, camera, theme, now_secs);
        work::letters(&painter, room, recent, camera, theme, now_secs);
        if scene.quiet {
            knowledge_overlay::thoughts(&painter, room, recent, scene);
        }
    }
    let input =
        label_input::LabelInput { room, recent, seen: &seen, chosen: &chosen, scene, detail, clusters: &clusters };
    text_layer::paint(&painter, &input, sheet, labels);
}

/// Paints everything that stands on the floor, farthest first.
fn stand(
    painter: &Painter,
    batch: &mut Batch,
    room: &RoomModel,
    recent: &Recent,
    seen: &Seen,
    chosen: &Chosen,
    scene: &PaintParameters,
    detail: Detail,
) {
    let PaintParameters { camera, theme, now_secs, .. } = *scene;
    let light = floor::light_of(theme);
    // With reduced motion, pens rest.
    let room_secs = if scene.still { 0.0 } else { room.tick as f64 / TICKS_PER_SEC as f64 };
    let figures = figure::Scene {
        now: figure::Moment { real_secs: now_secs, room_secs },
        zoom: camera.zoom,
        light,
        sign: floor::sign_ground(theme),
        ink: theme.bubble_text,
        coarse: detail < Detail::Names,
        grey: None,
    };
    let order = draw_order::back_to_front(room, seen, detail > Detail::Dots);
    for standing in &order {
        if let DrawItem::Agent(index, false) = standing {
            footing(batch, &room.agents[*index as usize], chosen, scene, detail);
        }
    }
    for standing in order {
        match standing {
            DrawItem::Agent(index, is_before) => {
                let agent = &room.agents[index as usize];
                if is_before {
                    footing(batch, agent, chosen, scene, detail);
                }
                let said = recent.bubbles.get(&agent.id);
                let talks = said.is_some_and(|bubble| bubble.is_mouth_moving(now_secs));
                let own = figure::Scene {
                    zoom: camera.zoom * figure_scale(agent, detail),
                    grey: at_rest(agent, detail, theme),
                    ..figures
                };
                figure::paint(batch, agent, camera.to_screen(agent.position), talks, &own);
            }
            DrawItem::Decor(index) => element::furniture(batch, &room.decor[index], camera, light, theme.dark),
            DrawItem::Element(index) => {
                let element = &room.elements[index];
                let pulse = recent.pulses.get(&element.id);
                element::element(batch, element, pulse, now_secs, camera, light, &|name| room.look_of(name));
                if camera.zoom >= element::WRITTEN_ZOOM || pulse.is_some() || chosen.elements.contains(&*element.id) {
                    // An agent in front of a board also covers the board's text.
                    batch.flush(painter);
                    element::writing(painter, element, camera, theme);
                    if let Some(pulse) = pulse {
                        element::glimmer(painter, element, pulse, now_secs, camera, theme);
                    }
                    let around = camera.rect_to_screen(element.position, element::SIZE).expand(6.0);
                    outline(painter, around, &element.id, &chosen.elements, scene);
                }
            }
        }
    }
}

/// Paints the figure of a look word (see [`AgentView::look`]), as large as fits into a rectangle: for lists and drag
/// previews.
pub fn portrait(painter: &Painter, rect: Rect, look: &str, art: &Art) {
    // A figure is 60 units high.
    if let Some(sheet) = art.sheet(rect.height() / 60.0) {
        let mut batch = Batch::new(sheet, 20);
        figure::portrait(&mut batch, look, rect, Color32::WHITE);
        batch.paint(painter);
    }
}

/// Paints an empty element of a kind into a rectangle with the aspect ratio 100:80, for the same uses.
pub fn element_picture(painter: &Painter, rect: Rect, kind: &str, art: &Art) {
    let zoom = (rect.width() / element::SIZE.x).min(rect.height() / element::SIZE.y) * 0.9;
    if let Some(sheet) = art.sheet(zoom) {
        let mut batch = Batch::new(sheet, 4);
        element::picture(&mut batch, kind, rect.center(), zoom, Color32::WHITE);
        batch.paint(painter);
    }
}

/// Paints a piece of furniture into a rectangle with its aspect ratio, for lists.
pub fn furniture_picture(painter: &Painter, rect: Rect, decor: &DecorView, art: &Art, theme: Theme) {
    let zoom = rect.width() / decor.size.x;
    let camera = Camera { middle: decor.position, zoom, viewport: rect, is_zooming: false };
    match &*decor.kind {
        "rug" => floor::rug(painter, decor, 0, camera, theme),
        "window" => floor::window_light(painter, decor, camera, theme),
        kind if furniture::layer(kind) == furniture::Layer::Covering => {
            floor_covering::covering(painter, decor, camera, theme);
        }
        _ => {
            let Some(sheet) = art.sheet(zoom) else { return };
            let mut batch = Batch::new(sheet, 8);
            element::furniture(&mut batch, decor, camera, Color32::WHITE, theme.dark);
            batch.paint(painter);
        }
    }
}

/// Paints the shadow of an agent and the ring in its state's colour.
fn footing(batch: &mut Batch, agent: &AgentView, chosen: &Chosen, scene: &PaintParameters, detail: Detail) {
    let PaintParameters { camera, theme, now_secs, .. } = *scene;
    let zoom = camera.zoom * figure_scale(agent, detail);
    let at = camera.to_screen(agent.position);
    let around = |width: f32| Rect::from_center_size(at - vec2(0.0, zoom), vec2(width, 0.45 * width) * zoom);
    let aloft = if agent.state == State::Dragged { 0.7 } else { 1.0 };
    batch.fill(Sprite::Shadow, around(40.0 * aloft), theme.shadow);
    let colour = at_rest(agent, detail, theme).unwrap_or(state_colour(label_state(agent)));
    let importance = Importance::of(agent);
    if detail == Detail::Figures && importance.stands_out() {
        let strength = 0.7 * zoomed_out::glow_at(now_secs, scene.still);
        let middle = at - vec2(0.0, 24.0 * zoom);
        batch.fill(
            Sprite::Glow,
            Rect::from_center_size(middle, vec2(96.0, 110.0) * zoom),
            colour.gamma_multiply(strength),
        );
    }
    if importance == Importance::NeedsYou {
        // Agents that need a person emit waves.
        let share = if scene.still { 0.4 } else { ((now_secs * 0.8) % 1.0) as f32 };
        batch.fill(Sprite::Ring, around(36.0 + 30.0 * share), colour.gamma_multiply(0.8 * (1.0 - share)));
    }
    let is_calm = importance == Importance::Rest && agent.state != State::Paused;
    batch.fill(Sprite::Ring, around(38.0), theme.ring_edge());
    batch.fill(Sprite::Ring, around(36.0), colour.gamma_multiply(if is_calm { 0.6 } else { 1.0 }));
    if chosen.agents.contains(&*agent.id) {
        batch.fill(Sprite::Ring, around(46.0), theme.accent);
        batch.fill(Sprite::Glow, around(84.0), theme.accent.gamma_multiply(0.35));
    }
}

/// The grey that resting agents fade to when there are many in the view.
fn at_rest(agent: &AgentView, detail: Detail, theme: Theme) -> Option<Color32> {
    (detail < Detail::Names && Importance::of(agent) == Importance::Rest).then(|| theme.at_rest())
}

/// Strength of a pulsing glow, which calls for attention.
fn pulse(now_secs: f64) -> f32 {
    0.75 + 0.25 * ((now_secs * 3.2) % std::f64::consts::TAU).sin() as f32
}

/// Scale of an agent that stands out in a crowd, at zooms without names.
fn figure_scale(agent: &AgentView, detail: Detail) -> f32 {
    if detail == Detail::Figures && Importance::of(agent).stands_out() { 1.35 } else { 1.0 }
}

/// The screen rectangle of a figure at this scale.
fn body(agent: &AgentView, camera: Camera, scale: f32) -> Rect {
    let feet = camera.to_screen(agent.position);
    let zoom = camera.zoom * scale;
    Rect::from_min_max(feet - vec2(12.0, 52.0) * zoom, feet + vec2(12.0 * zoom, 0.0))
}

fn figure_rect(agent: &AgentView, camera: Camera) -> Rect {
    let at = camera.to_screen(agent.position);
    let zoom = camera.zoom;
    Rect::from_min_max(at - vec2(22.0, figure::HEIGHT + 3.0) * zoom, pos2(at.x + 22.0 * zoom, at.y + 9.0 * zoom))
}

/// Paints the outline of a selected or hovered thing.
fn outline(painter: &Painter, rect: Rect, id: &str, chosen: &HashSet<&str>, scene: &PaintParameters) {
    if !chosen.contains(id) {
        return;
    }
    let selected = scene.selected.iter().any(|thing| &**thing.id() == id);
    let (width, strength) = if selected { (2.0, 1.0) } else { (1.5, 0.55) };
    let corners = CornerRadius::same((14.0 * scene.camera.zoom).clamp(4.0, 40.0) as u8);
    let colour: Color32 = scene.theme.accent.gamma_multiply(strength);
    if selected {
        painter.rect_stroke(rect, corners, Stroke::new(6.0, colour.gamma_multiply(0.2)), StrokeKind::Middle);
    }
    painter.rect_stroke(rect, corners, Stroke::new(width, colour), StrokeKind::Middle);
}

/// The selected and hovered things, by id.
struct Chosen<'a> {
    agents: HashSet<&'a str>,
    elements: HashSet<&'a str>,
}

impl<'a> Chosen<'a> {
    fn of(scene: &PaintParameters<'a>) -> Self {
        let things = || scene.selected.iter().chain(scene.hovered);
        Self {
            agents: things().filter_map(RoomObject::agent).map(|id| &**id).collect(),
            elements: things().filter_map(RoomObject::element).map(|id| &**id).collect(),
        }
    }
}

/// Indices of everything visible, from top to bottom of the screen: things lower on the screen are in front.
struct Seen {
    agents: Vec<u32>,
    elements: Vec<usize>,
    decor: Vec<usize>,
}

impl Seen {
    fn of(room: &RoomModel, camera: Camera) -> Self {
        // The square of a cluster at the edge of the view may reach beyond it.
        let cluster = if Detail::at(camera.zoom) == Detail::Dots { square_side(camera.zoom) } else { 0.0 };
        let (low, high) = camera.visible(MARGIN.max(cluster));
        let inside = |place: World, half: World| {
            place.is_finite() && (place + half).cmpge(low).all() && (place - half).cmple(high).all()
        };
        let agents = room.agents.iter().enumerate().filter(|(_, agent)| inside(agent.position, World::ZERO));
        let mut agents: Vec<(f32, u32)> = agents.map(|(index, agent)| (agent.position.y, index as u32)).collect();
        agents.sort_unstable_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        let agents = agents.into_iter().map(|(_, index)| index).collect();
        let elements = room.elements.iter().enumerate().filter(|(_, element)| inside(element.position, element::SIZE));
        let mut elements: Vec<usize> = elements.map(|(index, _)| index).collect();
        elements.sort_by(|one, other| room.elements[*other].position.y.total_cmp(&room.elements[*one].position.y));
        let decor = room.decor.iter().enumerate().filter(|(_, decor)| inside(decor.position, decor.size / 2.0));
        let mut decor: Vec<usize> = decor.map(|(index, _)| index).collect();
        decor.sort_by(|one, other| room.decor[*other].position.y.total_cmp(&room.decor[*one].position.y));
        Self { agents, elements, decor }
    }
}
