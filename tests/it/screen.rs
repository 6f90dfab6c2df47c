//! A virtual display for the real window: an in-memory X server, software Vulkan, simulated input, and screenshots, all
//! with third-party programs.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The required programs.
const PROGRAMS: [&str; 5] = ["Xvfb", "xdotool", "import", "montage", "openbox"];
/// The time limit for anything to become visible. Software rendering on a busy machine is slow, and agents talk only
/// about once a minute.
const PATIENCE: Duration = Duration::from_secs(240);

/// Windows fill the display without a frame, so that points of the window are points of the display.
const WINDOW_RULES: &str = r#"<?xml version="1.0"?>
<openbox_config xmlns="http://openbox.org/3.4/rc"><applications><application class="*">
<decor>no</decor><position force="yes"><x>0</x><y>0</y></position><focus>yes</focus>
</application></applications></openbox_config>"#;

/// Returns the name of what is missing on this machine for showing a window, if anything.
pub fn missing() -> Option<String> {
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect();
    let is_there = |program: &&&str| !folders.iter().any(|folder| folder.join(program).exists());
    if let Some(program) = PROGRAMS.iter().find(is_there) {
        return Some((*program).to_owned());
    }
    let drivers = std::fs::read_dir("/usr/share/vulkan/icd.d");
    let is_software = |entry: std::fs::DirEntry| entry.file_name().to_string_lossy().starts_with("lvp_icd");
    let found = drivers.is_ok_and(|mut entries| entries.any(|entry| entry.is_ok_and(is_software)));
    (!found).then(|| "Mesa's software Vulkan driver".to_owned())
}

/// A virtual display. Dropping it ends the X server and the window manager.
pub struct Display {
    server: Child,
    window_manager: Child,
    name: String,
    size: (u32, u32),
    /// The folder of the screenshots and the configuration.
    pub folder: PathBuf,
}

impl Drop for Display {
    fn drop(&mut self) {
        for child in [&mut self.window_manager, &mut self.server] {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Display {
    /// Starts a display of this size whose screenshots are saved in the folder.
    pub fn start(size: (u32, u32), folder: &Path) -> Self {
        let (width, height) = size;
        std::fs::create_dir_all(folder).unwrap();
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-nolisten", "tcp", "-noreset", "-screen", "0", &format!("{width}x{height}x24")])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut number = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut number).unwrap();
        let name = format!(":{}", number.trim());
        let rules = folder.join("openbox.xml");
        std::fs::write(&rules, WINDOW_RULES).unwrap();
        let window_manager = Command::new("openbox")
            .args(["--config-file".as_ref(), rules.as_os_str()])
            .env("DISPLAY", &name)
            .env("HOME", folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Self { server, window_manager, name, size, folder: folder.to_owned() }
    }

    /// Returns a command whose window opens on this display, with its configuration in this display's folder.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env("DISPLAY", &self.name)
            .env("WORKSHOP_TRUST", "1")
            .env_remove("WAYLAND_DISPLAY")
            .env("HOME", &self.folder)
            .env("XDG_CONFIG_HOME", self.folder.join("config"))
            .env("XDG_RUNTIME_DIR", &self.folder)
            .stdin(Stdio::null());
        command
    }

    /// Simulates mouse and keyboard input with arguments of `xdotool`.
    pub fn hand(&self, words: &[&str]) {
        let done = self.command("xdotool").args(words).output().unwrap();
        assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    /// Moves the pointer there and clicks.
    pub fn click(&self, (x, y): (f32, f32)) {
        self.point((x, y));
        thread::sleep(Duration::from_millis(300));
        self.hand(&["click", "1"]);
    }

    /// Moves the pointer there and double-clicks.
    pub fn double_click(&self, at: (f32, f32)) {
        self.point(at);
        self.hand(&["click", "--repeat", "2", "--delay", "60", "1"]);
    }

    /// Moves the pointer there.
    pub fn point(&self, (x, y): (f32, f32)) {
        self.hand(&["mousemove", &x.round().to_string(), &y.round().to_string()]);
    }

    /// Drags from one point to another.
    pub fn drag(&self, from: (f32, f32), to: (f32, f32)) {
        self.point(from);
        // At a few frames per second, each step is noticed only with pauses.
        let rest = || thread::sleep(Duration::from_millis(500));
        rest();
        self.hand(&["mousedown", "1"]);
        rest();
        for step in 1..=8 {
            let share = step as f32 / 8.0;
            self.point((from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share));
            // Software rendering needs time for each frame.
            thread::sleep(Duration::from_millis(60));
        }
        thread::sleep(Duration::from_millis(400));
        self.hand(&["mouseup", "1"]);
    }

    /// Presses keys; `ctrl+z` holds Ctrl while it presses Z.
    pub fn keys(&self, keys: &str) {
        let (held, struck) = keys
            .rsplit_once('+')
            .map_or((Vec::new(), keys), |(held, struck)| (held.split('+').collect::<Vec<_>>(), struck));
        let pause = || thread::sleep(Duration::from_millis(250));
        for key in &held {
            self.hand(&["keydown", key]);
        }
        pause();
        self.hand(&["key", struck]);
        pause();
        for key in &held {
            self.hand(&["keyup", key]);
        }
    }

    /// Types a text.
    pub fn types(&self, text: &str) {
        self.hand(&["type", "--delay", "15", "--", text]);
    }

    /// Saves a screenshot under this name.
    pub fn picture(&self, name: &str) -> PathBuf {
        let file = self.folder.join(format!("{name}.png"));
        let done = self.command("import").args(["-window", "root"]).arg(&file).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        file
    }

    /// Combines screenshots into `film.png`, each with its name under it.
    pub fn film(&self, names: &[&str]) {
        let mut command = Command::new("montage");
        for name in names {
            command.args(["-label", name]).arg(self.folder.join(format!("{name}.png")));
        }
        let done = command.args(["-tile", "4x", "-geometry", "640x+6+6"]).arg(self.folder.join("film.png")).output();
        let done = done.unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }

    /// Waits until a window with this title exists, and gives it the keyboard focus.
    pub fn focus(&self, title: &str) {
        until(&format!("a window called {title}"), || {
            let found = self.command("xdotool").args(["search", "--name", title]).output().unwrap();
            !found.stdout.is_empty()
        });
        self.hand(&["search", "--name", title, "windowactivate", "--sync"]);
    }

    /// Minimizes the window with this title; [`Self::focus`] restores it.
    pub fn minimise(&self, title: &str) {
        self.hand(&["search", "--name", title, "windowminimize"]);
    }

    /// Returns whether the middle of the display is brighter than dark grey. This costs a hundredth of a screenshot,
    /// for polling a busy program.
    pub fn is_lit_in_the_middle(&self) -> bool {
        const SIDE: u32 = 48;
        let (width, height) = self.size;
        let place = format!("{SIDE}x{SIDE}+{}+{}", (width - SIDE) / 2, (height - SIDE) / 2);
        let arguments = ["-window", "root", "-crop", &place, "+repage", "-depth", "8", "gray:-"];
        let done = self.command("import").args(arguments).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let sum: u64 = done.stdout.iter().map(|byte| u64::from(*byte)).sum();
        sum > 60 * done.stdout.len() as u64
    }

    /// Saves a screenshot. Returns whether it shows more than an empty display.
    pub fn shows_something(&self, name: &str) -> bool {
        // A screenshot of an empty display has a few hundred bytes.
        std::fs::metadata(self.picture(name)).is_ok_and(|file| file.len() > 50_000)
    }
}

/// Polls until a condition holds.
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "timed out waiting for {what}");
        thread::sleep(Duration::from_millis(50));
    }
}
