//! The sources that build tools and test runners find by themselves, without a name for each: all files of their kind in
//! the folder of the project. Pure.

use serde::{Deserialize, Serialize};

use crate::base::paths::file_name;

/// The sources that a command compiles or runs.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct SourceFolder {
    /// The folder in which its tool looks for a project.
    pub folder: String,
    /// The kind of sources.
    pub kind: SourceKind,
}

/// The sources of a kind of tool.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceKind {
    /// Of Cargo.
    Rust,
    /// Of Go.
    Go,
    /// Of build tools that compile what they are told: make, CMake, Ninja, Meson, Bazel.
    Native,
    /// Of Maven, Gradle and sbt.
    Jvm,
    /// Of .NET.
    Dotnet,
    /// Of programs for Node, Deno and Bun.
    JavaScript,
    /// Of test runners and tools for Python.
    Python,
    /// Of Ruby.
    Ruby,
    /// Of PHP.
    Php,
    /// Of Mix.
    Elixir,
    /// Of Swift.
    Swift,
    /// Of Zig.
    Zig,
    /// Of Cabal and Stack.
    Haskell,
    /// Of Dart and Flutter.
    Dart,
}

/// What belongs to a kind of sources.
struct SourceRule {
    kind: SourceKind,
    /// The names of files that make a folder a project; a name that begins with a dot is an extension.
    markers: &'static [&'static str],
    /// The extensions of the sources.
    extensions: &'static [&'static str],
    /// Folders beside such a file that only hold what was installed, and what the tool made and does not compile or run as
    /// a source again.
    outputs: &'static [&'static str],
}

/// Languages that can be compiled into a program of another one.
const NATIVE: &[&str] = &[
    "adb", "ads", "asm", "c", "c++", "cc", "cpp", "cppm", "cu", "cuh", "cxx", "d", "f", "f03", "f90", "f95", "for",
    "h", "h++", "hh", "hpp", "hxx", "i", "inc", "inl", "ipp", "ixx", "l", "ll", "m", "ml", "mli", "mm", "nim", "pas",
    "pyx", "s", "tcc", "v", "vala", "y", "yy", "zig",
];

/// Files beside a project for Rust, or above, that name programs which Cargo runs.
const RUST_SETTINGS: [&str; 4] = [".cargo/config.toml", ".cargo/config", "rust-toolchain.toml", "rust-toolchain"];

#[rustfmt::skip]
const RULES: &[SourceRule] = &[
    SourceRule { kind: SourceKind::Rust, markers: &["Cargo.toml"], extensions: &["rs"], outputs: &["target"] },
    SourceRule { kind: SourceKind::Go, markers: &["go.mod", "go.work"], extensions: &["go"], outputs: &[] },
    SourceRule {
        kind: SourceKind::Native,
        markers: &[
            "CMakeLists.txt", "GNUmakefile", "makefile", "Makefile", "build.ninja", "meson.build", "MODULE.bazel",
            "WORKSPACE",
        ],
        extensions: &["go", "hs", "java", "rs", "swift"],
        outputs: &[],
    },
    SourceRule {
        kind: SourceKind::Jvm,
        markers: &[
            "pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts", "build.sbt",
        ],
        extensions: &["clj", "groovy", "gradle", "java", "kt", "kts", "sbt", "scala"],
        outputs: &[".gradle"],
    },
    SourceRule {
        kind: SourceKind::Dotnet,
        markers: &[".sln", ".slnx", ".csproj", ".fsproj", ".vbproj"],
        extensions: &[
            "cs", "cshtml", "csproj", "fs", "fsproj", "fsx", "props", "razor", "sln", "slnx", "targets", "vb", "vbproj",
        ],
        outputs: &["bin"],
    },
    SourceRule {
        kind: SourceKind::JavaScript,
        markers: &["package.json", "deno.json", "deno.jsonc"],
        extensions: &["cjs", "coffee", "cts", "js", "jsx", "mjs", "mts", "svelte", "ts", "tsx", "vue"],
        outputs: &["node_modules"],
    },
    SourceRule {
        kind: SourceKind::Python,
        markers: &["pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "pytest.ini", "Pipfile"],
        extensions: &["pth", "py", "pyw", "pyx"],
        outputs: &[".venv", "venv", ".tox", ".nox"],
    },
    SourceRule {
        kind: SourceKind::Ruby,
        markers: &["Gemfile", "Rakefile"],
        extensions: &["erb", "gemspec", "rake", "rb", "ru"],
        outputs: &[],
    },
    SourceRule {
        kind: SourceKind::Php,
        markers: &["composer.json"],
        extensions: &["inc", "php", "phtml"],
        outputs: &["vendor"],
    },
    SourceRule {
        kind: SourceKind::Elixir,
        markers: &["mix.exs"],
        extensions: &["eex", "erl", "ex", "exs", "heex", "hrl"],
        outputs: &["_build"],
    },
    SourceRule {
        kind: SourceKind::Swift,
        markers: &["Package.swift"],
        extensions: &["swift"],
        outputs: &[".build"],
    },
    SourceRule { kind: SourceKind::Zig, markers: &["build.zig"], extensions: &["zig", "zon"], outputs: &["zig-out"] },
    SourceRule {
        kind: SourceKind::Haskell,
        markers: &[".cabal", "stack.yaml", "cabal.project"],
        extensions: &["cabal", "hs", "hsc", "lhs"],
        outputs: &["dist-newstyle", ".stack-work"],
    },
    SourceRule {
        kind: SourceKind::Dart,
        markers: &["pubspec.yaml"],
        extensions: &["dart"],
        outputs: &["build", ".dart_tool"],
    },
];

impl SourceKind {
    fn rule(self) -> &'static SourceRule {
        RULES.iter().find(|rule| rule.kind == self).expect("each kind has a rule")
    }

    /// Whether a file with this name makes its folder a project of this kind.
    pub(super) fn is_marker(self, name: &str) -> bool {
        let fits = |marker: &&str| *marker == name || marker.starts_with('.') && name.ends_with(*marker);
        self.rule().markers.iter().any(fits)
    }

    /// Whether the tool compiles or runs a file with this path.
    pub(super) fn is_source(self, path: &str) -> bool {
        let name = file_name(path);
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase();
        let extension = extension.as_str();
        let is_native = self.compiles_native() && NATIVE.contains(&extension);
        let is_settings = self == Self::Rust && RUST_SETTINGS.iter().any(|end| path.ends_with(end));
        self.rule().extensions.contains(&extension) || is_native || is_settings || self.is_marker(name)
    }

    /// Whether sources of the languages that are linked into programs belong to it, too.
    fn compiles_native(self) -> bool {
        matches!(self, Self::Rust | Self::Go | Self::Native | Self::Swift | Self::Zig | Self::Haskell)
    }

    /// Whether a folder beside a file of the project holds no sources that the tool compiles or runs.
    pub(super) fn is_output(self, name: &str) -> bool {
        self.rule().outputs.contains(&name)
    }

    /// Whether the project is the nearest folder above with such a file; otherwise the farthest, whose parts may use each
    /// other.
    pub(super) fn is_nearest(self) -> bool {
        matches!(self, Self::JavaScript | Self::Native | Self::Php | Self::Ruby)
    }

    /// Whether sources name the others that they use, beyond those in the project.
    pub(in crate::gateway) fn is_followed(self) -> bool {
        matches!(self, Self::JavaScript | Self::Python | Self::Ruby | Self::Php)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_and_projects_are_known_by_their_names() {
        for (kind, source, marker) in [
            (SourceKind::Rust, "src/lib.rs", "Cargo.toml"),
            (SourceKind::Rust, "native/fast.c", "Cargo.toml"),
            (SourceKind::Rust, "web/.cargo/config.toml", "Cargo.toml"),
            (SourceKind::Go, "pkg/a_test.go", "go.mod"),
            (SourceKind::Native, "src/main.C", "Makefile"),
            (SourceKind::Jvm, "src/test/java/A.java", "pom.xml"),
            (SourceKind::Jvm, "src/A.kt", "build.gradle.kts"),
            (SourceKind::Dotnet, "A.cs", "App.csproj"),
            (SourceKind::JavaScript, "src/app.test.tsx", "package.json"),
            (SourceKind::Python, "tests/test_a.py", "pyproject.toml"),
            (SourceKind::Ruby, "spec/a_spec.rb", "Gemfile"),
            (SourceKind::Php, "tests/ATest.php", "composer.json"),
            (SourceKind::Elixir, "test/a_test.exs", "mix.exs"),
            (SourceKind::Swift, "Sources/a.swift", "Package.swift"),
            (SourceKind::Zig, "src/main.zig", "build.zig"),
            (SourceKind::Haskell, "app/Main.hs", "x.cabal"),
            (SourceKind::Dart, "test/a_test.dart", "pubspec.yaml"),
        ] {
            assert!(kind.is_source(source) && kind.is_marker(marker), "{kind:?}");
            assert!(!kind.is_source("notes.md") && !kind.is_source("data.csv") && !kind.is_marker("notes.md"));
        }
    }
}
