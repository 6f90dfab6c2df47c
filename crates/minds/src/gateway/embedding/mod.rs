//! Meanings of texts by a provider's model, for whoever remembers by meaning: which one is asked and how
//! ([`EmbeddingAccess`]), the embedder itself ([`ProviderEmbedder`]), and what it used ([`EmbeddingMeter`]), which is
//! booked in the room as everything is that is asked of models.

mod access;
mod booking;
mod meter;
mod provider_embedder;

pub use access::EmbeddingAccess;
pub(super) use booking::book;
pub use booking::{EmbeddingUsed, refusal_by_caps};
pub use meter::EmbeddingMeter;
pub use provider_embedder::ProviderEmbedder;
