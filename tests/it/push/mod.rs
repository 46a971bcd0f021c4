mod devices;
mod web;
