//! Parses a scene file into data and problems. Parsing never fails: everything valid is used, and everything else is
//! reported with its line and a remedy.

use std::collections::HashSet;

use bevy::math::Vec2;
use serde_json::{Map, Value};

use super::layout::{self, MAX_SCENE_BYTES};
use super::scene::{AgentEntry, ElementEntry, Relationship};
use super::yaml;
use super::yaml_syntax::{YamlNode, parse_syntax};
use crate::base::text::nearest;
use crate::base::{Behaviour, Id, Problem, free_id, is_reserved};

/// The maximum number of elements; further ones are left out.
pub const MAX_ELEMENTS: usize = 10_000;
/// The maximum number of agents; further ones are left out.
pub const MAX_AGENTS: usize = 200_000;
/// The maximum number of pins and mail of all elements together; a scene with more is not read.
pub const MAX_ITEMS: usize = 50_000;
/// The greatest distance from the centre along either axis, in world units.
pub const MAX_COORDINATE: f32 = 100_000.0;
/// The maximum number of problems of one file; further ones are summed up in one line.
const MAX_PROBLEMS: usize = 50;

/// The top-level keys of a scene.
pub(super) const SCENE_KEYS: [&str; 8] =
    ["name", "seed", "camera", "elements", "agents", "decor", "relationships", "settings"];
const ELEMENT_KEYS: [&str; 10] =
    ["id", "kind", "label", "position", "owner", "file", "text", "pins", "items", "channel"];
const AGENT_KEYS: [&str; 4] = ["id", "profile", "position", "behaviour"];
const RELATIONSHIP_KEYS: [&str; 3] = ["from", "to", "label"];

/// A scene as data.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SceneDoc {
    /// The name of the scene.
    pub name: Option<String>,
    /// The seed of the random numbers.
    pub seed: Option<u64>,
    /// The elements, in the order of the file; ids are unique.
    pub elements: Vec<ElementEntry>,
    /// The agents, in the order of the file; ids are unique.
    pub agents: Vec<AgentEntry>,
    /// The relationships between agents.
    pub relationships: Vec<Relationship>,
    /// The scene's settings: sections, or keys that belong to one section only.
    pub settings: Map<String, Value>,
    /// The whole file as data, including `camera`, `decor` and all unknown keys.
    pub root: Value,
}

/// Parses the text of a scene. Returns no scene if the text is not YAML, or not a mapping.
pub fn parse(path: &str, text: &str) -> (Option<SceneDoc>, Vec<Problem>) {
    if text.len() > MAX_SCENE_BYTES {
        let what = format!("the scene is {} MiB; the limit is {} MiB", text.len() >> 20, MAX_SCENE_BYTES >> 20);
        let remedy = "move long texts into separate files (file: boards/…md)";
        return (None, vec![Problem::error(path, what, remedy)]);
    }
    match yaml::parse(text) {
        Ok(Value::Null) => (Some(SceneDoc { root: Value::Object(Map::new()), ..SceneDoc::default() }), Vec::new()),
        Ok(Value::Object(root)) if items_in(&root) > MAX_ITEMS => {
            let what = format!("its elements hold more than {MAX_ITEMS} pins and messages in total");
            let remedy = "remove some; until then the last readable version stays in use";
            (None, vec![Problem::error(path, what, remedy)])
        }
        Ok(Value::Object(root)) => {
            let mut reader = Reader { path, text, outline: None, lines: None, problems: Vec::new(), more: 0 };
            let doc = reader.scene(root);
            (Some(doc), reader.finish())
        }
        Ok(_) => {
            let what = "a scene must be a mapping with keys like \"name:\" and \"elements:\"";
            (None, vec![Problem::error(path, what, "start it with \"name:\" and indent everything under its key")])
        }
        Err(error) => {
            let remedy = "fix this line; until then the last readable version stays in use";
            (None, vec![Problem::error(path, format!("invalid YAML: {}", error.what), remedy).at_line(error.line)])
        }
    }
}

/// Returns the number of pins and mail of all elements.
fn items_in(root: &Map<String, Value>) -> usize {
    let elements = root.get("elements").and_then(Value::as_array).into_iter().flatten();
    let lists = elements.flat_map(|entry| ["pins", "items", "outbox"].map(|list| entry.get(list)));
    lists.flatten().filter_map(Value::as_array).map(Vec::len).sum()
}

impl SceneDoc {
    /// Creates the scene from its data, without line numbers and problems.
    pub(super) fn from_data(root: Value) -> Self {
        let Value::Object(root) = root else { return Self::default() };
        let mut reader = Reader { path: "", text: "", outline: None, lines: None, problems: Vec::new(), more: 0 };
        reader.scene(root)
    }
}

/// Parses an element's entry; `None` if it has no id or no kind.
pub(super) fn element_entry(keys: &Map<String, Value>) -> Option<ElementEntry> {
    Some(ElementEntry {
        id: id_of(keys.get("id"))?,
        kind: id_of(keys.get("kind"))?,
        label: keys.get("label").and_then(id_of_value).map(|label| label.to_string()),
        position: keys.get("position").and_then(position_of).map_or(Vec2::ZERO, |(position, _)| position),
        owner: keys.get("owner").and_then(id_of_value),
        file: keys.get("file").and_then(Value::as_str).and_then(|file| layout::element_file(file).ok()),
        keys: keys.clone(),
        line: None,
    })
}

/// Parses an agent's entry; `None` if it has neither id nor profile.
pub(super) fn agent_entry(keys: &Map<String, Value>) -> Option<AgentEntry> {
    let id = agent_id_of(keys)?;
    Some(AgentEntry {
        profile: id_of(keys.get("profile")).map_or_else(|| id.clone(), free_id),
        position: keys.get("position").and_then(position_of).map(|(position, _)| position),
        behaviour: keys.get("behaviour").and_then(|value| serde_json::from_value::<Behaviour>(value.clone()).ok()),
        keys: keys.clone(),
        line: None,
        id,
    })
}

pub(super) fn relationship(value: &Value) -> Option<Relationship> {
    let label = value.get("label").and_then(id_of_value).map_or_else(String::new, |label| label.to_string());
    Some(Relationship { from: id_of(value.get("from"))?, to: id_of(value.get("to"))?, label })
}

/// Returns the id of an agent's entry: its own or its profile's; `None` if that is reserved.
pub(super) fn agent_id_of(keys: &Map<String, Value>) -> Option<Id> {
    id_of(keys.get("id")).or_else(|| id_of(keys.get("profile"))).map(free_id)
}

/// Parses the id of an entry.
pub(super) fn id_of(value: Option<&Value>) -> Option<Id> {
    value.and_then(id_of_value).filter(|id| !id.is_empty())
}

fn id_of_value(value: &Value) -> Option<Id> {
    match value {
        Value::String(text) => Some(text.trim().into()),
        Value::Number(number) => Some(number.to_string().into()),
        _ => None,
    }
}

/// Parses a position from `[x, y]` or `{ x: …, y: … }`. The result is finite and within bounds; the flag says whether
/// it had to be changed for that.
fn position_of(value: &Value) -> Option<(Vec2, bool)> {
    let (x, y) = match value {
        Value::Array(pair) if pair.len() == 2 => (&pair[0], &pair[1]),
        Value::Object(map) => (map.get("x")?, map.get("y")?),
        _ => return None,
    };
    let number = |value: &Value| match value {
        Value::Number(number) => number.as_f64(),
        // NaN and infinity are parsed as these strings.
        Value::String(text) => text.to_lowercase().ends_with("nan").then_some(f64::NAN).or_else(|| {
            text.to_lowercase().ends_with("inf").then_some(f64::INFINITY.copysign(if text.starts_with('-') {
                -1.0
            } else {
                1.0
            }))
        }),
        _ => None,
    };
    let given = [number(x)?, number(y)?];
    let kept =
        given.map(|given| if given.is_finite() { (given as f32).clamp(-MAX_COORDINATE, MAX_COORDINATE) } else { 0.0 });
    let moved = given.iter().any(|given| !given.is_finite() || given.abs() > f64::from(MAX_COORDINATE));
    Some((Vec2::from_array(kept), moved))
}

struct Reader<'a> {
    path: &'a str,
    text: &'a str,
    outline: Option<Option<YamlNode>>,
    /// The byte offsets of line ends, computed when the first line number is needed.
    lines: Option<Vec<usize>>,
    problems: Vec<Problem>,
    more: usize,
}

impl Reader<'_> {
    fn finish(mut self) -> Vec<Problem> {
        if self.more > 0 {
            let what = format!("and {} more problems like these", self.more);
            self.problems.push(Problem::warning(self.path, what, "fix these first"));
        }
        self.problems
    }

    fn warn(&mut self, line: Option<usize>, what: String, remedy: impl Into<String>) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(Problem::warning(self.path, what, remedy).at_line(line));
        } else {
            self.more += 1;
        }
    }

    fn node_line(&mut self, find: impl Fn(&YamlNode) -> Option<usize>) -> Option<usize> {
        let outline = self.outline.get_or_insert_with(|| parse_syntax(self.text).ok());
        let byte = find(outline.as_ref()?)?;
        let text = self.text;
        let ends = self.lines.get_or_insert_with(|| text.match_indices('\n').map(|(at, _)| at).collect());
        Some(1 + ends.partition_point(|end| *end < byte))
    }

    fn entry_line(&mut self, list: &str, index: usize) -> Option<usize> {
        self.node_line(|root| root.get(list)?.items().get(index).map(|item| item.start))
    }

    fn key_line(&mut self, list: &str, index: usize, key: &str) -> Option<usize> {
        let line = self.node_line(|root| {
            let entry = &root.get(list)?.items().get(index)?.value;
            entry.pairs().iter().find(|pair| pair.key == key).map(|pair| pair.start)
        });
        line.or_else(|| self.entry_line(list, index))
    }

    fn top_line(&mut self, key: &str) -> Option<usize> {
        self.node_line(|root| root.pairs().iter().find(|pair| pair.key == key).map(|pair| pair.start))
    }

    fn scene(&mut self, root: Map<String, Value>) -> SceneDoc {
        for key in root.keys().filter(|key| !SCENE_KEYS.contains(&key.as_str())) {
            let line = self.top_line(key);
            self.warn(line, format!("unknown key \"{key}\""), did_you_mean(key, &SCENE_KEYS));
        }
        let seed = self.seed(root.get("seed"));
        let settings = match root.get("settings") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(settings)) => settings.clone(),
            Some(_) => {
                let line = self.top_line("settings");
                self.warn(line, "\"settings\" is not a mapping".into(), "write { key: value } after it");
                Map::new()
            }
        };
        SceneDoc {
            name: root.get("name").and_then(id_of_value).map(|name| name.to_string()),
            seed,
            elements: self.elements(&root),
            agents: self.agents(&root),
            relationships: self.relationships(&root),
            settings,
            root: Value::Object(root),
        }
    }

    fn seed(&mut self, seed: Option<&Value>) -> Option<u64> {
        let seed = seed.filter(|seed| !seed.is_null())?;
        if seed.as_u64().is_none() {
            let line = self.top_line("seed");
            self.warn(line, "\"seed\" is not a whole number of 0 or more".into(), "write a number like 7");
        }
        seed.as_u64()
    }

    /// Returns the entries of a list that are mappings, with their indexes.
    fn entries<'r>(
        &mut self,
        root: &'r Map<String, Value>,
        list: &str,
        most: usize,
    ) -> Vec<(usize, &'r Map<String, Value>)> {
        let items = match root.get(list) {
            None | Some(Value::Null) => return Vec::new(),
            Some(Value::Array(items)) => items,
            Some(_) => {
                let line = self.top_line(list);
                self.warn(line, format!("\"{list}\" is not a list"), "start each entry with a dash on a new line");
                return Vec::new();
            }
        };
        if items.len() > most {
            let line = self.entry_line(list, most);
            self.warn(
                line,
                format!("{} {list} are more than the limit of {most}", items.len()),
                "the rest are ignored; use several scenes",
            );
        }
        let mut entries = Vec::with_capacity(items.len().min(most));
        for (index, item) in items.iter().enumerate().take(most) {
            match item {
                Value::Object(keys) => entries.push((index, keys)),
                _ => {
                    let line = self.entry_line(list, index);
                    self.warn(
                        line,
                        format!("this entry of \"{list}\" is not a mapping"),
                        "write { id: …, … } after the dash",
                    );
                }
            }
        }
        entries
    }

    fn elements(&mut self, root: &Map<String, Value>) -> Vec<ElementEntry> {
        let mut ids = HashSet::new();
        let mut elements = Vec::new();
        for (index, keys) in self.entries(root, "elements", MAX_ELEMENTS) {
            let Some(mut entry) = element_entry(keys) else {
                let line = self.entry_line("elements", index);
                let missing = if id_of(keys.get("id")).is_none() { "id" } else { "kind" };
                self.warn(
                    line,
                    format!("an element without \"{missing}\" is ignored"),
                    format!("add \"{missing}: …\""),
                );
                continue;
            };
            if !ids.insert(entry.id.clone()) {
                self.duplicate("elements", index, &entry.id);
                continue;
            }
            entry.line = self.entry_line("elements", index);
            self.check_position("elements", index, keys, true);
            // Kinds have keys of their own, so only probable typing mistakes are reported.
            for key in keys.keys().filter(|key| !ELEMENT_KEYS.contains(&key.as_str())) {
                if nearest(key, ELEMENT_KEYS).is_some() {
                    let line = self.key_line("elements", index, key);
                    self.warn(
                        line,
                        format!("unknown key \"{key}\" of element \"{}\"", entry.id),
                        did_you_mean(key, &ELEMENT_KEYS),
                    );
                }
            }
            for key in ["label", "owner", "file"] {
                if keys.get(key).is_some_and(|value| value.is_array() || value.is_object() || value.is_boolean()) {
                    let line = self.key_line("elements", index, key);
                    self.warn(
                        line,
                        format!("\"{key}\" of element \"{}\" is not text", entry.id),
                        "write a word or a quoted text",
                    );
                }
            }
            if let Some(Err(why)) = keys.get("file").and_then(Value::as_str).map(layout::element_file) {
                let line = self.key_line("elements", index, "file");
                let what = format!("element \"{}\" keeps its content in this scene: {why}", entry.id);
                self.warn(line, what, layout::ELEMENT_FILE_REMEDY);
            }
            elements.push(entry);
        }
        elements
    }

    fn agents(&mut self, root: &Map<String, Value>) -> Vec<AgentEntry> {
        let mut ids = HashSet::new();
        let mut agents = Vec::new();
        for (index, keys) in self.entries(root, "agents", MAX_AGENTS) {
            let Some(mut entry) = agent_entry(keys) else {
                let line = self.entry_line("agents", index);
                self.warn(
                    line,
                    "an agent without \"id\" and \"profile\" is ignored".into(),
                    "add \"id: …\" and \"profile: …\"",
                );
                continue;
            };
            if !ids.insert(entry.id.clone()) {
                self.duplicate("agents", index, &entry.id);
                continue;
            }
            entry.line = self.entry_line("agents", index);
            if let Some(id) = id_of(keys.get("id")).filter(|id| is_reserved(id)) {
                let line = self.key_line("agents", index, "id");
                let what = format!("the id \"{id}\" is already used in the room; this agent is now \"{}\"", entry.id);
                self.warn(line, what, "give it another id");
            }
            self.check_position("agents", index, keys, false);
            for key in keys.keys().filter(|key| !AGENT_KEYS.contains(&key.as_str())) {
                let line = self.key_line("agents", index, key);
                self.warn(
                    line,
                    format!("unknown key \"{key}\" of agent \"{}\"", entry.id),
                    did_you_mean(key, &AGENT_KEYS),
                );
            }
            if entry.behaviour.is_none() && keys.get("behaviour").is_some_and(|value| !value.is_null()) {
                let line = self.key_line("agents", index, "behaviour");
                let what = format!("unknown \"behaviour\" of agent \"{}\"", entry.id);
                self.warn(line, what, "write stationary, wander or patrol");
            }
            agents.push(entry);
        }
        agents
    }

    fn relationships(&mut self, root: &Map<String, Value>) -> Vec<Relationship> {
        let mut relationships = Vec::new();
        for (index, keys) in self.entries(root, "relationships", MAX_ELEMENTS) {
            for key in keys.keys().filter(|key| !RELATIONSHIP_KEYS.contains(&key.as_str())) {
                let line = self.key_line("relationships", index, key);
                self.warn(
                    line,
                    format!("unknown key \"{key}\" of a relationship"),
                    did_you_mean(key, &RELATIONSHIP_KEYS),
                );
            }
            match relationship(&Value::Object(keys.clone())) {
                Some(relationship) => relationships.push(relationship),
                None => {
                    let line = self.entry_line("relationships", index);
                    self.warn(
                        line,
                        "a relationship without \"from\" and \"to\" is ignored".into(),
                        "name two agents by id",
                    );
                }
            }
        }
        relationships
    }

    fn duplicate(&mut self, list: &str, index: usize, id: &str) {
        let line = self.entry_line(list, index);
        self.warn(
            line,
            format!("a second entry of \"{list}\" has the id \"{id}\""),
            "give it another id; the first one is used",
        );
    }

    fn check_position(&mut self, list: &str, index: usize, keys: &Map<String, Value>, needed: bool) {
        let found = keys.get("position").filter(|value| !value.is_null());
        let problem = match found.map(position_of) {
            Some(Some((_, false))) => return,
            None if !needed => return,
            None => "has no position and was placed in the middle",
            Some(None) => "has a position that is not two numbers",
            Some(Some((_, true))) => "has a position beyond ±100000 or not finite, which was corrected",
        };
        let line = self.key_line(list, index, "position");
        let id = id_of(keys.get("id")).or_else(|| id_of(keys.get("profile"))).unwrap_or_default();
        self.warn(line, format!("\"{id}\" {problem}"), "write position: [x, y] in world units");
    }
}

fn did_you_mean(key: &str, known: &[&str]) -> String {
    match nearest(key, known.iter().copied()) {
        Some(near) => format!("did you mean \"{near}\"? it is ignored"),
        None => format!("it is ignored; known are {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STUDIO: &str = "name: Studio\nseed: 7\ncamera: { x: 0, y: 0, zoom: 1 }\nelements:\n  - { id: rules, kind: rulebook, \
        label: House rules, position: [0, 260], text: \"…\" }\n  - id: ideas\n    kind: pinboard\n    position: { x: 300, y: 0 }\n    \
        pins: [ { id: p1, text: hi, author: user } ]\nagents:\n  - { id: r1, profile: researcher, position: [40, 400], behaviour: wander }\n  \
        - { profile: ada }\ndecor:\n  - { kind: rug }\nrelationships:\n  - { from: r1, to: ada, label: mentors }\nsettings: { banter: 3 }\n";

    fn whats(text: &str) -> Vec<String> {
        parse("scenes/s.yaml", text).1.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn reads_a_whole_scene_with_its_lines() {
        for text in [STUDIO.to_owned(), format!("\u{feff}{STUDIO}"), STUDIO.replace('\n', "\r\n")] {
            let (doc, problems) = parse("scenes/studio.yaml", &text);
            assert_eq!(problems, []);
            let doc = doc.expect("it is a scene");
            assert_eq!((doc.name.as_deref(), doc.seed), (Some("Studio"), Some(7)));
            assert_eq!(
                (&*doc.elements[1].id, doc.elements[1].position, doc.elements[1].line),
                ("ideas", Vec2::new(300.0, 0.0), Some(6))
            );
            assert_eq!((&*doc.agents[1].id, &*doc.agents[1].profile, doc.agents[1].position), ("ada", "ada", None));
            assert_eq!(doc.agents[0].behaviour, Some(Behaviour::Wander));
            assert_eq!(doc.relationships[0].label, "mentors");
            assert_eq!(doc.root["camera"]["zoom"], 1);
        }
    }

    #[test]
    fn mistakes_are_reported_with_line_and_remedy() {
        let text = "elments: []\nelements:\n  - { id: a, kind: k, position: [.nan, 1e9] }\n  - { id: a, kind: k, position: [0, 0] }\n  \
                    - { kind: k }\n  - 7\n  - id: b\n    kind: k\n    postion: [1, 1]\n    position: here\nagents: nobody\nseed: -1\n";
        let found = whats(text);
        for expected in [
            "s.yaml:1: unknown key \"elments\" (did you mean \"elements\"",
            "s.yaml:3: \"a\" has a position beyond",
            "s.yaml:4: a second entry",
            "s.yaml:5: an element without \"id\"",
            "s.yaml:6: this entry",
            "s.yaml:9: unknown key \"postion\"",
            "s.yaml:10: \"b\" has a position that is not two numbers",
            "s.yaml:11: \"agents\" is not a list",
            "s.yaml:12: \"seed\"",
        ] {
            assert!(found.iter().any(|problem| problem.contains(expected)), "{expected} in {found:#?}");
        }
        let doc = parse("s", text).0.expect("it is a scene");
        assert_eq!(
            doc.elements.iter().map(|e| (&*e.id, e.position)).collect::<Vec<_>>(),
            [("a", Vec2::new(0.0, MAX_COORDINATE)), ("b", Vec2::ZERO)]
        );
    }

    #[test]
    fn an_invalid_scene_is_reported_with_its_line() {
        let (doc, problems) = parse("scenes/s.yaml", "name: x\nelements: [\n");
        assert!(doc.is_none());
        assert!(problems[0].line.is_some() && problems[0].remedy.contains("last readable version"));
        assert!(parse("s", "- a\n").0.is_none());
        assert_eq!(parse("s", "").0.expect("an empty file is an empty scene").elements, []);
        assert_eq!(parse("s", "# nothing yet\n").1, []);
    }

    #[test]
    fn a_scene_with_too_many_items_is_not_read() {
        let scene = |count: usize| format!("elements: [{{ id: a, kind: k, pins: [{}] }}]\n", "x,".repeat(count));
        assert!(parse("s", &scene(MAX_ITEMS)).0.is_some());
        let (doc, problems) = parse("s", &scene(MAX_ITEMS + 1));
        assert!(doc.is_none() && problems[0].what.contains("50000"), "{problems:?}");
    }

    #[test]
    fn a_hundred_thousand_agents_are_read() {
        let mut text = String::from("agents:\n");
        for index in 0..100_000 {
            text.push_str(&format!("  - {{ id: a{index}, profile: p, position: [{index}, 0] }}\n"));
        }
        let (doc, problems) = parse("s", &text);
        let doc = doc.expect("it is a scene");
        assert_eq!((doc.agents.len(), problems.len()), (100_000, 0));
        assert_eq!(doc.agents[99_999].line, Some(100_001));
    }
}
