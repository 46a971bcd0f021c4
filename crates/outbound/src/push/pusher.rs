//! Which services of push notifications are offered, and one attempt to send by one of them.

use std::fmt;

use mancala_domain::DeviceKind;
use time::{Duration, OffsetDateTime};

use super::{
    apns::Apns,
    app_sender::AppSender,
    encryption::Subscription,
    fcm::Fcm,
    gate::Gate,
    notification::Notification,
    outcome::Outcome,
    web::{self, WebPush},
};
use crate::webhook::Sender;

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

    /// The kinds whose service lets this server in.
    pub fn kinds_now(&self, now: OffsetDateTime) -> Vec<DeviceKind> {
        let mut kinds = self.kinds();
        kinds.retain(|kind| self.gate(*kind).is_none_or(|gate| gate.is_open(now)));
        kinds
    }

    /// For tests: so much time passes for the pauses of services.
    pub fn let_pass(&self, time: Duration) {
        DeviceKind::ALL.into_iter().filter_map(|kind| self.gate(kind)).for_each(|gate| gate.let_pass(time));
    }

    fn gate(&self, kind: DeviceKind) -> Option<&Gate> {
        match kind {
            DeviceKind::Web => None,
            DeviceKind::Fcm => self.fcm.as_ref().map(|fcm| &*fcm.gate),
            DeviceKind::Apns => self.apns.as_ref().map(|apns| &*apns.gate),
        }
    }

    pub fn offers(&self, kind: DeviceKind) -> bool {
        match kind {
            DeviceKind::Web => self.web.is_some(),
            DeviceKind::Fcm => self.fcm.is_some(),
            DeviceKind::Apns => self.apns.is_some(),
        }
    }
}

/// The target of a notification.
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
#[derive(Clone)]
pub struct Pusher {
    pub push: Push,
    /// Sends to browsers.
    sender: Sender,
    to_google: AppSender,
    to_apple: AppSender,
}

impl Pusher {
    /// A pusher that sends by the rules of `sender`. Services for apps get separate connections.
    pub fn new(push: Push, sender: Sender) -> Self {
        let [to_google, to_apple] = [(); 2].map(|()| AppSender::new(&sender));
        Self { push, sender, to_google, to_apple }
    }

    /// Closes the connections whose time is over.
    pub fn close_expired(&self) {
        for sender in [&self.sender, &self.to_google.sender, &self.to_apple.sender] {
            sender.close_expired();
        }
    }

    /// Makes one attempt.
    pub async fn send(&self, target: Target<'_>, notification: &Notification, now: OffsetDateTime) -> Outcome {
        match target {
            Target::Web { address, public_key, secret } => {
                let Some(web) = &self.push.web else { return Outcome::of_server() };
                let Ok(keys) = Subscription::new(public_key, secret) else { return Outcome::Gone };
                let Some(request) = web.request(address, &keys, notification, now) else { return Outcome::Gone };
                self.sender.post(&request).await.map_or_else(Outcome::of_failure, web::outcome_of)
            }
            Target::Fcm { token } => {
                let Some(fcm) = &self.push.fcm else { return Outcome::of_server() };
                fcm.send(&self.to_google, token, notification, now).await
            }
            Target::Apns { token } => {
                let Some(apns) = &self.push.apns else { return Outcome::of_server() };
                apns.send(&self.to_apple, token, notification, now).await
            }
        }
    }
}

impl fmt::Debug for Pusher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pusher").field("push", &self.push).finish_non_exhaustive()
    }
}
