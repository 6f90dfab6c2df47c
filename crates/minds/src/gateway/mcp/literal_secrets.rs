//! Detects secrets that are written literally in the definition of an MCP server, in a file that others may read. Pure.

use crate::agent::mcp_server::line_of_server;
use crate::agent::{McpServer, McpTransport};
use crate::base::Problem;
use crate::gateway::keys::private_variables::is_named_secret;
use crate::gateway::keys::redaction::Redactor;

/// The minimum length of a secret in characters; shorter values are settings.
const MIN_CHARS: usize = 6;

/// Returns the problems of a server whose variables or headers contain secrets; `place` is the path of the file that
/// configures it, and `file` its text.
pub(super) fn problems(server: &McpServer, place: &str, file: &str) -> Vec<Problem> {
    let (what, values) = match &server.transport {
        McpTransport::Stdio { env, .. } => ("variable", env),
        McpTransport::Http { headers, .. } | McpTransport::Sse { headers, .. } => ("header", headers),
    };
    let server = &server.name;
    let found = values.iter().filter(|(name, value)| is_secret(name, value));
    let problem = |(name, value): (&String, &String)| {
        let told = format!("the {what} {name} of the MCP server {server:?} contains what looks like a secret");
        let variable = variable_for(what, server, name);
        let scheme = value.split_once(' ').map(|(scheme, _)| format!("{scheme} ")).filter(|_| what == "header");
        let remedy = format!(
            "write {name}: \"{}${{{variable}}}\" and set {variable} in your environment; replace the secret, because \
                it was readable in the file",
            scheme.unwrap_or_default()
        );
        Problem::warning(place, told, remedy).at_line(line_of(file, server, name))
    };
    found.map(problem).collect()
}

fn is_secret(name: &str, value: &str) -> bool {
    if value.contains("${") || value.chars().count() < MIN_CHARS {
        return false;
    }
    is_named_secret(name, value) || Redactor::of([]).redact_all(value) != *value
}

/// Returns the name of the environment variable that should be used instead.
fn variable_for(what: &str, server: &str, name: &str) -> String {
    let plain = |text: &str| -> String {
        text.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect()
    };
    if what == "variable" { plain(name) } else { format!("{}_{}", plain(server), plain(name)) }
}

/// Returns the line of a variable or a header: the first one after the server's name.
fn line_of(file: &str, server: &str, name: &str) -> Option<usize> {
    let start = line_of_server(file, server)?;
    let named = file.lines().skip(start - 1).position(|line| line.contains(name));
    Some(named.map_or(start, |below| start + below))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::agent::mcp_server;

    #[test]
    fn secrets_are_recognised_and_settings_are_not() {
        for (name, value, is_one) in [
            ("GITHUB_TOKEN", "abcdef123456", true),
            ("GITHUB_TOKEN", "${GITHUB_TOKEN}", false),
            ("Authorization", "Bearer abcdef123456", true),
            ("X-Api-Key", "abcdef123456", true),
            ("ANYTHING", "sk-abcdefgh12345678", true),
            ("DATABASE", "postgres://me:hush@there/db", true),
            ("MAX_TOKEN", "4096000", false),
            ("API_KEY", "", false),
            ("TLS_KEY", "/etc/ssl/own.pem", false),
            ("KEYBOARD", "norwegian", false),
            ("MONKEY", "gibbons", false),
        ] {
            assert_eq!(is_secret(name, value), is_one, "{name}={value}");
        }
    }

    #[test]
    fn a_secret_is_reported_with_line_and_remedy_but_never_shown() {
        let file = "mcp_servers:\n  other:\n    command: x\n  git:\n    url: https://git.example/mcp\n    headers:\n      Authorization: Bearer abcdef123456\n";
        let defined = json!({ "git": {
            "url": "https://git.example/mcp", "headers": { "Authorization": "Bearer abcdef123456" },
        } });
        let server = mcp_server::read(&defined).defined().next().expect("a server is defined");
        let problems = problems(&server, "settings.yaml", file);
        assert_eq!(problems.len(), 1);
        let told = problems[0].to_string();
        assert!(told.starts_with("settings.yaml:7: "), "{told}");
        assert!(told.contains("Authorization: \"Bearer ${GIT_AUTHORIZATION}\""), "{told}");
        assert!(!told.contains("abcdef123456"), "{told}");
    }
}
