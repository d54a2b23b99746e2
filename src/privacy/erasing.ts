import { createPausingLoop } from '../async/loops.js'
import { createSerial } from '../async/serial.js'
import { AuditLogError, throwIfAborted, untilAborted } from '../errors.js'
import type { AuditEvent, JsonValue } from '../event/event.js'
import type { EventTypes } from '../event/event-types.js'
import { formatTimestamp, parseTimestamp } from '../event/timestamp.js'
import type { Grouping } from '../filter/ast.js'
import { checkOptions, isPlainObject } from '../options.js'
import { NEWEST } from '../store/consistency-token.js'
import { pagesOf } from '../store/pages.js'
import { readOnlyError } from '../store/read-only.js'
import { type EventStore, WAIT_OPTIONS, type WaitOptions } from '../store/store.js'
import { completedAt, missingSteps } from './completion.js'
import {
  endEventsErasure,
  eraseEvents,
  type EventsEraser,
  pendingEvents,
  readIds,
} from './erase-events.js'
import {
  type Erasure,
  type EraseOptions,
  type EventsErasure,
  type EventsToErase,
  readEraseOptions,
  type SubjectErasure,
} from './erase-options.js'
import { endErasure, eraseSubject, type SubjectEraser } from './erase-subject.js'
import { erasureEvents } from './erasure-event.js'
import { createOpening } from './opening.js'
import type { PrivacyOptions } from './options.js'
import { namingEvents, sealedFor } from './subject-events.js'
import { readSubject, subjectKinds, type SubjectOption } from './subject-option.js'

/** The parts of a log that erase. */
export interface ErasingContext extends EventsEraser {
  readonly types: EventTypes
  readonly privacy: PrivacyOptions | undefined
}

/** The methods of a log that erase, and that tell a person what the log has. See `AuditLog`. */
export interface Erasing {
  erase(
    what: SubjectOption | EventsToErase,
    options: EraseOptions,
  ): Promise<SubjectErasure | EventsErasure>
  erasures(options?: WaitOptions): Promise<readonly Erasure[]>
  subjectReport(
    subject: SubjectOption,
    options?: WaitOptions,
  ): AsyncGenerator<AuditEvent, void, void>
  loadKeys(subjects: readonly SubjectOption[], options?: WaitOptions): Promise<void>
  /** Stops ending erasures of earlier processes, and resolves when no call is under way. */
  close(): Promise<void>
  /** Closes the keys. */
  end(): Promise<void>
}

const RETRY_MS = 60_000

function requireKeys(privacy: PrivacyOptions | undefined, method: string): PrivacyOptions {
  if (privacy) return privacy
  throw new AuditLogError(
    'INVALID_OPTION',
    `${method} needs the option privacy of the log, which has the keys of persons`,
  )
}

const eraserOf = (
  context: ErasingContext,
  { keys, keyBackupDays }: PrivacyOptions,
): SubjectEraser => ({ ...context, keys, keyBackupDays })

/** True for ids of events. `ids` may also be a kind of persons. */
const isOfEvents = (
  what: SubjectOption | EventsToErase,
  types: EventTypes,
): what is EventsToErase =>
  isPlainObject(what) &&
  Object.hasOwn(what, 'ids') &&
  !(typeof what.ids === 'string' && subjectKinds(types).has('ids'))

/** Ends what earlier processes have begun. Erasures of events wait for the process that may remove. */
async function finishErasures(context: ErasingContext, options: WaitOptions): Promise<void> {
  const { store, privacy, requireRemoval } = context
  for (const one of (await privacy?.keys.erasures(options)) ?? [])
    if (!one.isEnded) await endErasure(eraserOf(context, privacy!), one, options)
  const pending = await pendingEvents(store, options)
  if (pending.size === 0) return
  await requireRemoval(options)
  for (const [key, one] of pending) await endEventsErasure(context, key, one, options)
}

/** Calls `finish` at the start of a log, and each minute until it succeeds once. */
function startFinishing(finish: (options: WaitOptions) => Promise<void>): {
  readonly stop: () => Promise<void>
} {
  const stopping = new AbortController()
  const { signal } = stopping
  const loop = createPausingLoop(async () => {
    const isDone = await finish({ signal }).then(
      () => true,
      () => false,
    )
    if (isDone) void loop.stop()
    return RETRY_MS
  })
  return {
    stop() {
      stopping.abort()
      return loop.stop()
    },
  }
}

async function subjectErasures(
  { keys, keyBackupDays }: PrivacyOptions,
  now: number,
  options: WaitOptions,
): Promise<readonly Erasure[]> {
  const copies = { keyBackupDays, rotatedAt: await keys.rotatedAt(options) }
  return (await keys.erasures(options)).map((one) => {
    const { ref, erased_at, reason, username, events } = one
    const complete = completedAt(erased_at, copies)
    return {
      ref,
      ids: [],
      erased_at,
      reason,
      username,
      events,
      incomplete: missingSteps(one, copies, now),
      ...(complete !== undefined && { complete_at: formatTimestamp(complete) }),
    }
  })
}

const ASCENDING = [{ attribute: 'created_at', direction: 'asc' }] as const

const pages = (
  store: EventStore,
  where: Grouping,
  { signal }: WaitOptions,
): AsyncGenerator<readonly AuditEvent[], void, void> =>
  pagesOf((query) => store.list(query, { signal, consistencyToken: NEWEST, durable: true }), {
    where,
    sorts: ASCENDING,
    limit: 1,
  })

const textsOf = (value: JsonValue | undefined): readonly string[] =>
  Array.isArray(value) ? value.map(String) : []

const NOT_REMOVED =
  'events may still be there; the next start of a log that may remove events removes them, or erase them again'

async function eventsErasures(store: EventStore, options: WaitOptions): Promise<Erasure[]> {
  const found: Erasure[] = []
  for await (const events of pages(store, erasureEvents('ids'), options))
    for (const { attributes, created_at, username } of events) {
      const { reason } = attributes
      const ids = textsOf(attributes['ids'])
      found.push({
        ref: null,
        ids,
        erased_at: created_at,
        reason: typeof reason === 'string' ? reason : '',
        username: username ?? '',
        events: ids.length,
        incomplete: textsOf(attributes['remaining']),
      })
    }
  for (const one of (await pendingEvents(store, options)).values())
    found.push({ ref: null, events: null, incomplete: [NOT_REMOVED], ...one })
  return found
}

/** Erases persons and events. At the start of a log, ends what earlier processes have begun. Throws `INVALID_OPTION`. */
export function createErasing(context: ErasingContext): Erasing {
  const { store, types, privacy } = context
  // Two calls of one process must not give the same event to the store in one batch.
  const inOrder = createSerial()
  const finishing =
    privacy && !store.readOnly
      ? startFinishing((given) => inOrder(() => finishErasures(context, given)))
      : undefined
  let isClosed = false

  const run = <Value>({ signal }: WaitOptions, work: () => Promise<Value>): Promise<Value> => {
    if (isClosed) throw new AuditLogError('CLOSED', 'the audit log is closed')
    const begin = (): Promise<Value> => {
      throwIfAborted(signal)
      return work()
    }
    return untilAborted(inOrder(begin), signal)
  }

  return {
    async erase(what, given) {
      const options = readEraseOptions(given)
      const waiting = { signal: options.signal }
      if (store.readOnly && !options.dryRun) throw readOnlyError()
      if (isOfEvents(what, types)) {
        checkOptions(what, { ids: true }, 'erase')
        const ids = readIds(what.ids)
        return run(waiting, () => eraseEvents(context, ids, options, waiting))
      }
      const used = requireKeys(privacy, 'erase')
      const subject = readSubject(what, context, 'subject')
      return run(waiting, () => eraseSubject(eraserOf(context, used), subject, options, waiting))
    },
    async erasures(options = {}) {
      checkOptions(options, WAIT_OPTIONS, 'erasures')
      const now = store.clock?.() ?? Date.now() * 1000
      const all = [
        ...(privacy ? await subjectErasures(privacy, now, options) : []),
        ...(await eventsErasures(store, options)),
      ]
      return all.toSorted((a, b) => parseTimestamp(a.erased_at)! - parseTimestamp(b.erased_at)!)
    },
    async *subjectReport(given, options = {}) {
      checkOptions(options, WAIT_OPTIONS, 'subjectReport')
      const { keys } = requireKeys(privacy, 'subjectReport')
      const subject = readSubject(given, context, 'subject')
      const ref = await keys.find(subject, options)
      const named = namingEvents(types, subject)
      const sealed = ref === undefined ? undefined : sealedFor(ref)
      const parts = [named, sealed].filter((one) => one !== undefined)
      if (parts.length === 0) return
      const where: Grouping = { combinator: 'or', conditions: [], groupings: parts }
      const opening = createOpening(keys)
      for await (const events of pages(store, where, options))
        yield* await opening.events(events, 'open', options)
    },
    async loadKeys(subjects, options = {}) {
      checkOptions(options, WAIT_OPTIONS, 'loadKeys')
      const { keys } = requireKeys(privacy, 'loadKeys')
      if (!Array.isArray(subjects))
        throw new AuditLogError('INVALID_VALUE', 'loadKeys takes a list of persons', {
          parameter: 'subjects',
        })
      if (store.readOnly) throw readOnlyError()
      const read = subjects.map((one) => readSubject(one, context, 'subject'))
      if (read.length > 0) await keys.obtain(read, options)
    },
    async close() {
      isClosed = true
      await finishing?.stop()
      await inOrder(async () => {})
    },
    async end() {
      await privacy?.keys.close()
    },
  }
}
