//! Budgets of model usage: each stops or delays only what it applies to, and everything else continues.

use agent_workshop::kernel::Kernel;
use agent_workshop::schedule::InputQueue;
use agent_workshop::workspace::FileChanged;
use agent_workshop::workspace::files::FileContent;
use libtest_mimic::Trial;

use crate::cases;
use crate::working::{Studio, spawn};
use crate::workshop::script_file;

pub fn trials() -> Vec<Trial> {
    cases![
        a_cap_of_an_activation_or_an_agent_ends_that_work_and_its_siblings_continue,
        a_cap_by_the_hour_delays_work_until_the_cap_is_another,
        a_run_that_a_cap_ends_says_3_and_the_name_the_number_and_what_lifts_it,
    ]
}

/// An agent that starts another: one calls its model five times, the other twice.
fn family(budget: &str) -> Studio {
    let list = |prefix: &str| format!("{{ tools: [ {{ name: vfs_list, arguments: {{ prefix: {prefix} }} }} ] }}");
    let script = format!(
        "latency: 0.1\nagents:\n  lead: [ {{ tools: [ {}, {} ] }}, {{ text: I wait. }} ]\n  greedy: [ {}, {}, {}, {}, {{ text: Greedy is done. }} ]\n  modest: [ {}, {{ text: Modest is done. }} ]\ndefault: [ {{ text: Noted. }} ]\n",
        spawn("greedy"),
        spawn("modest"),
        list("a"),
        list("b"),
        list("c"),
        list("d"),
        list("e"),
    );
    let settings = format!("budget: {{ {budget} }}\n");
    let mut studio = Studio::new(&script, &[("settings.yaml", &settings)]);
    studio.task("lead", "Start them.");
    studio
}

fn a_cap_of_an_activation_or_an_agent_ends_that_work_and_its_siblings_continue() {
    for (name, budget) in
        [("calls_per_activation", "calls_per_activation: 3"), ("calls_per_agent_per_run", "calls_per_agent_per_run: 4")]
    {
        let mut studio = family(budget);
        studio.idle();
        let limit = budget.rsplit(' ').next().unwrap();
        let stopped = studio.all("abort");
        assert!(stopped.iter().all(|event| event["data"]["by_person"] == false), "{name}");
        let greedy = stopped.iter().find(|event| event["agent"] == "greedy").unwrap_or_else(|| panic!("{name}"));
        let what = greedy["data"]["what"].as_str().unwrap();
        assert!(what.contains(name) && what.contains(&format!("{limit} calls")) && what.contains("raise"), "{what}");
        let done = studio.all("complete").iter().any(|event| event["data"]["text"] == "Modest is done.");
        assert!(done, "{name}: {:#?}", studio.log());
        let told = studio
            .all("signal")
            .iter()
            .any(|event| event["agent"] == "greedy" && event["data"]["message"].to_string().contains("was stopped: "));
        assert!(told, "{name}: whoever started it hears of it");
        assert_eq!(studio.world().resource::<Kernel>().stopped_by(), None, "{name}");
        for _ in 0..3 {
            studio.tick();
        }
        let sessions = std::fs::read_dir(studio.folder.path().join("sessions")).unwrap();
        let texts = sessions.map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap());
        let limited = texts.filter(|text| text.contains("agent_id: greedy") && text.contains("work: limited")).count();
        assert_eq!(limited, 1, "{name}");
    }
}

fn a_cap_by_the_hour_delays_work_until_the_cap_is_another() {
    for name in ["calls_per_hour", "calls_per_agent_per_hour"] {
        let mut studio = family(&format!("{name}: 3"));
        studio.until("the cap was reached", |studio| {
            studio.all("warning").iter().any(|event| event["data"]["what"].to_string().contains("continues by itself"))
        });
        let run = studio.world().resource::<Kernel>().activations().next().expect("it waits").thread;
        let run = studio.world().resource::<Kernel>().thread(run).expect("it is known").root;
        studio
            .until("everything waits", |studio| studio.world().resource::<Kernel>().waits_for_cap(Some(run)).is_some());
        let why = studio.world().resource::<Kernel>().waits_for_cap(Some(run)).unwrap().to_owned();
        assert!(why.contains(name) && why.contains("minutes"), "{why}");
        assert_eq!(studio.world().resource::<Kernel>().stopped_by(), None, "{name}: nobody else is stopped");
        let asked = studio.all("budget").len();
        for _ in 0..300 {
            studio.tick();
        }
        assert_eq!(studio.all("budget").len(), asked, "{name}: nobody asks again before there is room");
        let settings = FileContent::Text(format!("budget: {{ {name}: 300 }}\n"));
        let change = FileChanged::new("settings.yaml", settings);
        studio.world().resource_mut::<InputQueue<FileChanged>>().push(change);
        studio.idle();
        assert!(studio.all("abort").is_empty(), "{name}: {:#?}", studio.log());
        let done = |text: &str| studio.all("complete").iter().any(|event| event["data"]["text"] == text);
        assert!(done("Greedy is done.") && done("Modest is done."), "{name}: {:#?}", studio.log());
    }
}

fn a_run_that_a_cap_ends_says_3_and_the_name_the_number_and_what_lifts_it() {
    let list = |prefix: &str| format!("{{ tools: [ {{ name: vfs_list, arguments: {{ prefix: {prefix} }} }} ] }}");
    let calls: Vec<String> = ["a", "b", "c", "d"].into_iter().map(list).collect();
    let script = format!("agents:\n  lead: [ {}, {{ text: Done. }} ]\n", calls.join(", "));
    let provider = format!("scripted:{}", script_file(&script).display());
    for (name, lifts) in [
        ("calls_per_activation", "split the request"),
        ("calls_per_agent_per_run", "start a new run"),
        ("calls_per_agent_per_hour", "minutes"),
        ("calls_per_hour", "minutes"),
        ("calls_per_run", "start a new run"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let files = [
            ("settings.yaml", format!("budget: {{ {name}: 2 }}\n")),
            ("scenes/test.yaml", "name: Test\nelements: []\nagents: [ { id: lead, profile: lead } ]\n".to_owned()),
            ("agents/lead.md", "You lead.\n".to_owned()),
        ];
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let arguments = ["run", ".", "--agent", "lead", "--task", "Look.", "--provider", &provider, "--speed", "max"];
        let output = crate::cli::output(folder.path(), &arguments);
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{name}: {told}");
        for word in [name, "2 calls", "raise budget.", lifts] {
            assert!(told.contains(word), "{name}: {word} in {told}");
        }
    }
}
