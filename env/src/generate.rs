//! The legal actions of a position.
//!
//! A walk is a flood by remaining reach, a flight or a shot a look along the
//! lines. The generator hands out sets of squares, so that counting actions
//! costs a population count where listing them costs a loop.

use crate::action::Action;
use crate::lines;
use crate::position::Position;
use crate::rules::{Movement, Rules, Shots, Steps, Walk};
use crate::square::{Square, SquareSet};
use crate::unit::{Unit, UnitSet};

/// Takes the actions of one unit at a time, as sets.
trait Sink {
    fn moves(&mut self, from: Square, to: SquareSet);
    fn shots(&mut self, from: Square, to: SquareSet);
    fn assaults(&mut self, from: Square, to: Square, rests: SquareSet);
}

struct Counter(usize);

impl Sink for Counter {
    #[inline]
    fn moves(&mut self, _from: Square, to: SquareSet) {
        self.0 += to.len();
    }

    #[inline]
    fn shots(&mut self, _from: Square, to: SquareSet) {
        self.0 += to.len();
    }

    #[inline]
    fn assaults(&mut self, _from: Square, _to: Square, rests: SquareSet) {
        self.0 += rests.len();
    }
}

impl Sink for &mut Vec<Action> {
    #[inline]
    fn moves(&mut self, from: Square, to: SquareSet) {
        self.extend(to.map(|to| Action::Move { from, to }));
    }

    #[inline]
    fn shots(&mut self, from: Square, to: SquareSet) {
        self.extend(to.map(|to| Action::Shot { from, to }));
    }

    #[inline]
    fn assaults(&mut self, from: Square, to: Square, rests: SquareSet) {
        self.extend(rests.map(|rest| Action::Assault { from, to, rest }));
    }
}

/// The squares that a walk may stand on with a step to spare, and the squares
/// one step from those.
struct Flood {
    launch: SquareSet,
    touched: SquareSet,
}

#[inline]
fn flood(
    from: SquareSet,
    reach: u8,
    open: SquareSet,
    slow: Slow,
    step: impl Fn(SquareSet) -> SquareSet,
) -> Flood {
    let plain = open & !slow.forest & !slow.water;
    let mut launch = from;
    if reach >= 2 {
        let first = step(from);
        launch |= first & plain;
        if reach >= 3 {
            launch |= (first & open & slow.forest) | (step(first & plain) & plain);
        }
    }
    Flood { launch, touched: step(launch) }
}

/// The tiles that cost a walker more than a step.
#[derive(Clone, Copy)]
struct Slow {
    forest: SquareSet,
    water: SquareSet,
}

/// What every unit of the side to move needs to know.
struct View<'a> {
    position: &'a Position,
    enemy: SquareSet,
    occupied: SquareSet,
    /// Empty and not a mountain.
    open: SquareSet,
    slow: Slow,
}

impl View<'_> {
    /// The enemies in `hit` that a unit with these captures may attack.
    #[inline]
    fn attackable(&self, hit: SquareSet, captures: UnitSet) -> SquareSet {
        let hit = hit & self.enemy;
        if hit.is_empty() {
            return hit;
        }
        let mut prey = SquareSet::EMPTY;
        for unit in Unit::ALL {
            // A mask in place of a branch: which kinds are prey follows no pattern.
            let mask = u64::from(captures.contains(unit)).wrapping_neg();
            prey |= SquareSet(self.position.units(unit).0 & mask);
        }
        hit & prey
    }

    #[inline]
    fn flood(&self, from: Square, walk: Walk) -> Flood {
        let (start, reach) = (from.set(), walk.reach);
        match walk.steps {
            Steps::Orthogonal => flood(start, reach, self.open, self.slow, SquareSet::orthogonal),
            Steps::Diagonal => flood(start, reach, self.open, self.slow, SquareSet::diagonal),
            Steps::Any => flood(start, reach, self.open, self.slow, SquareSet::adjacent),
        }
    }

    /// The moves and assaults of a unit that captures by moving.
    #[inline]
    fn walk(
        &self,
        from: Square,
        walks: (Walk, Option<Walk>),
        captures: UnitSet,
        sink: &mut impl Sink,
    ) {
        let flood = self.flood(from, walks.0);
        let other = walks.1.map(|walk| self.flood(from, walk));
        let touched =
            flood.touched | other.as_ref().map_or(SquareSet::EMPTY, |other| other.touched);
        // A dragon on a mountain is out of a walker's reach.
        let prey = self.attackable(touched & !self.position.mountains, captures);
        let besieged = prey & self.position.fortresses;
        sink.moves(from, ((touched & self.open) | (prey ^ besieged)) & !from.set());
        for fortress in besieged {
            let mut rests = flood.launch & steps_from(fortress, walks.0.steps);
            if let (Some(other), Some(walk)) = (&other, walks.1) {
                rests |= other.launch & steps_from(fortress, walk.steps);
            }
            sink.assaults(from, fortress, rests);
        }
    }

    /// The moves of a unit that captures by shooting.
    #[inline]
    fn stroll(&self, from: Square, walks: (Walk, Option<Walk>), sink: &mut impl Sink) {
        let mut touched = self.flood(from, walks.0).touched;
        if let Some(walk) = walks.1 {
            touched |= self.flood(from, walk).touched;
        }
        sink.moves(from, touched & self.open & !from.set());
    }

    #[inline]
    fn shoot(&self, from: Square, shots: Shots, captures: UnitSet, sink: &mut impl Sink) {
        let range = lines::range(from, shots.orthogonal, shots.diagonal);
        if (range & self.enemy).is_empty() || self.slow.water.contains(from) {
            return;
        }
        let mut blockers = self.occupied;
        if !shots.over_mountains {
            blockers |= self.position.mountains;
        }
        let hit = lines::visible(from, blockers) & range;
        sink.shots(from, self.attackable(hit, captures));
    }

    #[inline]
    fn fly(&self, from: Square, over_units: bool, captures: UnitSet, sink: &mut impl Sink) {
        let blockers =
            if over_units { self.enemy & self.position.units(Unit::Dragon) } else { self.occupied };
        let seen = lines::visible(from, blockers);
        let prey = self.attackable(seen & !self.slow.forest, captures);
        let besieged = prey & self.position.fortresses;
        sink.moves(from, (seen & !self.occupied) | (prey ^ besieged));
        for fortress in besieged {
            sink.assaults(from, fortress, self.landing(from, fortress).set());
        }
    }

    /// Where a dragon that assaults `fortress` comes to rest: the last empty
    /// square before it, or its own. In blocked flight nothing stands between,
    /// so that this is the square next to the fortress.
    fn landing(&self, from: Square, fortress: Square) -> Square {
        let back = lines::direction(fortress, from).map_or((0, 0), |d| lines::DIRECTIONS[d]);
        let mut square = fortress;
        while let Some(next) = square.offset(back.0, back.1) {
            if next == from || !self.occupied.contains(next) {
                return next;
            }
            square = next;
        }
        from
    }
}

#[inline]
fn steps_from(square: Square, steps: Steps) -> SquareSet {
    match steps {
        Steps::Orthogonal => square.set().orthogonal(),
        Steps::Diagonal => square.set().diagonal(),
        Steps::Any => square.set().adjacent(),
    }
}

impl Position {
    #[inline]
    fn generate(&self, rules: &Rules, sink: &mut impl Sink) {
        let own = self.side(self.turn);
        let view = View {
            position: self,
            enemy: self.side(self.turn.other()),
            occupied: self.occupied(),
            open: !(self.occupied() | self.mountains),
            slow: Slow { forest: self.forests, water: self.waters },
        };
        for unit in Unit::ALL {
            let able = rules.unit(unit);
            for from in self.units(unit) & own & !self.frozen {
                match (able.movement, able.shots) {
                    (Movement::Walk(walk, other), None) => {
                        view.walk(from, (walk, other), able.captures, sink);
                    }
                    (Movement::Walk(walk, other), Some(shots)) => {
                        view.stroll(from, (walk, other), sink);
                        view.shoot(from, shots, able.captures, sink);
                    }
                    (Movement::Flight { over_units }, _) => {
                        view.fly(from, over_units, able.captures, sink);
                    }
                }
            }
        }
    }

    /// Clears `actions` and fills it with the legal actions, each once, in no
    /// particular order; none when the game has been won. The draw rules do
    /// not matter here. A list that is kept from call to call stops growing,
    /// so that nothing is allocated.
    #[inline]
    pub fn legal_actions(&self, rules: &Rules, mut actions: &mut Vec<Action>) {
        actions.clear();
        if self.winner().is_some() {
            return;
        }
        self.generate(rules, &mut actions);
        if actions.is_empty() {
            actions.push(Action::Pass);
        }
    }

    /// The number of legal actions, without listing them.
    #[must_use]
    #[inline]
    pub fn count_actions(&self, rules: &Rules) -> usize {
        if self.winner().is_some() {
            return 0;
        }
        let mut counter = Counter(0);
        self.generate(rules, &mut counter);
        counter.0.max(1) // a player with nothing to do passes
    }

    /// Whether an action is legal.
    #[must_use]
    pub fn is_legal(&self, action: Action, rules: &Rules) -> bool {
        let mut actions = Vec::with_capacity(128);
        self.legal_actions(rules, &mut actions);
        actions.contains(&action)
    }
}
