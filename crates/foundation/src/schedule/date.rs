//! The date in the room: the wall-clock date when the room was opened, recorded once and advanced in simulated time.
//! Agents see this date, and time-limited permissions expire by it.

use bevy::ecs::message::Message;
use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::SimClock;
use super::inputs::Input;
use super::saved::Section;
use crate::base::calendar::{SECS_PER_DAY, date_of, stamp};

/// The room was opened at this time. An input.
#[derive(Message, Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RoomOpened {
    /// The time that the person's clock shows, as seconds since 1970 without a time zone.
    pub local_secs: i64,
}

impl Input for RoomOpened {
    const KIND: &'static str = "room_opened";
}

/// The person's clock differs from the room's date: the computer slept, the room was paused or slow, or the clock was
/// set. An input.
#[derive(Message, Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DateCorrected {
    /// The new date of the room, like [`RoomOpened::local_secs`].
    pub local_secs: i64,
}

impl Input for DateCorrected {
    const KIND: &'static str = "date_corrected";
}

/// The largest step back of the person's clock in seconds that the room does not follow: it waits until the clock has
/// caught up, so that the times in files do not run backwards. A larger one is a clock that was set, or another time
/// zone.
const MAX_HELD_SECS: i64 = 10 * 60;

/// The date in the room, if known.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(from = "SavedDate", into = "SavedDate")]
pub struct RoomDate {
    /// The local time at tick 0, extrapolated if the room was opened later.
    start_secs: Option<i64>,
    /// The latest date before the clock stepped back; it is not earlier again.
    not_before_secs: Option<i64>,
}

/// The saved form of a date: usually only its start.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(untagged)]
enum SavedDate {
    Start(Option<i64>),
    Held { start_secs: i64, not_before_secs: i64 },
}

impl From<SavedDate> for RoomDate {
    fn from(saved: SavedDate) -> Self {
        match saved {
            SavedDate::Start(start_secs) => Self { start_secs, not_before_secs: None },
            SavedDate::Held { start_secs, not_before_secs } => {
                Self { start_secs: Some(start_secs), not_before_secs: Some(not_before_secs) }
            }
        }
    }
}

impl From<RoomDate> for SavedDate {
    fn from(date: RoomDate) -> Self {
        match (date.start_secs, date.not_before_secs) {
            (Some(start_secs), Some(not_before_secs)) => Self::Held { start_secs, not_before_secs },
            (start_secs, _) => Self::Start(start_secs),
        }
    }
}

impl RoomDate {
    /// Returns the date and time at this tick for people: “Sunday, 22 November 2026, 14:05”.
    pub fn in_words(self, clock: &SimClock) -> Option<String> {
        self.secs(clock).map(in_words)
    }

    /// Returns the date and time for files: “2026-11-22T14:05:09”.
    pub fn stamp(self, clock: &SimClock) -> Option<String> {
        self.secs(clock).map(stamp)
    }

    /// Returns the seconds since 1970, as the person's clock shows them. Time-limited permissions expire by it: it is
    /// recorded, so that a replay makes the same decisions.
    pub fn secs(self, clock: &SimClock) -> Option<i64> {
        let secs = self.start_secs?.saturating_add(clock.secs() as i64);
        Some(self.not_before_secs.map_or(secs, |not_before| secs.max(not_before)))
    }

    /// Sets the date at this tick.
    fn set(&mut self, local_secs: i64, clock: &SimClock) {
        let before = self.secs(clock).filter(|before| (1..=MAX_HELD_SECS).contains(&before.saturating_sub(local_secs)));
        self.start_secs = Some(local_secs.saturating_sub(clock.secs() as i64));
        self.not_before_secs = before;
    }
}

pub(super) fn set_room_date(
    mut opened: MessageReader<RoomOpened>,
    mut corrected: MessageReader<DateCorrected>,
    clock: Res<SimClock>,
    mut date: ResMut<RoomDate>,
) {
    let opened = opened.read().map(|opened| opened.local_secs);
    for local_secs in opened.chain(corrected.read().map(|corrected| corrected.local_secs)) {
        date.set(local_secs, &clock);
    }
}

impl Section for RoomDate {
    const NAME: &'static str = "date";

    fn save(world: &mut World) -> Self {
        *world.resource::<Self>()
    }

    fn load(self, world: &mut World) {
        world.insert_resource(self);
    }
}

const DAYS: [&str; 7] = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

fn in_words(secs: i64) -> String {
    let (days, in_day) = (secs.div_euclid(SECS_PER_DAY), secs.rem_euclid(SECS_PER_DAY));
    let (year, month, day) = date_of(days);
    let weekday = DAYS[usize::try_from(days.rem_euclid(7)).unwrap_or(0)];
    format!("{weekday}, {day} {} {year}, {:02}:{:02}", MONTHS[month], in_day / 3_600, in_day / 60 % 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::{InputQueue, TICKS_PER_SEC, advance, saved};
    use bevy::app::App;

    #[test]
    fn dates_follow_the_calendar() {
        let table = [
            (0, "Thursday, 1 January 1970, 00:00"),
            (951_782_399, "Monday, 28 February 2000, 23:59"),
            (951_782_400, "Tuesday, 29 February 2000, 00:00"),
            (1_795_356_300, "Sunday, 22 November 2026, 14:05"),
            (-1, "Wednesday, 31 December 1969, 23:59"),
            (4_107_542_400, "Monday, 1 March 2100, 00:00"),
        ];
        for (secs, words) in table {
            assert_eq!(in_words(secs), words);
        }
        assert_eq!(stamp(1_795_356_309), "2026-11-22T14:05:09");
    }

    #[test]
    fn the_date_advances_with_simulated_time_and_is_saved() {
        let mut app = App::new();
        app.add_plugins(crate::schedule::plugin);
        let words = |app: &App| app.world().resource::<RoomDate>().in_words(app.world().resource());
        assert_eq!(words(&app), None, "nobody has set it");
        (0..TICKS_PER_SEC).for_each(|_| advance(app.world_mut()));
        app.world_mut().resource_mut::<InputQueue<RoomOpened>>().push(RoomOpened { local_secs: 1_795_356_300 });
        (0..90 * TICKS_PER_SEC).for_each(|_| advance(app.world_mut()));
        assert_eq!(words(&app).as_deref(), Some("Sunday, 22 November 2026, 14:06"));
        app.world_mut().resource_mut::<InputQueue<DateCorrected>>().push(DateCorrected { local_secs: 1_795_359_960 });
        advance(app.world_mut());
        assert_eq!(words(&app).as_deref(), Some("Sunday, 22 November 2026, 15:06"), "an hour of sleep");
        let world = saved::save_world(app.world_mut()).expect("it can be saved");
        let mut again = App::new();
        again.add_plugins(crate::schedule::plugin);
        saved::load_world(again.world_mut(), &world).expect("it can be loaded");
        assert_eq!(words(&again), words(&app));
    }

    #[test]
    fn the_date_waits_for_a_clock_that_is_a_little_behind_and_never_runs_backwards() {
        let mut app = App::new();
        app.add_plugins(crate::schedule::plugin);
        let secs = |app: &App| app.world().resource::<RoomDate>().secs(app.world().resource()).expect("it is known");
        app.world_mut().resource_mut::<InputQueue<RoomOpened>>().push(RoomOpened { local_secs: 1_000 });
        advance(app.world_mut());
        let mut latest = secs(&app);
        for (local_secs, earliest) in [(1_003, 1_003), (1_002, 1_003), (1_002, 1_003), (999, 1_003), (1_001, 1_003)] {
            app.world_mut().resource_mut::<InputQueue<DateCorrected>>().push(DateCorrected { local_secs });
            for _ in 0..TICKS_PER_SEC / 2 {
                advance(app.world_mut());
                assert!(secs(&app) >= latest && secs(&app) >= earliest, "{local_secs}: {} {latest}", secs(&app));
                latest = secs(&app);
            }
        }
        let world = saved::save_world(app.world_mut()).expect("it can be saved");
        let mut again = App::new();
        again.add_plugins(crate::schedule::plugin);
        saved::load_world(again.world_mut(), &world).expect("it can be loaded");
        assert_eq!(secs(&again), secs(&app), "it is saved while it waits");
        again.world_mut().resource_mut::<InputQueue<RoomOpened>>().push(RoomOpened { local_secs: latest - 1 });
        advance(again.world_mut());
        assert_eq!(secs(&again), latest, "also when the room is opened again");
        (0..5 * TICKS_PER_SEC).for_each(|_| advance(app.world_mut()));
        assert!(secs(&app) > latest, "it goes on once the clock has caught up");
        app.world_mut().resource_mut::<InputQueue<DateCorrected>>().push(DateCorrected { local_secs: -5_000 });
        advance(app.world_mut());
        assert_eq!(secs(&app), -5_000, "a clock that was set is followed");
    }

    #[test]
    fn a_date_that_was_saved_by_an_earlier_version_is_read() {
        let read = |text: &str| serde_json::from_str::<RoomDate>(text).expect("it is a date");
        assert_eq!(read("null"), RoomDate::default());
        assert_eq!(read("17"), RoomDate { start_secs: Some(17), not_before_secs: None });
        assert_eq!(serde_json::to_string(&read("17")).expect("it is plain data"), "17");
    }
}
