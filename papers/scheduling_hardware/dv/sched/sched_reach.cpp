// SPDX-License-Identifier: Apache-2.0
#include "sched_reach.h"

#include <cinttypes>
#include <cstdio>

namespace okosu
{

namespace
{

enum class Where { Anywhere, SeveralPes, Soft, Banked };

struct Outcome {
    const char *command, *outcome;
    Where where = Where::Anywhere;
};

constexpr Outcome kOutcomes[] = {
    {"create", "id at hand"},
    {"create", "id asked for"},
    {"create", "EAGAIN"},
    {"exit", "zombie"},
    {"exit", "joined"},
    {"exit", "detached"},
    {"join", "zombie"},
    {"join", "blocks"},
    {"join", "ESRCH"},
    {"join", "EINVAL detached"},
    {"join", "EINVAL joined"},
    {"join", "EDEADLK itself"},
    {"join", "EDEADLK cycle"},
    {"detach", "alive"},
    {"detach", "zombie"},
    {"detach", "ESRCH"},
    {"detach", "EINVAL detached"},
    {"detach", "EINVAL joined"},
    {"yield", "done"},
    {"yield", "lifo"},
    {"yield", "told to"},
    {"preempt", "told"},
    {"wait flag", "EAGAIN"},
    {"wait flag", "blocks"},
    {"wait flag", "blocks, timed"},
    {"wait mutex", "done"},
    {"wait mutex", "blocks"},
    {"wait mutex", "blocks, timed"},
    {"wait condition", "EAGAIN"},
    {"wait condition", "blocks"},
    {"wait condition", "blocks, timed"},
    {"wait", "EAGAIN no watch"},
    {"wait", "EAGAIN barrier"},
    {"wait", "ETIMEDOUT"},
    {"store", "flag"},
    {"store", "condition"},
    {"store", "condition, many"},
    {"store", "mutex, handed on"},
    {"store", "mutex, taken"},
    {"wake", "nobody"},
    {"wake", "none of some"},
    {"wake", "some"},
    {"wake", "all"},
    {"barrier", "alone"},
    {"barrier", "blocks"},
    {"barrier", "last"},
    {"barrier", "goes on"},
    {"barrier", "goes on at once", Where::SeveralPes},
    {"barrier", "EAGAIN no watch"},
    {"barrier", "EAGAIN no barrier"},
    {"setprio", "done"},
    {"setprio", "ESRCH"},
    {"deadline", "done"},
    {"deadline", "ESRCH"},
    {"policy", "0"},
    {"policy", "1"},
    {"policy", "2"},
    {"policy", "3"},
    {"policy", "4"},
    {"policy", "5"},
    {"policy", "6"},
    {"policy", "7"},
    {"start", "cold"},
    {"start", "warm"},
    {"released", "held", Where::Soft},
    {"released", "not held", Where::Banked},
    {"recalled", "cold", Where::SeveralPes},
    {"recalled", "warm", Where::SeveralPes},
    {"kept", "started", Where::SeveralPes},
    {"grant", "new"},
    {"grant", "used before"},
    {"recall", "cold", Where::SeveralPes},
    {"recall", "warm", Where::SeveralPes},
    {"dispatch", "anywhere"},
    {"dispatch", "home", Where::Banked},
    {"dispatch", "home, searched", Where::SeveralPes},
    {"dispatch", "evicted", Where::SeveralPes},
    {"dispatch", "urgent"},
    {"dispatch", "urgent, evicted", Where::SeveralPes},
};

bool is_here(Where where, const SchedMachine &machine)
{
    switch (where) {
    case Where::SeveralPes:
        return machine.pes > 1 && !machine.soft;
    case Where::Soft:
        return machine.soft;
    case Where::Banked:
        return !machine.soft;
    default:
        return true;
    }
}

} // namespace

bool report(const Coverage &coverage, const SchedMachine &machine)
{
    bool all = true;

    for (const auto &[reached, times] : coverage)
        std::printf("  %-16s %-20s %" PRIu64 "\n", reached.first.c_str(), reached.second.c_str(),
                    times);
    for (const Outcome &outcome : kOutcomes) {
        if (!is_here(outcome.where, machine) || coverage.count({outcome.command, outcome.outcome}))
            continue;
        std::printf("  %-16s %-20s never reached\n", outcome.command, outcome.outcome);
        all = false;
    }
    return all;
}

} // namespace okosu
