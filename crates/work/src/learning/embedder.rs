//! Chooses the embedding model: the built-in one, MiniLM from a folder on this computer, or a provider's from the
//! settings. If the chosen one cannot be used, the built-in one is used and this is reported: memories are found in any
//! case.

use std::path::{Path, PathBuf};

use super::settings::{BUILT_IN, KnowledgeSettings};
use crate::base::Problem;
use crate::gateway::embedding::{EmbeddingAccess, EmbeddingMeter, ProviderEmbedder};
use crate::gateway::keys::Environment;
use crate::gateway::{GatewaySettings, PriceSettings};
use crate::knowledge::{AnyEmbedder, Db, EmbeddingError, MiniLm, WordLlama};

/// The word for MiniLM in settings: alone, or with its folder behind a colon.
const MINILM: &str = "minilm";
/// What MiniLM is called where others keep it.
const NAME: &str = "all-MiniLM-L6-v2";

/// The embedding model set in the settings.
#[derive(Clone, PartialEq, Default)]
pub enum WantedEmbedder {
    /// The one that is part of the program.
    #[default]
    BuiltIn,
    /// MiniLM from this folder; from a cache where none is named.
    MiniLm(Option<PathBuf>),
    /// A provider's.
    Provider(Box<EmbeddingAccess>),
    /// None that there is; why, and what to do.
    Unknown(Problem),
}

/// The chosen model and what it needs.
#[derive(Clone, Default)]
pub struct EmbedderChoice {
    wanted: WantedEmbedder,
    meter: EmbeddingMeter,
}

impl std::fmt::Debug for EmbedderChoice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("EmbedderChoice").field(&self.access().map(EmbeddingAccess::model)).finish()
    }
}

/// A loaded model.
pub(super) struct Opened {
    /// What says what texts mean.
    pub(super) embedder: AnyEmbedder,
    /// Why it is not the one that the settings name, and what to do.
    pub(super) instead: Option<String>,
}

impl EmbedderChoice {
    /// The one that these settings name. Nothing is looked for on disk, and nobody is asked.
    pub fn of(
        settings: &KnowledgeSettings,
        gateway: &GatewaySettings,
        prices: &PriceSettings,
        environment: &Environment,
    ) -> Self {
        let spec = settings.embedder.trim();
        let wanted = if spec.is_empty() || spec == BUILT_IN {
            WantedEmbedder::BuiltIn
        } else if spec == MINILM {
            WantedEmbedder::MiniLm(None)
        } else if let Some(folder) = spec.strip_prefix(MINILM).and_then(|rest| rest.strip_prefix(':')) {
            WantedEmbedder::MiniLm(Some(folder.trim().into()).filter(|folder: &PathBuf| !folder.as_os_str().is_empty()))
        } else {
            match EmbeddingAccess::of(spec, gateway, prices, environment.clone()) {
                Ok(access) => WantedEmbedder::Provider(Box::new(access)),
                Err(problem) => WantedEmbedder::Unknown(problem),
            }
        };
        Self { wanted, ..Self::default() }
    }

    /// The model that is wanted.
    pub fn wanted(&self) -> &WantedEmbedder {
        &self.wanted
    }

    /// The model of a provider that is wanted.
    pub fn access(&self) -> Option<&EmbeddingAccess> {
        match &self.wanted {
            WantedEmbedder::Provider(access) => Some(access),
            _ => None,
        }
    }

    /// What it uses, and whether it may use more.
    pub fn meter(&self) -> &EmbeddingMeter {
        &self.meter
    }

    /// Prepares its use. A provider's model is first called to learn the dimension of its vectors.
    pub(super) fn open(&self, db: &Db) -> Result<Opened, EmbeddingError> {
        let opened = match &self.wanted {
            WantedEmbedder::BuiltIn => return Ok(Opened { embedder: built_in()?, instead: None }),
            WantedEmbedder::MiniLm(folder) => open_minilm(folder.as_deref())
                .map(|(model, _)| Box::new(model) as AnyEmbedder)
                .map_err(|problem| problem.to_string()),
            WantedEmbedder::Provider(access) => {
                let dimensions = db.dimensions_of(access.model()).unwrap_or_default();
                ProviderEmbedder::open((**access).clone(), dimensions, self.meter.clone())
                    .map(|model| Box::new(model) as AnyEmbedder)
                    .map_err(|error| error.to_string())
            }
            WantedEmbedder::Unknown(problem) => Err(problem.to_string()),
        };
        match opened {
            Ok(embedder) => Ok(Opened { embedder, instead: None }),
            Err(why) => Ok(Opened { embedder: built_in()?, instead: Some(why) }),
        }
    }
}

fn built_in() -> Result<AnyEmbedder, EmbeddingError> {
    Ok(Box::new(WordLlama::built_in()?))
}

/// Reads MiniLM from a folder, or from where others keep what they fetched; with where that is.
pub fn open_minilm(named: Option<&Path>) -> Result<(MiniLm, PathBuf), Problem> {
    let remedy = format!("set its folder, with config.json, vocab.txt and model.safetensors: {MINILM}:FOLDER");
    let wrong = |what: String| Problem::error("settings.yaml: knowledge.embedder", what, remedy.clone());
    let in_cache = || caches().into_iter().find(|folder| folder.join("model.safetensors").is_file());
    let folder = named.map(Path::to_owned).or_else(in_cache);
    let folder = folder.ok_or_else(|| wrong(format!("{NAME} is not cached on this computer")))?;
    let model = MiniLm::open(&folder).map_err(|error| wrong(error.to_string()))?;
    Ok((model, folder))
}

/// Where the tools of Hugging Face keep it.
fn caches() -> Vec<PathBuf> {
    let named = |variable: &str| std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = named("XDG_CACHE_HOME").or_else(|| named("HOME").map(|home| home.join(".cache")));
    let hub = named("HF_HOME").or_else(|| cache.as_ref().map(|cache| cache.join("huggingface")));
    let of_hub = hub.map(|hub| hub.join(format!("hub/models--sentence-transformers--{NAME}/snapshots")));
    let snapshots = of_hub.and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = snapshots.map(|entry| entry.path()).collect();
    found.sort_unstable();
    let of_torch = cache.map(|cache| cache.join(format!("torch/sentence_transformers/sentence-transformers_{NAME}")));
    found.into_iter().chain(of_torch).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(spec: &str) -> WantedEmbedder {
        let settings = KnowledgeSettings { embedder: spec.to_owned(), ..KnowledgeSettings::default() };
        let (gateway, prices) = (GatewaySettings::default(), PriceSettings::default());
        EmbedderChoice::of(&settings, &gateway, &prices, &Environment::default()).wanted
    }

    #[test]
    fn settings_name_the_built_in_model_one_in_a_folder_or_a_providers() {
        assert!(wanted("") == WantedEmbedder::BuiltIn && wanted(" built-in ") == WantedEmbedder::BuiltIn);
        assert!(wanted("minilm") == WantedEmbedder::MiniLm(None) && wanted("minilm:") == WantedEmbedder::MiniLm(None));
        assert!(wanted("minilm: /models/x") == WantedEmbedder::MiniLm(Some("/models/x".into())));
        assert!(matches!(wanted("ollama:all-minilm"), WantedEmbedder::Provider(_)));
        for unknown in ["minilms", "minilm/x", "anthropic:x", "openai"] {
            assert!(matches!(wanted(unknown), WantedEmbedder::Unknown(_)), "{unknown}");
        }
    }
}
