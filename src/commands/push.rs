//! What push notifications the options ask for, with their keys.

use std::{io, path::Path};

use mancala_server::{
    config::Serve,
    http::{KeyLinks, read_key_file, write_new_key_file},
    push::{Push, VapidKey, WebPush, new_vapid_key},
};

use super::{database::data_folder, failure::Failure};

/// The name of the embedded database's key for push services in the data folder.
pub const EMBEDDED_VAPID_KEY: &str = "vapid-private-key.pem";

/// What the options ask for. Makes the key beside the embedded database if there is none yet.
pub fn push(options: &Serve) -> Result<Push, Failure> {
    let web = match &options.push_contact {
        Some(contact) => Some(WebPush::new(vapid_key(options)?, contact.clone())),
        None => None,
    };
    Ok(Push { web })
}

fn vapid_key(options: &Serve) -> Result<VapidKey, Failure> {
    match &options.push_vapid_key_file {
        Some(file) => read(file, KeyLinks::Followed),
        None if options.database.database_url.is_none() => {
            let file = data_folder(&options.database)?.join(EMBEDDED_VAPID_KEY);
            match write_new_key_file(&file, &new_vapid_key()) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    let path = file.display();
                    Err(Failure::new(format!("the key of push notifications {path} cannot be written: {error}")))
                }
                Ok(()) | Err(_) => read(&file, KeyLinks::Refused),
            }
        }
        None => Err(Failure::misuse(
            "with DATABASE_URL set, push notifications to browsers need a key: make one with `openssl genpkey -algorithm EC \
             -pkeyopt ec_paramgen_curve:P-256 -out vapid.pem` and name it with --push-vapid-key-file or PUSH_VAPID_KEY_FILE",
        )),
    }
}

fn read(file: &Path, links: KeyLinks) -> Result<VapidKey, Failure> {
    let name = file.display();
    let pem = read_key_file(file, links)
        .map_err(|error| Failure::misuse(format!("the key of push notifications {name} cannot be read: {error}")))?;
    VapidKey::from_pem(&pem).ok_or_else(|| {
        Failure::misuse(format!("the key of push notifications {name} is no P-256 key in PEM (PKCS #8)"))
    })
}
