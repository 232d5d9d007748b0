//! What an evaluation of setups found, in numbers, in JSON and for a person.

use std::fmt;

use cyvasse_selfplay::{NORMAL_95, wilson};
use serde::Serialize;

use super::diversity::Diversity;
use crate::evaluation::statistics::Score;

/// A score with its 95% interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// Games played.
    pub games: u64,
    /// Share of the points.
    pub share: f64,
    /// Lower bound of the interval.
    pub low: f64,
    /// Upper bound of it.
    pub high: f64,
}

/// How much less best answers to the learned mixture must gain than others.
const LEAST_GAIN: f64 = 0.05;

impl From<Score> for Interval {
    /// Wilson's interval; a draw is half a point, which makes it wider than it
    /// need be.
    fn from(score: Score) -> Interval {
        let games = score.games() as f64;
        if games == 0.0 {
            return Interval { games: 0, share: 0.5, low: 0.0, high: 1.0 };
        }
        let share = (score.wins as f64 + score.draws as f64 / 2.0) / games;
        let (low, high) = wilson(share, games, NORMAL_95);
        Interval { games: score.games(), share, low, high }
    }
}

impl Interval {
    /// This score less another one, with the 95% interval of the difference: that
    /// of Newcombe (1998, method 10) from the two intervals, as of games that have
    /// nothing to do with each other.
    fn less(&self, other: &Interval) -> Difference {
        let points = self.share - other.share;
        let low = (self.share - self.low).hypot(other.high - other.share);
        let high = (self.high - self.share).hypot(other.share - other.low);
        Difference { points, low: points - low, high: points + high }
    }
}

/// The difference of two scores with its 95% interval.
struct Difference {
    points: f64,
    low: f64,
    high: f64,
}

impl Difference {
    /// Whether the difference is at least `bound`; `None` where the interval holds
    /// the bound, so that more games would be needed to tell.
    fn reaches(&self, bound: f64) -> Option<bool> {
        if self.low >= bound {
            Some(true)
        } else if self.high < bound {
            Some(false)
        } else {
            None
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [points, low, high] = [self.points, self.low, self.high].map(|share| 100.0 * share);
        write!(f, "{points:.1} points less (95%: {low:.1} to {high:.1})")
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [share, low, high] = [self.share, self.low, self.high].map(|share| 100.0 * share);
        write!(f, "{share:.1}% (95%: {low:.1}% to {high:.1}%; {} games)", self.games)
    }
}

/// What best answers gain in real games.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Exploitation {
    /// The best answers to the learned mixture, against it.
    pub learned: Interval,
    /// Those to uniform setups, against them.
    pub uniform: Interval,
    /// Those to the single most likely setup, against it.
    pub most_likely: Interval,
}

/// How well the play network's value tells the results of games.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CriticReport {
    /// Mean cross-entropy with the results, in nats.
    pub log_loss: f64,
    /// That of the constant that fits these results best.
    pub constant_log_loss: f64,
    /// Predicted share of the points of the learned setups.
    pub predicted: f64,
    /// Their real share.
    pub real: f64,
}

/// Whether one requirement is met.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// What was asked for.
    pub requirement: &'static str,
    /// What was found.
    pub found: String,
    /// Whether that is enough; `None` if it was not looked at, or, of best answers, if
    /// there were too few games to tell.
    pub met: Option<bool>,
}

/// Everything that an evaluation of setups found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SetupReport {
    /// Learned against uniform setups.
    pub against_uniform: Interval,
    /// The same with another pilot on both sides.
    pub other_pilot: Option<Interval>,
    /// Learned against each hand-made setup, by name.
    pub hand_made: Vec<(String, Interval)>,
    /// Samples for white and for black.
    pub diversity: [Diversity; 2],
    /// What best answers gain.
    pub exploitation: Exploitation,
    /// The critic in the games of `against_uniform`.
    pub critic: CriticReport,
}

impl SetupReport {
    /// The requirements, one by one.
    #[must_use]
    pub fn verdicts(&self) -> Vec<Verdict> {
        let Exploitation { learned, uniform, most_likely } = &self.exploitation;
        let CriticReport { log_loss, constant_log_loss, predicted, real } = self.critic;
        let (mean, lowest) = self.hand_made_scores();
        let [white, black] = &self.diversity;
        let both = |holds: fn(&Diversity) -> bool| Some(holds(white) && holds(black));
        let percents = |of: fn(&Diversity) -> f64| {
            format!("white {:.1}%, black {:.1}%", 100.0 * of(white), 100.0 * of(black))
        };
        let verdict = |requirement, found, met| Verdict { requirement, found, met };
        vec![
            verdict(
                "against uniform setups at least 60%, lower bound at least 55%",
                self.against_uniform.to_string(),
                Some(self.against_uniform.share >= 0.6 && self.against_uniform.low >= 0.55),
            ),
            verdict(
                "against uniform setups with another pilot: lower bound above 50%",
                self.other_pilot.map_or("not played: no --pilot".into(), |score| score.to_string()),
                self.other_pilot.map(|score| score.low > 0.5),
            ),
            verdict(
                "against hand-made setups: mean at least 50%, none under 35%",
                format!(
                    "mean {:.1}%, lowest {:.1}% of {} (8 are needed)",
                    100.0 * mean,
                    100.0 * lowest,
                    self.hand_made.len()
                ),
                (self.hand_made.len() >= 8).then_some(mean >= 0.5 && lowest >= 0.35),
            ),
            verdict(
                "at least 99% of the samples distinct",
                percents(|of| of.distinct),
                both(Diversity::is_distinct),
            ),
            verdict(
                "joint entropy from 0.3 to 0.9 of the uniform's",
                percents(|of| of.entropy_share),
                both(Diversity::is_mixture),
            ),
            verdict(
                "the king on its most frequent square in at most 60%",
                percents(|of| of.king_square),
                both(Diversity::hides_the_king),
            ),
            verdict(
                "best answers gain at least 5 points less than against uniform setups",
                format!("{}: {learned} after {uniform}", uniform.less(learned)),
                uniform.less(learned).reaches(LEAST_GAIN),
            ),
            verdict(
                "best answers gain at least 5 points less than against the most likely setup",
                format!("{}: {learned} after {most_likely}", most_likely.less(learned)),
                most_likely.less(learned).reaches(LEAST_GAIN),
            ),
            verdict(
                "the critic's log-loss at first positions beats the constant",
                format!("{log_loss:.3} nats, the constant {constant_log_loss:.3}"),
                Some(log_loss < constant_log_loss),
            ),
            verdict(
                "the critic's prediction against uniform setups is within 8 points of the result",
                format!("predicted {:.1}%, real {:.1}%", 100.0 * predicted, 100.0 * real),
                Some((predicted - real).abs() <= 0.08),
            ),
        ]
    }

    /// Mean and lowest score against the hand-made setups.
    fn hand_made_scores(&self) -> (f64, f64) {
        let shares = || self.hand_made.iter().map(|(_, score)| score.share);
        let mean = shares().sum::<f64>() / self.hand_made.len().max(1) as f64;
        (mean, shares().fold(1.0, f64::min))
    }

    /// Whether nothing falls short, so far as it was looked at and can be told.
    #[must_use]
    pub fn all_met(&self) -> bool {
        self.verdicts().iter().all(|verdict| verdict.met != Some(false))
    }
}

impl fmt::Display for SetupReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Verdict { requirement, found, met } in self.verdicts() {
            let word = match met {
                Some(true) => "met    ",
                Some(false) => "NOT MET",
                None => "open   ",
            };
            writeln!(f, "{word}  {requirement}\n           {found}")?;
        }
        writeln!(f, "against each hand-made setup:")?;
        for (name, score) in &self.hand_made {
            writeln!(f, "  {name:<20} {score}")?;
        }
        for (seat, of) in ["white", "black"].into_iter().zip(&self.diversity) {
            writeln!(
                f,
                "{seat}: entropy {:.1} nats; king on its most frequent square or the mirror image \
                 of that {:.0}%, in the fortress {:.0}%",
                of.entropy,
                100.0 * of.king_square_or_image,
                100.0 * of.king_in_fortress
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(share: f64) -> Interval {
        Interval { games: 400, share, low: share - 0.04, high: share + 0.04 }
    }

    fn report() -> SetupReport {
        let diversity = Diversity {
            samples: 1000,
            distinct: 1.0,
            entropy: 40.0,
            entropy_share: 0.6,
            king_square: 0.3,
            king_square_or_image: 0.4,
            king_in_fortress: 0.5,
        };
        SetupReport {
            against_uniform: interval(0.7),
            other_pilot: Some(interval(0.6)),
            hand_made: (0..8).map(|number| (number.to_string(), interval(0.55))).collect(),
            diversity: [diversity; 2],
            exploitation: Exploitation {
                learned: interval(0.6),
                uniform: interval(0.8),
                most_likely: interval(0.75),
            },
            critic: CriticReport {
                log_loss: 0.5,
                constant_log_loss: 0.7,
                predicted: 0.68,
                real: 0.7,
            },
        }
    }

    #[test]
    fn the_interval_is_wilsons() {
        // Reference: scipy.stats.binomtest(8, 10).proportion_ci(method="wilson")
        let Interval { low, high, .. } = Score { wins: 8, draws: 0, losses: 2 }.into();
        assert!((low - 0.490_162_471_5).abs() < 1e-6, "{low}");
        assert!((high - 0.943_317_781_9).abs() < 1e-6, "{high}");
    }

    #[test]
    fn each_requirement_can_fail() {
        assert!(report().all_met());
        type Spoil = fn(&mut SetupReport);
        let spoils: [(usize, Spoil); 13] = [
            (0, |report| report.against_uniform.low = 0.54),
            (0, |report| report.against_uniform.share = 0.59),
            (1, |report| report.other_pilot.as_mut().unwrap().low = 0.5),
            (2, |report| report.hand_made[3].1.share = 0.34),
            (2, |report| report.hand_made.iter_mut().for_each(|(_, score)| score.share = 0.49)),
            (3, |report| report.diversity[1].distinct = 0.98),
            // A mixture that has collapsed, as it does without a bonus.
            (4, |report| report.diversity[0].entropy_share = 0.29),
            (4, |report| report.diversity[1].entropy_share = 0.91),
            (5, |report| report.diversity[0].king_square = 0.61),
            (6, |report| report.exploitation.uniform = interval(0.58)),
            (7, |report| report.exploitation.most_likely = interval(0.58)),
            (8, |report| report.critic.log_loss = 0.71),
            (9, |report| report.critic.predicted = 0.6),
        ];
        for (place, spoil) in spoils {
            let mut spoiled = report();
            spoil(&mut spoiled);
            let failed: Vec<usize> = (0..spoiled.verdicts().len())
                .filter(|&place| spoiled.verdicts()[place].met == Some(false))
                .collect();
            assert_eq!(failed, [place]);
            assert!(!spoiled.all_met() && spoiled.to_string().contains("NOT MET"));
        }
        let open = SetupReport { other_pilot: None, ..report() };
        assert!(open.all_met() && open.to_string().contains("open"));
    }

    #[test]
    fn a_difference_that_chance_can_make_is_open() {
        let met = |uniform, most_likely| {
            let mut report = report();
            report.exploitation.uniform = interval(uniform);
            report.exploitation.most_likely = interval(most_likely);
            [6, 7].map(|place| report.verdicts()[place].met)
        };
        assert_eq!(met(0.66, 0.64), [None, None]);
        assert_eq!(met(0.72, 0.58), [Some(true), Some(false)]);
        assert_eq!(met(0.58, 0.72), [Some(false), Some(true)]);
    }

    #[test]
    fn the_interval_of_a_difference_is_newcombes() {
        // Newcombe (1998), table II: 56 of 70 less 48 of 80 is 0.0524 to 0.3339.
        let of = |wins, losses| Interval::from(Score { wins, draws: 0, losses });
        let Difference { points, low, high } = of(56, 14).less(&of(48, 32));
        assert!((points - 0.2).abs() < 1e-9, "{points}");
        assert!((low - 0.0524).abs() < 1e-4 && (high - 0.3339).abs() < 1e-4, "{low} to {high}");
    }
}
