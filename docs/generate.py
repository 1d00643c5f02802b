"""Fills the generated sections of `docs/reference/`, so that the reference can't drift from the program.

    python docs/generate.py            write every section anew
    python docs/generate.py --check    change nothing; print a diff and exit with 1 when a section is stale

A section stands between `<!-- generated: NAME -->` and `<!-- end: NAME -->`; everything else on a page is written by
hand. Names, types and defaults come from the program itself: click's commands, the event dataclasses, the pydantic
models. What those can't say, the meaning of a field, stands in the tables here; a field without a meaning and a
meaning without a field are both errors.
"""

from __future__ import annotations

import difflib
import inspect
import json
import re
import sys
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

import click
from fastapi.routing import APIRoute
from pydantic import BaseModel

from weft.checks import CHECKS
from weft.cli.commands import weft
from weft.knowledge.collection import Collection, DocumentEntry, ReferenceEntry, TierEntry
from weft.knowledge.tools import TOOLS
from weft.protocol import events
from weft.protocol.errors import Finding
from weft.protocol.events import Record, RunStarted, SessionCreated
from weft.protocol.schema import command_schema, event_schema
from weft.protocol.steps import StepInput
from weft.session.manifest import manifest
from weft.session.state import fold
from weft.tools.builtin import builtin_tools
from weft.tools.permission_file import PermissionFile, app_rules
from weft.tools.shell.programs import PROGRAMS
from weft.tools.toolbox import Toolbox
from weft.web.api import make_api, told_routers
from weft.web.asking import Served
from weft.workspace.agent_file import AgentFront
from weft.workspace.config_file import ConfigFile, ModelEntry, PriceEntry, RoleEntry
from weft.workspace.flow_file import (
    BudgetEntry,
    ChoiceEntry,
    GateEntry,
    LoopEntry,
    RepairEntry,
    RetryEntry,
    ShownEntry,
    VerdictsEntry,
)
from weft.workspace.pack_file import PackFile
from weft.workspace.pipeline_file import EachEntry, InputEntry, MapEntry, ParameterEntry, PipelineFile, StepEntry
from weft.workspace.rule_entry import RuleEntry, StepRuleEntry
from weft.workspace.skill_file import SkillFront
from weft.workspace.writer_profile import Style, WriterProfile

REFERENCE: Final = Path(__file__).parent / "reference"
_BEGIN: Final = re.compile(r"<!-- generated: ([a-z0-9_-]+) -->")
_SECTION: Final = re.compile(r"(<!-- generated: ([a-z0-9_-]+) -->\n).*?(<!-- end: \2 -->)", re.DOTALL)

EVENT_MEANINGS: Final = {
    "session_created": "The session began. It is the first event of every session that Weft made itself.",
    "run_started": "A run of the pipeline began.",
    "step_skipped": "The step is up to date, so this run did not run it.",
    "artifact_rejected": "An artifact did not pass its schema or its checks. Its file was not put in place.",
    "step_completed": "The settlement of a good attempt: every artifact of the step passed and is in the log.",
    "step_failed": "The settlement of an attempt that has no result.",
    "step_interrupted": "The settlement of an attempt that was stopped, or that an ended process left open.",
    "run_ended": "The run is over. Every artifact file was made durable before this was written.",
    "turn_started": "A turn begins with the messages that waited, with a continuation, or with both.",
    "approval_decided": "A person answered the question.",
    "shutdown_requested": "The conversation takes no more messages; what runs was interrupted.",
}
"""For the events whose class has no docstring."""

FIELD_MEANINGS: Final = {
    "message_accepted.attached": "What it names with @ and what was given with it: `name`, `kind`, what a model is "
    "told (`text`), and of a file where it is kept (`file`), its `media_type` and `size`.",
    "message_accepted.folder": "Where the tools of the conversation worked when it was said.",
    "message_accepted.tainted": "Whether the model is told with it of a run that it was not told of before.",
    "tool_settled.after": "Files that the call changed without showing them, each with its hash; empty if gone.",
    "conversation_rewound.turn": "The first turn that a model is told nothing of any more.",
    "conversation_rewound.message": "The message that began it.",
    "conversation_rewound.files": "The files that are as they were then, each with its hash; empty if gone.",
    "plan_submitted.plan": "The plan's name, and of no other in the session.",
    "plan_submitted.steps": "What is checked off as it is done.",
    "plan_decided.plan": "The plan that is meant.",
    "plan_decided.decision": "`compacted` is accepted too: the plan stands for what was said before it.",
    "process": "The process's name, and of no other in the session.",
    "process_started.command": "What was started.",
    "process_ended.reason": "Its exit code, or what ended it.",
    "tool_settled.before": "Files that the call changed, each with the name of its blob as it was; empty if new.",
    "files_restored.message": "The message whose changes were taken back.",
    "files_restored.files": "The files that are as they were before, each with its hash; empty for one that is gone.",
    "cut_accepted.lost": "What was found, in words.",
    "cut_accepted.known": "The last event that the manifest knew of: when the log ended before it, all since is lost.",
    "cut_accepted.hash": "The hash of the decision that event stood in; empty when the manifest did not say.",
    "run_started.session": "The session's name; empty in logs of version 1.",
    "run_started.requires": "The pipeline's edges: by step, the steps whose artifacts it is made from.",
    "run_started.executors": "By step, how it is made: `model`, `agent`, `tool`, `code`; `pipeline` gathers items.",
    "run_started.resumed": "Whether a run at rest was taken up again: its spending, rounds and gates still count.",
    "run_started.answers": "Replies given in advance that are not used yet, by the step whose gate each is for.",
    "run_started.budget": "Limits that a person set in place of the pipeline's: usd, tokens, minutes.",
    "by_model": "`usage` by model, when the attempt called more than one; `model` is then the first of them.",
    "call_started.call": "The call's name within the attempt, as `call_settled` has it.",
    "call_settled.call": "The call's name within the attempt: they count in the order they begin.",
    "step_text_streamed.call": "The call that writes it.",
    "parent": "The call it was made in; empty for one that the step itself made.",
    "title": "What it is about, in a few words.",
    "call_settled.kind": "What was called.",
    "call_started.kind": "What is called.",
    "name": "The model's, the tool's or the agent's name.",
    "call_settled.ms": "How long the call took, in milliseconds.",
    "ok": "Whether it came to its end by itself.",
    "call_settled.message": "Why it did not, or what came of it, in a few words.",
    "call_settled.stop": "Why the model ended its answer; absent for what is no model, or did not end.",
    "call_settled.model": "The model that was called; not set for what calls none.",
    "call_settled.usage": "The tokens of this call alone, not of those inside it. The step's settlement has the sum.",
    "call_settled.request": "The hash of the prompt or the tool's input, kept as `blobs/<hash>`; empty when none is.",
    "call_settled.dropped": "What did not fit into the prompt or was cut in it, in words.",
    "step_text_streamed.thinking": "Whether it thinks rather than answers.",
    "gate": "The gate's name: of this one opening, and of no other in the session.",
    "gate_opened.step": "The step that is done and whose result is to be judged.",
    "gate_opened.hash": "The hash of that result.",
    "gate_opened.message": "The pipeline's question.",
    "gate_opened.before": "Whether it stands before the step, which is made when it is let pass.",
    "gate_opened.assignee": "Who should reply; empty for anybody.",
    "gate_opened.due": "Until when a reply is awaited; empty for as long as it takes.",
    "gate_opened.then": "What happens then: `remind`, or the id of the choice that is made.",
    "gate_opened.within": "How many seconds a reply is awaited; counted anew after a reminder.",
    "gate_reminded.due": "When it is said again.",
    "wait_started.step": "The step that waits.",
    "wait_started.until": "When it may begin.",
    "wait_started.input_hash": "The hash of what it would be made from; with something else it waits anew.",
    "steps_unfolded.step": "The step that is a pipeline for each item.",
    "steps_unfolded.items": "The keys of its items, in order.",
    "steps_unfolded.steps": "The steps of all items, in running order: before the step, in place of those it had.",
    "steps_unfolded.requires": "By step, with the step itself, the steps whose artifacts it is made from.",
    "steps_unfolded.executors": "By step, how it is made.",
    "run_ended.due": "When it goes on by itself: the first wait is over, or its time is.",
    "gate_opened.shown": "What of the artifact a person should see: `label` and `value` each.",
    "words_said.words": "The name of these words, and of no others in the session.",
    "words_said.text": "What the person said.",
    "words_said.gate": "The gate that was named beside them; empty when none was.",
    "words_said.asked": "What the person saw asked when they said it, by name: gates, or what was asked back; empty "
    "when that is not known. It answers nothing else.",
    "words_said.to": "Whom they were said to: the session, whose conversation answers the rest, or the run alone.",
    "words_understood.words": "The name of the words, as `words_said` has it.",
    "words_understood.meaning": "What they mean to the run. With a question mark: what the person is asked.",
    "words_understood.reason": "Which words decided, or what is not clear about them, or why it can't be done.",
    "words_understood.gate": "The gate they were judged for; empty for none.",
    "words_understood.choice": "The id of the choice they make; empty for none.",
    "words_understood.text": "What is to be changed; with `refused`, what to do about it.",
    "words_understood.model": "The model whose opinion it is; empty for a rule.",
    "gate_resolved.words": "The name of the words it was decided on; empty for a choice made by its id.",
    "gate_resolved.confirmation": "The name of the question that the person said yes to; empty for none.",
    "confirmation_asked.gate": "The gate that a reply is for.",
    "confirmation_asked.choice": "The id of the choice that was understood.",
    "confirmation_asked.does": "What that choice does.",
    "confirmation_asked.change": "What would be changed.",
    "confirmation_resolved.words": "The name of the words it was decided on; empty when it was answered by its name.",
    "source_switched.source": "Its slug.",
    "source_switched.on": "Whether the conversation has its tools; absent: as the source's own file says, again.",
    "session_described.title": "What the person calls it; empty for the title it has by itself.",
    "session_described.status": "Where it stands for the person: one of the workspace's statuses; empty for none.",
    "session_described.labels": "Labels that were put on, each with its value; an empty one for none.",
    "session_described.unlabelled": "Labels that were taken off.",
    "session_described.flag": "Whether it is flagged.",
    "session_described.archived": "Whether it is in the archive, which lists leave out.",
    "session_described.note": "A note of the person; empty for none.",
    "session_described.seen": "The number of the last event that was looked at; 0 makes it unread again.",
    "setting_changed.setting": "What was changed.",
    "setting_changed.value": "Its value from now on.",
    "question_asked.question": "The name of what is asked.",
    "question_asked.questions": "Each with its `text`, its `options` and whether `several` may be chosen.",
    "question_closed.question": "The name of what was asked.",
    "status_changed.mode": "How calls of tools are judged.",
    "status_changed.model": "The model that answers.",
    "status_changed.tokens": "What the model calls of the session took.",
    "status_changed.cost": "What they cost, in words; empty when nothing can have cost anything.",
    "status_changed.context_used": "The filled part of the model's window, from 0 to 1.",
    "status_changed.limits": "How much of each limit of the conversation is used, in words; empty without limits.",
    "reply_classified.step": "The step at whose gate the run waits; what the call took counts on it.",
    "reply_classified.meaning": "What the model takes the words for: `reply`, `breakout` or `unclear`.",
    "reply_classified.choice": "With `reply`, the id of the choice; empty otherwise.",
    "reply_classified.reason": "Why it counts or does not, in words.",
    "reply_classified.model": "The model that was asked.",
    "reply_classified.ms": "How long it took.",
    "reply_classified.usage": "The tokens it took.",
    "gate_opened.form": "What the person is asked for besides, in this order: `name`, `type`, `label`, its `value` as "
    "it is now, and `choices`, `minimum` and `maximum` where there are some.",
    "gate_opened.choices": "What is offered, in this order: `id`, `label`, `does`, and `set` when it sets parameters.",
    "gate_resolved.choice": "The id of the choice.",
    "gate_resolved.does": "What the choice does.",
    "gate_resolved.hash": "The hash of the result that was judged: a person's edit of it, when they kept one.",
    "gate_resolved.text": "What the person wants changed.",
    "gate_resolved.by": "Who replied: a person, their answer in advance, a gate that shows and goes on, or the end of "
    "its time.",
    "gate_resolved.parameters": "The parameters that the choice sets, and those that the person filled in.",
    "confirmation": "The name of the question.",
    "confirmation_asked.kind": "What is to be confirmed.",
    "confirmation_asked.text": "The person's words that led to the question.",
    "confirmation_resolved.choice": "Whether the run is left.",
    "verdict_given.step": "The verifier.",
    "verdict_given.verdict": "What it says. What could not be checked is not checked, never passed.",
    "verdict_given.claims": "How many claims are quoted, judged, contradicted and not checked; empty when it has none.",
    "verdict_overruled.step": "The step that gave the verdict.",
    "verdict_overruled.claim": "The claim's id in what that step made.",
    "verdict_overruled.text": "The claim.",
    "verdict_overruled.was": "The verdict of the step.",
    "verdict_overruled.verdict": "The person's; the same as `was` when they take an earlier word back.",
    "verdict_overruled.why": "The person's reason.",
    "verdict_given.round": "How many rounds of repair came before.",
    "most": "How many rounds are allowed.",
    "round_started.kind": "Why: the verifier of a repair said so, or the condition of a loop holds.",
    "round_started.unit": "The step that closes the unit: the verifier, or the one with the loop.",
    "round_started.round": "Which round this is, from 1.",
    "round_started.steps": "The steps that are made again.",
    "round_started.base": "The hash of all that the unit is made from besides; rounds count only on the same base.",
    "round_started.feedback": "What the steps of the unit are given.",
    "round_started.found_in": "The hash of what a repair's verifier looked at; a round that leaves it so is the last.",
    "budget_reached.step": "The step that was to begin.",
    "budget_reached.message": "Which limit, what is spent, and what the next call would take.",
    "step_interrupted.ms": "How long it had taken, in milliseconds.",
    "step_interrupted.model": "The model that was making it, when one was.",
    "step_interrupted.usage": "The tokens it had used until then, as far as they were told.",
    "input_recorded.edited": "Whether a person changed `file` in the session; it is kept aside before it is replaced.",
    "input_recorded.originals": "The files as they were given, kept beside `file`: each name with its hash.",
    "run_started.profile": "What stood in place of parts of the profile, for this run alone, by dotted name.",
    "artifact": "The artifact's file name.",
    "artifact_accepted.content": "The artifact's text; absent when the text is in `blobs/<hash>`.",
    "artifact_accepted.hash": "The hash of the artifact's bytes.",
    "artifact_accepted.run": "The number of the run; 0 for an edit that is kept and for an older session.",
    "artifact_accepted.size": "The artifact's size in bytes.",
    "artifact_rejected.findings": "What is wrong with it: at least one finding.",
    "artifact_rejected.run": "The number of the run; 0 for an artifact of an older session.",
    "artifact_restored.hash": "The hash of the bytes that were written again.",
    "artifact_set_aside.artifact": "The artifact, or the copy of an input, that a person had changed.",
    "artifact_set_aside.hash": "The hash of the version that was set aside.",
    "artifact_set_aside.kept": "Where that version is now, below the session folder.",
    "attempt": "The number of the attempt: it counts from 1 for each step, over all runs of the session.",
    "hash": "The hash of the step's artifact, or one hash over all of them when there are several.",
    "input_hash": "One hash over `inputs`.",
    "input_recorded.file": "The copy in the session folder.",
    "input_recorded.hash": "The hash of the input's bytes.",
    "input_recorded.input": "The name of the input in the pipeline.",
    "input_recorded.origin": "The path the person gave, made absolute.",
    "input_recorded.size": "The input's size in bytes.",
    "inputs": "Everything the result depends on: by name, its hash, or its value when that is short.",
    "ms": "How long the attempt took, in milliseconds.",
    "notice_given.text": "What the person should know.",
    "pipeline": "The pipeline's name.",
    "run": "The number of the run, from 1.",
    "run_ended.message": "Why, when the outcome is not `done`.",
    "run_started.desired": "The step whose artifact is wanted: the final one, or that of `--until`.",
    "run_started.model": "The workspace's model.",
    "instead": "Another model that is asked from now on, in its place; empty for the same one.",
    "run_started.chosen_model": "The model that a person chose for every step of this session; empty for the files'.",
    "run_started.chosen": "The parameters that a person set in this session; the others follow the defaults.",
    "run_started.parameters": "Every parameter with its value for this run.",
    "run_started.steps": "All steps of the pipeline in running order.",
    "schema_version": "The versions of the step's schemas with commas between them; empty when it has none.",
    "session": "The session's id.",
    "session_adopted.notes": "What was found wrong, in words.",
    "session_adopted.shape": "The shape of the older manifest: `hashes`, `phases`, `pipeline` or `none`.",
    "step": "The step's name.",
    "step_failed.kind": "How it failed.",
    "step_failed.message": "The error in words.",
    "step_failed.retrying": "Whether another attempt follows in this run.",
    "step_interrupted.why": "Who or what stopped it.",
    "step_progressed.text": "One line that the code printed.",
    "step_skipped.reason": "Why it did not have to run, in words.",
    "step_started.cause": "Why there is this attempt.",
    "step_started.reason": "The planner's reason, in words.",
    "weft": "The version of the program that wrote it.",
    "conversation": "Which conversation: `main`, `main/a1` for a sub-conversation of it, "
    "`run-1/<step>#<attempt>` for the one in which an agent makes a step.",
    "turn": "The number of the turn, from 1 in each conversation.",
    "call": "The model's name for the tool call; two calls of a turn never have the same.",
    "execution": "The execution: `t3/model`, or `t3/` and the call; `#2` behind it for a second attempt.",
    "tool": "The tool's name.",
    "message": "The message's name.",
    "key": "What names the continuation: the conversation and the turn whose results it carries.",
    "step_started.anew": "Whether a person wants it made whatever is there: nothing made before is taken over.",
    "item": "The item's name in its step.",
    "artifact_accepted.item": "The item whose file it is; empty for an artifact of the step itself.",
    "artifact_rejected.item": "The item whose file it is; empty for an artifact of the step itself.",
    "call_settled.item": "The item it was made for, in a step that is made item by item; else empty.",
    "step_started.wait_ms": "How long it waits before it begins, in milliseconds: 0 but for a step with `retry`.",
    "step_started.only": "The items that a person asked for; empty for all.",
    "item_settled.artifact": "The item's file; empty in a step of a tool with `each`, and for one that failed.",
    "item_settled.tries": "Which try of the item it was in its attempt.",
    "item_settled.retrying": "Whether it failed and is tried again.",
    "item_settled.model": "The model that made it; absent when none did.",
    "item_settled.usage": "What its calls used: tokens by kind.",
    "item_settled.reused": "The session whose result was taken over; empty when it was made.",
    "item_settled.by_model": "The same by model, when there was more than one.",
    "item_settled.input_hash": "Of everything that its result depends on.",
    "item_settled.ok": "Whether it has a result.",
    "item_settled.hash": "Of its result as JSON.",
    "item_settled.size": "The bytes of that.",
    "item_settled.content": "The result; absent when it is a file of its own, and for a large one, which is kept as "
    "`blobs/<hash>`.",
    "item_settled.message": "What came of it in a few words, or why there is no result.",
    "item_settled.ms": "How long it took, in milliseconds.",
    "trace": "The calls that led to an error of code, the last eight from the workspace's own on.",
    "resumable": "Whether what it did so far is kept, and gone on with when it is tried again with the same inputs.",
    "conversation_opened.prompt": "Of a step's: the hash of what its model is told before anything is said, kept as "
    "`blobs/<hash>`.",
    "conversation_opened.nonce": "Of a step's: what marks data in its prompts.",
    "conversation_opened.tainted": "Whether what it begins with came from outside.",
    "conversation_opened.dropped": "What it was to be told and did not fit, in words.",
    "conversation_opened.parent": "The conversation that opened it; absent for a main one.",
    "conversation_opened.execution": "The tool call of the parent whose result its end will be.",
    "message_accepted.text": "What was said.",
    "message_accepted.delivery": "Whether it starts a turn now or waits for the next.",
    "message_accepted.origin": "Who said it: the person, the conversation that opened this one, "
    "the run whose step it makes.",
    "continuation_cancelled.reason": "Why there is none.",
    "turn_started.messages": "The names of the messages that it takes, in order.",
    "turn_started.continues": "The key of the continuation, when it is one.",
    "intent_recorded.kind": "What will run: the model, a tool, or a sub-conversation.",
    "intent_recorded.call": "The tool call, when it is one.",
    "interruptible": "Whether it can be stopped.",
    "model_settled.text": "What the model said, as far as it came.",
    "model_settled.thinking": "What it thought, block by block, each with the provider's seal.",
    "model_settled.reason": "Why, when it did not complete.",
    "model_settled.model": "The model that answered.",
    "model_settled.stop": "Why the model ended its answer: `max_tokens` when it was cut at the most it may write, "
    "`refused` when it would not answer; absent when it did not end.",
    "model_settled.usage": "Tokens, by kind, as far as they were reported.",
    "calls_declared.calls": "The names of the calls, in order.",
    "tool_requested.input": "What the tool is given.",
    "tool_requested.verdict": "What the rules say: allowed, ask, denied; `fault` for a call that can't be run.",
    "tool_requested.reason": "Why they say so.",
    "tool_requested.key": "What an approval for the session would cover; absent when that is not offered.",
    "tool_requested.always": "The rule that would spare the question from now on; absent for none.",
    "tool_requested.prompt": "The first message of the sub-conversation that this call opens.",
    "tool_requested.safe_to_retry": "Whether running it twice does no harm.",
    "tool_requested.malformed": "What the model wrote, when that was no proper input.",
    "approval_requested.reason": "Why the person is asked.",
    "approval_requested.tainted": "Whether the question is there because content from outside has come in.",
    "approval_decided.decision": "Allowed for this call, for the session, or denied.",
    "approval_decided.reason": "What the person said to it.",
    "approval_remembered.key": "What is allowed from here on.",
    "outcome": "How it ended.",
    "tool_settled.effect": "What it may have done: nothing, nobody knows, or all of it.",
    "tool_settled.text": "Its result; for one that was stopped, why.",
    "tool_settled.ends": "Whether the conversation is over with it: a result was handed in, and taken or given up.",
    "tool_settled.tainting": "Whether the result brings in content from outside.",
    "turn_interrupted.reason": "Who or what stopped it: `user`, `shutdown`, `process_lost`, `shutdown_timeout`.",
    "turn_interrupted.unsupported": "Executions that can't be stopped and settle by themselves.",
    "turn_completed.disposition": "What follows: nothing, the next model call, or an end before its time.",
    "turn_completed.key": "The key of the continuation that is due; absent when none is.",
    "turn_completed.results": "The outcome of every call, in declared order.",
    "step_completed.model": "The model that made it; absent for code.",
    "step_completed.reused": "The session whose result of the same inputs was taken over; then nothing was called.",
    "step_completed.usage": "The tokens that this took, as far as the model told.",
    "step_failed.model": "The model that was asked; absent for code.",
    "step_failed.usage": "The tokens that this took, as far as the model told.",
    "tries": "Which try it was that failed.",
    "wait_ms": "The pause before the next one, in milliseconds.",
    "model_retried.reason": "What the provider or the connection said.",
    "model_retried.model": "The model that is asked.",
    "step_model_retried.reason": "What the provider or the connection said.",
    "step_model_retried.model": "The model that is asked.",
    "transcript_compacted.turn": "The last turn that is told in short.",
    "transcript_compacted.text": "What is told in its place.",
    "transcript_compacted.model": "The model that wrote it; absent when it was put together by rule.",
    "transcript_compacted.usage": "The tokens that this took.",
    "model_settled.ms": "How long it ran, in milliseconds.",
    "tool_settled.ms": "How long it ran, in milliseconds.",
    "tool_settled.seen": "Files that it showed or changed, each with the hash of what the model knows of it now.",
    "in_order": "It may change something: it waits for the calls before it, and those behind it wait for it.",
    "limits_set.limits": "`turns`, `tokens`, `usd`, `minutes`; what is left out is not bounded.",
    "limit_reached.limit": "Which one.",
    "limit_reached.reason": "What it allows and what was taken, in words.",
    "limit_reached.key": "The continuation that waits.",
    "command_refused.refusal": "Why it changed nothing.",
    "command_refused.turn": "The turn it spoke of.",
    "command_refused.outcome": "The outcome or the decision that it brought.",
    "command_refused.text": "The result or the message that it brought.",
    "processor_failed.error": "What it raised.",
    "conversation_stopped.clean": "Whether nothing was left running.",
    "conversation_ended.disposition": "How its last turn ended.",
    "text": "The piece.",
    "tool_progressed.text": "What it says.",
}
"""By field, or by event and field where the event gives it a meaning of its own."""

STEP_INPUT_MEANINGS: Final = {
    "session": "The session's id.",
    "step": "The step's name.",
    "attempt": "The number of this attempt.",
    "makes": "The artifacts that are to be made.",
    "idempotency_key": "The same for every attempt at the same work: hand it to services that can honour it.",
    "inputs": "The text of each input that the step reads, by name.",
    "documents": "What each of them that is a document says of itself: `kind`, `title`, `author`, `published`, "
    "`language`, `url`, `words`, `cues` (`start`, `end`, `speaker`, `offset`, `length`), `pages`, `notes`, `extra`.",
    "artifacts": "The artifacts of the required steps by file name: parsed for `.json`, text otherwise.",
    "models": "The model that made each of them, by file name; those that code made are not there.",
    "parameters": "The parameters that the step reads, by name.",
    "profile": "The parts of the profile that the step names, by dotted name; `None` for a part that is not set.",
    "secrets": "The secrets that the step declares, and those its parameters name, by name; in no log and no file.",
    "instructions": "The agent's text, for a step of an agent.",
    "skills": "The text of each skill, by name.",
    "feedback": "What was wrong with the attempt before this one, a text for each fault; empty at first.",
    "replies": "What the person wanted changed, by the step at whose gate they said it, the oldest first.",
    "before": "Of a step whose result a person wanted changed: its artifacts as they looked at them, by file name.",
    "rounds": "For a step that is made again: by the step that closes its unit `kind` (`repair` or `loop`), `round`, "
    "`most` and `feedback`.",
    "failed": "By step, why it failed for good. For a step with `on_failure` or `finally`.",
    "overruled": "What a person says against verdicts of this step, by claim: `was`, `verdict`, `why` and `by`. For a "
    "step with the key `verdicts`.",
    "item": "What it is made for, in a step with a `map`: a value, a row, the text of a file or of a page.",
    "item_key": "What names it in its step.",
    "item_name": "What the `map` calls it; empty in a step without one.",
    "prior": "The artifacts of the key `prior`, as the session's earlier runs on other inputs finished with them: by "
    "name, the oldest first.",
}

MANIFEST_MEANINGS: Final = {
    "version": ("whole number", "The version of this file's format. 1 was written by older systems."),
    "sessionId": ("text", "The session's id."),
    "pipeline": ("text", "The pipeline's name."),
    "desiredOutput": ("text or null", "The step whose artifact the last run wanted."),
    "createdAt": ("time", "When the first event was written."),
    "updatedAt": ("time", "When the last event was written."),
    "sourceHash": ("hash or null", "Of the first input."),
    "lastSeq": ("whole number", "The `seq` of the last event that is in this file."),
    "lastHash": ("text or null", "The hash of the decision that event stands in; null for a log of version 1."),
    "run": (
        "mapping or null",
        "The last run: its number (`run`), `status`, `message`, the open `gates` (`gate` and `step` each), "
        "the question that is open (`confirming`), and by verifier its last verdict (`verdicts`).",
    ),
    "steps": ("mapping", "Each step by name, in running order."),
}
MANIFEST_STEP_MEANINGS: Final = {
    "status": ("text", "`pending`, `in_progress`, `completed` or `failed`."),
    "contentHash": ("hash or null", "Of the step's last good result."),
    "inputHash": ("hash or null", "Of everything that result was made from."),
    "schemaVersion": ("text or null", "The versions of the schemas it passed; empty when the step has none."),
    "completedAt": ("time or null", "When that result was recorded."),
    "attempt": ("whole number", "The number of the last attempt; 0 when there was none."),
    "errorMessage": ("text or null", "Why the last attempt has no result."),
}


class IncompleteError(Exception):
    """A table here and the program say different things."""


# -- pages


def fill(text: str) -> str:
    """A page with every generated section as it has to be now."""

    def section(found: re.Match[str]) -> str:
        name = found[2]
        if name not in SECTIONS:
            raise IncompleteError(f"there is no section {name!r}; there are: {', '.join(SECTIONS)}")
        return f"{found[1]}\n{_made(name)}\n\n{found[3]}"

    filled = _SECTION.sub(section, text)
    unclosed = set(_BEGIN.findall(text)) - {found[2] for found in _SECTION.finditer(text)}
    if unclosed:
        raise IncompleteError(f"the section {min(unclosed)!r} has no end")
    return filled


@cache
def _made(name: str) -> str:
    return SECTIONS[name]().strip()


def missing_sections(pages: Iterable[str]) -> list[str]:
    """The sections that no page holds."""
    held = {name for page in pages for name in _BEGIN.findall(page)}
    return [name for name in SECTIONS if name not in held]


def main(words: Sequence[str]) -> int:
    check = "--check" in words
    if set(words) - {"--check"}:
        sys.stderr.write("usage: python docs/generate.py [--check]\n")
        return 2
    pages = {path: path.read_text(encoding="utf-8") for path in sorted(REFERENCE.glob("*.md"))}
    stale = 0
    try:
        filled = {path: fill(text) for path, text in pages.items()}
    except IncompleteError as error:
        sys.stderr.write(f"docs/generate.py: {error}\n")
        return 1
    for name, made in (("events", event_schema()), ("commands", command_schema())):
        path = REFERENCE / f"{name}.schema.json"
        pages[path] = path.read_text(encoding="utf-8") if path.exists() else ""
        filled[path] = json.dumps(made, indent=2, ensure_ascii=False) + "\n"
    for path, text in filled.items():
        if text == pages[path]:
            continue
        stale += 1
        if check:
            sys.stdout.write(_diff(path, pages[path], text))
        else:
            path.write_text(text, encoding="utf-8")
    absent = missing_sections(filled.values())
    for name in absent:
        sys.stderr.write(f"docs/generate.py: no page has the section {name!r}\n")
    return 1 if absent or (check and stale) else 0


def _diff(path: Path, old: str, new: str) -> str:
    name = f"docs/reference/{path.name}"
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), name, f"{name} (generated)", lineterm="")
    return "\n".join(lines) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines) + "\n"


# -- commands


def commands() -> str:
    return "\n".join(_command_parts(weft, click.Context(weft, info_name="weft", **weft.context_settings)))


def _command_parts(command: click.Command, context: click.Context) -> Iterator[str]:
    yield f"### {context.command_path}\n"
    yield f"```text\n{' '.join([context.command_path, *command.collect_usage_pieces(context)])}\n```\n"
    yield from _help_parts(command.help or "")
    options = [param for param in command.params if isinstance(param, click.Option)]
    records = [record for option in options if (record := option.get_help_record(context))]
    if records:
        yield table(("option", "meaning"), [(f"`{option}`", meaning) for option, meaning in records])
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is None:
                raise IncompleteError(f"{context.command_path} lists {name!r} but does not have it")
            yield from _command_parts(inner, click.Context(inner, info_name=name, parent=context))


def _help_parts(text: str) -> Iterator[str]:
    """Paragraphs; what click keeps as it is (after a \\b) is a block of its own."""
    for paragraph in re.split(r"\n\s*\n", inspect.cleandoc(text)):
        if paragraph.startswith("\b"):
            yield "```text\n" + paragraph.removeprefix("\b").strip("\n") + "\n```\n"
        elif paragraph.strip():
            yield " ".join(paragraph.split()) + "\n"


# -- events


def durable_events() -> str:
    known = {f"{tag_of(kind)}.{field.name}" for kind in typing.get_args(events.Event) for field in fields(kind)}
    known |= {field.name for kind in typing.get_args(events.Event) for field in fields(kind)}
    if spare := set(FIELD_MEANINGS) - known:
        raise IncompleteError(f"FIELD_MEANINGS tells of {min(spare)}, which no event has")
    return "\n".join(_event(kind) for kind in typing.get_args(events.DurableEvent))


def live_events() -> str:
    return "\n".join(_event(kind) for kind in typing.get_args(events.LiveEvent))


def _event(kind: Any) -> str:
    hints = typing.get_type_hints(kind)
    tag = tag_of(kind)
    rows = [
        (f"`{field.name}`", type_words(hints[field.name]), field_meaning(tag, field.name))
        for field in fields(kind)
        if field.name != "type"
    ]
    return f"### {tag}\n\n{event_meaning(kind)}\n\n{table(('field', 'type', 'meaning'), rows)}"


def tag_of(kind: Any) -> str:
    (tag,) = typing.get_args(typing.get_type_hints(kind)["type"])
    return str(tag)


def event_meaning(kind: Any) -> str:
    text, tag = inspect.getdoc(kind) or "", tag_of(kind)
    own = not text.startswith(f"{kind.__name__}(")  # a dataclass without a docstring gets its signature as one
    if own == (tag in EVENT_MEANINGS):
        raise IncompleteError(f"{tag}: EVENT_MEANINGS has to say what it means exactly if its class does not")
    words = " ".join(text.split()).removeprefix("Live: ") if own else EVENT_MEANINGS[tag]
    return words[:1].upper() + words[1:]


def field_meaning(tag: str, name: str) -> str:
    meaning = FIELD_MEANINGS.get(f"{tag}.{name}") or FIELD_MEANINGS.get(name)
    if meaning is None:
        raise IncompleteError(f"FIELD_MEANINGS does not say what `{name}` of {tag} is")
    return meaning


def type_words(hint: Any) -> str:
    """A field's type as JSON has it, in words."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal:
        return _listed([f"`{choice}`" for choice in inner])
    if origin in (types.UnionType, typing.Union):
        return f"{type_words(inner[0])}, may be absent"
    if origin is tuple:
        return {Finding: "list of findings", str: "list of texts"}.get(inner[0], "list of mappings")
    if origin is not None:
        return "mapping of names to texts" if inner[1] is str else "mapping of names to values"
    return {str: "text", int: "whole number", bool: "true or false", float: "number", Any: "any value"}[hint]


# -- what code is given, and the manifest


def step_input() -> str:
    _same_keys("StepInput", [field.name for field in fields(StepInput)], STEP_INPUT_MEANINGS)
    return table(("field", "meaning"), [(f"`{name}`", meaning) for name, meaning in STEP_INPUT_MEANINGS.items()])


def manifest_keys() -> str:
    whole = manifest_example()
    _same_keys("the manifest", whole, MANIFEST_MEANINGS)
    _same_keys("a step in the manifest", whole["steps"]["one"], MANIFEST_STEP_MEANINGS)
    parts = []
    for meanings in (MANIFEST_MEANINGS, MANIFEST_STEP_MEANINGS):
        rows = [(f"`{key}`", kind, meaning) for key, (kind, meaning) in meanings.items()]
        parts.append(table(("key", "type", "meaning"), rows))
    return "\nEach step has:\n\n".join(parts)


def manifest_example() -> dict[str, Any]:
    started = RunStarted(run=1, pipeline="p", steps=("one",), desired="one", parameters={})
    created = SessionCreated(session="example", pipeline="p", weft="0")
    return manifest(fold([Record(1, "", created), Record(2, "", started)]))


def _same_keys(what: str, found: Iterable[str], told: Mapping[str, Any]) -> None:
    if different := set(found) ^ set(told):
        raise IncompleteError(f"{what}: the program and docs/generate.py differ in {', '.join(sorted(different))}")


# -- what people write


def keys_of(model: type[BaseModel]) -> Callable[[], str]:
    return lambda: key_table(model)


def pipeline_keys() -> str:
    parts = (
        ("The pipeline", PipelineFile),
        ("An input", InputEntry),
        ("A parameter", ParameterEntry),
        ("A step", StepEntry),
        ("Each call", EachEntry),
        ("What a step allows", StepRuleEntry),
    )
    return "\n".join(f"### {title}\n\n{key_table(model)}" for title, model in parts)


def flow_keys() -> str:
    parts = (
        ("A gate", GateEntry),
        ("A place that it shows", ShownEntry),
        ("A choice", ChoiceEntry),
        ("A repair", RepairEntry),
        ("Another try", RetryEntry),
        ("A loop", LoopEntry),
        ("Verdicts on claims", VerdictsEntry),
        ("A budget", BudgetEntry),
    )
    return "\n".join(f"### {title}\n\n{key_table(model)}" for title, model in parts)


def key_table(model: type[BaseModel], word: str = "key") -> str:
    schema = model.model_json_schema(by_alias=True)
    rows = []
    for name, info in model.model_fields.items():
        key = info.alias or name
        described = schema["properties"][key]
        if info.description is None:
            raise IncompleteError(f"{model.__name__}.{name} has no description")
        kind = schema_words(described)
        if kind == "any value" and typing.get_origin(info.annotation) is list:
            kind = "list of texts, or text"
        default = "required" if info.is_required() else default_words(info.get_default(call_default_factory=True))
        rows.append((f"`{key}`", kind, default, info.description.removesuffix(".")))
    return table((word, "type", "default", "meaning"), rows)


def schema_words(described: Mapping[str, Any]) -> str:
    """A JSON Schema in words."""
    if "enum" in described:
        return _listed([f"`{choice}`" for choice in described["enum"]])
    if "anyOf" in described:
        options = [schema_words(option) for option in described["anyOf"] if option != {"type": "null"}]
        if "number" in options and "whole number" in options:
            options.remove("whole number")
        return " or ".join(options)
    kind = described.get("type")
    if isinstance(kind, list):
        return " or ".join(schema_words({"type": each}) for each in kind)
    if kind == "array":
        return f"list of {_plural(schema_words(described['items']))}"
    if kind == "object":
        return "mapping"
    if kind in ("integer", "number"):
        return ("whole number" if kind == "integer" else "number") + _bounds(described)
    return {"string": "text", "boolean": "true or false"}.get(str(kind), "any value")


def _bounds(described: Mapping[str, Any]) -> str:
    low, high = described.get("minimum"), described.get("maximum")
    if low is None and high is None:
        return ""
    return f", {low} to {high}" if high is not None else f", at least {low}"


def _plural(words: str) -> str:
    if words.startswith("`"):  # values, which have no plural
        return words
    return " or ".join(f"{word}s" if word != "true or false" else word for word in words.split(" or "))


def default_words(value: Any) -> str:
    if isinstance(value, BaseModel):
        value = value.model_dump(exclude_defaults=True)
    if value is None:
        return "none"
    if isinstance(value, dict):
        value = {k: v.model_dump(exclude_defaults=True) if isinstance(v, BaseModel) else v for k, v in value.items()}
        return "`{" + ", ".join(f"{key}: {json.dumps(part)}" for key, part in value.items()) + "}`"
    return f"`{json.dumps(int(value) if isinstance(value, float) and value.is_integer() else value)}`"


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def profile_keys() -> str:
    """The parts of a writer's profile, by the dotted names that steps use."""
    rows = []
    for name, info in WriterProfile.model_fields.items():
        inner = Style.model_fields if name == "style" else {}
        for key, part in ({f"style.{key}": part for key, part in inner.items()} or {name: info}).items():
            schema = (Style if inner else WriterProfile).model_json_schema()["properties"][key.split(".")[-1]]
            kind = "list of topics" if name == "topics" else schema_words(schema)
            rows.append((f"`{key}`", kind, default_words(part.get_default()), part.description or ""))
    return table(("part", "type", "default", "meaning"), rows)


# -- checks


def checks() -> str:
    rows = []
    for name, check in sorted(CHECKS.items()):
        options = [info.alias or field for field, info in check.options.model_fields.items()]
        rows.append((f"[`{name}`](#{name})", check.summary, ", ".join(f"`{option}`" for option in options)))
    return table(("check", "what must hold", "options"), rows)


def check_section(name: str) -> Callable[[], str]:
    return lambda: f"{CHECKS[name].summary}\n\n{key_table(CHECKS[name].options, 'option')}"


# -- tools


def tools() -> str:
    parts = []
    for entry in Toolbox(builtin_tools()).listing():
        schema = entry["input_schema"]
        traits = [f"kind: `{entry['effect']}`"]
        traits.append("can be interrupted" if entry["interruptible"] else "can't be interrupted")
        traits.append("may be made again after a crash" if entry["retryable"] else "is not made again after a crash")
        rows = [
            (f"`{key}`", schema_words(about), "required" if key in schema["required"] else "", _about(about))
            for key, about in schema["properties"].items()
        ]
        keys = table(("key", "type", "", "meaning"), rows)
        parts.append(f"### {entry['name']}\n\n{entry['description']}\n\n{', '.join(traits).capitalize()}.\n\n{keys}")
    return "\n".join(parts)


def _about(described: Mapping[str, Any]) -> str:
    """A key's description; for a list of objects, the keys of each."""
    inner = described.get("items", {}).get("properties", {})
    if not inner:
        return str(described.get("description", ""))
    return "each with " + ", ".join(
        f"`{key}`" + (f" ({about['description']})" if "description" in about else f" ({schema_words(about)})")
        for key, about in inner.items()
    )


def permission_keys() -> str:
    return f"### The file\n\n{key_table(PermissionFile)}\n### A rule\n\n{key_table(RuleEntry)}"


def own_rules() -> str:
    return table(
        ("rule", "about", "why"),
        [(f"{rule.verb} `{rule.tool}`", f"`{rule.path}`" if rule.path else "", rule.why) for rule in app_rules().rules],
    )


def read_only_programs() -> str:
    rows = []
    for name, program in sorted(PROGRAMS.items()):
        inner = ", ".join(f"`{word}`" for word in sorted(program.subcommands))
        rows.append((f"`{name}`", inner, "" if program.offline else "no"))
    return table(("program", "only these subcommands", "stays on this machine"), rows)


def knowledge_tools() -> str:
    rows = []
    for name, tool in TOOLS.items():
        told = ", ".join(f"`{argument}`" for argument in tool.schema.get("properties", {})) or "none"
        rows.append([f"`{name}`", f"`{tool.alias}`", told, tool.description])
    return table(("tool", "with a prefix", "arguments", "what it does"), rows)


# -- the API


@cache
def _openapi() -> dict[str, Any]:
    return make_api(typing.cast(Served, None)).openapi()


def api_routes() -> str:
    """Every operation with its role, what it takes and what it gives, as the OpenAPI document has them."""
    document = _openapi()
    forms = {name: one["properties"] for name, one in document["components"]["schemas"].items() if "Body_" in name}
    routes = [route for router in told_routers() for route in router.routes if isinstance(route, APIRoute)]
    roles = {route.name: _role(route) for route in routes}
    rows = []
    for path, methods in document["paths"].items():
        for method, one in methods.items():
            about = " ".join(one.get("description", one["summary"]).split())
            given = [f"`{part['name']}`" for part in one.get("parameters", ()) if part["in"] == "query"]
            for body in one.get("requestBody", {}).get("content", {}).values():
                fields = forms.get(body.get("schema", {}).get("$ref", "").rpartition("/")[2], ())
                given += [f"`{field}`" for field in fields] or [_linked(body)]
            good: Mapping[str, Any] = next(
                (answer for code, answer in one["responses"].items() if code.startswith("2")), {}
            )
            gives = ", ".join(_linked(content) for content in good.get("content", {}).values())
            call = f"`{method.upper()} {path.replace('/api/w/{workspace}', '…')}`"
            rows.append((call, roles[one["operationId"]], ", ".join(given), gives, about))
    return table(("request", "role", "takes", "gives", "what it does"), rows)


def _role(route: APIRoute) -> str:
    if route.path == "/sign-in":
        return "nobody yet"
    found = [getattr(one.call, "role", "") for one in route.dependant.dependencies]
    role = next((role for role in found if role), "")
    if not role:
        raise IncompleteError(f"the route {route.path} names no role")
    return str(role)


def _linked(content: Mapping[str, Any]) -> str:
    schema = content.get("schema", {})
    many = schema.get("type") == "array"
    name = (schema.get("items", {}) if many else schema).get("$ref", "").rpartition("/")[2]
    return f"{'list of ' if many else ''}[{name}](#{name.lower()})" if name and not name.startswith("Body_") else ""


def api_shapes() -> str:
    schemas = _openapi()["components"]["schemas"]
    parts = []
    for name, one in sorted(schemas.items()):
        if name.startswith(("Body_", "HTTPValidation", "ValidationError")):
            continue
        rows = [
            (f"`{key}`", schema_words(about), "" if key in one.get("required", ()) else "may be left out")
            for key, about in one.get("properties", {}).items()
        ]
        about = one.get("description", "")
        parts.append(
            f"### {name}\n\n{f'{about}{chr(10)}{chr(10)}' if about else ''}{table(('field', 'type', ''), rows)}"
        )
    return "\n".join(parts)


SECTIONS: Final[Mapping[str, Callable[[], str]]] = {
    "api-routes": api_routes,
    "api-shapes": api_shapes,
    "commands": commands,
    "events": durable_events,
    "live-events": live_events,
    "manifest-keys": manifest_keys,
    "pipeline-keys": pipeline_keys,
    "flow-keys": flow_keys,
    "map-keys": keys_of(MapEntry),
    "step-input": step_input,
    "agent-keys": keys_of(AgentFront),
    "skill-keys": keys_of(SkillFront),
    "config-keys": keys_of(ConfigFile),
    "model-table-keys": keys_of(ModelEntry),
    "role-table-keys": keys_of(RoleEntry),
    "price-table-keys": keys_of(PriceEntry),
    "pack-keys": keys_of(PackFile),
    "profile-keys": profile_keys,
    "tools": tools,
    "permission-keys": permission_keys,
    "own-rules": own_rules,
    "read-only-programs": read_only_programs,
    "checks": checks,
    "collection-keys": keys_of(Collection),
    "collection-tier-keys": keys_of(TierEntry),
    "collection-reference-keys": keys_of(ReferenceEntry),
    "collection-document-keys": keys_of(DocumentEntry),
    "knowledge-tools": knowledge_tools,
    **{f"check-{name}": check_section(name) for name in sorted(CHECKS)},
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
