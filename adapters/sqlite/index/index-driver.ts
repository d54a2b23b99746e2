import { runAwaiting } from '../../../src/store-kit/maintenance/program.js'
import { createIndexDriver, type IndexDriver } from '../../../src/store-kit/maintenance/driver.js'
import type { IndexStore } from '../../../src/store-kit/maintenance/index-store.js'
import { listedNames, openFeeds, readChunks } from './chunk-feed.js'
import { DIALECT, runProgram, runStatement } from './dialect.js'
import type { DriverContext } from './driver-context.js'
import { isSealDue } from './due.js'
import { MAX_PACKED_CHUNK } from './packed-lines.js'
import { packNext } from './packing.js'
import { deleteChunks } from './segment-dropping.js'
import { readBlocks } from './segment-times.js'
import { BATCH_LIMITS, insertChunks } from './segment-writer.js'
import { readEvents, readUnsealed } from './unsealed-rows.js'

export function createDriver(context: DriverContext): IndexDriver {
  const { connection, steps, bounds, compression } = context
  const change: IndexStore['change'] = (program) =>
    context.write(() => runProgram(connection, program()))
  const reads: Pick<IndexStore, 'read' | 'readEvents'> = {
    read: (program) =>
      runAwaiting(program(), async (statement) => {
        const rows = runStatement(connection, statement)
        if (steps.isSliceOver()) await steps.pause()
        return rows
      }),
    async readEvents(after, to, max) {
      const rows = readEvents(connection, [after, to], max)
      await steps.pause()
      return rows
    },
  }
  return createIndexDriver({
    ...reads,
    dialect: DIALECT,
    steps,
    bounds,
    batchLimits: BATCH_LIMITS,
    maxChunkBytes: compression === 'deflate' ? MAX_PACKED_CHUNK : undefined,
    hasGramsWhenSealed: false,
    write: change,
    change,
    isSealDue: async (size) => isSealDue(connection, size, bounds),
    readUnsealed: (size, atLeast) => readUnsealed(context, reads, size, atLeast),
    insertChunks: (segment, from, chunks) => insertChunks(context, segment, from, chunks),
    readBlocks: async (id, from, end) => readBlocks(connection, id, from, end),
    openFeeds: (segments) => openFeeds(connection, segments),
    listedNames: async (segment) => listedNames(connection, segment),
    readChunks: async (segment, name, kind) => readChunks(connection, segment, { name, kind }),
    deleteChunks: (id) => deleteChunks(context, id),
    ...(compression === 'deflate' && { pack: () => packNext(context) }),
  })
}
