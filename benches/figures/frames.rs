//! What a frame of the window costs on the main thread, without the display: ticks, extracting the room, panels,
//! painting, and tessellation.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use agent_workshop::app::room::OpenOptions;
use agent_workshop::app::window::{OpenRoom, Screen};
use agent_workshop::schedule::{SimClock, Speed};
use agent_workshop::view::bubble::Bubble;
use bevy::math::Vec2;
use egui::{Context, Pos2, RawInput, Rect, vec2};

use super::measure::{Figure, Times, digits, timed};

/// The size of the measured window, in points.
const WINDOW: egui::Vec2 = vec2(1_920.0, 1_080.0);
/// Frames to run until every agent walks and the window has settled on its layout.
const WARM_UP: usize = 240;
const FRAMES: usize = 600;
/// The number of agents that say something new in each frame.
const SAID_PER_FRAME: usize = 3;

/// Crowds of agents that walk, talk and show their names: their number, whether the overlay is on, the zoom, and the
/// target in ms.
const CROWDS: [(usize, bool, f32, f64); 3] =
    [(1_000, false, 0.6, 5.0), (1_000, true, 0.6, 7.0), (10_000, false, 0.19, 12.0)];

/// Frames measured for each crowd.
pub fn crowds() -> Vec<Figure> {
    CROWDS.into_iter().map(|(agents, overlay, zoom, limit)| crowd(agents, overlay, zoom, limit)).collect()
}

fn crowd(agents: usize, overlay: bool, zoom: f32, limit: f64) -> Figure {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    write_crowd(folder.path(), agents, zoom).expect("the crowd can be written");
    let options =
        OpenOptions { folder: folder.path().to_owned(), provider: Some("offline".into()), ..OpenOptions::trusted() };
    let mut room = OpenRoom::open(options).expect("the crowd's room opens");
    let world = room.world().expect("it is open");
    // A frame that takes 8 ms covers more than one tick, so every measured frame contains one.
    world.resource_mut::<SimClock>().speed = Speed::Times(4);
    let mut screen = Screen::new(Some(false));
    screen.state.view.debug_overlay = overlay;
    screen.state.notices.is_hint_closed = true;
    screen.state.view.is_framed = true;
    screen.state.view.camera.zoom = zoom;
    screen.state.view.camera.middle = Vec2::ZERO;
    let context = Context::default();
    let mut said = 0;
    let mut triangles = 0;
    let mut frame = |number: usize| {
        for _ in 0..SAID_PER_FRAME {
            let text = "The bridge is closed until Friday, so take the ferry and tell Ada.".to_owned();
            let bubble = Bubble { text, born_secs: room.now_secs(), aloud: true };
            room.recent.bubbles.insert(format!("a{}", said % agents).into(), bubble);
            said += 1;
        }
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, WINDOW)),
            time: Some(number as f64 / 60.0),
            events: vec![egui::Event::PointerMoved(egui::pos2(900.0 + (number % 50) as f32, 500.0))],
            ..RawInput::default()
        };
        let took = timed(|| {
            room.live();
            let mut output = screen.frame(&context, &mut room, input);
            output.textures_delta.clear();
            triangles = context.tessellate(output.shapes, output.pixels_per_point).len();
        });
        // The rest of 1/60 s is left for the display.
        std::thread::sleep(Duration::from_millis(8).saturating_sub(took));
        took
    };
    for number in 0..WARM_UP {
        frame(number);
    }
    let times = Times::from_each((WARM_UP..WARM_UP + FRAMES).map(&mut frame));
    let (bubbles, walking) = (room.recent.bubbles.len(), walkers(&mut room));
    room.close("measured");
    let overlay = if overlay { "on" } else { "off" };
    Figure::at_most_ms(format!("main-thread frame work, {agents} agents, overlay {overlay}"), limit, &times)
        .against(format!("one tick per frame; {walking} walking, {bubbles} bubbles, {triangles} meshes"))
}

/// Zooms from near to far and back over 10,000 agents at rest: no frame may take much longer than the others, so no
/// zoom level may redraw everything.
pub fn glide() -> Vec<Figure> {
    const AGENTS: usize = 10_000;
    const ZOOMS: std::ops::RangeInclusive<f32> = 0.12..=0.9;
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    write_crowd(folder.path(), AGENTS, 0.19).expect("the crowd can be written");
    let options =
        OpenOptions { folder: folder.path().to_owned(), provider: Some("offline".into()), ..OpenOptions::trusted() };
    let mut room = OpenRoom::open(options).expect("the crowd's room opens");
    room.world().expect("it is open").resource_mut::<SimClock>().paused = true;
    let mut screen = Screen::new(Some(false));
    screen.state.notices.is_hint_closed = true;
    screen.state.view.is_framed = true;
    let context = Context::default();
    let mut frame = |number: usize| {
        let way = 0.5 - 0.5 * (number as f32 / FRAMES as f32 * std::f32::consts::TAU).cos();
        screen.state.view.camera.zoom = ZOOMS.end() * (ZOOMS.start() / ZOOMS.end()).powf(way);
        screen.state.view.camera.middle = Vec2::ZERO;
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, WINDOW)),
            time: Some(number as f64 / 60.0),
            ..RawInput::default()
        };
        timed(|| {
            room.live();
            let mut output = screen.frame(&context, &mut room, input);
            output.textures_delta.clear();
            drop(context.tessellate(output.shapes, output.pixels_per_point));
        })
    };
    for number in 0..WARM_UP {
        frame(number);
    }
    let times = Times::from_each((0..FRAMES).map(&mut frame));
    room.close("measured");
    let (median, longest) = (times.median(), times.longest());
    vec![Figure {
        what: format!("longest frame while the view pans over {AGENTS} agents"),
        limit: "2 × the median".to_owned(),
        measured: format!("{} ×", digits(longest / median)),
        against: times.to_string(),
        holds: Some(longest <= 2.0 * median),
    }]
}

fn walkers(room: &mut OpenRoom) -> usize {
    let Some(world) = room.world() else { return 0 };
    let mut walks = world.query::<&agent_workshop::simulation::Walk>();
    walks.iter(world).filter(|walk| walk.course.moves()).count()
}

/// A workspace in which this many agents wander about inside what the window shows at this zoom.
pub fn write_crowd(folder: &Path, agents: usize, zoom: f32) -> std::io::Result<()> {
    let size = Vec2::new(WINDOW.x, WINDOW.y) / zoom * 0.9;
    let columns = (agents as f32 * size.x / size.y).sqrt().ceil();
    let step = Vec2::new(size.x / columns, size.y * columns / agents as f32);
    let place = |index: usize| {
        (Vec2::new(index as f32 % columns, (index as f32 / columns).floor()) * step - size / 2.0).round()
    };
    let mut scene = String::from("name: Crowd\nseed: 7\nelements:\n");
    for (index, kind) in ["rulebook", "messageboard", "pinboard"].into_iter().cycle().take(20).enumerate() {
        let at = place(index * agents / 20);
        let _ = writeln!(scene, "  - {{ id: e{index}, kind: {kind}, position: [{}, {}] }}", at.x, at.y);
    }
    scene.push_str("agents:\n");
    for index in 0..agents {
        let at = place(index);
        let profile = index % 12;
        let _ = writeln!(scene, "  - {{ id: a{index}, profile: walker-{profile}, position: [{}, {}] }}", at.x, at.y);
    }
    std::fs::create_dir_all(folder.join("agents"))?;
    std::fs::create_dir_all(folder.join("scenes"))?;
    std::fs::write(folder.join("settings.yaml"), "")?;
    std::fs::write(folder.join("scenes/crowd.yaml"), scene)?;
    for profile in 0..12 {
        let text = format!("---\nname: Walker {profile}\nbehaviour: wander\n---\nYou walk about.\n");
        std::fs::write(folder.join(format!("agents/walker-{profile}.md")), text)?;
    }
    Ok(())
}
