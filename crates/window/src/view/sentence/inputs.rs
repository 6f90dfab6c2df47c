//! What came in from outside: what a person did about agents, conversations, relationships and work.

use super::Facts;
use super::told::with;

/// What a person did.
pub(super) fn told(facts: &Facts) -> String {
    let agent = || if facts.data["agent"].is_string() { facts.called("agent") } else { facts.who() };
    if let Some(order) = facts.data["do"].as_str() {
        return work(facts, order);
    }
    if facts.data["relationship"].is_object() {
        return relationship(facts);
    }
    match facts.data["act"].as_str() {
        Some("add") => with("you put somebody into the room", ": ", &facts.text("profile")),
        Some("remove") => format!("you took {} out of the room", agent()),
        Some("set_behaviour") => with(&format!("you told {} what to do", agent()), ": ", &facts.text("behaviour")),
        Some("set_home") => format!("you gave {} a new home", agent()),
        Some("pick_up") => format!("you picked {} up", agent()),
        Some("carry") => format!("you carried {}", agent()),
        Some("put_down") => format!("you put {} down", agent()),
        Some("pause") => format!("you stopped {}", agent()),
        Some("resume") => format!("you let {} go on", agent()),
        Some("start") => {
            with(&format!("you let {} talk", facts.everyone("participants")), " about ", &facts.text("topic"))
        }
        Some("speak") => with("you said", ": ", &facts.text("text")),
        Some("stop") => with("you ended conversation", " ", &facts.text("conversation")),
        Some("switch") if facts.is("on") => "you let agents talk to each other".to_owned(),
        Some("switch") => "you let nobody talk to each other".to_owned(),
        Some("rest") if facts.is("on") => "you let everybody rest who is not at work".to_owned(),
        Some("rest") => "you let everybody live on".to_owned(),
        Some(other) => format!("you did something: {}", other.replace('_', " ")),
        None => something(facts),
    }
}

fn something(facts: &Facts) -> String {
    let (what, provider) = (facts.text("what"), facts.text("provider"));
    match (what.as_str(), provider.is_empty()) {
        ("stand-in provider", true) => "you let settings and agents choose again who answers".to_owned(),
        ("stand-in provider", false) => format!("you let {provider} answer for everyone"),
        ("", _) => "something came in from outside".to_owned(),
        _ => what,
    }
}

fn work(facts: &Facts, order: &str) -> String {
    let whose = if facts.data["agent"].is_string() { format!("{}'s", facts.called("agent")) } else { String::new() };
    let piece = with("a piece of work", " act-", &facts.text("activation")).replacen("a piece of work ", "", 1);
    let piece = if whose.is_empty() { piece } else { format!("{whose} work ({piece})") };
    match order {
        "pause" => "you paused all work".to_owned(),
        "resume" => "you let work go on".to_owned(),
        "kill" => with(&format!("you stopped {piece}"), ": ", &facts.text("task")),
        "kill_agent" => format!("you stopped the work of {}", facts.called("agent")),
        "kill_all" => "you stopped all work".to_owned(),
        "limits" => {
            let most = with("", " at once: ", &facts.text("concurrency"));
            let depth = with("", " depth: ", &facts.text("depth_at_most"));
            let limits = [most, depth].into_iter().filter(|limit| !limit.is_empty()).collect::<Vec<_>>();
            with("you set how much goes on", ",", &limits.join(","))
        }
        "decide" => {
            let decided = if facts.is("allow") { "allowed" } else { "refused" };
            let (tool, what) = (facts.text("tool"), facts.text("what"));
            match whose.is_empty() || tool.is_empty() {
                true => format!("you {decided} a tool call of {piece}"),
                false => with(&format!("you {decided} {whose} {tool}"), ": ", &what),
            }
        }
        other => format!("you decided about work: {}", other.replace('_', " ")),
    }
}

fn relationship(facts: &Facts) -> String {
    let tie = &facts.data["relationship"];
    let called = |key: &str| tie[key].as_str().map_or("somebody", |id| facts.names.called(id)).to_owned();
    let pair = format!("{} and {}", called("from"), called("to"));
    let label = super::text_of(&tie["label"]);
    match facts.data["act"].as_str() {
        Some("add") => with(&format!("you related {pair}"), ": ", &label),
        Some("remove") => with(&format!("you ended a relationship of {pair}"), ": ", &label),
        Some("relabel") => {
            let new = facts.text("label");
            let new = if new.is_empty() { "nothing".to_owned() } else { new };
            format!("you called what {pair} are to each other {new}")
        }
        _ => format!("you changed a relationship of {pair}"),
    }
}
