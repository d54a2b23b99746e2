import { createIndexDriver, type IndexDriver } from '../../../src/store-kit/maintenance/driver.js'
import { listedNames, openFeeds, readChunks } from './chunk-feed.js'
import { askProgram, changeIndex, dialectOf } from './dialect.js'
import type { DriverContext } from './driver-context.js'
import { isSealDue } from './due.js'
import { deleteChunks } from './segment-dropping.js'
import { readBlocks } from './segment-times.js'
import { BATCH_LIMITS, insertChunks } from './segment-writer.js'
import { readEvents, readUnsealed } from './unsealed-rows.js'

export function createDriver(context: DriverContext): IndexDriver {
  const { names, run, steps, bounds } = context
  return createIndexDriver({
    dialect: dialectOf(names),
    steps,
    bounds,
    batchLimits: BATCH_LIMITS,
    isWriteBehind: true,
    // Without grams, a text search would have to fetch every chunk of the name.
    hasGramsWhenSealed: true,
    read: (program) => run((client) => askProgram(client, program())),
    write: (program) => run((client) => askProgram(client, program())),
    change: (program) => run((client) => changeIndex(client, program())),
    isSealDue: (size) => run((client) => isSealDue(client, names, size, bounds)),
    readUnsealed: (size, atLeast) => readUnsealed(context, size, atLeast),
    readEvents: (after, to, max) => run((client) => readEvents(client, names, [after, to], max)),
    insertChunks: ({ id }, from, chunks) => insertChunks(context, id, from, chunks),
    readBlocks: (id, from, end) => run((client) => readBlocks(client, names, id, [from, end])),
    openFeeds: (segments) => openFeeds(context, segments),
    listedNames: (segment) => listedNames(context, segment),
    readChunks: (segment, name, kind) => readChunks(context, segment, { name, kind }),
    deleteChunks: (id) => deleteChunks(context, id),
  })
}
