//! The appearance of a figure: hair or hat, clothes and colours, all derived from a hash of its look word.

use egui::Color32;

use crate::base::hash::content_hash;
use crate::view::art::Sprite;
use crate::view::theme::rgb;

const SKINS: [Color32; 6] = [rgb(0xfbd9bd), rgb(0xf2c39b), rgb(0xe0a878), rgb(0xc68a5b), rgb(0x9d6843), rgb(0x7a4d31)];
const HAIRS: [Color32; 8] = [
    rgb(0x3a2a20),
    rgb(0x6b4226),
    rgb(0xa3672f),
    rgb(0xd9a441),
    rgb(0xb5482a),
    rgb(0xd8d2c8),
    rgb(0x4a4648),
    rgb(0x8a6a9a),
];
const CLOTHES: [Color32; 12] = [
    rgb(0xd9694f),
    rgb(0x4f8f84),
    rgb(0xe0a63f),
    rgb(0x6484b5),
    rgb(0x93699a),
    rgb(0x7fa05a),
    rgb(0xd88aa0),
    rgb(0xf0e4cc),
    rgb(0x5a6470),
    rgb(0xb85c7c),
    rgb(0x5aa3b8),
    rgb(0xc98a55),
];
const TROUSERS: [Color32; 5] = [rgb(0x4b5a75), rgb(0x5f4b3c), rgb(0x4a5748), rgb(0x6b6570), rgb(0x8a7456)];
const BODIES: [Sprite; 4] = [Sprite::BodySweater, Sprite::BodySmock, Sprite::BodyCoat, Sprite::BodyVest];
const TRIMS: [Sprite; 5] =
    [Sprite::TrimShirt, Sprite::TrimApron, Sprite::TrimScarf, Sprite::TrimPocket, Sprite::TrimStripes];
const FRONTS: [Sprite; 6] =
    [Sprite::HairShort, Sprite::HairFringe, Sprite::HairSide, Sprite::HairCurly, Sprite::HairSpiky, Sprite::HairBun];
const BACKS: [Sprite; 4] = [Sprite::BackBob, Sprite::BackLong, Sprite::BackTail, Sprite::BackBraids];
const HATS: [Sprite; 5] = [Sprite::HatBeret, Sprite::HatCap, Sprite::HatBeanie, Sprite::HatStraw, Sprite::HatScarf];
const STRAW: Color32 = rgb(0xe8cf94);

/// The parts and colours of a figure.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Outfit {
    /// Skin colour.
    pub skin: Color32,
    /// Hair colour.
    pub hair: Color32,
    /// Upper garment.
    pub body: Sprite,
    /// Colour of the upper garment.
    pub cloth: Color32,
    /// Detail on the upper garment.
    pub trim: Sprite,
    /// Colour of the detail.
    pub trim_colour: Color32,
    /// Colour of the trousers.
    pub trousers: Color32,
    /// The front hair, or the hat.
    pub top: Sprite,
    /// Colour of the hat or the hair.
    pub top_colour: Color32,
    /// Whether `top` is a hat.
    pub hat: bool,
    /// The hair behind the head.
    pub back: Option<Sprite>,
    /// Glasses, a beard or a moustache.
    pub extra: Option<Sprite>,
    /// Offset of its animations, so that figures do not bob in step.
    pub phase: f32,
}

impl Outfit {
    /// The same outfit, desaturated toward `grey` by `share` (0 to 1).
    pub fn desaturated(self, grey: Color32, share: f32) -> Self {
        let fade = |colour: Color32| colour.lerp_to_gamma(grey, share);
        Self {
            skin: fade(self.skin),
            hair: fade(self.hair),
            cloth: fade(self.cloth),
            trim_colour: fade(self.trim_colour),
            trousers: fade(self.trousers),
            top_colour: fade(self.top_colour),
            ..self
        }
    }

    /// The outfit of a look word; always the same for the same word.
    pub fn of(look: &str) -> Self {
        let mut dice = Dice(content_hash(look.as_bytes()));
        let hat = dice.roll(100) < 38;
        let hair = HAIRS[dice.roll(HAIRS.len())];
        let cloth = dice.roll(CLOTHES.len());
        // The second colour differs from the first.
        let second = (cloth + 1 + dice.roll(CLOTHES.len() - 1)) % CLOTHES.len();
        let hat_colour = CLOTHES[(second + 1 + dice.roll(CLOTHES.len() - 1)) % CLOTHES.len()];
        let top = if hat { HATS[dice.roll(HATS.len())] } else { FRONTS[dice.roll(FRONTS.len())] };
        let back = (dice.roll(100) < 48).then(|| BACKS[dice.roll(BACKS.len())]);
        let extra = match dice.roll(100) {
            0..24 => Some(Sprite::Glasses),
            24..38 if back.is_none() => Some(Sprite::Beard),
            38..46 if back.is_none() => Some(Sprite::Moustache),
            _ => None,
        };
        let trim = TRIMS[dice.roll(TRIMS.len())];
        Self {
            skin: SKINS[dice.roll(SKINS.len())],
            hair,
            body: BODIES[dice.roll(BODIES.len())],
            cloth: CLOTHES[cloth],
            trim,
            trim_colour: CLOTHES[second],
            trousers: TROUSERS[dice.roll(TROUSERS.len())],
            top,
            top_colour: match top {
                Sprite::HatStraw => STRAW,
                _ if hat => hat_colour,
                _ => hair,
            },
            hat,
            back,
            extra,
            phase: dice.roll(628) as f32 / 100.0,
        }
    }
}

/// Draws small numbers from one hash.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        ((self.0 >> 33) % sides.max(1) as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn the_same_word_gives_the_same_outfit() {
        assert_eq!(Outfit::of("researcher"), Outfit::of("researcher"));
        assert_eq!(Outfit::of("").skin, Outfit::of("").skin);
    }

    #[test]
    fn a_hundred_words_give_a_hundred_figures() {
        let key = |outfit: Outfit| (outfit.top, outfit.top_colour, outfit.cloth, outfit.body, outfit.skin, outfit.trim);
        let seen: HashSet<_> = (0..100).map(|number| key(Outfit::of(&format!("agent-{number}")))).collect();
        assert!(seen.len() >= 98, "only {} of a hundred differ", seen.len());
        let tops: HashSet<_> = (0..100).map(|number| Outfit::of(&format!("agent-{number}")).top).collect();
        assert_eq!(tops.len(), FRONTS.len() + HATS.len());
    }
}
