//! Tests of how an open room follows the person's file, in every order in which reading and allowing can happen.

use crate::gateway::trust::followed_trust::*;
use crate::gateway::trust::trusted_workspaces::{load, revoke, trust};
use crate::workspace::trust::Widening;

fn widening(value: &str) -> Widening {
    Widening::new("settings.yaml", "commands.network", value, "")
}

fn parts(values: &[&str]) -> WorkspaceTrust {
    WorkspaceTrust::Parts { parts: values.iter().map(|value| widening(value).hash()).collect() }
}

#[test]
fn only_news_of_the_file_enter_the_room() {
    let mut traffic = TrustTraffic::default();
    assert_eq!(traffic.take(&parts(&["a"])), None);
    traffic.receive(parts(&["a"]));
    assert_eq!(traffic.take(&parts(&["a"])), None, "the room knows that");
    traffic.receive(parts(&["b"]));
    traffic.receive(WorkspaceTrust::Nothing);
    assert_eq!(traffic.take(&parts(&["a"])), Some(WorkspaceTrust::Nothing), "the newest counts");
    assert_eq!(traffic.take(&parts(&["a"])), None, "once");
}

#[test]
fn what_is_allowed_in_the_room_is_not_lost_to_an_older_reading_of_the_file() {
    let mut traffic = TrustTraffic::default();
    traffic.note(&parts(&["a"]));
    assert!(!traffic.has_unsent, "the room began with what is in the file");
    traffic.note(&parts(&["a", "b"]));
    traffic.receive(parts(&["a"]));
    assert_eq!(traffic.take(&parts(&["a", "b"])), None, "read before it was added");
    traffic.receive(parts(&["a", "c"]));
    assert_eq!(traffic.take(&parts(&["a", "b"])), Some(parts(&["a", "b", "c"])));
    traffic.receive(parts(&["a", "b", "c"]));
    assert_eq!(traffic.take(&parts(&["a", "b", "c"])), None);
    traffic.receive(parts(&["a"]));
    assert_eq!(traffic.take(&parts(&["a", "b", "c"])), Some(parts(&["a"])), "the file had it, and has it no more");
    traffic.note(&parts(&["a", "d"]));
    traffic.receive(WorkspaceTrust::Nothing);
    assert_eq!(traffic.take(&parts(&["a", "d"])), Some(WorkspaceTrust::Nothing), "revoking counts at once");
    traffic.receive(parts(&["a"]));
    assert_eq!(traffic.take(&WorkspaceTrust::Nothing), Some(parts(&["a"])));
}

#[test]
fn what_the_file_says_is_not_added_to_it_again() {
    let mut traffic = TrustTraffic::default();
    let file = TrustFile::of(None, std::path::Path::new("room"));
    traffic.sent(&TrustCommand::Follow(file.clone()));
    traffic.note(&WorkspaceTrust::Nothing);
    traffic.receive(parts(&["a", "b"]));
    let now = traffic.take(&WorkspaceTrust::Nothing).expect("it is news");
    traffic.note(&now);
    traffic.receive(parts(&["a"]));
    let now = traffic.take(&now).expect("it is news");
    traffic.note(&now);
    assert_eq!(traffic.unsent(&file), []);
    traffic.note(&parts(&["a", "c"]));
    assert_eq!(traffic.unsent(&file), [TrustCommand::Add(BTreeSet::from([widening("c").hash()]))]);
}

#[test]
fn each_command_is_sent_until_the_worker_has_it_and_again_to_the_next_worker() {
    let file = TrustFile::of(None, std::path::Path::new("room"));
    let added = TrustCommand::Add(BTreeSet::from([widening("a").hash()]));
    let follow = TrustCommand::Follow(file.clone());
    let mut traffic = TrustTraffic::default();
    traffic.note(&parts(&[]));
    traffic.note(&parts(&["a"]));
    assert_eq!(traffic.unsent(&file), [follow.clone(), added.clone()]);
    traffic.sent(&follow);
    assert_eq!(traffic.unsent(&file), std::slice::from_ref(&added));
    traffic.sent(&added);
    assert_eq!(traffic.unsent(&file), []);
    traffic.lost();
    assert_eq!(traffic.unsent(&file), [follow.clone(), added.clone()]);
    traffic.sent(&follow);
    traffic.sent(&added);
    traffic.receive(parts(&["a"]));
    traffic.take(&parts(&["a"]));
    traffic.lost();
    assert_eq!(traffic.unsent(&file), [follow], "the file has it");
}

#[test]
fn the_file_is_looked_at_when_it_is_due_and_keeps_what_is_allowed_in_the_room() {
    let config = tempfile::tempdir().expect("a temporary folder can be made");
    let (workspace, config) = (config.path().join("room"), Some(config.path()));
    trust(config, &workspace, [widening("a")], &[]).expect("it can be saved");
    let mut followed = FollowedTrust::new(TrustFile::of(config, &workspace));
    let every = Duration::from_secs(3600);
    assert!(followed.due_in(every).is_zero(), "at once");
    assert_eq!(followed.look(), None);
    assert!(followed.due_in(every) > Duration::from_secs(1800) && followed.due_in(Duration::ZERO).is_zero());
    let added = BTreeSet::from([widening("b").hash()]);
    assert_eq!(followed.add(&added), Some(parts(&["a", "b"])));
    let known = load(config, &workspace).expect("it can be read");
    assert_eq!(known.trust(), parts(&["a", "b"]));
    revoke(config, &workspace).expect("it can be saved");
    assert_eq!(followed.look(), Some(WorkspaceTrust::Nothing));
    assert_eq!(followed.add(&added), Some(WorkspaceTrust::Nothing), "a workspace that is not trusted stays so");
}
