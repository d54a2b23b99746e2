import assert from 'node:assert/strict'
import { MINUTE } from '../../event/timestamp.js'
import { type Case, cases } from './context.js'
import { allEvents, appendSome, drafts, numbersOf, rejectsWith, throttled } from './helpers.js'

const keyed = (n: number, key: string) => throttled({ n }, { key, scope: { name: key } })

export const scrubCases: readonly Case[] = [
  ...cases(
    {
      async 'scrub: keeps all events that were not removed'({ store, audit }) {
        const events = await store.append(drafts(50))
        const open = await store.append([{ ...drafts(1, 50)[0]!, live: true }])
        await store.remove(events.slice(10, 40).map(({ id }) => id))
        const { remaining } = await store.scrub!()
        assert.ok(remaining.every((text) => typeof text === 'string' && text !== ''))
        const kept = [...events.slice(0, 10), ...events.slice(40)]
        assert.deepEqual((await allEvents(audit)).slice(0, 20), kept)
        assert.deepEqual(await audit.list('filter[n_in][]=5&filter[n_in][]=15'), {
          events: [events[5]],
          truncated: false,
        })
        assert.equal((await audit.count({ filter: { n_gteq: 0 } })).total, 21)
        assert.deepEqual(
          (await store.openEvents()).map(({ id }) => id),
          open.map(({ id }) => id),
        )
      },

      async 'scrub: opens the throttles of removed events only'({ store }) {
        const events = await store.append(['a', 'b', 'c'].map((key, n) => keyed(n, key)))
        await store.remove([events[1]!.id])
        await store.scrub!()
        const again = await appendSome(
          store,
          ['a', 'b', 'c'].map((key, n) => keyed(n + 10, key)),
        )
        assert.deepEqual(again.stored, [11])
        assert.deepEqual(again.suppressed, [10, 12])
      },

      async 'scrub: forgets the suppressed calls of removed events only'({ store, clock }) {
        const events = await store.append(['a', 'b'].map((key, n) => keyed(n, key)))
        const counts = ['a', 'b'].map((key) => ({
          key,
          type: 'test:event',
          scope: { name: key },
          period: MINUTE,
          count: 3,
          first: clock(),
          last: clock(),
        }))
        await store.reportSuppressed({ reporter: 'process', number: 1, counts })
        await store.remove([events[0]!.id])
        await store.scrub!()
        clock.advance(3 * MINUTE)
        const stored = await store.append(['a', 'b'].map((key, n) => keyed(n + 10, key)))
        assert.deepEqual(numbersOf(stored), [10, 11])
        assert.deepEqual(
          stored.map(({ attributes }) => attributes['suppressed_count']),
          [undefined, 3],
        )
      },

      async 'scrub: keeps the states that have not expired'({ store, clock }) {
        await store.updateState('kept', () => 1)
        await store.updateState('later', () => 2, { keepFor: 2 * MINUTE })
        await store.updateState('over', () => 3, { keepFor: MINUTE })
        clock.advance(MINUTE)
        await store.scrub!()
        assert.deepEqual(await store.readStates('', { limit: 1000 }).then(ofCase), [
          ['kept', 1],
          ['later', 2],
        ])
      },

      async 'scrub: can be repeated, and runs beside other calls'({ store, audit }) {
        const events = await store.append(drafts(40))
        await store.remove(events.slice(0, 20).map(({ id }) => id))
        const [appended] = await Promise.all([
          store.append(drafts(10, 40)),
          store.scrub!(),
          store.scrub!(),
          store.remove(events.slice(20, 25).map(({ id }) => id)),
        ])
        await store.scrub!()
        assert.deepEqual(await allEvents(audit), [...events.slice(25), ...appended])
      },

      async 'scrub: an aborted call removes no event'({ store, audit }) {
        const events = await store.append(drafts(5))
        await rejectsWith(store.scrub!({ signal: AbortSignal.abort() }), 'ABORTED')
        assert.deepEqual(await allEvents(audit), events)
      },
    },
    'scrub',
  ),
]

/** The states of the case, without those of the log and the store. */
const ofCase = <State extends readonly [string, unknown]>(states: readonly State[]): State[] =>
  states.filter(([key]) => ['kept', 'later', 'over'].includes(key))
