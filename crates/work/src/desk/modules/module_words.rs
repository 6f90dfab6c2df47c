//! Requests prompt texts from modules when work begins; the work waits for them.

use std::collections::BTreeSet;

use bevy::ecs::prelude::*;

use super::KnownModules;
use crate::base::ActivationKey;
use crate::kernel::Kernel;
use crate::mind::PromptAdditions;

/// Lets work that begins wait until its agent's modules were asked. The module runner always answers.
pub(in crate::desk) fn wait_for_prompt_texts(
    kernel: Res<Kernel>,
    modules: Res<KnownModules>,
    mut words: ResMut<PromptAdditions>,
    mut asked: Local<BTreeSet<ActivationKey>>,
) {
    asked.retain(|work| kernel.activation(*work).is_some());
    let over: Vec<ActivationKey> =
        words.awaited().map(|(work, _)| work).filter(|work| kernel.activation(*work).is_none()).collect();
    for work in over {
        words.release(work);
    }
    if modules.is_empty() {
        return;
    }
    let begun = kernel.activations().filter(|work| work.has_begun());
    for work in begun.filter(|work| modules.has(&work.profile)) {
        if asked.insert(work.key) {
            words.wait(work.key, &work.profile);
        }
    }
}
