//! Where a message ends in a stream of them, whatever pieces they come in.

use crate::grpc::fast_path::next_codec::PREFIX;

/// The message that is arriving: how much of it is there.
#[derive(Debug, Default)]
pub(super) struct MessageFraming {
    /// What has come of the prefix: a flag, and the message's length in four bytes.
    prefix: [u8; PREFIX],
    /// How many bytes have come, the prefix among them.
    received: usize,
}

impl MessageFraming {
    /// How many bytes of a message that is not whole are there, after one more piece. What came before them has been used.
    pub(super) fn push(&mut self, mut piece: &[u8]) -> usize {
        while let Some(&byte) = piece.first() {
            if self.received < PREFIX {
                self.prefix[self.received] = byte;
                self.received += 1;
                piece = &piece[1..];
            } else {
                let taken = (self.size() - self.received).min(piece.len());
                self.received += taken;
                piece = &piece[taken..];
            }
            if self.received >= PREFIX && self.received == self.size() {
                self.received = 0;
            }
        }
        self.received
    }

    /// The whole of it, as its prefix says: one that is too long is refused by whoever reads it.
    fn size(&self) -> usize {
        let [_, length @ ..] = self.prefix;
        PREFIX.saturating_add(usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(length: u8) -> Vec<u8> {
        [&[0, 0, 0, 0, length][..], &vec![b'x'; usize::from(length)]].concat()
    }

    #[test]
    fn only_what_is_not_whole_is_left_however_it_is_cut() {
        let whole = [message(3), message(0), message(200), message(1)].concat();
        let stream = [&whole[..], &[0, 0, 0, 0, 9, b'x', b'x']].concat();
        for cut in 0..=stream.len() {
            let mut parts = MessageFraming::default();
            parts.push(&stream[..cut]);
            assert_eq!(parts.push(&stream[cut..]), PREFIX + 2, "cut at {cut}");
        }
        let mut bytewise = MessageFraming::default();
        let left: Vec<usize> = whole.iter().map(|byte| bytewise.push(&[*byte])).collect();
        assert_eq!(left[..13], [1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 0]);
        assert_eq!(left.last(), Some(&0));
    }

    #[test]
    fn the_longest_that_can_be_said_is_no_trouble() {
        assert_eq!(MessageFraming::default().push(&[0xff; 100]), 100);
    }
}
