"""Floor 2: many model calls. Knows models, and tools by their small interface; no file, no setting.

`agent.Agent` is what the floors above use.

The face:

    agent        The stateful face of an agent: prompt it, steer it, abort it, listen to it.
    state        What an agent is made of, shared by its face (`sloyd.agent.agent`) and its loop.
    result       What a run leaves behind for the one who started it.
    events       The vocabulary of a run: everything that a listener of an agent can hear.
    listeners    Who hears the events of a run: awaited one after the other, and kept apart from
                 the run.
    handoff      Hands the events of a run to one consumer that iterates over them, with a bound.
    queues       What waits to be said to the model.

The loop:

    loop         The loop: ask the model, run the calls, put the results into the context, ask
                 again.
    answer       One request to the model, from the hooks before it to the message in the history.
    limits       How far a run may go: turns, time, money. Checked before each request, never in
                 the middle.
    hooks        Where a program may step into a run.
    supervision  Work that can be aborted, and the one place that waits for it.

Tool calls:

    tool         The small interface through which the agent loop runs a tool.
    calls        The calls of one answer: prepared, gated, run, and answered in their order.
    identity     Makes the calls of an answer fit for use.
    preparation  Before a call runs: find the tool, check the arguments, ask whether it may.
    refusals     What a model reads about a call that was not run, or that did not end as it
                 should.
    repetition   Notices a model that makes the same call again and again although it keeps
                 failing.
    direct       One call of one tool, without a model or a run around it.
"""

from __future__ import annotations

__all__: list[str] = []
