import { AuditLogError } from '../errors.js'
import type { AuditEvent, EventDraft, JsonObject } from '../event/event.js'
import type { CollapseRule, EventData, EventTypes } from '../event/event-types.js'
import { failureOf } from '../event/failure.js'
import { type JsonLimits, toJsonText } from '../event/json.js'
import { outcomeOf } from '../event/known-attributes.js'
import type { LinkTable } from '../event/links.js'
import { type Clock, formatTimestamp, type Microseconds } from '../event/timestamp.js'
import { checkOptions, type OptionNames } from '../options.js'
import type { Sealing } from '../privacy/sealing.js'
import { asAuditLogError, type Caller, type CallParts, type Replaced } from './call.js'
import { type ContextOptions, contextOf, withOutcome } from './call-context.js'
import type { IntentState } from './intent-state.js'
import { inTurn, type OpenIntent, type OpenIntents } from './open-intents.js'
import type { EarlierAttempts } from './queue.js'
import type { CallThrottle } from './throttle-rules.js'

export type IntentOptions = ContextOptions

export interface OutcomeOptions extends IntentOptions {
  /** Like the option of `recordSystem`. If it suppresses the event, the intent is removed. */
  readonly throttle?: CallThrottle | undefined
  /** As the option of `recordSystem`. If the call is counted, the intent is removed. */
  readonly collapse?: CollapseRule | undefined
  /** As the option of `recordSystem`. */
  readonly source?: string | undefined
}

export const INTENT_OPTIONS: OptionNames<IntentOptions> = {
  username: true,
  reason: true,
  approvedBy: true,
}
const OUTCOME_OPTIONS: OptionNames<OutcomeOptions> = {
  ...INTENT_OPTIONS,
  throttle: true,
  collapse: true,
  source: true,
}

/**
 * An action that is about to begin and that the store has recorded. It becomes one event or none: the first stored
 * outcome counts. Calls of one intent take effect one after another.
 */
export interface Intent<
  Types extends EventTypes = EventTypes,
  Links extends LinkTable = LinkTable,
> {
  /**
   * Records the outcome instead of the intent, as `recordSystem` does. After a rejection, the log retries every few
   * seconds, and a repeated call retries at once. Resolves to the event of the intent if it has ended with an event
   * of this type. Rejects with `INTENT_ENDED` if it has ended otherwise, or after `fail`.
   */
  record<Type extends keyof Types & string>(
    type: Type,
    data?: EventData<Types[Type], Links>,
    options?: OutcomeOptions,
  ): Promise<AuditEvent | undefined>
  /**
   * Records the event of the intent with the attributes `error`, which is the message of an error or a text, and
   * `backtrace`, the stack of an error; both without recognisable secrets. Resolves to the durable event, or to
   * `undefined` if the journal has it. After a rejection, the log retries every few seconds, and if the process ends,
   * another process records the failure. The error of the first call counts. If `record` has resolved, resolves to
   * its event. If `record` has rejected, but the store has kept the outcome, the failure becomes a further event.
   * After `cancel` rejects with `INTENT_ENDED`. Rejects as `recordSystem` does.
   */
  fail(error: unknown): Promise<AuditEvent | undefined>
  /**
   * Removes the intent. Resolves once it is removed. If the store fails, it is removed later. Has no effect if the
   * intent has ended, or after `fail`. Rejects with `CLOSED` if the log is closed; then the intent stays.
   */
  cancel(): Promise<void>
}

/** The parts that the intents of a log share. */
export interface IntentParts extends Pick<
  CallParts,
  'store' | 'definitions' | 'drafts' | 'outcomes' | 'recorder'
> {
  readonly now: Clock
  readonly deadlineMs: number
  readonly maxWaiting: number
  readonly limits: JsonLimits
  readonly caller: Caller
  readonly state: IntentState
  /** The open intents of this process. */
  readonly book: OpenIntents
  readonly sealing: Sealing | undefined
}

export const earlierThan = (since: Microseconds): EarlierAttempts => ({ since, until: since })

const endedError = (how: string): AuditLogError =>
  new AuditLogError('INTENT_ENDED', `the outcome is not recorded: the intent ${how}`)

/** Attributes of the event of an intent, until its outcome is known. */
const UNFINISHED = {
  unfinished: true,
  error: 'the process ended before the outcome was recorded',
}

/** The draft of the event that is recorded if the process ends. Throws as a call with the data would reject. */
export function intendedDraft(
  { definitions, drafts, now }: IntentParts,
  type: string,
  data: object,
  options: IntentOptions,
): EventDraft {
  try {
    const context = contextOf(options)
    const unfinished = { occurred_at: formatTimestamp(now()), ...UNFINISHED }
    const attributes = { ...context.attributes, ...unfinished }
    const draft = drafts.system(type, definitions.get(type), data, { ...context, attributes })
    if (outcomeOf(draft) === undefined) return draft
    const message = 'an intent has no outcome yet: give outcome to its method record'
    throw new AuditLogError('INVALID_DATA', message, { pointer: '/outcome' })
  } catch (thrown) {
    throw asAuditLogError(thrown)
  }
}

/** Attributes that an outcome takes over from the intent that it replaces. */
const inheritedFrom = ({ reason, approved_by }: JsonObject): JsonObject => ({
  ...(reason !== undefined && { reason }),
  ...(approved_by !== undefined && { approved_by }),
})

/** The draft of an outcome whose call was rejected, without a check of its data. */
function uncheckedDraft(
  { definitions, drafts }: IntentParts,
  { type, data, options }: OutcomeCall,
  inherited: JsonObject,
): EventDraft {
  const definition = definitions.get(type)
  const { source } = definition ?? {}
  const unchecked = source === undefined ? undefined : { source }
  const context = withOutcome(contextOf(options, inherited), definition, data)
  return drafts.system(type, unchecked, data, context)
}

/** Records a draft of the log itself within `ms` milliseconds, unless an earlier attempt has stored it. */
export async function recordAgain(
  { outcomes, recorder }: IntentParts,
  draft: EventDraft,
  earlier: EarlierAttempts | undefined,
  ms?: number,
): Promise<AuditEvent | undefined> {
  outcomes.ownDrafts.add(draft)
  outcomes.intendedDrafts.add(draft)
  const deadline = ms === undefined ? undefined : performance.now() + ms
  return recorder.add(draft, { isOwn: true, earlier, deadline })
}

/**
 * Records the failure as a further event, if the store has kept an outcome whose call was rejected. Otherwise a
 * failed action would look completed.
 */
export async function withFailure(
  parts: IntentParts,
  intent: OpenIntent,
  recorded: Promise<AuditEvent | undefined>,
): Promise<AuditEvent | undefined> {
  const event = await recorded
  const { failure, since } = intent
  if (!event || !failure || event.attributes['unfinished'] === true) return event
  if (event.attributes['error'] === failure.attributes['error']) return event
  intent.secondSuffix ??= parts.drafts.newSuffix()
  return recordAgain(parts, { ...failure, suffix: intent.secondSuffix }, earlierThan(since!))
}

/** Records the calls that are missing in the event of another process, which took over while this process was suspended. */
export async function withMissing(
  parts: IntentParts,
  intent: OpenIntent,
  due: EventDraft,
  event: AuditEvent | undefined,
): Promise<AuditEvent | undefined> {
  const { interrupted, count } = event?.attributes ?? {}
  const missing = Number(due.attributes['count']) - Number(count)
  if (!intent.isOwn || interrupted !== true || !(missing > 0)) return event
  intent.secondSuffix ??= parts.drafts.newSuffix()
  const attributes = { ...due.attributes, count: missing }
  const draft = {
    ...due,
    suffix: intent.secondSuffix,
    attributes,
    json: JSON.stringify(attributes),
  }
  return recordAgain(parts, draft, earlierThan(intent.since!))
}

/** Joins two attributes `recording`, of two copies of a value. */
function bothChanges(first: JsonObject, second: JsonObject | undefined): JsonObject {
  if (!second) return first
  const pointers = [first, second].flatMap(({ replaced }) => replaced as string[])
  const cut = [first, second].map(({ cut_bytes }) => cut_bytes as number)
  return { replaced: [...new Set(pointers)], cut_bytes: cut[0]! + cut[1]! }
}

/** The draft of an intent's event with the error. Calls no function of the host, which may throw. */
function failedDraft(
  { suffix, opened: { attributes: opened, ...event } }: OpenIntent,
  limits: JsonLimits,
  error: unknown,
): EventDraft {
  const { unfinished: _, recording, ...data } = opened
  const taken = recording === undefined ? 0 : Buffer.byteLength(JSON.stringify({ recording }))
  const room = { ...limits, maxBytes: limits.maxBytes - taken }
  const { attributes, json } = toJsonText({ ...data, ...failureOf(error) }, room)
  const draft = { ...event, suffix, system: true }
  if (recording === undefined) return { ...draft, attributes, json }
  const changes = attributes['recording'] as JsonObject | undefined
  const all = { ...attributes, recording: bothChanges(recording as JsonObject, changes) }
  return { ...draft, attributes: all, json: JSON.stringify(all) }
}

/** Records an outcome, and ends the intent if that succeeds. */
async function end(
  { book, state, deadlineMs }: IntentParts,
  intent: OpenIntent,
  type: string,
  record: (replaced: Replaced) => Promise<AuditEvent | undefined>,
): Promise<AuditEvent | undefined> {
  const { suffix, since, isTried, opened } = intent
  const isShared = isTried || !state.isOwnFor(deadlineMs)
  intent.isTried = true
  const inherited = inheritedFrom(opened.attributes)
  const event = await record({ suffix, inherited, earlier: earlierThan(since!), isShared })
  book.end(intent, { type, event, isKnown: true })
  // There is no event with the id of the intent, so another process would record it once more.
  if (!event) book.saveSoon()
  return event
}

interface OutcomeCall {
  readonly type: string
  readonly data: object
  readonly options: OutcomeOptions
}

async function recordOutcome(
  parts: IntentParts,
  intent: OpenIntent,
  { type, data, options }: OutcomeCall,
): Promise<AuditEvent | undefined> {
  const { book, caller, limits } = parts
  const { ended } = intent
  if (ended === 'cancelled') throw endedError('was cancelled')
  if (ended && ended.type !== type) throw endedError(`has ended as an event ${ended.type}`)
  if (ended) return ended.event
  let outcome: EventDraft | undefined
  const onDraft = (draft: EventDraft): void => void (outcome = draft)
  try {
    return await end(parts, intent, type, (replaced) =>
      caller.record(type, data, options, { replaced: { ...replaced, onDraft } }),
    )
  } catch (thrown) {
    try {
      outcome ??= uncheckedDraft(
        parts,
        { type, data, options },
        inheritedFrom(intent.opened.attributes),
      )
    } catch {
      outcome = failedDraft(intent, limits, thrown)
    }
    book.keep(intent, outcome)
    book.saveSoon()
    throw thrown
  }
}

async function recordFailure(
  parts: IntentParts,
  intent: OpenIntent,
  draft: EventDraft,
): Promise<AuditEvent | undefined> {
  const { book, caller } = parts
  const { ended } = intent
  if (ended === 'cancelled') throw endedError('was cancelled')
  if (ended?.isKnown) return ended.event
  if (ended) {
    const event = await withFailure(parts, intent, Promise.resolve(ended.event))
    intent.ended = { ...ended, event, isKnown: true }
    return event
  }
  book.keep(intent, draft)
  try {
    return await end(parts, intent, draft.type, (replaced) =>
      withFailure(parts, intent, caller.replace(draft, replaced)),
    )
  } catch (thrown) {
    book.saveSoon()
    throw thrown
  }
}

async function cancel({ book }: IntentParts, intent: OpenIntent): Promise<void> {
  if (intent.ended) return
  if (book.isClosed()) throw new AuditLogError('CLOSED', 'the audit log is closed')
  book.end(intent, 'cancelled')
  await book.save().catch(() => {})
}

/** The intent as the host has it. */
export const intentOf = (parts: IntentParts, intent: OpenIntent): Intent => ({
  async record(type: string, data: object = {}, options: OutcomeOptions = {}) {
    checkOptions(options, OUTCOME_OPTIONS, 'record of an intent')
    if (intent.failure) throw endedError('has failed')
    return inTurn(intent, () => recordOutcome(parts, intent, { type, data, options }))
  },
  async fail(error) {
    intent.failure ??= failedDraft(intent, parts.limits, error)
    const draft = intent.failure
    return inTurn(intent, () => recordFailure(parts, intent, draft))
  },
  async cancel() {
    if (!intent.failure) await inTurn(intent, () => cancel(parts, intent))
  },
})
