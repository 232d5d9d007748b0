//! The setup learner where the truth is known: a tiny game whose setups can be
//! solved exactly, and the controls that must fail.

use std::sync::atomic::AtomicBool;

use cyvasse_env::{DrawRules, Position, Rules, Setup, SetupSpace, Shots, Side, Square, Tile, Unit};
use cyvasse_models::optim::{Optimizer, OptimizerConfig};
use cyvasse_models::{SetupBatch, SetupNet};
use cyvasse_selfplay::{EvaluatorError, MoverValue, Wdl, WhiteValue};
use cyvasse_train::evaluation::setup_quality::Diversity;
use cyvasse_train::setups::{
    Critic, LearnedSetups, Lesson, Played, SetupLearner, SetupNetworkConfig, SetupRound,
    SetupTrainer, SourceShares, Start, Targets, Watcher,
};
use microlp::{ComparisonOp, OptimizationDirection, Problem, SolveOutcome};
use tch::{Device, Kind};

/// Setups of a side: its king, which shoots, on any of 32 squares of grass.
const SETUPS: usize = 32;

/// Kings that shoot, and two turns for each: who hides from the first shot may get
/// the next one.
fn duel() -> Rules {
    let mut rules = Rules::iron_throne();
    let tiles = &mut rules.tiles;
    [tiles.mountain, tiles.water, tiles.forest, tiles.fortress] = [0; 4];
    rules.units.iter_mut().for_each(|unit| unit.count = 0);
    let king = &mut rules.units[Unit::King.index()];
    king.count = 1;
    king.shots = Some(Shots { orthogonal: 4, diagonal: 3, over_mountains: false });
    rules.draws = DrawRules { no_progress_plies: 100, repetitions: 3, max_plies: 4 };
    rules.name = "duel".into();
    Rules::from_toml(&rules.to_toml()).expect("a rules file may say this")
}

fn king_on(square: usize) -> Setup {
    let mut units = [None; SETUPS];
    units[square] = Some(Unit::King);
    Setup::new([Tile::Grass; SETUPS], units)
}

fn king_of(setup: &Setup) -> usize {
    setup.units().iter().position(|&unit| unit == Some(Unit::King)).unwrap()
}

/// The result of a position with the best play of both sides, by trying
/// everything.
fn solve(position: &Position, rules: &Rules) -> MoverValue {
    // No position can occur three times in so short a game.
    if let Some(outcome) = position.outcome(rules, || 1) {
        return WhiteValue::of(outcome).for_mover(position.turn());
    }
    let mut actions = Vec::new();
    position.legal_actions(rules, &mut actions);
    let mut best = MoverValue::LOSS;
    for action in actions {
        let mut next = position.clone();
        next.play_unchecked(action);
        let value = solve(&next, rules).for_opponent();
        if value > best {
            best = value;
        }
        if best == MoverValue::WIN {
            break;
        }
    }
    best
}

/// White's results: by white's square, then black's in its own view.
struct Payoffs(Vec<[f64; SETUPS]>);

impl Payoffs {
    fn new(rules: &Rules) -> Payoffs {
        let value = |white, black| {
            let position = Position::start(&king_on(white), &king_on(black));
            f64::from(solve(&position, rules).get())
        };
        Payoffs((0..SETUPS).map(|white| std::array::from_fn(|black| value(white, black))).collect())
    }

    /// White's expected result of each of its setups against a mixture.
    fn of_white(&self, black: &[f64]) -> Vec<f64> {
        let against = |row: &[f64; SETUPS]| row.iter().zip(black).map(|(p, y)| p * y).sum();
        self.0.iter().map(against).collect()
    }

    /// White's expected result against each of black's setups.
    fn of_black(&self, white: &[f64]) -> Vec<f64> {
        (0..SETUPS)
            .map(|column| self.0.iter().zip(white).map(|(row, x)| row[column] * x).sum())
            .collect()
    }

    fn value(&self, white: &[f64], black: &[f64]) -> f64 {
        self.of_white(black).iter().zip(white).map(|(value, x)| value * x).sum()
    }

    /// What the best answers to the two mixtures gain on average.
    fn exploitability(&self, [white, black]: &[Vec<f64>; 2]) -> f64 {
        let most = self.of_white(black).into_iter().fold(f64::NEG_INFINITY, f64::max);
        let least = self.of_black(white).into_iter().fold(f64::INFINITY, f64::min);
        (most - least) / 2.0
    }

    /// The equilibrium by linear programming: each side's mixture and the value.
    fn equilibrium(&self) -> ([Vec<f64>; 2], f64) {
        let (white, value) = maximin(&self.0);
        let turned: Vec<[f64; SETUPS]> =
            (0..SETUPS).map(|black| std::array::from_fn(|white| -self.0[white][black])).collect();
        let (black, other) = maximin(&turned);
        assert!((value + other).abs() < 1e-6, "duality gap {}", value + other);
        ([white, black], value)
    }
}

/// The mixture of rows whose least expected payoff over the columns is greatest.
fn maximin(payoffs: &[[f64; SETUPS]]) -> (Vec<f64>, f64) {
    let mut problem = Problem::new(OptimizationDirection::Maximize);
    let value = problem.add_var(1.0, (-1.0, 1.0));
    let shares: Vec<_> = payoffs.iter().map(|_| problem.add_var(0.0, (0.0, 1.0))).collect();
    problem.add_constraint(shares.iter().map(|&share| (share, 1.0)), ComparisonOp::Eq, 1.0);
    for column in 0..SETUPS {
        let gains = shares.iter().zip(payoffs).map(|(&share, row)| (share, row[column]));
        problem.add_constraint(gains.chain([(value, -1.0)]), ComparisonOp::Ge, 0.0);
    }
    let SolveOutcome::Solution(solution) = problem.solve().unwrap() else {
        panic!("a matrix game has an equilibrium");
    };
    (shares.iter().map(|&share| solution[share]).collect(), solution[value])
}

impl Critic for Payoffs {
    fn chances(&mut self, starts: &[Start]) -> Result<Vec<Wdl>, EvaluatorError> {
        let chances = |[white, black]: &Start| {
            let win = (1.0 + self.0[king_of(white)][king_of(black)] as f32) / 2.0;
            Wdl { win, draw: 0.0, loss: 1.0 - win }
        };
        Ok(starts.iter().map(chances).collect())
    }
}

fn config() -> LearnedSetups {
    LearnedSetups {
        uniform_rounds: 0,
        samples_per_seat: 64,
        past_networks: 3,
        fixed_file: String::new(),
        targets: Targets::Value,
        opponents: 512,
        result_weight: 0.0,
        epochs: 1,
        batch_setups: 128,
        learning_rate: 0.01,
        final_rate_share: 0.05,
        clip: 0.2,
        kl_weight: 0.5,
        entropy_bonus: 0.05,
        final_entropy_bonus: 0.02,
        entropy_floor: 0.0,
        gradient_norm: 5.0,
        average_decay: 0.97,
        network: SetupNetworkConfig { width: 16, blocks: 0, mirror: false },
        shares: SourceShares { uniform: 0.0, current: 0.5, past: 0.5, fixed: 0.0 },
        optimizer: OptimizerConfig::AdamW {
            beta1: 0.9,
            beta2: 0.99,
            epsilon: 1e-8,
            weight_decay: 0.0,
        },
    }
}

/// Nothing keeps this one from always building what it finds best.
fn greedy() -> LearnedSetups {
    LearnedSetups {
        entropy_bonus: 0.0,
        final_entropy_bonus: 0.0,
        kl_weight: 0.0,
        learning_rate: 0.05,
        ..config()
    }
}

fn mirroring(config: LearnedSetups) -> LearnedSetups {
    let network = SetupNetworkConfig { mirror: true, ..config.network };
    LearnedSetups { network, ..config }
}

/// What is learned here comes from the exact payoffs alone.
const NO_GAMES: Played<'static> = Played { games: &[], chances: &[] };

fn trainer(config: &LearnedSetups) -> SetupTrainer {
    let net = SetupNet::new(&config.net(), 1, Device::Cpu).unwrap();
    let optimizer = Optimizer::new(&config.optimizer, net.variables()).unwrap();
    let average = net.copy();
    SetupTrainer::new(net, average, optimizer, config.clone())
}

/// Learns the duel's setups from samples and the exact payoffs.
fn learn(config: LearnedSetups, rounds: u32, payoffs: &mut Payoffs) -> SetupNet {
    tch::set_num_threads(1); // more would wait for each other on a busy machine
    let rules = duel();
    let trainer = trainer(&config);
    let mut learner = SetupLearner::new(trainer, config, &rules, Vec::new(), 7);
    let stop = AtomicBool::new(false);
    let mut watcher = Watcher::new(&stop, |_, _, _| {});
    let mut past: Vec<SetupNet> = Vec::new();
    for round in 1..=rounds {
        if round % 4 == 1 {
            past.push(learner.trainer.average.copy());
        }
        // The first, the last, and one between.
        let chosen = [0, past.len() / 2, past.len() - 1].map(|place| past[place].copy());
        let pool = learner.pool(round, &chosen).unwrap();
        let run_share = f64::from(round - 1) / f64::from(rounds - 1);
        learner.learn(payoffs, NO_GAMES, &pool, round, run_share, &mut watcher).unwrap().unwrap();
    }
    learner.trainer.average
}

/// Learns them without the noise of samples: all setups are lessons, with their
/// probabilities as weights, valued against one half of the mixture as it is and
/// one half of those before.
fn learn_exactly(config: LearnedSetups, rounds: u32, payoffs: &Payoffs) -> SetupNet {
    tch::set_num_threads(1);
    let mut trainer = trainer(&config);
    let space = SetupSpace::new(&duel());
    let stop = AtomicBool::new(false);
    let mut watcher = Watcher::new(&stop, |_, _, _| {});
    let mut sums = [vec![0.0; SETUPS], vec![0.0; SETUPS]];
    for round in 1..=rounds {
        let now = mixtures(&trainer.net);
        for (sums, now) in sums.iter_mut().zip(&now) {
            sums.iter_mut().zip(now).for_each(|(sum, share)| *sum += share);
        }
        let opponents = [0, 1].map(|seat| -> Vec<f64> {
            let both = sums[seat].iter().zip(&now[seat]);
            both.map(|(sum, share)| (sum / f64::from(round) + share) / 2.0).collect()
        });
        let white = payoffs.of_white(&opponents[1]);
        let black = payoffs.of_black(&opponents[0]).into_iter().map(|value| -value).collect();
        let mut lessons = Vec::new();
        for (seat, values) in Side::ALL.into_iter().zip([white, black]) {
            let values: Vec<f64> = values;
            lessons.extend((0..SETUPS).map(|square| Lesson {
                setup: king_on(square),
                seat,
                target: values[square],
                weight: now[seat.index()][square],
            }));
        }
        let run_share = f64::from(round - 1) / f64::from(rounds - 1);
        let entropies = now.map(|mixture| -mixture.iter().map(|x| x * x.ln()).sum::<f64>());
        let round = SetupRound { run_share, seed: 1, entropies };
        trainer.learn(&space, &lessons, round, &mut watcher).unwrap().unwrap();
    }
    trainer.average
}

/// The exact mixtures of a network for white and black.
fn mixtures(net: &SetupNet) -> [Vec<f64>; 2] {
    let space = SetupSpace::new(&duel());
    let all: Vec<Setup> = (0..SETUPS).map(king_on).collect();
    Side::ALL.map(|seat| {
        let scores = net.score(&space, seat, &all).unwrap();
        scores.into_iter().map(f64::exp).collect()
    })
}

fn diversity(net: &SetupNet) -> [Diversity; 2] {
    let space = SetupSpace::new(&duel());
    Side::ALL.map(|seat| {
        let samples = net.sample(&space, seat, 1000, 3).unwrap();
        Diversity::of(&samples, space.log_count())
    })
}

#[test]
fn an_equilibrium_of_setups_is_learned() {
    let payoffs = Payoffs::new(&duel());
    let (equilibrium, value) = payoffs.equilibrium();
    assert!(payoffs.exploitability(&equilibrium) < 1e-6);
    // It is worth learning: no single setup and no uniform choice will do.
    let uniform = vec![1.0 / SETUPS as f64; SETUPS];
    assert!(payoffs.exploitability(&[uniform.clone(), uniform]) > 0.1);
    let highest = |mixture: &[f64]| mixture.iter().copied().fold(0.0, f64::max);
    assert!(equilibrium.iter().all(|mixture| highest(mixture) < 0.5), "{equilibrium:?}");

    let steady = OptimizerConfig::Sgd { momentum: 0.0, nesterov: false, weight_decay: 0.0 };
    let config = LearnedSetups { optimizer: steady, learning_rate: 3.0, ..config() };
    let net = learn_exactly(config, 120, &payoffs);
    let learned = mixtures(&net);
    let exploitability = payoffs.exploitability(&learned);
    assert!(exploitability < 0.05, "exploitability {exploitability}");
    let found = payoffs.value(&learned[0], &learned[1]);
    assert!((found - value).abs() < 0.05, "value {found}, by linear programming {value}");
    assert!(diversity(&net).iter().all(Diversity::is_mixture), "{:?}", diversity(&net));
}

#[test]
fn without_a_learning_rate_nothing_is_gained() {
    let mut payoffs = Payoffs::new(&duel());
    let net = learn(LearnedSetups { learning_rate: 0.0, ..config() }, 3, &mut payoffs);
    let [white, black] = mixtures(&net);
    let uniform = vec![1.0 / SETUPS as f64; SETUPS];
    let as_white = (1.0 + payoffs.value(&white, &uniform)) / 2.0;
    let as_black = (1.0 - payoffs.value(&uniform, &black)) / 2.0;
    let share = (as_white + as_black) / 2.0;
    assert!((share - 0.5).abs() < 1e-4, "{share}");
}

#[test]
fn without_an_entropy_bonus_the_alarm_is_raised() {
    let mut payoffs = Payoffs::new(&duel());
    let net = learn(greedy(), 40, &mut payoffs);
    // Alarm is raised by what has learned nothing too: this has lost its variety.
    let found = diversity(&net);
    assert!(found.iter().all(|of| of.entropy_share < 0.3 && !of.is_mixture()), "{found:?}");
}

#[test]
fn samples_and_past_networks_teach_setups_that_are_harder_to_exploit() {
    learns_what_is_harder_to_exploit(config(), &mut Payoffs::new(&duel()));
}

fn learns_what_is_harder_to_exploit(config: LearnedSetups, payoffs: &mut Payoffs) {
    let uniform = vec![1.0 / SETUPS as f64; SETUPS];
    let before = payoffs.exploitability(&[uniform.clone(), uniform]);
    let net = learn(config, 60, payoffs);
    let after = payoffs.exploitability(&mixtures(&net));
    // Samples are noisy and the entropy bonus pulls towards the uniform: it is no
    // equilibrium yet, but a clear step towards one.
    assert!(after < 0.8 * before, "exploitability {after}, of uniform setups {before}");
}

#[test]
fn who_mirrors_never_tells_a_flank() {
    let mut payoffs = Payoffs::new(&duel());
    let net = learn(mirroring(greedy()), 40, &mut payoffs);
    for (mixture, found) in mixtures(&net).iter().zip(diversity(&net)) {
        for (square, share) in mixture.iter().enumerate() {
            let image = Square::new(square).mirror().index();
            assert!((share - mixture[image]).abs() < 1e-6, "{mixture:?}");
        }
        assert!(found.hides_the_king(), "{found:?}");
    }
    learns_what_is_harder_to_exploit(mirroring(config()), &mut payoffs);
}

#[test]
fn who_mirrors_learns_from_how_it_built() {
    // A network that builds on one side of the board, and tosses a coin afterwards.
    let space = SetupSpace::new(&duel());
    let (good, bad) = (8, 17);
    let image = |square: usize| Square::new(square).mirror().index();
    let config = LearnedSetups { learning_rate: 0.05, ..config() };
    let mut trainer = trainer(&config);
    let setups = [good, bad].map(|square| (king_on(square), Side::White));
    let batch = SetupBatch::new(&space, &setups, Device::Cpu).unwrap();
    for _ in 0..100 {
        let all = trainer.net.log_probabilities(&batch);
        let loss = -all.gather(-1, &batch.tokens.unsqueeze(-1), false).sum(Kind::Float);
        trainer.optimizer.zero_grad();
        loss.backward();
        trainer.optimizer.step(0.05);
    }
    let builds = |net: &SetupNet, square: usize| mixtures(net)[0][square];
    let plain = trainer.net.copy();
    assert!([good, bad].iter().all(|&square| builds(&plain, square) > 0.3));
    assert!([good, bad].iter().all(|&square| builds(&plain, image(square)) < 0.001));

    // Its games were all mirrored: it learns what another learns that never mirrors and
    // played them as they were built.
    let mirroring = mirroring(config.clone());
    let taught = |config: &LearnedSetups, played: fn(Square) -> Square| {
        let mut trainer = self::trainer(config);
        trainer.net.move_towards(&plain, 1.0);
        let lessons = [(good, 1.0), (bad, -1.0)].map(|(square, target)| {
            let setup = king_on(played(Square::new(square)).index());
            Lesson { setup, seat: Side::White, target, weight: 1.0 }
        });
        let round = SetupRound { run_share: 0.0, seed: 1, entropies: [3.0; 2] };
        let stop = AtomicBool::new(false);
        trainer.learn(&space, &lessons, round, &mut Watcher::new(&stop, |_, _, _| {})).unwrap();
        trainer.net
    };
    let [found, expected] = [taught(&mirroring, Square::mirror), taught(&config, |square| square)];
    for (name, weight) in found.variables() {
        let difference = (weight - &expected.variables()[&name]).abs().max().double_value(&[]);
        assert!(difference < 1e-5, "{name} differs by {difference}");
    }
    let gained = builds(&expected, good) - builds(&plain, good);
    assert!(gained > 0.1, "nothing was learned: {gained}");
}

#[test]
fn nothing_taught_is_nothing_learned() {
    let mut payoffs = Payoffs::new(&duel());
    // Results teach, and no game has ended.
    let config = LearnedSetups { targets: Targets::Result, ..config() };
    let trainer = trainer(&config);
    let mut learner = SetupLearner::new(trainer, config, &duel(), Vec::new(), 7);
    let past = [learner.trainer.average.copy()];
    let pool = learner.pool(1, &past).unwrap();
    let stop = AtomicBool::new(false);
    let mut watcher = Watcher::new(&stop, |_, _, _| {});
    let learned = learner.learn(&mut payoffs, NO_GAMES, &pool, 1, 0.0, &mut watcher).unwrap();
    assert!(learned.is_none(), "{learned:?}");
}

#[test]
fn an_entropy_under_its_floor_is_raised_again() {
    let mut payoffs = Payoffs::new(&duel());
    let low = LearnedSetups { entropy_bonus: 0.001, final_entropy_bonus: 0.001, ..config() };
    let floored = LearnedSetups { entropy_floor: 0.8, ..low.clone() };
    let entropy = |config, payoffs: &mut Payoffs| {
        let [white, black] = diversity(&learn(config, 50, payoffs));
        (white.entropy_share + black.entropy_share) / 2.0
    };
    let (without, with) = (entropy(low, &mut payoffs), entropy(floored, &mut payoffs));
    assert!(with > 0.65 && with > without + 0.05, "{without} without a floor, {with} with one");
}
