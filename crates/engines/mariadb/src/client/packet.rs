//! Packets, and the numbers and texts in them
//! (<https://mariadb.com/kb/en/0-packet/>, <https://mariadb.com/kb/en/protocol-data-types/>).

/// Bytes of a packet's content at most; longer content continues in the next packet.
const CONTENT_MAX: usize = 0xFF_FFFF;
/// Length (3 bytes) and sequence number.
const HEADER: usize = 4;

/// Appends what `body` writes as a packet, or as many as its length takes; returns the next
/// sequence number.
pub fn put_packet(out: &mut Vec<u8>, sequence: u8, body: impl FnOnce(&mut Vec<u8>)) -> u8 {
    let at = out.len();
    out.extend_from_slice(&[0; HEADER]);
    body(out);
    let length = out.len() - at - HEADER;
    if length < CONTENT_MAX {
        out[at..at + HEADER].copy_from_slice(&header(length, sequence));
        return sequence.wrapping_add(1);
    }
    let content = out.split_off(at + HEADER);
    out.truncate(at);
    // One that is full is followed by another, be it empty.
    let (mut sequence, mut rest) = (sequence, content.as_slice());
    loop {
        let (part, after) = rest.split_at(rest.len().min(CONTENT_MAX));
        out.extend_from_slice(&header(part.len(), sequence));
        out.extend_from_slice(part);
        (rest, sequence) = (after, sequence.wrapping_add(1));
        if part.len() < CONTENT_MAX {
            return sequence;
        }
    }
}

fn header(length: usize, sequence: u8) -> [u8; HEADER] {
    let [low, middle, high, _] = (length as u32).to_le_bytes();
    [low, middle, high, sequence]
}

/// Takes packets from the front of what was received.
#[derive(Debug, Default)]
pub struct Packets {
    /// The packet before was full: the next one is its continuation.
    continues: bool,
}

/// A packet's content and sequence number.
pub(crate) type Packet<'a> = (&'a [u8], u8);

impl Packets {
    /// The next packet, if all of it is there. Of content that is longer than a packet (16 MiB)
    /// only the first one is given, which `Reader` finds too short for what it holds; the
    /// others are passed over.
    pub fn next<'a>(&mut self, input: &mut &'a [u8]) -> Option<Packet<'a>> {
        loop {
            let (header, rest) = input.split_first_chunk::<HEADER>()?;
            let [low, middle, high, sequence] = *header;
            let length = u32::from_le_bytes([low, middle, high, 0]) as usize;
            let content = rest.get(..length)?;
            *input = &rest[length..];
            let is_first = !std::mem::replace(&mut self.continues, length == CONTENT_MAX);
            if is_first {
                return Some((content, sequence));
            }
        }
    }
}

/// Reads values from the front of some bytes; `None` when they end too early.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a>(pub &'a [u8]);

macro_rules! number {
    ($($(#[$meta:meta])* $name:ident: $type:ty),*) => {
        $($(#[$meta])*
        pub fn $name(&mut self) -> Option<$type> {
            let (bytes, rest) = self.0.split_first_chunk()?;
            self.0 = rest;
            Some(<$type>::from_le_bytes(*bytes))
        })*
    };
}

impl<'a> Reader<'a> {
    number! {
        /// A number of 1 byte.
        u8: u8,
        /// Of 2 bytes.
        u16: u16,
        /// Of 4 bytes.
        u32: u32,
        /// Of 8 bytes.
        u64: u64,
        /// A floating point number of 4 bytes.
        f32: f32,
        /// Of 8 bytes.
        f64: f64
    }

    /// So many bytes.
    pub fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }

    /// A number with its length in front.
    pub fn length(&mut self) -> Option<u64> {
        match self.u8()? {
            short @ ..=0xFA => Some(short.into()),
            0xFC => self.u16().map(u64::from),
            0xFD => self
                .bytes(3)
                .map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]).into()),
            0xFE => self.u64(),
            _ => None,
        }
    }

    /// Bytes with their length in front.
    pub fn text(&mut self) -> Option<&'a [u8]> {
        let length = self.length()?;
        self.bytes(usize::try_from(length).ok()?)
    }

    /// Bytes up to a zero, which is taken too.
    pub fn until_zero(&mut self) -> Option<&'a [u8]> {
        let end = self.0.iter().position(|byte| *byte == 0)?;
        let bytes = self.bytes(end)?;
        self.bytes(1)?;
        Some(bytes)
    }

    /// A cell of a row in text format: NULL is `Some(None)`.
    pub fn cell(&mut self) -> Option<Option<&'a [u8]>> {
        if self.0.first() == Some(&0xFB) {
            self.bytes(1)?;
            return Some(None);
        }
        self.text().map(Some)
    }
}

/// Appends a number with its length in front.
pub(crate) fn put_length(out: &mut Vec<u8>, number: usize) {
    let bytes = (number as u64).to_le_bytes();
    match number {
        ..=0xFA => out.push(bytes[0]),
        0xFB..=0xFFFF => {
            out.push(0xFC);
            out.extend_from_slice(&bytes[..2]);
        }
        0x1_0000..=0xFF_FFFF => {
            out.push(0xFD);
            out.extend_from_slice(&bytes[..3]);
        }
        _ => {
            out.push(0xFE);
            out.extend_from_slice(&bytes);
        }
    }
}

/// Appends bytes with their length in front.
pub fn put_text(out: &mut Vec<u8>, text: &[u8]) {
    put_length(out, text.len());
    out.extend_from_slice(text);
}

#[cfg(test)]
mod tests {
    use super::{CONTENT_MAX, Packets, Reader, put_length, put_packet};

    #[test]
    fn lengths_are_read_as_they_are_written() {
        for number in [0, 0xFA, 0xFB, 0xFFFF, 0x1_0000, 0xFF_FFFF, 0x100_0000] {
            let mut out = Vec::new();
            put_length(&mut out, number);
            assert_eq!(Reader(&out).length(), Some(number as u64));
            assert_eq!(Reader(&out[..out.len() - 1]).length(), None, "{number}");
        }
    }

    #[test]
    fn what_is_as_long_as_a_packet_or_longer_goes_on_in_the_next() {
        for (length, packets) in
            [(5, 1), (CONTENT_MAX - 1, 1), (CONTENT_MAX, 2), (CONTENT_MAX + 7, 2)]
        {
            let mut out = Vec::new();
            let next = put_packet(&mut out, 3, |out| out.resize(out.len() + length, 1));
            assert_eq!((usize::from(next), out.len()), (3 + packets, length + 4 * packets));
            put_packet(&mut out, 0, |out| out.push(9));
            let (mut input, mut taken) = (out.as_slice(), Packets::default());
            assert_eq!(
                taken.next(&mut input).map(|(content, _)| content.len()),
                Some(length.min(CONTENT_MAX))
            );
            assert_eq!(taken.next(&mut input), Some((&[9][..], 0)));
            assert_eq!(taken.next(&mut input), None);
        }
    }
}
