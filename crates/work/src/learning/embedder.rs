//! Chooses the embedding model: the built-in one, MiniLM from a folder on this computer, or a provider's from the
//! settings. If the chosen one cannot be used, the built-in one is used instead, and that is reported.

use std::path::{Path, PathBuf};

use super::settings::{BUILT_IN, KnowledgeSettings};
use crate::base::Problem;
use crate::gateway::embedding::{EmbeddingAccess, EmbeddingMeter, EmbeddingUsed, ProviderEmbedder};
use crate::gateway::keys::Environment;
use crate::gateway::{GatewaySettings, PriceSettings};
use crate::knowledge::{AnyEmbedder, Db, EmbeddingError, MiniLm, WordLlama};
use crate::schedule::outside::NoticeSender;

/// The name of MiniLM in settings: `minilm`, or `minilm:FOLDER`.
const MINILM: &str = "minilm";
/// The name of MiniLM in the caches of Hugging Face tools.
const NAME: &str = "all-MiniLM-L6-v2";

/// The embedding model set in the settings.
#[derive(Clone, PartialEq, Default)]
pub enum WantedEmbedder {
    /// The model built into the program.
    #[default]
    BuiltIn,
    /// MiniLM from this folder, or from a cache if `None`.
    MiniLm(Option<PathBuf>),
    /// A model of a provider.
    Provider(Box<EmbeddingAccess>),
    /// An unknown model, with the problem to report.
    Unknown(Problem),
}

/// The chosen embedding model, with the meter of its usage.
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
    /// The embedding model.
    pub(super) embedder: AnyEmbedder,
    /// Why the built-in model is used instead of the chosen one, and what to do.
    pub(super) instead: Option<String>,
}

impl EmbedderChoice {
    /// Reads the choice from these settings, without disk or network access.
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

    /// The chosen model.
    pub fn wanted(&self) -> &WantedEmbedder {
        &self.wanted
    }

    /// Access to the chosen model, if it is a provider's.
    pub fn access(&self) -> Option<&EmbeddingAccess> {
        match &self.wanted {
            WantedEmbedder::Provider(access) => Some(access),
            _ => None,
        }
    }

    /// The usage of the model and its limits.
    pub fn meter(&self) -> &EmbeddingMeter {
        &self.meter
    }

    /// Reports the usage of the model since the last time to the room. Returns whether nothing is left to report.
    pub(super) fn report_usage(&self, room: &NoticeSender<EmbeddingUsed>) -> bool {
        self.access().is_none_or(|access| EmbeddingUsed::report(access, &self.meter, room))
    }

    /// Loads the model. A provider's model is called once to learn the dimension of its vectors.
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

/// Opens MiniLM in `named` or in a cache of Hugging Face tools, and returns it with its folder.
pub fn open_minilm(named: Option<&Path>) -> Result<(MiniLm, PathBuf), Problem> {
    let remedy = format!("set its folder, with config.json, vocab.txt and model.safetensors: {MINILM}:FOLDER");
    let problem = |what: String| Problem::error("settings.yaml: knowledge.embedder", what, remedy.clone());
    let in_cache = || caches().into_iter().find(|folder| folder.join("model.safetensors").is_file());
    let folder = named.map(Path::to_owned).or_else(in_cache);
    let folder = folder.ok_or_else(|| problem(format!("{NAME} is not cached on this computer")))?;
    let model = MiniLm::open(&folder).map_err(|error| problem(error.to_string()))?;
    Ok((model, folder))
}

/// Folders in which Hugging Face tools cache MiniLM.
fn caches() -> Vec<PathBuf> {
    let named = |variable: &str| std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = named("XDG_CACHE_HOME").or_else(|| named("HOME").map(|home| home.join(".cache")));
    let hub = named("HF_HOME").or_else(|| cache.as_ref().map(|cache| cache.join("huggingface")));
    let of_hub = hub.map(|hub| hub.join(format!("hub/models--sentence-transformers--{NAME}/snapshots")));
    let snapshots = of_hub.and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = snapshots.map(|entry| entry.path()).collect();
    folders.sort_unstable();
    let of_torch = cache.map(|cache| cache.join(format!("torch/sentence_transformers/sentence-transformers_{NAME}")));
    folders.into_iter().chain(of_torch).collect()
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
    fn the_setting_names_the_built_in_model_minilm_or_a_provider_model() {
        assert!(wanted("") == WantedEmbedder::BuiltIn && wanted(" built-in ") == WantedEmbedder::BuiltIn);
        assert!(wanted("minilm") == WantedEmbedder::MiniLm(None) && wanted("minilm:") == WantedEmbedder::MiniLm(None));
        assert!(wanted("minilm: /models/x") == WantedEmbedder::MiniLm(Some("/models/x".into())));
        assert!(matches!(wanted("ollama:all-minilm"), WantedEmbedder::Provider(_)));
        for unknown in ["minilms", "minilm/x", "anthropic:x", "openai"] {
            assert!(matches!(wanted(unknown), WantedEmbedder::Unknown(_)), "{unknown}");
        }
    }
}
