//! The table of what programs may do in `docs/trust.md`: each cell is tried in each kind of sandbox that works here, as
//! this user and, for root, as an ordinary one.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use agent_workshop::gateway::sandbox::{Confinement, Level, Rights};
use libtest_mimic::Trial;
use serde_json::json;

use crate::cases;
use crate::commands::{command_arguments, room};
use crate::program::{Running, workshop, write};
use crate::sandbox_modes::{MODES, with_python};

pub fn trials() -> Vec<Trial> {
    let cases = cases![the_table_of_what_programs_may_do_is_true];
    let cases = with_python("the table of what programs may do", cases);
    let others = cases![
        the_table_is_in_the_documentation,
        the_system_shows_no_keys_of_the_workshop,
        keys_that_are_lost_at_the_start_are_named,
    ];
    cases.into_iter().chain(others).collect()
}

/// A kind of sandbox, as the table has it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Mode {
    Bubblewrap,
    /// Landlock, where the system lets programs have namespaces.
    Landlock,
    /// Landlock alone.
    LandlockAlone,
    Neither,
}

/// A row of the table.
struct Row {
    what: &'static str,
    /// The cells for bubblewrap, Landlock and neither.
    cells: [&'static str; 3],
    /// What a program tries, and in which modes it succeeds.
    probes: &'static [(&'static str, &'static [Mode])],
}

const LIKE_YOU: &str = "like you";
use Mode::{Bubblewrap, Landlock, LandlockAlone, Neither};

const TABLE: &[Row] = &[
    Row {
        what: "ordinary files and folders of the workspace",
        cells: ["can be written", "can be written", LIKE_YOU],
        probes: &[
            ("write within", &[Bubblewrap, Landlock, LandlockAlone, Neither]),
            ("write at top", &[Bubblewrap, Landlock, LandlockAlone, Neither]),
        ],
    },
    Row {
        what: "guarded places of the workspace",
        cells: [
            "cannot be written, moved or created",
            "cannot be written, moved or created",
            "every command needs approval; marks made in the meantime are not accepted as yours",
        ],
        probes: &[("write guarded", &[Neither]), ("move guarded", &[Neither]), ("create guarded", &[Neither])],
    },
    Row {
        what: "their rights, times and attributes",
        cells: [
            "cannot be changed",
            "cannot be changed; where the system does not let programs have namespaces, they are put back when a command has ended, and beside MCP servers and coding agents after each call and turn and when they end; a notice says so",
            LIKE_YOU,
        ],
        probes: &[("change guarded", &[Neither])],
    },
    Row {
        what: "new files and folders at its top level",
        cells: [
            "moved there when the program has ended, except guarded names; the result says what was not kept",
            "cannot be created",
            LIKE_YOU,
        ],
        probes: &[("create at top", &[Bubblewrap, Neither])],
    },
    Row {
        what: "moving or removing a folder at its top level, replacing a file there",
        cells: ["not possible", "not possible", LIKE_YOU],
        probes: &[("move at top", &[Neither]), ("replace at top", &[Neither])],
    },
    Row {
        what: "the rest of the disk",
        cells: [
            "cannot be written",
            "cannot be written, except the folders for temporary files and shared memory",
            LIKE_YOU,
        ],
        probes: &[
            ("write outside", &[Neither]),
            ("write temporary", &[Bubblewrap, Landlock, LandlockAlone, Neither]),
            ("share memory", &[Bubblewrap, Landlock, LandlockAlone, Neither]),
        ],
    },
    Row {
        what: "rights, times and attributes of files there",
        cells: [
            "cannot be changed",
            "cannot be changed, unless the system does not let programs have namespaces",
            LIKE_YOU,
        ],
        probes: &[("change outside", &[LandlockAlone, Neither])],
    },
    Row {
        what: "keys in your home",
        cells: [
            "hidden: everything that begins with a dot, except what compilers and interpreters need, and keys within that",
            "the same files cannot be read, and folders that contain such files cannot be listed",
            LIKE_YOU,
        ],
        probes: &[("read keys", &[Neither]), ("list keys", &[Neither])],
    },
    Row {
        what: "other files that you can read",
        cells: ["can be read", "can be read", LIKE_YOU],
        probes: &[("read others", &[Bubblewrap, Landlock, LandlockAlone, Neither])],
    },
    Row {
        what: "`.workshop`, `.env` and other keys in the workspace",
        cells: ["hidden", "cannot be read; their names can be listed", LIKE_YOU],
        probes: &[("read closed", &[Neither])],
    },
    Row {
        what: "memory and environment of other programs, and signals to them",
        cells: ["hidden", "cannot be read or sent", LIKE_YOU],
        probes: &[("read process", &[Neither]), ("end process", &[Neither])],
    },
    Row {
        what: "special rights of root (capabilities)",
        cells: ["none", "none", LIKE_YOU],
        // Of a person without them, see `NEEDS_ROOT`.
        probes: &[("capabilities", &[Neither]), ("name computer", &[Neither])],
    },
    Row {
        what: "devices",
        cells: [
            "only `null`, `zero`, `full`, `random`, `urandom` and terminals of its own",
            "only `null`, `zero`, `full`, `random`, `urandom` and terminals of its own",
            LIKE_YOU,
        ],
        probes: &[
            ("usual devices", &[Bubblewrap, Landlock, LandlockAlone, Neither]),
            ("odd devices", &[]),
            ("make device", &[Neither]),
            ("terminal", &[]),
        ],
    },
    Row {
        what: "sockets of other programs (`/run`, Docker, D-Bus, key agents)",
        cells: ["hidden", "can be reached, except abstract ones if the kernel blocks those", LIKE_YOU],
        probes: &[("socket", &[Landlock, LandlockAlone, Neither]), ("abstract socket", &[Neither])],
    },
    Row {
        what: "network",
        cells: [
            "none unless allowed",
            "none unless allowed; where the system does not let programs have namespaces, no TCP unless allowed, but datagrams (UDP) can be sent",
            LIKE_YOU,
        ],
        probes: &[("tcp", &[Neither]), ("udp", &[LandlockAlone, Neither])],
    },
];

/// What only root can do, and an ordinary user cannot even without a sandbox.
const NEEDS_ROOT: [&str; 3] = ["capabilities", "name computer", "make device"];
/// What depends on the computer where there is no sandbox.
const DEPENDS: [&str; 2] = ["odd devices", "terminal"];

/// A user as whom programs run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum User {
    /// The one who runs the tests.
    This,
    /// An ordinary user, whom root can become.
    Ordinary,
}

/// The id of the user `nobody`.
const NOBODY: u32 = 65_534;

impl User {
    fn is_root(self) -> bool {
        self == Self::This && is_root()
    }

    /// Returns the beginning of a command that runs as this user.
    fn command(self, program: impl AsRef<OsStr>) -> Command {
        match self {
            Self::This => Command::new(program),
            Self::Ordinary => {
                let mut command = Command::new("setpriv");
                command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups", "--"]).arg(program);
                command
            }
        }
    }
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|found| found.uid() == 0)
}

fn users() -> Vec<User> {
    let can_change = is_root() && Command::new("setpriv").arg("--version").output().is_ok();
    if can_change { vec![User::This, User::Ordinary] } else { vec![User::This] }
}

/// Returns a copy of the program that every user can start, made once per process.
fn everybodys_program() -> &'static Path {
    static COPY: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, program) = COPY.get_or_init(|| {
        let folder = tempfile::tempdir_in("/var/tmp").unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let program = folder.path().join("workshop");
        fs::copy(env!("CARGO_BIN_EXE_workshop"), &program).unwrap();
        (folder, program)
    });
    program
}

/// Folders, sockets and a process for one probe.
struct Place {
    folder: tempfile::TempDir,
    user: User,
}

impl Place {
    fn new(user: User) -> Self {
        // Not in the folder for temporary files, where programs may write.
        let folder = tempfile::tempdir_in("/var/tmp").unwrap();
        for (path, text) in [
            ("w/settings.yaml", "text"),
            ("w/agents/lead.md", "text"),
            ("w/storage/rules.yaml", "text"),
            ("w/tasks/work.task.md", "text"),
            ("w/.git/config", "text"),
            ("w/AGENTS.md", "text"),
            ("w/.env", "KEY=secret"),
            ("w/.workshop/state", "secret"),
            ("w/README.md", "text"),
            ("w/notes.md", "text"),
            ("w/artifacts/mine.md", "text"),
            ("home/.ssh/id", "secret"),
            ("home/.netrc", "secret"),
            ("home/.cargo/credentials.toml", "secret"),
            ("home/.config/agent-workshop/keys.env", "secret"),
            ("home/Documents/letter.txt", "letter"),
            ("config/keys.env", "secret"),
            ("outside/file", "text"),
            ("probe.py", include_str!("sandbox_probe.py")),
        ] {
            write(folder.path(), path, text);
        }
        fs::create_dir(folder.path().join("run")).unwrap();
        if user == User::Ordinary {
            give(folder.path());
        }
        Self { folder, user }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(path)
    }

    /// The rights, times and attributes that programs must not change.
    fn attributes(&self) -> (Vec<(u32, i64)>, String) {
        let paths = ["w", "w/settings.yaml", "w/agents", "w/agents/lead.md", "w/tasks/work.task.md", "w/.git/config"];
        let of = |path: &str| {
            let found = fs::metadata(self.at(path)).unwrap();
            // What is created in the workspace changes the time of its folder.
            (found.mode(), if path == "w" { 0 } else { found.mtime() })
        };
        let list = "import os, sys\nfor path in sys.argv[1:]:\n    print(os.listxattr(path))\n";
        let extended =
            Command::new("python3").args(["-c", list]).args(paths.map(|path| self.at(path))).output().unwrap();
        (paths.into_iter().map(of).collect(), String::from_utf8(extended.stdout).unwrap())
    }

    /// Returns the words with which a program is started in this mode.
    fn words(&self, mode: Mode, words: &[String]) -> Vec<OsString> {
        let level = match mode {
            Mode::Bubblewrap => Level::Bubblewrap,
            Mode::Landlock | Mode::LandlockAlone => Level::Landlock,
            Mode::Neither => Level::None,
        };
        let hidden = [self.at("config"), self.at("run")];
        let rights = Rights {
            folder: &self.at("w"),
            new_entries: true,
            network: false,
            own: &[],
            hidden: &hidden,
            limits: None,
        };
        let (wrapped, _) = Confinement::of_kind(level).unwrap().wrap(words.to_vec(), &rights);
        let mut words: Vec<OsString> =
            wrapped.into_iter().filter(|word| mode != Mode::LandlockAlone || word != "--namespaces").collect();
        words[0] = everybodys_program().into();
        if let Some(home) = words.iter().position(|word| word == "--home") {
            words[home + 1] = self.at("home").into();
        }
        words
    }

    /// Returns the command that starts a program in this mode.
    fn command(&self, mode: Mode, words: &[String]) -> Command {
        let words = self.words(mode, words);
        let mut command = self.user.command(&words[0]);
        command.args(&words[1..]).current_dir(self.at("w")).env("HOME", self.at("home")).env_remove("TMPDIR");
        command
    }

    /// Runs the probe. Returns what succeeded.
    fn probe(&self, mode: Mode) -> BTreeMap<String, bool> {
        let socket = UnixListener::bind(self.at("run/socket")).unwrap();
        fs::set_permissions(self.at("run/socket"), fs::Permissions::from_mode(0o777)).unwrap();
        let name = format!("workshop-probe-{}-{mode:?}-{:?}", std::process::id(), self.user);
        let abstract_socket = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
        let (tcp, udp) = (TcpListener::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
        let mut other = self.user.command("sleep");
        let mut other = other.arg("600").env("API_KEY", "secret").stdin(Stdio::null()).spawn().unwrap();
        let keys = [
            "home/.ssh/id",
            "home/.netrc",
            "home/.cargo/credentials.toml",
            "config/keys.env",
            "home/.config/agent-workshop/keys.env",
        ]
        .map(|path| self.at(path));
        let given = json!({
            "workspace": self.at("w"), "home": self.at("home"), "outside": self.at("outside"), "keys": keys,
            "process": other.id(), "socket": self.at("run/socket"), "abstract": name,
            "tcp": tcp.local_addr().unwrap().port(), "udp": udp.local_addr().unwrap().port(),
        });
        let words = ["python3".to_owned(), self.at("probe.py").display().to_string(), given.to_string()];
        let before = self.attributes();
        let outside = |path: &Path| fs::metadata(path).map(|found| (found.mode(), found.mtime())).unwrap();
        let file = self.at("outside/file");
        let output = self.command(mode, &words).stdin(Stdio::null()).output().unwrap();
        other.kill().unwrap();
        other.wait().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        let line = text.lines().last().unwrap_or_else(|| panic!("{mode:?} {:?}: {errors}", self.user));
        let mut done: BTreeMap<String, bool> = serde_json::from_str(line).unwrap();
        // What matters is what is left afterwards, not what the program was told.
        let is_same = |path: &str, text: &str| fs::read_to_string(self.at(path)).is_ok_and(|found| found == text);
        let guarded = ["settings.yaml", "agents/lead.md", "storage/rules.yaml", "tasks/work.task.md", ".git/config"];
        if mode != Mode::Neither {
            let is_written = guarded.iter().any(|path| !is_same(&format!("w/{path}"), "text"));
            done.insert("write guarded".into(), is_written);
            done.insert("change guarded".into(), self.attributes() != before);
        }
        done.insert("create guarded".into(), self.at("w/templates").exists() || self.at("w/.mcp.json").exists());
        done.insert("create at top".into(), is_same("w/new.txt", "new"));
        done.insert("udp".into(), {
            udp.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
            udp.recv(&mut [0; 64]).is_ok()
        });
        if mode == Mode::LandlockAlone && done["change outside"] {
            assert_eq!(outside(&file).0 & 0o777, 0o604, "the probe is right about what it changed");
        }
        if mode == Mode::LandlockAlone && self.attributes() == before {
            assert!(errors.contains("changed by the program and put back"), "{errors}");
        }
        drop((socket, abstract_socket));
        done
    }
}

/// Gives everything in a folder to the ordinary user.
fn give(path: &Path) {
    std::os::unix::fs::lchown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            give(&entry.unwrap().path());
        }
    }
}

/// Returns the modes that work here for this user.
fn modes(user: User) -> Vec<Mode> {
    let place = Place::new(user);
    let works = |mode: &Mode| {
        let level = if *mode == Mode::Bubblewrap { Level::Bubblewrap } else { Level::Landlock };
        if *mode != Mode::Neither && !MODES.contains(&level) {
            return false;
        }
        if *mode == Mode::Landlock
            && !place.words(*mode, &["true".to_owned()]).iter().any(|word| word == "--namespaces")
        {
            return false;
        }
        let mut command = place.command(*mode, &["true".to_owned()]);
        *mode == Mode::Neither || command.output().is_ok_and(|output| output.status.success())
    };
    let all = [Mode::Bubblewrap, Mode::Landlock, Mode::LandlockAlone, Mode::Neither];
    let modes: Vec<Mode> = all.into_iter().filter(works).collect();
    eprintln!("tried as {user:?}: {modes:?}");
    modes
}

fn the_table_of_what_programs_may_do_is_true() {
    let mut wrong = Vec::new();
    for (user, mode) in users().into_iter().flat_map(|user| modes(user).into_iter().map(move |mode| (user, mode))) {
        let done = Place::new(user).probe(mode);
        let probes = TABLE.iter().flat_map(|row| row.probes.iter().map(move |probe| (row.what, probe)));
        for (what, (name, succeeds_in)) in probes {
            if mode == Mode::Neither && DEPENDS.contains(name) {
                continue;
            }
            let expected = succeeds_in.contains(&mode) && (user.is_root() || !NEEDS_ROOT.contains(name));
            let is_done = done.get(*name).copied().unwrap_or_else(|| panic!("{name} was not tried"));
            if is_done != expected {
                wrong.push(format!("{mode:?} as {user:?}: {name} ({what}): {is_done}, not {expected}"));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

fn keys_that_are_lost_at_the_start_are_named() {
    let room = room("ls: true\n", &command_arguments("ls"));
    let started = |process: &str, arguments: &str| {
        // The shell becomes the program, so that both are the same process.
        let handed_over = format!("export WORKSHOP_PRIVATE_VARIABLES=\"999999:{process}=OPENAI_API_KEY=ODD_TOKEN\"");
        let script = format!("{handed_over}; exec \"$0\" {arguments}");
        let mut command = Command::new("sh");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_workshop")]).current_dir(room.path());
        command.stdin(Stdio::null()).env("WORKSHOP_TRUST", "1").env_remove("OPENAI_API_KEY");
        let output = command.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        text(&output.stdout) + &text(&output.stderr)
    };
    for arguments in ["doctor", "run --ticks 1 --speed max"] {
        let shown = started("$$", arguments);
        assert!(shown.contains("OPENAI_API_KEY, ODD_TOKEN did not arrive"), "{arguments}: {shown}");
        assert!(shown.contains("keys.env"), "what to do: {arguments}: {shown}");
        let shown = started("1", arguments);
        assert!(!shown.contains("did not arrive"), "left from another process: {arguments}: {shown}");
    }
}

fn the_system_shows_no_keys_of_the_workshop() {
    let room = room("ls: true\n", &command_arguments("ls"));
    let keys =
        [("OPENAI_API_KEY", "key-of-ada-1"), ("SLACK_BOT_TOKEN", "key-of-ada-2"), ("ODD", "sk-key-of-ada-3456789")];
    let mut command = workshop(room.path(), &["run", "--provider", "scripted:script.yaml", "--events", "-"]);
    command.envs(keys).env("HARMLESS", "shown");
    let mut running = Running::of(command);
    running.wait_for("the room is open", |event| event["type"] == "run_start");
    let process = format!("/proc/{}", running.child.id());
    // Another user than root cannot read it at all.
    if let Ok(environment) = fs::read(format!("{process}/environ")) {
        let environment = String::from_utf8_lossy(&environment);
        assert!(environment.contains("HARMLESS=shown") && !environment.contains("key-of-ada"), "{environment}");
    }
    let line = fs::read_to_string(format!("{process}/cmdline")).unwrap();
    assert!(line.contains("scripted:script.yaml") && !line.contains("key-of-ada"), "{line}");
    // The files of a process that other processes cannot inspect belong to root.
    if !is_root() {
        assert_eq!(fs::metadata(format!("{process}/environ")).unwrap().uid(), 0);
    }
    running.kill();
    let mut command = workshop(room.path(), &["doctor"]);
    let found = String::from_utf8(command.envs(keys).output().unwrap().stdout).unwrap();
    assert!(found.contains("OPENAI_API_KEY is set"), "{found}");
    assert!(!found.contains("key-of-ada"), "{found}");
}

fn the_table_is_in_the_documentation() {
    let mut text = String::new();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/trust.md");
    fs::File::open(path).unwrap().read_to_string(&mut text).unwrap();
    let missing: Vec<String> = TABLE
        .iter()
        .map(|row| format!("| {} | {} |", row.what, row.cells.join(" | ")))
        .filter(|line| !text.lines().any(|found| found == line))
        .collect();
    assert!(missing.is_empty(), "add to the table in docs/trust.md:\n{}", missing.join("\n"));
}
