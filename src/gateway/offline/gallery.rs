//! temporary
use super::OfflineProvider;
use super::examples::{RULES, after, request};
use crate::gateway::provider::*;
use crate::mind::CallKind;
fn sys(file: &str, parts: &[&str]) -> String {
    let text = std::fs::read_to_string(format!("agents/{file}.md")).unwrap();
    let mut p = text.splitn(3, "---\n");
    p.next();
    let fm = p.next().unwrap();
    let body = p.next().unwrap();
    let get = |k: &str| fm.lines().find_map(|l| l.strip_prefix(k)).unwrap_or("").trim().to_owned();
    let mut all = vec![
        RULES.to_owned(),
        format!("## Who you are\nYou are {}.\n\n{}\n\n{}", get("name:"), get("description:"), body),
    ];
    all.extend(parts.iter().map(|s| s.to_string()));
    all.join("\n\n")
}
#[test]
fn gallery() {
    let near = "## Where you are\nYou are in the Studio.\n- Bram (Writer who turns what the room knows into stories): reading\n- Finn (Engineer who builds the smallest version that works): wandering";
    let notes = "## Your notes\n- News: The reading corner opens on the first Saturday of December.\n- The lamp supplier needs an answer by Thursday.";
    let news = "# This week\nThe reading corner opens on the first Saturday of December. We have eleven lamps, forty chairs and no sign that tells people where to go.\n- A map of the building is missing.\n- Somebody has to ask the neighbours whether the music may go on until ten.\nThe budget for the opening is 400, and nobody has checked the figure.";
    let pins = "p1 (by user): A lending shelf where every book carries a note from its last reader\np2 (by Ada, +2 −0): Ask three neighbours what they would come for\np3 (by Finn, +0 −0): A lamp that goes on when you sit down\np4 (by Bram, +1 −0): Ask three neighbours what they would come for";
    let mail = "m1 from Gita, “Lamp order”: Can you tell me how many lamps we need, and where each of them goes? The supplier wants the figure by Thursday.";
    for (i, who) in [
        "researcher",
        "writer",
        "editor",
        "fact-checker",
        "designer",
        "engineer",
        "producer",
        "archivist",
        "interviewer",
        "critic",
    ]
    .iter()
    .enumerate()
    {
        println!("\n===== {who}");
        let mut ask = |kind, what: &str, moment: &str| {
            for seed in [i as u64, 50 + i as u64] {
                let mut r = request(kind, &sys(who, &[near, notes]), moment);
                r.agent = format!("{who}-1");
                r.seed = seed;
                println!("  {what}> {}", OfflineProvider.answer(&r).outcome.unwrap().text.replace('\n', "\n       "));
            }
        };
        ask(CallKind::Read, "board", &format!("You are reading News (message board).\n{news}"));
        ask(CallKind::Read, "pins", &format!("You are reading Ideas (pinboard).\n{pins}"));
        if i % 2 == 0 {
            ask(
                CallKind::Read,
                "rules",
                "You are reading House rules (rulebook).\n- Cite the source of every claim.\n- Never print a rumour.\n- Answer mail on the day it comes.\n- One idea to a pin, in one sentence.\n- Listen to the end before you object.",
            );
        } else {
            ask(CallKind::Read, "mail", &format!("You are reading Mail (inbox).\n```\n{mail}\n```"));
        }
        ask(
            CallKind::Task,
            "task",
            [
                "Your task: Write a short invitation to the opening of the reading corner and ask Finn to check the lamps.",
                "Your task: What should we do first this week?",
            ][i % 2],
        );
    }
    // a conversation
    for (a, b, topic, s) in [
        ("researcher", "writer", " about the reading corner", 1u64),
        ("fact-checker", "engineer", "", 2),
        ("editor", "critic", " about Who writes the opening piece?", 3),
    ] {
        println!("\n===== talk {a} {b}{topic}");
        let name = |f: &str| sys(f, &[]).split("You are ").nth(1).unwrap().split('.').next().unwrap().to_owned();
        let (na, nb) = (name(a), name(b));
        let mut tr = String::new();
        for t in 0..6 {
            let (me, other) = if t % 2 == 0 { (a, &nb) } else { (b, &na) };
            let end = if t == 5 { "\n\nThis is the last turn: give a conclusion." } else { "" };
            let mut r = request(
                CallKind::Conversation,
                &sys(me, &[near, notes]),
                &format!("You are talking with {other}{topic}.\n\n{tr}{end}"),
            );
            r.agent = me.into();
            r.seed = s * 100 + t;
            let text = OfflineProvider.answer(&r).outcome.unwrap().text;
            let shown: Vec<&str> = text.lines().filter(|l| !l.starts_with('[')).collect();
            let line = format!("{}: {}", if t % 2 == 0 { &na } else { &nb }, shown.join(" "));
            println!("{line}   {}", text.lines().filter(|l| l.starts_with('[')).collect::<Vec<_>>().join(" "));
            tr.push_str(&line);
            tr.push('\n');
        }
    }
    let r = after(
        request(CallKind::Compaction, &sys("writer", &[near, notes]), "Summarise your recent activity."),
        &[
            (
                &format!("You are reading News (message board).\n{news}"),
                "Somebody took care over the lamps. I will write a first draft before the day is over.",
            ),
            (
                &format!("You are reading Ideas (pinboard).\n{pins}"),
                "On Ideas I stopped at the lamp. That has my vote, p3.",
            ),
        ],
    );
    println!("\n===== summary\n{}", OfflineProvider.answer(&r).outcome.unwrap().text);
}
