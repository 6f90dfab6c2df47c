//! Programs that start other programs or execute code in their options, which a rule for their first word never
//! covers; and the words that a rule for any other program covers. Pure.

use super::known_programs::{self, name_of};

/// Programs that start any program they are given. Only a rule with the whole command covers them.
#[rustfmt::skip]
const LAUNCHERS: &[&str] = &[
    ".", "aarch64", "armv7l", "at", "batch", "builtin", "bundle", "bunx", "busybox", "bwrap", "catatonit",
    "catchsegv", "ccache", "cgexec", "cgroup-exec", "chpst", "chronic", "chroot", "chrt", "cmd", "cmd.exe", "command",
    "conda", "coproc", "cpulimit", "crontab", "cross-env", "daemonize", "dbus-launch", "dbus-run-session", "direnv",
    "distcc", "doas", "dotenv", "dotenvx", "dtach", "dumb-init", "eatmydata", "entr", "env", "env-cmd", "envdir",
    "envuidgid", "eval", "exec", "expect", "fakeroot", "faketime", "firejail", "flock", "fzf", "gosu", "hyperfine",
    "i386", "i486", "i586", "i686", "ifne", "incron", "inotifywait", "ionice", "ld.so", "linux32", "linux64",
    "ltrace", "machinectl", "mamba", "minijail0", "mosh", "mpirun", "nc", "ncat", "netcat", "nice", "nix-shell",
    "nohup", "npx", "nsenter", "nsjail", "numactl", "open", "osascript", "parallel", "parallel-ssh", "pdsh", "perf",
    "pipenv", "pipx", "pkexec", "powershell", "powershell.exe", "prlimit", "proot", "proxychains", "proxychains4",
    "pwsh", "rlwrap", "rsh", "run-parts", "run0", "runsv", "runuser", "sccache", "screen", "script", "scriptreplay",
    "sem", "setarch", "setpriv", "setsid", "setuidgid", "socat", "softlimit", "source", "ssh", "ssh-agent", "sshpass",
    "start", "start-stop-daemon", "startx", "stdbuf", "strace", "su", "su-exec", "sudo", "systemd-inhibit",
    "systemd-run", "taskset", "telnet", "time", "timeout", "tini", "tmux", "torchrun", "torify", "toybox", "trap",
    "tsocks", "uname26", "unbuffer", "unshare", "uvx", "valgrind", "vipe", "watch", "watchexec", "with-contenv",
    "wsl", "x86_64", "xargs", "xdg-open", "xinit", "xterm", "xvfb-run",
];

/// Programs that run a script: a rule covers them only if it names the script, to which all further words belong.
#[rustfmt::skip]
const SCRIPT_INTERPRETERS: &[&str] = &[
    "ash", "bash", "csh", "dash", "elvish", "fish", "groovy", "guile", "java", "julia", "ksh", "lua", "luajit",
    "node", "nodejs", "nu", "ocaml", "perl", "php", "pypy", "pypy3", "python", "python2", "python3", "Rscript",
    "ruby", "runghc", "scala", "sh", "swipl", "tclsh", "ts-node", "tsx", "wish", "xonsh", "zsh",
];

/// Programs that run code in their first word: a rule covers them only if it contains the code.
const CODE_INTERPRETERS: &[&str] = &["awk", "gawk", "gsed", "mawk", "nawk", "sed"];

/// Programs that can run code in any word, also after the name of a file: only a rule with the whole command covers
/// them.
#[rustfmt::skip]
const CONSOLES: &[&str] = &[
    "bc", "dc", "duckdb", "ed", "emacs", "erl", "ex", "ftp", "gdb", "ghci", "gimp", "gnuplot", "info", "ipython",
    "irb", "jshell", "less", "lldb", "m4", "man", "mariadb", "mongosh", "more", "most", "mysql", "nano", "nvim",
    "octave", "pico", "pry", "psql", "R", "redis-cli", "sftp", "sqlite3", "vi", "view", "vim",
];

/// Those of [`CONSOLES`] whose files are data.
#[rustfmt::skip]
const DATA_CONSOLES: &[&str] = &[
    "duckdb", "ed", "emacs", "ex", "ftp", "info", "less", "man", "mariadb", "more", "most", "mysql", "nano", "nvim",
    "pico", "psql", "redis-cli", "sftp", "sqlite3", "vi", "view", "vim",
];

/// Programs whose rule must name a subcommand, one word more than the program: `docker ps`, `cargo test`.
#[rustfmt::skip]
const WITH_SUBCOMMANDS: &[&str] = &[
    "ansible", "ansible-playbook", "apt", "apt-get", "artisan", "aws", "az", "bazel", "brew", "buck", "bun", "cabal",
    "cargo", "choco", "cmake", "composer", "ctest", "deno", "dnf", "docker", "docker-compose", "doit", "dotnet",
    "fab", "gcloud", "gem", "gh", "git", "glab", "gmake", "go", "gradle", "hatch", "helm", "hg", "invoke", "ip",
    "jest", "just", "kubectl", "launchctl", "lerna", "make", "meson", "mix", "mocha", "mvn", "ninja", "nix", "nox",
    "npm", "nx", "openssl", "pacman", "pants", "pdm", "pip", "pip3", "pnpm", "podman", "poetry", "pytest", "rails",
    "rake", "rebar3", "rustup", "rye", "sbt", "snap", "stack", "svn", "systemctl", "task", "terraform", "tmutil",
    "tox", "turbo", "uv", "vagrant", "vitest", "yarn", "yum", "zypper",
];

fn is_one_of(list: &[&str], program: &str) -> bool {
    let name = name_of(program);
    let versionless = known_programs::versionless(name);
    list.iter().any(|known| known.eq_ignore_ascii_case(name) || known.eq_ignore_ascii_case(versionless))
}

/// The words of a rule for commands like this one that may be offered to a person. `None` unless the program, or its
/// subcommand, is known only to read.
pub fn pattern_of(words: &[String]) -> Option<&[String]> {
    let known = known_programs::find(words).filter(|known| known.is_read_only)?;
    let pattern = &words[..known.length()];
    let is_plain = name_of(&pattern[0]) == pattern[0] && known.is_exactly(&pattern[0]);
    (is_plain && uncovered_reason(words, pattern).is_none()).then_some(pattern)
}

/// The reason why a rule does not cover a command that begins with its words; `None` if it does.
pub fn uncovered_reason(words: &[String], rule: &[String]) -> Option<String> {
    let program = words.first()?;
    let name = name_of(program);
    if is_one_of(LAUNCHERS, program) {
        return Some(format!("{name} starts other programs, so the rule must contain the whole command"));
    }
    if is_one_of(CONSOLES, program) {
        return Some(format!("{name} can run code in any word, so the rule must contain the whole command"));
    }
    // A word that a rule leaves open with a wildcard does not count as part of the rule.
    let is_literal = |at: usize| rule.get(at).is_some_and(|word| !word.contains('*'));
    let second = words.get(1).filter(|_| is_literal(1));
    let runs_script = is_one_of(SCRIPT_INTERPRETERS, program);
    if (runs_script || is_one_of(CODE_INTERPRETERS, program))
        && second.is_none_or(|file| file.starts_with(['-', '+', '/']))
    {
        return Some(format!("{name} runs what it is given, so the rule must name the file that it runs"));
    }
    if (is_one_of(WITH_SUBCOMMANDS, program) || known_programs::has_subcommands(program)) && second.is_none() {
        return Some(format!("{name} does many things, so the rule must say which"));
    }
    let dashed = known_programs::with_dashes(words);
    let words = dashed.as_deref().unwrap_or(words);
    let is_open = |at: usize| !is_literal(at);
    let Some(known) = known_programs::find(words) else {
        // Further words belong to a script of the workspace that is started directly, or that is named.
        let is_script = runs_script || program.contains('/') && !program.starts_with(['/', '~']);
        let open = words.iter().enumerate().skip(1).find(|(at, _)| is_open(*at)).filter(|_| !is_script);
        return open.map(|(_, word)| format!("the effect of {word:?} on {name} is unknown"));
    };
    if !(1..known.length()).all(is_literal) {
        return Some(format!("{name} does many things, so the rule must say which"));
    }
    let odd = known.first_unknown(words, rule.len(), is_open);
    odd.map(|at| format!("{name} with {:?} can do more than {name} alone", words[at]))
}

/// Whether a rule for this command holds in every folder: its program only reads files, and does not follow settings in
/// the folder.
pub fn holds_everywhere(words: &[String]) -> bool {
    known_programs::find(words).is_some_and(|known| known.is_read_only && !known.is_exactly("git"))
}

/// Whether a program starts others, or runs a script.
pub fn starts_others(program: &str) -> bool {
    is_one_of(LAUNCHERS, program) || is_one_of(SCRIPT_INTERPRETERS, program)
}

/// Whether the further words of a command are known not to be run.
pub fn is_known_reader(words: &[String]) -> bool {
    let program = words.first().map_or("", String::as_str);
    let runs_words = starts_others(program) || is_one_of(CONSOLES, program);
    is_one_of(CODE_INTERPRETERS, program) || !runs_words && known_programs::find(words).is_some()
}

/// Whether a program can run code, but takes the files that it names as data.
pub fn is_data_console(program: &str) -> bool {
    is_one_of(DATA_CONSOLES, program)
}

/// Whether a rule with these words can never cover a command, because its program needs more words.
pub fn covers_nothing(rule: &[String]) -> bool {
    rule.len() == 1 && uncovered_reason(rule, rule).is_some()
}

/// The indices at which a program name can be in a command: the first word, and words after one that starts other
/// programs, or that has an option that may start them.
pub fn program_positions(words: &[String]) -> Vec<usize> {
    let begins = words.iter().position(|word| !word.contains('=') || word.starts_with('=')).unwrap_or(0);
    let Some(program) = words.get(begins) else { return Vec::new() };
    let lists = [LAUNCHERS, SCRIPT_INTERPRETERS, CODE_INTERPRETERS, CONSOLES];
    let starts_others = lists.iter().any(|list| is_one_of(list, program));
    let command = &words[begins..];
    let has_unknown_option = match known_programs::find(command) {
        Some(known) => known.has_unknown_option(command),
        None => command.iter().any(|word| word.starts_with('-')),
    };
    if starts_others || has_unknown_option { (begins..words.len()).collect() } else { vec![begins] }
}
