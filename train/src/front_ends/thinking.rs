//! Thinking about a game until a limit is reached or somebody says stop.
//!
//! One search, which keeps its tree when the game has gone on from where it was
//! thought about. Several leaves are judged at once, the more the longer it has
//! thought: a network takes a batch in little more time than a position, and by
//! then the tree has room for walks that do not know of each other.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use cyvasse_env::Action;
use cyvasse_selfplay::search::{
    Cyvasse, Gathered, Line, MOST_SIMULATIONS, Search, SearchResult, SearchSettings,
};
use cyvasse_selfplay::{Evaluation, Evaluator, EvaluatorError, Purpose, Request, derive};

use super::course::Course;
use crate::evaluation::{AgentSearch, search_settings};

/// When to stop thinking; with neither, not before somebody says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Simulations, those kept from earlier thoughts included; at least half of
    /// them are new.
    pub simulations: Option<u32>,
    /// Time.
    pub time: Option<Duration>,
}

/// The rule by which a search chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Gumbel for few simulations, PUCT for more or for an unknown number.
    Auto,
    /// Gumbel AlphaZero.
    Gumbel,
    /// PUCT.
    Puct,
}

/// The most simulations that [`Rule::Auto`] leaves to Gumbel search: with more, its
/// scale of values makes the tree too narrow.
pub const FEW_SIMULATIONS: u32 = 200;

/// How to think.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manner {
    /// When to stop.
    pub limits: Limits,
    /// How to choose.
    pub rule: Rule,
    /// The most nodes of the tree.
    pub max_nodes: u32,
    /// Where ties and lots come from.
    pub seed: u64,
}

impl Manner {
    /// The search that does so, at its strongest.
    #[must_use]
    pub fn settings(&self) -> SearchSettings {
        let simulations = self.limits.simulations.unwrap_or(MOST_SIMULATIONS);
        let few = simulations <= FEW_SIMULATIONS;
        let gumbel = self.rule == Rule::Gumbel || (self.rule == Rule::Auto && few);
        let search = if gumbel { AgentSearch::Gumbel } else { AgentSearch::Puct };
        let mut settings = search_settings(search(simulations)).expect("both of them search");
        settings.max_nodes = self.max_nodes;
        settings
    }
}

/// The leaves that are judged at once when a search has begun so many
/// simulations. It depends on nothing else, so that what is found does not depend
/// on the machine.
#[must_use]
pub fn leaves_at_once(begun: u32) -> usize {
    (begun / 32).clamp(1, 64) as usize
}

/// What has been found out about a position.
#[derive(Clone, Debug)]
pub struct Thought {
    /// What the search says as a whole.
    pub result: SearchResult<Action>,
    /// Its lines, the one of the action to play first.
    pub lines: Vec<Line<Action>>,
    /// Finished simulations, kept ones included.
    pub visits: u32,
    /// The time it took.
    pub time: Duration,
}

/// The most actions of a line.
pub const LONGEST_LINE_OF_PLAY: usize = 30;

/// What a search says of a position whose game goes on, once it has a result;
/// `most` lines.
#[must_use]
pub fn thought(search: &mut Search<Cyvasse>, ply: u16, most: usize, time: Duration) -> Thought {
    let result = search.result(ply);
    let mut lines = search.lines(usize::MAX, LONGEST_LINE_OF_PLAY);
    // Gumbel search may prefer another action than the most visited one.
    if let Some(place) = lines.iter().position(|line| line.actions[0] == result.best) {
        lines[..=place].rotate_right(1);
    }
    lines.truncate(most);
    Thought { result, lines, visits: search.visits(), time }
}

/// Somebody who thinks about games under the same rules, one at a time.
pub struct Thinker<E> {
    evaluator: E,
    search: Option<Search<Cyvasse>>,
    /// The game at the root of the search.
    about: Option<Course>,
    answers: Vec<Evaluation>,
    /// Leaves to be judged before another look at the clock.
    patience: usize,
}

/// How long a look at the clock may be away: far less than whoever says stop is
/// promised to wait.
const LONGEST_BATCH: Duration = Duration::from_millis(15);

/// How often somebody who watches is told.
const INTERVAL: Duration = Duration::from_millis(1000);

impl<E: Evaluator<Cyvasse>> Thinker<E> {
    /// A thinker with an empty tree.
    #[must_use]
    pub fn new(evaluator: E) -> Thinker<E> {
        Thinker { evaluator, search: None, about: None, answers: Vec::new(), patience: 8 }
    }

    /// Evaluates by another evaluator from now on.
    pub fn set_evaluator(&mut self, evaluator: E) {
        self.evaluator = evaluator;
    }

    /// Forgets all earlier thoughts.
    pub fn forget(&mut self) {
        self.about = None;
    }

    /// Thinks about a game that goes on; tells `watch` of `most` lines every
    /// second. `stop` is set by somebody else.
    ///
    /// # Errors
    /// A failure of the evaluator.
    ///
    /// # Panics
    /// When the game is over.
    pub fn think(
        &mut self,
        course: &Course,
        manner: &Manner,
        most: usize,
        stop: &AtomicBool,
        mut watch: impl FnMut(&Thought),
    ) -> Result<Thought, EvaluatorError> {
        assert!(course.game().outcome().is_none(), "there is nothing to think about");
        let started = Instant::now();
        let ply = course.position().plies();
        self.turn_to(course, manner)?;
        let mut told = started;
        let enough = || {
            let late = manner.limits.time.is_some_and(|time| started.elapsed() >= time);
            late || stop.load(Ordering::Relaxed)
        };
        while self.go_on(&enough)? {
            if told.elapsed() >= INTERVAL {
                told = Instant::now();
                watch(&thought(self.search(), ply, most, started.elapsed()));
            }
        }
        Ok(thought(self.search(), ply, most, started.elapsed()))
    }

    fn search(&mut self) -> &mut Search<Cyvasse> {
        self.search.as_mut().expect("there is a search since somebody thought")
    }

    /// Makes the game the root of the search.
    fn turn_to(&mut self, course: &Course, manner: &Manner) -> Result<(), EvaluatorError> {
        let seed = derive(manner.seed, Purpose::Search, &[course.actions().len() as u64]);
        let state = course.position().clone();
        let settings = manner.settings();
        let known = self.about.take().filter(|about| continues(about, course));
        // What was under way when somebody said stop.
        while known.is_some() && self.search().requests().len() > 0 {
            self.judge()?;
        }
        match (&mut self.search, known) {
            (None, _) => {
                let cyvasse = Cyvasse { rules: course.game().rules().clone() };
                let earlier = course.game().earlier();
                self.search = Some(Search::new(cyvasse, settings, state, earlier, seed));
            }
            (Some(search), None) => {
                search.set_settings(&settings);
                search.restart(state, course.game().earlier(), seed);
            }
            (Some(search), Some(mut about)) => {
                search.set_settings(&settings);
                for &action in &course.actions()[about.actions().len()..] {
                    about.play(action).expect("it was played in the other game");
                    let game = about.game();
                    search.advance(action, game.position().clone(), game.earlier(), seed);
                }
            }
        }
        self.about = Some(course.clone());
        Ok(())
    }

    /// Walks to some leaves and has them judged, as far as there is time. Whether
    /// the search goes on.
    fn go_on(&mut self, enough: &impl Fn() -> bool) -> Result<bool, EvaluatorError> {
        let search = self.search();
        if search.has_result() && enough() {
            return Ok(false);
        }
        let most = leaves_at_once(search.begun());
        while search.requests().len() < most {
            match search.gather() {
                Gathered::Leaf => {}
                Gathered::Waiting => break,
                Gathered::Done => return Ok(false),
            }
        }
        while self.search().requests().len() > 0 {
            self.judge()?;
            if self.search().has_result() && enough() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Has the oldest leaves in flight judged, as many as fit into
    /// [`LONGEST_BATCH`].
    fn judge(&mut self) -> Result<(), EvaluatorError> {
        let started = Instant::now();
        let search = self.search.as_mut().expect("there is a search since somebody thought");
        let requests: Vec<Request<'_, Cyvasse>> = search.requests().take(self.patience).collect();
        let count = requests.len();
        self.answers.resize_with(count.max(self.answers.len()), Evaluation::blank);
        self.evaluator.evaluate(&requests, &mut self.answers[..count])?;
        drop(requests);
        self.answers[..count].iter().for_each(|answer| search.apply(answer));
        let time = started.elapsed();
        if time > LONGEST_BATCH {
            self.patience = (self.patience / 2).max(1);
        } else if count == self.patience && time < LONGEST_BATCH / 4 {
            self.patience *= 2;
        }
        Ok(())
    }
}

/// Whether a game has gone on from another, by one action at least.
fn continues(about: &Course, course: &Course) -> bool {
    about.start() == course.start()
        && about.actions().len() < course.actions().len()
        && course.actions().starts_with(about.actions())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use cyvasse_env::{Position, Rules, Setup};
    use cyvasse_selfplay::Uniform;

    use super::*;

    /// Says stop in the middle of some batch.
    struct Impatient {
        stop: Arc<AtomicBool>,
        positions: usize,
    }

    impl Evaluator<Cyvasse> for Impatient {
        fn evaluate(
            &mut self,
            requests: &[Request<'_, Cyvasse>],
            answers: &mut [Evaluation],
        ) -> Result<(), EvaluatorError> {
            self.positions = self.positions.saturating_sub(requests.len());
            if self.positions == 0 {
                self.stop.store(true, Ordering::Relaxed);
            }
            Uniform::new().evaluate(requests, answers)
        }
    }

    fn course() -> Course {
        let rules = Arc::new(Rules::iron_throne());
        // Where nobody's king falls soon, so that nothing is proven early.
        let setups = [
            "3mwmfc/3mwmff/4mwff/4mwwf 5DHK/6LT/5RXC/6SE",
            "w3fw1f/2m3m1/mwfmmc1f/f2fwm1w R4E2/3C1D2/1T4H1/L1XS3K",
        ];
        let [white, black] = setups.map(|text| Setup::parse(text, &rules).unwrap());
        Course::new(rules, Position::start(&white, &black))
    }

    fn manner(simulations: Option<u32>) -> Manner {
        let limits = Limits { simulations, time: None };
        Manner { limits, rule: Rule::Puct, max_nodes: 100_000, seed: 1 }
    }

    #[test]
    fn whoever_is_stopped_has_an_answer_and_goes_on_from_it() {
        for positions in [1, 2, 100, 1000, 1003, 1009] {
            let mut course = course();
            let stop = Arc::new(AtomicBool::new(false));
            let mut thinker = Thinker::new(Impatient { stop: stop.clone(), positions });
            let thought = thinker.think(&course, &manner(None), 500, &stop, |_| {}).unwrap();
            assert!(course.legal_actions().contains(&thought.result.best));
            // The evaluation of the root is no simulation; a batch may go over.
            assert!(thought.visits as usize + 1 + 64 >= positions, "{}", thought.visits);
            let visits: u32 = thought.lines.iter().map(|line| line.visits).sum();
            assert_eq!(
                (visits, thought.lines.len()),
                (thought.visits, course.legal_actions().len())
            );
            assert_eq!(thought.lines[0].actions[0], thought.result.best);
            let kept = thought.lines[0].visits;
            course.play(thought.result.best).unwrap();
            let thought =
                thinker.think(&course, &manner(Some(2)), 1, &AtomicBool::new(false), |_| {});
            let thought = thought.unwrap();
            // A simulation of the action was its first look at the state after it.
            assert!(thought.visits >= kept.saturating_sub(1), "{kept} {}", thought.visits);
        }
    }

    #[test]
    fn a_limit_of_simulations_is_kept_to() {
        let course = course();
        let mut thinker = Thinker::new(Uniform::new());
        let stop = AtomicBool::new(false);
        for simulations in [1, 31, 64, 500, 2500] {
            let manner = manner(Some(simulations));
            let thought = thinker.think(&course, &manner, 3, &stop, |_| {}).unwrap();
            assert_eq!((thought.visits, thought.result.simulations), (simulations, simulations));
            assert_eq!(thought.lines.len(), 3);
        }
    }
}
