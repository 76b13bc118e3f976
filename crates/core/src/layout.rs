//! Number layout: how a raw id, a slot and the low bits form one encoded number. Computed in 128 bits and checked.

use std::fmt;

use crate::{Block, SlotIndex};

/// The most shard bits: a ring of 1024 slots.
pub const SHARD_BITS_MAX: u8 = 10;

/// The most memory bits: 65,536 numbers per encoded id.
pub const MEMORY_BITS_MAX: u8 = 16;

/// n shard bits (2^n slots) and m memory bits (each encoded id becomes 2^m numbers).
///
/// `encoded = ((raw << n) | slot) << m | low`. The ring computes the part up to the slot; the expansion adds the low bits.
///
/// ```
/// use sequent_core::Layout;
/// let layout = Layout::new(2, 0)?;
/// assert_eq!(layout.encode(1, 3), Some(7));
/// assert_eq!(layout.decode(7), (1, 3, 0));
/// # Ok::<(), sequent_core::LayoutError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Layout {
    shard_bits: u8,
    memory_bits: u8,
}

/// Bits out of range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// n out of bounds.
    #[error("shard_bits is {0}: at most 10 are allowed")]
    ShardBits(u8),
    /// m out of bounds.
    #[error("memory_bits is {0}: at most 16 are allowed")]
    MemoryBits(u8),
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n={} m={}", self.shard_bits, self.memory_bits)
    }
}

impl Layout {
    /// The widest ring. It stands for a layout that is not known yet: a store is in the same place in every ring.
    pub const WIDEST: Self = Self { shard_bits: SHARD_BITS_MAX, memory_bits: 0 };

    /// A layout, checked against [`SHARD_BITS_MAX`] and [`MEMORY_BITS_MAX`].
    pub const fn new(shard_bits: u8, memory_bits: u8) -> Result<Self, LayoutError> {
        if shard_bits > SHARD_BITS_MAX {
            return Err(LayoutError::ShardBits(shard_bits));
        }
        if memory_bits > MEMORY_BITS_MAX {
            return Err(LayoutError::MemoryBits(memory_bits));
        }
        Ok(Self { shard_bits, memory_bits })
    }

    /// The shard bits n.
    pub const fn shard_bits(self) -> u8 {
        self.shard_bits
    }

    /// The memory bits m.
    pub const fn memory_bits(self) -> u8 {
        self.memory_bits
    }

    /// The number of slots, 2^n.
    pub const fn slots(self) -> SlotIndex {
        1 << self.shard_bits
    }

    /// The numbers per encoded id, 2^m.
    pub const fn numbers_per_id(self) -> u64 {
        1 << self.memory_bits
    }

    /// The lowest encoded number of raw id 1 in slot 0: the origin of a [`Span`](crate::Span).
    pub const fn origin(self) -> u64 {
        1 << (self.shard_bits + self.memory_bits)
    }

    /// `raw << n | slot`. `None` if the slot is outside the ring, raw is 0, or the number with its memory bits exceeds
    /// `i64::MAX`.
    pub const fn encode(self, raw: u64, slot: SlotIndex) -> Option<u64> {
        let id = (raw as u128) << self.shard_bits | slot as u128;
        let highest = (id << self.memory_bits) + self.numbers_per_id() as u128 - 1;
        if slot >= self.slots() || raw == 0 || highest > Block::NUMBER_MAX as u128 {
            return None;
        }
        #[allow(clippy::cast_possible_truncation, reason = "checked against NUMBER_MAX just above")]
        Some(id as u64)
    }

    /// The encoded ids of a block of raw ids in `slot`; `None` if any is out of range.
    pub fn encode_block(self, raw: Block, slot: SlotIndex) -> Option<Block> {
        let first = self.encode(raw.first(), slot)?;
        self.encode(raw.last(), slot)?;
        Block::new(first, raw.step() << self.shard_bits, raw.count()).ok()
    }

    /// The place, counted from 0, of the highest number that raw ids of `slot` up to `raw` yield; `None` if they yield none. In
    /// every layout, an [ordinal](crate::Numbering) number is `start + step * place`.
    ///
    /// ```
    /// use sequent_core::Layout;
    /// let (ring, wider) = (Layout::new(1, 0)?, Layout::new(2, 0)?);
    /// assert_eq!(ring.place_of(5, 1), Some(9));                 // raw ids 1 to 5 of both slots are ten numbers
    /// assert_eq!([0, 1, 2, 3].map(|slot| wider.raw_behind(9, slot)), [3, 3, 2, 2]);
    /// assert_eq!(wider.place_of(3, 2), Some(10));               // the next of slot 2 is the eleventh number
    /// # Ok::<(), sequent_core::LayoutError>(())
    /// ```
    pub const fn place_of(self, raw: u64, slot: SlotIndex) -> Option<u64> {
        if raw == 0 {
            return None;
        }
        let id = (raw as u128) << self.shard_bits | slot as u128;
        let place = (id << self.memory_bits) + self.numbers_per_id() as u128 - 1 - self.origin() as u128;
        #[allow(clippy::cast_possible_truncation, reason = "bounded by u64::MAX just here")]
        Some(if place > u64::MAX as u128 { u64::MAX } else { place as u64 })
    }

    /// The raw id that a counter of `slot` must exceed, so that all its further numbers come after `place`.
    pub const fn raw_behind(self, place: u64, slot: SlotIndex) -> u64 {
        let id = (place as u128 + self.origin() as u128) >> self.memory_bits;
        let (raw, last) = (id >> self.shard_bits, id & (self.slots() as u128 - 1));
        #[allow(clippy::cast_possible_truncation, reason = "bounded by u64::MAX just here")]
        let raw = if raw > u64::MAX as u128 { u64::MAX } else { raw as u64 };
        if slot as u128 > last { raw.saturating_sub(1) } else { raw }
    }

    /// (raw id, slot, low bits) of an encoded number.
    pub const fn decode(self, encoded: u64) -> (u64, SlotIndex, u64) {
        let low = encoded & (self.numbers_per_id() - 1);
        let id = encoded >> self.memory_bits;
        #[allow(clippy::cast_possible_truncation, reason = "masked to at most ten bits")]
        let slot = (id & (self.slots() as u64 - 1)) as SlotIndex;
        (id >> self.shard_bits, slot, low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn high_bits_are_refused_not_dropped() {
        let layout = Layout::new(10, 16).unwrap();
        assert_eq!(layout.encode(1 << 37, 0), None);
        assert!(layout.encode((1 << 37) - 1, 1023).is_some());
        assert_eq!(layout.encode(1, 1024), None, "no such slot");
        assert_eq!(layout.encode(0, 0), None, "counters begin at 1");
        assert_eq!(Layout::new(11, 0), Err(LayoutError::ShardBits(11)));
        assert_eq!(Layout::new(0, 17), Err(LayoutError::MemoryBits(17)));
    }

    proptest! {
        #[test]
        fn behind_a_place_comes_nothing_at_it_and_the_very_next(
            n in 0..=4_u8, m in 0..=4_u8, place in 0..5000_u64, slot in 0..16_u16,
        ) {
            let layout = Layout::new(n, m).unwrap();
            let slot = slot % layout.slots();
            let base = layout.raw_behind(place, slot);
            prop_assert!(layout.place_of(base + 1, slot).unwrap() - layout.numbers_per_id() + 1 > place);
            // One raw id less would yield a number at or before the place.
            prop_assert!(base == 0 || layout.place_of(base, slot).unwrap() + 1 - layout.numbers_per_id() <= place);
        }

        #[test]
        fn decode_undoes_encode(n in 0..=10_u8, m in 0..=16_u8, raw in 1..1_u64 << 37, slot in 0..1024_u16, low in 0..65_536_u64) {
            let layout = Layout::new(n, m).unwrap();
            let (slot, low) = (slot % layout.slots(), low % layout.numbers_per_id());
            let encoded = layout.encode(raw, slot).unwrap() << m | low;
            prop_assert_eq!(layout.decode(encoded), (raw, slot, low));
        }
    }
}
