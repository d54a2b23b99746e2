import { describe, expect, it } from 'vitest'
import {
  type AvailabilityEvent,
  type AvailabilityState,
  createAvailability,
  transitions,
} from '../../../src/recording/availability.js'

const states: readonly AvailabilityState[] = [
  'up',
  'upJournalling',
  'upRefused',
  'down',
  'downJournalling',
  'downRefused',
]

/** Events by state. A missing pair leaves the state as it is. */
const changes: Partial<
  Record<AvailabilityState, Partial<Record<AvailabilityEvent, AvailabilityState>>>
> = {
  up: { storeFailed: 'down', journalWriteStarted: 'upJournalling' },
  upJournalling: {
    storeFailed: 'downJournalling',
    lastWriteSucceeded: 'up',
    lastWriteRefused: 'upRefused',
  },
  upRefused: {
    storeFailed: 'downRefused',
    callAdded: 'up',
    journalWriteStarted: 'upJournalling',
  },
  down: { storeSucceeded: 'up', journalWriteStarted: 'downJournalling' },
  downJournalling: {
    storeSucceeded: 'upJournalling',
    lastWriteSucceeded: 'down',
    lastWriteRefused: 'downRefused',
  },
  downRefused: { storeSucceeded: 'upRefused', journalWriteStarted: 'downJournalling' },
}

/** A write cannot end while none is under way. */
const unreachable: readonly (readonly [AvailabilityState, AvailabilityEvent])[] = [
  ['up', 'lastWriteSucceeded'],
  ['up', 'lastWriteRefused'],
  ['upRefused', 'lastWriteSucceeded'],
  ['upRefused', 'lastWriteRefused'],
  ['down', 'lastWriteSucceeded'],
  ['down', 'lastWriteRefused'],
  ['downRefused', 'lastWriteSucceeded'],
  ['downRefused', 'lastWriteRefused'],
]

const events: readonly AvailabilityEvent[] = [
  'storeSucceeded',
  'storeFailed',
  'callAdded',
  'journalWriteStarted',
  'lastWriteSucceeded',
  'lastWriteRefused',
]

const isUnreachable = (state: AvailabilityState, event: AvailabilityEvent): boolean =>
  unreachable.some(([from, on]) => from === state && on === event)

describe('the transitions', () => {
  it('cover every state and event', () => {
    expect(Object.keys(transitions)).toEqual(states)
    for (const row of Object.values(transitions)) expect(Object.keys(row)).toEqual(events)
  })

  const pairs = states.flatMap((state) => events.map((event) => [state, event] as const))

  it.each(pairs.filter(([state, event]) => !isUnreachable(state, event)))(
    '%s on %s',
    (state, event) => {
      expect(transitions[state][event]).toBe(changes[state]?.[event] ?? state)
    },
  )

  it.each(unreachable)('%s on %s is unreachable', (state, event) => {
    expect(transitions[state][event]).toBeUndefined()
  })

  it('lead from up to every state', () => {
    const reached = new Set<AvailabilityState>(['up'])
    // Iterating over a set also visits members that are added during the loop.
    for (const state of reached)
      for (const next of Object.values(transitions[state])) if (next) reached.add(next)
    expect([...reached].toSorted()).toEqual(states.toSorted())
  })
})

describe('the availability', () => {
  it.each<[AvailabilityState, boolean, boolean]>([
    ['up', false, false],
    ['upJournalling', false, false],
    ['upRefused', false, false],
    ['down', true, true],
    ['downJournalling', true, true],
    ['downRefused', true, false],
  ])('in the state %s: isDown %s, skipsStore %s', (state, isDown, skipsStore) => {
    const availability = createAvailability()
    if (state.startsWith('down')) availability.on('storeFailed')
    if (state.endsWith('Journalling') || state.endsWith('Refused'))
      availability.on('journalWriteStarted')
    if (state.endsWith('Refused')) availability.onJournalWriteEnded(true)
    expect(availability.state).toBe(state)
    expect(availability.isDown()).toBe(isDown)
    expect(availability.skipsStore()).toBe(skipsStore)
  })

  it.each([true, false])('counts writes, and only the last result decides: refused %s', (last) => {
    const availability = createAvailability()
    availability.on('storeFailed')
    for (let i = 0; i < 3; i++) availability.on('journalWriteStarted')
    availability.onJournalWriteEnded(true)
    availability.onJournalWriteEnded(!last)
    expect(availability.state).toBe('downJournalling')
    availability.onJournalWriteEnded(last)
    expect(availability.state).toBe(last ? 'downRefused' : 'down')
  })

  it('keeps its state after an event that cannot occur in it', () => {
    const availability = createAvailability()
    availability.onJournalWriteEnded(true)
    availability.onJournalWriteEnded(false)
    expect(availability.state).toBe('up')
  })
})
