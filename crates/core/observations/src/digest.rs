//! Hashes of texts: names of files in caches, addresses of assets, fingerprints.

use sha2::{Digest, Sha256};

/// The FNV-1a hash of 64 bits of a text (RFC 9923), in hexadecimal.
pub fn fnv1a(text: &str) -> String {
    format!("{:016x}", fnv1a_64(text.bytes(), 0))
}

const FNV_OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

/// FNV-1a of 64 bits (Fowler, Noll, Vo), the seed mixed into the offset basis; 0: none.
pub fn fnv1a_64(bytes: impl IntoIterator<Item = u8>, seed: u64) -> u64 {
    let bytes = bytes.into_iter();
    bytes.fold(FNV_OFFSET_BASIS ^ seed, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME)
    })
}

/// SHA-256 of these parts, one after the other, in hexadecimal.
pub fn sha256(parts: impl IntoIterator<Item = impl AsRef<[u8]>>) -> String {
    let hash = parts.into_iter().fold(Sha256::new(), Digest::chain_update);
    hexadecimal(&hash.finalize())
}

/// Bytes as two digits each.
pub fn hexadecimal(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect()
}

#[cfg(test)]
mod tests {
    use super::sha256;

    /// The first example of FIPS 180-2, appendix B.
    #[test]
    fn the_hash_is_that_of_the_standard() {
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(["a", "bc"]), expected);
    }
}
