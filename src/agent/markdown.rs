//! Reads an agent from a Markdown file: optional front matter, and the body as its instructions.

use serde_json::{Map, Value};

use super::formats::{AgentFile, AgentFormat, claim_id, id_of_path, stem, title};
use super::front_matter::{self, FrontMatter, FrontMatterError};
use super::limits::{self, Limit, Meaning};
use super::profile::{AgentProfile, KeyLines};
use crate::base::{Behaviour, Problem, text};

/// `agents/*.md`. Files deeper down belong to something else (skills of an agent directory).
pub static FORMAT: AgentFormat = AgentFormat {
    matches: |path| {
        let stem = path.strip_prefix("agents/").and_then(|name| name.strip_suffix(".md"));
        stem.is_some_and(|stem| !stem.is_empty() && !stem.contains('/'))
    },
    read,
};

/// The safety mode of a file that cannot be trusted to mean what it says: it asks before everything.
pub const LEAST_SAFETY_MODE: &str = "safe";

const KEYS: &[&str] = &[
    "id",
    "name",
    "description",
    "model",
    "tools",
    "mcp_servers",
    "skills",
    "share_workspace_info",
    "share_user_info",
    "behaviour",
    "avatar",
    "safety_mode",
    "reads",
    "writes",
];

/// Keys that limit an agent: naming one of them and writing nothing behind it is no way to lift the limit.
const LIMITING_KEYS: &[&str] = &["tools", "reads", "writes", "safety_mode"];

/// Reads the file; see [`AgentFile`]. Malformed front matter makes the whole text the instructions of an
/// agent with the least privileges.
pub fn read(path: &str, text: &str) -> AgentFile {
    let text = front_matter::normalise(text);
    let read = front_matter::split(&text).and_then(|front| read_front(path, &front));
    match read {
        Ok(file) => file,
        Err(error) => malformed(path, &text, &error),
    }
}

fn malformed(path: &str, text: &str, error: &FrontMatterError) -> AgentFile {
    let (id, reserved) = claim_id(path, id_of_path(path));
    let profile = AgentProfile {
        id,
        name: name_of_path(path),
        instructions: text.to_owned(),
        tools: Some(Vec::new()),
        share_workspace_info: false,
        share_user_info: false,
        safety_mode: Some(LEAST_SAFETY_MODE.to_owned()),
        reads: Some(Vec::new()),
        writes: Some(Vec::new()),
        ..AgentProfile::default()
    };
    let remedy = "correct the lines between the two ---; until then the whole file is its instructions and it may use \
                  no tools";
    let mut problems = vec![Problem::error(path, error.what.clone(), remedy).at_line(error.line)];
    let reserved_id = reserved.map(|(id, problem)| {
        problems.push(problem);
        id
    });
    AgentFile { profile, has_explicit_id: false, reserved_id, malformed: true, problems }
}

fn name_of_path(path: &str) -> String {
    let name = title(stem(path));
    if name.is_empty() { "Agent".to_owned() } else { name }
}

/// `shareWorkspaceInfo`, `share-workspace-info` and `behavior` as this program spells them.
fn our_spelling(key: &str) -> String {
    let mut snake = String::with_capacity(key.len() + 2);
    for character in key.trim().chars() {
        if character.is_uppercase() && !snake.is_empty() && !snake.ends_with('_') {
            snake.push('_');
        }
        match character {
            '-' | ' ' => snake.push('_'),
            other => snake.extend(other.to_lowercase()),
        }
    }
    match snake.as_str() {
        "behavior" => "behaviour".to_owned(),
        "mcpservers" => "mcp_servers".to_owned(),
        _ => snake,
    }
}

fn read_front(path: &str, front: &FrontMatter<'_>) -> Result<AgentFile, FrontMatterError> {
    let mut problems = Vec::new();
    let mut known: Map<String, Value> = Map::new();
    let mut extra = Map::new();
    let mut limits = Vec::new();
    let mut lines = KeyLines::default();
    for (key, value) in &front.keys {
        let ours = our_spelling(key);
        if !KEYS.contains(&ours.as_str()) {
            other_key(path, front, (key, value), &mut limits, &mut problems);
            extra.insert(key.clone(), value.clone());
        } else if known.contains_key(&ours) {
            let what = format!("the key {ours:?} stands there twice, in two spellings");
            let remedy = if LIMITING_KEYS.contains(&ours.as_str()) || ours == "share_workspace_info" {
                limits.extend(limits::of_own(&ours, value));
                format!("remove {key:?} or the other one; until then both limit the agent")
            } else {
                format!("remove {key:?}; it is ignored")
            };
            problems.push(Problem::warning(path, what, remedy).at_line(front.line_of(key)));
        } else {
            lines.0.extend(front.line_of(key).map(|line| (ours.clone(), line)));
            known.extend(own_key(path, front, (key, &ours), value, &mut limits, &mut problems));
        }
    }
    let keys = Keys { known: &known, front };
    let explicit_id = keys.text("id")?.map(|id| text::slug(&id)).filter(|id| !id.is_empty());
    let has_explicit_id = explicit_id.is_some();
    let (id, reserved) = claim_id(path, explicit_id.unwrap_or_else(|| id_of_path(path)));
    let reserved_id = reserved.map(|(id, problem)| {
        problems.push(problem.at_line(keys.line("id")));
        id
    });
    let name = keys.text("name")?.map(|name| text::one_line(&name)).filter(|name| !name.is_empty());
    let profile = AgentProfile {
        id,
        name: name.or_else(|| first_heading(front.body)).unwrap_or_else(|| name_of_path(path)),
        description: keys.text("description")?.map(|text| text::one_line(&text)).unwrap_or_default(),
        instructions: front.body.trim_end().to_owned(),
        model: keys.text("model")?.map(|model| model.trim().to_owned()).filter(|model| !is_no_model(model)),
        tools: keys.list("tools")?,
        mcp_servers: keys.list("mcp_servers")?.unwrap_or_default(),
        skills: keys.list("skills")?.unwrap_or_default(),
        share_workspace_info: keys.flag("share_workspace_info")?.unwrap_or(true)
            && !limits.contains(&Limit::NotTheBoards),
        share_user_info: keys.flag("share_user_info")?.unwrap_or(false),
        behaviour: behaviour(path, &keys, &mut problems)?,
        avatar: keys.text("avatar")?,
        safety_mode: keys.text("safety_mode")?.map(|mode| mode.trim().to_owned()),
        reads: keys.list("reads")?,
        writes: keys.list("writes")?,
        limits,
        lines,
        extra,
    };
    Ok(AgentFile { profile, has_explicit_id, reserved_id, malformed: false, problems })
}

/// Whether `model:` leaves the choice to whoever has the agent work, as files of other products say it.
pub fn is_no_model(model: &str) -> bool {
    matches!(model.to_lowercase().as_str(), "" | "inherit" | "default")
}

/// A key of ours with what stands there; nothing where it is left empty and limits nothing, or says what it limits in
/// another way.
fn own_key(
    path: &str,
    front: &FrontMatter<'_>,
    (key, ours): (&str, &str),
    value: &Value,
    limits: &mut Vec<Limit>,
    problems: &mut Vec<Problem>,
) -> Option<(String, Value)> {
    match value {
        Value::Null if LIMITING_KEYS.contains(&ours) => {
            let (empty, meant) = match ours {
                "safety_mode" => (Value::String(LEAST_SAFETY_MODE.to_owned()), LEAST_SAFETY_MODE),
                _ => (Value::Array(Vec::new()), "none"),
            };
            let remedy = format!("write what it allows behind it, or remove {key:?}");
            let problem =
                Problem::warning(path, format!("nothing stands behind {key:?}; it counts as {meant}"), remedy);
            problems.push(problem.at_line(front.line_of(key)));
            Some((ours.to_owned(), empty))
        }
        Value::Null => None,
        // `tools: { write: false }` takes away from the usual ones.
        Value::Object(switches)
            if ours == "tools" && !switches.is_empty() && switches.values().all(Value::is_boolean) =>
        {
            limits.extend(limits::switched(switches));
            None
        }
        value => Some((ours.to_owned(), value.clone())),
    }
}

/// A key that is none of ours: what it limits, and what is wrong with that.
fn other_key(
    path: &str,
    front: &FrontMatter<'_>,
    (key, value): (&str, &Value),
    limits: &mut Vec<Limit>,
    problems: &mut Vec<Problem>,
) {
    match limits::meaning(key, value) {
        Meaning::NoLimit => problems.extend(unknown_key(path, front, key)),
        Meaning::Limits(found) => limits.extend(found),
        Meaning::Mistyped(meant, found) => {
            limits.extend(found);
            let what = format!("unknown key {key:?}; it counts as {meant:?} as far as that limits the agent");
            let remedy = format!("write {meant:?}, or remove it");
            problems.push(Problem::warning(path, what, remedy).at_line(front.line_of(key)));
        }
        Meaning::Unclear => {
            limits.push(Limit::Nothing);
            let what = format!(
                "the key {key:?} looks like a limit and is not understood; until then the agent may do nothing"
            );
            let remedy = "say it with tools, reads, writes and safety_mode, or remove it";
            problems.push(Problem::error(path, what, remedy).at_line(front.line_of(key)));
        }
    }
}

/// A warning where an unknown key looks like a mistyped one; keys of other programs are none of our business.
fn unknown_key(path: &str, front: &FrontMatter<'_>, key: &str) -> Option<Problem> {
    let meant = text::nearest(&our_spelling(key), KEYS.iter().copied())?;
    let problem = Problem::warning(path, format!("unknown key {key:?}"), format!("did you mean {meant:?}?"));
    Some(problem.at_line(front.line_of(key)))
}

fn behaviour(path: &str, keys: &Keys<'_>, problems: &mut Vec<Problem>) -> Result<Option<Behaviour>, FrontMatterError> {
    let Some(word) = keys.text("behaviour")? else { return Ok(None) };
    let behaviour = match word.trim().to_lowercase().as_str() {
        "stationary" => Some(Behaviour::Stationary),
        "wander" => Some(Behaviour::Wander),
        "patrol" => Some(Behaviour::Patrol),
        _ => None,
    };
    if behaviour.is_none() {
        let what = format!("there is no behaviour {word:?}");
        problems
            .push(Problem::warning(path, what, "write stationary, wander or patrol").at_line(keys.line("behaviour")));
    }
    Ok(behaviour)
}

/// The text of the first `# heading` that stands outside code.
fn first_heading(body: &str) -> Option<String> {
    let mut in_code = false;
    for line in body.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if !in_code && let Some(heading) = line.strip_prefix("# ") {
            let heading = text::one_line(heading.trim_end_matches(['#', ' ']));
            if !heading.is_empty() {
                return Some(heading);
            }
        }
    }
    None
}

/// The known keys, read as what they should be; anything else is malformed front matter.
struct Keys<'a> {
    known: &'a Map<String, Value>,
    front: &'a FrontMatter<'a>,
}

impl Keys<'_> {
    fn line(&self, key: &str) -> Option<usize> {
        let written = self.front.keys.keys().find(|written| our_spelling(written) == key)?;
        self.front.line_of(written)
    }

    fn wrong(&self, key: &str, wanted: &str) -> FrontMatterError {
        FrontMatterError { what: format!("the key {key:?} should hold {wanted}"), line: self.line(key) }
    }

    fn text(&self, key: &str) -> Result<Option<String>, FrontMatterError> {
        self.known.get(key).map(|value| plain(value).ok_or_else(|| self.wrong(key, "a text"))).transpose()
    }

    /// A list, or a text with commas in it, as other programs write it.
    fn list(&self, key: &str) -> Result<Option<Vec<String>>, FrontMatterError> {
        let wrong = || self.wrong(key, "a list of names");
        let Some(value) = self.known.get(key) else { return Ok(None) };
        let words: Vec<String> = match value {
            Value::Array(values) => {
                values.iter().map(|value| plain(value).ok_or_else(wrong)).collect::<Result<_, _>>()?
            }
            Value::String(words) => words.split(',').map(str::to_owned).collect(),
            _ => return Err(wrong()),
        };
        let words = words.iter().map(|word| word.trim().to_owned()).filter(|word| !word.is_empty());
        Ok(Some(words.collect()))
    }

    fn flag(&self, key: &str) -> Result<Option<bool>, FrontMatterError> {
        let Some(value) = self.known.get(key) else { return Ok(None) };
        match plain(value).unwrap_or_default().trim().to_lowercase().as_str() {
            "true" | "yes" | "on" => Ok(Some(true)),
            "false" | "no" | "off" => Ok(Some(false)),
            _ => Err(self.wrong(key, "true or false")),
        }
    }
}

/// A text, number or flag as text: YAML makes a number of `name: 42` without being asked.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ada(text: &str) -> AgentFile {
        read("agents/ada.md", text)
    }

    #[test]
    fn a_file_without_front_matter_is_an_agent() {
        let file = ada("# Countess of Lovelace\n\nYou compute.\n");
        assert_eq!((&*file.profile.id, file.profile.name.as_str()), ("ada", "Countess of Lovelace"));
        assert_eq!(file.profile.instructions, "# Countess of Lovelace\n\nYou compute.");
        assert_eq!(file.profile.tools, None);
        assert!(file.profile.share_workspace_info && !file.profile.share_user_info);
        assert!(file.problems.is_empty() && !file.malformed);
        assert_eq!(ada("").profile.name, "Ada");
    }

    #[test]
    fn every_key_is_read() {
        let file = ada(
            "---\nid: The Ada\nname: Ada\ndescription: counts\nmodel: ollama:qwen\ntools: [vfs_read]\nmcp_servers: \
             [git]\nskills: [sums]\nshare_workspace_info: no\nshare_user_info: true\nbehaviour: patrol\navatar: \
             fox\nsafety_mode: balanced\nreads: ['a/**']\nwrites: []\n---\nbody",
        );
        let profile = file.profile;
        assert_eq!(&*profile.id, "the-ada");
        assert_eq!((&*profile.name, &*profile.description, profile.avatar.as_deref()), ("Ada", "counts", Some("fox")));
        assert_eq!(profile.safety_mode.as_deref(), Some("balanced"));
        assert_eq!(profile.tools.as_deref(), Some(&["vfs_read".to_owned()][..]));
        assert_eq!((profile.mcp_servers, profile.skills), (vec!["git".to_owned()], vec!["sums".to_owned()]));
        assert_eq!(profile.model.as_deref(), Some("ollama:qwen"));
        assert_eq!((profile.share_workspace_info, profile.share_user_info), (false, true));
        assert_eq!(profile.behaviour, Some(Behaviour::Patrol));
        assert_eq!((profile.reads, profile.writes), (Some(vec!["a/**".to_owned()]), Some(Vec::new())));
        assert!(file.has_explicit_id && file.problems.is_empty());
    }

    #[test]
    fn files_for_other_programs_work() {
        let file =
            ada("---\nname: reviewer\ndescription: Reviews\ntools: Read, Grep , \nmodel: sonnet\nshareUserInfo: \
             true\nmcpServers: git\nsafetyMode: safe\nbehavior: wander\ncolor: red\n---\nReview.");
        let profile = file.profile;
        assert_eq!(profile.tools, Some(vec!["Read".to_owned(), "Grep".to_owned()]));
        assert_eq!(profile.mcp_servers, ["git"]);
        assert_eq!(profile.safety_mode.as_deref(), Some("safe"));
        assert_eq!(profile.behaviour, Some(Behaviour::Wander));
        assert!(profile.share_user_info);
        assert_eq!(profile.extra["color"], "red");
        assert!(file.problems.is_empty(), "{:?}", file.problems);
    }

    #[test]
    fn a_mistyped_key_is_kept_and_told() {
        let file = ada("---\nname: Ada\nmodle: x\n---\n");
        assert_eq!(file.profile.extra["modle"], "x");
        assert_eq!(file.problems[0].to_string(), "agents/ada.md:3: unknown key \"modle\" (did you mean \"model\"?)");
    }

    #[test]
    fn a_limiting_key_without_a_value_is_no_way_around_the_limit() {
        let file = ada("---\ntools:\n  # - vfs_write\nreads: ~\nwrites: null\nsafety_mode:\nmodel:\n---\nbody");
        let none = Some(Vec::new());
        assert_eq!((&file.profile.tools, &file.profile.reads, &file.profile.writes), (&none, &none, &none));
        assert_eq!(file.profile.safety_mode.as_deref(), Some(LEAST_SAFETY_MODE));
        let lines: Vec<_> = file.problems.iter().map(|problem| problem.line).collect();
        assert_eq!(lines, [Some(2), Some(4), Some(5), Some(6)]);
        assert!(ada("---\ntools: {}\n---\n").malformed);
    }

    #[test]
    fn an_id_that_stands_for_something_else_is_not_given() {
        for (path, text, reserved, id) in [
            ("agents/ada.md", "---\nname: A\nid: User\n---\n", "user", "user-agent"),
            ("agents/outside.md", "Hi", "outside", "outside-agent"),
            ("agents/room.md", "---\nname: [\n---\n", "room", "room-agent"),
        ] {
            let file = read(path, text);
            assert_eq!((file.reserved_id.as_deref(), &*file.profile.id), (Some(reserved), id), "{path}");
            assert!(file.problems.iter().any(|problem| problem.what.contains(id)), "{:?}", file.problems);
        }
        assert_eq!(read("agents/ada.md", "---\nname: A\nid: User\n---\n").problems[0].line, Some(3));
    }

    #[test]
    fn a_model_that_is_left_to_others_is_none() {
        for model in ["inherit", "Default", "''", "~"] {
            assert_eq!(ada(&format!("---\nmodel: {model}\n---\n")).profile.model, None, "{model}");
        }
    }

    #[test]
    fn malformed_front_matter_gives_the_least_privileges() {
        for (text, line) in [
            ("---\nname: Ada\nno end", Some(1)),
            ("---\nname: Ada\ntools: {a: b}\n---\nbody", Some(3)),
            ("---\nshare_user_info: maybe\n---\nbody", Some(2)),
            ("---\nname: [a]\n---\nbody", Some(2)),
        ] {
            let file = ada(text);
            assert!(file.malformed, "{text}");
            assert_eq!(file.profile.instructions, text);
            assert_eq!(file.profile.tools, Some(Vec::new()));
            assert!(!file.profile.share_workspace_info && !file.profile.share_user_info);
            assert_eq!(file.profile.safety_mode.as_deref(), Some(LEAST_SAFETY_MODE));
            assert_eq!(file.problems[0].line, line, "{text}");
        }
    }

    #[test]
    fn headings_in_code_are_not_names() {
        assert_eq!(ada("```\n# no\n```\n# Yes #\n").profile.name, "Yes");
    }
}
