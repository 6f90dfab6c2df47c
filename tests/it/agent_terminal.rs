//! A whole conversation with an agent in a real terminal, with the keys that a person presses.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use libtest_mimic::Trial;
use tempfile::TempDir;

use crate::program::{workshop, write};

/// The time limit for anything to become visible.
const PATIENCE: Duration = Duration::from_secs(90);

pub fn trials() -> Vec<Trial> {
    let required = std::env::var("WORKSHOP_DISPLAY").is_ok_and(|display| display == "required");
    let is_there = Command::new("tmux").arg("-V").output().is_ok_and(|told| told.status.success());
    if !is_there && !required {
        eprintln!("the case that uses a real terminal is ignored: missing tmux");
    }
    let is_ignored = !is_there && !required;
    let trial = |name: &str, case: fn()| {
        let case = move || {
            case();
            Ok(())
        };
        Trial::test(format!("agent_terminal::{name}"), case).with_ignored_flag(is_ignored)
    };
    vec![
        trial("a_talk_from_its_start_to_its_end", a_talk_from_its_start_to_its_end),
        trial("an_agent_wakes_up_at_the_prompt", an_agent_wakes_up_at_the_prompt),
        trial(
            "skills_sessions_and_models_are_chosen_at_the_prompt",
            skills_sessions_and_models_are_chosen_at_the_prompt,
        ),
    ]
}

const DOCUMENT: &str = r#"# Agent: Weather Man

## Purpose

Tells the weather.

<Tool name="forecast" description="What comes in a city">
  <Param name="city" description="The city" />

```ts
async function execute(params: { city: string }, ctx: any): Promise<string> {
  await ctx.log(`looking at ${params.city}`);
  return `rain in ${params.city}`;
}
```

</Tool>

<Tool name="ponder" description="Ponders and comes to no end">

```ts
async function execute(): Promise<string> {
  await new Promise((done) => setTimeout(done, 3_000_000));
  return "at last";
}
```

</Tool>
"#;
const SCRIPT: &str = r#"
latency: 0.1
agents:
  weather-man:
    - { when: { contains: "Ulm" }, tools: [ { name: forecast, arguments: { city: Ulm } } ] }
    - text: "It **rains** in Ulm."
    - { when: { contains: "Wake me" }, tools: [ { name: write_file, arguments: { path: heartbeat.md, content: "@every: 1h" } } ] }
    - text: You will be woken.
    - { when: { contains: "Ponder" }, tools: [ { name: ponder, arguments: {} } ] }
"#;

/// A terminal in which one command runs. Dropping it ends both.
struct Terminal {
    socket: String,
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

impl Terminal {
    fn start(folder: &Path, command: &Command) -> Self {
        let socket = format!("workshop-{}-{}", std::process::id(), folder.file_name().unwrap().to_string_lossy());
        let terminal = Self { socket };
        let quoted = |text: &std::ffi::OsStr| format!("'{}'", text.to_string_lossy());
        let words = [command.get_program()].into_iter().chain(command.get_args()).map(quoted).collect::<Vec<_>>();
        let set = command
            .get_envs()
            .filter_map(|(name, value)| Some(format!("{}={}", name.to_string_lossy(), quoted(value?))));
        let unset = command
            .get_envs()
            .filter(|(_, value)| value.is_none())
            .map(|(name, _)| format!("-u {}", name.to_string_lossy()));
        let environment: Vec<String> = unset.chain(set).collect();
        // The terminal remains after the command has ended, so that it can be read.
        let line = format!("env {} {}; echo ended with $?; exec sleep 600", environment.join(" "), words.join(" "));
        let started = terminal
            .command(&["new-session", "-d", "-s", "talk", "-x", "110", "-y", "45", "-c"])
            .arg(folder)
            .arg(line)
            .output();
        let started = started.unwrap();
        assert!(started.status.success(), "{}", String::from_utf8_lossy(&started.stderr));
        terminal
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("tmux");
        command.args(["-u", "-L", &self.socket, "-f", "/dev/null"]).args(arguments).env_remove("TMUX");
        command
    }

    fn tmux(&self, arguments: &[&str]) -> String {
        let told = self.command(arguments).output().unwrap();
        String::from_utf8_lossy(&told.stdout).into_owned()
    }

    fn types(&self, words: &str) {
        self.tmux(&["send-keys", "-t", "talk", "-l", words]);
    }

    fn key(&self, key: &str) {
        self.tmux(&["send-keys", "-t", "talk", key]);
    }

    fn says(&self, words: &str) {
        self.types(words);
        self.key("Enter");
    }

    /// Waits until the terminal shows this. Returns its whole content, including colours.
    fn until(&self, what: &str, is_seen: impl Fn(&str) -> bool) -> String {
        let begun = Instant::now();
        loop {
            let seen = self.tmux(&["capture-pane", "-p", "-e", "-t", "talk"]);
            let plain = plain(&seen);
            if is_seen(&plain) {
                return seen;
            }
            assert!(begun.elapsed() < PATIENCE, "{what} is not seen:\n{plain}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn until_shown(&self, what: &str) -> String {
        self.until(what, |seen| seen.contains(what))
    }

    /// Waits for the prompt of the next message.
    fn until_asked(&self) {
        self.until("the next line", |seen| seen.trim_end().ends_with("\n>"));
    }
}

/// The text without escape sequences.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, code)) = rest.split_once('\u{1b}') {
        plain.push_str(before);
        rest = code.split_once(|letter: char| letter.is_ascii_alphabetic()).map_or("", |(_, behind)| behind);
    }
    plain + rest
}

fn weather_with(script: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "weather/agent.mdx", DOCUMENT);
    write(folder.path(), "script.yaml", script);
    folder
}

/// Talks to the agent in a terminal.
fn talk(folder: &Path) -> Terminal {
    let mut command = workshop(folder, &["agent", "weather", "--provider", "scripted:script.yaml"]);
    command.env("TERM", "tmux-256color").env_remove("NO_COLOR");
    let terminal = Terminal::start(folder, &command);
    terminal.until_shown("Weather Man, session main");
    terminal.until_asked();
    terminal
}

fn a_talk_from_its_start_to_its_end() {
    let folder = weather_with(SCRIPT);
    let terminal = talk(folder.path());

    // Tab completes a command.
    terminal.types("/to");
    terminal.key("Tab");
    terminal.until_shown("> /tools");
    terminal.key("Enter");
    let tools = terminal.until_shown("What comes in a city");
    assert!(plain(&tools).contains("read_file") && !plain(&tools).contains("vfs_read"), "by its own names: {tools}");
    terminal.until_asked();

    // A call is shown as one line, and Markdown is rendered.
    terminal.says("How is it in Ulm?");
    let answered = terminal.until_shown("It rains in Ulm.");
    assert!(plain(&answered).contains("forecast {\"city\":\"Ulm\"} → rain in Ulm"), "{answered}");
    assert!(plain(&answered).contains("forecast: looking at Ulm"), "what it logs stays: {answered}");
    assert!(answered.contains("\u{1b}[1mrains"), "{answered:?}");
    terminal.until_asked();

    // A question of a tool appears in the conversation.
    terminal.says("Wake me.");
    terminal.until_shown("wants to write heartbeat.md");
    terminal.until_shown("[s]how?");
    assert!(!folder.path().join("weather/heartbeat.md").exists());
    terminal.says("y");
    terminal.until_shown("You will be woken.");
    assert_eq!(std::fs::read_to_string(folder.path().join("weather/heartbeat.md")).unwrap(), "@every: 1h");
    terminal.until_asked();

    // Ctrl-C ends the answer but not the conversation.
    terminal.says("Ponder.");
    let log = || -> String {
        let logs = std::fs::read_dir(folder.path().join("weather/logs")).into_iter().flatten().flatten();
        logs.map(|log| std::fs::read_to_string(log.path()).unwrap_or_default()).collect()
    };
    terminal.until("the call of the tool", |_| log().contains("calls ponder"));
    terminal.key("C-c");
    terminal.until_shown("the work was stopped");
    terminal.until_asked();
    terminal.says("/why");
    terminal.until_asked();

    // Twice, it ends the conversation.
    terminal.says("/clear");
    terminal.until_shown("Cleared the session main.");
    terminal.until_asked();
    terminal.key("C-c");
    terminal.until_shown("press Ctrl-C again to exit");
    terminal.key("C-c");
    terminal.until_shown("ended with 0");
}

const WAKING: &str = r#"
latency: 0.1
agents:
  weather-man:
    - { when: { contains: "Your heartbeat woke you" }, tools: [ { name: write_file, arguments: { path: heartbeat.md, content: "@every: 9h" } } ] }
    - { when: { contains: "Written" }, text: "All is calm." }
    - { when: { contains: "How are you" }, text: "I am well." }
"#;

fn an_agent_wakes_up_at_the_prompt() {
    let folder = weather_with(WAKING);
    let heartbeat = "@every: 2s\n\n## On Wake\n\n- Look at the sky\n";
    write(folder.path(), "weather/heartbeat.md", heartbeat);
    let terminal = talk(folder.path());

    // It wakes up while a line is being typed. The line stays whole, and what it asks is answered behind it.
    terminal.types("How are");
    terminal.until_shown("Weather Man woke up: Look at the sky");
    terminal.until_shown("press Enter to answer");
    terminal.until("the line that was begun", |seen| seen.trim_end().ends_with("\n> How are"));
    terminal.says(" you?");
    terminal.until_shown("[s]how?");
    assert_eq!(std::fs::read_to_string(folder.path().join("weather/heartbeat.md")).unwrap(), heartbeat);
    terminal.says("y");
    // The answer to the person comes behind what was begun, never beside it.
    let answered = plain(&terminal.until_shown("I am well."));
    let places: Vec<_> = ["woke up", "All is calm.", "I am well."].map(|said| answered.find(said)).into();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{answered}");
    terminal.until_asked();
    // The session holds what the person said, and nothing else.
    let history = std::fs::read_to_string(folder.path().join("weather/sessions/main/history.json")).unwrap();
    assert!(history.contains("I am well.") && !history.contains("All is calm."), "{history}");
    terminal.says("/quit");
    terminal.until_shown("ended with 0");
}

const CHOOSING: &str = r#"
latency: 0.1
agents:
  weather-man:
    - { when: { contains: "How to read clouds" }, text: "They are white." }
    - { when: { contains: "Second" }, text: "Here, too." }
"#;

fn skills_sessions_and_models_are_chosen_at_the_prompt() {
    let folder = weather_with(CHOOSING);
    let skill = "---\nname: clouds\ndescription: Clouds\n---\n\nHow to read clouds: see {baseDir}/shapes.md.\n";
    write(folder.path(), "weather/skills/clouds/SKILL.md", skill);
    let terminal = talk(folder.path());

    // Tab completes a skill, which is put into the message.
    terminal.types("/skill:c");
    terminal.key("Tab");
    terminal.until_shown("> /skill:clouds");
    terminal.says(" over Ulm");
    terminal.until_shown("They are white.");
    terminal.until_asked();
    let history = || std::fs::read_to_string(folder.path().join("weather/sessions/main/history.json")).unwrap();
    assert!(history().contains("see skills/clouds/shapes.md.") && history().contains("over Ulm"), "{}", history());

    terminal.says("/why");
    terminal.until("why", |seen| seen.contains("> /why\n") && !seen.contains("No prompts yet."));
    terminal.until_asked();

    // Another session has messages of its own; the first one is listed beside it.
    terminal.says("/session work");
    terminal.until_shown("Weather Man, session work, 0 messages");
    terminal.until_asked();
    terminal.says("Second?");
    terminal.until_shown("Here, too.");
    terminal.until_asked();
    terminal.says("/session");
    terminal.until_shown("work  (current)");
    terminal.until_shown("main");
    terminal.until_asked();

    // A model that there is none of is told, and the talk goes on as before.
    terminal.says("/model");
    terminal.until_shown("scripted");
    terminal.until_asked();
    terminal.says("/model nobody:nothing");
    terminal.until_shown("error: ");
    terminal.until_asked();
    terminal.says("/quit");
    terminal.until_shown("ended with 0");
}
