//! The encryption of messages to browsers: RFC 8291 upon RFC 8188, in one record. The push service cannot read them.

use ring::{
    aead::{AES_128_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey},
    agreement::{ECDH_P256, EphemeralPrivateKey, UnparsedPublicKey, agree_ephemeral},
    hkdf::{HKDF_SHA256, KeyType, Prk, Salt},
    rand::SystemRandom,
};
use thiserror::Error;

/// A point of the curve, uncompressed.
const POINT_BYTES: usize = 65;

/// The secret that authenticates, by RFC 8291.
const AUTH_BYTES: usize = 16;

/// The salt of a message, by RFC 8188.
const SALT_BYTES: usize = 16;

/// The size of records that the head names: more than the one that there is.
const RECORD_BYTES: u32 = 4096;

/// Messages are padded to a multiple of this size, so that their lengths reveal neither the language nor the event.
const PADDED_BYTES: usize = 256;

/// Ends the last record, by RFC 8188.
const LAST_RECORD: u8 = 2;

/// The keys of a browser.
#[derive(Clone)]
pub struct Subscription {
    public_key: [u8; POINT_BYTES],
    auth: [u8; AUTH_BYTES],
}

/// Why keys cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SubscriptionError {
    #[error("p256dh is a point of P-256 in its uncompressed form: 65 bytes as Base64 for URLs")]
    PublicKey,
    #[error("auth is 16 bytes as Base64 for URLs")]
    Auth,
}

impl Subscription {
    /// The keys, if the public one is a point of the curve.
    pub fn new(public_key: &[u8], auth: &[u8]) -> Result<Self, SubscriptionError> {
        let public_key = public_key.try_into().map_err(|_| SubscriptionError::PublicKey)?;
        let auth = auth.try_into().map_err(|_| SubscriptionError::Auth)?;
        let subscription = Self { public_key, auth };
        // The library checks the point when it is used.
        subscription.agree(|_| ()).map_err(|()| SubscriptionError::PublicKey)?;
        Ok(subscription)
    }

    /// Seals a message with a key and a salt of its own.
    pub fn seal(&self, message: &[u8]) -> Result<Vec<u8>, SubscriptionError> {
        let salt = rand::random();
        let agreed = self.agree(<[u8]>::to_vec).map_err(|()| SubscriptionError::PublicKey)?;
        let length = (message.len() + 1).next_multiple_of(PADDED_BYTES);
        Ok(self.seal_with(&agreed, salt, message, length))
    }

    /// Makes a new key, and the secret that it shares with the browser's key.
    fn agree<T>(&self, derive: impl FnOnce(&[u8]) -> T) -> Result<Agreed<T>, ()> {
        let random = SystemRandom::new();
        let own = EphemeralPrivateKey::generate(&ECDH_P256, &random).map_err(drop)?;
        let public_key = own.compute_public_key().map_err(drop)?.as_ref().try_into().map_err(drop)?;
        let theirs = UnparsedPublicKey::new(&ECDH_P256, &self.public_key);
        let shared = agree_ephemeral(own, &theirs, derive).map_err(drop)?;
        Ok(Agreed { public_key, shared })
    }

    /// Seals a message in one record, which zeros make so long.
    fn seal_with(&self, agreed: &Agreed<Vec<u8>>, salt: [u8; SALT_BYTES], message: &[u8], length: usize) -> Vec<u8> {
        let Agreed { public_key, shared } = agreed;
        let pseudo_random = Salt::new(HKDF_SHA256, &self.auth).extract(shared);
        let input: [u8; 32] = expanded(&pseudo_random, &[b"WebPush: info\0", &self.public_key, public_key]);
        let pseudo_random = Salt::new(HKDF_SHA256, &salt).extract(&input);
        let key: [u8; 16] = expanded(&pseudo_random, &[b"Content-Encoding: aes128gcm\0"]);
        let nonce: [u8; NONCE_LEN] = expanded(&pseudo_random, &[b"Content-Encoding: nonce\0"]);
        let key =
            LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &key).expect("the key has the length of the cipher's"));
        let mut record = [message, &[LAST_RECORD]].concat();
        record.resize(length.max(record.len()), 0);
        key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut record)
            .expect("a record is much shorter than the cipher allows");
        let key_bytes = u8::try_from(public_key.len()).expect("a point has 65 bytes");
        [&salt[..], &RECORD_BYTES.to_be_bytes(), &[key_bytes], public_key, &record].concat()
    }
}

/// A key that is used once, and the secret that it shares with a browser's key.
struct Agreed<T> {
    public_key: [u8; POINT_BYTES],
    shared: T,
}

/// A length of derived bytes.
struct Bytes(usize);

impl KeyType for Bytes {
    fn len(&self) -> usize {
        self.0
    }
}

fn expanded<const N: usize>(pseudo_random: &Prk, info: &[&[u8]]) -> [u8; N] {
    let mut bytes = [0; N];
    let expanded = pseudo_random.expand(info, Bytes(N)).and_then(|derived| derived.fill(&mut bytes));
    expanded.expect("so few bytes can be derived");
    bytes
}

#[cfg(test)]
mod tests {
    use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};

    use super::*;

    fn bytes(text: &str) -> Vec<u8> {
        BASE64_URL_SAFE_NO_PAD.decode(text).expect("Base64")
    }

    /// The keys of the example in RFC 8291, section 5 and appendix A.
    fn example() -> Subscription {
        let public_key =
            bytes("BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4");
        Subscription::new(&public_key, &bytes("BTBZMqHH6r4Tts7J_aSIgg")).expect("keys")
    }

    #[test]
    fn the_example_of_rfc_8291_is_sealed_as_there() {
        let own = bytes("BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8");
        let agreed = Agreed {
            public_key: own.try_into().expect("a point"),
            shared: bytes("kyrL1jIIOHEzg3sM2ZWRHDRB62YACZhhSlknJ672kSs"),
        };
        let salt = bytes("DGv6ra1nlYgDCS1FRnbzlw").try_into().expect("a salt");
        let sealed = example().seal_with(&agreed, salt, b"When I grow up, I want to be a watermelon", 0);
        let expected = "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN";
        assert_eq!(BASE64_URL_SAFE_NO_PAD.encode(sealed), expected);
    }

    #[test]
    fn only_points_of_the_curve_and_secrets_of_16_bytes_are_keys() {
        let (good, auth) = (example().public_key, [7; AUTH_BYTES]);
        assert!(Subscription::new(&good, &auth).is_ok());
        let mut off_the_curve = good;
        off_the_curve[64] ^= 1;
        for public_key in [&[][..], &good[1..], &off_the_curve, &[4; POINT_BYTES], &[0; POINT_BYTES]] {
            assert_eq!(Subscription::new(public_key, &auth).err(), Some(SubscriptionError::PublicKey));
        }
        for auth in [&[][..], &[7; 15], &[7; 17]] {
            assert_eq!(Subscription::new(&good, auth).err(), Some(SubscriptionError::Auth));
        }
    }

    #[test]
    fn lengths_tell_little() {
        let sealed = [1, 200, 255, 256].map(|length| example().seal(&vec![b'a'; length]).expect("it is sealed").len());
        assert_eq!(sealed, [358, 358, 358, 614]);
    }

    #[test]
    fn each_message_has_a_key_and_a_salt_of_its_own() {
        let [first, second] = [(), ()].map(|()| example().seal(b"a").expect("it is sealed"));
        assert_ne!(first[..16], second[..16]);
        assert_ne!(first[21..86], second[21..86]);
    }
}
