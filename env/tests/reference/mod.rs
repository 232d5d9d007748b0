//! The rules of the game once more, slowly.
//!
//! Written from the text of the rules alone, on a mailbox board of letters,
//! with no type and no idea of the crate under test, so that the two have no
//! error in common. Plain where the crate is fast: paths are walked step by
//! step, lines tile by tile, and actions are their texts.

// Each test program takes its own part of this module.
#![allow(dead_code, unused_imports)]

pub(crate) mod board;
pub(crate) mod events;
pub(crate) mod game;
pub(crate) mod generate;
pub(crate) mod layout;
pub(crate) mod play;
pub(crate) mod position;
pub(crate) mod rules;
pub(crate) mod setup;

pub(crate) use game::ReferenceGame;
pub(crate) use position::Reference;
pub(crate) use rules::RefRules;

use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The rules files that the vectors were made from.
pub(crate) const VARIANTS: [&str; 4] = ["iron-throne", "crowd", "flying", "tiny"];

fn in_package(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn read(path: &str) -> String {
    let path = in_package(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The text of the variant's rules file.
pub(crate) fn variant_text(name: &str) -> String {
    match name {
        "iron-throne" => read("../configs/rules/iron-throne.toml"),
        _ => read(&format!("tests/data/variants/{name}.toml")),
    }
}

/// The variant's rules as the reference reads them.
pub(crate) fn variant(name: &str) -> Rc<RefRules> {
    Rc::new(RefRules::parse(&variant_text(name)).unwrap())
}

/// The lines of one file of vectors, each split at its tabs.
pub(crate) fn vectors(name: &str, file: &str) -> Vec<Vec<String>> {
    read(&format!("tests/data/vectors/{name}/{file}.tsv"))
        .lines()
        .map(|line| line.split('\t').map(str::to_owned).collect())
        .collect()
}
