import type Database from 'better-sqlite3'
import { createConnection } from '../../adapters/sqlite/connection/connection.js'
import { loadSealed } from '../../adapters/sqlite/index/index-state.js'
import { readSegment } from '../../adapters/sqlite/index/segment-reader.js'
import { SegmentState } from '../../src/store-kit/index/segment-source.js'
import { compareEvents, type IndexTruth } from './index-truth.js'
import { execute } from './sqlite-file.js'

/** The state of the index of a file. */
export const sqliteTruth = (filename: string): IndexTruth =>
  execute(filename, (database) => database.transaction(() => truthOf(database))())

const STRAY = `SELECT
    (SELECT count(*) FROM daybook_chunk_keys WHERE segment NOT IN (SELECT id FROM daybook_segments))
  + (SELECT count(*) FROM daybook_chunks WHERE id >> 24 NOT IN (SELECT id FROM daybook_segments))
  + (SELECT count(*) FROM daybook_segment_times WHERE id >> 24 NOT IN (SELECT id FROM daybook_segments))`

function truthOf(database: Database.Database): IndexTruth {
  const connection = createConnection(database)
  const { sealedTo, sealedLate, segments } = loadSealed(connection)
  const pluck = <Value>(sql: string, ...values: unknown[]): Value[] =>
    database.prepare(sql).pluck().all(values) as Value[]
  const late = new Set(
    pluck<number>('SELECT created_at FROM daybook_late WHERE id > ?', sealedLate),
  )
  const rows = database.prepare('SELECT created_at AS time, type FROM daybook_events').all() as {
    readonly time: number
    readonly type: string
  }[]
  const hidden = 'SELECT count(*) FROM daybook_segments WHERE state <> ?'
  const [stray] = pluck<number>(STRAY)
  return {
    segments: segments.map(({ level, size }) => [level, size]),
    hidden: pluck<number>(hidden, SegmentState.visible)[0]!,
    ...compareEvents(
      segments.map((segment) => readSegment(connection, segment)),
      rows.map((row) => ({ ...row, isUnsealed: row.time > sealedTo || late.has(row.time) })),
    ),
    damage: [
      ...pluck<string>('PRAGMA integrity_check').filter((line) => line !== 'ok'),
      ...(stray === 0 ? [] : [`${stray} rows of segments that do not exist`]),
    ],
  }
}
