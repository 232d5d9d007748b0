// Steps through the games of the report. Positions are in the text form of
// the rules: tiles, units, side to move, frozen squares, counters.
"use strict";
const games = JSON.parse(document.getElementById("games").textContent);
const tileNames = { m: "mountain", w: "water", f: "forest", c: "fortress", r: "ruin" };
const element = (id) => document.getElementById(id);

// The 64 letters of a field, a8 first; "" where a digit stands for nothing.
function letters(field) {
  return [...field.replaceAll("/", "")].flatMap((c) => (c >= "1" && c <= "8" ? Array(Number(c)).fill("") : [c]));
}

function squares(text) {
  return text.match(/[a-h][1-8]/g) ?? [];
}

function draw() {
  const game = games[element("game").value];
  if (!game) return;
  const ply = Number(element("ply").value);
  const [tiles, units, turn, frozen] = game.positions[ply].split(" ");
  const [tile, unit] = [letters(tiles), letters(units)];
  const action = ply > 0 ? game.actions[ply - 1] : "";
  const [from, to] = squares(action);
  const board = element("board");
  board.replaceChildren();
  for (let row = 0; row < 8; row++) {
    const line = board.insertRow();
    line.appendChild(Object.assign(document.createElement("th"), { textContent: 8 - row }));
    for (let file = 0; file < 8; file++) {
      const place = 8 * row + file;
      const name = "abcdefgh"[file] + (8 - row);
      const cell = line.insertCell();
      cell.className = "tile-" + (tileNames[tile[place]] ?? "grass");
      cell.textContent = unit[place].toUpperCase();
      if (unit[place]) cell.classList.add(unit[place] === unit[place].toUpperCase() ? "white" : "black");
      if (frozen !== "-" && squares(frozen).includes(name)) cell.classList.add("frozen");
      if (name === from) cell.classList.add("from");
      if (name === to) cell.classList.add("to");
      cell.title = name;
    }
  }
  const files = board.insertRow();
  for (const file of " abcdefgh") files.appendChild(Object.assign(document.createElement("th"), { textContent: file }));
  const mover = turn === "w" ? "white" : "black";
  const thought = ply > 0 ? game.values[ply - 1] : null;
  const value = thought !== null ? `, the search gave white ${thought.toFixed(2)}` : "";
  const played = ply > 0 ? `${mover === "white" ? "black" : "white"} played ${action}${value}; ` : "";
  element("told").textContent = `ply ${ply} of ${game.actions.length}: ${played}${mover} to move`;
}

function open() {
  const game = games[element("game").value];
  element("ply").max = game ? game.actions.length : 0;
  element("ply").value = 0;
  draw();
}

function step(by) {
  element("ply").value = Number(element("ply").value) + by;
  draw();
}

games.forEach((game, number) => element("game").add(new Option(game.title, number)));
element("game").addEventListener("change", open);
element("ply").addEventListener("input", draw);
element("first").addEventListener("click", () => step(-1e6));
element("back").addEventListener("click", () => step(-1));
element("next").addEventListener("click", () => step(1));
element("last").addEventListener("click", () => step(1e6));
document.addEventListener("keydown", (event) => {
  if (event.target.tagName === "SELECT" || event.target.tagName === "INPUT") return;
  if (event.key === "ArrowLeft") step(-1);
  if (event.key === "ArrowRight") step(1);
});
open();
