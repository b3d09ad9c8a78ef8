//! Go's `time`: moments with a zone, layouts written as the reference time, durations.
//!
//! Zones come from a database compiled in; the local zone is UTC, for a render must not depend on where it happens.

mod duration;
mod layout;
mod object;
mod parse;

use std::sync::OnceLock;

use jiff::tz::{TimeZone, TimeZoneDatabase};

use crate::context::Context;

pub(crate) use duration::{call_int_method, int_method, int_text};
pub use duration::{duration_text, parse_duration, round_duration};
pub use parse::parse;

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
const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// Seconds from year 1 to 1970.
const YEAR_ONE: i64 = -62_135_596_800;

/// Where a moment is seen from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zone<'a> {
    /// UTC.
    Utc,
    /// The local zone, which is UTC too but prints no differently.
    Local,
    /// A zone of the tz database.
    Named(&'a str),
    /// Seconds east of UTC, with a name that may be empty.
    Fixed(i32, &'a str),
}

/// A `time.Time`.
#[derive(Clone, Copy, Debug)]
pub struct Time<'a> {
    /// Seconds since 1970-01-01 UTC.
    pub seconds: i64,
    /// Nanoseconds of the second.
    pub nanos: u32,
    /// Where it is seen from.
    pub zone: Zone<'a>,
}

fn database() -> &'static TimeZoneDatabase {
    static DATABASE: OnceLock<TimeZoneDatabase> = OnceLock::new();
    DATABASE.get_or_init(TimeZoneDatabase::bundled)
}

fn zone_named(name: &str) -> Option<TimeZone> {
    if name.contains("..") || name.starts_with(['/', '\\']) {
        return None;
    }
    database().get(name).ok()
}

/// The zone of this name: empty and `UTC` are UTC, `Local` is local; unknown names are none.
#[must_use]
pub fn load_zone<'a>(name: &[u8], context: &Context<'_, 'a>) -> Option<Zone<'a>> {
    match name {
        b"" | b"UTC" => Some(Zone::Utc),
        b"Local" => Some(Zone::Local),
        name => {
            let text = std::str::from_utf8(name).ok()?;
            let zone = zone_named(text)?;
            // Go knows the names in their own case only.
            if zone.iana_name() != Some(text) {
                return None;
            }
            std::str::from_utf8(context.arena.bytes(name)).ok().map(Zone::Named)
        }
    }
}

fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day_of_year - (153 * shifted + 2) / 5 + 1)
}

struct Civil {
    year: i64,
    month: i64,
    day: i64,
    year_day: i64,
    week_day: i64,
    hour: i64,
    minute: i64,
    second: i64,
}

impl<'a> Time<'a> {
    /// Go's zero time.
    pub const ZERO: Self = Self { seconds: YEAR_ONE, nanos: 0, zone: Zone::Utc };

    /// A moment in local time.
    #[must_use]
    pub fn unix(seconds: i64, nanos: u32) -> Self {
        Self { seconds, nanos, zone: Zone::Local }
    }

    /// Seconds east of UTC and the abbreviation in force.
    fn offset(&self) -> (i64, String) {
        match self.zone {
            Zone::Utc | Zone::Local => (0, "UTC".to_owned()),
            Zone::Fixed(offset, name) => (i64::from(offset), name.to_owned()),
            Zone::Named(name) => {
                let moment =
                    jiff::Timestamp::from_second(self.seconds).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
                let Some(zone) = zone_named(name) else { return (0, "UTC".to_owned()) };
                let info = zone.to_offset_info(moment);
                (i64::from(info.offset().seconds()), info.abbreviation().to_owned())
            }
        }
    }

    fn civil(&self) -> Civil {
        let local = self.seconds.saturating_add(self.offset().0);
        let days = local.div_euclid(86_400);
        let rest = local.rem_euclid(86_400);
        let (year, month, day) = civil_from_days(days);
        Civil {
            year,
            month,
            day,
            year_day: days - days_from_civil(year, 1, 1) + 1,
            week_day: (days + 4).rem_euclid(7),
            hour: rest / 3600,
            minute: rest / 60 % 60,
            second: rest % 60,
        }
    }

    /// The same moment seen from elsewhere.
    #[must_use]
    pub fn at(self, zone: Zone<'a>) -> Self {
        Self { zone, ..self }
    }

    /// The moment this many nanoseconds later.
    #[must_use]
    pub fn later(self, nanos: i64) -> Self {
        let total = i64::from(self.nanos) + nanos.rem_euclid(1_000_000_000);
        Self {
            seconds: self
                .seconds
                .saturating_add(nanos.div_euclid(1_000_000_000))
                .saturating_add(total / 1_000_000_000),
            nanos: u32::try_from(total % 1_000_000_000).unwrap_or(0),
            zone: self.zone,
        }
    }

    /// Nanoseconds from `other` to this, as far as they go into a duration.
    #[must_use]
    pub fn since(&self, other: &Self) -> i64 {
        let seconds = i128::from(self.seconds) - i128::from(other.seconds);
        let nanos = seconds * 1_000_000_000 + i128::from(self.nanos) - i128::from(other.nanos);
        i64::try_from(nanos).unwrap_or(if nanos < 0 { i64::MIN } else { i64::MAX })
    }
}

fn month_name(month: i64) -> &'static str {
    usize::try_from(month - 1).ok().and_then(|at| MONTHS.get(at)).copied().unwrap_or("%!Month")
}

/// A wall clock reading in a zone; in a gap or a fold, what `time.Date` makes of it.
fn in_zone(wall: i64, nanos: u32, zone: Zone<'_>) -> Time<'_> {
    let first = Time { seconds: wall, nanos, zone };
    let guess = Time { seconds: wall - first.offset().0, nanos, zone };
    let seconds = wall - guess.offset().0;
    Time { seconds, nanos, zone }
}
