import Database from 'better-sqlite3'
import { createConnection } from '../../adapters/sqlite/connection/connection.js'
import { loadIndexState } from '../../adapters/sqlite/index/index-state.js'
import { State } from '../../adapters/sqlite/index/index-tables.js'
import { openSegment } from '../../adapters/sqlite/index/segment.js'
import { type IndexPart, Kind } from '../../src/store-kit/index/part.js'
import { NONE } from '../../src/store-kit/index/postings.js'

export interface IndexTruth {
  /** Level and size of each visible segment, by its first event. */
  readonly segments: readonly (readonly [level: number, size: number])[]
  /** How many segments are there that nobody sees. */
  readonly hidden: number
  readonly unsealed: number
  /** The times of events that no visible segment finds by their type, and that are not unsealed. */
  readonly missing: readonly number[]
  /** What is wrong with the file. */
  readonly damage: readonly string[]
}

interface Row {
  readonly created_at: number
  readonly type: string
}

/** Where the index of a file stands, from all of its rows, as of one moment. */
export function indexTruth(filename: string): IndexTruth {
  const database = new Database(filename)
  try {
    return database.transaction(() => truthOf(database))()
  } finally {
    database.close()
  }
}

function truthOf(database: Database.Database): IndexTruth {
  const connection = createConnection(database)
  const { sealedTo, sealedLate, segments } = loadIndexState(connection)
  const late = new Set(
    database
      .prepare('SELECT created_at FROM daybook_late WHERE id > ?')
      .pluck()
      .all(sealedLate) as number[],
  )
  const found = new Set<string>()
  for (const segment of segments) addFound(openSegment(connection, segment), found)
  const rows = database.prepare('SELECT created_at, type FROM daybook_events').all() as Row[]
  const isUnsealed = ({ created_at }: Row): boolean => created_at > sealedTo || late.has(created_at)
  const hidden = database.prepare('SELECT count(*) FROM daybook_segments WHERE state <> ?')
  const damage = database.prepare('PRAGMA integrity_check').pluck().all() as string[]
  return {
    segments: segments.map(({ level, size }) => [level, size]),
    hidden: hidden.pluck().get(State.visible) as number,
    unsealed: rows.filter(isUnsealed).length,
    missing: rows
      .filter((row) => !isUnsealed(row) && !found.has(keyOf(row.created_at, row.type)))
      .map(({ created_at }) => created_at),
    damage: damage.filter((line) => line !== 'ok'),
  }
}

const keyOf = (time: number, type: string): string => `${time} ${type}`

function addFound(part: IndexPart, found: Set<string>): void {
  for (const { value, postings } of part.values('type', Kind.text, 'asc')) {
    const ordinals = postings()
    for (let at = ordinals.seek(0, 1); at !== NONE; at = ordinals.seek(at + 1, 1))
      found.add(keyOf(part.timeOf(at), String(value)))
  }
}
