//! How the output of `egui` reaches the display: blended in the colour space that it was made for, and with all letters
//! and images present in the frame that first shows them.
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

/// What a camera with [`CompositingSpace::Srgb`] draws into.
const FORMAT: TextureFormat = TextureFormat::Rgba8Unorm;

/// The last step of the shader of `bevy_egui`, from the space of colours in which it has mixed them, and the same
/// without that step.
const LAST_STEP: [&str; 2] = ["linear_from_gamma_rgb(color_gamma.rgb)", "color_gamma.rgb"];

/// The camera of the window. `egui` smooths its own edges: several samples for each point would cost time and memory,
/// and nobody would see them.
pub fn camera() -> impl Bundle {
    (Camera2d, CompositingSpace::Srgb, Msaa::Off)
}

/// Draws the output of `egui` as intended. Add it after the plugin of `bevy_egui`.
pub struct EguiDisplayPlugin;

impl Plugin for EguiDisplayPlugin {
    fn build(&self, app: &mut App) {
        app.insert_resource(ClearColor(Color::BLACK));
        // What has changed is looked for once textures have been changed.
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

/// The interface is run once a frame with `egui`'s own root, which is not how `bevy_egui` would run it.
fn run_manually(mut settings: Query<&mut EguiContextSettings>) {
    for mut settings in &mut settings {
        settings.run_manually = true;
    }
}

/// Leaves out the shader's last step: the camera's texture holds colours as they are mixed.
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

/// As `bevy_egui` does, for the format of the camera.
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

/// All that is seen is `egui`'s. Without lists of sprites and meshes to draw, the camera has no pass for them and no
/// texture of their depths, which would be as large as the window; the pass of `egui` clears what it draws into.
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
    fn the_camera_has_neither_a_pass_nor_a_texture_for_what_is_never_drawn() {
        let mut world = World::new();
        let view = RetainedViewEntity::new(Entity::PLACEHOLDER.into(), None, 0);
        world.init_resource::<ViewBinnedRenderPhases<Opaque2d>>();
        world.init_resource::<ViewBinnedRenderPhases<AlphaMask2d>>();
        world.init_resource::<ViewSortedRenderPhases<Transparent2d>>();
        let mut opaque = world.resource_mut::<ViewBinnedRenderPhases<Opaque2d>>();
        opaque.prepare_for_new_frame(view, GpuPreprocessingMode::None);
        world.resource_mut::<ViewSortedRenderPhases<Transparent2d>>().prepare_for_new_frame(view);
        world.run_system_once(draw_nothing_else).expect("it runs");
        // Bevy makes a texture of depths for a camera that has both.
        assert!(!world.resource::<ViewBinnedRenderPhases<Opaque2d>>().contains_key(&view));
        assert!(!world.resource::<ViewSortedRenderPhases<Transparent2d>>().contains_key(&view));
    }
}
