import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { AuditEvent, AuditLog } from 'daybook'
import fc from 'fast-check'
import { startProcess, until } from '../campaigns/shared/process.js'
import { openPlace, type PlaceOfPersons, REQUEST, UPDATE } from './erasing.js'

/*
 * A process that erases is killed. Afterwards the erasure has not begun, is pending, or has its event. Another process ends it, by a call or by
 * its start: with exactly one event, and without the key or the events.
 */

export interface ErasureRound {
  /** Moment of the kill, in thousandths of the time that an erasure takes, and a bit more. */
  readonly part: number
  readonly erases: 'person' | 'events'
  readonly endedBy: 'call' | 'start'
}

export const erasureRounds: fc.Arbitrary<ErasureRound> = fc.record({
  part: fc.integer({ min: 0, max: 1000 }),
  erases: fc.constantFrom('person', 'person', 'events'),
  endedBy: fc.constantFrom('call', 'start'),
})

/** The state in which the kill has left the erasure. */
export type Interrupted = 'not begun' | 'pending' | 'ended'

const HANGS_AFTER_MS = 60_000
const MARGIN = 1.2

const check = (isRight: boolean, what: string): void => {
  if (!isRight) throw new Error(what)
}

const eventsOf = async (audit: AuditLog, attribute: string, value: string) =>
  (await audit.list(`filter[type_eq]=info:audit_log:erase&filter[${attribute}_eq]=${value}`)).events

async function collect(events: AsyncIterable<AuditEvent>): Promise<AuditEvent[]> {
  const all: AuditEvent[] = []
  for await (const event of events) all.push(event)
  return all
}

/** Persons and events of a round. */
interface Subjects {
  readonly person: string
  readonly other: string
  readonly ids: readonly string[]
  readonly ref: string
}

async function record(place: PlaceOfPersons): Promise<Subjects> {
  const { audit, keys } = openPlace(place)
  const [person, other] = [randomUUID(), randomUUID()]
  const about = async (customer: string): Promise<string> =>
    (await audit.recordSystem(UPDATE, { customer_id: customer, email: `${customer}@a` }))!.id
  const ids = [await about(person), await about(person)]
  await about(other)
  const ref = (await keys.find({ kind: 'customer', id: person }))!
  await audit.close()
  return { person, other, ids, ref }
}

/** The value by which the event of the erasure is found. */
const keyOf = ({ ref, ids }: Subjects, { erases }: ErasureRound): readonly [string, string] =>
  erases === 'person' ? ['subject', ref] : ['ids', ids[0]!]

async function interrupted(
  place: PlaceOfPersons,
  subjects: Subjects,
  round: ErasureRound,
): Promise<Interrupted> {
  const { audit } = openPlace(place, { readOnly: true })
  try {
    const events = await eventsOf(audit, ...keyOf(subjects, round))
    check(events.length <= 1, `${events.length} events of one erasure`)
    const { ref, ids } = subjects
    const isOwn = round.erases === 'person' ? ref : undefined
    const found = (await audit.erasures()).filter((one) =>
      isOwn === undefined ? one.ids.includes(ids[0]!) : one.ref === isOwn,
    )
    const isPending = found.some((one) => one.events === null)
    check(events.length === 0 || found.length > 0, 'an event without an erasure')
    if (found.length === 0) return 'not begun'
    check(isPending || events.length === 1, 'an erasure that is ended without an event')
    return isPending ? 'pending' : 'ended'
  } finally {
    await audit.close()
  }
}

/** Another process ends the erasure. */
async function end(
  place: PlaceOfPersons,
  { person, ids }: Subjects,
  { erases, endedBy }: ErasureRound,
  state: Interrupted,
): Promise<void> {
  const { audit } = openPlace(place)
  try {
    if (endedBy === 'call' || state === 'not begun')
      await (erases === 'person'
        ? audit.erase({ customer: person }, REQUEST)
        : audit.erase({ ids }, REQUEST))
    await until('the erasure is ended', HANGS_AFTER_MS, async () =>
      (await audit.erasures()).every(({ events }) => events !== null),
    )
  } finally {
    await audit.close()
  }
}

async function checkErased(
  place: PlaceOfPersons,
  subjects: Subjects,
  round: ErasureRound,
): Promise<void> {
  const { person, other, ids, ref } = subjects
  const { audit, keys } = openPlace(place, { readOnly: true })
  try {
    const [event, ...more] = await eventsOf(audit, ...keyOf(subjects, round))
    check(event !== undefined && more.length === 0, 'not exactly one event')
    check(event!.attributes['count'] === 2, 'a wrong number of events')
    const report = await collect(audit.subjectReport({ customer: person }))
    if (round.erases === 'events') check(report.length === 0, 'events are left')
    else {
      const known = (await keys.read([ref])).get(ref)
      check(known !== undefined && 'erased_at' in known, 'the key is left')
      check(
        (await keys.find({ kind: 'customer', id: person })) === undefined,
        'the person is still known',
      )
      check(report.length === ids.length, 'events are gone')
      check(
        report.every(({ attributes }) => attributes['email'] === undefined),
        'a value is left',
      )
    }
    const [kept] = await collect(audit.subjectReport({ customer: other }))
    check(kept!.attributes['email'] === `${other}@a`, 'a value of another person is lost')
  } finally {
    await audit.close()
  }
}

/** Kills processes that erase. `file` is the compiled `erase-child`. */
export function createErasureKills(file: string) {
  /** Time that the last finished erasure has taken. The first one of a kind is killed when it is finished. */
  const tookMs = new Map<ErasureRound['erases'], number>()
  return async (place: PlaceOfPersons, round: ErasureRound): Promise<Interrupted> => {
    const subjects = await record(place)
    const { person, ids } = subjects
    const what = round.erases === 'person' ? { customer: person } : { ids }
    let begin = (): void => {}
    const began = new Promise<void>((resolve) => (begin = resolve))
    let finish = (): void => {}
    const finished = new Promise<void>((resolve) => (finish = resolve))
    const args = [file, JSON.stringify(place), JSON.stringify(what)]
    const child = startProcess('erase-child', args, (line) => {
      if (line === 'begin') begin()
      else {
        tookMs.set(round.erases, Number(line.slice('done '.length)))
        finish()
      }
    })
    await Promise.race([began, child.ended])
    const wholeMs = tookMs.get(round.erases)
    await (wholeMs === undefined
      ? Promise.race([finished, child.ended])
      : delay((round.part / 1000) * wholeMs * MARGIN))
    await child.kill()
    const state = await interrupted(place, subjects, round)
    await end(place, subjects, round, state)
    await checkErased(place, subjects, round)
    return state
  }
}
