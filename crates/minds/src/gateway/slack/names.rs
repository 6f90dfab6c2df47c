//! The names behind the ids of users and channels in Slack: requested once and cached.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use super::api_client::{Api, Fault};
use super::wire::Refusal;

/// The maximum number of pages of a list that are read.
const MAX_PAGES: usize = 20;
/// The maximum number of cached names.
const MAX_NAMES: usize = 10_000;

/// Cached names. Clones share their state.
#[derive(Clone, Default)]
pub(in crate::gateway) struct Names(Arc<Mutex<KnownNames>>);

#[derive(Default)]
struct KnownNames {
    /// The ids of channels by their names without sign.
    channels: BTreeMap<String, String>,
    /// The names of people by their ids.
    people: BTreeMap<String, String>,
    /// The ids of the bot: as a user and as a bot.
    own: Option<(String, String)>,
}

/// Whether a text is a Slack id, such as `C0123ABCD`.
fn is_id(text: &str, kinds: &[char]) -> bool {
    text.starts_with(kinds)
        && text.len() >= 8
        && text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
}

fn bare(name: &str) -> String {
    name.trim_start_matches(['#', '@']).to_lowercase()
}

fn text(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
}

impl Names {
    /// Clears the cache because the key changed.
    pub(in crate::gateway) fn forget(&self) {
        *self.known() = KnownNames::default();
    }

    fn known(&self) -> std::sync::MutexGuard<'_, KnownNames> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the id of a channel.
    pub(super) async fn channel(&self, api: &Api, name: &str) -> Result<String, Fault> {
        if is_id(name, &['C', 'G', 'D']) {
            return Ok(name.to_owned());
        }
        let bare = bare(name);
        if let Some(id) = self.known().channels.get(&bare) {
            return Ok(id.clone());
        }
        let mut page = String::new();
        for _ in 0..MAX_PAGES {
            let mut values =
                vec![("types", "public_channel,private_channel"), ("exclude_archived", "true"), ("limit", "200")];
            values.extend((!page.is_empty()).then_some(("cursor", page.as_str())));
            let answer = api.ask("conversations.list", &values).await?;
            let mut known = self.known();
            for channel in answer.get("channels").and_then(Value::as_array).into_iter().flatten() {
                if let (Some(id), Some(name)) = (text(channel, "id"), text(channel, "name"))
                    && known.channels.len() < MAX_NAMES
                {
                    known.channels.insert(name.to_lowercase(), id);
                }
            }
            if let Some(id) = known.channels.get(&bare) {
                return Ok(id.clone());
            }
            drop(known);
            match next_page(&answer) {
                Some(next) if next != page => page = next,
                _ => break,
            }
        }
        Err(Fault::Refused(Refusal { code: "channel_not_found".to_owned(), needed: None }))
    }

    /// Returns the id of the person with this name.
    pub(super) async fn person(&self, api: &Api, name: &str) -> Result<String, Fault> {
        let wanted = bare(name);
        let mut page = String::new();
        for _ in 0..MAX_PAGES {
            let mut values = vec![("limit", "200")];
            values.extend((!page.is_empty()).then_some(("cursor", page.as_str())));
            let answer = api.ask("users.list", &values).await?;
            for user in answer.get("members").and_then(Value::as_array).into_iter().flatten() {
                let profile = user.get("profile").unwrap_or(&Value::Null);
                let names = [text(user, "name"), text(user, "real_name"), text(profile, "display_name")];
                let is_meant = names.into_iter().flatten().any(|name| name.to_lowercase() == wanted);
                if let Some(id) = text(user, "id").filter(|_| is_meant && user["deleted"] != Value::Bool(true)) {
                    return Ok(id);
                }
            }
            match next_page(&answer) {
                Some(next) if next != page => page = next,
                _ => break,
            }
        }
        Err(Fault::Refused(Refusal { code: "unknown_user".to_owned(), needed: None }))
    }

    /// Returns the name of a person; the id if Slack does not return one.
    pub(super) async fn name_of(&self, api: &Api, id: &str) -> String {
        if let Some(name) = self.known_name(id) {
            return name;
        }
        let name = match api.ask("users.info", &[("user", id)]).await {
            Ok(answer) => {
                let user = answer.get("user").cloned().unwrap_or_default();
                let profile = user.get("profile").cloned().unwrap_or_default();
                text(&profile, "display_name").or_else(|| text(&user, "real_name")).or_else(|| text(&user, "name"))
            }
            // Without the permission to read names, people are called by their ids.
            Err(Fault::Refused(_)) => None,
            Err(Fault::Http(_)) => return id.to_owned(),
        };
        let name = name.unwrap_or_else(|| id.to_owned());
        let mut known = self.known();
        if known.people.len() < MAX_NAMES {
            known.people.insert(id.to_owned(), name.clone());
        }
        name
    }

    /// Returns the name of a person if it is cached.
    pub(super) fn known_name(&self, id: &str) -> Option<String> {
        self.known().people.get(id).cloned()
    }

    /// Returns the ids of the bot itself, whose messages are not reported.
    pub(super) async fn own(&self, api: &Api) -> Result<(String, String), Fault> {
        if let Some(own) = &self.known().own {
            return Ok(own.clone());
        }
        let answer = Value::Object(api.ask("auth.test", &[]).await?);
        let own = (text(&answer, "user_id").unwrap_or_default(), text(&answer, "bot_id").unwrap_or_default());
        self.known().own = Some(own.clone());
        Ok(own)
    }
}

/// Returns the cursor of the next page of a list, if there is one.
pub(super) fn next_page(answer: &serde_json::Map<String, Value>) -> Option<String> {
    text(answer.get("response_metadata")?, "next_cursor").filter(|next| next.len() <= 1_000)
}
