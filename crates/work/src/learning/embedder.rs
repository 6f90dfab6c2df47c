//! Which model says what texts mean: the one that is built in, MiniLM from a folder on this computer, or a provider's that
//! the settings name. Where the named one cannot be used, the built-in one is, and that is told: memories are found in any
//! case.

use std::path::{Path, PathBuf};

use crate::base::Problem;
use crate::gateway::embedding::{EmbeddingAccess, EmbeddingMeter, ProviderEmbedder};
use crate::gateway::keys::Environment;
use crate::gateway::{GatewaySettings, PriceSettings};
use crate::knowledge::{AnyEmbedder, Db, EmbeddingError, MiniLm, WordLlama};

use super::settings::{BUILT_IN, KnowledgeSettings};

/// The word for MiniLM in settings: alone, or with its folder behind a colon.
const MINILM: &str = "minilm";
/// What MiniLM is called where others keep it.
const NAME: &str = "all-MiniLM-L6-v2";

/// The folder of MiniLM: the one that is named, or where others keep what they fetched.
fn minilm_folder(rest: &str) -> Result<PathBuf, Problem> {
    let wrong = |what: String, remedy: String| Problem::error("settings.yaml: knowledge.embedder", what, remedy);
    if let Some(folder) = rest.strip_prefix(':').map(str::trim).filter(|folder| !folder.is_empty()) {
        return Ok(PathBuf::from(folder));
    }
    if !rest.trim_matches(':').trim().is_empty() {
        let what = format!("there is no model \"{MINILM}{rest}\"");
        return Err(wrong(what, format!("write {MINILM}:FOLDER, or {MINILM} where it is in a cache")));
    }
    let found = caches().into_iter().find(|folder| folder.join("model.safetensors").is_file());
    let remedy = format!("name its folder, with config.json, vocab.txt and model.safetensors: {MINILM}:FOLDER");
    found.ok_or_else(|| wrong(format!("{NAME} is in no cache on this computer"), remedy))
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

/// Which model is wanted, as the settings and the computer have it.
#[derive(Clone, Default)]
pub struct EmbedderChoice {
    access: Option<EmbeddingAccess>,
    /// Where MiniLM lies, where it is wanted.
    folder: Option<PathBuf>,
    /// Why what the settings name cannot be asked at all.
    problem: Option<Problem>,
    meter: EmbeddingMeter,
}

impl PartialEq for EmbedderChoice {
    fn eq(&self, other: &Self) -> bool {
        (&self.access, &self.folder, &self.problem) == (&other.access, &other.folder, &other.problem)
    }
}

impl std::fmt::Debug for EmbedderChoice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let of_provider = self.access.as_ref().map(|access| &*access.model().0);
        let model = of_provider.unwrap_or(if self.folder.is_some() { MINILM } else { BUILT_IN });
        f.debug_tuple("EmbedderChoice").field(&model).finish()
    }
}

/// A model that is in use.
pub struct Opened {
    /// What says what texts mean.
    pub embedder: AnyEmbedder,
    /// Why it is not the one that the settings name, and what to do.
    pub instead: Option<String>,
}

impl EmbedderChoice {
    /// The one that these settings name.
    pub fn of(
        settings: &KnowledgeSettings,
        gateway: &GatewaySettings,
        prices: &PriceSettings,
        environment: &Environment,
    ) -> Self {
        let spec = settings.embedder.trim();
        if spec.is_empty() || spec == BUILT_IN {
            return Self::default();
        }
        if let Some(rest) = spec.strip_prefix(MINILM) {
            return match minilm_folder(rest) {
                Ok(folder) => Self { folder: Some(folder), ..Self::default() },
                Err(problem) => Self { problem: Some(problem), ..Self::default() },
            };
        }
        match EmbeddingAccess::of(spec, gateway, prices, environment.clone()) {
            Ok(access) => Self { access: Some(access), ..Self::default() },
            Err(problem) => Self { problem: Some(problem), ..Self::default() },
        }
    }

    /// What is wrong with what the settings name.
    pub fn problem(&self) -> Option<&Problem> {
        self.problem.as_ref()
    }

    /// Where MiniLM lies, where it is wanted.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The model of a provider that is wanted.
    pub fn access(&self) -> Option<&EmbeddingAccess> {
        self.access.as_ref()
    }

    /// What it uses, and whether it may use more.
    pub fn meter(&self) -> &EmbeddingMeter {
        &self.meter
    }

    /// Sets up to use it. Where it is asked for the first time, it is asked how many numbers its vectors have.
    pub(super) fn open(&self, db: &Db) -> Result<Opened, EmbeddingError> {
        let built_in = || WordLlama::built_in().map(|embedder| Box::new(embedder) as AnyEmbedder);
        if let Some(folder) = &self.folder {
            return match MiniLm::open(folder) {
                Ok(model) => Ok(Opened { embedder: Box::new(model), instead: None }),
                Err(error) => Ok(Opened { embedder: built_in()?, instead: Some(error.to_string()) }),
            };
        }
        let Some(access) = &self.access else {
            let instead = self.problem.as_ref().map(ToString::to_string);
            return Ok(Opened { embedder: built_in()?, instead });
        };
        let dimensions = db.dimensions_of(access.model()).unwrap_or_default();
        match ProviderEmbedder::open(access.clone(), dimensions, self.meter.clone()) {
            Ok(embedder) => Ok(Opened { embedder: Box::new(embedder), instead: None }),
            Err(error) => Ok(Opened { embedder: built_in()?, instead: Some(error.to_string()) }),
        }
    }
}
