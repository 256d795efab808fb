"""Plant one fault at a time in a copy of the project, and show that a test catches it.

    python -m tests.mutants [NAME ...]

Each mutant breaks one core promise. It is caught if the named tests fail; the program ends with 1
if a mutant survives, and with 2 if its line is gone or its tests fail without it.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from anon_core.build import hash_sources

ROOT = Path(__file__).parent.parent
CAUGHT, PASSED = 1, 0  # exit codes of pytest
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "*.egg-info", ".hypothesis", ".*_cache")


@dataclass(frozen=True)
class Mutant:
    """A fault: `line` of `file` becomes `fault`; `tests` must fail then."""

    name: str
    file: str
    line: str
    fault: str
    tests: str


CORRUPTIONS = "tests/flows/test_mutations.py"
NUMBERS = "tests/anon_core/tables/test_number_levels.py"
SECRECY = "tests/storage/vault/test_secret_streams.py"
STORAGE = "tests/storage/vault/test_vault.py"
CROWDS = "tests/anon_core/measures/table/test_crowds.py"
LAW = "tests/anon_core/measures/table/attackers/test_law.py"
NARROWING = "tests/anon_core/seating/test_narrowing.py"
OF_PEOPLE = "tests/anon_core/seating/test_people.py"
CORRUPTED = "tests/flows/test_corrupted_people.py"
SMOOTH = "tests/anon_core/anonymizers/test_smooth.py"
SMOOTHNESS = "tests/anon_core/measures/matrix/test_measures.py"
MATRIX = "tests/kinds/matrix/test_release.py"
MATRIX_CORRUPTIONS = "tests/kinds/matrix/test_corruptions.py"
OF_GRAPHS = "tests/kinds/graph/"
SERIES = "tests/anon_core/measures/test_series.py"
RETURNING = "tests/flows/test_series_returning.py"
WITHDRAWING = "tests/anon_core/series/test_withdrawing.py"
FLOORS = "tests/anon_core/tables/test_floors.py"
POINTS = "tests/storage/source/test_points.py"
SUBSETS = "tests/anon_core/measures/table/risks/test_subsets.py"
LADDERS = "tests/anon_core/tables/test_ladders.py"
TREES = "tests/anon_core/tables/test_trees.py"
NODES = "tests/kinds/table/judge/test_nodes.py"
COARSENING = "tests/kinds/table/pipeline/test_coarsening.py"
TREES_GOLDENS = "tests/anon_core/tables/test_trees_goldens.py"
HIERARCHIES = "tests/anon_core/specs/test_hierarchies.py"
SETTLED = "tests/anon_core/tables/test_settled.py"
OF_TRIANGLES = "tests/anon_core/measures/graph/triangles/"
VERIFYING = "tests/flows/test_verifying.py"
DESCRIBED = "tests/reports/catalogue/test_described.py"
FORGED = "tests/flows/test_forged.py"
TYPED = "tests/kinds/table/pipeline/test_native.py"
ANSWERS = "tests/crowdcover/reader/test_answers.py"
READING = "tests/crowdcover/reader/test_reading.py"
COMPLETING = "tests/crowdcover/reader/test_completing.py"
ESTIMATING = "tests/crowdcover/reader/test_estimating.py"
MEANS = "tests/crowdcover/reader/test_means.py"

MUTANTS = (
    Mutant(
        "compatible rows: one too few is enough",
        "anon_core/measures/table/crowds.py",
        "counted = self.compatible if self.people is None else self.people[:, 0]",
        "counted = self.compatible + 1 if self.people is None else self.people[:, 0]",
        CORRUPTIONS,
    ),
    Mutant(
        "matchable rows: compatible ones are counted",
        "anon_core/measures/table/crowds.py",
        "counted = self.matchable if self.people is None else self.people[:, 1]",
        "counted = self.compatible if self.people is None else self.people[:, 0]",
        CORRUPTIONS,
    ),
    Mutant(
        "people: the auditor counts rows",
        "anon_core/measures/table/crowds.py",
        "counted = self.compatible if self.people is None else self.people[:, 0]",
        "counted = self.compatible",
        "tests/anon_core/measures/table/test_crowds.py",
    ),
    Mutant(
        "people: the draw is not mended",
        "anon_core/seating/matching.py",
        "return reseat_people(table, masked.hidden, holders, seat, draw)",
        "return seat",
        "tests/anon_core/seating/test_people.py",
    ),
    Mutant(
        "even seats: the auditor passes chances above 1/k",
        "anon_core/measures/table/attackers/law.py",
        "of_person, above = likeliest, most * k[first] > size * shares",
        "of_person, above = likeliest, most * k[first] > 2 * size * shares",
        "tests/anon_core/measures/table/attackers/test_law.py",
    ),
    Mutant(
        "exchanges: anybody may take the last seat",
        "anon_core/seating/reseating_kernels.py",
        "if holders[cycle[0], share] == last:",
        "if holders[cycle[0], share] != last:",
        "tests/anon_core/seating/test_mixed.py",
    ),
    Mutant(
        "narrowing: a class may hold more than its part of a row",
        "anon_core/seating/exchanges/narrowing_kernels.py",
        "return there < parties.limit[d] and may_hold(r, q, d, parties)",
        "return may_hold(r, q, d, parties)",
        NARROWING,
    ),
    Mutant(
        "narrowing: exchanges that lose more are made",
        "anon_core/seating/exchanges/narrowing_kernels.py",
        "    if loss < gain:",
        "    if loss <= 2 * gain:",
        NARROWING,
    ),
    Mutant(
        "demands: k = 1 needs no permission",
        "kinds/table/plan/sections.py",
        "if 1 in self.demand.constant_levels and not self.allow_unprotected:",
        "if 0 in self.demand.constant_levels and not self.allow_unprotected:",
        "tests/flows/plan/test_plan.py",
    ),
    Mutant(
        "truth: a row is true if its last cell is",
        "anon_core/measures/table/crowds.py",
        "fits &= levels[cell[seat], code]",
        "fits = levels[cell[seat], code]",
        CORRUPTIONS,
    ),
    Mutant(
        "truth: kept values are compared with themselves",
        "kinds/table/judge/carried.py",
        "people.eq_missing(rows)",
        "people.eq_missing(people)",
        CORRUPTIONS,
    ),
    Mutant(
        "formats: they may differ",
        "kinds/judge/files.py",
        "same = all(each.digest == read[0].digest for each in other)",
        "same = bool(read)",
        "tests/flows/test_audit.py",
    ),
    Mutant(
        "formats: a CSV file may go on behind its rows",
        "kinds/judge/files.py",
        "return whole and not file.read(1)",
        "return whole",
        "tests/kinds/judge/test_files.py",
    ),
    Mutant(
        "files: pages of other bytes are the same",
        "kinds/judge/traces.py",
        "describe_chunk(content, chunk) == describe_chunk(written, other)",
        "describe_chunk(content, chunk) is not None",
        "tests/kinds/judge/test_traces.py",
    ),
    Mutant(
        "files: traces are no finding",
        "kinds/judge/files.py",
        "            not traced,\n",
        "            True,\n",
        CORRUPTIONS,
    ),
    Mutant(
        "limits: 1 % below is at least the limit",
        "anon_core/measures/requirements.py",
        "return found >= required - _compute_slack(required)",
        "return found >= required - 0.01",
        "tests/anon_core/measures/test_requirements.py",
    ),
    Mutant(
        "expectations: one bad row is none",
        "validations/expectations.py",
        '"success": rows == 0',
        '"success": rows <= 1',
        "tests/validations/test_expectations.py",
    ),
    Mutant(
        "maker: crowds of k - 1",
        "anon_core/anonymizers/adaptive/grouping.py",
        "self.b = table.k - np.int32(1)",
        "self.b = np.maximum(table.k - np.int32(2), 0)",
        "tests/anon_core/anonymizers/test_adaptive.py",
    ),
    Mutant(
        "seats: who takes a seat is no secret",
        "anon_core/seating/matching.py",
        'order = np.argsort(draw(2 * len(kind)).view(np.uint64), kind="stable")',
        "order = np.arange(len(kind))",
        "tests/anon_core/seating/test_matching.py",
    ),
    Mutant(
        "keys: in the order of the rows",
        "storage/vault/secret_streams.py",
        'return np.frombuffer(numbers.astype(">u8").tobytes()',
        'return np.frombuffer(np.sort(numbers).astype(">u8").tobytes()',
        SECRECY,
    ),
    Mutant(
        "order: ties follow the source",
        "storage/vault/secret_streams.py",
        'return np.argsort(draws, kind="stable")',
        "return np.arange(size)",
        SECRECY,
    ),
    Mutant(
        "vault: files are not hashed again",
        "storage/vault/files.py",
        "(folder / name).is_file() and file_sha256(folder / name) == sha",
        "(folder / name).is_file()",
        STORAGE,
    ),
    Mutant(
        "vault: stages enter an encrypted vault as they are",
        "storage/vault/files.py",
        "            _copy_stream(source, target, recipient)\n    flush_folder(folder)",
        "            _copy_stream(source, target, None)\n    flush_folder(folder)",
        "tests/flows/test_encrypted.py",
    ),
    Mutant(
        "vault: records of an encrypted vault stay plain",
        "storage/vault/files.py",
        "        _copy_stream(io.BytesIO(content), handle, recipient)",
        "        handle.write(content)",
        "tests/flows/test_encrypted.py",
    ),
    Mutant(
        "vault: a run with a release is pruned",
        "storage/upkeep/prune.py",
        "needed = bool(run.ever_visible() or",
        "needed = bool(",
        "tests/flows/test_vaults.py",
    ),
    Mutant(
        "vault: a backup takes a folder that was made again",
        "storage/upkeep/backup.py",
        "            if not os.path.samestat(stood, os.stat(source)):",
        "            if False:",
        "tests/flows/test_vaults.py",
    ),
    Mutant(
        "vault: folders go file by file",
        "storage/vault/files.py",
        "        os.rename(folder, aside)",
        "        shutil.rmtree(folder)",
        "tests/flows/test_vaults.py",
    ),
    Mutant(
        "vault: a backup is restored unread",
        "storage/upkeep/archive.py",
        'if _copy_member(archive, member, into) != stated["sha256"]:',
        "if not _copy_member(archive, member, into):",
        "tests/flows/test_vaults.py",
    ),
    Mutant(
        "failures: the message of a library is shown",
        "storage/vault/failures.py",
        "stage {stage} failed with {name}",
        "stage {stage} failed with {error}",
        STORAGE,
    ),
    Mutant(
        "ledger: people of another table are not known",
        "storage/ledger/admission.py",
        "    if not overlaps:\n",
        "    if not any(overlap.same_source for overlap in overlaps):\n",
        "tests/flows/test_second.py",
    ),
    Mutant(
        "approval: one of other rows is as good",
        "storage/approval/approval.py",
        "last is not None and last.question.same(question) and not last.ended",
        "last is not None and not last.ended",
        "tests/storage/approval/test_approval.py",
    ),
    Mutant(
        "signatures: any key is that of the person",
        "storage/approval/decision_rules.py",
        "    if known != decision.key:\n",
        "    if not known:\n",
        "tests/storage/approval/test_statement.py",
    ),
    Mutant(
        "signatures: the note is not signed",
        "storage/approval/statement.py",
        '        "note": decision.note,\n',
        "",
        "tests/storage/approval/test_statement.py",
    ),
    Mutant(
        "signatures: who asked may approve",
        "storage/approval/decision_rules.py",
        "    names = (decision.identity, decision.in_place_of)\n",
        "    names = (decision.in_place_of,)\n",
        "tests/storage/approval/test_statement.py",
    ),
    Mutant(
        "several people: one person counts twice",
        "storage/approval/decision_rules.py",
        "    if any(is_of_same_person(decision, each) for each in earlier):\n",
        "    if any(decision == each for each in earlier):\n",
        "tests/storage/approval/test_several.py",
    ),
    Mutant(
        "several people: the audit takes one for two",
        "storage/approval/decision_rules.py",
        "    if len(stated) < rules.approvals:\n",
        "    if len(stated) < 1:\n",
        "tests/storage/approval/test_several.py",
    ),
    Mutant(
        "several people: the place of a deputy is not signed",
        "storage/approval/statement.py",
        '    place = {"in_place_of": decision.in_place_of} if decision.in_place_of else {}\n',
        "    place: dict[str, str] = {}\n",
        "tests/storage/approval/test_several.py",
    ),
    Mutant(
        "sign-in: what was stated for one run fits another",
        "storage/approval/sign_in.py",
        '"what": SIGN_IN, "flow_run": flow_run, ',
        '"what": SIGN_IN, ',
        "tests/storage/approval/test_several.py",
    ),
    Mutant(
        "drift of what is shown: a masked cell holds all that it allows",
        "anon_core/measures/table/shown_drift.py",
        "least, greatest = rows @ only, rows @ levels",
        "least, greatest = rows @ levels, rows @ levels",
        "tests/anon_core/measures/table/test_shown_drift.py",
    ),
    Mutant(
        "levels of groups: one person fewer is enough",
        "anon_core/tables/number_levels.py",
        "if held.with_next() >= least and",
        "if held.with_next() >= least - 1 and",
        NUMBERS,
    ),
    Mutant(
        "levels of groups: a bound is anybody's number",
        "anon_core/tables/number_levels.py",
        "return bool(distinct[at] != number or holding[at] >= least)",
        "return bool(distinct[at] != number or holding[at] >= 1)",
        NUMBERS,
    ),
    Mutant(
        "levels of groups: the auditor passes the number of two people",
        "anon_core/measures/table/codebook/shared.py",
        "own = sum(0 < number < least for number in holders)",
        "own = sum(2 < number < least for number in holders)",
        NUMBERS,
    ),
    Mutant(
        "levels of groups: the auditor passes groups of few people",
        "anon_core/measures/table/codebook/shared.py",
        "few=sum(number < least for number in people)",
        "few=0",
        NUMBERS,
    ),
    Mutant(
        "people: who sits in two rows counts twice",
        "anon_core/measures/table/people_kernels.py",
        "fresh = seen[side, person[at]] != record",
        "fresh = True",
        CROWDS,
    ),
    Mutant(
        "people: matchable rows are those of any component",
        "anon_core/measures/table/people_kernels.py",
        "if side == 1 and component[row] != record_component[record]:",
        "if side == 2 and component[row] != record_component[record]:",
        CROWDS,
    ),
    Mutant(
        "ledger: of many people only the first count",
        "storage/ledger/entered.py",
        'b"".join(parts[at] for at in sorted(parts))',
        "parts[1]",
        "tests/storage/ledger/test_ledger.py",
    ),
    Mutant(
        "ledger: builds that know no parts go on",
        "storage/ledger/entered.py",
        'SCHEMA, SCHEMA_WITH_PARTS = "1", "2"',
        'SCHEMA, SCHEMA_WITH_PARTS = "1", "1"',
        "tests/storage/ledger/test_ledger.py",
    ),
    Mutant(
        "people: the auditor's law counts record by record",
        "anon_core/measures/table/attackers/law.py",
        "of_person, above = together / shares, above | (together * k[first] > shares)",
        "of_person = together / shares",
        CORRUPTED,
    ),
    Mutant(
        "people: k differs among the records of a person",
        "anon_core/tables/demands.py",
        "return replace(table, k=greatest[person], person=person)",
        "return replace(table, person=person)",
        OF_PEOPLE,
    ),
    Mutant(
        "people: shares of one person's records are not counted together",
        "anon_core/seating/record_classes.py",
        "party = np.unique(person[first], return_inverse=True)[1]",
        "pass",
        OF_PEOPLE,
    ),
    Mutant(
        "people: parts of a table number them as the whole does",
        "anon_core/seating/record_classes.py",
        "party = np.unique(person[first], return_inverse=True)[1]",
        "party = person[first].astype(np.int64)",
        OF_PEOPLE,
    ),
    Mutant(
        "people: rows of which a class holds some are looked at apart",
        "anon_core/seating/reseating.py",
        "label_components(holders, first.astype(np.int32)[of], label)",
        "label_components(holders, np.arange(len(of), dtype=np.int32), label)",
        OF_PEOPLE,
    ),
    Mutant(
        "people: exchanges bring them home",
        "anon_core/seating/reseating_kernels.py",
        "if came > seats.homeward[0]:",
        "if came > len(seats.seat):",
        OF_PEOPLE,
    ),
    Mutant(
        "even seats: the auditor passes rows that a holder does not fit",
        "anon_core/measures/table/attackers/law.py",
        "unfit += int((~fits_own_row(codes[:, first[of]], released, row)).sum())",
        "unfit += 0",
        LAW,
    ),
    Mutant(
        "even seats: the auditor passes chances that do not sum to 1",
        "anon_core/measures/table/attackers/law.py",
        "uneven=int(size[total != size * shares].sum()),",
        "uneven=0,",
        LAW,
    ),
    Mutant(
        "even seats: a record may hold more than its part of a row",
        "anon_core/seating/record_classes.py",
        "return shares // self.k * (1 if self.people else self.size)",
        "return shares // self.k * (1 if self.people else self.size) + 1",
        "tests/anon_core/seating/test_even.py",
    ),
    Mutant(
        "even seats: the halving favours one matching",
        "anon_core/seating/halving_kernels.py",
        "coin = (coins[first >> 5] >> np.uint32(first & 31)) & np.uint32(1)",
        "coin = np.uint32(1)",
        "tests/anon_core/seating/test_even.py",
    ),
    Mutant(
        "even seats: the draw never leaves its first matching",
        "anon_core/seating/matching.py",
        "if _draw_below(shares * (whole + rest), draw) < SHARE:",
        "if _draw_below(shares * (whole + rest), draw) >= 0:",
        "tests/anon_core/seating/test_even.py",
    ),
    Mutant(
        "levels of groups: records are counted, not people",
        "anon_core/tables/number_levels.py",
        "        pairs = np.unique(np.stack([level, persons]), axis=1)\n",
        "        pairs = np.stack([level, persons])\n",
        NUMBERS,
    ),
    Mutant(
        "levels of groups: the auditor counts records, not people",
        "anon_core/measures/table/codebook/shared.py",
        "who = None if persons is None else persons[given][rising]",
        "who = None",
        NUMBERS,
    ),
    Mutant(
        "drift: the number of rows may change",
        "kinds/judge/drift.py",
        "if not is_at_most(change, limits.rows):",
        "if not is_at_most(change, 1.0):",
        "tests/kinds/judge/test_drift.py",
    ),
    Mutant(
        "smooth: exactly half of a group is no majority",
        "anon_core/anonymizers/smooth/counts_kernels.py",
        ">= size:\n                kept[place] = counts.item[at]",
        "> size + 1:\n                kept[place] = counts.item[at]",
        SMOOTH,
    ),
    Mutant(
        "smooth: groups of k - 1 need not dissolve",
        "anon_core/anonymizers/smooth/sweeps.py",
        "small = size < need",
        "small = size < need - 1",
        SMOOTH,
    ),
    Mutant(
        "smooth: a record may leave a group of k",
        "anon_core/anonymizers/smooth/sweeps_kernels.py",
        "if member != v and rows.k[member] >= groups.size[a]:",
        "if member != v and rows.k[member] > groups.size[a]:",
        SMOOTH,
    ),
    Mutant(
        "smooth: annealing swaps records into groups below their k",
        "anon_core/anonymizers/smooth/annealing_kernels.py",
        "fits = rows.k[w] <= groups.size[a] and rows.k[v] <= groups.size[b]",
        "fits = True",
        SMOOTH,
    ),
    Mutant(
        "smooth: blocks of k - 1 records",
        "anon_core/anonymizers/smooth/blocks.py",
        "if records[begin:end].sum() >= most[begin:end].max():",
        "if records[begin:end].sum() + 1 >= most[begin:end].max():",
        "tests/anon_core/anonymizers/test_smooth_blocks.py",
    ),
    Mutant(
        "smooth: small facilities close one by one",
        "anon_core/anonymizers/smooth/facility_kernels.py",
        "            return\n        open_ &= ~closing\n",
        "            return\n        closing[np.argmax(closing) + 1 :] = False\n"
        "        open_ &= ~closing\n",
        SMOOTH,
    ),
    Mutant(
        "matrix: the auditor passes items that most of a class lack",
        "anon_core/measures/matrix/smoothness.py",
        "np.count_nonzero(2 * self.holders < self.members)",
        "np.count_nonzero(2 * self.holders < self.members - 1)",
        SMOOTHNESS,
    ),
    Mutant(
        "matrix: the auditor passes classes of k - 1",
        "kinds/matrix/judge/measured.py",
        "np.count_nonzero(self.size_of < self.k)",
        "np.count_nonzero(self.size_of < self.k - 1)",
        MATRIX_CORRUPTIONS,
    ),
    Mutant(
        "matrix: empty rows may be dropped",
        "kinds/judge/seats.py",
        "rows.height == records == distinct",
        "rows.height == distinct",
        MATRIX_CORRUPTIONS,
    ),
    Mutant(
        "matrix: two records may have one row",
        "kinds/judge/seats.py",
        "homeless + doubled == 0",
        "homeless == 0",
        MATRIX_CORRUPTIONS,
    ),
    Mutant(
        "matrix: users who hold nothing have no row",
        "kinds/matrix/pipeline/read.py",
        'else pairs["user"]).unique(maintain_order=True)',
        'else pairs.drop_nulls()["user"]).unique(maintain_order=True)',
        MATRIX,
    ),
    Mutant(
        "matrix: rows in the order of their classes",
        "kinds/matrix/pipeline/write.py",
        "order = np.argsort(keys)",
        'order = np.argsort(made.group, kind="stable")',
        MATRIX,
    ),
    Mutant(
        "matrix: people as items are named",
        "kinds/matrix/pipeline/write.py",
        "        labels = sorted(texts.to_list())\n",
        "",
        MATRIX,
    ),
    Mutant(
        "matrix: users who are alike in one release are enough",
        "anon_core/measures/matrix/intersection.py",
        "pair = label * (classes.max(initial=-1) + 2) + classes + 1",
        "pair = classes + 1",
        SMOOTHNESS,
    ),
    Mutant(
        "matrix: only the new release's k counts beside others",
        "kinds/matrix/pipeline/overlap.py",
        "for side, at, shown in both]).max(axis=0)",
        "for side, at, shown in both])[0]",
        "tests/kinds/matrix/test_second.py",
    ),
    Mutant(
        "matrix: false entries are not counted",
        "anon_core/measures/matrix/smoothness.py",
        "return int(self.members.sum()) - self.true_entries",
        "return int(self.members.sum()) - int(self.members.sum())",
        SMOOTHNESS,
    ),
    Mutant(
        "matrix: false entries make up for missing ones",
        "anon_core/measures/matrix/smoothness.py",
        "return self.entries - self.true_entries",
        "return self.entries - int(self.members.sum())",
        SMOOTHNESS,
    ),
    Mutant(
        "matrix: the similarity does not count false entries",
        "anon_core/measures/matrix/smoothness.py",
        "either = self.entries + self.false_entries",
        "either = self.entries",
        SMOOTHNESS,
    ),
    Mutant(
        "matrix: a linkage counts classes, not rows",
        "anon_core/measures/matrix/linkage.py",
        "return int(self.sizes[found].sum())",
        "return len(found)",
        SMOOTHNESS,
    ),
    Mutant(
        "graph: one vertex more may be below its k",
        "kinds/graph/judge/audit.py",
        "return Finding(_OBFUSCATED, below <= exempt,",
        "return Finding(_OBFUSCATED, below <= exempt + 1,",
        OF_GRAPHS + "test_naive_auditor.py",
    ),
    Mutant(
        "graph: the makers round eps n by float64",
        "kinds/graph/pipeline/encode.py",
        "int(plan.eps * len(k))",
        "int(float(plan.eps) * len(k))",
        OF_GRAPHS + "test_release.py",
    ),
    Mutant(
        "graph: a union of two directions is the greater",
        "kinds/graph/pipeline/edges.py",
        "return ONE - ((ONE - p) * (ONE - q) + ONE // 2) // ONE",
        "return np.maximum(p, q)",
        OF_GRAPHS + "test_sources.py",
    ),
    Mutant(
        "graph: keys in the order of the source",
        "kinds/graph/pipeline/write.py",
        'keys = secret_streams.distinct_keys(seed, "keys", n)',
        'keys = np.sort(secret_streams.distinct_keys(seed, "keys", n))',
        OF_GRAPHS + "test_release.py",
    ),
    Mutant(
        "graph: the auditor takes any order of keys",
        "kinds/graph/judge/released.py",
        "hits < BEYOND_CHANCE,",
        "hits >= 0,",
        OF_GRAPHS + "test_corruptions.py",
    ),
    Mutant(
        "graph: keys of strangers are no fault",
        "kinds/graph/judge/released.py",
        "strangers == 0,",
        "strangers >= 0,",
        OF_GRAPHS + "test_corruptions.py",
    ),
    Mutant(
        "series: the auditor counts compatible rows of a cell",
        "anon_core/measures/series.py",
        "same = part[record] == part[owner]",
        "same = part[record] >= 0",
        SERIES,
    ),
    Mutant(
        "series: the auditor passes seats that do not fit",
        "anon_core/measures/series.py",
        "    wrong |= np.bincount(record[owner == record], minlength=n) == 0",
        "",
        SERIES,
    ),
    Mutant(
        "series: a history may change its value",
        "anon_core/measures/series.py",
        "kind = kind[_number_seats(cells)]",
        "kind = kind",
        SERIES,
    ),
    Mutant(
        "series: stayers may fall short",
        "anon_core/series/withdrawing.py",
        "            if not len(short):",
        "            if not len(short) or True:",
        WITHDRAWING,
    ),
    Mutant(
        "series: those who go may fall apart",
        "anon_core/series/withdrawing.py",
        "            if not len(wanting):",
        "            if not len(wanting) or True:",
        WITHDRAWING,
    ),
    Mutant(
        "series: a person's other records stay",
        "anon_core/series/withdrawing.py",
        "of = np.arange(n) if person is None else np.unique(person, return_inverse=True)[1]",
        "of = np.arange(n)",
        WITHDRAWING,
    ),
    Mutant(
        "series: stayers may keep too few histories",
        "anon_core/series/withdrawing.py",
        "short = (counted < self.cell.k) | (ways < self.cell.least)",
        "short = counted < self.cell.k",
        WITHDRAWING,
    ),
    Mutant(
        "series: who comes back is somebody new to the auditor",
        "kinds/table/judge/versions.py",
        "digests.alias(RECORD_DIGEST), number.alias(CHAIN), number.alias(PERSON)",
        "digests.alias(RECORD_DIGEST)",
        RETURNING,
    ),
    Mutant(
        "series: who comes back is somebody new to the maker",
        "kinds/table/series/earlier.py",
        "return self.rows.select(CHAIN, RECORD_DIGEST)",
        "return self.members.select(CHAIN, RECORD_DIGEST)",
        RETURNING,
    ),
    Mutant(
        "series: groups leave members without histories",
        "anon_core/anonymizers/k_member.py",
        "out = (left >= 0) & ((told < need) | (size[left] < least))",
        "out = (left >= 0) & (size[left] < least)",
        "tests/anon_core/anonymizers/test_k_member.py",
    ),
    Mutant(
        "triangles: a list is left with its first triangles unwritten",
        "anon_core/measures/graph/triangles/counting_kernels.py",
        "cursor[0], cursor[1], full = x, i, True",
        "cursor[0], cursor[1], full = x, i + 1, True",
        OF_TRIANGLES + "test_ordering.py",
    ),
    Mutant(
        "triangles: a pivot message leaves the buffer one use early",
        "anon_core/measures/graph/triangles/reducing_kernels.py",
        "left = uses_in(listed, bucket, schedule) - 1",
        "left = uses_in(listed, bucket, schedule) - 2",
        OF_TRIANGLES + "test_mapreduce.py",
    ),
    Mutant(
        "triangles: pairs that share an edge do not vary together",
        "anon_core/measures/graph/triangles/expected_kernels.py",
        "pairs[e] += others * before[e]",
        "pairs[e] += 0 * others * before[e]",
        OF_TRIANGLES + "test_expected.py",
    ),
    Mutant(
        "folders: the signature may be of another statement",
        "storage/approval/attestation.py",
        "    if not is_valid_signature(signed.key, made, _encode_pre_authentication(payload)):",
        "    if not is_valid_signature(signed.key, made, _encode_pre_authentication(payload)) and "
        "not signed.files:",
        VERIFYING,
    ),
    Mutant(
        "folders: the envelope may be written in any way",
        "storage/approval/attestation.py",
        "        same = content == _format_envelope(payload, named, made)",
        "        same = True",
        VERIFYING,
    ),
    Mutant(
        "folders: the statement may be written in any way",
        "storage/approval/attestation.py",
        "    if _build_payload(name, version, files) != payload:",
        "    if not files:",
        VERIFYING,
    ),
    Mutant(
        "folders: the type of the statement is not signed",
        "storage/approval/attestation.py",
        '    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)',
        '    return b"DSSEv1 %d %s %d %s" % (0, b"", len(payload), payload)',
        VERIFYING,
    ),
    Mutant(
        "folders: a link is a file",
        "storage/approval/attestation.py",
        "if path.is_symlink() or not path.is_file())",
        "if not path.is_file())",
        VERIFYING,
    ),
    Mutant(
        "folders: files may be added",
        "flows/look/signatures.py",
        '("too many", more)',
        '("too many", [])',
        VERIFYING,
    ),
    Mutant(
        "folders: files may be missing",
        "flows/look/signatures.py",
        '("missing", lost)',
        '("missing", [])',
        VERIFYING,
    ),
    Mutant(
        "folders: files may change",
        "flows/look/signatures.py",
        '(("changed", changed)',
        '(("changed", [])',
        VERIFYING,
    ),
    Mutant(
        "folders: a signature is of any version",
        "flows/look/signatures.py",
        'same = (manifest.get("name"), manifest.get("version")) == (name, version)',
        'same = manifest.get("name") == name',
        VERIFYING,
    ),
    Mutant(
        "folders: nobody took it back",
        "flows/look/signatures.py",
        "    if any(path.name == NOTICE for path in folder.iterdir()):\n",
        "    if not any(folder.iterdir()):\n",
        VERIFYING,
    ),
    Mutant(
        "folders: bytes beside the rows are verified",
        "flows/look/signatures.py",
        "        check_file_forms(folder, kind.files, kind.codebook),\n",
        "",
        VERIFYING,
    ),
    Mutant(
        "folders: another catalogue is verified",
        "flows/look/signatures.py",
        "        *catalogue_finding(folder, kind, manifest),\n",
        "",
        VERIFYING,
    ),
    Mutant(
        "folders: without a key nothing is compared",
        "flows/look/signatures.py",
        "        return {**claimed, MANIFEST: hash_released_file(folder / MANIFEST)}",
        "        return {**claimed, **hash_folder_files(folder)}",
        VERIFYING,
    ),
    Mutant(
        "folders: the audit takes any signature",
        "flows/look/audit.py",
        'Finding("signature as published", found in made,',
        'Finding("signature as published", bool(made),',
        VERIFYING,
    ),
    Mutant(
        "folders: the audit reads what a link names",
        "flows/look/audit.py",
        "        if odd := list_stray_names(folder):",
        "        if odd := list_stray_names(folder)[:0]:",
        FORGED,
    ),
    Mutant(
        "folders: any key may stand in a manifest",
        "kinds/judge/forms.py",
        "    if not found and (unknown := ",
        "    if found and (unknown := ",
        FORGED,
    ),
    Mutant(
        "folders: a key may stand in a manifest twice",
        "kinds/judge/forms.py",
        '    found = list(_check_document_form(folder / MANIFEST, "manifest"))\n',
        "    found: list[str] = []\n",
        FORGED,
    ),
    Mutant(
        "catalogue: whole numbers are numbers",
        "kinds/catalogued.py",
        '        found = "integer"',
        '        found = "number"',
        DESCRIBED,
    ),
    Mutant(
        "catalogue: lists are texts",
        "kinds/catalogued.py",
        '        found = "array"',
        '        found = "string"',
        DESCRIBED,
    ),
    Mutant(
        "catalogue: CSV files hold lists",
        "kinds/catalogued.py",
        'return "string" if form == _CSV and found in AS_TEXT else found',
        "return found",
        DESCRIBED,
    ),
    Mutant(
        "catalogue: masked columns are kept ones",
        "kinds/table/report/catalogued.py",
        "about = roles[role]",
        'role, about = "keep", roles["keep"]',
        DESCRIBED,
    ),
    Mutant(
        "catalogue: one hash for all files",
        "kinds/catalogued.py",
        "Entry((folder / name).stat().st_size, hash_released_file(folder / name))\n",
        "Entry((folder / name).stat().st_size, hash_released_file(folder / REPORT))\n",
        DESCRIBED,
    ),
    Mutant(
        "catalogue: sizes are one byte off",
        "kinds/catalogued.py",
        "Entry((folder / name).stat().st_size, hash_released_file",
        "Entry((folder / name).stat().st_size + 1, hash_released_file",
        DESCRIBED,
    ),
    Mutant(
        "catalogue: the data package leaves files out",
        "reports/catalogue/datapackage.py",
        '"resources": [*tables, *others]',
        '"resources": [*tables]',
        DESCRIBED,
    ),
    Mutant(
        "catalogue: Croissant leaves a file out",
        "reports/catalogue/croissant.py",
        "[_describe_file(release, name) for name in release.entries]",
        "[_describe_file(release, name) for name in list(release.entries)[1:]]",
        DESCRIBED,
    ),
    Mutant(
        "catalogue: rows have no key",
        "kinds/table/report/catalogued.py",
        "    return listed, [KEY]",
        "    return listed, []",
        DESCRIBED,
    ),
    Mutant(
        "catalogue: another description passes",
        "flows/look/documents.py",
        'return [Finding("catalogue", not differ, detail)]',
        'return [Finding("catalogue", True, detail)]',
        FORGED,
    ),
    Mutant(
        "typed cells: an interval ends where its last level begins",
        "kinds/table/pipeline/native.py",
        "return {LO: bounds[max(first, 0)][0], HI: bounds[last][1], ABSENT: absent}",
        "return {LO: bounds[max(first, 0)][0], HI: bounds[last][0], ABSENT: absent}",
        TYPED,
    ),
    Mutant(
        "typed cells: the edge is in the group above",
        "anon_core/tables/bounds.py",
        "    return floor(edge) + 1",
        "    return floor(edge)",
        TYPED,
    ),
    Mutant(
        "typed cells: lower bounds of real numbers are included",
        "anon_core/tables/bounds.py",
        "    return attribute.binned and not whole",
        "    return False",
        TYPED,
    ),
    Mutant(
        "typed cells: perhaps missing is given",
        "kinds/table/pipeline/native.py",
        "    absent = None if first < 0 else False",
        "    absent = False",
        TYPED,
    ),
    Mutant(
        "typed cells: missing is unknown",
        "kinds/table/pipeline/native.py",
        "        return {LO: None, HI: None, ABSENT: True}",
        "        return {LO: None, HI: None, ABSENT: None}",
        TYPED,
    ),
    Mutant(
        "typed cells: a set loses its last member",
        "kinds/table/pipeline/native.py",
        '.agg("name")',
        '.agg(pl.col("name").head((pl.len() - 1).clip(1)))',
        TYPED,
    ),
    Mutant(
        "typed cells: members in any order",
        "anon_core/measures/table/codebook/native.py",
        "all(low < high for low, high in pairwise(levels))",
        "all(low != high for low, high in pairwise(levels))",
        TYPED,
    ),
    Mutant(
        "typed cells: a member twice",
        "anon_core/measures/table/codebook/native.py",
        "all(low < high for low, high in pairwise(levels))",
        "all(low <= high for low, high in pairwise(levels))",
        TYPED,
    ),
    Mutant(
        "typed cells: the auditor takes every level for unknown",
        "anon_core/measures/table/codebook/native.py",
        "        return None  # every level: the cell is None",
        "        return ALL",
        TYPED,
    ),
    Mutant(
        "typed cells: the auditor takes a missing value with bounds",
        "anon_core/measures/table/codebook/native.py",
        "return [0] if shift and low is None and high is None else []",
        "return [0] if shift else []",
        TYPED,
    ),
    Mutant(
        "reader: what may be missing is given",
        "crowdcover/reader/coded/natives.py",
        'if cell["missing"] is not False:',
        'if cell["missing"] is True:',
        READING,
    ),
    Mutant(
        "reader: an unknown cell is refused",
        "crowdcover/reader/coded/natives.py",
        "            masks[row] = True\n",
        "            masks[row] = False\n",
        READING,
    ),
    Mutant(
        "reader: an interval ends one level early",
        "crowdcover/reader/coded/natives.py",
        "mask[first : last + 1] = True",
        "mask[first : max(last, first + 1)] = True",
        READING,
    ),
    Mutant(
        "reader: lower bounds are included",
        "crowdcover/reader/coded/levels.py",
        'return lo, hi, np.isfinite(lo) & (lo < hi) & (entry["lower"] == "excluded")',
        "return lo, hi, np.zeros(len(lo), dtype=np.bool_)",
        READING,
    ),
    Mutant(
        "reader: changed files are read",
        "crowdcover/reader/reading.py",
        "    if hashlib.sha256(content).hexdigest() != stated:",
        "    if not stated:",
        READING,
    ),
    Mutant(
        "reader: certain rows are those that may be",
        "crowdcover/reader/answers/estimates.py",
        "    certain = column.cells.total(levels.certain) > column.cells.sizes - 0.5",
        "    certain = column.cells.total(levels.possible) > 0.5",
        ANSWERS,
    ),
    Mutant(
        "reader: possible rows are those that are certain",
        "crowdcover/reader/answers/estimates.py",
        "    possible = column.cells.total(levels.possible) > 0.5",
        "    possible = column.cells.total(levels.certain) > column.cells.sizes - 0.5",
        ANSWERS,
    ),
    Mutant(
        "reader: certain and possible change places",
        "crowdcover/reader/answers/estimates.py",
        "    return Count(sure, most, expected, error, drawn)",
        "    return Count(most, sure, expected, error, drawn)",
        ANSWERS,
    ),
    Mutant(
        "reader: rows with values are not counted apart",
        "crowdcover/reader/answers/means.py",
        "        if number and ends[cell] >= total / number:",
        "        if number and ends[cell] < total / number:",
        ANSWERS,
    ),
    Mutant(
        "reader: errors leave out what is not known of weights",
        "crowdcover/reader/answers/estimates.py",
        "    error = hypot(drawn, expected - float((people * beside).sum()))",
        "    error = drawn",
        ANSWERS,
    ),
    Mutant(
        "reader: people behind a row hold nothing",
        "crowdcover/reader/answers/weights.py",
        "np.minimum(1.0, _HELD * np.bincount(cell, minlength=cells) / max(1.0, k))",
        "np.minimum(0.0, np.bincount(cell, minlength=cells) / max(1.0, k))",
        ANSWERS,
    ),
    Mutant(
        "reader: weights are shares",
        "crowdcover/reader/answers/weights.py",
        "level = run_em_steps(replace(even, anchored=anchored), 1) ** EVENED",
        "level = run_em_steps(replace(even, anchored=anchored), 1)",
        ANSWERS,
    ),
    Mutant(
        "reader: weights are those of two steps",
        "crowdcover/reader/answers/weights.py",
        "level = run_em_steps(replace(even, anchored=anchored), 1) ** EVENED",
        "level = run_em_steps(replace(even, anchored=anchored), 2) ** EVENED",
        ANSWERS,
    ),
    Mutant(
        "reader: crowd weights are even ones",
        "crowdcover/reader/answers/weights.py",
        'return crowd if estimator == "crowd" else',
        'return crowd if estimator != "crowd" else',
        ANSWERS,
    ),
    Mutant(
        "reader: draws leave the ends of cells out",
        "crowdcover/reader/answers/weights.py",
        "return np.where(kind < self.anchored[column.which], at_end, drawn)",
        "return drawn",
        COMPLETING,
    ),
    Mutant(
        "reader: draws of one table decide all",
        "crowdcover/reader/completed/drawing.py",
        "generator = np.random.default_rng([*self.seeds, place, *([again] if again else [])])",
        "generator = np.random.default_rng([self.seeds[0], place, *([again] if again else [])])",
        COMPLETING,
    ),
    Mutant(
        "reader: impossible rows are drawn anew once",
        "crowdcover/reader/completed/drawing.py",
        "broken, last = broken[still], last.filter(still)",
        "broken, last = broken[:0], last[:0]",
        COMPLETING,
    ),
    Mutant(
        "reader: rows drawn anew are those of others",
        "crowdcover/reader/completed/drawing.py",
        "which=weights.column.which[rows]",
        "which=weights.column.which[: len(rows)]",
        COMPLETING,
    ),
    Mutant(
        "reader: where rules do not answer a row is impossible",
        "crowdcover/reader/completed/drawing.py",
        "return answer.to_series().fill_null(value=False).to_numpy()",
        "return answer.to_series().fill_null(value=True).to_numpy()",
        COMPLETING,
    ),
    Mutant(
        "reader: rows that stay impossible are not told",
        "crowdcover/reader/completed/drawing.py",
        "    if len(broken):\n        warnings",
        "    if not len(broken):\n        warnings",
        COMPLETING,
    ),
    Mutant(
        "reader: a finite number of draws costs nothing",
        "crowdcover/reader/completed/rubin.py",
        "    spread = (1 + 1 / m) * between",
        "    spread = between",
        COMPLETING,
    ),
    Mutant(
        "reader: the variance between draws is that of all of them",
        "crowdcover/reader/completed/rubin.py",
        "for each in values) / (m - 1)",
        "for each in values) / m",
        COMPLETING,
    ),
    Mutant(
        "reader: errors are added as they are",
        "crowdcover/reader/completed/rubin.py",
        "[float(each) ** 2 for each in errors]",
        "[float(each) for each in errors]",
        COMPLETING,
    ),
    Mutant(
        "reader: degrees of freedom are those of the draws",
        "crowdcover/reader/completed/rubin.py",
        "(m - 1) / missing**2",
        "m - 1",
        COMPLETING,
    ),
    Mutant(
        "reader: estimates are put wrong by rehearsals",
        "crowdcover/reader/completed/estimating.py",
        "    estimate = plain.estimate + right",
        "    estimate = plain.estimate - right",
        ESTIMATING,
    ),
    Mutant(
        "reader: errors do not know what rehearsals show",
        "crowdcover/reader/completed/estimating.py",
        "    error = sqrt(plain.error**2 + max(shift**2, chance))",
        "    error = plain.error",
        ESTIMATING,
    ),
    Mutant(
        "reader: people of a rehearsal sit in the rows of others",
        "crowdcover/reader/completed/rehearsing.py",
        "    return table[np.argsort(seat)].with_columns(",
        "    return table[seat].with_columns(",
        ESTIMATING,
    ),
    Mutant(
        "reader: weights count once in errors",
        "crowdcover/reader/answers/estimates.py",
        "    drawn = sqrt(float((people**2 * chance * (1 - chance)).sum()))",
        "    drawn = sqrt(float((people * chance * (1 - chance)).sum()))",
        MEANS,
    ),
    Mutant(
        "reader: the least quantile leaves out rows that may have a value",
        "crowdcover/reader/answers/means.py",
        "    reached = np.cumsum(sure[order] + free[order])",
        "    reached = np.cumsum(sure[order])",
        MEANS,
    ),
    Mutant(
        "settled records: one too few is a crowd",
        "anon_core/tables/settled.py",
        "settles = (size - stay >= whole.k[chosen]) & (place >= stay)",
        "settles = (size - stay >= whole.k[chosen] - 1) & (place >= stay)",
        SETTLED,
    ),
    Mutant(
        "settled records: nobody stays for rare ones",
        "anon_core/tables/settled.py",
        "settles = (size - stay >= whole.k[chosen]) & (place >= stay)",
        "settles = size - stay >= whole.k[chosen]",
        SETTLED,
    ),
    Mutant(
        "settled records: several of one person",
        "anon_core/tables/settled.py",
        "alone &= once",
        "alone &= True",
        SETTLED,
    ),
    Mutant(
        "settled records: cells that must be hidden are shown",
        "anon_core/tables/settled.py",
        "alone = np.logical_not(whole.blank.any(axis=0))",
        "alone = np.ones(whole.records, dtype=np.bool_)",
        SETTLED,
    ),
    Mutant(
        "partial linkage: identical rows count once",
        "anon_core/measures/table/crowds_kernels.py",
        "rows += alike[place[each]] * count_ones(word[each])",
        "rows += count_ones(word[each])",
        "tests/anon_core/measures/table/attackers/test_attacks.py",
    ),
    Mutant(
        "crowds: a search leaves out words that hold fitting rows",
        "anon_core/measures/table/bitmaps.py",
        "return cls(words, pack_words([words != 0]))",
        "return cls(words, pack_words([words > 1]))",
        CROWDS,
    ),
    Mutant(
        "matchable rows: records beside one that was visited are left out",
        "anon_core/measures/table/crowds_kernels.py",
        "if fresh[w] == 0:",
        "if bits:",
        CROWDS,
    ),
    Mutant(
        "trees: a row shows the node below the one that its holders need",
        "anon_core/tables/trees_kernels.py",
        "                shown = np.int64(parent[at])",
        "                shown = at",
        TREES,
    ),
    Mutant(
        "trees: features off the own path cost something",
        "anon_core/seating/even.py",
        "    blank = hide_off_path(table, _find_blank_bits(table))",
        "    blank = _find_blank_bits(table)",
        NARROWING,
    ),
    Mutant(
        "trees: each node loses as much more as the one below it",
        "anon_core/seating/exchanges/narrowing.py",
        "            own.append(node[attribute.parents] - node[:-1])",
        "            own.append(node[attribute.parents] * 0 + 1)",
        NARROWING,
    ),
    Mutant(
        "trees: the auditor reads a node without its last level",
        "anon_core/measures/table/cells.py",
        "range(low, high + 1) for name, low, high in column.nodes",
        "range(low, high) for name, low, high in column.nodes",
        TREES,
    ),
    Mutant(
        "trees: the auditor reads the node of a cell and one level more",
        "anon_core/measures/table/cells.py",
        "return list(places.get(text, ()))",
        "return [0, *places.get(text, ())]",
        TREES_GOLDENS,
    ),
    Mutant(
        "trees: a cell shows its node although it may show a set",
        "anon_core/tables/closing.py",
        "        if attribute.tree is not None and not attribute.sets:",
        "        if attribute.tree is not None:",
        TREES,
    ),
    Mutant(
        "trees: the auditor reads no set beside nodes",
        "anon_core/measures/table/cells.py",
        "        if text in places or not column.sets:",
        "        if column.nodes is not None:",
        TREES,
    ),
    Mutant(
        "trees: the auditor takes a set for the node that has its ends",
        "anon_core/measures/table/codebook/native.py",
        "    if whole and (column.nodes is not None or column.ordinal):",
        "    if (whole or column.sets) and (column.nodes is not None or column.ordinal):",
        TREES,
    ),
    Mutant(
        "trees: a set counts as the node that has its ends",
        "anon_core/measures/table/utility.py",
        " and held[-1] - held[0] < len(held):",
        ":",
        TREES,
    ),
    Mutant(
        "trees: a node loses the weight of the level above it",
        "anon_core/specs/hierarchies.py",
        "        return self.weights[-1 - depth]",
        "        return self.weights[-depth]",
        TREES_GOLDENS,
    ),
    Mutant(
        "trees: the auditor weighs levels from the root on",
        "anon_core/measures/table/codebook/trees.py",
        "for depth in range(len(finest_first), 0, -1)]",
        "for depth in range(1, len(finest_first) + 1)]",
        TREES_GOLDENS,
    ),
    Mutant(
        "trees: a code of no division lies below none",
        "anon_core/specs/hierarchies.py",
        "        return None if top is None else (top, *nodes, code)",
        "        return (top or TOP, *nodes, code)",
        "tests/kinds/table/plan/test_known_trees.py",
    ),
    Mutant(
        "trees: a branch of industry may have any form",
        "anon_core/specs/hierarchies.py",
        "        if self.form and re.fullmatch(self.form, code) is None:",
        "        if False:",
        "tests/kinds/table/plan/test_known_trees.py",
    ),
    Mutant(
        "trees: weights may fall",
        "anon_core/specs/hierarchies.py",
        "        if not (rise and self.weights[0]",
        "        if not (self.weights[0]",
        TREES,
    ),
    Mutant(
        "trees: a node may lie below two nodes",
        "anon_core/specs/hierarchies.py",
        "            if above.setdefault(name, path[:depth]) != path[:depth]:",
        "            if above.setdefault(name, path[:depth]) == ():",
        HIERARCHIES,
    ),
    Mutant(
        "trees: a value that is no leaf may be named like a node",
        "anon_core/specs/hierarchies.py",
        "        if self.other is None or category in self.nodes:",
        "        if self.other is None:",
        HIERARCHIES,
    ),
    Mutant(
        "trees: the auditor takes nodes of one level",
        "anon_core/measures/table/codebook/trees.py",
        "        if 1 < len(levels) < len(labels) + shift",
        "        if len(levels) < len(labels) + shift",
        TREES,
    ),
    Mutant(
        "trees: each node has the level of those inside it",
        "anon_core/tables/trees.py",
        "(name, hierarchy.name_level(depth), ",
        "(name, hierarchy.name_level(depth + 1), ",
        TREES,
    ),
    Mutant(
        "trees: the auditor names levels from the root's on",
        "anon_core/measures/table/codebook/trees.py",
        "hierarchy.name_level(len(node))",
        "hierarchy.name_level(len(node) - 1)",
        TREES,
    ),
    Mutant(
        "trees: cells that show a node count as values",
        "anon_core/measures/table/utility.py",
        "        if len(held) == 1:",
        "        if 0 < len(held) < len(levels):",
        TREES,
    ),
    Mutant(
        "trees: nodes.csv lacks the last value of each node",
        "kinds/table/pipeline/nodes.py",
        'entry["labels"][first : last + 1]',
        'entry["labels"][first:last]',
        NODES,
    ),
    Mutant(
        "trees: the auditor does not compare the bytes of nodes.csv",
        "kinds/table/judge/nodes.py",
        "same = same and text ==",
        "same = same or text ==",
        NODES,
    ),
    Mutant(
        "reader: a node lacks its last value",
        "crowdcover/reader/coded/levels.py",
        "np.arange(first, last + 1))",
        "np.arange(first, last))",
        "tests/crowdcover/reader/test_nodes.py",
    ),
    Mutant(
        "ladders: the greatest number of one person is shown",
        "anon_core/tables/ladders.py",
        "    ends = find_outer_ends(which[at], count, least, persons)",
        "    ends = [*range(1, count + 1)]",
        LADDERS,
    ),
    Mutant(
        "ladders: a node with an open end is named as if it had none",
        "anon_core/tables/ladders.py",
        "    opened = -np.inf if low else span[0], np.inf if high else span[1]",
        "    opened = span",
        LADDERS,
    ),
    Mutant(
        "ladders: a node loses its levels where widths are asked for",
        "anon_core/tables/loss.py",
        '    if position is None or a.kind not in ("numeric", "date") or a.tree.weights:',
        "    if True:",
        LADDERS,
    ),
    Mutant(
        "ladders: a bound belongs to both intervals for the auditor",
        "anon_core/measures/table/codebook/shared.py",
        "nextafter(high, -inf) if high == begin else high",
        "high",
        LADDERS,
    ),
    Mutant(
        "ladders: the auditor opens no node",
        "anon_core/measures/table/codebook/steps.py",
        "        levels = [interval.open_ends(low, high) for interval in own]",
        "        levels = own",
        LADDERS,
    ),
    Mutant(
        "coarser numbers: one too few is enough for an open group",
        "kinds/table/pipeline/coarsening.py",
        "    enough = np.flatnonzero(people >= least)",
        "    enough = np.flatnonzero(people >= least - 1)",
        COARSENING,
    ),
    Mutant(
        "coarser numbers: an open group begins with one person's number",
        "kinds/table/pipeline/coarsening.py",
        "        if rounded or holders[at] >= least:",
        "        if True:",
        COARSENING,
    ),
    Mutant(
        "coarser numbers: rows of one person count as several people",
        "kinds/table/pipeline/coarsening.py",
        "    np.maximum.at(greatest, owner, place)",
        "    greatest = place",
        COARSENING,
    ),
    Mutant(
        "coarser numbers: the auditor takes one too few for an open group",
        "anon_core/measures/table/codebook/coarse.py",
        "        if people < least:",
        "        if people < least - 1:",
        COARSENING,
    ),
    Mutant(
        "coarser numbers: the auditor leaves them as they are",
        "anon_core/measures/table/codebook/coarse.py",
        "    if step is None:",
        "    if step is not None:",
        COARSENING,
    ),
    Mutant(
        "coarser numbers: the codebook of the auditor does not state them",
        "anon_core/measures/table/codebook/codebook.py",
        "    expected |= coarse or {}",
        "    expected |= {}",
        "tests/flows/test_coarse.py",
    ),
    Mutant(
        "floors: the rest of a node may have too few people",
        "anon_core/tables/categories.py",
        "        while 0 < few < len(ranked) and count(ranked[:few]) < least:",
        "        while 0 < few < len(ranked) and count(ranked[:few]) < 0:",
        FLOORS,
    ),
    Mutant(
        "floors: records count as people",
        "anon_core/tables/categories.py",
        "    who = order if persons is None else persons[order]",
        "    who = order",
        FLOORS,
    ),
    Mutant(
        "floors: the auditor wants one person more",
        "anon_core/measures/table/codebook/floors.py",
        "    small = [name for name in parts if people[name] < least]",
        "    small = [name for name in parts if people[name] <= least]",
        FLOORS,
    ),
    Mutant(
        "floors: the auditor takes a rest of any size",
        "anon_core/measures/table/codebook/floors.py",
        "    while small and rest and",
        "    while not small and rest and",
        FLOORS,
    ),
    Mutant(
        "points: degrees below 0 lie in the box above",
        "anon_core/specs/boxes.py",
        "    place = min(whole - (rest < 0), most / step - 1)",
        "    place = min(whole, most / step - 1)",
        POINTS,
    ),
    Mutant(
        "points: the pole has a box of its own",
        "anon_core/specs/boxes.py",
        "    place = min(whole - (rest < 0), most / step - 1)",
        "    place = whole - (rest < 0)",
        POINTS,
    ),
    Mutant(
        "points: boxes hold fewer people than k",
        "kinds/table/plan/points.py",
        '"hierarchy": grid, "floor": 1, **stated}',
        '"hierarchy": grid, **stated}',
        "tests/flows/test_points.py",
    ),
    Mutant(
        "subsets: sets that are not minimal count",
        "anon_core/measures/table/risks/subsets.py",
        "            minimal[size - 1] += single & ~known",
        "            minimal[size - 1] += single",
        SUBSETS,
    ),
    Mutant(
        "populations: the chance of a whole population",
        "anon_core/measures/table/risks/populations.py",
        "hyp2f1(1, 1, sizes + 1, 1 - fraction)",
        "hyp2f1(1, 1, sizes, 1 - fraction)",
        "tests/anon_core/measures/table/risks/test_populations.py",
    ),
)


def main(names: list[str]) -> int:
    """Run the mutants whose names contain one of these words, or all."""
    chosen = [m for m in MUTANTS if not names or any(name in m.name for name in names)]
    with tempfile.TemporaryDirectory(prefix="crowdcover-mutants-") as folder:
        tree = Path(folder) / "crowdcover"
        # The links of the package stay links: else faults would be planted beside what is imported.
        shutil.copytree(ROOT, tree, ignore=LEFT_OUT, symlinks=True)
        tests = sorted({mutant.tests for mutant in chosen})
        if run(tree, tests) != PASSED:
            print("a test fails without a mutant")
            return 2
        survivors = [mutant.name for mutant in chosen if survives(tree, mutant)]
    print(f"{len(chosen) - len(survivors)} of {len(chosen)} mutants caught")
    return 1 if survivors else 0


def survives(tree: Path, mutant: Mutant) -> bool:
    """Plant the mutant, run its tests, and put the file back."""
    path = tree / mutant.file
    text = path.read_text(encoding="utf-8")
    if text.count(mutant.line) != 1:
        sys.exit(f"{mutant.file} does not hold this line once: {mutant.line.strip()}")
    before, of_core = path.stat(), mutant.file.startswith("anon_core/")
    kernels = find_kernels(tree) if of_core else None
    path.write_text(text.replace(mutant.line, mutant.fault), encoding="utf-8")
    if kernels is not None:  # else numba compiles all of them anew, not only those of this file
        shutil.copytree(kernels, find_kernels(tree), dirs_exist_ok=True)
    try:
        code = run(tree, [mutant.tests])
    finally:
        if kernels is not None:
            shutil.rmtree(find_kernels(tree), ignore_errors=True)
        path.write_text(text, encoding="utf-8")
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))  # its kernels stay compiled
    print(f"{'caught' if code == CAUGHT else f'SURVIVED ({code})'}: {mutant.name}", flush=True)
    return code != CAUGHT


def find_kernels(tree: Path) -> Path:
    """Where numba keeps the machine code of these sources: see anon_core/jit/kernel.py."""
    code = hash_sources(tree, ["anon_core"])[:16]
    return tree / "anon_core" / "__pycache__" / f"kernels-{code}"


def run(tree: Path, tests: list[str]) -> int:
    """Run fast tests in the copy up to the first failure; returns the exit code of pytest."""
    options = ["-x", "-m", "not slow", "-p", "no:cacheprovider", *tests]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *options],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    ).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
