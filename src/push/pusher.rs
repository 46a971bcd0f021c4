//! Which services of push notifications are offered, and one attempt to send by one of them.

use time::OffsetDateTime;

use super::{
    apns::Apns,
    encryption::Subscription,
    fcm::Fcm,
    notification::Notification,
    outcome::Outcome,
    web::{self, WebPush},
};
use crate::{domain::DeviceKind, webhook::Sender};

/// The services that are offered.
#[derive(Clone, Debug, Default)]
pub struct Push {
    pub web: Option<WebPush>,
    pub fcm: Option<Fcm>,
    pub apns: Option<Apns>,
}

impl Push {
    /// The kinds of devices to which something is sent.
    pub fn kinds(&self) -> Vec<DeviceKind> {
        let offered = |kind: &DeviceKind| self.offers(*kind);
        DeviceKind::ALL.into_iter().filter(offered).collect()
    }

    pub fn offers(&self, kind: DeviceKind) -> bool {
        match kind {
            DeviceKind::Web => self.web.is_some(),
            DeviceKind::Fcm => self.fcm.is_some(),
            DeviceKind::Apns => self.apns.is_some(),
        }
    }
}

/// Where a notification goes.
#[derive(Clone, Copy)]
pub enum Target<'a> {
    /// A browser: the URL of its push service, its public key and its secret.
    Web { address: &'a str, public_key: &'a [u8], secret: &'a [u8] },
    /// An app, by its registration token at Google.
    Fcm { token: &'a str },
    /// An app, by its device token at Apple.
    Apns { token: &'a str },
}

/// Sends notifications.
#[derive(Clone, Debug)]
pub struct Pusher {
    pub push: Push,
    pub sender: Sender,
}

impl Pusher {
    /// Makes one attempt.
    pub async fn send(&self, target: Target<'_>, notification: &Notification, now: OffsetDateTime) -> Outcome {
        match target {
            Target::Web { address, public_key, secret } => {
                let Some(web) = &self.push.web else { return Outcome::Failed { retry_after_s: None } };
                let Ok(keys) = Subscription::new(public_key, secret) else { return Outcome::Gone };
                let Some(request) = web.request(address, &keys, notification, now) else { return Outcome::Gone };
                self.sender.post(&request).await.map_or_else(Outcome::of_failure, web::outcome_of)
            }
            Target::Fcm { token } => {
                let Some(fcm) = &self.push.fcm else { return Outcome::Failed { retry_after_s: None } };
                fcm.send(&self.sender, token, notification, now).await
            }
            Target::Apns { token } => {
                let Some(apns) = &self.push.apns else { return Outcome::Failed { retry_after_s: None } };
                apns.send(&self.sender, token, notification, now).await
            }
        }
    }
}
