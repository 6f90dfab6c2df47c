//! What may be relied on in every reply of the offline brain.
