"""Floor 1: one call of one model. Knows nothing of files, processes and tools.

`models.Model.stream` is what the floors above call.

The words of a conversation:

    messages           Messages and their content blocks.
    events             The events of one model stream, in the order in which they may come.
    models             What a model is: facts about it, and the one thing it can do, which is to
                       stream an answer.

Which models there are:

    providers          The providers that are known by name.
    catalogue          The models that are known before anybody asks a server.
    listing            Which models a server offers, by its own list.
    local_servers      Model servers on this machine: which ones answer, and what they offer.
    credentials        Where a key comes from: an explicit value, a configured source, else the
                       environment.
    thinking           Reasoning levels: what was asked for, fitted to what the model accepts.

One call:

    http_model         A provider's model over HTTP: send, retry, read the stream, keep what came.
    context            A conversation mended for one provider, just before it is sent.
    window             How much room a request leaves for its answer.
    surrogates         Half characters out of texts: no lone surrogate may leave us.
    sending            One request of a wire over a transport.
    transport          HTTP for every wire: one client, kept connections, failures as
                       `ProviderError`.
    loopback           Whether a URL points at this machine.
    sse                Server-sent events out of bytes, however the bytes are cut.
    building           One builder for every wire: deltas in, stream events and the message so far
                       out.
    argument_text      From the text that a model wrote as a call's arguments to an object, or to
                       a clear refusal.
    api_names          Names of APIs, those of others among them, and whose answer a message is.
    wires              One module for each provider API.

What goes wrong:

    failures           What a provider's refusal means.
    connection_errors  Failures of the connection itself, told so that a person knows what to
                       check.
    explain            A provider's failure in words that a person can act on.
    fixes              What a server refused of a request, learnt from its own words, so that the
                       next try fits.
    retry              When a failed request is sent again, and after how long.

Keeping the traffic:

    recorded           Recording what a model and its provider say to each other, and playing it
                       again.
    cassettes          Files of recorded traffic with a provider, called cassettes.
"""

from __future__ import annotations

__all__: list[str] = []
