//! The whole window without a display, with a workspace in a temporary folder: for tests that need its frames, keyboard
//! and pointer.

use std::time::{Duration, Instant};

use agent_workshop::app::window::{OpenRoom, Screen};
use egui::accesskit::Node;
use egui::{Context, Event, Key, Modifiers, PointerButton, Pos2, RawInput, Rect, Shape, vec2};

/// The time limit of every wait.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct WholeWindow {
    pub screen: Screen,
    /// The names and positions of the widgets in the last frame, as a screen reader gets them.
    pub widgets: Vec<(String, Rect)>,
    /// The texts of the last frame.
    pub shown: Vec<String>,
    pub room: OpenRoom,
    context: Context,
    frame: u32,
    /// Dropped last.
    pub folder: tempfile::TempDir,
}

impl WholeWindow {
    pub fn of(room: OpenRoom, screen: Screen, folder: tempfile::TempDir) -> Self {
        let context = Context::default();
        context.enable_accesskit();
        let (widgets, shown) = Default::default();
        Self { screen, widgets, shown, room, context, frame: 0, folder }
    }

    /// Draws a frame with this input, 1/30 s after the last one.
    pub fn frame(&mut self, events: Vec<Event>) {
        self.room.live();
        self.frame += 1;
        let screen_rect = Some(Rect::from_min_size(Pos2::ZERO, vec2(1280.0, 800.0)));
        let time = Some(f64::from(self.frame) / 30.0);
        let input = RawInput { screen_rect, time, events, ..RawInput::default() };
        let mut output = self.screen.frame(&self.context, &mut self.room, input);
        output.textures_delta.clear();
        let nodes = output.platform_output.accesskit_update.map(|update| update.nodes).unwrap_or_default();
        self.widgets = nodes.iter().filter_map(|(_, node)| Some((widget_name(node)?, widget_rect(node)?))).collect();
        self.shown.clear();
        output.shapes.iter().for_each(|shape| texts(&shape.shape, &mut self.shown));
    }

    pub fn frames(&mut self, count: usize) {
        (0..count).for_each(|_| self.frame(Vec::new()));
    }

    /// Draws frames until a condition holds.
    pub fn until(&mut self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let began = Instant::now();
        while !is_so(self) {
            assert!(began.elapsed() < PATIENCE, "{what} did not appear: {:?}, {:?}", self.widgets, self.shown);
            self.frame(Vec::new());
        }
    }

    pub fn click(&mut self, at: Pos2) {
        let button = |pressed| {
            let (button, modifiers) = (PointerButton::Primary, Modifiers::NONE);
            Event::PointerButton { pos: at, button, pressed, modifiers }
        };
        self.frame(vec![Event::PointerMoved(at)]);
        self.frame(vec![button(true)]);
        self.frame(vec![button(false)]);
        self.frames(3);
    }

    pub fn press(&mut self, modifiers: Modifiers, key: Key) {
        let event = |pressed| Event::Key { key, physical_key: None, pressed, repeat: false, modifiers };
        self.frame(vec![event(true)]);
        self.frame(vec![event(false)]);
        self.frames(3);
    }

    /// Runs a command by its name in the palette.
    pub fn command(&mut self, name: &str) {
        self.press(Modifiers::COMMAND, Key::K);
        self.frame(vec![Event::Text(name.to_owned())]);
        self.press(Modifiers::NONE, Key::Enter);
    }
}

/// Returns the name of a widget, as a screen reader says it.
pub fn widget_name(node: &Node) -> Option<String> {
    node.label().or_else(|| node.value()).map(str::to_owned)
}

/// Returns where a widget is.
pub fn widget_rect(node: &Node) -> Option<Rect> {
    let bounds = node.bounds()?;
    Some(Rect::from_min_max(
        Pos2::new(bounds.x0 as f32, bounds.y0 as f32),
        Pos2::new(bounds.x1 as f32, bounds.y1 as f32),
    ))
}

fn texts(shape: &Shape, into: &mut Vec<String>) {
    match shape {
        Shape::Text(text) => into.push(text.galley.text().to_owned()),
        Shape::Vec(shapes) => shapes.iter().for_each(|shape| texts(shape, into)),
        _ => {}
    }
}
