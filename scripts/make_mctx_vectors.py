#!/usr/bin/env python3
"""Writes selfplay/tests/data/mctx.json: what DeepMind's own Gumbel search finds on small games.

    python3 scripts/make_mctx_vectors.py      (needs mctx and jax in a virtual environment; takes minutes)

A game here is a table: a row a node, with the node that each action leads to, and the logits and the
value that a network would give. It never ends, and a node reached twice is two nodes of the tree, so
that nothing but the search itself is compared.

`mctx` is asked for what selfplay/src/search does: values are of two players in turn (discount -1,
rewards 0), and not rescaled by their least and greatest (rescale_values=False), for the results of
a game have known bounds. They lie in -1..1 in the table and are mapped to 0..1 by us, to
c_scale * (q + 1) / 2; the 1 shifts all actions alike, so that value_scale is half our c_scale.

The file is committed; run this again only to change what is compared.
"""

import functools
import json
from pathlib import Path
from unittest import mock

import jax
import jax.numpy as jnp
import mctx
import numpy as np

FILE = Path(__file__).resolve().parent.parent / "selfplay" / "tests" / "data" / "mctx.json"
C_VISIT = 50.0

# The Gumbel noise that selfplay/src/search/gumbel.rs draws for these seeds; the test checks that.
NOISE = {
    11: [
        -0.1234087, -0.030494418, 2.9557421, -0.8771395, 0.44234136, 0.07471798,
        2.1624248, 0.52496576, 0.39489415, -0.4464231, 3.7233913, 1.9625546,
        1.4013176, -0.42175117, 4.592868, -0.00812369, 0.45665225, 3.9583182,
        0.78267556, -0.7303775, 1.8386265, -0.089208916, 0.11541101, 4.389679,
    ],
    12: [
        -1.0409393, -1.904467, 4.8451133, 1.3704836, 0.7103928, 0.98952377,
        2.4018466, -0.3079306, 3.246498, 0.70215523, -0.77215874, 1.7877325,
        0.11562771, 0.6492794, 0.33176392, 0.1636349, 1.9731057, -0.92588836,
        -1.3693722, -0.7786163, 0.8603393, -0.8538956, 0.09312417, 1.0310942,
    ],
}  # fmt: skip

# Actions, nodes, the size of logits and of values.
TABLES = [(4, 30, 1.0, 0.5), (9, 40, 1.5, 0.8), (24, 30, 1.0, 0.3)]

# Simulations, actions considered, c_scale, seed of the noise or none.
SEARCHES = [
    (1, 16, 1.0, None),
    (5, 16, 1.0, 11),
    (16, 4, 1.0, None),
    (16, 16, 1.0, 12),
    (32, 8, 0.1, None),
    (50, 3, 0.1, 11),
    (64, 6, 1.0, None),
    (64, 1, 0.3, 12),
    (100, 16, 0.1, 11),
    (200, 16, 1.0, None),
    (400, 24, 0.03, 12),
]


def make_table(rng, actions, nodes, logit_size, value_size):
    """Numbers with few digits, so that both sides read the same ones."""
    return {
        "next": rng.integers(0, nodes, (nodes, actions)).tolist(),
        "logits": rng.normal(0, logit_size, (nodes, actions)).round(4).tolist(),
        "values": rng.uniform(-value_size, value_size, nodes).round(4).tolist(),
    }


def search(table, simulations, considered, c_scale, noise):
    """What mctx makes of the table's node 0."""
    successors = jnp.array(table["next"])
    logits, values = jnp.array(table["logits"]), jnp.array(table["values"])

    def recurrent(params, key, action, node):
        node = successors[node, action]
        zero = jnp.zeros_like(values[node])
        return mctx.RecurrentFnOutput(
            reward=zero, discount=zero - 1, prior_logits=logits[node], value=values[node]
        ), node

    start = jnp.array([0])
    root = mctx.RootFnOutput(prior_logits=logits[start], value=values[start], embedding=start)
    qtransform = functools.partial(
        mctx.qtransform_completed_by_mix_value,
        value_scale=c_scale / 2, maxvisit_init=C_VISIT, rescale_values=False, use_mixed_value=True,
    )  # fmt: skip
    noise = jnp.array([noise], dtype=jnp.float32)
    with mock.patch("jax.random.gumbel", lambda key, shape, dtype: noise):
        output = mctx.gumbel_muzero_policy(
            None, jax.random.PRNGKey(0), root, recurrent, simulations,
            qtransform=qtransform, max_num_considered_actions=considered,
        )  # fmt: skip
    tree = jax.tree.map(lambda array: array[0], output.search_tree)
    visits = tree.children_visits[0]
    completed = qtransform(tree, 0) / (c_scale / 2 * (C_VISIT + visits.max()))
    weights = output.action_weights[0]
    return {
        "visits": visits.tolist(),
        "completed_q": completed.tolist(),
        "weights": weights.tolist(),
        "value": float((weights * completed).sum()),
        "action": int(output.action[0]),
    }


def main():
    rng = np.random.default_rng(1)
    tables = [make_table(rng, *shape) for shape in TABLES]
    searches = []
    for number, table in enumerate(tables):
        actions = len(table["next"][0])
        for simulations, considered, c_scale, seed in SEARCHES:
            noise = [0.0] * actions if seed is None else NOISE[seed][:actions]
            found = search(table, simulations, considered, c_scale, noise)
            given = {
                "table": number, "simulations": simulations, "considered": considered,
                "c_visit": C_VISIT, "c_scale": c_scale, "noise_seed": seed, "noise": noise,
            }  # fmt: skip
            searches.append(given | found)
    lines = [json.dumps(search) for search in searches]
    tables = [json.dumps(table) for table in tables]
    FILE.write_text(
        '{"mctx": "%s",\n"tables": [\n%s],\n"searches": [\n%s]}\n'
        % (mctx.__version__, ",\n".join(tables), ",\n".join(lines))
    )
    print(f"{FILE}: {len(searches)} searches")


if __name__ == "__main__":
    main()
