//! The words that say that something is a secret: in the names of files, in questions and their fields, and in the names
//! of variables. Pure.

/// Where a word stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SecretPlace {
    /// In the name of a file.
    File,
    /// In a question to a person, or in the name of one of its fields.
    Question,
    /// At the end of the name of a variable.
    Variable,
}

/// Words that say so in every place.
const EVERYWHERE: [&str; 14] = [
    "apikey",
    "apikeys",
    "credential",
    "credentials",
    "creds",
    "passphrase",
    "passphrases",
    "passwd",
    "password",
    "passwords",
    "secret",
    "secrets",
    "serviceaccount",
    "serviceaccounts",
];
/// Words that only say so where a value is asked for or given: `token-budget.md` is about tokens.
const OF_VALUES: [&str; 14] = [
    "bearer",
    "cookie",
    "cookies",
    "key",
    "keys",
    "mnemonic",
    "mnemonics",
    "otp",
    "pat",
    "pats",
    "pin",
    "pwd",
    "token",
    "tokens",
];
/// Words that only say so at the end of the name of a variable.
const OF_VARIABLES: [&str; 3] = ["auth", "authorization", "pass"];
/// Words that only say so in the name of a file.
const OF_FILES: [&str; 4] = ["htpasswd", "kubeconfig", "netrc", "pgpass"];

/// Pairs of words that say so together in the name of a file; elsewhere, their last words do.
const PAIRS: [(&str, &str); 9] = [
    ("access", "key"),
    ("access", "keys"),
    ("api", "key"),
    ("api", "keys"),
    ("auth", "token"),
    ("client", "secret"),
    ("master", "key"),
    ("private", "key"),
    ("service", "account"),
];

/// Ends of the names of variables that say so whatever stands before them, in upper case.
const VARIABLE_ENDINGS: [&str; 10] =
    ["_KEY", "_TOKEN", "_SECRET", "_WEBHOOK_URL", "_CREDENTIALS", "_PASS", "_PWD", "PASSWORD", "PASSWD", "PASSPHRASE"];

/// Whether a word, in lower case, says that something is a secret where it stands.
pub fn is_secret_word(word: &str, place: SecretPlace) -> bool {
    EVERYWHERE.contains(&word)
        || match place {
            SecretPlace::File => OF_FILES.contains(&word),
            SecretPlace::Question => OF_VALUES.contains(&word),
            SecretPlace::Variable => OF_VALUES.contains(&word) || OF_VARIABLES.contains(&word),
        }
}

/// Whether two words in a row in the name of a file, in lower case, say that something is a secret.
pub fn is_secret_pair(first: &str, second: &str) -> bool {
    PAIRS.contains(&(first, second))
}

/// Whether the name of a variable, in upper case, ends like that of a secret, whatever its value looks like.
pub fn has_secret_ending(name: &str) -> bool {
    VARIABLE_ENDINGS.iter().any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_counts_where_it_stands() {
        let everywhere = [SecretPlace::File, SecretPlace::Question, SecretPlace::Variable];
        for (word, places) in [
            ("password", &everywhere[..]),
            ("secrets", &everywhere),
            ("token", &everywhere[1..]),
            ("auth", &everywhere[2..]),
            ("netrc", &everywhere[..1]),
            ("monkey", &[]),
        ] {
            for place in everywhere {
                assert_eq!(is_secret_word(word, place), places.contains(&place), "{word} {place:?}");
            }
        }
        assert!(is_secret_pair("private", "key") && !is_secret_pair("key", "private"));
        assert!(has_secret_ending("MYSQL_PWD") && has_secret_ending("PGPASSWORD") && !has_secret_ending("PWD"));
    }
}
