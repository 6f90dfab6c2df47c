-- What changed from one version to the next is worked out from their texts; nothing was ever kept of it.
ALTER TABLE file_versions DROP COLUMN diff;
