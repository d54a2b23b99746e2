import assert from 'node:assert/strict'
import { clearTimeout, setTimeout } from 'node:timers'
import { setTimeout as delay } from 'node:timers/promises'
import type { AuditLog } from '../../audit-log.js'
import type { AuditEvent } from '../../event/event.js'
import { type Case, cases } from './context.js'
import { SECOND } from '../../event/timestamp.js'
import { allEvents, imported, numbersOf, recordSome, range, TIMEOUT_MS } from './helpers.js'

/** The longest time without an event. Many tails of one store read it in turns, so each of them may wait for others. */
const MAX_PAUSE_MS = 3 * TIMEOUT_MS

/** The first `count` events of a tail. */
async function follow(
  audit: AuditLog,
  count: number,
  query = '',
  after?: string,
): Promise<AuditEvent[]> {
  const seen: AuditEvent[] = []
  const stop = new AbortController()
  // Ends a tail that waits for events that never come.
  const timer = setTimeout(() => stop.abort(), MAX_PAUSE_MS)
  try {
    for await (const event of audit.tail(query, { after, signal: stop.signal })) {
      seen.push(event)
      timer.refresh()
      if (seen.length === count) break
    }
  } finally {
    clearTimeout(timer)
  }
  return seen
}

export const tailCases: readonly Case[] = [
  ...cases({
    async 'tail: yields each event after a time once, in order'({ audit }) {
      const before = await recordSome(audit, 1500)
      const write = async (): Promise<void> => {
        for (const round of range(0, 4)) await recordSome(audit, 3, 1500 + 3 * round)
      }
      const [seen] = await Promise.all([follow(audit, 1510, '', before[4]!.created_at), write()])
      assert.deepEqual(seen, (await allEvents(audit)).slice(5))
    },

    async 'tail: many tails yield their own matching events'({ audit }) {
      const before = await recordSome(audit, 40)
      const follows = range(0, 29).map((i) => {
        const from = Math.max(2 * i, i + 1)
        const after = before[i]!.created_at
        return follow(audit, 140 - from, `filter[n_gteq]=${2 * i}`, after)
      })
      const write = async (): Promise<void> => {
        for (const round of range(0, 9)) await recordSome(audit, 10, 40 + 10 * round)
      }
      const [seen] = await Promise.all([Promise.all(follows), write()])
      const all = await allEvents(audit)
      for (const [i, events] of seen.entries())
        assert.deepEqual(events, all.slice(Math.max(2 * i, i + 1)), `tail ${i}`)
    },

    async 'tail: yields matching events, but no imported ones'({ audit, clock }) {
      const [first] = await recordSome(audit, 1)
      const after = first!.created_at
      clock.advance(10 * SECOND)
      const write = async (): Promise<void> => {
        await audit.importEvents([
          imported({ created_at: '2026-01-01T00:00:05.000000Z', attributes: { n: 3 } }),
        ])
        await recordSome(audit, 5, 1)
      }
      const query = 'filter[n_in][]=1&filter[n_in][]=3&filter[n_in][]=5'
      const [seen] = await Promise.all([follow(audit, 3, query, after), write()])
      assert.deepEqual(numbersOf(seen), [1, 3, 5])
      const fromNow = await Promise.all([follow(audit, 1), recordSome(audit, 1, 6)])
      assert.deepEqual(...fromNow)
    },
  }),

  ...cases(
    {
      async 'tail: yields the events of two stores'({ audit, reopen }) {
        const other = await reopen()
        const [first] = await recordSome(audit, 1)
        const write = async (): Promise<void> => {
          for (const round of range(0, 23)) {
            const [own, others] = [1 + (round % 3), 1 + ((round + 2) % 3)]
            await Promise.all([recordSome(audit, own), recordSome(other, others)])
            await delay(round % 3)
          }
        }
        const after = first!.created_at
        const [seen, seenByOther] = await Promise.all([
          follow(audit, 96, '', after),
          follow(other, 96, '', after),
          write(),
        ])
        const all = (await allEvents(audit)).slice(1)
        assert.deepEqual(seen, all)
        assert.deepEqual(seenByOther, all)
      },
    },
    'reopen',
  ),
]
