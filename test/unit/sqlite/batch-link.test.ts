import { expect, it } from 'vitest'
import { createBatchLink } from '../../../adapters/sqlite/index/batch-link.js'
import {
  type BatchChannel,
  createStoredBatches,
} from '../../../adapters/sqlite/index/stored-batches.js'
import { encodeDrafts } from '../../../adapters/sqlite/schema/draft-memory.js'
import { createHandOver, type HandOver } from '../../../adapters/sqlite/write/hand-over.js'

const drafts = (): ArrayBuffer =>
  encodeDrafts([
    {
      suffix: '8000000000000000',
      type: 'test:note',
      username: null,
      source: null,
      system: false,
      json: JSON.stringify('x'.repeat(100_000)),
    },
  ])

it('events that are handed over arrive, whichever thread has started last', () => {
  const link = createBatchLink()
  const stored = createStoredBatches()
  let count = 0
  const send = (handOver: HandOver, first: number): void => {
    handOver.add({ after: first - 1, first, drafts: drafts() })
    stored.update(0)
    count = stored.follow(0, 10).count
  }
  const ends: BatchChannel[] = []
  const take =
    ({ connect }: { connect(channel: BatchChannel): void }) =>
    (channel: BatchChannel): void => {
      ends.push(channel)
      connect(channel)
    }

  const writer = createHandOver()
  link.setWriter(take(writer))
  send(writer, 1)
  expect(count).toBe(0)
  link.setSealer(take(stored))
  send(writer, 1)
  expect(count).toBe(1)
  link.setWriter(undefined)
  const restarted = createHandOver()
  link.setWriter(take(restarted))
  send(restarted, 2)
  expect(count).toBe(2)
  link.setSealer(undefined)
  link.setWriter(take(createHandOver()))
  expect(ends).toHaveLength(4)
  for (const { port } of ends) port.close()
})
