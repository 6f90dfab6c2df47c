//! Paints the room with `egui`: floor, furniture, elements, agents and what goes on between them.
//!
//! Two meshes carry nearly everything: one for what lies and stands behind the agents, one for the agents and
//! ropes. What cannot be seen is left out, and what is too small to be read becomes simpler.

mod batch;
mod dots;
mod element;
mod figure;
mod floor;
mod ghost;
mod label;
pub mod minimap;
mod order;
mod outfit;
mod plain;
mod talk;
#[cfg(test)]
pub(crate) mod tests;
mod work;

use std::collections::{BTreeSet, HashSet};

use bevy::math::Vec2 as World;
use egui::{Color32, CornerRadius, Painter, Pos2, Rect, Stroke, StrokeKind, pos2, vec2};

pub use dots::DOT_INK;
pub use ghost::{Ghost, ghost};
pub use label::Taken;
pub use minimap::minimap;
pub use outfit::Outfit;
pub use talk::{chosen_tie, handle, rope_in_hand, tie_middle, tie_under};

use super::art::{Art, Sprite};
use super::camera::Camera;
use super::model::{AgentView, RoomModel};
use super::pick::{FACE_HALF, FACE_LIFT, Thing};
use super::recent::Recent;
use super::theme::{Theme, state_colour};
use crate::simulation::State;
use batch::Batch;
use label::{Style, Wish};
use order::Standing;

/// What stands a little out of view still reaches into it, in world units.
const MARGIN: f32 = 130.0;
/// With fewer bubbles than this, heads are kept free of them.
const MANNERLY_BUBBLES: usize = 60;

/// With more agents in view than this, names make room for what is told beside everyone.
const NAMED_AND_TOLD: usize = 40;

/// From where, when and how the room is looked at.
#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    /// From where.
    pub camera: Camera,
    /// In which light.
    pub theme: Theme,
    /// When, in seconds of real time.
    pub now_secs: f64,
    /// What is selected.
    pub selected: &'a BTreeSet<Thing>,
    /// What the pointer is over.
    pub hovered: Option<&'a Thing>,
    /// Where the pointer is, if it is over the room.
    pub pointer: Option<Pos2>,
    /// Whether something else is shown beside each agent, for which bubbles make room.
    pub quiet: bool,
}

/// How much of the agents is shown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Detail {
    /// Dots, with numbers where they pile up.
    Dots,
    /// Figures without names.
    Figures,
    /// Figures with names, signs and bubbles.
    Names,
}

impl Detail {
    /// What can be made out at this zoom.
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

/// Paints the room into the camera's part of the screen.
pub fn room(painter: &Painter, room: &RoomModel, recent: &Recent, art: &Art, scene: &Look) {
    let Look { camera, theme, now_secs, .. } = *scene;
    let painter = painter.with_clip_rect(camera.viewport.intersect(painter.clip_rect()));
    floor::floor(&painter, camera, theme, art);
    let Some(sheet) = art.sheet(camera.zoom) else { return };
    let detail = Detail::at(camera.zoom);
    let seen = Seen::of(room, camera);
    let chosen = Chosen::of(scene);

    let lying = |kind: &'static str| {
        seen.decor.iter().map(|index| &room.decor[*index]).filter(move |decor| &*decor.kind == kind)
    };
    for decor in lying("rug") {
        floor::rug(&painter, decor, camera, theme);
    }
    // Light lies on rugs as well.
    for decor in lying("window") {
        floor::window_light(&painter, decor, camera, theme);
    }

    let mut batch = Batch::new(sheet, 18 * seen.agents.len() + 24 * seen.elements.len() + 256);
    floor::grid(&mut batch, camera, theme);
    floor::lamp_pools(&mut batch, room, camera, theme);
    for decor in seen.decor.iter().map(|index| &room.decor[*index]).filter(|decor| stands(&decor.kind)) {
        element::shadow(&mut batch, decor.position, decor.size, camera, theme);
    }
    for element in seen.elements.iter().map(|index| &room.elements[*index]) {
        element::shadow(&mut batch, element.position, element::SIZE, camera, theme);
    }
    talk::tie_ropes(&mut batch, room, camera, theme);
    work::threads(&mut batch, room, camera, theme);
    talk::talk_ropes(&mut batch, room, camera, theme, now_secs);
    stand(&painter, &mut batch, room, recent, &seen, &chosen, scene, detail);
    let heaps = if detail == Detail::Dots {
        let heaps = dots::heaps(seen.agents.iter().map(|index| &room.agents[*index as usize]), camera.zoom);
        dots::paint(&mut batch, &heaps, camera, theme);
        heaps
    } else {
        Vec::new()
    };
    floor::lamp_halos(&mut batch, room, camera, theme, now_secs);
    batch.flush(&painter);
    dots::counts(&painter, &heaps, camera);
    floor::vignette(&painter, camera.viewport, theme);
    if !chosen.agents.is_empty() && detail > Detail::Dots {
        for agent in seen.agents.iter().map(|index| &room.agents[*index as usize]) {
            outline(&painter, figure_rect(agent, camera), &agent.id, &chosen.agents, scene);
        }
    }
    if detail == Detail::Names {
        work::sheets(&painter, room, recent, camera, theme, now_secs);
    }
    words(&painter, room, recent, &seen, &chosen, scene, detail, sheet);
}

/// Paints everything that stands on the floor, what is farther away first.
fn stand(
    painter: &Painter,
    batch: &mut Batch,
    room: &RoomModel,
    recent: &Recent,
    seen: &Seen,
    chosen: &Chosen,
    scene: &Look,
    detail: Detail,
) {
    let Look { camera, theme, now_secs, .. } = *scene;
    let light = floor::light_of(theme);
    let figures = figure::Scene {
        now_secs,
        zoom: camera.zoom,
        light,
        sign: floor::sign_ground(theme),
        ink: theme.bubble_text,
        coarse: detail < Detail::Names,
    };
    let order = order::standing(room, seen, detail > Detail::Dots);
    for standing in &order {
        if let Standing::Agent(index, false) = standing {
            footing(batch, &room.agents[*index as usize], chosen, scene);
        }
    }
    for standing in order {
        match standing {
            Standing::Agent(index, is_before) => {
                let agent = &room.agents[index as usize];
                if is_before {
                    footing(batch, agent, chosen, scene);
                }
                let said = recent.bubbles.get(&agent.id);
                let talks = said.is_some_and(|bubble| bubble.is_spoken(now_secs));
                figure::paint(batch, agent, camera.to_screen(agent.position), talks, &figures);
            }
            Standing::Decor(index) => element::furniture(batch, &room.decor[index], camera, light, theme.dark),
            Standing::Element(index) => {
                let element = &room.elements[index];
                let pulse = recent.pulses.get(&element.id);
                element::element(batch, element, pulse, now_secs, camera, light);
                if camera.zoom >= element::WRITTEN_ZOOM || pulse.is_some() || chosen.elements.contains(&*element.id) {
                    // Who stands in front of a board stands in front of its words as well.
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

/// Paints the figure that goes with a word, as in [`AgentView::look`], as large as fits into a rectangle: for lists,
/// and for what follows the pointer.
pub fn portrait(painter: &Painter, rect: Rect, look: &str, art: &Art) {
    // A figure is 60 units high.
    if let Some(sheet) = art.sheet(rect.height() / 60.0) {
        let mut batch = Batch::new(sheet, 20);
        figure::portrait(&mut batch, look, rect, Color32::WHITE);
        batch.paint(painter);
    }
}

/// Paints an empty element of a kind into a rectangle of its proportions (100 to 80), for the same uses.
pub fn element_picture(painter: &Painter, rect: Rect, kind: &str, art: &Art) {
    let zoom = (rect.width() / element::SIZE.x).min(rect.height() / element::SIZE.y) * 0.9;
    if let Some(sheet) = art.sheet(zoom) {
        let mut batch = Batch::new(sheet, 4);
        element::picture(&mut batch, kind, rect.center(), zoom, Color32::WHITE);
        batch.paint(painter);
    }
}

/// Bubbles, reactions and labels: everything that must not lie on something like itself.
fn words(
    painter: &Painter,
    room: &RoomModel,
    recent: &Recent,
    seen: &Seen,
    chosen: &Chosen,
    scene: &Look,
    detail: Detail,
    sheet: &super::art::Sheet,
) {
    let Look { camera, theme, now_secs, .. } = *scene;
    let mut taken = Taken::new(camera.viewport);
    let distance = |at: Pos2| scene.pointer.map_or(0.0, |pointer| pointer.distance(at));
    if detail > Detail::Dots {
        let mut said: Vec<_> = seen
            .agents
            .iter()
            .map(|index| &room.agents[*index as usize])
            .filter_map(|agent| Some((agent, recent.bubbles.get(&agent.id)?)))
            .map(|(agent, bubble)| {
                let rank = u8::from(!chosen.agents.contains(&*agent.id));
                // Without a pointer the newest come first.
                let near =
                    scene.pointer.map_or(-bubble.born_secs as f32, |_| distance(camera.to_screen(agent.position)));
                (rank, near, agent, bubble)
            })
            .collect();
        said.sort_by(|one, other| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)));
        // Bubbles rather stand beside figures than on them; in a crowd there is no room for such manners.
        let mut spared = None;
        if said.len() < MANNERLY_BUBBLES {
            let spared = spared.insert(Taken::new(camera.viewport));
            for agent in seen.agents.iter().map(|index| &room.agents[*index as usize]) {
                let body = camera.to_screen(agent.position + World::new(0.0, 28.0));
                spared.claim(Rect::from_center_size(body, vec2(24.0, 48.0) * camera.zoom));
            }
            for element in seen.elements.iter().map(|index| &room.elements[*index]) {
                let middle = camera.to_screen(element.position + World::new(0.0, 10.0));
                spared.claim(Rect::from_center_size(middle, vec2(60.0, 30.0) * camera.zoom));
            }
        }
        let mut small = Batch::new(sheet, 0);
        let mut unheard = Vec::new();
        for (rank, _, agent, bubble) in said {
            let legible = (detail == Detail::Names && !scene.quiet) || rank == 0;
            let shown = legible && talk::bubble(painter, agent, bubble, scene, &mut taken, spared.as_ref(), rank == 0);
            if !shown {
                unheard.push(agent);
            }
        }
        // Dots do not lie on the words of others.
        for agent in unheard.into_iter().filter(|agent| taken.is_free(talk::folded_place(agent, camera))) {
            talk::folded(&mut small, agent, camera, theme);
        }
        small.paint(painter);
        if detail == Detail::Names && !(recent.reactions.is_empty() && recent.refusals.is_empty()) {
            for agent in seen.agents.iter().map(|index| &room.agents[*index as usize]) {
                if let Some((sign, since)) = recent.reactions.get(&agent.id) {
                    talk::reaction(painter, agent, (*sign, *since), now_secs, camera, theme);
                }
                let Some(refused) = recent.refusals.get(&agent.id) else { continue };
                talk::refusal(painter, agent, refused.1, scene);
                // Beside each agent stands why, where everything else is told as well.
                if chosen.agents.contains(&*agent.id) && !scene.quiet {
                    taken.claim(talk::refusal_words(painter, agent, refused, scene));
                }
            }
        }
    }
    let mut wishes = Vec::new();
    let spread = camera.zoom.sqrt().clamp(0.85, 1.5);
    let mut wish = |text, below: World, size: f32, style, picked: bool, rank| {
        let top = camera.to_screen(below);
        let (rank, style) = if picked { (0, Style::Selected) } else { (rank, style) };
        wishes.push(Wish { text, top, size: size * spread, rank, distance: distance(top), style });
    };
    // With a pointer in the room the nearest win; without one those who do something do.
    let pointed = scene.pointer.is_some();
    if detail == Detail::Names || !chosen.elements.is_empty() {
        for element in seen.elements.iter().map(|index| &room.elements[*index]) {
            let picked = chosen.elements.contains(&*element.id);
            if detail == Detail::Names || picked {
                let below = element.position - World::new(0.0, 0.5 * element::SIZE.y + 12.0);
                wish(&*element.label, below, 12.0, Style::Element, picked, 1);
            }
        }
    }
    // Where there is hardly room for what is told of everyone there is none for names.
    let names = detail == Detail::Names && !(scene.quiet && seen.agents.len() > NAMED_AND_TOLD);
    if names || !chosen.agents.is_empty() {
        for agent in seen.agents.iter().map(|index| &room.agents[*index as usize]) {
            let picked = chosen.agents.contains(&*agent.id);
            if names || picked {
                let calm = matches!(agent.state, State::Idle | State::Wandering | State::Patrolling | State::Cooldown);
                let rank = if pointed || !calm { 1 } else { 2 };
                let below = agent.position - World::new(0.0, 9.0);
                wish(&*agent.name, below, 11.0, Style::Name, picked, rank);
            }
        }
    }
    if detail == Detail::Names {
        talk::tie_wishes(room, camera, theme, &mut wishes);
    }
    for wish in label::chosen(wishes, &mut taken, &faces(room, seen, camera)).iter().rev() {
        label::paint(painter, wish, theme);
    }
}

/// Where the faces are.
fn faces(room: &RoomModel, seen: &Seen, camera: Camera) -> Taken {
    let mut faces = Taken::new(camera.viewport);
    for agent in seen.agents.iter().map(|index| &room.agents[*index as usize]) {
        let middle = camera.to_screen(agent.position + World::new(0.0, FACE_LIFT));
        faces.claim(Rect::from_center_size(middle, egui::Vec2::splat(2.0 * FACE_HALF * camera.zoom)));
    }
    faces
}

/// Whether a piece of decor stands on the floor, and does not lie on it.
fn stands(kind: &str) -> bool {
    !matches!(kind, "rug" | "window")
}

/// The shadow of an agent and the ring in its state's colour.
fn footing(batch: &mut Batch, agent: &AgentView, chosen: &Chosen, scene: &Look) {
    let Look { camera, theme, now_secs, .. } = *scene;
    let zoom = camera.zoom;
    let at = camera.to_screen(agent.position);
    let around = |width: f32| Rect::from_center_size(at - vec2(0.0, zoom), vec2(width, 0.45 * width) * zoom);
    let aloft = if agent.state == State::Dragged { 0.7 } else { 1.0 };
    batch.fill(Sprite::Shadow, around(40.0 * aloft), theme.shadow);
    let colour = state_colour(agent.state);
    let calm = matches!(agent.state, State::Idle | State::Wandering | State::Patrolling | State::Cooldown);
    if matches!(agent.state, State::Waiting | State::Error) {
        // What needs a person makes waves.
        let share = ((now_secs * 0.8) % 1.0) as f32;
        batch.fill(Sprite::Ring, around(36.0 + 30.0 * share), colour.gamma_multiply(0.8 * (1.0 - share)));
    }
    batch.fill(Sprite::Ring, around(38.0), theme.ring_edge());
    batch.fill(Sprite::Ring, around(36.0), colour.gamma_multiply(if calm { 0.6 } else { 1.0 }));
    if chosen.agents.contains(&*agent.id) {
        batch.fill(Sprite::Ring, around(46.0), theme.accent);
        batch.fill(Sprite::Glow, around(84.0), theme.accent.gamma_multiply(0.35));
    }
}

fn figure_rect(agent: &AgentView, camera: Camera) -> Rect {
    let at = camera.to_screen(agent.position);
    let zoom = camera.zoom;
    Rect::from_min_max(at - vec2(22.0, figure::HEIGHT + 3.0) * zoom, pos2(at.x + 22.0 * zoom, at.y + 9.0 * zoom))
}

/// The outline of what is selected or pointed at.
fn outline(painter: &Painter, rect: Rect, id: &str, chosen: &HashSet<&str>, scene: &Look) {
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

/// What is selected or pointed at, by id.
struct Chosen<'a> {
    agents: HashSet<&'a str>,
    elements: HashSet<&'a str>,
}

impl<'a> Chosen<'a> {
    fn of(scene: &Look<'a>) -> Self {
        let things = || scene.selected.iter().chain(scene.hovered);
        Self {
            agents: things().filter_map(Thing::agent).map(|id| &**id).collect(),
            elements: things().filter_map(Thing::element).map(|id| &**id).collect(),
        }
    }
}

/// What lies in view, by index, the farthest up first: what is further down stands in front.
struct Seen {
    agents: Vec<u32>,
    elements: Vec<usize>,
    decor: Vec<usize>,
}

impl Seen {
    fn of(room: &RoomModel, camera: Camera) -> Self {
        let (low, high) = camera.visible(MARGIN);
        let inside = |place: World, half: World| {
            place.is_finite() && (place + half).cmpge(low).all() && (place - half).cmple(high).all()
        };
        let agents = room.agents.iter().enumerate().filter(|(_, agent)| inside(agent.position, World::ZERO));
        let mut agents: Vec<u32> = agents.map(|(index, _)| index as u32).collect();
        let height = |index: &u32| room.agents[*index as usize].position.y;
        agents.sort_by(|one, other| height(other).total_cmp(&height(one)));
        let elements = room.elements.iter().enumerate().filter(|(_, element)| inside(element.position, element::SIZE));
        let mut elements: Vec<usize> = elements.map(|(index, _)| index).collect();
        elements.sort_by(|one, other| room.elements[*other].position.y.total_cmp(&room.elements[*one].position.y));
        let decor = room.decor.iter().enumerate().filter(|(_, decor)| inside(decor.position, decor.size / 2.0));
        let mut decor: Vec<usize> = decor.map(|(index, _)| index).collect();
        decor.sort_by(|one, other| room.decor[*other].position.y.total_cmp(&room.decor[*one].position.y));
        Self { agents, elements, decor }
    }
}
