//! A moment as templates see it: its text and its methods.

use super::{Time, YEAR_ONE, Zone, days_from_civil, in_zone};
use crate::context::{Context, Failure};
use crate::function::Parameter;
use crate::value::{IntType, Object, Signature, Value};

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
