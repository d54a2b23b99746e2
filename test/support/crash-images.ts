import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { AuditLog } from 'daybook'
import Database from 'better-sqlite3'
import { sqliteStore } from 'daybook/sqlite'
import type { SyncFile } from '../../adapters/sqlite/connection/wal-sync.js'
import { createSqliteStore } from '../../adapters/sqlite/sqlite-store.js'
import { syncError } from './held-sync.js'
import { allEvents } from './reported-losses.js'
import { tempDir } from './temp.js'

/*
 * Possible states of an SQLite log after a power cut. They consist of the WAL as the last completed sync has
 * confirmed it, and any of the later writes, torn at the sectors of the disk. No checkpoint runs, so the database
 * file does not change.
 */

const SECTOR = 512
// https://www.sqlite.org/fileformat2.html#the_write_ahead_log
const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
const PAGE_BYTES = 4096
const saltsOf = (wal: Buffer): Buffer => wal.subarray(16, 24)

const LANES = 3

/** Numbers from 0 up to 1, which a seed repeats. */
type Random = () => number

/** The confirmed content, with each later sector by chance. */
function tornImage(confirmed: Buffer, later: Buffer, random: Random): Buffer {
  const image = Buffer.alloc(later.length)
  confirmed.copy(image)
  const share = random()
  let end = confirmed.length
  for (let at = 0; at < later.length; at += SECTOR) {
    if (random() >= share) continue
    later.copy(image, at, at, at + SECTOR)
    end = Math.max(end, Math.min(at + SECTOR, later.length))
  }
  return image.subarray(0, end)
}

/** Opens an image as the next process would. Throws if it is damaged, or lacks an acknowledged event. */
async function checkImage(filename: string, acknowledged: readonly string[]): Promise<void> {
  const audit: AuditLog = new AuditLog({ store: sqliteStore({ filename }), types: {} })
  try {
    const { damage } = await audit.verify()
    if (damage.length > 0) throw new Error(`damaged: ${JSON.stringify(damage)}`)
    const events = await allEvents(audit)
    const crashed = events.filter(({ type }) => type === 'test:crash')
    const numbers = crashed.map(({ attributes }) => attributes['n'])
    if (new Set(numbers).size < numbers.length) throw new Error('an event is doubled')
    const ids = events.map(({ id }) => id)
    const places = acknowledged.map((id) => ids.indexOf(id))
    if (places.includes(-1)) throw new Error(`lost: ${acknowledged[places.indexOf(-1)]}`)
    const later = await audit.recordCustom('test:later')
    if (later!.created_at <= (events.at(-1)?.created_at ?? '')) throw new Error('out of order')
  } finally {
    await audit.close()
  }
  const database = new Database(filename, { readonly: true })
  const found = database.pragma('integrity_check', { simple: true })
  database.close()
  if (found !== 'ok') throw new Error(`damaged: ${String(found)}`)
}

export interface CrashOptions {
  readonly random: Random
  /** The number of images. */
  readonly images: number
}

/** Records into a log, and checks images of the moments at which the power could have been cut. Some syncs fail. */
export async function crashLog({ random, images }: CrashOptions): Promise<void> {
  const temp = tempDir()
  try {
    const filename = temp.file('audit.db')
    let confirmed: Buffer = Buffer.alloc(0)
    /** The current WAL. After a failed sync the store has truncated it and synced one commit. */
    const readWal = (): Buffer => {
      const wal = fs.readFileSync(`${filename}-wal`)
      if (confirmed.length > 0 && !saltsOf(wal).equals(saltsOf(confirmed)))
        confirmed = wal.subarray(0, HEADER_BYTES + FRAME_HEADER_BYTES + PAGE_BYTES)
      return wal
    }
    /** After a failed sync, later syncs report success, although the disk lacks the writes of the failed one. */
    let broken: Buffer = Buffer.alloc(0)
    const syncFile: SyncFile = (_, done) => {
      const content = readWal()
      const end = async (): Promise<void> => {
        for (let turns = random() * 6; turns > 0; turns--) await nextTurn()
        const salts = saltsOf(content)
        if (random() < 0.03) {
          broken = salts
          return done(syncError())
        }
        if (saltsOf(readWal()).equals(salts) && !broken.equals(salts)) confirmed = content
        done(null)
      }
      void end()
    }
    const { store } = createSqliteStore({ filename }, {}, { syncFile })
    const audit: AuditLog = new AuditLog({ store, types: {} })
    audit.on('rejected', () => {})
    const acknowledged: string[] = []
    const made: { readonly name: string; readonly promised: readonly string[] }[] = []
    let isOver = false
    let n = 0
    const run = async (): Promise<void> => {
      while (!isOver) {
        const event = await audit
          .recordCustom('test:crash', { n: n++, text: 'x'.repeat(random() * 3000) })
          .catch(() => undefined)
        if (event) acknowledged.push(event.id)
        for (let turns = random() * 3; turns > 1; turns--) await nextTurn()
      }
    }
    const lanes = Array.from({ length: LANES }, run)
    try {
      for (let image = 0; image < images; image++) {
        for (let turns = random() * 40; turns > 0; turns--) await nextTurn()
        const name = temp.file(`image-${image}.db`)
        const promised = [...acknowledged]
        const later = readWal()
        const wal = image % 4 === 0 ? confirmed : tornImage(confirmed, later, random)
        // Another process copies the file, because closing a descriptor in this process would drop SQLite's locks.
        execFileSync('cp', [filename, name])
        fs.writeFileSync(`${name}-wal`, wal)
        made.push({ name, promised })
      }
    } finally {
      isOver = true
      await Promise.all(lanes)
      await audit.close()
    }
    for (const { name, promised } of made) await checkImage(name, promised)
  } finally {
    temp.remove()
  }
}
