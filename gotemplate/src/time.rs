//! Go's `time`: moments with a zone, layouts written as the reference time, durations.
//!
//! Zones come from a database compiled in; the local zone is UTC, for a render must not depend on where it happens.

use std::sync::OnceLock;

use jiff::tz::{TimeZone, TimeZoneDatabase};

use crate::context::{Context, Failure};
use crate::function::Parameter;
use crate::value::{IntType, Object, Signature, Value};

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

    /// The moment in a layout written as the reference time.
    #[must_use]
    pub fn format(&self, layout: &[u8]) -> Vec<u8> {
        let civil = self.civil();
        let (offset, name) = self.offset();
        let mut out = Vec::with_capacity(layout.len() + 8);
        let mut rest = layout;
        while let Some((at, chunk, length)) = next_chunk(rest) {
            out.extend_from_slice(&rest[..at]);
            rest = &rest[at + length..];
            let text = match chunk {
                Chunk::LongMonth => month_name(civil.month).to_owned(),
                Chunk::Month => month_name(civil.month)[..3].to_owned(),
                Chunk::NumMonth => civil.month.to_string(),
                Chunk::ZeroMonth => format!("{:02}", civil.month),
                Chunk::LongWeekDay => DAYS[civil.week_day as usize].to_owned(),
                Chunk::WeekDay => DAYS[civil.week_day as usize][..3].to_owned(),
                Chunk::Day => civil.day.to_string(),
                Chunk::UnderDay => format!("{:>2}", civil.day),
                Chunk::ZeroDay => format!("{:02}", civil.day),
                Chunk::UnderYearDay => format!("{:>3}", civil.year_day),
                Chunk::ZeroYearDay => format!("{:03}", civil.year_day),
                Chunk::Hour => format!("{:02}", civil.hour),
                Chunk::Hour12 => twelve(civil.hour).to_string(),
                Chunk::ZeroHour12 => format!("{:02}", twelve(civil.hour)),
                Chunk::Minute => civil.minute.to_string(),
                Chunk::ZeroMinute => format!("{:02}", civil.minute),
                Chunk::Second => civil.second.to_string(),
                Chunk::ZeroSecond => format!("{:02}", civil.second),
                Chunk::LongYear if civil.year < 0 => format!("-{:04}", -civil.year),
                Chunk::LongYear => format!("{:04}", civil.year),
                Chunk::Year => format!("{:02}", civil.year.rem_euclid(100)),
                Chunk::UpperPm => (if civil.hour >= 12 { "PM" } else { "AM" }).to_owned(),
                Chunk::LowerPm => (if civil.hour >= 12 { "pm" } else { "am" }).to_owned(),
                Chunk::ZoneName if !name.is_empty() => name.clone(),
                Chunk::ZoneName => {
                    let sign = if offset < 0 { '-' } else { '+' };
                    let minutes = offset.abs() / 60;
                    format!("{sign}{:02}{:02}", minutes / 60, minutes % 60)
                }
                Chunk::Offset { zulu: true, .. } if offset == 0 => "Z".to_owned(),
                Chunk::Offset { colon, minutes, seconds, .. } => {
                    let sign = if offset < 0 { '-' } else { '+' };
                    let total = offset.abs();
                    let colon = if colon { ":" } else { "" };
                    let mut text = format!("{sign}{:02}", total / 3600);
                    if minutes {
                        text.push_str(&format!("{colon}{:02}", total / 60 % 60));
                    }
                    if seconds {
                        text.push_str(&format!("{colon}{:02}", total % 60));
                    }
                    text
                }
                Chunk::Fraction { digits, zeros, mark } => {
                    let all = format!("{:09}", self.nanos);
                    let mut digits =
                        if digits <= 9 { all[..digits].to_owned() } else { all + &"0".repeat(digits - 9) };
                    if !zeros {
                        digits.truncate(digits.trim_end_matches('0').len());
                    }
                    if digits.is_empty() { String::new() } else { format!("{}{digits}", char::from(mark)) }
                }
            };
            out.extend_from_slice(text.as_bytes());
        }
        out.extend_from_slice(rest);
        out
    }
}

fn month_name(month: i64) -> &'static str {
    usize::try_from(month - 1).ok().and_then(|at| MONTHS.get(at)).copied().unwrap_or("%!Month")
}

fn twelve(hour: i64) -> i64 {
    if hour % 12 == 0 { 12 } else { hour % 12 }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chunk {
    LongMonth,
    Month,
    NumMonth,
    ZeroMonth,
    LongWeekDay,
    WeekDay,
    Day,
    UnderDay,
    ZeroDay,
    UnderYearDay,
    ZeroYearDay,
    Hour,
    Hour12,
    ZeroHour12,
    Minute,
    ZeroMinute,
    Second,
    ZeroSecond,
    LongYear,
    Year,
    UpperPm,
    LowerPm,
    ZoneName,
    Offset { zulu: bool, colon: bool, minutes: bool, seconds: bool },
    Fraction { digits: usize, zeros: bool, mark: u8 },
}

/// The next element of a layout: where it is, what it is, how long.
fn next_chunk(layout: &[u8]) -> Option<(usize, Chunk, usize)> {
    let lower = |rest: &[u8]| rest.first().is_some_and(u8::is_ascii_lowercase);
    for at in 0..layout.len() {
        let rest = &layout[at..];
        let found = match rest[0] {
            b'J' if rest.starts_with(b"January") => Some((Chunk::LongMonth, 7)),
            b'J' if rest.starts_with(b"Jan") && !lower(&rest[3..]) => Some((Chunk::Month, 3)),
            b'M' if rest.starts_with(b"Monday") => Some((Chunk::LongWeekDay, 6)),
            b'M' if rest.starts_with(b"Mon") && !lower(&rest[3..]) => Some((Chunk::WeekDay, 3)),
            b'M' if rest.starts_with(b"MST") => Some((Chunk::ZoneName, 3)),
            b'0' if rest.starts_with(b"002") => Some((Chunk::ZeroYearDay, 3)),
            b'0' => match rest.get(1) {
                Some(b'1') => Some((Chunk::ZeroMonth, 2)),
                Some(b'2') => Some((Chunk::ZeroDay, 2)),
                Some(b'3') => Some((Chunk::ZeroHour12, 2)),
                Some(b'4') => Some((Chunk::ZeroMinute, 2)),
                Some(b'5') => Some((Chunk::ZeroSecond, 2)),
                Some(b'6') => Some((Chunk::Year, 2)),
                _ => None,
            },
            b'1' if rest.get(1) == Some(&b'5') => Some((Chunk::Hour, 2)),
            b'1' => Some((Chunk::NumMonth, 1)),
            b'2' if rest.starts_with(b"2006") => Some((Chunk::LongYear, 4)),
            b'2' => Some((Chunk::Day, 1)),
            b'_' if rest.starts_with(b"_2006") => return Some((at + 1, Chunk::LongYear, 4)),
            b'_' if rest.starts_with(b"_2") => Some((Chunk::UnderDay, 2)),
            b'_' if rest.starts_with(b"__2") => Some((Chunk::UnderYearDay, 3)),
            b'3' => Some((Chunk::Hour12, 1)),
            b'4' => Some((Chunk::Minute, 1)),
            b'5' => Some((Chunk::Second, 1)),
            b'P' if rest.starts_with(b"PM") => Some((Chunk::UpperPm, 2)),
            b'p' if rest.starts_with(b"pm") => Some((Chunk::LowerPm, 2)),
            mark @ (b'-' | b'Z') => {
                let zulu = mark == b'Z';
                [
                    (&b"070000"[..], false, true, true),
                    (b"07:00:00", true, true, true),
                    (b"0700", false, true, false),
                    (b"07:00", true, true, false),
                    (b"07", false, false, false),
                ]
                .into_iter()
                .find(|form| rest[1..].starts_with(form.0))
                .map(|(text, colon, minutes, seconds)| {
                    (Chunk::Offset { zulu, colon, minutes, seconds }, text.len() + 1)
                })
            }
            mark @ (b'.' | b',') if matches!(rest.get(1), Some(b'0' | b'9')) => {
                let digit = rest[1];
                let digits = rest[1..].iter().take_while(|byte| **byte == digit).count();
                if rest.get(1 + digits).is_some_and(u8::is_ascii_digit) {
                    None
                } else {
                    Some((Chunk::Fraction { digits, zeros: digit == b'0', mark }, digits + 1))
                }
            }
            _ => None,
        };
        if let Some((chunk, length)) = found {
            return Some((at, chunk, length));
        }
    }
    None
}

fn digits(text: &[u8], least: usize, most: usize) -> Option<(i64, &[u8])> {
    let count = text.iter().take(most).take_while(|byte| byte.is_ascii_digit()).count();
    if count < least {
        return None;
    }
    let value = text[..count].iter().fold(0i64, |value, byte| value * 10 + i64::from(byte - b'0'));
    Some((value, &text[count..]))
}

fn lookup<'t>(names: &[&str], length: Option<usize>, text: &'t [u8]) -> Option<(i64, &'t [u8])> {
    names.iter().enumerate().find_map(|(at, name)| {
        let name = &name.as_bytes()[..length.unwrap_or(name.len())];
        let head = text.get(..name.len())?;
        head.eq_ignore_ascii_case(name).then(|| (at as i64, &text[name.len()..]))
    })
}

/// The time package's own way of quoting: every byte that is not printable ASCII in hexadecimal.
fn quote(text: &[u8]) -> String {
    let mut out = String::from("\"");
    for byte in text {
        match byte {
            b'"' | b'\\' => out.extend(['\\', char::from(*byte)]),
            b' '..=b'~' => out.push(char::from(*byte)),
            byte => out.push_str(&format!("\\x{byte:02x}")),
        }
    }
    out.push('"');
    out
}

/// `time.ParseInLocation`.
///
/// # Errors
/// In Go's words.
pub fn parse<'a>(
    layout: &[u8],
    text: &[u8],
    zone: Zone<'a>,
    context: &Context<'_, 'a>,
) -> Result<Time<'a>, String> {
    let bad = |rest: &[u8], element: &[u8]| {
        format!(
            "parsing time {} as {}: cannot parse {} as {}",
            quote(text),
            quote(layout),
            quote(rest),
            quote(element)
        )
    };
    let out_of_range = |what: &str| format!("parsing time {}: {what} out of range", quote(text));
    let (mut year, mut month, mut day, mut year_day) = (0i64, None, None, None);
    let (mut hour, mut minute, mut second, mut nanos) = (0i64, 0i64, 0i64, 0u32);
    let (mut pm_set, mut am_set) = (false, false);
    let mut offset: Option<i64> = None;
    let mut zulu = false;
    let mut zone_name: Option<&[u8]> = None;
    let mut value = text;
    let mut rest = layout;
    loop {
        let next = next_chunk(rest);
        let prefix = next.map_or(rest, |(at, ..)| &rest[..at]);
        value = skip(value, prefix).map_err(|at| bad(at, prefix))?;
        let Some((at, chunk, length)) = next else {
            if !value.is_empty() {
                return Err(format!("parsing time {}: extra text: {}", quote(text), quote(value)));
            }
            break;
        };
        let element = &rest[at..at + length];
        rest = &rest[at + length..];
        let hold = value;
        let fail = || bad(hold, element);
        match chunk {
            Chunk::Year => {
                let (number, tail) = digits(value, 2, 2).ok_or_else(fail)?;
                year = if number >= 69 { number + 1900 } else { number + 2000 };
                value = tail;
            }
            Chunk::LongYear => (year, value) = digits(value, 4, 4).ok_or_else(fail)?,
            Chunk::Month | Chunk::LongMonth => {
                let short = (chunk == Chunk::Month).then_some(3);
                let (number, tail) = lookup(&MONTHS, short, value).ok_or_else(fail)?;
                month = Some(number + 1);
                value = tail;
            }
            Chunk::NumMonth | Chunk::ZeroMonth => {
                let (number, tail) = digits(value, element.len(), 2).ok_or_else(fail)?;
                if !(1..=12).contains(&number) {
                    return Err(out_of_range("month"));
                }
                month = Some(number);
                value = tail;
            }
            Chunk::WeekDay | Chunk::LongWeekDay => {
                let short = (chunk == Chunk::WeekDay).then_some(3);
                (_, value) = lookup(&DAYS, short, value).ok_or_else(fail)?;
            }
            Chunk::Day | Chunk::UnderDay | Chunk::ZeroDay => {
                if chunk == Chunk::UnderDay && value.first() == Some(&b' ') {
                    value = &value[1..];
                }
                let least = if chunk == Chunk::ZeroDay { 2 } else { 1 };
                let (number, tail) = digits(value, least, 2).ok_or_else(fail)?;
                day = Some(number);
                value = tail;
            }
            Chunk::UnderYearDay | Chunk::ZeroYearDay => {
                if chunk == Chunk::UnderYearDay {
                    let spaces = value.iter().take(2).take_while(|byte| **byte == b' ').count();
                    value = &value[spaces..];
                }
                let least = if chunk == Chunk::ZeroYearDay { 3 } else { 1 };
                let (number, tail) = digits(value, least, 3).ok_or_else(fail)?;
                year_day = Some(number);
                value = tail;
            }
            Chunk::Hour => {
                (hour, value) = digits(value, 1, 2).ok_or_else(fail)?;
                if hour >= 24 {
                    return Err(out_of_range("hour"));
                }
            }
            Chunk::Hour12 | Chunk::ZeroHour12 => {
                (hour, value) = digits(value, element.len(), 2).ok_or_else(fail)?;
                if hour > 12 {
                    return Err(out_of_range("hour"));
                }
            }
            Chunk::Minute | Chunk::ZeroMinute => {
                (minute, value) = digits(value, element.len(), 2).ok_or_else(fail)?;
                if minute >= 60 {
                    return Err(out_of_range("minute"));
                }
            }
            Chunk::Second | Chunk::ZeroSecond => {
                (second, value) = digits(value, element.len(), 2).ok_or_else(fail)?;
                if second >= 60 {
                    return Err(out_of_range("second"));
                }
                // A fraction may follow though the layout does not say so.
                if matches!(value.first(), Some(b'.' | b','))
                    && value.get(1).is_some_and(u8::is_ascii_digit)
                    && !matches!(next_chunk(rest), Some((0, Chunk::Fraction { .. }, _)))
                {
                    let count = value[1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                    nanos = fraction(&value[1..=count]);
                    value = &value[1 + count..];
                }
            }
            Chunk::UpperPm | Chunk::LowerPm => {
                let upper = chunk == Chunk::UpperPm;
                let (pm, am): (&[u8], &[u8]) = if upper { (b"PM", b"AM") } else { (b"pm", b"am") };
                if value.starts_with(pm) {
                    pm_set = true;
                } else if value.starts_with(am) {
                    am_set = true;
                } else {
                    return Err(fail());
                }
                value = &value[2..];
            }
            Chunk::Offset { zulu: z, colon, minutes, seconds } => {
                if z && value.first() == Some(&b'Z') {
                    value = &value[1..];
                    zulu = true;
                    continue;
                }
                let sign = match value.first() {
                    Some(b'+') => 1,
                    Some(b'-') => -1,
                    _ => return Err(fail()),
                };
                let mut tail = &value[1..];
                let mut total;
                (total, tail) = digits(tail, 2, 2).ok_or_else(fail)?;
                total *= 3600;
                for (wanted, unit) in [(minutes, 60), (seconds, 1)] {
                    if !wanted {
                        continue;
                    }
                    if colon {
                        tail = tail.strip_prefix(b":").ok_or_else(fail)?;
                    }
                    let number;
                    (number, tail) = digits(tail, 2, 2).ok_or_else(fail)?;
                    if number >= 60 {
                        return Err(out_of_range("time zone offset minute"));
                    }
                    total += number * unit;
                }
                value = tail;
                offset = Some(sign * total);
            }
            Chunk::ZoneName => {
                if value.starts_with(b"UTC") {
                    zulu = true;
                    value = &value[3..];
                    continue;
                }
                let count = zone_letters(value).ok_or_else(fail)?;
                zone_name = Some(&value[..count]);
                value = &value[count..];
            }
            Chunk::Fraction { digits: wanted, zeros, .. } => {
                if zeros {
                    let text = value.get(1..=wanted).filter(|text| text.iter().all(u8::is_ascii_digit));
                    nanos = fraction(text.ok_or_else(fail)?);
                    value = &value[1 + wanted..];
                } else if matches!(value.first(), Some(b'.' | b','))
                    && value.get(1).is_some_and(u8::is_ascii_digit)
                {
                    let count = value[1..].iter().take(9).take_while(|byte| byte.is_ascii_digit()).count();
                    nanos = fraction(&value[1..=count]);
                    value = &value[1 + count..];
                }
            }
        }
    }
    if pm_set && hour < 12 {
        hour += 12;
    } else if am_set && hour == 12 {
        hour = 0;
    }
    let leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    if let Some(number) = year_day {
        if number < 1 || number > 365 + i64::from(leap(year)) {
            return Err(out_of_range("day-of-year"));
        }
        let (_, m, d) = civil_from_days(days_from_civil(year, 1, 1) + number - 1);
        if month.is_some_and(|month| month != m) {
            return Err(format!("parsing time {}: day-of-year does not match month", quote(text)));
        }
        if day.is_some_and(|day| day != d) {
            return Err(format!("parsing time {}: day-of-year does not match day", quote(text)));
        }
        (month, day) = (Some(m), Some(d));
    }
    let month = month.unwrap_or(1);
    let day = day.unwrap_or(1);
    let length = match month {
        2 => 28 + i64::from(leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    if day < 1 || day > length {
        return Err(out_of_range("day"));
    }
    let wall = days_from_civil(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
    if zulu {
        return Ok(Time { seconds: wall, nanos, zone: Zone::Utc });
    }
    if let Some(offset) = offset {
        let time = Time { seconds: wall - offset, nanos, zone };
        let name = zone_name.unwrap_or_default();
        // The given zone is kept where it agrees.
        let (own, abbreviation) = time.offset();
        if own == offset && (name.is_empty() || name == abbreviation.as_bytes()) {
            return Ok(time);
        }
        let name = std::str::from_utf8(context.arena.bytes(name)).unwrap_or_default();
        return Ok(time.at(Zone::Fixed(i32::try_from(offset).unwrap_or(0), name)));
    }
    if let Some(name) = zone_name {
        let mut offset = 0;
        if let Some(hours) = name.strip_prefix(b"GMT") {
            offset = std::str::from_utf8(hours).ok().and_then(|hours| hours.parse::<i64>().ok()).unwrap_or(0)
                * 3600;
        }
        let time = in_zone(wall, nanos, zone);
        if time.offset().1.as_bytes() == name {
            return Ok(time);
        }
        let name = std::str::from_utf8(context.arena.bytes(name)).unwrap_or_default();
        let zone = Zone::Fixed(i32::try_from(offset).unwrap_or(0), name);
        return Ok(Time { seconds: wall - offset, nanos, zone });
    }
    Ok(in_zone(wall, nanos, zone))
}

/// A wall clock reading in a zone; in a gap or a fold, what `time.Date` makes of it.
fn in_zone(wall: i64, nanos: u32, zone: Zone<'_>) -> Time<'_> {
    let first = Time { seconds: wall, nanos, zone };
    let guess = Time { seconds: wall - first.offset().0, nanos, zone };
    let seconds = wall - guess.offset().0;
    Time { seconds, nanos, zone }
}

fn fraction(text: &[u8]) -> u32 {
    let mut value = 0;
    for at in 0..9 {
        value = value * 10 + u32::from(text.get(at).map_or(0, |byte| byte - b'0'));
    }
    value
}

/// Skips the literal part of a layout; runs of spaces match runs of spaces. The error is where it stopped.
fn skip<'t>(mut value: &'t [u8], mut prefix: &[u8]) -> Result<&'t [u8], &'t [u8]> {
    while let Some(byte) = prefix.first() {
        if *byte == b' ' {
            if value.first().is_some_and(|byte| *byte != b' ') {
                return Err(value);
            }
            prefix = bstr::ByteSlice::trim_start_with(prefix, |c| c == ' ');
            value = bstr::ByteSlice::trim_start_with(value, |c| c == ' ');
            continue;
        }
        if value.first() != Some(byte) {
            return Err(value);
        }
        prefix = &prefix[1..];
        value = &value[1..];
    }
    Ok(value)
}

/// How many letters of a time zone abbreviation there are.
fn zone_letters(value: &[u8]) -> Option<usize> {
    if value.len() < 3 {
        return None;
    }
    if value.starts_with(b"ChST") || value.starts_with(b"MeST") {
        return Some(4);
    }
    if value.starts_with(b"GMT") {
        let rest = &value[3..];
        if let Some(b'+' | b'-') = rest.first() {
            let count = rest[1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            let hours: i64 =
                std::str::from_utf8(&rest[1..=count]).ok().and_then(|text| text.parse().ok()).unwrap_or(99);
            if count > 0 && hours <= 23 {
                return Some(4 + count);
            }
        }
        return Some(3);
    }
    if let b'+' | b'-' = value[0] {
        let count = value[1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        return (count > 0).then_some(count + 1);
    }
    let upper = value.iter().take(6).take_while(|byte| byte.is_ascii_uppercase()).count();
    match upper {
        5 if value[4] == b'T' => Some(5),
        4 if value[3] == b'T' || value.starts_with(b"WITA") => Some(4),
        3 => Some(3),
        _ => None,
    }
}

/// `time.Duration`'s text: `1h2m3.5s`.
#[must_use]
pub fn duration_text(nanos: i64) -> String {
    if nanos == 0 {
        return "0s".to_owned();
    }
    let sign = if nanos < 0 { "-" } else { "" };
    let value = nanos.unsigned_abs();
    let with_fraction = |value: u64, unit: u64| {
        let width = unit.ilog10() as usize;
        let fraction = format!("{:0width$}", value % unit);
        let fraction = fraction.trim_end_matches('0');
        let point = if fraction.is_empty() || width == 0 { "" } else { "." };
        let fraction = if width == 0 { "" } else { fraction };
        format!("{}{point}{fraction}", value / unit)
    };
    if value < 1000 {
        return format!("{sign}{value}ns");
    }
    if value < 1_000_000 {
        return format!("{sign}{}µs", with_fraction(value, 1000));
    }
    if value < 1_000_000_000 {
        return format!("{sign}{}ms", with_fraction(value, 1_000_000));
    }
    let minutes = value / 60_000_000_000;
    let seconds = with_fraction(value % 60_000_000_000, 1_000_000_000);
    match (minutes / 60, minutes % 60) {
        (0, 0) => format!("{sign}{seconds}s"),
        (0, minutes) => format!("{sign}{minutes}m{seconds}s"),
        (hours, minutes) => format!("{sign}{hours}h{minutes}m{seconds}s"),
    }
}

/// `time.ParseDuration`.
///
/// # Errors
/// In Go's words.
pub fn parse_duration(text: &[u8]) -> Result<i64, String> {
    let invalid = || format!("time: invalid duration {}", quote(text));
    let (negative, mut rest) = match text.first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == b"0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let whole = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let mut value: u64 = 0;
        for byte in &rest[..whole] {
            value = value
                .checked_mul(10)
                .and_then(|value| value.checked_add(u64::from(byte - b'0')))
                .ok_or_else(invalid)?;
        }
        rest = &rest[whole..];
        let mut fraction: &[u8] = &[];
        if rest.first() == Some(&b'.') {
            let count = rest[1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            fraction = &rest[1..=count];
            rest = &rest[1 + count..];
        }
        if whole == 0 && fraction.is_empty() {
            return Err(invalid());
        }
        let letters = rest.iter().take_while(|byte| **byte != b'.' && !byte.is_ascii_digit()).count();
        if letters == 0 {
            return Err(format!("time: missing unit in duration {}", quote(text)));
        }
        let (unit_text, tail) = rest.split_at(letters);
        rest = tail;
        let unit: u64 = match unit_text {
            b"ns" => 1,
            b"us" => 1000,
            other if other == "µs".as_bytes() || other == "μs".as_bytes() => 1000,
            b"ms" => 1_000_000,
            b"s" => 1_000_000_000,
            b"m" => 60_000_000_000,
            b"h" => 3_600_000_000_000,
            _ => {
                return Err(format!("time: unknown unit {} in duration {}", quote(unit_text), quote(text)));
            }
        };
        let mut part = value.checked_mul(unit).ok_or_else(invalid)?;
        if !fraction.is_empty() {
            let digits = std::str::from_utf8(fraction).unwrap_or("0");
            let share: f64 = format!("0.{digits}").parse().unwrap_or(0.0);
            part = part.checked_add((share * unit as f64) as u64).ok_or_else(invalid)?;
        }
        total = total.checked_add(part).filter(|total| *total <= 1 << 63).ok_or_else(invalid)?;
    }
    if negative {
        return Ok((total as i64).wrapping_neg());
    }
    i64::try_from(total).map_err(|_| invalid())
}

/// The text of the named integer types; `None` for plain integers.
pub(crate) fn int_text(kind: IntType, number: i64) -> Option<String> {
    match kind {
        IntType::Duration => Some(duration_text(number)),
        IntType::Month => Some(match number {
            1..=12 => month_name(number).to_owned(),
            other => format!("%!Month({other})"),
        }),
        IntType::Weekday => Some(match usize::try_from(number).ok().and_then(|at| DAYS.get(at)) {
            Some(day) => (*day).to_owned(),
            None => format!("%!Weekday({number})"),
        }),
        _ => None,
    }
}

/// The methods of the named integer types.
pub(crate) fn int_method(kind: IntType, name: &str) -> Option<Signature> {
    match (kind, name) {
        (IntType::Duration | IntType::Month | IntType::Weekday, "String")
        | (
            IntType::Duration,
            "Nanoseconds" | "Microseconds" | "Milliseconds" | "Seconds" | "Minutes" | "Hours" | "Abs",
        ) => Some(Signature::NONE),
        (IntType::Duration, "Truncate" | "Round") => {
            Some(Signature { parameters: &[Parameter::Duration], variadic: false })
        }
        _ => None,
    }
}

/// `Duration.Round`.
#[must_use]
pub fn round_duration(nanos: i64, unit: i64) -> i64 {
    if unit <= 0 {
        return nanos;
    }
    let rest = nanos % unit;
    if rest.abs() < unit - rest.abs() {
        nanos - rest
    } else {
        nanos.saturating_add(unit * nanos.signum() - rest)
    }
}

pub(crate) fn call_int_method<'a>(
    kind: IntType,
    number: i64,
    name: &str,
    arguments: &[Value<'a>],
    context: &mut Context<'_, 'a>,
) -> Result<Value<'a>, Failure> {
    let unit = match arguments.first() {
        Some(Value::Int(_, unit)) => *unit,
        _ => 0,
    };
    // Go divides the whole seconds and the rest apart.
    let parts = |unit: i64| Value::Float((number / unit) as f64 + (number % unit) as f64 / unit as f64);
    Ok(match name {
        "String" => return context.text(int_text(kind, number).unwrap_or_default()),
        "Nanoseconds" => Value::int64(number),
        "Microseconds" => Value::int64(number / 1000),
        "Milliseconds" => Value::int64(number / 1_000_000),
        "Seconds" => parts(1_000_000_000),
        "Minutes" => parts(60_000_000_000),
        "Hours" => parts(3_600_000_000_000),
        "Abs" => Value::Int(IntType::Duration, number.saturating_abs()),
        "Truncate" => Value::Int(IntType::Duration, if unit <= 0 { number } else { number - number % unit }),
        _ => Value::Int(IntType::Duration, round_duration(number, unit)),
    })
}

const RFC3339_NANO: &[u8] = b"2006-01-02T15:04:05.999999999Z07:00";

impl<'a> Object<'a> for Time<'a> {
    fn type_name(&self) -> &str {
        "time.Time"
    }

    fn text(&self) -> String {
        let text = self.format(b"2006-01-02 15:04:05.999999999 -0700 MST");
        String::from_utf8_lossy(&text).into_owned()
    }

    fn time(&self) -> Option<Time<'a>> {
        Some(*self)
    }

    fn data(&self, context: &mut Context<'_, 'a>) -> Option<Value<'a>> {
        Some(context.arena.string(self.format(RFC3339_NANO)))
    }

    fn equals(&self, other: &dyn Object<'a>) -> bool {
        other.time().is_some_and(|other| {
            (self.seconds, self.nanos, self.zone) == (other.seconds, other.nanos, other.zone)
        })
    }

    fn method(&self, name: &str) -> Option<Signature> {
        let parameters: &'static [Parameter] = match name {
            "Year" | "Month" | "Day" | "Hour" | "Minute" | "Second" | "Nanosecond" | "Weekday"
            | "YearDay" | "Unix" | "UnixMilli" | "UnixMicro" | "UnixNano" | "UTC" | "Local" | "IsZero"
            | "String" => &[],
            "Format" => &[Parameter::String],
            "Add" | "Truncate" | "Round" => &[Parameter::Duration],
            "AddDate" => &[Parameter::Int, Parameter::Int, Parameter::Int],
            "Sub" | "Before" | "After" | "Equal" | "Compare" => &[Parameter::Time],
            _ => return None,
        };
        Some(Signature { parameters, variadic: false })
    }

    fn call(
        &self,
        name: &str,
        arguments: &[Value<'a>],
        context: &mut Context<'_, 'a>,
    ) -> Result<Value<'a>, Failure> {
        let civil = self.civil();
        let other = match arguments.first() {
            Some(Value::Object(object)) => object.time().unwrap_or(Time::ZERO),
            _ => Time::ZERO,
        };
        let number = |at: usize| match arguments.get(at) {
            Some(Value::Int(_, number)) => *number,
            _ => 0,
        };
        let order = (self.seconds, self.nanos).cmp(&(other.seconds, other.nanos));
        Ok(match name {
            "Year" => Value::int(civil.year),
            "Month" => Value::Int(IntType::Month, civil.month),
            "Day" => Value::int(civil.day),
            "Hour" => Value::int(civil.hour),
            "Minute" => Value::int(civil.minute),
            "Second" => Value::int(civil.second),
            "Nanosecond" => Value::int(i64::from(self.nanos)),
            "Weekday" => Value::Int(IntType::Weekday, civil.week_day),
            "YearDay" => Value::int(civil.year_day),
            "Unix" => Value::int64(self.seconds),
            "UnixMilli" => {
                Value::int64(self.seconds.wrapping_mul(1000).wrapping_add(i64::from(self.nanos / 1_000_000)))
            }
            "UnixMicro" => {
                Value::int64(self.seconds.wrapping_mul(1_000_000).wrapping_add(i64::from(self.nanos / 1000)))
            }
            "UnixNano" => {
                Value::int64(self.seconds.wrapping_mul(1_000_000_000).wrapping_add(i64::from(self.nanos)))
            }
            "UTC" => context.arena.object(self.at(Zone::Utc)),
            "Local" => context.arena.object(self.at(Zone::Local)),
            "IsZero" => Value::Bool(self.seconds == YEAR_ONE && self.nanos == 0),
            "String" => return context.text(self.text()),
            "Format" => {
                let layout = arguments.first().and_then(Value::as_str).unwrap_or_default();
                return context.text(self.format(layout));
            }
            "Add" => context.arena.object(self.later(number(0))),
            "Truncate" | "Round" => {
                let unit = i128::from(number(0));
                if unit <= 0 {
                    return Ok(context.arena.object(*self));
                }
                let total = (i128::from(self.seconds) - i128::from(YEAR_ONE)) * 1_000_000_000
                    + i128::from(self.nanos);
                let rest = total.rem_euclid(unit);
                let up = name == "Round" && rest + rest >= unit;
                let change = if up { unit - rest } else { -rest };
                context.arena.object(self.later(i64::try_from(change).unwrap_or(0)))
            }
            "AddDate" => {
                let months = civil.year.saturating_add(number(0)).clamp(-300_000, 300_000) * 12 + civil.month
                    - 1
                    + number(1).clamp(-3_600_000, 3_600_000);
                let days = days_from_civil(months.div_euclid(12), months.rem_euclid(12) + 1, 1) + civil.day
                    - 1
                    + number(2).clamp(-100_000_000, 100_000_000);
                let wall = days * 86_400 + civil.hour * 3600 + civil.minute * 60 + civil.second;
                context.arena.object(in_zone(wall, self.nanos, self.zone))
            }
            "Sub" => Value::Int(IntType::Duration, self.since(&other)),
            "Before" => Value::Bool(order.is_lt()),
            "After" => Value::Bool(order.is_gt()),
            "Equal" => Value::Bool(order.is_eq()),
            _ => Value::int(order as i64),
        })
    }
}
