//! Connect Four on the full board, and a solver that shares no code with it.

use std::collections::HashMap;

use cyvasse_env::{DrawReason, Outcome, Side};
use cyvasse_selfplay::search::Game;

pub(crate) const COLUMNS: usize = 7;
pub(crate) const ROWS: usize = 6;
pub(crate) const SQUARES: u32 = (COLUMNS * ROWS) as u32;

/// The stones of both sides: bit 7 * column + row, so that a seventh row that
/// is always empty lies between the columns.
pub(crate) type Board = [u64; 2];

#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectFour;

impl ConnectFour {
    /// The bit that the next stone in a column takes, if there is room.
    pub(crate) fn drop(board: &Board, column: u8) -> Option<u64> {
        let column = 7 * u32::from(column);
        let stones = ((board[0] | board[1]) >> column & 0x3F).count_ones();
        (stones < ROWS as u32).then(|| 1 << (column + stones))
    }

    fn connects(stones: u64) -> bool {
        [1, 6, 7, 8].into_iter().any(|step| {
            let pairs = stones & stones >> step;
            pairs & pairs >> (2 * step) != 0
        })
    }
}

impl Game for ConnectFour {
    type State = Board;
    type Action = u8;

    fn turn(&self, board: &Board) -> Side {
        let even = (board[0] | board[1]).count_ones().is_multiple_of(2);
        if even { Side::White } else { Side::Black }
    }

    fn legal_actions(&self, board: &Board, actions: &mut Vec<u8>) {
        actions.clear();
        let columns = 0..COLUMNS as u8;
        actions.extend(columns.filter(|&column| ConnectFour::drop(board, column).is_some()));
    }

    fn play(&self, board: &mut Board, column: u8) {
        let side = self.turn(board).index();
        board[side] |= ConnectFour::drop(board, column).unwrap();
    }

    fn wins_at_once(&self, board: &Board, column: u8) -> bool {
        let own = board[self.turn(board).index()];
        ConnectFour::connects(own | ConnectFour::drop(board, column).unwrap())
    }

    fn repetition_key(&self, board: &Board) -> u64 {
        board[0].wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ board[1]
    }

    fn reversible_plies(&self, _: &Board) -> usize {
        0
    }

    fn outcome(&self, board: &Board, _: usize) -> Option<Outcome> {
        let winner = Side::ALL.into_iter().find(|side| ConnectFour::connects(board[side.index()]));
        let full = (board[0] | board[1]).count_ones() == SQUARES;
        winner.map(Outcome::Win).or(full.then_some(Outcome::Draw(DrawReason::Length)))
    }
}

/// Solves positions by alpha-beta over lists of lines.
pub(crate) struct Solver {
    /// For each square the lines of four that it belongs to.
    lines: Vec<Vec<u64>>,
    /// Bounds of the values that have been looked at.
    known: HashMap<(u64, u64), (i8, i8)>,
}

impl Solver {
    pub(crate) fn new() -> Solver {
        let mut lines = vec![Vec::new(); 64];
        for (column, row) in (0..COLUMNS as i32).flat_map(|c| (0..ROWS as i32).map(move |r| (c, r)))
        {
            for (right, up) in [(1, 0), (0, 1), (1, 1), (1, -1)] {
                let squares = (0..4).map(|n| (column + n * right, row + n * up));
                let inside = |&(c, r): &(i32, i32)| {
                    (0..COLUMNS as i32).contains(&c) && (0..ROWS as i32).contains(&r)
                };
                let squares: Vec<usize> =
                    squares.filter(inside).map(|(c, r)| (7 * c + r) as usize).collect();
                if squares.len() == 4 {
                    let line = squares.iter().map(|&square| 1 << square).sum();
                    squares.into_iter().for_each(|square| lines[square].push(line));
                }
            }
        }
        Solver { lines, known: HashMap::new() }
    }

    /// The value for the side to move: 1, 0 or -1.
    pub(crate) fn value(&mut self, board: &Board) -> i8 {
        let turn = (board[0] | board[1]).count_ones() as usize % 2;
        self.search(board[turn], board[1 - turn], -1, 1)
    }

    /// The value for the side to move of an action.
    pub(crate) fn action_value(&mut self, board: &Board, column: u8) -> i8 {
        let turn = (board[0] | board[1]).count_ones() as usize % 2;
        self.after(board[turn], board[1 - turn], column as usize, -1, 1).unwrap()
    }

    fn search(&mut self, own: u64, other: u64, mut low: i8, mut high: i8) -> i8 {
        let (least, most) = self.known.get(&(own, other)).copied().unwrap_or((-1, 1));
        (low, high) = (low.max(least), high.min(most));
        if low >= high {
            return low;
        }
        let (start_low, mut best) = (low, None);
        for column in [3, 2, 4, 1, 5, 0, 6] {
            let Some(value) = self.after(own, other, column, low, high) else { continue };
            best = best.max(Some(value));
            low = low.max(value);
            if low >= high {
                break;
            }
        }
        let value = best.unwrap_or(0); // a full board is a draw
        let bounds = self.known.entry((own, other)).or_insert((-1, 1));
        if value > start_low {
            bounds.0 = bounds.0.max(value);
        }
        if value < high {
            bounds.1 = bounds.1.min(value);
        }
        value
    }

    /// The value of a stone in a column; `None` when the column is full.
    fn after(&mut self, own: u64, other: u64, column: usize, low: i8, high: i8) -> Option<i8> {
        let free = (0..ROWS).find(|row| (own | other) >> (7 * column + row) & 1 == 0)?;
        let square = 7 * column + free;
        let own = own | 1 << square;
        if self.lines[square].iter().any(|line| own & line == *line) {
            return Some(1);
        }
        Some(-self.search(other, own, -high, -low))
    }
}
