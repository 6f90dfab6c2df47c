//! Embeddings by a provider's model: which one is called and how ([`EmbeddingAccess`]), the embedder itself
//! ([`ProviderEmbedder`]), and its usage ([`EmbeddingMeter`]), which is booked in the room like that of every model
//! call.

mod access;
mod booking;
mod meter;
mod provider_embedder;

pub use access::EmbeddingAccess;
pub(super) use booking::book;
pub use booking::{EmbeddingUsed, refusal_by_caps};
pub use meter::EmbeddingMeter;
pub use provider_embedder::ProviderEmbedder;
