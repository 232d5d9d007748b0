//! `cyvasse evaluate replay`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;

use super::load_rules;
use crate::commands::rules::answers::tell;
use crate::evaluation::read_games;
use crate::front_ends::board::{draw, wants_colour};

/// What `cyvasse evaluate replay` is given.
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct ReplayArguments {
    /// A file of `cyvasse evaluate match --save`
    file: PathBuf,
    /// Show a game by its number, from 1
    #[arg(long, value_name = "N")]
    game: Option<usize>,
    /// Show the board after this ply of the game; left out, the last one
    #[arg(long, value_name = "P", requires = "game")]
    ply: Option<usize>,
    /// The rules the games were played by; left out, those of iron-throne.toml
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
}

impl ReplayArguments {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let rules = load_rules(self.rules.as_ref())?;
        let (header, games) = read_games(&self.file, &rules)?;
        let [first, second] = &header.players;
        let count = games.len();
        let told = format!(
            "{first} against {second}: {count} games, all by the rules and with the recorded results\n"
        );
        let Some(number) = self.game else {
            tell(&told)?;
            return Ok(ExitCode::SUCCESS);
        };
        let game = number.checked_sub(1).and_then(|index| games.get(index));
        let game = game.with_context(|| format!("--game is {number}, expected 1 to {count}"))?;
        let positions = game.replay(&rules).map_err(anyhow::Error::msg)?;
        let last = positions.len() - 1;
        let ply = self.ply.unwrap_or(last);
        let position =
            positions.get(ply).with_context(|| format!("--ply is {ply}, expected 0 to {last}"))?;
        let [white, black, result, actions] =
            [&game.white, &game.black, &game.result, &game.actions];
        let board = draw(position, &rules, wants_colour());
        tell(&format!(
            "{told}white: {white}\nblack: {black}\n{result}\n{actions}\nafter ply {ply}: {position}\n{board}\n"
        ))?;
        Ok(ExitCode::SUCCESS)
    }
}
