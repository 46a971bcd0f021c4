mod devices;
mod settings;
mod web;
