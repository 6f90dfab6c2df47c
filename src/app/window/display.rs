//! How the output of `egui` reaches the display: blended in gamma space as intended, and with all glyphs and images
//! present in the frame that first shows them.
//!
//! `bevy_egui` blends in linear light, which makes soft shadows vanish and thin letters fat, and uploads new textures
//! too late for the frame that uses them.

use bevy::app::{App, Plugin, PostUpdate, PreStartup};
use bevy::asset::{AssetEventSystems, Assets};
use bevy::camera::{Camera2d, ClearColor, CompositingSpace};
use bevy::color::Color;
use bevy::core_pipeline::core_2d::{AlphaMask2d, Opaque2d, Transparent2d, extract_core_2d_camera_phases};
use bevy::ecs::prelude::*;
use bevy::render::camera::ExtractedCamera;
use bevy::render::render_phase::{ViewBinnedRenderPhases, ViewSortedRenderPhases};
use bevy::render::render_resource::{PipelineCache, SpecializedRenderPipelines, TextureFormat};
use bevy::render::sync_world::MainEntity;
use bevy::render::view::{ExtractedView, Msaa};
use bevy::render::{ExtractSchedule, Render, RenderApp, RenderSystems};
use bevy::shader::{Shader, Source};
use bevy_egui::render::systems::{EguiPipelines, queue_pipelines_system};
use bevy_egui::render::{
    EGUI_SHADER_HANDLE, EguiPipeline, EguiPipelineKey, EguiViewTarget, extract_egui_camera_view_system,
};
use bevy_egui::{EguiContextSettings, EguiPostUpdateSet, EguiStartupSet, update_egui_textures_system};

/// The render target format of a camera with [`CompositingSpace::Srgb`].
const FORMAT: TextureFormat = TextureFormat::Rgba8Unorm;

/// The last step of `bevy_egui`'s shader, a conversion to linear light, and its replacement without the conversion.
const LAST_STEP: [&str; 2] = ["linear_from_gamma_rgb(color_gamma.rgb)", "color_gamma.rgb"];

/// The window's camera. Multisampling is off: `egui` antialiases its own edges.
pub fn camera() -> impl Bundle {
    (Camera2d, CompositingSpace::Srgb, Msaa::Off)
}

/// Displays the output of `egui` as intended. Add it after `EguiPlugin`.
pub struct EguiDisplayPlugin;

impl Plugin for EguiDisplayPlugin {
    fn build(&self, app: &mut App) {
        app.insert_resource(ClearColor(Color::BLACK));
        // Changes are detected after textures were updated.
        app.configure_sets(PostUpdate, EguiPostUpdateSet::PostProcessOutput.before(AssetEventSystems));
        let release = super::texture_memory::release_copies.after(update_egui_textures_system);
        app.add_systems(PostUpdate, release.in_set(EguiPostUpdateSet::PostProcessOutput));
        app.add_systems(PreStartup, (keep_gamma, run_manually.after(EguiStartupSet::InitContexts)));
        let Some(render_app) = app.get_sub_app_mut(RenderApp) else { return };
        render_app
            .add_systems(ExtractSchedule, draw_into_gamma.after(extract_egui_camera_view_system))
            .add_systems(ExtractSchedule, draw_nothing_else.after(extract_core_2d_camera_phases))
            .add_systems(Render, queue_pipelines.in_set(RenderSystems::Queue).after(queue_pipelines_system));
    }
}

/// Runs the UI once per frame with `egui`'s own root, unlike `bevy_egui`.
fn run_manually(mut settings: Query<&mut EguiContextSettings>) {
    for mut settings in &mut settings {
        settings.run_manually = true;
    }
}

/// Removes the last step of the shader: the camera's texture holds gamma colours.
fn keep_gamma(mut shaders: ResMut<Assets<Shader>>) {
    let Some(mut shader) = shaders.get_mut(&EGUI_SHADER_HANDLE) else { return };
    let source = shader.source.as_str();
    assert!(source.contains(LAST_STEP[0]), "the shader of the pinned bevy_egui ends in linear light");
    shader.source = Source::Wgsl(source.replace(LAST_STEP[0], LAST_STEP[1]).into());
}

fn draw_into_gamma(mut views: Query<&mut ExtractedView, With<EguiViewTarget>>) {
    for mut view in &mut views {
        view.target_format = FORMAT;
    }
}

/// Queues pipelines like `bevy_egui`, for the format of the camera.
fn queue_pipelines(
    cache: Res<PipelineCache>,
    mut specialized: ResMut<SpecializedRenderPipelines<EguiPipeline>>,
    pipeline: Res<EguiPipeline>,
    views: Query<&EguiViewTarget, With<ExtractedView>>,
    cameras: Query<&MainEntity, With<ExtractedCamera>>,
    mut pipelines: ResMut<EguiPipelines>,
) {
    let key = EguiPipelineKey { target_format: FORMAT };
    for camera in views.iter().filter_map(|view| cameras.get(view.0).ok()) {
        pipelines.0.insert(*camera, specialized.specialize(&cache, &pipeline, key));
    }
}

/// Removes the sprite and mesh phases of the camera: everything visible is `egui`'s. Without them, there is no pass for
/// them and no depth texture as large as the window; `egui`'s pass clears the target.
fn draw_nothing_else(
    mut opaque: ResMut<ViewBinnedRenderPhases<Opaque2d>>,
    mut masked: ResMut<ViewBinnedRenderPhases<AlphaMask2d>>,
    mut transparent: ResMut<ViewSortedRenderPhases<Transparent2d>>,
) {
    opaque.clear();
    masked.clear();
    transparent.clear();
}

#[cfg(test)]
mod tests {
    use bevy::ecs::system::RunSystemOnce;
    use bevy::render::batching::gpu_preprocessing::GpuPreprocessingMode;
    use bevy::render::view::RetainedViewEntity;

    use super::*;

    #[test]
    fn the_camera_has_no_sprite_phases_or_depth_texture() {
        let mut world = World::new();
        let view = RetainedViewEntity::new(Entity::PLACEHOLDER.into(), None, 0);
        world.init_resource::<ViewBinnedRenderPhases<Opaque2d>>();
        world.init_resource::<ViewBinnedRenderPhases<AlphaMask2d>>();
        world.init_resource::<ViewSortedRenderPhases<Transparent2d>>();
        let mut opaque = world.resource_mut::<ViewBinnedRenderPhases<Opaque2d>>();
        opaque.prepare_for_new_frame(view, GpuPreprocessingMode::None);
        world.resource_mut::<ViewSortedRenderPhases<Transparent2d>>().prepare_for_new_frame(view);
        world.run_system_once(draw_nothing_else).expect("it runs");
        // Bevy creates a depth texture for cameras that have both phases.
        assert!(!world.resource::<ViewBinnedRenderPhases<Opaque2d>>().contains_key(&view));
        assert!(!world.resource::<ViewSortedRenderPhases<Transparent2d>>().contains_key(&view));
    }
}
