import assert from 'node:assert/strict'
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import type { AuditLog } from '../../audit-log.js'
import { AuditLogError, type AuditLogErrorCode } from '../../errors.js'
import type { AuditEvent, DraftThrottle, EventDraft, JsonObject } from '../../event/event.js'
import { parseEventId, suffixSource } from '../../event/event-id.js'
import { GAP } from '../../recording/losses.js'
import type { EventStore } from '../../store/store.js'
import { type Microseconds, parseTimestamp, MINUTE, SECOND } from '../../event/timestamp.js'

/** Type of the event that a log records when it starts after an import of last year's events. */
const CLOCK = 'warn:audit_log:clock'

/** A time after every event of a case. */
export const FAR: Microseconds = 4_000_000_000 * SECOND

export async function rejectsWith(
  promise: Promise<unknown>,
  code: AuditLogErrorCode,
): Promise<void> {
  await assert.rejects(promise, (error) => {
    assert.ok(error instanceof AuditLogError, `expected an AuditLogError, got ${String(error)}`)
    assert.equal(error.code, code)
    return true
  })
}

/**
 * The events of an append; no events if it rejects with `ABORTED`. After `OUTCOME_UNKNOWN`, the append is repeated, and finds what it has stored. No
 * other error is allowed.
 */
export async function unlessAborted(
  store: EventStore,
  drafts: readonly EventDraft[],
  signal: AbortSignal,
): Promise<readonly AuditEvent[]> {
  const call = store.append(drafts, { signal })
  try {
    return await call
  } catch (error) {
    if (error instanceof AuditLogError && error.code === 'OUTCOME_UNKNOWN')
      return store.append(drafts, { since: 0 })
    await rejectsWith(call, 'ABORTED')
    return []
  }
}

export const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i)

/** The attribute that identifies the events of a case. */
export const numbersOf = (events: readonly AuditEvent[]): unknown[] =>
  events.map((event) => event.attributes['n'])

export const labels = (events: readonly AuditEvent[]): string =>
  events.map((event) => event.type).join(' ')

export const suffixesOf = (events: readonly AuditEvent[]): string[] =>
  events.map((event) => parseEventId(event.id)?.suffix ?? event.id)

export function timeOf(event: AuditEvent | undefined): Microseconds {
  assert.ok(event, 'the event is missing')
  return parseTimestamp(event.created_at)!
}

/** Records events numbered from `first` on, with concurrent calls. */
export async function recordSome(audit: AuditLog, count: number, first = 0): Promise<AuditEvent[]> {
  const calls = range(first, first + count - 1).map((n) => audit.recordCustom('test:event', { n }))
  return (await Promise.all(calls)).map((event) => event!)
}

const nextSuffix = suffixSource()

export function draft(attributes: JsonObject, overrides: Partial<EventDraft> = {}): EventDraft {
  const defaults = {
    suffix: nextSuffix(),
    username: null,
    system: false,
    type: 'test:event',
    source: null,
  }
  return { ...defaults, attributes, json: JSON.stringify(attributes), ...overrides }
}

/** Drafts numbered from `first` on, as the core passes them to `append`. */
export const drafts = (count: number, first = 0): EventDraft[] =>
  range(first, first + count - 1).map((n) => draft({ n }))

/** A draft with a throttle of one minute, unless `throttle` says otherwise. */
export const throttled = (
  attributes: JsonObject,
  throttle: Partial<DraftThrottle> = {},
  overrides: Partial<EventDraft> = {},
): EventDraft =>
  draft(attributes, {
    throttle: { key: 'test:event', scope: {}, period: MINUTE, ...throttle },
    ...overrides,
  })

/**
 * Appends the drafts. Returns the numbers of the stored and the suppressed drafts, and the times at which their
 * throttles open.
 */
export async function appendSome(
  store: EventStore,
  batch: readonly EventDraft[],
): Promise<{ stored: unknown[]; suppressed: unknown[]; opensIn: Microseconds[] }> {
  const suppressed: unknown[] = []
  const opensIn: Microseconds[] = []
  const events = await store.append(batch, {
    onSuppressed(one, time) {
      suppressed.push(one.attributes['n'])
      opensIn.push(time)
    },
  })
  return { stored: numbersOf(events), suppressed, opensIn }
}

/** An event of another log, older than the events of every case. Its id contains no time. */
export function imported(overrides: Partial<AuditEvent> = {}): AuditEvent {
  return {
    id: '0196b3c2-0000-4000-8000-000000000001',
    created_at: '2025-05-01T10:00:00.000001Z',
    username: 'ann',
    system: true,
    type: 'legacy:thing:done',
    source: '/api/projects/acme',
    attributes: { name: 'old', nested: { list: [1, null, 'x'] } },
    ...overrides,
  }
}

/** `count` imported events, each a microsecond later than the one before. */
export const importedSome = (count: number): AuditEvent[] =>
  range(1, count).map((n) =>
    imported({
      id: `0196b3c2-0000-4000-8000-${String(n).padStart(12, '0')}`,
      created_at: `2025-05-01T10:00:00.${String(n).padStart(6, '0')}Z`,
      attributes: { n },
    }),
  )

/**
 * Every event, oldest first. Leaves out reports of lost events and of the clock, which the log can record at any
 * time.
 */
export async function allEvents(audit: AuditLog): Promise<AuditEvent[]> {
  const events: AuditEvent[] = []
  for await (const page of audit.pages('filter[sorts]=created_at')) {
    const [last, next] = [events.at(-1), page[0]]
    assert.ok(
      !last || last.created_at < next!.created_at,
      'a page does not continue where the last one ended',
    )
    events.push(...page)
  }
  return events.filter(({ type }) => type !== GAP && type !== CLOCK)
}

/** Waits long enough for the effects of running work to show. */
export const settle = (): Promise<void> => delay(50)

/** Waits for this many turns of the event loop. */
export async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await nextTurn()
}

/** The limit for work that may never end. A store on a busy machine may need seconds. */
export const TIMEOUT_MS = 10_000

/** Waits until `check` resolves to true, for something that happens in the background within about a second. */
export async function eventually(what: string, check: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + TIMEOUT_MS
  while (!(await check())) {
    assert.ok(performance.now() < end, `not within ${TIMEOUT_MS} ms: ${what}`)
    await delay(25)
  }
}

/** The outcome of the promise; fails if it does not settle in time. */
export async function withTimeout<Value>(promise: Promise<Value>): Promise<Value> {
  const timer = new AbortController()
  const late = delay(TIMEOUT_MS, undefined, { signal: timer.signal }).then(() =>
    assert.fail(`the promise did not settle within ${TIMEOUT_MS} ms`),
  )
  try {
    return await Promise.race([promise, late])
  } finally {
    late.catch(() => {})
    timer.abort()
  }
}

/** Data that a store must return exactly, in the same key order. */
export const exactData: JsonObject = {
  zebra: 1,
  apple: { nested: [{ deep: [[], {}, null] }] },
  numbers: [0, -1, 0.1, 1e21, 1e-7, 9_007_199_254_740_991, -9_214_364_837_600_035_000, 5e-324],
  text: 'quote " backslash \\ slash / newline \n tab \t bell \u0007 é 😀 \u2028',
  'key with . [0] " and \\': true,
  empty: '',
  long: 'x'.repeat(10_000),
  nothing: null,
}
