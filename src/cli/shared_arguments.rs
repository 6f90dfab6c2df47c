//! Arguments that several commands share: a task as text, from a file or from standard input; and the provider, the
//! model or both.

use std::io::Read;
use std::path::Path;

use super::CliError;
use crate::base::Problem;
use crate::gateway::{GatewaySettings, ScriptedProvider};
use crate::text::yaml;
use crate::workspace::SettingsSection;
use crate::workspace::layout::SETTINGS_FILE;

/// The maximum length of a task, in bytes.
const MAX_TASK_BYTES: u64 = 1024 * 1024;

/// Reads the text of a task: from standard input for `-`, from a file for `@FILE`, otherwise the argument itself.
pub(super) fn task_text(given: &str) -> Result<String, CliError> {
    let (text, place) = match (given, given.strip_prefix('@')) {
        ("-", _) => (read(std::io::stdin().lock(), "standard input")?, "standard input".to_owned()),
        (_, Some(path)) => {
            let open = std::fs::File::open(path).map_err(|error| {
                let error = CliError::usage(format!("the task in {path}: {error}"));
                error.hint(
                    "--task @FILE reads a file; to use the text itself, start it with something other than \
                    @",
                )
            });
            (read(open?, path)?, path.to_owned())
        }
        _ => (given.to_owned(), String::new()),
    };
    if text.trim().is_empty() {
        let what = if place.is_empty() { "the task is empty".to_owned() } else { format!("{place} is empty") };
        return Err(CliError::usage(what).hint("describe what to do"));
    }
    Ok(if place.is_empty() { text } else { text.trim_end().to_owned() })
}

fn read(source: impl Read, place: &str) -> Result<String, CliError> {
    let mut bytes = Vec::new();
    let unreadable = |error| CliError::usage(format!("the task in {place}: {error}"));
    source.take(MAX_TASK_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_TASK_BYTES {
        let error = CliError::usage(format!("the task in {place} is longer than {MAX_TASK_BYTES} bytes"));
        return Err(error.hint("move the long part into a file of the workspace, and name the file in the task"));
    }
    String::from_utf8(bytes).map_err(|_| CliError::usage(format!("the task in {place} is not UTF-8 text")))
}

/// The provider that overrides every agent's own choice, as `PROVIDER` or `PROVIDER:MODEL`. If only a model is given,
/// it is a model of the workspace's provider.
pub(super) fn provider_override(
    provider: Option<&str>,
    model: Option<&str>,
    workspace: &Path,
) -> Result<Option<String>, CliError> {
    let Some(model) = model.map(str::trim) else { return provider.map(resolve_provider).transpose() };
    let named = match provider {
        Some(provider) => provider.to_owned(),
        // `--model openai:gpt-x` names both.
        None if is_spec(model) => return resolve_provider(model).map(Some),
        None => settings(workspace).provider_meant(None).to_owned(),
    };
    if named.contains(':') || matches!(named.as_str(), "offline" | "scripted") {
        let what = format!("--model {model} cannot be used with {named}");
        return Err(CliError::usage(what).hint("name a model of another provider, such as --model openai:gpt-4o-mini"));
    }
    let model = model.strip_prefix(&format!("{named}:")).unwrap_or(model);
    resolve_provider(&format!("{named}:{model}")).map(Some)
}

/// Checks that a provider exists. The path in `scripted:FILE` is made absolute, so that it works from any folder.
pub(super) fn resolve_provider(provider: &str) -> Result<String, CliError> {
    let Some(file) = provider.strip_prefix("scripted:") else {
        return match GatewaySettings::default().choose(Some(provider), None) {
            Ok(_) => Ok(provider.to_owned()),
            Err(problem) => Err(CliError::usage(problem.what).hint(problem.remedy)),
        };
    };
    let unreadable = |error| CliError::usage(format!("the script {file}: {error}"));
    let path = std::fs::canonicalize(file).map_err(unreadable)?;
    match ScriptedProvider::from_file(&path.to_string_lossy()) {
        Ok(_) => Ok(format!("scripted:{}", path.display())),
        Err(problems) => Err(CliError::usage(problems.iter().map(Problem::to_string).collect::<Vec<_>>().join("; "))),
    }
}

/// The `gateway` section of the workspace's settings. Errors are reported when the workspace is opened.
fn settings(workspace: &Path) -> GatewaySettings {
    let text = std::fs::read_to_string(workspace.join(SETTINGS_FILE)).unwrap_or_default();
    let all = yaml::parse(&text).unwrap_or_default();
    let section = all.get(GatewaySettings::NAME).cloned().unwrap_or_default();
    serde_json::from_value(section).unwrap_or_default()
}

/// Whether `model` has the form `PROVIDER:MODEL`.
fn is_spec(model: &str) -> bool {
    model.split_once(':').is_some_and(|(provider, _)| GatewaySettings::default().choose(Some(provider), None).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::ExitStatus;

    #[test]
    fn a_task_is_a_text_or_read_from_a_file() {
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("task.md");
        std::fs::write(&path, "Write it.\nAll of it.\n\n").expect("there is room");
        let of_file = |path: &Path| task_text(&format!("@{}", path.display()));
        assert_eq!(of_file(&path).ok().as_deref(), Some("Write it.\nAll of it."));
        assert_eq!(task_text("Write it.").ok().as_deref(), Some("Write it."));
        std::fs::write(&path, " \n").expect("there is room");
        for wrong in [of_file(&path), of_file(&folder.path().join("none")), of_file(folder.path()), task_text("  ")] {
            assert_eq!(wrong.expect_err("there is nothing to do").exit, ExitStatus::BadUsage);
        }
        std::fs::write(&path, b"\xff\xfe").expect("there is room");
        assert!(of_file(&path).expect_err("it is not text").what.is_some_and(|what| what.contains("UTF-8")));
        std::fs::write(&path, "x".repeat(1024 * 1024 + 1)).expect("there is room");
        assert!(of_file(&path).expect_err("it is too long").what.is_some_and(|what| what.contains("longer than")));
    }

    #[test]
    fn a_model_is_resolved_with_the_provider() {
        let folder = tempfile::tempdir().expect("there is room");
        std::fs::write(folder.path().join("settings.yaml"), "gateway: { provider: gemini }\n").expect("there is room");
        let of = |provider, model| provider_override(provider, model, folder.path());
        for (provider, model, meant) in [
            (None, None, None),
            (Some("openai"), None, Some("openai")),
            (Some("openai"), Some("gpt-x"), Some("openai:gpt-x")),
            (Some("openai"), Some("openai:gpt-x"), Some("openai:gpt-x")),
            (None, Some("anthropic:claude-x"), Some("anthropic:claude-x")),
            (None, Some("gemini-x"), Some("gemini:gemini-x")),
            (Some("ollama"), Some("llama3:8b"), Some("ollama:llama3:8b")),
        ] {
            assert_eq!(of(provider, model).ok().flatten().as_deref(), meant, "{provider:?} {model:?}");
        }
        for (provider, model) in [(Some("offline"), "x"), (Some("openai:gpt-x"), "gpt-y"), (Some("nobody"), "x")] {
            assert!(of(provider, Some(model)).is_err(), "{provider} {model}", provider = provider.unwrap_or_default());
        }
    }
}
