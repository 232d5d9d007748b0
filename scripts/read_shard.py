#!/usr/bin/env python3
"""Reads a replay shard with h5py: where to begin with shards in Python.

    scripts/read_shard.py runs/quick/shards/round-0003.h5

Prints the games as lines of JSON, with everything that a shard holds of them.
Needs h5py (`pip install h5py`). What the datasets mean is told in
selfplay/src/replay/schema.rs. `cyvasse replay export --targets` prints the same
games with actions as text, and checks them by the rules, which this does not.

As a module: `for game in games(path): ...`, or take whole columns with
`h5py.File(path)["plies/root_value"][:]`.
"""

import argparse
import json
import os
import re
import sys
import zlib

import h5py

SEAL_BYTES = 512
SCHEMA_VERSIONS = [2, 3]

SOURCES = ["uniform", "current", "past", "fixed"]
RESULTS = ["white wins", "black wins", "draw by repetition", "draw by no progress", "draw by length"]
KINDS = ["full", "cheap", "opening"]
TILES = ".mwfc"  # grass, mountain, water, forest, fortress
UNITS = ".RSXLHECTDK"  # none, then the units in the order of the rules file


def check_seal(path):
    """Compares the length and the CRC-32 in the user block with the file."""
    with open(path, "rb") as file:
        seal, rest = file.read(SEAL_BYTES), file.read()
    expected = f"cyvasse replay shard\nbytes {len(rest)}\ncrc32 {zlib.crc32(rest):08x}\n"
    if seal.rstrip(b"\0").decode("ascii", "replace") != expected:
        sys.exit(f"error: {path} is no replay shard, or is damaged")


def half(letters):
    """32 letters for a1, b1, ... h4 as the text of a homeland: the last rank first,
    the number of '.' in a row in their place."""
    ranks = [letters[start : start + 8] for start in (24, 16, 8, 0)]
    return "/".join(re.sub(r"\.+", lambda run: str(len(run.group())), rank) for rank in ranks)


def setup(squares):
    """A setup in its builder's own view: tile + 8 * unit for each square."""
    tiles = half("".join(TILES[square % 8] for square in squares))
    units = half("".join(UNITS[square // 8] for square in squares))
    return f"{tiles} {units}"


def games(path):
    """Yields the games of a shard as dictionaries."""
    check_seal(path)
    with h5py.File(path, "r") as file:
        version = int(file.attrs["schema_version"])
        if version not in SCHEMA_VERSIONS:
            sys.exit(f"error: {path} has schema version {version}, expected {' or '.join(map(str, SCHEMA_VERSIONS))}")
        fingerprint = f"{int(file.attrs['rules_fingerprint']):016x}"
        names = ["games", "plies", "policy"]
        data = {f"{group}/{name}": file[group][name][:].tolist() for group in names for name in file[group]}
    for game in range(len(data["games/outcome"])):
        first, end = data["games/first_ply"][game : game + 2]
        yield {
            "game": game,
            "rules_fingerprint": fingerprint,
            "slot": data["games/slot"][game],
            "sequence": data["games/sequence"][game],
            "setups": [setup(squares) for squares in data["games/setups"][game]],
            "sources": [SOURCES[number] for number in data["games/sources"][game]],
            "result": RESULTS[data["games/outcome"][game]],
            "resigned": data["games/resigned"][game] == 1,
            "plies": end - first,
            "targets": [ply(data, row) for row in range(first, end)],
        }


def ply(data, row):
    """A ply; values are for the side to move, white at the even plies of a game.
    Actions are action indices, see env/src/index.rs."""
    first, end = data["plies/first_policy"][row : row + 2]
    return {
        "kind": KINDS[data["plies/kind"][row]],
        "index": data["plies/action"][row],
        "surprise": data["plies/surprise"][row] if "plies/surprise" in data else 0.0,
        "root_value": data["plies/root_value"][row],
        "proven": data["plies/proven"][row] == 1,
        "simulations": data["plies/simulations"][row],
        "network_step": data["plies/network_step"][row],
        "policy": [list(entry) for entry in zip(data["policy/action"][first:end], data["policy/share"][first:end])],
    }


def main():
    description = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=description)
    parser.add_argument("shard", help="the file, RUN/shards/round-NNNN.h5")
    path = parser.parse_args().shard
    if not os.path.isfile(path):
        sys.exit(f"{path} is no file; expected a shard, such as RUN/shards/round-0003.h5")
    try:
        for game in games(path):
            print(json.dumps(game))
    except BrokenPipeError:
        sys.exit(0)  # whoever read has enough of it, as in `... | head`


if __name__ == "__main__":
    main()
