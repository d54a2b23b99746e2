import assert from 'node:assert/strict'
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import type { AuditLog } from '../../audit-log.js'
import { AuditLogError, type AuditLogErrorCode } from '../../errors.js'
import type { AuditEvent, DraftThrottle, EventDraft, JsonObject } from '../../event/event.js'
import { parseEventId, tailSource } from '../../event/event-id.js'
import type { EventStore } from '../../store/store.js'
import { type Microseconds, parseTimestamp, MINUTE, SECOND } from '../../event/timestamp.js'

/** After every event of a case. */
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

/** The events that an append has kept; none where it was aborted, and only then. */
export async function unlessAborted(
  call: Promise<readonly AuditEvent[]>,
): Promise<readonly AuditEvent[]> {
  try {
    return await call
  } catch {
    await rejectsWith(call, 'ABORTED')
    return []
  }
}

export const upTo = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i)

/** The attribute by which the events of a case are told apart. */
export const numbers = (events: readonly AuditEvent[]): unknown[] =>
  events.map((event) => event.attributes['n'])

export const labels = (events: readonly AuditEvent[]): string =>
  events.map((event) => event.type).join(' ')

export const tailsOf = (events: readonly AuditEvent[]): string[] =>
  events.map((event) => parseEventId(event.id)?.tail ?? event.id)

export function timeOf(event: AuditEvent | undefined): Microseconds {
  assert.ok(event, 'there is no event')
  return parseTimestamp(event.created_at)!
}

/** Events numbered from `first` on, recorded by calls of the same moment. */
export async function recordSome(audit: AuditLog, count: number, first = 0): Promise<AuditEvent[]> {
  const calls = upTo(first, first + count - 1).map((n) => audit.recordCustom('test:event', { n }))
  return (await Promise.all(calls)).map((event) => event!)
}

const nextTail = tailSource()

export function draft(attributes: JsonObject, overrides: Partial<EventDraft> = {}): EventDraft {
  const given = {
    tail: nextTail(),
    username: null,
    system: false,
    type: 'test:event',
    source: null,
  }
  return { ...given, attributes, json: JSON.stringify(attributes), ...overrides }
}

/** What the core hands to `append` for events numbered from `first` on. */
export const drafts = (count: number, first = 0): EventDraft[] =>
  upTo(first, first + count - 1).map((n) => draft({ n }))

/** A draft of which one is kept in a minute, unless the throttle says something else. */
export const throttled = (
  attributes: JsonObject,
  throttle: Partial<DraftThrottle> = {},
  overrides: Partial<EventDraft> = {},
): EventDraft =>
  draft(attributes, {
    throttle: { key: 'test:event', scope: {}, period: MINUTE, ...throttle },
    ...overrides,
  })

/** The numbers of the events that are kept, and of those held back, with how long that goes on. */
export async function appendSome(
  store: EventStore,
  given: readonly EventDraft[],
): Promise<{ kept: unknown[]; heldBack: unknown[]; opensIn: Microseconds[] }> {
  const heldBack: unknown[] = []
  const opensIn: Microseconds[] = []
  const events = await store.append(given, {
    onSuppressed(one, time) {
      heldBack.push(one.attributes['n'])
      opensIn.push(time)
    },
  })
  return { kept: numbers(events), heldBack, opensIn }
}

/** An event of another log, in the past of every case; its id carries no time. */
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

/** So many of them, each a microsecond later than the one before. */
export const importedSome = (count: number): AuditEvent[] =>
  upTo(1, count).map((n) =>
    imported({
      id: `0196b3c2-0000-4000-8000-${String(n).padStart(12, '0')}`,
      created_at: `2025-05-01T10:00:00.${String(n).padStart(6, '0')}Z`,
      attributes: { n },
    }),
  )

/** Every event, oldest first. */
export async function everything(audit: AuditLog): Promise<AuditEvent[]> {
  const events: AuditEvent[] = []
  for await (const page of audit.pages('filter[sorts]=created_at')) {
    const [last, next] = [events.at(-1), page[0]]
    assert.ok(!last || last.created_at < next!.created_at, 'a page does not go on where it should')
    events.push(...page)
  }
  return events
}

/** Time in which whatever was begun and not waited for would show. */
export const aWhile = (): Promise<void> => delay(50)

export async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await nextTurn()
}

const PATIENCE_MS = 5000

/** Asks until the answer is yes; for what happens by itself, within about a second. */
export async function eventually(what: string, ask: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + PATIENCE_MS
  while (!(await ask())) {
    assert.ok(performance.now() < end, `not within ${PATIENCE_MS} ms: ${what}`)
    await delay(25)
  }
}

/** The promise's outcome, which is not waited for in vain. */
export async function inTime<Value>(promise: Promise<Value>): Promise<Value> {
  const timer = new AbortController()
  const late = delay(PATIENCE_MS, undefined, { signal: timer.signal }).then(() =>
    assert.fail(`there is no answer within ${PATIENCE_MS} ms`),
  )
  try {
    return await Promise.race([promise, late])
  } finally {
    late.catch(() => {})
    timer.abort()
  }
}

/** Data that must come back to the last character, in the same order. */
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
