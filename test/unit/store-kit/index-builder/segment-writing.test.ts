import { describe, expect, it } from 'vitest'
import type { IndexStore, NamedChunk } from '../../../../src/store-kit/maintenance/index-store.js'
import type { IndexDriver } from '../../../../src/store-kit/maintenance/driver.js'
import { writeSegment } from '../../../../src/store-kit/index-builder/segment-writing.js'
import { IMMEDIATE_STEPS } from '../../../support/immediate-steps.js'

type Driver = Pick<IndexStore, 'batchLimits' | 'isWriteBehind' | 'insertChunks'> &
  Pick<IndexDriver, 'beginSegment'>

const chunk = (name: number): NamedChunk => ({
  name,
  kind: 1,
  chunk: { first: 0, ordinal: 0, values: '0', postings: new Uint8Array() },
})

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

/**
 * Writes a segment with `count` chunks. Batch 0 has the times, each later batch one chunk. `happened` has the steps in
 * their order. `answer` gets the number of a batch.
 */
async function write(
  options: Partial<Pick<Driver, 'isWriteBehind'>>,
  count: number,
  answer: (batch: number) => boolean = () => true,
  compute: (name: number) => void = () => {},
) {
  const happened: string[] = []
  const driver: Driver = {
    ...options,
    batchLimits: { bytes: Infinity, rows: 1 },
    beginSegment: async () => 7,
    async insertChunks(_, from) {
      happened.push(`begin ${from}`)
      await nextTurn()
      happened.push(`end ${from}`)
      return answer(from)
    },
  }
  function* chunks(): Generator<NamedChunk, void> {
    for (let name = 1; name <= count; name++) {
      happened.push(`compute ${name}`)
      compute(name)
      yield chunk(name)
    }
  }
  const segment = { level: 0, times: [1], removed: 0, isPartial: false }
  const builder = {
    driver: driver as IndexDriver,
    steps: IMMEDIATE_STEPS,
    tuning: { segmentSize: 8, fanOut: 3 },
  }
  const written = await writeSegment(builder, segment, chunks()).catch((error: unknown) => error)
  return { written, happened }
}

describe('writing a segment', () => {
  it('computes a batch after the previous batch was written', async () => {
    expect(await write({}, 2)).toEqual({
      written: { id: 7, chunks: 3, isLost: false },
      happened: [
        ...['begin 0', 'end 0'],
        ...['compute 1', 'begin 1', 'end 1'],
        ...['compute 2', 'begin 2', 'end 2'],
      ],
    })
  })

  it('with write-behind, computes a batch while the previous batch is written', async () => {
    expect(await write({ isWriteBehind: true }, 2)).toEqual({
      written: { id: 7, chunks: 3, isLost: false },
      happened: [
        ...['begin 0', 'compute 1', 'end 0'],
        ...['begin 1', 'compute 2', 'end 1'],
        ...['begin 2', 'end 2'],
      ],
    })
  })

  it.each([false, true])(
    'ends after any batch that finds the segment lost, write-behind %s',
    async (isWriteBehind) => {
      for (const lostAt of [0, 1, 2, 3]) {
        const { written, happened } = await write({ isWriteBehind }, 3, (batch) => batch !== lostAt)
        expect(written).toMatchObject({ id: 7, isLost: true })
        expect(happened.at(-1)).toBe(`end ${lostAt}`)
      }
    },
  )

  it.each([false, true])('rejects if a batch fails, write-behind %s', async (isWriteBehind) => {
    for (const failedAt of [0, 1, 2, 3]) {
      const { written, happened } = await write({ isWriteBehind }, 3, (batch) => {
        if (batch === failedAt) throw new Error('disk full')
        return true
      })
      expect(written).toEqual(new Error('disk full'))
      expect(happened).not.toContain(`begin ${failedAt + 1}`)
    }
  })

  it('waits for the current batch if the next batch cannot be computed', async () => {
    const { written, happened } = await write({ isWriteBehind: true }, 3, undefined, (name) => {
      if (name === 2) throw new Error('segment 3 is damaged')
    })
    expect(written).toEqual(new Error('segment 3 is damaged'))
    expect(happened.slice(-2)).toEqual(['compute 2', 'end 1'])
  })
})
