//! Requests prompt texts from modules when work begins; the work waits for them.

use std::collections::BTreeSet;

use bevy::ecs::prelude::*;

use super::KnownModules;
use super::wanted_modules::ModuleSources;
use crate::base::ActivationKey;
use crate::kernel::Kernel;
use crate::mind::PromptAdditions;

/// Lets work that begins wait until its agent's modules are loaded and were asked. The module runner always answers.
pub(in crate::desk) fn wait_for_prompt_texts(
    kernel: Res<Kernel>,
    (sources, modules): (ModuleSources, Res<KnownModules>),
    mut words: ResMut<PromptAdditions>,
    mut asked: Local<BTreeSet<ActivationKey>>,
) {
    asked.retain(|work| kernel.activation(*work).is_some());
    let over: Vec<ActivationKey> =
        words.awaited().map(|(work, _)| work).filter(|work| kernel.activation(*work).is_none()).collect();
    for work in over {
        words.release(work);
    }
    let begun = kernel.activations().filter(|work| work.has_begun() && sources.has_profile(&work.profile));
    for work in begun {
        if !asked.insert(work.key) {
            continue;
        }
        if modules.has(&work.profile) || sources.folder_with_modules(&work.profile).is_some() {
            words.wait(work.key, &work.profile);
        }
    }
}
