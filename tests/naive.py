"""Slow reference code: Algorithms 1-3 of Khan et al. on the complete graph, and definitions.

The tests compare the product with these functions. Nothing here uses tiles, closures, packed
words or threads. Weights are the integers of docs/theory.md. Edges are compared by
(E, min, max). Use n up to about 40.
"""

import datetime as dt
import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np


def gamma(x, i, j):
    """The features in which records i and j differ, as 0 and 1."""
    return (x[i] != x[j]).astype(int)


def edge_weights(x, w):
    """Algorithm 1, line 5: E_ij for all pairs i < j."""
    return {
        (i, j): int(((w[i] + w[j]) * gamma(x, i, j)).sum())
        for i, j in itertools.combinations(range(len(x)), 2)
    }


def b_suitor(weights, capacity):
    """Algorithm 3 on one processor: a heavy b-matching by proposals and annulments."""

    def heavier(e, f):
        return (weights[e], e) > (weights[f], f)

    def edge(u, v):
        return (min(u, v), max(u, v))

    vertices = range(len(capacity))
    suitors = {v: set() for v in vertices}
    proposed = {v: set() for v in vertices}
    queue = [v for v in vertices for _ in range(capacity[v])]
    while queue:
        u = queue.pop()
        partner = None
        for p in vertices:
            if p == u or capacity[p] == 0 or p in proposed[u]:
                continue
            if len(suitors[p]) == capacity[p]:
                lowest = min(suitors[p], key=lambda s: (weights[edge(s, p)], edge(s, p)))
                if not heavier(edge(u, p), edge(lowest, p)):
                    continue
            if partner is None or heavier(edge(u, p), edge(u, partner)):
                partner = p
        if partner is None:
            continue
        proposed[u].add(partner)
        if len(suitors[partner]) == capacity[partner]:
            lowest = min(
                suitors[partner], key=lambda s: (weights[edge(s, partner)], edge(s, partner))
            )
            suitors[partner].remove(lowest)
            proposed[lowest].discard(partner)
            queue.append(lowest)
        suitors[partner].add(u)
    return {edge(u, v) for v in vertices for u in suitors[v] if v in suitors[u]}


def mce(weights, b):
    """Algorithm 2: the complement of a b'-matching, b'(v) = max(0, deg(v) - b(v))."""
    matched = b_suitor(weights, [max(0, len(b) - 1 - need) for need in b])
    return set(weights) - matched


def adaptive(x, k, epsilon, base, iterations):
    """Algorithm 1: yield the cover (set of pairs) and the stars (n, f) of each iteration."""
    w = np.tile(np.asarray(base, dtype=int), (len(x), 1))
    for _ in range(iterations):
        cover = mce(edge_weights(x, w), [need - 1 for need in k])
        counts = np.zeros(x.shape, dtype=int)
        for i, j in cover:
            counts[i] += gamma(x, i, j)
            counts[j] += gamma(x, i, j)
        w = np.round(np.asarray(base) * (epsilon / (1 + epsilon)) ** counts).astype(int)
        yield cover, counts > 0


def fits(record, row, stars):
    """Test compatibility: every unmasked feature agrees (section III)."""
    return bool(((record == row) | stars).all())


def places_of_floor(paths, people, least):
    """The place of each leaf, where each place must be that of `least` people.

    A node is the beginning of paths. `people(nodes)` is how many people live in some nodes. Nodes
    are split from the root on: those below with too few people are put together with the next
    larger ones until they are enough, and are the node itself if none is left.
    """
    place = {}
    waiting = [()]
    while waiting:
        node = waiting.pop()
        at = len(node)
        inside = {leaf: path for leaf, path in paths.items() if path[:at] == node}
        place |= {leaf: path for leaf, path in inside.items() if path == node}
        size = {path[: at + 1]: people({path[: at + 1]}) for path in inside.values() if path[at:]}
        by_size = sorted(size, key=lambda part: (size[part], part))
        together = [part for part in by_size if size[part] < least]
        while together and len(together) < len(by_size) and people(set(together)) < least:
            together = by_size[: len(together) + 1]
        waiting += by_size[len(together) :]
        short = node[-1].rstrip("*") if node else ""
        shared = (*node, f"{short} (other)" if short else "(other)")
        if len(together) == len(by_size):
            shared = (*node[:-1], short or "(any)")
        place |= {leaf: shared for leaf, path in inside.items() if path[: at + 1] in together}
    return place


def smallest_node(levels, nodes, held):
    """The levels of the smallest node of a tree that holds these levels, as a set.

    Nodes are the `levels` levels, those given as (name, least, greatest level), and the root.
    """
    every = [
        *({level} for level in range(levels)),
        *(set(range(low, high + 1)) for _, low, high in nodes),
        set(range(levels)),
    ]
    return min((node for node in every if set(held) <= node), key=len)


def interval_of_step(number, width, *, whole):
    """The ends of the interval that begins at a multiple of a width, in decimals, and holds this.

    Of whole numbers the last one ends it; else its end belongs to the interval above.
    """
    step, place = Fraction(str(width)), Fraction(str(number))
    times = next(n for n in range(-1000, 1000) if n * step <= place < (n + 1) * step)
    return float(times * step), float((times + 1) * step) - whole


def name_of_day(day, step):
    """How a calendar names the interval of a step that holds a day since 1970-01-01."""
    date = dt.date(1970, 1, 1) + dt.timedelta(days=day)
    year, week, _ = date.isocalendar()
    return {
        "day": f"{date}",
        "week": f"{year:04}-W{week:02}",
        "month": f"{date}"[:7],
        "quarter": f"{date.year:04}-Q{(date.month + 2) // 3}",
        "year": f"{date.year:04}",
        "decade": f"{date.year:04}"[:3] + "0s",
    }[step]


def join_outer_leaves(leaves, who, least):
    """The groups of leaves, ascending, of which the outermost hold `least` people, as tuples.

    `leaves`, `who`: of each record its leaf and its person.
    """
    rising = sorted(set(leaves))

    def people(some):
        return len({person for leaf, person in zip(leaves, who, strict=True) if leaf in some})

    ends = range(1, len(rising) + 1)
    low = next((end for end in ends if people(rising[:end]) >= least), len(rising))
    high = next((end for end in ends if people(rising[-end:]) >= least), len(rising))
    inner = rising[low : len(rising) - high]
    if low + high > len(rising):
        return [tuple(rising)]
    return [tuple(rising[:low]), *((leaf,) for leaf in inner), tuple(rising[-high:])]


def inside_node(levels, nodes, held):
    """bool (levels + nodes,): which lie inside the smallest node that holds these levels."""
    cell = smallest_node(levels, nodes, held)
    within = [{level} for level in range(levels)]
    within += [set(range(low, high + 1)) for _, low, high in nodes]
    return np.array([node < cell for node in within])


def multiple(number, step):
    """The multiple of a step nearest to a number, both as written; the even one of two."""
    near = int(Fraction(str(number)) // Fraction(str(step)))
    apart = {
        times: abs(times * Fraction(str(step)) - Fraction(str(number)))
        for times in (near, near + 1)
    }
    return float(min(apart, key=lambda times: (apart[times], times % 2)) * Fraction(str(step)))


def shares_step(one, other, step):
    """Whether two dates lie in the same day, week, month, quarter, year or decade."""
    parts = {
        "day": lambda date: date.toordinal(),
        "week": lambda date: date.isocalendar()[:2],  # both begin on Monday
        "month": lambda date: (date.year, date.month),
        "quarter": lambda date: (date.year, (date.month - 1) // 3),
        "year": lambda date: date.year,
        "decade": lambda date: str(date.year).zfill(4)[:3],
    }
    return parts[step](one) == parts[step](other)


def starts_open_top(start, numbers, owners, k, rounded):
    """Whether a group of all numbers from `start` on may be shown as `start`.

    k people have such a number. The start is a number that k people have, or a rounded one, or
    nobody's. No smaller group of this kind exists but for the choice of a start that is nobody's.
    """

    def people(meets):
        return len({who for who, each in zip(owners, numbers, strict=True) if meets(each)})

    def is_group(at):
        own = people(lambda each: each == at)
        return people(lambda each: each >= at) >= k and (own == 0 or own >= k or rounded)

    beyond = [each for each in numbers if each > start]
    return is_group(start) and not any(is_group(each) for each in beyond)


def values_of_cell(paths, cell):
    """The values that a cell of a tree means, by names; paths: of each value up to the root.

    A cell that is no name is a set of values, with bars between them.
    """
    held = {value for value, names in paths.items() if cell in ("*", *names)}
    own = {names[-1]: value for value, names in paths.items()}
    return held or {own[text] for text in cell.split("|")}


def shown_values(paths, held, cells):
    """The values that a masked cell of a tree shows if its holders have these values.

    cells: "node": those of the smallest node that holds them all. "set", "shorter": these alone.
    """
    if cells != "node":
        return set(held)
    nodes = {"*"}.union(*paths.values())
    whole = [values_of_cell(paths, node) for node in nodes]
    return min((values for values in whole if set(held) <= values), key=len)


def depths_of_nodes(paths, values):
    """How deep nodes of just these values lie, by name; 1 is just below the root."""
    depth = {name: at for names in paths.values() for at, name in enumerate(names, start=1)}
    return {name: at for name, at in depth.items() if values_of_cell(paths, name) == values}


def cell_text(paths, values, cells):
    """How a cell shows these values: a value, "*", else a node's name if it may, or a set."""
    if len(values) == len(paths) > 1:
        return "*"
    if len(values) > 1 and cells != "set" and (same := depths_of_nodes(paths, values)):
        return max(same, key=same.__getitem__)  # the innermost
    order = sorted(paths, key=lambda value: (value is not None, paths[value]))
    return "|".join(paths[value][-1] for value in order if value in values)


def loss_of_values(paths, values, weights):
    """What a cell of these values loses: by weights of a value, of levels of nodes, and of "*".

    Without weights (its values - 1) / (all values - 1).
    """
    if not weights:
        return (len(values) - 1) / max(1, len(paths) - 1)
    if len(values) == 1:
        return 0
    if len(values) == len(paths):
        return 1
    # Weights begin with the finest level: the root has the last one, each level one before.
    return weights[len(weights) - 1 - max(depths_of_nodes(paths, values).values())]


def compatible(x, y, stars):
    """bool (n, n): record v fits row u."""
    return np.array([[fits(x[v], y[u], stars[u]) for u in range(len(y))] for v in range(len(x))])


def matchable(fit):
    """bool (n, n): pairs (v, u) in some perfect matching; each is removed and the rest matched."""
    return np.array([matchable_rows(fit, v) for v in range(len(fit))]).reshape(fit.shape)


def matchable_rows(fit, v):
    """bool (n,): the rows that some perfect matching gives to record v."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    n = len(fit)
    result = np.zeros(n, dtype=bool)
    for u in np.flatnonzero(fit[v]):
        rest = np.delete(np.delete(fit, v, axis=0), u, axis=1)
        result[u] = (
            n == 1 or (maximum_bipartite_matching(csr_array(rest), perm_type="column") >= 0).all()
        )
    return result


def people(fit, sits):
    """People who sit in the rows that each record fits; sits (n,): the person in each row."""
    return np.array([len({sits[row] for row in np.flatnonzero(rows)}) for rows in fit])


def greedy_cover(weights, b):
    """LSE: take the edge of least (effective weight, min, max) until each v has b(v) edges."""
    need, cover = list(b), set()
    while any(need):
        ends = {e: sum(need[v] > 0 for v in e) for e in weights if e not in cover}
        chosen = min((e for e in ends if ends[e]), key=lambda e: (weights[e] * (2 // ends[e]), e))
        cover.add(chosen)
        for v in chosen:
            need[v] = max(0, need[v] - 1)
    return cover


def static_cover(weights, b):
    """S-LSE by its definition.

    Take the lightest edge with an end v that has fewer than b(v) edges, until there is none.
    Then drop redundant edges, the heaviest first.
    """
    need, degree, cover = list(b), [0] * len(b), set()
    for e in sorted(weights, key=lambda e: (weights[e], e)):
        if any(need[v] > 0 for v in e):
            cover.add(e)
            for v in e:
                need[v] -= 1
                degree[v] += 1
    for e in sorted(cover, key=lambda e: (weights[e], e), reverse=True):
        if all(degree[v] > b[v] for v in e):
            cover.remove(e)
            for v in e:
                degree[v] -= 1
    return cover


def lightest_cover(weights, b):
    """Search all b-edge covers: the least weight, and the least (number of edges, weight)."""
    edges, best, fewest = list(weights), None, None
    for chosen in itertools.product([False, True], repeat=len(edges)):
        cover = [e for e, taken in zip(edges, chosen, strict=True) if taken]
        if all(sum(v in e for e in cover) >= need for v, need in enumerate(b)):
            weight = sum(weights[e] for e in cover)
            best = weight if best is None else min(best, weight)
            fewest = min(fewest or (len(cover), weight), (len(cover), weight))
    return best, fewest


def crowd_values(fit, values):
    """Sensitive values in each record's crowd: a list of (value, count), most frequent first."""
    return [
        Counter(v for v, fits in zip(values, row, strict=True) if fits).most_common() for row in fit
    ]


def entropy_l(counts):
    """exp of the entropy of the shares."""
    total = sum(counts)
    return math.exp(-sum(c / total * math.log(c / total) for c in counts)) if total else 0.0


def recursive_odds(counts, l):
    """r_1 / (r_l + ... + r_m) with r in descending order; (c, l)-diverse if it is below c."""
    rest = sum(sorted(counts, reverse=True)[l - 1 :])
    return max(counts) / rest if rest else math.inf


def earth_movers_distance(p, q, ordered):
    """Least cost of turning p into q, by a linear program.

    A move from i to j costs |i - j| / (m - 1) if the values are ordered, and 1 otherwise.
    """
    from scipy.optimize import linprog

    m = len(p)
    if m == 1:
        return 0.0
    cost = [abs(i - j) / (m - 1) if ordered else float(i != j) for i in range(m) for j in range(m)]
    leaves = [[float(i == here) for i in range(m) for j in range(m)] for here in range(m)]
    arrives = [[float(j == here) for i in range(m) for j in range(m)] for here in range(m)]
    return linprog(cost, A_eq=leaves + arrives, b_eq=[*p, *q]).fun


def shift(before, now, ordered):
    """The greatest change in the share of a category, or of a range without a lower end."""

    def missing(value):
        return value is None or value != value

    values = {value for value in before + now if not missing(value)}
    groups = [missing]
    for value in values:
        if ordered:
            groups.append(lambda each, value=value: missing(each) or each < value)
            groups.append(lambda each, value=value: missing(each) or each <= value)
        else:
            groups.append(lambda each, value=value: each == value)
    shares = [[sum(map(group, table)) / len(table) for group in groups] for table in (before, now)]
    return max(abs(a - b) for a, b in zip(*shares, strict=True))


def tightest_row(fit, combinations, chance):
    """Per record, the chance that a random fitting row of fewest combinations is the true one."""
    success = []
    for v in range(len(fit)):
        fewest = min(c for c, fits in zip(combinations, fit[v], strict=True) if fits)
        tight = [r for r, c in enumerate(combinations) if fit[v][r] and c == fewest]
        success.append(sum(chance[v][r] for r in tight) / len(tight))
    return success


def likeliest_matching(fit, sweeps):
    """The doubly stochastic matrix of maximal entropy inside `fit`; 0 for unmatchable pairs."""
    belief = matchable(fit).astype(float)
    belief /= belief.sum(axis=1, keepdims=True)
    for _ in range(sweeps):
        belief /= belief.sum(axis=0)
        belief /= belief.sum(axis=1, keepdims=True)
    return belief


def tell_apart(inside, outside):
    """The least number of rows by which an attacker tells both best, and the difference."""

    def difference(rows):
        one, other = (Fraction(sum(each >= rows for each in s), len(s)) for s in (inside, outside))
        return one - other

    rows = max(set(inside), key=lambda each: (difference(each), -each))
    assert difference(rows) == max(map(difference, range(max(inside + outside) + 2)))
    return rows, difference(rows)


def agree(a, b):
    """Test whether rows (column -> value) of two releases agree in all columns that both have."""
    return all(a[name] == b[name] for name in a.keys() & b.keys())


def rows_left(crowds):
    """Count the rows of each crowd that remain after repeated exclusion.

    Each release has one crowd: a list of rows (column -> value). A row is excluded if another
    release has no remaining row that agrees with it. This repeats until nothing changes.
    """
    left = [list(rows) for rows in crowds]
    while True:
        kept = [
            [
                a
                for a in rows
                if all(
                    any(agree(a, b) for b in other) for at, other in enumerate(left) if at != here
                )
            ]
            for here, rows in enumerate(left)
        ]
        if kept == left:
            return [len(rows) for rows in left]
        left = kept


def users_alike(releases):
    """Count for each user who is in the same releases and has equal rows in each of them.

    A release is a mapping of user -> row.
    """
    users = set().union(*releases)
    shown = {user: [release.get(user) for release in releases] for user in users}
    return {user: sum(shown[user] == shown[other] for other in users) for user in users}


def rows_jointly_left(crowds):
    """Count the rows of each crowd in choices, one row per release, that all agree."""
    whole = [
        choice
        for choice in itertools.product(*(range(len(rows)) for rows in crowds))
        if all(
            agree(crowds[i][choice[i]], crowds[j][choice[j]])
            for i, j in itertools.combinations(range(len(crowds)), 2)
        )
    ]
    return [len({choice[here] for choice in whole}) for here in range(len(crowds))]


def k_member(x, weights, least, links=None):
    """Groups of greedy k-member clustering (Byun et al.), as lists of records.

    The loss of a set of records is the weight of the features in which they differ. Of equal
    candidates the first is taken. `links`: what each record carries, its histories so far by value
    (None: it never had a row), how many it needs, and what a missing history costs.
    """
    value, ways, need, price = links or ([0] * len(x), [None] * len(x), [0] * len(x), 0)

    def loss(members):
        rows = x[members]
        return int(weights[(rows != rows[0]).any(axis=0)].sum())

    def lacks(v, members):
        if ways[v] is None:
            return 0
        return need[v] - sum(ways[v].get(value[u], 0) for u in members)

    def adds(group, v):
        return sum(
            min(lacks(m, group), ways[m].get(value[v], 0)) for m in group if lacks(m, group) > 0
        )

    def cost(group, v):
        short = lacks(v, [*group, v]) - max(0, least - len(group) - 1)
        more = (len(group) + 1) * (loss([*group, v]) - loss(group))
        return more + price * (max(0, short) - adds(group, v)), v

    left, groups, seed = list(range(len(x))), [], 0
    while len(left) >= least:
        seed = max(left, key=lambda v: (loss([seed, v]), -v))
        group = [seed]
        left.remove(seed)
        while len(group) < 2 * least:
            able = [v for v in left if len(group) < least or adds(group, v)]
            if not able:
                break
            group.append(min(able, key=lambda v: cost(group, v)))
            left.remove(group[-1])
        groups.append(group)
    kept = groups
    while True:
        stay = [[v for v in group if lacks(v, group) <= 0] for group in kept]
        stay = [group for group, before in zip(stay, kept, strict=True) if len(before) >= least]
        if stay == kept:
            break
        kept = stay
    if kept:
        left = [v for v in range(len(x)) if not any(v in group for group in kept)]
        groups = kept
    grown = [list(group) for group in groups]
    for v in left:
        # The loss of all rows of the group with v, less the loss of the group without v.
        added = [(len(g) + 1) * loss([*g, v]) - len(g) * loss(g) for g in grown]
        able = [lacks(v, [*g, v]) <= 0 for g in grown]
        best = min(range(len(grown)), key=lambda at: (not able[at], added[at]))
        groups[best].append(v)
    return groups


def shares(table, holders):
    """By record and row the shares that the record holds, its class's part, float64 (n, n).

    A class: equal levels and k, and one person where people own several records.
    """
    alike = (table.codes[:, :, None] == table.codes[:, None, :]).all(axis=0)
    for same in (table.k, table.person):
        if same is not None:
            alike &= same[:, None] == same[None]
    held = np.zeros((table.records, table.records))
    for row, records in enumerate(holders):
        for record in records:
            held[alike[record], row] += 1 / alike[record].sum()
    return held


def uniform(fit, seat, value):
    """Records whose fitting rows all show one value; fit bool (records, rows)."""
    shown = np.empty_like(value)
    shown[seat] = value
    return sum(len(set(shown[rows].tolist())) == 1 for rows in fit)


# ---------------------------------------------------------------- uncertain graphs


def reached(edges, start):
    """The vertices that a path of these edges joins to one."""
    found = {start}
    while True:
        more = {y for a, b in edges for x, y in ((a, b), (b, a)) if x in found} - found
        if not more:
            return found
        found |= more


def worlds(edges, p):
    """Each set of edges that may exist, with its probability."""
    for bits in itertools.product((False, True), repeat=len(edges)):
        chance = math.prod(q if bit else 1 - q for bit, q in zip(bits, p, strict=True))
        yield [e for e, bit in zip(edges, bits, strict=True) if bit], chance


def expected_connected(edges, p, n):
    """Expected number of connected pairs of n vertices, over all worlds."""
    return sum(
        chance * sum(b in reached(world, a) for a, b in itertools.combinations(range(n), 2))
        for world, chance in worlds(edges, p)
        if chance
    )


def relevances(edges, p, n):
    """What each edge adds to the expected connected pairs: certain less impossible."""
    return [
        expected_connected(edges, [*p[:e], 1, *p[e + 1 :]], n)
        - expected_connected(edges, [*p[:e], 0, *p[e + 1 :]], n)
        for e in range(len(edges))
    ]


def shortest_paths(edges, a, b):
    """All shortest paths from a to b, each as the set of its edges."""
    paths = [([a], frozenset())]
    seen = {a}
    while paths and not any(path[-1] == b for path, _ in paths):
        paths = [
            ([*path, y], used | {frozenset((path[-1], y))})
            for path, used in paths
            for e in edges
            for x, y in (e, e[::-1])
            if x == path[-1] and y not in seen
        ]
        seen |= {path[-1] for path, _ in paths}
    return [used for path, used in paths if path[-1] == b]


def edge_betweenness(edges, n):
    """Over all pairs of vertices, the share of their shortest paths that take each edge."""
    total = [0.0] * len(edges)
    for a, b in itertools.combinations(range(n), 2):
        paths = shortest_paths(edges, a, b)
        for at, edge in enumerate(edges):
            total[at] += sum(frozenset(edge) in used for used in paths) / max(1, len(paths))
    return total


def degree_discrepancy(edges, p, one, n, kept):
    """Sum over vertices of |degree among kept edges - expected degree|; p and result in `one`."""
    total = 0
    for v in range(n):
        own = [at for at, edge in enumerate(edges) if v in edge]
        total += abs(one * len(set(own) & set(kept)) - sum(p[at] for at in own))
    return total


def fractions(p, one):
    """Whole numbers as parts of `one`: sums of them are exact, so they can be rounded up."""
    return [Fraction(int(each), one) for each in p]


def degree_chances(edges, p, n):
    """Chance of each degree 0 .. n - 1 of each vertex, over all worlds."""
    chances = [[0] * n for _ in range(n)]
    for world, chance in worlds(edges, p):
        for v in range(n):
            chances[v][sum(v in edge for edge in world)] += chance
    return chances


def known_degree(chances, knowledge):
    """The degree that the adversary knows of a vertex with these chances of degrees, fractions."""
    if knowledge == "ceiling":
        return math.ceil(sum(i * chance for i, chance in enumerate(chances)))
    near = 1 - Fraction(1, 10**12)
    return next(i for i, chance in enumerate(chances) if chance >= near * max(chances))


def posterior(target, released, knowledge):
    """Y over released vertices of the adversary who knows the target's degree; all 0: none fits."""
    if knowledge == "distribution":
        fit = [sum(a * b for a, b in zip(target, other, strict=True)) for other in released]
    else:
        fit = [other[known_degree(target, knowledge)] for other in released]
    total = sum(fit)
    return [each / total if total else 0 for each in fit]


def vertices_with_shown_edge(source, released, near):
    """Vertices with an edge of both graphs, dicts of fractions, that differs by at most `near`."""
    both = source.keys() & released.keys()
    return {v for edge in both if abs(source[edge] - released[edge]) <= near for v in edge}


def vertices_of_known_edges(source, released, n):
    """Vertices with probabilities, of one edge or of all, that the release shows only of them."""
    values = list(released.values())
    one = (e for e, p in released.items() if source.get(e) == p and values.count(p) == 1)
    before, after = (
        [sorted(p for edge, p in graph.items() if v in edge) for v in range(n)]
        for graph in (source, released)
    )
    whole = (v for v in range(n) if before[v] == after[v] != [] and after.count(after[v]) == 1)
    return {v for edge in one for v in edge} | set(whole)


def chance_joined(source, released):
    """Chance that a released world's edge, each as likely, is one of a source world: all worlds."""
    edges = both = 0
    for shown, chance in worlds(list(released), list(released.values())):
        edges += chance * len(shown)
        for there, other in worlds(list(source), list(source.values())):
            both += chance * other * len(set(shown) & set(there))
    return both / edges if edges else 0


def entropy(chances):
    """Entropy in bits."""
    return -sum(chance * math.log2(chance) for chance in chances if chance)


def reliability(edges, p, a, b):
    """Chance that a path joins a and b, over all worlds."""
    return sum(chance for world, chance in worlds(edges, p) if b in reached(world, a))


def hops(edges, a, b):
    """Fewest edges on a path, -1 where there is none."""
    found, number = {a}, 0
    while b not in found:
        more = {y for e in edges for x, y in (e, e[::-1]) if x in found} - found
        if not more:
            return -1
        found, number = found | more, number + 1
    return number


def triangles_and_wedges(edges, p, n):
    """Expected triangles, and expected pairs of edges that share an end, over all worlds."""
    triangles = wedges = 0
    for world, chance in worlds(edges, p):
        joined = {frozenset(edge) for edge in world}
        triangles += chance * sum(
            all(frozenset(side) in joined for side in itertools.combinations(corners, 2))
            for corners in itertools.combinations(range(n), 3)
        )
        wedges += chance * sum(bool(e & f) for e, f in itertools.combinations(joined, 2))
    return triangles, wedges


# ---------------------------------------------------------------- sparse matrices


def smooth_rows(held, group):
    """Smooth k-anonymity: the items of each record's row, those that half of its group holds.

    held: the set of items of each record; group: its group's number.
    """
    rows = []
    for g in group:
        members = [items for items, other in zip(held, group, strict=True) if other == g]
        union = set().union(*members)
        rows.append({i for i in union if 2 * sum(i in items for items in members) >= len(members)})
    return rows


def triangles(edges):
    """All triangles (a, b, c), a < b < c, ascending; `edges` holds pairs (u, v), u < v."""
    vertices = sorted({end for edge in edges for end in edge})
    return [
        (a, b, c)
        for a, b, c in itertools.combinations(vertices, 3)
        if (a, b) in edges and (a, c) in edges and (b, c) in edges
    ]


def triangle_moments(chances):
    """Expectation and variance of the number of triangles, by enumeration of all worlds.

    `chances` holds a Fraction for each edge (u, v), u < v.
    """
    first = second = Fraction(0)
    for exist in itertools.product([False, True], repeat=len(chances)):
        world = {edge for edge, here in zip(chances, exist, strict=True) if here}
        chance = math.prod(p if edge in world else 1 - p for edge, p in chances.items())
        number = len(triangles(world))
        first += chance * number
        second += chance * number**2
    return first, second - first**2


def smooth_failures(source, rows, k):
    """Records with fewer equal rows than they demand; items that most with this row lack.

    `source` and `rows` hold the set of items of each record, and of its released row.
    """
    below = sum(sum(other == row for other in rows) < k[v] for v, row in enumerate(rows))
    minorities = 0
    for row in {frozenset(each) for each in rows}:
        members = [v for v, each in enumerate(rows) if each == row]
        minorities += sum(
            2 * sum(item in source[v] for v in members) < len(members) for item in row
        )
    return below, minorities


def jaccard(source, rows):
    """Jaccard similarity of the entries; suppressed and created ones, in entries of the source.

    1, 0, 0 where there are none.
    """
    given = {(v, item) for v, items in enumerate(source) for item in items}
    made = {(v, item) for v, items in enumerate(rows) for item in items}
    if not given | made:
        return 1.0, 0.0, 0.0
    n = max(1, len(given))
    return len(given & made) / len(given | made), len(given - made) / n, len(made - given) / n


def unanimous(source, rows):
    """Released entries whose item everybody with this row holds."""
    return sum(
        all(item in source[u] for u, other in enumerate(rows) if other == row)
        for row in rows
        for item in row
    )


def rows_with(known, rows):
    """Released rows that have all known items."""
    return sum(set(known) <= set(row) for row in rows)


# ---------------------------------------------------------------- series of releases


def perfect_matchings(fit):
    """Every way to give each record a row that fits it, each row once: tuples, row by record."""

    def rest(record, taken):
        if record == len(fit):
            yield ()
            return
        for row in np.flatnonzero(fit[record]):
            if row not in taken:
                for others in rest(record + 1, taken | {row}):
                    yield (int(row), *others)

    return list(rest(0, frozenset()))


def possible_rows(fit):
    """By record, the rows that some perfect matching gives to it."""
    matchings = perfect_matchings(fit)
    return [{matching[record] for matching in matchings} for record in range(len(fit))]


def is_crowd(fit, k, person):
    """Test whether each record may sit in rows of k people; row i is that of record i."""
    rows = possible_rows(fit)
    return all(len({person[row] for row in own}) >= need for own, need in zip(rows, k, strict=True))


def published_in(versions):
    """By key, the versions that hold the row. A row never changes, and never comes back."""
    held = {}
    for at, version in enumerate(versions):
        for key, row in version["rows"].items():
            spans = held.setdefault(key, [])
            assert not spans or (spans[-1] == at - 1 and versions[at - 1]["rows"][key] == row)
            spans.append(at)
    return held


def truths(versions):
    """By person, the row in each version, None where there is none."""
    people = set().union(*(version["owner"] for version in versions))
    return {
        person: tuple(version["owner"].get(person) for version in versions) for person in people
    }


def row_fits(versions, person, key, span):
    """Test whether a row allows what the person's values were in each of its versions."""
    cells = versions[span[0]]["rows"][key][0]
    known = [versions[at]["people"].get(person) for at in span]
    return all(
        values is not None and all(values[name] in allowed for name, allowed in cells.items())
        for values in known
    )


def spanning(spans, version, end):
    """Every way to give the versions from `version` on a row or none, each row all its versions."""
    if version == end:
        yield ()
        return
    for later in spanning(spans, version + 1, end):
        yield (None, *later)
    for key, span in spans.items():
        if span[0] == version:
            for later in spanning(spans, span[-1] + 1, end):
                yield (*[key] * len(span), *later)


def history_rows(versions, person, knows):
    """Rows that may be a person's, by what an attacker knows beside all quasi-identifiers.

    Someone who knows "everything" knows of everybody in which versions there was a row, and when
    it was issued anew. So rows and their owners of the same versions are matched among themselves.
    """
    held, true = published_in(versions), truths(versions)
    possible = {key: span for key, span in held.items() if row_fits(versions, person, key, span)}
    if knows != "everything":
        return possible
    found = {}
    for own in set(true[person]) - {None}:
        rows = [key for key, span in held.items() if span == held[own]]
        owners = [next(p for p, keys in true.items() if row in keys) for row in rows]
        fit = np.array([[row_fits(versions, p, r, held[r]) for r in rows] for p in owners])
        mine = matchable_rows(fit, owners.index(person))
        found |= {row: held[row] for row, may in zip(rows, mine, strict=True) if may}
    return found


def histories_of(versions, person, knows, constant=()):
    """All histories that may be a person's: a key or None for each version.

    versions: by version a dict of people (person -> values), rows (key -> (cells, carried)), and
    owner (person -> key). `knows`: "nothing" beside all quasi-identifiers; "always" that the person
    has a row in every version; "joined" in which version its first row was published; "everything"
    (see `history_rows`). Columns named `constant` carry the same value in all rows of a person.
    """
    own = truths(versions)[person]
    spans = history_rows(versions, person, knows)
    held = published_in(versions)
    first = next(at for at, key in enumerate(own) if key is not None)
    for history in spanning(spans, 0, len(versions)):
        keys = set(history) - {None}
        if not keys:
            continue
        carried = [versions[spans[key][0]]["rows"][key][1] for key in keys]
        if any(len({row[name] for row in carried}) > 1 for name in constant):
            continue
        if knows == "always" and None in history:
            continue
        if knows == "joined" and (any(history[:first]) or history[first] is None):
            continue
        if knows == "everything" and any(
            (mine is None) != (key is None) or (key is not None and held[key] != held[mine])
            for mine, key in zip(own, history, strict=True)
        ):
            continue
        yield history


def audit_series(versions, knows, constant=()):
    """By person: how many histories there are, and how many rows of each own version lie on one.

    Who knows that a person is in every version is right about some only; others are left out.
    """
    found = {}
    for person, own in truths(versions).items():
        if knows == "always" and None in own:
            continue
        number, rows = 0, [set() for _ in versions]
        for history in histories_of(versions, person, knows, constant):
            number += 1
            for at, key in enumerate(history):
                rows[at].add(key)
        found[person] = (
            number,
            [len(rows[at] - {None}) for at, key in enumerate(own) if key is not None],
        )
    return found


def series_worlds(versions, knows_cells):
    """Every way to give all rows to people: tuples of owners, in the order of `published_in`.

    Nobody has two rows in one version. With `knows_cells` everybody has rows in the own versions
    only, issued anew when their own were.
    """
    held, true = published_in(versions), truths(versions)
    everybody = sorted(set().union(*(version["people"] for version in versions)))
    shapes = {p: [held[key] for key in set(true.get(p, ())) - {None}] for p in everybody}

    def rest(rows, busy):
        if not rows:
            yield ()
            return
        key, span = rows[0]
        for person in everybody:
            if busy & {(person, at) for at in span} or not row_fits(versions, person, key, span):
                continue
            if knows_cells and span not in shapes[person]:
                continue
            for others in rest(rows[1:], busy | {(person, at) for at in span}):
                yield (person, *others)

    return list(rest(list(held.items()), frozenset()))
