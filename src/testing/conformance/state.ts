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

const write = (store: EventStore, values: Readonly<Record<string, JsonValue>>): Promise<void> =>
  store.updateStates(Object.keys(values), () => new Map(Object.entries(values)))

const readAll = async (store: EventStore): Promise<Readonly<Record<string, JsonValue>>> =>
  Object.fromEntries(await store.readStates('', { limit: 1000 }))

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
      await rejectsWith(
        store.updateStates(['a'], () => new Map([['a', 1]]), { signal }),
        'ABORTED',
      )
      await rejectsWith(store.readStates('', { limit: 1, signal }), 'ABORTED')
      assert.equal(await read(store, 'a'), undefined)
    },

    async 'state: several values change together, and those that are left out stay'({ store }) {
      await write(store, { a: 1, b: { n: 2 }, c: 3 })
      await store.updateStates(['a', 'b', 'c', 'd'], (values) => {
        assert.deepEqual(Object.fromEntries(values), { a: 1, b: { n: 2 }, c: 3, d: undefined })
        return new Map<string, JsonValue | undefined>([
          ['a', undefined],
          ['b', { n: 3 }],
          ['d', 'new'],
        ])
      })
      assert.deepEqual(await readAll(store), { b: { n: 3 }, c: 3, d: 'new' })
      await store.updateStates([], () => new Map())
      assert.deepEqual(await readAll(store), { b: { n: 3 }, c: 3, d: 'new' })
    },

    async 'state: several values change only if none of them has changed'({ store }) {
      await write(store, { lease: 1, cursor: 0, other: 0 })
      const seen: JsonValue[] = []
      const moves = range(1, 20).map(() =>
        store.updateStates(['lease', 'cursor'], (values) => {
          const [lease, cursor] = [Number(values.get('lease')), Number(values.get('cursor'))]
          seen.push(lease)
          return new Map([['cursor', lease === 1 ? cursor + 1 : cursor]])
        }),
      )
      const take = store.updateState('lease', () => 2)
      await take
      const atTake = Number(await read(store, 'cursor'))
      await Promise.all(moves)
      assert.equal(await read(store, 'cursor'), atTake)
      assert.ok(seen.includes(2) || atTake === 20)
      assert.equal(await read(store, 'other'), 0)
    },

    async 'state: concurrent changes of several values are applied one after the other'({ store }) {
      const keys = ['a', 'b', 'c']
      const move = (n: number): Promise<void> =>
        store.updateStates(keys, (values) => {
          const [from, to] = [keys[n % 3]!, keys[(n + 1) % 3]!]
          const numberOf = (key: string): number => Number(values.get(key) ?? 0)
          return new Map([
            [from, numberOf(from) - 1],
            [to, numberOf(to) + 1 + (n === 30 ? 1 : 0)],
          ])
        })
      await Promise.all(range(1, 30).map(move))
      const sums = Object.values(await readAll(store)).reduce<number>(
        (sum, n) => sum + Number(n),
        0,
      )
      assert.equal(sums, 1)
    },

    async 'state: of several values only those that change get a new expiry'({ store, clock }) {
      const keepFor = 10 * SECOND
      await store.updateStates(
        ['a', 'b'],
        () =>
          new Map([
            ['a', 1],
            ['b', 1],
          ]),
        { keepFor },
      )
      clock.advance(6 * SECOND)
      await store.updateStates(
        ['a', 'b'],
        () =>
          new Map([
            ['a', 1],
            ['b', 2],
          ]),
        { keepFor },
      )
      clock.advance(4 * SECOND)
      assert.deepEqual(await readAll(store), { b: 2 })
      await store.updateStates(['a', 'b'], (values) => {
        assert.deepEqual(Object.fromEntries(values), { a: undefined, b: 2 })
        return new Map()
      })
      clock.advance(6 * SECOND)
      assert.deepEqual(await readAll(store), {})
    },

    async 'state: a change of several values that throws, or names another key, changes nothing'({
      store,
    }) {
      await write(store, { a: 1, b: 1 })
      const failing = store.updateStates(['a', 'b'], () => {
        throw new Error('no')
      })
      await assert.rejects(failing)
      const wrong = store.updateStates(
        ['a'],
        () =>
          new Map([
            ['a', 2],
            ['b', 2],
          ]),
      )
      await rejectsWith(wrong, 'INVALID_VALUE')
      assert.deepEqual(await readAll(store), { a: 1, b: 1 })
    },

    async 'state: a thousand values change together'({ store }) {
      const keys = range(1, 1000).map((n) => `cursor:${n}`)
      for (const round of [1, 2])
        await store.updateStates(
          keys,
          (_, now) => new Map(keys.map((key) => [key, { round, now }])),
        )
      const values = await store.readStates('cursor:', { limit: 2000 })
      assert.deepEqual(new Set(values.map(([key]) => key)), new Set(keys))
      assert.ok(values.every(([, value]) => (value as { round: number }).round === 2))
    },

    async 'state: keys with a prefix are read in order, page by page'({ store, clock }) {
      const keys = [
        'a',
        'a:',
        'a:1',
        'a:10',
        'a:2',
        'a:\uFFFD',
        'a:😀',
        'A:1',
        'b:1',
        'a;',
        '%:1',
        '',
      ]
      for (const key of keys) await store.updateState(key, () => ({ key }))
      await store.updateState('a:11', () => 'expires', { keepFor: SECOND })
      clock.advance(SECOND)
      const expected = ['a:', 'a:1', 'a:10', 'a:2', 'a:\uFFFD', 'a:😀']
      const found = await store.readStates('a:', { limit: 100 })
      assert.deepEqual(
        found,
        expected.map((key) => [key, { key }]),
      )
      const paged: string[] = []
      for (const _ of range(1, 4)) {
        const page = await store.readStates('a:', { after: paged.at(-1), limit: 2 })
        assert.ok(page.length <= 2)
        paged.push(...page.map(([key]) => key))
      }
      assert.deepEqual(paged, expected)
      assert.deepEqual(await store.readStates('a:', { after: 'a', limit: 1 }), [
        ['a:', { key: 'a:' }],
      ])
      assert.deepEqual(await store.readStates('a:', { after: 'b', limit: 9 }), [])
      assert.deepEqual(await store.readStates('c', { limit: 9 }), [])
      const all = await store.readStates('', { limit: 100 })
      assert.deepEqual(new Set(all.map(([key]) => key)), new Set(keys))
      assert.equal(all[0]![0], '')
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

      async 'state: several values change only if no other store has changed one'({
        store,
        reopen,
      }) {
        const other = (await reopen()).store
        const stores = [store, other]
        /** Takes the lease from the other store, and moves the cursor that it protects. */
        const step = async (n: number): Promise<void> => {
          const holder = n % 2
          await stores[holder]!.updateState('lease', (value) => {
            const { epoch } = (value ?? { epoch: 0 }) as { epoch: number }
            return { holder, epoch: epoch + 1 }
          })
          await stores[holder]!.updateStates(['lease', 'cursor'], (values) => {
            const lease = values.get('lease') as { holder: number; epoch: number }
            const epochs = (values.get('cursor') ?? []) as number[]
            if (lease.holder !== holder) return new Map()
            return new Map([['cursor', [...epochs, lease.epoch]]])
          })
        }
        await Promise.all(range(0, 39).map(step))
        const epochs = (await read(store, 'cursor')) as number[]
        // The last process to take the lease moves the cursor last.
        assert.equal(epochs.at(-1), 40)
        assert.deepEqual(
          epochs,
          epochs.toSorted((a, b) => a - b),
        )
        assert.deepEqual(await readAll(other), await readAll(store))
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
