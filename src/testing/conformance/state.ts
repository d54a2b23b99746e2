import assert from 'node:assert/strict'
import type { JsonValue } from '../../event/event.js'
import type { EventStore } from '../../store/store.js'
import { type Case, cases } from './context.js'
import { DAY, SECOND } from '../../event/timestamp.js'
import { exactData, rejectsWith, range } from './helpers.js'

const increment = (store: EventStore): Promise<JsonValue | undefined> =>
  store.updateState('count', (value) => Number(value ?? 0) + 1)

const read = (store: EventStore, key: string): Promise<JsonValue | undefined> =>
  store.updateState(key, (value) => value)

export const stateCases: readonly Case[] = [
  ...cases({
    async 'state: a value is returned until it is changed or removed'({ store }) {
      assert.equal(await read(store, 'a'), undefined)
      const values: JsonValue[] = [1, 0, '', 'text', true, false, null, [], {}, [null], exactData]
      let before: JsonValue | undefined
      for (const value of values) {
        const received: unknown[] = []
        const result = await store.updateState('a', (present) => {
          received.push(present)
          return value
        })
        assert.deepEqual(result, value)
        for (const one of received) assert.deepEqual(one, before)
        assert.ok(received.length > 0)
        before = value
      }
      assert.deepEqual(await read(store, 'a'), exactData)
      assert.equal(await store.updateState('a', () => undefined), undefined)
      assert.equal(await read(store, 'a'), undefined)
    },

    async 'state: each key has its own value'({ store }) {
      const keys = ['', 'a', 'A', ' a', 'a\nb', "'; --", '%', '__proto__', '😀', 'k'.repeat(500)]
      for (const [n, key] of keys.entries()) await store.updateState(key, () => n)
      for (const [n, key] of keys.entries()) assert.equal(await read(store, key), n, key)
    },

    async 'state: the change function receives the time of the store'({ store, clock }) {
      const times: number[] = []
      for (const step of [0, SECOND, -60 * SECOND]) {
        clock.advance(step)
        await store.updateState('a', (_, now) => {
          times.push(now - clock())
          return 1
        })
      }
      assert.deepEqual([...new Set(times)], [0])
    },

    async 'state: a value expires `keepFor` after it was written'({ store, clock }) {
      const keepFor = 10 * SECOND
      await store.updateState('a', () => 1, { keepFor })
      clock.advance(keepFor - 1)
      assert.equal(await read(store, 'a'), 1)
      clock.advance(1)
      assert.equal(await read(store, 'a'), undefined)
      assert.equal(await store.updateState('a', () => 1, { keepFor }), 1)
      clock.advance(keepFor - 1)
      assert.equal(await read(store, 'a'), 1)
    },

    async 'state: writing a value again moves its expiry'({ store, clock }) {
      await store.updateState('a', () => 1, { keepFor: 10 * SECOND })
      clock.advance(9 * SECOND)
      await store.updateState('a', () => 2, { keepFor: 10 * SECOND })
      clock.advance(9 * SECOND)
      assert.equal(await read(store, 'a'), 2)
      await store.updateState('a', () => 3)
      clock.advance(DAY)
      assert.equal(await read(store, 'a'), 3)
      await store.updateState('a', () => 4, { keepFor: SECOND })
      clock.advance(SECOND)
      assert.equal(await read(store, 'a'), undefined)
    },

    async 'state: an unchanged value keeps its expiry'({ store, clock }) {
      await store.updateState('a', () => ({ n: 1 }), { keepFor: 10 * SECOND })
      for (const keepFor of [10 * SECOND, undefined]) {
        clock.advance(4 * SECOND)
        assert.deepEqual(await store.updateState('a', (value) => value, { keepFor }), { n: 1 })
      }
      clock.advance(2 * SECOND)
      assert.equal(await read(store, 'a'), undefined)
    },

    async 'state: writing values removes only expired ones'({ store, clock }) {
      await store.updateState('for good', () => 0)
      for (const n of range(1, 120))
        await store.updateState(`${n}`, () => n, { keepFor: n * SECOND })
      clock.advance(60 * SECOND)
      await store.updateState('61', () => 'new', { keepFor: DAY })
      await store.updateState('for good too', () => 0, { keepFor: DAY })
      for (const n of range(1, 60)) assert.equal(await read(store, `${n}`), undefined, `${n}`)
      assert.equal(await read(store, '61'), 'new')
      for (const n of range(62, 120)) assert.equal(await read(store, `${n}`), n)
      assert.equal(await read(store, 'for good'), 0)
    },

    async 'state: concurrent changes are applied one after the other'({ store }) {
      const values = await Promise.all(range(1, 20).map(() => increment(store)))
      assert.deepEqual(new Set(values), new Set(range(1, 20)))
      assert.equal(await read(store, 'count'), 20)
    },

    async 'state: mutating a value afterwards changes nothing'({ store }) {
      const given = { list: [1] }
      const result = await store.updateState('a', () => given)
      given.list.push(2)
      try {
        ;(result as typeof given).list.push(3)
      } catch (error) {
        assert.ok(error instanceof TypeError, 'frozen, or a copy')
      }
      assert.deepEqual(await read(store, 'a'), { list: [1] })
    },

    async 'state: a change that throws changes nothing'({ store }) {
      await store.updateState('a', () => 'before')
      const call = store.updateState('a', () => {
        throw new Error('no')
      })
      await assert.rejects(call)
      assert.equal(await read(store, 'a'), 'before')
      assert.equal(await increment(store), 1)
    },

    async 'state: an aborted signal changes nothing'({ store }) {
      const signal = AbortSignal.abort()
      await rejectsWith(
        store.updateState('a', () => 1, { signal }),
        'ABORTED',
      )
      assert.equal(await read(store, 'a'), undefined)
    },
  }),

  ...cases(
    {
      async 'state: concurrent changes by two stores are applied one after the other'({
        store,
        reopen,
      }) {
        const other = (await reopen()).store
        const calls = range(1, 20).flatMap(() => [increment(store), increment(other)])
        assert.deepEqual(new Set(await Promise.all(calls)), new Set(range(1, 40)))
        for (const one of [store, other]) assert.equal(await read(one, 'count'), 40)
      },

      async 'state: a value remains after its store is closed'({ store, audit, reopen }) {
        await store.updateState('a', () => ({ stored: true }))
        await audit.close()
        assert.deepEqual(await read((await reopen()).store, 'a'), { stored: true })
      },
    },
    'reopen',
  ),
]
