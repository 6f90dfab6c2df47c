//! Every command of the program, as it is tried beside a room that another process has open, and the room.

/// The task file of the room.
pub const PLAN: &str = "tasks/plan.task.md";
/// Its text.
pub const TASKS: &str =
    "# Plan\n\n- [ ] @human \"First\"\n- [ ] @human \"Second\"\n  weight: 2\n- [ ] @human \"Third\"\n";

/// The files of the room.
pub const FILES: [(&str, &str); 5] = [
    ("settings.yaml", "seed: 3\n"),
    ("scenes/test.yaml", "name: Test\nelements: []\nagents:\n  - { id: lead, profile: lead, position: [0, 0] }\n"),
    ("agents/lead.md", "---\nname: Lead\nbehaviour: stationary\n---\nYou lead.\n"),
    ("workflows/review.md", "---\nname: Review\n---\n# Review\n\n## Step\n\nRead it.\n"),
    (PLAN, TASKS),
];

/// Every command, in the forms that read or write a workspace, and whether it must succeed beside an open room.
pub fn commands() -> Vec<(&'static [&'static str], bool)> {
    vec![
        (&["init", "another"], true),
        (&["run", "--for", "1s", "--speed", "max", "--provider", "offline"], false),
        (&["run", "--task", "Look", "--only", "lead", "--provider", "offline", "--for", "1s"], false),
        (&["agent", "lead", "--prompt", "hello", "--provider", "offline"], false),
        (&["daemon", "--pump", "--provider", "offline"], false),
        (&["trust"], false),
        (&["status"], false),
        (&["status", "--json"], false),
        (&["approvals", "list"], false),
        (&["approvals", "allow", "1"], false),
        (&["workflow", "list"], false),
        (&["workflow", "run", "review", "--provider", "offline"], false),
        (&["task", "SELECT * FROM tasks/*.task.md"], true),
        (&["task", "UPDATE tasks/plan.task.md SET note = 'x' WHERE id = 'first'"], true),
        (&["task", "INSERT INTO tasks/plan.task.md SET title = 'Fourth'"], true),
        (&["task", "DELETE FROM tasks/plan.task.md WHERE id = 'third'"], true),
        (&["task", "lint", "tasks/plan.task.md"], true),
        (&["task", "fmt", "tasks/plan.task.md"], true),
        (&["knowledge", "list"], false),
        (&["knowledge", "search", "port"], false),
        (&["knowledge", "forget", "nothing"], false),
        (&["undo"], false),
        (&["undo", "--back", "--yes"], false),
        (&["replay"], false),
        (&["import", "agents"], false),
        (&["export", "--events", "log.jsonl"], true),
        (&["export", "--zip", "all.zip"], true),
        (&["allow-address", "http://127.0.0.1:9"], false),
        (&["mcp", "list"], false),
        (&["acp", "list"], false),
        (&["doctor"], false),
        (&["completions", "bash"], true),
        (&["man"], true),
        // Last, because it moves the history away if it can.
        (&["clean", "--yes"], false),
    ]
}
