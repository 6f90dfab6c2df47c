//! Searches the installed fonts for characters that the bundled fonts lack.
//!
//! Searching reads many files, so it runs in a background job, and only once such a character is shown.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use egui::FontData;
use fontdb::{Database, FaceInfo, Source, Stretch, Style};
use skrifa::raw::TableProvider;
use skrifa::{FontRef, MetadataProvider};

/// Fonts used last: they draw every character as a box with its code or as a few dots.
const LAST: [&str; 4] = ["unifont", "lastresort", "adobe blank", "fallback"];

/// A system font.
#[derive(Clone, Debug)]
pub struct FoundFont {
    /// Unique name within `egui`'s font definitions.
    pub name: String,
    /// The contents of the font file.
    pub data: Arc<FontData>,
}

/// Characters that were shown but that no loaded font contains.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct MissingCharacters {
    /// The missing letters.
    pub letters: BTreeSet<char>,
    /// Whether a colour emoji font is needed.
    pub emoji: bool,
}

/// The result of a font search.
#[derive(Clone, Default, Debug)]
pub struct FontSearchResult {
    /// The fonts that contain the letters, as few as possible.
    pub fonts: Vec<FoundFont>,
    /// A colour emoji font.
    pub emoji: Option<FoundFont>,
}

/// The fonts of a machine, best match first.
pub struct SystemFonts {
    database: Database,
    faces: Vec<fontdb::ID>,
}

impl SystemFonts {
    /// The installed fonts, ranked for the language of the environment. Reads only their headers.
    pub fn installed() -> Self {
        let mut database = Database::new();
        database.load_system_fonts();
        let language = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(|name| std::env::var(name).ok());
        Self::of(database, &language.into_iter().find(|value| !value.is_empty()).unwrap_or_default())
    }

    /// The fonts of a folder, ranked for a locale such as `ja_JP.UTF-8`.
    pub fn of_folder(folder: &Path, language: &str) -> Self {
        let mut database = Database::new();
        database.load_fonts_dir(folder);
        Self::of(database, language)
    }

    fn of(database: Database, language: &str) -> Self {
        let region = region_of(language);
        let mut faces: Vec<(Rank, fontdb::ID)> = database.faces().map(|face| (rank(face, region), face.id)).collect();
        faces.sort_by(|one, other| one.0.cmp(&other.0));
        let faces = faces.into_iter().map(|(_, id)| id).collect();
        Self { database, faces }
    }

    /// Finds fonts that contain these letters. Reads files until every letter is found or all files were read.
    pub fn find(&self, wanted: &MissingCharacters) -> FontSearchResult {
        let mut left = wanted.letters.clone();
        let mut found = FontSearchResult::default();
        for id in &self.faces {
            if left.is_empty() {
                break;
            }
            let Some(here) = self.database.with_face_data(*id, |data, index| contained_letters(data, index, &left))
            else {
                continue;
            };
            if !here.is_empty()
                && let Some(font) = self.load(*id)
            {
                found.fonts.push(font);
                left.retain(|letter| !here.contains(letter));
            }
        }
        if wanted.emoji {
            let colours = |id: &&fontdb::ID| self.database.with_face_data(**id, has_pictures).unwrap_or(false);
            found.emoji =
                self.faces.iter().filter(|id| self.names(**id, "emoji")).find(colours).and_then(|id| self.load(*id));
        }
        found
    }

    fn names(&self, id: fontdb::ID, word: &str) -> bool {
        self.database.face(id).is_some_and(|face| family(face).to_lowercase().contains(word))
    }

    fn load(&self, id: fontdb::ID) -> Option<FoundFont> {
        let face = self.database.face(id)?;
        let read = |data: &[u8], index| match &face.source {
            Source::File(path) | Source::SharedFile(path, _) => {
                FontData { index, ..FontData::from_static(leaked_bytes(path, data)) }
            }
            Source::Binary(_) => FontData { index, ..FontData::from_owned(data.to_vec()) },
        };
        let data = self.database.with_face_data(id, read)?;
        Some(FoundFont { name: format!("system: {}", face.post_script_name), data: Arc::new(data) })
    }
}

/// The bytes of a font file, leaked on purpose and shared by all contexts and faces: `egui` copies font data that is
/// not `'static`.
fn leaked_bytes(path: &Path, data: &[u8]) -> &'static [u8] {
    static KEPT: Mutex<BTreeMap<PathBuf, &'static [u8]>> = Mutex::new(BTreeMap::new());
    let mut all = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    match all.get(path) {
        Some(known) if *known == data => known,
        // The font file was updated in the meantime.
        _ => {
            let bytes: &'static [u8] = data.to_vec().leak();
            all.insert(path.to_owned(), bytes);
            bytes
        }
    }
}

/// Sort key of fonts: upright sans of regular weight first, then the person's region, then a fixed order by name.
type Rank = (bool, bool, bool, bool, u16, bool, bool, usize, String);

fn rank(face: &FaceInfo, region: &str) -> Rank {
    let name = family(face);
    let lower = name.to_lowercase();
    (
        LAST.iter().any(|word| lower.contains(word)),
        face.style != Style::Normal || face.stretch != Stretch::Normal,
        face.monospaced || lower.contains("mono"),
        !lower.contains("sans") && !lower.contains("gothic"),
        face.weight.0.abs_diff(400),
        !name.split(' ').any(|word| word == region),
        !lower.contains("noto"),
        name.len(),
        face.post_script_name.clone(),
    )
}

fn family(face: &FaceInfo) -> &str {
    face.families.first().map_or("", |(name, _)| name.as_str())
}

/// The abbreviation that fonts use for the region whose variants of Chinese characters they draw.
fn region_of(language: &str) -> &'static str {
    let language = language.to_lowercase();
    match language.get(..2) {
        Some("ja") => "JP",
        Some("ko") => "KR",
        _ if language.starts_with("zh_hk") || language.starts_with("zh-hk") => "HK",
        _ if language.starts_with("zh_tw") || language.contains("hant") => "TC",
        _ => "SC",
    }
}

/// The subset of these letters that a font contains.
fn contained_letters(data: &[u8], index: u32, letters: &BTreeSet<char>) -> BTreeSet<char> {
    let Ok(font) = FontRef::from_index(data, index) else { return BTreeSet::new() };
    // A font without outlines, such as a bitmap font, would draw nothing.
    if font.glyf().is_err() && font.cff().is_err() && font.cff2().is_err() {
        return BTreeSet::new();
    }
    let map = font.charmap();
    letters.iter().copied().filter(|letter| map.map(*letter).is_some()).collect()
}

/// Whether a font has bitmap glyphs in colour.
fn has_pictures(data: &[u8], index: u32) -> bool {
    FontRef::from_index(data, index)
        .is_ok_and(|font| (font.cbdt().is_ok() && font.cblc().is_ok()) || font.sbix().is_ok())
}
