//! The report as one HTML file that needs no network and no other file.

use std::collections::BTreeMap;

use super::charts::{Axes, Curve, chart};
use super::data::{Marginal, Report, Round};
use crate::evaluation::LadderReport;

const TEMPLATE: &str = include_str!("page.html");
const SCRIPT: &str = include_str!("viewer.js");

/// The page.
#[must_use]
pub fn html(report: &Report) -> String {
    let games = serde_json::to_string(&report.games).expect("games are plain values");
    let sections = [
        learning(&report.rounds),
        strength(report),
        calibration(report),
        play(&report.rounds),
        marginals(&report.marginals),
        report.ladder.as_ref().map_or_else(String::new, pay_offs),
    ];
    TEMPLATE
        .replace("{{RUN}}", &escaped(&report.run.display().to_string()))
        .replace("{{SUMMARY}}", &summary(report))
        .replace("{{SECTIONS}}", &sections.concat())
        // Nothing in the data can end the element that it stands in.
        .replace("{{GAMES}}", &games.replace('<', "\\u003c"))
        .replace("{{SCRIPT}}", SCRIPT)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn summary(report: &Report) -> String {
    let rules = escaped(&report.rules);
    let Some(last) = report.rounds.last() else {
        return format!("Rules {rules}; no round is finished yet.");
    };
    let hours = last.hours.map_or_else(String::new, |hours| format!(" in {hours:.2} hours"));
    let (round, games, step) = (last.round, last.games, last.step);
    format!("Rules {rules}; {round} rounds, {games} games and {step} optimiser steps{hours}.")
}

fn section(title: &str, content: &str) -> String {
    format!("<h2>{title}</h2>\n{content}\n")
}

fn figure(picture: &str, caption: &str) -> String {
    format!("<figure>{picture}<figcaption>{caption}</figcaption></figure>\n")
}

fn curve(name: &str, points: impl Iterator<Item = (f64, f64)>) -> Curve {
    let points = points.map(|(x, y)| (x, y, 0.0)).collect();
    Curve { name: name.into(), points, joined: true }
}

fn learning(rounds: &[Round]) -> String {
    let of = |value: fn(&Round) -> Option<f64>| {
        rounds.iter().map(move |round| (f64::from(round.round), value(round).unwrap_or(f64::NAN)))
    };
    let axes = |y| Axes { x: "round", y, y_range: None };
    let policy = chart(&[curve("policy", of(|round| round.policy_loss))], &axes("policy loss"));
    let value = chart(&[curve("value", of(|round| round.value_loss))], &axes("value loss"));
    let figures =
        figure(&policy, "Mean cross-entropy of the policy head with the search's policy.")
            + &figure(&value, "Mean cross-entropy of the value head with its target.");
    section("Learning", &figures)
}

/// Elo against games and hours, with the baselines as marks.
fn strength(report: &Report) -> String {
    let Some(ladder) = &report.ladder else {
        let hint = "<p>Not measured yet: run <code>cyvasse evaluate ladder RUN</code>.</p>";
        return section("Strength", hint);
    };
    let games = |round: &Round| Some(round.games as f64);
    let by_games = elo_chart(report, ladder, "games of self-play", games);
    let mut figures = figure(&by_games, "Elo over the random player, with 95% intervals.");
    if report.rounds.iter().all(|round| round.hours.is_some()) {
        let by_hours = elo_chart(report, ladder, "hours", |round| round.hours);
        figures += &figure(&by_hours, "The same against hours of work.");
    }
    section("Strength", &(figures + &ratings(ladder)))
}

fn elo_chart(
    report: &Report,
    ladder: &LadderReport,
    x: &str,
    place: impl Fn(&Round) -> Option<f64>,
) -> String {
    let place_of = |number: u32| match report.rounds.iter().find(|round| round.round == number) {
        Some(round) => place(round),
        None => (number == 0).then_some(0.0),
    };
    // Checkpoints with the same options, such as where their setups come from,
    // are a curve.
    let mut by_options: BTreeMap<&str, Vec<(f64, f64, f64)>> = BTreeMap::new();
    for player in &ladder.players {
        if let Some(x) = player.round.and_then(place_of) {
            let options = player.name.split_once('?').map_or("", |(_, options)| options);
            by_options.entry(options).or_default().push((x, player.elo, player.margin));
        }
    }
    let mut end: f64 = 0.0;
    let mut curves = Vec::new();
    for (options, mut points) in by_options {
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        end = points.iter().fold(end, |end, point| end.max(point.0));
        curves.push(Curve { name: format!("checkpoints: {options}"), points, joined: true });
    }
    let baselines = ladder.players.iter().filter(|player| player.round.is_none());
    curves.extend(
        baselines
            .map(|player| curve(&player.name, [(0.0, player.elo), (end, player.elo)].into_iter())),
    );
    chart(&curves, &Axes { x, y: "Elo", y_range: None })
}

/// The table of ratings, the strongest first.
fn ratings(ladder: &LadderReport) -> String {
    let mut players: Vec<_> = ladder.players.iter().collect();
    players.sort_by(|a, b| b.elo.total_cmp(&a.elo));
    let row = |player: &&crate::evaluation::ladder::LadderPlayer| {
        format!(
            "<tr><td class=\"name\">{}</td><td>{:.0}</td><td>±{:.0}</td><td>±{:.0}</td><td>{}</td><td>{:.0}%</td></tr>\n",
            escaped(&player.name),
            player.elo,
            player.margin,
            player.margin_in_pool,
            2 * player.pairs,
            100.0 * player.nash_share
        )
    };
    let rows: String = players.iter().map(row).collect();
    format!(
        "<table class=\"numbers\"><tr><th class=\"name\">player</th><th>Elo</th><th>95%</th>\
         <th>95% in the pool</th><th>games</th><th>Nash share</th></tr>\n{rows}</table>\n"
    )
}

fn calibration(report: &Report) -> String {
    let points = report.calibration.iter().map(|bin| {
        let spread = (1.0 - bin.actual * bin.actual).max(0.0) / bin.positions as f64;
        (bin.predicted, bin.actual, 1.96 * spread.sqrt())
    });
    let curves = [
        Curve { name: "positions".into(), points: points.collect(), joined: true },
        curve("perfect", [(-1.0, -1.0), (1.0, 1.0)].into_iter()),
    ];
    let axes =
        Axes { x: "value of the search before a ply", y: "mean result", y_range: Some(-1.1..1.1) };
    let caption = "Newest games: the mean result for the side to move of positions whose search gave \
                   about the same value. The bars take positions as independent, which those of one game are not.";
    section("Calibration of the value", &figure(&chart(&curves, &axes), caption))
}

fn play(rounds: &[Round]) -> String {
    let of = |value: fn(&super::data::RoundResults) -> f64| {
        rounds
            .iter()
            .filter_map(move |round| Some((f64::from(round.round), value(round.results.as_ref()?))))
    };
    let length = [curve("plies", of(|results| results.mean_plies))];
    let length = chart(&length, &Axes { x: "round", y: "mean plies", y_range: None });
    let results = [
        curve("white wins", of(|results| results.white)),
        curve("black wins", of(|results| results.black)),
        curve("repetition", of(|results| results.repetition)),
        curve("no progress", of(|results| results.no_progress)),
        curve("length", of(|results| results.length)),
    ];
    let results =
        chart(&results, &Axes { x: "round", y: "share of games", y_range: Some(0.0..1.0) });
    let figures = figure(&length, "Length of the games of self-play.")
        + &figure(&results, "How they ended; the last three are draws.");
    section("Games of self-play", &figures)
}

fn marginals(marginals: &[Marginal]) -> String {
    let boards: String = marginals.iter().map(marginal).collect();
    let told = "<p>The share of the newest games' setups that have a unit or tile on a square, in the builder's \
                own view, the front at the top; the darker the more, relative to the most frequent square of each board.</p>";
    section("Setups", &format!("{told}{boards}"))
}

fn marginal(marginal: &Marginal) -> String {
    let most = marginal.shares.iter().copied().fold(1e-9, f64::max);
    let cell = |share: f64| {
        let percent = 100.0 * share;
        let depth = share / most;
        format!("<td style=\"background:rgba(0,114,178,{depth:.2})\" title=\"{percent:.1}%\"></td>")
    };
    let row = |rank: usize| {
        let cells: String =
            marginal.shares[8 * rank..8 * rank + 8].iter().map(|&share| cell(share)).collect();
        format!("<tr>{cells}</tr>")
    };
    let rows: String = (0..4).rev().map(row).collect();
    let caption = format!("{} (at most {:.0}%)", marginal.name, 100.0 * most);
    figure(&format!("<table class=\"small\">{rows}</table>"), &caption)
}

/// The pay-off matrix, the strongest player first.
fn pay_offs(ladder: &LadderReport) -> String {
    let mut order: Vec<usize> = (0..ladder.players.len()).collect();
    order.sort_by(|&a, &b| ladder.players[b].elo.total_cmp(&ladder.players[a].elo));
    let cell = |share: Option<f64>| match share {
        None => "<td></td>".to_string(),
        Some(share) => {
            let (colour, depth) =
                if share >= 0.5 { ("0,158,115", share - 0.5) } else { ("213,94,0", 0.5 - share) };
            format!(
                "<td style=\"background:rgba({colour},{:.2})\">{:.0}</td>",
                1.4 * depth,
                100.0 * share
            )
        }
    };
    let numbers: String = (1..=order.len()).map(|number| format!("<th>{number}</th>")).collect();
    let row = |(number, &row): (usize, &usize)| {
        let cells: String = order.iter().map(|&column| cell(ladder.shares[row][column])).collect();
        let name = escaped(&ladder.players[row].name);
        format!("<tr><td>{}</td><td class=\"name\">{name}</td>{cells}</tr>\n", number + 1)
    };
    let rows: String = order.iter().enumerate().map(row).collect();
    let surprises: String = ladder
        .surprises
        .iter()
        .map(|surprise| {
            format!(
                "<li>{} scores {:.0}% against {}, where the ratings foretell {:.0}%</li>\n",
                escaped(&surprise.first),
                100.0 * surprise.share,
                escaped(&surprise.second),
                100.0 * surprise.expected
            )
        })
        .collect();
    let told = "<p>Points in percent of the row's player against the column's.</p>";
    let table = format!(
        "<table class=\"numbers\"><tr><th></th><th class=\"name\">player</th>{numbers}</tr>\n{rows}</table>"
    );
    let list = if surprises.is_empty() {
        String::new()
    } else {
        format!("<p>Results that the ratings do not explain:</p><ul>{surprises}</ul>")
    };
    section("Pay-off matrix", &format!("{told}{table}{list}"))
}
