//! Toguz Kumalak and Bestemshe: their rules by hand-made examples, and a naive form of them.

mod compare;
mod naive;
mod rules;
