import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { createPostgresStore } from '../../adapters/postgres/postgres-store.js'
import { FLIP_TUNING, type FlipTarget, offsets, type Page, recordFlipBase } from './flips.js'
import { startOwnPostgres } from './postgres.js'

const PAGE = 8192
/** https://www.postgresql.org/docs/current/storage-page-layout.html */
const HEADER = 24

/** Limit in KiB, because a damaged row may make a backend allocate all memory. */
const MAX_MEMORY = 4 * 2 ** 20

// A small number, so that lists use the index.
const FIRST_PROBE = 32

/** The files of the tables with rows, of their TOAST tables, and of the indexes of both. */
const FILES = `
  SELECT coalesce('toast of ' || owner.relname, class.relname)
      || CASE WHEN index.indexrelid IS NOT NULL AND owner.relname IS NOT NULL THEN ', index' ELSE '' END AS name,
    pg_relation_filepath(class.oid) AS file
  FROM pg_class AS class
  LEFT JOIN pg_index AS index ON indexrelid = class.oid
  JOIN pg_class AS main ON main.oid = coalesce(indrelid, class.oid)
  LEFT JOIN pg_class AS owner ON owner.reltoastrelid = main.oid
  WHERE main.relkind IN ('r', 't', 'S') AND pg_relation_size(main.oid) > 0
    AND coalesce(owner.relnamespace, main.relnamespace) = 'daybook'::regnamespace
  ORDER BY 1`

/** Tables whose rows have checksums, and the tables of their long values. */
const CHECKED = /^(?:toast of )?(?:events_\d+|segment_chunks|segments)$/
/** Tables whose visibility map is damaged too. */
const MAPPED = /^(?:events_\d+|segment_chunks)$/

// A damaged page may crash the server. It then takes a moment to start again.
const PATIENCE_MS = 30_000
const RETRY_MS = 100

async function connect(url: string): Promise<pg.Client> {
  for (const end = performance.now() + PATIENCE_MS; ;) {
    const client = new pg.Client({ connectionString: url })
    client.on('error', () => undefined)
    try {
      await client.connect()
      return client
    } catch (error) {
      if (performance.now() > end) throw error
      await delay(RETRY_MS)
    }
  }
}

async function query<Row extends pg.QueryResultRow>(url: string, sql: string): Promise<Row[]> {
  const client = await connect(url)
  try {
    return (await client.query<Row>(sql)).rows
  } finally {
    await client.end()
  }
}

/**
 * Flips bits in the files of copies of a database. The server has read no page of a copy before. `checksums` is true
 * if the server has checksums of its pages.
 */
export async function postgresFlips(checksums: 'on' | 'off'): Promise<FlipTarget> {
  const flags = checksums === 'on' ? ['--data-checksums'] : ['--no-data-checksums']
  const server = await startOwnPostgres(['autovacuum=off'], 'newest', flags, MAX_MEMORY)
  const urlOf = (database: string): string => {
    const url = new URL(server.url)
    url.pathname = `/${database}`
    return url.href
  }
  const openStore = (database: string, checkMs?: number) =>
    createPostgresStore(
      { connectionString: urlOf(database) },
      { tuning: FLIP_TUNING, ...(checkMs !== undefined && { checkMs }) },
      { firstProbe: FIRST_PROBE },
    )
  await query(server.url, 'CREATE DATABASE base')
  const { store, sealer } = openStore('base')
  await recordFlipBase(store, sealer)
  for (const sql of ['VACUUM ANALYZE', 'CHECKPOINT']) await query(urlOf('base'), sql)
  const [{ folder } = { folder: '' }] = await query<{ folder: string }>(
    server.url,
    `SELECT current_setting('data_directory') AS folder`,
  )
  // Free space maps are left out, because the server uses them only as a hint.
  const files = new Map<string, string>()
  for (const { name, file } of await query<{ name: string; file: string }>(urlOf('base'), FILES)) {
    files.set(name, file)
    const map = `${file}_vm`
    if (MAPPED.test(name) && fs.existsSync(path.join(folder, map))) files.set(`${name}, map`, map)
  }

  const flip = async (place: Parameters<FlipTarget['open']>[0]): Promise<void> => {
    if (!place) return
    const [{ oid } = { oid: 0 }] = await query<{ oid: number }>(
      server.url,
      `SELECT oid FROM pg_database WHERE datname = 'copy'`,
    )
    const file = path.join(folder, 'base', String(oid), path.basename(files.get(place.table)!))
    const handle = fs.openSync(file, 'r+')
    const byte = Buffer.alloc(1)
    const at = place.page * PAGE + place.offset
    fs.readSync(handle, byte, 0, 1, at)
    byte[0]! ^= 1 << place.bit
    fs.writeSync(handle, byte, 0, 1, at)
    fs.closeSync(handle)
  }

  /** Drops the previous copy. On a damaged page the server may loop forever. Then it is restarted. */
  const drop = async (): Promise<void> => {
    const sql = 'DROP DATABASE IF EXISTS copy WITH (FORCE)'
    try {
      await query(server.url, sql)
    } catch {
      await server.restart()
      await query(server.url, sql)
    }
  }

  return {
    pages: pagesOf(folder, files),
    isChecked: (table) => CHECKED.test(table),
    async open(place) {
      await drop()
      await query(server.url, 'CREATE DATABASE copy TEMPLATE base STRATEGY FILE_COPY')
      await flip(place)
      return openStore('copy', 600_000).store
    },
    close: () => server.stop(),
  }
}

function pagesOf(
  folder: string,
  files: ReadonlyMap<string, string>,
): ReadonlyMap<string, readonly Page[]> {
  const pages = new Map<string, readonly Page[]>()
  for (const [name, file] of files) {
    const bytes = fs.readFileSync(path.join(folder, file))
    if (bytes.length === 0) continue
    const some = offsets(0, bytes.length / PAGE).map((number) => ({
      number,
      used: usedBytes(bytes.subarray(number * PAGE, (number + 1) * PAGE), name.endsWith(', map')),
    }))
    pages.set(name, some)
  }
  return pages
}

/**
 * The bytes in use: the header, the line pointers, and the bytes behind the free space; of a visibility map, the set
 * bytes.
 */
function usedBytes(page: Buffer, isMap: boolean): readonly number[] {
  const header = offsets(0, HEADER)
  if (isMap) return [...header, ...offsets(HEADER, PAGE).filter((at) => page[at] !== 0)]
  return [...offsets(0, page.readUInt16LE(12)), ...offsets(page.readUInt16LE(14), PAGE)]
}
