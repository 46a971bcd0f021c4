//! Push notifications: their text in the language of the device, and the request to a push service.
//!
//! `web` speaks to the push services of browsers (RFC 8030), `vapid` signs (RFC 8292), `encryption` seals (RFC 8291). `fcm` and `apns`
//! speak to the services of Google and Apple for apps. `service_account` has Google's access tokens, `gate` the pauses of both services,
//! and `app_sender` their connections. `texts` has the words. Requests use the checked connections of `webhook`. Knows no database and no
//! HTTP of the API.

mod apns;
mod app_sender;
mod encryption;
mod fcm;
mod gate;
mod notification;
mod outcome;
mod pusher;
mod service_account;
mod texts;
mod vapid;
mod web;

pub use apns::{Apns, ApnsSettings};
pub use encryption::{Subscription, SubscriptionError};
pub use fcm::{FCM_URL, Fcm};
pub use notification::{Notification, Subject, Urgency};
pub use outcome::{Cause, Outcome};
pub use pusher::{Push, Pusher, Target};
pub use service_account::ServiceAccount;
pub use texts::{News, Texts};
pub use vapid::{VapidKey, new_vapid_key};
pub use web::WebPush;
