//! Message boundaries of a gRPC stream, whatever chunks it arrives in.

/// Bytes before a message: one flag of compression, four of length.
pub(super) const PREFIX: usize = 5;

/// The message that is being received.
#[derive(Debug, Default)]
pub(super) struct MessageFraming {
    /// The prefix as far as it was received: one flag, and the length in four bytes.
    prefix: [u8; PREFIX],
    /// Bytes received of the message, its prefix included.
    received: usize,
}

impl MessageFraming {
    /// Adds a chunk. Returns how many bytes of an incomplete message are held; complete messages have been consumed.
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

    /// Size of the message with its prefix. The reader refuses one that is too long.
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
