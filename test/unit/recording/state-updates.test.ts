import { memoryStore } from 'daybook/memory'
import { describe, expect, it } from 'vitest'
import { createStateUpdates } from '../../../src/recording/state-updates.js'

const DAY = 86_400_000_000

/** A store that counts its transactions. The first two wait until they are released. */
function countingStore() {
  const store = memoryStore()
  const transactions: (readonly string[])[] = []
  const { promise: released, resolve: release } = deferred()
  return {
    ...store,
    transactions,
    release,
    async updateState(...[key, change, options]: Parameters<typeof store.updateState>) {
      transactions.push([key])
      if (transactions.length <= 2) await released
      return store.updateState(key, change, options)
    },
    async updateStates(...[keys, change, options]: Parameters<typeof store.updateStates>) {
      transactions.push(keys)
      await store.updateStates(keys, change, options)
    },
  }
}

function deferred() {
  let resolve = (): void => {}
  const promise = new Promise<void>((done) => (resolve = done))
  return { promise, resolve }
}

const never = new AbortController().signal

const updatesOf = (store: ReturnType<typeof countingStore>) =>
  createStateUpdates(store, { keepFor: DAY, deadlineMs: 10_000 })

const increment = (value: unknown): number => ((value as number | undefined) ?? 0) + 1

describe('updates of states', () => {
  it('that wait are made in one transaction, each with its own result', async () => {
    const store = countingStore()
    const update = updatesOf(store)
    const results = Array.from({ length: 1200 }, (_, n) => update(`key:${n}`, () => n, never))
    store.release()
    expect(await Promise.all(results)).toEqual(Array.from({ length: 1200 }, (_, n) => n))
    expect(store.transactions.map(({ length }) => length)).toEqual([1, 1, 500, 500, 198])
    expect((await store.readStates('key:', { limit: 2000 })).length).toBe(1200)
  })

  it('of one key run one after another', async () => {
    const store = countingStore()
    const update = updatesOf(store)
    const results = Array.from({ length: 6 }, (_, n) =>
      update(n % 2 === 0 ? 'even' : 'odd', increment, never),
    )
    store.release()
    expect(await Promise.all(results)).toEqual([1, 1, 2, 2, 3, 3])
    for (const keys of store.transactions) expect(new Set(keys).size).toBe(keys.length)
  })

  it('that are aborted while they wait are not made, and do not affect other updates', async () => {
    const store = countingStore()
    const update = updatesOf(store)
    const first = [update('a', increment, never), update('b', increment, never)]
    const controller = new AbortController()
    const aborted = update('c', increment, controller.signal)
    const last = update('d', increment, never)
    controller.abort()
    await expect(aborted).rejects.toMatchObject({ code: 'ABORTED' })
    await expect(update('e', increment, controller.signal)).rejects.toMatchObject({
      code: 'ABORTED',
    })
    store.release()
    expect(await Promise.all([...first, last])).toEqual([1, 1, 1])
    expect(store.transactions.flat()).toEqual(['a', 'b', 'd'])
  })

  it('of a failed transaction all reject, and later updates are made', async () => {
    const store = countingStore()
    const failure = new Error('no')
    const failing = { ...store, updateStates: () => Promise.reject(failure) }
    const update = createStateUpdates(failing, { keepFor: DAY, deadlineMs: 10_000 })
    const results = ['a', 'b', 'c', 'd'].map((key) => update(key, increment, never))
    const settled = Promise.allSettled(results)
    store.release()
    expect((await settled).map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'rejected',
    ])
    expect(await update('c', increment, never)).toBe(1)
  })
})
