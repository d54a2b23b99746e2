import { expect, it, vi } from 'vitest'
import { createReplays } from '../../../adapters/postgres/replicas/replays.js'
import type { Replicas } from '../../../adapters/postgres/replicas/replicas.js'

const none = { choose: () => [] } as unknown as Replicas
const { signal } = new AbortController()

it('a token that comes just after another one has been replayed is waited for', async () => {
  // How much later it comes, in turns of the queue of microtasks.
  for (let turns = 0; turns < 8; turns++) {
    const onReplayed = vi.fn<(token: string | undefined) => void>()
    const replays = createReplays(none, signal, onReplayed)
    replays.await('')
    expect(onReplayed).toHaveBeenCalledTimes(1)
    for (let turn = 0; turn < turns; turn++) await Promise.resolve()
    replays.await('')
    await new Promise(setImmediate)
    expect(onReplayed).toHaveBeenCalledTimes(2)
  }
})

it('a token that cannot be read is not waited for', () => {
  const onReplayed = vi.fn<(token: string | undefined) => void>()
  const replays = createReplays(none, signal, onReplayed)
  for (const token of ['unreadable', 'unreadable too']) replays.await(token)
  expect(onReplayed.mock.calls).toEqual([[undefined], [undefined]])
})
