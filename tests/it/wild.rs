//! Generated agent files in the formats in which people publish them: three layouts with the folders, names, keys and
//! mistakes of such collections.

use std::fmt::Write;

/// The departments and roles of the generated collections.
const DEPARTMENTS: [&str; 8] =
    ["core-development", "language-specialists", "infrastructure", "quality", "data", "product", "writing", "design"];
const ROLES: [&str; 26] = [
    "backend-developer",
    "frontend-developer",
    "api-designer",
    "code-reviewer",
    "test-writer",
    "debugger",
    "database-keeper",
    "powershell-5.1-expert",
    "dotnet-framework-4.8-expert",
    "release-manager",
    "doc-writer",
    "security-auditor",
    "data-analyst",
    "query-tuner",
    "trend-watcher",
    "feedback-sorter",
    "sprint-planner",
    "brand-keeper",
    "ui-designer",
    "copy-editor",
    "growth-thinker",
    "cost-watcher",
    "log-reader",
    "pipeline-builder",
    "accessibility-tester",
    "migration-helper",
];

/// A file of a collection.
pub struct WildFile {
    /// The path in the collection.
    pub path: String,
    /// The text.
    pub text: String,
    /// Whether it defines an agent.
    pub is_agent: bool,
}

/// Generates three collections.
pub fn collections() -> Vec<WildFile> {
    let mut files = plugins();
    files.extend(categories());
    files.extend(departments());
    files
}

fn file(path: String, text: String, is_agent: bool) -> WildFile {
    WildFile { path, text, is_agent }
}

fn body(role: &str, department: &str) -> String {
    let mut body = format!("You are a {role} who works on {department}.\n\n## How you go about it\n\n");
    for step in 1..=20 {
        let _ = writeln!(body, "{step}. Look at part {step} of what you are given, and say what you found there.");
    }
    body.push_str("\n```yaml\nname: no front matter\n---\n```\n\nAnswer in order of weight: first what breaks.\n");
    body
}

/// Generates plugins with agents, commands and skills: models by family, no tools.
fn plugins() -> Vec<WildFile> {
    let mut files = vec![
        file("plugins-pack/README.md".into(), "# A pack of plugins\n\nMany agents.\n".into(), false),
        file("plugins-pack/AGENTS.md".into(), "# How to work on this pack\n".into(), false),
        file("plugins-pack/LICENSE".into(), "As you like.\n".into(), false),
    ];
    for (number, department) in DEPARTMENTS.iter().enumerate() {
        let plugin = format!("plugins-pack/plugins/{department}");
        for (index, role) in ROLES.iter().enumerate().skip(number % 3).step_by(3) {
            let model = ["sonnet", "opus", "haiku", "inherit"][(number + index) % 4];
            let text = format!(
                "---\nname: {role}\ndescription: {role} for {department}. Use PROACTIVELY when there is such work, \
                 e.g. \"a new page\".\nmodel: {model}\n---\n\n{}",
                body(role, department)
            );
            files.push(file(format!("{plugin}/agents/{role}.md"), text, true));
        }
        let command = "---\nname: go\ndescription: Goes about it.\nargument-hint: [what]\n---\nDo $ARGUMENTS.\n";
        files.push(file(format!("{plugin}/commands/go.md"), command.into(), false));
        let skill = "---\nname: counting\ndescription: Counts things.\n---\n# Counting\n";
        files.push(file(format!("{plugin}/skills/counting/SKILL.md"), skill.into(), false));
        files.push(file(format!("{plugin}/skills/counting/references/more.md"), "# More\n".into(), false));
    }
    files
}

/// Generates numbered categories, each with a README: quoted descriptions, and tools of another product.
fn categories() -> Vec<WildFile> {
    let tools =
        ["Read, Write, Edit, Bash, Glob, Grep", "Read, Grep, WebFetch, WebSearch", "Read, Write, MultiEdit, TodoWrite"];
    let mut files = vec![file("categories-pack/CONTRIBUTING.md".into(), "# Contributing\n".into(), false)];
    for (number, department) in DEPARTMENTS.iter().enumerate() {
        let category = format!("categories-pack/categories/{:02}-{department}", number + 1);
        files.push(file(format!("{category}/README.md"), format!("# {department}\n"), false));
        for (index, role) in ROLES.iter().enumerate().skip(number % 2).step_by(2) {
            let tools = tools[index % tools.len()];
            let text = format!(
                "---\r\nname: {role}\r\ndescription: \"Use this agent for {department}: it does the work of a \
                 {role}.\"\r\ntools: {tools}\r\nmodel: {}\r\n---\r\n\r\n{}",
                ["sonnet", "opus"][index % 2],
                body(role, department).replace('\n', "\r\n")
            );
            let ending = if index == 3 { "MD" } else { "md" };
            files.push(file(format!("{category}/{role}.{ending}"), text, true));
        }
    }
    files
}

/// Generates departments whose descriptions contain examples that YAML would parse as keys.
fn departments() -> Vec<WildFile> {
    let mut files = vec![file("departments-pack/README.md".into(), "# Departments\n".into(), false)];
    for (number, department) in DEPARTMENTS.iter().enumerate() {
        for (index, role) in ROLES.iter().enumerate().skip(number % 4).step_by(4) {
            let example = format!(
                "<example>\\nContext: Somebody wants {department} done\\nuser: \"Can you do this: now?\"\\nassistant: \"I'll \
                 use the {role} for it: it knows how.\"\\n<commentary>\\nBecause: it is about {department}.\\n</commentary>\\n</example>"
            );
            let rest = match index % 3 {
                0 => "color: green\ntools: Write, Read, MultiEdit, Bash, Grep, WebFetch".to_owned(),
                1 => "tools: Read, Bash(git:*), Bash(npm run test:*), mcp__files__read\nmodel: opus\ncolor: blue"
                    .to_owned(),
                _ => "model: inherit\npermissionMode: default\ntags: [one, two]".to_owned(),
            };
            let text = format!(
                "---\nname: {role}\ndescription: Use this agent when there is {department} to do. Examples:\\n\\n{example}\n{rest}\n---\n\n{}",
                body(role, department)
            );
            files.push(file(format!("departments-pack/{department}/{role}.md"), text, true));
        }
    }
    files
}
