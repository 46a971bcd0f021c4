//! The push notifications that the options enable, with their keys.

use std::{io, path::Path};

use mancala_server::{
    config::Serve,
    http::{KeyLinks, read_key_file, write_new_key_file},
    push::{Apns, ApnsSettings, FCM_URL, Fcm, Push, ServiceAccount, VapidKey, WebPush, new_vapid_key},
    webhook::Endpoint,
};

use super::{background::webhook_reach, database::data_folder, failure::Failure};

/// The name of the embedded database's key for push services in the data folder.
pub const EMBEDDED_VAPID_KEY: &str = "vapid-private-key.pem";

/// The services of push notifications that the options enable. Makes the key beside the embedded database if there is none yet.
pub fn push(options: &Serve) -> Result<Push, Failure> {
    let web = match &options.push_contact {
        Some(contact) => Some(WebPush::new(vapid_key(options)?, contact.clone())),
        None => None,
    };
    let fcm = options.push_fcm_file.as_deref().map(|file| fcm(options, file)).transpose()?;
    let apns = options.push_apns_file.as_deref().map(|file| apns(options, file)).transpose()?;
    Ok(Push { web, fcm, apns })
}

/// Apple's service, by the settings and the key of a file, which may be named relative to its folder. It is reached under the rules of webhooks.
fn apns(options: &Serve, file: &Path) -> Result<Apns, Failure> {
    let wrong = |reason: &str| {
        Failure::misuse(format!("the file of --push-apns-file or PUSH_APNS_FILE cannot be used: {reason}"))
    };
    let text = read_key_file(file, KeyLinks::Followed).map_err(|error| wrong(&error.to_string()))?;
    let folder = file.parent().unwrap_or(Path::new("."));
    let read_key =
        |name: &str| read_key_file(&folder.join(name), KeyLinks::Followed).map_err(|error| error.to_string());
    let settings = ApnsSettings::parse(&text, read_key).map_err(|reason| wrong(&reason))?;
    let service = settings.service();
    if Endpoint::parse(service, webhook_reach(options)).is_err() {
        return Err(wrong("Apple's service must be an allowed address of webhooks: --webhook-ports"));
    }
    Apns::new(settings, service).ok_or_else(|| wrong("the service has no address"))
}

/// Google's service, with the account of a file. The rules of webhooks apply to the addresses that the account names.
fn fcm(options: &Serve, file: &Path) -> Result<Fcm, Failure> {
    let wrong = |reason: &str| {
        Failure::misuse(format!("the file of --push-fcm-file or PUSH_FCM_FILE cannot be used: {reason}"))
    };
    let text = read_key_file(file, KeyLinks::Followed).map_err(|error| wrong(&error.to_string()))?;
    let account = ServiceAccount::parse(&text).map_err(wrong)?;
    if [account.token_uri(), FCM_URL].iter().any(|url| Endpoint::parse(url, webhook_reach(options)).is_err()) {
        return Err(wrong("token_uri and Google's service must be allowed addresses of webhooks: --webhook-ports"));
    }
    Fcm::new(account, FCM_URL).ok_or_else(|| wrong("the service has no address"))
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
