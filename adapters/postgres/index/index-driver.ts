import type { IndexDriver } from '../../../src/store-kit/index-builder/index-driver.js'
import { listedNames, openFeeds, readChunks } from './chunk-feed.js'
import { namesOf, numberColumns } from './column-names.js'
import type { DriverContext } from './driver-context.js'
import { isSealDue } from './due.js'
import { type PostgresSegmentRow, visibleSegments } from './index-state.js'
import { publish, replace } from './publishing.js'
import {
  deleteChunks,
  deleteSegment,
  hiddenSegments,
  hideExpired,
  markGone,
} from './segment-dropping.js'
import { checkPresence, readTimes } from './segment-times.js'
import { BATCH_LIMITS, beginSegment, insertChunks } from './segment-writer.js'
import { createRepairs } from './repairs.js'
import { readUnsealed, type UnsealedRows } from './unsealed-rows.js'

export function createDriver(
  context: DriverContext,
): IndexDriver<UnsealedRows, PostgresSegmentRow> {
  const { names, run, bounds } = context
  return {
    batchLimits: BATCH_LIMITS,
    isWriteBehind: true,
    // Without grams, a text search would have to fetch every chunk of the name.
    hasGramsWhenSealed: true,
    isSealDue: (size) => run((client) => isSealDue(client, names, size, bounds)),
    readUnsealed: (size, atLeast) => readUnsealed(context, size, atLeast),
    numberColumns: (columns) => numberColumns(context, columns),
    beginSegment: (segment) => beginSegment(context, segment),
    insertChunks: ({ id }, from, chunks) => insertChunks(context, id, from, chunks),
    publish: (segment, unsealed) => publish(context, segment, unsealed),
    visibleSegments: () => run((client) => visibleSegments(client, names)),
    readTimes: (segment) => readTimes(context, segment),
    checkPresence: (_, times) => checkPresence(context, times),
    openFeeds: (segments) => openFeeds(context, segments),
    listedNames: (segment) => listedNames(context, segment),
    namesOf: (numbers) => namesOf(context, numbers),
    readChunks: (segment, name, kind) => readChunks(context, segment, { name, kind }),
    replace: (parts, merged, duplicates) => replace(context, parts, merged, duplicates),
    repairs: createRepairs(context),
    hiddenSegments: () => hiddenSegments(context),
    hideExpired: () => hideExpired(context),
    markGone: (id) => markGone(context, id),
    deleteChunks: (id) => deleteChunks(context, id),
    deleteSegment: (id) => deleteSegment(context, id),
  }
}
