//! Inference over date fields: which fields follow from those that a text shows. Rule S3 uses it.

use super::{month_day::MonthDay, period::Reset, token::Token};

/// A set of date fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct DateFields(u16);

impl DateFields {
    pub(crate) const YEAR: Self = Self(1);
    pub(crate) const QUARTER: Self = Self(1 << 1);
    pub(crate) const MONTH: Self = Self(1 << 2);
    pub(crate) const DAY: Self = Self(1 << 3);
    pub(crate) const DAY_OF_YEAR: Self = Self(1 << 4);
    pub(crate) const HOUR: Self = Self(1 << 5);
    pub(crate) const MINUTE: Self = Self(1 << 6);
    pub(crate) const SECOND: Self = Self(1 << 7);
    pub(crate) const ISO_YEAR: Self = Self(1 << 8);
    pub(crate) const ISO_WEEK: Self = Self(1 << 9);
    pub(crate) const FISCAL: Self = Self(1 << 10);

    /// Adds the field that a token shows.
    pub(super) fn with_token(self, token: &Token) -> Self {
        let field = match token {
            Token::Year4 | Token::Year2 => Self::YEAR,
            Token::Month => Self::MONTH,
            Token::Day => Self::DAY,
            Token::DayOfYear => Self::DAY_OF_YEAR,
            Token::Hour => Self::HOUR,
            Token::Minute => Self::MINUTE,
            Token::Second => Self::SECOND,
            Token::Quarter => Self::QUARTER,
            Token::IsoYear => Self::ISO_YEAR,
            Token::IsoWeek => Self::ISO_WEEK,
            Token::FiscalStart | Token::FiscalEnd | Token::FiscalYear => Self::FISCAL,
            Token::Literal(_) => return self,
        };
        self.with(field)
    }

    /// The union.
    pub(crate) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether the set contains all of `other`.
    pub(crate) const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The set with all fields that follow from it. {year, month, day} determines every field. {year, month} determines the
    /// quarter, and the fiscal year only if that begins with a month. {ISO year, ISO week} and the calendar year do not determine
    /// each other.
    pub(crate) fn closure(self, fiscal: MonthDay) -> Self {
        const DAY_FIELDS: DateFields = DateFields::YEAR
            .with(DateFields::QUARTER)
            .with(DateFields::MONTH)
            .with(DateFields::DAY)
            .with(DateFields::DAY_OF_YEAR)
            .with(DateFields::ISO_YEAR)
            .with(DateFields::ISO_WEEK)
            .with(DateFields::FISCAL);
        let rules = [
            (Self::MONTH, Self::QUARTER, true),
            (Self::FISCAL.with(Self::MONTH), Self::YEAR, fiscal.begins_month()),
            (Self::FISCAL.with(Self::MONTH).with(Self::DAY), Self::YEAR, true),
            (Self::FISCAL.with(Self::QUARTER), Self::YEAR, fiscal.begins_quarter()),
            (Self::FISCAL, Self::YEAR, fiscal.is_calendar()),
            (Self::YEAR.with(Self::MONTH).with(Self::DAY), DAY_FIELDS, true),
            (Self::YEAR.with(Self::DAY_OF_YEAR), DAY_FIELDS, true),
            (Self::YEAR.with(Self::MONTH), Self::FISCAL, fiscal.begins_month()),
            (Self::YEAR.with(Self::QUARTER), Self::FISCAL, fiscal.begins_quarter()),
            (Self::YEAR, Self::FISCAL, fiscal.is_calendar()),
        ];
        let mut fields = self;
        loop {
            let before = fields;
            for (from, gives, holds) in rules {
                if holds && fields.contains(from) {
                    fields = fields.with(gives);
                }
            }
            if fields == before {
                return fields;
            }
        }
    }

    /// The fields that determine the period of a counter.
    pub(crate) const fn required_by(reset: Reset) -> Self {
        let day = Self::YEAR.with(Self::MONTH).with(Self::DAY);
        match reset {
            Reset::Never => Self(0),
            Reset::Year => Self::YEAR,
            Reset::FiscalYear => Self::FISCAL,
            Reset::Quarter => Self::YEAR.with(Self::QUARTER),
            Reset::Month => Self::YEAR.with(Self::MONTH),
            Reset::IsoWeek => Self::ISO_YEAR.with(Self::ISO_WEEK),
            Reset::Day => day,
            Reset::Hour => day.with(Self::HOUR),
        }
    }

    /// The default reset: with the finest unit shown, at most daily (rule S4).
    pub(crate) fn default_reset(self) -> Reset {
        let below_a_day = [Self::DAY, Self::DAY_OF_YEAR, Self::HOUR, Self::MINUTE, Self::SECOND];
        if below_a_day.into_iter().any(|field| self.contains(field)) {
            return Reset::Day;
        }
        let coarser = [
            (Self::ISO_WEEK, Reset::IsoWeek),
            (Self::ISO_YEAR, Reset::IsoWeek),
            (Self::MONTH, Reset::Month),
            (Self::QUARTER, Reset::Quarter),
            (Self::FISCAL, Reset::FiscalYear),
            (Self::YEAR, Reset::Year),
        ];
        coarser.into_iter().find(|(field, _)| self.contains(*field)).map_or(Reset::Never, |(_, reset)| reset)
    }
}
