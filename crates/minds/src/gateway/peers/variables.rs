//! Substitutes a person's environment variables in definitions: `${NAME}` and `${NAME:-default}`.

use super::SetupFailure;
use crate::gateway::keys::private_variables::note_given;

/// Returns a text with its variables substituted; their values are recorded, so that they are never shown in what the
/// server says, and secrets among them in no answer of a model. A variable that is not set and has no default is an
/// error.
pub(in crate::gateway) fn expanded(
    text: &str,
    variable: &dyn Fn(&str) -> Option<String>,
    put_in: &mut Vec<String>,
) -> Result<String, SetupFailure> {
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        expanded.push_str(before);
        let Some((inside, behind)) = after.split_once('}') else {
            expanded.push_str("${");
            rest = after;
            continue;
        };
        let (name, default) = inside.split_once(":-").map_or((inside, None), |(name, default)| (name, Some(default)));
        let given = variable(name.trim()).inspect(|value| note_given(name.trim(), value));
        match given.or_else(|| default.map(str::to_owned)) {
            Some(value) => {
                expanded.push_str(&value);
                put_in.push(value);
            }
            None => {
                let what = format!("the variable {name} is not set");
                return Err(SetupFailure::new(what, format!("set {name} in the environment")));
            }
        }
        rest = behind;
    }
    expanded.push_str(rest);
    Ok(expanded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_substituted_and_unset_ones_are_errors() {
        let set = |name: &str| (name == "TOKEN").then(|| "hush".to_owned());
        let mut secrets = Vec::new();
        let mut of = |text: &str| expanded(text, &set, &mut secrets).map_err(|failure| failure.what);
        assert_eq!(of("Bearer ${TOKEN}").as_deref(), Ok("Bearer hush"));
        assert_eq!(of("${NONE:-usual}/${TOKEN}").as_deref(), Ok("usual/hush"));
        assert_eq!(of("$TOKEN ${open").as_deref(), Ok("$TOKEN ${open"));
        assert!(of("${NONE}").unwrap_err().contains("NONE"));
        assert_eq!(secrets, ["hush", "usual", "hush"]);
    }
}
