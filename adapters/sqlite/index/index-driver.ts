import type { IndexDriver } from '../../../src/store-kit/index-builder/index-driver.js'
import { listedNames, openFeeds, readChunks } from './chunk-feed.js'
import { namesOf, numberColumns } from './column-names.js'
import type { DriverContext } from './driver-context.js'
import { isSealDue } from './due.js'
import { type SqliteSegmentRow, visibleSegments } from './index-state.js'
import { createRepairs } from './repairs.js'
import { publish, replace } from './publishing.js'
import {
  deleteChunks,
  deleteSegment,
  hiddenSegments,
  hideExpired,
  markGone,
} from './segment-dropping.js'
import { MAX_PACKED_CHUNK } from './packed-lines.js'
import { packNext } from './packing.js'
import { checkPresence, readTimes } from './segment-times.js'
import { BATCH_LIMITS, beginSegment, insertChunks } from './segment-writer.js'
import { readUnsealed, type UnsealedRows } from './unsealed-rows.js'

export function createDriver(context: DriverContext): IndexDriver<UnsealedRows, SqliteSegmentRow> {
  const { connection, compression } = context
  return {
    batchLimits: BATCH_LIMITS,
    maxChunkBytes: compression === 'deflate' ? MAX_PACKED_CHUNK : undefined,
    hasGramsWhenSealed: false,
    isSealDue: async (size) => isSealDue(connection, size, context.bounds),
    readUnsealed: (size, atLeast) => readUnsealed(context, size, atLeast),
    numberColumns: (columns) => numberColumns(context, columns),
    beginSegment: (segment) => beginSegment(context, segment),
    insertChunks: (segment, from, chunks) => insertChunks(context, segment, from, chunks),
    publish: (segment, unsealed) => publish(context, segment, unsealed),
    visibleSegments: async () => visibleSegments(connection),
    readTimes: (segment) => readTimes(context, segment),
    checkPresence: async (segments) => checkPresence(connection, segments),
    openFeeds: (segments) => openFeeds(connection, segments),
    listedNames: async (segment) => listedNames(connection, segment),
    namesOf: (numbers) => namesOf(context, numbers),
    readChunks: async (segment, name, kind) => readChunks(connection, segment, { name, kind }),
    replace: (parts, merged, duplicates) => replace(context, parts, merged, duplicates),
    repairs: createRepairs(context),
    ...(compression === 'deflate' && { pack: () => packNext(context) }),
    hiddenSegments: async () => hiddenSegments(connection),
    hideExpired: () => hideExpired(context),
    markGone: (id) => markGone(context, id),
    deleteChunks: (id) => deleteChunks(context, id),
    deleteSegment: (id) => deleteSegment(context, id),
  }
}
