//! Frees main memory of textures that were uploaded to the graphics card.
//!
//! `bevy_egui` keeps each texture both as its source image and as a Bevy image, for partial updates. Only the font
//! texture is updated partially, and only needs its image.

use bevy::asset::{Assets, RenderAssetUsages};
use bevy::ecs::prelude::*;
use bevy::image::Image;
use bevy_egui::EguiManagedTextures;
use egui::{ColorImage, TextureId};

/// Frees the copies of textures that are new in this frame.
pub(super) fn release_copies(textures: Option<ResMut<EguiManagedTextures>>, mut images: ResMut<Assets<Image>>) {
    let Some(mut textures) = textures else { return };
    let new =
        textures.bypass_change_detection().iter_mut().filter(|(_, texture)| !texture.color_image.pixels.is_empty());
    for ((_, id), texture) in new {
        texture.color_image = ColorImage::default();
        // The default id is the font texture.
        if TextureId::Managed(*id) != TextureId::default()
            && let Some(mut image) = images.get_mut(texture.handle.id())
        {
            image.asset_usage = RenderAssetUsages::RENDER_WORLD;
        }
    }
}

#[cfg(test)]
mod tests {
    use bevy::app::{App, Update};
    use bevy_egui::EguiManagedTexture;
    use egui::Color32;

    use super::*;

    #[test]
    fn only_the_font_texture_is_kept_in_main_memory() {
        let mut app = App::new();
        app.init_resource::<Assets<Image>>().init_resource::<EguiManagedTextures>().add_systems(Update, release_copies);
        let entity = app.world_mut().spawn_empty().id();
        for id in [0, 1] {
            let handle = app.world_mut().resource_mut::<Assets<Image>>().add(Image::default());
            let color_image = ColorImage::filled([4, 4], Color32::WHITE);
            let texture = EguiManagedTexture { handle, color_image };
            app.world_mut().resource_mut::<EguiManagedTextures>().insert((entity, id), texture);
        }
        app.update();
        let (textures, images) =
            (app.world().resource::<EguiManagedTextures>(), app.world().resource::<Assets<Image>>());
        for (id, usage) in [(0, RenderAssetUsages::default()), (1, RenderAssetUsages::RENDER_WORLD)] {
            let texture = &textures[&(entity, id)];
            assert!(texture.color_image.pixels.is_empty());
            assert_eq!(images.get(&texture.handle).map(|image| image.asset_usage), Some(usage), "texture {id}");
        }
    }
}
