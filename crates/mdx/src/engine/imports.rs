//! What code may import: files that were passed in with it, and nothing else.

use std::collections::BTreeMap;
use std::sync::Arc;

use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::{Ctx, Error, Module, Result, Runtime};

use super::strip::Program;

/// The files that code may import, by their path in the folder with `/` between its parts.
#[derive(Clone, Default)]
pub(super) struct Imports(pub(super) Arc<BTreeMap<String, Arc<Program>>>);

impl Imports {
    pub(super) fn install(self, runtime: &Runtime) {
        runtime.set_loader(self.clone(), self);
    }

    /// The file that a relative path means, seen from a file of the folder: as it is written, with the ending of
    /// TypeScript, or as a folder with an index.
    fn find(&self, base: &str, name: &str) -> Option<String> {
        let folder = base.rsplit_once('/').map_or("", |(folder, _)| folder);
        let path = joined(folder, name)?;
        let as_ts = path.strip_suffix(".js").map(|stem| format!("{stem}.ts"));
        let tried = [Some(path.clone()), as_ts, Some(format!("{path}.ts")), Some(format!("{path}/index.ts"))];
        tried.into_iter().flatten().find(|path| self.0.contains_key(path))
    }
}

/// A relative path from a folder; `None` if it leads out of the root.
fn joined(folder: &str, name: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in name.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

impl Resolver for Imports {
    fn resolve<'js>(
        &mut self,
        _: &Ctx<'js>,
        base: &str,
        name: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> Result<String> {
        let refuse = |why: String| Error::new_resolving_message(base, name, why);
        if !name.starts_with("./") && !name.starts_with("../") {
            return Err(refuse(
                "packages are not available; copy what you need into a file of the folder and import it by its \
                 relative path, as ./helper.ts"
                    .to_owned(),
            ));
        }
        if self.0.is_empty() {
            return Err(refuse("a tool cannot import files; put everything into its code block".to_owned()));
        }
        self.find(base, name).ok_or_else(|| refuse("there is no such file in the folder".to_owned()))
    }
}

impl Loader for Imports {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> Result<Module<'js, Declared>> {
        let program = self.0.get(name).ok_or_else(|| Error::new_loading(name))?;
        Module::declare(ctx.clone(), name, program.code.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::strip::strip;

    #[test]
    fn relative_paths_are_found_as_people_write_them() {
        let program = Arc::new(strip("1", 10).unwrap());
        let files = ["a.ts", "lib/b.ts", "lib/index.ts"].map(|path| (path.to_owned(), program.clone()));
        let imports = Imports(Arc::new(files.into_iter().collect()));
        for (base, name, found) in [
            ("lib/b.ts", "../a.ts", Some("a.ts")),
            ("a.ts", "./lib/b", Some("lib/b.ts")),
            ("a.ts", "./lib/b.js", Some("lib/b.ts")),
            ("a.ts", "./lib", Some("lib/index.ts")),
            ("a.ts", "./c", None),
            ("a.ts", "../../a.ts", None),
            ("lib/b.ts", "./index", Some("lib/index.ts")),
        ] {
            assert_eq!(imports.find(base, name).as_deref(), found, "{name} from {base}");
        }
    }
}
