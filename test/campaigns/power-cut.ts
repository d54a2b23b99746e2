import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import fc from 'fast-check'
import pg from 'pg'
import { startKeptPostgres } from '../support/postgres.js'
import { tempDir } from '../support/temp.js'
import { allEvents } from '../support/reported-losses.js'
import type { Campaign } from './run.js'
import { runRounds } from './shared/rounds.js'

/*
 * Simulates power cuts of a Postgres server. Logs record events until the server crashes. Its write-ahead log then keeps
 * all writes that a sync has confirmed, and a random part of the sectors written later. The server recovers from this
 * log. It must have each acknowledged event and each event that a tail has yielded, once and in order.
 * Needs a C compiler.
 */

const LOGS = 4
const IN_FLIGHT = 4
const SECTOR = 512

interface Cut {
  readonly afterMs: number
  /** The share of the unconfirmed sectors that survive. */
  readonly left: number
  readonly hasCheckpoint: boolean
  readonly seed: number
}

const cuts: fc.Arbitrary<Cut> = fc.record({
  afterMs: fc.integer({ min: 5, max: 400 }),
  left: fc.constantFrom(0, 0, 0.5, 0.95),
  hasCheckpoint: fc.boolean(),
  seed: fc.integer({ min: 1, max: 2 ** 31 - 2 }),
})

const SEGMENT = /^[\dA-F]{24}$/

const segmentsIn = (folder: string): string[] =>
  fs.readdirSync(folder).filter((name) => SEGMENT.test(name))

/** Simulates the power cut in the folder of the write-ahead log. `mirror` has the confirmed writes. Returns the number of lost sectors. */
function cutPower(folder: string, mirror: string, { left, seed }: Cut): number {
  let state = seed
  const random = (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
  let lost = 0
  for (const name of segmentsIn(folder)) {
    const written = fs.readFileSync(path.join(folder, name))
    const confirmed = path.join(mirror, name)
    const kept = fs.existsSync(confirmed) ? fs.readFileSync(confirmed) : Buffer.alloc(0)
    const image = Buffer.alloc(written.length)
    kept.copy(image)
    for (let at = 0; at < written.length; at += SECTOR) {
      const sector = written.subarray(at, at + SECTOR)
      if (sector.equals(image.subarray(at, at + SECTOR))) continue
      if (random() < left) sector.copy(image, at)
      else lost += 1
    }
    fs.writeFileSync(path.join(folder, name), image)
  }
  return lost
}

/** Records events until `isOver`, and adds the acknowledged events to the map. */
async function keepRecording(
  audit: AuditLog,
  lane: string,
  acknowledged: Map<string, string>,
  isOver: () => boolean,
): Promise<void> {
  let last = ''
  for (let n = 0; !isOver(); n++) {
    const event = await audit.recordCustom('cut', { lane, n }).catch(() => undefined)
    if (!event) continue
    if (event.created_at <= last) throw new Error(`${event.id} is not after ${last}`)
    last = event.created_at
    acknowledged.set(event.id, event.created_at)
  }
}

async function checkpoint(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('CHECKPOINT')
  await client.end()
}

export const campaign: Campaign = {
  rounds: 100,
  async run(options) {
    const temp = tempDir()
    const library = temp.file('mirrored-wal.so')
    const source = path.join(import.meta.dirname, 'mirrored-wal.c')
    execFileSync('cc', ['-shared', '-fPIC', '-O2', '-o', library, source, '-ldl'])
    const [folder, mirror] = [temp.file('server'), temp.file('mirror')]
    fs.mkdirSync(mirror, { mode: 0o777 })
    for (const open of [path.dirname(mirror), mirror]) fs.chmodSync(open, 0o777)
    const settings = ['fsync=on', 'synchronous_commit=on', 'full_page_writes=on']
    // Creates the database cluster. Its write-ahead log is completely on the disk.
    await (await startKeptPostgres(folder, settings)).stop()
    const wal = path.join(folder, 'data/pg_wal')
    const mirrorAll = (): void => {
      for (const name of segmentsIn(wal))
        fs.copyFileSync(path.join(wal, name), path.join(mirror, name))
    }
    mirrorAll()
    const env = { LD_PRELOAD: library, DAYBOOK_MIRROR: mirror }
    const server = await startKeptPostgres(folder, settings, env)
    const open = (): AuditLog =>
      new AuditLog({ store: postgresStore({ connectionString: server.url }), types: {} })
    const figures = { acknowledged: 0, given: 0, lostSectors: 0 }
    const logs = Array.from({ length: LOGS }, open)
    const follower = open()
    const given: string[] = []
    const following = (async () => {
      for await (const event of follower.tail()) given.push(event.id)
    })().catch(() => {})
    try {
      await runRounds(options, cuts, figures, async (cut) => {
        const acknowledged = new Map<string, string>()
        let isOver = false
        const lanes = logs.flatMap((audit, log) =>
          Array.from({ length: IN_FLIGHT }, (_, lane) =>
            keepRecording(audit, `${log}:${lane}`, acknowledged, () => isOver),
          ),
        )
        await delay(cut.afterMs / 2)
        if (cut.hasCheckpoint) await checkpoint(server.url)
        await delay(cut.afterMs / 2)
        await server.crash()
        figures.lostSectors += cutPower(wal, mirror, cut)
        mirrorAll()
        await server.start()
        await delay(50)
        isOver = true
        await Promise.all(lanes)
        const stored = await allEvents(logs[0]!)
        const ids = new Set(stored.map(({ id }) => id))
        const calls = new Set(stored.map(({ attributes }) => JSON.stringify(attributes)))
        if (calls.size !== stored.length) throw new Error('a call is stored twice')
        for (const [id, created_at] of acknowledged)
          if (!ids.has(id)) throw new Error(`the acknowledged ${id} of ${created_at} is lost`)
        while (!given.includes(stored.at(-1)!.id)) await delay(20)
        for (const id of given) if (!ids.has(id)) throw new Error(`${id}, which was given, is lost`)
        if (new Set(given).size !== given.length) throw new Error('an event was given twice')
        figures.acknowledged += acknowledged.size
        figures.given += given.length
        // Small logs keep the rounds short.
        await logs[0]!.store.removeBefore(Number.MAX_SAFE_INTEGER)
        given.length = 0
      })
    } finally {
      await Promise.all([...logs, follower].map((audit) => audit.close()))
      await following
      await server.stop()
      temp.remove()
    }
    return figures
  },
}
