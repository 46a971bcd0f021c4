mod apns;
mod devices;
mod fcm;
mod settings;
mod web;
