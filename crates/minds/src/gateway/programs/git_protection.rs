//! Environment variables under which git runs nothing that a repository's own settings name: hooks, monitors,
//! pagers, editors and helpers. An agent may have made the repository.
//!
//! An external diff program, and what a repository names under a name of its own choice (filters, diff and merge
//! drivers, aliases), cannot be switched off this way. Rules for git commands therefore only hold at the top of the
//! workspace, whose `.git` no agent can write, and a person is asked where it names programs (`repository_programs`).

/// Settings with the highest precedence. Bare repositories, whose files need no name that begins with a dot, are only
/// used where a command names them.
const SETTINGS: [(&str, &str); 13] = [
    ("safe.bareRepository", "explicit"),
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("core.editor", "true"),
    ("core.sshCommand", "ssh"),
    ("core.askPass", ""),
    ("credential.helper", ""),
    ("gpg.program", "gpg"),
    ("gpg.ssh.program", "ssh-keygen"),
    ("gpg.x509.program", "gpgsm"),
    ("protocol.ext.allow", "never"),
    ("submodule.recurse", "false"),
];

/// Variables that take precedence over any setting.
const VARIABLES: [(&str, &str); 6] = [
    ("GIT_PAGER", "cat"),
    ("GIT_EDITOR", "true"),
    ("GIT_SEQUENCE_EDITOR", "true"),
    ("GIT_SSH_COMMAND", "ssh"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
];

/// Returns the variables for programs that agents run.
pub(in crate::gateway) fn variables() -> Vec<(String, String)> {
    let mut variables = vec![("GIT_CONFIG_COUNT".to_owned(), SETTINGS.len().to_string())];
    for (at, (key, value)) in SETTINGS.iter().enumerate() {
        variables.push((format!("GIT_CONFIG_KEY_{at}"), (*key).to_owned()));
        variables.push((format!("GIT_CONFIG_VALUE_{at}"), (*value).to_owned()));
    }
    variables.extend(VARIABLES.map(|(key, value)| (key.to_owned(), value.to_owned())));
    variables
}
