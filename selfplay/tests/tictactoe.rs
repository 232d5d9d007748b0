//! The search on tic-tac-toe, whose every position is solved exhaustively.

mod common;

use std::collections::HashMap;

use cyvasse_env::{DrawReason, Outcome, Side};
use cyvasse_selfplay::Proven;
use cyvasse_selfplay::search::{Game, Line, Search, SearchSettings};

/// Marks of both sides, a bit a square.
type Board = [u16; 2];

#[derive(Clone, Copy)]
struct TicTacToe;

const LINES: [u16; 8] = [0o7, 0o70, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124];

impl TicTacToe {
    fn winner(board: &Board) -> Option<Side> {
        let has_line = |side: Side| LINES.iter().any(|line| board[side.index()] & line == *line);
        Side::ALL.into_iter().find(|&side| has_line(side))
    }
}

impl Game for TicTacToe {
    type State = Board;
    type Action = u8;

    fn turn(&self, board: &Board) -> Side {
        let even = (board[0] | board[1]).count_ones().is_multiple_of(2);
        if even { Side::White } else { Side::Black }
    }

    fn legal_actions(&self, board: &Board, actions: &mut Vec<u8>) {
        actions.clear();
        actions.extend((0..9).filter(|square| (board[0] | board[1]) >> square & 1 == 0));
    }

    fn play(&self, board: &mut Board, square: u8) {
        board[self.turn(board).index()] |= 1 << square;
    }

    fn wins_at_once(&self, board: &Board, square: u8) -> bool {
        let mut next = *board;
        self.play(&mut next, square);
        TicTacToe::winner(&next).is_some()
    }

    fn repetition_key(&self, board: &Board) -> u64 {
        u64::from(board[0]) << 16 | u64::from(board[1])
    }

    fn reversible_plies(&self, _: &Board) -> usize {
        0
    }

    fn outcome(&self, board: &Board, _: usize) -> Option<Outcome> {
        let full = board[0] | board[1] == 0o777;
        TicTacToe::winner(board)
            .map(Outcome::Win)
            .or(full.then_some(Outcome::Draw(DrawReason::Length)))
    }
}

/// The value of every reachable position for its mover, by exhaustion.
fn solve(board: Board, solved: &mut HashMap<Board, i32>) -> i32 {
    if let Some(&value) = solved.get(&board) {
        return value;
    }
    let value = match TicTacToe.outcome(&board, 1) {
        Some(Outcome::Win(_)) => -1, // the opponent has just won
        Some(Outcome::Draw(_)) => 0,
        None => successors(&board).map(|(_, next)| -solve(next, solved)).max().unwrap(),
    };
    solved.insert(board, value);
    value
}

fn successors(board: &Board) -> impl Iterator<Item = (u8, Board)> {
    let mut actions = Vec::new();
    TicTacToe.legal_actions(board, &mut actions);
    let board = *board;
    actions.into_iter().map(move |action| {
        let mut next = board;
        TicTacToe.play(&mut next, action);
        (action, next)
    })
}

/// Checks a search of every position in which the game goes on: it plays an
/// action that keeps the value, and proves nothing that is not so. Returns the
/// share of positions that it decided.
fn check_all(settings: &SearchSettings) -> f64 {
    let mut solved = HashMap::new();
    solve([0, 0], &mut solved);
    assert_eq!(solved.len(), 5478, "the known number of positions");
    let going_on = |board: &&Board| TicTacToe.outcome(board, 1).is_none();
    let (mut count, mut decided) = (0, 0);
    for board in solved.keys().filter(going_on) {
        let seed = TicTacToe.repetition_key(board);
        let result = common::search(TicTacToe, settings.clone(), *board, &[], seed);
        let mut next = *board;
        TicTacToe.play(&mut next, result.best);
        assert_eq!(-solved[&next], solved[board], "{board:?}: {result:?}");
        if let Some(proven) = result.proven {
            assert_eq!(proven.value().get() as i32, solved[board], "{board:?}: {proven:?}");
            assert!(!matches!(proven, Proven::Win(plies) if plies % 2 == 0));
            decided += 1;
        }
        count += 1;
    }
    f64::from(decided) / f64::from(count)
}

#[test]
fn gumbel_never_gives_a_won_or_drawn_position_away() {
    assert!(check_all(&common::gumbel(600)) > 0.95);
}

#[test]
fn puct_never_gives_a_won_or_drawn_position_away() {
    assert!(check_all(&common::puct(600)) > 0.95);
}

#[test]
fn lines_are_lines_of_play_and_the_first_keeps_the_value() {
    let mut solved = HashMap::new();
    solve([0, 0], &mut solved);
    let going_on = |board: &&Board| TicTacToe.outcome(board, 1).is_none();
    for board in solved.keys().filter(going_on) {
        let mut search = Search::new(TicTacToe, common::puct(600), *board, &[], 1);
        assert!(!search.has_result() || search.lines(1, 9)[0].proven == Some(Proven::Win(1)));
        common::run(&mut search, 4);
        let lines = search.lines(9, 9);
        assert_eq!(lines.len(), successors(board).count());
        assert_eq!(lines.iter().map(|line| line.visits).sum::<u32>(), search.visits());
        let worth = |line: &Line<u8>| match line.proven {
            Some(Proven::Win(_)) => 1,
            Some(Proven::Loss(_)) => -1,
            Some(Proven::Draw(_)) | None => 0,
        };
        assert!(lines.is_sorted_by_key(|line| -worth(line)), "{lines:?}");
        for (rank, line) in lines.iter().enumerate() {
            let mut state = *board;
            for &action in &line.actions {
                assert_eq!(TicTacToe.outcome(&state, 1), None, "{line:?} goes on after the end");
                assert!(successors(&state).any(|(legal, _)| legal == action), "{line:?}");
                TicTacToe.play(&mut state, action);
            }
            let mut next = *board;
            TicTacToe.play(&mut next, line.actions[0]);
            assert!(rank > 0 || -solved[&next] == solved[board], "{board:?}: {line:?}");
            assert!(line.proven.is_none() || worth(line) == -solved[&next], "{line:?}");
        }
    }
}
