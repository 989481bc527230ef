"""Floor 5: the coding agent, where all parts meet: agent, tools, session, settings, extensions.

`coding_agent.CodingAgent.open` is what every door opens.

Opening:

    coding_agent         The coding agent: agent, tools, workspace, prompt and settings. Every
                         door opens one.
    options              How a coding agent is to be opened.
    opening              The parts of a coding agent, made from its options: model, tools, prompt.
    toolbox              The built-in tools on a workspace, with their queue, their journal and
                         their settings.
    session_choice       Which session a coding agent works in.
    home                 Where Sloyd keeps its own files.

While it runs:

    conversation         An agent and its session in step.
    recovery             A run that goes on after what can be mended.
    events               What a coding agent tells beside the events of its runs.
    event_names          The names under which events can be heard.
    user_shell           Commands that a person runs beside the conversation, by ``!command`` or a
                         program's request.
    entry_choice         Which entry of the session a command speaks of.
    recall_tool          The tool with which the model looks up what a compaction, or an edit,
                         took out of its context.

What the model is told:

    system_prompt        The system prompt, built from the active tools and the surroundings.
    context_files        Instructions that people leave for agents.
    left_files           Files that people and projects leave about, read without trust in what
                         they are.
    prompt_input         The first prompt: piped text, ``@file`` arguments and words, put
                         together.
    skills               Agent Skills: directories with a ``SKILL.md`` that tells a model how to
                         do one kind of work.
    templates            Prompt templates: a Markdown file whose name is a slash command and whose
                         text is the prompt.
    frontmatter          Markdown files that begin with a block of YAML between two lines of
                         ``---``.
    resources            What is found around a run: settings, instructions, skills, templates,
                         extensions.

Which model:

    model_choice         From what a person says about a model to the thing that answers, with its
                         key and its facts.
    model_finding        Which model of which provider a name means.
    model_search         Models by an inexact name: the newest of the one family that fits, or a
                         question.
    model_tables         The providers and models that a person has configured, laid over those
                         that Sloyd knows.
    model_config         Reads the providers and models of ``config.toml``.
    model_texts          What a person reads when no model can be chosen.
    model_list           ``sloyd --list-models``: every model that is known, and whether its
                         provider has a key.
    model_offer          Which models can be chosen now, and which one comes next when a person
                         cycles through them.

Settings and trust:

    settings             The one declared table of settings.
    settings_files       Settings from layered TOML files: the user's, then the project's over it.
    settings_edit        Change one setting in a TOML file and leave the rest of it, comments
                         included, as it is.
    trust                Project trust: nothing of a project that configures or runs code counts
                         until a person agrees.

Slash commands:

    commands             Slash commands: what a line that begins with ``/`` means, the same at
                         every door.
    command_table        The slash commands of an agent.
    session_commands     Sloyd's own commands about the session.
    agent_commands       Sloyd's own commands about the agent.
    door                 What commands and extensions may ask of the surface that a person sits
                         at.

Extensions and hooks:

    extension_api        The ``api`` that an extension's ``setup`` gets.
    extensions           The extensions of a run: loaded, kept apart from each other, and disposed
                         of.
    extension_opening    Which extensions a run has: installed ones, the user's, the project's,
                         those that are named.
    extension_files      From a place to a ``setup`` function.
    entry_points         Extensions of installed packages.
    extension_flags      Switches of the command line that extensions declare, taken from what
                         Sloyd did not know.
    extension_providers  Providers of extensions beside those that Sloyd knows and the settings
                         name.
    registrations        What one extension has registered.
    hook_chain           The hooks of an agent, composed of those of Sloyd, of extensions and of
                         the settings.
    command_hooks        Hooks that are programs: ``[[hooks.EVENT]]`` in ``config.toml``.
    programs             Programs of the user's own beside the agent.
"""

from __future__ import annotations

__all__: list[str] = []
