# SPDX-License-Identifier: Apache-2.0
"""Bugs to be planted in SSH-m, which the lockstep with its golden model has to find.

Not among them, for they change nothing that is wrong: in deadline_unit `due_q <= cycle_i` as `<` (a wait ends a cycle
later, and when it ends is the scan's affair); in dispatcher `!any_ready` dropped from recall_next (with a PE idle,
ready threads are dispatched before; with priorities a recall may come then, too); another turn of an arbiter (who comes
first is not defined)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple


class Mutant(NamedTuple):
    """Its name, the file under rtl/ssh, text that stands there once with an expression in «», what is put instead."""

    name: str
    file: str
    text: str
    wrong: str


MUTANTS = (
    # The bug once there: whose PE blocks was read from the message at hand, another PE's by then.
    Mutant(
        "a joiner blocks at another PE",
        "message_unit",
        "stop_o          = 1'b1;\n          at_o            = «first_q.pe»;",
        "in_i.pe",
    ),
    Mutant("a waiter blocks at PE 0", "waiting_unit", "assign at_o     = «first_q.pe»;", "6'd0"),
    Mutant("a return value is lost", "message_unit", "value_d  = «in_i.data»;\n              joiner_d", "32'd0"),
    Mutant(
        "an id keeps its generation",
        "message_unit",
        "act.entry.generation = «a_i.generation + gen_t'(1)»;",
        "a_i.generation",
    ),
    Mutant(
        "a join of the dead returns 0",
        "message_unit",
        "act.msg.data         = «in_i.op == MsgJoin ? b_i.word0 : '0»;",
        "32'd0",
    ),
    Mutant(
        "a cycle of two joins is not seen",
        "message_unit",
        "b_tid_o == in_i.tid || («a_i.has_joiner && a_i.joiner == b_tid_o»)",
        "1'b0",
    ),
    Mutant("two may join one thread", "message_unit", "if («b_i.detached || b_i.has_joiner») begin", "b_i.detached"),
    Mutant(
        "a detached thread becomes a zombie",
        "message_unit",
        "if («a_i.has_joiner || a_i.detached») begin",
        "a_i.has_joiner",
    ),
    Mutant("a held thread stays held", "message_unit", "act.ready          = «a_i.state == ThreadHeld»;", "1'b0"),
    Mutant("a recalled thread goes to the end", "message_unit", "act.at_head   = «1'b1»;", "1'b0"),
    Mutant("who makes way loses its turn", "message_unit", "act.at_head     = «told_i»;", "1'b0"),
    Mutant("a yield keeps a lifo's head", "message_unit", "act.at_tail     = «1'b1»;", "1'b0"),
    Mutant("a thread starts anew", "message_unit", "act.entry.cold     = «1'b0»;", "a_i.cold"),
    Mutant("home is where it was", "message_unit", "act.entry.home     = «in_i.pe»;", "a_i.home"),
    Mutant(
        "who starts is not at home yet",
        "message_unit",
        "act.entry.has_home = «1'b1»;\n              act.entry.home",
        "1'b0",
    ),
    Mutant("detached is read beside", "message_unit", "act.entry.detached   = «first_q.aux[4]»;", "first_q.aux[3]"),
    Mutant("a result is lost by a yield", "message_unit", "act.entry.err   = «in_i.aux[7:0]»;", "8'd0"),
    Mutant(
        "an unknown thread has a goal",
        "message_unit",
        "first_q.tid, «known_i ? '0 : {4'd0, ErrSrch}», '0);\n          state_d",
        "12'd0",
    ),
    Mutant("any generation is known", "thread_table", "«b_o.generation == handle.generation» && b_o.state", "1'b1"),
    Mutant("what is no handle is known", "thread_table", "«handle_i[31:16] == '0» &&", "1'b1"),
    Mutant("ids are known beyond the last", "thread_table", "«32'(handle.tid) < Threads» &&", "1'b1"),
    Mutant("a free id is known", "thread_table", "«b_o.state != ThreadFree» &&", "1'b1"),
    Mutant("a flag wakes one only", "waiting_unit", "hit_count == '1 || «watch_kind == WaitFlag»", "1'b0"),
    Mutant("many stores wake few", "waiting_unit", "left_d   = «hit_count == '1» ||", "1'b0"),
    Mutant(
        "a flag is compared the wrong way", "waiting_unit", "«mem_rsp_i.rdata != value_q»", "mem_rsp_i.rdata == value_q"
    ),
    Mutant("a mutex is handed on while taken", "waiting_unit", "state_d = «mem_rsp_i.rdata == '0» ? StDrain", "1'b1"),
    Mutant("a watch stays when nobody waits", "waiting_unit", "release_watch = «claimed_q»;", "1'b0"),
    Mutant(
        "a watch stays after the last is woken", "waiting_unit", "release_watch   = «last_i»;\n          left_d", "1'b0"
    ),
    Mutant("a barrier waits for one more", "waiting_unit", "found ? «arrivals == 12'd1» :", "arrivals == 12'd0"),
    Mutant("a deadline is forgotten", "waiting_unit", "act.entry.timed = «timed_q»;", "1'b0"),
    Mutant("every wait has a deadline", "waiting_unit", "timed_d   = «timed_i»;", "1'b1"),
    Mutant("a word is not claimed", "waiting_unit", "claim       = «!found»;", "1'b0"),
    Mutant(
        "a barrier wakes the released twice", "waiting_unit", "act.ready       = «!(is_barrier && direct_i)»;", "1'b1"
    ),
    Mutant(
        "a barrier's last is not told so",
        "waiting_unit",
        "end else if (last_comes) begin\n            value_d   = «32'd1»;",
        "32'd0",
    ),
    Mutant("WAKE wakes one more", "waiting_unit", "left_q == «12'd1») state_d", "12'd0"),
    Mutant("WAKE counts one less", "waiting_unit", "woken_d         = «woken_q + 12'd1»;", "woken_q"),
    Mutant(
        "a store between claim and compare is lost",
        "watch_unit",
        "struck[w] = «snoop_i.valid» &&",
        "(snoop_i.valid && !claim_i && !take_i)",
    ),
    Mutant("any store unlocks", "watch_unit", "«snoop_i.data != '0 || snoop_i.be != '1»", "1'b0"),
    Mutant("a read is a store", "watch_unit", "«snoop_i.is_store» &&", "1'b1"),
    Mutant(
        "a new watch has old stores", "watch_unit", "count_q[w] <= «'0»;\n        end else if (take_i", "count_q[w]"
    ),
    Mutant("a store in the cycle of the answer is lost", "watch_unit", "count_q[w] <= «{3'd0, struck[w]}»;", "4'd0"),
    Mutant("the count of stores wraps", "watch_unit", "if (struck[w] && «count_q[w] != '1»)", "1'b1"),
    Mutant(
        "a word is found that is not watched",
        "watch_unit",
        "if («valid_q[w] && addr_q[w] == find_addr_i[31:2]») begin",
        "addr_q[w] == find_addr_i[31:2]",
    ),
    Mutant("a busy PE is idle", "pe_table", "assign idle       = «slot_q & ~running_q»;", "slot_q"),
    Mutant("who stops runs on", "pe_table", "running_q[at] <= «1'b0»;", "1'b1"),
    Mutant("a PE is recalled twice", "pe_table", "misplaced) & «~recalling_q» &", "'1"),
    Mutant("a mark outlives a dispatch", "pe_table", "marked_q[fill_pe] <= «1'b0»;", "marked_q[fill_pe]"),
    Mutant(
        "all marked PEs are released",
        "pe_table",
        "releasable[p] = marked_q[p] && «mark_watch_q[p] == release_watch_i»;",
        "1'b1",
    ),
    Mutant("a used id is not replaced", "pe_table", "pool_q[at] <= «pool_q[at] - 3'd1»;", "pool_q[at]"),
    Mutant("a pool is never full", "pe_table", "«pool_q[p] != 3'(PoolSize)» &&", "pool_q[p] != 3'(PoolSize) + 3'd1"),
    Mutant(
        "an equal makes way", "pe_table", "«slot_prio_q[p] > running_prio_q[p]»;", "slot_prio_q[p] >= running_prio_q[p]"
    ),
    Mutant("a new priority does not count", "pe_table", "if («rank_i») running_prio_q", "1'b0"),
    Mutant("a slot is free when it is filled", "pe_table", "slot_q[fill_pe]   <= «1'b0»;", "1'b1"),
    Mutant("a recalled slot stays full", "pe_table", "if (recalled_i) slot_q[at] <= «1'b1»;", "1'b0"),
    Mutant("the last of a list is not unlinked", "list_unit", "if («next_q[prev] == tail») tail_q", "1'b0"),
    Mutant("an insert behind the last is lost", "list_unit", "if («prev == to_tail») tail_q[to_i] <= tid;", "1'b0"),
    Mutant(
        "a list of one does not get empty",
        "list_unit",
        "ListPop:                    empty_q[list_i] <= «head == tail»;",
        "1'b0",
    ),
    Mutant("a push breaks the chain", "list_unit", "else next_q[to_tail] <= «tid»;", "to_tail"),
    Mutant("a move breaks the chain", "list_unit", "next_q[head] <= «head_q[to_i]»;", "head"),
    Mutant("deadlines are not sorted", "ready_unit", "assign sorted  = «policy_i == PolicyEdf && !empty_i»;", "1'b0"),
    Mutant("lifo is fifo", "ready_unit", "((«policy_i == PolicyLifo» ||", "1'b0"),
    Mutant("affinity is fifo", "ready_unit", "(«policy_i == PolicyAffinity» &&", "1'b0"),
    Mutant("an error is not sent", "dispatcher", "assign needs_tail = a_i.cold || «a_i.err != ErrNone»;", "1'b0"),
    Mutant("priorities do not count", "ready_unit", "action_o.to          = «policy_i == PolicyPriority» ?", "1'b0"),
    Mutant(
        "equal goals overtake",
        "deadline_unit",
        "assign before_second_o = «goal < goal_q[index_t'(second_tid_i)]»;",
        "goal <= goal_q[index_t'(second_tid_i)]",
    ),
    Mutant("waits end at once", "deadline_unit", "«due_q[scan_q] <= cycle_i»;", "1'b1"),
    Mutant(
        "a thread is dispatched away from home",
        "dispatcher",
        "fill_pe_o      = «a_i.has_home ? a_i.home : urgent ? low_pe_i : place_pe_i»;",
        "urgent ? low_pe_i : place_pe_i",
    ),
    Mutant(
        "a thread waits for its home though a PE is idle",
        "dispatcher",
        "(home_has_slot_i && («home_idle_i || !place_idle_i»));",
        "1'b1",
    ),
    Mutant("a change is not noticed", "dispatcher", "settled_q <= settled_d && «!stirs_i && !stirred_q»;", "1'b1"),
    Mutant(
        "a thread is searched without end",
        "dispatcher",
        "«steps_q != (policy_i == PolicyAffinity ? AffinitySteps : ScanSteps)»",
        "1'b1",
    ),
    Mutant(
        "a new thread is an old one",
        "dispatcher",
        "message(MsgDispatch0, fill_pe_o, a_tid_o, {2'd0, !needs_tail, «a_i.cold», a_i.generation}",
        "1'b0",
    ),
    Mutant(
        "an evicted thread is dispatched as well",
        "dispatcher",
        "act.op          = «ListPop»;\n      act.send        = 1'b1;\n      act.msg         = message(MsgEvict",
        "ListNone",
    ),
    Mutant("urgency is not seen", "dispatcher", "assign urgent        = «ranks_i» &&", "1'b0"),
)


def plant(rtl: Path, mutants: Sequence[Mutant]) -> None:
    """Plant all of them in the sources in the folder `rtl`; +mutant=NUMBER chooses one, from 1 on."""
    for file in sorted({mutant.file for mutant in mutants}):
        path = rtl / "ssh" / f"{file}.sv"
        text = path.read_text()
        places = []
        for number, mutant in enumerate(mutants, 1):
            if mutant.file != file:
                continue
            before, right, after = re.split("[«»]", mutant.text)
            assert text.count(before + right + after) == 1, f"{mutant.name}: not once in {path.name}"
            places.append((text.index(before + right + after) + len(before), right, number, mutant.wrong))
        for start, right, number, wrong in sorted(places, reverse=True):
            chosen = f"(mutation::chosen == {number} ? ({wrong}) : ({right}))"
            text = text[:start] + chosen + text[start + len(right) :]
        path.write_text(text)
    (rtl / "rtl/pkg/mutation.sv").write_text("package mutation;\n  int unsigned chosen = 0;\nendpackage\n")
    files = rtl / "files.f"
    files.write_text(files.read_text().replace("rtl/pkg/okosu_pkg.sv", "rtl/pkg/mutation.sv\nrtl/pkg/okosu_pkg.sv"))
    top = rtl / "sim/sched_top.sv"
    choice = '  initial void\'($value$plusargs("mutant=%d", mutation::chosen));\nendmodule\n'
    top.write_text(top.read_text().replace("endmodule\n", choice))
