//! What each kind of record says. In the past tense, which suits “you” and everyone else alike.

use super::{Facts, thousands};
use crate::log::EventKind;

/// What happened, with a small letter at its head and of any length.
pub(super) fn told(facts: &Facts) -> String {
    let who = || facts.who();
    match facts.row.kind {
        EventKind::RunStart => run_start(facts),
        EventKind::RunEnd => with("the room was closed", ": ", &facts.text("why")),
        EventKind::AgentAdded => aside(&format!("{} came into the room", who()), &profile(facts)),
        EventKind::AgentRemoved => aside(&format!("{} left the room", who()), &profile(facts)),
        EventKind::State => state(facts),
        EventKind::ElementChanged => element_changed(facts),
        EventKind::ActionQueued => format!("{} set out to {}", who(), action(facts)),
        EventKind::ActionDropped => action_dropped(facts),
        EventKind::Read => read(facts),
        EventKind::ConversationStart => {
            let began = format!("{} began to talk", facts.everyone("participants"));
            with(&began, " about ", &facts.text("topic"))
        }
        EventKind::Message => with(&format!("{} said", who()), ": ", &facts.text("text")),
        EventKind::ConversationEnd => conversation_end(facts),
        EventKind::Memory => memory(facts),
        EventKind::Compaction => compaction(facts),
        EventKind::Activation => activation(facts),
        EventKind::Spawn => {
            let child = facts.called("child");
            aside(&format!("{} started {child}", who()), &facts.text("path"))
        }
        EventKind::Signal => {
            let told = with(&format!("{} reported to {}", who(), facts.called("to")), ": ", &facts.text("message"));
            aside(&told, if facts.is("kept") { "kept, because you stopped that one" } else { "" })
        }
        EventKind::ToolCall => tool_call(facts),
        EventKind::ToolResult => {
            let answered = if facts.data["ok"] == false { "failed" } else { "answered" };
            with(&format!("{} {answered}", tool(facts)), ": ", &facts.text("text"))
        }
        EventKind::FileChange => file_change(facts),
        EventKind::ApprovalRequested => {
            let asked = with(&format!("{} asked you", who()), " about ", &facts.text("what"));
            aside(&asked, &facts.text("why"))
        }
        EventKind::ApprovalDecided => approval_decided(facts),
        EventKind::WorkflowStep => workflow_step(facts),
        EventKind::Budget => budget(facts),
        EventKind::ModelCall => model_call(facts),
        EventKind::Provider => trouble(facts, "a provider fails or works again"),
        EventKind::Warning => trouble(facts, "something is off"),
        EventKind::Error if facts.count("turns").is_some() => over(facts, "could not finish", "what"),
        EventKind::Error => trouble(facts, "something failed"),
        EventKind::Abort => over(facts, "was stopped", "what"),
        EventKind::Complete => over(facts, "finished", "text"),
        EventKind::Input => super::inputs::told(facts),
    }
}

/// Two parts with something between them; the first alone where there is no second.
pub(super) fn with(first: &str, between: &str, second: &str) -> String {
    if second.is_empty() { first.to_owned() } else { format!("{first}{between}{second}") }
}

/// A remark in brackets, where there is one.
fn aside(said: &str, remark: &str) -> String {
    if remark.is_empty() { said.to_owned() } else { format!("{said} ({remark})") }
}

fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", thousands(count), if count == 1 { one } else { many })
}

fn joined(parts: impl IntoIterator<Item = Option<String>>) -> String {
    parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

fn profile(facts: &Facts) -> String {
    with("", "profile ", &facts.text("profile"))
}

fn tool(facts: &Facts) -> String {
    let tool = facts.text("tool");
    if tool.is_empty() { "a tool".to_owned() } else { tool }
}

fn run_start(facts: &Facts) -> String {
    let began = with("the room was opened", ": scene ", &facts.text("scene"));
    let seed = with("", "seed ", &facts.text("seed"));
    let provider = with("", "answered by ", &facts.text("provider"));
    aside(&began, &joined([Some(seed), Some(provider)]))
}

fn state(facts: &Facts) -> String {
    let word = |key: &str| facts.text(key).replace('_', " ");
    let (from, to) = (word("from"), word("to"));
    let changed = match (from.is_empty(), to.is_empty()) {
        (false, false) => format!("{} went from {from} to {to}", facts.who()),
        (true, false) => format!("{} is {to} now", facts.who()),
        _ => format!("{} changed state", facts.who()),
    };
    with(&changed, ": ", &facts.text("why"))
}

fn element_changed(facts: &Facts) -> String {
    let by = if facts.data["by"].is_string() { facts.called("by") } else { facts.who() };
    let (element, id) = (facts.element("element"), facts.text("id"));
    let pin = with("a pin", " ", &id).replacen("a pin ", "pin ", 1);
    let mail = with("mail", " ", &id);
    let done = match facts.data["change"].as_str().unwrap_or_default() {
        "added" => aside(&format!("{element} is in the room"), &facts.text("kind")),
        "removed" => format!("{element} left the room"),
        "rearranged" => format!("{element} was moved, renamed or given to somebody"),
        "text_set" => format!("{by} wrote {element}"),
        "pin_added" => format!("{by} put {pin} on {element}"),
        "pin_edited" => format!("{by} changed {pin} on {element}"),
        "pin_removed" => format!("{by} took {pin} down from {element}"),
        "pin_voted" => format!("{by} voted on {pin} on {element}"),
        "pin_flagged" => format!("{by} flagged {pin} on {element}"),
        "pin_commented" => format!("{by} commented on {pin} on {element}"),
        "mail_added" => format!("{by} sent {mail} to {element}"),
        "mail_edited" => format!("{by} edited {mail} in {element}"),
        "mail_changed" => format!("{by} changed {mail} in {element}"),
        "mail_removed" => format!("{by} took {mail} out of {element}"),
        other => aside(&format!("{by} changed {element}"), &other.replace('_', " ")),
    };
    with(&done, ": ", &facts.text("why"))
}

fn action(facts: &Facts) -> String {
    let target = if facts.data["target"].is_string() { facts.text("target") } else { String::new() };
    let action = match facts.data["action"].as_str().unwrap_or_default() {
        "readElement" => format!("read {}", facts.element("target")),
        "seekInfo" => format!("look at {}", facts.element("target")),
        "approachAgent" => format!("go and tell {}", facts.called("target")),
        "compactContext" => "sum up what it knows".to_owned(),
        "" => "do something".to_owned(),
        other => with(other, " ", &target),
    };
    aside(&action, if facts.text("priority") == "high" { "high" } else { "" })
}

fn action_dropped(facts: &Facts) -> String {
    let what = facts.text("what");
    let dropped = if what.is_empty() {
        format!("{} will not {}", facts.who(), action(facts))
    } else {
        with(&what, " about ", &facts.text("topic"))
    };
    with(&dropped, ": ", &facts.text("why"))
}

fn read(facts: &Facts) -> String {
    let label = facts.text("label");
    let element = if label.is_empty() { facts.element("element") } else { label };
    let element = aside(&element, &with("", "version ", &facts.text("version")));
    match facts.data["outcome"].as_str() {
        Some("failed") => with(&format!("{} could not read {element}", facts.who()), ": ", &facts.text("why")),
        Some("nothing") => with(&format!("{} read {element} and said nothing", facts.who()), ": ", &facts.text("why")),
        _ => with(&format!("{} read {element}", facts.who()), ": ", &facts.text("said")),
    }
}

fn conversation_end(facts: &Facts) -> String {
    let turns = facts.count("turns").map(|turns| counted(turns, "turn", "turns"));
    with(&with("the conversation ended", " after ", &turns.unwrap_or_default()), ": ", &facts.text("why"))
}

fn memory(facts: &Facts) -> String {
    let who = facts.who();
    let pin = with("a pin", " ", &facts.text("pin")).replacen("a pin ", "pin ", 1);
    match facts.data["change"].as_str().unwrap_or_default() {
        "noted" => with(&format!("{who} noted"), ": ", &facts.text("note")),
        "met" => with(&format!("{who} remembered"), ": ", &facts.text("interaction")),
        "saw" => with(&format!("{who} knows {}", facts.element("element")), ": ", &facts.text("summary")),
        "pin_kept" => format!("{who} kept {pin} in mind"),
        "pin_released" => format!("{who} let {pin} go"),
        "summed" => with(&format!("{who} summed up"), ": ", &facts.text("summary")),
        "summary_cleared" => format!("{who} emptied its summary"),
        "recalled" => format!("{who} remembered {}", facts.element("element")),
        "forgot" => format!("{who} forgot {}", facts.element("element")),
        "cleared" => format!("{who} forgot everything"),
        other => aside(&format!("{who} remembers something else"), &other.replace('_', " ")),
    }
}

fn compaction(facts: &Facts) -> String {
    let who = facts.who();
    if facts.text("outcome") == "failed" {
        return with(&format!("{who} could not sum up its session"), ": ", &facts.text("why"));
    }
    let turns = facts.count("turns").map(|turns| counted(turns, "turn", "turns"));
    let dropped = facts.count("messages_dropped").map(|count| counted(count, "message", "messages") + " put away");
    aside(&format!("{who} summed up its session"), &joined([turns, dropped]))
}

fn activation(facts: &Facts) -> String {
    let by = if facts.data["by"].is_string() { facts.called("by") } else { String::new() };
    let woken = facts.data["signal_of"].is_string();
    let verb = if woken { "was woken" } else { "was asked" };
    with(&with(&format!("{} {verb}", facts.who()), " by ", &by), ": ", &facts.text("task"))
}

fn tool_call(facts: &Facts) -> String {
    let call = with(&format!("{} called {}", facts.who(), tool(facts)), ": ", &facts.text("target"));
    let gate = match facts.data["gate"].as_str() {
        Some("ask") => "you are asked first",
        Some("deny") => "not allowed",
        _ => "",
    };
    aside(&call, gate)
}

fn file_change(facts: &Facts) -> String {
    let by = if facts.data["by"].is_string() { facts.called("by") } else { facts.who() };
    let path = facts.text("path");
    let path = if path.is_empty() { "a file".to_owned() } else { path };
    if facts.is("gone") {
        return format!("{by} deleted {path}");
    }
    let from = facts.text("from");
    if !from.is_empty() {
        return format!("{by} renamed {from} to {path}");
    }
    let section = facts.text("section");
    if !section.is_empty() {
        return format!("{by} changed the settings of {section} in {path}");
    }
    let version = facts.count("version").map(|version| format!("version {version}"));
    let chars = facts.count("chars").map(|chars| counted(chars, "character", "characters"));
    let verb = match facts.data["by"].as_str() {
        Some("outside") => "changed",
        _ if facts.is("new") => "created",
        _ => "wrote",
    };
    aside(&format!("{by} {verb} {path}"), &joined([version, chars]))
}

fn approval_decided(facts: &Facts) -> String {
    let (tool, by) = (tool(facts), facts.text("by"));
    let by = if by == "gate" || by.is_empty() { "the gate".to_owned() } else { facts.called("by") };
    let for_whom = facts.row.agent.as_ref().map(|agent| facts.names.called(agent)).unwrap_or_default();
    let decided = match facts.data["decision"].as_str() {
        Some("allow") => format!("{by} allowed {tool}"),
        Some("deny") => format!("{by} refused {tool}"),
        _ => format!("{by} decided about {tool}"),
    };
    with(&with(&decided, " for ", for_whom), ": ", &facts.text("why"))
}

fn workflow_step(facts: &Facts) -> String {
    let step = with("a step", " ", &facts.text("step")).replacen("a step ", "step ", 1);
    let step = with(&step, " of ", &facts.text("workflow"));
    let to = [facts.text("to"), facts.text("state"), facts.text("outcome")].into_iter().find(|word| !word.is_empty());
    let changed = match to {
        Some(to) => format!("{step} is {} now", to.replace('_', " ")),
        None => format!("{step} changed"),
    };
    with(&changed, ": ", &facts.text("why"))
}

fn budget(facts: &Facts) -> String {
    let (what, act) = (facts.text("what"), facts.text("act"));
    let told = match (what.is_empty(), act.is_empty()) {
        (false, _) => what,
        (true, false) => with(&format!("a budget was {act}"), ": ", &facts.text("cap")),
        _ => with("a budget was touched", ": ", &facts.text("cap")),
    };
    with(&told, ". To do: ", &facts.text("remedy"))
}

fn model_call(facts: &Facts) -> String {
    let provider = facts.text("provider");
    let provider = if provider.is_empty() { "a model".to_owned() } else { provider };
    let is_trial = facts.text("kind") == "trial";
    let whom = match (&facts.row.agent, is_trial) {
        (_, true) => "you, who tried it out".to_owned(),
        (Some(agent), _) => facts.names.called(agent).to_owned(),
        (None, _) => String::new(),
    };
    let error = &facts.data["error"];
    if error.is_object() {
        let told = with(&format!("{provider} did not answer"), " ", &whom);
        return with(
            &with(&told, ": ", &super::text_of(&error["what"])),
            ". To do: ",
            &super::text_of(&error["remedy"]),
        );
    }
    let kind = Some(facts.text("kind")).filter(|_| !is_trial);
    let amount = |key: &str, what: &str| facts.count(key).map(|count| format!("{}{what}", thousands(count)));
    let cost = facts.data["cost_usd"].as_f64().filter(|cost| *cost > 0.0).map(|cost| format!("${cost:.4}"));
    let is_unpriced = facts.data.get("cost_usd").is_some_and(serde_json::Value::is_null);
    let cost = cost.or_else(|| is_unpriced.then(|| "cost unknown".to_owned()));
    let estimated = (facts.data["estimated"] == true).then(|| "tokens estimated".to_owned());
    let finish = match facts.data["finish"].as_str() {
        Some("length") => Some("cut at the limit".to_owned()),
        Some("filtered") => Some("held back in part".to_owned()),
        _ => None,
    };
    let tokens = [amount("tokens_in", " tokens in"), amount("tokens_out", " out"), amount("tokens", " tokens")];
    let rest = [amount("duration_ms", " ms"), cost, estimated, finish];
    aside(&with(&format!("{provider} answered"), " ", &whom), &joined([kind].into_iter().chain(tokens).chain(rest)))
}

/// A warning or an error: where, what, and what to do.
fn trouble(facts: &Facts, otherwise: &str) -> String {
    let what = facts.text("what");
    let what = if what.is_empty() { otherwise.to_owned() } else { what };
    let line = with("", ", line ", &facts.text("line"));
    let place = facts.text("place");
    let (place, path, subject) =
        (with(&place, "", if place.is_empty() { "" } else { &line }), facts.text("path"), facts.text("subject"));
    let told = if facts.data["element"].is_string() {
        format!("{} could not change {}: {what}", facts.who(), facts.element("element"))
    } else {
        let place = [place, path, subject].into_iter().find(|place| !place.is_empty());
        let about = place.or_else(|| facts.row.agent.as_ref().map(|agent| facts.names.called(agent).to_owned()));
        about.map_or_else(|| what.clone(), |about| format!("{about}: {what}"))
    };
    let topic = with("", ", ", &facts.text("topic"));
    let told = with(&format!("{told}{topic}"), ": ", &facts.text("why"));
    with(&told, ". To do: ", &facts.text("remedy"))
}

/// Work is over.
fn over(facts: &Facts, verb: &str, said: &str) -> String {
    let turns = facts.count("turns").map(|turns| counted(turns, "turn", "turns"));
    let tokens = facts.count("tokens").map(|tokens| counted(tokens, "token", "tokens"));
    let used = aside(&format!("{} {verb}", facts.who()), &joined([turns, tokens]));
    with(&used, ": ", &facts.text(said))
}
