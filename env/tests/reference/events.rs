//! The rare things that a comparison has to meet often to be worth much.

use super::board::{At, BLANK, all_directions, everywhere};
use super::play::Deed;
use super::position::Reference;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Something rare: an action that may be taken, or one that was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    // In the list of actions.
    AssaultsWithSeveralRestingTiles,
    AssaultInPlaceFromWater,
    AssaultAfterWalking,
    DragonAssault,
    DragonAssaultRestingOnMountain,
    DragonAssaultRestingOnWater,
    DragonAssaultAcrossUnits,
    DragonAssaultAcrossUnitsInPlace,
    FlightOverUnits,
    FlightStoppedByDragon,
    CaptureByFlightOverUnits,
    DragonTakesDragonOnMountain,
    DragonFacesUnitInForest,
    ShotOverMountain,
    ShotAtDragonOnMountain,
    ShotAtFortress,
    ShotAtUnitInForest,
    ShooterOnWater,
    FrozenShooter,
    ForestWithTheOnlyStep,
    KingInFortressUnderAttack,
    OccupantOfFortressOutOfRank,
    UnitOnForeignFortress,
    FiveCopies,
    OnlyPass,
    OnlyPassWithFrozenUnits,
    // Played.
    Froze,
    FrozeFromWaterToWater,
    FrozeByCapturing,
    CapturedFrozenUnit,
    CapturedKing,
    ShotKing,
    KingSurvivedInFortress,
    RuinByShot,
    RuinByAssault,
    DragonLandedOnWater,
    DragonLandedOnMountain,
    DragonShotFromMountain,
    EnteredEmptyFortress,
    EnteredRuin,
    PassThawed,
    TwoSidesFrozen,
}

/// How often each event has occurred.
#[derive(Clone, Default)]
pub(crate) struct Tally(BTreeMap<Event, usize>);

impl Tally {
    pub(crate) fn count(&self, event: Event) -> usize {
        self.0.get(&event).copied().unwrap_or(0)
    }

    fn add(&mut self, event: Event) {
        *self.0.entry(event).or_insert(0) += 1;
    }

    fn add_if(&mut self, happened: bool, event: Event) {
        if happened {
            self.add(event);
        }
    }

    /// All events that have occurred less often than `times`.
    pub(crate) fn rarer_than(&self, times: usize) -> Vec<Event> {
        ALL.into_iter().filter(|&event| self.count(event) < times).collect()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        ALL.into_iter().try_for_each(|event| writeln!(f, "{:>8} {event:?}", self.count(event)))
    }
}

fn is_dragon(unit: char) -> bool {
    "dD".contains(unit)
}

/// The places strictly between two on one line.
fn between(from: At, to: At) -> Vec<At> {
    let files = (to.file - from.file).signum();
    let ranks = (to.rank - from.rank).signum();
    from.line((files, ranks)).into_iter().take_while(|&at| at != to).collect()
}

// In the list of actions.
impl Tally {
    /// Counts what a list of actions offers.
    pub(crate) fn look_at(&mut self, position: &Reference, actions: &[String]) {
        let deeds: Vec<Deed> = actions.iter().filter_map(|action| Deed::parse(action)).collect();
        for deed in &deeds {
            match (is_dragon(position.units.on(deed.from)), deed.is_shot) {
                (true, _) => self.look_at_flight(position, deed),
                (false, true) => self.look_at_shot(position, deed),
                (false, false) => self.look_at_walk(position, deed),
            }
            let target = (position.units.on(deed.to), position.tiles.on(deed.to));
            self.add_if(matches!(target, ('K' | 'k', 'c')), Event::KingInFortressUnderAttack);
        }
        self.look_at_rests(&deeds);
        self.look_at_units(position);
        let only_pass = actions == ["pass"];
        self.add_if(only_pass, Event::OnlyPass);
        let own_frozen = position.frozen.iter().any(|&at| position.is_friend(at));
        self.add_if(only_pass && own_frozen, Event::OnlyPassWithFrozenUnits);
    }

    fn look_at_rests(&mut self, deeds: &[Deed]) {
        let assaults = deeds.iter().filter(|deed| deed.rest.is_some());
        let mut once = BTreeSet::new();
        let mut several = BTreeSet::new();
        for deed in assaults {
            if !once.insert((deed.from, deed.to)) {
                several.insert((deed.from, deed.to));
            }
        }
        several.iter().for_each(|_| self.add(Event::AssaultsWithSeveralRestingTiles));
    }

    fn look_at_flight(&mut self, position: &Reference, deed: &Deed) {
        let crossed = between(deed.from, deed.to);
        let over_units = crossed.iter().any(|&at| position.units.on(at) != BLANK);
        let target = position.units.on(deed.to);
        self.add_if(over_units, Event::FlightOverUnits);
        self.add_if(over_units && target != BLANK, Event::CaptureByFlightOverUnits);
        let on_mountain = position.tiles.on(deed.to) == 'm';
        self.add_if(target != BLANK && on_mountain, Event::DragonTakesDragonOnMountain);
        let Some(rest) = deed.rest else { return };
        self.add(Event::DragonAssault);
        let moves = rest != deed.from;
        let tile = position.tiles.on(rest);
        self.add_if(moves && tile == 'm', Event::DragonAssaultRestingOnMountain);
        self.add_if(moves && tile == 'w', Event::DragonAssaultRestingOnWater);
        let across = !between(rest, deed.to).is_empty();
        self.add_if(moves && across, Event::DragonAssaultAcrossUnits);
        self.add_if(!moves && across, Event::DragonAssaultAcrossUnitsInPlace);
    }

    fn look_at_shot(&mut self, position: &Reference, deed: &Deed) {
        let crossed = between(deed.from, deed.to);
        let over_mountain = crossed.iter().any(|&at| position.tiles.on(at) == 'm');
        self.add_if(over_mountain, Event::ShotOverMountain);
        let tile = position.tiles.on(deed.to);
        self.add_if(tile == 'm', Event::ShotAtDragonOnMountain);
        self.add_if(tile == 'c', Event::ShotAtFortress);
        self.add_if(tile == 'f', Event::ShotAtUnitInForest);
    }

    fn look_at_walk(&mut self, position: &Reference, deed: &Deed) {
        let one_step = position.row_on(deed.from).modes.iter().all(|mode| mode.reach == 1);
        let into_forest = position.tiles.on(deed.to) == 'f';
        self.add_if(one_step && into_forest, Event::ForestWithTheOnlyStep);
        let Some(rest) = deed.rest else { return };
        let moves = rest != deed.from;
        let from_water = position.tiles.on(deed.from) == 'w';
        self.add_if(moves, Event::AssaultAfterWalking);
        self.add_if(!moves && from_water, Event::AssaultInPlaceFromWater);
    }

    fn look_at_units(&mut self, position: &Reference) {
        for at in everywhere() {
            let unit = position.units.on(at);
            if position.is_friend(at) && is_dragon(unit) {
                self.look_along_lines_of_flight(position, at);
            } else if position.is_friend(at) {
                self.look_at_walker(position, at);
            }
            let foreign_fortress = position.tiles.on(at) == 'c'
                && unit != BLANK
                && unit.is_uppercase() != (at.rank < 4);
            self.add_if(foreign_fortress, Event::UnitOnForeignFortress);
        }
        let most_copies = "RSXLHECTD".chars().map(|kind| position.units.count(kind)).max();
        self.add_if(most_copies >= Some(5), Event::FiveCopies);
    }

    fn look_along_lines_of_flight(&mut self, position: &Reference, from: At) {
        let row = position.row_on(from);
        for direction in all_directions() {
            let line = from.line(direction);
            let first = line.iter().position(|&at| position.units.on(at) != BLANK);
            let first = first.filter(|&index| position.is_enemy(line[index]));
            let Some(index) = first else { continue };
            let unit = position.units.on(line[index]);
            let in_forest = position.tiles.on(line[index]) == 'f';
            let in_rank = row.captures.contains(unit.to_ascii_uppercase());
            self.add_if(in_forest && in_rank, Event::DragonFacesUnitInForest);
            let line_goes_on = index + 1 < line.len();
            let stopped = row.over_units && is_dragon(unit) && line_goes_on;
            self.add_if(stopped, Event::FlightStoppedByDragon);
        }
    }

    fn look_at_walker(&mut self, position: &Reference, from: At) {
        let row = position.row_on(from);
        let frozen = position.frozen.contains(&from);
        let on_water = position.tiles.on(from) == 'w';
        if row.shots.is_some() {
            self.add_if(frozen, Event::FrozenShooter);
            self.add_if(on_water && !frozen, Event::ShooterOnWater);
            return;
        }
        for direction in all_directions() {
            let Some(next) = from.step(direction) else { continue };
            let kind = position.units.on(next).to_ascii_uppercase();
            let in_fortress = position.is_enemy(next) && position.tiles.on(next) == 'c';
            let out_of_rank = !row.captures.contains(kind);
            self.add_if(in_fortress && out_of_rank, Event::OccupantOfFortressOutOfRank);
        }
    }
}

// Played.
impl Tally {
    /// Counts what an action did.
    pub(crate) fn look_back(&mut self, before: &Reference, action: &str, after: &Reference) {
        let sides_frozen =
            |white| after.frozen.iter().any(|&at| after.units.on(at).is_uppercase() == white);
        self.add_if(sides_frozen(true) && sides_frozen(false), Event::TwoSidesFrozen);
        let Some(deed) = Deed::parse(action) else {
            let thawed = before.frozen.iter().any(|&at| before.is_friend(at));
            self.add_if(thawed, Event::PassThawed);
            return;
        };
        if before.units.on(deed.to) == BLANK {
            self.look_back_at_move(before, deed);
        } else {
            self.look_back_at_attack(before, deed);
        }
        let froze = !deed.is_shot && after.frozen.contains(&deed.to) && deed.rest.is_none();
        self.add_if(froze, Event::Froze);
        let from_water = before.tiles.on(deed.from) == 'w';
        self.add_if(froze && from_water, Event::FrozeFromWaterToWater);
        let captured = before.units.on(deed.to) != BLANK;
        self.add_if(froze && captured, Event::FrozeByCapturing);
    }

    fn look_back_at_move(&mut self, before: &Reference, deed: Deed) {
        let tile = before.tiles.on(deed.to);
        self.add_if(tile == 'c', Event::EnteredEmptyFortress);
        self.add_if(tile == 'r', Event::EnteredRuin);
        if is_dragon(before.units.on(deed.from)) {
            self.add_if(tile == 'w', Event::DragonLandedOnWater);
            self.add_if(tile == 'm', Event::DragonLandedOnMountain);
        }
    }

    fn look_back_at_attack(&mut self, before: &Reference, deed: Deed) {
        let target = before.units.on(deed.to);
        let king = "kK".contains(target);
        if before.tiles.on(deed.to) == 'c' {
            self.add_if(king, Event::KingSurvivedInFortress);
            self.add(if deed.is_shot { Event::RuinByShot } else { Event::RuinByAssault });
            return;
        }
        self.add_if(before.frozen.contains(&deed.to), Event::CapturedFrozenUnit);
        self.add_if(king, Event::CapturedKing);
        self.add_if(king && deed.is_shot, Event::ShotKing);
        let on_mountain = before.tiles.on(deed.to) == 'm';
        self.add_if(deed.is_shot && on_mountain, Event::DragonShotFromMountain);
    }
}

const ALL: [Event; 42] = [
    Event::AssaultsWithSeveralRestingTiles,
    Event::AssaultInPlaceFromWater,
    Event::AssaultAfterWalking,
    Event::DragonAssault,
    Event::DragonAssaultRestingOnMountain,
    Event::DragonAssaultRestingOnWater,
    Event::DragonAssaultAcrossUnits,
    Event::DragonAssaultAcrossUnitsInPlace,
    Event::FlightOverUnits,
    Event::FlightStoppedByDragon,
    Event::CaptureByFlightOverUnits,
    Event::DragonTakesDragonOnMountain,
    Event::DragonFacesUnitInForest,
    Event::ShotOverMountain,
    Event::ShotAtDragonOnMountain,
    Event::ShotAtFortress,
    Event::ShotAtUnitInForest,
    Event::ShooterOnWater,
    Event::FrozenShooter,
    Event::ForestWithTheOnlyStep,
    Event::KingInFortressUnderAttack,
    Event::OccupantOfFortressOutOfRank,
    Event::UnitOnForeignFortress,
    Event::FiveCopies,
    Event::OnlyPass,
    Event::OnlyPassWithFrozenUnits,
    Event::Froze,
    Event::FrozeFromWaterToWater,
    Event::FrozeByCapturing,
    Event::CapturedFrozenUnit,
    Event::CapturedKing,
    Event::ShotKing,
    Event::KingSurvivedInFortress,
    Event::RuinByShot,
    Event::RuinByAssault,
    Event::DragonLandedOnWater,
    Event::DragonLandedOnMountain,
    Event::DragonShotFromMountain,
    Event::EnteredEmptyFortress,
    Event::EnteredRuin,
    Event::PassThawed,
    Event::TwoSidesFrozen,
];
