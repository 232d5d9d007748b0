//! The status of a run for a person, on one screen.

use std::fmt::{self, Write};

use serde_json::Value;

use super::{State, Status};
use crate::pipeline::{ProgressNote, seconds_now};

/// Players of the ladder that are told of.
const PLAYERS: usize = 4;

/// A column of the table of rounds: its head, where its number stands in a line of
/// metrics, the factor it is shown with, and its decimals.
type Column = (&'static str, &'static str, f64, usize);

const COLUMNS: [Column; 13] = [
    ("round", "/round", 1.0, 0),
    ("games", "/games", 1.0, 0),
    ("plies", "/results/lengths/mean", 1.0, 1),
    ("policy", "/policy_loss", 1.0, 3),
    ("value", "/value_loss", 1.0, 3),
    ("held-out", "/held_out/all/policy_loss", 1.0, 3),
    ("value", "/held_out/all/value_loss", 1.0, 3),
    ("entropy", "/results/policy_entropy", 1.0, 2),
    ("setups w%", "/setups/learning/entropy_shares/white", 100.0, 0),
    ("b%", "/setups/learning/entropy_shares/black", 100.0, 0),
    ("games/s", "/play/games_per_s", 1.0, 1),
    ("evals/s", "/play/evaluations_per_s", 1.0, 0),
    ("seconds", "/seconds", 1.0, 0),
];

/// The status in lines that fit on a screen.
#[must_use]
pub fn in_words(status: &Status) -> String {
    let mut text = String::new();
    write(&mut text, status).expect("a text can be written");
    text
}

fn write(text: &mut String, status: &Status) -> fmt::Result {
    writeln!(text, "run      {}, rules `{}`", status.run, status.rules)?;
    writeln!(text, "state    {}", state(status))?;
    let of = status.rounds.map_or(String::new(), |rounds| format!(" of {rounds}"));
    writeln!(text, "rounds   {}{of} lie behind", status.rounds_done)?;
    if let Some(now) = &status.now {
        let head = if status.state == State::Running { "now" } else { "last" };
        writeln!(text, "{head:8} {}", doing(now))?;
        if matches!(status.state, State::Running | State::Stalled) {
            writeln!(text, "waits    for {}", waits_for(now, status.phase_seconds_left))?;
        }
    }
    for worker in &status.workers {
        writeln!(text, "worker   {}: {}; {}", worker.name, name(worker.state), doing(&worker.now))?;
    }
    match &status.problems[..] {
        [] => writeln!(text, "wrong    nothing that can be seen from here")?,
        problems => problems.iter().try_for_each(|problem| writeln!(text, "WRONG    {problem}"))?,
    }
    rounds(text, &status.recent)?;
    strength(text, status)?;
    let free = status.disk_free_bytes.map_or("an unknown space".into(), bytes);
    writeln!(text, "disk     {} used by the run, {free} free", bytes(status.disk_used_bytes))?;
    let memory = status.recent.last().and_then(|line| line["machine"]["memory_bytes"].as_u64());
    if let Some(memory) = memory {
        writeln!(text, "memory   {} after the newest round", bytes(memory))?;
    }
    Ok(())
}

fn state(status: &Status) -> String {
    let name = name(status.state);
    let Some(now) = &status.now else { return name.into() };
    let ago = |then: f64| time(seconds_now() - then);
    let process = format!("process {} on {}", now.pid, now.host);
    match status.state {
        State::Running | State::Stalled | State::Silent => format!(
            "{name} ({process}, for {}; last sign of life {} ago)",
            ago(now.started),
            ago(now.updated)
        ),
        _ => format!("{name} {} ago, after {}", ago(now.updated), time(now.updated - now.started)),
    }
}

fn name(state: State) -> &'static str {
    match state {
        State::Running => "running",
        State::Stalled => "STALLED",
        State::Silent => "SILENT",
        State::Finished => "finished",
        State::Stopped => "stopped",
        State::Failed => "FAILED",
        State::Killed => "KILLED",
        State::Unknown => "unknown: it has no progress.json",
    }
}

fn doing(now: &ProgressNote) -> String {
    let ProgressNote { phase, done, total, rate, detail, .. } = now;
    if *total == 0 {
        return phase.clone();
    }
    let percent = 100.0 * *done as f64 / *total as f64;
    let detail = if detail.is_empty() { String::new() } else { format!("; {detail}") };
    format!("{phase}: {done} of {total} ({percent:.0}%), {rate:.1}/s{detail}")
}

/// What the run goes on after.
fn waits_for(now: &ProgressNote, seconds_left: Option<f64>) -> String {
    let left = now.total.saturating_sub(now.done);
    let what = match now.phase.as_str() {
        "self-play" => format!("{left} more positions of self-play, to learn from"),
        "learning" => format!("{left} more steps of the optimiser"),
        "setups" => "the setup network's steps".into(),
        "match" => format!("{left} more games of the matches at the end"),
        _ if left > 0 => format!("{left} more steps of {}", now.phase),
        phase => format!("{phase} to end"),
    };
    seconds_left.map_or(what.clone(), |left| format!("{what}: about {}", time(left)))
}

fn rounds(text: &mut String, recent: &[Value]) -> fmt::Result {
    if recent.is_empty() {
        return Ok(());
    }
    let cell = |line: &Value, (_, place, factor, decimals): Column| {
        let number = line.pointer(place).and_then(Value::as_f64);
        number.map(|number| format!("{:.decimals$}", factor * number))
    };
    // What no round tells of is left out.
    let columns: Vec<Column> = COLUMNS
        .into_iter()
        .filter(|&column| recent.iter().any(|line| cell(line, column).is_some()))
        .collect();
    let width = |column: Column| column.0.len().max(6);
    for &column in &columns {
        write!(text, "{:>width$} ", column.0, width = width(column))?;
    }
    writeln!(text)?;
    for line in recent {
        for &column in &columns {
            let cell = cell(line, column).unwrap_or("-".into());
            write!(text, "{cell:>width$} ", width = width(column))?;
        }
        writeln!(text)?;
    }
    Ok(())
}

fn strength(text: &mut String, status: &Status) -> fmt::Result {
    let matches = status.final_matches.as_ref().and_then(Value::as_array);
    for one in matches.into_iter().flatten() {
        let number = |name: &str| one["score"][name].as_f64().unwrap_or(f64::NAN);
        writeln!(
            text,
            "strength after round {}, {}: {:.1}% (95%: {:.1}% to {:.1}%; {} games)",
            one["round"],
            one["match"].as_str().unwrap_or("a match"),
            100.0 * number("share"),
            100.0 * number("low"),
            100.0 * number("high"),
            one["score"]["games"]
        )?;
    }
    let Some(ladder) = &status.ladder else { return Ok(()) };
    let mut players: Vec<_> = ladder.players.iter().collect();
    players.sort_by(|one, other| other.elo.total_cmp(&one.elo));
    for player in players.into_iter().take(PLAYERS) {
        writeln!(
            text,
            "ladder   {}: Elo {:+.0} (95%: \u{b1}{:.0}; {} pairs)",
            player.name, player.elo, player.margin, player.pairs
        )?;
    }
    Ok(())
}

/// A time in the two greatest of its units.
pub(super) fn time(seconds: f64) -> String {
    let seconds = seconds.max(0.0).round() as u64;
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86400);
    match (minutes, hours, days) {
        (0, ..) => format!("{seconds} s"),
        (_, 0, _) => format!("{minutes} min {} s", seconds % 60),
        (_, _, 0) => format!("{hours} h {} min", minutes % 60),
        _ => format!("{days} d {} h", hours % 24),
    }
}

/// Bytes in the unit that suits them.
pub(super) fn bytes(bytes: u64) -> String {
    let mut number = bytes as f64;
    let mut units = ["bytes", "KiB", "MiB", "GiB", "TiB"].into_iter();
    let mut unit = units.next().unwrap_or_default();
    while let Some(next) = units.next().filter(|_| number >= 1024.0) {
        (number, unit) = (number / 1024.0, next);
    }
    let decimals = usize::from(unit != "bytes");
    format!("{number:.decimals$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_bytes_are_readable() {
        let times = [0.4, 59.0, 61.0, 3600.0 * 5.0 + 120.0, 86400.0 * 3.0 + 3600.0].map(time);
        assert_eq!(times, ["0 s", "59 s", "1 min 1 s", "5 h 2 min", "3 d 1 h"]);
        let sizes = [0, 1023, 1024, 3 << 30].map(bytes);
        assert_eq!(sizes, ["0 bytes", "1023 bytes", "1.0 KiB", "3.0 GiB"]);
    }
}
