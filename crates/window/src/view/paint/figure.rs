//! Paints agents as small characters composed of tinted quads: standing, sitting, walking, reading, writing, carrying
//! something, raising a hand.

use egui::{Color32, Pos2, Rect, Vec2, vec2};

use super::appearance::Outfit;
use super::batch::{Batch, Placement, lit, mixed};
use crate::simulation::{Held, Seated, State};
use crate::view::art::Sprite;
use crate::view::model::AgentView;
use crate::view::theme::{FADED, state_colour};

/// The point of a figure's canvas that stands on the floor.
const FEET: Vec2 = vec2(24.0, 60.0);
/// The pivot of the left arm on the canvas; the right one is mirrored.
const SHOULDER: Vec2 = vec2(16.8, 36.4);
/// The x coordinate of the vertical mirror axis.
const AXIS: f32 = 24.0;
/// Angle from which an arm counts as raised, in radians.
const RAISED: f32 = 1.2;
/// Height above the floor of a figure that is being dragged, in canvas units.
const CARRIED: f32 = 9.0;
/// Position of the left hand on the canvas while the arm hangs.
const HAND: Vec2 = vec2(16.4, 48.0);
/// How much lower the body of a seated figure is, in canvas units.
const SEAT: f32 = 4.5;
/// Offset of the feet of a seated figure, sideways and forward.
const SEATED_FEET: Vec2 = vec2(1.2, 4.5);
/// Minimum zoom at which held objects are drawn.
const HELD_FROM: f32 = 0.55;
/// How much colour resting agents lose in a crowd, from 0 to 1.
const GREYED: f32 = 0.7;
/// Centre of the face on the canvas, and half its height.
const FACE: (Vec2, f32) = (vec2(24.0, 22.0), 14.0);
/// Height of a figure above its feet, hat included, in world units.
pub(super) const HEIGHT: f32 = 56.0;

/// The colours and options that figures are painted with.
#[derive(Clone, Copy)]
pub(super) struct Scene {
    pub(super) now: Moment,
    pub(super) zoom: f32,
    /// Tint of the ambient light.
    pub(super) light: Color32,
    /// Background of signs.
    pub(super) sign: Color32,
    /// Lines on signs.
    pub(super) ink: Color32,
    /// Whether fine parts are left out.
    pub(super) coarse: bool,
    /// The grey that the figure fades to, if it rests in a crowd.
    pub(super) grey: Option<Color32>,
}

/// The time at which a figure is painted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    /// Real time in seconds, for breathing.
    pub(super) real_secs: f64,
    /// Simulated time in seconds, for writing strokes, so that pictures of the same tick are equal.
    pub(super) room_secs: f64,
}

/// The pose of a figure at one moment. Lengths are in canvas units.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Pose {
    /// How far body and head are raised.
    pub(super) bob: f32,
    /// How far each foot is lifted.
    pub(super) feet: [f32; 2],
    /// Outward rotation of each arm, in radians.
    pub(super) arms: [f32; 2],
    /// Forward lean, per unit of height.
    pub(super) lean: f32,
    /// Height above the floor.
    pub(super) lift: f32,
    /// How far the head is bent down.
    pub(super) nod: f32,
    /// How far the body is lowered toward the feet (sitting).
    pub(super) sunk: f32,
    /// Offset of the feet, sideways and forward.
    pub(super) stretch: Vec2,
}

impl Pose {
    /// The pose of an agent. `phase` keeps figures from moving in step.
    pub(super) fn of(agent: &AgentView, now: Moment, phase: f32, talks: bool) -> Self {
        let turn = |secs: f64, pace: f64| ((secs * pace + f64::from(phase)) % std::f64::consts::TAU) as f32;
        let time = |pace: f64| turn(now.real_secs, pace);
        let breath = time(1.9).sin();
        let mut pose = Self { bob: 0.5 + 0.5 * breath, arms: [0.06 + 0.03 * breath; 2], ..Self::default() };
        if agent.walks {
            // Half of the step's phase follows the distance walked, so that feet do not slide, and half follows the
            // clock.
            let way = (agent.position.x + agent.position.y) * 0.12;
            let step = (time(8.0) + way).sin();
            pose.feet = [2.8 * step.max(0.0), 2.8 * (-step).max(0.0)];
            pose.bob = 1.3 * step.abs();
            pose.arms = [0.1 + 0.32 * step, 0.1 - 0.32 * step];
            pose.lean = 0.05;
        }
        if agent.seated.is_some() {
            (pose.sunk, pose.stretch) = (SEAT, SEATED_FEET);
        }
        match agent.holds {
            Some(Held::Sheet | Held::Book) => {
                pose.arms = [-0.2, -0.2];
                pose.nod = 1.1;
            }
            Some(Held::Pen) => {
                // Short strokes for letters, and a slow movement along the line.
                let stroke = 0.05 * turn(now.room_secs, 9.0).sin() + 0.06 * turn(now.room_secs, 1.3).sin();
                pose.arms = [-0.24, -0.62 + stroke];
                pose.lean = 0.04;
                pose.nod = 0.8;
            }
            Some(Held::Letter) => pose.arms[1] = -0.75,
            Some(Held::Cup) => pose.arms[1] = -0.55,
            None => {}
        }
        match agent.state {
            State::Waiting => pose.arms[1] = 2.5 + 0.13 * time(5.0).sin(),
            State::Dragged => {
                let swing = time(9.0).sin();
                pose.lift = CARRIED;
                pose.feet = [0.8 * swing, -0.8 * swing];
                pose.arms = [1.9 + 0.2 * swing, 1.9 - 0.2 * swing];
            }
            State::Conversing if talks => pose.arms[1] = 0.75 + 0.3 * time(4.5).sin(),
            State::Paused => pose = Self { arms: [0.05; 2], nod: 1.5, ..Self::default() },
            State::Error => pose.nod = 0.8,
            _ => {}
        }
        pose
    }
}

/// Everything that determines how a figure is drawn.
struct FigureParts {
    outfit: Outfit,
    pose: Pose,
    face: Sprite,
    /// The object in its hands, if it is large enough to be visible.
    holds: Option<Held>,
    /// The seat.
    seated: Option<Seated>,
    /// Whether it faces sideways.
    turned: bool,
}

/// Paints an agent whose feet are at the screen position `at`. `talks`: it is speaking right now.
pub(super) fn paint(batch: &mut Batch, agent: &AgentView, at: Pos2, talks: bool, scene: &Scene) {
    let outfit = Outfit::of(&agent.look);
    let pose = Pose::of(agent, scene.now, outfit.phase, talks);
    let upright = Placement::new(at, scene.zoom, FEET).moved(vec2(0.0, -pose.lift));
    let ground = if agent.heading.x < -0.05 { upright.mirrored(AXIS) } else { upright };
    let light = if agent.state == State::Paused { mixed(scene.light, FADED, 0.5) } else { scene.light };
    if scene.coarse {
        let outfit = scene.grey.map_or(outfit, |grey| outfit.desaturated(grey, GREYED));
        coarse(batch, &outfit, &ground.moved(vec2(0.0, -pose.bob)), light);
        return;
    }
    let face = face_of(agent, scene.now.real_secs, outfit.phase, talks);
    let holds = agent.holds.filter(|_| scene.zoom >= HELD_FROM);
    let turned = agent.heading.x.abs() > 0.05;
    draw_figure(batch, &FigureParts { outfit, pose, face, holds, seated: agent.seated, turned }, ground, light);
    sign(batch, agent, &upright.moved(vec2(0.0, -0.4 * pose.bob)), scene);
}

/// Paints the motionless figure of a look word, as large as fits into a rectangle.
pub(super) fn portrait(batch: &mut Batch, look: &str, rect: Rect, light: Color32) {
    let scale = (rect.height() / (HEIGHT + 4.0)).min(rect.width() / 40.0);
    let feet = rect.center() + vec2(0.0, 0.5 * HEIGHT * scale);
    let pose = Pose { arms: [0.08; 2], ..Pose::default() };
    still(batch, look, pose, Placement::new(feet, scale, FEET), light);
}

/// Paints the face of a look word, for a badge of this radius.
pub(super) fn badge(batch: &mut Batch, look: &str, at: Pos2, radius: f32, grey: Option<Color32>) {
    let outfit = Outfit::of(look);
    let outfit = grey.map_or(outfit, |grey| outfit.desaturated(grey, GREYED));
    let place = Placement::new(at, radius / FACE.1, FACE.0);
    batch.disc(at, radius, mixed(outfit.cloth, Color32::WHITE, 0.35));
    batch.draw(Sprite::Head, &place, outfit.skin);
    batch.draw(Sprite::Face, &place, Color32::WHITE);
    batch.draw(outfit.top, &place, outfit.top_colour);
}

/// Paints the figure of a look word as it is dragged, its feet above `at`.
pub(super) fn carried(batch: &mut Batch, look: &str, at: Pos2, zoom: f32, light: Color32) {
    let pose = Pose { arms: [1.9; 2], lift: CARRIED, ..Pose::default() };
    still(batch, look, pose, Placement::new(at, zoom, FEET).moved(vec2(0.0, -CARRIED)), light);
}

fn still(batch: &mut Batch, look: &str, pose: Pose, ground: Placement, light: Color32) {
    let outfit = Outfit::of(look);
    let figure = FigureParts { outfit, pose, face: Sprite::Face, holds: None, seated: None, turned: false };
    draw_figure(batch, &figure, ground, light);
}

/// Paints only the parts that are visible from a distance.
fn coarse(batch: &mut Batch, outfit: &Outfit, place: &Placement, light: Color32) {
    if let Some(back) = outfit.back {
        batch.draw(back, place, lit(outfit.hair, light));
    }
    batch.draw(outfit.body, place, lit(outfit.cloth, light));
    batch.draw(Sprite::Head, place, lit(outfit.skin, light));
    batch.draw(Sprite::Face, place, lit(Color32::WHITE, light));
    batch.draw(outfit.top, place, lit(outfit.top_colour, light));
}

/// Paints all parts of a figure, back to front.
fn draw_figure(batch: &mut Batch, figure: &FigureParts, ground: Placement, light: Color32) {
    let FigureParts { outfit, pose, .. } = figure;
    let body = ground.leaned(FEET.y, pose.lean).moved(vec2(0.0, pose.sunk - pose.bob));
    let head = body.moved(vec2(if pose.lean > 0.0 { 0.8 } else { 0.0 }, pose.nod));
    let mut part = |sprite, place: &Placement, colour| batch.draw(sprite, place, lit(colour, light));
    if let Some(back) = outfit.back {
        part(back, &head, outfit.hair);
    }
    if figure.seated == Some(Seated::AtDesk) {
        part(Sprite::Chair, &ground, Color32::WHITE);
    }
    for (side, lift) in [(ground, pose.feet[0]), (ground.mirrored(AXIS), pose.feet[1])] {
        let place = side.moved(vec2(-pose.stretch.x, pose.stretch.y - lift));
        part(Sprite::Leg, &place, outfit.trousers);
    }
    part(outfit.body, &body, outfit.cloth);
    part(outfit.trim, &body, outfit.trim_colour);
    if figure.seated.is_some() {
        part(Sprite::Lap, &body, outfit.trousers);
    }
    let (before, in_hand) = figure.holds.map_or((None, None), held_parts);
    if let Some(sprite) = before {
        part(sprite, &body, Color32::WHITE);
    }
    // A raised arm is stretched, a hanging one slightly bent.
    let reach = |angle: f32| vec2(1.0, if angle > RAISED { 1.45 } else { 1.0 });
    let arm = |side: Placement, angle: f32| side.rotated(SHOULDER, angle).scaled(SHOULDER, reach(angle));
    let arms = [(arm(body, pose.arms[0]), pose.arms[0]), (arm(body.mirrored(AXIS), pose.arms[1]), pose.arms[1])];
    // A raised arm is in front of the head, a hanging one behind it.
    for (index, (place, angle)) in arms.iter().enumerate().filter(|(_, (_, angle))| *angle <= RAISED) {
        part(Sprite::Arm, place, outfit.cloth);
        if let Some(sprite) = in_hand.filter(|_| index == 1) {
            // The object stays upright however the arm is turned.
            part(sprite, &place.rotated(HAND, -angle), Color32::WHITE);
        }
        part(Sprite::Hand, place, outfit.skin);
    }
    part(Sprite::Head, &head, outfit.skin);
    if outfit.extra == Some(Sprite::Beard) {
        part(Sprite::Beard, &head, outfit.hair);
    }
    let aside = if figure.turned { 1.5 } else { 0.0 };
    let features = head.moved(vec2(aside, 0.6 * pose.nod));
    part(figure.face, &features, Color32::WHITE);
    match outfit.extra {
        Some(Sprite::Glasses) => part(Sprite::Glasses, &features, Color32::WHITE),
        Some(Sprite::Moustache) => part(Sprite::Moustache, &features, outfit.hair),
        _ => {}
    }
    if outfit.hat {
        part(Sprite::HairSides, &head, outfit.hair);
    }
    part(outfit.top, &head, outfit.top_colour);
    for (place, _) in arms.iter().filter(|(_, angle)| *angle > RAISED) {
        part(Sprite::Arm, place, outfit.cloth);
        part(Sprite::Hand, place, outfit.skin);
    }
}

/// The sprites of a held object: in front of the chest, and in the right hand.
fn held_parts(held: Held) -> (Option<Sprite>, Option<Sprite>) {
    match held {
        Held::Pen => (Some(Sprite::Page), Some(Sprite::Pen)),
        Held::Sheet => (Some(Sprite::Page), None),
        Held::Book => (Some(Sprite::Book), None),
        Held::Cup => (Some(Sprite::Cup), None),
        Held::Letter => (None, Some(Sprite::Letter)),
    }
}

/// The facial expression.
fn face_of(agent: &AgentView, now_secs: f64, phase: f32, talks: bool) -> Sprite {
    let blinks = (now_secs + f64::from(phase) * 1.7) % 4.3 < 0.14;
    match agent.state {
        State::Error => Sprite::FaceWorried,
        State::Paused => Sprite::FaceBlink,
        _ if talks && (now_secs * 5.0 + f64::from(phase)) % 2.0 < 1.2 => Sprite::FaceTalk,
        _ if blinks => Sprite::FaceBlink,
        _ => Sprite::Face,
    }
}

/// Paints the sign beside the head: thinking dots, a tool, a raised hand, or an error mark.
fn sign(batch: &mut Batch, agent: &AgentView, place: &Placement, scene: &Scene) {
    let icon = match agent.state {
        State::Error => Some(Sprite::SignAlert),
        State::Waiting => Some(Sprite::SignHand),
        State::Paused => Some(Sprite::SignPause),
        _ if agent.thinking => None,
        State::Working => Some(Sprite::SignTool),
        State::Heartbeat => Some(Sprite::SignHeart),
        _ => return,
    };
    let cloud = place.moved(vec2(18.0, -29.0));
    batch.draw(Sprite::Cloud, &cloud, scene.sign);
    // The centre of the cloud on its canvas.
    let middle = vec2(24.0, 25.5);
    if let Some(icon) = icon {
        let small = cloud.scaled(middle, Vec2::splat(0.62));
        batch.draw(icon, &small, mixed(state_colour(agent.state), scene.ink, 0.12));
        return;
    }
    for dot in 0..3 {
        let hop = ((scene.now.real_secs * 5.0 - f64::from(dot) * 0.8) % std::f64::consts::TAU).sin().max(0.0) as f32;
        let at = cloud.point(middle + vec2(6.0 * (dot as f32 - 1.0), -2.2 * hop));
        batch.disc(at, 1.9 * scene.zoom, mixed(scene.sign, scene.ink, 0.45 + 0.4 * hop));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::paint::tests::agent;

    fn at(real_secs: f64) -> Moment {
        Moment { real_secs, room_secs: 0.0 }
    }

    fn pose_of(agent: &AgentView) -> Pose {
        Pose::of(agent, at(3.0), 0.0, false)
    }

    #[test]
    fn walking_agents_lift_one_foot_after_the_other() {
        let mut walker = agent(0, "Ada", State::Wandering);
        walker.walks = true;
        let poses: Vec<Pose> = (0..40).map(|step| Pose::of(&walker, at(f64::from(step) * 0.05), 0.0, false)).collect();
        assert!(poses.iter().all(|pose| pose.feet[0] == 0.0 || pose.feet[1] == 0.0));
        assert!(poses.iter().any(|pose| pose.feet[0] > 2.0) && poses.iter().any(|pose| pose.feet[1] > 2.0));
    }

    #[test]
    fn agents_waiting_for_a_person_raise_a_hand() {
        let waiting = agent(0, "Ada", State::Waiting);
        assert!(pose_of(&waiting).arms[1] > 2.0);
        let idle = agent(0, "Ada", State::Idle);
        assert!(pose_of(&idle).arms[1] < 0.5);
    }

    #[test]
    fn seated_agents_are_lower_and_coffee_drinkers_lift_an_arm() {
        let mut resting = agent(0, "Ada", State::Idle);
        let standing = pose_of(&resting);
        for seated in [Seated::OnBench, Seated::AtDesk] {
            resting.seated = Some(seated);
            let pose = pose_of(&resting);
            assert!(pose.sunk > standing.sunk && pose.stretch.y > standing.stretch.y, "{seated:?}");
        }
        (resting.seated, resting.holds) = (None, Some(Held::Cup));
        assert!(pose_of(&resting).arms[1] < standing.arms[1] - 0.3);
    }

    #[test]
    fn a_pen_moves_with_simulated_time_only() {
        let writer = agent(0, "Ada", State::Working);
        let arms = |real_secs, room_secs| Pose::of(&writer, Moment { real_secs, room_secs }, 0.0, false).arms;
        assert_eq!(arms(1.0, 5.0), arms(7.3, 5.0), "a picture of the same tick shows the same stroke");
        let strokes: Vec<[f32; 2]> = (0..30).map(|tick| arms(1.0, f64::from(tick) / 30.0)).collect();
        let right = strokes.iter().map(|arms| arms[1]);
        let (least, most) = right.fold((f32::MAX, f32::MIN), |(least, most), arm| (least.min(arm), most.max(arm)));
        assert!((0.03..0.3).contains(&(most - least)), "it writes in small strokes: {least} to {most}");
        assert!(strokes.iter().all(|arms| arms[0] == strokes[0][0]));
    }

    #[test]
    fn paused_agents_do_not_move() {
        let paused = agent(0, "Ada", State::Paused);
        assert_eq!(Pose::of(&paused, at(1.0), 0.0, false), Pose::of(&paused, at(7.3), 0.0, false));
    }
}
