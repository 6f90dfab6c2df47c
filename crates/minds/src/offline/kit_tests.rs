//! Tests of the starter kit with the offline brain: every agent has its own voice, every scene can be opened, and a
//! room full of agents becomes idle.

use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::OfflineProvider;
use super::examples::{TestContext, inbox, pinboard, read_request, request_for};
use super::prompt_reader::ParsedPrompt;
use super::speaker::{role_of, tone_of};
use crate::gateway::provider::{ProviderRequest, SimulatedProvider};
use crate::mind::context::CurrentRequest;
use crate::mind::{CallKind, PromptMessage, Role};

const NEWS: &str = "The harbour bridge closes on Monday for eleven weeks, and the ferry is to carry everyone. The \
                    council says 2,300 a day. Somebody has to ask the neighbours, and a map is missing.";

/// An agent of the starter kit: id, name, and instructions as in a prompt.
struct KitAgent {
    id: String,
    name: String,
    who: String,
}

fn kit(folder: &str) -> Vec<(String, String)> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let entries = fs::read_dir(path).expect("the starter kit is beside the sources");
    let mut files: Vec<(String, String)> = entries
        .map(|entry| entry.expect("a readable folder").path())
        .map(|path| {
            (path.file_stem().expect("a name").to_string_lossy().into_owned(), fs::read_to_string(&path).expect("text"))
        })
        .collect();
    files.sort();
    files
}

fn agents() -> Vec<KitAgent> {
    let agent = |(stem, text): (String, String)| {
        let rest = text.strip_prefix("---\n").expect("front matter");
        let (front, body) = rest.split_once("\n---\n").expect("an end of the front matter");
        let front: Value = serde_yaml::from_str(front).expect("front matter is YAML");
        let key = |key: &str| front[key].as_str().expect("a text in the front matter").to_owned();
        assert_eq!(key("id"), stem);
        assert!(["stationary", "wander", "patrol"].contains(&key("behaviour").as_str()));
        let who = format!("{}\n\n{}", key("description"), body.trim());
        KitAgent { id: key("id"), name: key("name"), who }
    };
    kit("agents").into_iter().map(agent).collect()
}

fn asked(agent: &KitAgent, notes: &[String], current: CurrentRequest, seed: u64) -> ProviderRequest {
    let context = TestContext::by((&agent.name, &agent.who));
    let context = notes.iter().rev().take(10).rev().fold(context, |context, note| context.note(note));
    ProviderRequest {
        agent: format!("{}-1", agent.id),
        profile: agent.id.clone(),
        seed,
        ..request_for(CallKind::Read, context, current)
    }
}

fn markers<'t>(reply: &'t str, marker: &str) -> Vec<&'t str> {
    let start = format!("[{marker}");
    reply
        .split(&start)
        .skip(1)
        .filter_map(|rest| rest.split_once(']'))
        .map(|(text, _)| text.trim_start_matches([':', ' ']))
        .collect()
}

#[test]
fn every_agent_has_duties_phrases_and_a_role() {
    let agents = agents();
    assert!(agents.len() >= 8);
    let mut roles = BTreeSet::new();
    let mut tones = BTreeSet::new();
    for agent in &agents {
        let prompt = ParsedPrompt::of(&asked(agent, &[], CurrentRequest::Work, 1));
        assert_eq!(prompt.name, agent.name);
        assert!(prompt.duties.len() >= 3, "{}: {:?}", agent.name, prompt.duties);
        assert!(prompt.phrases.len() >= 3, "{}: {:?}", agent.name, prompt.phrases);
        roles.insert(&role_of(&prompt.profile).name);
        tones.insert(&tone_of(&prompt.profile).name);
    }
    assert_eq!(roles.len(), agents.len(), "no two agents have the same role");
    assert!(tones.len() >= 6, "{} tones", tones.len());
}

#[test]
fn scenes_name_profiles_that_exist_and_put_agents_above_elements() {
    let templates = kit("templates").into_iter().map(|(_, text)| {
        let template: Value = serde_yaml::from_str(&text).expect("a template is YAML");
        template["agent_id"].as_str().expect("a template has an id").to_owned()
    });
    let profiles: BTreeSet<String> = agents().into_iter().map(|agent| agent.id).chain(templates).collect();
    let scenes = kit("scenes");
    let names: Vec<&str> = scenes.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["desk", "empty", "newsroom", "studio"]);
    for (scene, text) in &scenes {
        let value: Value = serde_yaml::from_str(text).expect("a scene is YAML");
        let list = |key: &str| value[key].as_array().expect("a list").clone();
        let number = |value: &Value| value.as_f64().expect("a number");
        let place = |entry: &Value| (number(&entry["position"][0]), number(&entry["position"][1]));
        let mut ids = BTreeSet::new();
        for entry in list("elements").iter().chain(&list("agents")) {
            assert!(ids.insert(entry["id"].to_string()), "{scene}: {} occurs twice", entry["id"]);
        }
        let top = list("elements").iter().map(|entry| place(entry).1).fold(f64::MIN, f64::max);
        for agent in list("agents") {
            assert!(profiles.contains(agent["profile"].as_str().expect("a profile")), "{scene}: {agent}");
            let (x, y) = place(&agent);
            assert!(y > top + 120.0, "{scene}: {} is among the elements", agent["id"]);
            let reach = |entry: &Value| (place(entry).0 - x).hypot(place(entry).1 - y) <= 400.0;
            let private = |entry: &Value| entry["kind"] == "inbox";
            let near = list("elements").iter().filter(|entry| !private(entry)).filter(|entry| reach(entry)).count();
            assert!(near >= 2, "{scene}: {} reaches {near} elements", agent["id"]);
            for inbox in list("elements").iter().filter(|entry| entry["owner"] == agent["id"]) {
                assert!((place(inbox).0 - x).hypot(place(inbox).1 - y) <= 400.0, "{scene}: {} is far", inbox["id"]);
            }
        }
        for rope in list("relationships") {
            assert!(
                ids.contains(&rope["from"].to_string()) && ids.contains(&rope["to"].to_string()),
                "{scene}: {rope}"
            );
        }
    }
}

/// One news item is read by all agents; each pin wakes all of them, and mail wakes its addressee. This has to end.
#[test]
fn a_room_full_of_agents_comes_to_rest() {
    let agents = agents();
    for run in 0..5u64 {
        let mut notes: Vec<Vec<String>> = vec![Vec::new(); agents.len()];
        let mut history: Vec<Vec<PromptMessage>> = vec![Vec::new(); agents.len()];
        let mut pins: Vec<(String, String)> = Vec::new();
        let mut mail: Vec<(usize, String, String)> = Vec::new();
        let mut due: VecDeque<(usize, &str)> = (0..agents.len()).map(|agent| (agent, "board")).collect();
        let mut reads = 0;
        while let Some((who, what)) = due.pop_front() {
            reads += 1;
            assert!(reads < 400, "run {run} does not come to rest: {} pins, {} letters", pins.len(), mail.len());
            let ids: Vec<String> = (0..pins.len().max(mail.len())).map(|at| format!("n{at}")).collect();
            let current = match what {
                "board" => read_request("News", "message board", NEWS),
                "pins" => {
                    let pins = pins.iter().zip(&ids).map(|((by, text), id)| (&**id, &**by, &[][..], &**text));
                    pinboard(&pins.collect::<Vec<_>>())
                }
                _ => {
                    let mine = mail.iter().zip(&ids).filter(|((to, ..), _)| *to == who);
                    inbox(&mine.map(|((_, from, text), id)| (&**id, &**from, "", &**text)).collect::<Vec<_>>())
                }
            };
            let mut request = asked(&agents[who], &notes[who], current, run * 1_000 + reads);
            request.prompt.history.splice(0..0, history[who].iter().cloned());
            let reply = OfflineProvider.answer(&request).outcome.expect("an answer").text;
            notes[who].extend(markers(&reply, "REMEMBER").iter().map(|note| (*note).to_owned()));
            for pin in markers(&reply, "PIN:") {
                pins.push((agents[who].name.clone(), pin.to_owned()));
                due.extend((0..agents.len()).map(|agent| (agent, "pins")));
            }
            for letter in markers(&reply, "SEND to ") {
                let (name, text) = letter.split_once(": ").expect("a name and a text");
                let to = agents.iter().position(|agent| agent.name == name).expect("a known name");
                mail.push((to, agents[who].name.clone(), text.to_owned()));
                due.push_back((to, "mail"));
            }
            history[who].push(PromptMessage::plain(Role::User, format!("You read {what}.")));
            history[who].push(PromptMessage::plain(Role::Assistant, reply));
        }
        assert!(!pins.is_empty(), "at least one agent pins an idea");
    }
}
