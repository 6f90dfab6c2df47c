//! Every frame that the window's renderer draws while zooming has the text, fills and colours of its layout, from the
//! first one on. The expected picture is computed on the CPU.

use std::path::PathBuf;

use agent_workshop::app::room::OpenOptions;
use agent_workshop::app::window::display::{self, EguiDisplayPlugin};
use agent_workshop::app::window::{OpenRoom, Screen};
use agent_workshop::schedule::SimClock;
use agent_workshop::view::raster::{Rasteriser, write_png};
use agent_workshop::workspace::starter;
use bevy::DefaultPlugins;
use bevy::app::{App, PluginGroup, PluginsState};
use bevy::asset::{Assets, Handle};
use bevy::camera::RenderTarget;
use bevy::ecs::prelude::*;
use bevy::image::Image;
use bevy::render::pipelined_rendering::PipelinedRenderingPlugin;
use bevy::render::render_resource::{PollType, TextureFormat};
use bevy::render::renderer::RenderDevice;
use bevy::render::view::screenshot::{Screenshot, ScreenshotCaptured};
use bevy::render::{RenderApp, RenderPlugin};
use bevy::window::{ExitCondition, WindowPlugin};
use bevy::winit::WinitPlugin;
use bevy_egui::{EguiContext, EguiFullOutput, EguiPlugin, PrimaryEguiContext};
use egui::{
    Color32, ColorImage, Context, Event, FullOutput, Modifiers, MouseWheelUnit, RawInput, Rect, TouchPhase, vec2,
};
use libtest_mimic::Trial;

use crate::screen::missing;

/// The width and height of the picture in pixels.
const SIZE: (u32, u32) = (640, 400);
/// The tolerance of a colour channel, because rounding differs in blending.
const TOLERANCE: u8 = 24;
/// The number of pixels per thousand that may differ by more, because edges may fall on a neighbouring pixel.
const MAX_DIFFERING_PER_MILLE: usize = 10;

pub fn trials() -> Vec<Trial> {
    let required = std::env::var("WORKSHOP_DISPLAY").is_ok_and(|display| display == "required");
    let ignored = !required && missing().is_some();
    let case = || {
        every_frame_while_zooming_is_complete();
        Ok(())
    };
    vec![Trial::test("frames::every_frame_while_zooming_is_complete", case).with_ignored_flag(ignored)]
}

/// The newest picture from the renderer.
#[derive(Resource, Default)]
struct Captured(Option<Image>);

/// The renderer of the window, drawing into an image.
struct Renderer {
    app: App,
    target: Handle<Image>,
}

impl Renderer {
    fn new() -> Self {
        let mut app = App::new();
        let window =
            WindowPlugin { primary_window: None, exit_condition: ExitCondition::DontExit, ..WindowPlugin::default() };
        let render = RenderPlugin { synchronous_pipeline_compilation: true, ..RenderPlugin::default() };
        let plugins =
            DefaultPlugins.set(window).set(render).disable::<WinitPlugin>().disable::<PipelinedRenderingPlugin>();
        app.add_plugins((plugins, EguiPlugin::default(), EguiDisplayPlugin)).init_resource::<Captured>();
        while app.plugins_state() == PluginsState::Adding {
            bevy::tasks::tick_global_task_pools_on_main_thread();
        }
        app.finish();
        app.cleanup();
        let image = Image::new_target_texture(SIZE.0, SIZE.1, TextureFormat::Rgba8UnormSrgb, None);
        let target = app.world_mut().resource_mut::<Assets<Image>>().add(image);
        app.world_mut().spawn((display::camera(), RenderTarget::Image(target.clone().into())));
        app.update();
        Self { app, target }
    }

    fn context(&mut self) -> Context {
        let world = self.app.world_mut();
        let mut contexts = world.query_filtered::<&mut EguiContext, With<PrimaryEguiContext>>();
        contexts.single_mut(world).expect("the camera has a context").get_mut().clone()
    }

    /// Draws one frame like the window. Returns the picture.
    fn draw(&mut self, output: FullOutput) -> ColorImage {
        let world = self.app.world_mut();
        world.query::<&mut EguiFullOutput>().single_mut(world).expect("there is one camera").0 = Some(output);
        world.resource_mut::<Captured>().0 = None;
        let keep = |captured: On<ScreenshotCaptured>, mut kept: ResMut<Captured>| kept.0 = Some(captured.image.clone());
        world.spawn(Screenshot::image(self.target.clone())).observe(keep);
        self.app.update();
        for _ in 0..20 {
            let device = self.app.sub_app(RenderApp).world().resource::<RenderDevice>().clone();
            device.poll(PollType::wait_indefinitely()).expect("the device answers");
            if let Some(image) = self.app.world_mut().resource_mut::<Captured>().0.take() {
                let size = [image.width() as usize, image.height() as usize];
                let bytes = image.data.expect("the image was copied");
                return ColorImage::from_rgba_unmultiplied(size, &bytes);
            }
            // The layout stays until the next one, so the same frame is drawn again.
            self.app.update();
        }
        panic!("the renderer returned no picture");
    }
}

fn every_frame_while_zooming_is_complete() {
    let folder = tempfile::tempdir().unwrap();
    starter::init(folder.path()).unwrap();
    let options = OpenOptions { folder: folder.path().to_owned(), ..OpenOptions::trusted() };
    let mut room = OpenRoom::open(options).unwrap();
    room.run_ticks(400);
    room.world().unwrap().resource_mut::<SimClock>().paused = true;
    let mut screen = Screen::new(Some(false));
    let mut renderer = Renderer::new();
    let context = renderer.context();
    let size = vec2(SIZE.0 as f32, SIZE.1 as f32);
    let screen_rect = Some(Rect::from_min_size(egui::Pos2::ZERO, size));
    let mut expected = Rasteriser::default();
    let pictures = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("frames");
    std::fs::create_dir_all(&pictures).unwrap();
    let mut worst = (0, 0);
    for step in 0..208_u32 {
        room.live();
        // The room is zoomed in and out at its middle, after a few frames in which the panels settle their sizes.
        let wheel = |up: bool| Event::MouseWheel {
            unit: MouseWheelUnit::Line,
            delta: vec2(0.0, if up { 1.0 } else { -1.0 }),
            phase: TouchPhase::Move,
            modifiers: Modifiers::NONE,
        };
        let events = if step < 8 {
            vec![Event::PointerMoved(egui::pos2(0.5 * size.x, 0.5 * size.y))]
        } else {
            vec![wheel((step - 8) / 25 % 2 == 0)]
        };
        let time = Some(f64::from(step) / 60.0);
        let output = screen.frame(&context, &mut room, RawInput { screen_rect, time, events, ..RawInput::default() });
        let primitives = context.tessellate(output.shapes.clone(), output.pixels_per_point);
        expected.update(&mut output.textures_delta.clone());
        let drawn = renderer.draw(output);
        let expected = expected.draw(&primitives, size, 1.0);
        let differing = differing_pixels(&drawn, &expected);
        if differing > worst.1 {
            worst = (step, differing);
            write_png(&drawn, &pictures.join("drawn.png")).unwrap();
            write_png(&expected, &pictures.join("expected.png")).unwrap();
        }
    }
    room.close("tested");
    let pixels = (SIZE.0 * SIZE.1) as usize;
    println!("the largest difference: {} of {pixels} pixels in step {}", worst.1, worst.0);
    assert!(
        worst.1 * 1000 <= MAX_DIFFERING_PER_MILLE * pixels,
        "step {}: {} of {pixels} pixels differ from the layout; see {}",
        worst.0,
        worst.1,
        pictures.display()
    );
}

/// Counts the pixels that differ from the expected ones.
fn differing_pixels(drawn: &ColorImage, expected: &ColorImage) -> usize {
    assert_eq!(drawn.size, expected.size);
    let differs = |(one, other): (&Color32, &Color32)| {
        let (one, other) = (one.to_array(), other.to_array());
        (0..3).any(|part| one[part].abs_diff(other[part]) > TOLERANCE)
    };
    drawn.pixels.iter().zip(&expected.pixels).filter(|pair| differs(*pair)).count()
}
