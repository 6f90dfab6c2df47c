//! Detects files that may contain secrets, by their name and content: one rule for everything that leaves or enters a
//! workspace.

use std::io::{self, Read};
use std::sync::LazyLock;

use regex::bytes::Regex;

use super::layout;
use crate::base::secret_words::{SecretPlace, is_secret_pair, is_secret_word};
use crate::base::text_normalization::folded;

/// Hidden files that usually contain no secrets and that a person would miss; all others are left out.
const HARMLESS_HIDDEN: [&str; 7] =
    [".gitignore", ".gitattributes", ".gitmodules", ".gitkeep", ".keep", ".editorconfig", ".github"];
/// Extensions of files that contain keys, or certificates with keys.
const KEY_ENDINGS: [&str; 22] = [
    "agekey", "env", "jks", "jwk", "jwks", "kdb", "kdbx", "key", "keychain", "keystore", "keytab", "ovpn", "p12", "p8",
    "pem", "pfx", "pgdump", "pkcs12", "ppk", "tfstate", "tfvars", "wallet",
];
/// Extensions of files that contain data rather than prose; their names are taken literally.
const DATA_ENDINGS: [&str; 14] =
    ["", "cfg", "conf", "config", "csv", "ini", "json", "properties", "text", "toml", "txt", "xml", "yaml", "yml"];
/// Extensions of databases; only their names that indicate secrets count.
const DATABASE_ENDINGS: [&str; 6] = ["dat", "db", "jar", "sqlite", "sqlite3", "sqlitedb"];
/// Extensions of whole databases as text, plain or compressed.
const DUMP_ENDINGS: [&str; 9] = ["bson", "bz2", "dump", "gz", "rdb", "sql", "tar", "xz", "zst"];
/// Words in the names of whole databases as text.
const DUMP_WORDS: [&str; 5] = ["backup", "database", "db", "dump", "pgdump"];
/// Suffixes with which editors and people mark copies of a file.
const COPY_ENDINGS: [&str; 9] = [".bak", ".backup", ".copy", ".old", ".orig", ".save", ".swp", ".tmp", "~"];
/// Whole names, without extension, that indicate secrets.
const SECRET_FILE_NAMES: [&str; 13] = [
    "auth",
    "cookie",
    "cookiejar",
    "cookies",
    "key3",
    "key4",
    "keyring",
    "keys",
    "logins",
    "secring",
    "token",
    "tokens",
    "vault-token",
];
/// Whole names of databases with keys.
const WALLETS: [&str; 3] = ["wallet", "wallets", "electrum"];
/// The names of private keys that ssh writes.
const SSH_KEYS: [&str; 6] = ["id_dsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk", "id_rsa"];

/// Returns why a file is left out because of its name; `path` is relative to the workspace.
pub fn secret_by_name(path: &str) -> Option<&'static str> {
    let path = folded(path);
    let parts: Vec<&str> = path.split('/').collect();
    let (name, folders) = parts.split_last()?;
    if parts.iter().any(|part| part.starts_with('.') && !HARMLESS_HIDDEN.contains(part)) {
        return Some("hidden files and folders may contain secrets");
    }
    if folders.iter().any(|folder| matches!(*folder, "secrets" | "credentials" | "_netrc")) {
        return Some("its folder name suggests secrets");
    }
    // Agents, scenes, boards and sessions have a known format, whatever they are about.
    let is_known = layout::is_used_by_room(&path) || path.starts_with("sessions/");
    (!is_known && is_suspicious(name)).then_some("its name suggests secrets")
}

fn is_suspicious(name: &str) -> bool {
    let mut name = name.trim_matches(['#', '_']);
    while let Some(kept) = COPY_ENDINGS.iter().find_map(|ending| name.strip_suffix(ending)) {
        name = kept;
    }
    if name.ends_with("_history") || name.ends_with("_hist") {
        return true;
    }
    let (stem, ending) = name
        .split_once('.')
        .map_or((name, ""), |(stem, _)| (stem, name.rsplit_once('.').map_or("", |(_, ending)| ending)));
    if SSH_KEYS.contains(&stem) && ending != "pub" {
        return true;
    }
    // `app.env.local` contains keys just like `app.env`.
    if name.split('.').skip(1).any(|part| KEY_ENDINGS.contains(&part) && (part == "env" || part == ending)) {
        return true;
    }
    let words: Vec<&str> = name
        .strip_suffix(ending)
        .unwrap_or(name)
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let is_secret = |word: &&str| is_secret_word(word, SecretPlace::File);
    let by_words = words.iter().any(is_secret) || words.windows(2).any(|pair| is_secret_pair(pair[0], pair[1]));
    // A text about secrets is not a secret, unless its name consists of that word only.
    let is_only_that = words.len() == 1 && words.iter().all(is_secret);
    let is_data = DATA_ENDINGS.contains(&ending);
    let is_database = DATABASE_ENDINGS.contains(&ending);
    if (is_database && SECRET_FILE_NAMES.contains(&stem)) || ((is_database || is_data) && WALLETS.contains(&stem)) {
        return true;
    }
    if ending == "dump" || (DUMP_ENDINGS.contains(&ending) && words.iter().any(|word| DUMP_WORDS.contains(word))) {
        return true;
    }
    (is_data && (by_words || SECRET_FILE_NAMES.contains(&stem) || words.last() == Some(&"token"))) || is_only_that
}

/// The formats of private keys and of the keys of well-known services.
static KEY_SHAPES: LazyLock<Regex> = LazyLock::new(|| {
    let shapes = [
        r"-----BEGIN [A-Z0-9 ]{0,32}PRIVATE KEY",
        r"PuTTY-User-Key-File-\d",
        r"AGE-SECRET-KEY-1[A-Z0-9]{20}",
        r"\b(?:sk|rk|pk)_live_[A-Za-z0-9]{16}",
        r"\bsk-(?:proj-|ant-|or-|svcacct-)[A-Za-z0-9_-]{16}",
        r"\bsk-[A-Za-z0-9]{20}",
        r"\bAIza[A-Za-z0-9_-]{35}",
        r"\bgh[opsru]_[A-Za-z0-9]{30}",
        r"\bgithub_pat_[A-Za-z0-9_]{22}",
        r"\bglpat-[A-Za-z0-9_-]{20}",
        r"\bxox[abeoprs]-[A-Za-z0-9-]{10}",
        r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
        r"\b(?:gsk_|xai-)[A-Za-z0-9]{20}",
        r"\bhf_[A-Za-z0-9]{30}",
        r"\bnpm_[A-Za-z0-9]{36}",
        r"\bpypi-AgEI[A-Za-z0-9_-]{20}",
        r"\bdckr_pat_[A-Za-z0-9_-]{20}",
        r"\bya29\.[A-Za-z0-9_-]{20}",
        r"\bSG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16}",
        r"\bhvs\.[A-Za-z0-9_-]{20}",
        // Addresses that whoever knows them may write to.
        r"\bhooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]{20}",
        r"\bdiscord(?:app)?\.com/api/webhooks/[0-9]{15,20}/[A-Za-z0-9_-]{20}",
        r"\.webhook\.office\.com/webhookb2/[A-Za-z0-9@/-]{20}",
        // An address with a user and a password.
        r#"\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@'"<>{}$`\[]{0,64}:[^\s/@'"<>{}$`*]{3,96}@[A-Za-z0-9\[]"#,
        // A signed token: its header and its content are JSON.
        r"\beyJ[A-Za-z0-9_-]{8,80}\.eyJ[A-Za-z0-9_-]{8}",
        r"# (?:Netscape )?HTTP Cookie File",
        r"\bAccountKey=[A-Za-z0-9+/=]{40}",
        r"\bwhsec_[A-Za-z0-9+/=]{24}",
        r"\b[0-9]{8,10}:AA[A-Za-z0-9_-]{33}",
        r"(?i:aws_secret_access_key)[ \t]{0,4}[=:][ \t]{0,4}[A-Za-z0-9+/]{40}",
        r"-- (?:PostgreSQL database|MySQL|MariaDB) dump",
        r"PGDMP\x01",
    ];
    Regex::new(&format!("(?-u:{})", shapes.join("|"))).expect("the shapes are expressions")
});
/// An upper bound for the length of a match, in bytes.
const MAX_SHAPE_BYTES: usize = 256;
/// The number of bytes that are searched at once.
const PIECE_BYTES: usize = 256 * 1024;

/// Whether a text contains a private key, or something that looks like the key of a well-known service.
pub fn holds_key(text: &[u8]) -> bool {
    KEY_SHAPES.is_match(text)
}

/// Like [`holds_key`], for a reader of any length, which is searched piece by piece.
pub fn reads_key(from: &mut impl Read) -> io::Result<bool> {
    let mut piece = Vec::with_capacity(PIECE_BYTES + MAX_SHAPE_BYTES);
    loop {
        let read = from.by_ref().take(PIECE_BYTES as u64).read_to_end(&mut piece)?;
        if holds_key(&piece) {
            return Ok(true);
        }
        if read == 0 {
            return Ok(false);
        }
        // A key may start at the end of this piece.
        let kept = piece.len().saturating_sub(MAX_SHAPE_BYTES);
        piece.drain(..kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_indicate_secrets_are_recognised() {
        for path in [
            "keys.env",
            ".env",
            ".envrc",
            ".env~",
            ".env.local",
            "app.env",
            "app.env.local",
            "keys.env.bak",
            "keys.env~",
            "#keys.env#",
            ".pgpass",
            "pgpass",
            ".kube/config",
            ".vault-token",
            "vault-token",
            ".htpasswd",
            "htpasswd",
            ".bash_history",
            ".python_history",
            "zsh_history",
            ".config/gh/hosts.yml",
            "id_rsa",
            "ID_RSA",
            "ssh/id_ed25519",
            "id_rsa.bak",
            "server.pem",
            "deploy/server.key",
            "store.p12",
            "store.jks",
            "passwords.kdbx",
            "credentials",
            "credentials.json",
            "aws/credentials.csv",
            "secrets.json",
            "prod-secrets.yaml",
            "secrets/any.md",
            "secret.txt",
            "token.txt",
            "tokens.json",
            "github_token.txt",
            "github-token",
            "openai_api_key.txt",
            "apikey.txt",
            "passwords.txt",
            "passwords.md",
            "client_secret_123.json",
            "service-account.json",
            "my_private_key.txt",
            "auth.json",
            "keys.json",
            "_netrc",
            "kubeconfig",
            "terraform.tfstate",
            "artifacts/.hidden/plan.md",
            "a/.aws/config",
            "cookies.txt",
            "cookies.sqlite",
            "prod.tfvars",
            "prod.auto.tfvars",
            "wallet.dat",
            "backups/db-dump.sql",
            "dump.sql.gz",
            "prod.dump",
            "backup-2026.sql",
            "logins.json",
            "key4.db",
        ] {
            assert!(secret_by_name(path).is_some(), "{path}");
        }
    }

    #[test]
    fn every_word_that_always_meant_a_secret_in_the_name_of_a_file_still_does() {
        for word in [
            "apikey",
            "apikeys",
            "credential",
            "credentials",
            "creds",
            "htpasswd",
            "kubeconfig",
            "netrc",
            "passphrase",
            "passwd",
            "password",
            "passwords",
            "pgpass",
            "secret",
            "secrets",
            "serviceaccount",
            "access-key",
            "access_keys",
            "api-key",
            "api_keys",
            "auth-token",
            "client_secret",
            "master-key",
            "private_key",
            "service-account",
        ] {
            assert!(secret_by_name(&format!("artifacts/our-{word}-list.json")).is_some(), "{word}");
        }
    }

    #[test]
    fn ordinary_file_names_do_not_indicate_secrets() {
        for path in [
            "settings.yaml",
            "agents/secret-keeper.md",
            "scenes/secret-garden.yaml",
            "boards/passwords.md",
            "id_rsa.pub",
            "artifacts/plan.md",
            "artifacts/token-budget.md",
            "artifacts/password-policy.md",
            "artifacts/api-key-rotation.md",
            "artifacts/history.md",
            "artifacts/company_history.md",
            "artifacts/design.css",
            "artifacts/keyboard.json",
            "memory/environment.md",
            "sessions/token/1.session.yaml",
            "artifacts/monkey.txt",
            "tasks/work.task.md",
            ".gitignore",
            ".github/workflows/ci.yml",
            "artifacts/secretary.json",
            "artifacts/author.json",
            "tokens.css",
            "artifacts/cookies.md",
            "artifacts/schema.sql",
            "artifacts/wallet.md",
            "artifacts/data.db",
            "artifacts/photos.tar",
        ] {
            assert_eq!(secret_by_name(path), None, "{path}");
        }
    }

    #[test]
    fn keys_are_recognised_by_their_format() {
        for text in [
            format!("-----BEGIN OPENSSH {} KEY-----", "PRIVATE"),
            format!("-----BEGIN {} KEY-----", "PRIVATE"),
            format!("x\n-----BEGIN PGP {} KEY BLOCK-----", "PRIVATE"),
            format!("key: sk-{}", "a1B2c3D4e5F6g7H8i9J0k"),
            format!("sk-ant-{}", "api03-a1B2c3D4e5F6g7H8"),
            format!("AIza{}", "SyA1234567890123456789012345678901234"),
            format!("token=ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5"),
            format!("AKIA{}", "ABCDEFGHIJKLMNOP"),
            format!("https://hooks.slack.com/services/{}", "T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX"),
            format!("https://discord.com/api/webhooks/{}/{}", "123456789012345678", "a1B2c3D4e5F6g7H8i9J0k"),
            format!("url = postgres://user:{}@db.example.org/app", "password"),
            format!("redis://:{}@10.0.0.1:6379", "hunter22"),
            format!("https://ada:{}@example.org", "s3cret"),
            format!("token: {}.{}.sig", "eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0NTY3ODkwIn0"),
            "# Netscape HTTP Cookie File\n.example.org\tTRUE".to_owned(),
            "--\n-- PostgreSQL database dump\n--".to_owned(),
            format!("aws_secret_access_key = {}", "a1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F6g7H8i9J0"),
        ] {
            assert!(holds_key(text.as_bytes()), "{text}");
        }
        for text in [
            "-----BEGIN CERTIFICATE-----",
            "-----BEGIN PUBLIC KEY-----",
            "a task-management-system-for-everyone",
            "sk-learn and risk-free-thinking-about-everything",
            "write your key (sk-...) into keys.env",
            "https://example.org:8080/a@b and mail me: ada@example.org",
            "postgres://${USER}:${PASSWORD}@host and postgres://<user>:<password>@host",
            "https://user:pw@host",
            "eyJust a word. eyJ too",
            "see https://hooks.slack.com/services/ for how",
        ] {
            assert!(!holds_key(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn a_key_is_found_at_any_position_of_a_long_file() {
        let key = format!("sk-{}", "a1B2c3D4e5F6g7H8i9J0k");
        for before in [0, PIECE_BYTES - 10, PIECE_BYTES, 3 * PIECE_BYTES - 1] {
            let text = format!("{} {key}\n{}", " ".repeat(before), "x ".repeat(PIECE_BYTES));
            assert!(reads_key(&mut text.as_bytes()).expect("it is in memory"), "{before}");
        }
        assert!(!reads_key(&mut "x ".repeat(PIECE_BYTES).as_bytes()).expect("it is in memory"));
    }
}
