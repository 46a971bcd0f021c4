//! The keys that sign and verify access tokens.

use mancala_server::{
    config::Serve,
    http::{PublicKey, Tokens},
};

use super::{database::data_folder, failure::Failure};

/// The name of the embedded database's signing key in the data folder.
pub const EMBEDDED_KEY: &str = "jwt-private-key.pem";

/// The additional public keys whose tokens are accepted.
pub fn accepted(options: &Serve) -> Result<Vec<PublicKey>, Failure> {
    options.jwt_public_key_files.iter().map(|file| PublicKey::from_file(file).map_err(Failure::misuse)).collect()
}

/// The signer with the key that the options name. `None` if they name none and the embedded database brings its own.
pub fn given(options: &Serve) -> Result<Option<Tokens>, Failure> {
    let Serve { jwt_issuer: issuer, jwt_audience: audience, database, .. } = options;
    match &options.jwt_private_key_file {
        Some(file) => Tokens::from_file(file, issuer, audience).map(Some).map_err(Failure::misuse),
        None if database.database_url.is_none() => Ok(None),
        None => Err(Failure::misuse(
            "with DATABASE_URL set, a key is needed to sign tokens: make one with `openssl genpkey -algorithm ed25519 \
             -out jwt.pem` and name it with --jwt-private-key-file or JWT_PRIVATE_KEY_FILE",
        )),
    }
}

/// The signer with the key beside the embedded database, which the first start makes.
pub fn embedded(options: &Serve) -> Result<Tokens, Failure> {
    let file = data_folder(&options.database)?.join(EMBEDDED_KEY);
    Tokens::from_file_or_new(&file, &options.jwt_issuer, &options.jwt_audience).map_err(Failure::new)
}
